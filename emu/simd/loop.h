/* SPDX-License-Identifier: MIT */
/* emu/simd/loop.h - what loops over arrays have in common at a vector level. Include the header of a level first
 * (lanes.h does), which defines
 *
 *   HU_W                 lanes in a vector, a multiple of 4
 *   hu_lane, hu_ilane    vectors of HU_W 32-bit lanes
 *   the hooks of emu/simd/round.h and emu/simd/philox.h, and
 *   hui_lane_count(m)    the number of lanes of a mask that are set
 *   hui_all_within(v, s)  1 if v <= s, unsigned, in all lanes; hui_all_within4: of four vectors
 *   hui_mask_eq(a, b)    a == b as a hu_mask; hui_mask_any(m): 1 if a lane is set
 *   hu_count             a running count of lanes: hui_count_none() starts one, hui_count_mask(c, m) adds the lanes of
 *                        a mask, hui_count_sum(c) is the sum after at most 2^28 such calls
 *   hui_load8(x), hui_load16(x)            HU_W elements into lanes
 *   hui_store8(z, v), hui_store16(z, v)    the low 8 (16) bits of each lane, HU_W elements
 *   HU_BYPASSES          1: there are stores around the caches. hui_bypass(z, v) stores HU_W lanes, z aligned to the
 *                        vector; hui_fence() puts what was stored so before all that follows
 *   HU_LOOP_PER_WIDTH    1: codes of each width have loops of their own; 0: the same loops store all widths
 *   hui_load_few(x, n), hui_store_few(z, v, n)   the first n < HU_W lanes, others 0
 *   hui_lane_signed(a, x) a, whose sign is 0, under the sign of x
 *   hui_lane_larger(a, b), hui_lane_smaller(a, b)  of signed lanes
 *   hui_lane_largest(a)  the largest signed lane
 *   hui_lane_over(a, b)  the bits of the quotient of two floats, as the CPU rounds
 *   HU_SQRT64(x)         the roots of a vector of doubles, correctly rounded, where there is an instruction
 */
#ifndef HALFULP_EMU_SIMD_LOOP_H
#define HALFULP_EMU_SIMD_LOOP_H

#include "emu/simd/philox.h"
#include "emu/simd/round.h"

enum { HU_TO_VALUE = 0, HU_TO_CODE8 = 1, HU_TO_CODE16 = 2, HU_TO_CODE32 = 4 };

static inline hu_lane load(const uint32_t *x) {
  hu_lane value;
  memcpy(&value, x, sizeof value);
  return value;
}

static inline size_t hui_min_size(size_t a, size_t b) { return a < b ? a : b; }

static inline void store(uint32_t *z, hu_lane value) { memcpy(z, &value, sizeof value); }

#if !HU_BYPASSES /* for the compiler alone: loops ask HU_BYPASSES first */
static inline void hui_bypass(uint32_t *z, hu_lane value) { store(z, value); }
static inline void hui_fence(void) {}
#endif

typedef struct rounded {
  hu_lane value, code;
} rounded;

static inline __attribute__((always_inline)) void put(void *z, size_t i, int to, int bypass, rounded result) {
  switch (to) {
    case HU_TO_VALUE:
      if (bypass) {
        hui_bypass((uint32_t *)z + i, result.value);
      } else {
        store((uint32_t *)z + i, result.value);
      }
      return;
    case HU_TO_CODE8: hui_store8((uint8_t *)z + i, result.code); return;
    case HU_TO_CODE16: hui_store16((uint16_t *)z + i, result.code); return;
    default: store((uint32_t *)z + i, result.code); return;
  }
}

static inline void *at(void *z, size_t i, int to) { return (uint8_t *)z + i * (to == HU_TO_VALUE ? 4u : (unsigned)to); }

static inline __attribute__((always_inline)) hu_lane load_codes(const void *x, size_t i, int size) {
  return size == 1   ? hui_load8((const uint8_t *)x + i)
         : size == 2 ? hui_load16((const uint16_t *)x + i)
                     : load((const uint32_t *)x + i);
}

/* Lanes counted by the middle way; inexact, to_zero and subnormal are differences of them. */
typedef struct middle_counts {
  hu_count exact, underflow, small, zero, zero_in;
} middle_counts;

static inline middle_counts no_middle_counts(void) {
  middle_counts seen = {hui_count_none(), hui_count_none(), hui_count_none(), hui_count_none(), hui_count_none()};
  return seen;
}

#endif
