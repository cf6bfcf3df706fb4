/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/steps.h - one step of an accumulation model for many elements at once, in binary32 lanes, in any mode:
 * what emu/gemm/steps puts models together from (trees, compensated sums, chunks, parts, slices). Every level has a
 * table, also that of processors without fused multiply-adds.
 *
 * F has gradual subnormals, a sign, a range within binary32's and m >= 1; d = 23 - m. x is the exact sum or product of
 * a step, and z = rnd_F(x). Operands and z are binary32 numbers.
 *
 * t is x in binary32, in the direction or to odd that emu/gemm/seq_modes.h names for the mode; to nearest, ties to
 * even, asks for x to odd as the modes `rnz` and `raz` do. What is shown there holds for any real x: for 2^emin <= |t|
 * < 2^emax z is the pattern of t, an addend added and d digits cleared.
 *
 * Products are binary32 numbers, by the caller's word (operands of together at most 24 digits, the lowest not below
 * 2^-149): t = x, or t is beyond 2^emax as x is. So is the product inside a fused step on processors without fused
 * multiply-adds, and below 2^127.
 *
 * |t| < 2^emin: let y = x + 2^emin with x's sign. rnd_F(x) = rnd_F(y) less 2^emin, for the grid has one step below
 * 2^emin and in the binade above it, 2^emin is an even multiple of it (m >= 1), and every mode looks at the digits
 * behind that step, at the parity and at the sign alone. w is t + 2^emin rounded as t was: x rounded twice in one
 * direction, or twice to odd onto ever coarser grids, is x rounded once. w lies in the binade from 2^emin on, or is its
 * end, and is rounded by its pattern. Taking 2^emin away is exact. A result of zero has x's sign, or + where F has no
 * -0.
 *
 * x = 0: t = 0, which the addend does not change. Its sign is that of IEEE 754 in the direction of the CPU: down for
 * `rtn`, another one in all other modes.
 *
 * `near`, sums in ties to even where both terms have at most D = m + 1 <= 11 digits and are multiples of F's least
 * step: then t may be x to nearest, by the argument of emu/gemm/unfused.h; below 2^emin such an x is a number of F.
 *
 * binary32 itself (d = 0, ties to even): t is x to nearest, and nothing is added or cleared.
 *
 * |t| >= 2^emax, infinities and NaN go to the integers one by one: `lane`. */
#ifndef HALFULP_EMU_GEMM_TILES_STEPS_H
#define HALFULP_EMU_GEMM_TILES_STEPS_H

#include <stddef.h>

#include "emu/gemm/tiles/rounding.h"
#include "emu/simd/of_level.h"

/* A tile has this many places, ROWS x COLS, row-major; arrays of it are called planes. */
#define HU_STEP_ROWS 16
#define HU_STEP_COLS 96
#define HU_STEP_PLANE (HU_STEP_ROWS * HU_STEP_COLS)

enum { HU_STEPS_PRODUCT, HU_STEPS_SUM, HU_STEPS_FUSED };

typedef struct hu_step_grid hu_step_grid;
struct hu_step_grid {
  hu_mode_grid to;
  int32_t near;  /* 1: sums are near */
  uint32_t sign; /* 0x80000000 if F has -0, else 0 */
  /* In integers: a b, a + b, or a b + c, rounded; word: the random word. */
  float (*lane)(const hu_step_grid *grid, int what, float a, float b, float c, uint32_t word);
};

/* A tile's rows, and its columns, a multiple of 16; places past them may be computed. words: those of this rounding, a
 * plane; not looked at in modes without. z may be an operand. */
typedef struct hu_step_kernels {
  /* z = rnd(x + y), or x - y if `minus` */
  void (*add)(const hu_step_grid *grid, size_t rows, size_t cols, int minus, float *z, const float *x, const float *y,
              const uint32_t *words);
  /* z(i, j) = rnd(a[i] b[j]) */
  void (*multiply)(const hu_step_grid *grid, size_t rows, size_t cols, float *z, const float *a, const float *b,
                   const uint32_t *words);
  /* z(i, j) = rnd(z(i, j) + a[i] b[j]) */
  void (*fuse)(const hu_step_grid *grid, size_t rows, size_t cols, float *z, const float *a, const float *b,
               const uint32_t *words);
  /* Exchanges x and y where not |x| >= |y|, and perhaps where one is a NaN. */
  void (*sort)(size_t rows, size_t cols, float *x, float *y);
  /* Four planes: the words of one block at all places; element: number of the first, pitch: from row to row. */
  void (*draw)(uint64_t key, uint64_t block, uint64_t element, uint64_t pitch, size_t rows, size_t cols,
               uint32_t *words);
  int fused; /* 1: there are fused multiply-adds: products inside `fuse` may be any */
} hu_step_kernels;

extern const hu_step_kernels HU_OF_LEVEL(hu_steps);

#endif
