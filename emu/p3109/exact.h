/* SPDX-License-Identifier: MIT */
/* emu/p3109/exact.h - what the operations of IEEE P3109 are of real numbers, infinities and NaN; and projection. */
#ifndef HALFULP_EMU_P3109_EXACT_H
#define HALFULP_EMU_P3109_EXACT_H

#include "emu/core/round.h"
#include "halfulp/p3109.h"

/* The value of a code of a format, unfolded or not; zeros are +0. */
hu_num hui_p3109_value_of(const hu_spec *spec, uint32_t code);
hu_num hui_p3109_value(hu_format format, uint32_t code);

/* The exact result of an operation that gives HU_P3109_NUMBER: all of it, or 64 digits and sticky. Operands have at
 * most 31 digits. A zero result is +0. It is that of report v4.0. */
hu_num hui_p3109_exact(int op, const hu_num *x);

/* Returns that result by other rules of halfulp/p3109.h. */
hu_num hui_p3109_exact_by(uint8_t rules, int op, const hu_num *x);

/* A format and a projection unfolded, once a call; both valid. */
typedef struct hu_p3109_target {
  hu_spec spec;
  uint8_t rules;
} hu_p3109_target;
hu_p3109_target hui_p3109_target_of(hu_format format, hu_p3109_projection projection);

/* Rounds and saturates: the draft's Project. */
uint32_t hui_p3109_projected(const hu_p3109_target *z, hu_num x, uint32_t random);

#endif
