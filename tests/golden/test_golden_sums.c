/* SPDX-License-Identifier: MIT */
/* Replays the golden sums by hu_gemm: each line as the one element of a 1 x 1 product, as the element (1, 2) of a 3 x 5
 * one with the line's operands in every row and column, operands as codes and, where binary32 holds them, as values, on
 * every set of levels. usage: test_golden_sums DIRECTORY */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/gemm.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/golden/golden_file.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { CARDS = 64, TERMS = 64, ROWS = 3, COLUMNS = 5 };

typedef struct sum_line {
  hu_accum accum;
  hu_mode mode;
  hu_format fa, fb, fc, fz;
  int has_c;
  size_t n;
  uint32_t a[TERMS], b[TERMS], c, code, events;
} sum_line;

typedef struct cards {
  golden_card at[CARDS];
  size_t n;
} cards;

static hu_format named(const cards *all, const char *name) {
  for (size_t i = 0; i < all->n; i++)
    if (strcmp(all->at[i].name, name) == 0) return all->at[i].f;
  fail_msg("format %s is not declared", name);
  return all->at[0].f;
}

static size_t parse_list(const char *text, uint32_t *codes) {
  size_t n = 0;
  if (strcmp(text, "-") == 0) return 0;
  for (char *end; n < TERMS; text = end + 1) {
    codes[n++] = (uint32_t)strtoul(text, &end, 16);
    if (*end != ',') break;
  }
  return n;
}

static sum_line parse(const cards *all, const char *line) {
  char model[16], round[16], fa[64], fb[64], fc[64], fz[64], a[1024], b[1024], c[16];
  sum_line s;
  memset(&s, 0, sizeof s);
  if (sscanf(line, "%15s %15s %63s %63s %63s %63s %zu %1023s %1023s %15s %x %x", model, round, fa, fb, fc, fz, &s.n, a,
             b, c, &s.code, &s.events) != 12)
    fail_msg("line: %.80s", line);
  assert_int_equal(hu_accum_parse(&s.accum, model, NULL), HU_OK);
  assert_int_equal(hu_mode_round_parse(&s.mode, round), HU_OK);
  s.fa = named(all, fa);
  s.fb = named(all, fb);
  s.fz = named(all, fz);
  s.has_c = strcmp(fc, "-") != 0;
  if (s.has_c) {
    s.fc = named(all, fc);
    s.c = (uint32_t)strtoul(c, NULL, 16);
  }
  if (parse_list(a, s.a) != s.n || parse_list(b, s.b) != s.n) fail_msg("%zu terms: %.80s", s.n, line);
  return s;
}

/* Element i of an array of codes or of values. */
static void store(void *data, uint8_t storage, hu_format f, size_t i, uint32_t code) {
  uint32_t width = hu_limits_of(f).storage;
  if (storage == HU_STORAGE_VALUES)
    ((float *)data)[i] = hu_decode(f, code);
  else if (width == 8)
    ((uint8_t *)data)[i] = (uint8_t)code;
  else if (width == 16)
    ((uint16_t *)data)[i] = (uint16_t)code;
  else
    ((uint32_t *)data)[i] = code;
}

static uint32_t load(const void *data, hu_format f, size_t i) {
  uint32_t width = hu_limits_of(f).storage;
  return width == 8    ? ((const uint8_t *)data)[i]
         : width == 16 ? ((const uint16_t *)data)[i]
                       : ((const uint32_t *)data)[i];
}

static void run(const sum_line *s, size_t rows, size_t columns, uint8_t storage, uint32_t levels_off, size_t number) {
  static _Alignas(64) uint8_t a[ROWS * TERMS * 4], b[TERMS * COLUMNS * 4], c[ROWS * COLUMNS * 4], d[ROWS * COLUMNS * 4];
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < s->n; k++) store(a, storage, s->fa, i * s->n + k, s->a[k]);
  for (size_t k = 0; k < s->n; k++)
    for (size_t j = 0; j < columns; j++) store(b, storage, s->fb, k * columns + j, s->b[k]);
  for (size_t i = 0; i < rows * columns; i++)
    if (s->has_c) store(c, storage, s->fc, i, s->c);
  t_fill_pattern(d, sizeof d);
  size_t lda = s->n ? s->n : 1;
  hu_operand oa = {a, lda, s->fa, storage, 0}, ob = {b, columns, s->fb, storage, 0},
             oc = {c, columns, s->fc, storage, 0};
  hu_result od = {d, columns, s->fz, HU_STORAGE_CODES};
  hu_events got, want;
  hu_exec exec;
  memset(&got, 0, sizeof got);
  memset(&want, 0, sizeof want);
  memset(&exec, 0, sizeof exec);
  exec.levels_off = levels_off;
  hu_status status =
      hu_gemm(rows, columns, s->n, &od, &oa, &ob, s->has_c ? &oc : NULL, &s->accum, s->mode, &exec, &got);
  if (status != HU_OK) fail_msg("line %zu: hu_gemm says %s", number, hu_status_name(status));
  for (size_t i = 0; i < rows * columns; i++) {
    hu_events_count(&want, s->events);
    if (load(d, s->fz, i) != s->code)
      fail_msg("sum %zu, element %zu of %zu x %zu, storage %u, levels off %#x: %#x, the line says %#x", number, i, rows,
               columns, storage, levels_off, load(d, s->fz, i), s->code);
  }
  if (!t_same_events(&got, &want))
    fail_msg("sum %zu, %zu x %zu, storage %u, levels off %#x: event counts differ", number, rows, columns, storage,
             levels_off);
}

static uint64_t replay(const sum_line *s, size_t number) {
  int values =
      hu_format_fits_binary32(s->fa) && hu_format_fits_binary32(s->fb) && (!s->has_c || hu_format_fits_binary32(s->fc));
  uint64_t n = 0;
  for (size_t i = 0; i < t_levels(); i++)
    for (int storage = values ? HU_STORAGE_VALUES : HU_STORAGE_CODES; storage <= HU_STORAGE_CODES; storage++, n += 2) {
      run(s, 1, 1, (uint8_t)storage, t_levels_off(i), number);
      run(s, ROWS, COLUMNS, (uint8_t)storage, t_levels_off(i), number);
    }
  return n;
}

static void test_sums(void **state) {
  static cards all;
  size_t size, lines = 0;
  unsigned long count = 0;
  uint64_t products = 0;
  char *content = golden_read(*state, "sums.txt", &size);
  for (char *line = content, *next; *line != '\0'; line = next) {
    next = strchr(line, '\n');
    assert_non_null(next);
    next++;
    if (sscanf(line, "# count: %lu", &count) == 1 || line[0] == '#') continue;
    if (strncmp(line, "format ", 7) == 0) {
      assert_true(all.n < CARDS);
      all.at[all.n++] = golden_card_parse(line);
      continue;
    }
    sum_line s = parse(&all, line);
    products += replay(&s, lines++);
  }
  free(content);
  assert_true(lines > 1000 && lines == count);
  print_message("%zu sums in %llu products\n", lines, (unsigned long long)products);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_sums, argc > 1 ? argv[1] : (char *)".")};
  return cmocka_run_group_tests_name("golden_sums", tests, NULL, NULL);
}
