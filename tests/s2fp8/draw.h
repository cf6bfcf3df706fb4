/* SPDX-License-Identifier: MIT */
/* tests/s2fp8/draw.h - kinds of shifted and squeezed tensors, and tensors to try them with. */
#ifndef HALFULP_TESTS_S2FP8_DRAW_H
#define HALFULP_TESTS_S2FP8_DRAW_H

#include <stddef.h>

#include "tests/support/random.h"

enum { S2FP8_KINDS = 19 };
extern const char *const s2fp8_kinds[S2FP8_KINDS];

/* One tensor: narrow, wide, a few magnitudes, subnormal, with zeros and specials or not. */
void s2fp8_draw(t_random *random, size_t n, float *x);

#endif
