/* SPDX-License-Identifier: MIT */
/* gpu/base/lanes.cuh - emu/simd/round.h with one value per thread, and a shorter first step for the deterministic
 * modes. */
#ifndef HALFULP_GPU_LANES_CUH
#define HALFULP_GPU_LANES_CUH

#include "gpu/base/events.cuh"

#include "emu/core/lane_constants.h"

typedef uint32_t hu_lane;
typedef int32_t hu_ilane;
#define HU_LANE_FN HU_DEVICE
#define HU_MASK(c) (0u - (uint32_t)(c))
#define HU_ALL(x) ((uint32_t)(x))

HU_DEVICE int hui_lane_any(hu_lane mask) { return mask != 0; }
HU_DEVICE hu_lane hui_lane_float(hu_lane x) { return __float_as_uint(__uint2float_rn(x)); }

typedef bool hu_mask;
HU_DEVICE hu_mask hui_mask_lt(hu_lane a, hu_lane b) { return (hu_ilane)a < (hu_ilane)b; }
HU_DEVICE hu_mask hui_mask_test(hu_lane a, hu_lane b) { return (a & b) != 0; }
HU_DEVICE hu_mask hui_mask_or(hu_mask a, hu_mask b) { return a || b; }
HU_DEVICE hu_mask hui_mask_andnot(hu_mask a, hu_mask b) { return a && !b; }
HU_DEVICE hu_lane hui_mask_sel(hu_mask m, hu_lane yes, hu_lane no) { return m ? yes : no; }
HU_DEVICE hu_lane hui_mask_keep(hu_mask m, hu_lane x) { return m ? x : 0; }
HU_DEVICE hu_lane hui_mask_larger(hu_lane a, hu_lane b) { return a > b ? a : b; }
HU_DEVICE hu_lane hui_lane_plus(int round, hu_lane a, hu_lane b) {
  float x = __uint_as_float(a), y = __uint_as_float(b);
  switch (hui_direction_of(round)) {
    case HU_LANE_NEAREST: return __float_as_uint(__fadd_rn(x, y));
    case HU_LANE_DOWN: return __float_as_uint(__fadd_rd(x, y));
    case HU_LANE_UP: return __float_as_uint(__fadd_ru(x, y));
    default: return __float_as_uint(__fadd_rz(x, y));
  }
}
HU_DEVICE hu_lane hui_lane_minus(hu_lane a, hu_lane b) {
  return __float_as_uint(__fsub_rn(__uint_as_float(a), __uint_as_float(b)));
}
HU_DEVICE hu_lane hui_lane_times(hu_lane a, hu_lane b) {
  return __float_as_uint(__fmul_rn(__uint_as_float(a), __uint_as_float(b)));
}
HU_DEVICE hu_lane hui_lane_uint(hu_lane x) { return __float2uint_rz(__uint_as_float(x)); }

#include "emu/simd/round.h"

/* Computes hui_quick_add of every deterministic mode as one expression (hui_addend_of): without a switch per element,
 * ten integer instructions round one. */
HU_DEVICE uint32_t hui_quick_stepped(const hu_lane_constants &lanes, const hu_addend &addend, uint32_t bits) {
  uint32_t fraction = ((uint32_t)1 << lanes.d0) - 1, odd = 0u - (((bits >> lanes.d0) ^ lanes.odd0) & 1);
  return (bits + ((int32_t)bits < 0 ? addend.base[1] : addend.base[0]) + (odd & addend.step)) & ~fraction;
}

/* Rounds the binary32 pattern y by sra, where low is the pattern of 2^emin: |y| toward zero, and one step up where the
 * fraction and R's digits together reach a step (emu/simd/round.h). |y| is at most one step beyond the largest number,
 * `spare` is 32 less the digits of R. Returns a code, perhaps beyond the largest; *value is its value. */
HU_DEVICE uint32_t hui_nearest_added(uint32_t low, int32_t d0, uint32_t spare, uint32_t y, uint32_t word,
                                     float *value) {
  uint32_t field = hui_mask_larger(y & 0x7F800000, low), above = field - low, anchor = field + ((uint32_t)d0 << 23);
  float x = fabsf(__uint_as_float(y)), base = __uint_as_float(anchor), sum = __fadd_rz(x, base);
  float lost = __fsub_rn(x, __fsub_rn(sum, base)), scale = __uint_as_float(((uint32_t)(309 - d0) << 23) - field);
  uint32_t anchored = __float_as_uint(sum) + (__float2uint_rz(__fmul_rn(lost, scale)) >> spare > ~word >> spare);
  *value = __fsub_rn(__uint_as_float(anchored), base);
  return anchored - anchor + (above >> d0);
}

/* Joins a byte of each of four words. __byte_perm's `selector` for two: 0x0040 takes the lowest bytes, 0x0073 the
 * highest. */
HU_DEVICE uint32_t hui_join_bytes(const uint32_t words[4], uint32_t selector) {
  return __byte_perm(__byte_perm(words[0], words[1], selector), __byte_perm(words[2], words[3], selector), 0x5410);
}

HU_DEVICE uint32_t hui_lanes_events(const hu_lanes_result &rounded) {
  return (rounded.overflow & HU_EVENT_OVERFLOW) | (rounded.saturated & HU_EVENT_SATURATED) |
         (rounded.underflow & HU_EVENT_UNDERFLOW) | (rounded.to_zero & HU_EVENT_TO_ZERO) |
         (rounded.subnormal & HU_EVENT_SUBNORMAL) | (rounded.inexact & HU_EVENT_INEXACT) |
         (rounded.invalid & HU_EVENT_INVALID) | (rounded.nan_in & HU_EVENT_NAN_IN) | (rounded.inf_in & HU_EVENT_INF_IN);
}

#endif
