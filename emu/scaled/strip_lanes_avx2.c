/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#include "emu/simd/avx2.h"

#include "emu/scaled/strip_lanes_body.h"

const hu_scaled_strips *hu_scaled_strips_avx2(void) { return &table; }
