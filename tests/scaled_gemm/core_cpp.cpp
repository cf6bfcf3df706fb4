// SPDX-License-Identifier: MIT
// emu/core/scaled_sum.h is C++ too (CUDA compiles it as C++): one element's factors, parts and sum, so that every
// function is looked at.
#include "emu/core/scaled_sum.h"

extern "C" uint32_t hu_test_scaled_sum_cpp(const hu_scaled_operand *a, hu_scaled_sums *t, const hu_lines *in,
                                           const hu_accum *across, hu_num *w, uint32_t *part);

extern "C" uint32_t hu_test_scaled_sum_cpp(const hu_scaled_operand *a, hu_scaled_sums *t, const hu_lines *in,
                                           const hu_accum *across, hu_num *w, uint32_t *part) {
  hu_num c = hui_num_special(HU_KIND_ZERO, 0);
  t->a = hui_scale_source_of(a, 1);
  if (!hui_scaled_plan_across(t, across, 0)) return 0;
  hu_draw d = hui_scaled_draw(t, 1, 0);
  part[0] = hui_scaled_part(t, in, 0, hui_scale_run_end(&t->a, &t->b, 0, t->k), &d);
  hui_scaled_factors(t, 0, 0, w, 1, part, 1);
  hu_num sum = hui_scale_epilogue(&t->a, &t->b, hui_scaled_across(t, 1, w, 1, part, 1, c), c);
  return hui_pack32(sum) + hui_scale_twos(7, part[0]) + (uint32_t)hui_scaled_nan_given(t, in, 0, 0, c);
}
