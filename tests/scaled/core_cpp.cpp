// SPDX-License-Identifier: MIT
// emu/core/scaled.h is C++ too (CUDA compiles it as C++): one element there and back, so that every
// function is looked at.
#include "emu/core/scaled.h"

extern "C" uint32_t hu_test_scaled_cpp(const hu_scaling *d, hu_mode mode, uint32_t amax, uint32_t u, uint32_t *events);

extern "C" uint32_t hu_test_scaled_cpp(const hu_scaling *d, hu_mode mode, uint32_t amax, uint32_t u, uint32_t *events) {
  hu_scaler s = hui_scaler_of(*d, mode);
  hui_scaler_tensor(&s, amax);
  hu_shared b = hui_shared_of(&s, amax, 0);
  return hui_scaled_value(&s, &b, hui_scaled_element(&s, &b, u, 0, events));
}
