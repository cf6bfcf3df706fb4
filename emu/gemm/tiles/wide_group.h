/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/wide_group.h - one group of a row of wide sums, by the function wide_pair of a level: at a time it
 * takes eight columns of two pieces of the digits, or of the last one. A level includes this behind its wide_pair. */
#ifndef HALFULP_EMU_GEMM_TILES_WIDE_GROUP_H
#define HALFULP_EMU_GEMM_TILES_WIDE_GROUP_H

#include "emu/gemm/tiles/kernels.h"

static void wide_group(const hu_wide_row *row, size_t first, size_t past, size_t count, const double *digits,
                       int64_t *bins) {
  size_t step = count * HU_WIDE_COLS;
  for (size_t k = 0; k < count; k += 2) {
    for (size_t c = 0; c < HU_WIDE_COLS; c += 8) {
      const double *at = digits + k * HU_WIDE_COLS + c;
      int64_t *z = bins + k * HU_WIDE_COLS + c;
      if (k + 1 < count) {
        if (row->cut) wide_pair(row, first, past, step, 2, 1, at, z);
        if (!row->cut) wide_pair(row, first, past, step, 2, 0, at, z);
      } else {
        if (row->cut) wide_pair(row, first, past, step, 1, 1, at, z);
        if (!row->cut) wide_pair(row, first, past, step, 1, 0, at, z);
      }
    }
  }
}

#endif
