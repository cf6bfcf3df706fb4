/* SPDX-License-Identifier: MIT */
/* emu/oracle/table.c - see table.h. */
#include "emu/oracle/table.h"

static uint32_t low_bits(unsigned n) { return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1; }

/* Checks that each axis lies within its own values. */
static int axes_in_range(hu_format format) {
  return format.sign <= 1 && format.e <= 11 && format.m <= 30 && format.zero <= HU_ZERO_NONE &&
         format.subnormal <= HU_SUBNORMAL_FLUSH && format.inf <= HU_INF_TOP && format.nan <= HU_NAN_TOP &&
         format.negzero <= 1 && format.overflow <= HU_OVERFLOW_MAX && format.negative <= HU_NEGATIVE_STOP &&
         format.sign + format.e + format.m >= 1 && format.sign + format.e + format.m <= 32;
}

/* Checks the list of conditions of section 1, in its order. */
static int axes_agree(hu_format format) {
  int nan_ieee = format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES;
  if (format.zero == HU_ZERO_CODE && format.subnormal != HU_SUBNORMAL_FLUSH) return 0;
  if (format.zero == HU_ZERO_NONE && (format.sign || format.subnormal != HU_SUBNORMAL_NONE)) return 0;
  if (format.e == 0 && (format.zero != HU_ZERO_FIELD || format.subnormal != HU_SUBNORMAL_GRADUAL ||
                        format.inf == HU_INF_IEEE || nan_ieee))
    return 0;
  if (format.inf == HU_INF_IEEE && format.m > 0 && !nan_ieee) return 0;
  if (format.inf == HU_INF_IEEE && format.m == 0 && format.nan != HU_NAN_NONE && format.nan != HU_NAN_NEGZERO) return 0;
  if (format.inf == HU_INF_TOP && format.nan != HU_NAN_NONE && format.nan != HU_NAN_NEGZERO && format.nan != HU_NAN_TOP)
    return 0;
  if ((format.nan == HU_NAN_ONES || format.nan == HU_NAN_NEGZERO) && !format.sign) return 0;
  if (format.nan == HU_NAN_TOP && format.sign) return 0;
  if (format.nan == HU_NAN_NEGZERO && format.negzero) return 0;
  if (format.negzero && (!format.sign || format.zero == HU_ZERO_NONE)) return 0;
  if (format.overflow == HU_OVERFLOW_INF && format.inf == HU_INF_NONE) return 0;
  if (format.overflow == HU_OVERFLOW_NAN && format.nan == HU_NAN_NONE) return 0;
  return !(format.sign && format.negative);
}

/* Returns (significand field, exponent) of the codes of a grid whose field 0 holds subnormals, with the given emin. */
static magnitude gradual(const table *values, uint64_t index, int emin) {
  unsigned m = values->format.m;
  uint64_t field = index >> m;
  uint32_t trailing = (uint32_t)index & low_bits(m);
  magnitude value = {trailing, emin - (int)m};
  if (field > 0) {
    value.significand = low_bits(m) + 1 + trailing;
    value.exponent += (int)field - 1;
  }
  return value;
}

/* Value of a finite magnitude code that is in use. */
static magnitude code_value(const table *values, uint32_t code) {
  if (values->format.zero == HU_ZERO_FIELD) {
    int unused = values->format.subnormal != HU_SUBNORMAL_GRADUAL && code >> values->format.m == 0;
    return gradual(values, unused ? 0 : code, values->emin);
  }
  if (values->format.zero == HU_ZERO_CODE && code == 0) return gradual(values, 0, values->emin);
  return gradual(values, (uint64_t)code + low_bits(values->format.m) + 1,
                 values->emin); /* every field normal: one binade further down */
}

static unsigned bit_length(uint32_t bits) { return bits ? 32 - (unsigned)__builtin_clz(bits) : 0; }

/* Extremes of the codes' values: lowest bit in use, exponent of max, longest significand. The lowest binade shows its
 * lowest bit in one of its first two codes, and a whole significand is in use at max or just below it. */
static void extremes(const table *values, int *lowest_bit, int *highest, unsigned *longest) {
  uint64_t codes[4] = {values->min_code, (uint64_t)values->min_code + 1, (uint64_t)values->max_code - 1,
                       values->max_code};
  *lowest_bit = INT16_MAX;
  *highest = -INT16_MAX;
  *longest = 0;
  for (int i = 0; i < 4; i++) {
    if (codes[i] < values->min_code || codes[i] > values->max_code)
      continue; /* (max_code - 1 may be below min_code, or wrap) */
    magnitude value = code_value(values, (uint32_t)codes[i]);
    int top = value.exponent + (int)bit_length(value.significand) - 1;
    int zeros = __builtin_ctz(value.significand);
    value.significand >>= zeros;
    value.exponent += zeros;
    if (value.exponent < *lowest_bit) *lowest_bit = value.exponent;
    if (top > *highest) *highest = top;
    if (bit_length(value.significand) > *longest) *longest = bit_length(value.significand);
  }
}

/* The special codes and, below them, max: the largest magnitude code that is neither infinity nor NaN. */
static int64_t place_specials(table *values) {
  hu_format format = values->format;
  uint32_t top_field = low_bits(format.e) << format.m; /* exponent field all ones, trailing bits zero */
  int64_t top = values->magnitude_mask;
  if (format.inf == HU_INF_IEEE || format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES)
    top = (int64_t)top_field - 1;
  if (format.nan == HU_NAN_ONES || format.nan == HU_NAN_TOP) top--;
  if (format.inf == HU_INF_TOP) values->inf_code = (uint64_t)top--;
  if (format.inf == HU_INF_IEEE) values->inf_code = top_field;
  switch (format.nan) {
    case HU_NAN_IEEE: values->nan_code = top_field | (format.m ? UINT32_C(1) << (format.m - 1) : 0); break;
    case HU_NAN_IEEE_ONES: /* all ones below the sign */
    case HU_NAN_ONES:
    case HU_NAN_TOP: values->nan_code = values->magnitude_mask; break;
    case HU_NAN_NEGZERO: values->nan_code = values->sign_mask; break;
    default: break;
  }
  return top;
}

hu_status table_make(table *values, hu_format format) {
  if (!axes_in_range(format) || !axes_agree(format)) return HU_E_FORMAT;
  values->format = format;
  values->width = (unsigned)format.sign + format.e + format.m;
  values->code_mask = low_bits(values->width);
  values->magnitude_mask = low_bits((unsigned)format.e + format.m);
  values->sign_mask = format.sign ? values->magnitude_mask + 1 : 0;
  values->bias = format.e ? (1 << (format.e - 1)) - 1 + format.b : format.b;
  values->emin = format.zero == HU_ZERO_FIELD ? 1 - values->bias : -values->bias;
  values->inf_code = TABLE_NO_CODE;
  values->nan_code = TABLE_NO_CODE;
  int64_t top = place_specials(values);
  if (format.zero == HU_ZERO_NONE)
    values->min_code = 0;
  else
    values->min_code =
        format.zero == HU_ZERO_FIELD && format.subnormal != HU_SUBNORMAL_GRADUAL ? low_bits(format.m) + 1 : 1;
  if (top < (int64_t)values->min_code) return HU_E_FORMAT; /* no positive finite value */
  values->max_code = (uint32_t)top;
  values->max_index =
      format.zero == HU_ZERO_CODE ? (uint64_t)values->max_code + low_bits(format.m) + 1 : values->max_code;
  int lowest_bit, highest;
  unsigned longest;
  extremes(values, &lowest_bit, &highest, &longest);
  return lowest_bit >= -1074 && highest <= 1023 ? HU_OK : HU_E_FORMAT;
}

int table_fits_binary32(const table *values) {
  int lowest_bit, highest;
  unsigned longest;
  extremes(values, &lowest_bit, &highest, &longest);
  return lowest_bit >= -149 && highest <= 127 && longest <= 24;
}

code_class table_read(const table *values, uint32_t code, int *negative, magnitude *value) {
  hu_format format = values->format;
  code &= values->code_mask;
  uint32_t c = code & values->magnitude_mask;
  *negative = (code & values->sign_mask) != 0;
  if (format.inf != HU_INF_NONE && c == values->inf_code) return CODE_INFINITE;
  int all_ones_field = format.e > 0 && c >> format.m == low_bits(format.e);
  if ((format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES) && all_ones_field) return CODE_NAN;
  if ((format.nan == HU_NAN_ONES || format.nan == HU_NAN_TOP) && c == values->magnitude_mask) return CODE_NAN;
  if (format.nan == HU_NAN_NEGZERO && code == values->sign_mask) return CODE_NAN;
  *value = code_value(values, c);
  /* A code 10...0 without a meaning reads as +0; so do unused codes of field 0 where the format has no negative zero.
   */
  if (value->significand == 0 && !format.negzero) *negative = 0;
  return CODE_FINITE;
}

magnitude table_grid(const table *values, uint64_t index) {
  if (values->format.zero == HU_ZERO_NONE) index += (uint64_t)low_bits(values->format.m) + 1;
  return gradual(values, index, values->emin);
}

uint64_t table_grid_next(const table *values, uint64_t index) {
  int gap = values->format.zero == HU_ZERO_FIELD && values->format.subnormal == HU_SUBNORMAL_NONE;
  return gap && index == 0 ? (uint64_t)low_bits(values->format.m) + 1 : index + 1;
}

int table_grid_odd(const table *values, uint64_t index) {
  if (values->format.zero != HU_ZERO_CODE || values->format.m > 0) return (int)(index & 1);
  return index == 0 ? 0 : (int)((index - 1) & 1); /* m = 0: the parity of E, and index i > 0 has E = i - 1 */
}

uint32_t table_grid_code(const table *values, uint64_t index) {
  uint64_t normal = (uint64_t)low_bits(values->format.m) + 1;
  if (values->format.zero == HU_ZERO_CODE) return index > normal ? (uint32_t)(index - normal) : 0;
  if (values->format.zero == HU_ZERO_FIELD && values->format.subnormal == HU_SUBNORMAL_FLUSH && index < normal)
    return 0;
  return (uint32_t)index;
}

magnitude table_tiny_limit(const table *values) {
  unsigned m = values->format.m;
  magnitude value = {low_bits(m) + 1, values->emin - (int)m};
  if (values->format.zero == HU_ZERO_CODE) value.significand++; /* m = 0: 2 * 2^emin, the same formula */
  return value;
}

int table_is_subnormal(const table *values, uint32_t code) {
  return values->format.zero == HU_ZERO_FIELD && values->format.subnormal == HU_SUBNORMAL_GRADUAL && code != 0 &&
         code >> values->format.m == 0;
}
