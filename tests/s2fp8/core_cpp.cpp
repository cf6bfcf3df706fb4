// SPDX-License-Identifier: MIT
// emu/core/s2fp8_table.h and what it stands on are C++ too (CUDA compiles them as C++).
#include "emu/core/s2fp8_table.h"

extern "C" uint32_t hu_test_s2fp8_cpp(hu_s2_table *z, const hu_s2 *s2, uint32_t u, uint32_t *events);

extern "C" uint32_t hu_test_s2fp8_cpp(hu_s2_table *z, const hu_s2 *s2, uint32_t u, uint32_t *events) {
  hui_s2_fill_entry(z, s2, u & 0xFF);
  return hui_s2_decoded(s2, hui_s2_element(s2, u, 0, events));
}
