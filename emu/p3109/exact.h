/* SPDX-License-Identifier: MIT */
/* emu/p3109/exact.h - what the operations of IEEE P3109 are of real numbers, infinities and NaN; and projection. */
#ifndef HALFULP_EMU_P3109_EXACT_H
#define HALFULP_EMU_P3109_EXACT_H

#include "emu/core/round.h"
#include "halfulp/p3109.h"

/* The value of a code; zeros are +0. */
hu_num hu_p3109_value(hu_format f, uint32_t code);

/* The exact result of an operation that gives HU_P3109_NUMBER: all of it, or 64 digits and sticky. Operands have at
 * most 31 digits. A zero result is +0. */
hu_num hu_p3109_exact(int op, const hu_num *x);

/* Rounds and saturates: the draft's Project. */
uint32_t hu_p3109_projected(hu_format fz, hu_p3109_projection projection, hu_num x, uint32_t random);

/* a < b, of neither of which is NaN. */
int hu_p3109_less(hu_num a, hu_num b);

#endif
