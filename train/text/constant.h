/* SPDX-License-Identifier: MIT */
/* train/text/constant.h - constants that their format does not keep: other than 0 and 0 there, or below 1 and 1 there.
 * A run with such a number is not the one that was asked for: an eps of 0 divides 0 by 0, a rate of 0 moves nothing, a
 * factor of 1 forgets nothing. */
#ifndef HALFULP_TRAIN_TEXT_CONSTANT_H
#define HALFULP_TRAIN_TEXT_CONSTANT_H

#include <stddef.h>

#include "halfulp/format.h"

enum { HU_CONSTANT_WHY_MAX = 256 };
/* Returns the constant in the format, rounded to nearest even. */
double hui_constant_in(hu_format format, double x);
/* NULL, or `why`: a sentence that begins with `name` and says what works: the smallest number above 0, or the largest
 * below 1. where: what f is, "the state's format". */
const char *hui_constant_wrong(char why[HU_CONSTANT_WHY_MAX], const char *name, double x, hu_format format,
                               const char *where);

#endif
