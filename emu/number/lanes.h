/* SPDX-License-Identifier: MIT */
/* emu/number/lanes.h - posits, takums, HiFloat8, fixed-point numbers and tables in lanes, deterministic modes. One
 * table a level; emu/number/fast.c decides what goes here and hands the elements that are left to the core. */
#ifndef HALFULP_EMU_NUMBER_LANES_H
#define HALFULP_EMU_NUMBER_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "emu/simd/of_level.h"
/* A rounding of P 2^-d, d >= 1: what is added before the d digits are cut off. `full` and `minus` by the sign. */
typedef struct hu_lane_rounding {
  uint64_t nearest;  /* all ones: 2^(d-1) */
  uint64_t full[2];  /* all ones: 2^d */
  uint64_t minus[2]; /* all ones: -1 */
  uint64_t even;     /* 1: 1 more if the result is odd */
  uint64_t odd;      /* 1: nothing added, but the last digit becomes 1 if others are lost */
} hu_lane_rounding;

enum { HU_LANE_TABLE = 64 };        /* thresholds of a table at most */
enum { HU_LANE_LEFT = 0x7F800001 }; /* stands for a value that is left: no value has this pattern */

typedef struct hu_number_lane {
  hu_lane_rounding rounding;
  uint32_t width, es, fraction, is_signed, wrap;
  uint64_t mask, top, max_code, low_code;
  /* tables: the code of a binary32 operand is codes[number of thresholds that its key is not below] */
  uint32_t thresholds;
  int32_t threshold[HU_LANE_TABLE];
  /* HiFloat8: codes of places, of 127 the one beyond the range; 128 further on those of negative numbers */
  uint8_t codes[256];
  uint64_t stops[2]; /* by sign: all ones where what is beyond the range saturates */
} hu_number_lane;

/* Elements with an event. */
typedef struct hu_lane_counts {
  uint64_t inexact, overflow, saturated, underflow, to_zero, invalid;
} hu_lane_counts;

/* x: binary32 patterns, z: codes; elements that are not for here are counted in the result, their z means nothing.
 * counts: added to; of no use if the result is not 0. */
typedef uint64_t (*hu_number_encode_lanes)(const hu_number_lane *lane, size_t n, uint32_t *z, const uint32_t *x,
                                           hu_lane_counts *counts);
typedef struct hu_number_lanes {
  hu_number_encode_lanes posit; /* (n - 2) 2^es <= 126 */
  hu_number_encode_lanes fixed;
  hu_number_encode_lanes takum[2]; /* logarithmic in the surroundings of emu/base/float_env.h; linear */
  hu_number_encode_lanes hif8;
  /* z: how many thresholds the key of x is not below. */
  void (*places)(const hu_number_lane *lane, size_t n, uint32_t *z, const uint32_t *x);
  /* z: binary32 patterns, in the surroundings of emu/base/float_env.h, rounded to nearest. posit: n <= 25 besides;
   * takum: logarithmic, and linear with n <= 28; HU_LANE_LEFT where a value is not for here. */
  void (*posit_values)(const hu_number_lane *lane, size_t n, uint32_t *z, const uint32_t *x);
  void (*fixed_values)(const hu_number_lane *lane, size_t n, uint32_t *z, const uint32_t *x);
  void (*takum_values[2])(const hu_number_lane *lane, size_t n, uint32_t *z, const uint32_t *x);
} hu_number_lanes;
extern const hu_number_lanes HU_OF_LEVEL(hu_number_lanes);

/* Binary32 patterns in the order of their values, as signed integers; -0 lies just below +0. */
static inline int32_t hui_key_of(uint32_t pattern) { return (int32_t)(pattern ^ (0 - (pattern >> 31)) >> 1); }

#endif
