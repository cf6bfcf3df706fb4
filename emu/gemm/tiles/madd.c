/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/madd.c - short.h by AVX2's VPMADDWD, which adds two products of halves into 32 bits, and VPMADDUBSW,
 * which adds two of an unsigned and a signed byte into 16 bits and saturates there: the caller keeps its sums, and
 * those of hu_byte_rule.run words, within 16 bits. A test compiles this file a second time with a header in place of
 * the compiler's that models the instructions in C. */
#include <immintrin.h>

#include "emu/gemm/tiles/short.h"
#include "halfulp/gemm.h"

#define HU_SHORT_PAIRS 1
static inline __attribute__((always_inline)) __m256i add_bytes(__m256i z, __m256i x, __m256i y) {
  return _mm256_add_epi16(z, _mm256_maddubs_epi16(x, y));
}
static inline __attribute__((always_inline)) __m256i add_halves(__m256i z, __m256i x, __m256i y) {
  return _mm256_add_epi32(z, _mm256_madd_epi16(x, y));
}
#include "emu/gemm/tiles/short_avx2.h"

static int runs(void) { return 1; } /* wherever AVX2 does */

const hu_extension hu_extension_madd = {
    .name = "madd", .bits = HU_LEVEL_AVX2 | HU_LEVEL_MADD, .runs = runs, .shorts = &kernels};
