/* SPDX-License-Identifier: MIT */
/* unit.h's kernels in vectors of BLK_LANES; compiled once a level that has fused multiply-adds. The header of the level
 * (emu/simd/avx2.h, ...) defines the types and functions that unit_steps.h is written with. */
#include "emu/gemm/unit.h"
#include "emu/simd/lanes.h"
#include "halfulp/accum.h"

/* gcc for 64-bit Arm does not see that strip() reads its sums apart only where it has set them; setting them always
 * would change the code that it makes for the other levels. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define BLK_FN static inline __attribute__((always_inline))
#define BLK_ROWS HU_UNIT_MR
#include "emu/gemm/unit_steps.h"

/* Sums MR rows, one vector of columns. */
BLK_FN void strip(const int kind, const int rule, const hu_unit_plan *plan, size_t count, const double *a,
                  const double *b, double *acc) {
  blk_d c[BLK_ROWS];
  HU_UNROLL
  BLK_EACH c[r] = blk_load(acc + r * HU_UNIT_NB);
  run_steps(kind, rule, plan, count, a, b, c);
  HU_UNROLL
  BLK_EACH blk_store(acc + r * HU_UNIT_NB, c[r]);
}

BLK_FN void blocks_by(const int kind, const int rule, const hu_unit_plan *plan, size_t rows, size_t cols, size_t count,
                      const double *a, const double *b, double *acc) {
  for (size_t j = 0; j < cols; j += BLK_LANES) {
    const double *panel = b + j / HU_UNIT_NR * (HU_UNIT_KC * HU_UNIT_NR) + j % HU_UNIT_NR;
    for (size_t i = 0; i < rows; i += HU_UNIT_MR) {
      strip(kind, rule, plan, count, a + i * HU_UNIT_KC, panel, acc + i * HU_UNIT_NB + j);
    }
  }
}

/* Does the same with the direction of cuts known. */
#define BLK_CUTS(name, kind)                                                                                           \
  static void name(const hu_unit_plan *plan, size_t rows, size_t cols, size_t count, const double *a, const double *b, \
                   double *acc) {                                                                                      \
    if (plan->cut == HU_BLOCK_CUT_TRUNC) blocks_by(kind, HU_BLOCK_CUT_TRUNC, plan, rows, cols, count, a, b, acc);      \
    if (plan->cut == HU_BLOCK_CUT_FLOOR) blocks_by(kind, HU_BLOCK_CUT_FLOOR, plan, rows, cols, count, a, b, acc);      \
    if (plan->cut == HU_BLOCK_CUT_NEAREST) blocks_by(kind, HU_BLOCK_CUT_NEAREST, plan, rows, cols, count, a, b, acc);  \
    if (plan->cut == HU_BLOCK_CUT_ODD) blocks_by(kind, HU_BLOCK_CUT_ODD, plan, rows, cols, count, a, b, acc);          \
    if (plan->cut == HU_UNIT_STICKY) blocks_by(kind, HU_UNIT_STICKY, plan, rows, cols, count, a, b, acc);              \
    if (plan->cut == (HU_UNIT_STICKY | HU_BLOCK_CUT_FLOOR))                                                            \
      blocks_by(kind, HU_UNIT_STICKY | HU_BLOCK_CUT_FLOOR, plan, rows, cols, count, a, b, acc);                        \
  }
BLK_CUTS(align, BLK_ALIGN)
BLK_CUTS(groups, BLK_GROUPS)

static void blocks(const hu_unit_plan *plan, size_t rows, size_t cols, size_t count, const double *a, const double *b,
                   double *acc) {
  switch (plan->rule) {
    case HU_BLOCK_ALIGN: align(plan, rows, cols, count, a, b, acc); break;
    case HU_BLOCK_GROUPS: groups(plan, rows, cols, count, a, b, acc); break;
    case HU_BLOCK_LATE: blocks_by(BLK_LATE, 0, plan, rows, cols, count, a, b, acc); break;
    case HU_BLOCK_EXACT: blocks_by(BLK_EXACT, 0, plan, rows, cols, count, a, b, acc); break;
    case HU_BLOCK_TREE: blocks_by(BLK_TREE, 0, plan, rows, cols, count, a, b, acc); break;
    case HU_BLOCK_CHAIN: blocks_by(BLK_CHAIN, 0, plan, rows, cols, count, a, b, acc); break;
    default: blocks_by(BLK_PAIR, 0, plan, rows, cols, count, a, b, acc);
  }
}

/* ---- the rest ---- */

static void prepare(const hu_unit_operand *operand, size_t n, const float *x, double *values, double *powers) {
  const blk_d zero = blk_all(0), daz = blk_all(operand->daz), emin = blk_all(operand->emin);
  for (size_t i = 0; i < n; i += BLK_LANES) {
    blk_d y = blk_widen(x + i, operand->mask), flushed = blk_value(blk_and(blk_bits(y), blk_each(operand->zero)));
    y = blk_if_less(size_of(y), daz, flushed, y);
    blk_d power = blk_max(power_of(y), emin);
    blk_store(values + i, y);
    blk_store(powers + i, blk_if_same(y, zero, zero, power));
  }
}

static void join(const hu_unit_grid *grid, size_t rows, size_t cols, const double *acc, double *sum) {
  for (size_t i = 0; i < rows; i += HU_UNIT_MR) {
    for (size_t j = 0; j < cols; j += BLK_LANES) {
      blk_d x[BLK_ROWS], y[BLK_ROWS];
      HU_UNROLL
      BLK_EACH {
        x[r] = blk_load(sum + (i + r) * HU_UNIT_NB + j);
        y[r] = blk_odd_sum(x[r], blk_load(acc + (i + r) * HU_UNIT_NB + j));
      }
      round_into(grid, y);
      HU_UNROLL
      BLK_EACH blk_store(sum + (i + r) * HU_UNIT_NB + j, y[r]);
    }
  }
}

static void join_scaled(const hu_unit_grid *grid, size_t rows, size_t cols, const double *sa, const double *sb,
                        const double *acc, double *sum) {
  for (size_t i = 0; i < rows; i += HU_UNIT_MR) {
    for (size_t j = 0; j < cols; j += BLK_LANES) {
      blk_d x[BLK_ROWS], y[BLK_ROWS];
      HU_UNROLL
      BLK_EACH y[r] = blk_mul(blk_all(sa[i + r]), blk_load(sb + j));
      round_into(grid, y);
      HU_UNROLL
      BLK_EACH {
        x[r] = blk_load(sum + (i + r) * HU_UNIT_NB + j);
        y[r] = blk_odd_sum(x[r], blk_mul(y[r], blk_load(acc + (i + r) * HU_UNIT_NB + j)));
      }
      round_into(grid, y);
      HU_UNROLL
      BLK_EACH blk_store(sum + (i + r) * HU_UNIT_NB + j, y[r]);
    }
  }
}

const hu_unit_kernels HU_OF_LEVEL(hu_unit) = {prepare, blocks, join, join_scaled};
