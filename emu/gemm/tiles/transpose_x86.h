/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/transpose_x86.h - eight rows of binary32 to columns by AVX2 shuffles, for the x86 levels of
 * kernels.h. */
#ifndef HALFULP_EMU_GEMM_TILES_TRANSPOSE_X86_H
#define HALFULP_EMU_GEMM_TILES_TRANSPOSE_X86_H

#include "emu/gemm/tiles/kernels.h"

#if HU_X86_LEVELS
#include <immintrin.h>

/* z[c] = column c of the 8 x 8 square at x. Pairs, then fours, then halves change places. */
static inline __attribute__((always_inline)) void hui_transpose8(__m256 z[8], const float *x, size_t ldx) {
  __m256 pairs[8], fours[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    __m256 above = _mm256_loadu_ps(x + (size_t)i * ldx), beneath = _mm256_loadu_ps(x + (size_t)(i + 1) * ldx);
    pairs[i] = _mm256_unpacklo_ps(above, beneath);
    pairs[i + 1] = _mm256_unpackhi_ps(above, beneath);
  }
#pragma GCC unroll 2
  for (int j = 0; j < 8; j += 4) {
    fours[j] = _mm256_shuffle_ps(pairs[j], pairs[j + 2], 0x44);
    fours[j + 1] = _mm256_shuffle_ps(pairs[j], pairs[j + 2], 0xEE);
    fours[j + 2] = _mm256_shuffle_ps(pairs[j + 1], pairs[j + 3], 0x44);
    fours[j + 3] = _mm256_shuffle_ps(pairs[j + 1], pairs[j + 3], 0xEE);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    z[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
    z[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
  }
}

static inline void hui_transpose32(size_t n, float *z, size_t ldz, const float *x, size_t ldx) {
  size_t c = 0;
  for (; c + 8 <= n; c += 8) {
    __m256 columns[8];
    hui_transpose8(columns, x + c, ldx);
    for (size_t i = 0; i < 8; i++) _mm256_storeu_ps(z + (c + i) * ldz, columns[i]);
  }
  for (; c < n; c++) {
    for (size_t i = 0; i < 8; i++) z[c * ldz + i] = x[i * ldx + c];
  }
}

static inline void hui_transpose64(size_t n, double *z, size_t ldz, const float *x, size_t ldx) {
  size_t c = 0;
  for (; c + 8 <= n; c += 8) {
    __m256 columns[8];
    hui_transpose8(columns, x + c, ldx);
    for (size_t i = 0; i < 8; i++) {
      _mm256_storeu_pd(z + (c + i) * ldz, _mm256_cvtps_pd(_mm256_castps256_ps128(columns[i])));
      _mm256_storeu_pd(z + (c + i) * ldz + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(columns[i], 1)));
    }
  }
  for (; c < n; c++) {
    for (size_t i = 0; i < 8; i++) z[c * ldz + i] = (double)x[i * ldx + c];
  }
}
#endif

#endif
