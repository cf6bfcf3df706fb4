/* SPDX-License-Identifier: MIT */
/* halfulp/hadamard.h - the random Hadamard transform of blocks of 16, 32, 64 or 128 elements, along rows or columns.
 *
 *   hu_hadamard t = {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL};
 *   hu_exec exec = {0, 0, {key, counter}, {0}};
 *   hu_status s = hu_hadamard_forward(rows, cols, z, ldz, x, ldx, &t, &exec);
 *
 * It spreads an outlier of a block over all of its elements before they are quantized (NVIDIA, "Pretraining large
 * language models with NVFP4", arXiv 2509.25149; QuIP#, arXiv 2402.04396; QuaRot, arXiv 2404.00456). Both operands of a
 * product take it along the axis that is summed over: (x S H)(y S H)^T = x y^T.
 *
 *   forward  z = c H S x of every block x, H Sylvester's matrix of +1 and -1, S = diag of +1 and -1
 *   inverse  z = c' S H x; c c' n = 1 up to the rounding of c, so that it takes back forward up to roundings
 *
 * In binary32, exactly these steps (docs/hadamard.md is normative; u[0] ... u[n-1] is a block along the axis):
 *
 *   forward: u[i] = x[i], sign bit inverted where S has -1
 *   both:    for h = 1, 2, 4, ..., n/2: for every i without bit h:
 *              (u[i], u[i+h]) = (u[i] + u[i+h], u[i] - u[i+h])
 *   both:    u[i] = u[i] c
 *   inverse: sign bit of u[i] inverted where S has -1
 *   both:    z[i] = u[i], any NaN as 0x7FC00000
 *
 * Every +, - and product is one IEEE 754 binary32 operation, ties to even, subnormal numbers kept. Sums beyond the
 * range are infinities, and differences of infinities NaN. The bits do not depend on levels, threads or device. */
#ifndef HALFULP_HADAMARD_H
#define HALFULP_HADAMARD_H

#include "halfulp/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest block. */
#define HU_HADAMARD_MAX 128

/* Which way blocks lie: elements next to each other in a row, or one above the other in a column. */
enum {
  HU_HADAMARD_ALONG_ROWS = 0,   /* next to each other in a row */
  HU_HADAMARD_ALONG_COLUMNS = 1 /* one above the other in a column */
};
/* The factor c (forward) and c' (inverse); n = 2^k. */
enum {
  HU_HADAMARD_ROOT = 0,  /* both 1 / sqrt(n): exact for 16 and 64, for 32 and 128 rounded to binary32 */
  HU_HADAMARD_POWER = 1, /* 2^-floor(k/2), 2^-ceil(k/2): no rounding but beyond the range; as ROOT for 16 and 64 */
  HU_HADAMARD_SUM = 2    /* 1, 1/n: the caller applies the factor, for instance as part of a scale */
};
/* Where the signs come from. Number j of a vector of signs is bit j mod 32 (bit 0 the lowest) of its 32-bit word number
 * j div 32; a set bit is -1. */
enum {
  HU_HADAMARD_SIGNS_NONE = 0,  /* all +1 */
  HU_HADAMARD_SIGNS_MASK = 1,  /* the words of `mask` */
  HU_HADAMARD_SIGNS_STREAM = 2 /* word i is random word i of exec->stream (hu_stream_word), of stream (0, 0) if exec
                                  is NULL */
};

/* A transform; a plain record. */
typedef struct hu_hadamard {
  uint32_t n;           /* elements of a block: 16, 32, 64 or 128 */
  uint8_t axis;         /* HU_HADAMARD_ALONG_ */
  uint8_t norm;         /* HU_HADAMARD_ */
  uint8_t signs;        /* HU_HADAMARD_SIGNS_ */
  uint8_t whole;        /* 0: one vector of n signs, the same for all blocks; 1: one as long as the axis, element j of
                           every row (column) has sign number j */
  const uint32_t *mask; /* HU_HADAMARD_SIGNS_MASK: ceil(length / 32) words, bits beyond are not used; else ignored */
} hu_hadamard;

/* The 16 signs that Transformer Engine's NVFP4 recipe has built in, as a mask for n = 16, whole = 0. */
#define HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE 0xD7E8u

/* Transforms the blocks of a matrix, forward or back. exec is that of array.h. No allocation; up to 64 KiB of stack a
 * thread.
 *
 *   elements  element (i, j) of the matrix is x[i ldx + j]; rows or cols may be 0
 *   axis      its length (cols along rows, rows along columns) must be a multiple of n: a caller with a ragged end
 *             fills it up with zeros
 *   overlap   z may be x itself (then ldz = ldx), else must not overlap it; the mask must not overlap z
 *   errors    HU_E_SHAPE (n is invalid, the axis is not a multiple of it, ld < cols), HU_E_MODE (axis, norm, signs or
 *             whole unknown), HU_E_NULL, HU_E_ALIGN, HU_E_OVERLAP; z is untouched then */
HU_API HU_MUST_CHECK hu_status hu_hadamard_forward(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                   size_t ldx, const hu_hadamard *transform,
                                                   const hu_exec *exec); /* z = the transform of x */
HU_API HU_MUST_CHECK hu_status hu_hadamard_inverse(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                   size_t ldx, const hu_hadamard *transform,
                                                   const hu_exec *exec); /* z = the inverse transform of x */

#ifdef __cplusplus
}
#endif
#endif
