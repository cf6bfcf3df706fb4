/* SPDX-License-Identifier: MIT */
/* AVX2: four lanes. */
#include <immintrin.h>

#define W 4
#define wide_sqrt(x) ((wide_d)_mm256_sqrt_pd((__m256d)(x)))
#include "emu/arith/wide_lanes_body.h"

const hu_wide_arith *hu_wide_avx2(void) { return &table; }
