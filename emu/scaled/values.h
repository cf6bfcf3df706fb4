/* SPDX-License-Identifier: MIT */
/* emu/scaled/values.h - codes of a byte under shared scales as values, where each code is a finite number: a loop
 * without calls, which takes up a scale only where its block begins. Each level has one table of them;
 * emu/scaled/decode.c calls it, and leaves what it does not take to the strips of emu/scaled/strip.h.
 *
 * Why the bits are those of the strips: a finite code's value is hui_plain_decode (emu/simd/round.h), or, in two's
 * complement, its number of units as a float, whose exponent has that of a unit added. Both add a constant to the
 * pattern of a number that is not zero: base to a normal code's, scale to a subnormal one's and to units'. Under a
 * scale 2^e (HU_SHIFT, by = -e 2^23) the strips take `by` from that sum, and here it is taken from the constant. Sums
 * of patterns are modulo 2^32, so both orders give the same one; a zero has neither. Under HU_TIMES the value is
 * multiplied, as there. */
#ifndef HALFULP_EMU_SCALED_VALUES_H
#define HALFULP_EMU_SCALED_VALUES_H

#include "emu/scaled/strip.h"

enum { HU_VALUES_SIDE = 16 }; /* a multiple of each level's lanes */

typedef struct hu_scaled_values {
  /* z = values of n codes in blocks of `side`, `by` having an amount per block as in hu_scaled_strips. side is 1 or a
   * multiple of HU_VALUES_SIDE. Returns how many codes, from the first on, it has turned into values: it ends before a
   * vector of codes that has an infinity, a NaN or 10...0 that is not -0, and before the last vector unless whole. */
  size_t (*decode)(const hu_scaled_grid *grid, int way, size_t n, size_t side, uint32_t *z, const uint8_t *codes,
                   const uint32_t *by);
} hu_scaled_values;
extern const hu_scaled_values HU_OF_LEVEL(hu_scaled_values);

/* Checks whether this loop takes codes of the format. */
static inline int hui_scaled_values_can(const hu_scaled_grid *grid, size_t code_size) {
  return code_size == 1 && (grid->twos || grid->constants.way.plain == 2);
}

#endif
