/* SPDX-License-Identifier: MIT */
/* Stochastic rounding by enumeration. With nu = P / 2^S the place of |x| between its neighbours and z = nu 2^N, of the
 * 2^N values of R exactly these many must round up, and they must be the largest ones:
 *
 *   A  floor(z)      B  floor(z + 1/2)      C  z to the nearest integer, ties to even
 *
 * The counts are computed here in integers from P, S and N; neither the emulator nor the oracle takes part. The oracle
 * is asked as well, for both R at the edge of the count and for some at random, events included. */
#include <math.h>

#include "halfulp/halfulp.h"
#include "halfulp/oracle.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { SHIFT = 40 }; /* S: nu has up to 40 bits, so that x is exact in binary64 for m <= 12 */

typedef struct t_gap {
  double lower, upper; /* neighbours; the upper one of the last gap lies beyond max */
  uint32_t lower_code, upper_code;
} t_gap;

static uint64_t expected_ups(unsigned round, unsigned bits, uint64_t p) {
  unsigned __int128 z = (unsigned __int128)p << bits; /* z 2^S */
  uint64_t whole = (uint64_t)(z >> SHIFT), part = (uint64_t)(z & ((UINT64_C(1) << SHIFT) - 1));
  uint64_t half = UINT64_C(1) << (SHIFT - 1);
  switch (round) {
    case HU_SRA: return whole;
    case HU_SRB: return whole + (part >= half);
    default: return whole + (part > half || (part == half && whole % 2));
  }
}

typedef struct t_tally {
  uint64_t words, operands, oracle;
} t_tally;

static void ask_oracle(hu_format format, hu_mode mode, double x, uint32_t r, t_tally *sum) {
  uint32_t expected = 1, expected_events = 1, events = 2;
  assert_int_equal(hu_oracle_encode64(&expected, &expected_events, format, mode, x, r), HU_OK);
  uint32_t got = hu_encode64(format, mode, x, r, &events);
  if (got != expected || events != expected_events)
    fail_msg("mode %u N %u R %#x x %a: %#x events %#x, oracle %#x events %#x", mode.round, mode.bits, r, x, got, events,
             expected, expected_events);
  sum->oracle++;
}

static uint32_t with_sign(hu_limits limits, hu_format format, uint32_t code, int negative) {
  if (!negative || (code == 0 && !format.negzero)) return code;
  return code | limits.sign_mask;
}

/* One operand, one mode, every R (up to 16 bits) or the two at the edge. */
static void check_words(hu_format format, const t_gap *gap, int negative, uint64_t p, hu_mode mode, t_tally *sum) {
  hu_limits limits = hu_limits_of(format);
  double nu = (double)p * ldexp(1, -SHIFT), x = gap->lower + (gap->upper - gap->lower) * nu;
  uint64_t all = UINT64_C(1) << mode.bits, ups = expected_ups(mode.round, mode.bits, p);
  uint64_t first = mode.bits <= 16 ? 0 : (all - ups > 2 ? all - ups - 2 : 0), last = mode.bits <= 16 ? all : first + 4;
  uint64_t counted = 0;
  if (negative) x = -x;
  for (uint64_t r = first; r < last && r < all; r++) {
    int up = r + ups >= all;
    uint32_t expected = with_sign(limits, format, up ? gap->upper_code : gap->lower_code, negative);
    uint32_t got = hu_encode64(format, mode, x, (uint32_t)r, NULL);
    if (got != expected)
      fail_msg("mode %u N %u R %#llx x %a nu %a: %#x, wanted %#x", mode.round, mode.bits, (unsigned long long)r, x, nu,
               got, expected);
    counted += (uint64_t)up;
    sum->words++;
  }
  if (mode.bits <= 16) assert_int_equal(counted, ups);
  if (ups < all) ask_oracle(format, mode, x, (uint32_t)(all - ups - 1), sum);
  if (ups > 0) ask_oracle(format, mode, x, (uint32_t)(all - ups), sum);
}

/* nu 2^S: around multiples and half multiples of 2^-N, the ends, and anywhere. */
static uint64_t draw_place(t_random *random, unsigned bits) {
  uint64_t unit = UINT64_C(1) << SHIFT, p = t_next64(random) & (unit - 1);
  if (bits < SHIFT - 1 && t_below(random, 4)) {
    uint64_t step = unit >> (bits + 1);
    p = p / step * step + (uint64_t)t_between(random, -1, 1);
  }
  if (t_below(random, 16) == 0) p = t_below(random, 2) ? 1 : unit - 1;
  return p & (unit - 1);
}

/* lower = upper where the gap is not a plain one: between codes that are flushed or not used (see test_flush). */
static t_gap gap_above(hu_format format, uint32_t code) {
  hu_limits limits = hu_limits_of(format);
  uint32_t next =
      code == 0 && format.subnormal == HU_SUBNORMAL_NONE && format.zero == HU_ZERO_FIELD ? limits.min_code : code + 1;
  t_gap gap = {hu_decode64(format, code), hu_decode64(format, next), code, next};
  int flushes = format.subnormal == HU_SUBNORMAL_FLUSH && code < limits.min_normal_code;
  if (flushes || (code > 0 && code < limits.min_code)) {
    gap.upper = gap.lower;
    return gap;
  }
  if (code == limits.max_code) { /* policy `finite`: both candidates become max */
    gap.upper = gap.lower + ldexp(1, limits.emax - (int)format.m);
    if (format.e == 0 || (code >> format.m == 0 && format.zero == HU_ZERO_FIELD))
      gap.upper = gap.lower + hu_decode64(format, 1);
    gap.upper_code = code;
  }
  return gap;
}

static void check_gap(hu_format format, const t_gap *gap, unsigned max_bits, t_random *random, t_tally *sum) {
  hu_mode mode;
  for (unsigned bits = 1; bits <= max_bits; bits++)
    for (unsigned k = 0; k < 3; k++) {
      uint64_t p = draw_place(random, bits);
      sum->operands++;
      for (unsigned round = HU_SRA; round <= HU_SRC; round++) {
        mode = t_policy(t_stochastic(round, bits), HU_SAT_FINITE, k % 2, 0);
        check_words(format, gap, format.sign && k % 2, p, mode, sum);
      }
    }
  for (unsigned k = 0; k < 24; k++) { /* N up to 32: the edge, and any R against the oracle */
    unsigned bits = k < 8 ? 32 : (unsigned)t_between(random, 13, 31);
    uint64_t p = draw_place(random, bits);
    mode = t_policy(t_stochastic(HU_SRA + k % 3, bits), HU_SAT_FINITE, k % 2, 0);
    if (bits > 16) check_words(format, gap, format.sign && k / 3 % 2, p, mode, sum);
    double x = gap->lower + (gap->upper - gap->lower) * ((double)p * ldexp(1, -SHIFT));
    ask_oracle(format, mode, x, t_next32(random), sum);
    sum->operands++;
  }
}

static void check_format(hu_format format, unsigned max_bits, unsigned gaps, t_random *random, t_tally *sum) {
  hu_limits limits = hu_limits_of(format);
  uint32_t fixed[6] = {0, 1, limits.min_normal_code - 1, limits.min_normal_code, limits.max_code - 1, limits.max_code};
  for (unsigned i = 0; i < gaps; i++) {
    uint32_t code = i < 6 ? fixed[i] : t_below(random, limits.max_code + 1);
    if (code > limits.max_code) continue; /* below code 0, or e = 0 */
    t_gap gap = gap_above(format, code);
    if (!(gap.upper > gap.lower)) continue;
    check_gap(format, &gap, max_bits, random, sum);
  }
}

static void report(const char *what, const t_tally *sum) {
  assert_true(sum->words > 1000 && sum->oracle > 100);
  print_message("%s: %llu random words for %llu operands, %llu of them also by the oracle\n", what,
                (unsigned long long)sum->words, (unsigned long long)sum->operands, (unsigned long long)sum->oracle);
}

static void test_formats(void **state) {
  t_random random = *(t_random *)*state;
  static const struct {
    const char *name;
    unsigned max_bits, gaps;
  } rows[] = {{"float8_e4m3fn", 16, 10},    {"float8_e5m2", 12, 20},      {"float8_e4m3fnuz", 12, 20},
              {"float4_e2m1fn", 16, 8},     {"float6_e3m2fn", 12, 20},    {"float8_e8m0fnu", 12, 20},
              {"binary8p4se", 12, 20},      {"binary8p1uf", 12, 20},      {"binary16", 16, 8},
              {"bfloat16", 12, 20},         {"hfp8_fwd_143", 12, 20},     {"ue4m3", 12, 20},
              {"fp(6,9,0):finite", 12, 20}, {"fp(0,6,0):finite", 12, 12}, {"fp(4,3,0):finite,nosub", 12, 20}};
  t_tally sum = {0, 0, 0};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hu_format format;
    size_t where = 0;
    if (hu_format_parse(&format, rows[i].name, &where) != HU_OK) fail_msg("%s: wrong at %zu", rows[i].name, where);
    check_format(format, rows[i].max_bits, rows[i].gaps, &random, &sum);
  }
  report("15 formats", &sum);
}

static void test_random_formats(void **state) {
  t_random random = *(t_random *)*state;
  t_tally sum = {0, 0, 0};
  for (int i = 0; i < 60; i++) {
    hu_format format = t_random_format(&random, 2, 13);
    hu_limits limits = hu_limits_of(format);
    if (format.m > 12 || limits.emin < -950 || limits.emax > 1000) continue;
    check_format(format, 10, 9, &random, &sum);
  }
  report("random formats", &sum);
}

/* Formats that flush: the words decide on the grid that has the subnormals, and what ends there is zero. */
static void test_flush(void **state) {
  t_random random = *(t_random *)*state;
  t_tally sum = {0, 0, 0};
  static const char *const names[] = {"fp(4,3,0):finite,flush", "dlfloat16", "fp(5,2,1):fnuz,flush"};
  for (size_t i = 0; i < 3; i++) {
    hu_format format;
    assert_int_equal(hu_format_parse(&format, names[i], NULL), HU_OK);
    hu_limits limits = hu_limits_of(format);
    double edge = ldexp(1, limits.emin), unit = ldexp(edge, -(int)format.m);
    int code_zero = format.zero == HU_ZERO_CODE;
    /* The largest subnormal number and the smallest normal one; where zero = code, 2^emin and code 1. */
    t_gap last = {code_zero ? edge : edge - unit, code_zero ? edge + unit : edge, 0, limits.min_normal_code};
    t_gap inside = {unit, 2 * unit, 0, 0};
    check_gap(format, &last, 12, &random, &sum);
    check_gap(format, &inside, 12, &random, &sum);
    check_format(format, 12, 20, &random, &sum);
  }
  report("flushing formats", &sum);
}

int main(void) {
  t_random random = {t_seed("stochastic", 9)};
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_formats, &random),
                                     cmocka_unit_test_prestate(test_random_formats, &random),
                                     cmocka_unit_test_prestate(test_flush, &random)};
  return cmocka_run_group_tests_name("stochastic", tests, NULL, NULL);
}
