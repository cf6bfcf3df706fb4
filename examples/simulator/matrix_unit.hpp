// SPDX-License-Identifier: MIT
// The matrix unit of a simulator: D = A B + C of one instruction, in tiles of 16 x 16 x 16. A and B are codes of
// binary16, C and D are binary32. A unit is either the one that this simulator has had so far (emulated), or a model of
// halfulp, which a text names: one hu_gemm for an instruction.
#ifndef MATRIX_UNIT_HPP
#define MATRIX_UNIT_HPP

#include <halfulp/halfulp.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace simulator {

constexpr std::size_t side = 16;

struct tile {
  std::uint16_t a[side * side], b[side * side];  // codes of binary16, row by row
  float c[side * side];
};

// The number of a code, from a table.
inline float value(std::uint16_t code) {
  static const std::vector<float> numbers = [] {
    std::vector<float> made(65536);
    for (std::uint32_t i = 0; i < made.size(); i++) made[i] = hu_decode(hu_binary16(), i);
    return made;
  }();
  return numbers[code];
}

// One element as the emulator computes it: two products at a time are added in binary32, then that sum to C.
inline float emulated(std::size_t n, const std::uint16_t *a, const std::uint16_t *b, std::size_t apart, float c) {
  for (std::size_t k = 0; k < n; k += 2)
    c += value(a[k]) * value(b[k * apart]) + value(a[k + 1]) * value(b[(k + 1) * apart]);
  return c;
}

// A unit by its text: a name of `halfulp models`, or a model written out.
class matrix_unit {
 public:
  explicit matrix_unit(const char *text) {
    std::size_t where = 0;
    hu_status status = hu_accum_parse(&model, text, &where);
    if (status != HU_OK)
      throw std::invalid_argument("'" + std::string(text) + "', character " + std::to_string(where + 1) + ": " +
                                  hu_status_text(status));
  }

  void run(const tile &x, float *d) const {
    hu_view a = hu_matrix_codes(x.a, side, hu_binary16()), b = hu_matrix_codes(x.b, side, hu_binary16());
    hu_view c = hu_matrix_floats(x.c, side);
    hu_output result = hu_matrix_floats_out(d, side);
    hu_status status = hu_gemm(side, side, side, &result, &a, &b, &c, &model, nullptr);
    if (status != HU_OK) throw std::runtime_error(hu_status_text(status));
  }

 private:
  hu_accum model;
};

}  // namespace simulator

// The box that `halfulp identify --library` asks.
extern "C" void dot(std::size_t n, const void *a, const void *b, const void *c, void *d);

#endif
