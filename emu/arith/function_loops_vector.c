/* SPDX-License-Identifier: MIT */
/* The baseline level. */
#include "emu/arith/function_loops_body.h"

const hu_function_lane *hu_function_lanes_vector(void) { return lanes; }
hu_function_nearest32 hu_function_nearest32_vector(void) { return nearest32; }
