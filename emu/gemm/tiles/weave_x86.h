/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/weave_x86.h - numbers become bfloat16 codes, and lines of short elements a line of words, sixteen at a
 * time (emu/gemm/words.h). */
#ifndef HALFULP_EMU_GEMM_TILES_WEAVE_X86_H
#define HALFULP_EMU_GEMM_TILES_WEAVE_X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* The bfloat16 codes of n binary32 numbers that are values of it; NaN stays NaN. n is a multiple of 16. */
static inline void hui_bfloat16_codes(size_t n, uint16_t *z, const float *x) {
  const __m512i quiet = _mm512_set1_epi32(0x400000);
  for (size_t i = 0; i < n; i += 16) {
    __m512 numbers = _mm512_loadu_ps(x + i);
    __m512i bits = _mm512_castps_si512(numbers);
    bits = _mm512_mask_or_epi32(bits, _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q), bits, quiet);
    _mm256_storeu_si256((__m256i *)(void *)(z + i), _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
  }
}

static inline __m512i hui_sixteen_halves(const uint8_t *x) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

static inline void hui_weave_halves(size_t n, uint32_t *z, const void *lines, size_t pitch) {
  const uint8_t *x = lines;
  for (size_t i = 0; i < n; i += 16, x += 32) {
    __m512i high = _mm512_slli_epi32(hui_sixteen_halves(x + pitch), 16);
    _mm512_storeu_si512(z + i, _mm512_or_si512(hui_sixteen_halves(x), high));
  }
}

static inline __m512i hui_sixteen_bytes(const uint8_t *x) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}

static inline void hui_weave_bytes(size_t n, uint32_t *z, const void *lines, size_t pitch) {
  const uint8_t *x = lines;
  for (size_t i = 0; i < n; i += 16, x += 16) {
    __m512i low = _mm512_slli_epi32(hui_sixteen_bytes(x + pitch), 8);
    __m512i high = _mm512_slli_epi32(hui_sixteen_bytes(x + 3 * pitch), 8);
    low = _mm512_or_si512(hui_sixteen_bytes(x), low);
    high = _mm512_or_si512(hui_sixteen_bytes(x + 2 * pitch), high);
    _mm512_storeu_si512(z + i, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

#endif
