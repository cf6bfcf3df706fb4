/* SPDX-License-Identifier: MIT */
/* AVX2. */
#define HU_BYTES 32
#include "emu/number/loops_body.h"

const hu_number_lanes *hu_number_lanes_avx2(void) { return &lanes; }
