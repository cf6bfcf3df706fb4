/* SPDX-License-Identifier: MIT */
/* Random formats first, then values: conversions, encodings and decodings against the oracle, codes and events; and
 * whether the library and the oracle agree on what a format is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

typedef struct t_plan {
  uint64_t seed;
  unsigned formats;
} t_plan;

static void fail_case(const char *what, hu_format fz, hu_format fx, hu_mode mode, uint32_t r, double x,
                      const uint32_t got[2], const uint32_t expected[2]) {
  char a[T_FORMAT_TEXT], b[T_FORMAT_TEXT], c[T_MODE_TEXT], d[T_EVENTS_TEXT], e[T_EVENTS_TEXT];
  fail_msg("%s of %a (%s) to %s, %s R=%#x: %#x %s, oracle %#x %s", what, x, t_format_text(b, fx), t_format_text(a, fz),
           t_mode_text(c, mode), r, got[0], t_events_text(d, got[1]), expected[0], t_events_text(e, expected[1]));
}

static void check_encode(hu_format format, hu_mode mode, double x, uint32_t r) {
  uint32_t expected[2] = {1, 1}, got[2] = {2, 2};
  assert_int_equal(hu_oracle_encode64(&expected[0], &expected[1], format, mode, x, r), HU_OK);
  got[0] = hu_encode64(format, mode, x, r, &got[1]);
  if (got[0] != expected[0] || got[1] != expected[1]) fail_case("encode64", format, format, mode, r, x, got, expected);
}

static void check_encode32(hu_format format, hu_mode mode, float x, uint32_t r) {
  uint32_t expected[2] = {1, 1}, got[2] = {2, 2};
  assert_int_equal(hu_oracle_encode64(&expected[0], &expected[1], format, mode, (double)x, r), HU_OK);
  got[0] = hu_encode(format, mode, x, r, &got[1]);
  if (got[0] != expected[0] || got[1] != expected[1])
    fail_case("encode", format, format, mode, r, (double)x, got, expected);
}

static void check_convert(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t r) {
  uint32_t expected[2] = {1, 1}, got[2] = {2, 2};
  double value, decoded;
  assert_int_equal(hu_oracle_convert(&expected[0], &expected[1], fz, mode, fx, x, r), HU_OK);
  got[0] = hu_convert(fz, mode, fx, x, r, &got[1]);
  assert_int_equal(hu_oracle_decode64(&value, fx, x), HU_OK);
  if (got[0] != expected[0] || got[1] != expected[1]) fail_case("convert", fz, fx, mode, r, value, got, expected);
  decoded = hu_decode64(fx, x);
  if (!t_same64(decoded, value)) {
    char text[T_FORMAT_TEXT];
    fail_msg("decode64 of %#x in %s: %a, oracle %a", x, t_format_text(text, fx), decoded, value);
  }
}

/* A code near the interesting ones, or any. */
static uint32_t draw_code(t_random *random, hu_format format) {
  hu_limits limits = hu_limits_of(format);
  uint32_t near[5] = {0, limits.min_code, limits.min_normal_code, limits.max_code, limits.nan_code};
  uint32_t c = t_next32(random);
  if (t_below(random, 2)) c = near[t_below(random, 5)];
  c += (uint32_t)t_between(random, -2, 2);
  return t_below(random, 2) ? c ^ limits.sign_mask : c;
}

static void test_values(void **state) {
  const t_plan *plan = *state;
  t_random random = {plan->seed};
  uint64_t n = 0;
  for (unsigned i = 0; i < plan->formats; i++) {
    unsigned widest = i % 4 == 0 ? 32 : i % 4 == 1 ? 16 : 9;
    hu_format fz = t_random_format(&random, 1, widest), fx = t_random_format(&random, 1, 32);
    for (int k = 0; k < 40; k++, n += 3) {
      hu_mode mode = t_random_mode(&random);
      uint32_t word = t_next32(&random);
      double x = t_random_operand(&random, fz);
      check_encode(fz, mode, x, word);
      check_encode32(fz, mode, t_below(&random, 4) ? (float)x : t_float(t_next32(&random)), word);
      check_convert(fz, mode, fx, draw_code(&random, fx), word);
    }
  }
  print_message("%llu comparisons over %u pairs of random formats\n", (unsigned long long)n, plan->formats);
}

/* The two derivations of "a format" agree, on descriptors near validity. */
static void test_validity(void **state) {
  const t_plan *plan = *state;
  t_random random = {plan->seed + 1};
  unsigned valid = 0, n = 400000;
  for (unsigned i = 0; i < n; i++) {
    hu_format format = t_random_descriptor(&random);
    double z;
    const char *axis = NULL;
    hu_status theirs = hu_oracle_decode64(&z, format, 0), ours = hu_format_check(format, &axis);
    char text[T_FORMAT_TEXT];
    if (theirs != ours)
      fail_msg("%s: hu_format_check %d (%s), oracle %d", t_format_text(text, format), ours, axis ? axis : "", theirs);
    valid += ours == HU_OK;
  }
  assert_true(valid > n / 200 && valid < n / 2);
  print_message("%u descriptors, %u of them valid, agreed on\n", n, valid);
}

/* Derived limits of random formats against the oracle's table. */
static void test_limits(void **state) {
  const t_plan *plan = *state;
  t_random random = {plan->seed + 2};
  for (int i = 0; i < 50000; i++) {
    hu_format format = t_random_format(&random, 1, 32);
    hu_limits limits = hu_limits_of(format);
    char text[T_FORMAT_TEXT];
    double max, min, nan = 0, inf = INFINITY, normal = 0;
    hu_mode rtz = t_policy(t_mode(HU_RTZ), HU_SAT_FINITE, 0, 0);
    uint32_t top;
    assert_int_equal(hu_oracle_encode64(&top, NULL, format, rtz, INFINITY, 0), HU_OK);
    assert_int_equal(hu_oracle_decode64(&max, format, limits.max_code), HU_OK);
    assert_int_equal(hu_oracle_decode64(&min, format, limits.min_code), HU_OK);
    if (limits.has_nan) assert_int_equal(hu_oracle_decode64(&nan, format, limits.nan_code), HU_OK);
    if (limits.inf_code != HU_NO_CODE) assert_int_equal(hu_oracle_decode64(&inf, format, limits.inf_code), HU_OK);
    if (limits.min_normal_code != HU_NO_CODE)
      assert_int_equal(hu_oracle_decode64(&normal, format, limits.min_normal_code), HU_OK);
    int low_ok = t_same64(limits.low, format.sign ? -max : format.zero == HU_ZERO_NONE ? min : 0.0);
    if (top != limits.max_code || !t_same64(max, limits.max) || !t_same64(min, limits.min) ||
        (limits.has_nan && !isnan(nan)) || inf != INFINITY || !t_same64(normal, limits.min_normal) || !low_ok ||
        ilogb(max) != limits.emax)
      fail_msg("%s: max %#x %a (oracle %#x %a) min %#x %a (%a) normal %a (%a)", t_format_text(text, format),
               limits.max_code, limits.max, top, max, limits.min_code, limits.min, min, limits.min_normal, normal);
  }
  print_message("limits of 50000 random formats agree\n");
}

/* usage: test_fuzz [PAIRS-OF-FORMATS] */
int main(int argc, char **argv) {
  t_plan plan = {t_seed("fuzz", 20), argc > 1 ? (unsigned)atoi(argv[1]) : 20000};
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_validity, &plan),
                                     cmocka_unit_test_prestate(test_limits, &plan),
                                     cmocka_unit_test_prestate(test_values, &plan)};
  return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
