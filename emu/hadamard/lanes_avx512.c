/* SPDX-License-Identifier: MIT */
/* AVX-512: sixteen lanes. */
#define HU_BYTES 64
#define HU_LANES hu_hadamard_lanes_avx512
#include "emu/hadamard/lanes_body.h"
