/* SPDX-License-Identifier: MIT */
/* tests/p3109/drawn.h - formats, projections and operands that the tests of P3109 go through or draw. */
#ifndef HALFULP_TESTS_P3109_DRAWN_H
#define HALFULP_TESTS_P3109_DRAWN_H

#include "tests/p3109/reference.h"
#include "tests/support/support.h"

/* Format i of those with k bits; 0: there are no more. */
int format_at(t_parameters *parameters, int k, int i);
/* Returns a format of 3 bits to `most`. */
t_parameters random_format(t_random *random, int most);

enum { ROUNDS = 9, RULES = HU_P3109_V4_0 + 1 };
/* Projection i of all; 0: there are no more. Stochastic ones have 3 bits. */
int projection_at(hu_p3109_projection *rho, int i);
hu_p3109_projection random_projection(t_random *random);

typedef struct t_operands {
  t_parameters f[HU_P3109_OPERANDS_MAX];
  uint32_t code[HU_P3109_OPERANDS_MAX];
  real x[HU_P3109_OPERANDS_MAX], result;
} t_operands;
t_operands *operands_new(void);
void operands_free(t_operands *z);

#endif
