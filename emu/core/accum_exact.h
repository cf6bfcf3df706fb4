/* SPDX-License-Identifier: MIT */
/* emu/core/accum_exact.h - adds products without rounding, in a two's complement integer as wide as the formats
 * require. Part of emu/core/accum.h. */
#ifndef HALFULP_EMU_CORE_ACCUM_EXACT_H
#define HALFULP_EMU_CORE_ACCUM_EXACT_H

#include "emu/core/exact_digits.h"

/* HU_SUM_WORDS hold products of binary64 numbers, 2^-2148 to 2^2048, a count of 2^64 and a sign. */
typedef struct hu_total {
  uint64_t limb[HU_SUM_WORDS];
  int32_t limbs, low; /* weight of the lowest digit: 2^low */
  uint32_t terms;     /* HU_SUM_ */
} hu_total;

HU_FN void hui_total_start(hu_total *total, int32_t low, int32_t limbs) {
  for (int32_t i = 0; i < limbs; i++) total->limb[i] = 0;
  total->limbs = limbs;
  total->low = low;
  total->terms = 0;
}

HU_FN void hui_total_add(hu_total *total, hu_long x) {
  total->terms |= hui_digits_add_term(total->limb, total->limbs, total->low, x);
}

/* The sum's leading digits; +0 where it is zero. */
HU_FN hu_num hui_total_value(const hu_total *total) {
  return hui_digits_value(total->limb, total->limbs, total->low, total->terms);
}

/* Returns a zero sum of the model `exact` with its sign: docs/numerics.md section 8. */
HU_FN hu_num hui_total_zero(const hu_total *total, uint32_t down) { return hui_digits_zero(total->terms, down); }

#endif
