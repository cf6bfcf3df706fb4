/* SPDX-License-Identifier: MIT */
/* AVX2 with fused multiply-adds: four lanes. */
#include "emu/gemm/unit.h"

#if HU_X86_LEVELS
#include <immintrin.h>

#define BLK_LANES 4
#define BLK_OP static inline __attribute__((always_inline))

typedef __m256d blk_d;
typedef __m256i blk_u;

BLK_OP blk_d blk_all(double x) { return _mm256_set1_pd(x); }
BLK_OP blk_u blk_each(uint64_t u) { return _mm256_set1_epi64x((long long)u); }
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
/* x + y to odd, by Knuth's two-sum. */
BLK_OP blk_d blk_odd_sum(blk_d x, blk_d y) {
  blk_d s = blk_add(x, y), t = blk_sub(s, x);
  return blk_odd(s, blk_add(blk_sub(x, blk_sub(s, t)), blk_sub(y, t)));
}

#include "emu/gemm/unit_lanes_body.h"

const hu_block_kernels hu_block_avx2 = {prepare, blocks, join, join_scaled};
#endif
