// SPDX-License-Identifier: MIT
// emu/core/accum.h is C++ too (CUDA compiles it as C++): one sum, so that every function of it is looked at.
#include "emu/core/accum.h"

extern "C" uint64_t hu_test_accum_cpp(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, uint32_t *events);

extern "C" uint64_t hu_test_accum_cpp(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, uint32_t *events) {
  hu_draw draw = hui_draw_of(1, 2, nullptr);
  hu_num sum = hui_accum_sum(plan, in, n, hui_num_special(HU_KIND_ZERO, 0), &draw);
  return hui_round(&plan->sum.spec, sum, 0, events);
}
