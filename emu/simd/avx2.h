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
#define HU_SQRT64(x) _mm256_sqrt_pd((__m256d)(x))
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

static inline uint32_t mask_bits(hu_lane m) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)m)); }
static inline int hui_lane_any(hu_lane m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
static inline uint32_t hui_lane_count(hu_lane m) { return (uint32_t)__builtin_popcount(mask_bits(m)); }
static inline int hui_all_within(hu_lane value, hu_lane span) {
  __m256i within = _mm256_cmpeq_epi32(_mm256_min_epu32((__m256i)value, (__m256i)span), (__m256i)value);
  return mask_bits((hu_lane)within) == 0xFF;
}

static inline int hui_all_within4(const hu_lane value[4], hu_lane span) {
  __m256i a = _mm256_max_epu32((__m256i)value[0], (__m256i)value[1]),
          b = _mm256_max_epu32((__m256i)value[2], (__m256i)value[3]);
  return hui_all_within((hu_lane)_mm256_max_epu32(a, b), span);
}

/* Lanes counted in lanes: a mask's lanes are -1. */
typedef hu_lane hu_count;
static inline hu_count hui_count_none(void) { return HU_ALL(0); }
static inline uint64_t hui_count_sum(hu_count c) {
  uint64_t sum = 0;
  for (int i = 0; i < HU_W; i++) sum += c[i];
  return sum;
}
typedef hu_lane hu_mask;
static inline hu_mask hui_mask_lt(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)a < (hu_ilane)b); }
static inline hu_mask hui_mask_eq(hu_lane a, hu_lane b) { return (hu_lane)(a == b); }
static inline hu_mask hui_mask_test(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)(a & b) > (hu_ilane)HU_ALL(0)); }
static inline int hui_mask_any(hu_mask m) { return hui_lane_any(m); }
static inline hu_mask hui_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hui_mask_andnot(hu_mask a, hu_mask b) { return a & ~b; }
static inline hu_lane hui_mask_sel(hu_mask m, hu_lane yes, hu_lane no) {
  return (hu_lane)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)m);
}
static inline hu_lane hui_mask_keep(hu_mask m, hu_lane value) { return m & value; }
static inline hu_count hui_count_mask(hu_count c, hu_mask m) { return c - m; }

static inline hu_lane hui_mask_larger(hu_lane a, hu_lane b) {
  return (hu_lane)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
static inline __m256 floats(hu_lane a) { return _mm256_castsi256_ps((__m256i)a); }
static inline hu_lane bits(__m256 a) { return (hu_lane)_mm256_castps_si256(a); }
static inline hu_lane hui_lane_plus(int round, hu_lane a, hu_lane b) {
  (void)round;
  return bits(_mm256_add_ps(floats(a), floats(b)));
}
static inline hu_lane hui_lane_minus(hu_lane a, hu_lane b) { return bits(_mm256_sub_ps(floats(a), floats(b))); }
static inline hu_lane hui_lane_times(hu_lane a, hu_lane b) { return bits(_mm256_mul_ps(floats(a), floats(b))); }
static inline hu_lane hui_lane_larger(hu_lane a, hu_lane b) {
  return (hu_lane)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
static inline hu_lane hui_lane_smaller(hu_lane a, hu_lane b) {
  return (hu_lane)_mm256_min_epi32((__m256i)a, (__m256i)b);
}
static inline hu_lane hui_lane_over(hu_lane a, hu_lane b) { return bits(_mm256_div_ps(floats(a), floats(b))); }
/* From 2^31 on less 2^31, which is exact, and its bit put back. */
static inline hu_lane hui_lane_uint(hu_lane value) {
  hu_lane big = (hu_lane)((hu_ilane)value > (hu_ilane)HU_ALL(0x4EFFFFFF));
  hu_lane rest = hui_lane_minus(value, big & HU_ALL(0x4F000000));
  return (hu_lane)_mm256_cvttps_epi32(floats(rest)) | (big & 0x80000000u);
}
static inline hu_lane hui_lane_float(hu_lane value) { return bits(_mm256_cvtepi32_ps((__m256i)value)); }

static inline void hui_store8(uint8_t *z, hu_lane value) {
  const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1,
                                        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i b = _mm256_shuffle_epi8((__m256i)value, pick);
  _mm_storel_epi64((__m128i *)(void *)z, _mm_unpacklo_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1)));
}
static inline void hui_store16(uint16_t *z, hu_lane value) {
  const __m256i pick = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9, 12,
                                        13, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i b = _mm256_shuffle_epi8((__m256i)value, pick);
  _mm_storeu_si128((__m128i *)(void *)z, _mm256_castsi256_si128(_mm256_permute4x64_epi64(b, 0x08)));
}
static inline hu_lane hui_load8(const uint8_t *x) {
  return (hu_lane)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}
static inline hu_lane hui_load16(const uint16_t *x) {
  return (hu_lane)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
#define HU_BYPASSES 1
#define HU_LOOP_PER_WIDTH 1
static inline void hui_bypass(uint32_t *z, hu_lane value) { _mm256_stream_si256((__m256i *)(void *)z, (__m256i)value); }
static inline void hui_fence(void) { _mm_sfence(); }

/* Returns the largest lane, signed. */
static inline uint32_t hui_lane_largest(hu_lane a) {
  __m128i h = _mm_max_epi32(_mm256_castsi256_si128((__m256i)a), _mm256_extracti128_si256((__m256i)a, 1));
  h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4E));
  return (uint32_t)_mm_cvtsi128_si32(_mm_max_epi32(h, _mm_shuffle_epi32(h, 0xB1)));
}

/* a, whose sign is 0, under the sign of x. */
static inline hu_lane hui_lane_signed(hu_lane a, hu_lane x) { return a | (x & HU_ALL(0x80000000u)); }

/* Masks the first n < 8 lanes. */
static inline __m256i first_lanes(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline hu_lane hui_load_few(const uint32_t *x, size_t n) {
  return (hu_lane)_mm256_maskload_epi32((const int *)(const void *)x, first_lanes(n));
}
static inline void hui_store_few(uint32_t *z, hu_lane value, size_t n) {
  _mm256_maskstore_epi32((int *)(void *)z, first_lanes(n), (__m256i)value);
}

typedef uint64_t hu_lane64 __attribute__((vector_size(32)));
static inline hu_lane64 hui_lane64_all(uint64_t x) { return (hu_lane64)_mm256_set1_epi64x((int64_t)x); }
static inline hu_lane64 hui_lane64_order(void) { return (hu_lane64){0, 2, 1, 3}; }
static inline hu_lane64 hui_lane64_mul(hu_lane64 a, hu_lane64 b) {
  return (hu_lane64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
static inline hu_lane64 hui_lane64_high(hu_lane64 a) { return a >> 32; }
static inline hu_lane64 hui_lane64_xor3(hu_lane64 a, hu_lane64 b, hu_lane64 c) { return a ^ b ^ c; }
static inline void hui_lane64_join(hu_lane z[2], hu_lane64 c0, hu_lane64 c1, hu_lane64 c2, hu_lane64 c3) {
  __m256i a = _mm256_blend_epi32((__m256i)c0, (__m256i)(c1 << 32), 0xAA);
  __m256i b = _mm256_blend_epi32((__m256i)c2, (__m256i)(c3 << 32), 0xAA);
  z[0] = (hu_lane)_mm256_unpacklo_epi64(a, b);
  z[1] = (hu_lane)_mm256_unpackhi_epi64(a, b);
}

/* ---- binary32 in products (emu/gemm/seq_lanes.c says what each is) ---- */

#define SEQ_LANES 8
#define SEQ_OP static inline __attribute__((always_inline))

typedef __m256 seq_f;
typedef __m256i seq_u;

SEQ_OP seq_f seq_all(float x) { return _mm256_set1_ps(x); }
SEQ_OP seq_u seq_each(uint32_t pattern) { return _mm256_set1_epi32((int)pattern); }
SEQ_OP seq_f seq_load(const float *x) { return _mm256_loadu_ps(x); }
SEQ_OP void seq_store(float *z, seq_f x) { _mm256_storeu_ps(z, x); }
SEQ_OP seq_u seq_bits(seq_f x) { return _mm256_castps_si256(x); }
SEQ_OP seq_f seq_value(seq_u u) { return _mm256_castsi256_ps(u); }
SEQ_OP seq_f seq_mul(seq_f a, seq_f b) { return _mm256_mul_ps(a, b); }
SEQ_OP seq_f seq_add(seq_f a, seq_f b) { return _mm256_add_ps(a, b); }
SEQ_OP seq_f seq_sub(seq_f a, seq_f b) { return _mm256_sub_ps(a, b); }
SEQ_OP seq_f seq_fma(seq_f a, seq_f b, seq_f c) { return _mm256_fmadd_ps(a, b, c); }
SEQ_OP seq_f seq_fnma(seq_f a, seq_f b, seq_f c) { return _mm256_fnmadd_ps(a, b, c); }
SEQ_OP seq_u seq_and(seq_u x, seq_u y) { return _mm256_and_si256(x, y); }
SEQ_OP seq_u seq_or_and(seq_u x, seq_u y, seq_u m) { return _mm256_or_si256(x, _mm256_and_si256(y, m)); }
SEQ_OP seq_u seq_and_or(seq_u x, seq_u m, seq_u y) { return _mm256_or_si256(_mm256_and_si256(x, m), y); }
SEQ_OP seq_u seq_plus(seq_u x, seq_u y) { return _mm256_add_epi32(x, y); }
SEQ_OP seq_u seq_max(seq_u x, seq_u y) { return _mm256_max_epi32(x, y); }
SEQ_OP seq_u seq_min(seq_u x, seq_u y) { return _mm256_min_epi32(x, y); }
SEQ_OP seq_u seq_least(seq_u x, seq_u y) { return _mm256_min_epu32(x, y); }
SEQ_OP seq_u seq_min16(seq_u x, seq_u y) { return _mm256_min_epi16(x, y); }
SEQ_OP seq_u seq_up(seq_u x, uint32_t n) { return _mm256_sll_epi32(x, _mm_cvtsi32_si128((int)n)); }
SEQ_OP seq_u seq_minus(seq_u x, seq_u y) { return _mm256_sub_epi32(x, y); }
SEQ_OP seq_u seq_if_zero(seq_u x, seq_u yes, seq_u no) {
  return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(x, _mm256_setzero_si256()));
}
/* |x| >= |y| ? yes : no */
SEQ_OP seq_f seq_if_larger(seq_f x, seq_f y, seq_f yes, seq_f no) {
  const seq_u size = seq_each(0x7FFFFFFFu);
  seq_u less = _mm256_cmpgt_epi32(_mm256_and_si256(seq_bits(y), size), _mm256_and_si256(seq_bits(x), size));
  return _mm256_blendv_ps(yes, no, seq_value(less));
}
SEQ_OP int seq_any_from(seq_u x, uint32_t pattern, size_t n) {
  seq_u least = _mm256_cmpeq_epi32(_mm256_max_epu32(x, seq_each(pattern)), x);
  return (_mm256_movemask_ps(seq_value(least)) & ((1 << n) - 1)) != 0;
}

SEQ_OP seq_f seq_first(size_t n, seq_f x, seq_f y) {
  seq_u lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_blendv_ps(y, x, seq_value(_mm256_cmpgt_epi32(seq_each((uint32_t)n), lane)));
}
SEQ_OP int seq_any_tie(seq_u x, int word, seq_u y, uint32_t pattern) {
  seq_u least = _mm256_cmpeq_epi32(word ? _mm256_slli_epi32(x, 16) : x, seq_each(0x80000000u));
  if (pattern) least = _mm256_or_si256(least, _mm256_cmpgt_epi32(seq_each(pattern), y));
  return !_mm256_testz_si256(least, least);
}

/* In binary64: the product is exact, the sum s has the error e by Knuth's two-sum, and s with its neighbour on e's
 * side has an odd one (emu/arith/wide_lanes.c). From there to binary32: toward zero, and odd if that lost
 * something. Infinities have no error and stay what they are. */
SEQ_OP __m128 seq_odd_half(__m128 a, __m128 b, __m128 c) {
  const __m256d sign = _mm256_set1_pd(-0.0);
  __m256d x = _mm256_mul_pd(_mm256_cvtps_pd(a), _mm256_cvtps_pd(b)), y = _mm256_cvtps_pd(c);
  __m256d s = _mm256_add_pd(x, y), t = _mm256_sub_pd(s, x);
  __m256d e = _mm256_add_pd(_mm256_sub_pd(x, _mm256_sub_pd(s, t)), _mm256_sub_pd(y, t));
  __m256i one = _mm256_set1_epi64x(1), even = _mm256_sub_epi64(_mm256_and_si256(_mm256_castpd_si256(s), one), one);
  __m256d lost = _mm256_cmp_pd(e, _mm256_setzero_pd(), _CMP_NEQ_OQ);
  __m256i apart = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_castpd_si256(_mm256_xor_pd(s, e)));
  __m256i beside = _mm256_and_si256(_mm256_and_si256(even, _mm256_castpd_si256(lost)), _mm256_or_si256(apart, one));
  __m256d odd = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(s), beside));
  __m128 f = _mm256_cvtpd_ps(odd);
  __m256d back = _mm256_cvtps_pd(f);
  __m256d above = _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, odd), _CMP_GT_OQ);
  __m256d other = _mm256_cmp_pd(back, odd, _CMP_NEQ_UQ);
  const __m256i low = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  __m128i less = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(above), low));
  __m128i set = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(other), low));
  __m128i z = _mm_add_epi32(_mm_castps_si128(f), less);
  return _mm_castsi128_ps(_mm_or_si128(z, _mm_srli_epi32(set, 31)));
}

SEQ_OP seq_f seq_odd(seq_f a, seq_f b, seq_f c) {
  __m128 lo = seq_odd_half(_mm256_castps256_ps128(a), _mm256_castps256_ps128(b), _mm256_castps256_ps128(c));
  __m128 hi = seq_odd_half(_mm256_extractf128_ps(a, 1), _mm256_extractf128_ps(b, 1), _mm256_extractf128_ps(c, 1));
  return _mm256_set_m128(hi, lo);
}

SEQ_OP seq_u seq_most(seq_u x, seq_u y) { return _mm256_max_epu32(x, y); }
SEQ_OP seq_u seq_and_not(seq_u x, seq_u y) { return _mm256_andnot_si256(y, x); }
SEQ_OP seq_u seq_negative(seq_u x) { return _mm256_srai_epi32(x, 31); }
SEQ_OP seq_u seq_down(seq_u x, uint32_t n) { return _mm256_srl_epi32(x, _mm_cvtsi32_si128((int)n)); }

/* Take the same register as lanes of 64 bits, for random words (emu/simd/philox.h). */
SEQ_OP seq_u wide_all(uint64_t x) { return _mm256_set1_epi64x((long long)x); }
SEQ_OP seq_u wide_plus(seq_u x, seq_u y) { return _mm256_add_epi64(x, y); }
SEQ_OP seq_u wide_mul(seq_u x, seq_u y) { return _mm256_mul_epu32(x, y); }
SEQ_OP seq_u wide_high(seq_u x) { return _mm256_srli_epi64(x, 32); }
SEQ_OP seq_u wide_xor(seq_u x, seq_u y) { return _mm256_xor_si256(x, y); }
SEQ_OP seq_u wide_xor3(seq_u x, seq_u y, seq_u z) { return _mm256_xor_si256(_mm256_xor_si256(x, y), z); }
SEQ_OP seq_u wide_twice_order(void) { return _mm256_setr_epi64x(0, 2, 4, 6); }
/* The low halves of x in even lanes, of y in odd ones. */
SEQ_OP seq_u wide_join(seq_u x, seq_u y) { return _mm256_blend_epi32(x, _mm256_slli_epi64(y, 32), 0xAA); }
/* The lanes of x, a bit each, that are those of u or more, as integers without a sign. */
SEQ_OP uint32_t seq_which_from(seq_u x, seq_u u) {
  return (uint32_t)_mm256_movemask_ps(seq_value(_mm256_cmpeq_epi32(_mm256_max_epu32(x, u), x)));
}

/* ---- binary64 in products (emu/gemm/unit_lanes.c) ---- */

#define BLK_LANES 4
#define BLK_OP static inline __attribute__((always_inline))

typedef __m256d blk_d;
typedef __m256i blk_u;

BLK_OP blk_d blk_all(double x) { return _mm256_set1_pd(x); }
BLK_OP blk_u blk_each(uint64_t pattern) { return _mm256_set1_epi64x((long long)pattern); }
BLK_OP blk_d blk_load(const double *x) { return _mm256_loadu_pd(x); }
BLK_OP void blk_store(double *z, blk_d x) { _mm256_storeu_pd(z, x); }
BLK_OP blk_u blk_bits(blk_d x) { return _mm256_castpd_si256(x); }
BLK_OP blk_d blk_value(blk_u u) { return _mm256_castsi256_pd(u); }
BLK_OP blk_d blk_mul(blk_d x, blk_d y) { return _mm256_mul_pd(x, y); }
BLK_OP blk_d blk_add(blk_d x, blk_d y) { return _mm256_add_pd(x, y); }
BLK_OP blk_d blk_sub(blk_d x, blk_d y) { return _mm256_sub_pd(x, y); }
BLK_OP blk_d blk_fma(blk_d x, blk_d y, blk_d z) { return _mm256_fmadd_pd(x, y, z); }
BLK_OP blk_d blk_max(blk_d x, blk_d y) { return _mm256_max_pd(x, y); }
BLK_OP blk_u blk_and(blk_u x, blk_u y) { return _mm256_and_si256(x, y); }
BLK_OP blk_u blk_or(blk_u x, blk_u y) { return _mm256_or_si256(x, y); }
BLK_OP blk_u blk_minus(blk_u x, blk_u y) { return _mm256_sub_epi64(x, y); }
BLK_OP blk_d blk_trunc(blk_d x) { return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_floor(blk_d x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_ceil(blk_d x) { return _mm256_round_pd(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_near(blk_d x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
BLK_OP blk_d blk_narrow(blk_d x) { return _mm256_cvtps_pd(_mm256_cvtpd_ps(x)); }
BLK_OP blk_d blk_narrow_normal(blk_d x) {
  const __m128 sign = _mm_set1_ps(-0.0f), least = _mm_set1_ps(0x1p-126f);
  __m128 y = _mm256_cvtpd_ps(x), normal = _mm_cmpnlt_ps(_mm_andnot_ps(sign, y), least);
  return _mm256_cvtps_pd(_mm_and_ps(y, _mm_or_ps(normal, sign)));
}
BLK_OP blk_d blk_flush(blk_d x, double least) {
  const __m256d sign = blk_all(-0.0), stays = _mm256_cmp_pd(_mm256_andnot_pd(sign, x), blk_all(least), _CMP_NLT_UQ);
  return _mm256_and_pd(x, _mm256_or_pd(stays, sign));
}
BLK_OP blk_d blk_if_less(blk_d x, blk_d y, blk_d yes, blk_d no) {
  return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(x, y, _CMP_LT_OQ));
}
BLK_OP blk_d blk_if_same(blk_d x, blk_d y, blk_d yes, blk_d no) {
  return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(x, y, _CMP_EQ_OQ));
}
BLK_OP blk_d blk_widen(const float *x, uint32_t mask) {
  __m128i u = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)x), _mm_set1_epi32((int)mask));
  return _mm256_cvtps_pd(_mm_castsi128_ps(u));
}
/* Without the digits `low`; the next one is 1 where they were not 0. */
BLK_OP blk_d blk_sticky(blk_d x, uint64_t low) {
  blk_u u = blk_bits(x), mask = blk_each(low);
  blk_u none = _mm256_cmpeq_epi64(blk_and(u, mask), _mm256_setzero_si256());
  return blk_value(blk_or(_mm256_andnot_si256(mask, u), _mm256_andnot_si256(none, blk_each(low + 1))));
}
/* x + e to odd, where x is a sum and e its error. */
BLK_OP blk_d blk_odd(blk_d x, blk_d e) {
  blk_u u = blk_bits(x), one = blk_each(1), even = blk_minus(blk_and(u, one), one);
  blk_u lost = blk_bits(_mm256_cmp_pd(e, _mm256_setzero_pd(), _CMP_NEQ_OQ));
  blk_u apart = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_xor_si256(u, blk_bits(e)));
  return blk_value(_mm256_add_epi64(u, blk_and(blk_and(even, lost), blk_or(apart, one))));
}
/* Returns x + y, rounded to odd, by Knuth's two-sum. */
BLK_OP blk_d blk_odd_sum(blk_d x, blk_d y) {
  blk_d s = blk_add(x, y), t = blk_sub(s, x);
  return blk_odd(s, blk_add(blk_sub(x, blk_sub(s, t)), blk_sub(y, t)));
}

#endif
