/* SPDX-License-Identifier: MIT */
/* tests/gemm/extension.h - a product with all that the processor has against what is left with levels off. */
#ifndef HALFULP_TESTS_GEMM_EXTENSION_H
#define HALFULP_TESTS_GEMM_EXTENSION_H

#include "tests/gemm/problem.h"

/* On one and three threads and in place, bytes, padding and events against one thread with `off`; adds to *runs. model:
 * for the message. Failures are cmocka's. */
void problem_same_with(const problem *p, const char *model, uint32_t off, unsigned long *runs);

#endif
