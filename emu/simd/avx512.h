/* SPDX-License-Identifier: MIT */
/* emu/simd/avx512.h - AVX-512 F, BW, DQ, VL, sixteen lanes: the hooks that emu/simd/round.h, emu/simd/philox.h and the
 * loops over arrays (emu/simd/loop.h says which) ask for. */
#ifndef HALFULP_EMU_SIMD_AVX512_H
#define HALFULP_EMU_SIMD_AVX512_H

#include <immintrin.h>

#include "emu/core/port.h"

#define HU_W 16
typedef uint32_t hu_lane __attribute__((vector_size(64)));
typedef int32_t hu_ilane __attribute__((vector_size(64)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane)_mm512_set1_epi32((int32_t)(x)))
#if defined(__clang__) || !defined(__GNUC__)
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v)            \
  __extension__({             \
    hu_lane held = (v);       \
    __asm__("" : "+v"(held)); \
    held;                     \
  })
#endif
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

static inline uint32_t mask_bits(hu_lane m) { return _mm512_movepi32_mask((__m512i)m); }
static inline int hu_lane_any(hu_lane m) { return mask_bits(m) != 0; }
static inline uint32_t hu_lane_count(hu_lane m) { return (uint32_t)__builtin_popcount(mask_bits(m)); }
static inline int hu_all_within(hu_lane v, hu_lane s) {
  return _mm512_cmple_epu32_mask((__m512i)v, (__m512i)s) == 0xFFFF;
}

static inline int hu_all_within4(const hu_lane v[4], hu_lane s) {
  __mmask16 a = _mm512_cmpgt_epu32_mask((__m512i)v[0], (__m512i)s),
            b = _mm512_cmpgt_epu32_mask((__m512i)v[1], (__m512i)s);
  __mmask16 c = _mm512_cmpgt_epu32_mask((__m512i)v[2], (__m512i)s),
            d = _mm512_cmpgt_epu32_mask((__m512i)v[3], (__m512i)s);
  return _kortestz_mask16_u8(_kor_mask16(a, b), _kor_mask16(c, d));
}

typedef uint64_t hu_count;
static inline hu_count hu_count_none(void) { return 0; }
static inline uint64_t hu_count_sum(hu_count c) { return c; }
typedef __mmask16 hu_mask;
static inline hu_mask hu_mask_lt(hu_lane a, hu_lane b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
static inline hu_mask hu_mask_eq(hu_lane a, hu_lane b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
static inline hu_mask hu_mask_test(hu_lane a, hu_lane b) { return _mm512_test_epi32_mask((__m512i)a, (__m512i)b); }
static inline int hu_mask_any(hu_mask m) { return !_kortestz_mask16_u8(m, m); }
static inline hu_mask hu_mask_or(hu_mask a, hu_mask b) { return _kor_mask16(a, b); }
static inline hu_mask hu_mask_andnot(hu_mask a, hu_mask b) { return _kandn_mask16(b, a); }
static inline hu_lane hu_mask_sel(hu_mask m, hu_lane yes, hu_lane no) {
  return (hu_lane)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes);
}
static inline hu_lane hu_mask_keep(hu_mask m, hu_lane v) { return (hu_lane)_mm512_maskz_mov_epi32(m, (__m512i)v); }
static inline hu_count hu_count_mask(hu_count c, hu_mask m) { return c + (uint64_t)__builtin_popcount(m); }

static inline hu_lane hu_mask_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm512_max_epi32((__m512i)a, (__m512i)b); }
static inline __m512 floats(hu_lane a) { return _mm512_castsi512_ps((__m512i)a); }
static inline hu_lane bits(__m512 a) { return (hu_lane)_mm512_castps_si512(a); }
static inline hu_lane hu_lane_plus(int round, hu_lane a, hu_lane b) {
  (void)round;
  return bits(_mm512_add_ps(floats(a), floats(b)));
}
static inline hu_lane hu_lane_minus(hu_lane a, hu_lane b) { return bits(_mm512_sub_ps(floats(a), floats(b))); }
static inline hu_lane hu_lane_times(hu_lane a, hu_lane b) { return bits(_mm512_mul_ps(floats(a), floats(b))); }
static inline hu_lane hu_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm512_max_epi32((__m512i)a, (__m512i)b); }
static inline hu_lane hu_smaller(hu_lane a, hu_lane b) { return (hu_lane)_mm512_min_epi32((__m512i)a, (__m512i)b); }
static inline hu_lane hu_lane_over(hu_lane a, hu_lane b) { return bits(_mm512_div_ps(floats(a), floats(b))); }
static inline hu_lane hu_lane_uint(hu_lane v) { return (hu_lane)_mm512_cvttps_epu32(floats(v)); }
static inline hu_lane hu_lane_float(hu_lane v) { return bits(_mm512_cvtepi32_ps((__m512i)v)); }

static inline void hu_store8(uint8_t *z, hu_lane v) {
  _mm_storeu_si128((__m128i *)(void *)z, _mm512_cvtepi32_epi8((__m512i)v));
}
static inline void hu_store16(uint16_t *z, hu_lane v) {
  _mm256_storeu_si256((__m256i *)(void *)z, _mm512_cvtepi32_epi16((__m512i)v));
}
static inline hu_lane hu_load8(const uint8_t *x) {
  return (hu_lane)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
static inline hu_lane hu_load16(const uint16_t *x) {
  return (hu_lane)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
}
static inline void hu_bypass(uint32_t *z, hu_lane v) { _mm512_stream_si512((__m512i *)(void *)z, (__m512i)v); }
static inline void hu_fence(void) { _mm_sfence(); }

/* The largest lane, signed. */
static inline uint32_t hu_lane_largest(hu_lane a) { return (uint32_t)_mm512_reduce_max_epi32((__m512i)a); }

/* a, whose sign is 0, under the sign of u. */
static inline hu_lane hu_lane_signed(hu_lane a, hu_lane u) {
  return (hu_lane)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)u, (__m512i)HU_ALL(0x80000000u), 0xF8);
}

/* The first n < 16 lanes. */
static inline hu_lane hu_load_few(const uint32_t *x, size_t n) {
  return (hu_lane)_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), x);
}
static inline void hu_store_few(uint32_t *z, hu_lane v, size_t n) {
  _mm512_mask_storeu_epi32(z, (__mmask16)((1u << n) - 1), (__m512i)v);
}

typedef uint64_t hu_wide __attribute__((vector_size(64)));
static inline hu_wide hu_wide_all(uint64_t x) { return (hu_wide)_mm512_set1_epi64((int64_t)x); }
static inline hu_wide hu_wide_order(void) { return (hu_wide){0, 4, 1, 5, 2, 6, 3, 7}; }
static inline hu_wide hu_wide_mul(hu_wide a, hu_wide b) { return (hu_wide)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
static inline hu_wide hu_wide_high(hu_wide a) { return a >> 32; }
static inline hu_wide hu_wide_xor3(hu_wide a, hu_wide b, hu_wide c) {
  return (hu_wide)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0x96);
}
static inline void hu_wide_join(hu_lane z[2], hu_wide c0, hu_wide c1, hu_wide c2, hu_wide c3) {
  __m512i a = _mm512_mask_shuffle_epi32((__m512i)c0, 0xAAAA, (__m512i)c1, (_MM_PERM_ENUM)0xA0);
  __m512i b = _mm512_mask_shuffle_epi32((__m512i)c2, 0xAAAA, (__m512i)c3, (_MM_PERM_ENUM)0xA0);
  z[0] = (hu_lane)_mm512_unpacklo_epi64(a, b);
  z[1] = (hu_lane)_mm512_unpackhi_epi64(a, b);
}

#endif
