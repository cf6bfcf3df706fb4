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

neighbours neighbours_of(hu_format f, double x) {
  neighbours p = {0};
  hu_limits l = hu_limits_of(f);
  int exponent;
  double fraction = frexp(fabs(x), &exponent);
  uint64_t significand = (uint64_t)ldexp(fraction, 53); /* |x| = significand 2^(exponent - 53), exact */
  int low = exponent - 53, k = low + floor_log2(significand);
  p.below_all = f.zero == HU_ZERO_NONE && k < l.emin;
  p.gap = f.subnormal == HU_SUBNORMAL_NONE && f.zero == HU_ZERO_FIELD && k < l.emin;
  p.unit = p.gap ? l.emin : (k > l.emin ? k : l.emin) - f.m;
  int shift = p.unit - low;
  if (shift <= 0) {
    p.steps = significand << -shift;
  } else {
    p.steps = shift < 64 ? significand >> shift : 0;
    p.part = shift < 64 ? significand & (((uint64_t)1 << shift) - 1) : significand;
    p.part_bits = shift;
  }
  while (p.part_bits && !(p.part & 1)) {
    p.part >>= 1;
    p.part_bits--;
    if (!p.part) p.part_bits = 0;
  }
  p.lower_odd = f.m ? (int)(p.steps & 1) : p.steps == 1 && ((k + l.bias) & 1);
  return p;
}

uint64_t neighbours_scaled(const neighbours *p, int bits, int *rest) {
  *rest = 0;
  if (!p->part) return 0;
  int shift = p->part_bits - bits;
  if (shift <= 0) return p->part << -shift;
  *rest = shift >= 64 || (p->part & (((uint64_t)1 << shift) - 1)) != 0;
  return shift >= 64 ? 0 : p->part >> shift;
}

int neighbours_half(const neighbours *p) {
  int rest;
  uint64_t half = neighbours_scaled(p, 1, &rest);
  return half == 0 ? -1 : rest;
}

uint64_t neighbours_upward(const neighbours *p, hu_mode mode) {
  int rest, n = mode.bits;
  uint64_t scaled = neighbours_scaled(p, n, &rest);
  if (mode.round == HU_SRA) return scaled;
  uint64_t twice = neighbours_scaled(p, n + 1, &rest);
  /* B: R counts if 2R + 1 >= 2^(N+1) - twice, of which there are floor((twice + 1) / 2). */
  if (mode.round == HU_SRB) return (twice + 1) / 2;
  int up = (twice & 1) && (rest || (scaled & 1));
  return scaled + (uint64_t)up;
}

int neighbours_take_upper(const neighbours *p, hu_mode mode, int negative, uint32_t random) {
  int inexact = p->part != 0, half = neighbours_half(p);
  uint64_t r = mode.bits ? random & (UINT32_MAX >> (32 - mode.bits)) : 0;
  switch (mode.round) {
    case HU_RNE: return half > 0 || (half == 0 && inexact && p->lower_odd);
    case HU_RNA: return inexact && half >= 0;
    case HU_RNZ: return half > 0;
    case HU_RTZ: return 0;
    case HU_RTP: return inexact && !negative;
    case HU_RTN: return inexact && negative;
    case HU_RAZ: return inexact;
    case HU_RTO: return inexact && !p->lower_odd;
    default:
      return neighbours_upward(p, mode) + r >= (uint64_t)1
                                                   << mode.bits; /* the values of R that go up are the top ones */
  }
}
