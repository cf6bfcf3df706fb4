/* SPDX-License-Identifier: MIT */
/* The two ways themselves, by their contracts, with MPFR alone.
 *
 * Exact way: where sticky is not set the result is the function's value; where it is, sig has 64 digits and the
 * value lies strictly between sig and sig + 1 in its last place. Operands have up to 31 digits. Quick way: the
 * value computed in binary64 lies within 2^9 ulps of the function (how far is printed: the least digits that are
 * left of the bound), and where the result is known, it has the value's first 26 digits and is odd, or is the
 * value. */
#include <math.h>

#include "tests/support/cmocka.h"

#define MPFR_USE_INTMAX_T 1
#include <mpfr.h>

#ifndef HU_FEW
#define HU_FEW 0 /* 1: enough cases to show a planted fault */
#endif

static double seen;
#define HU_QUICK_SEEN(y) (seen = (y))
#include "emu/arith/function_one.h"
#include "tests/support/random.h"

enum { DIGITS = 1200, FUNCTIONS = HU_OP_POW - HU_OP_FUNCTION + 1 };
static const char *const names[FUNCTIONS] = {"exp", "exp2", "expm1", "log",        "log2", "log1p", "tanh", "sigmoid",
                                             "erf", "gelu", "rsqrt", "reciprocal", "sin",  "cos",   "pow"};

/* The function's value, off by less than 2^-400 of itself; its operands are in range. */
static void value(mpfr_ptr z, int op, mpfr_srcptr x, mpfr_srcptr y) {
  switch (op) {
    case HU_OP_EXP: (void)mpfr_exp(z, x, MPFR_RNDN); break;
    case HU_OP_EXP2: (void)mpfr_exp2(z, x, MPFR_RNDN); break;
    case HU_OP_EXPM1: (void)mpfr_expm1(z, x, MPFR_RNDN); break;
    case HU_OP_LOG: (void)mpfr_log(z, x, MPFR_RNDN); break;
    case HU_OP_LOG2: (void)mpfr_log2(z, x, MPFR_RNDN); break;
    case HU_OP_LOG1P: (void)mpfr_log1p(z, x, MPFR_RNDN); break;
    case HU_OP_TANH: (void)mpfr_tanh(z, x, MPFR_RNDN); break;
    case HU_OP_SIGMOID:
      (void)mpfr_neg(z, x, MPFR_RNDN);
      (void)mpfr_exp(z, z, MPFR_RNDN);
      (void)mpfr_add_ui(z, z, 1, MPFR_RNDN);
      (void)mpfr_ui_div(z, 1, z, MPFR_RNDN);
      break;
    case HU_OP_ERF: (void)mpfr_erf(z, x, MPFR_RNDN); break;
    case HU_OP_GELU:
      (void)mpfr_sqrt_ui(z, 2, MPFR_RNDN);
      (void)mpfr_div(z, x, z, MPFR_RNDN);
      (void)mpfr_neg(z, z, MPFR_RNDN);
      (void)mpfr_erfc(z, z, MPFR_RNDN);
      (void)mpfr_mul(z, z, x, MPFR_RNDN);
      (void)mpfr_div_2ui(z, z, 1, MPFR_RNDN);
      break;
    case HU_OP_RSQRT: (void)mpfr_rec_sqrt(z, x, MPFR_RNDN); break;
    case HU_OP_RECIPROCAL: (void)mpfr_ui_div(z, 1, x, MPFR_RNDN); break;
    case HU_OP_SIN: (void)mpfr_sin(z, x, MPFR_RNDN); break;
    case HU_OP_COS: (void)mpfr_cos(z, x, MPFR_RNDN); break;
    default: (void)mpfr_pow(z, x, y, MPFR_RNDN); break;
  }
}

static void set(mpfr_ptr z, hu_num x) {
  (void)mpfr_set_uj_2exp(z, x.sig, x.exp, MPFR_RNDN);
  if (x.sign) (void)mpfr_neg(z, z, MPFR_RNDN);
}

/* A number of 1 to `most` digits with a leading digit between 2^low and 2^high. */
static hu_num draw(t_random *random, unsigned most, int low, int high) {
  unsigned digits = 1 + t_below(random, most);
  uint64_t sig = (t_next64(random) | (uint64_t)1 << 63) >> (64 - digits);
  return hui_num_finite(t_below(random, 2), sig, t_between(random, low, high) - (int32_t)digits + 1);
}

/* An operand of the function where its value is no special one. */
static hu_num draw_operand(t_random *random, int op, unsigned most) {
  static const int high[FUNCTIONS] = {8, 8, 8, 900, 900, 900, 5, 8, 3, 4, 900, 900, 900, 900, 20};
  int top = high[op - HU_OP_FUNCTION];
  hu_num x = t_below(random, 4) ? draw(random, most, top > 20 ? -20 : -12, top > 20 ? 12 : top)
                                : draw(random, most, -100, top);
  if (t_below(random, 8) == 0) { /* next to 1 */
    uint64_t aside = t_below(random, 1u << t_below(random, most - 1)), one = (uint64_t)1 << (most - 1);
    x = hui_num_finite(t_below(random, 2), t_below(random, 2) ? one + aside : one - aside, 1 - (int32_t)most);
  }
  if (op == HU_OP_LOG || op == HU_OP_LOG2 || op == HU_OP_RSQRT || op == HU_OP_POW) x.sign = 0;
  if (op == HU_OP_LOG1P && hui_exponent(x) >= 0) x.sign = 0;
  return x;
}

static hu_num draw_exponent(t_random *random, unsigned most) {
  return draw(random, most, -20, t_below(random, 3) ? 5 : 20);
}

/* Is z what stands for v? At a tie of the first 64 digits with zeros behind, sticky has to say so too. */
static void check_exact(int op, hu_num z, mpfr_srcptr v, mpfr_srcptr x) {
  mpfr_t low, high;
  mpfr_inits2(128, low, high, (mpfr_ptr)NULL);
  assert_int_equal(z.kind == HU_KIND_FINITE, !mpfr_zero_p(v));
  if (z.kind == HU_KIND_FINITE) {
    hu_num up = z;
    assert_true(!z.sticky || z.sig >> 63);
    z.sign = up.sign = 0;
    set(low, z);
    up.sig++;
    if (up.sig == 0) {
      up.sig = (uint64_t)1 << 63;
      up.exp++;
    }
    set(high, up);
    int below = mpfr_cmpabs(low, v), above = mpfr_cmpabs(v, high);
    if (z.sticky ? below >= 0 || above >= 0 : below != 0) {
      mpfr_printf("x = %Ra, value %.40Rg, %s %.40Rg\n", x, v, z.sticky ? "above" : "is", low);
      fail_msg("%s: not what stands for it", names[op - HU_OP_FUNCTION]);
    }
  }
  mpfr_clears(low, high, (mpfr_ptr)NULL);
}

static void test_exact(void **state) {
  (void)state;
  t_random random = {61};
  mpfr_t x, y, v;
  uint64_t inexact[FUNCTIONS] = {0};
  mpfr_inits2(64, x, y, (mpfr_ptr)NULL);
  mpfr_init2(v, DIGITS);
  for (int k = 0; k < (HU_EXHAUSTIVE ? 400000 : 4000); k++) {
    for (int op = HU_OP_FUNCTION; op <= HU_OP_POW; op++) {
      uint32_t raised = 0;
      hu_num a = draw_operand(&random, op, 31), b = draw_exponent(&random, 31);
      /* erf and gelu take long, and MPFR longer. */
      if ((op == HU_OP_ERF || op == HU_OP_GELU) && k % 8) continue;
      hu_num z = hui_function_of(op, a, b, &raised);
      set(x, a);
      set(y, b);
      value(v, op, x, y);
      assert_int_equal(raised, 0);
      if (mpfr_get_exp(v) > 1500 || mpfr_get_exp(v) < -1300) continue; /* beyond_all, below_all stand in there */
      assert_int_equal(z.sign, mpfr_signbit(v) != 0);
      check_exact(op, z, v, x);
      inexact[op - HU_OP_FUNCTION] += z.sticky;
    }
  }
  for (int i = 0; i < FUNCTIONS; i++) assert_true(inexact[i] > 300);
  mpfr_clears(x, y, v, (mpfr_ptr)NULL);
}

/* Digits of the bound that y leaves: 9 - log2 of its distance in ulps. */
static double spare_digits(mpfr_srcptr v, double y) {
  mpfr_t d;
  mpfr_init2(d, DIGITS);
  (void)mpfr_sub_d(d, v, y, MPFR_RNDN);
  (void)mpfr_abs(d, d, MPFR_RNDN);
  (void)mpfr_div_d(d, d, ldexp(1, ilogb(y) - 52), MPFR_RNDN);
  double ulps = mpfr_get_d(d, MPFR_RNDN);
  mpfr_clear(d);
  return 9 - log2(ulps + 1e-9);
}

/* The pattern's number against v: equal, or odd with the same first 26 digits. */
static void check_quick(int op, hu_quick_result quick, mpfr_srcptr v, mpfr_srcptr x) {
  mpfr_t a, b;
  mpfr_inits2(26, a, b, (mpfr_ptr)NULL);
  double z = hui_double64(quick.bits);
  int right = mpfr_cmp_d(v, z) == 0;
  (void)mpfr_set(a, v, MPFR_RNDZ);
  (void)mpfr_set_d(b, z, MPFR_RNDZ);
  right |= (quick.bits & 1) && mpfr_equal_p(a, b) && mpfr_cmp(a, v) != 0;
  if (!right) {
    mpfr_printf("x = %Ra, value %.40Rg = %Ra, pattern %a, y %a\n", x, v, v, z, seen);
    fail_msg("%s: the quick way is wrong", names[op - HU_OP_FUNCTION]);
  }
  mpfr_clears(a, b, (mpfr_ptr)NULL);
}

static void test_quick(void **state) {
  (void)state;
  t_random random = {62};
  mpfr_t x, y, v;
  mpfr_inits2(64, x, y, (mpfr_ptr)NULL);
  mpfr_init2(v, DIGITS);
  for (int op = HU_OP_FUNCTION; op <= HU_OP_POW; op++) {
    double least = 100;
    uint64_t known = 0, measured = 0, cases = HU_FEW ? 1000 : HU_EXHAUSTIVE ? 2000000 : 6000;
    if (op == HU_OP_RSQRT) continue; /* in lanes only: two roundings */
    for (uint64_t k = 0; k < cases; k++) {
      hu_num a = draw_operand(&random, op, 24), b = draw_exponent(&random, 24);
      hu_quick_result quick;
      if (op == HU_OP_POW && hui_is_power_of_two(a)) continue;
      double dx = hui_double64(hui_pack64(a)), dy = hui_double64(hui_pack64(b));
      if (op == HU_OP_RECIPROCAL) {
        quick = hui_quick_reciprocal(dx);
      } else {
        hui_quick_of(&quick, op, dx, dy);
      }
      if (!quick.known) continue;
      known++;
      set(x, a);
      set(y, b);
      value(v, op, x, y);
      check_quick(op, quick, v, x);
      /* y counts where it was used: it then begins with the pattern's digits. */
      if (hui_pattern64(seen) >> HU_QUICK_SPARE != quick.bits >> HU_QUICK_SPARE || (quick.bits & 0x7FFFFFF) != 1)
        continue;
      measured++;
      double left = spare_digits(v, seen);
      if (left < least) least = left;
    }
    print_message("%s: %llu known, %llu measured, %.1f digits to spare\n", names[op - HU_OP_FUNCTION],
                  (unsigned long long)known, (unsigned long long)measured, least);
    assert_true(known > cases / 4 && measured > cases / 8);
    assert_true(least > 1);
  }
  mpfr_clears(x, y, v, (mpfr_ptr)NULL);
}

/* Every binary32 number of one binade whose result the quick way leaves open: the hard cases of its 26 digits. */
static void test_left_open(void **state) {
  (void)state;
  static const struct {
    int op, k;
  } binades[] = {{HU_OP_EXP, 0}, {HU_OP_EXP2, 0}, {HU_OP_LOG, 1}, {HU_OP_LOG2, 1}, {HU_OP_EXP2, -9}, {HU_OP_LOG, -120}};
  mpfr_t x, v;
  mpfr_init2(x, 64);
  mpfr_init2(v, DIGITS);
  for (unsigned i = 0; i < (HU_FEW ? 1 : sizeof binades / sizeof binades[0]); i++) {
    uint64_t open = 0;
    for (uint32_t sig = 1u << 23; sig < 1u << 24; sig++) {
      hu_num a = hui_num_finite(0, sig, binades[i].k - 23);
      uint32_t raised = 0;
      hu_quick_result quick;
      hui_quick_of(&quick, binades[i].op, hui_double64(hui_pack64(a)), 0);
      if (quick.known) continue;
      open++;
      set(x, a);
      value(v, binades[i].op, x, x);
      check_exact(binades[i].op, hui_function_of(binades[i].op, a, a, &raised), v, x);
    }
    print_message("%s from 2^%d: %llu of 2^23 left open\n", names[binades[i].op - HU_OP_FUNCTION], binades[i].k,
                  (unsigned long long)open);
    assert_true(open > 20 && open < 400);
  }
  mpfr_clears(x, v, (mpfr_ptr)NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_quick),
                                     cmocka_unit_test(test_left_open)};
  return cmocka_run_group_tests_name("the two ways of the elementary functions", tests, NULL, NULL);
}
