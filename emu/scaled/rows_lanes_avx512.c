/* SPDX-License-Identifier: MIT */
/* AVX-512: sixteen lanes. */
#include "emu/simd/avx512.h"

#define HU_LANES hu_scaled_lanes_avx512
#include "emu/scaled/rows_lanes_body.h"
