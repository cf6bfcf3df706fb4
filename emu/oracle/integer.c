/* SPDX-License-Identifier: MIT */
/* emu/oracle/integer.c - remainder, conversions to and from integers of docs/numerics.md section 10, by MPFR. */
#include "halfulp/oracle.h"

#include "emu/oracle/round.h"

enum { RULE_RISCV, RULE_ARM, RULE_X86 }; /* halfulp/arith.h, HU_INTEGER_ */

static uint32_t operand_events(const exact *x) {
  return x->kind == CODE_NAN ? HU_EVENT_NAN_IN : x->kind == CODE_INFINITE ? HU_EVENT_INF_IN : 0u;
}

/* ---- Remainder. */

/* Into rest, of |x| and |y|; sets *invalid. mpfr_remainder's result has at most y's digits, or x's: exact. */
static void remainder_of(exact *rest, const exact *x, const exact *y, int *invalid) {
  exact_init(rest, EXACT_SMALL);
  *invalid = 0;
  if (x->kind == CODE_NAN || y->kind == CODE_NAN) {
    rest->kind = CODE_NAN;
  } else if (x->kind == CODE_INFINITE || (y->kind == CODE_FINITE && mpfr_zero_p(y->value))) {
    rest->kind = CODE_NAN;
    *invalid = 1;
  } else {
    int ternary = 0;
    if (y->kind == CODE_INFINITE)
      (void)mpfr_set(rest->value, x->value, MPFR_RNDN);
    else
      ternary = mpfr_remainder(rest->value, x->value, y->value, MPFR_RNDN);
    if (ternary != 0) rest->kind = CODE_NAN; /* never */
    int flipped = !mpfr_zero_p(rest->value) && mpfr_signbit(rest->value) != 0;
    rest->negative = flipped ? !x->negative : x->negative;
    (void)mpfr_setsign(rest->value, rest->value, 0, MPFR_RNDN);
  }
}

hu_status hu_oracle_remainder(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode, uint32_t random,
                              const hu_oracle_code *x) {
  table tz, tx, ty;
  exact a, b, rest;
  uint32_t set;
  int invalid;
  if (code == NULL || x == NULL) return HU_E_NULL;
  if (table_make(&tz, fz) != HU_OK || table_make(&tx, x[0].format) != HU_OK || table_make(&ty, x[1].format) != HU_OK)
    return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  exact_from_code(&a, &tx, x[0].code);
  exact_from_code(&b, &ty, x[1].code);
  remainder_of(&rest, &a, &b, &invalid);
  round_exact(&tz, mode, &rest, random, code, &set);
  set &= ~(uint32_t)(HU_EVENT_NAN_IN | HU_EVENT_INF_IN);
  set |= operand_events(&a) | operand_events(&b) | (invalid ? (uint32_t)HU_EVENT_INVALID : 0u);
  if (events != NULL) *events = set;
  exact_leave(saved);
  return HU_OK;
}

/* ---- To an integer. */

/* |x| rounded to an integer; 1 if that is not |x|. */
static int rounded(exact *z, const exact *x, hu_mode mode, uint32_t random) {
  exact nu;
  exact_init(z, EXACT_SMALL);
  (void)mpfr_rint_trunc(z->value, x->value, MPFR_RNDN);
  if (mpfr_integer_p(x->value)) return 0;
  exact_init(&nu, EXACT_SMALL);
  (void)mpfr_frac(nu.value, x->value, MPFR_RNDN);
  int odd = (int)(mpfr_get_uj(z->value, MPFR_RNDN) & 1);
  if (round_takes_upper(mode, x->negative, &nu, odd, random)) (void)mpfr_add_ui(z->value, z->value, 1, MPFR_RNDN);
  return 1;
}

/* Is (-1)^negative z of the type? By powers of two. */
static int of_type(const exact *z, int negative, unsigned width, int is_signed) {
  unsigned digits = width - (is_signed != 0);
  if (mpfr_zero_p(z->value)) return 1;
  if (!negative) return mpfr_cmp_ui_2exp(z->value, 1, (mpfr_exp_t)digits) < 0;
  return is_signed && mpfr_cmp_ui_2exp(z->value, 1, (mpfr_exp_t)digits) <= 0;
}

static uint64_t lowest(unsigned width, int is_signed) {
  return is_signed ? (uint64_t)0 - ((uint64_t)1 << (width - 1)) : 0;
}

static uint64_t highest(unsigned width, int is_signed) {
  unsigned digits = width - (is_signed != 0);
  return digits == 64 ? UINT64_MAX : ((uint64_t)1 << digits) - 1;
}

static uint64_t by_rule(const exact *x, unsigned width, int is_signed, int rule) {
  if (rule == RULE_X86) return is_signed ? lowest(width, 1) : highest(width, 0);
  if (x->kind == CODE_NAN) return rule == RULE_ARM ? 0 : highest(width, is_signed);
  return x->negative ? lowest(width, is_signed) : highest(width, is_signed);
}

hu_status hu_oracle_to_integer(uint64_t *z, uint32_t *events, unsigned width, int is_signed, int rule, int exactly,
                               hu_mode mode, uint32_t random, hu_oracle_code x) {
  table values;
  exact from, to;
  if (z == NULL) return HU_E_NULL;
  if (width < 1 || width > 64 || rule < RULE_RISCV || rule > RULE_X86) return HU_E_SHAPE;
  if (table_make(&values, x.format) != HU_OK) return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  exact_from_code(&from, &values, x.code);
  uint32_t set = operand_events(&from);
  int changed = from.kind == CODE_FINITE && rounded(&to, &from, mode, random);
  if (from.kind != CODE_FINITE || !of_type(&to, from.negative, width, is_signed)) {
    set |= HU_EVENT_INVALID;
    *z = by_rule(&from, width, is_signed, rule);
  } else {
    *z = mpfr_get_uj(to.value, MPFR_RNDN);
    if (changed && *z == 0) set |= HU_EVENT_TO_ZERO;
    if (changed && exactly) set |= HU_EVENT_INEXACT;
    if (from.negative) *z = 0 - *z;
  }
  if (events != NULL) *events = set;
  exact_leave(saved);
  return HU_OK;
}

/* ---- From an integer. */

hu_status hu_oracle_from_integer(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode, int is_signed,
                                 uint64_t x, uint32_t random) {
  table values;
  exact from;
  uint32_t set;
  if (code == NULL) return HU_E_NULL;
  if (table_make(&values, fz) != HU_OK) return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  exact_init(&from, EXACT_SMALL);
  from.negative = is_signed && x >> 63;
  (void)mpfr_set_uj(from.value, from.negative ? 0 - x : x, MPFR_RNDN);
  round_exact(&values, mode, &from, random, code, &set);
  if (events != NULL) *events = set;
  exact_leave(saved);
  return HU_OK;
}
