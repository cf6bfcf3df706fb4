/* SPDX-License-Identifier: MIT */
/* gpu/sum/sum.cuh - the terms that arrays.cu and total.cu read. */
#ifndef HALFULP_GPU_SUM_CUH
#define HALFULP_GPU_SUM_CUH

#include "emu/sum/check.h"
#include "emu/sum/term.h"
#include "gpu/base/calls.h"
#include "gpu/base/codes.cuh"

/* Terms: values of one operand, or products of two. */
typedef struct hu_device_terms {
  hu_device_codes x[2];
  int32_t operands;
} hu_device_terms;

static inline hu_device_terms hui_device_terms_of(const hu_view *x, int operands) {
  hu_device_terms terms;
  memset(&terms, 0, sizeof terms);
  terms.operands = operands;
  for (int k = 0; k < operands; k++) {
    terms.x[k].data = (const uint8_t *)x[k].data;
    terms.x[k].stride = x[k].stride;
    terms.x[k].size = hui_code_bytes(x[k].type.format);
    terms.x[k].spec = hui_sum_spec(x[k].type.format);
  }
  return terms;
}

/* Adds term i; returns its bit of hu_sum.terms. */
HU_DEVICE uint32_t hui_device_add_term(uint64_t *word, hu_sum_range range, const hu_device_terms &terms, size_t i) {
  hu_num a = hui_load_num(terms.x[0], i), b = terms.operands > 1 ? hui_load_num(terms.x[1], i) : a;
  return hui_sum_add_term(word, (int32_t)range.words, range.low, terms.operands, a, b);
}

#endif
