/* SPDX-License-Identifier: MIT */
/* AVX2 with fused multiply-adds: eight lanes, one direction of rounding for all. */
#include "emu/gemm_seq.h"

#if HU_X86
#include <immintrin.h>

#define SEQ_LANES 8
#define SEQ_HAS_ODD 0
#define SEQ_OP static inline __attribute__((always_inline))

typedef __m256 seq_f;
typedef __m256i seq_u;

SEQ_OP seq_f seq_all(float x) { return _mm256_set1_ps(x); }
SEQ_OP seq_u seq_each(uint32_t u) { return _mm256_set1_epi32((int)u); }
SEQ_OP seq_f seq_load(const float *x) { return _mm256_loadu_ps(x); }
SEQ_OP void seq_store(float *z, seq_f x) { _mm256_storeu_ps(z, x); }
SEQ_OP seq_u seq_bits(seq_f x) { return _mm256_castps_si256(x); }
SEQ_OP seq_f seq_value(seq_u u) { return _mm256_castsi256_ps(u); }
SEQ_OP seq_f seq_fma(seq_f a, seq_f b, seq_f c) { return _mm256_fmadd_ps(a, b, c); }
SEQ_OP seq_f seq_fnma(seq_f a, seq_f b, seq_f c) { return _mm256_fnmadd_ps(a, b, c); }
SEQ_OP seq_u seq_and(seq_u x, seq_u y) { return _mm256_and_si256(x, y); }
SEQ_OP seq_u seq_or_and(seq_u x, seq_u y, seq_u m) { return _mm256_or_si256(x, _mm256_and_si256(y, m)); }
SEQ_OP seq_u seq_max(seq_u x, seq_u y) { return _mm256_max_epi32(x, y); }
SEQ_OP seq_u seq_minus(seq_u x, seq_u y) { return _mm256_sub_epi32(x, y); }
SEQ_OP seq_u seq_if_zero(seq_u x, seq_u yes, seq_u no) {
  return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(x, _mm256_setzero_si256()));
}
SEQ_OP int seq_any_from(seq_u x, uint32_t u, size_t n) {
  seq_u least = _mm256_cmpeq_epi32(_mm256_max_epu32(x, seq_each(u)), x);
  return (_mm256_movemask_ps(seq_value(least)) & ((1 << n) - 1)) != 0;
}

#include "emu/gemm_seq_body.h"

const hu_seq_kernels hu_seq_avx2 = {tile, SEQ_HAS_ODD};
#endif
