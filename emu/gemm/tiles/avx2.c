/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/avx2.c - inner loops in AVX2 and FMA: tiles of 4 rows by three vectors, 12 accumulators in
 * registers. */
#include "emu/gemm/tiles/kernels.h"
#include "emu/gemm/tiles/transpose_x86.h"
#include "emu/gemm/tiles/wide_carries.h"
#include "emu/gemm/tiles/wide_bins.h"

#if HU_X86_LEVELS
#include <immintrin.h>

static inline __attribute__((always_inline)) void tile32(size_t kc, const float *a, const float *b, float *acc,
                                                         int fresh) {
  __m256 z[4][3];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
      z[i][j] = fresh ? _mm256_setzero_ps() : _mm256_loadu_ps(acc + i * HU_GEMM32_NR + 8 * j);
    }
  }
  for (size_t k = 0; k < kc; k++) {
    __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8), b2 = _mm256_loadu_ps(b + 16);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      __m256 x = _mm256_set1_ps(a[i]);
      z[i][0] = _mm256_fmadd_ps(x, b0, z[i][0]);
      z[i][1] = _mm256_fmadd_ps(x, b1, z[i][1]);
      z[i][2] = _mm256_fmadd_ps(x, b2, z[i][2]);
    }
    a += HU_GEMM_MR;
    b += HU_GEMM32_NR;
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) _mm256_storeu_ps(acc + i * HU_GEMM32_NR + 8 * j, z[i][j]);
  }
}

static void fma32(size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += 24) {
    size_t panel = j / HU_GEMM32_NR * HU_GEMM32_NR, in = j % HU_GEMM32_NR;
    const float *y = b + panel * HU_GEMM32_KC + in;
    float *z = acc + panel * HU_GEMM32_MB + in;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const float *x = a + i * HU_GEMM32_KC;
      for (int k = 0; k < 8; k++) hui_fetch_line(ahead);
      tile32(kc, x, y, z + i * HU_GEMM32_NR, fresh);
      tile32(kc, x + 4, y, z + (i + 4) * HU_GEMM32_NR, fresh);
    }
  }
}

static inline __attribute__((always_inline)) void tile64(size_t kc, const double *a, const double *b, double *acc,
                                                         int fresh) {
  __m256d z[4][3];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) {
      z[i][j] = fresh ? _mm256_setzero_pd() : _mm256_loadu_pd(acc + i * HU_GEMM64_NR + 4 * j);
    }
  }
  for (size_t k = 0; k < kc; k++) {
    __m256d b0 = _mm256_loadu_pd(b), b1 = _mm256_loadu_pd(b + 4), b2 = _mm256_loadu_pd(b + 8);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      __m256d x = _mm256_set1_pd(a[i]);
      z[i][0] = _mm256_fmadd_pd(x, b0, z[i][0]);
      z[i][1] = _mm256_fmadd_pd(x, b1, z[i][1]);
      z[i][2] = _mm256_fmadd_pd(x, b2, z[i][2]);
    }
    a += HU_GEMM_MR;
    b += HU_GEMM64_NR;
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++) _mm256_storeu_pd(acc + i * HU_GEMM64_NR + 4 * j, z[i][j]);
  }
}

static void sum64(size_t rows, size_t cols, size_t kc, const double *a, const double *b, double *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += 12) {
    size_t panel = j / HU_GEMM64_NR * HU_GEMM64_NR, in = j % HU_GEMM64_NR;
    const double *y = b + panel * HU_GEMM64_KC + in;
    double *z = acc + panel * HU_GEMM64_MB + in;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const double *x = a + i * HU_GEMM64_KC;
      for (int k = 0; k < 8; k++) hui_fetch_line(ahead);
      tile64(kc, x, y, z + i * HU_GEMM64_NR, fresh);
      tile64(kc, x + 4, y, z + (i + 4) * HU_GEMM64_NR, fresh);
    }
  }
}

/* The mask of the first n lanes. Memory behind the last element must not be read. */
static inline __m256i first_lanes(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline void copy(size_t n, float *z, const float *x) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(z + i, _mm256_loadu_ps(x + i));
  if (i < n) _mm256_maskstore_ps(z + i, first_lanes(n - i), _mm256_maskload_ps(x + i, first_lanes(n - i)));
}

static inline void widen(size_t n, double *z, const float *x) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) _mm256_storeu_pd(z + i, _mm256_cvtps_pd(_mm_loadu_ps(x + i)));
  if (i >= n) return;
  __m128i lanes = _mm256_castsi256_si128(first_lanes(n - i));
  _mm256_maskstore_pd(z + i, _mm256_cvtepi32_epi64(lanes), _mm256_cvtps_pd(_mm_maskload_ps(x + i, lanes)));
}

static void spread32(size_t panels, float *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++)
    copy(HU_GEMM32_NR, z + panel * (HU_GEMM32_NR * HU_GEMM32_KC), x + panel * HU_GEMM32_NR);
}

static void spread64(size_t panels, double *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++)
    widen(HU_GEMM64_NR, z + panel * (HU_GEMM64_NR * HU_GEMM64_KC), x + panel * HU_GEMM64_NR);
}

static size_t narrow(size_t n, float *z, const double *x) {
  const __m256d lo = _mm256_set1_pd(0x1p-125), hi = _mm256_set1_pd(0x1p127), zero = _mm256_setzero_pd();
  size_t changed = 0;
  int edge = 0;
  for (size_t i = 0; i < n; i += 4) {
    double last[4] = {0, 0, 0, 0};
    float end[4];
    for (size_t j = i; n - i < 4 && j < n; j++) last[j - i] = x[j];
    __m256d value = _mm256_loadu_pd(n - i < 4 ? last : x + i), size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), value);
    __m128 single = _mm256_cvtpd_ps(value);
    __m256d small = _mm256_and_pd(_mm256_cmp_pd(size, lo, _CMP_LT_OQ), _mm256_cmp_pd(value, zero, _CMP_NEQ_UQ));
    edge |= _mm256_movemask_pd(_mm256_or_pd(small, _mm256_cmp_pd(size, hi, _CMP_NLE_UQ)));
    changed += (size_t)__builtin_popcount(
        (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_cvtps_pd(single), value, _CMP_NEQ_UQ)));
    _mm_storeu_ps(n - i < 4 ? end : z + i, single);
    for (size_t j = i; n - i < 4 && j < n; j++) z[j] = end[j - i];
  }
  return edge ? SIZE_MAX : changed;
}

/* Shifts by 64 and more, or by negative counts, give 0: one of the two shifts has the digit, the other none of it
 * unless both are by 0. Digits are below 2^52: 2^52 + d has d in its low bits. */
static void cut(const hu_wide_cut *rule, size_t kc, const double *x, double *digits) {
  const __m256i fraction = _mm256_set1_epi64x(0xFFFFFFFFFFFFF), hidden = _mm256_set1_epi64x(0x10000000000000);
  const __m256i mask = _mm256_set1_epi64x(((int64_t)1 << rule->width) - 1), zero = _mm256_setzero_si256();
  const __m256d big = _mm256_set1_pd(0x1p52);
  for (size_t j = 0; j < kc * (HU_WIDE_COLS / 4); j++) {
    __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)(x + 4 * j));
    __m256i field = _mm256_and_si256(_mm256_srli_epi64(bits, 52), _mm256_set1_epi64x(0x7FF));
    __m256i below = _mm256_cmpeq_epi64(field, zero), special = _mm256_cmpeq_epi64(field, _mm256_set1_epi64x(0x7FF));
    __m256i sig = _mm256_or_si256(_mm256_and_si256(bits, fraction), _mm256_andnot_si256(below, hidden));
    sig = _mm256_andnot_si256(special, sig);
    field = _mm256_sub_epi64(field, below); /* field 0 has the last place of field 1 */
    __m256i up = _mm256_sub_epi64(field, _mm256_set1_epi64x(1075 + rule->low + rule->first * rule->width));
    __m256d sign = _mm256_and_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(-0.0));
    double *z = digits + (j / 4 * (size_t)rule->count) * HU_WIDE_COLS + j % 4 * 4;
    for (int32_t k = 0; k < rule->count; k++) {
      __m256i digit = _mm256_or_si256(_mm256_sllv_epi64(sig, up), _mm256_srlv_epi64(sig, _mm256_sub_epi64(zero, up)));
      digit = _mm256_or_si256(_mm256_and_si256(digit, mask), _mm256_castpd_si256(big));
      _mm256_storeu_pd(z + k * HU_WIDE_COLS, _mm256_or_pd(_mm256_sub_pd(_mm256_castsi256_pd(digit), big), sign));
      up = _mm256_sub_epi64(up, _mm256_set1_epi64x(rule->width));
    }
  }
}

/* (int64_t)x for |x| <= 2^51: 1.5 2^52 + x has x in its low digits, two's complement. */
static inline void add_to(int64_t *bins, __m256d x) {
  const __m256d shift = _mm256_set1_pd(0x1.8p52);
  __m256i n = _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(x, shift)), _mm256_castpd_si256(shift));
  __m256i *z = (__m256i *)(void *)bins;
  _mm256_storeu_si256(z, _mm256_add_epi64(_mm256_loadu_si256(z), n));
}

/* Adds two digits, eight columns: eight sums of at most 32 terms. */
static inline __attribute__((always_inline)) void wide_pair(const hu_wide_row *row, size_t first, size_t past,
                                                            size_t step, const int count, const int cut,
                                                            const double *digits, int64_t *bins) {
  __m256d lo[2][2], hi[2][2];
#pragma GCC unroll 2
  for (int j = 0; j < count; j++) lo[j][0] = lo[j][1] = hi[j][0] = hi[j][1] = _mm256_setzero_pd();
  for (size_t i = first; i < past; i++) {
    const double *at = digits + row->k[i] * step;
    __m256d x = _mm256_broadcast_sd(row->lo + i), y = cut ? _mm256_broadcast_sd(row->hi + i) : x;
#pragma GCC unroll 2
    for (int j = 0; j < count; j++) {
      __m256d d0 = _mm256_loadu_pd(at + j * HU_WIDE_COLS), d1 = _mm256_loadu_pd(at + j * HU_WIDE_COLS + 4);
      lo[j][0] = _mm256_fmadd_pd(x, d0, lo[j][0]);
      lo[j][1] = _mm256_fmadd_pd(x, d1, lo[j][1]);
      if (cut) {
        hi[j][0] = _mm256_fmadd_pd(y, d0, hi[j][0]);
        hi[j][1] = _mm256_fmadd_pd(y, d1, hi[j][1]);
      }
    }
  }
#pragma GCC unroll 2
  for (int j = 0; j < count; j++) {
    add_to(bins + j * HU_WIDE_COLS, lo[j][0]);
    add_to(bins + j * HU_WIDE_COLS + 4, lo[j][1]);
    if (cut) {
      add_to(bins + (j + 1) * HU_WIDE_COLS, hi[j][0]);
      add_to(bins + (j + 1) * HU_WIDE_COLS + 4, hi[j][1]);
    }
  }
}

#include "emu/gemm/tiles/wide_group.h"

static void wide(const hu_wide_row *row, size_t count, const double *digits, int64_t *bins) {
  for (size_t group = 0; group < row->groups; group++) {
    size_t past = row->first[group + 1];
    for (size_t i = row->first[group]; i < past; i += 32) {
      wide_group(row, i, i + 32 < past ? i + 32 : past, count, digits, bins + row->bin[group] * HU_WIDE_COLS);
    }
  }
}

static void to_bins(const hu_bin_rule *rule, size_t n, const double *x, int spread, int64_t *y, uint16_t *at) {
  hui_bin_all(rule, n, x, spread, y, at);
}

static void propagate_carries(int32_t width, size_t bins, int64_t *z) { hui_propagate_carries(width, bins, z); }

static void join(int32_t width, size_t bins, int64_t *z) { hui_join(width, bins, z); }

const hu_gemm_kernels hu_gemm_avx2 = {fma32,    sum64,  copy, widen, hui_transpose32, hui_transpose64,   spread32,
                                      spread64, narrow, cut,  wide,  to_bins,         propagate_carries, join};
#endif
