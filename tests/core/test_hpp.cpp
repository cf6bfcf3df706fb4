// SPDX-License-Identifier: MIT
// halfulp/halfulp.hpp: the results are those of the C calls, what cannot be done throws or says so.
#include <halfulp/core.h>
#include <halfulp/halfulp.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using E4M3 = halfulp::float8_e4m3fn;

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
  hu_format format = hu_float8_e4m3fn();
  hu_mode rne{}, up{};
  up.round = HU_RTP;
  int different = 0;
  for (unsigned a = 0; a < 256; a++) {
    for (unsigned b = 0; b < 256; b++) {
      E4M3 x = E4M3::from_code(a), y = E4M3::from_code(b), z = x;
      different += (x + y).code() != hu_add(format, rne, format, a, format, b, 0, nullptr);
      different += (x - y).code() != hu_sub(format, rne, format, a, format, b, 0, nullptr);
      different += (x * y).code() != hu_mul(format, rne, format, a, format, b, 0, nullptr);
      different += (x / y).code() != hu_div(format, rne, format, a, format, b, 0, nullptr);
      different += E4M3::mul(x, y, up).code() != hu_mul(format, up, format, a, format, b, 0, nullptr);
      different += E4M3::fma(x, y, x).code() != hu_fma(format, rne, format, a, format, b, format, a, 0, nullptr);
      int order = hu_compare(format, a, format, b);
      different += (x < y) != (order == HU_LESS) || (x >= y) != (order == HU_GREATER || order == HU_EQUAL);
      different += (x == y) != (order == HU_EQUAL) || (x != y) == (order == HU_EQUAL);
      z += y;
      different += z.code() != (x + y).code();
    }
    different += E4M3::sqrt(E4M3::from_code(a)).code() != hu_sqrt(format, rne, format, a, 0, nullptr);
    different += (-E4M3::from_code(a)).code() != (a ^ 0x80) && (a & 0x7F) != 0x7F;
    different += halfulp::bfloat16(E4M3::from_code(a)).code() != hu_convert(hu_bfloat16(), rne, format, a, 0, nullptr);
  }
  is(different == 0, "operators are the C calls");
  is(E4M3(460).code() == 0x7E && E4M3(0.1f).code() == E4M3(0.1).code() && E4M3().code() == 0, "construction");
  static_assert(std::is_constructible_v<E4M3, std::int32_t> && std::is_constructible_v<E4M3, std::uint32_t> &&
                !std::is_constructible_v<E4M3, std::int64_t> && !std::is_constructible_v<E4M3, std::uint64_t>);
  is(double(E4M3(1.3f) * 2.0f) == 2.5, "mixed with built-in numbers");
  std::uint32_t events = 0;
  is(E4M3::rounded(1.01, up, 0, &events).code() == 0x39 && events == HU_EVENT_INEXACT, "rounded");
}

/* What a name of the header is. */
struct named {
  hu_format format;
  std::size_t bytes;
  double third; /* 1/3 as a number of that name */
};

template <class Number>
static named named_as(hu_format format) {
  return {format, sizeof(Number), double(Number(1.0 / 3))};
}

/* Every name of the catalogue but `float`, and nothing else, is a number of that format. */
static void names() {
  std::map<std::string, named> all;
#define NUMBER(name, bits) all[#name] = named_as<halfulp::name>(halfulp::formats::name::make());
#define ALIAS(alias, name) all[#alias] = named_as<halfulp::alias>(halfulp::formats::name::make());
#define P3109(K, P, sign, edge)                                                                                \
  all["binary" #K "p" #P #sign #edge] =                                                                        \
      named_as<halfulp::binary##K##p##P##sign##edge>(hu_format_p3109(K, P, #sign[0] == 's', #edge[0] == 'e')); \
  all["p3109_k" #K "p" #P #sign #edge] =                                                                       \
      named_as<halfulp::p3109_k##K##p##P##sign##edge>(hu_format_p3109(K, P, #sign[0] == 's', #edge[0] == 'e'));
#define UNSIGNED(K, P) P3109(K, P, u, e) P3109(K, P, u, f)
#define BOTH(K, P) P3109(K, P, s, e) P3109(K, P, s, f) UNSIGNED(K, P)
  HALFULP_FORMATS(NUMBER)
  HALFULP_FORMAT_ALIASES(ALIAS)
  HALFULP_P3109_FORMATS(BOTH, UNSIGNED)
  std::size_t seen = 0;
  for (std::size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry row = hu_format_at(i);
    std::string words = std::string(row.id) + " " + row.aliases + " ";
    for (std::size_t at = 0, end; (end = words.find(' ', at)) != std::string::npos; at = end + 1) {
      std::string word = words.substr(at, end - at);
      if (word.empty() || word == "float") continue;
      auto found = all.find(word);
      is(found != all.end(), word.c_str());
      if (found == all.end()) continue;
      const named &one = found->second;
      double third = hu_decode64(row.format, hu_encode64(row.format, hu_mode{}, 1.0 / 3, 0, nullptr));
      is(hu_format_equal(one.format, row.format) && 8 * one.bytes == hu_limits_of(row.format).storage, word.c_str());
      is(one.third == third, word.c_str());
      seen++;
    }
  }
  is(seen == all.size() && seen > 300, "no name beside the catalogue's");
}

/* Tags stand in a namespace of their own; what a reader would write compiles. */
static void types() {
  halfulp::float8_e4m3fn q(0.3f);
  halfulp::float16 h = 0.1f;
  halfulp::bfloat16 b = 0.1f;
  halfulp::number<halfulp::formats::float8_e4m3fn> same = q;
  halfulp::number<halfulp::formats::p3109<12, 5>> wide = 0.1f;
  static_assert(std::is_same_v<halfulp::float16, halfulp::binary16> &&
                std::is_same_v<halfulp::e5m2, halfulp::float8_e5m2>);
  static_assert(!std::is_same_v<halfulp::float8_e4m3fn, halfulp::float8_e4m3> && sizeof wide == 2);
  is(q.code() == 0x2A && same == q && h.code() == 0x2E66 && b.code() == 0x3DCD, "numbers by their names");
  is(double(wide) == hu_decode64(hu_format_p3109(12, 5, 1, 1), wide.code()) && float(wide) != 0.1f, "P3109 by K and P");
  is(double(halfulp::half(b)) == double(b), "from one name to another");
}

/* Ambiguous names, and the tags that there were, are free: these would clash otherwise. */
namespace free_names {
struct e4m3 {};
struct e3m4 {};
struct fp8 {};
struct fp4 {};
struct bf8 {};
struct bfloat {};
}  // namespace free_names

static void names_that_mean_nothing() {
  using namespace halfulp;
  using namespace free_names;
  e4m3 *f = nullptr;
  fp8 *a = nullptr;
  fp4 *b = nullptr;
  bf8 *c = nullptr;
  e3m4 *d = nullptr;
  bfloat *e = nullptr;
  is(!f && !a && !b && !c && !d && !e, "names that mean nothing");
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
  std::array<E4M3, 3> codes;
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
  const std::vector<uint8_t> above(x.size(), 0x21);
  const hu_format four = halfulp::format("float4_e2m1fn");
  throws(
      HU_E_CODE, [&] { halfulp::decode(above, z, four); }, "codes above their width");
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
  names();
  types();
  names_that_mean_nothing();
  formats();
  arrays();
  core();
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
