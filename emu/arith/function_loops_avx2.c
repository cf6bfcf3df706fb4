/* SPDX-License-Identifier: MIT */
/* AVX2. */
#include "emu/arith/function_loops_body.h"

const hu_function_lane *hu_function_lanes_avx2(void) { return lanes; }
hu_function_nearest32 hu_function_nearest32_avx2(void) { return nearest32; }
