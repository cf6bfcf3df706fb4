/* SPDX-License-Identifier: MIT */
/* AVX-512. */
#include "emu/arith/function_loops_body.h"

const hu_function_lane *hu_function_lanes_avx512(void) { return lanes; }
hu_function_nearest32 hu_function_nearest32_avx512(void) { return nearest32; }
