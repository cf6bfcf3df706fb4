/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#include "emu/lanes_avx2.h"

#include "emu/kernels_body.h"

const hu_kernels *hu_kernels_avx2(void) { return &table; }
