/* SPDX-License-Identifier: MIT */
/* emu/core/function_series.h - the series under the elementary functions, in fixed point with proved errors.
 *
 * f is 6, 12 or 24 (emu/core/big.h). Errors are in ulps; every product or quotient adds less than one. Each series is
 * summed from its smallest term, so that what a step gets wrong is made smaller by those that follow (Horner). */
#ifndef HALFULP_EMU_CORE_FUNCTION_SERIES_H
#define HALFULP_EMU_CORE_FUNCTION_SERIES_H

#include "emu/core/big.h"

/* e^r for 0 <= r <= 1, within 2^12 ulps more than the error of r, doubled and doubled again, makes.
 * t = r / 256; 1 + t(1 + t/2 (1 + t/3 ...)) to the term N = 3f + 2, for 8 N + log2 N! > 32 f; then eight squarings. A
 * step of the sum errs by less than 3 ulps whatever the one before did (t < 1/255), a squaring doubles the relative
 * error and adds an ulp: 2^8 (3 + 1) e < 2^12. */
HU_OUTLINE void hui_series_exp(hu_big *z, const hu_big *r, int32_t f) {
  hu_big t, one = hui_big_of(1, f), sum = one;
  hui_big_down(&t, r, 8, f);
  for (int32_t k = 3 * f + 2; k > 0; k--) {
    hui_big_mul(&sum, &sum, &t, f);
    hui_big_over(&sum, &sum, (uint32_t)k, f);
    hui_big_add(&sum, &sum, &one, f);
  }
  for (int32_t k = 0; k < 8; k++) hui_big_mul(&sum, &sum, &sum, f);
  *z = sum;
}

/* |ln m| for 0.7 <= m <= 1.42, within 2^5 ulps if m is within four; returns 1 if m < 1.
 * ln m = 2 (q + q^3/3 + q^5/5 + ...), q = (m - 1) / (m + 1), |q| < 0.1765: five binary digits a term, 8 f of them. */
HU_OUTLINE uint32_t hui_series_log(hu_big *z, const hu_big *m, int32_t f) {
  hu_big q, t, one = hui_big_of(1, f), sum = hui_big_of(0, f);
  uint32_t below = hui_big_distance(&q, m, &one, f);
  hui_big_add(&t, m, &one, f);
  hui_big_div(&q, &q, &t, f);
  hui_big_mul(&t, &q, &q, f);
  for (int32_t k = 8 * f; k >= 0; k--) {
    hu_big term;
    hui_big_mul(&sum, &sum, &t, f);
    hui_big_over(&term, &one, (uint32_t)(2 * k + 1), f);
    hui_big_add(&sum, &sum, &term, f);
  }
  hui_big_mul(&sum, &sum, &q, f);
  hui_big_add(z, &sum, &sum, f);
  return below;
}

/* sin a (cos a, if `cosine`) for 0 <= a <= pi/4, within 4 ulps more than the error of a. 1 - t/(1 2) (1 - t/(3 4)
 * (...)) and a (1 - t/(2 3) (1 - t/(4 5) (...))), t = a^2 < 0.617, to t^N with N = 3f + 6, for (2N)! > 2^32f. */
HU_OUTLINE void hui_series_sin(hu_big *z, const hu_big *a, uint32_t cosine, int32_t f) {
  hu_big t, one = hui_big_of(1, f), sum = one;
  hui_big_mul(&t, a, a, f);
  for (int32_t k = 3 * f + 6; k > 0; k--) {
    uint32_t n = 2 * (uint32_t)k - (cosine != 0);
    hui_big_mul(&sum, &sum, &t, f);
    hui_big_over(&sum, &sum, n * (n + 1), f);
    hui_big_sub(&sum, &one, &sum, f);
  }
  if (!cosine) hui_big_mul(&sum, &sum, a, f);
  *z = sum;
}

/* S(u) = 1 + u/3 + u^2/(3 5) + u^3/(3 5 7) + ... for 0 <= u <= 36.2: the integral of e^-(t^2)/2 from 0 to t is
 * t e^(-u/2) S(u), u = t^2 (Abramowitz and Stegun 26.2.11). S < 2^26. 100 + 9 f terms: from u/(2n+1) < 1/2 on each is
 * less than half of the one before, and the last one is below an ulp. All terms are positive and all partial sums at
 * least 1, so the relative error is below four ulps a step, 2^11 in all, if u is within two ulps. */
HU_OUTLINE void hui_series_normal(hu_big *z, const hu_big *u, int32_t f) {
  hu_big one = hui_big_of(1, f), sum = one;
  for (int32_t k = 100 + 9 * f; k > 0; k--) {
    hui_big_mul(&sum, &sum, u, f);
    hui_big_over(&sum, &sum, 2 * (uint32_t)k + 1, f);
    hui_big_add(&sum, &sum, &one, f);
  }
  *z = sum;
}

/* R(u) = 1/(1 + (1/u)/(1 + (2/u)/(1 + (3/u)/(...)))) for u >= 31.9: the integral of e^-(t^2)/2 from t up is
 * e^(-u/2) R(u) / t (26.2.14). Returns 1 if it is within 2^23 ulps, 0 if not.
 * With v = 1/u and c(k) = 1 + k v / c(k+1), R = 1/c(1), c(n+1) lies between 1 and 1 + (n+1) v; every c falls where the
 * one behind it rises, so the two ends lead to values with R's own between them. c^2 > k v keeps an error from growing
 * from step to step; step k adds k ulps (v's) and two: less than 2^23 for the n < 3000 of them. The ends come out some
 * 2^(-2.7 sqrt(n u)) apart for n > u, hence the n; it is looked at, not supposed. */
HU_OUTLINE int32_t hui_series_tail(hu_big *z, const hu_big *u, int32_t f) {
  hu_big v, a, b, step, one = hui_big_of(1, f);
  uint32_t n = 160 * (uint32_t)(f * f) / u->limb[f] + 7 * (uint32_t)f;
  hui_big_div(&v, &one, u, f);
  a = one;
  hui_big_times(&b, &v, n + 1, f);
  hui_big_add(&b, &b, &one, f);
  for (uint32_t k = n; k > 0; k--) {
    hui_big_times(&step, &v, k, f);
    hui_big_div(&a, &step, &a, f);
    hui_big_add(&a, &a, &one, f);
    hui_big_div(&b, &step, &b, f);
    hui_big_add(&b, &b, &one, f);
  }
  hui_big_div(z, &one, &a, f);
  (void)hui_big_distance(&step, &a, &b, f);
  return hui_big_lead(&step, f) < 11;
}

#endif
