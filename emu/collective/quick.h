/* SPDX-License-Identifier: MIT */
/* emu/collective/quick.h - exact sums of binary32 numbers whose digits all fit into a binary64 number, which is most
 * of them: the sum of 16 gradients does where their exponents are within 25 of each other.
 *
 * Argument. Terms are binary64 numbers exactly. Each addition gives the nearest binary64 number and, by the six
 * operations of Moller and Knuth, what it lost; these are exact for finite results. Where nothing was lost in any
 * addition, the last sum is the exact one, with the sign of zero that the exact sum has to nearest: -0 where all terms
 * are -0. It is rounded once, to binary32. Where something was lost, or is NaN, `lost` says so. Only sums are taken
 * whose rounding has no other event than `inexact`. */
#ifndef HALFULP_EMU_COLLECTIVE_QUICK_H
#define HALFULP_EMU_COLLECTIVE_QUICK_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/collective.h"

typedef struct hu_quick_sums {
  double sum[HU_COLLECTIVE_PIECE], lost[HU_COLLECTIVE_PIECE]; /* lost: 0, or something was */
} hu_quick_sums;

/* Returns 1 if this CPU adds as the argument needs. */
int hui_quick_sums_possible(void);
/* Sums of n numbers begin with x, and have x added, whatever the caller's floating-point environment is. */
void hui_quick_sums_begin(hu_quick_sums *sums, size_t n, const float *x);
void hui_quick_sums_add(hu_quick_sums *sums, size_t n, const float *x);
/* z = the sums rounded to nearest even; lost[i] becomes 1 where z[i] is not to be used, else 0. Returns how many of the
 * others are inexact. */
uint64_t hui_quick_sums_round(hu_quick_sums *sums, size_t n, float *z);

#endif
