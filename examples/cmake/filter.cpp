// SPDX-License-Identifier: MIT
// A filter written once, for any type of numbers, and run in several formats against double.
#include <halfulp/halfulp.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

// A format of one's own: 1 sign, 5 exponent, 6 trailing significand bits.
struct float12 {
  using code = std::uint16_t;
  static hu_format make() noexcept { return hu_format_ieee(5, 6, 0); }
};

template <class T>
static std::vector<double> filtered(const std::vector<double> &signal, const std::vector<double> &taps) {
  std::vector<double> out;
  for (std::size_t i = taps.size(); i <= signal.size(); i++) {
    T sum = 0;
    for (std::size_t k = 0; k < taps.size(); k++) sum += T(taps[k]) * T(signal[i - taps.size() + k]);
    out.push_back(double(sum));
  }
  return out;
}

template <class T>
static void report(const char *name, const std::vector<double> &signal, const std::vector<double> &taps) {
  std::vector<double> want = filtered<double>(signal, taps), z = filtered<T>(signal, taps);
  double worst = 0;
  for (std::size_t i = 0; i < z.size(); i++) worst = std::fmax(worst, std::fabs(z[i] - want[i]));
  std::printf("%-18s last %-12.8g largest error %.3g\n", name, z.back(), worst);
}

int main() {
  std::vector<double> taps{0.1, 0.2, 0.4, 0.2, 0.1}, signal;
  for (int i = 0; i < 200; i++) signal.push_back((i * 29 % 64 - 32) / 16.0);
  report<float>("binary32", signal, taps);
  report<halfulp::binary16>("binary16", signal, taps);
  report<halfulp::bfloat16>("bfloat16", signal, taps);
  report<halfulp::number<float12>>(halfulp::format(float12::make()).text().c_str(), signal, taps);
  report<halfulp::float8_e4m3fn>("float8_e4m3fn", signal, taps);

  // Whole arrays at once, with what happened on the way.
  std::vector<float> x(signal.begin(), signal.end()), z(x.size());
  hu_events events{};
  halfulp::quantize(x, z, halfulp::format("fp(4,3,0):fn"), halfulp::mode("rtz"), nullptr, &events);
  std::printf("%zu values, %llu inexact\n", z.size(), static_cast<unsigned long long>(events.inexact));
  try {
    halfulp::format wrong("fp(4,3,0):fnord");
  } catch (const halfulp::error &e) {
    std::printf("%s\n", e.what());
  }
}
