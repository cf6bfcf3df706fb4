/* SPDX-License-Identifier: MIT */
/* AVX-512: sixteen lanes. */
#include "emu/simd/avx512.h"

#include "emu/scaled/strip_lanes_body.h"

const hu_scaled_strips *hu_scaled_strips_avx512(void) { return &table; }
