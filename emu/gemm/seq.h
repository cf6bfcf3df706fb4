/* SPDX-License-Identifier: MIT */
/* emu/gemm/seq.h - kernels for the model seq(F) of hu_gemm, ties to even, in binary32 lanes. Each level has one table
 * of them.
 *
 * F has P = m + 1 <= 12 digits, gradual subnormals and a sign. Step: x = acc + p exactly, p = a b; acc = rnd_F(x). t
 * is x in binary32, rounded as the variant asks; E = the larger of t's exponent and emin; Q = 2^(E - m), the step of
 * F's grid there. The anchor A = 1.5 2^(E + 23 - m) is an even multiple of Q in a binade where binary32 has the step Q,
 * and |t| < 2^(E + 1) does not leave that binade: A + t, rounded to even, is A + rnd_F(t), parity included, and A is
 * taken away exactly (emu/simd/round.h). What is left to show is rnd_F(t) = rnd_F(x).
 *
 * ODD, PLAIN: t is x rounded to odd: of x rounded down and up, which are equal or neighbours, the odd one. Grid points
 *   of F and midpoints between them are even there: binary32 has two digits more than any of them requires, at its
 *   lower end too (hui_odd_is_enough). None lies strictly between x's neighbours, so t is on x's side of each.
 *
 * All others: t is x rounded to nearest. No grid point or midpoint lies strictly between x and t, so only a t that is
 *   a midpoint, while x is not t, could round to another number.
 *
 * TIES, TIES_LOW, TIES_TOP: t is tested: from 2^emin on it is a midpoint if its low 23 - m digits are 10...0. Such
 *   steps are done again as ODD does them. So are, with LOW and TOP, those of |t| < 2^emin; TIES is for sums that are
 *   all multiples of 2^emin. Too many of them are a reason to give up.
 *
 * BARE, LEAST, LEAST_OR_0, NEAR, FLOOR: let acc have P digits, a, b and the product p_a, p_b and D = p_a + p_b, with P
 *   + D <= 24, and t the exponent e. If x is not t, the lowest digit of x, at or below 2^(e-24), is one of p's or one
 *   of acc's.
 *   p's: then |p| <= (2^p_a - 1) (2^p_b - 1) 2^(e-24), that is 3 units of 2^(e-24) or more below 2^(e-P), half a step
 *     of the grid about x. acc does not lie in a binade below x's (it would be at least 2^(e-P) below 2^e, and x
 *     too), so it is a point of that grid: x rounds to acc; and t, which is at most one of those units from x, is no
 *     midpoint either. Where F's grid is coarser (below 2^emin), or binary32's (x of digits below 2^-149), the same
 *     holds the more.
 *   acc's: then |t - p| <= |acc| + |t - x| <= 2^(e-24+P), and e > emin, as acc is a multiple of F's least step
 *     2^(emin-m). Let t be a midpoint, so t >= 2^e + 2^(e-P). p is not below 2^e, or it were 2^(e-D) or more below
 *     that. So p is a multiple of 2^(e-D+1), t of 2^(e-P), and for P <= 11 their difference is less than both: t = p,
 *     and |acc| <= 2^(e-24). For P = 12, |acc| < 2^(e-12).
 *   NEAR: t's exponent is 24 (13) or more above acc's, which the kernel sees: it gives up. BARE, FLOOR: cannot be, as
 *     acc is a multiple of F's least step, and of the lowest digit of all products and C, and all |p| are less than
 *     2^24 (2^12) times one of the two. LEAST: no sum (LEAST_OR_0: but 0) was in magnitude less than 2^-24 (2^-12) of
 *     what all |p| are less than, else it gives up.
 *
 * LEAST, LEAST_OR_0, NEAR and TIES ask for no emin: the caller knows that every p and C is a multiple of 2^emin,
 * hence every sum; nor does BARE: there they are multiples of F's least step, below 2^emin sums are therefore on F's
 * grid, and an anchor finer than it changes nothing. So none of these rounds to zero; their zeros are +0, and may be
 * -0 only where C is: then (`minus`) a zero at the end of a piece is a reason to give up, as any zero is with PLAIN,
 * if F has -0. The others keep the sign of t, which is that of x: x = 0 has the sign of IEEE 754 (rounded up +0, or
 * both -0), and a small x the sign of its rounding to 0.
 *
 * What F's largest number does is not for these kernels: let T be the lesser of emax and 105 + m, as sums of 2^(105 +
 * m) and more have no anchor. FLOOR, TIES_TOP and ODD give up when a sum reaches 2^T; BARE, LEAST, LEAST_OR_0, PLAIN,
 * TIES and TIES_LOW when acc is not below `limit` at the beginning, from where a piece of K cannot bring it to 2^T;
 * NEAR is for formats of emax >= 105 + m: there the anchor is infinite. Infinities and NaN so become a NaN or an
 * infinity that stays to the end, and is a reason to give up there. */
#ifndef HALFULP_EMU_GEMM_SEQ_H
#define HALFULP_EMU_GEMM_SEQ_H

#include "emu/gemm/tiles/kernels.h"

enum {
  HU_SEQ_BARE = 0,
  HU_SEQ_LEAST = 1,
  HU_SEQ_LEAST_OR_0 = 2,
  HU_SEQ_NEAR = 3,
  HU_SEQ_PLAIN = 4,
  HU_SEQ_FLOOR = 5,
  HU_SEQ_TIES = 6,
  HU_SEQ_TIES_LOW = 7,
  HU_SEQ_TIES_TOP = 8,
  HU_SEQ_ODD = 9
};

typedef struct hu_seq {
  float scale;    /* 1.5 2^(23 - m) */
  uint32_t limit; /* |acc| at the beginning of a piece is below the float of this pattern */
  uint32_t floor; /* the pattern of 2^emin */
  uint32_t top;   /* that of 2^emax, or of 2^(105 + m) */
  uint32_t jump;  /* NEAR: in the exponent field */
  uint32_t sign;  /* 0x80000000 if F has -0, else 0 */
  uint32_t up;    /* 23 - m in the exponent field */
  uint32_t least; /* LEAST: the pattern of a power of two */
  uint32_t shift; /* TIES: m + 9, which brings the digits below F's to the top */
  uint32_t minus; /* 1: C may hold -0 */
} hu_seq;

typedef struct hu_seq_kernels {
  /* One tile of HU_GEMM_MR x HU_GEMM32_NR through kc steps; layouts as fma32's. 0: gave up, acc is untouched. rows,
   * columns: those that count. fresh: acc holds nothing yet and counts as +0. */
  int (*tile)(const hu_seq *seq, int variant, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
              float *acc, int fresh);
  int quick_odd; /* 1: rounding to odd costs less than to test for ties that are not rare */
} hu_seq_kernels;

extern const hu_seq_kernels HU_OF_LEVEL(hu_seq);

#endif
