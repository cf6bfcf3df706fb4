/* SPDX-License-Identifier: MIT */
/* emu/arith/function_quick.h - computes elementary functions in binary64 with a proved error bound, and tests whether
 * the bound decides the result.
 *
 * Results are odd patterns of 53 digits, or exact ones, that stand for the exact result in any rounding that looks
 * at no more than 26 digits. Each function computes a y with |y - f(x)| < 2^-44 |f(x)|, less than 2^9 ulps of y.
 * Where all numbers within 2^9 ulps of y have the same 26 first digits, these are f(x)'s, and something follows,
 * for the exact result is strictly between: the pattern is those digits and a 1 at the end. Where they have not,
 * `known` is 0 and emu/core/function.h has to decide. No result is supposed, so binary64 may differ from one level
 * or machine to another (by a fused multiply-add, say) without a code being different.
 *
 * Operands: binary64 numbers of at most 24 digits (so that squares and sums with 1 are exact or nearly), 0 or from
 * 2^-1000 to 2^1000 in magnitude; the caller sees to that. `known` is 0 too where x is outside what a function does
 * here. Next to a number of at most 26 digits, by less than 2^-26 of it, the result is that number's pattern and
 * one more or less. All that is supposed of binary64 is IEEE 754's arithmetic, to nearest, subnormals kept
 * (emu/base/float_env.h), without contraction; no libm. C11, C++17 and CUDA compile the same text; there are no
 * branches, so that compilers can put a loop of these into lanes.
 *
 * The bounds. u = 2^-53, one rounding. Sums of the polynomials' few digits: an error of 2^-50 in each, their own
 * among it (emu/arith/function_polynomials.h), for their values are near their leading coefficients.
 *   exp      x = k ln 2 + r, k ln2_hi exact: r within 2^-60 + u |r|; (1 + r p) 2^k: 2^-50.
 *   expm1    2^k (r p) + (2^k - 1): relative for k = 0; else the sum is above 0.29 of its larger term: 2^-48.
 *   log      k ln 2 + q p(q^2), q = (m - 1) / (m + 1) within 2 u for m - 1 is exact; for k = 0 relative, else the sum
 *            is above 0.34 and its terms below it except ln 2 / 2: 2^-49. log1p: 1 + x is exact or x > 2^28. log2:
 *            2^-48.
 *   tanh     d / (d + 2), d = expm1(2 |x|): 2^-46. sigmoid 1 / (1 + e^-x): 2^-48.
 *   erf      x p(x^2): 2^-49; from 1/2 on 1 - e^-(x^2) P(w) / (1 + 2 x): below 0.48 subtracted from 1: 2^-47.
 *   gelu     Q = e^-(x^2/2) P(w) / (1 + 2 t) / 2, t = |x| / sqrt 2 within 2 u, w within 6 u, P' small, x^2 exact:
 *            2^-47; x (1 - Q) or x Q.
 *   sin, cos x - k pi/2, pi/2 in three parts of which the first two are exact with k < 2^20: the remainder, at least
 *            2^-45 for 24 digits, within 2^-50 of itself: 2^-48.
 *   rsqrt, reciprocal: two roundings.
 *   pow      see there. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_QUICK_H
#define HALFULP_EMU_ARITH_FUNCTION_QUICK_H

#include "emu/arith/function_polynomials.h"

HU_FN uint64_t hui_pattern64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

HU_FN double hui_double64(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

typedef struct hu_quick_result {
  uint64_t bits;
  uint64_t known; /* 1 or 0 */
} hu_quick_result;

HU_FN double hui_abs64(double x) { return hui_double64(hui_pattern64(x) & 0x7FFFFFFFFFFFFFFFu); }

enum { HU_QUICK_SPARE = 27 }; /* of a pattern's 53 digits, those that no rounding looks at */

/* A test may look at each y. */
#ifndef HU_QUICK_SEEN
#define HU_QUICK_SEEN(y) ((void)0)
#endif

/* The pattern for y; known if `fit` (the operand is one for the function) and the test decides. */
HU_FN hu_quick_result hui_quick_decided(double y, uint64_t fit) {
  hu_quick_result q;
  HU_QUICK_SEEN(y);
  uint64_t u = hui_pattern64(y), reach = 512, low = (u - reach) >> HU_QUICK_SPARE;
  q.bits = (u >> HU_QUICK_SPARE << HU_QUICK_SPARE) | 1;
  q.known = fit & (low == (u + reach) >> HU_QUICK_SPARE);
  return q;
}

/* Replaces the pattern where the condition holds. */
HU_FN hu_quick_result hui_quick_or(hu_quick_result q, uint64_t condition, uint64_t bits) {
  q.bits = condition ? bits : q.bits;
  q.known |= condition;
  return q;
}

/* Return the neighbour of base away from zero, toward it. */
HU_FN uint64_t hui_quick_above(double base) { return hui_pattern64(base) + 1; }
HU_FN uint64_t hui_quick_below(double base) { return hui_pattern64(base) - 1; }

/* Is base, from 1/2 to 2, a multiple of 2^-41 or more? Then a result beside it, by less, is in the same part of
 * 2^-26. */
HU_FN int hui_quick_few(double base) { return (hui_pattern64(base) & 0xFFF) == 0; }

/* Returns 2^k for k + 1.5 2^52 as it comes out of a sum, |k| < 1023. */
HU_FN double hui_power_of_two64(double shifted) { return hui_double64((hui_pattern64(shifted) + 1023) << 52); }

#define HU_SHIFTER 0x1.8p52
#define HU_LN2_HI 0x1.62e42fefap-1 /* 36 digits of ln 2, and the rest */
#define HU_LN2_LO 0x1.cf79abc9e3b3ap-40

/* e^x - 1 = power (r p) + (power - 1), e^x = power (1 + r p): returns r p. |x| < 700. */
HU_FN double hui_quick_reduced_exp(double x, double *power) {
  double shifted = x * 0x1.71547652b82fep0 + HU_SHIFTER, k = shifted - HU_SHIFTER;
  double r = (x - k * HU_LN2_HI) - k * HU_LN2_LO;
  *power = hui_power_of_two64(shifted);
  return r * hui_polynomial_expm1(r);
}

HU_FN double hui_quick_exp_value(double x) {
  double power, d = hui_quick_reduced_exp(x, &power);
  return power + power * d;
}

HU_FN double hui_quick_expm1_value(double x) {
  double power, d = hui_quick_reduced_exp(x, &power);
  return power * d + (power - 1);
}

HU_FN hu_quick_result hui_quick_exp(double x) {
  double a = hui_abs64(x);
  hu_quick_result q = hui_quick_decided(hui_quick_exp_value(x), a < 700);
  q = hui_quick_or(q, (a < 0x1p-21) & hui_quick_few(1 + x), hui_quick_above(1 + x)); /* 1 + x + x^2/2 */
  q = hui_quick_or(q, (a < 0x1p-28), x > 0 ? hui_quick_above(1) : hui_quick_below(1));
  return hui_quick_or(q, x == 0, hui_pattern64(1));
}

HU_FN hu_quick_result hui_quick_exp2(double x) {
  double a = hui_abs64(x), shifted = x + HU_SHIFTER, r = (x - (shifted - HU_SHIFTER)) * 0x1.62e42fefa39efp-1;
  double power = hui_power_of_two64(shifted);
  hu_quick_result q = hui_quick_decided(power + power * (r * hui_polynomial_expm1(r)), a < 1000);
  q = hui_quick_or(q, (a < 0x1p-28), x > 0 ? hui_quick_above(1) : hui_quick_below(1));
  return hui_quick_or(q, x == 0, hui_pattern64(1));
}

HU_FN hu_quick_result hui_quick_expm1(double x) {
  double a = hui_abs64(x);
  hu_quick_result q = hui_quick_decided(hui_quick_expm1_value(x), a < 700);
  q = hui_quick_or(q, x < -20, hui_quick_below(-1));
  q = hui_quick_or(q, (a < 0x1p-28), x > 0 ? hui_quick_above(x) : hui_quick_below(x));
  return hui_quick_or(q, x == 0, hui_pattern64(x));
}

/* Splits a normal x > 0 into m 2^k with m between about sqrt(1/2) and sqrt 2. */
HU_FN double hui_quick_split(double x, double *k) {
  uint64_t u = hui_pattern64(x), field = (u - 0x3FE6A09E00000000u + ((uint64_t)1024 << 52)) >> 52;
  *k = hui_double64(0x4330000000000000u | field) - (0x1p52 + 1024);
  return hui_double64(u - (field << 52) + ((uint64_t)1024 << 52));
}

/* Returns ln x for a normal x > 0, and log2 x if `binary`. */
HU_FN double hui_quick_log_value(double x, int binary) {
  double k, m = hui_quick_split(x, &k);
  double q = (m - 1) / (m + 1), l = q * hui_polynomial_log(q * q);
  if (binary) return k + l * 0x1.71547652b82fep0;
  return k * HU_LN2_HI + (k * HU_LN2_LO + l);
}

HU_FN hu_quick_result hui_quick_log(double x, int binary) {
  return hui_quick_decided(hui_quick_log_value(x, binary), x > 0);
}

HU_FN hu_quick_result hui_quick_log1p(double x) {
  hu_quick_result q = hui_quick_decided(hui_quick_log_value(1 + x, 0), x > -1);
  q = hui_quick_or(q, hui_abs64(x) < 0x1p-27, x > 0 ? hui_quick_below(x) : hui_quick_above(x));
  return hui_quick_or(q, x == 0, hui_pattern64(x));
}

HU_FN double hui_quick_signed(double y, double x) {
  return hui_double64(hui_pattern64(y) | (hui_pattern64(x) & 0x8000000000000000u));
}

HU_FN hu_quick_result hui_quick_tanh(double x) {
  double a = hui_abs64(x), d = hui_quick_expm1_value(a + a);
  hu_quick_result q = hui_quick_decided(hui_quick_signed(d / (d + 2), x), a < 300);
  q = hui_quick_or(q, a > 12, hui_quick_below(hui_quick_signed(1, x)));
  q = hui_quick_or(q, a < 0x1p-14, hui_quick_below(x));
  return hui_quick_or(q, x == 0, hui_pattern64(x));
}

HU_FN hu_quick_result hui_quick_sigmoid(double x) {
  double a = hui_abs64(x);
  hu_quick_result q = hui_quick_decided(1 / (1 + hui_quick_exp_value(-x)), a < 700);
  double near = 0.5 + 0.25 * x; /* less x^3/48 */
  q = hui_quick_or(q, x > 20, hui_quick_below(1));
  q = hui_quick_or(q, (a < 0x1p-13) & hui_quick_few(near), x > 0 ? hui_quick_below(near) : hui_quick_above(near));
  q = hui_quick_or(q, (a < 0x1p-28), x > 0 ? hui_quick_above(0.5) : hui_quick_below(0.5));
  return hui_quick_or(q, x == 0, hui_pattern64(0.5));
}

/* erfc(t) e^(t^2), 0 <= t < HU_ERFC_LAST. */
HU_FN double hui_quick_scaled_erfc(double t) {
  double w = HU_ERFC_SCALE * t / (t + 3.75) - 1;
  return hui_polynomial_erfc(w) / (1 + 2 * t);
}

HU_FN hu_quick_result hui_quick_erf(double x) {
  double a = hui_abs64(x), square = a * a, small = a * hui_polynomial_erf(square);
  double large = 1 - hui_quick_exp_value(-square) * hui_quick_scaled_erfc(a);
  hu_quick_result q = hui_quick_decided(hui_quick_signed(a < 0.5 ? small : large, x), a < 20);
  q = hui_quick_or(q, a > 4.25, hui_quick_below(hui_quick_signed(1, x)));
  return hui_quick_or(q, x == 0, hui_pattern64(x));
}

HU_FN hu_quick_result hui_quick_gelu(double x) {
  double a = hui_abs64(x), half = x * 0.5;
  double tail = hui_quick_exp_value(half * -x) * hui_quick_scaled_erfc(a * 0x1.6a09e667f3bcdp-1) * 0.5;
  hu_quick_result q = hui_quick_decided(x * (x < 0 ? tail : 1 - tail), a < 37);
  q = hui_quick_or(q, x > 6, hui_quick_below(x));
  q = hui_quick_or(q, (a < 0x1p-28), x > 0 ? hui_quick_above(half) : hui_quick_below(half));
  return hui_quick_or(q, x == 0, hui_pattern64(x));
}

HU_FN hu_quick_result hui_quick_reciprocal(double x) { return hui_quick_decided(1 / x, x != 0); }

/* sin x, cos x. The parts of pi/2 have 33 digits each and what is left. */
HU_FN hu_quick_result hui_quick_sin(double x, uint64_t cosine) {
  double a = hui_abs64(x), shifted = a * 0x1.45f306dc9c883p-1 + HU_SHIFTER, k = shifted - HU_SHIFTER;
  double r = ((a - k * 0x1.921fb544p0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69, t = r * r;
  uint64_t quarter = hui_pattern64(shifted) + cosine;
  double s = r * hui_polynomial_sin(t), c = hui_polynomial_cos(t), y = quarter & 1 ? c : s;
  uint64_t flip = (quarter & 2) << 62, sign = cosine ? 0 : hui_pattern64(x) & 0x8000000000000000u;
  hu_quick_result q = hui_quick_decided(hui_double64(hui_pattern64(y) ^ flip ^ sign), a < 0x1p20);
  q = hui_quick_or(q, a < 0x1p-14, cosine ? hui_quick_below(1) : hui_quick_below(x));
  return hui_quick_or(q, x == 0, cosine ? hui_pattern64(1) : hui_pattern64(x));
}

/* ---- x^y ---- */

/* a b = *high + *low exactly, by Veltkamp's and Dekker's halves; |a|, |b| within 2^-400 ... 2^400 or 0. */
HU_FN void hui_product64(double a, double b, double *high, double *low) {
  double p = a * 134217729.0, ah = p - (p - a), al = a - ah;
  double q = b * 134217729.0, bh = q - (q - b), bl = b - bh;
  *high = a * b;
  *low = ((ah * bh - *high) + ah * bl + al * bh) + al * bl;
}

/* x^y = 2^(y log2 x), x > 0 of at most 24 digits. q = (m - 1) / (m + 1) in two parts, of exact terms, to 2^-100 of
 * itself; ln m = 2 q + q^3 p(q^2), the second below 0.01 of the first and off by 2^-50 of itself; times 1/ln 2 in
 * two parts, plus k: log2 x within 2^-56 of itself (for k other than 0 it is at least a half, and cancels less than
 * a digit where log2 m is as large). |y log2 x| < 700, so the exponent is within 2^-46, and the power within 2^-46
 * of itself. */
HU_FN hu_quick_result hui_quick_pow(double x, double y) {
  double k, m = hui_quick_split(x, &k), above = m - 1, below = m + 1;
  double q = above / below, ph, pl, lh, ll, eh, el;
  hui_product64(q, below, &ph, &pl);
  double rest = ((above - ph) - pl) / below, s = q * q;
  rest = 2 * rest + q * s * hui_polynomial_log_rest(s);
  hui_product64(2 * q, 0x1.71547652b82fep0, &lh, &ll);
  ll += 2 * q * 0x1.777d0ffda0d24p-56 + rest * 0x1.71547652b82fep0;
  double sum = k + lh, low = (k == 0 ? 0 : (k - sum) + lh) + ll, high = sum + low; /* |k| > |lh| unless k = 0 */
  low = (sum - high) + low;
  hui_product64(high, y, &eh, &el);
  el += low * y;
  double shifted = eh + HU_SHIFTER, r = ((eh - (shifted - HU_SHIFTER)) + el) * 0x1.62e42fefa39efp-1;
  double power = hui_power_of_two64(shifted), size = hui_abs64(eh);
  hu_quick_result z = hui_quick_decided(power + power * (r * hui_polynomial_expm1(r)), size < 700);
  return hui_quick_or(z, (size < 0x1p-28), eh > 0 ? hui_quick_above(1) : hui_quick_below(1));
}

#endif
