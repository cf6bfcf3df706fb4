/* SPDX-License-Identifier: MIT */
/* AVX-512: eight lanes. */
#include <immintrin.h>

#define W 8
#define wide_sqrt(x) ((wide_d)_mm512_sqrt_pd((__m512d)(x)))
#include "emu/arith/wide_lanes_body.h"

const hu_wide_arith *hu_wide_avx512(void) { return &table; }
