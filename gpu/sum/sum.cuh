/* SPDX-License-Identifier: MIT */
/* gpu/sum/sum.cuh - the terms that arrays.cu and total.cu read. */
#ifndef HALFULP_GPU_SUM_CUH
#define HALFULP_GPU_SUM_CUH

#include "emu/sum/check.h"
#include "emu/sum/term.h"
#include "gpu/base/codes.cuh"

/* Values (one operand) or products (two). */
typedef struct hu_device_terms {
  hu_device_codes x[2];
  int32_t operands;
} hu_device_terms;

static inline hu_device_terms hui_device_terms_of(const hu_sum_codes *x, int operands) {
  hu_device_terms t;
  memset(&t, 0, sizeof t);
  t.operands = operands;
  for (int k = 0; k < operands; k++) {
    t.x[k].data = (const uint8_t *)x[k].data;
    t.x[k].stride = x[k].stride;
    t.x[k].size = hui_code_bytes(x[k].format);
    t.x[k].spec = hui_sum_spec(x[k].format);
  }
  return t;
}

/* Adds term i; returns its bit of hu_sum.terms. */
HU_DEVICE uint32_t hui_device_add_term(uint64_t *word, hu_sum_range range, const hu_device_terms &t, size_t i) {
  hu_num a = hui_load_num(t.x[0], i), b = t.operands > 1 ? hui_load_num(t.x[1], i) : a;
  return hui_sum_add_term(word, (int32_t)range.words, range.low, t.operands, a, b);
}

#endif
