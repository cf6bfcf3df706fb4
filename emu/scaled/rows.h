/* SPDX-License-Identifier: MIT */
/* emu/scaled/rows.h - kernels for rows of blocks: they find magnitudes and scale elements, forth and back. Each level
 * has one table of them, through which emu/scaled/quantize.c calls them. */
#ifndef HALFULP_EMU_SCALED_ROWS_H
#define HALFULP_EMU_SCALED_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/simd/of_level.h"
enum { HU_SPREAD = 16 };

/* A block whose elements are tried under several scales (emu/core/four_six.h): rows x cols patterns of finite numbers,
 * up to 16 each. The error of element x under a scale with the numbers by and back is |v - u| or its square,
 *
 *   P = x by (divide: x / by) to nearest in E2M1, at most 6;  v = P back, with of_ratio (v amax) / both;  u = x factor
 *
 * each step in binary32, to nearest; an error is the sum over rows, in a tree, of sums from the first column on. */
typedef struct hu_scaled_trial {
  const uint32_t *x;
  size_t rows, cols, ldx;
  float factor, amax, both;
  uint8_t divide, squares, of_ratio;
} hu_scaled_trial;

/* n elements in blocks of `side`, the last one maybe shorter; each array of the blocks has one entry a block.
 * Floats are patterns. */
typedef struct hu_scaled_lanes {
  /* top becomes the larger of what it was and the largest magnitude pattern of the block's elements. */
  void (*look)(size_t n, size_t side, const uint32_t *x, uint32_t *top);
  /* The same for n columns of `rows` rows, ld apart, each column a block. */
  void (*look_down)(size_t rows, size_t n, const uint32_t *x, size_t ld, uint32_t *top);
  /* z = x with `less` taken from the pattern: x 2^-e for less = e 2^23. Zeros stay; what would come to lie below the
   * normal numbers, or is subnormal, becomes 2^-126 under its sign. x finite. */
  void (*shift)(size_t n, size_t side, uint32_t *z, const uint32_t *x, const uint32_t *less);
  /* The same without that bound; infinities and NaN stay. */
  void (*shift_back)(size_t n, size_t side, uint32_t *z, const uint32_t *x, const uint32_t *less);
  /* z = x by, x / by in binary32 in the surroundings of emu/base/float_env.h, to nearest. bounded: a finite result
   * beyond the range is the largest number, x finite. */
  void (*times)(size_t n, size_t side, uint32_t *z, const uint32_t *x, const uint32_t *by);
  void (*times_bounded)(size_t n, size_t side, uint32_t *z, const uint32_t *x, const uint32_t *by);
  void (*over_bounded)(size_t n, size_t side, uint32_t *z, const uint32_t *x, const uint32_t *by);
  /* z = each block's x, `side` times: n elements, and up to HU_SPREAD more that do not matter. */
  void (*spread)(size_t n, size_t side, uint32_t *z, const uint32_t *x);
  /* z = the errors under n scales; all three arrays are HU_SPREAD longer, with entries that do not matter. */
  void (*errors)(const hu_scaled_trial *trial, size_t n, uint32_t *z, const uint32_t *by, const uint32_t *back);
} hu_scaled_lanes;
extern const hu_scaled_lanes HU_OF_LEVEL(hu_scaled_lanes);

#endif
