// SPDX-License-Identifier: MIT
// halfulp/halfulp.hpp: the results are those of the C calls, what cannot be done throws or says so.
#include <halfulp/core.h>
#include <halfulp/halfulp.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

using halfulp::e4m3;

static int wrong = 0;

static void is(bool holds, const char *what) {
  if (!holds) std::printf("not so: %s\n", what);
  wrong += !holds;
}

template <class Call>
static void throws(hu_status status, Call call, const char *what) {
  try {
    call();
  } catch (const halfulp::error &e) {
    is(e.status() == status && std::strstr(e.what(), hu_status_text(status)), what);
    return;
  }
  is(false, what);
}

/* Every pair of codes. */
static void operators() {
  hu_format f = hu_float8_e4m3fn();
  hu_mode rne{}, up{};
  up.round = HU_RTP;
  int different = 0;
  for (unsigned a = 0; a < 256; a++) {
    for (unsigned b = 0; b < 256; b++) {
      e4m3 x = e4m3::from_code(a), y = e4m3::from_code(b), z = x;
      different += (x + y).code() != hu_add(f, rne, f, a, f, b, 0, nullptr);
      different += (x - y).code() != hu_sub(f, rne, f, a, f, b, 0, nullptr);
      different += (x * y).code() != hu_mul(f, rne, f, a, f, b, 0, nullptr);
      different += (x / y).code() != hu_div(f, rne, f, a, f, b, 0, nullptr);
      different += e4m3::mul(x, y, up).code() != hu_mul(f, up, f, a, f, b, 0, nullptr);
      different += e4m3::fma(x, y, x).code() != hu_fma(f, rne, f, a, f, b, f, a, 0, nullptr);
      int order = hu_compare(f, a, f, b);
      different += (x < y) != (order == HU_LESS) || (x >= y) != (order == HU_GREATER || order == HU_EQUAL);
      different += (x == y) != (order == HU_EQUAL) || (x != y) == (order == HU_EQUAL);
      z += y;
      different += z.code() != (x + y).code();
    }
    different += e4m3::sqrt(e4m3::from_code(a)).code() != hu_sqrt(f, rne, f, a, 0, nullptr);
    different += (-e4m3::from_code(a)).code() != (a ^ 0x80) && (a & 0x7F) != 0x7F;
    different += halfulp::bfloat16(e4m3::from_code(a)).code() != hu_convert(hu_bfloat16(), rne, f, a, 0, nullptr);
  }
  is(different == 0, "operators are the C calls");
  is(e4m3(460).code() == 0x7E && e4m3(0.1f).code() == e4m3(0.1).code() && e4m3().code() == 0, "construction");
  static_assert(std::is_constructible_v<e4m3, std::int32_t> && std::is_constructible_v<e4m3, std::uint32_t> &&
                !std::is_constructible_v<e4m3, std::int64_t> && !std::is_constructible_v<e4m3, std::uint64_t>);
  is(double(e4m3(1.3f) * 2.0f) == 2.5, "mixed with built-in numbers");
  std::uint32_t events = 0;
  is(e4m3::rounded(1.01, up, 0, &events).code() == 0x39 && events == HU_EVENT_INEXACT, "rounded");
}

static void formats() {
  halfulp::format f("e4m3fn"), same(hu_float8_e4m3fn()), other("fp(4,3,4)");
  is(f == same && f != other && f.text() == "float8_e4m3fn" && f.limits().max == 448, "formats are values");
  is(halfulp::format(other.text()) == other, "text and back");
  is(halfulp::mode("sra:8").bits == 8, "modes");
  throws(
      HU_E_TEXT, [] { halfulp::format g("fp(4,3)"); }, "no format");
  throws(
      HU_E_MODE, [] { halfulp::check(HU_E_MODE); }, "check");
  throws(
      HU_E_TEXT, [] { halfulp::mode("up"); }, "no mode");
  throws(
      HU_E_FORMAT, [] { halfulp::format g(hu_format{}); }, "no descriptor");
}

static void arrays() {
  halfulp::format f("e4m3fn");
  std::vector<float> x{0.1f, 500.0f, -1e-9f}, z(3), back(3), two(2);
  std::array<e4m3, 3> codes;
  std::vector<std::uint8_t> bytes(3);
  std::vector<std::uint16_t> wide(3);
  std::vector<double> x64{0.1, 500.0, -1e-9}, z64(3);
  hu_events events{};
  halfulp::quantize(x, z, f, hu_mode{}, nullptr, &events);
  halfulp::encode(x, codes, f);
  halfulp::encode(x64, bytes, f);
  halfulp::decode(codes, back, f);
  halfulp::quantize(x64, z64, f);
  is(z[1] == 448 && events.saturated == 1 && events.inexact == 3, "quantize");
  for (std::size_t i = 0; i < 3; i++) {
    is(z[i] == back[i] && z[i] == z64[i] && codes[i].code() == bytes[i], "all ways agree");
    is(float(codes[i]) == z[i], "an array of numbers is an array of codes");
  }
  is(halfulp::try_quantize(x, two, f) == HU_E_SHAPE && halfulp::try_encode(x, wide, f) == HU_E_SHAPE, "sizes");
  std::vector<std::int8_t> with_signs(3);
  std::array<bool, 3> flags{};
  is(halfulp::try_encode(x, with_signs, f) == HU_E_SHAPE && halfulp::try_encode(x, flags, f) == HU_E_SHAPE, "unsigned");
  is(halfulp::try_decode(wide, z, f) == HU_E_SHAPE && halfulp::try_decode(bytes, z, f) == HU_OK, "widths");
  throws(
      HU_E_CARRIER, [&] { halfulp::quantize(x, z, halfulp::format("fp(11,20,0)")); }, "carrier");
  throws(
      HU_E_FORMAT, [&] { halfulp::encode(x, bytes, hu_format{}); }, "no descriptor for an array");
}

/* core.h compiles as C++ too. */
static void core() {
  hu_core c = hu_core_of(hu_float8_e4m3fn(), hu_mode{});
  is(hu_core_encode(&c, 460.0f, 0, nullptr) == 0x7E, "the core in C++");
}

int main() {
  operators();
  formats();
  arrays();
  core();
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
