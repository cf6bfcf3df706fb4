// SPDX-License-Identifier: MIT
// emu/core/number.h is C++ too (CUDA compiles it as C++): one conversion, so that every function is looked at.
#include "emu/core/number.h"

extern "C" uint32_t hu_test_number_cpp(hu_number z, const uint32_t *values, hu_mode mode, hu_number from, uint32_t code,
                                       uint32_t *events);

extern "C" uint32_t hu_test_number_cpp(hu_number z, const uint32_t *values, hu_mode mode, hu_number from, uint32_t code,
                                       uint32_t *events) {
  hu_number_spec spec, source;
  hui_number_spec_make(&spec, z, values, mode);
  hui_number_spec_make(&source, from, values, mode);
  uint32_t c = hui_number_round(&spec, hui_number_unpack(&source, code), 0, events);
  return static_cast<uint32_t>(hui_quantity_pack64(hui_number_unpack(&spec, c))) +
         hui_quantity_pack32(hui_number_unpack(&spec, c));
}
