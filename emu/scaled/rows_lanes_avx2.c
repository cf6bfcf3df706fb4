/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#include "emu/simd/avx2.h"

#define HU_LANES hu_scaled_lanes_avx2
#include "emu/scaled/rows_lanes_body.h"
