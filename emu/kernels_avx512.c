/* SPDX-License-Identifier: MIT */
/* AVX-512 F, BW, DQ, VL: sixteen lanes. */
#include "emu/lanes_avx512.h"

#include "emu/kernels_body.h"

const hu_kernels *hu_kernels_avx512(void) { return &table; }
