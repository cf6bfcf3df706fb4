/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/sum_avx2.h - sums of logarithms on AVX2, eight elements at a time in two times four binary64 lanes.
 * emu/s2fp8/loops.c includes it for that level.
 *
 * The logarithm and its bound are those of emu/s2fp8/lanes_common.h: log2 m is whole + s, and the nearest integer of s
 * is taken only where s is within S2_SURE of it. What a significand's first four digits select stands in one row of a
 * table, and each element loads its row, because AVX2 selects among sixteen binary64 numbers no faster. The integers
 * `whole` are added one by one beside the lanes. The lanes compute the logarithm of every element's digits behind a
 * leading 1. For a zero that is the logarithm of 1, which comes out as 0: its whole and its s cancel. Subnormal
 * numbers, infinities and NaN are seldom, and what was added for them is taken back. */
#ifndef HALFULP_EMU_S2FP8_SUM_AVX2_H
#define HALFULP_EMU_S2FP8_SUM_AVX2_H

#include <immintrin.h>

#include "emu/s2fp8/lanes_common.h"

enum { LOG_ROWS = 16, LOG_ROW_SHIFT = 19 - 5, LOG_ROW_MASK = (LOG_ROWS - 1) << 5 };

typedef struct log_row { /* of 2^5 bytes */
  double factor, part;
  int64_t whole, unused;
} log_row;

/* Sums so far. `units` has the magic number's digits added `lanes` times; `wholes` covers every logarithm. */
typedef struct adding {
  __m256i units, exponents, count, top;
  uint64_t wholes, lanes;
} adding;

static void fill_rows(log_row row[LOG_ROWS]) {
  static const double factors[LOG_ROWS] = {HU_S2_FACTORS}, wholes[LOG_ROWS] = {HU_S2_WHOLES};
  static const double parts[LOG_ROWS] = {HU_S2_PARTS};
  for (int i = 0; i < LOG_ROWS; i++) {
    row[i].factor = factors[i];
    row[i].part = parts[i];
    row[i].whole = (int64_t)wholes[i];
    row[i].unused = 0;
  }
}

/* Loads two numbers of each of two rows. */
HU_FN __m256d two_rows(const log_row *x, const log_row *y) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(&x->factor)), _mm_loadu_pd(&y->factor), 1);
}

/* Adds up the logarithms of four elements' significands m. The lanes that may be wrong are returned. */
HU_FN uint32_t add_logs(adding *sums, const log_row *rows, const uint32_t *x, __m128 m) {
  const __m256d one = _mm256_set1_pd(1), magic = _mm256_set1_pd(S2_MAGIC), sure = _mm256_set1_pd(S2_SURE);
  const log_row *row[4];
  for (int i = 0; i < 4; i++) {
    row[i] = (const log_row *)(const void *)((const uint8_t *)rows + (x[i] >> LOG_ROW_SHIFT & LOG_ROW_MASK));
  }
  for (int i = 0; i < 4; i++) sums->wholes += (uint64_t)row[i]->whole;
  const __m256d even = two_rows(row[0], row[2]), odd = two_rows(row[1], row[3]);
  const __m256d factor = _mm256_unpacklo_pd(even, odd), part = _mm256_unpackhi_pd(even, odd);
  const __m256d r = _mm256_fmsub_pd(_mm256_cvtps_pd(m), factor, one);
#define FIRST(c) __m256d p = _mm256_set1_pd(c);
#define STEP(c) p = _mm256_fmadd_pd(p, r, _mm256_set1_pd(c));
  HU_S2_POLYNOMIAL(FIRST, STEP)
#undef FIRST
#undef STEP
  const __m256d s = _mm256_fmadd_pd(r, p, part);
  const __m256d rounded = _mm256_add_pd(s, magic), off = _mm256_sub_pd(s, _mm256_sub_pd(rounded, magic));
  const __m256d unknown = _mm256_cmp_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), off), sure, _CMP_NLE_UQ);
  sums->units = _mm256_add_epi64(sums->units, _mm256_castpd_si256(_mm256_andnot_pd(unknown, rounded)));
  return (uint32_t)_mm256_movemask_pd(unknown);
}

/* Mends what the lanes did for eight elements. Where a logarithm is unknown, only its `whole` was added. What is
 * neither normal nor zero had the logarithm of its digits added, which is taken back. */
static HU_NOINLINE void add_left(const log_row *rows, uint32_t unknown, uint32_t others, const uint32_t *x,
                                 hu_s2_part *z) {
  for (; unknown; unknown &= unknown - 1) {
    const uint32_t m = x[__builtin_ctz(unknown)] & 0x7FFFFF;
    z->sum += hui_s2_log2(m | 0x3F800000) - rows[m >> 19].whole;
  }
  for (; others; others &= others - 1) {
    const uint32_t bits = x[__builtin_ctz(others)];
    z->sum -= hui_s2_log2((bits & 0x7FFFFF) | 0x3F800000);
    sum_one(bits, z);
  }
}

/* Adds eight elements. */
HU_FN void add_elements(adding *sums, const log_row *rows, const uint32_t *x, hu_s2_part *z) {
  const __m256i low = _mm256_set1_epi32(0x7FFFFF), beyond = _mm256_set1_epi32(0x7F800000);
  const __m256i a =
      _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)x), _mm256_set1_epi32(0x7FFFFFFF));
  const __m256i normal = _mm256_and_si256(_mm256_cmpgt_epi32(a, low), _mm256_cmpgt_epi32(beyond, a));
  const __m256i b = _mm256_and_si256(a, normal);
  const __m256 m = _mm256_castsi256_ps(_mm256_or_si256(_mm256_and_si256(a, low), _mm256_set1_epi32(0x3F800000)));
  uint32_t unknown = add_logs(sums, rows, x, _mm256_castps256_ps128(m));
  unknown |= add_logs(sums, rows, x + 4, _mm256_extractf128_ps(m, 1)) << 4;
  sums->exponents = _mm256_add_epi32(sums->exponents, _mm256_srli_epi32(b, 23));
  sums->count = _mm256_sub_epi32(sums->count, normal);
  sums->top = _mm256_max_epi32(sums->top, b);
  sums->lanes += 8;
  const __m256i fine = _mm256_cmpeq_epi32(a, b); /* normal or zero */
  const uint32_t others = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(fine)) ^ 0xFF;
  if (HU_LIKELY(!(unknown | others))) return;
  sums->lanes -= (uint64_t)__builtin_popcount(unknown);
  add_left(rows, unknown, others, x, z);
}

static void end_adding(const adding *sums, hu_s2_part *z) {
  uint64_t units[4], sum = sums->wholes - sums->lanes * S2_MAGIC_BITS;
  uint32_t exponents[8], count[8], top[8];
  int64_t whole = 0;
  _mm256_storeu_si256((__m256i *)(void *)units, sums->units);
  _mm256_storeu_si256((__m256i *)(void *)exponents, sums->exponents);
  _mm256_storeu_si256((__m256i *)(void *)count, sums->count);
  _mm256_storeu_si256((__m256i *)(void *)top, sums->top);
  for (int i = 0; i < 4; i++) sum += units[i];
  for (int i = 0; i < 8; i++) {
    whole += (int64_t)exponents[i] - 127 * (int64_t)count[i];
    z->count += count[i];
    if (top[i] > z->top) z->top = top[i];
  }
  z->sum += (int64_t)sum + whole * ((int64_t)1 << HU_S2_DIGITS);
}

static void sum(size_t n, const uint32_t *x, hu_s2_part *z) {
  const __m256i none = _mm256_setzero_si256();
  adding sums = {none, none, none, none, 0, 0};
  log_row rows[LOG_ROWS];
  fill_rows(rows);
  memset(z, 0, sizeof *z);
  for (; n >= 8; n -= 8, x += 8) add_elements(&sums, rows, x, z);
  for (; n; n--, x++) sum_one(*x, z);
  end_adding(&sums, z);
}

#endif
