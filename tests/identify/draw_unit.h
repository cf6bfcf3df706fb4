/* SPDX-License-Identifier: MIT */
/* tests/identify/draw_unit.h - units that do not exist: models of every rule and kind, and every key.
 *
 * They are drawn from the table of keys, not from the axes of the search, so that a key that the search lacks shows. */
#ifndef HALFULP_TESTS_DRAW_UNIT_H
#define HALFULP_TESTS_DRAW_UNIT_H

#include "cli/question/random.h"
#include "cli/question/vectors.h"

/* Draws a unit whose sums of two blocks a box of `shape` computes. A unit is drawn again where its text is no model,
 * where these operands are not its own, or where it gives too few different answers to be a unit at all. */
void draw_unit(hu_accum *unit, id_shape *shape, id_random *random);

#endif
