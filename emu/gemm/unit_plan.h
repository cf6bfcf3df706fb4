/* SPDX-License-Identifier: MIT */
/* emu/gemm/unit_plan.h - whether block(...) can be computed in binary64 (unit_steps.h), and what the steps need to know
 * of a model. */
#ifndef HALFULP_EMU_GEMM_UNIT_PLAN_H
#define HALFULP_EMU_GEMM_UNIT_PLAN_H

#include "halfulp/accum.h"
#include "emu/core/round.h"

enum { HU_UNIT_STICKY = 4 }; /* with a rule of cuts: sticky=or */

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
  uint8_t rule, cut, lanes, exact_pair, last, plus; /* cut: HU_BLOCK_CUT_ and perhaps HU_UNIT_STICKY; plus: zeros of a
                                                       block are +0 */
  uint8_t halves;                                   /* blocks of a step: 2 with mod4 */
} hu_unit_plan;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 2^exponent. */
double hui_unit_power(int32_t exponent);
/* Checks for exponents far enough from binary64's ends for all that the steps do. */
int hui_unit_in_reach(int32_t exponent);
/* 1 if the steps serve the model for operands of these specifications: the plan. most: products that lie together,
 * which a step may not pass. Operands whose digits are cut, and scales, are the caller's matter. */
int hui_unit_plan_of(hu_unit_plan *plan, const hu_spec *a, const hu_spec *b, const hu_accum *x, int most);

#ifdef __cplusplus
}
#endif
#endif
