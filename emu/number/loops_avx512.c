/* SPDX-License-Identifier: MIT */
/* AVX-512. */
#define HU_BYTES 64
#include "emu/number/loops_body.h"

const hu_number_lanes *hu_number_lanes_avx512(void) { return &lanes; }
