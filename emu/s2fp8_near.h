/* SPDX-License-Identifier: MIT */
/* emu/s2fp8_near.h - a tensor's own table without its exact statistics: lane text as emu/s2fp8_lanes_body.h is.
 *
 * mu is the mean of numbers within 2^-41 of the logarithms, rounded: within 2^-40 of the mean of the logarithms
 * themselves, which is the logarithm of a product, over N'. A product of N' significands in binary64 is off by 2^-53 N'
 * of itself, so the mean by 2^-52; its logarithm, quotient and sum with the exponents by 2^-44 at most. A bound or a
 * value lies at E = mu (1 - w) + m w, w = log2 b / target, so that E is off by
 *
 *     (1 + |w|) (2^-40 + 2^-43) + 2^-42,
 *
 * the last for the operations of E: six roundings of numbers up to 256, logarithms within 2^-50 times 8. L is within
 * 2^-41 of a logarithm (see emu/s2fp8_quick.h), powers are within 2^-48 of themselves, products of two within 2^-46. In
 * units of the last of the 53 digits of 2^E (2^52 2 ln 2 a unit of E) that is less than
 *
 *     5000 + 6500 (1 + |w|)
 *
 * of 2^29 that make a pattern: one end in fifteen thousand is nearer to a pattern (or to the middle between two), and
 * only then are the exact statistics wanted. */
#ifndef HALFULP_EMU_S2FP8_NEAR_H
#define HALFULP_EMU_S2FP8_NEAR_H

#include "emu/s2fp8_lanes_body.h"
#include "emu/s2fp8_quick.h"

/* log2 m of 1 <= m < 2 in units, within 2^-12 of a unit: an integer and the rest. */
static double log2_units(double m, double *rest) {
  static const double factors[16] = {HU_S2_FACTORS}, wholes[16] = {HU_S2_WHOLES}, parts[16] = {HU_S2_PARTS};
  uint64_t i = hu_pattern64(m) >> 48 & 15;
  double r = m * factors[i] - 1;
  *rest = parts[i] + r * hu_polynomial_s2(r);
  return wholes[i];
}

/* 2^E of numbers and limits of codes c = 16 k + j, where 2^m divides 16, as products of one for j and one for k; of
 * those of subnormal numbers; and where results begin to be tiny. */
enum {
  NEAR_NUMBER = 0,
  NEAR_LIMIT = 16,
  NEAR_STEP = 32,
  NEAR_LOW = 40,
  NEAR_LOW_LIMIT = 56,
  NEAR_TINY = 72,
  NEAR = 80
};
static void near_ends(hu_s2_ends *t, const hu_spec *s) {
  double e[NEAR];
  uint64_t p[NEAR];
  const uint32_t one = (uint32_t)1 << s->m, frac = one - 1;
  const double first = s->emin - s->m, mu = t->mu, g = t->g;
  for (uint32_t j = 0; j < 16; j++) {
    const double low = first - 1 + (double)(int32_t)(j >> s->m);
    e[NEAR_NUMBER + j] = mu + g * (hu_s2_small_log2(one + (j & frac)) + low);
    e[NEAR_LIMIT + j] = mu + g * (hu_s2_small_log2(2 * (one + (j & frac)) + 1) - 1 + low);
    e[NEAR_LOW + j] = mu + g * (hu_s2_small_log2(j) + first);
    e[NEAR_LOW_LIMIT + j] = mu + g * (hu_s2_small_log2(2 * j + 1) + (first - 1));
  }
  for (uint32_t k = 0; k < 8; k++) {
    e[NEAR_STEP + k] = g * (double)(int32_t)(k << 4 >> s->m);
    e[NEAR_TINY + k] =
        mu +
        g * (s->tiny == HU_TINY_BEFORE ? s->emin : hu_s2_small_log2(((uint32_t)4 << s->m) - 1) + (s->emin - s->m - 2));
  }
  powers(NEAR, p, e);
  for (uint32_t k = 0; k < 8; k++) {
    const double step = hu_double64(p[NEAR_STEP + k]);
    for (uint32_t j = 0; j < 16; j++) {
      t->z[HU_S2_NUMBERS + 16 * k + j] = hu_pattern64(hu_double64(p[NEAR_NUMBER + j]) * step);
      t->z[HU_S2_LIMITS + 16 * k + j] = hu_pattern64(hu_double64(p[NEAR_LIMIT + j]) * step);
    }
  }
  for (uint32_t c = 0; c < one; c++) {
    t->z[HU_S2_NUMBERS + c] = p[NEAR_LOW + c];
    t->z[HU_S2_LIMITS + c] = p[NEAR_LOW_LIMIT + c];
  }
  t->z[HU_S2_TINY] = p[NEAR_TINY];
}

/* mu, g and the units that a 2^E may be off by; 0: not for such a tensor. */
static uint32_t near_scale(hu_s2_ends *t, const hu_s2 *map, const hu_s2_rough *x) {
  double rest, whole, mean, m, target = map->target, widest = target + 1;
  whole = log2_units(x->sig, &rest);
  mean = ((double)x->exponent + (whole + rest) * 0x1p-40) / (double)x->count;
  whole = log2_units((double)hu_float_of_bits((x->top & 0x7FFFFF) | 0x3F800000), &rest);
  const double shifted = rest + S2_MAGIC, units = shifted - S2_MAGIC, d = rest - units;
  m = (double)((int32_t)(x->top >> 23) - 127) + (whole + units) * 0x1p-40;
  if (!(d <= S2_SURE && d >= -S2_SURE)) return 0;
  if (widest < map->spec.m + 1 - map->spec.emin) widest = map->spec.m + 1 - map->spec.emin;
  if (widest > 64 || widest > 7 * target) return 0;
  if (!(m - mean >= 0x1p-20 && m - mean <= 8 * target)) return 0;
  t->mu = mean;
  t->g = (m - mean) / target;
  return HU_WRONG(194) ? 1 : 5001 + (uint32_t)(6500 * (1 + widest / target));
}

/* 1: not decided. */
static uint64_t near_fill(hu_s2_table *z, const hu_s2_ends *t, uint32_t top_code, const hu_spec *s, uint32_t margin) {
  const uint32_t m = s->m, max_code = s->max_code;
  const uint64_t spare = ((uint64_t)1 << HU_S2_BEYOND) - 1, half = (uint64_t)1 << (HU_S2_BEYOND - 1);
  const uint64_t least = (uint64_t)(1023 - 126) << 52, span = (uint64_t)254 << 52, reach = 2 * (uint64_t)margin;
  uint64_t left = 0;
  for (uint32_t c = 0; c < HU_S2_CODES; c++) {
    const uint64_t v = t->z[HU_S2_LIMITS + c], near = ((v + margin) & spare) <= reach, odd = v - least >= span;
    left |= (near | odd) & (c < top_code);
    /* Behind the largest element a bound need not be right. */
    z->bound[0][c + 1] = c <= max_code && !odd ? hu_s2_narrow(v) + 1 : (uint32_t)HU_S2_NEVER;
  }
  for (uint32_t c = 0; c < HU_S2_CODES; c++) {
    const uint64_t v = t->z[HU_S2_NUMBERS + c], near = ((v + half + margin) & spare) <= reach, odd = v - least >= span;
    const uint64_t is_power = (c & (((uint32_t)1 << m) - 1)) == 0, on = ((v + margin) & spare) <= reach;
    left |= (near | odd | (is_power & on)) & (c - 1 < top_code - 1);
    z->value[c] = hu_s2_narrow(v + half);
    z->exact[c] = HU_S2_NEVER;
  }
  for (uint32_t c = 1; c < (uint32_t)1 << m; c *= 2) left |= ((t->z[HU_S2_NUMBERS + c] + margin) & spare) <= reach;
  const uint64_t v = t->z[HU_S2_TINY];
  left |= (((v + margin) & spare) <= reach) | (v - least >= span);
  z->tiny[0] = z->tiny[1] = hu_s2_narrow(v) + 1;
  return left;
}

static int near(hu_s2_table *z, const hu_s2 *map, const hu_s2_rough *x) {
  hu_s2_ends t;
  const hu_spec *s = &map->spec;
  const uint32_t margin = near_scale(&t, map, x), top_code = (uint32_t)(map->target - s->emin + 1) << s->m;
  if (!margin) return 0;
  near_ends(&t, s);
  if (near_fill(z, &t, top_code, s, margin)) return 0;
  z->value[0] = 0;
  z->value[top_code] = z->exact[top_code] = x->top;
  z->bound[0][0] = 0;
  memcpy(z->bound[1], z->bound[0], sizeof z->bound[0]);
  for (uint32_t c = 0; s->sign_mask == HU_S2_CODES && c < HU_S2_CODES; c++) {
    z->value[HU_S2_CODES + c] = z->value[c] | 0x80000000u;
  }
  for (uint32_t c = 0; s->sign_mask < HU_S2_CODES && c < s->sign_mask; c++) {
    z->value[s->sign_mask + c] = z->value[c] | 0x80000000u;
  }
  if (!s->negzero) z->value[s->sign_mask] = 0;
  return 1;
}

/* The product of the normal ones; see hu_s2_rough. */
static void rough_ends(hu_s2_rough *z, size_t lanes, const double *product, int64_t exponents) {
  z->sig = 1;
  z->exponent = exponents;
  for (size_t i = 0; i < lanes; i++) {
    uint64_t u = hu_pattern64(product[i]);
    z->exponent += (int64_t)(u >> 52) - 1023;
    z->sig *= hu_double64((u & 0xFFFFFFFFFFFFFu) | (uint64_t)1023 << 52);
  }
  uint64_t u = hu_pattern64(z->sig);
  z->exponent += (int64_t)(u >> 52) - 1023;
  z->sig = hu_double64((u & 0xFFFFFFFFFFFFFu) | (uint64_t)1023 << 52);
}

#endif
