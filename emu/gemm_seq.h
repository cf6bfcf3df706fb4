/* SPDX-License-Identifier: MIT */
/* emu/gemm_seq.h - the steps of hu_gemm's model seq(F), ties to even, in binary32 lanes: one table a level.
 *
 * F has P = m + 1 <= 12 digits, gradual subnormals and a sign. Step: x = acc + p exactly, p = a b; acc = rnd_F(x). t
 * is x in binary32, rounded as the way asks; E = the larger of t's exponent and emin; Q = 2^(E - m), the step of F's
 * grid there. The anchor A = 1.5 2^(E + 23 - m) is an even multiple of Q in a binade where binary32 has the step Q,
 * and |t| < 2^(E + 1) does not leave that binade: A + t, rounded to even, is A + rnd_F(t), parity included, and A is
 * taken away exactly (emu/lanes.h). What is left to show is rnd_F(t) = rnd_F(x).
 *
 * HU_SEQ_ODD, HU_SEQ_PLAIN   t is x rounded to odd: of x rounded down and up, which are equal or neighbours, the odd
 *   one. Grid points of F and midpoints between them are even there: binary32 has two digits more than any of them
 *   wants, at its lower end too (hu_odd_is_enough). None lies strictly between x's neighbours, so t is on x's side of
 *   each.
 *
 * HU_SEQ_FLOOR, HU_SEQ_NEAR   t is x rounded to nearest. Let acc have P digits and the operands p_a and p_b, with
 *   P + p_a + p_b <= 24, e the exponent of x. If 24 digits do not hold x, its lowest digit, at or below 2^(e - 24), is
 *   one of p's or one of acc's.
 *   p's: then |p| <= (2^p_a - 1) (2^p_b - 1) 2^(e-24), that is 3 units of 2^(e-24) or more below 2^(e-P), half a step
 *     of the grid about x. acc does not lie in a binade below x's (it would be at least 2^(e-P) below 2^e, and x too),
 *     so it is a point of that grid: x rounds to acc; and t, which is at most one of those units from x, is no
 *     midpoint either. Where F's grid is coarser (below 2^emin), or binary32's (x of digits below 2^-149), the same
 *     holds the more.
 *   acc's: then acc's exponent is at most e - 25 + P. FLOOR: cannot be, as acc is a multiple of F's least step
 *     2^(emin-m) and all |p| < 2^(emin-m+23). NEAR: t's exponent is 25 - P or more above acc's, which the kernel sees:
 *     it gives up.
 *
 * NEAR asks for no emin: the caller knows that every p and C is a multiple of 2^emin, hence every sum. Its zeros, and
 * those of PLAIN, may have the wrong sign: of no consequence while another product follows that is not zero; a zero
 * at the end of a piece is a reason to give up. The others keep the sign of t, which is that of x: x = 0 has the sign
 * of IEEE 754 (rounded up +0, or both -0), and a small x the sign of its rounding to 0.
 *
 * What F's largest number does is not for these kernels: FLOOR and ODD give up when a sum reaches 2^emax; PLAIN when
 * acc is not below `limit` at the beginning, from where a piece of K cannot bring it to 2^emax; NEAR is for formats of
 * emax >= 105 + m, as sums of 2^(105 + m) and more make the anchor infinite. Infinities and NaN so become a NaN or an
 * infinity that stays to the end, and is a reason to give up there. */
#ifndef HALFULP_EMU_GEMM_SEQ_H
#define HALFULP_EMU_GEMM_SEQ_H

#include "emu/gemm_kernels.h"

enum { HU_SEQ_NEAR = 0, HU_SEQ_FLOOR = 1, HU_SEQ_PLAIN = 2, HU_SEQ_ODD = 3 };

typedef struct hu_seq {
  float scale;    /* 1.5 2^(23 - m) */
  float limit;    /* PLAIN: |acc| at the beginning of a piece is less */
  uint32_t floor; /* the pattern of 2^emin */
  uint32_t top;   /* FLOOR, ODD: that of 2^emax */
  uint32_t jump;  /* NEAR: 25 - P in the exponent field */
  uint32_t sign;  /* 0x80000000 if F has -0, else 0 */
} hu_seq;

typedef struct hu_seq_kernels {
  /* One tile of HU_GEMM_MR x HU_GEMM32_NR through kc steps; layouts as fma32's. 0: gave up, acc is untouched. rows,
   * columns: those that count. fresh: acc holds nothing yet and counts as +0. */
  int (*tile)(const hu_seq *q, int way, size_t rows, size_t columns, size_t kc, const float *a, const float *b,
              float *acc, int fresh);
} hu_seq_kernels;

#if HU_X86
extern const hu_seq_kernels hu_seq_avx2;
extern const hu_seq_kernels hu_seq_avx512;
#endif

#endif
