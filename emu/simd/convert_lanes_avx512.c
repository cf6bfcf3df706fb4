/* SPDX-License-Identifier: MIT */
/* AVX-512 F, BW, DQ, VL: sixteen lanes. */
#include "emu/simd/avx512.h"

#include "emu/simd/convert_lanes_body.h"

const hu_kernels *hu_kernels_avx512(void) { return &table; }
