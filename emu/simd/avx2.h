/* SPDX-License-Identifier: MIT */
/* emu/simd/avx2.h - AVX2, eight lanes: the hooks that emu/simd/round.h, emu/simd/philox.h and the loops over arrays
 * (emu/simd/loop.h says which) ask for. */
#ifndef HALFULP_EMU_SIMD_AVX2_H
#define HALFULP_EMU_SIMD_AVX2_H

#include <immintrin.h>

#include "emu/core/port.h"

#define HU_W 8
typedef uint32_t hu_lane __attribute__((vector_size(32)));
typedef int32_t hu_ilane __attribute__((vector_size(32)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane)_mm256_set1_epi32((int32_t)(x)))
#if defined(__clang__) || !defined(__GNUC__)
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v)            \
  __extension__({             \
    hu_lane held = (v);       \
    __asm__("" : "+x"(held)); \
    held;                     \
  })
#endif
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

static inline uint32_t mask_bits(hu_lane m) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)m)); }
static inline int hu_lane_any(hu_lane m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
static inline uint32_t hu_lane_count(hu_lane m) { return (uint32_t)__builtin_popcount(mask_bits(m)); }
static inline int hu_all_within(hu_lane v, hu_lane s) {
  __m256i within = _mm256_cmpeq_epi32(_mm256_min_epu32((__m256i)v, (__m256i)s), (__m256i)v);
  return mask_bits((hu_lane)within) == 0xFF;
}

static inline int hu_all_within4(const hu_lane v[4], hu_lane s) {
  __m256i a = _mm256_max_epu32((__m256i)v[0], (__m256i)v[1]), b = _mm256_max_epu32((__m256i)v[2], (__m256i)v[3]);
  return hu_all_within((hu_lane)_mm256_max_epu32(a, b), s);
}

/* Lanes counted in lanes: a mask's lanes are -1. */
typedef hu_lane hu_count;
static inline hu_count hu_count_none(void) { return HU_ALL(0); }
static inline uint64_t hu_count_sum(hu_count c) {
  uint64_t sum = 0;
  for (int i = 0; i < HU_W; i++) sum += c[i];
  return sum;
}
typedef hu_lane hu_mask;
static inline hu_mask hu_mask_lt(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)a < (hu_ilane)b); }
static inline hu_mask hu_mask_eq(hu_lane a, hu_lane b) { return (hu_lane)(a == b); }
static inline hu_mask hu_mask_test(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)(a & b) > (hu_ilane)HU_ALL(0)); }
static inline int hu_mask_any(hu_mask m) { return hu_lane_any(m); }
static inline hu_mask hu_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hu_mask_andnot(hu_mask a, hu_mask b) { return a & ~b; }
static inline hu_lane hu_mask_sel(hu_mask m, hu_lane yes, hu_lane no) {
  return (hu_lane)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)m);
}
static inline hu_lane hu_mask_keep(hu_mask m, hu_lane v) { return m & v; }
static inline hu_count hu_count_mask(hu_count c, hu_mask m) { return c - m; }

static inline hu_lane hu_mask_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm256_max_epi32((__m256i)a, (__m256i)b); }
static inline __m256 floats(hu_lane a) { return _mm256_castsi256_ps((__m256i)a); }
static inline hu_lane bits(__m256 a) { return (hu_lane)_mm256_castps_si256(a); }
static inline hu_lane hu_lane_plus(int round, hu_lane a, hu_lane b) {
  (void)round;
  return bits(_mm256_add_ps(floats(a), floats(b)));
}
static inline hu_lane hu_lane_minus(hu_lane a, hu_lane b) { return bits(_mm256_sub_ps(floats(a), floats(b))); }
static inline hu_lane hu_lane_times(hu_lane a, hu_lane b) { return bits(_mm256_mul_ps(floats(a), floats(b))); }
static inline hu_lane hu_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm256_max_epi32((__m256i)a, (__m256i)b); }
static inline hu_lane hu_smaller(hu_lane a, hu_lane b) { return (hu_lane)_mm256_min_epi32((__m256i)a, (__m256i)b); }
static inline hu_lane hu_lane_over(hu_lane a, hu_lane b) { return bits(_mm256_div_ps(floats(a), floats(b))); }
/* From 2^31 on less 2^31, which is exact, and its bit put back. */
static inline hu_lane hu_lane_uint(hu_lane v) {
  hu_lane big = (hu_lane)((hu_ilane)v > (hu_ilane)HU_ALL(0x4EFFFFFF));
  hu_lane rest = hu_lane_minus(v, big & HU_ALL(0x4F000000));
  return (hu_lane)_mm256_cvttps_epi32(floats(rest)) | (big & 0x80000000u);
}
static inline hu_lane hu_lane_float(hu_lane v) { return bits(_mm256_cvtepi32_ps((__m256i)v)); }

static inline void hu_store8(uint8_t *z, hu_lane v) {
  const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1,
                                        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i b = _mm256_shuffle_epi8((__m256i)v, pick);
  _mm_storel_epi64((__m128i *)(void *)z, _mm_unpacklo_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1)));
}
static inline void hu_store16(uint16_t *z, hu_lane v) {
  const __m256i pick = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9, 12,
                                        13, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i b = _mm256_shuffle_epi8((__m256i)v, pick);
  _mm_storeu_si128((__m128i *)(void *)z, _mm256_castsi256_si128(_mm256_permute4x64_epi64(b, 0x08)));
}
static inline hu_lane hu_load8(const uint8_t *x) {
  return (hu_lane)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}
static inline hu_lane hu_load16(const uint16_t *x) {
  return (hu_lane)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
static inline void hu_bypass(uint32_t *z, hu_lane v) { _mm256_stream_si256((__m256i *)(void *)z, (__m256i)v); }
static inline void hu_fence(void) { _mm_sfence(); }

/* The largest lane, signed. */
static inline uint32_t hu_lane_largest(hu_lane a) {
  __m128i h = _mm_max_epi32(_mm256_castsi256_si128((__m256i)a), _mm256_extracti128_si256((__m256i)a, 1));
  h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4E));
  return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(h, _mm_shuffle_epi32(h, 0xB1)));
}

/* a, whose sign is 0, under the sign of u. */
static inline hu_lane hu_lane_signed(hu_lane a, hu_lane u) { return a | (u & HU_ALL(0x80000000u)); }

/* The first n < 8 lanes. */
static inline __m256i first_lanes(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline hu_lane hu_load_few(const uint32_t *x, size_t n) {
  return (hu_lane)_mm256_maskload_epi32((const int *)(const void *)x, first_lanes(n));
}
static inline void hu_store_few(uint32_t *z, hu_lane v, size_t n) {
  _mm256_maskstore_epi32((int *)(void *)z, first_lanes(n), (__m256i)v);
}

typedef uint64_t hu_wide __attribute__((vector_size(32)));
static inline hu_wide hu_wide_all(uint64_t x) { return (hu_wide)_mm256_set1_epi64x((int64_t)x); }
static inline hu_wide hu_wide_order(void) { return (hu_wide){0, 2, 1, 3}; }
static inline hu_wide hu_wide_mul(hu_wide a, hu_wide b) { return (hu_wide)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
static inline hu_wide hu_wide_high(hu_wide a) { return a >> 32; }
static inline hu_wide hu_wide_xor3(hu_wide a, hu_wide b, hu_wide c) { return a ^ b ^ c; }
static inline void hu_wide_join(hu_lane z[2], hu_wide c0, hu_wide c1, hu_wide c2, hu_wide c3) {
  __m256i a = _mm256_blend_epi32((__m256i)c0, (__m256i)(c1 << 32), 0xAA);
  __m256i b = _mm256_blend_epi32((__m256i)c2, (__m256i)(c3 << 32), 0xAA);
  z[0] = (hu_lane)_mm256_unpacklo_epi64(a, b);
  z[1] = (hu_lane)_mm256_unpackhi_epi64(a, b);
}

#endif
