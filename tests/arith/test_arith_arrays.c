/* SPDX-License-Identifier: MIT */
/* hu_apply against hu_apply_code: every operation, formats of every kind, strides, in place,
 * threads, levels, random words, events, errors. */
#include "tests/arith/calls.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { N = 2500, ROOM = 4 * N + 64 };

static uint32_t buffer[4][ROOM], wanted[ROOM];

/* Where element 0 lies, so that all of a strided array is inside its room. */
static ptrdiff_t origin(size_t n, ptrdiff_t inc) { return inc < 0 ? -inc * (ptrdiff_t)n + 8 : 8; }

static hu_format any_format(t_random *random) {
  switch (t_below(random, 4)) {
    case 0: return hu_binary32();
    case 1: return t_random_format(random, 1, 32);
    case 2: return t_random_format(random, 1, 16);
    default: return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
  }
}

/* Operands: any code; mostly ordinary ones, so that the lanes have work; values near those of the result's format. */
static uint32_t draw_code(t_random *random, hu_format format, hu_format fz, unsigned how) {
  if (how == 0) return t_random_code(random, format);
  if (how == 1) return hu_encode64(format, t_mode(HU_RTZ), t_random_operand(random, fz), 0, NULL);
  double v =
      (t_below(random, 2) ? 1 : -1) * (1 + t_below(random, 1u << 20) * 0x1p-20) * (double)(1u << t_below(random, 4));
  return hu_encode64(format, t_mode(HU_RNE), v, 0, NULL);
}

typedef struct job {
  int op;
  size_t n, size[4]; /* bytes of an element; 3 is the result */
  ptrdiff_t inc[4];
  hu_format format[4];
  uint8_t *start[4];
  hu_mode mode;
  hu_exec exec;
} job;

static void draw_job(t_random *random, job *j, int op) {
  static const uint32_t threads[] = {0, 1, 2, 3, 16};
  memset(j, 0, sizeof *j);
  j->op = op;
  j->n = t_below(random, 4) ? 1 + t_below(random, N) : t_below(random, 20);
  j->mode = t_random_mode(random);
  j->mode.nan_fma = (uint8_t)t_below(random, 2);
  j->exec.threads = threads[t_below(random, 5)];
  j->exec.levels_off = t_levels_off(t_below(random, (uint32_t)t_levels()));
  j->exec.stream.key = t_next64(random);
  j->exec.stream.counter = t_below(random, 2) ? t_next64(random) : UINT64_MAX - t_below(random, N);
  j->format[3] = any_format(random);
  int alike = (int)t_below(random, 3);
  for (int i = 0; i < 3; i++) j->format[i] = alike || calls_same_format(op) ? j->format[3] : any_format(random);
  for (int i = 0; i < 4; i++) {
    j->size[i] = i == 3 && calls_bytes(op) ? 1 : hu_limits_of(j->format[i]).storage / 8;
    j->inc[i] = t_below(random, 2) ? 1
                : i == 3           ? (t_below(random, 2) ? -1 : 1) * t_between(random, 1, 3)
                                   : t_between(random, -3, 3);
    j->start[i] = (uint8_t *)buffer[i] + origin(j->n, j->inc[i]) * (ptrdiff_t)j->size[i];
  }
  unsigned how = t_below(random, 3);
  for (int i = 0; i < calls_operands(op); i++) {
    for (size_t k = 0; k < j->n; k++)
      t_put(j->start[i], j->size[i], (ptrdiff_t)k * j->inc[i], draw_code(random, j->format[i], j->format[3], how));
  }
  int in_place = (int)t_below(random, 4);
  if (in_place < calls_operands(op) && j->size[in_place] == j->size[3] && j->inc[in_place] != 0) {
    j->inc[3] = j->inc[in_place];
    j->start[3] = j->start[in_place];
  }
}

static hu_status run_job(const job *j, hu_events *events) {
  calls_array z = {j->start[3], j->inc[3], j->format[3]}, x[3];
  for (int i = 0; i < 3; i++) {
    calls_array a = {j->start[i], j->inc[i], j->format[i]};
    x[i] = a;
  }
  return calls_apply(j->op, j->n, z, x, j->mode, &j->exec, events);
}

static uint64_t check_job(const job *j) {
  hu_events ev, expected;
  memset(&ev, 0x11, sizeof ev);
  expected = ev;
  for (size_t k = 0; k < j->n; k++) {
    hu_code x[3];
    uint32_t e = 0, r = j->mode.bits ? hu_stream_word(j->exec.stream, k) >> (32 - j->mode.bits) : 0;
    for (int i = 0; i < 3; i++) {
      x[i].format = j->format[i];
      x[i].code = i < calls_operands(j->op) ? t_get(j->start[i], j->size[i], (ptrdiff_t)k * j->inc[i]) : 0;
    }
    wanted[k] = hu_apply_code(j->op, j->format[3], j->mode, x, r, &e);
    if (calls_bytes(j->op)) wanted[k] &= 0xFF;
    hu_events_count(&expected, e);
  }
  if (j->start[3] >= (uint8_t *)buffer[3] && j->start[3] < (uint8_t *)(buffer[3] + ROOM))
    t_fill_pattern(buffer[3], sizeof buffer[3]);
  hu_status status = run_job(j, &ev);
  if (status != HU_OK) fail_msg("%s: %s", calls_name(j->op), hu_status_name(status));
  for (size_t k = 0; k < j->n; k++) {
    uint32_t got = t_get(j->start[3], j->size[3], (ptrdiff_t)k * j->inc[3]);
    char z[T_FORMAT_TEXT], a[T_FORMAT_TEXT], m[T_MODE_TEXT];
    if (got != wanted[k])
      fail_msg("%s of %s ... into %s, %s, levels off %x, element %zu of %zu: %#x, alone %#x", calls_name(j->op),
               t_format_text(a, j->format[0]), t_format_text(z, j->format[3]), t_mode_text(m, j->mode),
               j->exec.levels_off, k, j->n, got, wanted[k]);
  }
  if (!t_same_events(&ev, &expected))
    fail_msg("%s: events differ, levels off %x", calls_name(j->op), j->exec.levels_off);
  return j->n;
}

static void test_jobs(void **state) {
  (void)state;
  t_random random = {t_seed("arith_arrays", 21)};
  uint64_t elements = 0;
  for (int round = 0; round < (HU_EXHAUSTIVE ? 4000 : 250); round++) {
    for (int op = 0; op < (int)hu_operation_count(); op++) {
      job j;
      if (round % 10 && op >= HU_OP_FUNCTION && op <= HU_OP_POW) continue; /* test_function_arrays has more of them */
      draw_job(&random, &j, op);
      elements += check_job(&j);
    }
  }
  print_message("%llu elements in %d operations\n", (unsigned long long)elements, (int)hu_operation_count());
}

/* The lanes on formats that they take, every mode and level, and operands whose results sit on ties and ends. */
static void test_lanes(void **state) {
  (void)state;
  static const char *const names[] = {"binary16",        "bfloat16",    "tf32",          "float8_e4m3fn", "float8_e5m2",
                                      "float8_e4m3fnuz", "binary8p4se", "float6_e2m3fn", "float4_e2m1fn", "dlfloat16"};
  t_random random = {t_seed("arith_lanes", 22)};
  uint64_t elements = 0;
  for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
    for (unsigned round = 0; round < HU_ROUND_COUNT; round++) {
      for (int op = 0; op <= HU_OP_INTEGRAL; op++) {
        job j;
        draw_job(&random, &j, op);
        assert_int_equal(hu_format_find(&j.format[3], names[f]), HU_OK);
        j.mode = round < HU_SRA ? t_mode(round) : t_stochastic(round, 1 + t_below(&random, 9));
        j.mode = t_policy(j.mode, t_below(&random, 4), t_below(&random, 2), t_below(&random, 3));
        j.n = N;
        for (int i = 0; i < 4; i++) {
          if (i < 3) j.format[i] = t_below(&random, 3) ? j.format[3] : hu_binary32();
          if (calls_same_format(op)) j.format[i] = j.format[3];
          j.size[i] = hu_limits_of(j.format[i]).storage / 8;
          j.inc[i] = 1;
          j.start[i] = (uint8_t *)buffer[i] + 8 * j.size[i];
          for (size_t k = 0; i < 3 && k < j.n; k++)
            t_put(j.start[i], j.size[i], (ptrdiff_t)k,
                  draw_code(&random, j.format[i], j.format[3], 1 + (unsigned)(k % 64 != 0)));
        }
        for (size_t level = 0; level < t_levels(); level++) {
          j.exec.levels_off = t_levels_off(level);
          elements += check_job(&j);
        }
      }
    }
  }
  print_message("%llu elements through lanes\n", (unsigned long long)elements);
}

/* Every pair of codes of the 8-bit formats that most people use, each level against the core. */
static void test_all_pairs(void **state) {
  (void)state;
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "binary8p3se"};
  static uint8_t a[65536], b[65536], z[2][65536];
  uint64_t elements = 0;
  for (uint32_t i = 0; i < 65536; i++) {
    a[i] = (uint8_t)i;
    b[i] = (uint8_t)(i >> 8);
  }
  for (unsigned f = 0; f < 4; f++) {
    for (int op = HU_OP_ADD; op <= HU_OP_MAXIMUM_NUMBER; op++) {
      for (unsigned round = 0; round < T_DETERMINISTIC; round++) {
        hu_events ev[2];
        calls_array x[3] = {{a, 1, {0}}, {b, 1, {0}}, {b, 1, {0}}}, y = {z[0], 1, {0}};
        assert_int_equal(hu_format_find(&y.format, names[f]), HU_OK);
        x[0].format = x[1].format = y.format;
        memset(ev, 0, sizeof ev);
        for (int k = 0; k < 2; k++) {
          hu_exec exec = {2, k ? UINT32_MAX : 0, {0, 0}, {0}};
          y.data = z[k];
          assert_int_equal(calls_apply(op, 65536, y, x, t_mode(round), &exec, &ev[k]), HU_OK);
        }
        assert_memory_equal(z[0], z[1], sizeof z[0]);
        assert_true(t_same_events(&ev[0], &ev[1]));
        elements += 65536;
      }
    }
  }
  print_message("%llu pairs\n", (unsigned long long)elements);
}

static void test_errors(void **state) {
  (void)state;
  hu_format format = hu_binary16(), bad = format, e4m3 = hu_float8_e4m3fn();
  uint16_t x[32] = {0}, z[32];
  uint8_t small[64] = {0};
  hu_mode rne = t_mode(0), wrong = t_mode(77);
  hu_events ev = {0};
  bad.e = 12;
  t_fill_pattern(z, sizeof z);
  assert_int_equal(hu_add_n(8, z, 1, bad, x, 1, format, x, 1, format, rne, NULL, &ev), HU_E_FORMAT);
  assert_int_equal(hu_add_n(8, z, 1, format, x, 1, bad, x, 1, format, rne, NULL, &ev), HU_E_FORMAT);
  assert_int_equal(hu_fma_n(8, z, 1, format, x, 1, format, x, 1, format, x, 1, bad, rne, NULL, &ev), HU_E_FORMAT);
  assert_int_equal(hu_add_n(8, z, 1, format, x, 1, format, x, 1, format, wrong, NULL, &ev), HU_E_MODE);
  assert_int_equal(hu_add_n(8, NULL, 1, format, x, 1, format, x, 1, format, rne, NULL, &ev), HU_E_NULL);
  assert_int_equal(hu_add_n(8, z, 1, format, x, 1, format, NULL, 1, format, rne, NULL, &ev), HU_E_NULL);
  assert_int_equal(hu_add_n(8, z, 0, format, x, 1, format, x, 1, format, rne, NULL, &ev), HU_E_SHAPE);
  assert_int_equal(hu_add_n(SIZE_MAX / 2, z, 1, format, x, 1, format, x, 1, format, rne, NULL, &ev), HU_E_SHAPE);
  assert_int_equal(hu_sqrt_n(8, z, 1, format, (const uint8_t *)x + 1, 1, format, rne, NULL, &ev), HU_E_ALIGN);
  assert_int_equal(hu_mul_n(8, x + 1, 1, format, x, 1, format, z, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  assert_int_equal(hu_mul_n(8, x + 1, 1, format, z, 1, format, x, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  assert_int_equal(hu_mul_n(8, x, 2, format, x, 1, format, x, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  assert_int_equal(hu_add_n(8, x, 1, format, x, 1, e4m3, x + 16, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  const hu_view same[2] = {hu_codes(x, 1, format), hu_codes(x, 1, format)};
  assert_int_equal(hu_apply(HU_OP_COMPARE, 8, hu_int8_out((int8_t *)(void *)x, 1), same, NULL), HU_E_OVERLAP);
  assert_true(t_is_pattern(z, sizeof z));
  assert_int_equal(ev.invalid + ev.inexact, 0);
  assert_int_equal(hu_add_n(0, NULL, 1, format, NULL, 1, format, NULL, 1, format, rne, NULL, NULL), HU_OK);
  assert_int_equal(hu_add_n(8, x + 1, 2, format, x, 2, format, x, 2, format, rne, NULL, NULL), HU_OK);
  assert_int_equal(hu_add_n(8, small, 1, e4m3, small, 1, e4m3, x, 0, format, rne, NULL, NULL), HU_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs), cmocka_unit_test(test_lanes),
                                     cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests_name("arithmetic over arrays", tests, NULL, NULL);
}
