/* SPDX-License-Identifier: MIT */
/* emu/oracle/oracle.c - the calls of halfulp/oracle.h for one operand. */
#include "halfulp/oracle.h"

#include <string.h>

#include "emu/oracle/round.h"

static void deliver(const table *values, hu_mode mode, const exact *x, uint32_t random, uint32_t *code,
                    uint32_t *events) {
  uint32_t set;
  round_exact(values, mode, x, random, code, &set);
  if (events != NULL) *events = set;
}

hu_status hu_oracle_encode64(uint32_t *code, uint32_t *events, hu_format format, hu_mode mode, double x,
                             uint32_t random) {
  table values;
  exact number;
  if (code == NULL) return HU_E_NULL;
  if (table_make(&values, format) != HU_OK) return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  exact_from_double(&number, x);
  deliver(&values, mode, &number, random, code, events);
  exact_leave(saved);
  return HU_OK;
}

hu_status hu_oracle_convert(uint32_t *code, uint32_t *events, hu_format fz, hu_mode mode, hu_format fx, uint32_t x,
                            uint32_t random) {
  table values, tx;
  exact number;
  if (code == NULL) return HU_E_NULL;
  if (table_make(&values, fz) != HU_OK || table_make(&tx, fx) != HU_OK) return HU_E_FORMAT;
  if (round_check_mode(mode) != HU_OK) return HU_E_MODE;
  exact_state saved = exact_enter();
  exact_from_code(&number, &tx, x);
  deliver(&values, mode, &number, random, code, events);
  exact_leave(saved);
  return HU_OK;
}

hu_status hu_oracle_decode64(double *z, hu_format format, uint32_t code) {
  table values;
  exact number;
  if (z == NULL) return HU_E_NULL;
  if (table_make(&values, format) != HU_OK) return HU_E_FORMAT;
  exact_state saved = exact_enter();
  exact_from_code(&number, &values, code);
  if (number.kind == CODE_NAN) {
    static const uint64_t quiet = UINT64_C(0x7FF8000000000000); /* a NaN made by arithmetic may be negative */
    memcpy(z, &quiet, sizeof *z);
  } else {
    if (number.kind == CODE_INFINITE) mpfr_set_inf(number.value, 1);
    (void)mpfr_setsign(number.value, number.value, number.negative, MPFR_RNDN);
    *z = mpfr_get_d(number.value, MPFR_RNDN); /* exact: table_make refuses formats beyond binary64 */
  }
  exact_leave(saved);
  return HU_OK;
}

/* Magnitude code for explanations: flushed subnormals keep theirs, a grid point without a code is 0. */
static uint32_t place_code(const table *values, uint64_t index) {
  if (values->format.zero != HU_ZERO_CODE) return (uint32_t)index;
  return table_grid_code(values, index);
}

static char place_mark(const table *values, const exact *x, const bracket *b) {
  magnitude lower = table_grid(values, b->lower), upper = table_grid(values, b->upper);
  /* Both candidates without a code (zero = code): zero in every mode. */
  if (values->format.zero == HU_ZERO_CODE && table_grid_code(values, b->upper) == 0) return 'f';
  if (exact_compare(x, lower) == 0)
    return values->format.zero == HU_ZERO_CODE && table_grid_code(values, b->lower) == 0 ? 'f' : '=';
  /* 2|x| against lower + upper, on the lower one's unit, or the upper one's where that is smaller */
  exact twice, sum, up;
  exact_init(&twice, mpfr_get_prec(x->value));
  exact_init(&sum, EXACT_SMALL);
  exact_init(&up, EXACT_SMALL);
  (void)mpfr_mul_2ui(twice.value, x->value, 1, MPFR_RNDN);
  (void)mpfr_set_ui_2exp(sum.value, lower.significand, lower.exponent, MPFR_RNDN);
  (void)mpfr_set_ui_2exp(up.value, upper.significand, upper.exponent, MPFR_RNDN);
  (void)mpfr_add(sum.value, sum.value, up.value, MPFR_RNDN);
  int side = mpfr_cmp(twice.value, sum.value);
  return side < 0 ? '<' : side == 0 ? 'h' : '>';
}

hu_status hu_oracle_place(hu_place *place, hu_format format, double x) {
  table values;
  exact number;
  if (place == NULL) return HU_E_NULL;
  if (table_make(&values, format) != HU_OK) return HU_E_FORMAT;
  exact_state saved = exact_enter();
  exact_from_double(&number, x);
  hu_status status = HU_E_SHAPE; /* not finite */
  if (number.kind == CODE_FINITE) {
    bracket b = {WHERE_GRID, 0, 0};
    hu_place found = {0, 'u'};
    if (!mpfr_zero_p(number.value)) b = round_bracket(&values, &number);
    if (mpfr_zero_p(number.value))
      found.where = values.format.zero == HU_ZERO_NONE ? 'u' : '=';
    else if (b.where == WHERE_BEYOND) {
      found.below = values.max_code;
      found.where = 'o';
    } else if (b.where == WHERE_GRID) {
      found.below = place_code(&values, b.lower);
      found.where = place_mark(&values, &number, &b);
    }
    *place = found;
    status = HU_OK;
  }
  exact_leave(saved);
  return status;
}
