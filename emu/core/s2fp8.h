/* SPDX-License-Identifier: MIT */
/* emu/core/s2fp8.h - one element of a shifted and squeezed tensor (docs/s2fp8.md).
 *
 * Integers only; C11, C++17 and CUDA compile the same text. Logarithms are in units of 2^-40. Everything is asked of
 * 64-bit numbers with a bound of their error first; where these do not decide, of integers where the result ends, and
 * of emu/core/big.h where it does not. */
#ifndef HALFULP_EMU_CORE_S2FP8_H
#define HALFULP_EMU_CORE_S2FP8_H

#include "emu/core/function.h"
#include "emu/core/s2fp8_log.h"

/* log2 |y| = target (L - mu) / gap. |mu| <= 2^50, 0 < gap <= 2^51, 0 < target < 2^10. */
typedef struct hu_s2 {
  int64_t mu, gap;
  int32_t target;
  uint32_t special_is_nan; /* infinities become NaN */
  hu_spec spec;            /* element format and mode */
} hu_s2;

enum { HU_S2_FAR = 6000 }; /* an exponent beyond all formats */

/* ---- the statistics' quotients ---- */

/* Returns the integer nearest to (high 2^64 + low) / count, ties to even, below 2^62 in magnitude. */
HU_FN int64_t hui_s2_mean(int64_t high, uint64_t low, uint64_t count) {
  uint64_t rest, h = (uint64_t)high, q;
  uint32_t sign = high < 0;
  if (count == 0) return 0;
  if (sign) {
    low = 0 - low;
    h = ~h + (low == 0);
  }
  q = hui_s2_divide(h, low, count, &rest);
  q += rest > count - rest || (rest == count - rest && (q & 1));
  return sign ? -(int64_t)q : (int64_t)q;
}

/* Does a count explain a sum and a top? |L| < 150. */
HU_FN uint32_t hui_s2_sums_fit(int64_t high, uint64_t low, uint64_t count, uint32_t top) {
  if (count == 0) return high == 0 && low == 0 && top == 0;
  if (count >> 63 || top == 0 || top >= 0x7F800000) return 0;
  uint64_t l = high < 0 ? 0 - low : low, h = high < 0 ? ~(uint64_t)high + (l == 0) : (uint64_t)high;
  if (h >> 48 || (h << 16 | l >> 48) >= count) return 0; /* |sum| < count 2^48 */
  return hui_s2_mean(high, low, count) <= hui_s2_log2(top);
}

/* May mu and m be a scale? */
HU_FN uint32_t hui_s2_scale_fits(int64_t mu, int64_t m) {
  return mu >= -((int64_t)1 << 50) && m <= (int64_t)1 << 50 && mu < m;
}

/* mu and m of what was counted. */
HU_FN void hui_s2_moments(int64_t *mu, int64_t *m, int64_t high, uint64_t low, uint64_t count, uint32_t top,
                          int32_t target) {
  int64_t all = (int64_t)target * ((int64_t)1 << HU_S2_DIGITS);
  *m = count ? hui_s2_log2(top) : all;
  *mu = hui_s2_mean(high, low, count);
  if (*mu == *m) *mu = *m - all; /* one magnitude */
}

/* The integer nearest to x, ties to even; INT64_MAX if it is 2^52 or more. */
HU_FN int64_t hui_s2_nearest(hu_num x) {
  if (x.kind == HU_KIND_ZERO) return 0;
  if (x.kind != HU_KIND_FINITE || hui_exponent(x) >= 52) return INT64_MAX;
  int32_t lead = hui_clz64(x.sig), cut = lead - x.exp;
  uint64_t sig = x.sig << lead, q = hui_shift_right(sig, cut);
  int32_t half = hui_against_half(sig, x.sticky, cut);
  q += half > 0 || (half == 0 && (q & 1));
  return x.sign ? -(int64_t)q : (int64_t)q;
}

HU_FN uint64_t hui_s2_size(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* Return alpha and beta as binary32 patterns. */
HU_FN uint32_t hui_s2_alpha(const hu_s2 *tensor) {
  return hui_pack32(hui_s2_quotient(0, (uint64_t)tensor->target << HU_S2_DIGITS, (uint64_t)tensor->gap));
}
HU_FN uint32_t hui_s2_beta(const hu_s2 *tensor) {
  return hui_pack32(
      hui_s2_quotient(tensor->mu > 0, hui_s2_size(tensor->mu) * (uint64_t)tensor->target, (uint64_t)tensor->gap));
}

/* ---- y of an element ---- */

/* 2^whole for the rest of an exponent that is a little more or less than it: what lies beyond all formats. */
HU_FN hu_num hui_s2_far(uint32_t sign, int64_t whole) { return whole > 0 ? hui_beyond_all(sign) : hui_below_all(sign); }

/* 2^(rest / gap), 0 < rest < gap, which is no rational number (Gelfond and Schneider), so that its digits decide. */
HU_OUTLINE hu_num hui_s2_y_digits(uint64_t rest, uint64_t gap) {
  hu_num z = hui_num_special(HU_KIND_ZERO, 0);
  for (int32_t f = 6; f <= HU_BIG_FRACTION; f *= 2) {
    hu_real value;
    hu_big a = hui_big_scaled(rest, 0, f), b = hui_big_scaled(gap, 0, f);
    hui_big_div(&a, &a, &b, f);
    hui_real_exp2(&value, &a, 0, 0, f);
    if (hui_real_decided(&z, &value, f)) break;
  }
  return z;
}

/* sig, too small by less than `reach` units of 2^-63, as a number that any rounding takes for the exact one that looks
 * at 46 digits or fewer; 0 if it does not say enough. */
HU_FN uint32_t hui_s2_known(hu_num *z, uint64_t sig, uint64_t reach) {
  if (sig + reach < sig || sig >> 17 != (sig + reach) >> 17 || (sig & 0x1FFFF) == 0) return 0;
  *z = hui_num_finite(0, sig | 1, -63);
  z->sticky = 1;
  return 1;
}

/* Returns how many digits the rounding of an element looks at. */
HU_FN int32_t hui_s2_looks_at(const hu_spec *spec) { return spec->m + 3 + spec->bits; }

/* Returns sign 2^(target (l - mu) / gap). */
HU_FN hu_num hui_s2_y(const hu_s2 *tensor, uint32_t sign, int64_t l) {
  uint64_t rest;
  int64_t whole = hui_s2_floor(tensor->target * (l - tensor->mu), tensor->gap, &rest);
  hu_num z;
  if (whole > HU_S2_FAR || whole < -HU_S2_FAR) return hui_s2_far(sign, whole);
  if (rest == 0) return hui_num_finite(sign, 1, (int32_t)whole);
  uint64_t sig = hui_s2_exp2(hui_s2_fraction(rest, (uint64_t)tensor->gap));
  if (hui_s2_looks_at(&tensor->spec) > 46 || !hui_s2_known(&z, sig, 64))
    z = hui_s2_y_digits(rest, (uint64_t)tensor->gap);
  z.exp += (int32_t)whole;
  z.sign = (uint8_t)sign;
  return z;
}

/* The code of an infinity that becomes NaN, or in a format without NaN the end of the numbers. */
HU_FN uint32_t hui_s2_infinity(const hu_s2 *tensor, uint32_t sign, uint32_t *events) {
  hu_spec finite = tensor->spec;
  if (finite.has_nan) {
    *events = HU_EVENT_INF_IN | HU_EVENT_INVALID;
    return hui_nan_signed(&finite, sign);
  }
  finite.saturate = HU_SAT_FINITE;
  *events = 0;
  return hui_from_inf(&finite, sign, events);
}

/* Returns the code of a binary32 pattern; sets *events. */
HU_OUTLINE uint32_t hui_s2_element(const hu_s2 *tensor, uint32_t pattern, uint32_t random, uint32_t *events) {
  hu_num x = hui_unpack32(pattern);
  if (x.kind == HU_KIND_INF && tensor->special_is_nan) return hui_s2_infinity(tensor, x.sign, events);
  if (x.kind == HU_KIND_FINITE) x = hui_s2_y(tensor, x.sign, hui_s2_log2(pattern & 0x7FFFFFFF));
  return hui_round(&tensor->spec, x, random, events);
}

/* ---- the value of a code ---- */

/* Both computations of 2^(whole + (mu' + gap log2 odd) / (target 2^40)) begin with log2 |P| = j + log2 odd. */
typedef struct hu_s2_power {
  uint64_t odd;
  int32_t j;
} hu_s2_power;

/* q^n, 0 if that has more than 63 digits. */
HU_FN uint64_t hui_s2_raised(uint64_t q, uint64_t n) {
  uint64_t z = 1;
  if (q == 1) return 1;
  for (uint64_t i = 0; i < n; i++) {
    if (hui_mul_high64(z, q) || z * q >> 63) return 0;
    z *= q;
  }
  return z;
}

/* If 2^mu |P|^(gap / target), in units, is a dyadic number: it is. With A = target 2^40 its A-th power is
 * 2^(target mu + gap j) s^gap, which it is only if that is the A-th power of an odd number times one of two: if
 * s^(w/u) is an integer for the reduced fraction w/u = gap/A, so s a u-th power, and A divides the exponent. */
HU_OUTLINE uint32_t hui_s2_value_ends(hu_num *z, const hu_s2 *tensor, hu_s2_power given) {
  uint64_t a = (uint64_t)tensor->target << HU_S2_DIGITS, b = (uint64_t)tensor->gap, x = a, y = b, rest, root = 1;
  int64_t exponent = hui_s2_floor(tensor->target * tensor->mu + tensor->gap * given.j, (int64_t)a, &rest);
  if (rest) return 0;
  while (y) {
    uint64_t r = x % y;
    x = y;
    y = r;
  }
  a /= x;
  b /= x;
  if (given.odd > 1) {
    if (a > 31) return 0;
    uint64_t low = 1; /* low^a < s <= root^a */
    for (root = given.odd; root - low > 1;) {
      uint64_t middle = low + (root - low) / 2, power = hui_s2_raised(middle, a);
      if (power && power < given.odd) {
        low = middle;
      } else {
        root = middle;
      }
    }
    if (hui_s2_raised(root, a) != given.odd) return 0;
    root = hui_s2_raised(root, b);
    if (!root) return 0;
  }
  *z = hui_num_finite(0, root, (int32_t)exponent);
  return 1;
}

/* The same where it does not end. The logarithm of s is off by 2^12 ulps, times gap 2^-40 < 2^11. */
HU_OUTLINE hu_num hui_s2_value_digits(const hu_s2 *tensor, hu_s2_power power) {
  hu_num z = hui_num_special(HU_KIND_ZERO, 0);
  uint64_t rest;
  int64_t whole = hui_s2_floor(tensor->target * tensor->mu + tensor->gap * power.j,
                               (int64_t)tensor->target * ((int64_t)1 << HU_S2_DIGITS), &rest);
  for (int32_t f = 6; f <= HU_BIG_FRACTION; f *= 2) {
    hu_real value;
    hu_big part = hui_big_scaled(rest, -HU_S2_DIGITS, f), gap = hui_big_scaled((uint64_t)tensor->gap, -HU_S2_DIGITS, f);
    if (power.odd > 1) {
      hui_real_log_of(&value, hui_num_finite(0, power.odd, 0), 1, f);
      hui_big_mul(&value.z, &value.z, &gap, f);
      hui_big_add(&part, &part, &value.z, f);
    }
    hui_big_over(&part, &part, (uint32_t)tensor->target, f);
    hui_real_exp2(&value, &part, 0, 25, f);
    value.exp += (int32_t)whole;
    if (hui_real_decided(&z, &value, f)) break;
  }
  return z;
}

HU_FN hu_s2_power hui_s2_power_of(hu_num x) {
  hu_s2_power power;
  x = hui_stripped(x);
  power.odd = x.sig;
  power.j = x.exp;
  return power;
}

/* gap log2(s 2^j) = *whole + *part / 2^64, too small by at most gap + 1 units of *part; exact for s = 1. */
HU_FN int64_t hui_s2_width(const hu_s2 *tensor, hu_s2_power power, uint64_t *part) {
  int32_t lead = hui_clz64(power.odd);
  uint32_t next;
  *part = 0;
  if (power.odd == 1) return tensor->gap * power.j;
  uint64_t digits = hui_s2_log2_digits(power.odd << lead, 64, &next);
  *part = (uint64_t)tensor->gap * digits;
  return tensor->gap * (power.j + 63 - lead) + (int64_t)hui_mul_high64((uint64_t)tensor->gap, digits);
}

/* Returns 2^mu |P|^(gap / target) of a finite P other than 0. */
HU_FN hu_num hui_s2_value(const hu_s2 *tensor, hu_num x) {
  hu_s2_power power = hui_s2_power_of(x);
  hu_num z;
  uint64_t part, rest;
  int64_t units = tensor->mu + hui_s2_floor(hui_s2_width(tensor, power, &part), tensor->target, &rest);
  int64_t whole = units >> HU_S2_DIGITS;
  if (whole > 400 || whole < -400) return hui_s2_far(x.sign, whole);
  /* What lies below the units adds less than two units of 2^-40 2^-24, and is too small by as much at most. */
  uint64_t f = ((uint64_t)units & (((uint64_t)1 << HU_S2_DIGITS) - 1)) << 24 |
               ((rest << 40 | part >> 24) / (uint64_t)tensor->target & 0xFFFFFFFFFFu) >> 16;
  if (!hui_s2_known(&z, hui_s2_exp2(f), 8192)) {
    if (!hui_s2_value_ends(&z, tensor, power)) z = hui_s2_value_digits(tensor, power);
  } else {
    z.exp += (int32_t)whole;
  }
  z.sign = x.sign;
  return z;
}

/* Returns the binary32 pattern of a code's value. */
HU_OUTLINE uint32_t hui_s2_decoded(const hu_s2 *tensor, uint32_t code) {
  hu_num x = hui_unpack(&tensor->spec, code);
  return hui_pack32(x.kind == HU_KIND_FINITE ? hui_s2_value(tensor, x) : x);
}

#endif
