/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/portable.c - inner loops in plain C, for any processor; written so that compilers can use what
 * vectors there are. */
#include "emu/core/bits.h"
#include "emu/gemm/tiles/kernels.h"
#include "emu/gemm/tiles/wide_carries.h"
#include "emu/gemm/tiles/wide_bins.h"

/* fma(a, b, c) in binary32 from binary64 operations, without a fused instruction.
 *
 * p = a b is exact: 48 digits, exponents within +-300. s + e = p + c exactly (Knuth's two-sum; nothing overflows). If e
 * is not 0, p + c lies strictly between s and its neighbour on e's side; of these two the one with an odd last digit is
 * p + c rounded to odd. Rounding that to binary32 gives what rounding p + c itself gives, as 53 >= 24 + 2 (Boldo and
 * Melquiond, "Emulation of FMA and correctly rounded sums", 2008), subnormal results included: they only keep fewer
 * digits. If e = 0, s is exact with the right sign of zero. Infinities and NaN make e NaN, and s stays. s is not 0
 * where e is not. */
static inline float fused(float a, float b, float c) {
  double p = (double)a * (double)b, t = (double)c, s = p + t, v = s - p;
  double e = (p - (s - v)) + (t - v);
  uint64_t bits = hui_bits_of_double(s);
  uint64_t inexact = (uint64_t)(e < 0) | (uint64_t)(e > 0), away = (uint64_t)((e > 0) == (s > 0));
  bits += inexact & ~bits & 1 ? 2 * away - 1 : 0;
  return (float)hui_double_of_bits(bits);
}

static void fma32(size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i++) {
      const float *column = a + i / HU_GEMM_MR * (HU_GEMM_MR * HU_GEMM32_KC) + i % HU_GEMM_MR;
      float *z = acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR;
      hui_fetch_line(ahead);
      if (fresh) memset(z, 0, HU_GEMM32_NR * sizeof *z);
      for (size_t k = 0; k < kc; k++) {
        const float *y = b + j * HU_GEMM32_KC + k * HU_GEMM32_NR, x = column[k * HU_GEMM_MR];
        for (size_t c = 0; c < HU_GEMM32_NR; c++) z[c] = fused(x, y[c], z[c]);
      }
    }
  }
}

static void sum64(size_t rows, size_t cols, size_t kc, const double *a, const double *b, double *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += HU_GEMM64_NR) {
    for (size_t i = 0; i < rows; i++) {
      const double *column = a + i / HU_GEMM_MR * (HU_GEMM_MR * HU_GEMM64_KC) + i % HU_GEMM_MR;
      double *z = acc + j * HU_GEMM64_MB + i * HU_GEMM64_NR;
      hui_fetch_line(ahead);
      if (fresh) memset(z, 0, HU_GEMM64_NR * sizeof *z);
      for (size_t k = 0; k < kc; k++) {
        const double *y = b + j * HU_GEMM64_KC + k * HU_GEMM64_NR, x = column[k * HU_GEMM_MR];
        for (size_t c = 0; c < HU_GEMM64_NR; c++) z[c] += x * y[c];
      }
    }
  }
}

static void copy(size_t n, float *z, const float *x) { memcpy(z, x, n * sizeof *z); }

static void widen(size_t n, double *z, const float *x) {
  for (size_t i = 0; i < n; i++) z[i] = (double)x[i];
}

static void transpose32(size_t n, float *z, size_t ldz, const float *x, size_t ldx) {
  for (size_t c = 0; c < n; c++) {
    for (size_t i = 0; i < HU_GEMM_MR; i++) z[c * ldz + i] = x[i * ldx + c];
  }
}

static void transpose64(size_t n, double *z, size_t ldz, const float *x, size_t ldx) {
  for (size_t c = 0; c < n; c++) {
    for (size_t i = 0; i < HU_GEMM_MR; i++) z[c * ldz + i] = (double)x[i * ldx + c];
  }
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
  size_t changed = 0;
  int edge = 0;
  for (size_t i = 0; i < n; i++) {
    double size = x[i] < 0 ? -x[i] : x[i];
    z[i] = (float)x[i];
    edge |= !((size >= 0x1p-125 && size <= 0x1p127) || size == 0);
    changed += (double)z[i] != x[i];
  }
  return edge ? SIZE_MAX : changed;
}

static double digit(const hu_wide_cut *rule, double x, int32_t k) {
  uint64_t bits = hui_bits_of_double(x), sig = bits & 0xFFFFFFFFFFFFFu;
  int32_t field = (int32_t)(bits >> 52) & 0x7FF, up = (field ? field - 1075 : -1074) - rule->low - k * rule->width;
  if (field == 0x7FF || up >= 64 || up <= -64) return 0;
  if (field) sig |= 0x10000000000000u;
  double value = (double)(int64_t)((up >= 0 ? sig << up : sig >> -up) & (((uint64_t)1 << rule->width) - 1));
  return bits >> 63 ? -value : value;
}

static void cut(const hu_wide_cut *rule, size_t kc, const double *x, double *digits) {
  for (size_t k = 0; k < kc; k++) {
    for (int32_t j = rule->first; j < rule->first + rule->count; j++) {
      for (size_t c = 0; c < HU_WIDE_COLS; c++) *digits++ = digit(rule, x[k * HU_WIDE_COLS + c], j);
    }
  }
}

static void add_part(const hu_wide_row *row, const double *part, size_t group, size_t step, const double *digits,
                     int64_t *bins) {
  double sum[HU_WIDE_COLS] = {0};
  for (size_t i = row->first[group]; i < row->first[group + 1]; i++) {
    const double *at = digits + row->k[i] * step;
    for (size_t c = 0; c < HU_WIDE_COLS; c++) sum[c] += part[i] * at[c];
  }
  for (size_t c = 0; c < HU_WIDE_COLS; c++) bins[c] += (int64_t)sum[c];
}

static void wide(const hu_wide_row *row, size_t count, const double *digits, int64_t *bins) {
  size_t step = count * HU_WIDE_COLS;
  for (size_t group = 0; group < row->groups; group++) {
    int64_t *z = bins + row->bin[group] * HU_WIDE_COLS;
    for (size_t k = 0; k < step; k += HU_WIDE_COLS) {
      add_part(row, row->lo, group, step, digits + k, z + k);
      if (row->cut) add_part(row, row->hi, group, step, digits + k, z + k + HU_WIDE_COLS);
    }
  }
}

static void to_bins(const hu_bin_rule *rule, size_t n, const double *x, int spread, int64_t *y, uint16_t *at) {
  hui_bin_all(rule, n, x, spread, y, at);
}

static void propagate_carries(int32_t width, size_t bins, int64_t *z) { hui_propagate_carries(width, bins, z); }

static void join(int32_t width, size_t bins, int64_t *z) { hui_join(width, bins, z); }

const hu_gemm_kernels hu_gemm_portable = {fma32,    sum64,  copy, widen, transpose32, transpose64,       spread32,
                                          spread64, narrow, cut,  wide,  to_bins,     propagate_carries, join};
