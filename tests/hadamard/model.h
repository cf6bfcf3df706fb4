/* SPDX-License-Identifier: MIT */
/* tests/hadamard/model.h - docs/hadamard.md once more, step by step in MPFR. */
#ifndef HALFULP_TESTS_HADAMARD_MODEL_H
#define HALFULP_TESTS_HADAMARD_MODEL_H

#include "halfulp/hadamard.h"

/* The block b[0], b[stride], ... of n elements, in place; minus[i]: sign number i is -1. */
void model_block(uint32_t n, float *b, size_t stride, const int *minus, int norm, int inverse);
/* A matrix in place. */
void model_transform(size_t rows, size_t cols, float *z, size_t ldz, const hu_hadamard *transform, hu_stream stream,
                     int inverse);

#endif
