/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/short_avx2.h - short.h in vectors of 256 bits: tiles of 4 rows by three vectors, 12 accumulators in
 * registers. An extension includes it and has before that:
 *
 *   HU_SHORT_PAIRS          1: sums of bytes are formed in 16 bits, of two products each, for at most hu_byte_rule.run
 *                           words, and then widened; 0: in 32 bits, of four products
 *   add_bytes, add_halves   (z, x, y): z plus the products of x, unsigned bytes or signed halves, and y, both signed */
#ifndef HALFULP_EMU_GEMM_TILES_SHORT_AVX2_H
#define HALFULP_EMU_GEMM_TILES_SHORT_AVX2_H

#include <string.h>

#include "emu/gemm/tiles/short.h"

enum { MR = HU_GEMM_MR, NR = HU_GEMM32_NR, KC = HU_SHORT_KC, TALL = 4, WIDE = 24, LANES = 8 };
_Static_assert(MR % TALL == 0 && NR % WIDE == 0, "panels are whole tiles");

static inline __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }
static inline void store(void *at, __m256i x) { _mm256_storeu_si256((__m256i *)at, x); }

/* ---- packing ---- */

/* Zero less one is larger than all magnitudes less one. */
static void range(size_t n, const float *x, uint32_t *least, uint32_t *most) {
  const __m256i size = _mm256_set1_epi32(0x7FFFFFFF), one = _mm256_set1_epi32(1);
  __m256i low = _mm256_set1_epi32((int)(*least - 1)), high = _mm256_set1_epi32((int)*most);
  uint32_t each[2][LANES];
  for (size_t i = 0; i < n; i += LANES) {
    __m256i bits = _mm256_and_si256(load(x + i), size);
    high = _mm256_max_epu32(high, bits);
    low = _mm256_min_epu32(low, _mm256_sub_epi32(bits, one));
  }
  store(each[0], low);
  store(each[1], high);
  for (size_t i = 0; i < LANES; i++) {
    *least = each[0][i] + 1 < *least ? each[0][i] + 1 : *least;
    *most = each[1][i] > *most ? each[1][i] : *most;
  }
}

/* Returns eight integers that binary32 holds. */
static inline __m256i integers(const float *x, float scale) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), _mm256_set1_ps(scale)));
}

/* Sixteen words of at most 16 bits become halves; the instruction takes them by half vectors. */
static inline __m256i sixteen_halves(__m256i x, __m256i y) {
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(x, y), 0xD8);
}

static void bytes(size_t n, uint8_t *z, const float *x, float scale, int32_t offset) {
  const __m256i more = _mm256_set1_epi32(offset), byte = _mm256_set1_epi32(0xFF);
  for (size_t i = 0; i < n; i += 16) {
    __m256i bits = _mm256_and_si256(_mm256_add_epi32(integers(x + i, scale), more), byte);
    __m256i other = _mm256_and_si256(_mm256_add_epi32(integers(x + i + LANES, scale), more), byte);
    __m256i both = sixteen_halves(bits, other);
    __m128i low = _mm256_castsi256_si128(both), high = _mm256_extracti128_si256(both, 1);
    _mm_storeu_si128((__m128i *)(void *)(z + i), _mm_packus_epi16(low, high));
  }
}

static void halves(size_t n, uint16_t *z, const float *x, float scale) {
  const __m256i half = _mm256_set1_epi32(0xFFFF);
  for (size_t i = 0; i < n; i += 16) {
    __m256i bits = _mm256_and_si256(integers(x + i, scale), half);
    __m256i other = _mm256_and_si256(integers(x + i + LANES, scale), half);
    store(z + i, sixteen_halves(bits, other));
  }
}

static inline __m256i eight_halves(const uint8_t *x) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}

static void weave_halves(size_t n, uint32_t *z, const void *lines, size_t pitch) {
  const uint8_t *x = lines;
  for (size_t i = 0; i < n; i += LANES, x += 16) {
    store(z + i, _mm256_or_si256(eight_halves(x), _mm256_slli_epi32(eight_halves(x + pitch), 16)));
  }
}

static inline __m256i eight_bytes(const uint8_t *x) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}

static void weave_bytes(size_t n, uint32_t *z, const void *lines, size_t pitch) {
  const uint8_t *x = lines;
  for (size_t i = 0; i < n; i += LANES, x += 8) {
    __m256i low = _mm256_or_si256(eight_bytes(x), _mm256_slli_epi32(eight_bytes(x + pitch), 8));
    __m256i high = _mm256_slli_epi32(eight_bytes(x + 3 * pitch), 8);
    high = _mm256_or_si256(eight_bytes(x + 2 * pitch), high);
    store(z + i, _mm256_or_si256(low, _mm256_slli_epi32(high, 16)));
  }
}

/* ---- tiles ---- */

#define HU_SHORT_INLINE static inline __attribute__((always_inline))

HU_SHORT_INLINE void clear(__m256i z[TALL][3]) {
#pragma GCC unroll 4
  for (int i = 0; i < TALL; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) z[i][j] = _mm256_setzero_si256();
  }
}

HU_SHORT_INLINE void add_words(const int of_bytes, size_t words, const uint32_t *a, const uint32_t *b,
                               __m256i z[TALL][3]) {
  for (; words; words--, a += MR, b += NR) {
    const __m256i y[3] = {load(b), load(b + LANES), load(b + 2 * LANES)};
#pragma GCC unroll 4
    for (int i = 0; i < TALL; i++) {
      const __m256i x = _mm256_set1_epi32((int)a[i]);
#pragma GCC unroll 3
      for (int j = 0; j < 3; j++) z[i][j] = of_bytes ? add_bytes(z[i][j], x, y[j]) : add_halves(z[i][j], x, y[j]);
    }
  }
}

/* z = the sums of a tile, in 32 bits. They are formed in an array of their own, which the compiler keeps in
 * registers. */
HU_SHORT_INLINE void sum_once(const int of_bytes, size_t words, const uint32_t *a, const uint32_t *b,
                              __m256i z[TALL][3]) {
  __m256i sum[TALL][3];
  clear(sum);
  add_words(of_bytes, words, a, b, sum);
  memcpy(z, sum, sizeof sum);
}

HU_SHORT_INLINE void sum_pairs(size_t words, size_t run, const uint32_t *a, const uint32_t *b, __m256i z[TALL][3]) {
  const __m256i one = _mm256_set1_epi16(1);
  clear(z);
  for (size_t some; words; a += some * MR, b += some * NR, words -= some) {
    __m256i pair[TALL][3];
    some = run < words ? run : words;
    clear(pair);
    add_words(1, some, a, b, pair);
#pragma GCC unroll 4
    for (int i = 0; i < TALL; i++) {
#pragma GCC unroll 3
      for (int j = 0; j < 3; j++) z[i][j] = _mm256_add_epi32(z[i][j], _mm256_madd_epi16(pair[i][j], one));
    }
  }
}

/* gcc's elimination of partial redundancies forms all products before the first sum, and has too few registers for
 * them. These functions are not inlined: they have no floating-point operation whose options would change, too. */
#if defined(__GNUC__) && !defined(__clang__)
#define HU_SHORT_TILE_SUM static __attribute__((noinline, optimize("no-tree-pre")))
#else
#define HU_SHORT_TILE_SUM static __attribute__((noinline))
#endif

HU_SHORT_TILE_SUM void sum_bytes(size_t words, size_t run, const uint32_t *a, const uint32_t *b, __m256i z[TALL][3]) {
  if (HU_SHORT_PAIRS) {
    sum_pairs(words, run, a, b, z);
  } else {
    sum_once(1, words, a, b, z);
  }
}

HU_SHORT_TILE_SUM void sum_halves(size_t words, const uint32_t *a, const uint32_t *b, __m256i z[TALL][3]) {
  sum_once(0, words, a, b, z);
}

static inline void sum_tile(const int of_bytes, size_t words, size_t run, const uint32_t *a, const uint32_t *b,
                            __m256i z[TALL][3]) {
  if (of_bytes) {
    sum_bytes(words, run, a, b, z);
  } else {
    sum_halves(words, a, b, z);
  }
}

/* offset times the sums of 24 columns: what the sums of bytes have too much. 16 bits hold the sums of two of every four
 * bytes of a column. */
_Static_assert(2 * KC * 128 <= 0x7FFF, "16 bits hold the sums of columns");
static inline void offsets(size_t words, const uint32_t *b, uint32_t offset, __m256i z[3]) {
  const __m256i ones = _mm256_set1_epi8(1), one = _mm256_set1_epi16(1), times = _mm256_set1_epi32((int)offset);
  for (int j = 0; j < 3; j++) z[j] = _mm256_setzero_si256();
  if (offset == 0) return;
  for (; words; words--, b += NR) {
    for (int j = 0; j < 3; j++) z[j] = _mm256_add_epi16(z[j], _mm256_maddubs_epi16(ones, load(b + LANES * j)));
  }
  for (int j = 0; j < 3; j++) z[j] = _mm256_mullo_epi32(_mm256_madd_epi16(z[j], one), times);
}

/* Returns where the tile of rows i ... of A begins, where that of columns j ... of B or of sums. */
static inline const uint32_t *at_row(const uint32_t *a, size_t i) { return a + i / MR * (MR * KC) + i % MR; }
static inline size_t at_column(size_t j, size_t high) { return j / NR * (NR * high) + j % NR; }

HU_SHORT_INLINE void multiply(const int of_bytes, size_t rows, size_t cols, size_t words, const uint32_t *a,
                              const uint32_t *b, const hu_byte_rule *rule, int32_t *acc, size_t high) {
  const size_t run = of_bytes ? rule->run : 0;
  for (size_t j = 0; j < cols; j += WIDE) {
    const uint32_t *y = b + at_column(j, KC);
    __m256i z[TALL][3], less[3];
    offsets(words, y, of_bytes ? rule->offset : 0, less);
    for (size_t i = 0; i < rows; i += TALL) {
      int32_t *to = acc + at_column(j, high) + i * NR;
      sum_tile(of_bytes, words, run, at_row(a, i), y, z);
#pragma GCC unroll 4
      for (int k = 0; k < TALL; k++) {
#pragma GCC unroll 3
        for (int vector = 0; vector < 3; vector++) {
          int32_t *at = to + k * NR + LANES * vector;
          store(at, _mm256_add_epi32(load(at), _mm256_sub_epi32(z[k][vector], less[vector])));
        }
      }
    }
  }
}

static void multiply_bytes(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b,
                           const hu_byte_rule *rule, int32_t *acc, size_t high) {
  multiply(1, rows, cols, words, a, b, rule, acc, high);
}

static void multiply_halves(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int32_t *acc,
                            size_t high) {
  multiply(0, rows, cols, words, a, b, NULL, acc, high);
}

/* ---- parts ---- */

/* Where a vector of a part goes: `left` columns are there. */
typedef struct place {
  float *sum;
  size_t left;
  float row;
  const float *column;
  const hu_short_join *join;
} place;

static inline __m256 joined(const place *corner, __m256 sum, __m256 column, __m256i part) {
  __m256 x = _mm256_mul_ps(_mm256_cvtepi32_ps(part), _mm256_set1_ps(corner->join->unit)),
         row = _mm256_set1_ps(corner->row);
  if (corner->join->twice) {
    x = _mm256_mul_ps(x, row);
  } else {
    column = _mm256_mul_ps(row, column);
  }
  return corner->join->unfused ? _mm256_add_ps(sum, _mm256_mul_ps(column, x)) : _mm256_fmadd_ps(column, x, sum);
}

/* Stores with a mask are slow on some processors: only the last columns have one. */
static inline void join_vector(const place *corner, __m256i part) {
  if (corner->left >= LANES) {
    _mm256_storeu_ps(corner->sum, joined(corner, _mm256_loadu_ps(corner->sum), _mm256_loadu_ps(corner->column), part));
    return;
  }
  const __m256i there =
      _mm256_cmpgt_epi32(_mm256_set1_epi32((int)corner->left), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  __m256 sum = _mm256_maskload_ps(corner->sum, there), column = _mm256_maskload_ps(corner->column, there);
  _mm256_maskstore_ps(corner->sum, there, joined(corner, sum, column, part));
}

HU_SHORT_INLINE void add_parts(const int of_bytes, size_t rows, size_t cols, size_t words, const uint32_t *a,
                               const uint32_t *b, const hu_byte_rule *rule, const hu_short_join *join, float *sum) {
  const size_t run = of_bytes ? rule->run : 0;
  for (size_t j = 0; j < cols; j += WIDE) {
    const uint32_t *y = b + at_column(j, KC);
    __m256i z[TALL][3], less[3];
    offsets(words, y, of_bytes ? rule->offset : 0, less);
    for (size_t i = 0; i < rows; i += TALL) {
      sum_tile(of_bytes, words, run, at_row(a, i), y, z);
      for (size_t k = 0; k < TALL && i + k < rows; k++) {
        for (size_t vector = 0; vector < 3 && j + LANES * vector < cols; vector++) {
          const size_t column = j + LANES * vector;
          const place corner = {sum + (i + k) * cols + column, cols - column, join->row[i + k], join->column + column,
                                join};
          join_vector(&corner, _mm256_sub_epi32(z[k][vector], less[vector]));
        }
      }
    }
  }
}

static void add_part(size_t group, size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b,
                     const hu_byte_rule *rule, const hu_short_join *join, float *sum) {
  if (group == 4) {
    add_parts(1, rows, cols, words, a, b, rule, join, sum);
  } else {
    add_parts(0, rows, cols, words, a, b, NULL, join, sum);
  }
}

/* ---- sums ---- */

static inline __m256d four(const int32_t *x) {
  return _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)(const void *)x));
}

static void carry(size_t n, double *total, int32_t *acc) {
  for (size_t i = 0; i < n; i += LANES) {
    for (size_t k = i; k < i + LANES; k += 4) {
      _mm256_storeu_pd(total + k, _mm256_add_pd(_mm256_loadu_pd(total + k), four(acc + k)));
    }
    store(acc + i, _mm256_setzero_si256());
  }
}

static void scale(size_t n, double *z, const int32_t *x, double by) {
  for (size_t i = 0; i < n; i += 4) _mm256_storeu_pd(z + i, _mm256_mul_pd(four(x + i), _mm256_set1_pd(by)));
}

static const hu_short_kernels kernels = {range,           bytes,    halves, weave_bytes, weave_halves,  multiply_bytes,
                                         multiply_halves, add_part, carry,  scale,       HU_SHORT_PAIRS};

#endif
