/* SPDX-License-Identifier: MIT */
/* The library on the hardest cases of tests/golden/function, in every rounding: the eight codes of each line, and the
 * stochastic roundings against the oracle, with policies and random words drawn. The argument is the list. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/arith/calls.h"
#include "tests/function/functions.h"
#include "halfulp/formats/ieee.h"

static const char *path;

typedef struct hard_case {
  int function;
  hu_format format;
  hu_oracle_code x[2];
  uint32_t expected[T_DETERMINISTIC];
} hard_case;

/* A line as README.md of tests/golden says; 0 for a comment. Whatever else fails the test. */
static int parse(hard_case *c, const char *line, unsigned *count) {
  char name[16], format[16], kind[8], operands[16], distance[16];
  int at = 0;
  if (sscanf(line, "# count: %u", count) == 1 || line[0] == '#') return 0;
  if (sscanf(line, "%15s %15s %7s %15s %15s%n", name, format, kind, operands, distance, &at) != 5) fail_msg("%s", line);
  c->function = fn_find(name);
  if (c->function == HU_ORACLE_FUNCTIONS) fail_msg("no function: %s", line);
  assert_true(strcmp(kind, "grid") == 0 || strcmp(kind, "half") == 0);
  assert_true(strcmp(format, "binary16") == 0 || strcmp(format, "bfloat16") == 0);
  c->format = strcmp(format, "binary16") == 0 ? hu_binary16() : hu_bfloat16();
  char *end;
  c->x[0] = c->x[1] = (hu_oracle_code){c->format, (uint32_t)strtoul(operands, &end, 16)};
  assert_int_equal(*end == ',', c->function == HU_ORACLE_POW);
  if (*end == ',') c->x[1].code = (uint32_t)strtoul(end + 1, &end, 16);
  for (int i = 0; i < T_DETERMINISTIC; i++) {
    c->expected[i] = (uint32_t)strtoul(line + at, &end, 16);
    assert_true(end > line + at);
    at = (int)(end - line);
  }
  assert_int_equal(line[at], '\n');
  return 1;
}

static void check(const hard_case *c, t_random *random, const char *line) {
  fn_modes modes;
  for (unsigned i = 0; i < T_DETERMINISTIC; i++) {
    uint32_t events, got = fn_call(c->function, c->format, t_mode(i), 0, c->x, &events);
    uint16_t x = (uint16_t)c->x[0].code, y = (uint16_t)c->x[1].code, z = 0;
    calls_array to = {&z, 1, c->format}, from[2] = {{&x, 1, c->format}, {&y, 1, c->format}};
    if (got != c->expected[i]) fail_msg("mode %u: %#x: %s", i, got, line);
    assert_int_equal(events & HU_EVENT_INEXACT, HU_EVENT_INEXACT);
    assert_int_equal(calls_apply(HU_OP_FUNCTION + c->function, 1, to, from, t_mode(i), NULL, NULL), HU_OK);
    if (z != c->expected[i]) fail_msg("mode %u of an array: %#x: %s", i, z, line);
  }
  for (unsigned i = 0; i < 8; i++) {
    fn_draw_modes(&modes, random, 6, i % 2 ? 9 : 32);
    (void)fn_check(c->function, c->format, &modes, c->x);
  }
}

static void test_list(void **state) {
  (void)state;
  char line[256];
  unsigned count = 0, n = 0, seen[HU_ORACLE_FUNCTIONS] = {0};
  t_random random = {t_seed("hardest", 58)};
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    hard_case c;
    if (!parse(&c, line, &count)) continue;
    check(&c, &random, line);
    seen[c.function]++;
    n++;
  }
  fclose(file);
  assert_int_equal(n, count);
  for (int i = 0; i < HU_ORACLE_FUNCTIONS; i++) assert_true(seen[i] >= 16);
  print_message("%u cases in every rounding\n", n);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_list)};
  if (argc != 2) {
    fprintf(stderr, "usage: %s LIST\n", argv[0]);
    return 2;
  }
  path = argv[1];
  return cmocka_run_group_tests_name("hardest", tests, NULL, NULL);
}
