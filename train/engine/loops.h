/* SPDX-License-Identifier: MIT */
/* train/engine/loops.h - the kernels as loops on the CPU. Each kernel level (halfulp/view.h) has one table of
 * them. */
#ifndef HALFULP_TRAIN_ENGINE_LOOPS_H
#define HALFULP_TRAIN_ENGINE_LOOPS_H

#include "emu/simd/of_level.h"
#include "train/engine/engine.h"

/* Columns j0 ... j1 - 1 of rows r0 ... r1 - 1. */
typedef void hu_kernel_loop(const hu_task *task, size_t r0, size_t r1, size_t j0, size_t j1);

/* Rows i0 ... i1 - 1 and columns j0 ... j1 - 1 of a result. */
typedef struct hu_range {
  size_t i0, i1, j0, j1;
} hu_range;

/* Part of one product of binary32 numbers under `fp32`, of pointers to its matrices: fma in increasing k from +0.
 * NaN of any pattern, which the caller makes one when it stores the result. buffer: HU_PRODUCT_BUFFER numbers for
 * some of A in the order in which tiles read it, or NULL; no bits depend on it. */
enum { HU_PRODUCT_DEEP = 256, HU_PRODUCT_BLOCK = 240, HU_PRODUCT_BUFFER = HU_PRODUCT_DEEP * HU_PRODUCT_BLOCK };
typedef void hu_product_loop(const hu_products *products, float *z, const float *a, const float *b, const hu_range *of,
                             float *buffer);

/* Columns j ... j + 15 of B, k x n, into a panel of k rows; zeros beyond column n - 1. */
enum { HU_PRODUCT_PANEL = 16 };
typedef void hu_pack_loop(const hu_matrices *b, size_t k, size_t n, size_t j, float *panel);

/* Columns j ... j + 15 of the sum of products in order (hu_engine.sum_products), whose sums stay in registers. left:
 * their left operands, hu_sum_loops.rows rows of Z after another, a column of those of all products after the other,
 * zeros below the last row. Not more than HU_SUM_DEEP columns. */
enum { HU_SUM_DEEP = 512 };
typedef struct hu_product_sum {
  size_t count, deep; /* products, columns of all of them */
  const hu_products *products;
  int begun;
  const float *left;
} hu_product_sum;
typedef void hu_sum_loop(const hu_product_sum *sum, size_t j);
typedef struct hu_sum_loops {
  size_t rows;
  hu_sum_loop *panel; /* NULL: no fused multiply-add here */
} hu_sum_loops;

/* Adds k products to each of rows x 16 sums of Z: A's number (i, p) is at a + i down + p along, B's rows ldb apart. */
typedef void hu_tile_loop(size_t rows, size_t k, float *z, size_t ldz, const float *a, size_t down, size_t along,
                          const float *b, size_t ldb);

/* Convolutions of groups of one channel and one output, 16 channels or more: Z or dX of an image, dW of 16 channels
 * from number `part` on. Of the engine's hu_convolution: RESULT (framed before it), IMAGES, WEIGHTS. */
typedef void hu_depthwise_loop(const hu_convolution *convolution, size_t part);
typedef struct hu_depthwise_loops {
  hu_depthwise_loop *result, *weights, *images; /* NULL: no fused multiply-add here */
} hu_depthwise_loops;

typedef struct hu_loops {
  uint32_t level; /* HU_LEVEL_ */
  hu_kernel_loop *kernel[HU_RUN_KERNELS];
  hu_product_loop *product; /* NULL: no fused multiply-add here */
  hu_tile_loop *tiles;      /* the same */
  hu_pack_loop *pack;       /* the same */
  hu_depthwise_loops depthwise;
  hu_sum_loops sum;
} hu_loops;

#define HU_LOOPS_DECLARE(name) extern const hu_loops hu_loops_##name;
HU_EACH_LEVEL(HU_LOOPS_DECLARE)
extern const hu_loops HU_OF_LEVEL(hu_loops);

#endif
