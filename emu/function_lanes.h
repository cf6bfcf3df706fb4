/* SPDX-License-Identifier: MIT */
/* emu/function_lanes.h - elementary functions of binary32 operands in binary64 lanes. One table a level. */
#ifndef HALFULP_EMU_FUNCTION_LANES_H
#define HALFULP_EMU_FUNCTION_LANES_H

#include <stddef.h>
#include <stdint.h>

/* z[i] = the pattern that stands for the function of the binary32 pattern x[i], as emu/arith_wide.h words it (the same
 * neighbours of 26 digits), for results that binary32's exponents or narrower ones will get; +0 and left[i] = 1 where
 * emu/function_call.h has to be asked, else left[i] = 0. Returns 1 if some are left. Processor settings as there. */
typedef int (*hu_function_lane)(size_t n, uint64_t *z, uint64_t *left, const uint32_t *x);

/* By HU_OP_ - HU_OP_FUNCTION, those of one operand; NULL: not here. */
enum { HU_FUNCTION_LANES = 14 };
const hu_function_lane *hu_function_lanes_vector(void);
const hu_function_lane *hu_function_lanes_avx2(void);
const hu_function_lane *hu_function_lanes_avx512(void);

#endif
