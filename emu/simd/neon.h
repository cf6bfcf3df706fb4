/* SPDX-License-Identifier: MIT */
/* emu/simd/neon.h - NEON of 64-bit Arm, four lanes: the hooks that emu/simd/round.h, emu/simd/philox.h and the loops
 * over arrays (emu/simd/loop.h says which) ask for. There are 32 vector registers. */
#ifndef HALFULP_EMU_SIMD_NEON_H
#define HALFULP_EMU_SIMD_NEON_H

#include <arm_neon.h>

#include "emu/core/port.h"

#define HU_W 4
typedef uint32_t hu_lane __attribute__((vector_size(16)));
typedef int32_t hu_ilane __attribute__((vector_size(16)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane)vdupq_n_u32((uint32_t)(x)))
#if defined(__clang__) || !defined(__GNUC__)
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v)            \
  __extension__({             \
    hu_lane held = (v);       \
    __asm__("" : "+w"(held)); \
    held;                     \
  })
#endif
#define HU_SQRT64(x) vsqrtq_f64((float64x2_t)(x))
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

/* Masks are all ones or all zeros in every lane; their sum is minus the number of lanes that are set. */
static inline int hui_lane_any(hu_lane m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
static inline uint32_t hui_lane_count(hu_lane m) { return 0 - vaddvq_u32((uint32x4_t)m); }
static inline int hui_all_within(hu_lane value, hu_lane span) {
  return vminvq_u32(vcleq_u32((uint32x4_t)value, (uint32x4_t)span)) != 0;
}

static inline int hui_all_within4(const hu_lane value[4], hu_lane span) {
  uint32x4_t a = vmaxq_u32((uint32x4_t)value[0], (uint32x4_t)value[1]),
             b = vmaxq_u32((uint32x4_t)value[2], (uint32x4_t)value[3]);
  return hui_all_within((hu_lane)vmaxq_u32(a, b), span);
}

/* Lanes counted in lanes: a mask's lanes are -1. */
typedef hu_lane hu_count;
static inline hu_count hui_count_none(void) { return HU_ALL(0); }
static inline uint64_t hui_count_sum(hu_count c) { return vaddlvq_u32((uint32x4_t)c); }
typedef hu_lane hu_mask;
static inline hu_mask hui_mask_lt(hu_lane a, hu_lane b) { return (hu_lane)vcltq_s32((int32x4_t)a, (int32x4_t)b); }
static inline hu_mask hui_mask_eq(hu_lane a, hu_lane b) { return (hu_lane)vceqq_u32((uint32x4_t)a, (uint32x4_t)b); }
static inline hu_mask hui_mask_test(hu_lane a, hu_lane b) { return (hu_lane)vtstq_u32((uint32x4_t)a, (uint32x4_t)b); }
static inline int hui_mask_any(hu_mask m) { return hui_lane_any(m); }
static inline hu_mask hui_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hui_mask_andnot(hu_mask a, hu_mask b) { return a & ~b; }
static inline hu_lane hui_mask_sel(hu_mask m, hu_lane yes, hu_lane no) {
  return (hu_lane)vbslq_u32((uint32x4_t)m, (uint32x4_t)yes, (uint32x4_t)no);
}
static inline hu_lane hui_mask_keep(hu_mask m, hu_lane value) { return m & value; }
static inline hu_count hui_count_mask(hu_count c, hu_mask m) { return c - m; }

static inline float32x4_t floats(hu_lane a) { return (float32x4_t)a; }
static inline hu_lane bits(float32x4_t a) { return (hu_lane)a; }
static inline hu_lane hui_lane_plus(int round, hu_lane a, hu_lane b) {
  (void)round;
  return bits(vaddq_f32(floats(a), floats(b)));
}
static inline hu_lane hui_lane_minus(hu_lane a, hu_lane b) { return bits(vsubq_f32(floats(a), floats(b))); }
static inline hu_lane hui_lane_times(hu_lane a, hu_lane b) { return bits(vmulq_f32(floats(a), floats(b))); }
static inline hu_lane hui_lane_larger(hu_lane a, hu_lane b) { return (hu_lane)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
static inline hu_lane hui_lane_smaller(hu_lane a, hu_lane b) { return (hu_lane)vminq_s32((int32x4_t)a, (int32x4_t)b); }
static inline hu_lane hui_mask_larger(hu_lane a, hu_lane b) { return hui_lane_larger(a, b); }
static inline hu_lane hui_lane_over(hu_lane a, hu_lane b) { return bits(vdivq_f32(floats(a), floats(b))); }
static inline hu_lane hui_lane_uint(hu_lane value) { return (hu_lane)vcvtq_u32_f32(floats(value)); }
static inline hu_lane hui_lane_float(hu_lane value) { return bits(vcvtq_f32_s32((int32x4_t)value)); }

static inline void hui_store8(uint8_t *z, hu_lane value) {
  uint8x16_t b = vuzp1q_u8((uint8x16_t)value, (uint8x16_t)value);
  uint32_t w = vgetq_lane_u32((uint32x4_t)vuzp1q_u8(b, b), 0);
  memcpy(z, &w, sizeof w);
}
static inline void hui_store16(uint16_t *z, hu_lane value) { vst1_u16(z, vmovn_u32((uint32x4_t)value)); }
static inline hu_lane hui_load8(const uint8_t *x) {
  uint32_t w;
  memcpy(&w, x, sizeof w);
  return (hu_lane)vmovl_u16(vget_low_u16(vmovl_u8((uint8x8_t)vdup_n_u32(w))));
}
static inline hu_lane hui_load16(const uint16_t *x) { return (hu_lane)vmovl_u16(vld1_u16(x)); }
#define HU_BYPASSES 0 /* no instruction stores one vector around the caches */
#define HU_LOOP_PER_WIDTH 1

/* Returns the largest lane, signed. */
static inline uint32_t hui_lane_largest(hu_lane a) { return (uint32_t)vmaxvq_s32((int32x4_t)a); }

/* a, whose sign is 0, under the sign of x. */
static inline hu_lane hui_lane_signed(hu_lane a, hu_lane x) { return hui_mask_sel(HU_ALL(0x80000000u), x, a); }

/* Load and store the first n < 4 lanes. */
static inline hu_lane hui_load_few(const uint32_t *x, size_t n) {
  uint32_t v[4] = {n > 0 ? x[0] : 0, n > 1 ? x[1] : 0, n > 2 ? x[2] : 0, 0};
  return (hu_lane)vld1q_u32(v);
}
static inline void hui_store_few(uint32_t *z, hu_lane value, size_t n) {
  for (size_t i = 0; i < n; i++) z[i] = value[i];
}

typedef uint64_t hu_lane64 __attribute__((vector_size(16)));
static inline hu_lane64 hui_lane64_all(uint64_t x) { return (hu_lane64)vdupq_n_u64(x); }
static inline hu_lane64 hui_lane64_order(void) { return (hu_lane64){0, 1}; }
static inline hu_lane64 hui_lane64_mul(hu_lane64 a, hu_lane64 b) {
  return (hu_lane64)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}
static inline hu_lane64 hui_lane64_high(hu_lane64 a) { return a >> 32; }
static inline hu_lane64 hui_lane64_xor3(hu_lane64 a, hu_lane64 b, hu_lane64 c) { return a ^ b ^ c; }
static inline void hui_lane64_join(hu_lane z[2], hu_lane64 c0, hu_lane64 c1, hu_lane64 c2, hu_lane64 c3) {
  uint64x2_t a = (uint64x2_t)vtrn1q_u32((uint32x4_t)c0, (uint32x4_t)c1);
  uint64x2_t b = (uint64x2_t)vtrn1q_u32((uint32x4_t)c2, (uint32x4_t)c3);
  z[0] = (hu_lane)vzip1q_u64(a, b);
  z[1] = (hu_lane)vzip2q_u64(a, b);
}

/* ---- binary32 in products (emu/gemm/seq_lanes.c says what each is) ---- */

#define SEQ_LANES 4
#define SEQ_OP static inline __attribute__((always_inline))

typedef float32x4_t seq_f;
typedef uint32x4_t seq_u;

SEQ_OP seq_f seq_all(float x) { return vdupq_n_f32(x); }
SEQ_OP seq_u seq_each(uint32_t pattern) { return vdupq_n_u32(pattern); }
SEQ_OP seq_f seq_load(const float *x) { return vld1q_f32(x); }
SEQ_OP void seq_store(float *z, seq_f x) { vst1q_f32(z, x); }
SEQ_OP seq_u seq_bits(seq_f x) { return (seq_u)x; }
SEQ_OP seq_f seq_value(seq_u u) { return (seq_f)u; }
SEQ_OP seq_f seq_mul(seq_f a, seq_f b) { return vmulq_f32(a, b); }
SEQ_OP seq_f seq_add(seq_f a, seq_f b) { return vaddq_f32(a, b); }
SEQ_OP seq_f seq_sub(seq_f a, seq_f b) { return vsubq_f32(a, b); }
SEQ_OP seq_f seq_fma(seq_f a, seq_f b, seq_f c) { return vfmaq_f32(c, a, b); }
SEQ_OP seq_f seq_fnma(seq_f a, seq_f b, seq_f c) { return vfmsq_f32(c, a, b); }
SEQ_OP seq_u seq_and(seq_u x, seq_u y) { return vandq_u32(x, y); }
SEQ_OP seq_u seq_or_and(seq_u x, seq_u y, seq_u m) { return vorrq_u32(x, vandq_u32(y, m)); }
SEQ_OP seq_u seq_and_or(seq_u x, seq_u m, seq_u y) { return vorrq_u32(vandq_u32(x, m), y); }
SEQ_OP seq_u seq_plus(seq_u x, seq_u y) { return vaddq_u32(x, y); }
SEQ_OP seq_u seq_max(seq_u x, seq_u y) { return (seq_u)vmaxq_s32((int32x4_t)x, (int32x4_t)y); }
SEQ_OP seq_u seq_min(seq_u x, seq_u y) { return (seq_u)vminq_s32((int32x4_t)x, (int32x4_t)y); }
SEQ_OP seq_u seq_least(seq_u x, seq_u y) { return vminq_u32(x, y); }
SEQ_OP seq_u seq_min16(seq_u x, seq_u y) { return (seq_u)vminq_s16((int16x8_t)x, (int16x8_t)y); }
SEQ_OP seq_u seq_up(seq_u x, uint32_t n) { return vshlq_u32(x, vdupq_n_s32((int32_t)n)); }
SEQ_OP seq_u seq_minus(seq_u x, seq_u y) { return vsubq_u32(x, y); }
SEQ_OP seq_u seq_if_zero(seq_u x, seq_u yes, seq_u no) { return vbslq_u32(vceqzq_u32(x), yes, no); }
/* |x| >= |y| ? yes : no */
SEQ_OP seq_f seq_if_larger(seq_f x, seq_f y, seq_f yes, seq_f no) {
  seq_u u = vshlq_n_u32(seq_bits(x), 1), v = vshlq_n_u32(seq_bits(y), 1);
  return vbslq_f32(vcgeq_u32(u, v), yes, no);
}
/* Returns all ones in the first n lanes. */
SEQ_OP seq_u seq_lanes_below(size_t n) {
  const seq_u lane = {0, 1, 2, 3};
  return vcltq_u32(lane, seq_each((uint32_t)n));
}
SEQ_OP int seq_any_from(seq_u x, uint32_t pattern, size_t n) {
  return vmaxvq_u32(vandq_u32(vcgeq_u32(x, seq_each(pattern)), seq_lanes_below(n))) != 0;
}
SEQ_OP seq_f seq_first(size_t n, seq_f x, seq_f y) { return vbslq_f32(seq_lanes_below(n), x, y); }
SEQ_OP int seq_any_tie(seq_u x, int word, seq_u y, uint32_t pattern) {
  seq_u least = vceqq_u32(word ? vshlq_n_u32(x, 16) : x, seq_each(0x80000000u));
  if (pattern) least = vorrq_u32(least, vcltq_s32((int32x4_t)y, vdupq_n_s32((int32_t)pattern)));
  return vmaxvq_u32(least) != 0;
}

/* x + y in binary64 to odd: s with its neighbour on the side of its error e, by Knuth's two-sum, has an odd one
 * (emu/arith/wide_lanes.c). Infinities have no error and stay what they are. */
SEQ_OP float64x2_t wide_odd_sum(float64x2_t x, float64x2_t y) {
  float64x2_t s = vaddq_f64(x, y), t = vsubq_f64(s, x);
  float64x2_t e = vaddq_f64(vsubq_f64(x, vsubq_f64(s, t)), vsubq_f64(y, t));
  uint64x2_t u = (uint64x2_t)s, one = vdupq_n_u64(1), even = vsubq_u64(vandq_u64(u, one), one);
  uint64x2_t lost = vorrq_u64(vcgtzq_f64(e), vcltzq_f64(e)), apart = vcltzq_s64((int64x2_t)veorq_u64(u, (uint64x2_t)e));
  return (float64x2_t)vaddq_u64(u, vandq_u64(vandq_u64(even, lost), vorrq_u64(apart, one)));
}
/* The product is exact in binary64, and from there to binary32 there is an instruction that rounds to odd. */
SEQ_OP seq_f seq_odd(seq_f a, seq_f b, seq_f c) {
  float64x2_t low = vmulq_f64(vcvt_f64_f32(vget_low_f32(a)), vcvt_f64_f32(vget_low_f32(b)));
  float64x2_t high = vmulq_f64(vcvt_high_f64_f32(a), vcvt_high_f64_f32(b));
  low = wide_odd_sum(low, vcvt_f64_f32(vget_low_f32(c)));
  return vcvtx_high_f32_f64(vcvtx_f32_f64(low), wide_odd_sum(high, vcvt_high_f64_f32(c)));
}

SEQ_OP seq_u seq_most(seq_u x, seq_u y) { return vmaxq_u32(x, y); }
SEQ_OP seq_u seq_and_not(seq_u x, seq_u y) { return vbicq_u32(x, y); }
SEQ_OP seq_u seq_negative(seq_u x) { return (seq_u)vshrq_n_s32((int32x4_t)x, 31); }
SEQ_OP seq_u seq_down(seq_u x, uint32_t n) { return vshlq_u32(x, vdupq_n_s32(-(int32_t)n)); }

/* Take the same register as lanes of 64 bits, for random words (emu/simd/philox.h). */
SEQ_OP seq_u wide_all(uint64_t x) { return (seq_u)vdupq_n_u64(x); }
SEQ_OP seq_u wide_plus(seq_u x, seq_u y) { return (seq_u)vaddq_u64((uint64x2_t)x, (uint64x2_t)y); }
SEQ_OP seq_u wide_mul(seq_u x, seq_u y) { return (seq_u)hui_lane64_mul((hu_lane64)x, (hu_lane64)y); }
SEQ_OP seq_u wide_high(seq_u x) { return (seq_u)vshrq_n_u64((uint64x2_t)x, 32); }
SEQ_OP seq_u wide_xor(seq_u x, seq_u y) { return veorq_u32(x, y); }
SEQ_OP seq_u wide_xor3(seq_u x, seq_u y, seq_u z) { return veorq_u32(veorq_u32(x, y), z); }
SEQ_OP seq_u wide_twice_order(void) { return (seq_u)(hu_lane64){0, 2}; }
/* The low halves of x in even lanes, of y in odd ones. */
SEQ_OP seq_u wide_join(seq_u x, seq_u y) { return vtrn1q_u32(x, y); }
/* The lanes of x, a bit each, that are those of u or more, as integers without a sign. */
SEQ_OP uint32_t seq_which_from(seq_u x, seq_u u) {
  const seq_u bit = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32(vcgeq_u32(x, u), bit));
}

/* ---- binary64 in products (emu/gemm/unit_lanes.c) ---- */

#define BLK_LANES 2
#define BLK_OP static inline __attribute__((always_inline))

typedef float64x2_t blk_d;
typedef uint64x2_t blk_u;

BLK_OP blk_d blk_all(double x) { return vdupq_n_f64(x); }
BLK_OP blk_u blk_each(uint64_t pattern) { return vdupq_n_u64(pattern); }
BLK_OP blk_d blk_load(const double *x) { return vld1q_f64(x); }
BLK_OP void blk_store(double *z, blk_d x) { vst1q_f64(z, x); }
BLK_OP blk_u blk_bits(blk_d x) { return (blk_u)x; }
BLK_OP blk_d blk_value(blk_u u) { return (blk_d)u; }
BLK_OP blk_d blk_mul(blk_d x, blk_d y) { return vmulq_f64(x, y); }
BLK_OP blk_d blk_add(blk_d x, blk_d y) { return vaddq_f64(x, y); }
BLK_OP blk_d blk_sub(blk_d x, blk_d y) { return vsubq_f64(x, y); }
BLK_OP blk_d blk_fma(blk_d x, blk_d y, blk_d z) { return vfmaq_f64(z, x, y); }
/* A NaN stays one: it can only come from an operand that is infinite or NaN, and such a lane ends as one anyway. */
BLK_OP blk_d blk_max(blk_d x, blk_d y) { return vmaxq_f64(x, y); }
BLK_OP blk_u blk_and(blk_u x, blk_u y) { return vandq_u64(x, y); }
BLK_OP blk_u blk_or(blk_u x, blk_u y) { return vorrq_u64(x, y); }
BLK_OP blk_u blk_minus(blk_u x, blk_u y) { return vsubq_u64(x, y); }
BLK_OP blk_d blk_trunc(blk_d x) { return vrndq_f64(x); }
BLK_OP blk_d blk_floor(blk_d x) { return vrndmq_f64(x); }
BLK_OP blk_d blk_ceil(blk_d x) { return vrndpq_f64(x); }
BLK_OP blk_d blk_near(blk_d x) { return vrndnq_f64(x); }
BLK_OP blk_d blk_narrow(blk_d x) { return vcvt_f64_f32(vcvt_f32_f64(x)); }
BLK_OP blk_d blk_flush(blk_d x, double least) {
  return (blk_d)vbicq_u64((blk_u)x, vandq_u64(vcaltq_f64(x, blk_all(least)), blk_each(0x7FFFFFFFFFFFFFFFu)));
}
BLK_OP blk_d blk_narrow_normal(blk_d x) { return blk_flush(blk_narrow(x), 0x1p-126); }
BLK_OP blk_d blk_if_less(blk_d x, blk_d y, blk_d yes, blk_d no) { return vbslq_f64(vcltq_f64(x, y), yes, no); }
BLK_OP blk_d blk_if_same(blk_d x, blk_d y, blk_d yes, blk_d no) { return vbslq_f64(vceqq_f64(x, y), yes, no); }
BLK_OP blk_d blk_widen(const float *x, uint32_t mask) {
  return vcvt_f64_f32((float32x2_t)vand_u32((uint32x2_t)vld1_f32(x), vdup_n_u32(mask)));
}
/* Without the digits `low`; the next one is 1 where they were not 0. */
BLK_OP blk_d blk_sticky(blk_d x, uint64_t low) {
  blk_u u = blk_bits(x), mask = blk_each(low), some = vandq_u64(vtstq_u64(u, mask), blk_each(low + 1));
  return blk_value(vorrq_u64(vbicq_u64(u, mask), some));
}
/* Returns x + y, rounded to odd. */
BLK_OP blk_d blk_odd_sum(blk_d x, blk_d y) { return wide_odd_sum(x, y); }

#endif
