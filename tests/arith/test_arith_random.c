/* SPDX-License-Identifier: MIT */
/* Wider formats and mixed ones, at random, against the oracle: operands of any valid formats of up to 32 bits into any
 * other.
 *
 * Operands are drawn where roundings differ: any code, values near the edges of either format, the second operand of a
 * sum near minus the first, of a product near a quotient of a result's value by the first, so that results fall on and
 * beside grid points, midpoints and the ends of the range. Also: three different formats of up to 8 bits, misuse, and
 * the exact text of arith.h's promises on single cases. */
#include "tests/arith/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

static hu_format any_format(t_random *random) {
  switch (t_below(random, 4)) {
    case 0: return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
    case 1: return t_random_format(random, 1, 8);
    case 2: return t_random_format(random, 9, 16);
    default: return t_random_format(random, 1, 32);
  }
}

static hu_format wide_format(t_random *random) {
  switch (t_below(random, 5)) {
    case 0: return hu_binary16();
    case 1: return hu_bfloat16();
    case 2: return hu_binary32();
    case 3: return hu_tf32();
    default: return t_random_format(random, 17, 32);
  }
}

/* The code of the format nearest to v, or one of its neighbours. */
static uint32_t near_code(t_random *random, hu_format format, double v) {
  uint32_t c = hu_encode64(format, t_mode(t_below(random, T_DETERMINISTIC)), v, 0, NULL);
  switch (t_below(random, 4)) {
    case 0: return hu_next_up(format, c);
    case 1: return hu_next_down(format, c);
    default: return c;
  }
}

static uint32_t any_code(t_random *random, hu_format format, hu_format other) {
  if (t_below(random, 4) == 0) return t_next32(random);
  return near_code(random, format, t_random_operand(random, t_below(random, 2) ? format : other));
}

static void draw_operands(t_random *random, int op, hu_format fz, hu_oracle_code *x) {
  for (int i = 0; i < 3; i++) x[i].code = any_code(random, x[i].format, fz);
  if (t_below(random, 2)) return;
  /* Aim at a value of fz or a midpoint, or at nothing at all: a result that cancels. */
  double a = hu_decode64(x[0].format, x[0].code), b = hu_decode64(x[1].format, x[1].code);
  double z = t_below(random, 4) ? t_random_operand(random, fz) : 0;
  switch (op) {
    case HU_ORACLE_ADD: x[1].code = near_code(random, x[1].format, z - a); break;
    case HU_ORACLE_SUB: x[1].code = near_code(random, x[1].format, a - z); break;
    case HU_ORACLE_MUL: x[1].code = near_code(random, x[1].format, z / a); break;
    case HU_ORACLE_DIV: x[1].code = near_code(random, x[1].format, a / z); break;
    case HU_ORACLE_SQRT: x[0].code = near_code(random, x[0].format, z * z); break;
    case HU_ORACLE_FMA: x[2].code = near_code(random, x[2].format, z - a * b); break;
    case HU_ORACLE_ROUND_TO_INTEGRAL:
      x[0].code =
          near_code(random, x[0].format, ldexp(t_next32(random) >> t_below(random, 31), -(int)t_below(random, 4)));
      break;
    default: x[1].code = near_code(random, x[1].format, a); break;
  }
}

static void test_random(void **state, hu_format (*formats)(t_random *), const char *name) {
  uint64_t cases = 0, exceptional = 0, count = *(const uint64_t *)*state;
  t_random random = {t_seed(name, 12)};
  for (; cases < count; cases++) {
    int op = (int)t_below(&random, HU_ORACLE_OPERATIONS);
    hu_format fz = formats(&random);
    int alike = t_below(&random, 3) == 0;
    hu_oracle_code x[3];
    for (int i = 0; i < 3; i++) x[i].format = alike || op == HU_ORACLE_ROUND_TO_INTEGRAL ? fz : formats(&random);
    draw_operands(&random, op, fz, x);
    hu_mode mode = t_random_mode(&random);
    exceptional += (ar_check(op, fz, mode, t_next32(&random), x) & ~(uint32_t)HU_EVENT_INEXACT) != 0;
    int order = hu_compare(x[0].format, x[0].code, x[1].format, x[1].code);
    double a = hu_decode64(x[0].format, x[0].code), b = hu_decode64(x[1].format, x[1].code);
    assert_int_equal(order, a < b ? HU_LESS : a > b ? HU_GREATER : a == b ? HU_EQUAL : HU_UNORDERED);
  }
  assert_true(exceptional > cases / 20 && exceptional < cases);
  print_message("%llu operations, %llu with other events than inexact\n", (unsigned long long)cases,
                (unsigned long long)exceptional);
}

static void test_any(void **state) { test_random(state, any_format, "arith_any"); }
static void test_wide(void **state) { test_random(state, wide_format, "arith_wide"); }

/* Operands in two small formats, the result in a third: many triples of formats, some operands each. */
static void test_three_formats(void **state) {
  (void)state;
  t_random random = {t_seed("arith_three", 13)};
  uint64_t cases = 0, triples = 0;
  for (; triples < 3000; triples++) {
    hu_oracle_code x[3];
    hu_format fz = t_random_format(&random, 2, 8);
    for (int i = 0; i < 3; i++)
      x[i].format = hu_format_at(t_next_format(t_below(&random, (uint32_t)hu_format_count() - 20), 8)).format;
    for (int k = 0; k < 200; k++, cases++) {
      static const int ops[] = {HU_ORACLE_ADD, HU_ORACLE_SUB, HU_ORACLE_MUL,     HU_ORACLE_DIV,
                                HU_ORACLE_FMA, HU_ORACLE_FMA, HU_ORACLE_MINIMUM, HU_ORACLE_MAXIMUM_NUMBER};
      for (int i = 0; i < 3; i++) x[i].code = t_next32(&random);
      hu_mode mode = t_random_mode(&random);
      mode.nan_fma = (uint8_t)t_below(&random, 2);
      ar_check(ops[k % 8], fz, mode, t_next32(&random), x);
    }
  }
  print_message("%llu operations on %llu triples of formats\n", (unsigned long long)cases, (unsigned long long)triples);
}

/* Neighbours in formats too wide to search: no value lies between, by the oracle's values. */
static void test_neighbours(void **state) {
  (void)state;
  t_random random = {t_seed("arith_neighbours", 14)};
  uint64_t steps = 0;
  for (int k = 0; k < 200000; k++) {
    hu_format format = wide_format(&random);
    uint32_t c = any_code(&random, format, format), up = hu_next_up(format, c);
    double v, u;
    assert_int_equal(hu_oracle_decode64(&v, format, c), HU_OK);
    assert_int_equal(hu_oracle_decode64(&u, format, up), HU_OK);
    if (isnan(v)) {
      assert_true(isnan(u));
      continue;
    }
    assert_true(u > v || (u == v && (isinf(v) || v == hu_limits_of(format).max)) ||
                (v == 0 && u == v && hu_limits_of(format).max == 0));
    if (u == v || isinf(u) || isinf(v)) continue;
    /* A value strictly between v and u, rounded up and down, gives them back. */
    double middle = v + (u - v) / 2;
    hu_mode upward = t_policy(t_mode(HU_RTP), HU_SAT_FINITE, 0, 0),
            downward = t_policy(t_mode(HU_RTN), HU_SAT_FINITE, 0, 0);
    if (middle > v && middle < u && format.zero == HU_ZERO_FIELD && format.subnormal != HU_SUBNORMAL_FLUSH) {
      assert_true(hu_quantize64(format, upward, middle, 0, NULL) == u);
      assert_true(hu_quantize64(format, downward, middle, 0, NULL) == v);
      steps++;
    }
    if (u != 0 && v != 0)
      assert_int_equal(hu_next_down(format, up), hu_encode64(format, t_policy(t_mode(0), 3, 0, 0), v, 0, NULL));
  }
  assert_true(steps > 20000);
}

/* ---- Single cases, by the standard's own words. */

static void expect(uint32_t code, uint32_t events, uint32_t expected, uint32_t expected_events) {
  assert_int_equal(code, expected);
  assert_int_equal(events, expected_events);
}

static void test_specials(void **state) {
  (void)state;
  hu_format half = hu_binary16(), e4m3 = hu_float8_e4m3fn(), e2m1 = hu_float4_e2m1fn();
  hu_mode rne = t_mode(HU_RNE), rtn = t_mode(HU_RTN);
  uint32_t e = 0, z;
  enum { ONE = 0x3C00, INF = 0x7C00, NAN16 = 0x7E00, MINUS = 0x8000 };
  z = hu_sub(half, rne, half, INF, half, INF, 0, &e), expect(z, e, NAN16, HU_EVENT_INVALID | HU_EVENT_INF_IN);
  z = hu_mul(half, rne, half, INF, half, MINUS, 0, &e), expect(z, e, NAN16, HU_EVENT_INVALID | HU_EVENT_INF_IN);
  z = hu_div(half, rne, half, 0, half, MINUS, 0, &e), expect(z, e, NAN16, HU_EVENT_INVALID);
  z = hu_div(half, rne, half, ONE, half, MINUS, 0, &e), expect(z, e, INF | MINUS, HU_EVENT_DIVIDE_BY_ZERO);
  z = hu_div(half, rne, half, INF, half, MINUS, 0, &e), expect(z, e, INF | MINUS, HU_EVENT_INF_IN);
  z = hu_div(half, rne, half, ONE | MINUS, half, INF, 0, &e), expect(z, e, MINUS, HU_EVENT_INF_IN);
  z = hu_sqrt(half, rne, half, MINUS, 0, &e), expect(z, e, MINUS, 0);
  z = hu_sqrt(half, rne, half, MINUS | 1, 0, &e), expect(z, e, NAN16, HU_EVENT_INVALID);
  z = hu_fma(half, rne, half, INF, half, 0, half, NAN16, 0, &e), expect(z, e, NAN16, HU_EVENT_NAN_IN | HU_EVENT_INF_IN);
  z = hu_fma(half, rne, half, ONE, half, INF, half, INF | MINUS, 0, &e),
  expect(z, e, NAN16, HU_EVENT_INVALID | HU_EVENT_INF_IN);
  /* 6.3: x - x is +0, toward negative -0; -0 + -0 is -0 in every mode. */
  z = hu_sub(half, rne, half, ONE, half, ONE, 0, &e), expect(z, e, 0, 0);
  z = hu_sub(half, rtn, half, ONE, half, ONE, 0, &e), expect(z, e, MINUS, 0);
  z = hu_add(half, rne, half, MINUS, half, MINUS, 0, &e), expect(z, e, MINUS, 0);
  z = hu_add(half, rtn, half, 0, half, 0, 0, &e), expect(z, e, 0, 0);
  /* x/0 where there is no infinity: max by default; under `none` the NaN of the overflow axis. */
  z = hu_div(e4m3, rne, e4m3, 0xB8, e4m3, 0, 0, &e), expect(z, e, 0xFE, HU_EVENT_DIVIDE_BY_ZERO | HU_EVENT_SATURATED);
  z = hu_div(e4m3, t_policy(rne, HU_SAT_NONE, 0, 0), e4m3, 0xB8, e4m3, 0, 0, &e);
  expect(z, e, 0xFF, HU_EVENT_DIVIDE_BY_ZERO | HU_EVENT_INVALID);
  /* 0/0 where there is no NaN. */
  z = hu_div(e2m1, rne, e2m1, 0, e2m1, 8, 0, &e), expect(z, e, 7, HU_EVENT_INVALID);
  z = hu_div(e2m1, t_policy(rne, 0, 0, HU_NAN_TO_ZERO), e2m1, 0, e2m1, 8, 0, &e), expect(z, e, 0, HU_EVENT_INVALID);
  /* 9.6. */
  z = hu_minimum(half, rne, half, 0, half, MINUS, 0, &e), expect(z, e, MINUS, 0);
  z = hu_maximum(half, rne, half, MINUS, half, 0, 0, &e), expect(z, e, 0, 0);
  z = hu_minimum(half, rne, half, ONE, half, NAN16, 0, &e), expect(z, e, NAN16, HU_EVENT_NAN_IN);
  z = hu_minimum_number(half, rne, half, ONE, half, NAN16, 0, &e), expect(z, e, ONE, HU_EVENT_NAN_IN);
  z = hu_maximum_number(half, rne, half, NAN16, half, INF | MINUS, 0, &e),
  expect(z, e, INF | MINUS, HU_EVENT_NAN_IN | HU_EVENT_INF_IN);
  /* 2.5, ties to even; 7.5 of a format that ends there. */
  z = hu_round_to_integral(half, rne, 0x4100, 0, &e), expect(z, e, 0x4000, HU_EVENT_INEXACT);
  z = hu_round_to_integral(hu_float6_e2m3fn(), rne, 0x1F, 0, &e);
  expect(z, e, 0x1F, HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT);
  assert_int_equal(hu_next_up(half, 0x7BFF), INF);
  assert_int_equal(hu_next_up(half, MINUS | 1), MINUS);
  assert_int_equal(hu_next_up(e4m3, 0x7E), 0x7E);
  assert_int_equal(hu_next_down(half, MINUS | INF), MINUS | INF);
}

/* 7.2 c: infinity times zero plus a NaN, by either policy; a NaN in the product is never invalid. */
static void test_nan_fma(void **state) {
  (void)state;
  hu_format half = hu_binary16();
  hu_mode mode = t_mode(HU_RNE);
  uint32_t e = 0, z;
  enum { ONE = 0x3C00, INF = 0x7C00, NAN16 = 0x7E00, MINUS = 0x8000 };
  const uint32_t both = HU_EVENT_NAN_IN | HU_EVENT_INF_IN;
  mode.nan_fma = HU_NAN_FMA_INVALID;
  z = hu_fma(half, mode, half, INF, half, 0, half, NAN16, 0, &e), expect(z, e, NAN16, both | HU_EVENT_INVALID);
  z = hu_fma(half, mode, half, MINUS, half, INF, half, NAN16, 0, &e), expect(z, e, NAN16, both | HU_EVENT_INVALID);
  z = hu_fma(half, mode, half, ONE, half, INF, half, NAN16, 0, &e), expect(z, e, NAN16, both);
  z = hu_fma(half, mode, half, NAN16, half, INF, half, 0, 0, &e), expect(z, e, NAN16, both);
  z = hu_fma(half, mode, half, INF, half, 0, half, ONE, 0, &e), expect(z, e, NAN16, HU_EVENT_INVALID | HU_EVENT_INF_IN);
  mode.nan_fma = HU_NAN_FMA_INVALID + 1;
  assert_int_equal(hu_mode_check(mode), HU_E_MODE);
}

/* 6.2.1, code by code; bits above a code do not count. */
static void test_signalling(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t code;
    int signalling;
  } rows[] = {{"binary16", 0x7C01, 1},      {"binary16", 0x7DFF, 1},     {"binary16", 0xFC01, 1},
              {"binary16", 0x7E00, 0},      {"binary16", 0x7FFF, 0},     {"binary16", 0x7C00, 0},
              {"binary16", 0x3C00, 0},      {"binary16", 0x77C01, 1},    {"binary16", 0x77E00, 0},
              {"bfloat16", 0x7FBF, 1},      {"bfloat16", 0x7FC0, 0},     {"binary32", 0x7F800001, 1},
              {"binary32", 0x7FC00000, 0},  {"float8_e5m2", 0x7D, 1},    {"float8_e5m2", 0x7E, 0},
              {"float8_e5m2", 0x7F, 0},     {"float8_e4m3fn", 0x7F, 0},  {"float8_e4m3fn", 0xFF, 0},
              {"float8_e4m3fnuz", 0x80, 0}, {"float8_e8m0fnu", 0xFF, 0}, {"binary8p4se", 0x80, 0},
              {"float4_e2m1fn", 0x7, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_format format;
    assert_int_equal(hu_format_find(&format, rows[i].name), HU_OK);
    if (hu_is_signalling(format, rows[i].code) != rows[i].signalling) fail_msg("%s %#x", rows[i].name, rows[i].code);
  }
}

static void test_misuse(void **state) {
  (void)state;
  hu_format format = hu_binary16(), bad = format;
  hu_mode rne = t_mode(0), wrong = t_mode(99);
  bad.m = 31;
  hu_oracle_code x[3] = {{format, 0x3C00}, {format, 0x3C00}, {format, 0x3C00}};
  for (int op = 0; op < HU_ORACLE_OPERATIONS; op++) {
    uint32_t e = 0, code;
    assert_int_equal(calls_code(op, format, wrong, x, 0, &e), 0);
    assert_int_equal(e, HU_EVENT_INVALID);
    assert_int_equal(hu_oracle_arith(&code, &e, op, format, wrong, 0, x), HU_E_MODE);
    for (int i = 0; i < calls_operands(op); i++) {
      x[i].format = bad;
      e = 0;
      assert_int_equal(calls_code(op, op == HU_ORACLE_ROUND_TO_INTEGRAL ? bad : format, rne, x, 0, &e), 0);
      assert_int_equal(e, HU_EVENT_INVALID);
      assert_int_equal(hu_oracle_arith(&code, &e, op, format, rne, 0, x), HU_E_FORMAT);
      x[i].format = format;
    }
    assert_int_not_equal(calls_code(op, format, rne, x, 0, NULL), 0xDEAD); /* events may be NULL */
  }
  assert_int_equal(hu_compare(bad, 0, format, 0), HU_UNORDERED);
  assert_int_equal(hu_compare(format, 0, bad, 0), HU_UNORDERED);
  assert_int_equal(hu_class(bad, 0), HU_CLASS_NAN);
  assert_int_equal(hu_is_signalling(bad, 0x7C01), 0);
  assert_int_equal(hu_next_up(bad, 5), 0);
  assert_int_equal(hu_next_down(bad, 5), 0);
}

int main(void) {
  uint64_t count = HU_EXHAUSTIVE ? 40000000 : 1500000;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_any, &count),
                                     cmocka_unit_test_prestate(test_wide, &count),
                                     cmocka_unit_test(test_three_formats),
                                     cmocka_unit_test(test_neighbours),
                                     cmocka_unit_test(test_specials),
                                     cmocka_unit_test(test_nan_fma),
                                     cmocka_unit_test(test_signalling),
                                     cmocka_unit_test(test_misuse)};
  return cmocka_run_group_tests_name("arithmetic at random", tests, NULL, NULL);
}
