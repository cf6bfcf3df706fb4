/* SPDX-License-Identifier: MIT */
/* The texts of one_unit_lane.h are IEEE 754's operations on binary64 for the operands that they name: functions that
 * return 0, whatever they are given. The operations have no body here: a solver has its own. */
#include <stddef.h>

#define inline __attribute__((always_inline)) inline
#include "one_unit_lane.h"

ANY64(float64_mul_rne);
uint64_t float64_whole_rtz(uint64_t a) __attribute__((const));
uint64_t float64_whole_rtn(uint64_t a) __attribute__((const));
uint64_t float64_whole_rne(uint64_t a) __attribute__((const));

#define ARGUMENTS uint64_t x, uint64_t y

/* A power of two times a number. */
int product_scales(ARGUMENTS) { return scales(x, y) && product_by_power(x, y) != float64_mul_rne(x, y); }
int product_scales_reached(ARGUMENTS) { return scales(x, y) && float64_mul_rne(x, y) == 0xC00C000000000000u; }

/* To integers. */
int whole_trunc(ARGUMENTS) { return (void)y, field64(x) < 2047 && whole_of(WHOLE_TRUNC, x) != float64_whole_rtz(x); }
int whole_floor(ARGUMENTS) { return (void)y, field64(x) < 2047 && whole_of(WHOLE_FLOOR, x) != float64_whole_rtn(x); }
int whole_near(ARGUMENTS) { return (void)y, field64(x) < 2047 && whole_of(WHOLE_NEAR, x) != float64_whole_rne(x); }

/* The integer of a pattern and the pattern of an integer are each other's inverse. */
int integers_there_and_back(ARGUMENTS) {
  int64_t n = (int64_t)(x << 11) >> 11;
  (void)y;
  return (n < (int64_t)1 << 52 && n > -((int64_t)1 << 52)) &&
         (integer_of(of_integer(n)) != n || (n && !is_whole(of_integer(n))));
}
