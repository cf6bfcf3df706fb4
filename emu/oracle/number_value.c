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
  table t;
  int good = 0, w = n.width;
  switch (n.kind) {
    case HU_NUMBER_FLOAT: return table_make(&t, n.format);
    case HU_NUMBER_POSIT: good = w >= 2 && w <= 32 && n.es <= 5 && (w - 2) * (1 << n.es) <= 1022; break;
    case HU_NUMBER_LNS:
      good = w >= 3 && w <= 32 && n.fraction <= w - 2 && n.coding <= HU_LNS_UNSIGNED &&
             w - n.fraction <= (n.coding == HU_LNS_UNSIGNED ? 10 : 11);
      break;
    case HU_NUMBER_FIXED:
      good = n.sign <= 1 && w >= 1 + n.sign && w <= 32 && n.fraction <= w - n.sign && n.overflow <= HU_FIXED_WRAP;
      break;
    case HU_NUMBER_TABLE: good = valid_table(n); break;
    default: break;
  }
  return good ? HU_OK : HU_E_NUMBER;
}

unsigned number_width(hu_number n) {
  unsigned w = 1;
  if (n.kind == HU_NUMBER_FLOAT) return (unsigned)n.format.sign + n.format.e + n.format.m;
  if (n.kind != HU_NUMBER_TABLE) return n.width;
  while (low_bits(w) + 1 < n.count) w++;
  return w;
}

/* |significand| 2^exponent. */
static void set_scaled(exact *x, uint64_t significand, long exponent) {
  (void)mpfr_set_uj_2exp(x->value, significand, exponent, MPFR_RNDN);
}

/* The bits of a positive code one after the other, as the standard reads them. */
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

static void lns_value(quantity *q, hu_number n, uint32_t c) {
  uint32_t field = c & low_bits(n.width - 1u);
  long span = 1L << (n.width - 1);
  mpfr_t logarithm;
  q->x.negative = (int)(c >> (n.width - 1));
  if (lns_special(n, field)) {
    if (q->x.negative) q->x.kind = CODE_NAN;
    q->x.negative = 0;
    return;
  }
  q->j = (long)field;
  if (n.coding == HU_LNS_TWOS && q->j >= span / 2) q->j -= span;
  if (n.coding == HU_LNS_OFFSET) q->j -= span / 2;
  q->g = n.fraction;
  q->power = 1;
  mpfr_init2(logarithm, 64);
  (void)mpfr_set_si_2exp(logarithm, q->j, -(long)q->g, MPFR_RNDN);
  (void)mpfr_exp2(q->x.value, logarithm, MPFR_RNDN);
  mpfr_clear(logarithm);
}

static void fixed_value(exact *x, hu_number n, uint32_t c) {
  int64_t value = c;
  if (n.sign && c >> (n.width - 1)) value -= INT64_C(1) << n.width;
  x->negative = value < 0;
  set_scaled(x, (uint64_t)(value < 0 ? -value : value), -(long)n.fraction);
}

void number_value(quantity *q, hu_number n, uint32_t code) {
  table t;
  uint32_t c = code & low_bits(number_width(n));
  memset(q, 0, sizeof *q);
  exact_init(&q->x, NUMBER_DIGITS);
  switch (n.kind) {
    case HU_NUMBER_FLOAT:
      (void)table_make(&t, n.format);
      exact_from_code(&q->x, &t, code);
      break;
    case HU_NUMBER_POSIT:
      if (c == UINT32_C(1) << (n.width - 1)) {
        q->x.kind = CODE_NAN;
      } else if (c != 0) {
        q->x.negative = (int)(c >> (n.width - 1));
        posit_value(&q->x, n, q->x.negative ? (0 - c) & low_bits(n.width) : c);
      }
      break;
    case HU_NUMBER_LNS: lns_value(q, n, c); break;
    case HU_NUMBER_FIXED: fixed_value(&q->x, n, c); break;
    default:
      if (c < n.count) {
        exact_from_double(&q->x, (double)n.table[c]);
      } else {
        q->x.kind = CODE_NAN;
      }
  }
}
