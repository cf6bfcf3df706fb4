/* SPDX-License-Identifier: MIT */
/* emu/oracle/function.c - the functions of docs/numerics.md section 12: the exact result by MPFR, then the one
 * rounding.
 *
 * MPFR's functions are correctly rounded: a result toward zero and whether it is exact say between which two
 * numbers of DIGITS digits the exact result lies, and a digit behind them stands in for the rest as in
 * emu/oracle/arith.c. MPFR has no sigmoid and no gelu: these are computed from functions that it has, at more and
 * more digits, with the error of each step, until both ends of what is possible have the same DIGITS. */
#include "halfulp/oracle.h"

#include <string.h>

#include "emu/oracle/round.h"

enum { DIGITS = 190, MOST_DIGITS = 8192, FAR_OUT = 100000 };

typedef int (*mpfr_one)(mpfr_ptr z, mpfr_srcptr x, mpfr_rnd_t rounding);

typedef struct exact_result {
  exact value;
  uint32_t raised;
} exact_result;

static void special(exact_result *result, code_class kind, int negative) {
  exact_init(&result->value, EXACT_SMALL);
  result->value.kind = kind;
  result->value.negative = negative;
}

static void invalid(exact_result *result) {
  special(result, CODE_NAN, 0);
  result->raised |= HU_EVENT_INVALID;
}

static void pole(exact_result *result, int negative) {
  special(result, CODE_INFINITE, negative);
  result->raised |= HU_EVENT_DIVIDE_BY_ZERO;
}

/* Makes n 2^-shift for a small n; its sign is that of n. */
static void small(exact_result *result, long n, long shift) {
  exact_init(&result->value, EXACT_SMALL);
  (void)mpfr_set_si_2exp(result->value.value, n < 0 ? -n : n, -shift, MPFR_RNDN);
  result->value.negative = n < 0;
}

/* The number toward zero of DIGITS digits, and a digit behind it if the result is not that. Near the ends of MPFR's
 * exponents, far beyond every format's, another number as far out serves as well (and can be scaled). */
static void stand_in(exact_result *result, mpfr_srcptr cut, int exactly) {
  exact_init(&result->value, DIGITS + 2);
  (void)mpfr_abs(result->value.value, cut, MPFR_RNDN);
  if (mpfr_zero_p(cut) && !exactly) (void)mpfr_set_ui_2exp(result->value.value, 1, -FAR_OUT, MPFR_RNDN);
  if (!mpfr_zero_p(cut) && mpfr_get_exp(cut) < -FAR_OUT)
    (void)mpfr_set_ui_2exp(result->value.value, 1, -FAR_OUT, MPFR_RNDN);
  if (!mpfr_zero_p(cut) && mpfr_get_exp(cut) > FAR_OUT)
    (void)mpfr_set_ui_2exp(result->value.value, 1, FAR_OUT, MPFR_RNDN);
  if (!exactly) mpfr_nextabove(result->value.value);
  result->value.negative = mpfr_signbit(cut) != 0;
}

static void signed_operand(mpfr_ptr z, const exact *x) { (void)mpfr_setsign(z, x->value, x->negative, MPFR_RNDN); }

static void by_mpfr(exact_result *result, mpfr_one function, const exact *x) {
  mpfr_t z, operand;
  mpfr_init2(z, DIGITS);
  mpfr_init2(operand, EXACT_SMALL);
  signed_operand(operand, x);
  int ternary = function(z, operand, MPFR_RNDZ);
  stand_in(result, z, ternary == 0);
  mpfr_clear(z);
  mpfr_clear(operand);
}

static int reciprocal(mpfr_ptr z, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_ui_div(z, 1, x, rounding); }

/* Computes 1 / (1 + e^-x), off by less than 2^-(digits - 4) of itself: three roundings to nearest of 2^-digits. */
static void sigmoid_at(mpfr_ptr z, mpfr_srcptr x) {
  (void)mpfr_neg(z, x, MPFR_RNDN);
  (void)mpfr_exp(z, z, MPFR_RNDN);
  (void)mpfr_add_ui(z, z, 1, MPFR_RNDN);
  (void)mpfr_ui_div(z, 1, z, MPFR_RNDN);
}

/* x erfc(-x / sqrt 2) / 2. w = -x / sqrt 2 is off by 2 units of 2^-digits of itself, which erfc makes larger by
 * |w erfc'(w) / erfc(w)| < 2 w^2 + 4, below 2^13 as |x| < 64; two more roundings. */
static void gelu_at(mpfr_ptr z, mpfr_srcptr x) {
  mpfr_t root;
  mpfr_init2(root, mpfr_get_prec(z));
  (void)mpfr_sqrt_ui(root, 2, MPFR_RNDN);
  (void)mpfr_div(root, x, root, MPFR_RNDN);
  (void)mpfr_neg(root, root, MPFR_RNDN);
  (void)mpfr_erfc(root, root, MPFR_RNDN);
  (void)mpfr_mul(z, root, x, MPFR_RNDN);
  (void)mpfr_div_2ui(z, z, 1, MPFR_RNDN);
  mpfr_clear(root);
}

/* A function at growing numbers of digits until its first DIGITS are sure, the value being no number of so few. */
static void grown(exact_result *result, void (*at)(mpfr_ptr z, mpfr_srcptr x), const exact *x) {
  mpfr_t operand, z, low, high;
  mpfr_init2(operand, EXACT_SMALL);
  mpfr_init2(z, EXACT_SMALL);
  mpfr_init2(low, DIGITS);
  mpfr_init2(high, DIGITS);
  signed_operand(operand, x);
  for (mpfr_prec_t digits = DIGITS + 64; digits <= MOST_DIGITS; digits *= 2) {
    mpfr_set_prec(z, digits);
    at(z, operand);
    mpfr_t off;
    mpfr_init2(off, digits);
    (void)mpfr_mul_2si(off, z, 16 - (long)digits, MPFR_RNDN);
    (void)mpfr_abs(off, off, MPFR_RNDN);
    mpfr_t end;
    mpfr_init2(end, digits + 64);
    int negative = mpfr_signbit(z) != 0;
    (void)mpfr_abs(z, z, MPFR_RNDN);
    (void)mpfr_sub(end, z, off, MPFR_RNDZ);
    (void)mpfr_set(low, end, MPFR_RNDZ);
    (void)mpfr_add(end, z, off, MPFR_RNDN);
    (void)mpfr_set(high, end, MPFR_RNDZ);
    mpfr_clear(end);
    mpfr_clear(off);
    if (mpfr_equal_p(low, high)) {
      (void)mpfr_setsign(low, low, negative, MPFR_RNDN);
      break;
    }
  }
  stand_in(result, low, 0);
  mpfr_clear(operand);
  mpfr_clear(z);
  mpfr_clear(low);
  mpfr_clear(high);
}

/* Compares |x| with n. */
static int against(const exact *x, unsigned long n) { return mpfr_cmp_ui(x->value, n); }

/* A number just off the middle one, middle 2^-shift, toward zero or away from it: where the difference is so small that
 * digits would be many. The middle one has at most 64 digits. */
static void beside(exact_result *result, mpfr_srcptr middle, long shift, int negative, int away) {
  exact_init(&result->value, 4000);
  (void)mpfr_div_2si(result->value.value, middle, shift, MPFR_RNDN);
  if (away)
    mpfr_nextabove(result->value.value);
  else
    mpfr_nextbelow(result->value.value);
  result->value.negative = negative;
}

/* gelu: x (1/2 + 0.4 x) for small x; x less 2^-100 of it or less for x > 12; below -64 a number under every format's.
 * What a rounding compares with has fewer than 80 digits. */
static void gelu(exact_result *result, const exact *x) {
  if (mpfr_get_exp(x->value) < -130)
    beside(result, x->value, 1, x->negative, !x->negative);
  else if (against(x, 12) > 0 && !x->negative)
    beside(result, x->value, 0, 0, 0);
  else if (against(x, 64) > 0)
    small(result, -1, 3000);
  else
    grown(result, gelu_at, x);
}

/* Computes sigmoid: 1/2 + x/4 for small x; 1 - e^-x for x > 100; e^x below -2000, under every format. */
static void sigmoid(exact_result *result, const exact *x) {
  mpfr_t one;
  mpfr_init2(one, EXACT_SMALL);
  (void)mpfr_set_ui(one, 1, MPFR_RNDN);
  if (mpfr_get_exp(x->value) < -130)
    beside(result, one, 1, 0, !x->negative);
  else if (against(x, 100) > 0 && !x->negative)
    beside(result, one, 0, 0, 0);
  else if (against(x, 2000) > 0)
    small(result, 1, 2800);
  else
    grown(result, sigmoid_at, x);
  mpfr_clear(one);
}

static int is_zero(const exact *x) { return x->kind == CODE_FINITE && mpfr_zero_p(x->value); }

static void same(exact_result *result, const exact *x) { special(result, x->kind, x->negative); }

static void finite(exact_result *result, int function, const exact *x) {
  switch (function) {
    case HU_ORACLE_EXP: by_mpfr(result, mpfr_exp, x); break;
    case HU_ORACLE_EXP2: by_mpfr(result, mpfr_exp2, x); break;
    case HU_ORACLE_EXPM1: by_mpfr(result, mpfr_expm1, x); break;
    case HU_ORACLE_LOG:
    case HU_ORACLE_LOG2:
      if (x->negative)
        invalid(result);
      else
        by_mpfr(result, function == HU_ORACLE_LOG ? mpfr_log : mpfr_log2, x);
      break;
    case HU_ORACLE_LOG1P:
      if (x->negative && against(x, 1) >= 0) {
        if (against(x, 1) == 0)
          pole(result, 1);
        else
          invalid(result);
      } else
        by_mpfr(result, mpfr_log1p, x);
      break;
    case HU_ORACLE_TANH: by_mpfr(result, mpfr_tanh, x); break;
    case HU_ORACLE_SIGMOID: sigmoid(result, x); break;
    case HU_ORACLE_ERF: by_mpfr(result, mpfr_erf, x); break;
    case HU_ORACLE_GELU: gelu(result, x); break;
    case HU_ORACLE_RSQRT:
      if (x->negative)
        invalid(result);
      else
        by_mpfr(result, mpfr_rec_sqrt, x);
      break;
    case HU_ORACLE_RECIPROCAL: by_mpfr(result, reciprocal, x); break;
    case HU_ORACLE_SIN: by_mpfr(result, mpfr_sin, x); break;
    default: by_mpfr(result, mpfr_cos, x); break;
  }
}

static void of_zero(exact_result *result, int function, const exact *x) {
  switch (function) {
    case HU_ORACLE_EXP:
    case HU_ORACLE_EXP2:
    case HU_ORACLE_COS: small(result, 1, 0); break;
    case HU_ORACLE_SIGMOID: small(result, 1, 1); break;
    case HU_ORACLE_LOG:
    case HU_ORACLE_LOG2: pole(result, 1); break;
    case HU_ORACLE_RSQRT:
    case HU_ORACLE_RECIPROCAL: pole(result, x->negative); break;
    default: same(result, x); break;
  }
}

static void of_infinity(exact_result *result, int function, const exact *x) {
  switch (function) {
    case HU_ORACLE_SIN:
    case HU_ORACLE_COS: invalid(result); break;
    case HU_ORACLE_TANH:
    case HU_ORACLE_ERF: small(result, x->negative ? -1 : 1, 0); break;
    case HU_ORACLE_RECIPROCAL: special(result, CODE_FINITE, x->negative); break;
    case HU_ORACLE_EXP:
    case HU_ORACLE_EXP2:
      if (x->negative)
        special(result, CODE_FINITE, 0);
      else
        same(result, x);
      break;
    case HU_ORACLE_EXPM1:
      if (x->negative)
        small(result, -1, 0);
      else
        same(result, x);
      break;
    case HU_ORACLE_SIGMOID: small(result, x->negative ? 0 : 1, 0); break;
    case HU_ORACLE_GELU:
      if (x->negative)
        special(result, CODE_FINITE, 1);
      else
        same(result, x);
      break;
    default: /* logarithms, rsqrt */
      if (x->negative)
        invalid(result);
      else if (function == HU_ORACLE_RSQRT)
        special(result, CODE_FINITE, 0);
      else
        same(result, x);
      break;
  }
}

/* ---- pow ---- */

static int is_odd(const exact *y) {
  if (y->kind != CODE_FINITE || !mpfr_integer_p(y->value)) return 0;
  exact half;
  exact_init(&half, EXACT_SMALL);
  (void)mpfr_div_2ui(half.value, y->value, 1, MPFR_RNDN);
  return !mpfr_integer_p(half.value);
}

static void power_of_numbers(exact_result *result, const exact *x, const exact *y, int negative) {
  mpfr_t z, exponent;
  mpfr_init2(z, DIGITS);
  mpfr_init2(exponent, EXACT_SMALL);
  signed_operand(exponent, y);
  int ternary = mpfr_pow(z, x->value, exponent, MPFR_RNDZ);
  stand_in(result, z, ternary == 0);
  result->value.negative = negative;
  mpfr_clear(z);
  mpfr_clear(exponent);
}

static void power(exact_result *result, const exact *x, const exact *y) {
  int is_number = x->kind != CODE_NAN, finite_x = x->kind == CODE_FINITE;
  int size = finite_x ? against(x, 1) : 1; /* |x| against 1 */
  int odd = is_odd(y), negative = x->negative && odd;
  if (is_zero(y) || (finite_x && size == 0 && !x->negative))
    small(result, 1, 0);
  else if (!is_number || y->kind == CODE_NAN)
    special(result, CODE_NAN, 0);
  else if (y->kind == CODE_INFINITE) {
    if (size == 0)
      small(result, 1, 0);
    else
      special(result, (size > 0) != y->negative ? CODE_INFINITE : CODE_FINITE, 0);
  } else if (!finite_x)
    special(result, y->negative ? CODE_FINITE : CODE_INFINITE, negative);
  else if (is_zero(x)) {
    if (y->negative)
      pole(result, negative);
    else
      special(result, CODE_FINITE, negative);
  } else if (x->negative && !mpfr_integer_p(y->value))
    invalid(result);
  else
    power_of_numbers(result, x, y, negative);
}

/* ---- the calls ---- */

static hu_status evaluate(exact_result *result, uint32_t *in, int function, const hu_oracle_code *x) {
  exact operand[2];
  table values;
  int operands = function == HU_ORACLE_POW ? 2 : 1;
  *in = 0;
  result->raised = 0;
  for (int i = 0; i < operands; i++) {
    if (table_make(&values, x[i].format) != HU_OK) return HU_E_FORMAT;
    exact_from_code(&operand[i], &values, x[i].code);
    if (operand[i].kind == CODE_NAN) *in |= HU_EVENT_NAN_IN;
    if (operand[i].kind == CODE_INFINITE) *in |= HU_EVENT_INF_IN;
  }
  if (function == HU_ORACLE_POW)
    power(result, &operand[0], &operand[1]);
  else if (operand[0].kind == CODE_NAN)
    special(result, CODE_NAN, 0);
  else if (operand[0].kind == CODE_INFINITE)
    of_infinity(result, function, &operand[0]);
  else if (is_zero(&operand[0]))
    of_zero(result, function, &operand[0]);
  else
    finite(result, function, &operand[0]);
  return HU_OK;
}

hu_status hu_oracle_functions(uint32_t *codes, uint32_t *events, int function, hu_format fz, size_t n,
                              const hu_mode *modes, const uint32_t *random, const hu_oracle_code *x) {
  table tz;
  exact_result result;
  uint32_t in;
  if (codes == NULL || x == NULL || modes == NULL || random == NULL) return HU_E_NULL;
  if (function < 0 || function >= HU_ORACLE_FUNCTIONS) return HU_E_SHAPE;
  if (table_make(&tz, fz) != HU_OK) return HU_E_FORMAT;
  for (size_t i = 0; i < n; i++)
    if (round_check_mode(modes[i]) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  hu_status status = evaluate(&result, &in, function, x);
  for (size_t i = 0; status == HU_OK && i < n; i++) {
    uint32_t set;
    round_exact(&tz, modes[i], &result.value, random[i], &codes[i], &set);
    set &= ~(uint32_t)(HU_EVENT_NAN_IN | HU_EVENT_INF_IN);
    if (events != NULL) events[i] = set | in | result.raised;
  }
  exact_leave(saved);
  return status;
}

hu_status hu_oracle_function(uint32_t *code, uint32_t *events, int function, hu_format fz, hu_mode mode,
                             uint32_t random, const hu_oracle_code *x) {
  return hu_oracle_functions(code, events, function, fz, 1, &mode, &random, x);
}
