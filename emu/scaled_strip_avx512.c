/* SPDX-License-Identifier: MIT */
/* AVX-512: sixteen lanes. */
#include "emu/lanes_avx512.h"

#include "emu/scaled_strip_body.h"

const hu_scaled_strips *hu_scaled_strips_avx512(void) { return &table; }
