/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#define HU_BYTES 32
#define HU_LANES hu_hadamard_lanes_avx2
#include "emu/hadamard/lanes_body.h"
