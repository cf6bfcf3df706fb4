/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/pairs.h - the inner loops of products of bfloat16 by an instruction that takes two neighbours of K at
 * a time, in one word: the even product's code in the low half, the odd one's in the high half. Layouts are those of
 * kernels.h for binary32, such a word in place of each number; where a kernel says `by_rows`, A is row-major instead:
 * word p of row i at i HU_PAIRS_KC + p. */
#ifndef HALFULP_EMU_GEMM_TILES_PAIRS_H
#define HALFULP_EMU_GEMM_TILES_PAIRS_H

#include "emu/gemm/tiles/kernels.h"
#include "emu/simd/level.h"

#define HU_PAIRS_KC 80    /* words */
#define HU_PAIRS_STEPS 16 /* the largest step */

/* Arrays hold whole groups of 16 elements, which kernels read and write. */
typedef struct hu_pair_kernels {
  /* The bfloat16 codes of n binary32 numbers that are values of it; NaN stays NaN. */
  void (*halves)(size_t n, uint16_t *z, const float *x);
  /* z[i] = the word of element i of two lines of codes, which are so many bytes apart. */
  void (*weave)(size_t n, uint32_t *z, const void *lines, size_t pitch);
  /* acc(i, j) = VDPBF16PS of acc(i, j), a(i, p) and b(p, j), p = 0 ... pairs - 1 in this order; TDPBF16PS of acc(i, j)
   * and `step` words of A and B after another where step is not 1. */
  void (*multiply)(size_t rows, size_t cols, size_t pairs, const uint32_t *a, const uint32_t *b, float *acc);
  size_t step; /* words; `pairs` is a multiple of it; at most HU_PAIRS_STEPS */
  size_t high; /* `rows` is a multiple of it */
  int by_rows;
} hu_pair_kernels;

extern const hu_extension hu_extension_bf16, hu_extension_amx_bf16;

#endif
