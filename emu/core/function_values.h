/* SPDX-License-Identifier: MIT */
/* emu/core/function_values.h - the elementary functions of a number as a fixed-point number and how far it may be off.
 *
 * Operands here are finite, not zero, of at most 31 digits, and within the limits that emu/core/function.h sets before
 * it comes here. f as in emu/core/big.h. */
#ifndef HALFULP_EMU_CORE_FUNCTION_VALUES_H
#define HALFULP_EMU_CORE_FUNCTION_VALUES_H

#include "emu/core/function_series.h"

/* (-1)^sign z 2^exp, z off by less than 2^error ulps. */
typedef struct hu_real {
  hu_big z;
  int32_t exp, error;
  uint32_t sign;
} hu_real;

/* Are the 64 leading digits known? Then *z has them, with sticky. The value lies strictly between the ends, so it has
 * more than 64 digits if both ends begin with the same ones. If not, *z has those of the lower end. */
HU_OUTLINE int32_t hui_real_decided(hu_num *z, const hu_real *value, int32_t f) {
  hu_big reach = hui_big_of(0, f), low, high;
  reach.limb[value->error >> 5] = (uint32_t)1 << (value->error & 31);
  *z = hui_num_finite(value->sign, (uint64_t)1 << 63, value->exp);
  z->sticky = 1;
  if (hui_big_compare(&value->z, &reach, f) <= 0) return 0;
  hui_big_sub(&low, &value->z, &reach, f);
  hui_big_add(&high, &value->z, &reach, f);
  int32_t place = hui_big_lead(&low, f);
  z->sig = hui_big_digits(&low, place, f);
  z->exp = value->exp + place - 63 - 32 * f;
  return place == hui_big_lead(&high, f) && z->sig == hui_big_digits(&high, place, f);
}

/* ---- exponentials ---- */

/* e^a, or e^-a if `down`, for 0 <= a < 2^13 that is off by less than 2^error ulps: 1 <= z <= 2.1 and exp < 0 if `down`.
 * The whole ln 2 in a, of which each is off by an ulp, make 2^14 ulps; e^r doubles what the remainder is off. */
HU_OUTLINE void hui_real_exp(hu_real *value, const hu_big *a, uint32_t down, int32_t error, int32_t f) {
  hu_big r, ln2 = hui_big_constant(HU_CONSTANT_LN2, f), turns = hui_big_constant(HU_CONSTANT_LOG2E, f);
  hui_big_mul(&turns, &turns, a, f);
  uint32_t k = turns.limb[f] + down;
  hui_big_times(&r, &ln2, k, f);
  while (down && hui_big_compare(&r, a, f) < 0) { /* the product was cut off just below an integer */
    hui_big_add(&r, &r, &ln2, f);
    k++;
  }
  (void)hui_big_distance(&r, &r, a, f);
  hui_series_exp(&value->z, &r, f);
  value->exp = down ? -(int32_t)k : (int32_t)k;
  value->error = error <= 14 ? 16 : error + 2;
  value->sign = 0;
}

/* 2^a, or 2^-a if `down`, for 0 <= a < 2^15. */
HU_OUTLINE void hui_real_exp2(hu_real *value, const hu_big *a, uint32_t down, int32_t error, int32_t f) {
  hu_big r = *a, ln2 = hui_big_constant(HU_CONSTANT_LN2, f), one = hui_big_of(1, f);
  value->exp = (int32_t)a->limb[f];
  r.limb[f] = 0;
  if (down) {
    value->exp = -value->exp - 1;
    hui_big_sub(&r, &one, &r, f);
  }
  hui_big_mul(&r, &r, &ln2, f);
  hui_series_exp(&value->z, &r, f);
  value->error = error <= 10 ? 14 : error + 3;
  value->sign = 0;
}

HU_FN hu_big hui_magnitude(hu_num x, int32_t f) { return hui_big_scaled(x.sig, x.exp, f); }

/* value = e^x - 1. */
HU_OUTLINE void hui_real_expm1(hu_real *value, hu_num x, int32_t f) {
  hu_big a = hui_magnitude(x, f), one = hui_big_of(1, f);
  hui_real_exp(value, &a, x.sign, 0, f);
  if (x.sign) {
    hui_big_down(&value->z, &value->z, -value->exp, f);
    hui_big_sub(&value->z, &one, &value->z, f);
    value->exp = 0;
  } else {
    hui_big_down(&one, &one, value->exp, f);
    hui_big_sub(&value->z, &value->z, &one, f);
  }
  value->sign = x.sign;
  value->error = 17;
}

/* tanh x = (1 - e) / (1 + e), e = e^(-2|x|); e is off by 2^15 ulps, and so are its two neighbours. */
HU_OUTLINE void hui_real_tanh(hu_real *value, hu_num x, int32_t f) {
  hu_big a = hui_magnitude(x, f), one = hui_big_of(1, f), e;
  hui_big_add(&a, &a, &a, f);
  hui_real_exp(value, &a, 1, 1, f);
  hui_big_down(&e, &value->z, -value->exp, f);
  hui_big_sub(&value->z, &one, &e, f);
  hui_big_add(&e, &one, &e, f);
  hui_big_div(&value->z, &value->z, &e, f);
  value->exp = 0;
  value->error = 18;
  value->sign = x.sign;
}

/* 1 / (1 + e^-x); below 0 it is e / (1 + e), e = e^-|x|, with e's own exponent. */
HU_OUTLINE void hui_real_sigmoid(hu_real *value, hu_num x, int32_t f) {
  hu_big a = hui_magnitude(x, f), one = hui_big_of(1, f), e;
  hui_real_exp(value, &a, 1, 1, f);
  hui_big_down(&e, &value->z, -value->exp, f);
  hui_big_add(&e, &one, &e, f);
  if (x.sign) {
    hui_big_div(&value->z, &value->z, &e, f);
  } else {
    hui_big_div(&value->z, &one, &e, f);
    value->exp = 0;
  }
  value->error = 18;
}

/* ---- logarithms ---- */

/* ln(m 2^k), or log2, for 1 <= m < 2 off by less than three ulps and |k| < 2^11. m and k are moved so that m is near 1:
 * then |ln m| < ln(2)/2 + 2^-60 cancels less than one digit of k ln 2. */
HU_OUTLINE void hui_real_log(hu_real *value, hu_big m, int32_t k, uint32_t binary, int32_t f) {
  hu_big l, whole;
  if (hui_big_digits(&m, 32 * f, f) > 0xB504F333F9DE6484u) { /* sqrt 2 */
    hui_big_down(&m, &m, 1, f);
    k++;
  }
  uint32_t below = hui_series_log(&l, &m, f), steps = k < 0 ? (uint32_t)-k : (uint32_t)k;
  whole = hui_big_constant(HU_CONSTANT_LN2, f);
  hui_big_times(&whole, &whole, steps, f);
  if (binary) {
    hu_big unit = hui_big_constant(HU_CONSTANT_LOG2E, f);
    hui_big_mul(&l, &l, &unit, f);
    whole = hui_big_of(steps, f);
  }
  value->exp = 0;
  value->error = 12; /* 2^11 for k times ln 2 and 2^6 */
  value->sign = k == 0 ? below : k < 0;
  if (k == 0) {
    value->z = l;
  } else if (below == (k < 0)) {
    hui_big_add(&value->z, &whole, &l, f);
  } else {
    hui_big_sub(&value->z, &whole, &l, f);
  }
}

HU_OUTLINE void hui_real_log_of(hu_real *value, hu_num x, uint32_t binary, int32_t f) {
  int32_t k = hui_exponent(x);
  hui_real_log(value, hui_big_scaled(x.sig, x.exp - k, f), k, binary, f);
}

/* ln(1 + x), x > -1: the sum is exact in fixed point, but of a large x the one is added to the digits of x. */
HU_OUTLINE void hui_real_log1p(hu_real *value, hu_num x, int32_t f) {
  hu_big m, one = hui_big_of(1, f);
  int32_t k = hui_exponent(x);
  if (!x.sign && k >= 30) {
    m = hui_big_scaled(x.sig, x.exp - k, f);
    hui_big_down(&one, &one, k, f);
    hui_big_add(&m, &m, &one, f);
  } else {
    m = hui_magnitude(x, f);
    if (x.sign) {
      hui_big_sub(&m, &one, &m, f);
    } else {
      hui_big_add(&m, &one, &m, f);
    }
    k = hui_big_lead(&m, f) - 32 * f;
    if (k >= 0) {
      hui_big_down(&m, &m, k, f);
    } else {
      hui_big_up(&m, &m, -k, f);
    }
  }
  hui_real_log(value, m, k, 0, f);
}

/* x^y = 2^(y log2 x) for x > 0. Returns -1 if |y log2 x| < 2^-67, 1 if it is 2^13 or more, else 0 and *value. */
HU_OUTLINE int32_t hui_real_pow(hu_real *value, hu_num x, hu_num y, int32_t f) {
  hu_real logarithm;
  hui_real_log_of(&logarithm, x, 1, f);
  value->sign = logarithm.sign ^ y.sign; /* of the exponent: for the callers of the two ends */
  int32_t size = hui_big_lead(&logarithm.z, f) - 32 * f + hui_exponent(y); /* the product is below 2^(size + 2) */
  if (size < -69) return -1;
  if (size >= 13) return 1;
  hui_big_times(&logarithm.z, &logarithm.z, (uint32_t)y.sig, f);
  if (0 > y.exp) {
    hui_big_down(&logarithm.z, &logarithm.z, -y.exp, f);
  } else {
    hui_big_up(&logarithm.z, &logarithm.z, y.exp, f);
  }
  hui_real_exp2(value, &logarithm.z, value->sign, 44 + (y.exp > 0 ? y.exp : 0), f);
  return 0;
}

/* ---- the normal distribution ---- */

/* What erf and gelu have in common, for u = (sig 2^exp)^2 2^twice: z 2^exp = e^(-u/2) S(u) below `limit`, off by less
 * than 2^43 ulps (S < 2^26 times 2^16 of e and 2^12), or e^(-u/2) R(u) from there, off by 2^25. Returns 1 for the
 * latter, -1 if R is not known well enough. */
HU_OUTLINE int32_t hui_real_normal(hu_real *value, hu_num x, int32_t twice, uint32_t limit, int32_t f) {
  hu_big u = hui_big_scaled(x.sig * x.sig, 2 * x.exp + twice, f), half;
  hui_big_down(&half, &u, 1, f);
  hui_real_exp(value, &half, 1, 1, f);
  int32_t tail = u.limb[f] >= limit, known = 1;
  if (tail) {
    known = hui_series_tail(&u, &u, f);
  } else {
    hui_series_normal(&u, &u, f);
  }
  hui_big_mul(&value->z, &value->z, &u, f);
  value->error = tail ? 25 : 43;
  value->sign = x.sign;
  return known ? tail : -1;
}

/* erf x = x (2/sqrt pi) e^(-x^2) S(2 x^2), or 1 - e^(-x^2) R(2 x^2) / (x sqrt pi) for larger x. */
HU_OUTLINE int32_t hui_real_erf(hu_real *value, hu_num x, int32_t f) {
  hu_big unit = hui_big_constant(HU_CONSTANT_INV_ROOT_PI, f), one = hui_big_of(1, f), a;
  int32_t tail = hui_real_normal(value, x, 1, 32, f);
  if (tail < 0) return 0;
  hui_big_mul(&value->z, &value->z, &unit, f);
  if (tail) {
    a = hui_magnitude(x, f);
    hui_big_div(&value->z, &value->z, &a, f);
    hui_big_down(&value->z, &value->z, -value->exp, f);
    hui_big_sub(&value->z, &one, &value->z, f);
    value->exp = 0;
  } else {
    hui_big_times(&value->z, &value->z, (uint32_t)x.sig, f); /* below 2^26 2.1 0.6 2^31 */
    value->exp += x.exp + 1;
    value->error = 75;
  }
  return 1;
}

/* x Phi(x): Phi(x) = 1/2 + x e^(-u/2) S(u) / sqrt(2 pi), u = x^2, for |x| < 6; beyond it is 1 - e^(-u/2) R(u) /
 * (x sqrt(2 pi)), and below 0 the x of the quotient goes against the one outside. S e^(-u/2) |x| < 1.3, so that Phi is
 * off by less than 2^20 ulps. */
HU_OUTLINE int32_t hui_real_gelu(hu_real *value, hu_num x, int32_t f) {
  hu_big unit = hui_big_constant(HU_CONSTANT_INV_ROOT_2PI, f), one = hui_big_of(1, f), a = hui_magnitude(x, f);
  int32_t tail = hui_real_normal(value, x, 0, 36, f);
  if (tail < 0) return 0;
  hui_big_mul(&value->z, &value->z, &unit, f);
  if (tail && x.sign) return 1;
  if (tail) {
    hui_big_div(&value->z, &value->z, &a, f);
  } else {
    hui_big_mul(&value->z, &value->z, &a, f);
    hui_big_down(&one, &one, 1, f);
  }
  hui_big_down(&value->z, &value->z, -value->exp, f);
  if (tail || x.sign) {
    hui_big_sub(&value->z, &one, &value->z, f);
  } else {
    hui_big_add(&value->z, &one, &value->z, f);
  }
  hui_big_times(&value->z, &value->z, (uint32_t)x.sig, f);
  value->exp = x.exp;
  value->error = 54;
  return 1;
}

/* ---- sine and cosine ---- */

/* Returns 32 bits of 2/pi, the lowest of them with the weight 2^-last. */
HU_FN uint32_t hui_two_over_pi_bits(int32_t last) {
  int32_t digit = (last - 1) >> 5, shift = 31 - ((last - 1) & 31); /* of negative numbers: toward below */
  uint32_t here = digit >= 0 ? hui_two_over_pi_digit(digit) : 0,
           above = digit > 0 ? hui_two_over_pi_digit(digit - 1) : 0;
  return shift ? here >> shift | above << (32 - shift) : here;
}

/* sin x or cos x. Of |x| 2/pi only the fraction and two bits above it matter, so 2/pi is read from where its product
 * with 2^exp begins to have weights below 2^32: what is cut off is an ulp, and sig of them below 2^31. */
HU_OUTLINE void hui_real_sin(hu_real *value, hu_num x, uint32_t cosine, int32_t f) {
  hu_big a = hui_big_of(0, f), half_pi = hui_big_constant(HU_CONSTANT_HALF_PI, f), one = hui_big_of(1, f);
  for (int32_t i = 0; i <= f; i++) a.limb[i] = hui_two_over_pi_bits(x.exp + 32 * (f - i));
  hui_big_times(&a, &a, (uint32_t)x.sig, f);
  uint32_t quarter = a.limb[f] + cosine, turned;
  a.limb[f] = 0;
  a.limb[f + 1] = 0;
  turned = a.limb[f - 1] >> 31; /* more than an eighth of a turn: from the other end */
  if (turned) hui_big_sub(&a, &one, &a, f);
  hui_big_mul(&a, &a, &half_pi, f);
  hui_series_sin(&value->z, &a, (quarter & 1) ^ turned, f);
  value->exp = 0;
  value->error = 33;
  value->sign = (quarter >> 1 & 1) ^ (cosine ? 0 : x.sign);
}

#endif
