/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#include "emu/simd/avx2.h"

#include "emu/simd/convert_lanes_body.h"

const hu_kernels *hu_kernels_avx2(void) { return &table; }
