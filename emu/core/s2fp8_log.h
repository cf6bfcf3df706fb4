/* SPDX-License-Identifier: MIT */
/* emu/core/s2fp8_log.h - logarithms and powers of two in 64 and 128 bits, for docs/s2fp8.md.
 *
 * Integers only; C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_S2FP8_LOG_H
#define HALFULP_EMU_CORE_S2FP8_LOG_H

#include "emu/core/round.h"

enum { HU_S2_DIGITS = 40 }; /* of a logarithm, behind the point: a unit is 2^-40 */

/* A test may look at each square. */
#ifndef HU_S2_SEEN
#define HU_S2_SEEN(high, low) ((void)0)
#endif

/* The first n (at most 64) binary digits of log2(sig / 2^63), sig >= 2^63, and the digit behind them in *next: squared,
 * a number from 1 to 2 gives the first digit of its logarithm. 128 digits are kept of each square. A square is less
 * than 3 2^-127 of itself too small besides twice what the one before was, so the 65th less than 2^-60 of itself; what
 * the digits found say is too small by less than 2^-64 and 2^-123. */
HU_OUTLINE uint64_t hui_s2_log2_digits(uint64_t sig, int32_t n, uint32_t *next) {
  uint64_t high = sig, low = 0, z = 0;
  for (int32_t i = 0; i <= n; i++) {
    uint64_t cross_high = hui_mul_high64(high, low), cross_low = high * low, square = high * high;
    uint64_t twice = cross_low << 1, middle = cross_high << 1 | cross_low >> 63;
    uint64_t l = square + middle, h = hui_mul_high64(high, high) + (cross_high >> 63) + (l < square);
    uint32_t digit = (uint32_t)(h >> 63);
    HU_S2_SEEN(h, l);
    if (!digit) {
      h = h << 1 | l >> 63;
      l = l << 1 | twice >> 63;
    }
    high = h;
    low = l;
    *next = digit;
    if (i < n) z = z << 1 | digit;
  }
  return z;
}

/* L of a binary32 magnitude pattern, finite and not 0, in units: log2 rounded to nearest. Its digits are found from a
 * number that is too small by less than 2^-83 of itself up to the 41st square; that this changes none of them, for no
 * square comes so near to a power of two from below, has been looked at for all 2^23 significands
 * (tests/s2fp8/test_log2.c). */
HU_FN int64_t hui_s2_log2(uint32_t pattern) {
  hu_num x = hui_unpack32(pattern);
  int32_t lead = hui_clz64(x.sig);
  uint32_t up;
  uint64_t part = hui_s2_log2_digits(x.sig << lead, HU_S2_DIGITS, &up);
  return (int64_t)(x.exp + 63 - lead) * ((int64_t)1 << HU_S2_DIGITS) + (int64_t)(part + up);
}

/* (ln 2)^k / k!, 64 digits behind the point, cut off: k = i + 1. */
enum { HU_S2_TERMS = 18 };
HU_FN uint64_t hui_s2_term(int32_t i) {
  const uint64_t terms[HU_S2_TERMS] = {
      0xB17217F7D1CF79ABu, 0x3D7F7BFF058B1D50u, 0x0E35846B82505FC5u, 0x0276556DF749CEE5u, 0x005761FF9E299CC4u,
      0x000A184897C363C3u, 0x0000FFE5FE2C4586u, 0x0000162C0223A5C8u, 0x000001B5253D395Eu, 0x0000001E4CF5158Bu,
      0x00000001E8CAC735u, 0x000000001C3BD650u, 0x0000000001816193u, 0x0000000000131496u, 0x000000000000E1B7u,
      0x00000000000009C7u, 0x0000000000000066u, 0x0000000000000003u};
  return terms[i];
}

/* Returns 2^(f / 2^64) in units of 2^-63, from 2^63 on; too small by less than 32 units: 18 terms, each cut off, each
 * product cut off, the first of them halved. */
HU_OUTLINE uint64_t hui_s2_exp2(uint64_t f) {
  uint64_t sum = hui_s2_term(HU_S2_TERMS - 1);
  for (int32_t i = HU_S2_TERMS - 2; i >= 0; i--) sum = hui_mul_high64(f, sum) + hui_s2_term(i);
  return ((uint64_t)1 << 63) + (hui_mul_high64(f, sum) >> 1);
}

/* Returns floor(a / b) and sets the rest, b > 0. */
HU_FN int64_t hui_s2_floor(int64_t a, int64_t b, uint64_t *rest) {
  int64_t q = a / b, r = a % b;
  if (r < 0) {
    r += b;
    q--;
  }
  *rest = (uint64_t)r;
  return q;
}

/* Returns floor(a 2^64 / b), a < b < 2^52. */
HU_FN uint64_t hui_s2_fraction(uint64_t a, uint64_t b) {
  uint64_t q = 0;
  for (int32_t i = 0; i < 5; i++) {
    int32_t n = i < 4 ? 13 : 12;
    a <<= n;
    q = q << n | a / b;
    a %= b;
  }
  return q;
}

/* Returns floor((high 2^64 + low) / b), high and b below 2^63, high < b; sets the rest. */
HU_OUTLINE uint64_t hui_s2_divide(uint64_t high, uint64_t low, uint64_t b, uint64_t *rest) {
  uint64_t q = 0;
  for (int32_t i = 0; i < 64; i++) {
    high = high << 1 | low >> 63;
    low <<= 1;
    uint32_t fits = high >= b;
    if (fits) high -= b;
    q = q << 1 | fits;
  }
  *rest = high;
  return q;
}

/* Returns a / b, not negative, b > 0, with all the digits that matter. */
HU_FN hu_num hui_s2_quotient(uint32_t sign, uint64_t a, uint64_t b) {
  if (a == 0) return hui_num_special(HU_KIND_ZERO, sign);
  int32_t la = hui_clz64(a), lb = hui_clz64(b);
  uint64_t rest, num = a << la >> 2, den = b << lb >> 1; /* 1/4 < num / den < 1 */
  hu_num z = hui_num_finite(sign, hui_s2_divide(num, 0, den, &rest), lb - la - 63);
  if (rest && !(z.sig >> 63)) { /* one digit more */
    z.sig = z.sig << 1 | (rest << 1 >= den);
    rest = (rest << 1) - (rest << 1 >= den ? den : 0);
    z.exp--;
  }
  z.sticky = rest != 0;
  return z;
}

#endif
