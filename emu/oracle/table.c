/* SPDX-License-Identifier: MIT */
/* emu/oracle/table.c - see table.h. */
#include "emu/oracle/table.h"

static uint32_t low_bits(unsigned n) { return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1; }

/* Each axis within its own values. */
static int axes_in_range(hu_format f) {
  return f.sign <= 1 && f.e <= 11 && f.m <= 30 && f.zero <= HU_ZERO_NONE && f.subnormal <= HU_SUBNORMAL_FLUSH &&
         f.inf <= HU_INF_TOP && f.nan <= HU_NAN_TOP && f.negzero <= 1 && f.overflow <= HU_OVERFLOW_MAX &&
         f.negative <= HU_NEGATIVE_STOP && f.sign + f.e + f.m >= 1 && f.sign + f.e + f.m <= 32;
}

/* The list of conditions of section 1, in its order. */
static int axes_agree(hu_format f) {
  int nan_ieee = f.nan == HU_NAN_IEEE || f.nan == HU_NAN_IEEE_ONES;
  if (f.zero == HU_ZERO_CODE && f.subnormal != HU_SUBNORMAL_FLUSH) return 0;
  if (f.zero == HU_ZERO_NONE && (f.sign || f.subnormal != HU_SUBNORMAL_NONE)) return 0;
  if (f.e == 0 && (f.zero != HU_ZERO_FIELD || f.subnormal != HU_SUBNORMAL_GRADUAL || f.inf == HU_INF_IEEE || nan_ieee))
    return 0;
  if (f.inf == HU_INF_IEEE && f.m > 0 && !nan_ieee) return 0;
  if (f.inf == HU_INF_IEEE && f.m == 0 && f.nan != HU_NAN_NONE && f.nan != HU_NAN_NEGZERO) return 0;
  if (f.inf == HU_INF_TOP && f.nan != HU_NAN_NONE && f.nan != HU_NAN_NEGZERO && f.nan != HU_NAN_TOP) return 0;
  if ((f.nan == HU_NAN_ONES || f.nan == HU_NAN_NEGZERO) && !f.sign) return 0;
  if (f.nan == HU_NAN_TOP && f.sign) return 0;
  if (f.nan == HU_NAN_NEGZERO && f.negzero) return 0;
  if (f.negzero && (!f.sign || f.zero == HU_ZERO_NONE)) return 0;
  if (f.overflow == HU_OVERFLOW_INF && f.inf == HU_INF_NONE) return 0;
  if (f.overflow == HU_OVERFLOW_NAN && f.nan == HU_NAN_NONE) return 0;
  return !(f.sign && f.negative);
}

/* (significand field, exponent) of the codes of a grid whose field 0 holds subnormals, with the given emin. */
static magnitude gradual(const table *t, uint64_t index, int emin) {
  unsigned m = t->f.m;
  uint64_t field = index >> m;
  uint32_t trailing = (uint32_t)index & low_bits(m);
  magnitude v = {trailing, emin - (int)m};
  if (field > 0) {
    v.significand = low_bits(m) + 1 + trailing;
    v.exponent += (int)field - 1;
  }
  return v;
}

/* Value of a finite magnitude code that is in use. */
static magnitude code_value(const table *t, uint32_t code) {
  if (t->f.zero == HU_ZERO_FIELD) {
    int unused = t->f.subnormal != HU_SUBNORMAL_GRADUAL && code >> t->f.m == 0;
    return gradual(t, unused ? 0 : code, t->emin);
  }
  if (t->f.zero == HU_ZERO_CODE && code == 0) return gradual(t, 0, t->emin);
  return gradual(t, (uint64_t)code + low_bits(t->f.m) + 1, t->emin); /* every field normal: one binade further down */
}

static unsigned bit_length(uint32_t u) { return u ? 32 - (unsigned)__builtin_clz(u) : 0; }

/* Extremes of the codes' values: lowest bit in use, exponent of max, longest significand. The lowest binade shows its
 * lowest bit in one of its first two codes, and a whole significand is in use at max or just below it. */
static void extremes(const table *t, int *lowest_bit, int *highest, unsigned *longest) {
  uint64_t codes[4] = {t->min_code, (uint64_t)t->min_code + 1, (uint64_t)t->max_code - 1, t->max_code};
  *lowest_bit = INT16_MAX;
  *highest = -INT16_MAX;
  *longest = 0;
  for (int i = 0; i < 4; i++) {
    if (codes[i] < t->min_code || codes[i] > t->max_code) continue; /* (max_code - 1 may be below min_code, or wrap) */
    magnitude v = code_value(t, (uint32_t)codes[i]);
    int top = v.exponent + (int)bit_length(v.significand) - 1;
    int zeros = __builtin_ctz(v.significand);
    v.significand >>= zeros;
    v.exponent += zeros;
    if (v.exponent < *lowest_bit) *lowest_bit = v.exponent;
    if (top > *highest) *highest = top;
    if (bit_length(v.significand) > *longest) *longest = bit_length(v.significand);
  }
}

/* The special codes and, below them, max: the largest magnitude code that is neither infinity nor NaN. */
static int64_t place_specials(table *t) {
  hu_format f = t->f;
  uint32_t top_field = low_bits(f.e) << f.m; /* exponent field all ones, trailing bits zero */
  int64_t top = t->magnitude_mask;
  if (f.inf == HU_INF_IEEE || f.nan == HU_NAN_IEEE || f.nan == HU_NAN_IEEE_ONES) top = (int64_t)top_field - 1;
  if (f.nan == HU_NAN_ONES || f.nan == HU_NAN_TOP) top--;
  if (f.inf == HU_INF_TOP) t->inf_code = (uint64_t)top--;
  if (f.inf == HU_INF_IEEE) t->inf_code = top_field;
  switch (f.nan) {
    case HU_NAN_IEEE: t->nan_code = top_field | (f.m ? UINT32_C(1) << (f.m - 1) : 0); break;
    case HU_NAN_IEEE_ONES: /* all ones below the sign */
    case HU_NAN_ONES:
    case HU_NAN_TOP: t->nan_code = t->magnitude_mask; break;
    case HU_NAN_NEGZERO: t->nan_code = t->sign_mask; break;
    default: break;
  }
  return top;
}

hu_status table_make(table *t, hu_format f) {
  if (!axes_in_range(f) || !axes_agree(f)) return HU_E_FORMAT;
  t->f = f;
  t->width = (unsigned)f.sign + f.e + f.m;
  t->code_mask = low_bits(t->width);
  t->magnitude_mask = low_bits((unsigned)f.e + f.m);
  t->sign_mask = f.sign ? t->magnitude_mask + 1 : 0;
  t->bias = f.e ? (1 << (f.e - 1)) - 1 + f.b : f.b;
  t->emin = f.zero == HU_ZERO_FIELD ? 1 - t->bias : -t->bias;
  t->inf_code = TABLE_NO_CODE;
  t->nan_code = TABLE_NO_CODE;
  int64_t top = place_specials(t);
  if (f.zero == HU_ZERO_NONE)
    t->min_code = 0;
  else
    t->min_code = f.zero == HU_ZERO_FIELD && f.subnormal != HU_SUBNORMAL_GRADUAL ? low_bits(f.m) + 1 : 1;
  if (top < (int64_t)t->min_code) return HU_E_FORMAT; /* no positive finite value */
  t->max_code = (uint32_t)top;
  t->max_index = f.zero == HU_ZERO_CODE ? (uint64_t)t->max_code + low_bits(f.m) + 1 : t->max_code;
  int lowest_bit, highest;
  unsigned longest;
  extremes(t, &lowest_bit, &highest, &longest);
  return lowest_bit >= -1074 && highest <= 1023 ? HU_OK : HU_E_FORMAT;
}

int table_fits_binary32(const table *t) {
  int lowest_bit, highest;
  unsigned longest;
  extremes(t, &lowest_bit, &highest, &longest);
  return lowest_bit >= -149 && highest <= 127 && longest <= 24;
}

code_class table_read(const table *t, uint32_t code, int *negative, magnitude *value) {
  hu_format f = t->f;
  code &= t->code_mask;
  uint32_t c = code & t->magnitude_mask;
  *negative = (code & t->sign_mask) != 0;
  if (f.inf != HU_INF_NONE && c == t->inf_code) return CODE_INFINITE;
  int all_ones_field = f.e > 0 && c >> f.m == low_bits(f.e);
  if ((f.nan == HU_NAN_IEEE || f.nan == HU_NAN_IEEE_ONES) && all_ones_field) return CODE_NAN;
  if ((f.nan == HU_NAN_ONES || f.nan == HU_NAN_TOP) && c == t->magnitude_mask) return CODE_NAN;
  if (f.nan == HU_NAN_NEGZERO && code == t->sign_mask) return CODE_NAN;
  *value = code_value(t, c);
  /* A code 10...0 without a meaning reads as +0; so do unused codes of field 0 where the format has no negative zero.
   */
  if (value->significand == 0 && !f.negzero) *negative = 0;
  return CODE_FINITE;
}

magnitude table_grid(const table *t, uint64_t index) {
  if (t->f.zero == HU_ZERO_NONE) index += (uint64_t)low_bits(t->f.m) + 1;
  return gradual(t, index, t->emin);
}

uint64_t table_grid_next(const table *t, uint64_t index) {
  int gap = t->f.zero == HU_ZERO_FIELD && t->f.subnormal == HU_SUBNORMAL_NONE;
  return gap && index == 0 ? (uint64_t)low_bits(t->f.m) + 1 : index + 1;
}

int table_grid_odd(const table *t, uint64_t index) {
  if (t->f.zero != HU_ZERO_CODE || t->f.m > 0) return (int)(index & 1);
  return index == 0 ? 0 : (int)((index - 1) & 1); /* m = 0: the parity of E, and index i > 0 has E = i - 1 */
}

uint32_t table_grid_code(const table *t, uint64_t index) {
  uint64_t normal = (uint64_t)low_bits(t->f.m) + 1;
  if (t->f.zero == HU_ZERO_CODE) return index > normal ? (uint32_t)(index - normal) : 0;
  if (t->f.zero == HU_ZERO_FIELD && t->f.subnormal == HU_SUBNORMAL_FLUSH && index < normal) return 0;
  return (uint32_t)index;
}

magnitude table_tiny_limit(const table *t) {
  unsigned m = t->f.m;
  magnitude v = {low_bits(m) + 1, t->emin - (int)m};
  if (t->f.zero == HU_ZERO_CODE) v.significand++; /* m = 0: 2 * 2^emin, the same formula */
  return v;
}

int table_is_subnormal(const table *t, uint32_t code) {
  return t->f.zero == HU_ZERO_FIELD && t->f.subnormal == HU_SUBNORMAL_GRADUAL && code != 0 && code >> t->f.m == 0;
}
