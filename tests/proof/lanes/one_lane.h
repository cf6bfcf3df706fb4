/* SPDX-License-Identifier: MIT */
/* tests/proof/lanes/one_lane.h - one lane as a plain uint32_t: the hooks of emu/simd/round.h and emu/simd/loop.h in C
 * that a prover can read.
 *
 * Integers are integers here. Sums of floats are calls of functions that have no body: the translator puts IEEE 754's
 * operation of that direction in their place. The two conversions are written out in integers. What the processor's
 * instructions do is compared with these texts by test_hooks.c. */
#ifndef HALFULP_TESTS_PROOF_LANES_ONE_LANE_H
#define HALFULP_TESTS_PROOF_LANES_ONE_LANE_H

#define HALFULP_EMU_SIMD_LANES_H /* the text includes this header in place of the levels' */
#define HU_LANES_HERE 1

#include "emu/core/lane_constants.h"

#define HU_W 1
typedef uint32_t hu_lane;
typedef int32_t hu_ilane;
#define HU_MASK(c) (0u - (uint32_t)(c))
#define HU_ALL(x) ((uint32_t)(x))
#define HU_LANE_FN static inline

/* a + b, a - b and a b of binary32 patterns; the second part of a name is the direction. */
#define PROOF_FLOAT(name) uint32_t name(uint32_t a, uint32_t b) __attribute__((const))
PROOF_FLOAT(float_add_rne);
PROOF_FLOAT(float_add_rtn);
PROOF_FLOAT(float_add_rtp);
PROOF_FLOAT(float_add_rtz);
PROOF_FLOAT(float_sub_rne);
PROOF_FLOAT(float_sub_rtn);
PROOF_FLOAT(float_mul_rne);

static inline int hui_lane_any(hu_lane m) { return m != 0; }
static inline uint32_t hui_lane_count(hu_lane m) { return m & 1; }
static inline int hui_all_within(hu_lane v, hu_lane s) { return v <= s; }
static inline int hui_all_within4(const hu_lane v[4], hu_lane s) {
  return v[0] <= s && v[1] <= s && v[2] <= s && v[3] <= s;
}

typedef uint32_t hu_mask; /* 0 or 1 */
static inline hu_mask hui_mask_lt(hu_lane a, hu_lane b) { return (hu_ilane)a < (hu_ilane)b; }
static inline hu_mask hui_mask_eq(hu_lane a, hu_lane b) { return a == b; }
static inline hu_mask hui_mask_test(hu_lane a, hu_lane b) { return (a & b) != 0; }
static inline int hui_mask_any(hu_mask m) { return m != 0; }
static inline hu_mask hui_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hui_mask_andnot(hu_mask a, hu_mask b) { return a & (b ^ 1); }
static inline hu_lane hui_mask_sel(hu_mask m, hu_lane yes, hu_lane no) { return m ? yes : no; }
static inline hu_lane hui_mask_keep(hu_mask m, hu_lane v) { return m ? v : 0; }
static inline hu_lane hui_mask_larger(hu_lane a, hu_lane b) { return (hu_ilane)a > (hu_ilane)b ? a : b; }
static inline hu_lane hui_lane_larger(hu_lane a, hu_lane b) { return (hu_ilane)a > (hu_ilane)b ? a : b; }
static inline hu_lane hui_lane_smaller(hu_lane a, hu_lane b) { return (hu_ilane)a < (hu_ilane)b ? a : b; }
static inline uint32_t hui_lane_largest(hu_lane a) { return a; }
static inline hu_lane hui_lane_signed(hu_lane a, hu_lane u) { return a | (u & 0x80000000u); }

typedef uint64_t hu_count;
static inline hu_count hui_count_none(void) { return 0; }
static inline hu_count hui_count_mask(hu_count c, hu_mask m) { return c + m; }
static inline uint64_t hui_count_sum(hu_count c) { return c; }

/* (float)v of v < 2^24, exact: the leading digit becomes the hidden one. */
static inline hu_lane hui_lane_float(hu_lane v) {
  uint32_t lead = v ? (uint32_t)__builtin_clz(v) : 0;
  return v ? ((v << lead >> 8) & 0x7FFFFF) | (158 - lead) << 23 : 0;
}

/* The floor of the float v, 0 <= v < 2^32. */
static inline hu_lane hui_lane_uint(hu_lane v) {
  uint32_t field = v >> 23 & 0xFF, sig = (v & 0x7FFFFF) | 0x800000;
  if (field < 127) return 0;
  return field < 150 ? sig >> (150 - field) : sig << (field < 158 ? field - 150 : 8);
}

/* round is the direction that the kernel has set the processor to. */
static inline hu_lane hui_lane_plus(int round, hu_lane a, hu_lane b) {
  switch (hui_direction_of(round)) {
    case HU_LANE_NEAREST: return float_add_rne(a, b);
    case HU_LANE_DOWN: return float_add_rtn(a, b);
    case HU_LANE_UP: return float_add_rtp(a, b);
    default: return float_add_rtz(a, b);
  }
}

/* Exact where the text uses them, so that the direction plays a part for one result alone: x - x is -0 downward. A
 * device always rounds them to nearest, a processor in the direction that the kernel has set. */
static inline hu_lane hui_lane_minus(hu_lane a, hu_lane b) {
#if defined(PROOF_ROUND) && !PROOF_DEVICE
  if (PROOF_ROUND == HU_RTN) return float_sub_rtn(a, b);
#endif
  return float_sub_rne(a, b);
}
/* Products and quotients that need not be exact: any function of the two, the same one wherever it is asked. */
PROOF_FLOAT(any_product);
PROOF_FLOAT(any_quotient);
static inline hu_lane hui_lane_times(hu_lane a, hu_lane b) {
#ifdef PROOF_ANY_PRODUCT
  return any_product(a, b);
#else
  return float_mul_rne(a, b);
#endif
}
static inline hu_lane hui_lane_over(hu_lane a, hu_lane b) { return any_quotient(a, b); }

/* Of loops over arrays, which the queries do not enter: enough to be compiled. */
#define HU_BYPASSES 0
#define HU_LOOP_PER_WIDTH 0
static inline void hui_store8(uint8_t *z, hu_lane v) { *z = (uint8_t)v; }
static inline void hui_store16(uint16_t *z, hu_lane v) { *z = (uint16_t)v; }
static inline hu_lane hui_load_few(const uint32_t *x, size_t n) { return n ? *x : 0; }
static inline void hui_store_few(uint32_t *z, hu_lane v, size_t n) {
  if (n) *z = v;
}
static inline hu_lane hui_load8(const uint8_t *x) { return *x; }
static inline hu_lane hui_load16(const uint16_t *x) { return *x; }
typedef uint64_t hu_lane64;
static inline hu_lane64 hui_lane64_all(uint64_t x) { return x; }
static inline hu_lane64 hui_lane64_order(void) { return 0; }
static inline hu_lane64 hui_lane64_mul(hu_lane64 a, hu_lane64 b) { return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF); }
static inline hu_lane64 hui_lane64_high(hu_lane64 a) { return a >> 32; }
static inline hu_lane64 hui_lane64_xor3(hu_lane64 a, hu_lane64 b, hu_lane64 c) { return a ^ b ^ c; }
static inline void hui_lane64_join(hu_lane z[2], hu_lane64 c0, hu_lane64 c1, hu_lane64 c2, hu_lane64 c3) {
  z[0] = (hu_lane)(c0 + c1);
  z[1] = (hu_lane)(c2 + c3);
}

#endif
