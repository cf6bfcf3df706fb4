/* SPDX-License-Identifier: MIT */
/* AVX2. */
#include "emu/s2fp8/loops_body.h"

const hu_s2_lanes *hu_s2_lanes_avx2(void) { return &lanes; }
