/* SPDX-License-Identifier: MIT */
/* emu/oracle/arith.c - the operations of docs/numerics.md section 10: the exact result by MPFR, then the one rounding.
 *
 * Sums and products are MPFR numbers with enough digits to be exact. A quotient or a root that does not end is cut
 * off after QUOTIENT digits and gets one more digit behind them: like the exact result it lies strictly between two
 * neighbouring numbers of QUOTIENT digits, and all that a rounding compares it with (grid points, midpoints, steps
 * of the random digits, the limit of tininess) has fewer than 80 digits, so every comparison comes out as for the
 * exact result. */
#include "halfulp/oracle.h"

#include <string.h>

#include "emu/oracle/round.h"

enum { QUOTIENT = 190 };

/* What an operation makes of its operands, besides the events of the rounding. */
typedef struct exact_result {
  exact value;
  uint32_t raised;
} exact_result;

static int is_zero(const exact *x) { return x->kind == CODE_FINITE && mpfr_zero_p(x->value); }
static int is_number(const exact *x) { return x->kind != CODE_NAN; }

static void copy(exact *z, const exact *x) {
  exact_init(z, mpfr_get_prec(x->value));
  z->kind = x->kind;
  z->negative = x->negative;
  (void)mpfr_set(z->value, x->value, MPFR_RNDN);
}

static void nan_result(exact_result *result, int invalid) {
  exact_init(&result->value, EXACT_SMALL);
  result->value.kind = CODE_NAN;
  if (invalid) result->raised |= HU_EVENT_INVALID;
}

static void infinite_result(exact_result *result, int negative) {
  exact_init(&result->value, EXACT_SMALL);
  result->value.kind = CODE_INFINITE;
  result->value.negative = negative;
}

static void zero_result(exact_result *result, int negative) {
  exact_init(&result->value, EXACT_SMALL);
  result->value.negative = negative;
}

/* ---- Sums. */

/* Digits from the higher one's first place to the lower one's last, and one for the carry. */
static mpfr_prec_t sum_digits(const exact *a, const exact *b) {
  mpfr_exp_t ea = mpfr_get_exp(a->value), eb = mpfr_get_exp(b->value);
  mpfr_exp_t la = ea - (mpfr_exp_t)mpfr_get_prec(a->value), lb = eb - (mpfr_exp_t)mpfr_get_prec(b->value);
  return (mpfr_prec_t)((ea > eb ? ea : eb) - (la < lb ? la : lb) + 1);
}

static void add(exact_result *result, const exact *a, const exact *b, hu_mode mode) {
  if (!is_number(a) || !is_number(b)) {
    nan_result(result, 0);
    return;
  }
  if (a->kind == CODE_INFINITE || b->kind == CODE_INFINITE) {
    int both = a->kind == b->kind;
    if (both && a->negative != b->negative)
      nan_result(result, 1);
    else
      infinite_result(result, a->kind == CODE_INFINITE ? a->negative : b->negative);
    return;
  }
  if (is_zero(a) && is_zero(b)) {
    zero_result(result, a->negative == b->negative ? a->negative : mode.round == HU_RTN);
    return;
  }
  if (is_zero(a) || is_zero(b)) {
    copy(&result->value, is_zero(a) ? b : a);
    return;
  }
  exact_init(&result->value, sum_digits(a, b));
  if (a->negative == b->negative)
    (void)mpfr_add(result->value.value, a->value, b->value, MPFR_RNDN);
  else
    (void)mpfr_sub(result->value.value, a->value, b->value, MPFR_RNDN);
  if (mpfr_zero_p(result->value.value))
    result->value.negative = mode.round == HU_RTN;
  else
    result->value.negative = mpfr_signbit(result->value.value) ? !a->negative : a->negative;
  (void)mpfr_setsign(result->value.value, result->value.value, 0, MPFR_RNDN);
}

static void subtract(exact_result *result, const exact *a, const exact *b, hu_mode mode) {
  exact minus;
  copy(&minus, b);
  minus.negative = !b->negative;
  add(result, a, &minus, mode);
}

/* ---- Products, quotients, roots. */

static void multiply(exact_result *result, const exact *a, const exact *b) {
  int negative = a->negative != b->negative;
  if (!is_number(a) || !is_number(b))
    nan_result(result, 0);
  else if (a->kind == CODE_INFINITE || b->kind == CODE_INFINITE) {
    if (is_zero(a) || is_zero(b))
      nan_result(result, 1);
    else
      infinite_result(result, negative);
  } else {
    exact_init(&result->value, 2 * EXACT_SMALL);
    (void)mpfr_mul(result->value.value, a->value, b->value, MPFR_RNDN);
    result->value.negative = negative;
  }
}

/* The number cut off, with the digit behind it if something was cut. */
static void stand_in(exact *z, mpfr_srcptr cut, int ternary) {
  exact_init(z, QUOTIENT + 2);
  (void)mpfr_set(z->value, cut, MPFR_RNDN);
  if (ternary != 0) mpfr_nextabove(z->value);
}

static void divide(exact_result *result, const exact *a, const exact *b) {
  int negative = a->negative != b->negative;
  if (!is_number(a) || !is_number(b))
    nan_result(result, 0);
  else if (a->kind == CODE_INFINITE && b->kind == CODE_INFINITE)
    nan_result(result, 1);
  else if (is_zero(a) && is_zero(b))
    nan_result(result, 1);
  else if (a->kind == CODE_INFINITE)
    infinite_result(result, negative);
  else if (b->kind == CODE_INFINITE || is_zero(a))
    zero_result(result, negative);
  else if (is_zero(b)) {
    infinite_result(result, negative);
    result->raised |= HU_EVENT_DIVIDE_BY_ZERO;
  } else {
    exact quotient;
    exact_init(&quotient, QUOTIENT);
    int ternary = mpfr_div(quotient.value, a->value, b->value, MPFR_RNDZ);
    stand_in(&result->value, quotient.value, ternary);
    result->value.negative = negative;
  }
}

static void root(exact_result *result, const exact *x) {
  if (!is_number(x))
    nan_result(result, 0);
  else if (is_zero(x))
    zero_result(result, x->negative);
  else if (x->negative)
    nan_result(result, 1);
  else if (x->kind == CODE_INFINITE)
    infinite_result(result, 0);
  else {
    exact cut;
    exact_init(&cut, QUOTIENT);
    int ternary = mpfr_sqrt(cut.value, x->value, MPFR_RNDZ);
    stand_in(&result->value, cut.value, ternary);
  }
}

static void fused(exact_result *result, const exact *a, const exact *b, const exact *c, hu_mode mode) {
  exact_result product;
  product.raised = 0;
  if (!is_number(a) || !is_number(b)) {
    nan_result(result, 0);
    return;
  }
  multiply(&product, a, b);
  if (!is_number(c)) {
    nan_result(result, !is_number(&product.value) && mode.nan_fma == HU_NAN_FMA_INVALID);
    return;
  }
  if (!is_number(&product.value)) {
    nan_result(result, 1);
    return;
  }
  add(result, &product.value, c, mode);
}

/* ---- The smaller and the larger one. */

/* Is a below b? Both numbers; -0 is below +0. */
static int below(const exact *a, const exact *b) {
  if (a->negative != b->negative) return a->negative;
  int greater = b->kind == CODE_INFINITE   ? -(a->kind != CODE_INFINITE)
                : a->kind == CODE_INFINITE ? 1
                                           : mpfr_cmp(a->value, b->value);
  return a->negative ? greater > 0 : greater < 0;
}

static void extreme(exact_result *result, int operation, const exact *a, const exact *b) {
  int larger = operation == HU_ORACLE_MAXIMUM || operation == HU_ORACLE_MAXIMUM_NUMBER;
  int number = operation == HU_ORACLE_MINIMUM_NUMBER || operation == HU_ORACLE_MAXIMUM_NUMBER;
  if (is_number(a) && is_number(b))
    copy(&result->value, below(a, b) != larger ? a : b);
  else if (number && (is_number(a) || is_number(b)))
    copy(&result->value, is_number(a) ? a : b);
  else
    nan_result(result, 0);
}

/* ---- To an integer. */

static void integer(exact_result *result, const exact *x, hu_mode mode, uint32_t random, int *changed) {
  exact nu;
  copy(&result->value, x);
  *changed = 0;
  if (x->kind != CODE_FINITE || mpfr_integer_p(x->value)) return;
  exact_init(&nu, EXACT_SMALL);
  (void)mpfr_frac(nu.value, x->value, MPFR_RNDN);
  (void)mpfr_rint_trunc(result->value.value, x->value, MPFR_RNDN);
  int odd = (int)(mpfr_get_uj(result->value.value, MPFR_RNDN) & 1);
  if (round_takes_upper(mode, x->negative, &nu, odd, random))
    (void)mpfr_add_ui(result->value.value, result->value.value, 1, MPFR_RNDN);
  *changed = 1;
}

/* ---- The calls. */

static void operate(exact_result *result, int operation, hu_mode mode, const exact x[3]) {
  switch (operation) {
    case HU_ORACLE_ADD: add(result, &x[0], &x[1], mode); break;
    case HU_ORACLE_SUB: subtract(result, &x[0], &x[1], mode); break;
    case HU_ORACLE_MUL: multiply(result, &x[0], &x[1]); break;
    case HU_ORACLE_DIV: divide(result, &x[0], &x[1]); break;
    case HU_ORACLE_SQRT: root(result, &x[0]); break;
    case HU_ORACLE_FMA: fused(result, &x[0], &x[1], &x[2], mode); break;
    default: extreme(result, operation, &x[0], &x[1]); break;
  }
}

static int is_zero_code(const table *values, uint32_t code) {
  int negative;
  magnitude value = {0, 0};
  return table_read(values, code, &negative, &value) == CODE_FINITE && value.significand == 0;
}

static int operand_count(int operation) {
  if (operation == HU_ORACLE_FMA) return 3;
  return operation == HU_ORACLE_SQRT || operation == HU_ORACLE_ROUND_TO_INTEGRAL ? 1 : 2;
}

hu_status hu_oracle_arith(uint32_t *code, uint32_t *events, int operation, hu_format fz, hu_mode mode, uint32_t random,
                          const hu_oracle_code *x) {
  table tz, tx;
  exact operand[3];
  exact_result result;
  uint32_t set, in = 0;
  if (code == NULL || x == NULL) return HU_E_NULL;
  if (operation < 0 || operation >= HU_ORACLE_OPERATIONS) return HU_E_SHAPE;
  if (table_make(&tz, fz) != HU_OK) return HU_E_FORMAT;
  if (operation == HU_ORACLE_ROUND_TO_INTEGRAL && memcmp(&fz, &x[0].format, sizeof fz) != 0) return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  for (int i = 0; i < operand_count(operation); i++) {
    if (table_make(&tx, x[i].format) != HU_OK) {
      exact_leave(saved);
      return HU_E_FORMAT;
    }
    exact_from_code(&operand[i], &tx, x[i].code);
    if (operand[i].kind == CODE_NAN) in |= HU_EVENT_NAN_IN;
    if (operand[i].kind == CODE_INFINITE) in |= HU_EVENT_INF_IN;
  }
  result.raised = 0;
  int changed = 0;
  if (operation == HU_ORACLE_ROUND_TO_INTEGRAL)
    integer(&result, &operand[0], mode, random, &changed);
  else
    operate(&result, operation, mode, operand);
  round_exact(&tz, mode, &result.value, random, code, &set);
  set &= ~(uint32_t)(HU_EVENT_NAN_IN | HU_EVENT_INF_IN);
  set |= in | result.raised;
  if (changed) set |= HU_EVENT_INEXACT;
  if (changed && is_zero_code(&tz, *code)) set |= HU_EVENT_TO_ZERO;
  if (events != NULL) *events = set;
  exact_leave(saved);
  return HU_OK;
}
