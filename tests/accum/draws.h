/* SPDX-License-Identifier: MIT */
/* tests/accum/draws.h - dot products that hurt: exponents close, far apart, at both ends of the range; cancellation;
 * ties; C against the sum itself; specials; any pattern. */
#ifndef HALFULP_TESTS_DRAWS_H
#define HALFULP_TESTS_DRAWS_H

#include "tests/accum/dots.h"

/* Fills in operands, C and scales where elements, model and n of x are there. */
void draw_operands(t_dot *x, t_random *random);
/* A preset with everything but n and operands. */
void draw_preset(t_dot *x, const hu_accum_preset *preset);
/* A random model of a kind (HU_ACCUM_), of a rule (HU_BLOCK_, other kinds: ignored), with elements that it takes; all
 * parameters. */
void draw_model(t_dot *x, t_random *random, uint32_t kind, uint8_t rule);

#endif
