// SPDX-License-Identifier: MIT
#include <cstdio>
#include <vector>

#include <halfulp/core.h>
#include <halfulp/halfulp.hpp>

int main() {
  hu_format f{};
  if (hu_format_parse(&f, "fp(4,3,0):fn", nullptr) != HU_OK) return 1;
  std::vector<float> x{0.1f, 460.0f}, z(x.size());
  hu_mode mode{};
  if (hu_quantize_n(x.size(), z.data(), 1, x.data(), 1, f, mode, nullptr, nullptr) != HU_OK) return 1;
  std::printf("%a %02x %g\n", z[1], hu_encode(f, mode, x[1], 0, nullptr), hu_limits_of(f).max);
}
