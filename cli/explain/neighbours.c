/* SPDX-License-Identifier: MIT */
/* See neighbours.h. Written from docs/numerics.md section 2 on the public headers alone. */
#include "cli/explain/neighbours.h"

#include <math.h>

static int floor_log2(uint64_t x) {
  int n = -1;
  while (x) {
    x >>= 1;
    n++;
  }
  return n;
}

neighbours neighbours_of(hu_format format, double x) {
  neighbours between = {0};
  hu_limits limits = hu_limits_of(format);
  int exponent;
  double fraction = frexp(fabs(x), &exponent);
  uint64_t significand = (uint64_t)ldexp(fraction, 53); /* |x| = significand 2^(exponent - 53), exact */
  int low = exponent - 53, k = low + floor_log2(significand);
  int has_zero = limits.min_code != 0;
  between.below_all = !has_zero && k < limits.emin;
  between.gap = format.subnormal == HU_SUBNORMAL_NONE && has_zero && k < limits.emin;
  between.unit = between.gap ? limits.emin : (k > limits.emin ? k : limits.emin) - format.m;
  int shift = between.unit - low;
  if (shift <= 0) {
    between.steps = significand << -shift;
  } else {
    between.steps = shift < 64 ? significand >> shift : 0;
    between.part = shift < 64 ? significand & (((uint64_t)1 << shift) - 1) : significand;
    between.part_bits = shift;
  }
  while (between.part_bits && !(between.part & 1)) {
    between.part >>= 1;
    between.part_bits--;
    if (!between.part) between.part_bits = 0;
  }
  between.lower_odd = format.m ? (int)(between.steps & 1) : between.steps == 1 && ((k + limits.bias) & 1);
  return between;
}

uint64_t neighbours_scaled(const neighbours *between, int bits, int *rest) {
  *rest = 0;
  if (!between->part) return 0;
  int shift = between->part_bits - bits;
  if (shift <= 0) return between->part << -shift;
  *rest = shift >= 64 || (between->part & (((uint64_t)1 << shift) - 1)) != 0;
  return shift >= 64 ? 0 : between->part >> shift;
}

int neighbours_half(const neighbours *between) {
  int rest;
  uint64_t half = neighbours_scaled(between, 1, &rest);
  return half == 0 ? -1 : rest;
}

uint64_t neighbours_upward(const neighbours *between, hu_mode mode) {
  int rest, n = mode.bits;
  uint64_t scaled = neighbours_scaled(between, n, &rest);
  if (mode.round == HU_SRA) return scaled;
  uint64_t twice = neighbours_scaled(between, n + 1, &rest);
  /* B: R counts if 2R + 1 >= 2^(N+1) - twice, of which there are floor((twice + 1) / 2). */
  if (mode.round == HU_SRB) return (twice + 1) / 2;
  int up = (twice & 1) && (rest || (scaled & 1));
  return scaled + (uint64_t)up;
}

int neighbours_take_upper(const neighbours *between, hu_mode mode, int negative, uint32_t random) {
  int inexact = between->part != 0, half = neighbours_half(between);
  uint64_t digits = mode.bits ? random & (UINT32_MAX >> (32 - mode.bits)) : 0;
  switch (mode.round) {
    case HU_RNE: return half > 0 || (half == 0 && inexact && between->lower_odd);
    case HU_RNA: return inexact && half >= 0;
    case HU_RNZ: return half > 0;
    case HU_RTZ: return 0;
    case HU_RTP: return inexact && !negative;
    case HU_RTN: return inexact && negative;
    case HU_RAZ: return inexact;
    case HU_RTO: return inexact && !between->lower_odd;
    default:
      return neighbours_upward(between, mode) + digits >=
             (uint64_t)1 << mode.bits; /* the values of R that go up are the top ones */
  }
}
