/* SPDX-License-Identifier: MIT */
/* emu/arith/function_lanes.h - elementary functions of binary32 operands in binary64 lanes: one table per level. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_LANES_H
#define HALFULP_EMU_ARITH_FUNCTION_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "emu/simd/of_level.h"

/* z[i] = the pattern that stands for the function of the binary32 pattern x[i], as emu/arith/wide.h words it (the same
 * neighbours of 26 digits), for results that binary32's exponents or narrower ones will get; +0 and left[i] = 1 where
 * emu/arith/function_call.h has to be asked, else left[i] = 0. Returns 1 if some are left. Processor settings as
 * there. */
typedef int (*hu_function_lane)(size_t n, uint64_t *z, uint64_t *left, const uint32_t *x);

/* The same for x[i]^y[i]. */
typedef int (*hu_function_pair)(size_t n, uint64_t *z, uint64_t *left, const uint32_t *x, const uint32_t *y);

/* What that stands for rounded to binary32, ties to even: patterns; left[i], all bits set, also where the result is
 * below 2^-126 and not 0, whose events the core finds. Adds to *inexact those that are not left. Returns 1 if some are
 * left. */
typedef int (*hu_function_nearest32)(size_t n, uint32_t *z, uint32_t *left, const uint64_t *wide,
                                     const uint64_t *wide_left, uint64_t *inexact);

enum { HU_FUNCTION_LANES = 14 };
typedef struct hu_function_kernels {
  hu_function_lane lane[HU_FUNCTION_LANES]; /* by HU_OP_ - HU_OP_FUNCTION, those of one operand; NULL: not here */
  hu_function_pair pow;
  hu_function_nearest32 nearest32;
} hu_function_kernels;
extern const hu_function_kernels HU_OF_LEVEL(hu_function_kernels);

#endif
