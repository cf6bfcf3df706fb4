/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/bf16.c - pairs.h by AVX512_BF16: tiles of 8 rows by three vectors, 24 accumulators in registers. A
 * test compiles this file a second time with a header in place of the compiler's that models the instructions in C. */
#include <immintrin.h>

#include "emu/gemm/tiles/pairs.h"
#include "emu/gemm/tiles/weave_x86.h"

/* The compiler may not know them. */
#if defined(__AVX512BF16__) || defined(HU_MODELLED_INSTRUCTIONS)

/* Eight rows by nv vectors; the next tile's part of A and its accumulators are asked for meanwhile. */
static inline __attribute__((always_inline)) void tile(size_t pairs, const int nv, const uint32_t *a, const uint32_t *b,
                                                       float *acc) {
  __m512 z[HU_GEMM_MR][3];
  const uint32_t *next = a + HU_GEMM_MR * HU_PAIRS_KC;
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = _mm512_loadu_ps(acc + i * HU_GEMM32_NR + 16 * j);
      _mm_prefetch((const char *)(acc + (HU_GEMM_MR + i) * HU_GEMM32_NR + 16 * j), _MM_HINT_T0);
    }
  }
  for (; pairs; pairs--, a += HU_GEMM_MR, b += HU_GEMM32_NR, next += HU_GEMM_MR) {
    __m512i y[3];
    _mm_prefetch((const char *)next, _MM_HINT_T0);
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) y[j] = _mm512_loadu_si512(b + 16 * j);
#pragma GCC unroll 8
    for (int i = 0; i < HU_GEMM_MR; i++) {
      __m512i x = _mm512_set1_epi32((int)a[i]);
#pragma GCC unroll 3
      for (int j = 0; j < nv; j++) z[i][j] = _mm512_dpbf16_ps(z[i][j], (__m512bh)x, (__m512bh)y[j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) _mm512_storeu_ps(acc + i * HU_GEMM32_NR + 16 * j, z[i][j]);
  }
}

static void multiply(size_t rows, size_t cols, size_t pairs, const uint32_t *a, const uint32_t *b, float *acc) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    const uint32_t *y = b + j * HU_PAIRS_KC;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const uint32_t *x = a + i * HU_PAIRS_KC;
      float *z = acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR;
      if (cols - j > 32) {
        tile(pairs, 3, x, y, z);
      } else if (cols - j > 16) {
        tile(pairs, 2, x, y, z);
      } else {
        tile(pairs, 1, x, y, z);
      }
    }
  }
}

static const hu_pair_kernels kernels = {hui_bfloat16_codes, hui_weave_halves, multiply, 1, HU_GEMM_MR, 0};

#ifdef HU_MODELLED_INSTRUCTIONS
static int runs(void) { return 1; }
#else
static int runs(void) { return __builtin_cpu_supports("avx512bf16"); }
#endif
#define KERNELS .runs = runs, .pairs = &kernels
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_bf16 = {.name = "bf16", .bits = HU_LEVEL_AVX512 | HU_LEVEL_BF16, KERNELS};
