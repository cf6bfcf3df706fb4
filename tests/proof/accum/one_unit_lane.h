/* SPDX-License-Identifier: MIT */
/* tests/proof/accum/one_unit_lane.h - one lane of binary64 as its pattern: the hooks of emu/gemm/unit_lanes.c in
 * integers that a prover can read.
 *
 * Each text is IEEE 754's operation for the operands that its comment names, which lemmas of theorems.py show; for all
 * others it is a function of which nothing is known, so that a theorem holds only if the kernel stays within them. */
#ifndef HALFULP_TESTS_PROOF_ACCUM_ONE_UNIT_LANE_H
#define HALFULP_TESTS_PROOF_ACCUM_ONE_UNIT_LANE_H

#include <stdint.h>
#include <string.h>

#define ANY64(name) uint64_t name(uint64_t a, uint64_t b) __attribute__((const))
ANY64(any_sum64);
ANY64(any_product64);
ANY64(any_whole64);

#define BLK_LANES 1
#define BLK_OP static inline
typedef uint64_t blk_d;
typedef uint64_t blk_u;

#define ONE64 ((uint64_t)1 << 63)
#define DIGITS64 (((uint64_t)1 << 52) - 1)

BLK_OP int32_t field64(uint64_t x) { return (int32_t)(x >> 52 & 0x7FF); }
BLK_OP uint64_t sig64(uint64_t x) { return (x & DIGITS64) | ((uint64_t)1 << 52); }

BLK_OP blk_d blk_all(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
BLK_OP blk_u blk_each(uint64_t u) { return u; }
BLK_OP blk_d blk_load(const double *x) { return blk_all(*x); }
BLK_OP void blk_store(double *z, blk_d x) { memcpy(z, &x, sizeof x); }
BLK_OP blk_u blk_bits(blk_d x) { return x; }
BLK_OP blk_d blk_value(blk_u u) { return u; }
BLK_OP blk_u blk_and(blk_u x, blk_u y) { return x & y; }
BLK_OP blk_u blk_or(blk_u x, blk_u y) { return x | y; }
BLK_OP blk_u blk_minus(blk_u x, blk_u y) { return x - y; }

/* ---- products: of a zero and a number; of a number and a power of two; of two numbers of 24 digits ---- */

BLK_OP uint64_t product_by_power(uint64_t x, uint64_t power) {
  return ((x ^ power) & ONE64) | ((x & ~ONE64) + (power & ~ONE64) - ((uint64_t)1023 << 52));
}
/* 1: product_by_power is x power. */
BLK_OP int scales(uint64_t x, uint64_t power) {
  int32_t e = field64(x) + field64(power) - 1023;
  return (power & DIGITS64) == 0 && field64(x) > 0 && field64(power) > 0 && field64(x) < 2047 &&
         field64(power) < 2047 && e > 0 && e < 2047;
}
BLK_OP uint64_t product_of_few(uint64_t x, uint64_t y) {
  uint64_t n = (sig64(x) >> 29) * (sig64(y) >> 29), up = n >> 47; /* 47 or 48 digits */
  uint64_t e = (uint64_t)(field64(x) + field64(y) - 1023) + up;
  return ((x ^ y) & ONE64) | e << 52 | ((up ? n << 5 : n << 6) & DIGITS64);
}
BLK_OP int are_few(uint64_t x, uint64_t y) {
  int32_t e = field64(x) + field64(y) - 1023;
  return ((x | y) & 0x1FFFFFFF) == 0 && field64(x) > 0 && field64(y) > 0 && field64(x) < 2047 && field64(y) < 2047 &&
         e > 0 && e < 2046;
}
BLK_OP blk_d blk_mul(blk_d x, blk_d y) {
  if ((x & ~ONE64) == 0 && field64(y) < 2047) return (x ^ y) & ONE64;
  if ((y & ~ONE64) == 0 && field64(x) < 2047) return (x ^ y) & ONE64;
  if (scales(x, y)) return product_by_power(x, y);
  if (scales(y, x)) return product_by_power(y, x);
  return are_few(x, y) ? product_of_few(x, y) : any_product64(x, y);
}

/* ---- to integers: of numbers ---- */

enum { WHOLE_TRUNC, WHOLE_FLOOR, WHOLE_NEAR };
BLK_OP uint64_t whole_of(int direction, uint64_t x) {
  int32_t below = 1075 - field64(x); /* digits behind the point */
  uint64_t sign = x & ONE64, size = x & ~ONE64;
  if (below <= 0 || size == 0) return x;
  if (below > 53) { /* |x| < 1/2 */
    return sign | (direction == WHOLE_FLOOR && sign ? (uint64_t)1023 << 52 : 0);
  }
  if (below == 53) { /* 1/2 <= |x| < 1 */
    int up = direction == WHOLE_FLOOR ? sign != 0 : direction == WHOLE_NEAR && (x & DIGITS64) != 0;
    return sign | (up ? (uint64_t)1023 << 52 : 0);
  }
  uint64_t one = (uint64_t)1 << below, rest = size & (one - 1), down = size - rest;
  int up = 0;
  if (direction == WHOLE_FLOOR) up = sign && rest;
  if (direction == WHOLE_NEAR) { /* the last digit kept is the hidden one where below is 52 */
    uint64_t odd = below == 52 ? 1 : down >> below & 1;
    up = rest > one / 2 || (rest == one / 2 && odd);
  }
  return sign | (down + (up ? one : 0)); /* a carry out of the digits is the next binade */
}
BLK_OP blk_d blk_whole(int direction, blk_d x) {
  return field64(x) < 2047 ? whole_of(direction, x) : any_whole64(x, (uint64_t)direction);
}
BLK_OP blk_d blk_trunc(blk_d x) { return blk_whole(WHOLE_TRUNC, x); }
BLK_OP blk_d blk_floor(blk_d x) { return blk_whole(WHOLE_FLOOR, x); }
BLK_OP blk_d blk_near(blk_d x) { return blk_whole(WHOLE_NEAR, x); }
BLK_OP blk_d blk_ceil(blk_d x) { return any_whole64(x, 3); }

/* ---- sums: of two integers below 2^52 in size ---- */

BLK_OP int is_whole(uint64_t x) {
  int32_t below = 1075 - field64(x);
  if ((x & ~ONE64) == 0) return 1;
  return below > 0 && below <= 52 && (sig64(x) & (((uint64_t)1 << below) - 1)) == 0;
}
BLK_OP int64_t integer_of(uint64_t x) {
  int32_t below = 1075 - field64(x);
  if ((x & ~ONE64) == 0) return 0;
  uint64_t n = sig64(x) >> (below & 63);
  return x >> 63 ? -(int64_t)n : (int64_t)n;
}
/* The pattern of an integer below 2^53 in size; 0: +0. */
BLK_OP uint64_t of_integer(int64_t n) {
  uint64_t sign = n < 0 ? ONE64 : 0, size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  if (n == 0) return 0;
  int32_t lead = __builtin_clzll(size);
  return sign | (uint64_t)(1086 - lead) << 52 | ((size << lead >> 11) & DIGITS64);
}
BLK_OP uint64_t sum_of_integers(uint64_t x, uint64_t y) {
  if (((x | y) & ~ONE64) == 0) return x & y; /* -0 only of two -0, to nearest */
  return of_integer(integer_of(x) + integer_of(y));
}
BLK_OP blk_d blk_add(blk_d x, blk_d y) { return is_whole(x) && is_whole(y) ? sum_of_integers(x, y) : any_sum64(x, y); }
BLK_OP blk_d blk_sub(blk_d x, blk_d y) { return blk_add(x, y ^ ONE64); }
BLK_OP blk_d blk_fma(blk_d x, blk_d y, blk_d z) { return any_sum64(any_product64(x, y), z); }

/* ---- comparisons: of numbers and infinities ---- */

BLK_OP int less64(uint64_t x, uint64_t y) {
  if (((x | y) & ~ONE64) == 0) return 0;
  if ((x ^ y) >> 63) return (int)(x >> 63);
  return x >> 63 ? x > y : x < y;
}
BLK_OP int is_nan64(uint64_t x) { return (x & ~ONE64) > (uint64_t)2047 << 52; }
BLK_OP blk_d blk_max(blk_d x, blk_d y) { return less64(y, x) && !is_nan64(x) && !is_nan64(y) ? x : y; }
BLK_OP blk_d blk_if_less(blk_d x, blk_d y, blk_d yes, blk_d no) {
  return less64(x, y) && !is_nan64(x) && !is_nan64(y) ? yes : no;
}
BLK_OP blk_d blk_if_same(blk_d x, blk_d y, blk_d yes, blk_d no) {
  return !is_nan64(x) && (x == y || ((x | y) & ~ONE64) == 0) ? yes : no;
}

/* ---- what the theorems do not reach ---- */

BLK_OP blk_d blk_narrow(blk_d x) { return x; } /* the step before the rounding into `out`, which is binary32's here */
BLK_OP blk_d blk_narrow_normal(blk_d x) { return any_whole64(x, 4); }
BLK_OP blk_d blk_flush(blk_d x, double least) { return any_product64(x, blk_all(least)); }
BLK_OP blk_d blk_sticky(blk_d x, uint64_t low) { return any_product64(x, low); }
BLK_OP blk_d blk_odd_sum(blk_d x, blk_d y) { return any_sum64(x, y); }
BLK_OP blk_d blk_widen(const float *x, uint32_t mask) {
  uint32_t u;
  memcpy(&u, x, sizeof u);
  return any_whole64(u & mask, 5);
}

#endif
