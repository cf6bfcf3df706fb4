/* SPDX-License-Identifier: MIT */
/* emu/oracle/number_value.c - which number systems there are, and what their codes stand for (docs/numbers.md N.1). */
#include <math.h>
#include <string.h>

#include "emu/oracle/number.h"

static uint32_t low_bits(unsigned n) { return (uint32_t)((UINT64_C(1) << n) - 1); }

static int valid_table(hu_number n) {
  int finite = 0;
  if (n.count == 0 || n.count > HU_TABLE_MAX || n.table == NULL || n.ties > HU_TIES_GIVEN) return 0;
  if (n.ties == HU_TIES_GIVEN && n.count > HU_TABLE_MAX / 2) return 0;
  for (int i = 0; i < n.count; i++) {
    if (isinf(n.table[i])) return 0;
    finite |= !isnan(n.table[i]);
  }
  return finite;
}

hu_status number_valid(hu_number n) {
  table values;
  int good = 0, width = n.width;
  switch (n.kind) {
    case HU_NUMBER_FLOAT: return table_make(&values, n.format);
    case HU_NUMBER_POSIT: good = width >= 2 && width <= 32 && n.es <= 5 && (width - 2) * (1 << n.es) <= 1022; break;
    case HU_NUMBER_LNS:
      good = width >= 3 && width <= 32 && n.fraction <= width - 2 && n.coding <= HU_LNS_UNSIGNED &&
             width - n.fraction <= (n.coding == HU_LNS_UNSIGNED ? 10 : 11);
      break;
    case HU_NUMBER_FIXED:
      good = n.sign <= 1 && width >= 1 + n.sign && width <= 32 && n.fraction <= width - n.sign &&
             n.overflow <= HU_FIXED_WRAP;
      break;
    case HU_NUMBER_TABLE: good = valid_table(n); break;
    default: break;
  }
  return good ? HU_OK : HU_E_NUMBER;
}

unsigned number_width(hu_number n) {
  unsigned width = 1;
  if (n.kind == HU_NUMBER_FLOAT) return (unsigned)n.format.sign + n.format.e + n.format.m;
  if (n.kind != HU_NUMBER_TABLE) return n.width;
  while (low_bits(width) + 1 < n.count) width++;
  return width;
}

/* Makes |significand| 2^exponent. */
static void set_scaled(exact *x, uint64_t significand, long exponent) {
  (void)mpfr_set_uj_2exp(x->value, significand, exponent, MPFR_RNDN);
}

/* Reads the bits of a positive code one after the other, as the standard does. */
static void posit_value(exact *x, hu_number n, uint32_t c) {
  int at = n.width - 2, run = 0, first = (int)(c >> at & 1);
  while (at >= 0 && (int)(c >> at & 1) == first) at--, run++;
  at--; /* the bit that ends the run */
  long exponent = (first ? run - 1 : -run) * (1L << n.es);
  for (int i = n.es - 1; i >= 0; i--, at--) exponent += at >= 0 ? (long)(c >> at & 1) << i : 0;
  uint64_t significand = 1;
  for (; at >= 0; at--, exponent--) significand = significand * 2 + (c >> at & 1);
  set_scaled(x, significand, exponent);
}

static int lns_special(hu_number n, uint32_t field) {
  if (n.coding == HU_LNS_TWOS) return field == UINT32_C(1) << (n.width - 2);
  return n.coding == HU_LNS_OFFSET && field == 0;
}

static void lns_value(quantity *real, hu_number n, uint32_t c) {
  uint32_t field = c & low_bits(n.width - 1u);
  long span = 1L << (n.width - 1);
  mpfr_t logarithm;
  real->x.negative = (int)(c >> (n.width - 1));
  if (lns_special(n, field)) {
    if (real->x.negative) real->x.kind = CODE_NAN;
    real->x.negative = 0;
    return;
  }
  real->j = (long)field;
  if (n.coding == HU_LNS_TWOS && real->j >= span / 2) real->j -= span;
  if (n.coding == HU_LNS_OFFSET) real->j -= span / 2;
  real->fraction = n.fraction;
  real->power = 1;
  mpfr_init2(logarithm, 64);
  (void)mpfr_set_si_2exp(logarithm, real->j, -(long)real->fraction, MPFR_RNDN);
  (void)mpfr_exp2(real->x.value, logarithm, MPFR_RNDN);
  mpfr_clear(logarithm);
}

static void fixed_value(exact *x, hu_number n, uint32_t c) {
  int64_t value = c;
  if (n.sign && c >> (n.width - 1)) value -= INT64_C(1) << n.width;
  x->negative = value < 0;
  set_scaled(x, (uint64_t)(value < 0 ? -value : value), -(long)n.fraction);
}

void number_value(quantity *real, hu_number n, uint32_t code) {
  table values;
  uint32_t c = code & low_bits(number_width(n));
  memset(real, 0, sizeof *real);
  exact_init(&real->x, NUMBER_DIGITS);
  switch (n.kind) {
    case HU_NUMBER_FLOAT:
      (void)table_make(&values, n.format);
      exact_from_code(&real->x, &values, code);
      break;
    case HU_NUMBER_POSIT:
      if (c == UINT32_C(1) << (n.width - 1)) {
        real->x.kind = CODE_NAN;
      } else if (c != 0) {
        real->x.negative = (int)(c >> (n.width - 1));
        posit_value(&real->x, n, real->x.negative ? (0 - c) & low_bits(n.width) : c);
      }
      break;
    case HU_NUMBER_LNS: lns_value(real, n, c); break;
    case HU_NUMBER_FIXED: fixed_value(&real->x, n, c); break;
    default:
      if (c < n.count) {
        exact_from_double(&real->x, (double)n.table[c]);
      } else {
        real->x.kind = CODE_NAN;
      }
  }
}
