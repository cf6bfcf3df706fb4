/* SPDX-License-Identifier: MIT */
/* emu/oracle/exact.c - see exact.h. */
#include "emu/oracle/exact.h"

exact_state exact_enter(void) {
  exact_state saved = {mpfr_get_emin(), mpfr_get_emax(), mpfr_flags_save()};
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return saved;
}

void exact_leave(exact_state saved) {
  mpfr_set_emin(saved.emin);
  mpfr_set_emax(saved.emax);
  mpfr_flags_restore(saved.flags, MPFR_FLAGS_ALL);
}

void exact_init(exact *x, mpfr_prec_t precision) {
  x->kind = CODE_FINITE;
  x->negative = 0;
  mpfr_custom_init(x->limbs, precision);
  mpfr_custom_init_set(x->value, MPFR_ZERO_KIND, 0, precision, x->limbs);
}

void exact_from_double(exact *x, double value) {
  exact_init(x, EXACT_SMALL);
  (void)mpfr_set_d(x->value, value, MPFR_RNDN); /* 53 bits: exact */
  if (mpfr_nan_p(x->value)) {
    x->kind = CODE_NAN;
    return;
  }
  x->negative = mpfr_signbit(x->value) != 0;
  if (mpfr_inf_p(x->value)) x->kind = CODE_INFINITE;
  (void)mpfr_setsign(x->value, x->value, 0, MPFR_RNDN);
}

void exact_from_code(exact *x, const table *values, uint32_t code) {
  magnitude value = {0, 0};
  exact_init(x, EXACT_SMALL);
  x->kind = table_read(values, code, &x->negative, &value);
  if (x->kind == CODE_NAN) x->negative = 0;
  if (x->kind == CODE_FINITE) (void)mpfr_set_ui_2exp(x->value, value.significand, value.exponent, MPFR_RNDN);
}

int exact_compare(const exact *x, magnitude value) {
  return mpfr_cmp_ui_2exp(x->value, value.significand, value.exponent);
}
