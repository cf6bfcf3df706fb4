/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#include "emu/lanes_avx2.h"

#include "emu/scaled_strip_body.h"

const hu_scaled_strips *hu_scaled_strips_avx2(void) { return &table; }
