/* SPDX-License-Identifier: MIT */
/* tests/scaled/compare.h - the calls of halfulp/scaled.h against the model, on one matrix. */
#ifndef HALFULP_TESTS_SCALED_COMPARE_H
#define HALFULP_TESTS_SCALED_COMPARE_H

#include "tests/scaled/draw.h"
#include "tests/scaled/model.h"
#include "tests/support/support.h"

enum { ELEMENTS_MAX = 1 << 14 };

/* NULL if everything is equal, else what is not. x: contiguous, rows x cols up to ELEMENTS_MAX elements. Levels,
 * threads and leading dimensions are drawn at random; NULL: all levels off, one thread, contiguous. */
const char *compare(t_random *random, size_t rows, size_t cols, const float *x, const hu_scaling *scaling, hu_mode mode,
                    const float *amax);

#endif
