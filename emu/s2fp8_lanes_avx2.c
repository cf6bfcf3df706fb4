/* SPDX-License-Identifier: MIT */
/* AVX2. */
#include "emu/s2fp8_lanes_loops.h"

const hu_s2_lanes *hu_s2_lanes_avx2(void) { return &lanes; }
