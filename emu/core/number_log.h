/* SPDX-License-Identifier: MIT */
/* emu/core/number_log.h - powers 2^(k / 2^f) and logarithms for logarithmic numbers, in integers.
 *
 * A power whose k is no multiple of 2^f is irrational: its digits are computed with the series of the elementary
 * functions until those asked for are settled (docs/numbers.md N.6). C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_NUMBER_LOG_H
#define HALFULP_EMU_CORE_NUMBER_LOG_H

#include "emu/core/function.h"

HU_FN uint32_t hui_power_is_whole(int32_t k, int32_t fraction) {
  return ((uint32_t)k & (((uint32_t)1 << fraction) - 1)) == 0;
}

/* Returns floor(k / 2^fraction). */
HU_FN int32_t hui_power_exponent(int32_t k, int32_t fraction) {
  int32_t whole = (int32_t)((uint32_t)(k < 0 ? -(int64_t)k : k) >> fraction);
  return k < 0 ? -whole - !hui_power_is_whole(k, fraction) : whole;
}

/* 2^(k / 2^fraction), |k / 2^fraction| <= 512. */
HU_FN void hui_power_real(hu_real *value, int32_t k, int32_t fraction, int32_t limbs) {
  hu_big a = hui_big_scaled((uint64_t)(k < 0 ? -(int64_t)k : k), -fraction, limbs);
  hui_real_exp2(value, &a, k < 0, 0, limbs);
}

/* Returns all of (-1)^sign 2^(k / 2^fraction), or its 64 leading digits and sticky. */
HU_OUTLINE hu_num hui_power_num(uint32_t sign, int32_t k, int32_t fraction) {
  hu_num z = hui_num_finite(sign, 1, hui_power_exponent(k, fraction));
  if (hui_power_is_whole(k, fraction)) return z;
  for (int32_t limbs = 6; limbs <= HU_BIG_FRACTION; limbs *= 2) {
    hu_real value;
    hui_power_real(&value, k, fraction, limbs);
    value.sign = sign;
    if (hui_real_decided(&z, &value, limbs)) break;
  }
  z.sticky = 1;
  return z;
}

/* floor(2^(k / 2^fraction + low)) modulo 2^(64 count), the lowest word first, for an irrational power. low + k /
 * 2^fraction may be up to 700 where the highest precision still settles the digits. */
HU_OUTLINE void hui_power_words(uint64_t *w, int32_t count, int32_t k, int32_t fraction, int32_t low) {
  for (int32_t i = 0; i < count; i++) w[i] = 0;
  for (int32_t limbs = 6; limbs <= HU_BIG_FRACTION; limbs *= 2) {
    hu_real value;
    hu_big reach = hui_big_of(0, limbs), above;
    hui_power_real(&value, k, fraction, limbs);
    int32_t from = 32 * limbs - low - value.exp, settled = 1; /* the place of the lowest digit */
    if (from < 0) continue;
    reach.limb[value.error >> 5] = (uint32_t)1 << (value.error & 31);
    hui_big_add(&above, &value.z, &reach, limbs);
    hui_big_sub(&value.z, &value.z, &reach, limbs);
    for (int32_t i = 0; i < count; i++) {
      w[i] = hui_big_digits(&value.z, from + 64 * i + 63, limbs);
      if (w[i] != hui_big_digits(&above, from + 64 * i + 63, limbs)) settled = 0;
    }
    if (settled) return;
  }
}

/* 2^fraction log2 |x| of a finite x that is not 0: all of it, or 64 digits and sticky. */
HU_OUTLINE hu_num hui_log_scaled(hu_num x, int32_t fraction) {
  uint32_t ignored = 0;
  x.sign = 0;
  hu_num z = hui_function_of(HU_OP_LOG2, x, x, &ignored);
  z.exp += fraction;
  return z;
}

/* A real number as an integer and 64 digits of what is above it, with sticky. */
typedef struct hu_split {
  int64_t whole;
  uint64_t part;
  uint32_t sticky;
} hu_split;

/* Of |t| < 2^62; where it is sticky at least 33 digits behind the point are known, and so are they of the result. */
HU_FN hu_split hui_floor_split(hu_num t) {
  hu_split z = {0, 0, t.sticky};
  if (t.kind == HU_KIND_ZERO) return z;
  int32_t cut = -t.exp;
  if (cut <= 0) {
    z.whole = (int64_t)(t.sig << t.exp);
  } else if (cut < 64) {
    z.whole = (int64_t)(t.sig >> cut);
    z.part = t.sig << (64 - cut);
  } else {
    z.part = hui_shift_right(t.sig, cut - 64);
    z.sticky |= cut - 64 > 63 || z.part << (cut - 64) != t.sig;
  }
  if (!t.sign) return z;
  z.whole = -z.whole;
  if (!z.part && !z.sticky) return z;
  z.whole--;
  if (!z.sticky) {
    z.part = ~z.part + 1;
  } else { /* digits that are not known stay 0 */
    z.part = ~z.part;
    if (cut < 64) z.part = z.part >> (64 - cut) << (64 - cut);
  }
  return z;
}

/* floor and `digits` (1 to 34) digits of 2^fraction log2 |x| for a finite x that is not 0 and not sticky; 0 if they are
 * not settled by 64 digits of the powers, or x is a power of two. A square of m from 1 to below 4 is 2 or more just if
 * the next digit of log2 m is 1; two numbers around m are squared, one cut off and one rounded up. */
HU_FN int32_t hui_log_quickly(hu_split *z, hu_num x, int32_t fraction, int32_t digits) {
  int32_t lead = hui_clz64(x.sig);
  uint64_t found = 0, low = x.sig << lead, high = low;
  if (low << 1 == 0) return 0;
  for (int32_t i = 0; i < fraction + digits; i++) {
    hu_num a = hui_num_finite(0, low, -63), b = hui_num_finite(0, high, -63);
    a = hui_product(0, a, a);
    b = hui_product(0, b, b);
    low = a.sig;
    high = b.sig + (b.sticky);
    if (a.exp != b.exp || high == 0) return 0;
    found = found << 1 | (hui_exponent(a) > 0);
  }
  z->whole = ((int64_t)x.exp + 63 - lead) * ((int64_t)1 << fraction) + (int64_t)(found >> digits);
  z->part = found << (64 - digits);
  z->sticky = 1; /* log2 x is irrational */
  return 1;
}

#endif
