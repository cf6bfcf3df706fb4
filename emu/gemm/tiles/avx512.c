/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/avx512.c - inner loops in AVX-512: tiles of 8 rows by three vectors, 24 accumulators in
 * registers. */
#include "emu/gemm/tiles/kernels.h"
#include "emu/gemm/tiles/transpose_x86.h"
#include "emu/gemm/tiles/wide_bins.h"

#if HU_X86_LEVELS
#include <immintrin.h>

/* Addresses near p are to be formed from p, not kept in a register each. */
#define HU_ONE_REGISTER(p) __asm__("" : "+r"(p))

static inline __attribute__((always_inline)) void step32(__m512 z[8][3], const int nv, const float *a, const float *b) {
  __m512 y[3];
#pragma GCC unroll 3
  for (int j = 0; j < nv; j++) y[j] = _mm512_loadu_ps(b + 16 * j);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    __m512 x = _mm512_set1_ps(a[i]);
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) z[i][j] = _mm512_fmadd_ps(x, y[j], z[i][j]);
  }
}

/* Eight rows by nv vectors. The next tile's part of A and its accumulators are asked for while this one is worked on,
 * and lines from further ahead. */
static inline __attribute__((always_inline)) void tile32(size_t kc, const int nv, const float *a, const float *b,
                                                         float *acc, int fresh, hu_ahead *ahead) {
  __m512 z[8][3];
  const float *below = acc + 8 * HU_GEMM32_NR, *next = a + HU_GEMM_MR * HU_GEMM32_KC;
  const char *far = ahead->at;
  size_t left = ahead->left, far_step = ahead->step;
  HU_ONE_REGISTER(acc);
  HU_ONE_REGISTER(below);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = fresh ? _mm512_setzero_ps() : _mm512_loadu_ps(acc + i * HU_GEMM32_NR + 16 * j);
      _mm_prefetch((const char *)(below + i * HU_GEMM32_NR + 16 * j), _MM_HINT_T0);
    }
  }
  for (; kc >= 4; kc -= 4) {
    _mm_prefetch(far, _MM_HINT_T1);
    far += far_step;
    if (HU_UNLIKELY(--left == 0)) {
      hui_ahead_next_row(ahead);
      far = ahead->at;
      far_step = ahead->step;
      left = ahead->left;
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; k++) {
      if (k * HU_GEMM_MR % 16 == 0) _mm_prefetch((const char *)(next + k * HU_GEMM_MR), _MM_HINT_T0);
      step32(z, nv, a + k * HU_GEMM_MR, b + k * HU_GEMM32_NR);
    }
    next += 4 * HU_GEMM_MR;
    a += 4 * HU_GEMM_MR;
    b += 4 * HU_GEMM32_NR;
  }
  ahead->at = far;
  ahead->left = left;
  for (; kc; kc--) {
    step32(z, nv, a, b);
    a += HU_GEMM_MR;
    b += HU_GEMM32_NR;
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) _mm512_storeu_ps(acc + i * HU_GEMM32_NR + 16 * j, z[i][j]);
  }
}

static void fma32(size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    const float *y = b + j * HU_GEMM32_KC;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const float *x = a + i * HU_GEMM32_KC;
      float *z = acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR;
      if (cols - j > 32) {
        tile32(kc, 3, x, y, z, fresh, ahead);
      } else if (cols - j > 16) {
        tile32(kc, 2, x, y, z, fresh, ahead);
      } else {
        tile32(kc, 1, x, y, z, fresh, ahead);
      }
    }
  }
}

static inline __attribute__((always_inline)) void step64(__m512d z[8][3], const int nv, const double *a,
                                                         const double *b) {
  __m512d y[3];
#pragma GCC unroll 3
  for (int j = 0; j < nv; j++) y[j] = _mm512_loadu_pd(b + 8 * j);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
    __m512d x = _mm512_set1_pd(a[i]);
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) z[i][j] = _mm512_fmadd_pd(x, y[j], z[i][j]);
  }
}

/* Eight rows by nv vectors. The next tile's part of A and its accumulators are asked for while this one is worked on,
 * and lines from further ahead. */
static inline __attribute__((always_inline)) void tile64(size_t kc, const int nv, const double *a, const double *b,
                                                         double *acc, int fresh, hu_ahead *ahead) {
  __m512d z[8][3];
  const double *below = acc + 8 * HU_GEMM64_NR, *next = a + HU_GEMM_MR * HU_GEMM64_KC;
  const char *far = ahead->at;
  size_t left = ahead->left, far_step = ahead->step;
  HU_ONE_REGISTER(acc);
  HU_ONE_REGISTER(below);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) {
      z[i][j] = fresh ? _mm512_setzero_pd() : _mm512_loadu_pd(acc + i * HU_GEMM64_NR + 8 * j);
      _mm_prefetch((const char *)(below + i * HU_GEMM64_NR + 8 * j), _MM_HINT_T0);
    }
  }
  for (; kc >= 4; kc -= 4) {
    _mm_prefetch(far, _MM_HINT_T1);
    far += far_step;
    if (HU_UNLIKELY(--left == 0)) {
      hui_ahead_next_row(ahead);
      far = ahead->at;
      far_step = ahead->step;
      left = ahead->left;
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; k++) {
      if (k * HU_GEMM_MR % 8 == 0) _mm_prefetch((const char *)(next + k * HU_GEMM_MR), _MM_HINT_T0);
      step64(z, nv, a + k * HU_GEMM_MR, b + k * HU_GEMM64_NR);
    }
    next += 4 * HU_GEMM_MR;
    a += 4 * HU_GEMM_MR;
    b += 4 * HU_GEMM64_NR;
  }
  ahead->at = far;
  ahead->left = left;
  for (; kc; kc--) {
    step64(z, nv, a, b);
    a += HU_GEMM_MR;
    b += HU_GEMM64_NR;
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) {
#pragma GCC unroll 3
    for (int j = 0; j < nv; j++) _mm512_storeu_pd(acc + i * HU_GEMM64_NR + 8 * j, z[i][j]);
  }
}

static void sum64(size_t rows, size_t cols, size_t kc, const double *a, const double *b, double *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += HU_GEMM64_NR) {
    const double *y = b + j * HU_GEMM64_KC;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      const double *x = a + i * HU_GEMM64_KC;
      double *z = acc + j * HU_GEMM64_MB + i * HU_GEMM64_NR;
      if (cols - j > 16) {
        tile64(kc, 3, x, y, z, fresh, ahead);
      } else if (cols - j > 8) {
        tile64(kc, 2, x, y, z, fresh, ahead);
      } else {
        tile64(kc, 1, x, y, z, fresh, ahead);
      }
    }
  }
}

static inline void copy(size_t n, float *z, const float *x) {
  size_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(z + i, _mm512_loadu_ps(x + i));
  __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);
  _mm512_mask_storeu_ps(z + i, rest, _mm512_maskz_loadu_ps(rest, x + i));
}

static inline void widen(size_t n, double *z, const float *x) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) _mm512_storeu_pd(z + i, _mm512_cvtps_pd(_mm256_loadu_ps(x + i)));
  __mmask8 rest = (__mmask8)((1u << (n - i)) - 1);
  _mm512_mask_storeu_pd(z + i, rest, _mm512_cvtps_pd(_mm256_maskz_loadu_ps(rest, x + i)));
}

static void spread32(size_t panels, float *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++, z += HU_GEMM32_NR * HU_GEMM32_KC, x += HU_GEMM32_NR) {
    _mm512_storeu_ps(z, _mm512_loadu_ps(x));
    _mm512_storeu_ps(z + 16, _mm512_loadu_ps(x + 16));
    _mm512_storeu_ps(z + 32, _mm512_loadu_ps(x + 32));
  }
}

static void spread64(size_t panels, double *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++, z += HU_GEMM64_NR * HU_GEMM64_KC, x += HU_GEMM64_NR) {
    _mm512_storeu_pd(z, _mm512_cvtps_pd(_mm256_loadu_ps(x)));
    _mm512_storeu_pd(z + 8, _mm512_cvtps_pd(_mm256_loadu_ps(x + 8)));
    _mm512_storeu_pd(z + 16, _mm512_cvtps_pd(_mm256_loadu_ps(x + 16)));
  }
}

static size_t narrow(size_t n, float *z, const double *x) {
  const __m512d lo = _mm512_set1_pd(0x1p-125), hi = _mm512_set1_pd(0x1p127), zero = _mm512_setzero_pd();
  size_t changed = 0;
  __mmask8 edge = 0;
  for (size_t i = 0; i < n; i += 8) {
    __mmask8 there = n - i < 8 ? (__mmask8)((1u << (n - i)) - 1) : 0xFF;
    __m512d value = _mm512_maskz_loadu_pd(there, x + i), size = _mm512_abs_pd(value);
    __m256 single = _mm512_cvtpd_ps(value);
    __mmask8 small = _mm512_cmp_pd_mask(size, lo, _CMP_LT_OQ) & _mm512_cmp_pd_mask(value, zero, _CMP_NEQ_UQ);
    edge = (__mmask8)(edge | small | _mm512_cmp_pd_mask(size, hi, _CMP_NLE_UQ));
    changed += (size_t)__builtin_popcount(_mm512_cmp_pd_mask(_mm512_cvtps_pd(single), value, _CMP_NEQ_UQ));
    _mm256_mask_storeu_ps(z + i, there, single);
  }
  return edge ? SIZE_MAX : changed;
}

/* Shifts by 64 and more, or by negative counts, give 0: one of the two shifts has the digit, the other none of it
 * unless both are by 0. */
static void cut(const hu_wide_cut *rule, size_t kc, const double *x, double *digits) {
  const __m512i fraction = _mm512_set1_epi64(0xFFFFFFFFFFFFF), hidden = _mm512_set1_epi64(0x10000000000000);
  const __m512i mask = _mm512_set1_epi64(((int64_t)1 << rule->width) - 1), zero = _mm512_setzero_si512();
  for (size_t j = 0; j < kc * (HU_WIDE_COLS / 8); j++) {
    __m512i bits = _mm512_loadu_si512(x + 8 * j),
            field = _mm512_and_si512(_mm512_srli_epi64(bits, 52), _mm512_set1_epi64(0x7FF));
    __m512i sig = _mm512_and_si512(bits, fraction), up;
    __mmask8 normal = _mm512_cmpneq_epi64_mask(field, zero);
    sig = _mm512_mask_or_epi64(sig, normal, sig, hidden);
    sig = _mm512_mask_mov_epi64(sig, _mm512_cmpeq_epi64_mask(field, _mm512_set1_epi64(0x7FF)), zero);
    up = _mm512_sub_epi64(_mm512_max_epi64(field, _mm512_set1_epi64(1)),
                          _mm512_set1_epi64(1075 + rule->low + rule->first * rule->width));
    bits = _mm512_andnot_si512(_mm512_set1_epi64(INT64_MAX), bits);
    double *z = digits + (j / 2 * (size_t)rule->count) * HU_WIDE_COLS + j % 2 * 8;
    for (int32_t k = 0; k < rule->count; k++) {
      __m512i digit = _mm512_or_si512(_mm512_sllv_epi64(sig, up), _mm512_srlv_epi64(sig, _mm512_sub_epi64(zero, up)));
      __m512d number = _mm512_cvtepi64_pd(_mm512_and_si512(digit, mask));
      _mm512_storeu_pd(z + k * HU_WIDE_COLS, _mm512_castsi512_pd(_mm512_or_si512(_mm512_castpd_si512(number), bits)));
      up = _mm512_sub_epi64(up, _mm512_set1_epi64(rule->width));
    }
  }
}

static inline void add_to(int64_t *bins, __m512d x) {
  _mm512_storeu_si512(bins, _mm512_add_epi64(_mm512_loadu_si512(bins), _mm512_cvtpd_epi64(x)));
}

static inline __attribute__((always_inline)) void wide_band(const hu_wide_row *row, const int count, const int cut,
                                                            const double *digits, int64_t *bins) {
  for (size_t group = 0; group < row->groups; group++) {
    __m512d lo[HU_WIDE_BAND][2], hi[HU_WIDE_BAND][2];
#pragma GCC unroll 6
    for (int j = 0; j < count; j++) lo[j][0] = lo[j][1] = hi[j][0] = hi[j][1] = _mm512_setzero_pd();
    for (size_t i = row->first[group]; i < row->first[group + 1]; i++) {
      const double *at = digits + row->k[i] * (size_t)(count * HU_WIDE_COLS);
      __m512d x = _mm512_set1_pd(row->lo[i]), y = cut ? _mm512_set1_pd(row->hi[i]) : x;
#pragma GCC unroll 6
      for (int j = 0; j < count; j++) {
        __m512d d0 = _mm512_loadu_pd(at + j * HU_WIDE_COLS), d1 = _mm512_loadu_pd(at + j * HU_WIDE_COLS + 8);
        lo[j][0] = _mm512_fmadd_pd(x, d0, lo[j][0]);
        lo[j][1] = _mm512_fmadd_pd(x, d1, lo[j][1]);
        if (cut) {
          hi[j][0] = _mm512_fmadd_pd(y, d0, hi[j][0]);
          hi[j][1] = _mm512_fmadd_pd(y, d1, hi[j][1]);
        }
      }
    }
    int64_t *z = bins + row->bin[group] * HU_WIDE_COLS;
#pragma GCC unroll 6
    for (int j = 0; j < count; j++) {
      add_to(z + j * HU_WIDE_COLS, lo[j][0]);
      add_to(z + j * HU_WIDE_COLS + 8, lo[j][1]);
      if (cut) {
        add_to(z + (j + 1) * HU_WIDE_COLS, hi[j][0]);
        add_to(z + (j + 1) * HU_WIDE_COLS + 8, hi[j][1]);
      }
    }
  }
}

static inline __attribute__((always_inline)) void wide_any(const hu_wide_row *row, size_t count, const int cut,
                                                           const double *digits, int64_t *bins) {
  switch (count) {
    case 1: wide_band(row, 1, cut, digits, bins); break;
    case 2: wide_band(row, 2, cut, digits, bins); break;
    case 3: wide_band(row, 3, cut, digits, bins); break;
    case 4: wide_band(row, 4, cut, digits, bins); break;
    case 5: wide_band(row, 5, cut, digits, bins); break;
    default: wide_band(row, 6, cut, digits, bins); break;
  }
}

static void wide(const hu_wide_row *row, size_t count, const double *digits, int64_t *bins) {
  if (row->cut) {
    wide_any(row, count, 1, digits, bins);
  } else {
    wide_any(row, count, 0, digits, bins);
  }
}

/* Eight at a time; where one has fewer digits than its exponent says, one at a time. */
static void to_bins(const hu_bin_rule *rule, size_t n, const double *x, int spread, int64_t *y, uint16_t *at) {
  const __m512i fraction = _mm512_set1_epi64(0xFFFFFFFFFFFFF), hidden = _mm512_set1_epi64(0x10000000000000);
  const __m512i within = _mm512_set1_epi64((1 << rule->shift) - 1), zero = _mm512_setzero_si512();
  const __m512i lowest = _mm512_set1_epi64(1023 + rule->m + rule->low), special = _mm512_set1_epi64(0x7FF);
  const __m128i drop = _mm_cvtsi32_si128(52 - rule->m), shift = _mm_cvtsi32_si128(rule->shift);
  __m128i lane = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
  const __m128i eight = _mm_set1_epi16(8);
  for (size_t i = 0; i < n; i += 8, lane = _mm_xor_si128(lane, eight)) {
    __m512i bits = _mm512_loadu_si512(x + i), field = _mm512_and_si512(_mm512_srli_epi64(bits, 52), special);
    __m512i to = _mm512_sub_epi64(field, lowest), sig = _mm512_or_si512(_mm512_and_si512(bits, fraction), hidden);
    __mmask8 there = _mm512_test_epi64_mask(_mm512_slli_epi64(bits, 1), _mm512_set1_epi64(-1));
    there &= _mm512_cmpneq_epi64_mask(field, special);
    __mmask8 odd = _mm512_cmplt_epi64_mask(to, zero) | _mm512_cmpeq_epi64_mask(field, zero);
    to = _mm512_maskz_mov_epi64(there, to);
    sig = _mm512_maskz_srl_epi64(there, sig, drop);
    sig = _mm512_sllv_epi64(sig, _mm512_and_si512(to, within));
    __m512i minus = _mm512_srai_epi64(bits, 63);
    _mm512_storeu_si512(y + i, _mm512_sub_epi64(_mm512_xor_si512(sig, minus), minus));
    __m128i bin = _mm512_cvtepi64_epi16(_mm512_slli_epi64(_mm512_srl_epi64(to, shift), 4));
    _mm_storeu_si128((__m128i *)(void *)(at + i), spread ? _mm_add_epi16(bin, lane) : bin);
    if (HU_UNLIKELY(odd & there)) {
      for (size_t k = i; k < i + 8; k++) {
        hui_bin_one(rule, x[k], &y[k], &at[k]);
        if (spread) at[k] = (uint16_t)(at[k] + k % HU_WIDE_COLS);
      }
    }
  }
}

/* As in wide_carries.h, with the carries in registers. */
static void propagate_carries(int32_t width, size_t bins, int64_t *z) {
  const __m512i mask = _mm512_set1_epi64(((int64_t)1 << width) - 1);
  const __m128i down = _mm_cvtsi32_si128(width);
  __m512i c0 = _mm512_setzero_si512(), c1 = c0;
  for (size_t i = 0; i + 1 < bins; i++, z += HU_WIDE_COLS) {
    c0 = _mm512_add_epi64(c0, _mm512_loadu_si512(z));
    c1 = _mm512_add_epi64(c1, _mm512_loadu_si512(z + 8));
    _mm512_storeu_si512(z, _mm512_and_si512(c0, mask));
    _mm512_storeu_si512(z + 8, _mm512_and_si512(c1, mask));
    c0 = _mm512_sra_epi64(c0, down);
    c1 = _mm512_sra_epi64(c1, down);
  }
  _mm512_storeu_si512(z, _mm512_add_epi64(c0, _mm512_loadu_si512(z)));
  _mm512_storeu_si512(z + 8, _mm512_add_epi64(c1, _mm512_loadu_si512(z + 8)));
}

static void join(int32_t width, size_t bins, int64_t *z) {
  const __m512i mask = _mm512_set1_epi64(((int64_t)1 << width) - 1);
  const __m128i down = _mm_cvtsi32_si128(width);
  __m512i c0 = _mm512_setzero_si512(), c1 = c0;
  const int64_t *from = z;
  for (size_t i = 0; i < bins; i += 64 / (size_t)width, z += HU_WIDE_COLS) {
    __m512i z0 = _mm512_setzero_si512(), z1 = z0;
    for (int32_t at = 0; at < 64; at += width, from += HU_WIDE_COLS) {
      c0 = _mm512_add_epi64(c0, _mm512_loadu_si512(from));
      c1 = _mm512_add_epi64(c1, _mm512_loadu_si512(from + 8));
      z0 = _mm512_or_si512(z0, _mm512_sll_epi64(_mm512_and_si512(c0, mask), _mm_cvtsi32_si128(at)));
      z1 = _mm512_or_si512(z1, _mm512_sll_epi64(_mm512_and_si512(c1, mask), _mm_cvtsi32_si128(at)));
      c0 = _mm512_sra_epi64(c0, down);
      c1 = _mm512_sra_epi64(c1, down);
    }
    _mm512_storeu_si512(z, z0);
    _mm512_storeu_si512(z + 8, z1);
  }
}

const hu_gemm_kernels hu_gemm_avx512 = {fma32,    sum64,  copy, widen, hui_transpose32, hui_transpose64,   spread32,
                                        spread64, narrow, cut,  wide,  to_bins,         propagate_carries, join};
#endif
