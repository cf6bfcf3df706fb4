/* SPDX-License-Identifier: MIT */
/* exp2, log2, exp, log, sin and cos into binary32, ties to even, over very many operands (-Dexhaustive=true: all of
 * them).
 *
 * The judge is the C library's binary64 function: where its value, a few units of the last place to either side, rounds
 * to one binary32 number, that number is right; the other operands, and all special ones, go to the oracle. That it
 * stays that close to the real value is looked at first, against MPFR. */
#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "halfulp/halfulp.h"
#include "tests/function/functions.h"

enum { BATCH = 1 << 16 };
static const double margin = 0x1p-48;

typedef struct t_judged {
  int function;
  double (*near)(double); /* the C library's */
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  uint64_t random;
} t_judged;

static const t_judged functions[] = {
    {HU_ORACLE_EXP2, exp2, mpfr_exp2, 100000000}, {HU_ORACLE_LOG2, log2, mpfr_log2, 100000000},
    {HU_ORACLE_EXP, exp, mpfr_exp, 10000000},     {HU_ORACLE_LOG, log, mpfr_log, 10000000},
    {HU_ORACLE_SIN, sin, mpfr_sin, 5000000},      {HU_ORACLE_COS, cos, mpfr_cos, 5000000},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static int is_exponential(int function) { return function == HU_ORACLE_EXP || function == HU_ORACLE_EXP2; }

static int is_circular(int function) { return function == HU_ORACLE_SIN || function == HU_ORACLE_COS; }

static int takes_negatives(int function) { return is_exponential(function) || is_circular(function); }

/* An operand with something to compute; half of the angles are from 2^20 on. */
static uint32_t draw(int function, t_random *random) {
  uint32_t code = t_next32(random);
  if (is_circular(function))
    return (code & 0x807FFFFF) | (uint32_t)t_between(random, t_below(random, 2) ? 147 : 101, 254) << 23;
  if (!is_exponential(function)) return code & 0x7FFFFFFF;
  return (code & 0x807FFFFF) | (uint32_t)t_between(random, 127 - 26, 127 + 7) << 23;
}

static float value_of(uint32_t code) {
  float x;
  memcpy(&x, &code, sizeof x);
  return x;
}

static uint32_t code_of(float x) {
  uint32_t code;
  memcpy(&code, &x, sizeof code);
  return code;
}

/* The right code, if the C library can tell. */
static int judge(const t_judged *judged, uint32_t code, uint32_t *expected) {
  float x = value_of(code);
  if (!isfinite(x) || x == 0 || (x < 0 && !takes_negatives(judged->function))) return 0;
  double y = judged->near(x), low = y - fabs(y) * margin, high = y + fabs(y) * margin;
  if (isinf(y)) low = high = y; /* beyond binary64's range, so beyond binary32's */
  *expected = code_of((float)low);
  return code_of((float)high) == *expected;
}

static void ask_oracle(const t_judged *judged, uint32_t code) {
  static const fn_modes nearest = {1, {{0, 0, 0, 0, 0, 0, {0, 0}}}, {0}};
  hu_oracle_code x[2] = {{hu_binary32(), code}, {hu_binary32(), 0}};
  (void)fn_check(judged->function, hu_binary32(), &nearest, x);
}

/* Returns how many went to the oracle. */
static uint64_t check_batch(const t_judged *judged, size_t n, const uint32_t *x) {
  static uint32_t z[BATCH];
  uint64_t asked = 0;
  hu_view view = hu_codes(x, 1, hu_binary32());
  int op = HU_OP_FUNCTION + judged->function;
  hu_output to = hu_codes_out(z, 1, hu_binary32());
  assert_int_equal(hu_apply(op, n, &to, &view, NULL), HU_OK);
  for (size_t i = 0; i < n; i++) {
    uint32_t expected;
    if (judge(judged, x[i], &expected)) {
      if (z[i] != expected) fail_msg("%s of %#x: %#x, not %#x", fn_name(judged->function), x[i], z[i], expected);
    } else {
      ask_oracle(judged, x[i]);
      asked++;
    }
  }
  return asked;
}

static void test_judge(void **state) {
  t_random random = {t_seed("function_judge", 56)};
  mpfr_t x, y;
  (void)state;
  mpfr_inits2(160, x, y, (mpfr_ptr)NULL);
  for (int i = 0; i < FUNCTIONS; i++) {
    double worst = 0;
    for (int k = 0; k < 100000; k++) {
      float v = value_of(draw(functions[i].function, &random));
      if (!isfinite(v) || v == 0) continue;
      double d = functions[i].near(v);
      mpfr_set_flt(x, v, MPFR_RNDN);
      functions[i].exact(y, x, MPFR_RNDN);
      if (mpfr_zero_p(y)) continue;
      mpfr_d_sub(x, d, y, MPFR_RNDN);
      mpfr_div(x, x, y, MPFR_RNDN);
      worst = fmax(worst, fabs(mpfr_get_d(x, MPFR_RNDN)));
    }
    print_message("%s: the C library is within %.2f units of 2^-53\n", fn_name(functions[i].function), worst * 0x1p53);
    assert_true(worst < margin / 8);
  }
  mpfr_clears(x, y, (mpfr_ptr)NULL);
}

static void test_random(void **state) {
  t_random random = {t_seed("function_binary32_random", 57)};
  static uint32_t x[BATCH];
  (void)state;
  for (int i = 0; i < FUNCTIONS && !HU_EXHAUSTIVE; i++) {
    const t_judged *judged = &functions[i];
    uint64_t asked = 0, done = 0;
    for (; done < judged->random; done += BATCH) {
      for (size_t k = 0; k < BATCH; k++) x[k] = draw(judged->function, &random);
      asked += check_batch(judged, BATCH, x);
    }
    print_message("%s: %llu operands, %llu by the oracle\n", fn_name(judged->function), (unsigned long long)done,
                  (unsigned long long)asked);
  }
}

/* NaN, zeros and where the result is not the C library's to tell are many in a row: the oracle sees every 2^16th. */
static void test_all(void **state) {
  static uint32_t x[BATCH];
  (void)state;
  for (int i = 0; i < FUNCTIONS && HU_EXHAUSTIVE; i++) {
    const t_judged *judged = &functions[i];
    uint64_t asked = 0;
    for (uint64_t first = 0; first < (uint64_t)1 << 32; first += BATCH) {
      int dull = isnan(value_of((uint32_t)first)) || (first >> 31 && !takes_negatives(judged->function));
      for (size_t k = 0; k < BATCH; k++) x[k] = (uint32_t)first + (uint32_t)k;
      asked += check_batch(judged, dull ? 1 : BATCH, x);
    }
    print_message("%s: all operands, %llu by the oracle\n", fn_name(judged->function), (unsigned long long)asked);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_judge), cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_all)};
  return cmocka_run_group_tests_name("function_binary32", tests, NULL, NULL);
}
