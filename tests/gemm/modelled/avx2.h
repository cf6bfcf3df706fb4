/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/avx2.h - what emu/gemm/tiles/short_avx2.h asks of the processor, in plain C, for immintrin.h
 * beside this, which includes it: instructions of AVX2, and VPDPBUSD and VPDPWSSD of AVX-VNNI, as the Intel 64 and
 * IA-32 Architectures Software Developer's Manual, volume 2, has them ("Operation"). */
#ifndef HALFULP_TESTS_GEMM_MODELLED_AVX2_H
#define HALFULP_TESTS_GEMM_MODELLED_AVX2_H

typedef float __m256 __attribute__((vector_size(32)));
typedef double __m256d __attribute__((vector_size(32)));
typedef uint32_t model_eight_words __attribute__((vector_size(32)));
typedef int16_t model_signed_halves __attribute__((vector_size(32)));
typedef int8_t model_signed_bytes __attribute__((vector_size(32)));
typedef uint8_t model_thirty_two __attribute__((vector_size(32)));
typedef int32_t model_four __attribute__((vector_size(16)));

/* How many sums were formed by the instructions of AVX-VNNI, of 256 bits each (extensions.c). */
long model_vex_sums(void);
extern long model_vex_count;

/* ---- memory ---- */

MODEL_MEMORY(__m256, void, _mm256_loadu_ps, _mm256_storeu_ps)
MODEL_MEMORY(__m256d, void, _mm256_loadu_pd, _mm256_storeu_pd)

MODEL_FN __m128i _mm_loadl_epi64(const __m128i *p) {
  __m128i z = {0, 0};
  memcpy(&z, p, 8);
  return z;
}

/* A lane takes part if its highest bit is set. */
MODEL_FN __m256 _mm256_maskload_ps(const void *p, __m256i mask) {
  __m256 z = {0};
  for (int i = 0; i < 8; i++) {
    if (((model_eight)mask)[i] < 0) z[i] = ((const float *)p)[i];
  }
  return z;
}

MODEL_FN void _mm256_maskstore_ps(void *p, __m256i mask, __m256 x) {
  for (int i = 0; i < 8; i++) {
    if (((model_eight)mask)[i] < 0) ((float *)p)[i] = x[i];
  }
}

/* ---- words ---- */

MODEL_FN __m256i _mm256_set1_epi32(int x) { return (__m256i)((model_eight_words){0} + (uint32_t)x); }
MODEL_FN __m256i _mm256_set1_epi16(short x) { return (__m256i)((model_halves){0} + (uint16_t)x); }
MODEL_FN __m256i _mm256_set1_epi8(char x) { return (__m256i)((model_thirty_two){0} + (uint8_t)x); }
MODEL_FN __m256i _mm256_setzero_si256(void) { return _mm256_set1_epi32(0); }
MODEL_FN __m256i _mm256_setr_epi32(int a, int b, int c, int d, int e, int f, int g, int h) {
  return (__m256i)(model_eight){a, b, c, d, e, f, g, h};
}
MODEL_FN __m256i _mm256_and_si256(__m256i x, __m256i y) { return x & y; }
MODEL_FN __m256i _mm256_or_si256(__m256i x, __m256i y) { return x | y; }
MODEL_FN __m256i _mm256_slli_epi32(__m256i x, int n) { return (__m256i)((model_eight_words)x << n); }
MODEL_FN __m256i _mm256_add_epi32(__m256i x, __m256i y) {
  return (__m256i)((model_eight_words)x + (model_eight_words)y);
}
MODEL_FN __m256i _mm256_sub_epi32(__m256i x, __m256i y) {
  return (__m256i)((model_eight_words)x - (model_eight_words)y);
}
MODEL_FN __m256i _mm256_mullo_epi32(__m256i x, __m256i y) {
  return (__m256i)((model_eight_words)x * (model_eight_words)y);
}
MODEL_FN __m256i _mm256_add_epi16(__m256i x, __m256i y) { return (__m256i)((model_halves)x + (model_halves)y); }
MODEL_FN __m256i _mm256_cmpgt_epi32(__m256i x, __m256i y) { return (__m256i)((model_eight)x > (model_eight)y); }

MODEL_FN __m256i _mm256_max_epu32(__m256i x, __m256i y) {
  model_eight_words z = (model_eight_words)x, other = (model_eight_words)y;
  for (int i = 0; i < 8; i++) z[i] = other[i] > z[i] ? other[i] : z[i];
  return (__m256i)z;
}

MODEL_FN __m256i _mm256_min_epu32(__m256i x, __m256i y) {
  model_eight_words z = (model_eight_words)x, other = (model_eight_words)y;
  for (int i = 0; i < 8; i++) z[i] = other[i] < z[i] ? other[i] : z[i];
  return (__m256i)z;
}

/* Four words of x, then four of y, in each half; they become halves as unsigned numbers that saturate. */
MODEL_FN uint16_t model_unsigned_half(int32_t x) { return (uint16_t)(x < 0 ? 0 : x > 0xFFFF ? 0xFFFF : x); }
MODEL_FN __m256i _mm256_packus_epi32(__m256i x, __m256i y) {
  model_halves z = {0};
  for (int i = 0; i < 16; i++) {
    z[i] = model_unsigned_half(((model_eight)(i % 8 < 4 ? x : y))[i / 8 * 4 + i % 4]);
  }
  return (__m256i)z;
}

MODEL_FN __m128i _mm_packus_epi16(__m128i x, __m128i y) {
  int16_t each[16];
  model_bytes z = {0};
  memcpy(each, &x, 16);
  memcpy(each + 8, &y, 16);
  for (int i = 0; i < 16; i++) z[i] = (uint8_t)(each[i] < 0 ? 0 : each[i] > 255 ? 255 : each[i]);
  return (__m128i)z;
}

MODEL_FN __m256i _mm256_permute4x64_epi64(__m256i x, int from) {
  __m256i z = {0};
  for (int i = 0; i < 4; i++) z[i] = x[from >> 2 * i & 3];
  return z;
}

MODEL_FN __m128i _mm256_castsi256_si128(__m256i x) { return (__m128i){x[0], x[1]}; }
MODEL_FN __m128i _mm256_extracti128_si256(__m256i x, int high) { return (__m128i){x[2 * high], x[2 * high + 1]}; }

MODEL_FN __m256i _mm256_cvtepu16_epi32(__m128i x) {
  uint16_t each[8];
  model_eight_words z = {0};
  memcpy(each, &x, 16);
  for (int i = 0; i < 8; i++) z[i] = each[i];
  return (__m256i)z;
}

MODEL_FN __m256i _mm256_cvtepu8_epi32(__m128i x) {
  model_eight_words z = {0};
  for (int i = 0; i < 8; i++) z[i] = ((model_bytes)x)[i];
  return (__m256i)z;
}

/* ---- numbers ---- */

MODEL_FN __m256 _mm256_set1_ps(float x) {
  __m256 z = {0};
  for (int i = 0; i < 8; i++) z[i] = x;
  return z;
}

MODEL_FN __m256d _mm256_set1_pd(double x) { return (__m256d){x, x, x, x}; }
MODEL_FN __m256 _mm256_mul_ps(__m256 x, __m256 y) { return x * y; }
MODEL_FN __m256 _mm256_add_ps(__m256 x, __m256 y) { return x + y; }
MODEL_FN __m256d _mm256_mul_pd(__m256d x, __m256d y) { return x * y; }
MODEL_FN __m256d _mm256_add_pd(__m256d x, __m256d y) { return x + y; }

MODEL_FN __m256 _mm256_fmadd_ps(__m256 x, __m256 y, __m256 z) {
  for (int i = 0; i < 8; i++) z[i] = fmaf(x[i], y[i], z[i]);
  return z;
}

/* Of integers. */
MODEL_FN __m256i _mm256_cvtps_epi32(__m256 x) {
  model_eight z = {0};
  for (int i = 0; i < 8; i++) z[i] = (int32_t)x[i];
  return (__m256i)z;
}

MODEL_FN __m256 _mm256_cvtepi32_ps(__m256i x) {
  __m256 z = {0};
  for (int i = 0; i < 8; i++) z[i] = (float)((model_eight)x)[i];
  return z;
}

MODEL_FN __m256d _mm256_cvtepi32_pd(__m128i x) {
  __m256d z = {0};
  for (int i = 0; i < 4; i++) z[i] = ((model_four)x)[i];
  return z;
}

/* ---- products ---- */

MODEL_FN __m256i _mm256_madd_epi16(__m256i x, __m256i y) {
  model_eight z = {0};
  for (int i = 0; i < 8; i++) {
    for (int l = 2 * i; l < 2 * i + 2; l++) z[i] += ((model_signed_halves)x)[l] * ((model_signed_halves)y)[l];
  }
  return (__m256i)z;
}

/* Unsigned bytes of x; sums saturate. */
MODEL_FN __m256i _mm256_maddubs_epi16(__m256i x, __m256i y) {
  model_signed_halves z = {0};
  for (int i = 0; i < 16; i++) {
    int sum = 0;
    for (int l = 2 * i; l < 2 * i + 2; l++) sum += ((model_thirty_two)x)[l] * ((model_signed_bytes)y)[l];
    z[i] = (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
  }
  return (__m256i)z;
}

/* Sums are signed: where one would pass 32 bits a sanitizer tells. */
MODEL_FN __m256i _mm256_dpbusd_avx_epi32(__m256i c, __m256i a, __m256i b) {
  model_eight z = (model_eight)c;
  __atomic_add_fetch(&model_vex_count, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 32; i++) z[i / 4] += ((model_thirty_two)a)[i] * ((model_signed_bytes)b)[i];
  return (__m256i)z;
}

MODEL_FN __m256i _mm256_dpwssd_avx_epi32(__m256i c, __m256i a, __m256i b) {
  model_eight z = (model_eight)c;
  __atomic_add_fetch(&model_vex_count, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 16; i++) z[i / 2] += ((model_signed_halves)a)[i] * ((model_signed_halves)b)[i];
  return (__m256i)z;
}

#endif
