/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/immintrin.h - what emu/gemm/tiles/bf16.c, vnni.c and their neighbours ask of the processor, in
 * plain C. In place of the compiler's header of this name (by -I), so that the kernels' own logic is tested on every
 * machine. */
#ifndef HALFULP_TESTS_GEMM_MODELLED_IMMINTRIN_H
#define HALFULP_TESTS_GEMM_MODELLED_IMMINTRIN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/gemm/modelled/halves.h"
#include "tests/gemm/modelled/tiles.h"

#define HU_MODELLED_INSTRUCTIONS 1

/* Vectors are passed to functions that are inlined, so their way through registers does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define MODEL_FN static inline __attribute__((always_inline, unused))

typedef float __m512 __attribute__((vector_size(64)));
typedef int64_t __m512i __attribute__((vector_size(64)));
typedef int64_t __m256i __attribute__((vector_size(32)));
typedef double __m512d __attribute__((vector_size(64)));
typedef int64_t __m128i __attribute__((vector_size(16)));
typedef int16_t __m512bh __attribute__((vector_size(64)));
typedef uint16_t __m512h __attribute__((vector_size(64)));
typedef uint16_t __mmask16;

/* The lanes of a vector, for whom they are not floats. */
typedef uint32_t model_words __attribute__((vector_size(64)));
typedef int32_t model_integers __attribute__((vector_size(64)));
typedef int32_t model_eight __attribute__((vector_size(32)));
typedef uint16_t model_halves __attribute__((vector_size(32)));
typedef uint8_t model_bytes __attribute__((vector_size(16)));

#define _CMP_UNORD_Q 3
#define _MM_HINT_T0 3
MODEL_FN void _mm_prefetch(const char *at, int hint) {
  (void)at;
  (void)hint;
}

/* ---- memory ---- */

#define MODEL_MEMORY(VECTOR, ELEMENT, LOAD, STORE) \
  MODEL_FN VECTOR LOAD(const ELEMENT *p) {         \
    VECTOR z;                                      \
    memcpy(&z, p, sizeof z);                       \
    return z;                                      \
  }                                                \
  MODEL_FN void STORE(ELEMENT *p, VECTOR x) { memcpy(p, &x, sizeof x); }

MODEL_MEMORY(__m512, void, _mm512_loadu_ps, _mm512_storeu_ps)
MODEL_MEMORY(__m512i, void, _mm512_loadu_si512, _mm512_storeu_si512)
MODEL_MEMORY(__m256i, __m256i, _mm256_loadu_si256, _mm256_storeu_si256)
MODEL_MEMORY(__m128i, __m128i, _mm_loadu_si128, _mm_storeu_si128)
MODEL_MEMORY(__m512d, void, _mm512_loadu_pd, _mm512_storeu_pd)

/* ---- words ---- */

MODEL_FN __m512i _mm512_set1_epi32(int x) {
  model_words z = {0};
  for (int i = 0; i < 16; i++) z[i] = (uint32_t)x;
  return (__m512i)z;
}

MODEL_FN __m512i _mm512_castps_si512(__m512 x) { return (__m512i)x; }
MODEL_FN __m512i _mm512_or_si512(__m512i x, __m512i y) { return x | y; }
MODEL_FN __m512i _mm512_srli_epi32(__m512i x, unsigned n) { return (__m512i)((model_words)x >> n); }
MODEL_FN __m512i _mm512_slli_epi32(__m512i x, unsigned n) { return (__m512i)((model_words)x << n); }

MODEL_FN __mmask16 _mm512_cmp_ps_mask(__m512 x, __m512 y, int how) {
  __mmask16 z = 0;
  (void)how; /* unordered */
  for (int i = 0; i < 16; i++) z = (__mmask16)(z | (x[i] != x[i] || y[i] != y[i]) << i);
  return z;
}

MODEL_FN __m512i _mm512_mask_or_epi32(__m512i from, __mmask16 mask, __m512i x, __m512i y) {
  model_words z = (model_words)from, both = (model_words)(x | y);
  for (int i = 0; i < 16; i++) z[i] = mask >> i & 1 ? both[i] : z[i];
  return (__m512i)z;
}

MODEL_FN __m256i _mm512_cvtepi32_epi16(__m512i x) {
  model_halves z = {0};
  for (int i = 0; i < 16; i++) z[i] = (uint16_t)((model_words)x)[i];
  return (__m256i)z;
}

MODEL_FN __m512i _mm512_cvtepu16_epi32(__m256i x) {
  model_words z = {0};
  for (int i = 0; i < 16; i++) z[i] = ((model_halves)x)[i];
  return (__m512i)z;
}

MODEL_FN __m512i _mm512_setzero_si512(void) { return _mm512_set1_epi32(0); }
MODEL_FN __m512i _mm512_and_si512(__m512i x, __m512i y) { return x & y; }
MODEL_FN __m512i _mm512_add_epi32(__m512i x, __m512i y) { return (__m512i)((model_words)x + (model_words)y); }
MODEL_FN __m512i _mm512_sub_epi32(__m512i x, __m512i y) { return (__m512i)((model_words)x - (model_words)y); }

MODEL_FN __m512i _mm512_xor_si512(__m512i x, __m512i y) { return x ^ y; }
MODEL_FN __m512i _mm512_srai_epi32(__m512i x, unsigned n) { return (__m512i)((model_integers)x >> n); }

/* 0 for a count from 32 on. */
MODEL_FN __m512i _mm512_srlv_epi32(__m512i x, __m512i n) {
  model_words z = (model_words)x, count = (model_words)n;
  for (int i = 0; i < 16; i++) z[i] = count[i] < 32 ? z[i] >> count[i] : 0;
  return (__m512i)z;
}

MODEL_FN __m512i _mm512_abs_epi32(__m512i x) {
  model_words z = (model_words)x;
  for (int i = 0; i < 16; i++) z[i] = z[i] >> 31 ? 0u - z[i] : z[i];
  return (__m512i)z;
}

MODEL_FN __m512i _mm512_max_epu32(__m512i x, __m512i y) {
  model_words z = (model_words)x, other = (model_words)y;
  for (int i = 0; i < 16; i++) z[i] = other[i] > z[i] ? other[i] : z[i];
  return (__m512i)z;
}

MODEL_FN __m512i _mm512_min_epu32(__m512i x, __m512i y) {
  model_words z = (model_words)x, other = (model_words)y;
  for (int i = 0; i < 16; i++) z[i] = other[i] < z[i] ? other[i] : z[i];
  return (__m512i)z;
}

MODEL_FN __m128i _mm512_cvtepi32_epi8(__m512i x) {
  model_bytes z = {0};
  for (int i = 0; i < 16; i++) z[i] = (uint8_t)((model_words)x)[i];
  return (__m128i)z;
}

MODEL_FN __m512i _mm512_cvtepu8_epi32(__m128i x) {
  model_words z = {0};
  for (int i = 0; i < 16; i++) z[i] = ((model_bytes)x)[i];
  return (__m512i)z;
}

/* ---- numbers ---- */

MODEL_FN __m512 _mm512_set1_ps(float x) {
  __m512 z = {0};
  for (int i = 0; i < 16; i++) z[i] = x;
  return z;
}

MODEL_FN __m512d _mm512_set1_pd(double x) {
  __m512d z = {0};
  for (int i = 0; i < 8; i++) z[i] = x;
  return z;
}

MODEL_FN __m512 _mm512_mul_ps(__m512 x, __m512 y) { return x * y; }
MODEL_FN __m512d _mm512_mul_pd(__m512d x, __m512d y) { return x * y; }
MODEL_FN __m512d _mm512_add_pd(__m512d x, __m512d y) { return x + y; }

MODEL_FN __m512 _mm512_cvtepi32_ps(__m512i x) {
  __m512 z = {0};
  for (int i = 0; i < 16; i++) z[i] = (float)((model_integers)x)[i];
  return z;
}

MODEL_FN void _mm512_mask_storeu_ps(void *p, __mmask16 mask, __m512 x) {
  float *z = p;
  for (int i = 0; i < 16; i++) {
    if (mask >> i & 1) z[i] = x[i];
  }
}

MODEL_FN __m512 _mm512_maskz_loadu_ps(__mmask16 mask, const void *p) {
  const float *x = p;
  __m512 z = {0};
  for (int i = 0; i < 16; i++) {
    if (mask >> i & 1) z[i] = x[i];
  }
  return z;
}

MODEL_FN __m512 _mm512_add_ps(__m512 x, __m512 y) { return x + y; }

MODEL_FN __m512 _mm512_fmadd_ps(__m512 x, __m512 y, __m512 z) {
  for (int i = 0; i < 16; i++) z[i] = fmaf(x[i], y[i], z[i]);
  return z;
}

/* Of integers. */
MODEL_FN __m512i _mm512_cvtps_epi32(__m512 x) {
  model_integers z = {0};
  for (int i = 0; i < 16; i++) z[i] = (int32_t)x[i];
  return (__m512i)z;
}

MODEL_FN __m512d _mm512_cvtepi32_pd(__m256i x) {
  __m512d z = {0};
  for (int i = 0; i < 8; i++) z[i] = ((model_eight)x)[i];
  return z;
}

/* ---- binary16 ---- */

MODEL_MEMORY(__m512h, void, _mm512_loadu_ph, _mm512_storeu_ph)
MODEL_FN __m512h _mm512_castsi512_ph(__m512i x) { return (__m512h)x; }

MODEL_FN __m512h model_halves_of(int op, __m512h a, __m512h b, __m512h c, int round) {
  uint16_t x[4][32];
  memcpy(x[1], &a, 64);
  memcpy(x[2], &b, 64);
  memcpy(x[3], &c, 64);
  model_operate_halves(op, x[0], x[1], x[2], x[3], round);
  return _mm512_loadu_ph(x[0]);
}
MODEL_FN __m512h _mm512_fmadd_round_ph(__m512h a, __m512h b, __m512h c, int round) {
  return model_halves_of(MODEL_HALF_FMA, a, b, c, round);
}
#define MODEL_OF_TWO(name, op) \
  MODEL_FN __m512h name(__m512h a, __m512h b, int round) { return model_halves_of(op, a, b, b, round); }
MODEL_OF_TWO(_mm512_add_round_ph, MODEL_HALF_ADD)
MODEL_OF_TWO(_mm512_sub_round_ph, MODEL_HALF_SUB)
MODEL_OF_TWO(_mm512_mul_round_ph, MODEL_HALF_MUL)
MODEL_OF_TWO(_mm512_div_round_ph, MODEL_HALF_DIV)
MODEL_FN __m512h _mm512_sqrt_round_ph(__m512h x, int round) { return model_halves_of(MODEL_HALF_SQRT, x, x, x, round); }

/* Of values of binary16. */
MODEL_FN __m256i _mm512_cvtps_ph(__m512 x, int round) {
  model_halves z = {0};
  (void)round;
  for (int i = 0; i < 16; i++) z[i] = model_half_of(x[i]);
  return (__m256i)z;
}

MODEL_FN __m512 _mm512_cvtph_ps(__m256i x) {
  __m512 z = {0};
  for (int i = 0; i < 16; i++) z[i] = model_float_of_half(((model_halves)x)[i]);
  return z;
}

/* ---- VPDPBUSD, VPDPWSSD ---- */

/* Sums are signed: where one would pass 32 bits a sanitizer tells. */
MODEL_FN __m512i _mm512_dpbusd_epi32(__m512i c, __m512i a, __m512i b) {
  model_integers z = (model_integers)c;
  for (int i = 0; i < 16; i++) {
    for (int at = 0; at < 32; at += 8) {
      z[i] += (int32_t)(((model_words)a)[i] >> at & 0xFF) * (int8_t)(((model_words)b)[i] >> at);
    }
  }
  return (__m512i)z;
}

MODEL_FN __m512i _mm512_dpwssd_epi32(__m512i c, __m512i a, __m512i b) {
  model_integers z = (model_integers)c;
  for (int i = 0; i < 16; i++) {
    for (int at = 0; at < 32; at += 16) {
      z[i] += (int16_t)(((model_words)a)[i] >> at) * (int16_t)(((model_words)b)[i] >> at);
    }
  }
  return (__m512i)z;
}

/* ---- VDPBF16PS ---- */

MODEL_FN float model_float(uint32_t u) {
  float z;
  memcpy(&z, &u, sizeof z);
  return z;
}

/* A subnormal number is read as the zero of its sign. */
MODEL_FN float model_read(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* fmaf rounds a b + c once. What lies below 2^-126 after rounding is a zero; 2^-126 itself is, too, if the sum 2^64
 * times as large, where binary32 has all digits, is less. a b + c is then a multiple of the last places of both and not
 * larger than 2^-126, so that c and the smaller factor are below 2^-60: neither becomes infinite. */
MODEL_FN float model_step(float a, float b, float c) {
  a = model_read(a);
  b = model_read(b);
  c = model_read(c);
  float z = fmaf(a, b, c);
  if (!(fabsf(z) <= 0x1p-126f) || z == 0) return z;
  float small = fabsf(a) < fabsf(b) ? a : b, other = fabsf(a) < fabsf(b) ? b : a;
  return fabsf(fmaf(small * 0x1p64f, other, c * 0x1p64f)) < 0x1p-62f ? copysignf(0, z) : z;
}

MODEL_FN __m512 _mm512_dpbf16_ps(__m512 c, __m512bh a, __m512bh b) {
  for (int i = 0; i < 16; i++) {
    uint32_t u = ((model_words)a)[i], v = ((model_words)b)[i];
    c[i] = model_step(model_float(u & 0xFFFF0000u), model_float(v & 0xFFFF0000u), c[i]);
    c[i] = model_step(model_float(u << 16), model_float(v << 16), c[i]);
  }
  return c;
}

#include "tests/gemm/modelled/avx2.h"

#endif
