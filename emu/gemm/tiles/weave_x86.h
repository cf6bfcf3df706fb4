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
    __m512 v = _mm512_loadu_ps(x + i);
    __m512i u = _mm512_castps_si512(v);
    u = _mm512_mask_or_epi32(u, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), u, quiet);
    _mm256_storeu_si256((__m256i *)(void *)(z + i), _mm512_cvtepi32_epi16(_mm512_srli_epi32(u, 16)));
  }
}

static inline __m512i hui_sixteen_halves(const uint8_t *p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

static inline void hui_weave_halves(size_t n, uint32_t *z, const void *lines, size_t pitch) {
  const uint8_t *p = lines;
  for (size_t i = 0; i < n; i += 16, p += 32) {
    __m512i high = _mm512_slli_epi32(hui_sixteen_halves(p + pitch), 16);
    _mm512_storeu_si512(z + i, _mm512_or_si512(hui_sixteen_halves(p), high));
  }
}

static inline __m512i hui_sixteen_bytes(const uint8_t *p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}

static inline void hui_weave_bytes(size_t n, uint32_t *z, const void *lines, size_t pitch) {
  const uint8_t *p = lines;
  for (size_t i = 0; i < n; i += 16, p += 16) {
    __m512i low = _mm512_slli_epi32(hui_sixteen_bytes(p + pitch), 8);
    __m512i high = _mm512_slli_epi32(hui_sixteen_bytes(p + 3 * pitch), 8);
    low = _mm512_or_si512(hui_sixteen_bytes(p), low);
    high = _mm512_or_si512(hui_sixteen_bytes(p + 2 * pitch), high);
    _mm512_storeu_si512(z + i, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

#endif
