/* SPDX-License-Identifier: MIT */
/* emu/core/function.h - exact results of the elementary functions of docs/numerics.md section 12, in integers.
 *
 * hui_function_of is to these what hui_exact_of of emu/core/arith.h is to arithmetic: the exact result of exact
 * operands as a hu_num, all of it or its 64 leading digits and sticky, and with it every mode of every format rounds
 * rightly.
 *
 * Results that end are found first: by integers (reciprocal, rsqrt, pow with rational results, exp2 and log2 of
 * powers of two) or by argument: e^x, e^x - 1, tanh, sigmoid, sin and cos of a rational x other than 0 and ln of
 * one other than 1 are transcendental (Lindemann and Weierstrass), and so are 2^y and log2 x unless rational
 * (Gelfond and Schneider). Then results that are so near to a number of few digits that it and sticky say it all.
 * For the others digits are computed, 192 behind the point at first, until those after the 64th are neither all 0
 * nor all 1 as far as they are known: that a number of 64 digits was missed would show there, so nothing is
 * supposed about erf and gelu either. Each doubling, to 384 and 768 digits, makes a failure some 2^190 times as
 * rare; what 768 digits leave open (no such operand is known) gets the
 * digits of the lower end, the same everywhere. Integers only; C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_FUNCTION_H
#define HALFULP_EMU_CORE_FUNCTION_H

#include "emu/core/arith.h"
#include "emu/core/function_values.h"

/* ---- results that need no digits ---- */

/* A number whose magnitude differs from that of x (at most 62 digits) by less than 2^-64 of it. */
HU_FN hu_num hui_beside(hu_num x, uint32_t above) {
  int32_t lead = hui_clz64(x.sig);
  x.sig <<= lead;
  x.exp -= lead;
  if (!above) {
    x.sig--;
    if (!(x.sig >> 63)) { /* from a power of two into the binade below */
      x.sig = x.sig << 1 | 1;
      x.exp--;
    }
  }
  x.sticky = 1;
  return x;
}

/* Return what lies above, below all that a format looks at. */
HU_FN hu_num hui_beyond_all(uint32_t sign) { return hui_beside(hui_num_finite(sign, 1, 6000), 1); }
HU_FN hu_num hui_below_all(uint32_t sign) { return hui_beside(hui_num_finite(sign, 1, -6000), 1); }

HU_FN hu_num hui_one(uint32_t sign) { return hui_num_finite(sign, 1, 0); }

HU_FN hu_num hui_pole(uint32_t sign, uint32_t *raised) {
  *raised |= HU_EVENT_DIVIDE_BY_ZERO;
  return hui_num_special(HU_KIND_INF, sign);
}

HU_FN uint32_t hui_is_power_of_two(hu_num x) { return (x.sig & (x.sig - 1)) == 0; }

/* Drops the zeros at the end of x. */
HU_FN hu_num hui_stripped(hu_num x) {
  while (!(x.sig & 1)) {
    x.sig >>= 1;
    x.exp++;
  }
  return x;
}

/* The result for an operand that is a NaN, an infinity or a zero. */
HU_OUTLINE hu_num hui_function_special(int32_t op, hu_num x, uint32_t *raised) {
  uint32_t infinite = x.kind == HU_KIND_INF;
  if (x.kind == HU_KIND_NAN) return x;
  switch (op) {
    case HU_OP_EXP:
    case HU_OP_EXP2:
      if (!infinite) return hui_one(0);
      return x.sign ? hui_num_special(HU_KIND_ZERO, 0) : x;
    case HU_OP_EXPM1: return infinite && x.sign ? hui_one(1) : x;
    case HU_OP_LOG:
    case HU_OP_LOG2:
      if (!infinite) return hui_pole(1, raised);
      return x.sign ? hui_exact_invalid(raised) : x;
    case HU_OP_LOG1P: return infinite && x.sign ? hui_exact_invalid(raised) : x;
    case HU_OP_TANH:
    case HU_OP_ERF: return infinite ? hui_one(x.sign) : x;
    case HU_OP_SIGMOID:
      if (!infinite) return hui_num_finite(0, 1, -1);
      return x.sign ? hui_num_special(HU_KIND_ZERO, 0) : hui_one(0);
    case HU_OP_GELU: return infinite && x.sign ? hui_num_special(HU_KIND_ZERO, 1) : x;
    case HU_OP_RSQRT:
      if (!infinite) return hui_pole(x.sign, raised);
      return x.sign ? hui_exact_invalid(raised) : hui_num_special(HU_KIND_ZERO, 0);
    default: /* sin, cos */
      if (infinite) return hui_exact_invalid(raised);
      return op == HU_OP_COS ? hui_one(0) : x;
  }
}

/* ---- 1 / sqrt x, in integers ---- */

/* x = s 2^e, s odd except for a factor 2 that makes e even. 2^2t / s has 127 or 128 digits; the root of its integer
 * part has 64 and is the integer part of 2^t / sqrt s. That ends only for s = 1: the root of an odd s > 1 is irrational
 * or an odd number above 1, which divides no power of two. */
HU_OUTLINE hu_num hui_inverse_root(hu_num x) {
  x = hui_stripped(x);
  if (x.exp & 1) {
    x.sig <<= 1;
    x.exp--;
  }
  if (x.sig == 1) return hui_num_finite(0, 1, -(x.exp / 2));
  int32_t digits = 64 - hui_clz64(x.sig), t2 = 127 + digits - (digits & 1 ? 0 : 1);
  uint64_t hi = 0, lo = 0, rest = 1, root = 0, above = 0, left = 0;
  for (int32_t i = 0; i < t2; i++) {
    rest <<= 1;
    uint32_t fits = rest >= x.sig;
    if (fits) rest -= x.sig;
    hi = hi << 1 | lo >> 63;
    lo = lo << 1 | fits;
  }
  for (int32_t i = 0; i < 64; i++) { /* a digit of the root from two of the quotient; (above, left) remains */
    above = above << 2 | left >> 62;
    left = left << 2 | hi >> 62;
    hi = hi << 2 | lo >> 62;
    lo <<= 2;
    uint64_t trial_hi = root >> 62, trial_lo = root << 2 | 1;
    uint32_t fits = above > trial_hi || (above == trial_hi && left >= trial_lo);
    if (fits) {
      above -= trial_hi + (left < trial_lo);
      left -= trial_lo;
    }
    root = root << 1 | fits;
  }
  hu_num z = hui_num_finite(0, root, -(t2 / 2) - x.exp / 2);
  z.sticky = 1;
  return z;
}

/* ---- pow ---- */

/* The root of s, or 0 if s is no square. */
HU_FN uint64_t hui_square_root(uint64_t s) {
  uint64_t root = 0;
  for (int32_t i = 15; i >= 0; i--) {
    uint64_t trial = root | (uint64_t)1 << i;
    if (trial * trial <= s) root = trial;
  }
  return root * root == s ? root : 0;
}

/* 1 and the result if |x|^y is a number of at most 64 digits or beyond every format and rational; 0 if it is not: then
 * it has more digits. x = s 2^k with s odd; a y with digits behind the point halves them as long as s and
 * 2^k are squares, and otherwise the power is irrational. A negative integer power of s > 1 is a fraction that does not
 * end; a positive one is an odd integer. */
HU_OUTLINE int32_t hui_pow_rational(hu_num *z, hu_num x, hu_num y) {
  x = hui_stripped(x);
  y = hui_stripped(y);
  for (; 0 > y.exp; y.exp++) {
    uint64_t root = hui_square_root(x.sig);
    if (x.exp & 1 || root == 0) return 0;
    x.sig = root;
    x.exp /= 2;
  }
  if (x.sig == 1) {
    uint64_t steps = (uint64_t)(0 > x.exp ? -x.exp : x.exp) * y.sig;
    uint32_t down = (0 > x.exp) != y.sign;
    int32_t far = y.exp > 12 || steps << y.exp > 4096;
    *z = hui_num_finite(0, 1, far ? 0 : down ? -(int32_t)(steps << y.exp) : (int32_t)(steps << y.exp));
    if (far) *z = down ? hui_below_all(0) : hui_beyond_all(0);
    return 1;
  }
  if (y.sign || y.exp > 5 || y.sig << y.exp > 40) return 0; /* 3^41 has 65 digits */
  uint64_t power = 1;
  for (uint64_t i = y.sig << y.exp; i > 0; i--) {
    if (power > ~(uint64_t)0 / x.sig) return 0;
    power *= x.sig;
  }
  *z = hui_num_finite(0, power, x.exp * (int32_t)(y.sig << y.exp));
  return 1;
}

/* Returns |x|^y for finite x and y, neither of them 0 and |x| not 1. */
HU_OUTLINE hu_num hui_power(hu_num x, hu_num y) {
  hu_num z = hui_one(0);
  x.sign = 0;
  if (hui_pow_rational(&z, x, y)) return z;
  for (int32_t f = 6; f <= HU_BIG_FRACTION; f *= 2) {
    hu_real value;
    int32_t size = hui_real_pow(&value, x, y, f);
    if (size < 0) return hui_beside(hui_one(0), !value.sign);
    if (size > 0) return value.sign ? hui_below_all(0) : hui_beyond_all(0);
    if (hui_real_decided(&z, &value, f)) break;
  }
  return z;
}

/* Is a finite y no integer (0), an odd (1) or an even one (2)? */
HU_FN uint32_t hui_integer_kind(hu_num y) {
  if (y.kind == HU_KIND_ZERO) return 2;
  y = hui_stripped(y);
  return 0 > y.exp ? 0 : y.exp > 0 ? 2 : 1;
}

/* Computes x^y as IEEE 754-2019 9.2.1 has it. */
HU_OUTLINE hu_num hui_exact_pow(hu_num x, hu_num y, uint32_t *raised) {
  uint32_t unit = x.kind == HU_KIND_FINITE && hui_is_power_of_two(x) && hui_exponent(x) == 0;
  if (y.kind == HU_KIND_ZERO || (unit && !x.sign)) return hui_one(0);
  if (x.kind == HU_KIND_NAN) return x;
  if (y.kind == HU_KIND_NAN) return y;
  if (y.kind == HU_KIND_INF) {
    if (unit) return hui_one(0);
    uint32_t large = x.kind == HU_KIND_INF || (x.kind == HU_KIND_FINITE && hui_exponent(x) >= 0);
    return hui_num_special(large != y.sign ? HU_KIND_INF : HU_KIND_ZERO, 0);
  }
  uint32_t whole = hui_integer_kind(y), sign = x.sign && whole == 1;
  if (x.kind == HU_KIND_INF) return hui_num_special(y.sign ? HU_KIND_ZERO : HU_KIND_INF, sign);
  if (x.kind == HU_KIND_ZERO) return y.sign ? hui_pole(sign, raised) : hui_num_special(HU_KIND_ZERO, sign);
  if (x.sign && whole == 0) return hui_exact_invalid(raised);
  hu_num z = unit ? hui_one(0) : hui_power(x, y);
  z.sign = (uint8_t)sign;
  return z;
}

/* ---- the functions of one operand ---- */

/* Returns floor(|x|) of a finite |x| < 2^12. */
HU_FN uint64_t hui_whole(hu_num x) { return x.exp >= 0 ? x.sig << x.exp : hui_shift_right(x.sig, -x.exp); }

/* Is |x| >= 800, or 1154 = 800 / ln 2 for powers of two? Then e^|x| > 2^1154 is beyond all numbers of all formats, and
 * e^-|x| below 2^-40 of them. */
HU_FN uint32_t hui_is_far(hu_num x, uint32_t binary) {
  int32_t k = hui_exponent(x);
  return k >= 12 || (k >= 0 && hui_whole(x) >= (binary ? 1154 : 800));
}

/* 1 and the result if x, finite and not 0, needs no digits: k = floor(log2 |x|). */
HU_OUTLINE int32_t hui_function_quickly(hu_num *z, int32_t op, hu_num x, uint32_t *raised) {
  int32_t k = hui_exponent(x);
  uint32_t far = hui_is_far(x, op == HU_OP_EXP2);
  hu_num half = hui_num_finite(x.sign, x.sig, x.exp - 1);
  *z = hui_one(0);
  switch (op) {
    case HU_OP_EXP2:
    case HU_OP_EXP:
      if (far) *z = x.sign ? hui_below_all(0) : hui_beyond_all(0);
      if (k < -67) *z = hui_beside(hui_one(0), !x.sign);
      if (!far && op == HU_OP_EXP2 && hui_stripped(x).exp >= 0) {
        int32_t n = (int32_t)hui_whole(x);
        *z = hui_num_finite(0, 1, x.sign ? -n : n);
        return 1;
      }
      return far || k < -67;
    case HU_OP_EXPM1:
      if (k < -66) *z = hui_beside(x, !x.sign);
      if (k >= 6) *z = x.sign ? hui_beside(hui_one(1), 0) : hui_beyond_all(0);
      return k < -66 || (x.sign ? k >= 6 : far);
    case HU_OP_LOG:
    case HU_OP_LOG2:
      if (x.sign) *z = hui_exact_invalid(raised);
      if (x.sign) return 1;
      if (!hui_is_power_of_two(x) || (k != 0 && op == HU_OP_LOG)) return 0;
      *z = hui_num_finite(k < 0, (uint64_t)(k < 0 ? -k : k), 0);
      return 1;
    case HU_OP_LOG1P:
      if (x.sign && k >= 0) *z = k == 0 && hui_is_power_of_two(x) ? hui_pole(1, raised) : hui_exact_invalid(raised);
      if (k < -66) *z = hui_beside(x, x.sign);
      return (x.sign && k >= 0) || k < -66;
    case HU_OP_TANH: *z = hui_beside(k < 0 ? x : hui_one(x.sign), 0); return k < -33 || k >= 5;
    case HU_OP_SIGMOID:
      if (k < -66) *z = hui_beside(hui_num_finite(0, 1, -1), !x.sign);
      if (k >= 6) *z = x.sign ? hui_below_all(0) : hui_beside(hui_one(0), 0);
      return k < -66 || (x.sign ? far : k >= 6);
    case HU_OP_ERF: *z = hui_beside(hui_one(x.sign), 0); return k >= 3;
    case HU_OP_GELU:
      *z = k < 0 ? hui_beside(half, !x.sign) : x.sign ? hui_below_all(1) : hui_beside(x, 0);
      return k < -67 || k >= 12 || (k >= 0 && hui_whole(x) >= (x.sign ? 42 : 12)); /* 42^2 / 2 > 800 */
    case HU_OP_RSQRT: *z = x.sign ? hui_exact_invalid(raised) : hui_inverse_root(x); return 1;
    case HU_OP_SIN: *z = hui_beside(x, 0); return k < -33;
    default: *z = hui_beside(hui_one(0), 0); return k < -33;
  }
}

/* f(x) to f limbs; 0 if they are not enough. */
HU_OUTLINE int32_t hui_function_value(hu_num *z, int32_t op, hu_num x, int32_t f) {
  hu_real value;
  hu_big a;
  int32_t known = 1;
  switch (op) {
    case HU_OP_EXP:
      a = hui_magnitude(x, f);
      hui_real_exp(&value, &a, x.sign, 0, f);
      break;
    case HU_OP_EXP2:
      a = hui_magnitude(x, f);
      hui_real_exp2(&value, &a, x.sign, 0, f);
      break;
    case HU_OP_EXPM1: hui_real_expm1(&value, x, f); break;
    case HU_OP_LOG: hui_real_log_of(&value, x, 0, f); break;
    case HU_OP_LOG2: hui_real_log_of(&value, x, 1, f); break;
    case HU_OP_LOG1P: hui_real_log1p(&value, x, f); break;
    case HU_OP_TANH: hui_real_tanh(&value, x, f); break;
    case HU_OP_SIGMOID: hui_real_sigmoid(&value, x, f); break;
    case HU_OP_ERF: known = hui_real_erf(&value, x, f); break;
    case HU_OP_GELU: known = hui_real_gelu(&value, x, f); break;
    default: hui_real_sin(&value, x, op == HU_OP_COS, f); break;
  }
  return hui_real_decided(z, &value, f) && known;
}

/* The exact result of an operation from HU_OP_FUNCTION on; y is looked at by pow alone. Adds to *raised. */
HU_OUTLINE hu_num hui_function_of(int32_t op, hu_num x, hu_num y, uint32_t *raised) {
  hu_num z;
  if (op == HU_OP_POW) return hui_exact_pow(x, y, raised);
  if (op == HU_OP_RECIPROCAL) return hui_exact_div(hui_one(0), x, raised);
  if (x.kind != HU_KIND_FINITE) return hui_function_special(op, x, raised);
  if (hui_function_quickly(&z, op, x, raised)) return z;
  for (int32_t f = 6; f <= HU_BIG_FRACTION; f *= 2)
    if (hui_function_value(&z, op, x, f)) break;
  return z;
}

#endif
