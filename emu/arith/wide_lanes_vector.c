/* SPDX-License-Identifier: MIT */
/* The baseline level: two lanes (SSE2, NEON, or whatever the compiler makes of them). */
#include "emu/core/port.h"

#if defined(__GNUC__) || defined(__clang__)

#define W 2
#if HU_X86
#include <emmintrin.h>
#define wide_sqrt(x) ((wide_d)_mm_sqrt_pd((__m128d)(x)))
#endif
#include "emu/arith/wide_lanes_body.h"

const hu_wide_arith *hu_wide_vector(void) { return &table; }

#else
#include "emu/arith/wide.h"

const hu_wide_arith *hu_wide_vector(void) { return NULL; }
#endif
