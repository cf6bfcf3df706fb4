/* SPDX-License-Identifier: MIT */
/* cli/question/operand.h - patterns of an element by exponent, with fractions at the boundaries of a rounding. */
#ifndef HALFULP_CLI_QUESTION_OPERAND_H
#define HALFULP_CLI_QUESTION_OPERAND_H

#include "cli/question/random.h"
#include "halfulp/accum.h"

/* What a search knows of an element's format. */
typedef struct id_operand {
  hu_type element;
  int has_sign, emin, emax, digits;  /* exponents of normal numbers; fraction digits */
  uint64_t sign, max, infinity, nan; /* patterns; infinity and NaN: 0 where the format lacks it */
  int integer;
  int first; /* exponent field of 2^emin: 1, or 0 where field 0 holds normal numbers */
} id_operand;

id_operand id_operand_of(hu_type element);
/* Draws a number of this exponent, below emin a subnormal one, its fraction drawn; past the range the largest. */
uint64_t id_operand_draw(const id_operand *operand, int exponent, id_random *random);
/* Returns (+-) 2^exponent, where the format has it. */
uint64_t id_operand_power(const id_operand *operand, int exponent);
/* Returns the other sign; the same where the format is unsigned or the pattern is +0 without a -0. */
uint64_t id_operand_negated(const id_operand *operand, uint64_t x);
/* Draws infinity, NaN, a zero, the largest, the smallest. */
uint64_t id_operand_special(const id_operand *operand, id_random *random);
/* Rounds the value to this element, ties to even. */
uint64_t id_operand_nearest(const id_operand *operand, double x);

#endif
