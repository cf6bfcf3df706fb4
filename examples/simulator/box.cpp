// SPDX-License-Identifier: MIT
// The emulator's sum as a shared library, for `halfulp identify`.
#include "matrix_unit.hpp"

void dot(std::size_t n, const void *a, const void *b, const void *c, void *d) {
  *static_cast<float *>(d) =
      simulator::emulated(n, static_cast<const std::uint16_t *>(a), static_cast<const std::uint16_t *>(b), 1,
                          *static_cast<const float *>(c));
}
