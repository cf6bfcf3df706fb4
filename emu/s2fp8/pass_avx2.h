/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/pass_avx2.h - products of significands, and values by records, on AVX2: eight elements at a time.
 * emu/s2fp8/loops.c includes it for that level.
 *
 * A zero has the significand 1 and the exponent field 0, so that it changes neither product nor exponents, and zeros
 * are counted. What is neither normal nor zero is found at the end: infinities and NaN by the largest pattern,
 * subnormal numbers by the least pattern other than 0.
 *
 * A record is one load of 16 bytes. Eight of them, two in a register, are turned into bounds and values by seven
 * shuffles. A gather of each field would take three times as many loads, each of several steps of the CPU. */
#ifndef HALFULP_EMU_S2FP8_PASS_AVX2_H
#define HALFULP_EMU_S2FP8_PASS_AVX2_H

#include <immintrin.h>

#include "emu/s2fp8/records.h"

/* ---- the product ---- */

enum { FACTORS = 16 };

/* least: of patterns less 1, so that zeros are the largest. */
typedef struct product {
  __m256d part[4];
  __m256i top, least, exponents, zeros;
} product;

/* Multiplies `part` by the significands of the lower or the upper numbers of each pair. */
HU_FN __m256d times_significands(__m256d part, __m256i digits) {
  const __m256i one = _mm256_castpd_si256(_mm256_set1_pd(1)), frac = _mm256_set1_epi64x(0x000FFFFFE0000000);
  return _mm256_mul_pd(part, _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(digits, frac), one)));
}

/* Multiplies FACTORS elements in. */
HU_FN void multiply_in(product *running, const uint32_t *x) {
  for (int k = 0; k < 2; k++) {
    const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(x + 8 * k));
    const __m256i a = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    running->top = _mm256_max_epi32(running->top, a);
    running->least = _mm256_min_epu32(running->least, _mm256_sub_epi32(a, _mm256_set1_epi32(1)));
    running->zeros = _mm256_sub_epi32(running->zeros, _mm256_cmpeq_epi32(a, _mm256_setzero_si256()));
    running->exponents = _mm256_add_epi32(running->exponents, _mm256_srli_epi32(a, 23));
    running->part[2 * k] = times_significands(running->part[2 * k], _mm256_slli_epi64(bits, 29));
    running->part[2 * k + 1] = times_significands(running->part[2 * k + 1], _mm256_srli_epi64(bits, 3));
  }
}

static void end_product(const product *running, size_t elements, hu_s2_rough *z) {
  double part[FACTORS];
  uint32_t top[8], least[8], exponents[8], zeros[8], lowest = UINT32_MAX;
  int64_t exponent = 0;
  uint64_t none = 0;
  for (int k = 0; k < 4; k++) _mm256_storeu_pd(part + 4 * k, running->part[k]);
  _mm256_storeu_si256((__m256i *)(void *)top, running->top);
  _mm256_storeu_si256((__m256i *)(void *)least, running->least);
  _mm256_storeu_si256((__m256i *)(void *)exponents, running->exponents);
  _mm256_storeu_si256((__m256i *)(void *)zeros, running->zeros);
  z->top = 0;
  for (int i = 0; i < 8; i++) {
    z->top = top[i] > z->top ? top[i] : z->top;
    lowest = least[i] < lowest ? least[i] : lowest;
    exponent += exponents[i];
    none += zeros[i];
  }
  z->count = elements - none;
  z->odd = z->top >= 0x7F800000 || lowest < 0x7FFFFF;
  hui_s2_rough_ends(z, FACTORS, part, exponent - 127 * (int64_t)z->count);
}

static void rough(size_t n, const uint32_t *x, hu_s2_rough *z) {
  const size_t all = (n / FACTORS + 1) * FACTORS; /* the last ones are zeros */
  uint32_t last[FACTORS] = {0};
  product running;
  for (int k = 0; k < 4; k++) running.part[k] = _mm256_set1_pd(1);
  running.top = running.exponents = running.zeros = _mm256_setzero_si256();
  running.least = _mm256_set1_epi32(-1);
  for (; n >= FACTORS; n -= FACTORS, x += FACTORS) multiply_in(&running, x);
  memcpy(last, x, n * sizeof *x);
  multiply_in(&running, last);
  end_product(&running, all, z);
}

/* ---- the pass: a stretch of elements is counted and gets the places of its records, then its values ---- */

enum { PLACES = 128 };

/* Lanes counted, negative: below each of these patterns, and equal to the largest. */
typedef struct passing {
  __m256i none, low, tiny, tops;
} passing;

HU_FN __m256i eight(const uint32_t *x) { return _mm256_loadu_si256((const __m256i *)(const void *)x); }

/* at: where the records are, in bytes. */
HU_FN void find_places(const record_list *records, size_t n, uint32_t *at, const uint32_t *x, passing *passed) {
  const __m256i start = _mm256_set1_epi32((int32_t)records->start), first = _mm256_set1_epi32((int32_t)records->first);
  const __m256i normal = _mm256_set1_epi32((int32_t)records->normal), tiny = _mm256_set1_epi32((int32_t)records->tiny);
  const __m256i top = _mm256_set1_epi32((int32_t)records->top);
  const __m128i shift = _mm_cvtsi32_si128((int32_t)records->shift);
  passing c = *passed;
  for (size_t i = 0; i < n; i += 8) {
    const __m256i a = _mm256_and_si256(eight(x + i), _mm256_set1_epi32(0x7FFFFFFF));
    const __m256i bucket = _mm256_srl_epi32(_mm256_sub_epi32(_mm256_max_epi32(a, start), start), shift);
    c.none = _mm256_add_epi32(c.none, _mm256_cmpgt_epi32(first, a));
    c.low = _mm256_add_epi32(c.low, _mm256_cmpgt_epi32(normal, a));
    c.tiny = _mm256_add_epi32(c.tiny, _mm256_cmpgt_epi32(tiny, a));
    c.tops = _mm256_add_epi32(c.tops, _mm256_cmpeq_epi32(top, a));
    _mm256_storeu_si256((__m256i *)(void *)(at + i), _mm256_slli_epi32(bucket, RECORD_SHIFT));
  }
  *passed = c;
}

HU_FN __m256i two_records(const record_list *records, uint32_t low, uint32_t high) {
  const __m128i *x = (const __m128i *)(const void *)((const uint8_t *)records->of + low);
  const __m128i *y = (const __m128i *)(const void *)((const uint8_t *)records->of + high);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(x)), _mm_load_si128(y), 1);
}

/* Returns what eight magnitudes a become. */
HU_FN __m256i value_of(const record_list *records, const uint32_t *at, __m256i a) {
  const __m256i r0 = two_records(records, at[0], at[4]), r1 = two_records(records, at[1], at[5]);
  const __m256i r2 = two_records(records, at[2], at[6]), r3 = two_records(records, at[3], at[7]);
  const __m256i low = _mm256_unpacklo_epi32(r0, r1), high = _mm256_unpacklo_epi32(r2, r3);
  const __m256i bound = _mm256_unpacklo_epi64(low, high), less = _mm256_unpackhi_epi64(low, high);
  const __m256i from = _mm256_unpacklo_epi64(_mm256_unpackhi_epi32(r0, r1), _mm256_unpackhi_epi32(r2, r3));
  return _mm256_blendv_epi8(from, less, _mm256_cmpgt_epi32(bound, a));
}

HU_FN void put_values(const record_list *records, size_t n, const uint32_t *at, uint32_t *z, const uint32_t *x,
                      int keeps) {
  const __m256i magnitude = _mm256_set1_epi32(0x7FFFFFFF);
  for (size_t i = 0; i < n; i += 8) {
    const __m256i bits = eight(x + i), value = value_of(records, at + i, _mm256_and_si256(bits, magnitude));
    __m256i minus = _mm256_andnot_si256(magnitude, bits);
    if (!keeps) minus = _mm256_andnot_si256(_mm256_cmpeq_epi32(value, _mm256_setzero_si256()), minus);
    _mm256_storeu_si256((__m256i *)(void *)(z + i), _mm256_or_si256(value, minus));
  }
}

static uint64_t lanes_of(__m256i counts) {
  uint32_t c[8];
  uint64_t sum = 0;
  _mm256_storeu_si256((__m256i *)(void *)c, counts);
  for (int i = 0; i < 8; i++) sum += 0 - c[i];
  return sum;
}

static void pass_lanes(const record_list *records, size_t n, uint32_t *z, const uint32_t *x, hu_s2_passed *counts) {
  const __m256i nothing = _mm256_setzero_si256();
  passing passed = {nothing, nothing, nothing, nothing};
  uint32_t at[PLACES];
  size_t i = 0, stretch;
  for (; n - i >= 8; i += stretch) {
    stretch = n - i >= PLACES ? PLACES : (n - i) / 8 * 8;
    find_places(records, stretch, at, x + i, &passed);
    if (records->keeps_zeros_sign) {
      put_values(records, stretch, at, z + i, x + i, 1);
    } else {
      put_values(records, stretch, at, z + i, x + i, 0);
    }
  }
  counts->none += lanes_of(passed.none);
  counts->low += lanes_of(passed.low);
  counts->tiny += lanes_of(passed.tiny);
  counts->tops += lanes_of(passed.tops);
  pass_each(records, n - i, z + i, x + i, counts);
}

#endif
