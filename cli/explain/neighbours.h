/* SPDX-License-Identifier: MIT */
/* cli/explain/neighbours.h - where a number lies between two neighbours of a format, exactly (docs/numerics.md section
 * 2). For explanations; results always come from the library. */
#ifndef HALFULP_CLI_EXPLAIN_NEIGHBOURS_H
#define HALFULP_CLI_EXPLAIN_NEIGHBOURS_H

#include <stdint.h>

#include "halfulp/format.h"
#include "halfulp/mode.h"

/* |x| = (steps + fraction) 2^unit, 0 <= fraction = part / 2^part_bits < 1; the neighbours are steps 2^unit and
 * (steps + 1) 2^unit, the exponent unbounded above. */
typedef struct neighbours {
  uint64_t steps, part;
  int unit, part_bits; /* part_bits may exceed 64 when steps is 0: the fraction is tiny then */
  int lower_odd;
  int below_all; /* the format has no zero and |x| is below its smallest value: no rounding takes place */
  int gap;       /* the neighbours are 0 and the smallest normal value */
} neighbours;

/* Returns the neighbours of x, which is finite and not 0. */
neighbours neighbours_of(hu_format format, double x);
/* Returns the sign of fraction - 1/2, compared exactly. */
int neighbours_half(const neighbours *between);
/* Returns a numerator over 2^bits, floor(fraction 2^bits), and 1 in *rest if something is left. bits <= 33. */
uint64_t neighbours_scaled(const neighbours *between, int bits, int *rest);
/* Returns 1 if mode takes the upper neighbour (random: R of the stochastic modes). */
int neighbours_take_upper(const neighbours *between, hu_mode mode, int negative, uint32_t random);
/* Returns how many of the 2^N values of R take the upper neighbour. */
uint64_t neighbours_upward(const neighbours *between, hu_mode mode);

#endif
