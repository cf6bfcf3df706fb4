/* SPDX-License-Identifier: MIT */
/* tests/gemm/models.h - products under models that lanes serve: the lanes against the integers (all levels off), and
 * operands to try them with. Failures are cmocka's. */
#ifndef HALFULP_TESTS_GEMM_MODELS_H
#define HALFULP_TESTS_GEMM_MODELS_H

#include "tests/gemm/problem.h"

hu_format named_format(const char *name);
hu_accum named_model(const char *text);
double power_of_two(int e);
/* Code number `at`: v, which the format should have. */
void plain_set(plain *x, size_t at, double v);
/* Finite numbers of exponents about `centre`, `width` of them; some have few digits (ties), some are zero. */
void plain_refill(plain *x, t_random *r, int centre, uint32_t width);
/* An infinity or a NaN among many numbers. */
void plain_spoil(plain *x, t_random *r);
/* Bytes and events are those of the integers at every level and thread count, and in place; adds to *runs. model: for
 * the message. */
void problem_same_at_levels(const problem *p, const char *model, unsigned long *runs);
/* A random element of the best level against hu_dot, where all is stored as codes. */
void problem_spot(const problem *p, t_random *r);

#endif
