/* SPDX-License-Identifier: MIT */
/* emu/gemm/unit.h - the blocks of matrix units (emu/core/accum_block.h) in binary64 lanes, a column of D in each: one
 * table a level.
 *
 * Operands fit binary32, so a product has at most 48 digits and lies between 2^-298 and 2^256: x = a b is exact. Beside
 * every operand lies its power |a|p = 2^e(a), 0 for a zero and infinity for a special one; |a|p |b|p = 2^e(ab) is exact
 * too, zero products have power 0, and the largest exponent is the largest of the powers. Everything the rules then do
 * is an exact scaling by a power of two, a rounding to an integer in a stated direction, or a sum of integers that
 * stays below 2^53; the caller (unit.c) admits no parameters for which it would not. Operands of models with
 * scales are taken times their scales, still few digits and within 2^-600 and 2^550. So
 *
 *   cut to F digits below E   scale by 2^(F-E), round to an integer by the rule's direction
 *   groups                    the products of a group, whose scales are in the operands, are added first: few digits
 *   S 2^(E-F) into `out`      hu_unit_grid: Q = 2^(max(e, emin) - m) the step of out's grid at x; x / Q to an integer
 *                             in the mode's direction, times Q. Binary32, ties to even: the processor's conversion
 *
 * Rounded additions (tree, chain, lanes, c=last, promote) round s = x + y to odd in binary64 first: with two digits or
 * more beyond those of the format, the second rounding is that of the exact sum. Into binary32 the plain sum of two
 * binary32 numbers does as well: 53 >= 2 24 + 2, and sums below 2^-126 are exact.
 *
 * `exact`: h + low is the sum of the products, without error: h by Knuth's two-sums, low the sum of their errors, all
 * multiples of the products' lowest place; the caller checks that it fits 53 digits, and a last two-sum makes it at
 * most half a digit of h. Then h + c = h' + e, and what is wanted is h' + t, t = e + low, to odd. If c cancels more
 * than half of h, e = 0 and t = low. Else |t| is at most two digits of h': points of the grid about h', less h', are
 * even at the precision of t, so that t to odd lies on t's side of each, and h' + that, to odd, is h' + t to odd.
 *
 * NaN and infinities, of operands, or of a result beyond its format, become a NaN or an infinity in the lane, which no
 * step turns into a number: at the end it tells that the element is one for the integers. */
#ifndef HALFULP_EMU_GEMM_UNIT_H
#define HALFULP_EMU_GEMM_UNIT_H

#include "emu/gemm/tiles/kernels.h"

#define HU_UNIT_MR 4
#define HU_UNIT_NR 8
#define HU_UNIT_MB 64
#define HU_UNIT_NB 64
#define HU_UNIT_KC 128

/* Where rounded steps go. */
typedef struct hu_unit_grid {
  double emin, max;      /* 2^emin, the largest number */
  double tiny;           /* exact results below become zeros of their sign; 0: none */
  double least;          /* rounded ones, likewise */
  uint64_t top, step;    /* (2046 + m) 2^52: the pattern of 1 / Q is this less that of 2^e; m 2^52 */
  uint64_t sticky;       /* to odd without subnormals: digits of binary64 that go; 0: another way */
  uint8_t round, narrow; /* HU_RNE ... HU_RTO; 1: binary32, ties to even */
} hu_unit_grid;

typedef struct hu_unit_plan {
  hu_unit_grid out, join, part; /* part: of promote and splitk */
  double emin, acc_emin;        /* 2^emin of align, of c */
  double far, big;              /* late: 2^far, 2^big; infinity: none */
  uint64_t top, kept;           /* (2046 + F) 2^52, F 2^52 */
  uint64_t top2, kept2;         /* late: the same of F2 */
  double late;                  /* 2^(F2 + 1 - F) */
  uint32_t length, group;
  uint8_t rule, cut, lanes, exact_pair, last, plus; /* plus: zeros of a block are +0 */
  uint8_t halves; /* blocks of a step: 2 with mod4 */
} hu_unit_plan;

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
  void (*prepare)(const hu_unit_operand *o, size_t n, const float *x, double *v, double *p);
  /* acc = the blocks of products 0 ... count - 1 on top of acc. rows, columns: rounded up to MR, NR. count: a multiple
   * of the length (of a step of halves) but for chain and lanes. */
  void (*blocks)(const hu_unit_plan *q, size_t rows, size_t cols, size_t count, const double *a, const double *b,
                 double *acc);
  /* sum = rnd(sum + acc) */
  void (*join)(const hu_unit_grid *g, size_t rows, size_t cols, const double *acc, double *sum);
  /* sum = rnd(sum + rnd(sa sb) acc), sa of the row, sb of the column, the product in it not rounded */
  void (*join_scaled)(const hu_unit_grid *g, size_t rows, size_t cols, const double *sa, const double *sb,
                      const double *acc, double *sum);
} hu_unit_kernels;

extern const hu_unit_kernels HU_OF_LEVEL(hu_unit);

#endif
