/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/table_from_product.h - builds the code table of a tensor from one product of all significands instead of
 * the exact sum of logarithms, when the error bound below shows that no table entry can differ. Included by the lane
 * sources only.
 *
 * mu is the mean of numbers within 2^-41 of the logarithms, rounded: within 2^-40 of the mean of the logarithms
 * themselves, which is the logarithm of a product, over N'. A product of N' significands in binary64 is off by 2^-53 N'
 * of itself, so the mean by 2^-52; its logarithm, quotient and sum with the exponents by 2^-44 at most. A bound or a
 * value lies at E = mu (1 - w) + m w, w = log2 b / target, so that E is off by
 *
 *     (1 + |w|) (2^-40 + 2^-43) + 2^-42,
 *
 * the last for the operations of E: seven roundings of numbers up to 256 (the first bound is a normal number, so that g
 * times an exponent is no more), logarithms within 2^-50 times 8. L is within 2^-41 of a logarithm (see
 * emu/s2fp8/table_binary64.h), powers are within 2^-48 of themselves, products of two within 2^-46. In units of the
 * last of the 53 digits of 2^E (2^52 2 ln 2 a unit of E) that is less than
 *
 *     5000 + 6500 (1 + |w|)
 *
 * of 2^29 that make a pattern: one end in fifteen thousand is nearer to a pattern (or to the middle between two),
 * and only then are the exact statistics computed. */
#ifndef HALFULP_EMU_S2FP8_TABLE_FROM_PRODUCT_H
#define HALFULP_EMU_S2FP8_TABLE_FROM_PRODUCT_H

#include "emu/s2fp8/lanes_common.h"
#include "emu/s2fp8/table_binary64.h"

/* Returns log2 m of 1 <= m < 2 in units, within 2^-12 of a unit: an integer and the rest. */
static double log2_units(double m, double *rest) {
  static const double factors[16] = {HU_S2_FACTORS}, wholes[16] = {HU_S2_WHOLES}, parts[16] = {HU_S2_PARTS};
  uint64_t i = hui_pattern64(m) >> 48 & 15;
  double remainder = m * factors[i] - 1;
  *rest = parts[i] + remainder * hui_polynomial_s2(remainder);
  return wholes[i];
}

/* 2^E: of the numbers and limits of codes 16 k + j as products of one for j and one for k, where 2^m divides 16; of
 * those of subnormal numbers; and where results begin to be tiny, which stands in the unused first place of those. */
enum { NEAR_NUMBER = 0, NEAR_LIMIT = 16, NEAR_STEP = 32, NEAR_LOW = 40, NEAR = 72 };
typedef struct near_ends {
  double mu, ratio;
  uint64_t power[NEAR];
  uint32_t low_limit; /* behind 8 or 16 places for subnormal numbers */
} near_ends;

static void near_powers(near_ends *ends, const hu_spec *spec) {
  static const double number[] = {HU_S2_CODE_LOG2}, limit[] = {HU_S2_MIDDLE_LOG2};
  static const double low[] = {HU_S2_LOW_LOG2}, low_limit[] = {HU_S2_LOW_MIDDLE_LOG2};
  double exponent[NEAR];
  const uint32_t one = (uint32_t)1 << spec->m, lows = one <= 8 ? 8 : 16;
  const double mu = ends->mu, ratio = ends->ratio, start = mu + ratio * (spec->emin - 1),
               first = mu + ratio * (spec->emin - (int32_t)spec->m);
  const double tiny =
      spec->tiny == HU_TINY_BEFORE ? spec->emin : hui_s2_small_log2(4 * one - 1) + (spec->emin - (int32_t)spec->m - 2);
  for (uint32_t j = 0; j < 16; j++) {
    exponent[NEAR_NUMBER + j] = start + ratio * number[16 * spec->m + j];
    exponent[NEAR_LIMIT + j] = start + ratio * limit[16 * spec->m + j];
  }
  for (uint32_t k = 0; k < 8; k++) exponent[NEAR_STEP + k] = ratio * (double)(int32_t)(k << 4 >> spec->m);
  for (uint32_t c = 0; c < lows; c++) {
    exponent[NEAR_LOW + c] = first + ratio * low[c];
    exponent[NEAR_LOW + lows + c] = first + ratio * low_limit[c];
  }
  exponent[NEAR_LOW] = mu + ratio * tiny;
  ends->low_limit = NEAR_LOW + lows;
  powers(NEAR_LOW + 2 * lows, ends->power, exponent);
}

/* Computes mu, the ratio and the units that a 2^E may be off by; 0: not for such a tensor. */
static uint32_t near_scale(near_ends *ends, const hu_s2 *map, const hu_s2_rough *x) {
  double rest, whole, mean, m, target = map->target, widest = target + 1;
  whole = log2_units(x->sig, &rest);
  mean = ((double)x->exponent + (whole + rest) * 0x1p-40) / (double)x->count;
  whole = log2_units((double)hui_float_of_bits((x->top & 0x7FFFFF) | 0x3F800000), &rest);
  const double shifted = rest + S2_MAGIC, units = shifted - S2_MAGIC, off = rest - units;
  m = (double)((int32_t)(x->top >> 23) - 127) + (whole + units) * 0x1p-40;
  if (!(off <= S2_SURE && off >= -S2_SURE)) return 0;
  if (widest < map->spec.m + 1 - map->spec.emin) widest = map->spec.m + 1 - map->spec.emin;
  if (widest > 64 || widest > 7 * target) return 0;
  if (!(m - mean >= 0x1p-20 && m - mean <= 8 * target)) return 0;
  ends->mu = mean;
  ends->ratio = (m - mean) / target;
  return 5001 + (uint32_t)(6500 * (1 + widest / target));
}

/* Is an end, or what is `above` it, so near to a pattern that it is not decided? The digit 2^63 of what is returned. */
static inline uint64_t near_pattern(uint64_t pattern, uint64_t above, uint64_t margin) {
  const uint64_t spare = ((uint64_t)1 << HU_S2_BEYOND) - 1;
  return ((pattern + above + margin) & spare) - (2 * margin + 1);
}

/* The bound above code c and its value; whether they are undecided. */
static inline uint64_t near_entry(hu_s2_table *z, uint32_t c, uint64_t number, uint64_t limit, uint64_t margin,
                                  uint64_t is_power) {
  const uint64_t half = (uint64_t)1 << (HU_S2_BEYOND - 1);
  z->bound[0][c + 1] = hui_s2_narrow(limit) + 1;
  z->value[c] = hui_s2_narrow(number + half);
  return near_pattern(limit, 0, margin) | near_pattern(number, half, margin) |
         (near_pattern(number, 0, margin) & is_power);
}

/* 1: not decided. Codes beyond that of the largest element, for which that need not be, are asked, too. All are normal
 * numbers where the first is: they grow with their codes, up to the largest element. */
static int near_fill(hu_s2_table *z, const near_ends *ends, uint32_t top_code, const hu_spec *spec, uint64_t margin,
                     uint32_t top) {
  const uint32_t one = (uint32_t)1 << spec->m;
  uint64_t left = near_pattern(ends->power[NEAR_LOW], 0, margin), powers_of_two[2][16];
  for (uint32_t j = 0; j < 16; j++) { /* the largest element is one and is a pattern */
    powers_of_two[0][j] = j & (one - 1) ? 0 : UINT64_MAX;
    powers_of_two[1][j] = j < (top_code & 15) ? powers_of_two[0][j] : 0;
  }
  for (uint32_t k = 0; k < HU_S2_CODES / 16; k++) {
    const double step = hui_double64(ends->power[NEAR_STEP + k]);
    const uint64_t *is_power = powers_of_two[k >= top_code >> 4];
    for (uint32_t j = 0; j < 16; j++) {
      const double number = hui_double64(ends->power[NEAR_NUMBER + j]) * step,
                   limit = hui_double64(ends->power[NEAR_LIMIT + j]) * step;
      left |= near_entry(z, 16 * k + j, hui_pattern64(number), hui_pattern64(limit), margin, is_power[j]);
    }
  }
  for (uint32_t c = 0; c < one; c++) {
    const uint64_t limit = ends->power[ends->low_limit + c], number = c ? ends->power[NEAR_LOW + c] : limit;
    left |= near_entry(z, c, number, limit, margin, (c & (c - 1)) == 0 ? UINT64_MAX : 0);
  }
  /* Behind the largest element a bound need not be right, but beyond it. */
  for (uint32_t c = top_code; c < HU_S2_CODES; c++) {
    const double limit =
        hui_double64(ends->power[NEAR_LIMIT + (c & 15)]) * hui_double64(ends->power[NEAR_STEP + (c >> 4)]);
    if (c > spec->max_code || !hui_s2_is_normal(hui_pattern64(limit))) z->bound[0][c + 1] = HU_S2_NEVER;
    z->value[c] = top;
  }
  z->tiny[0] = z->tiny[1] = hui_s2_narrow(ends->power[NEAR_LOW]) + 1;
  return left >> 63 || !hui_s2_is_normal(ends->power[ends->low_limit]);
}

static int near(hu_s2_table *z, const hu_s2 *map, const hu_s2_rough *x) {
  near_ends ends;
  const hu_spec *spec = &map->spec;
  const uint32_t margin = near_scale(&ends, map, x), top_code = (uint32_t)(map->target - spec->emin + 1) << spec->m;
  if (!margin) return 0;
  near_powers(&ends, spec);
  if (near_fill(z, &ends, top_code, spec, margin, x->top)) return 0;
  z->value[0] = 0;
  z->bound[0][0] = 0;
  for (uint32_t c = 0; c < HU_S2_CODES; c++) z->exact[c] = HU_S2_NEVER;
  z->exact[top_code] = x->top;
  memcpy(z->bound[1], z->bound[0], sizeof z->bound[0]);
  for (uint32_t c = 0; spec->sign_mask == HU_S2_CODES && c < HU_S2_CODES; c++) {
    z->value[HU_S2_CODES + c] = z->value[c] | 0x80000000u;
  }
  for (uint32_t c = 0; spec->sign_mask < HU_S2_CODES && c < spec->sign_mask; c++) {
    z->value[spec->sign_mask + c] = z->value[c] | 0x80000000u;
  }
  if (!spec->negzero) z->value[spec->sign_mask] = 0;
  return 1;
}

#endif
