// SPDX-License-Identifier: MIT
// emu/core/scaled_sum.h is C++ too (CUDA compiles it as C++): one element's factors, parts and sum, so that every
// function is looked at.
#include "emu/core/scaled_sum.h"

extern "C" uint32_t hu_test_scaled_sum_cpp(const hu_scaled *a, const hu_scaling *scaling, hu_scaled_sums *sums,
                                           const hu_lines *in, const hu_accum *across, hu_num *w, uint32_t *part);

extern "C" uint32_t hu_test_scaled_sum_cpp(const hu_scaled *a, const hu_scaling *scaling, hu_scaled_sums *sums,
                                           const hu_lines *in, const hu_accum *across, hu_num *w, uint32_t *part) {
  hu_num c = hui_num_special(HU_KIND_ZERO, 0);
  sums->a = hui_scale_source_of(a, scaling, 1);
  if (!hui_scaled_plan_across(sums, across, 0)) return 0;
  hu_draw draw = hui_scaled_draw(sums, 1, 0);
  part[0] = hui_scaled_part(sums, in, 0, hui_scale_run_end(&sums->a, &sums->b, 0, sums->k), &draw);
  hui_scaled_factors(sums, 0, 0, w, 1, part, 1);
  hu_num sum = hui_scale_epilogue(&sums->a, &sums->b, hui_scaled_across(sums, 1, w, 1, part, 1, c), c);
  return hui_pack32(sum) + hui_scale_twos(7, part[0]) + (uint32_t)hui_scaled_nan_given(sums, in, 0, 0, c);
}
