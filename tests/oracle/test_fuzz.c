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
                      const uint32_t got[2], const uint32_t want[2]) {
  char a[T_FORMAT_TEXT], b[T_FORMAT_TEXT], c[T_MODE_TEXT], d[T_EVENTS_TEXT], e[T_EVENTS_TEXT];
  fail_msg("%s of %a (%s) to %s, %s R=%#x: %#x %s, oracle %#x %s", what, x, t_format_text(b, fx), t_format_text(a, fz),
           t_mode_text(c, mode), r, got[0], t_events_text(d, got[1]), want[0], t_events_text(e, want[1]));
}

static void check_encode(hu_format f, hu_mode mode, double x, uint32_t r) {
  uint32_t want[2] = {1, 1}, got[2] = {2, 2};
  assert_int_equal(hu_oracle_encode64(&want[0], &want[1], f, mode, x, r), HU_OK);
  got[0] = hu_encode64(f, mode, x, r, &got[1]);
  if (got[0] != want[0] || got[1] != want[1]) fail_case("encode64", f, f, mode, r, x, got, want);
}

static void check_encode32(hu_format f, hu_mode mode, float x, uint32_t r) {
  uint32_t want[2] = {1, 1}, got[2] = {2, 2};
  assert_int_equal(hu_oracle_encode64(&want[0], &want[1], f, mode, (double)x, r), HU_OK);
  got[0] = hu_encode(f, mode, x, r, &got[1]);
  if (got[0] != want[0] || got[1] != want[1]) fail_case("encode", f, f, mode, r, (double)x, got, want);
}

static void check_convert(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t r) {
  uint32_t want[2] = {1, 1}, got[2] = {2, 2};
  double value, decoded;
  assert_int_equal(hu_oracle_convert(&want[0], &want[1], fz, mode, fx, x, r), HU_OK);
  got[0] = hu_convert(fz, mode, fx, x, r, &got[1]);
  assert_int_equal(hu_oracle_decode64(&value, fx, x), HU_OK);
  if (got[0] != want[0] || got[1] != want[1]) fail_case("convert", fz, fx, mode, r, value, got, want);
  decoded = hu_decode64(fx, x);
  if (!t_same64(decoded, value)) {
    char text[T_FORMAT_TEXT];
    fail_msg("decode64 of %#x in %s: %a, oracle %a", x, t_format_text(text, fx), decoded, value);
  }
}

/* A code near the interesting ones, or any. */
static uint32_t draw_code(t_random *r, hu_format f) {
  hu_limits l = hu_limits_of(f);
  uint32_t near[5] = {0, l.min_code, l.min_normal_code, l.max_code, l.nan_code};
  uint32_t c = t_next32(r);
  if (t_below(r, 2)) c = near[t_below(r, 5)];
  c += (uint32_t)t_between(r, -2, 2);
  return t_below(r, 2) ? c ^ l.sign_mask : c;
}

static void test_values(void **state) {
  const t_plan *p = *state;
  t_random r = {p->seed};
  uint64_t n = 0;
  for (unsigned i = 0; i < p->formats; i++) {
    unsigned widest = i % 4 == 0 ? 32 : i % 4 == 1 ? 16 : 9;
    hu_format fz = t_random_format(&r, 1, widest), fx = t_random_format(&r, 1, 32);
    for (int k = 0; k < 40; k++, n += 3) {
      hu_mode mode = t_random_mode(&r);
      uint32_t word = t_next32(&r);
      double x = t_random_operand(&r, fz);
      check_encode(fz, mode, x, word);
      check_encode32(fz, mode, t_below(&r, 4) ? (float)x : t_float(t_next32(&r)), word);
      check_convert(fz, mode, fx, draw_code(&r, fx), word);
    }
  }
  print_message("%llu comparisons over %u pairs of random formats\n", (unsigned long long)n, p->formats);
}

/* The two derivations of "a format" agree, on descriptors near validity. */
static void test_validity(void **state) {
  const t_plan *p = *state;
  t_random r = {p->seed + 1};
  unsigned valid = 0, n = 400000;
  for (unsigned i = 0; i < n; i++) {
    hu_format f = t_random_descriptor(&r);
    double z;
    const char *axis = NULL;
    hu_status theirs = hu_oracle_decode64(&z, f, 0), ours = hu_format_check(f, &axis);
    char text[T_FORMAT_TEXT];
    if (theirs != ours)
      fail_msg("%s: hu_format_check %d (%s), oracle %d", t_format_text(text, f), ours, axis ? axis : "", theirs);
    valid += ours == HU_OK;
  }
  assert_true(valid > n / 200 && valid < n / 2);
  print_message("%u descriptors, %u of them valid, agreed on\n", n, valid);
}

/* Derived limits of random formats against the oracle's table. */
static void test_limits(void **state) {
  const t_plan *p = *state;
  t_random r = {p->seed + 2};
  for (int i = 0; i < 50000; i++) {
    hu_format f = t_random_format(&r, 1, 32);
    hu_limits l = hu_limits_of(f);
    char text[T_FORMAT_TEXT];
    double max, min, nan = 0, inf = INFINITY, normal = 0;
    hu_mode rtz = t_policy(t_mode(HU_RTZ), HU_SAT_FINITE, 0, 0);
    uint32_t top;
    assert_int_equal(hu_oracle_encode64(&top, NULL, f, rtz, INFINITY, 0), HU_OK);
    assert_int_equal(hu_oracle_decode64(&max, f, l.max_code), HU_OK);
    assert_int_equal(hu_oracle_decode64(&min, f, l.min_code), HU_OK);
    if (l.has_nan) assert_int_equal(hu_oracle_decode64(&nan, f, l.nan_code), HU_OK);
    if (l.inf_code != HU_NO_CODE) assert_int_equal(hu_oracle_decode64(&inf, f, l.inf_code), HU_OK);
    if (l.min_normal_code != HU_NO_CODE) assert_int_equal(hu_oracle_decode64(&normal, f, l.min_normal_code), HU_OK);
    int low_ok = t_same64(l.low, f.sign ? -max : f.zero == HU_ZERO_NONE ? min : 0.0);
    if (top != l.max_code || !t_same64(max, l.max) || !t_same64(min, l.min) || (l.has_nan && !isnan(nan)) ||
        inf != INFINITY || !t_same64(normal, l.min_normal) || !low_ok || ilogb(max) != l.emax)
      fail_msg("%s: max %#x %a (oracle %#x %a) min %#x %a (%a) normal %a (%a)", t_format_text(text, f), l.max_code,
               l.max, top, max, l.min_code, l.min, min, l.min_normal, normal);
  }
  print_message("limits of 50000 random formats agree\n");
}

/* usage: test_fuzz [PAIRS-OF-FORMATS] */
int main(int argc, char **argv) {
  t_plan p = {t_seed("fuzz", 20), argc > 1 ? (unsigned)atoi(argv[1]) : 20000};
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_validity, &p),
                                     cmocka_unit_test_prestate(test_limits, &p),
                                     cmocka_unit_test_prestate(test_values, &p)};
  return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
