/* SPDX-License-Identifier: MIT */
/* The corner cases where libraries disagree (docs/numerics.md section 9): one test each, with its numbers written out.
 * */
#include <math.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/support/support.h"

static uint32_t last_events;

static hu_format named(const char *text) {
  hu_format format;
  assert_int_equal(hu_format_parse(&format, text, NULL), HU_OK);
  return format;
}

/* The code of x, and its events in last_events. */
static uint32_t code(const char *format, const char *round, unsigned saturate, double x) {
  hu_mode mode = {0};
  assert_int_equal(hu_mode_round_parse(&mode, round), HU_OK);
  mode.saturate = (uint8_t)saturate;
  return hu_encode64(named(format), mode, x, 0, &last_events);
}

#define NONE HU_SAT_NONE
#define FINITE HU_SAT_FINITE
#define PROPAGATE HU_SAT_PROPAGATE
#define DEFAULT HU_SAT_DEFAULT

static void c1_overflow(void **s) {
  (void)s;
  assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, 500), 0x7E);
  assert_int_equal(last_events, HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT);
  assert_int_equal(code("float8_e4m3fn", "rne", NONE, 500), 0x7F);
  assert_int_equal(code("float8_e4m3fn", "rne", NONE, -500), 0xFF);
  assert_int_equal(last_events, HU_EVENT_OVERFLOW | HU_EVENT_INEXACT);
  assert_int_equal(code("float8_e4m3fn", "rtz", NONE, 500), 0x7E);
  assert_int_equal(code("float8_e4m3fn", "rtp", NONE, -500), 0xFE);
  assert_int_equal(code("float8_e5m2", "rne", DEFAULT, 1e9), 0x7C);
  assert_int_equal(code("float8_e5m2", "rtn", NONE, 1e9), 0x7B);
}

static void c2_infinity(void **s) {
  (void)s;
  assert_int_equal(code("float8_e5m2", "rne", FINITE, INFINITY), 0x7B);
  assert_int_equal(code("float8_e5m2", "rne", PROPAGATE, -INFINITY), 0xFC);
  assert_int_equal(last_events, HU_EVENT_INF_IN);
  assert_int_equal(code("float8_e4m3fn", "rne", PROPAGATE, INFINITY), 0x7E);
  assert_int_equal(code("float8_e4m3fn", "rne", NONE, -INFINITY), 0xFF);
  assert_int_equal(last_events, HU_EVENT_INF_IN | HU_EVENT_INVALID);
}

static void c3_nan_lost(void **s) {
  (void)s;
  hu_mode mode = {0};
  static const uint32_t max[] = {0x7, 0x1F, 0x1F};
  static const char *const names[] = {"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"};
  for (int i = 0; i < 3; i++) {
    mode.nan = HU_NAN_TO_MAX;
    assert_int_equal(hu_encode(named(names[i]), mode, -NAN, 0, &last_events), max[i]);
    assert_int_equal(last_events, HU_EVENT_NAN_IN);
    mode.nan = HU_NAN_TO_ZERO;
    assert_int_equal(hu_encode(named(names[i]), mode, NAN, 0, &last_events), 0);
    mode.nan = HU_NAN_TO_ERROR;
    assert_int_equal(hu_encode(named(names[i]), mode, NAN, 0, &last_events), max[i]);
    assert_int_equal(last_events, HU_EVENT_NAN_IN | HU_EVENT_INVALID);
  }
}

static void c4_c21_nan(void **s) {
  (void)s;
  assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, -NAN), 0x7F);
  assert_int_equal(code("float8_e5m2", "rne", DEFAULT, -NAN), 0x7F);
  assert_int_equal(code("float8_e4m3fnuz", "rne", DEFAULT, NAN), 0x80);
  assert_int_equal(code("float8_e8m0fnu", "rne", DEFAULT, NAN), 0xFF);
  assert_int_equal(code("binary16", "rne", DEFAULT, -NAN), 0x7E00);
  assert_int_equal(code("bfloat16", "rne", DEFAULT, NAN), 0x7FC0);
  assert_int_equal(t_bits32(hu_decode(named("float8_e4m3fn"), 0xFF)), 0x7FC00000);
  assert_int_equal(t_bits32(hu_decode(named("float8_e5m2"), 0xFD)), 0x7FC00000);
  assert_true(t_bits64(hu_decode64(named("float8_e4m3fnuz"), 0x80)) == 0x7FF8000000000000u);
}

static void c5_negative_zero(void **s) {
  (void)s;
  static const char *const without[] = {"float8_e4m3fnuz", "float8_e5m2fnuz", "binary8p4se", "ue4m3"};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(code(without[i], "rne", DEFAULT, -0.0), 0);
    assert_int_equal(last_events, 0);
    assert_int_equal(code(without[i], "rne", DEFAULT, -1e-30), 0);
  }
  assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, -1e-30), 0x80);
}

static void c6_c7_c9_edge_of_range(void **s) {
  (void)s;
  assert_int_equal(code("float8_e4m3fn", "rne", NONE, 464), 0x7E);
  assert_int_equal(last_events, HU_EVENT_INEXACT);
  assert_int_equal(code("float8_e4m3fn", "rna", NONE, 464), 0x7F);
  assert_int_equal(code("float8_e4m3fn", "rne", NONE, 450), 0x7E);
  assert_int_equal(code("float8_e5m2", "rne", NONE, 61440), 0x7C);
  assert_int_equal(code("float8_e5m2", "rne", NONE, 61439), 0x7B);
  assert_int_equal(code("float8_e4m3", "rne", NONE, 248), 0x78);
  assert_int_equal(code("float8_e4m3fnuz", "rne", NONE, 248), 0x80);
  assert_int_equal(code("float8_e4m3fnuz", "rne", NONE, 247.9), 0x7F);
  assert_int_equal(code("fp(4,3,4):finite", "rna", NONE, 31), 0x7F); /* the carry must not reach the sign */
  assert_int_equal(code("binary16", "rne", NONE, 65520), 0x7C00);
  assert_int_equal(code("float8_e4m3fn", "rne", NONE, 1.9999), 0x40); /* a carry into the next binade */
}

static void c8_underflow_tie(void **s) {
  (void)s;
  assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, 0x1p-10), 0);
  assert_int_equal(last_events, HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW | HU_EVENT_TO_ZERO);
  assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, -0x1p-10), 0x80);
  assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, 0x1.0000000000001p-10), 1);
  assert_int_equal(code("float8_e4m3fn", "rna", DEFAULT, 0x1p-10), 1);
}

static void c10_flush(void **s) {
  (void)s;
  assert_int_equal(code("fp(4,3,0):fn,flush", "rne", DEFAULT, -0x1p-7), 0x80);
  assert_int_equal(last_events, HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW | HU_EVENT_TO_ZERO);
  assert_int_equal(code("fp(4,3,0):fn,flush", "rne", DEFAULT, 0x1.fp-7),
                   0x08); /* rounds up to the smallest normal first */
  assert_int_equal(code("fp(4,3,0):fn,nosub", "rne", DEFAULT, 0x1.2p-7), 0x08); /* the nearer neighbour */
  assert_int_equal(code("fp(4,3,0):fn,nosub", "rne", DEFAULT, 0x1p-7), 0);      /* the tie */
  assert_int_equal(code("dlfloat16", "rna", DEFAULT, 0x1.fffp-32), 0);
  assert_int_equal(code("dlfloat16", "rna", DEFAULT, 0x1.004p-31), 1);
}

static void c11_tiny(void **s) {
  (void)s;
  for (int k = -1074; k < -12; k++) {
    assert_int_equal(code("float8_e4m3fn", "rne", DEFAULT, ldexp(1.5, k)), 0);
    assert_int_equal(code("float8_e4m3fn", "raz", DEFAULT, ldexp(1.0, k)), 1);
    assert_int_equal(code("float8_e5m2fnuz", "rne", DEFAULT, -ldexp(1.0, k - 10 < -1074 ? -1074 : k - 10)), 0);
  }
}

static void c12_double_rounding(void **s) {
  (void)s;
  /* Just above a tie of E4M3, so near that bfloat16 sees the tie: 1.0625 + 2^-20 must go up. */
  float x = 1.0625f + 0x1p-20f;
  hu_mode rne = {0};
  assert_int_equal(hu_encode(named("float8_e4m3fn"), rne, x, 0, NULL), 0x39);
  uint32_t through = hu_encode(named("bfloat16"), rne, x, 0, NULL);
  assert_int_equal(hu_convert(named("float8_e4m3fn"), rne, named("bfloat16"), through, 0, NULL), 0x38);
}

static void c16_e8m0(void **s) {
  (void)s;
  assert_int_equal(code("float8_e8m0fnu", "rne", DEFAULT, 0.0), 0);
  assert_int_equal(last_events, HU_EVENT_INEXACT);
  assert_int_equal(code("float8_e8m0fnu", "rne", DEFAULT, -1.0), 0);
  assert_int_equal(last_events, HU_EVENT_INVALID | HU_EVENT_INEXACT | HU_EVENT_SATURATED);
  assert_int_equal(code("float8_e8m0fnu", "rne", NONE, -1.0), 0xFF);
  assert_int_equal(code("float8_e8m0fnu", "rne", DEFAULT, 1.5), 0x80); /* 127 is odd: up to 128 */
  assert_int_equal(code("float8_e8m0fnu", "rne", DEFAULT, 3.0), 0x80); /* 128 is even: stays */
  assert_int_equal(code("float8_e8m0fnu", "rna", DEFAULT, 3.0), 0x81);
  assert_int_equal(code("float8_e8m0fnu", "rtz", DEFAULT, 0x1.8p-127), 0);
  assert_int_equal(code("float8_e8m0fnu", "rtp", DEFAULT, 0x1.8p-127), 1);
  assert_int_equal(code("float8_e8m0fnu", "rtp", DEFAULT, 0x1p-140), 0);
  assert_int_equal(code("float8_e8m0fnu", "rtp", NONE, 0x1.8p127), 0xFF);
  assert_int_equal(code("float8_e8m0fnu", "rtz", NONE, 0x1.8p127), 0xFE);
}

static void c19_to_odd(void **s) {
  (void)s;
  assert_int_equal(code("binary16", "rto", NONE, 1e6), 0x7BFF);
  assert_int_equal(code("binary8p4se", "rto", NONE, 230), 0x7F);
  assert_int_equal(code("binary8p4ue", "rto", NONE, 1e9), 0xFE);
  assert_int_equal(code("binary8p4ue", "rto", NONE, 55296), 0xFD);
  assert_int_equal(code("float8_e4m3fn", "rto", NONE, 450), 0x7F);
  assert_int_equal(code("float8_e4m3fnuz", "rto", NONE, 249), 0x7F);
  assert_int_equal(code("float8_e4m3fnuz", "rto", NONE, 1e6), 0x80);
}

/* Beyond P3109's formats without infinities, by draft D1, 4.7.5. */
static void c18_p3109_finite(void **s) {
  (void)s;
  static const char *const rounds[] = {"rne", "rna", "rtz", "rtp", "rtn", "rto"};
  static const struct {
    const char *format;
    double x;
    uint8_t code[6];
  } cases[] = {{"binary8p4sf", 247, {0x7f, 0x7f, 0x7f, 0x80, 0x7f, 0x7f}},
               {"binary8p4sf", 256, {0x80, 0x80, 0x7f, 0x80, 0x7f, 0x80}},
               {"binary8p4sf", -248, {0x80, 0x80, 0xff, 0xff, 0x80, 0xff}},
               {"binary8p4sf", (double)INFINITY, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80}},
               {"binary4p2sf", 3.25, {7, 7, 7, 8, 7, 7}},
               {"binary8p4uf", 59392, {0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff}},
               {"binary8p1uf", 0x1.8p126, {0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t j = 0; j < 6; j++)
      assert_int_equal(code(cases[i].format, rounds[j], NONE, cases[i].x), cases[i].code[j]);
  assert_int_equal(code("binary8p4se", "rne", NONE, 1e6), 0x7F); /* here the infinity */
}

static void c22_unsigned(void **s) {
  (void)s;
  assert_int_equal(code("ue4m3", "rne", NONE, -1.0), 0x7F);
  assert_int_equal(code("ue4m3", "rne", FINITE, -1.0), 0);
  assert_int_equal(code("ue4m3", "rne", PROPAGATE, -INFINITY), 0);
  assert_int_equal(code("ue4m3", "rne", NONE, -1e-9), 0);
  assert_int_equal(last_events & HU_EVENT_INVALID, 0);
  assert_int_equal(code("uf11", "rne", DEFAULT, -3.0), 0);
  assert_int_equal(code("binary8p4ue", "rne", NONE, -1.0), 0xFF);
  /* P3109: toward zero and toward positive stop at the lowest value, an infinity does not. */
  static const char *const p3109[] = {"binary8p4ue", "binary8p4uf", "binary8p1uf", "fp(5,3,1):p3109e,unsigned"};
  for (size_t i = 0; i < sizeof p3109 / sizeof p3109[0]; i++) {
    assert_int_equal(code(p3109[i], "rtz", NONE, -1.0), 0);
    assert_true(last_events == (HU_EVENT_INVALID | HU_EVENT_SATURATED | HU_EVENT_INEXACT));
    assert_int_equal(code(p3109[i], "rtp", NONE, -1e30), 0);
    assert_int_equal(code(p3109[i], "rtn", NONE, -1.0), 0xFF);
    assert_int_equal(code(p3109[i], "rto", NONE, -1.0), 0xFF);
    assert_int_equal(code(p3109[i], "rtz", NONE, -INFINITY), 0xFF);
    assert_int_equal(code(p3109[i], "rtp", NONE, -INFINITY), 0xFF);
  }
  assert_int_equal(code("ue4m3", "rtz", NONE, -1.0), 0x7F);
  assert_int_equal(code("float8_e8m0fnu", "rtz", NONE, -1.0), 0xFF);
}

static void c26_top_exponent(void **s) {
  (void)s;
  assert_true(hu_limits_of(named("fp(5,2,0)")).max == 57344);
  assert_true(hu_limits_of(named("fp(5,2,0):finite")).max == 114688);
  assert_true(hu_limits_of(named("fp(4,3,4):finite")).max == 30);
  assert_true(hu_limits_of(named("fp(6,9,0):finite")).max == 8581545984.0);
}

static void refused_arguments(void **s) {
  (void)s;
  hu_format bad = named("float8_e5m2");
  hu_mode mode = {0};
  bad.e = 12;
  assert_int_equal(hu_encode(bad, mode, 1, 0, &last_events), 0);
  assert_int_equal(last_events, HU_EVENT_INVALID);
  assert_true(isnan(hu_decode64(bad, 1)) && isnan(hu_decode(bad, 1)));
  assert_true(isnan(hu_quantize(bad, mode, 1, 0, NULL)) && isnan(hu_quantize64(bad, mode, 1, 0, NULL)));
  mode.round = HU_SRA; /* without a number of bits */
  assert_int_equal(hu_mode_check(mode), HU_E_MODE);
  assert_int_equal(hu_convert(named("binary16"), mode, named("bfloat16"), 0x3F80, 0, &last_events), 0);
  assert_int_equal(last_events, HU_EVENT_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(c1_overflow),      cmocka_unit_test(c2_infinity),
      cmocka_unit_test(c3_nan_lost),      cmocka_unit_test(c4_c21_nan),
      cmocka_unit_test(c5_negative_zero), cmocka_unit_test(c6_c7_c9_edge_of_range),
      cmocka_unit_test(c8_underflow_tie), cmocka_unit_test(c10_flush),
      cmocka_unit_test(c11_tiny),         cmocka_unit_test(c12_double_rounding),
      cmocka_unit_test(c16_e8m0),         cmocka_unit_test(c18_p3109_finite),
      cmocka_unit_test(c19_to_odd),       cmocka_unit_test(c22_unsigned),
      cmocka_unit_test(c26_top_exponent), cmocka_unit_test(refused_arguments),
  };
  return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
