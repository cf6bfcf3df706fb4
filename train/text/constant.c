/* SPDX-License-Identifier: MIT */
/* See constant.h. */
#include "train/text/constant.h"

#include <math.h>
#include <stdio.h>

#include "halfulp/scalar.h"
#include "train/text/words.h"

double hui_constant_in(hu_format format, double x) {
  const hu_mode rne = {0};
  return hu_decode64(format, hu_encode64(format, rne, x, 0, NULL));
}

/* A power of two as one, too: the smallest numbers are. */
static const char *number_text(char text[64], double x) {
  char digits[HU_DECIMAL_TEXT_MAX];
  int exponent;
  hui_write_number(digits, x);
  if (frexp(x, &exponent) == 0.5 && exponent < -9)
    snprintf(text, 64, "2^%d (%.6g)", exponent - 1, x);
  else
    snprintf(text, 64, "%.40s", digits);
  return text;
}

const char *hui_constant_wrong(char why[HU_CONSTANT_WHY_MAX], const char *name, double x, hu_format format,
                               const char *where) {
  const hu_mode down = {.round = HU_RTZ};
  char given[64], works[64];
  double size = fabs(x), there = fabs(hui_constant_in(format, x));
  if (size > 0 && there == 0) {
    snprintf(why, HU_CONSTANT_WHY_MAX, "%.32s: not above 0 in %.48s: %.40s is 0 there; the smallest above 0 is %.40s",
             name, where, number_text(given, size), number_text(works, hu_limits_of(format).min));
    return why;
  }
  if (size < 1 && there == 1) {
    double below = hu_decode64(format, hu_encode64(format, down, 1 - 0x1p-53, 0, NULL));
    snprintf(why, HU_CONSTANT_WHY_MAX, "%.32s: not below 1 in %.48s: %.40s is 1 there; the largest below 1 is %.40s",
             name, where, number_text(given, size), number_text(works, below));
    return why;
  }
  return NULL;
}
