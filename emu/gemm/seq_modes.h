/* SPDX-License-Identifier: MIT */
/* emu/gemm/seq_modes.h - kernels for the models seq(F) and seq2(P,F) of hu_gemm in all modes but ties to even, in
 * binary32 lanes. Each level has one table of them.
 *
 * F has gradual subnormals, a sign, a range within binary32's and m >= 1. Step: x = acc + a b exactly; acc = rnd_F(x).
 * With d = 23 - m digits of binary32 below F's, t in binary32 is
 *
 *   x toward zero                   rtz, rna (d >= 1), sra:N (N <= d), srb:N (N + 1 <= d): what these ask of x are its
 *                                   leading m + 1, m + 2, m + 1 + N, m + 2 + N digits, which t has
 *   x toward positive, negative     rtp, rtn: F's grid is part of binary32's: the next grid point from t is that from x
 *   x rounded to odd                rnz, raz, rto, src: two digits more than any of them looks at (hui_odd_is_enough)
 *
 * and for 2^emin <= |t| < 2^emax acc is the pattern of t, an addend added and d digits cleared: the step of the quick
 * path of emu/simd/round.h, explained there. The result is at most 2^emax: nothing overflows, and it is not zero. (x
 * and t have one exponent, or t is a power of two, a grid point, toward which x is rounded anyway.) All other steps,
 * special operands, subnormal and zero sums and overflow, go to the integers one by one: `lane`.
 *
 * seq2(P,F): products are binary32 numbers (operands of together at most 24 digits, the lowest not below 2^-149: the
 * caller has looked), and rounded onto P's grid in the same way; then x = acc + 1 v.
 *
 * Random words are those of docs/numerics.md section 11.3: element e's block 1 + k / 4 has those of steps 4 (k / 4) to
 * 4 (k / 4) + 3; seq2: block 1 + k / 2 those of two steps, of products and sums in turn. */
#ifndef HALFULP_EMU_GEMM_SEQ_MODES_H
#define HALFULP_EMU_GEMM_SEQ_MODES_H

#include "emu/gemm/tiles/kernels.h"
#include "emu/gemm/tiles/rounding.h"
#include "emu/gemm/tiles/steps.h"

typedef struct hu_modes hu_modes;
struct hu_modes {
  hu_mode_grid sum, product; /* product: seq2 */
  uint64_t key;              /* of the random words */
  int32_t unfused;           /* 1: seq2 */
  /* One step of one element in integers. */
  float (*lane)(const hu_modes *modes, float a, float b, float acc, uint64_t element, uint64_t k);
};

/* seq_modes.c. 1 if binary32 lanes can round to the format in the mode; ties to even, too. */
int hui_mode_grid_of(hu_mode_grid *z, hu_format format, hu_mode mode);

typedef struct hu_modes_kernels {
  /* One tile of HU_GEMM_MR x HU_GEMM32_NR through the steps k ... k + kc - 1, k a multiple of 4; layouts as fma32's.
   * Element (i, j) is number element + i n + j. NULL on levels without fused multiply-adds. */
  void (*tile)(const hu_modes *modes, size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc,
               uint64_t element, uint64_t n, uint64_t k);
  const hu_step_kernels *steps; /* of every level */
} hu_modes_kernels;

extern const hu_modes_kernels HU_OF_LEVEL(hu_modes);

#endif
