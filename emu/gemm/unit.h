/* SPDX-License-Identifier: MIT */
/* emu/gemm/unit.h - the blocks of matrix units in binary64 lanes (unit_steps.h), a column of D in each: one table a
 * level. */
#ifndef HALFULP_EMU_GEMM_UNIT_H
#define HALFULP_EMU_GEMM_UNIT_H

#include "emu/gemm/tiles/kernels.h"
#include "emu/gemm/unit_plan.h"

#define HU_UNIT_MR 4
#define HU_UNIT_NR 8
#define HU_UNIT_MB 64
#define HU_UNIT_NB 64
#define HU_UNIT_KC 128

/* How elements are read: `mask` applies to binary32 patterns; |x| below `daz` keeps the bits `zero`; 2^emin. */
typedef struct hu_unit_operand {
  uint32_t mask;
  uint64_t zero;
  double daz, emin;
} hu_unit_operand;

/* Layouts: A row-major, KC to a row, values and after MB KC of them the powers; B in panels of NR columns, k-major
 * inside, KC NR values to a panel, and after NB KC of them the powers; acc row-major, NB to a row. */
typedef struct hu_unit_kernels {
  /* Values and powers of n elements; n is rounded up to 8 in all three arrays. */
  void (*prepare)(const hu_unit_operand *operand, size_t n, const float *x, double *values, double *powers);
  /* acc = the blocks of products 0 ... count - 1 on top of acc. rows, columns: rounded up to MR, NR. count: a multiple
   * of the length (of a step of halves) except for chain and lanes. */
  void (*blocks)(const hu_unit_plan *plan, size_t rows, size_t cols, size_t count, const double *a, const double *b,
                 double *acc);
  /* sum = rnd(sum + acc) */
  void (*join)(const hu_unit_grid *grid, size_t rows, size_t cols, const double *acc, double *sum);
  /* sum = rnd(sum + rnd(sa sb) acc), sa of the row, sb of the column, the product in it not rounded */
  void (*join_scaled)(const hu_unit_grid *grid, size_t rows, size_t cols, const double *sa, const double *sb,
                      const double *acc, double *sum);
} hu_unit_kernels;

extern const hu_unit_kernels HU_OF_LEVEL(hu_unit);

#endif
