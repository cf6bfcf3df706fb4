/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/kernels.h - the inner loops of hu_gemm. Each level has one table of them; the files of emu/gemm call
 * them through it and contain no instructions of a level.
 *
 * A block of D, at most MB x NB, has its accumulators on the stack for the whole of K; K comes in pieces of at most KC.
 * The layouts are the same for every level:
 *
 *   acc panels of NR columns, row-major inside: element (i, j) at (j / NR) MB NR + i NR + j % NR. A tile is contiguous;
 *        with rows a whole matrix apart, its lines would fall into the same cache sets.
 *   A    panels of MR rows, k-major inside: element (i, k) at (i / MR) KC MR + k MR + i % MR
 *   B    panels of NR columns, k-major inside: element (k, j) at (j / NR) KC NR + k NR + j % NR
 *
 * Rows are padded to a multiple of MR, columns to NR, with zeros: padding may be computed and is never read. K is never
 * padded. */
#ifndef HALFULP_EMU_GEMM_TILES_KERNELS_H
#define HALFULP_EMU_GEMM_TILES_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/core/port.h"
#include "emu/simd/of_level.h"

#define HU_GEMM_MR 8

#define HU_GEMM32_NR 48
#define HU_GEMM32_MB 256
#define HU_GEMM32_NB 288
#define HU_GEMM32_KC 80

#define HU_GEMM64_NR 24
#define HU_GEMM64_MB 176
#define HU_GEMM64_NB 192
#define HU_GEMM64_KC 64

/* The source rows of the next piece: kernels ask for them a cache line at a time, evenly spread over their work, so
 * that packing finds them in the cache. Two runs, of A and of B. */
typedef struct hu_ahead_run {
  const char *row;
  size_t pitch, rows, lines; /* bytes from row to row; rows left; cache lines of a row */
} hu_ahead_run;

/* `at`, `left`: the current line and the lines left in its row; kernels keep these in registers. */
typedef struct hu_ahead {
  const char *at;
  size_t left, step; /* step: 64, or 0 when nothing is left */
  const hu_ahead_run *run, *past;
  const char *row;
  size_t rows; /* of *run, after this one */
  hu_ahead_run runs[2];
} hu_ahead;

/* The next row; called where left is 0. Inline, as a call would cost the kernels their registers. */
static inline __attribute__((always_inline)) void hui_ahead_next_row(hu_ahead *ahead) {
  if (ahead->rows) {
    ahead->row += ahead->run->pitch;
    ahead->rows--;
  } else if (ahead->run + 1 < ahead->past) {
    ahead->run++;
    ahead->row = ahead->run->row;
    ahead->rows = ahead->run->rows - 1;
  } else {
    ahead->at = (const char *)ahead; /* in the cache: asking for unmapped memory is slow */
    ahead->left = SIZE_MAX;
    ahead->step = 0;
    return;
  }
  ahead->at = ahead->row;
  ahead->left = ahead->run->lines;
}

static inline __attribute__((always_inline)) void hui_fetch_line(hu_ahead *ahead) {
  __builtin_prefetch(ahead->at, 0, 2);
  ahead->at += ahead->step;
  if (HU_UNLIKELY(--ahead->left == 0)) hui_ahead_next_row(ahead);
}

/* Wide sums (exact_wide.c). Pieces of K, columns and digits of B at a time. */
#define HU_WIDE_KC 128
#define HU_WIDE_COLS 16
#define HU_WIDE_BAND 6

/* A row of A, its entries sorted: group g, entries first[g] ... first[g + 1] - 1, belongs to bin[g]. An entry stands
 * for hi 2^W + lo, or for lo alone (cut = 0), times row k of B. */
typedef struct hu_wide_row {
  double hi[HU_WIDE_KC], lo[HU_WIDE_KC];
  uint16_t k[HU_WIDE_KC], bin[HU_WIDE_KC], first[HU_WIDE_KC + 1];
  uint16_t groups;
  uint8_t cut, special;
} hu_wide_row;

/* How B is cut: digit t of |b| is (|b| 2^-low / 2^(width t)) mod 2^width, with the sign of b. */
typedef struct hu_wide_cut {
  int32_t low, width, first, count; /* digits first ... first + count - 1, count <= HU_WIDE_BAND */
} hu_wide_cut;

/* How elements become integers (wide_bins.h): of m + 1 digits, none below 2^lowest, in bins of 2^shift digits from
 * 2^low on; low <= every last place. */
typedef struct hu_bin_rule {
  int32_t m, lowest, low, shift;
} hu_bin_rule;

typedef struct hu_gemm_kernels {
  /* acc(i, j) = fma(a(i, k), b(k, j), acc(i, j)) for k = 0 ... kc - 1 in this order, one rounding each, ties to even.
   * fresh: acc holds nothing yet and counts as +0. */
  void (*fma32)(size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc, int fresh,
                hu_ahead *ahead);
  /* The same in binary64 where no step rounds, in any order, fused or not. */
  void (*sum64)(size_t rows, size_t cols, size_t kc, const double *a, const double *b, double *acc, int fresh,
                hu_ahead *ahead);
  /* z[i] = x[i] */
  void (*copy)(size_t n, float *z, const float *x);
  void (*widen)(size_t n, double *z, const float *x);
  /* HU_GEMM_MR rows, ldx apart, become columns: z[c ldz + r] = x[r ldx + c], c < n. */
  void (*transpose32)(size_t n, float *z, size_t ldz, const float *x, size_t ldx);
  void (*transpose64)(size_t n, double *z, size_t ldz, const float *x, size_t ldx);
  /* One row of B into whole panels. */
  void (*spread32)(size_t panels, float *z, const float *x);
  void (*spread64)(size_t panels, double *z, const float *x);
  /* z[i] = x[i] rounded to nearest, ties to even; returns how many changed, or SIZE_MAX (and any z) if one is neither 0
   * nor between 2^-125 and 2^127 in magnitude. */
  size_t (*narrow)(size_t n, float *z, const double *x);
  /* digits[(k count + t) HU_WIDE_COLS + c] = digit first + t of x[k HU_WIDE_COLS + c], k < kc; infinities and NaN
   * as 0. */
  void (*cut)(const hu_wide_cut *rule, size_t kc, const double *x, double *digits);
  /* For each group and t < count: bins[bin + t] += sum of lo digit[t], bins[bin + t + 1] += sum of hi digit[t], for
   * HU_WIDE_COLS columns at once; no sum passes 2^53 in magnitude, that of 32 terms 2^51. */
  void (*wide)(const hu_wide_row *row, size_t count, const double *digits, int64_t *bins);
  /* wide_bins.h: n elements, a multiple of 8; adds i % HU_WIDE_COLS to at[i] if `spread`. */
  void (*to_bins)(const hu_bin_rule *rule, size_t n, const double *x, int spread, int64_t *y, uint16_t *at);
  /* wide_carries.h. */
  void (*propagate_carries)(int32_t width, size_t bins, int64_t *z);
  void (*join)(int32_t width, size_t bins, int64_t *z);
} hu_gemm_kernels;

extern const hu_gemm_kernels hu_gemm_portable;
extern const hu_gemm_kernels HU_OF_LEVEL(hu_gemm);

#endif
