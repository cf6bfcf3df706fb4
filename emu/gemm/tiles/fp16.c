/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/fp16.c - half.h by AVX512-FP16: tiles of 8 rows by three vectors of 32 lanes, 24 accumulators in
 * registers; the mode of rounding is part of the instruction. A test compiles this file a second time with a header in
 * place of the compiler's that models the instructions in C. No run on such a processor is recorded yet: Meson's option
 * `unconfirmed_units` asks for it. */
#include <immintrin.h>

#include "emu/gemm/tiles/features_x86.h"
#include "emu/gemm/tiles/half.h"
#include "emu/arith/half.h"
#include "halfulp/gemm.h"

/* The compiler may not know them. */
#if defined(__AVX512FP16__) || defined(HU_MODELLED_INSTRUCTIONS)

enum { MR = HU_GEMM_MR, NR = HU_HALF_NR, KC = HU_HALF_KC, MB = HU_HALF_MB, LANES = 32 };

/* Converts, exactly in both directions. */
static void narrow(size_t n, uint16_t *z, const float *x) {
  for (size_t i = 0; i < n; i += 16) {
    __m256i bits = _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256((__m256i *)(void *)(z + i), bits);
  }
}

static void widen(size_t n, float *z, const uint16_t *x) {
  for (size_t i = 0; i < n; i += 16) {
    _mm512_storeu_ps(z + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(x + i))));
  }
}

/* Each code twice, in a word: a word is spread over a vector by its load alone. */
static void twice(size_t n, uint32_t *z, const uint16_t *x) {
  for (size_t i = 0; i < n; i += 16) {
    __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(x + i)));
    _mm512_storeu_si512(z + i, _mm512_or_si512(bits, _mm512_slli_epi32(bits, 16)));
  }
}

/* The mode is part of the instruction: a constant in the text. */
static inline __attribute__((always_inline)) __m512h fused(const uint32_t round, __m512h x, __m512h y, __m512h z) {
  switch (round) {
    case HU_RNE: return _mm512_fmadd_round_ph(x, y, z, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    case HU_RTZ: return _mm512_fmadd_round_ph(x, y, z, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case HU_RTP: return _mm512_fmadd_round_ph(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    default: return _mm512_fmadd_round_ph(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
}

/* Sums eight rows by nv vectors. */
static inline __attribute__((always_inline)) void tile(const uint32_t round, const int nv, size_t kc, const uint32_t *a,
                                                       const uint16_t *b, uint16_t *acc, int fresh) {
  __m512h z[MR][3];
#pragma GCC unroll 8
  for (int i = 0; i < MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = fresh ? _mm512_castsi512_ph(_mm512_setzero_si512()) : _mm512_loadu_ph(acc + i * NR + LANES * j);
    }
  }
  for (; kc; kc--, a += MR, b += NR) {
    __m512h y[3];
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) y[j] = _mm512_loadu_ph(b + LANES * j);
#pragma GCC unroll 8
    for (int i = 0; i < MR; i++) {
      __m512h x = _mm512_castsi512_ph(_mm512_set1_epi32((int)a[i]));
#pragma GCC unroll 3
      for (int j = 0; j < nv; j++) z[i][j] = fused(round, x, y[j], z[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < MR; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) _mm512_storeu_ph(acc + i * NR + LANES * j, z[i][j]);
  }
}

static inline __attribute__((always_inline)) void block(const uint32_t round, size_t rows, size_t cols, size_t kc,
                                                        const uint16_t *a, const uint16_t *b, uint16_t *acc,
                                                        int fresh) {
  _Alignas(64) uint32_t x[KC * MR];
  for (size_t i = 0; i < rows; i += MR) {
    twice(kc * MR % 16 ? kc * MR + MR : kc * MR, x, a + i * KC);
    for (size_t j = 0; j < cols; j += NR) {
      const uint16_t *y = b + j * KC;
      uint16_t *z = acc + j * MB + i * NR;
      if (cols - j > 2 * LANES) {
        tile(round, 3, kc, x, y, z, fresh);
      } else if (cols - j > LANES) {
        tile(round, 2, kc, x, y, z, fresh);
      } else {
        tile(round, 1, kc, x, y, z, fresh);
      }
    }
  }
}

static void multiply(uint32_t round, size_t rows, size_t cols, size_t kc, const uint16_t *a, const uint16_t *b,
                     uint16_t *acc, int fresh) {
  switch (round) {
    case HU_RNE: block(HU_RNE, rows, cols, kc, a, b, acc, fresh); break;
    case HU_RTZ: block(HU_RTZ, rows, cols, kc, a, b, acc, fresh); break;
    case HU_RTP: block(HU_RTP, rows, cols, kc, a, b, acc, fresh); break;
    default: block(HU_RTN, rows, cols, kc, a, b, acc, fresh); break;
  }
}

static inline __attribute__((always_inline)) __m512h times(const uint32_t round, __m512h x, __m512h y) {
  switch (round) {
    case HU_RNE: return _mm512_mul_round_ph(x, y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    case HU_RTZ: return _mm512_mul_round_ph(x, y, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case HU_RTP: return _mm512_mul_round_ph(x, y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    default: return _mm512_mul_round_ph(x, y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
}

static void outer(uint32_t round, size_t rows, size_t cols, uint16_t *z, size_t pitch, const uint16_t *a,
                  const uint16_t *b) {
  for (size_t i = 0; i < rows; i++) {
    __m512h x = _mm512_castsi512_ph(_mm512_set1_epi32((int)(a[i] * 0x10001u)));
    for (size_t j = 0; j < cols; j += LANES) {
      _mm512_storeu_ph(z + i * pitch + j, times(round, x, _mm512_loadu_ph(b + j)));
    }
  }
}

static const hu_half_kernels kernels = {narrow, widen, multiply, outer};
#if defined(HU_UNCONFIRMED_UNITS) || defined(HU_MODELLED_INSTRUCTIONS)
/* Bit 23; the system keeps the registers of AVX-512, which the level asks for. */
static int ask(void) { return hui_has_leaf7(1u << 23); }
static int runs(void) {
  static int answer;
  return hui_ask_once(&answer, ask);
}
#define KERNELS .runs = runs, .halves = &kernels, .half_arith = &hu_half_arith_fp16
#else
#define KERNELS .runs = NULL, .halves = &kernels, .half_arith = &hu_half_arith_fp16
#endif
#else
#define KERNELS .runs = NULL
#endif

const hu_extension hu_extension_fp16 = {.name = "fp16", .bits = HU_LEVEL_AVX512 | HU_LEVEL_FP16, KERNELS};
