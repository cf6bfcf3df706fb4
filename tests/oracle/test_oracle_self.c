/* SPDX-License-Identifier: MIT */
/* The oracle against facts that it did not make: published limits and conversions written down by hand, MPFR's own
 * rounding to binary16 and bfloat16, and the processor's binary32 fused multiply-add. Links the oracle only. */
#include <math.h>
#include <string.h>

#include "tests/support/cmocka.h"

#include <mpfr.h>

#include "halfulp/oracle.h"
#include "tests/support/known_formats.h"
#include "tests/support/random.h"

enum {
  OVF = HU_EVENT_OVERFLOW | HU_EVENT_INEXACT,
  OVF_SAT = OVF | HU_EVENT_SATURATED,
  INEXACT = HU_EVENT_INEXACT,
  SUB = HU_EVENT_SUBNORMAL,
  SUB_INEXACT = HU_EVENT_SUBNORMAL | HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW,
  GONE = HU_EVENT_TO_ZERO | HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW,
  INF_IN = HU_EVENT_INF_IN,
  INF_SAT = HU_EVENT_INF_IN | HU_EVENT_SATURATED,
  INF_NAN = HU_EVENT_INF_IN | HU_EVENT_INVALID,
  NAN_IN = HU_EVENT_NAN_IN,
  LOW_NAN = HU_EVENT_INVALID | HU_EVENT_INEXACT,
  LOW_SAT = HU_EVENT_INVALID | HU_EVENT_INEXACT | HU_EVENT_SATURATED
};

static double bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* ---- Values of codes: /limits/ of the published tables. */

typedef struct value_row {
  hu_format (*format)(void);
  uint32_t code;
  double value;
} value_row;

static hu_format fp434(void) { return known_finite(4, 3, 4); }
static hu_format fp520(void) { return known_finite(5, 2, 0); }
static hu_format fp690(void) { return known_finite(6, 9, 0); }
static hu_format e1m2(void) { return known_finite(1, 2, 1); }
static hu_format e3m0(void) { return known_finite(3, 0, 0); }
static hu_format e3m2(void) { return known_finite(3, 2, 0); }
static hu_format e2m3(void) { return known_finite(2, 3, 0); }

static const value_row values[] = {
    {known_binary32, 0x7F7FFFFF, 0x1.fffffep+127},
    {known_binary32, 0x00000001, 0x1p-149},
    {known_binary32, 0x00800000, 0x1p-126},
    {known_bfloat16, 0x7F7F, 0x1.fep+127},
    {known_bfloat16, 0x0001, 0x1p-133},
    {known_binary16, 0x7BFF, 65504},
    {known_binary16, 0x0400, 0x1p-14},
    {known_binary16, 0x0001, 0x1p-24},
    {known_binary16, 0x8001, -0x1p-24},
    {known_binary16, 0xFC00, -INFINITY},
    {known_e5m2, 0x7B, 57344},
    {known_e5m2, 0x04, 0x1p-14},
    {known_e5m2, 0x01, 0x1p-16},
    {known_e5m2, 0x7C, INFINITY},
    {known_e4m3fn, 0x7E, 448},
    {known_e4m3fn, 0x08, 0x1p-6},
    {known_e4m3fn, 0x01, 0x1p-9},
    {known_e4m3fn, 0x80, -0.0},
    {known_e4m3fnuz, 0x7F, 240},
    {known_e4m3fnuz, 0x01, 0x1p-10},
    {known_e5m2fnuz, 0x7F, 57344},
    {known_e5m2fnuz, 0x01, 0x1p-17},
    {fp434, 0x7F, 30},
    {fp434, 0x01, 0x1p-13},
    {fp520, 0x7F, 114688},
    {fp690, 0x7FFF, 8581545984.0},
    {fp690, 0x0001, 0x1p-39},
    {known_dlfloat16, 0x7FFE, 8573157376.0},
    {known_dlfloat16, 0x0001, 0x1.008p-31},
    {known_dlfloat16, 0x8000, -0.0},
    {known_binary8p4se, 0x7E, 224},
    {known_binary8p4se, 0x40, 1},
    {known_binary8p4se, 0x7F, INFINITY},
    {known_binary8p4se, 0xFF, -INFINITY},
    {known_e8m0, 0x00, 0x1p-127},
    {known_e8m0, 0xFE, 0x1p+127},
    {known_binary8p1uf, 0x00, 0},
    {known_binary8p1uf, 0x80, 1},
    {known_binary8p1uf, 0xFE, 0x1p+126},
    {known_ue5m3, 0xFE, 114688},
    {known_ue5m3, 0x01, 0x1p-17},
    {known_uf11, 0x7BF, 65024},
    {known_uf11, 0x7C0, INFINITY},
    {known_e2m1, 0x7, 6},
    {known_e2m1, 0x1, 0.5},
    {known_e2m1, 0x8, -0.0},
    {e1m2, 0x7, 1.75},
    {e1m2, 0x1, 0.25},
    {e3m0, 0x7, 16},
    {e3m0, 0x1, 0.25},
    {e3m2, 0x1F, 28},
    {e2m3, 0x1F, 7.5},
    {known_e4m3fn, 0x7F, NAN},
    {known_e4m3fn, 0xFF, NAN},
    {known_e4m3fnuz, 0x80, NAN},
    {known_e5m2, 0x7D, NAN},
    {known_e5m2, 0xFF, NAN},
    {known_binary8p4se, 0x80, NAN},
    {known_e8m0, 0xFF, NAN},
    {known_dlfloat16, 0x7FFF, NAN},
    {known_ue5m3, 0xFF, NAN},
    {known_uf11, 0x7E0, NAN},
};

static void test_values(void **state) {
  (void)state;
  size_t n = sizeof values / sizeof values[0];
  for (size_t i = 0; i < n; i++) {
    double z = -1.5;
    assert_int_equal(hu_oracle_decode64(&z, values[i].format(), values[i].code), HU_OK);
    uint64_t got, expected, nan = UINT64_C(0x7FF8000000000000);
    memcpy(&got, &z, sizeof got);
    memcpy(&expected, &values[i].value, sizeof expected);
    if (isnan(values[i].value)) expected = nan;
    if (got != expected) fail_msg("row %zu: code %#x is %a, wanted %a", i, values[i].code, z, values[i].value);
  }
  /* the positive half of E2M1, all of it */
  static const double e2m1[8] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t c = 0; c < 8; c++) {
    double z;
    assert_int_equal(hu_oracle_decode64(&z, known_e2m1(), c | 0x30u), HU_OK); /* bits above the width are ignored */
    assert_true(z == e2m1[c]);
  }
  print_message("%zu values of codes\n", n + 8);
}

/* ---- Conversions. */

typedef struct convert_row {
  hu_format (*format)(void);
  uint8_t round, saturate;
  double x;
  uint32_t code, events;
} convert_row;

#define DEF HU_SAT_DEFAULT
#define OFF HU_SAT_NONE
#define FIN HU_SAT_FINITE
#define PRO HU_SAT_PROPAGATE

static const convert_row conversions[] = {
    /* the tie at the overflow threshold: with parity, compared after rounding */
    {known_e4m3fn, HU_RNE, OFF, 464, 0x7E, INEXACT},
    {known_e4m3fn, HU_RNE, OFF, 464.0000001, 0x7F, OVF},
    {known_e4m3fn, HU_RNE, OFF, -464.0000001, 0xFF, OVF},
    {known_e4m3fn, HU_RNE, DEF, 500, 0x7E, OVF_SAT},
    {known_e4m3fn, HU_RNA, OFF, 464, 0x7F, OVF},
    {known_e4m3fn, HU_RNZ, OFF, 464, 0x7E, INEXACT},
    {known_e5m2, HU_RNE, DEF, 61439.99, 0x7B, INEXACT},
    {known_e5m2, HU_RNE, DEF, 61440, 0x7C, OVF},
    {known_e5m2, HU_RNE, FIN, 61440, 0x7B, OVF_SAT},
    {known_e5m2, HU_RNE, PRO, INFINITY, 0x7C, INF_IN},
    {known_e5m2, HU_RNE, FIN, -INFINITY, 0xFB, INF_SAT},
    {known_e4m3fnuz, HU_RNE, OFF, 248, 0x80, OVF},
    {known_e4m3fnuz, HU_RNE, OFF, 247.99, 0x7F, INEXACT},
    {known_e4m3fnuz, HU_RNE, OFF, -INFINITY, 0x80, INF_NAN},
    {known_binary16, HU_RNE, DEF, 65519.99, 0x7BFF, INEXACT},
    {known_binary16, HU_RNE, DEF, 65520, 0x7C00, OVF},
    {known_bfloat16, HU_RNE, DEF, 0x1.ffp+127, 0x7F80, OVF},
    {known_ue5m3, HU_RNE, OFF, 118784, 0xFE, INEXACT},
    {fp434, HU_RNE, DEF, 31, 0x7F, OVF_SAT},
    {fp434, HU_RNE, OFF, INFINITY, 0x7F, INF_SAT},
    /* directed modes stop at max; to odd goes by the code of max */
    {known_e5m2, HU_RTZ, DEF, 1e30, 0x7B, OVF_SAT},
    {known_e5m2, HU_RTP, DEF, -1e30, 0xFB, OVF_SAT},
    {known_e5m2, HU_RTP, DEF, 57345, 0x7C, OVF},
    {known_e5m2, HU_RTN, DEF, 1e30, 0x7B, OVF_SAT},
    {known_e5m2, HU_RTO, DEF, 1e30, 0x7B, OVF_SAT},
    {known_e4m3fn, HU_RTO, OFF, 449, 0x7F, OVF},
    {known_binary8p4se, HU_RTO, DEF, 225, 0x7F, OVF},
    {known_binary8p4se, HU_RAZ, DEF, -225, 0xFF, OVF},
    /* the low end */
    {known_e4m3fn, HU_RNE, DEF, 0x1p-10, 0x00, GONE},
    {known_e4m3fn, HU_RNE, DEF, -0x1p-10, 0x80, GONE},
    {known_e4m3fn, HU_RNE, DEF, 0x1.0000001p-10, 0x01, SUB_INEXACT},
    {known_e4m3fn, HU_RNA, DEF, 0x1p-10, 0x01, SUB_INEXACT},
    {known_e4m3fn, HU_RAZ, DEF, 0x1p-1074, 0x01, SUB_INEXACT},
    {known_e4m3fn, HU_RNE, DEF, 0x1p-9, 0x01, SUB},
    {known_e4m3fnuz, HU_RNE, DEF, -0x1p-30, 0x00, GONE},
    {known_binary8p4se, HU_RNE, DEF, -0.0, 0x00, 0},
    {known_e4m3fn, HU_RNE, DEF, -0.0, 0x80, 0},
    /* tininess after rounding: 1.1111b 2^-7 reaches 2^-6 at 4 bits of precision too, 1.11101b 2^-7 only on the
       subnormal grid */
    {known_e4m3fn, HU_RNE, DEF, 0x1.fp-7, 0x08, INEXACT},
    {known_e4m3fn, HU_RNE, DEF, 0x1.e8p-7, 0x08, INEXACT | HU_EVENT_UNDERFLOW},
    {known_e4m3fn, HU_RNE, DEF, 0x1.ep-7, 0x08, INEXACT | HU_EVENT_UNDERFLOW},
    {known_e4m3fn, HU_RNE, DEF, 0x1.dp-7, 0x07, SUB_INEXACT},
    {known_e4m3fn, HU_RNE, DEF, 0x1.cp-7, 0x07, SUB},
    /* powers of two: ties go to the even code */
    {known_e8m0, HU_RNE, DEF, 1.5, 0x80, INEXACT},
    {known_e8m0, HU_RNE, DEF, 3.0, 0x80, INEXACT},
    {known_e8m0, HU_RNE, DEF, 0.0, 0x00, INEXACT},
    {known_e8m0, HU_RNE, DEF, 0x1.8p+127, 0xFE, INEXACT},
    {known_e8m0, HU_RNA, OFF, 0x1.8p+127, 0xFF, OVF},
    {known_e8m0, HU_RNE, OFF, -1, 0xFF, LOW_NAN},
    {known_e8m0, HU_RNE, DEF, -1, 0x00, LOW_SAT},
    {known_e8m0, HU_RNE, OFF, INFINITY, 0xFF, INF_NAN},
    {known_e8m0, HU_RNE, DEF, INFINITY, 0xFE, INF_SAT},
    {known_ue5m3, HU_RNE, DEF, -1, 0x00, LOW_SAT},
    {known_ue5m3, HU_RNE, OFF, -1, 0xFF, LOW_NAN},
    {known_ue5m3, HU_RNE, OFF, -0x1p-19, 0x00, GONE},
    {known_ue5m3, HU_RNE, OFF, -INFINITY, 0xFF, INF_NAN},
    {known_uf11, HU_RNE, DEF, -1, 0x000, LOW_SAT},
    {known_uf11, HU_RNE, DEF, -INFINITY, 0x000, INF_SAT | HU_EVENT_INVALID},
    {known_uf11, HU_RNE, DEF, NAN, 0x7E0, NAN_IN},
    /* DLFloat: 2^-31 has no code, rounding up to it is zero */
    {known_dlfloat16, HU_RNE, DEF, 0x1p-31, 0x0000, GONE},
    {known_dlfloat16, HU_RNE, DEF, 0x1.004p-31, 0x0000, GONE},
    {known_dlfloat16, HU_RNE, DEF, 0x1.00401p-31, 0x0001, INEXACT},
    {known_dlfloat16, HU_RNA, DEF, -0x1.004p-31, 0x8001, INEXACT},
    {known_dlfloat16, HU_RNE, OFF, 1e10, 0x7FFF, OVF},
    /* NaN */
    {known_e4m3fn, HU_RNE, DEF, NAN, 0x7F, NAN_IN},
    {known_e4m3fnuz, HU_RNE, DEF, NAN, 0x80, NAN_IN},
    {known_e5m2, HU_RNE, DEF, NAN, 0x7F, NAN_IN},
    {known_binary16, HU_RNE, DEF, NAN, 0x7E00, NAN_IN},
    {known_e8m0, HU_RNE, DEF, NAN, 0xFF, NAN_IN},
    {known_e2m1, HU_RNE, DEF, NAN, 0x7, NAN_IN},
};

static void test_conversions(void **state) {
  (void)state;
  size_t n = sizeof conversions / sizeof conversions[0];
  for (size_t i = 0; i < n; i++) {
    const convert_row *row = &conversions[i];
    hu_mode mode = {0};
    uint32_t code = 0xDEADBEEF, events = 0xDEADBEEF;
    mode.round = row->round;
    mode.saturate = row->saturate;
    assert_int_equal(hu_oracle_encode64(&code, &events, row->format(), mode, row->x, 0), HU_OK);
    if (code != row->code || events != row->events)
      fail_msg("row %zu: %a gives %#x events %#x, wanted %#x events %#x", i, row->x, code, events, row->code,
               row->events);
  }
  print_message("%zu conversions written down by hand\n", n);
}

static void test_nan_policies(void **state) {
  (void)state;
  static const uint32_t code[3] = {7, 0, 7};
  static const uint32_t set[3] = {NAN_IN, NAN_IN, NAN_IN | HU_EVENT_INVALID};
  for (uint8_t policy = 0; policy < 3; policy++) {
    hu_mode mode = {0};
    uint32_t z = 99, events = 99;
    mode.nan = policy;
    assert_int_equal(hu_oracle_encode64(&z, &events, known_e2m1(), mode, NAN, 0), HU_OK);
    assert_int_equal(z, code[policy]);
    assert_int_equal(events, set[policy]);
  }
}

/* The published counts: A floor(z), B floor(z + 1/2), C z to nearest even, out of 2^N, with z = nu 2^N. */
static void test_stochastic_counts(void **state) {
  (void)state;
  static const struct {
    double nu;
    unsigned bits, a, b, c;
  } rows[] = {{0.5, 1, 1, 1, 1},     {0.25, 1, 0, 1, 0},        {0.75, 1, 1, 2, 2},       {0.25, 2, 1, 1, 1},
              {0.375, 2, 1, 2, 2},   {0.625, 2, 2, 3, 2},       {0.3125, 4, 5, 5, 5},     {0.34375, 4, 5, 6, 6},
              {0.28125, 4, 4, 5, 4}, {0.984375, 4, 15, 16, 16}, {0.96875, 4, 15, 16, 16}, {0.03125, 4, 0, 1, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (unsigned round = HU_SRA; round <= HU_SRC; round++) {
      hu_mode mode = {0};
      unsigned ups = 0, expected = round == HU_SRA ? rows[i].a : round == HU_SRB ? rows[i].b : rows[i].c;
      mode.round = (uint8_t)round;
      mode.bits = (uint8_t)rows[i].bits;
      for (uint32_t r = 0; r < 1u << rows[i].bits; r++) {
        uint32_t code;
        assert_int_equal(hu_oracle_encode64(&code, NULL, known_e4m3fn(), mode, 8 + rows[i].nu, r), HU_OK);
        assert_in_range(code, 0x50, 0x51); /* 8 and 9 */
        ups += code - 0x50;
      }
      if (ups != expected)
        fail_msg("nu %g N %u mode %u: %u of the R round up, wanted %u", rows[i].nu, rows[i].bits, round, ups, expected);
    }
}

/* ---- MPFR's own rounding into IEEE formats. */

static uint32_t native(const mpfr_t r, unsigned e, unsigned m) {
  uint32_t sign = mpfr_signbit(r) ? 1u << (e + m) : 0, all = (1u << e) - 1;
  long bias = (1l << (e - 1)) - 1;
  if (mpfr_inf_p(r)) return sign | all << m;
  double d = fabs(mpfr_get_d(r, MPFR_RNDN));
  if (d == 0) return sign;
  int k;
  (void)frexp(d, &k);
  long field = k - 1 + bias;
  if (field < 1) return sign | (uint32_t)ldexp(d, (int)(bias - 1 + (long)m));
  return (sign | (uint32_t)field << m) + ((uint32_t)ldexp(d, (int)m - k + 1) - (1u << m));
}

static uint64_t against_mpfr(hu_format format, t_random *random, int count) {
  static const mpfr_rnd_t theirs[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD, MPFR_RNDA};
  static const uint8_t ours[] = {HU_RNE, HU_RTZ, HU_RTP, HU_RTN, HU_RAZ};
  long bias = (1l << (format.e - 1)) - 1;
  mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t r;
  mpfr_init2(r, format.m + 1);
  uint64_t n = 0;
  for (int i = 0; i < count; i++) {
    double x = bits(t_next64(random));
    int k = t_between(random, (int)(-bias - format.m - 3), (int)bias + 3);
    if (i % 8)
      x = ldexp(1 + t_below(random, 1u << (format.m + 2)) * ldexp(1, -(int)format.m - 2), k) * (i % 2 ? 1 : -1);
    if (i % 3 == 0) x = nextafter(x, i % 2 ? INFINITY : 0);
    if (isnan(x) || isinf(x)) continue;
    for (size_t j = 0; j < 5; j++) {
      hu_mode mode = {0};
      uint32_t code;
      mode.round = ours[j];
      mpfr_set_emin(2 - bias - format.m); /* MPFR's exponents are one more than IEEE's */
      mpfr_set_emax(bias + 1);
      int ternary = mpfr_set_d(r, x, theirs[j]);
      ternary = mpfr_check_range(r, ternary, theirs[j]);
      (void)mpfr_subnormalize(r, ternary, theirs[j]);
      uint32_t expected = native(r, format.e, format.m);
      mpfr_set_emin(emin);
      mpfr_set_emax(emax);
      assert_int_equal(hu_oracle_encode64(&code, NULL, format, mode, x, 0), HU_OK);
      if (code != expected) fail_msg("%a mode %u: oracle %#x, MPFR %#x", x, mode.round, code, expected);
      n++;
    }
  }
  mpfr_clear(r);
  return n;
}

static void test_mpfr_native(void **state) {
  (void)state;
  t_random random = {2754};
  uint64_t n = against_mpfr(known_binary16(), &random, 40000);
  n += against_mpfr(known_bfloat16(), &random, 40000);
  n += against_mpfr(known_e5m2(), &random, 40000);
  assert_true(n > 500000);
  print_message("%llu conversions equal MPFR's own in 5 modes\n", (unsigned long long)n);
}

/* ---- Sums. */

static uint32_t float_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* fp32 sums of binary32 operands into binary32 are C's own fmaf chain. */
static void test_fp32_is_fma(void **state) {
  (void)state;
  t_random random = {33};
  hu_mode rne = {0};
  hu_format format = known_binary32();
  unsigned subnormal = 0, infinite = 0, nan = 0;
  for (int i = 0; i < 60000; i++) {
    uint32_t a[5], b[5], c = t_next32(&random), code;
    size_t n = t_below(&random, 6);
    int narrow = i % 2;
    for (size_t j = 0; j < 5; j++) {
      a[j] = t_next32(&random);
      b[j] = t_next32(&random);
      if (narrow) { /* products around the bottom of the range */
        a[j] = (a[j] & 0x80FFFFFFu) | 0x10000000u;
        b[j] = (b[j] & 0x80FFFFFFu) | 0x25000000u;
        c &= 0x81FFFFFFu;
      }
    }
    float acc;
    memcpy(&acc, &c, sizeof acc);
    for (size_t j = 0; j < n; j++) {
      float x, y;
      memcpy(&x, &a[j], sizeof x);
      memcpy(&y, &b[j], sizeof y);
      acc = fmaf(x, y, acc);
    }
    uint32_t expected = isnan(acc) ? 0x7FC00000u : float_bits(acc);
    hu_oracle_code addend = {format, c};
    hu_oracle_terms terms = {n, format, a, format, b, &addend};
    assert_int_equal(hu_oracle_dot_fp32(&code, NULL, format, rne, 0, &terms), HU_OK);
    if (code != expected) fail_msg("case %d: %#x, fmaf gives %#x", i, code, expected);
    subnormal += fpclassify(acc) == FP_SUBNORMAL;
    infinite += isinf(acc) != 0;
    nan += isnan(acc) != 0;
  }
  assert_true(subnormal > 1000 && infinite > 100 && nan > 100);
  print_message("60000 fp32 sums equal fmaf's (%u subnormal, %u infinite, %u NaN)\n", subnormal, infinite, nan);
}

typedef struct dot_row {
  size_t n;
  uint32_t a[3], b[3];
  int has_c;
  uint32_t c;
  uint8_t round;
  uint32_t code, events;
} dot_row;

/* E5M2 operands: 3C is 1, 7B 57344, 7C infinity, 7F NaN, 01 2^-16, 80 -0, BC -1. Result in E5M2. */
static const dot_row dots[] = {
    {0, {0}, {0}, 0, 0, HU_RNE, 0x00, 0},                   /* nothing: +0 */
    {0, {0}, {0}, 1, 0x80, HU_RNE, 0x80, 0},                /* c = -0 */
    {1, {0x80}, {0x3C}, 0, 0, HU_RNE, 0x00, 0},             /* -0 + absent c */
    {1, {0x80}, {0x3C}, 0, 0, HU_RTN, 0x80, 0},             /* -0 + +0 toward negative */
    {1, {0x80}, {0x3C}, 1, 0x80, HU_RNE, 0x80, 0},          /* every term -0 */
    {1, {0x00}, {0x3C}, 1, 0x00, HU_RTN, 0x00, 0},          /* every term +0 */
    {2, {0x3C, 0xBC}, {0x3C, 0x3C}, 0, 0, HU_RNE, 0x00, 0}, /* 1 - 1 */
    {2, {0x3C, 0xBC}, {0x3C, 0x3C}, 0, 0, HU_RTN, 0x80, 0},
    {2, {0x3C, 0xBC}, {0x3C, 0x3C}, 1, 0x80, HU_RNE, 0x00, 0},
    {1, {0x7C}, {0x00}, 0, 0, HU_RNE, 0x7F, HU_EVENT_INVALID},    /* infinity times zero */
    {1, {0x7C}, {0x3C}, 1, 0xFC, HU_RNE, 0x7F, HU_EVENT_INVALID}, /* infinity minus infinity */
    {1, {0x7F}, {0x00}, 0, 0, HU_RNE, 0x7F, HU_EVENT_NAN_IN},
    {2, {0x7C, 0x7F}, {0x00, 0x3C}, 0, 0, HU_RNE, 0x7F, HU_EVENT_NAN_IN},
    {1, {0xFC}, {0x3C}, 1, 0x3C, HU_RNE, 0xFC, HU_EVENT_INF_IN},
    {2, {0x7B, 0xFB}, {0x7B, 0x7B}, 1, 0x01, HU_RNE, 0x01, SUB},           /* huge terms cancel, 2^-16 stays */
    {3, {0x7B, 0x01, 0xFB}, {0x7B, 0x01, 0x7B}, 0, 0, HU_RNE, 0x00, GONE}, /* 2^-32 stays and vanishes */
    {3, {0x7B, 0x01, 0xFB}, {0x7B, 0x01, 0x7B}, 0, 0, HU_RAZ, 0x01, SUB_INEXACT},
    {1, {0x7B}, {0x7B}, 0, 0, HU_RNE, 0x7C, OVF},
};

static void test_dots(void **state) {
  (void)state;
  hu_format format = known_e5m2();
  for (size_t i = 0; i < sizeof dots / sizeof dots[0]; i++) {
    const dot_row *row = &dots[i];
    hu_mode mode = {0};
    uint32_t code = 99, events = 99;
    mode.round = row->round;
    hu_oracle_code c = {format, row->c};
    hu_oracle_terms terms = {row->n, format, row->a, format, row->b, row->has_c ? &c : NULL};
    assert_int_equal(hu_oracle_dot(&code, &events, format, mode, 0, &terms), HU_OK);
    if (code != row->code || events != row->events)
      fail_msg("row %zu: %#x events %#x, wanted %#x events %#x", i, code, events, row->code, row->events);
  }
  /* 2^-32 is lost beside 57344^2 in binary32, the order matters: (big - big) + small keeps it. */
  uint32_t a[3] = {0x7B, 0x01, 0xFB}, b[3] = {0x7B, 0x01, 0x7B}, code, events;
  uint32_t a2[3] = {0x7B, 0xFB, 0x01}, b2[3] = {0x7B, 0x7B, 0x01};
  hu_mode raz = {0};
  raz.round = HU_RAZ;
  hu_oracle_terms terms = {3, format, a, format, b, NULL};
  assert_int_equal(hu_oracle_dot_fp32(&code, &events, format, raz, 0, &terms), HU_OK);
  assert_int_equal(code, 0x00);
  assert_int_equal(events, 0);
  terms.a = a2;
  terms.b = b2;
  assert_int_equal(hu_oracle_dot_fp32(&code, &events, format, raz, 0, &terms), HU_OK);
  assert_int_equal(code, 0x01);
  assert_int_equal(events, SUB_INEXACT);
  print_message("%zu sums written down by hand\n", sizeof dots / sizeof dots[0] + 2);
}

/* ---- Places, errors, MPFR's state. */

static void test_places(void **state) {
  (void)state;
  static const struct {
    hu_format (*format)(void);
    double x;
    uint32_t below;
    char where;
  } rows[] = {{known_e4m3fn, 448, 0x7E, '='},         {known_e4m3fn, 464, 0x7E, 'h'},
              {known_e4m3fn, -463, 0x7E, '<'},        {known_e4m3fn, 479.9, 0x7E, '>'},
              {known_e4m3fn, 480, 0x7E, 'o'},         {known_e4m3fn, 0, 0, '='},
              {known_e4m3fn, 0x1p-10, 0, 'h'},        {known_e4m3fn, 0x1p-9, 1, '='},
              {known_e8m0, 0x1p-128, 0, 'u'},         {known_e8m0, 0, 0, 'u'},
              {known_e8m0, 0x1.8p-127, 0, 'h'},       {known_dlfloat16, 0x1p-31, 0, 'f'},
              {known_dlfloat16, 0x1.001p-31, 0, '<'}, {known_dlfloat16, 0x1.004p-31, 0, 'h'},
              {known_dlfloat16, 0x1.008p-31, 1, '='}, {known_dlfloat16, 0x1p-60, 0, 'f'}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hu_place place = {99, '?'};
    assert_int_equal(hu_oracle_place(&place, rows[i].format(), rows[i].x), HU_OK);
    if (place.below != rows[i].below || place.where != rows[i].where)
      fail_msg("row %zu: %a lies at %#x '%c'", i, rows[i].x, place.below, place.where);
  }
}

static void test_errors(void **state) {
  (void)state;
  hu_format format = known_e4m3fn(), bad = format, wide = known_ieee(11, 20);
  hu_mode mode = {0}, odd = {0};
  uint32_t code = 77, events = 78, zero = 0;
  double z = 1.25;
  hu_place place = {5, '!'};
  bad.inf = HU_INF_TOP; /* its code would be the NaN's */
  odd.bits = 3;
  assert_int_equal(hu_oracle_encode64(&code, &events, bad, mode, 1, 0), HU_E_FORMAT);
  assert_int_equal(hu_oracle_encode64(&code, &events, format, odd, 1, 0), HU_E_MODE);
  assert_int_equal(hu_oracle_encode64(NULL, &events, format, mode, 1, 0), HU_E_NULL);
  assert_int_equal(hu_oracle_convert(&code, &events, format, mode, bad, 1, 0), HU_E_FORMAT);
  assert_int_equal(hu_oracle_decode64(&z, bad, 1), HU_E_FORMAT);
  assert_int_equal(hu_oracle_place(&place, format, INFINITY), HU_E_SHAPE);
  hu_oracle_code large = {format, 256};
  hu_oracle_terms none = {1, format, NULL, format, &zero, NULL}, terms = {1, wide, &zero, format, &zero, NULL};
  assert_int_equal(hu_oracle_dot(&code, &events, format, mode, 0, NULL), HU_E_NULL);
  assert_int_equal(hu_oracle_dot(&code, &events, format, mode, 0, &none), HU_E_NULL);
  assert_int_equal(hu_oracle_dot_fp32(&code, &events, format, mode, 0, &terms), HU_E_CARRIER);
  terms.c = &large;
  assert_int_equal(hu_oracle_dot(&code, &events, format, mode, 0, &terms), HU_E_CODE);
  assert_int_equal(code, 77);
  assert_int_equal(events, 78);
  assert_true(z == 1.25);
  assert_int_equal(place.below, 5);
}

/* The thread's exponent range and flags come back as they were, and a narrow range does not disturb the answers. */
static void test_mpfr_state(void **state) {
  (void)state;
  hu_format format = known_e4m3fn();
  hu_mode mode = {0};
  uint32_t code, a = 0x01, b = 0x7E;
  mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_set_emin(-3);
  mpfr_set_emax(3);
  mpfr_flags_clear(MPFR_FLAGS_ALL);
  mpfr_flags_set(MPFR_FLAGS_DIVBY0);
  assert_int_equal(hu_oracle_encode64(&code, NULL, format, mode, 447, 0), HU_OK);
  assert_int_equal(code, 0x7E);
  hu_oracle_terms terms = {1, format, &a, format, &b, NULL};
  assert_int_equal(hu_oracle_dot_fp32(&code, NULL, format, mode, 0, &terms), HU_OK);
  assert_int_equal(code, 0x36);
  assert_int_equal(mpfr_get_emin(), -3);
  assert_int_equal(mpfr_get_emax(), 3);
  assert_int_equal(mpfr_flags_save(), MPFR_FLAGS_DIVBY0);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),       cmocka_unit_test(test_conversions),
                                     cmocka_unit_test(test_nan_policies), cmocka_unit_test(test_stochastic_counts),
                                     cmocka_unit_test(test_mpfr_native),  cmocka_unit_test(test_fp32_is_fma),
                                     cmocka_unit_test(test_dots),         cmocka_unit_test(test_places),
                                     cmocka_unit_test(test_errors),       cmocka_unit_test(test_mpfr_state)};
  return cmocka_run_group_tests_name("oracle_self", tests, NULL, NULL);
}
