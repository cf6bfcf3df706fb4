/* SPDX-License-Identifier: MIT */
/* emu/sum/term.h - one term of a sum, a number or a product, for the CPU's arrays of sums and the CUDA kernels. */
#ifndef HALFULP_EMU_SUM_TERM_H
#define HALFULP_EMU_SUM_TERM_H

#include "emu/core/exact_digits.h"

/* What a format's codes mean; nothing is rounded to it. */
HU_FN hu_spec hui_sum_spec(hu_format format) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  return hui_spec_of(format, rne);
}

/* Adds a (one operand) or a b (two); returns its bit of hu_sum.terms. Infinity times zero is no term. */
HU_FN uint32_t hui_sum_add_term(uint64_t *word, int32_t words, int32_t low, int32_t operands, hu_num a, hu_num b) {
  if (operands > 1 && hui_infinity_times_zero(a, b)) return HU_SUM_INVALID;
  return hui_digits_add_term(word, words, low, operands > 1 ? hui_long_product(a, b) : hui_long_of(a));
}

#endif
