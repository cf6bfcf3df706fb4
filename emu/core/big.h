/* SPDX-License-Identifier: MIT */
/* emu/core/big.h - fixed-point numbers of many digits, for the exact way of the elementary functions.
 *
 * A hu_big is a number from 0 to below 2^64: two integer limbs of 32 bits above f fraction limbs, f even and at most
 * HU_BIG_FRACTION, the same for all numbers of a computation and passed to each call. An ulp is 2^-32f. Where a result
 * has more digits they are cut off, so it is less than one ulp too small; what would reach 2^64 must not be asked for.
 * Integers only; C11, C++17 and CUDA compile the same text. Results may be one of the operands. */
#ifndef HALFULP_EMU_CORE_BIG_H
#define HALFULP_EMU_CORE_BIG_H

#include "emu/core/function_constants.h"
#include "emu/core/round.h"

enum { HU_BIG_FRACTION = HU_CONSTANT_DIGITS, HU_BIG_LIMBS = HU_BIG_FRACTION + 2 };

typedef struct hu_big {
  uint32_t limb[HU_BIG_LIMBS]; /* the lowest first; those from f + 2 on are not used */
} hu_big;

HU_FN int32_t hui_clz32(uint32_t x) { return hui_clz64(x) - 32; }

HU_OUTLINE hu_big hui_big_of(uint32_t integer, int32_t f) {
  hu_big z;
  for (int32_t i = 0; i < HU_BIG_LIMBS; i++) z.limb[i] = 0;
  z.limb[f] = integer;
  return z;
}

/* sig 2^exp; its digits below an ulp are cut off. */
HU_OUTLINE hu_big hui_big_scaled(uint64_t sig, int32_t exp, int32_t f) {
  hu_big z = hui_big_of(0, f);
  int32_t at = exp + 32 * f; /* the place of sig's lowest digit */
  if (at < 0) {
    sig = at < -63 ? 0 : sig >> -at;
    at = 0;
  }
  int32_t limb = at >> 5, shift = at & 31;
  uint64_t low = sig << shift, high = shift ? sig >> (64 - shift) : 0;
  if (limb < f + 2) z.limb[limb] = (uint32_t)low;
  if (limb + 1 < f + 2) z.limb[limb + 1] = (uint32_t)(low >> 32);
  if (limb + 2 < f + 2) z.limb[limb + 2] = (uint32_t)high;
  return z;
}

HU_OUTLINE hu_big hui_big_constant(int32_t which, int32_t f) {
  hu_big z = hui_big_of(which >= HU_CONSTANT_ONE, f);
  for (int32_t i = 0; i < f; i++) z.limb[f - 1 - i] = hui_constant_digit(which, i);
  return z;
}

/* Compares a with b: -1, 0, 1. */
HU_OUTLINE int32_t hui_big_compare(const hu_big *a, const hu_big *b, int32_t f) {
  for (int32_t i = f + 1; i >= 0; i--)
    if (a->limb[i] != b->limb[i]) return a->limb[i] > b->limb[i] ? 1 : -1;
  return 0;
}

HU_OUTLINE void hui_big_add(hu_big *z, const hu_big *a, const hu_big *b, int32_t f) {
  uint64_t carry = 0;
  for (int32_t i = 0; i < f + 2; i++) {
    carry += (uint64_t)a->limb[i] + b->limb[i];
    z->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* a - b, a >= b. */
HU_OUTLINE void hui_big_sub(hu_big *z, const hu_big *a, const hu_big *b, int32_t f) {
  uint64_t borrow = 0;
  for (int32_t i = 0; i < f + 2; i++) {
    uint64_t d = (uint64_t)a->limb[i] - b->limb[i] - borrow;
    z->limb[i] = (uint32_t)d;
    borrow = d >> 63;
  }
}

/* z = |a - b|; returns 1 if a < b. */
HU_OUTLINE uint32_t hui_big_distance(hu_big *z, const hu_big *a, const hu_big *b, int32_t f) {
  uint32_t below = hui_big_compare(a, b, f) < 0;
  if (below) {
    hui_big_sub(z, b, a, f);
  } else {
    hui_big_sub(z, a, b, f);
  }
  return below;
}

/* z = a 2^-n; hui_big_up: z = a 2^n. */
HU_OUTLINE void hui_big_down(hu_big *z, const hu_big *a, int32_t n, int32_t f) {
  int32_t limbs = n >> 5, shift = n & 31;
  for (int32_t i = 0; i < f + 2; i++) {
    uint32_t low = i + limbs < f + 2 ? a->limb[i + limbs] : 0,
             high = i + limbs + 1 < f + 2 ? a->limb[i + limbs + 1] : 0;
    z->limb[i] = shift ? low >> shift | high << (32 - shift) : low;
  }
}

HU_OUTLINE void hui_big_up(hu_big *z, const hu_big *a, int32_t n, int32_t f) {
  int32_t limbs = n >> 5, shift = n & 31;
  for (int32_t i = f + 1; i >= 0; i--) {
    uint32_t high = i >= limbs ? a->limb[i - limbs] : 0, low = i > limbs ? a->limb[i - limbs - 1] : 0;
    z->limb[i] = shift ? high << shift | low >> (32 - shift) : high;
  }
}

/* z = a b. */
HU_OUTLINE void hui_big_mul(hu_big *z, const hu_big *a, const hu_big *b, int32_t f) {
  uint32_t product[2 * HU_BIG_LIMBS];
  int32_t n = f + 2;
  for (int32_t i = 0; i < n; i++) product[i] = 0;
  for (int32_t i = 0; i < n; i++) {
    uint64_t carry = 0, digit = a->limb[i];
    for (int32_t j = 0; j < n; j++) {
      carry += digit * b->limb[j] + product[i + j];
      product[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    product[i + n] = (uint32_t)carry;
  }
  for (int32_t i = 0; i < n; i++) z->limb[i] = product[i + f];
}

/* z = a n, exact. */
HU_OUTLINE void hui_big_times(hu_big *z, const hu_big *a, uint32_t n, int32_t f) {
  uint64_t carry = 0;
  for (int32_t i = 0; i < f + 2; i++) {
    carry += (uint64_t)a->limb[i] * n;
    z->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* z = a / n. */
HU_OUTLINE void hui_big_over(hu_big *z, const hu_big *a, uint32_t n, int32_t f) {
  uint64_t rest = 0;
  for (int32_t i = f + 1; i >= 0; i--) {
    rest = rest << 32 | a->limb[i];
    z->limb[i] = (uint32_t)(rest / n);
    rest %= n;
  }
}

/* One digit of a quotient: u (m + 1 limbs) by v (m limbs, its top bit set), u < v 2^32; leaves the remainder in u.
 * Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D. */
HU_OUTLINE uint32_t hui_big_digit(uint32_t *u, const uint32_t *v, int32_t m) {
  uint64_t top = (uint64_t)u[m] << 32 | u[m - 1], q = top / v[m - 1], rest = top % v[m - 1];
  while (q >> 32 || (m > 1 && q * v[m - 2] > (rest << 32 | u[m - 2]))) {
    q--;
    rest += v[m - 1];
    if (rest >> 32) break;
  }
  uint64_t carry = 0, borrow = 0;
  for (int32_t i = 0; i <= m; i++) {
    carry += i < m ? q * v[i] : 0;
    uint64_t d = (uint64_t)u[i] - (uint32_t)carry - borrow;
    u[i] = (uint32_t)d;
    borrow = d >> 63;
    carry >>= 32;
  }
  if (!borrow) return (uint32_t)q;
  carry = 0;
  for (int32_t i = 0; i <= m; i++) { /* one too many: v goes back */
    carry += (uint64_t)u[i] + (i < m ? v[i] : 0);
    u[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return (uint32_t)q - 1;
}

/* z = a / b, b > 0. */
HU_OUTLINE void hui_big_div(hu_big *z, const hu_big *a, const hu_big *b, int32_t f) {
  uint32_t u[2 * HU_BIG_LIMBS + 1], v[HU_BIG_LIMBS];
  int32_t n = f + 2, m = n;
  while (b->limb[m - 1] == 0) m--;
  int32_t shift = hui_clz32(b->limb[m - 1]), top = n + f;
  for (int32_t i = 0; i < m; i++)
    v[i] = shift && i ? b->limb[i] << shift | b->limb[i - 1] >> (32 - shift) : b->limb[i] << shift;
  for (int32_t i = 0; i <= top; i++) { /* a 2^32f, shifted */
    uint32_t here = i >= f && i < top ? a->limb[i - f] : 0, below = i > f ? a->limb[i - f - 1] : 0;
    u[i] = shift ? here << shift | below >> (32 - shift) : here;
  }
  for (int32_t i = 0; i < n; i++) z->limb[i] = 0;
  for (int32_t j = top - m; j >= 0; j--) {
    uint32_t digit = hui_big_digit(u + j, v, m);
    if (j < n) z->limb[j] = digit;
  }
}

/* Returns the place of the leading digit, its weight 2^(place - 32f); -1 of zero. */
HU_OUTLINE int32_t hui_big_lead(const hu_big *a, int32_t f) {
  for (int32_t i = f + 1; i >= 0; i--)
    if (a->limb[i]) return 32 * i + 31 - hui_clz32(a->limb[i]);
  return -1;
}

/* The 64 digits of which the highest has this place. */
HU_OUTLINE uint64_t hui_big_digits(const hu_big *a, int32_t place, int32_t f) {
  hu_big x;
  if (place >= 63) {
    hui_big_down(&x, a, place - 63, f);
  } else {
    hui_big_up(&x, a, 63 - place, f);
  }
  return (uint64_t)x.limb[1] << 32 | x.limb[0];
}

#endif
