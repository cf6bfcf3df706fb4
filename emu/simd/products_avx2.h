/* SPDX-License-Identifier: MIT */
/* emu/simd/products_avx2.h - the vectors of emu/gemm/seq_lanes_body.h and emu/gemm/unfused_lanes_body.h under AVX2 with
 * fused multiply-adds: eight lanes, one direction of rounding for all. */
#ifndef HALFULP_EMU_SIMD_PRODUCTS_AVX2_H
#define HALFULP_EMU_SIMD_PRODUCTS_AVX2_H

#include "emu/core/port.h"

#if HU_X86_LEVELS
#include <immintrin.h>

#define SEQ_LANES 8
#define SEQ_OP static inline __attribute__((always_inline))

typedef __m256 seq_f;
typedef __m256i seq_u;

SEQ_OP seq_f seq_all(float x) { return _mm256_set1_ps(x); }
SEQ_OP seq_u seq_each(uint32_t u) { return _mm256_set1_epi32((int)u); }
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
SEQ_OP int seq_any_from(seq_u x, uint32_t u, size_t n) {
  seq_u least = _mm256_cmpeq_epi32(_mm256_max_epu32(x, seq_each(u)), x);
  return (_mm256_movemask_ps(seq_value(least)) & ((1 << n) - 1)) != 0;
}

SEQ_OP seq_f seq_first(size_t n, seq_f x, seq_f y) {
  seq_u lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_blendv_ps(y, x, seq_value(_mm256_cmpgt_epi32(seq_each((uint32_t)n), lane)));
}
SEQ_OP int seq_any_tie(seq_u x, int word, seq_u y, uint32_t u) {
  seq_u least = _mm256_cmpeq_epi32(word ? _mm256_slli_epi32(x, 16) : x, seq_each(0x80000000u));
  if (u) least = _mm256_or_si256(least, _mm256_cmpgt_epi32(seq_each(u), y));
  return !_mm256_testz_si256(least, least);
}

/* In binary64: the product is exact, the sum s has the error e by Knuth's two-sum, and s with its neighbour on e's
 * side has an odd one (emu/arith/wide_lanes_body.h). From there to binary32: toward zero, and odd if that lost
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

/* The same register as lanes of 64 bits, for random words (emu/simd/philox.h). */
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
#endif

#endif
