// SPDX-License-Identifier: MIT
// emu/core/scaled.h is C++ too (CUDA compiles it as C++): one element there and back, so that every
// function is looked at.
#include "emu/core/scaled.h"

extern "C" uint32_t hu_test_scaled_cpp(const hu_scaling *scaling, hu_mode mode, uint32_t amax, uint32_t u,
                                       uint32_t *events);

extern "C" uint32_t hu_test_scaled_cpp(const hu_scaling *scaling, hu_mode mode, uint32_t amax, uint32_t u,
                                       uint32_t *events) {
  hu_scaler scaler = hui_scaler_of(*scaling, mode);
  hui_scaler_tensor(&scaler, amax);
  hu_shared b = hui_shared_of(&scaler, amax, 0);
  return hui_scaled_value(&scaler, &b, hui_scaled_element(&scaler, &b, u, 0, events));
}
