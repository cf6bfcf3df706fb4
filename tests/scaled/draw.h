/* SPDX-License-Identifier: MIT */
/* tests/scaled/draw.h - descriptions of scaled tensors and matrices, drawn. */
#ifndef HALFULP_TESTS_SCALED_DRAW_H
#define HALFULP_TESTS_SCALED_DRAW_H

#include "halfulp/scaled.h"
#include "tests/support/support.h"

/* A valid description, of any kind but formulas. */
hu_scaling random_scaling(t_random *random);
/* A valid description by formulas: a rule of a program, or drawn ones. */
hu_scaling random_formulas(t_random *random);
/* A matrix with a share of everything: edges of amax among them. */
void random_matrix(t_random *random, size_t n, float *x, const hu_scaling *scaling);

#endif
