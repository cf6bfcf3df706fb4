/* SPDX-License-Identifier: MIT */
/* emu/simd/vector.h - compiler vectors of four lanes (SSE2, NEON, or whatever the compiler makes of them): the hooks
 * that emu/simd/round.h, emu/simd/philox.h and the loops over arrays (emu/simd/loop.h says which) ask for. */
#ifndef HALFULP_EMU_SIMD_VECTOR_H
#define HALFULP_EMU_SIMD_VECTOR_H

#include "emu/core/port.h"

#if HU_X86
#include <emmintrin.h>
#endif

#define HU_W 4
typedef uint32_t hu_lane __attribute__((vector_size(16)));
typedef int32_t hu_ilane __attribute__((vector_size(16)));
typedef float lane_floats __attribute__((vector_size(16)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane){(uint32_t)(x), (uint32_t)(x), (uint32_t)(x), (uint32_t)(x)})
#if defined(__clang__) || !HU_X86
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v)            \
  __extension__({             \
    hu_lane held = (v);       \
    __asm__("" : "+x"(held)); \
    held;                     \
  })
#endif
#if HU_X86
#define HU_SQRT64(x) _mm_sqrt_pd((__m128d)(x))
#endif
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

/* Masks are all ones or all zeros in every lane. */
static inline uint32_t mask_bits(hu_lane m) {
#if HU_X86
  return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps((__m128i)m));
#else
  m &= (hu_lane){1, 2, 4, 8};
  return m[0] | m[1] | m[2] | m[3];
#endif
}

static inline int hui_lane_any(hu_lane m) { return mask_bits(m) != 0; }
static inline uint32_t hui_lane_count(hu_lane m) {
  /* bit counts of 0..15, four bits each: popcnt is not in the baseline instruction set */
  return (uint32_t)(0x4332322132212110u >> (4 * mask_bits(m))) & 15;
}
static inline int hui_all_within(hu_lane value, hu_lane span) { return mask_bits((hu_lane)(value <= span)) == 15; }

static inline int hui_all_within4(const hu_lane value[4], hu_lane span) {
  return hui_all_within(value[0], span) & hui_all_within(value[1], span) & hui_all_within(value[2], span) &
         hui_all_within(value[3], span);
}

/* Lanes counted in lanes: a mask's lanes are -1. */
typedef hu_lane hu_count;
static inline hu_count hui_count_none(void) { return HU_ALL(0); }
static inline uint64_t hui_count_sum(hu_count c) { return (uint64_t)c[0] + c[1] + c[2] + c[3]; }
typedef hu_lane hu_mask;
static inline hu_mask hui_mask_lt(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)a < (hu_ilane)b); }
static inline hu_mask hui_mask_eq(hu_lane a, hu_lane b) { return (hu_lane)(a == b); }
static inline hu_mask hui_mask_test(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)(a & b) > (hu_ilane)HU_ALL(0)); }
static inline int hui_mask_any(hu_mask m) { return hui_lane_any(m); }
static inline hu_mask hui_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hui_mask_andnot(hu_mask a, hu_mask b) { return a & ~b; }
static inline hu_lane hui_mask_sel(hu_mask m, hu_lane yes, hu_lane no) { return (m & yes) | (~m & no); }
static inline hu_lane hui_mask_keep(hu_mask m, hu_lane value) { return m & value; }
static inline hu_count hui_count_mask(hu_count c, hu_mask m) { return c - m; }

#if HU_X86
/* Their digits lie in the upper 16 bits, below the sign. */
static inline hu_lane hui_mask_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm_max_epi16((__m128i)a, (__m128i)b); }
#else
static inline hu_lane hui_mask_larger(hu_lane a, hu_lane b) {
  hu_lane first = (hu_lane)((hu_ilane)a > (hu_ilane)b);
  return (first & a) | (~first & b);
}
#endif
static inline hu_lane hui_lane_plus(int round, hu_lane a, hu_lane b) {
  (void)round;
  return (hu_lane)((lane_floats)a + (lane_floats)b);
}
static inline hu_lane hui_lane_minus(hu_lane a, hu_lane b) { return (hu_lane)((lane_floats)a - (lane_floats)b); }
static inline hu_lane hui_lane_times(hu_lane a, hu_lane b) { return (hu_lane)((lane_floats)a * (lane_floats)b); }
static inline hu_lane hui_lane_larger(hu_lane a, hu_lane b) { return hui_mask_sel(hui_mask_lt(a, b), b, a); }
static inline hu_lane hui_lane_smaller(hu_lane a, hu_lane b) { return hui_mask_sel(hui_mask_lt(a, b), a, b); }
static inline hu_lane hui_lane_over(hu_lane a, hu_lane b) { return (hu_lane)((lane_floats)a / (lane_floats)b); }
/* From 2^31 on less 2^31, which is exact, and its bit put back. */
static inline hu_lane hui_lane_uint(hu_lane value) {
  hu_lane big = (hu_lane)((hu_ilane)value > (hu_ilane)HU_ALL(0x4EFFFFFF));
  hu_lane rest = hui_lane_minus(value, big & HU_ALL(0x4F000000));
  return (hu_lane) __builtin_convertvector((lane_floats)rest, hu_ilane) | (big & 0x80000000u);
}
static inline hu_lane hui_lane_float(hu_lane value) {
  return (hu_lane) __builtin_convertvector((hu_ilane)value, lane_floats);
}

static inline void hui_store8(uint8_t *z, hu_lane value) {
  uint32_t w = (value[0] & 255) | (value[1] & 255) << 8 | (value[2] & 255) << 16 | value[3] << 24;
  memcpy(z, &w, sizeof w);
}
static inline void hui_store16(uint16_t *z, hu_lane value) {
  uint64_t w = (value[0] & 0xFFFF) | (value[1] << 16) | (uint64_t)((value[2] & 0xFFFF) | (value[3] << 16)) << 32;
  memcpy(z, &w, sizeof w);
}
static inline hu_lane hui_load8(const uint8_t *x) { return (hu_lane){x[0], x[1], x[2], x[3]}; }
static inline hu_lane hui_load16(const uint16_t *x) { return (hu_lane){x[0], x[1], x[2], x[3]}; }

#if HU_X86 && !HU_PORTABLE
#define HU_BYPASSES 1
static inline void hui_bypass(uint32_t *z, hu_lane value) { _mm_stream_si128((__m128i *)(void *)z, (__m128i)value); }
static inline void hui_fence(void) { _mm_sfence(); }
#else
#define HU_BYPASSES 0
#endif
/* Few processors have no better level, and loops for each width take a compiler three times as long. */
#define HU_LOOP_PER_WIDTH 0

/* Returns the largest lane, signed. */
static inline uint32_t hui_lane_largest(hu_lane a) {
  hu_lane half = hui_lane_larger(a, (hu_lane){a[2], a[3], a[2], a[3]}), last = hui_lane_larger(half, HU_ALL(half[1]));
  return last[0];
}

/* a, whose sign is 0, under the sign of x. */
static inline hu_lane hui_lane_signed(hu_lane a, hu_lane x) { return a | (x & HU_ALL(0x80000000u)); }

/* Load and store the first n < 4 lanes. */
static inline hu_lane hui_load_few(const uint32_t *x, size_t n) {
  hu_lane value = HU_ALL(0);
  for (size_t i = 0; i < n; i++) value[i] = x[i];
  return value;
}
static inline void hui_store_few(uint32_t *z, hu_lane value, size_t n) {
  for (size_t i = 0; i < n; i++) z[i] = value[i];
}

typedef uint64_t hu_lane64 __attribute__((vector_size(16)));
static inline hu_lane64 hui_lane64_all(uint64_t x) { return (hu_lane64){x, x}; }
static inline hu_lane64 hui_lane64_order(void) { return (hu_lane64){0, 1}; }
static inline hu_lane64 hui_lane64_high(hu_lane64 a) { return a >> 32; }
static inline hu_lane64 hui_lane64_xor3(hu_lane64 a, hu_lane64 b, hu_lane64 c) { return a ^ b ^ c; }
#if HU_X86
static inline hu_lane64 hui_lane64_mul(hu_lane64 a, hu_lane64 b) {
  return (hu_lane64)_mm_mul_epu32((__m128i)a, (__m128i)b);
}
#else
static inline hu_lane64 hui_lane64_mul(hu_lane64 a, hu_lane64 b) { return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu); }
#endif
static inline void hui_lane64_join(hu_lane z[2], hu_lane64 c0, hu_lane64 c1, hu_lane64 c2, hu_lane64 c3) {
  hu_lane64 a = (c0 & 0xFFFFFFFFu) | (c1 << 32), b = (c2 & 0xFFFFFFFFu) | (c3 << 32);
  z[0] = (hu_lane)(hu_lane64){a[0], b[0]};
  z[1] = (hu_lane)(hu_lane64){a[1], b[1]};
}

#endif
