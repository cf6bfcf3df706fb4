/* SPDX-License-Identifier: MIT */
/* The text that emu/s2fp8_lanes_*.c have in common: elements by their buckets; and loops that compilers put into lanes.
 *
 * Logarithms: with m = 1 + r after a factor, exactly, log2 m 2^40 = whole + s, and s = part + r p(r) is below 2^36 and
 * computed to 2^-16: the polynomial is off by 2^-55 of itself, r p by 2^-53 more in each of its last two operations, or
 * one, and the sum by 2^-18. Where s is further than 2^-15 from the middle between two integers its nearest integer is
 * known; else emu/core/s2fp8_log.h is asked. */
#ifndef HALFULP_EMU_S2FP8_LANES_COMMON_H
#define HALFULP_EMU_S2FP8_LANES_COMMON_H

#include "emu/arith/function_quick.h"
#include "emu/core/bits.h"
#include "emu/s2fp8/lanes.h"
#include "emu/s2fp8/polynomial.h"

#define S2_MAGIC 0x1.8p52
#define S2_MAGIC_BITS 0x4338000000000000u
#define S2_SURE (0.5 - 0x1p-15)

static inline double times_plus(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/* hui_polynomial_expm1, in pairs, so that a few vectors do not wait for one operation after the other. */
static inline double expm1_in_pairs(double rest) {
  static const double c[12] = {HU_EXPM1_COEFFICIENTS};
  const double r2 = rest * rest, r4 = r2 * r2;
  const double p0 = times_plus(rest, c[1], c[0]), p1 = times_plus(rest, c[3], c[2]), p2 = times_plus(rest, c[5], c[4]);
  const double p3 = times_plus(rest, c[7], c[6]), p4 = times_plus(rest, c[9], c[8]),
               p5 = times_plus(rest, c[11], c[10]);
  const double low = times_plus(r2, p1, p0), middle = times_plus(r2, p3, p2), high = times_plus(r2, p5, p4);
  return times_plus(r4, times_plus(r4, high, middle), low);
}

/* Each exponent is k + r, exactly, 2^r = 1 + r ln 2 p(r ln 2): two roundings and the polynomial's 2^-50. */
static void powers(size_t n, uint64_t *restrict z, const double *restrict exponent) {
  for (size_t i = 0; i < n; i++) {
    double shifted = exponent[i] + HU_SHIFTER, rest = (exponent[i] - (shifted - HU_SHIFTER)) * 0x1.62e42fefa39efp-1;
    double power = hui_power_of_two64(shifted);
    z[i] = hui_pattern64(times_plus(power, rest * expm1_in_pairs(rest), power));
  }
}

/* Adds any element, by integers. */
static void sum_one(uint32_t bits, hu_s2_part *z) {
  uint32_t a = bits & 0x7FFFFFFF;
  if (a >= 0x7F800000) {
    z->special++;
  } else if (a) {
    z->sum += hui_s2_log2(a);
    z->count++;
    if (a > z->top) z->top = a;
  }
}

/* ---- elements by their buckets ---- */

/* Counts of events, by their bits: those that many elements have, and the others. */
typedef struct tally {
  uint64_t count[9];
} tally;

HU_FN void tally_add(tally *counts, uint32_t events) {
  for (int k = 2; k < 6; k++) counts->count[k] += events >> k & 1; /* underflow, to_zero, subnormal, inexact */
  if (HU_LIKELY((events & ~(uint32_t)0x3C) == 0)) return;
  for (int k = 0; k < 9; k++) counts->count[k] += k < 2 || k > 5 ? events >> k & 1 : 0;
}

static void tally_end(const tally *counts, hu_events *events) {
  hu_events own = {counts->count[0], counts->count[1], counts->count[2], counts->count[3], counts->count[4],
                   counts->count[5], counts->count[6], counts->count[7], counts->count[8], 0};
  hu_events_add(events, &own);
}

#endif
