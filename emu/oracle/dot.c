/* SPDX-License-Identifier: MIT */
/* emu/oracle/dot.c - the two sums of products of halfulp/oracle.h (emu/core/accum.h: exact, fp32; gemm.h: special
 * operands). */
#include "halfulp/oracle.h"

#include "emu/oracle/round.h"

typedef struct dot_tables {
  table z, a, b, c;
} dot_tables;

static int is_wide(hu_format format, size_t n, const uint32_t *x) {
  uint64_t codes = UINT64_C(1) << (format.sign + format.e + format.m);
  for (size_t i = 0; i < n; i++) {
    if (x[i] >= codes) return 1;
  }
  return 0;
}

static hu_status check(dot_tables *tables, hu_format fz, hu_mode mode, const hu_oracle_terms *x, const uint32_t *code) {
  if (code == NULL || x == NULL || (x->n > 0 && (x->a == NULL || x->b == NULL))) return HU_E_NULL;
  if (table_make(&tables->z, fz) != HU_OK || table_make(&tables->a, x->fa) != HU_OK ||
      table_make(&tables->b, x->fb) != HU_OK)
    return HU_E_FORMAT;
  if (x->c != NULL && table_make(&tables->c, x->c->format) != HU_OK) return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  if (x->c != NULL && is_wide(x->c->format, 1, &x->c->code)) return HU_E_CODE;
  return is_wide(x->fa, x->n, x->a) || is_wide(x->fb, x->n, x->b) ? HU_E_CODE : HU_OK;
}

/* The one rounding of a sum. A NaN that no operand brought is invalid, not nan_in; one that an operand brought is
 * invalid besides, if the mode says so and `product`: some product is infinity times zero. */
static void deliver(const table *values, hu_mode mode, const exact *sum, int nan_operand, int product, uint32_t random,
                    uint32_t *code, uint32_t *events) {
  uint32_t set;
  round_exact(values, mode, sum, random, code, &set);
  if (sum->kind == CODE_NAN && !nan_operand) set = (set & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  if (sum->kind == CODE_NAN && product && mode.nan_fma == HU_NAN_FMA_INVALID) set |= HU_EVENT_INVALID;
  if (events != NULL) *events = set;
}

/* ---- Exact. */

typedef struct sum_terms {
  int nan_operand, invalid;          /* a NaN among the operands; infinity times zero */
  int plus_inf, minus_inf;           /* infinite terms of each sign */
  int all_minus_zero, all_plus_zero; /* of every term so far */
  exact sum;                         /* of the finite terms, with its sign in the MPFR number */
} sum_terms;

static void note_zero(sum_terms *terms, int is_zero, int negative) {
  if (!is_zero || !negative) terms->all_minus_zero = 0;
  if (!is_zero || negative) terms->all_plus_zero = 0;
}

static void note_infinity(sum_terms *terms, int negative) {
  if (negative)
    terms->minus_inf = 1;
  else
    terms->plus_inf = 1;
  note_zero(terms, 0, 0);
}

static void add_value(sum_terms *terms, const exact *x) {
  if (x->kind == CODE_NAN)
    terms->nan_operand = 1;
  else if (x->kind == CODE_INFINITE)
    note_infinity(terms, x->negative);
  else {
    note_zero(terms, mpfr_zero_p(x->value), x->negative);
    if (x->negative)
      (void)mpfr_sub(terms->sum.value, terms->sum.value, x->value, MPFR_RNDN);
    else
      (void)mpfr_add(terms->sum.value, terms->sum.value, x->value, MPFR_RNDN);
  }
}

static void add_product(sum_terms *terms, const exact *a, const exact *b) {
  exact product;
  if (a->kind == CODE_NAN || b->kind == CODE_NAN) {
    terms->nan_operand = 1;
    return; /* no infinity times zero: one of the two is neither */
  }
  int infinite = a->kind == CODE_INFINITE || b->kind == CODE_INFINITE;
  int zero = (a->kind == CODE_FINITE && mpfr_zero_p(a->value)) || (b->kind == CODE_FINITE && mpfr_zero_p(b->value));
  if (infinite && zero) {
    terms->invalid = 1;
    return;
  }
  exact_init(&product, 2 * EXACT_SMALL);
  product.negative = a->negative != b->negative;
  if (infinite)
    product.kind = CODE_INFINITE;
  else
    (void)mpfr_mul(product.value, a->value, b->value, MPFR_RNDN);
  add_value(terms, &product);
}

/* Makes one number from the terms: kind, sign, magnitude. */
static void conclude(sum_terms *terms, hu_mode mode) {
  exact *sum = &terms->sum;
  if (terms->nan_operand || terms->invalid || (terms->plus_inf && terms->minus_inf)) {
    sum->kind = CODE_NAN;
    return;
  }
  if (terms->plus_inf || terms->minus_inf) {
    sum->kind = CODE_INFINITE;
    sum->negative = terms->minus_inf;
    return;
  }
  if (mpfr_zero_p(sum->value))
    sum->negative = terms->all_minus_zero || (mode.round == HU_RTN && !terms->all_plus_zero);
  else
    sum->negative = mpfr_signbit(sum->value) != 0;
  (void)mpfr_setsign(sum->value, sum->value, 0, MPFR_RNDN);
}

hu_status hu_oracle_dot(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode, uint32_t random,
                        const hu_oracle_terms *given) {
  dot_tables tables;
  hu_status status = check(&tables, fz, mode, given, code);
  if (status != HU_OK) return status;
  exact_state saved = exact_enter();
  sum_terms terms = {.all_minus_zero = 1, .all_plus_zero = 1};
  exact x, y;
  exact_init(&terms.sum, EXACT_SUM);
  if (given->c != NULL)
    exact_from_code(&x, &tables.c, given->c->code);
  else
    exact_init(&x, EXACT_SMALL); /* absent: +0 */
  add_value(&terms, &x);
  for (size_t i = 0; i < given->n; i++) {
    exact_from_code(&x, &tables.a, given->a[i]);
    exact_from_code(&y, &tables.b, given->b[i]);
    add_product(&terms, &x, &y);
  }
  conclude(&terms, mode);
  deliver(&tables.z, mode, &terms.sum, terms.nan_operand, terms.invalid, random, code, events);
  exact_leave(saved);
  return HU_OK;
}

/* ---- binary32. */

/* MPFR's significands lie in [1/2, 1), so its exponents are one more than IEEE 754's: the smallest subnormal 2^-149 has
 * exponent -148, the largest binade exponent 128. */
enum { FP32_PRECISION = 24, FP32_EMIN = -148, FP32_EMAX = 128 };

/* Reads an operand with its sign as MPFR number; returns 1 for a NaN. */
static int fp32_operand(exact *x, const table *values, uint32_t code) {
  exact_from_code(x, values, code);
  if (x->kind == CODE_NAN)
    mpfr_set_nan(x->value);
  else if (x->kind == CODE_INFINITE)
    mpfr_set_inf(x->value, 1);
  (void)mpfr_setsign(x->value, x->value, x->negative, MPFR_RNDN);
  return x->kind == CODE_NAN;
}

static int infinity_times_zero(const exact *x, const exact *y) {
  return (mpfr_inf_p(x->value) && mpfr_zero_p(y->value)) || (mpfr_zero_p(x->value) && mpfr_inf_p(y->value));
}

/* Takes the kind and the sign out of the MPFR number again. */
static void fp32_conclude(exact *acc) {
  acc->kind = mpfr_nan_p(acc->value) ? CODE_NAN : mpfr_inf_p(acc->value) ? CODE_INFINITE : CODE_FINITE;
  acc->negative = acc->kind != CODE_NAN && mpfr_signbit(acc->value) != 0;
  (void)mpfr_setsign(acc->value, acc->value, 0, MPFR_RNDN);
}

hu_status hu_oracle_dot_fp32(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode, uint32_t random,
                             const hu_oracle_terms *given) {
  dot_tables tables;
  hu_status status = check(&tables, fz, mode, given, code);
  if (status != HU_OK) return status;
  if (!table_fits_binary32(&tables.a) || !table_fits_binary32(&tables.b) ||
      (given->c != NULL && !table_fits_binary32(&tables.c)))
    return HU_E_CARRIER;
  exact_state saved = exact_enter();
  exact acc, x, y;
  int nan_operand = 0, product = 0;
  exact_init(&acc, FP32_PRECISION);
  if (given->c != NULL) {
    nan_operand = fp32_operand(&x, &tables.c, given->c->code);
    (void)mpfr_set(acc.value, x.value, MPFR_RNDN); /* fits binary32: exact */
  }
  mpfr_set_emin(FP32_EMIN);
  mpfr_set_emax(FP32_EMAX);
  for (size_t i = 0; i < given->n; i++) {
    nan_operand |= fp32_operand(&x, &tables.a, given->a[i]);
    nan_operand |= fp32_operand(&y, &tables.b, given->b[i]);
    product |= infinity_times_zero(&x, &y);
    /* mpfr_subnormalize needs the ternary value to undo the first rounding where the result has fewer than 24 bits:
     * together they are one rounding. */
    int ternary = mpfr_fma(acc.value, x.value, y.value, acc.value, MPFR_RNDN);
    (void)mpfr_subnormalize(acc.value, ternary, MPFR_RNDN);
  }
  fp32_conclude(&acc);
  /* The last rounding is exact arithmetic again. */
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  deliver(&tables.z, mode, &acc, nan_operand, product, random, code, events);
  exact_leave(saved);
  return HU_OK;
}
