/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/vnni.c - short.h by AVX512_VNNI: tiles of 8 rows by three vectors, 24 accumulators in registers. A
 * test compiles this file a second time with a header in place of the compiler's that models the instructions in C. */
#include <immintrin.h>

#include "emu/gemm/tiles/join_x86.h"
#include "emu/gemm/tiles/short.h"
#include "emu/gemm/tiles/weave_x86.h"

/* The compiler may not know them. */
#if defined(__AVX512VNNI__) || defined(HU_MODELLED_INSTRUCTIONS)

/* ---- packing ---- */

/* Zero less one is larger than all magnitudes less one. */
static void range(size_t n, const float *x, uint32_t *least, uint32_t *most) {
  const __m512i size = _mm512_set1_epi32(0x7FFFFFFF), one = _mm512_set1_epi32(1);
  __m512i low = _mm512_set1_epi32((int)(*least - 1)), high = _mm512_set1_epi32((int)*most);
  uint32_t each[2][16];
  for (size_t i = 0; i < n; i += 16) {
    __m512i bits = _mm512_and_si512(_mm512_loadu_si512(x + i), size);
    high = _mm512_max_epu32(high, bits);
    low = _mm512_min_epu32(low, _mm512_sub_epi32(bits, one));
  }
  _mm512_storeu_si512(each[0], low);
  _mm512_storeu_si512(each[1], high);
  for (size_t i = 0; i < 16; i++) {
    *least = each[0][i] + 1 < *least ? each[0][i] + 1 : *least;
    *most = each[1][i] > *most ? each[1][i] : *most;
  }
}

/* Returns sixteen integers that binary32 holds. */
static inline __m512i integers(const float *x, float scale) {
  return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(scale)));
}

static void bytes(size_t n, uint8_t *z, const float *x, float scale, int32_t offset) {
  for (size_t i = 0; i < n; i += 16) {
    __m512i bits = _mm512_add_epi32(integers(x + i, scale), _mm512_set1_epi32(offset));
    _mm_storeu_si128((__m128i *)(void *)(z + i), _mm512_cvtepi32_epi8(bits));
  }
}

static void halves(size_t n, uint16_t *z, const float *x, float scale) {
  for (size_t i = 0; i < n; i += 16) {
    _mm256_storeu_si256((__m256i *)(void *)(z + i), _mm512_cvtepi32_epi16(integers(x + i, scale)));
  }
}

/* ---- tiles ---- */

/* Adds one word of K. */
static inline __attribute__((always_inline)) void one_step(const int of_bytes, const int nv, const uint32_t *a,
                                                           const uint32_t *b, __m512i z[HU_GEMM_MR][3]) {
  __m512i y[3];
#pragma GCC unroll 3
  for (int j = 0; j < nv; j++) y[j] = _mm512_loadu_si512(b + 16 * j);
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
    __m512i x = _mm512_set1_epi32((int)a[i]);
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = of_bytes ? _mm512_dpbusd_epi32(z[i][j], x, y[j]) : _mm512_dpwssd_epi32(z[i][j], x, y[j]);
    }
  }
}

/* Eight rows by nv vectors of sums of bytes or halves; what was added too much of a column is taken away first. */
static inline __attribute__((always_inline)) void tile(const int of_bytes, size_t words, const int nv,
                                                       const uint32_t *a, const uint32_t *b, const __m512i less[3],
                                                       int32_t *acc) {
  __m512i z[HU_GEMM_MR][3];
  const uint32_t *next = a + HU_GEMM_MR * HU_SHORT_KC;
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = _mm512_loadu_si512(acc + i * HU_GEMM32_NR + 16 * j);
      if (of_bytes) z[i][j] = _mm512_sub_epi32(z[i][j], less[j]);
      _mm_prefetch((const char *)(acc + (HU_GEMM_MR + i) * HU_GEMM32_NR + 16 * j), _MM_HINT_T0);
    }
  }
  for (; words; words--, a += HU_GEMM_MR, b += HU_GEMM32_NR, next += HU_GEMM_MR) {
    _mm_prefetch((const char *)next, _MM_HINT_T0);
    one_step(of_bytes, nv, a, b, z);
  }
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) _mm512_storeu_si512(acc + i * HU_GEMM32_NR + 16 * j, z[i][j]);
  }
}

/* Computes offset times the sums of the columns of a panel. */
static inline void offsets(size_t words, const uint32_t *b, uint32_t offset, __m512i z[3]) {
  const __m512i x = _mm512_set1_epi32((int)(offset * 0x01010101u));
  for (int j = 0; j < 3; j++) z[j] = _mm512_setzero_si512();
  for (; words; words--, b += HU_GEMM32_NR) {
    for (int j = 0; j < 3; j++) z[j] = _mm512_dpbusd_epi32(z[j], x, _mm512_loadu_si512(b + 16 * j));
  }
}

static inline __attribute__((always_inline)) void multiply(const int of_bytes, size_t rows, size_t cols, size_t words,
                                                           const uint32_t *a, const uint32_t *b, uint32_t offset,
                                                           int32_t *acc, size_t high) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    const uint32_t *y = b + j * HU_SHORT_KC;
    __m512i less[3];
    if (of_bytes) offsets(words, y, offset, less);
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const uint32_t *x = a + i * HU_SHORT_KC;
      int32_t *z = acc + j * high + i * HU_GEMM32_NR;
      if (cols - j > 32) {
        tile(of_bytes, words, 3, x, y, less, z);
      } else if (cols - j > 16) {
        tile(of_bytes, words, 2, x, y, less, z);
      } else {
        tile(of_bytes, words, 1, x, y, less, z);
      }
    }
  }
}

static void multiply_bytes(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b,
                           const hu_byte_rule *rule, int32_t *acc, size_t high) {
  multiply(1, rows, cols, words, a, b, rule->offset, acc, high);
}

static void multiply_halves(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int32_t *acc,
                            size_t high) {
  multiply(0, rows, cols, words, a, b, 0, acc, high);
}

/* ---- parts ---- */

/* Sums from nothing. */
static inline __attribute__((always_inline)) void part_tile(const int of_bytes, size_t words, const int nv,
                                                            const uint32_t *a, const uint32_t *b, const __m512i less[3],
                                                            const hu_corner *corner) {
  __m512i z[HU_GEMM_MR][3];
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = of_bytes ? _mm512_sub_epi32(_mm512_setzero_si512(), less[j]) : _mm512_setzero_si512();
    }
  }
  for (; words; words--, a += HU_GEMM_MR, b += HU_GEMM32_NR) one_step(of_bytes, nv, a, b, z);
#pragma GCC unroll 8
  for (int i = 0; i < HU_GEMM_MR; i++) {
    if ((size_t)i >= corner->rows) break;
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) hui_join_row(corner, i, j, z[i][j]);
  }
}

static inline __attribute__((always_inline)) void add_parts(const int of_bytes, size_t rows, size_t cols, size_t words,
                                                            const uint32_t *a, const uint32_t *b, uint32_t offset,
                                                            const hu_short_join *join, float *sum) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    const uint32_t *y = b + j * HU_SHORT_KC;
    __m512i less[3];
    if (of_bytes) offsets(words, y, offset, less);
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const uint32_t *x = a + i * HU_SHORT_KC;
      hu_corner corner = {sum + i * cols + j, rows - i, cols - j, cols, join->row + i, join->column + j, join};
      if (cols - j > 32) {
        part_tile(of_bytes, words, 3, x, y, less, &corner);
      } else if (cols - j > 16) {
        part_tile(of_bytes, words, 2, x, y, less, &corner);
      } else {
        part_tile(of_bytes, words, 1, x, y, less, &corner);
      }
    }
  }
}

static void add_part(size_t group, size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b,
                     const hu_byte_rule *rule, const hu_short_join *join, float *sum) {
  if (group == 4) {
    add_parts(1, rows, cols, words, a, b, rule->offset, join, sum);
  } else {
    add_parts(0, rows, cols, words, a, b, 0, join, sum);
  }
}

/* ---- sums ---- */

static inline __m512d eight(const int32_t *x) {
  return _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

static void carry(size_t n, double *total, int32_t *acc) {
  for (size_t i = 0; i < n; i += 16) {
    for (size_t k = i; k < i + 16; k += 8) {
      _mm512_storeu_pd(total + k, _mm512_add_pd(_mm512_loadu_pd(total + k), eight(acc + k)));
    }
    _mm512_storeu_si512(acc + i, _mm512_setzero_si512());
  }
}

static void scale(size_t n, double *z, const int32_t *x, double by) {
  for (size_t i = 0; i < n; i += 8) _mm512_storeu_pd(z + i, _mm512_mul_pd(eight(x + i), _mm512_set1_pd(by)));
}

static const hu_short_kernels kernels = {
    range, bytes, halves, hui_weave_bytes, hui_weave_halves, multiply_bytes, multiply_halves, add_part,
    carry, scale, 0};

#ifdef HU_MODELLED_INSTRUCTIONS
static int runs(void) { return 1; }
#else
static int runs(void) { return __builtin_cpu_supports("avx512vnni"); }
#endif
#define KERNELS .runs = runs, .shorts = &kernels
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_vnni = {.name = "vnni", .bits = HU_LEVEL_AVX512 | HU_LEVEL_VNNI, KERNELS};
