/* SPDX-License-Identifier: MIT */
/* emu/gemm/unfused.h - kernels for accumulation models that round the product before adding it (seq2, chunk, kahan,
 * neumaier, and promotions of them), ties to even, in binary32 lanes. Each level has one table of them.
 *
 * seq2(P,F), chunk(L,P,F), kahan(F), neumaier(F), and promote(N,M,G) of seq2, kahan and neumaier. Every number in a
 * lane is one of a grid: a format of at most 11 digits with gradual subnormals and a sign, whose range lies in
 * binary32's.
 *
 * Rounding a binary32 number t onto a grid: by adding and subtracting an anchor, as seq.h explains.
 *
 * Products: those of operands of together at most 24 digits, whose lowest digits are not below 2^-149 (the caller has
 * looked), are binary32 numbers.
 *
 * Sums: let x = u + v, u and v of at most d digits, to be rounded to D = digits of F >= d, D <= 11; t is x rounded to
 * nearest in binary32. No grid point of F and no midpoint of two lies strictly between x and t, as they are binary32
 * numbers (and as x is a multiple of 2^-149, binary32's own lower end does not round). So only a t that is a midpoint,
 * while x is not t, could round to another number than x. Then let e be the exponent of t and v the term with the
 * lowest digit, which is at or below 2^(e-24). |v| < 2^(e-24+d), |t - x| <= 2^(e-24), so |t - u| <= 2^(e-24+D) <
 * 2^(e-D). u has at most D digits and an exponent of e at least: from below 2^e, it is 2^(e-D) or more away. So u is a
 * multiple of 2^(e-D+1), t as a midpoint one of 2^(e-D) or a higher power: t = u. If u is on F's grid, it is no
 * midpoint. Else it has finer subnormals, and v is a multiple of F's least step 2^(emin-m), so that e is at least
 * emin - m + 24 - D > emin: there, D digits are on the grid. t is no midpoint.
 *
 * Below 2^emin sums need no care: both terms are multiples of F's least step 2^(emin-m) (where this is not so, FULL
 * serves), so is x, and an anchor finer than F's grid changes nothing. Products do: their anchor is held up.
 *
 * The variants below are sorted by cost, the cheapest last. One that gives up leaves the tile to FULL, and FULL to
 * integers.
 *
 *   FULL   every rounding holds up its anchor, keeps the sign of what it rounds (that of the exact result), and gives
 *          up from `top` on, the lesser of 2^emax and 2^(105 + m), where the anchor would be infinite.
 *   LIGHT  products are below 2^emax by the caller's word, and below q->top. Sums are watched against q->top = top in
 *          seq2, top / 2 =: h in kahan and neumaier, where not all are: with |y| and |s + y| at most h, rounded too,
 *          |t - s| < 2 h and what is left of it is smaller; with |v| and |s + v| at most h, likewise |big - t| < 2 h,
 *          and c is watched.
 *   BARE   also every product and C, hence every sum, is a multiple of 2^emin, so that nothing is below that but 0; and
 *          the format's emax is 105 + m or more: beyond the anchor there is a NaN.
 *
 * LIGHT and BARE may give zeros the wrong sign. The sign of a zero decides nothing but that of zero sums, so all other
 * sums are right. A sum does not round to zero; a zero sum is +0 unless both terms are -0, so a sum that does not begin
 * with -0 never is. Where C may be -0, a zero sum at the end of a piece is a reason to give up.
 *
 * Infinities and NaN become one of them that stays to the end of a piece, and are a reason to give up there. */
#ifndef HALFULP_EMU_GEMM_UNFUSED_H
#define HALFULP_EMU_GEMM_UNFUSED_H

#include "emu/gemm/tiles/kernels.h"

enum { HU_UNFUSED_SEQ2 = 0, HU_UNFUSED_KAHAN = 1, HU_UNFUSED_NEUMAIER = 2 };
enum { HU_UNFUSED_BARE = 0, HU_UNFUSED_LIGHT = 1, HU_UNFUSED_FULL = 2 };

typedef struct hu_unfused_grid {
  float scale;    /* 1.5 2^(23 - m); 0: binary32 itself */
  uint32_t floor; /* the pattern of 2^emin */
  uint32_t top;   /* that of the power of two from which on to give up */
  uint32_t sign;  /* 0x80000000 if the format has -0, else 0 */
} hu_unfused_grid;

typedef struct hu_unfused {
  hu_unfused_grid product, sum, joined; /* joined: of the sum of parts */
  int32_t kind, variant;                /* variant: to begin with */
  int32_t minus;                        /* 1: C may hold -0 */
  uint32_t top;                         /* LIGHT: the pattern from which on to give up */
  size_t length;                        /* products of a part; 0: there are no parts */
} hu_unfused;

typedef struct hu_unfused_kernels {
  /* One tile of HU_GEMM_MR x HU_GEMM32_NR through kc steps; layouts as fma32's; `other`: kahan, neumaier: c. 0: gave
   * up, nothing is changed. rows, columns: those that count. */
  int (*tile)(const hu_unfused *steps, int variant, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
              float *sum, float *other);
  /* sum = rnd(sum + part) for a tile. 0: gave up. */
  int (*join)(const hu_unfused_grid *grid, size_t rows, size_t cols, float *sum, const float *part);
} hu_unfused_kernels;

extern const hu_unfused_kernels HU_OF_LEVEL(hu_unfused);

#endif
