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
#define HU_SQRT64(x) _mm512_sqrt_pd((__m512d)(x))
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

static inline uint32_t mask_bits(hu_lane m) { return _mm512_movepi32_mask((__m512i)m); }
static inline int hui_lane_any(hu_lane m) { return mask_bits(m) != 0; }
static inline uint32_t hui_lane_count(hu_lane m) { return (uint32_t)__builtin_popcount(mask_bits(m)); }
static inline int hui_all_within(hu_lane value, hu_lane span) {
  return _mm512_cmple_epu32_mask((__m512i)value, (__m512i)span) == 0xFFFF;
}

static inline int hui_all_within4(const hu_lane value[4], hu_lane span) {
  __mmask16 a = _mm512_cmpgt_epu32_mask((__m512i)value[0], (__m512i)span),
            b = _mm512_cmpgt_epu32_mask((__m512i)value[1], (__m512i)span);
  __mmask16 c = _mm512_cmpgt_epu32_mask((__m512i)value[2], (__m512i)span),
            d = _mm512_cmpgt_epu32_mask((__m512i)value[3], (__m512i)span);
  return _kortestz_mask16_u8(_kor_mask16(a, b), _kor_mask16(c, d));
}

typedef uint64_t hu_count;
static inline hu_count hui_count_none(void) { return 0; }
static inline uint64_t hui_count_sum(hu_count c) { return c; }
typedef __mmask16 hu_mask;
static inline hu_mask hui_mask_lt(hu_lane a, hu_lane b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
static inline hu_mask hui_mask_eq(hu_lane a, hu_lane b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
static inline hu_mask hui_mask_test(hu_lane a, hu_lane b) { return _mm512_test_epi32_mask((__m512i)a, (__m512i)b); }
static inline int hui_mask_any(hu_mask m) { return !_kortestz_mask16_u8(m, m); }
static inline hu_mask hui_mask_or(hu_mask a, hu_mask b) { return _kor_mask16(a, b); }
static inline hu_mask hui_mask_andnot(hu_mask a, hu_mask b) { return _kandn_mask16(b, a); }
static inline hu_lane hui_mask_sel(hu_mask m, hu_lane yes, hu_lane no) {
  return (hu_lane)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes);
}
static inline hu_lane hui_mask_keep(hu_mask m, hu_lane value) {
  return (hu_lane)_mm512_maskz_mov_epi32(m, (__m512i)value);
}
static inline hu_count hui_count_mask(hu_count c, hu_mask m) { return c + (uint64_t)__builtin_popcount(m); }

static inline hu_lane hui_mask_larger(hu_lane a, hu_lane b) {
  return (hu_lane)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
static inline __m512 floats(hu_lane a) { return _mm512_castsi512_ps((__m512i)a); }
static inline hu_lane bits(__m512 a) { return (hu_lane)_mm512_castps_si512(a); }
static inline hu_lane hui_lane_plus(int round, hu_lane a, hu_lane b) {
  (void)round;
  return bits(_mm512_add_ps(floats(a), floats(b)));
}
static inline hu_lane hui_lane_minus(hu_lane a, hu_lane b) { return bits(_mm512_sub_ps(floats(a), floats(b))); }
static inline hu_lane hui_lane_times(hu_lane a, hu_lane b) { return bits(_mm512_mul_ps(floats(a), floats(b))); }
static inline hu_lane hui_lane_larger(hu_lane a, hu_lane b) {
  return (hu_lane)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
static inline hu_lane hui_lane_smaller(hu_lane a, hu_lane b) {
  return (hu_lane)_mm512_min_epi32((__m512i)a, (__m512i)b);
}
static inline hu_lane hui_lane_over(hu_lane a, hu_lane b) { return bits(_mm512_div_ps(floats(a), floats(b))); }
static inline hu_lane hui_lane_uint(hu_lane value) { return (hu_lane)_mm512_cvttps_epu32(floats(value)); }
static inline hu_lane hui_lane_float(hu_lane value) { return bits(_mm512_cvtepi32_ps((__m512i)value)); }

static inline void hui_store8(uint8_t *z, hu_lane value) {
  _mm_storeu_si128((__m128i *)(void *)z, _mm512_cvtepi32_epi8((__m512i)value));
}
static inline void hui_store16(uint16_t *z, hu_lane value) {
  _mm256_storeu_si256((__m256i *)(void *)z, _mm512_cvtepi32_epi16((__m512i)value));
}
static inline hu_lane hui_load8(const uint8_t *x) {
  return (hu_lane)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
static inline hu_lane hui_load16(const uint16_t *x) {
  return (hu_lane)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
}
#define HU_BYPASSES 1
#define HU_LOOP_PER_WIDTH 1
static inline void hui_bypass(uint32_t *z, hu_lane value) { _mm512_stream_si512((__m512i *)(void *)z, (__m512i)value); }
static inline void hui_fence(void) { _mm_sfence(); }

/* Returns the largest lane, signed. */
static inline uint32_t hui_lane_largest(hu_lane a) { return (uint32_t)_mm512_reduce_max_epi32((__m512i)a); }

/* a, whose sign is 0, under the sign of x. */
static inline hu_lane hui_lane_signed(hu_lane a, hu_lane x) {
  return (hu_lane)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)x, (__m512i)HU_ALL(0x80000000u), 0xF8);
}

/* Load and store the first n < 16 lanes. */
static inline hu_lane hui_load_few(const uint32_t *x, size_t n) {
  return (hu_lane)_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), x);
}
static inline void hui_store_few(uint32_t *z, hu_lane value, size_t n) {
  _mm512_mask_storeu_epi32(z, (__mmask16)((1u << n) - 1), (__m512i)value);
}

typedef uint64_t hu_lane64 __attribute__((vector_size(64)));
static inline hu_lane64 hui_lane64_all(uint64_t x) { return (hu_lane64)_mm512_set1_epi64((int64_t)x); }
static inline hu_lane64 hui_lane64_order(void) { return (hu_lane64){0, 4, 1, 5, 2, 6, 3, 7}; }
static inline hu_lane64 hui_lane64_mul(hu_lane64 a, hu_lane64 b) {
  return (hu_lane64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}
static inline hu_lane64 hui_lane64_high(hu_lane64 a) { return a >> 32; }
static inline hu_lane64 hui_lane64_xor3(hu_lane64 a, hu_lane64 b, hu_lane64 c) {
  return (hu_lane64)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)b, (__m512i)c, 0x96);
}
static inline void hui_lane64_join(hu_lane z[2], hu_lane64 c0, hu_lane64 c1, hu_lane64 c2, hu_lane64 c3) {
  __m512i a = _mm512_mask_shuffle_epi32((__m512i)c0, 0xAAAA, (__m512i)c1, (_MM_PERM_ENUM)0xA0);
  __m512i b = _mm512_mask_shuffle_epi32((__m512i)c2, 0xAAAA, (__m512i)c3, (_MM_PERM_ENUM)0xA0);
  z[0] = (hu_lane)_mm512_unpacklo_epi64(a, b);
  z[1] = (hu_lane)_mm512_unpackhi_epi64(a, b);
}

/* ---- binary32 in products (emu/gemm/seq_lanes.c says what each is) ---- */

#define SEQ_LANES 16
#define SEQ_OP static inline __attribute__((always_inline))

typedef __m512 seq_f;
typedef __m512i seq_u;

SEQ_OP seq_f seq_all(float x) { return _mm512_set1_ps(x); }
SEQ_OP seq_u seq_each(uint32_t pattern) { return _mm512_set1_epi32((int)pattern); }
SEQ_OP seq_f seq_load(const float *x) { return _mm512_loadu_ps(x); }
SEQ_OP void seq_store(float *z, seq_f x) { _mm512_storeu_ps(z, x); }
SEQ_OP seq_u seq_bits(seq_f x) { return _mm512_castps_si512(x); }
SEQ_OP seq_f seq_value(seq_u u) { return _mm512_castsi512_ps(u); }
SEQ_OP seq_f seq_mul(seq_f a, seq_f b) { return _mm512_mul_ps(a, b); }
SEQ_OP seq_f seq_add(seq_f a, seq_f b) { return _mm512_add_ps(a, b); }
SEQ_OP seq_f seq_sub(seq_f a, seq_f b) { return _mm512_sub_ps(a, b); }
SEQ_OP seq_f seq_fma(seq_f a, seq_f b, seq_f c) { return _mm512_fmadd_ps(a, b, c); }
SEQ_OP seq_f seq_fnma(seq_f a, seq_f b, seq_f c) { return _mm512_fnmadd_ps(a, b, c); }
SEQ_OP seq_u seq_and(seq_u x, seq_u y) { return _mm512_and_si512(x, y); }
SEQ_OP seq_u seq_or_and(seq_u x, seq_u y, seq_u m) { return _mm512_ternarylogic_epi32(x, y, m, 0xF8); }
SEQ_OP seq_u seq_and_or(seq_u x, seq_u m, seq_u y) { return _mm512_ternarylogic_epi32(x, m, y, 0xEA); }
SEQ_OP seq_u seq_plus(seq_u x, seq_u y) { return _mm512_add_epi32(x, y); }
SEQ_OP seq_u seq_max(seq_u x, seq_u y) { return _mm512_max_epi32(x, y); }
SEQ_OP seq_u seq_min(seq_u x, seq_u y) { return _mm512_min_epi32(x, y); }
SEQ_OP seq_u seq_least(seq_u x, seq_u y) { return _mm512_min_epu32(x, y); }
SEQ_OP seq_u seq_min16(seq_u x, seq_u y) { return _mm512_min_epi16(x, y); }
SEQ_OP seq_u seq_up(seq_u x, uint32_t n) { return _mm512_sllv_epi32(x, seq_each(n)); }
SEQ_OP seq_u seq_minus(seq_u x, seq_u y) { return _mm512_sub_epi32(x, y); }
SEQ_OP seq_u seq_if_zero(seq_u x, seq_u yes, seq_u no) {
  return _mm512_mask_mov_epi32(no, _mm512_testn_epi32_mask(x, x), yes);
}
/* |x| >= |y| ? yes : no */
SEQ_OP seq_f seq_if_larger(seq_f x, seq_f y, seq_f yes, seq_f no) {
  seq_u u = _mm512_slli_epi32(seq_bits(x), 1), v = _mm512_slli_epi32(seq_bits(y), 1);
  return _mm512_mask_mov_ps(no, _mm512_cmpge_epu32_mask(u, v), yes);
}
SEQ_OP int seq_any_from(seq_u x, uint32_t pattern, size_t n) {
  return (_mm512_cmpge_epu32_mask(x, seq_each(pattern)) & ((1u << n) - 1)) != 0;
}
SEQ_OP seq_f seq_first(size_t n, seq_f x, seq_f y) { return _mm512_mask_mov_ps(y, (__mmask16)((1u << n) - 1), x); }
SEQ_OP int seq_any_tie(seq_u x, int word, seq_u y, uint32_t pattern) {
  __mmask16 least = _mm512_cmpeq_epi32_mask(word ? _mm512_slli_epi32(x, 16) : x, seq_each(0x80000000u));
  if (pattern) return !_kortestz_mask16_u8(least, _mm512_cmplt_epi32_mask(y, seq_each(pattern)));
  return !_kortestz_mask16_u8(least, least);
}
SEQ_OP seq_f seq_odd(seq_f a, seq_f b, seq_f c) {
  seq_f down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  seq_f up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  return _mm512_mask_mov_ps(up, _mm512_test_epi32_mask(seq_bits(down), seq_each(1)), down);
}

SEQ_OP seq_u seq_most(seq_u x, seq_u y) { return _mm512_max_epu32(x, y); }
SEQ_OP seq_u seq_and_not(seq_u x, seq_u y) { return _mm512_andnot_si512(y, x); }
SEQ_OP seq_u seq_negative(seq_u x) { return _mm512_srai_epi32(x, 31); }
SEQ_OP seq_u seq_down(seq_u x, uint32_t n) { return _mm512_srl_epi32(x, _mm_cvtsi32_si128((int)n)); }

/* Take the same register as lanes of 64 bits, for random words (emu/simd/philox.h). */
SEQ_OP seq_u wide_all(uint64_t x) { return _mm512_set1_epi64((long long)x); }
SEQ_OP seq_u wide_plus(seq_u x, seq_u y) { return _mm512_add_epi64(x, y); }
SEQ_OP seq_u wide_mul(seq_u x, seq_u y) { return _mm512_mul_epu32(x, y); }
SEQ_OP seq_u wide_high(seq_u x) { return _mm512_srli_epi64(x, 32); }
SEQ_OP seq_u wide_xor(seq_u x, seq_u y) { return _mm512_xor_si512(x, y); }
SEQ_OP seq_u wide_xor3(seq_u x, seq_u y, seq_u z) { return _mm512_ternarylogic_epi64(x, y, z, 0x96); }
SEQ_OP seq_u wide_twice_order(void) { return _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14); }
/* The low halves of x in even lanes, of y in odd ones. */
SEQ_OP seq_u wide_join(seq_u x, seq_u y) { return _mm512_mask_shuffle_epi32(x, 0xAAAA, y, (_MM_PERM_ENUM)0xA0); }
/* The lanes of x, a bit each, that are those of u or more, as integers without a sign. */
SEQ_OP uint32_t seq_which_from(seq_u x, seq_u u) { return _mm512_cmpge_epu32_mask(x, u); }

/* ---- binary64 in products (emu/gemm/unit_lanes.c) ---- */

#define BLK_LANES 8
#define BLK_OP static inline __attribute__((always_inline))

typedef __m512d blk_d;
typedef __m512i blk_u;

BLK_OP blk_d blk_all(double x) { return _mm512_set1_pd(x); }
BLK_OP blk_u blk_each(uint64_t pattern) { return _mm512_set1_epi64((long long)pattern); }
BLK_OP blk_d blk_load(const double *x) { return _mm512_loadu_pd(x); }
BLK_OP void blk_store(double *z, blk_d x) { _mm512_storeu_pd(z, x); }
BLK_OP blk_u blk_bits(blk_d x) { return _mm512_castpd_si512(x); }
BLK_OP blk_d blk_value(blk_u u) { return _mm512_castsi512_pd(u); }
BLK_OP blk_d blk_mul(blk_d x, blk_d y) { return _mm512_mul_pd(x, y); }
BLK_OP blk_d blk_add(blk_d x, blk_d y) { return _mm512_add_pd(x, y); }
BLK_OP blk_d blk_sub(blk_d x, blk_d y) { return _mm512_sub_pd(x, y); }
BLK_OP blk_d blk_fma(blk_d x, blk_d y, blk_d z) { return _mm512_fmadd_pd(x, y, z); }
BLK_OP blk_d blk_max(blk_d x, blk_d y) { return _mm512_max_pd(x, y); }
BLK_OP blk_u blk_and(blk_u x, blk_u y) { return _mm512_and_si512(x, y); }
BLK_OP blk_u blk_or(blk_u x, blk_u y) { return _mm512_or_si512(x, y); }
BLK_OP blk_u blk_minus(blk_u x, blk_u y) { return _mm512_sub_epi64(x, y); }
BLK_OP blk_d blk_trunc(blk_d x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_floor(blk_d x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_ceil(blk_d x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_near(blk_d x) { return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_narrow(blk_d x) { return _mm512_cvtps_pd(_mm512_cvtpd_ps(x)); }
BLK_OP blk_d blk_narrow_normal(blk_d x) {
  __m256 y = _mm512_cvtpd_ps(x);
  __mmask8 subnormal = _mm256_fpclass_ps_mask(y, 0x20);
  return _mm512_cvtps_pd(_mm256_mask_and_ps(y, subnormal, y, _mm256_set1_ps(-0.0f)));
}
BLK_OP blk_d blk_flush(blk_d x, double least) {
  __mmask8 below = _mm512_cmp_pd_mask(_mm512_abs_pd(x), blk_all(least), _CMP_LT_OQ);
  return _mm512_mask_and_pd(x, below, x, blk_all(-0.0));
}
BLK_OP blk_d blk_if_less(blk_d x, blk_d y, blk_d yes, blk_d no) {
  return _mm512_mask_mov_pd(no, _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ), yes);
}
BLK_OP blk_d blk_if_same(blk_d x, blk_d y, blk_d yes, blk_d no) {
  return _mm512_mask_mov_pd(no, _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ), yes);
}
BLK_OP blk_d blk_widen(const float *x, uint32_t mask) {
  __m256i u = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)x), _mm256_set1_epi32((int)mask));
  return _mm512_cvtps_pd(_mm256_castsi256_ps(u));
}
/* Without the digits `low`; the next one is 1 where they were not 0. */
BLK_OP blk_d blk_sticky(blk_d x, uint64_t low) {
  blk_u u = blk_bits(x), z = _mm512_andnot_si512(blk_each(low), u);
  return blk_value(_mm512_mask_or_epi64(z, _mm512_test_epi64_mask(u, blk_each(low)), z, blk_each(low + 1)));
}
/* x + y to odd: rounded down and up, the odd one where they differ. */
BLK_OP blk_d blk_odd_sum(blk_d x, blk_d y) {
  blk_d down = _mm512_add_round_pd(x, y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  blk_d up = _mm512_add_round_pd(x, y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  return _mm512_mask_mov_pd(up, _mm512_test_epi64_mask(blk_bits(down), blk_each(1)), down);
}

#endif
