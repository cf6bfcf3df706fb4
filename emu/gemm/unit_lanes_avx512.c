/* SPDX-License-Identifier: MIT */
/* AVX-512: eight lanes. */
#include "emu/gemm/unit.h"

#if HU_X86_LEVELS
#include <immintrin.h>

#define BLK_LANES 8
#define BLK_OP static inline __attribute__((always_inline))

typedef __m512d blk_d;
typedef __m512i blk_u;

BLK_OP blk_d blk_all(double x) { return _mm512_set1_pd(x); }
BLK_OP blk_u blk_each(uint64_t u) { return _mm512_set1_epi64((long long)u); }
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

#include "emu/gemm/unit_lanes_body.h"

const hu_block_kernels hu_block_avx512 = {prepare, blocks, join, join_scaled};
#endif
