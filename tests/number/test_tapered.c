/* SPDX-License-Identifier: MIT */
/* Takums and HiFloat8 against numbers that MPFR computes from docs/numbers.md, read bit by bit.
 *
 * usage: test_tapered [COUNT]   (COUNT: random operands of each wide system)
 *
 * decode   Every code of up to 16 bits, and random ones of 32, as binary64 and binary32.
 * encode   Every value of the systems of 8, 9, 12 and 16 bits, what lies between neighbours at the value of the code
 *          with one bit more and beside it, in all deterministic modes; 8 random bits are the next 8 bits of the
 *          string. Codes and events.
 * convert  Values of logarithmic takums into every kind: the result is that of both doubles around the value.
 * arrays   What the calls on one value give. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "tests/number/compare.h"
#include "tests/support/cmocka.h"

enum { DIGITS = 300 };
static size_t count = 3000;
static uint64_t tried;

/* ---- the values of the text ---- */

/* Bit i from above of a code of n bits, the first being the sign; zeros follow the last. */
static uint32_t bit(uint32_t code, unsigned n, unsigned i) { return i < n ? code >> (n - 1 - i) & 1 : 0; }

static uint32_t field(uint32_t code, unsigned n, unsigned from, unsigned length) {
  uint32_t v = 0;
  for (unsigned i = 0; i < length; i++) v = v * 2 + bit(code, n, from + i);
  return v;
}

/* A code of any width up to 32 with the top bit 0 that is not 0. */
static void takum_magnitude(mpfr_t z, int linear, unsigned n, uint32_t code) {
  unsigned up = bit(code, n, 1), r = field(code, n, 2, 3);
  if (!up) r = 7 - r;
  long part = (long)field(code, n, 5, r), c = up ? (1L << r) - 1 + part : -(1L << (r + 1)) + 1 + part;
  mpfr_set_ui(z, 0, MPFR_RNDN);
  for (unsigned i = 5 + r; i < n; i++) /* m */
    if (bit(code, n, i)) {
      mpfr_t place;
      mpfr_init2(place, DIGITS);
      (void)mpfr_set_ui_2exp(place, 1, -(long)(i - 4 - r), MPFR_RNDN);
      (void)mpfr_add(z, z, place, MPFR_RNDN);
      mpfr_clear(place);
    }
  if (linear) {
    (void)mpfr_add_ui(z, z, 1, MPFR_RNDN);
    (void)mpfr_mul_2si(z, z, c, MPFR_RNDN);
  } else {
    (void)mpfr_add_si(z, z, c, MPFR_RNDN);
    (void)mpfr_div_2ui(z, z, 1, MPFR_RNDN);
    (void)mpfr_exp(z, z, MPFR_RNDN);
  }
}

static void takum_value(mpfr_t z, int linear, unsigned n, uint32_t code) {
  uint32_t mask = (uint32_t)(((uint64_t)1 << n) - 1), top = mask / 2 + 1, c = code & mask;
  mpfr_set_ui(z, 0, MPFR_RNDN);
  if (c == top) mpfr_set_nan(z);
  if ((c & ~top) == 0) return;
  takum_magnitude(z, linear, n, c & top ? (0 - c) & mask : c);
  if (c & top) (void)mpfr_neg(z, z, MPFR_RNDN);
}

/* From the prefixes of the paper's table: 0000 denormal numbers, 0001, 001, 01, 10, 11. */
static double hif8_magnitude(uint32_t c) {
  if (c == 0x6F) return INFINITY;
  if (c < 8) return c ? ldexp(1, (int)c - 23) : 0;
  if (c < 16) return 1 + (c - 8) / 8.0;
  double a[2];
  int bits = c < 32 ? 1 : c < 64 ? 2 : c < 96 ? 3 : 4, digits = c < 32 ? 3 : 5 - bits;
  int exponent = 1 << (bits - 1) | (int)field(c, 7, c < 32 ? 4 : 3, (unsigned)bits - 1);
  a[0] = (1 + (c & ((1u << digits) - 1)) / (double)(1 << digits)) * ldexp(1, exponent);
  a[1] = (1 + (c & ((1u << digits) - 1)) / (double)(1 << digits)) * ldexp(1, -exponent);
  return a[bit(c, 7, c < 32 ? 3 : 2)];
}

static double hif8_value(uint32_t code) {
  uint32_t c = code & 0x7F;
  if ((code & 0xFF) == 0x80) return NAN;
  return code & 0x80 ? -hif8_magnitude(c) : hif8_magnitude(c);
}

static void value_of(mpfr_t z, hu_number n, uint32_t code) {
  if (n.kind == HU_NUMBER_HIFLOAT8)
    (void)mpfr_set_d(z, hif8_value(code), MPFR_RNDN);
  else
    takum_value(z, n.kind == HU_NUMBER_TAKUM_LINEAR, n.width, code);
}

/* ---- decode ---- */

static void check_value(hu_number n, uint32_t code) {
  mpfr_t v;
  mpfr_init2(v, DIGITS);
  value_of(v, n, code);
  int nan = mpfr_nan_p(v) != 0;
  double expected = nan ? t_double(UINT64_C(0x7FF8000000000000)) : mpfr_get_d(v, MPFR_RNDN);
  double got = hu_number_decode64(n, code);
  float want32 = nan ? t_float(0x7FC00000) : mpfr_get_flt(v, MPFR_RNDN), got32 = hu_number_decode(n, code);
  if (!t_same64(got, expected) || !t_same32(got32, want32))
    fail_msg("kind %u, %u bits, code %#x: %a %a, not %a %a", n.kind, n.width, code, got, (double)got32, expected,
             (double)want32);
  mpfr_clear(v);
  tried++;
}

static void test_decode(void **state) {
  (void)state;
  t_random random = {t_seed("tapered-decode", 1)};
  for (unsigned w = 8; w <= 16; w++)
    for (uint32_t c = 0; c < 1u << w; c++) {
      if (w > 9 && w % 4 && c % 7) continue; /* all of 8, 9, 12 and 16 bits */
      check_value(hu_number_takum(w, 0), c | 0xA5u << w);
      check_value(hu_number_takum(w, 1), c | 0xA5u << w);
    }
  for (uint32_t c = 0; c < 256; c++) check_value(hu_number_hifloat8(), c | 0x300);
  for (size_t i = 0; i < count; i++) {
    unsigned w = 17 + t_below(&random, 16);
    check_value(hu_number_takum(w, (int)(i & 1)), t_next32(&random) >> t_below(&random, 20));
    check_value(hu_number_takum(w, (int)(i & 1)), ~(t_next32(&random) >> t_below(&random, 20)));
  }
}

/* ---- encode ---- */

typedef struct t_outcome {
  uint32_t code, events;
} t_outcome;

/* The mode's choice. half: how |x| lies to the point of ties; eight: the next 8 bits of what is cut off. */
static int takes_upper(hu_mode mode, int negative, int half, uint32_t odd, uint32_t eight, uint32_t random) {
  switch (mode.round) {
    case HU_RNE: return half > 0 || (half == 0 && odd);
    case HU_RNA: return half >= 0;
    case HU_RNZ: return half > 0;
    case HU_RTP: return !negative;
    case HU_RTN: return negative;
    case HU_RAZ: return 1;
    case HU_RTO: return !odd;
    case HU_SRA: return eight + random >= 256;
    default: return 0;
  }
}

static int against(int linear, unsigned n, uint32_t code, double x) {
  mpfr_t v;
  mpfr_init2(v, DIGITS);
  takum_magnitude(v, linear, n, code);
  int c = -mpfr_cmp_d(v, x);
  mpfr_clear(v);
  return c;
}

/* The highest code of n bits whose value is not above x; 0: there is none. */
static uint32_t takum_floor(int linear, unsigned n, double x) {
  uint32_t low = 0, past = (uint32_t)1 << (n - 1);
  while (past - low > 1) {
    uint32_t middle = low + (past - low) / 2;
    if (against(linear, n, middle, x) >= 0)
      low = middle;
    else
      past = middle;
  }
  return low;
}

static t_outcome takum_outcome(hu_number n, hu_mode mode, double x, uint32_t random) {
  int linear = n.kind == HU_NUMBER_TAKUM_LINEAR, negative = signbit(x) != 0;
  double a = fabs(x);
  uint32_t most = ((uint32_t)1 << (n.width - 1)) - 1, c = takum_floor(linear, n.width, a);
  t_outcome z = {c, 0};
  if (c == 0) {
    z.code = 1;
    z.events = HU_EVENT_UNDERFLOW | HU_EVENT_INEXACT;
  } else if (against(linear, n.width, c, a) != 0) {
    z.events = HU_EVENT_INEXACT;
    if (c == most) {
      z.events |= HU_EVENT_OVERFLOW | HU_EVENT_SATURATED;
    } else {
      int half = against(linear, n.width + 1u, 2 * c + 1, a);
      uint32_t eight = mode.round == HU_SRA ? takum_floor(linear, n.width + 8u, a) & 255 : 0;
      z.code += (uint32_t)takes_upper(mode, negative, half, c & 1, eight, random);
    }
  }
  if (negative) z.code = (0 - z.code) & (2 * most + 1);
  return z;
}

static uint32_t hif8_code_of(double magnitude) {
  for (uint32_t c = 0; c < 0x80; c++)
    if (hif8_magnitude(c) == magnitude) return c;
  return 0xFFF;
}

static t_outcome hif8_outcome(hu_mode mode, double x, uint32_t random) {
  double a = fabs(x), low = 0, high = 49152; /* 2^15 1.5, for which infinity stands */
  int negative = signbit(x) != 0, up = 1;
  t_outcome z = {0, 0};
  for (uint32_t c = 0; c < 0x80; c++) {
    double v = hif8_magnitude(c);
    if (v <= a && v > low) low = v;
    if (v > a && v < high) high = v;
  }
  if (a < 49152) {
    double nu = (a - low) / (high - low); /* exact: a has 53 digits and the step is a power of two */
    z.events = nu > 0 ? HU_EVENT_INEXACT : 0;
    if (a < 0x1p-22) z.events |= HU_EVENT_UNDERFLOW;
    up = nu > 0 &&
         takes_upper(mode, negative, (nu > 0.5) - (nu < 0.5), hif8_code_of(low) & 1, (uint32_t)(nu * 256), random);
  }
  double v = up ? high : low;
  if (v == 49152 || a >= 49152) {
    int stops = mode.round == HU_RTZ || mode.round == (negative ? HU_RTP : HU_RTN);
    z.events |= HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
    if (mode.saturate == HU_SAT_FINITE || mode.saturate == HU_SAT_PROPAGATE || stops) z.events |= HU_EVENT_SATURATED;
    v = z.events & HU_EVENT_SATURATED ? 32768 : INFINITY;
  }
  if (v == 0) z.events |= HU_EVENT_TO_ZERO;
  z.code = hif8_code_of(v) | (negative && v > 0 ? 0x80 : 0);
  return z;
}

static void check_mode(hu_number n, hu_mode mode, double x, uint32_t random) {
  t_outcome expected = n.kind == HU_NUMBER_HIFLOAT8 ? hif8_outcome(mode, x, random) : takum_outcome(n, mode, x, random);
  uint32_t events, code = hu_number_encode64(n, mode, x, random, &events);
  char m[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
  if (code != expected.code || events != expected.events)
    fail_msg("kind %u, %u bits, %s, R %u, %a: %#x %s, not %#x %s", n.kind, n.width, t_mode_text(m, mode), random, x,
             code, t_events_text(a, events), expected.code, t_events_text(b, expected.events));
  if ((double)(float)x == x) {
    assert_int_equal(hu_number_encode(n, mode, (float)x, random, &events), expected.code);
    assert_int_equal(events, expected.events);
  }
  tried++;
}

/* all: in every mode, else in some. */
static void check_operand(hu_number n, double x, int all) {
  if (!isfinite(x) || x == 0) return;
  for (unsigned i = 0; i < T_DETERMINISTIC; i++) {
    hu_mode mode = t_mode(i);
    mode.saturate = (uint8_t)(tried % 4); /* no matter but for infinities and HiFloat8 */
    if (all || i == 0 || tried % T_DETERMINISTIC == i) check_mode(n, mode, tried & 1 ? x : -x, 0);
  }
  check_mode(n, t_stochastic(HU_SRA, 8), x, (uint32_t)(tried * 2654435761u) & 255);
}

static void check_near(hu_number n, double x, int all) {
  check_operand(n, x, all);
  check_operand(n, nextafter(x, INFINITY), all);
  check_operand(n, nextafter(x, 0), all);
}

static void check_takums(unsigned w, int linear) {
  hu_number n = hu_number_takum(w, linear);
  mpfr_t v;
  mpfr_init2(v, DIGITS);
  uint32_t step = w < 12 ? 1 : w < 16 ? 5 : 61;
  if (w > 8 && t_part(100) < 100) step *= 3;
  for (uint32_t c = 1; c < 1u << (w - 1); c += step) {
    takum_magnitude(v, linear, w + 1, 2 * c);
    check_near(n, mpfr_get_d(v, MPFR_RNDN), w < 12);
    takum_magnitude(v, linear, w + 1, 2 * c + 1);
    check_near(n, mpfr_get_d(v, MPFR_RNDN), 1);
    takum_magnitude(v, linear, w + 8, 256 * c + (uint32_t)(tried & 255));
    check_near(n, mpfr_get_d(v, MPFR_RNDN), 0);
  }
  mpfr_clear(v);
  const double ends[] = {0x1p-1074, 0x1p-256, 0x1p-255, 0x1.8p-255, 0x1p-186, 0x1p254, 0x1.fffp254, 0x1p255, 0x1p1023};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) check_near(n, ends[i], 1);
}

static void test_encode(void **state) {
  (void)state;
  tried = 0;
  for (int linear = 0; linear < 2; linear++) {
    check_takums(8, linear);
    check_takums(9, linear);
    check_takums(12, linear);
    check_takums(16, linear);
  }
  hu_number h = hu_number_hifloat8();
  for (uint32_t c = 0; c < 0x6F + 0u; c++)
    for (int k = 0; k < 16; k++) check_near(h, hif8_magnitude(c) * (1 + k / 16.0), 1);
  for (uint32_t c = 0x70; c < 0x80; c++)
    for (int k = 0; k < 16; k++) check_near(h, hif8_magnitude(c) * (1 + k / 16.0), 1);
  for (int k = -40; k < 20; k++) check_near(h, ldexp(1.25, k), 1);
  for (int k = -1074; k < 1024; k += 3) check_near(h, ldexp(1, k), 0);
  print_message("%llu roundings\n", (unsigned long long)tried);
}

static void test_encode_wide(void **state) {
  (void)state;
  t_random random = {t_seed("tapered-wide", 2)};
  for (size_t i = 0; i < count; i++) {
    hu_number n = hu_number_takum(17 + t_below(&random, 8), (int)(i & 1)); /* 8 bits more are at most 32 */
    double x = ldexp((double)(t_next64(&random) >> 11), t_between(&random, -310, 210));
    check_operand(n, i % 5 ? x : hu_number_decode64(n, t_next32(&random)), 0);
  }
  for (size_t i = 0; i < count; i++) { /* widths up to 32 in modes that look at no more bits than one */
    hu_number n = hu_number_takum(25 + t_below(&random, 7), (int)(i & 1));
    check_mode(n, t_mode((unsigned)(i % T_DETERMINISTIC)),
               ldexp(1 + (double)t_next32(&random), t_between(&random, -200, 150)), 0);
  }
}

/* No numbers, and infinities under every policy. */
static void test_special(void **state) {
  (void)state;
  hu_number systems[3] = {hu_number_takum(16, 0), hu_number_takum(12, 1), hu_number_hifloat8()};
  for (size_t k = 0; k < 3; k++) {
    hu_number_limits limits = hu_number_limits_of(systems[k]);
    for (unsigned policy = 0; policy < 4; policy++) {
      uint32_t events, hif8 = systems[k].kind == HU_NUMBER_HIFLOAT8, finite = policy == HU_SAT_FINITE;
      hu_mode mode = {0};
      mode.saturate = (uint8_t)policy;
      assert_int_equal(hu_number_encode64(systems[k], mode, NAN, 0, &events), limits.nan_code);
      assert_int_equal(events, HU_EVENT_NAN_IN);
      assert_int_equal(hu_number_encode64(systems[k], mode, -0.0, 0, &events), 0);
      assert_int_equal(events, 0);
      uint32_t code = hu_number_encode64(systems[k], mode, -INFINITY, 0, &events);
      assert_int_equal(code, finite ? limits.low_code : hif8 ? 0xEF : limits.nan_code);
      assert_int_equal(events, HU_EVENT_INF_IN | (finite ? HU_EVENT_SATURATED : hif8 ? 0 : HU_EVENT_INVALID));
    }
  }
  assert_true(hu_number_limits_of(systems[2]).max == 32768 && hu_number_limits_of(systems[2]).min == 0x1p-22);
  assert_int_equal(hu_number_check(hu_number_takum(7, 0), NULL), HU_E_NUMBER);
  assert_int_equal(hu_number_check(hu_number_takum(33, 1), NULL), HU_E_NUMBER);
}

/* ---- convert ---- */

static void check_convert(hu_number to, hu_number from, uint32_t code, hu_mode mode, uint64_t *sure) {
  mpfr_t v;
  mpfr_init2(v, DIGITS);
  value_of(v, from, code);
  double low = mpfr_get_d(v, MPFR_RNDD), high = mpfr_get_d(v, MPFR_RNDU);
  uint32_t a = hu_number_encode64(to, mode, low, 0, NULL), b = hu_number_encode64(to, mode, high, 0, NULL), events;
  uint32_t got = hu_number_convert(to, mode, from, code, 0, &events);
  mpfr_clear(v);
  tried++;
  if (a != b || (to.overflow == HU_FIXED_WRAP && fabs(low) > 0x1p40)) return; /* a limit between two doubles */
  ++*sure;
  if (got != a)
    fail_msg("kind %u of %u bits to kind %u: code %#x: %#x, not %#x", from.kind, from.width, to.kind, code, got, a);
  if (low != high && to.kind != HU_NUMBER_TAKUM && !(events & (HU_EVENT_INEXACT | HU_EVENT_NAN_IN)))
    fail_msg("code %#x into kind %u, %u bits: exact", code, to.kind, to.width);
}

/* Digits in the middle of large numbers. */
static void check_wrapping(hu_number to, hu_number from, uint32_t code) {
  mpfr_t v;
  mpz_t whole;
  hu_mode rtz = {0};
  rtz.round = HU_RTZ;
  mpfr_init2(v, DIGITS);
  mpz_init(whole);
  value_of(v, from, code);
  (void)mpfr_mul_2ui(v, v, to.fraction, MPFR_RNDN);
  (void)mpfr_get_z(whole, v, MPFR_RNDZ);
  mpz_fdiv_r_2exp(whole, whole, to.width);
  assert_int_equal(hu_number_convert(to, rtz, from, code, 0, NULL), mpz_get_ui(whole));
  mpz_clear(whole);
  mpfr_clear(v);
}

static void test_convert(void **state) {
  (void)state;
  static const char *const names[] = {
      "posit16", "lns16",    "logfixpoint16", "lns8_madam", "q(7.8)",   "uq(8.8):wrap",
      "nf4",     "binary16", "float8_e4m3fn", "takum8",     "takum16",  "takum_linear16",
      "takum32", "hifloat8", "int32",         "posit32",    "binary32", "dynamic8_bnb"};
  uint64_t sure = 0;
  tried = 0;
  hu_number sources[3] = {hu_number_takum(12, 0), hu_number_takum(11, 1), hu_number_hifloat8()};
  for (size_t k = 0; k < 3; k++)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      for (uint32_t c = 0; c < 1u << sources[k].width; c++)
        check_convert(number_of(names[i]), sources[k], c, t_mode((unsigned)(c + i) % T_DETERMINISTIC), &sure);
  assert_true(sure > tried - tried / 5); /* exact ones are limits in directed modes */
  for (uint32_t c = 1; c < 4096; c++) {
    if (c == 2048) continue;
    check_wrapping(number_of("uq(8.8):wrap"), sources[0], c);
    check_wrapping(number_of("q(1.30):wrap"), sources[0], c);
  }
  for (uint32_t c = 0; c < 1u << 16; c += 3) { /* logarithms of other bases keep their digits both ways */
    hu_number narrow = hu_number_takum(16, 0), wide = hu_number_takum(32, 0), lns = number_of("lns(32,21)");
    hu_mode rne = {0};
    assert_int_equal(hu_number_convert(narrow, rne, wide, c << 16, 0, NULL), c);
    assert_int_equal(hu_number_convert(wide, rne, narrow, c, 0, NULL), c << 16);
    if (fabs(hu_number_decode64(narrow, c)) < 0x1p255 && c % 5 == 0) {
      uint32_t there = hu_number_convert(lns, rne, narrow, c, 0, NULL);
      assert_int_equal(hu_number_convert(narrow, rne, lns, there, 0, NULL), c);
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_decode), cmocka_unit_test(test_encode),
                                     cmocka_unit_test(test_encode_wide), cmocka_unit_test(test_special),
                                     cmocka_unit_test(test_convert)};
  count = t_part((unsigned)count);
  if (argc > 1) count = (size_t)strtoull(argv[1], NULL, 10);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
