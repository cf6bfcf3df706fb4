/* SPDX-License-Identifier: MIT */
/* halfulp/halfulp.hpp - the library in C++17: formats that are valid, numbers with operators, arrays as containers.
 *
 *   using halfulp::e4m3;
 *   e4m3 a = 1.3f, b = 0.4f, c = a * b + a;              // each operation exact, then rounded once, ties to even
 *   halfulp::format f("fp(4,3,0):fn");                   // throws halfulp::error where that is no format
 *   halfulp::quantize(x, z, f, halfulp::mode("sra:8"));  // std::vector, std::array, std::span, number arrays
 *
 * A thin layer, header only, beside the library: what a call returns is said by the header of the C call that stands
 * with it here. Calls over arrays come twice: `quantize` throws halfulp::error, `try_quantize` returns the status.
 * Operators cannot fail. */
#ifndef HALFULP_HALFULP_HPP
#define HALFULP_HALFULP_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "halfulp/halfulp.h"

namespace halfulp {

/* ---- errors ---- */

/* A status that is not HU_OK, with its sentence. */
class error : public std::runtime_error {
 public:
  explicit error(hu_status s, const std::string &about = std::string())
      : std::runtime_error((about.empty() ? about : about + ": ") + hu_status_text(s)), status_(s) {}
  hu_status status() const noexcept { return status_; }

 private:
  hu_status status_;
};

inline void check(hu_status s, const std::string &about = std::string()) {
  if (s != HU_OK) throw error(s, about);
}

/* ---- formats and modes ---- */

/* A valid format, which converts to hu_format wherever the C calls want one. */
class format {
 public:
  format(hu_format axes) : axes_(axes) {
    const char *wrong = nullptr;
    hu_status s = hu_format_check(axes, &wrong);
    check(s, wrong ? wrong : "");
  }
  explicit format(const std::string &text) : axes_() { check(hu_format_parse(&axes_, text.c_str(), nullptr), text); }

  operator hu_format() const noexcept { return axes_; }
  hu_limits limits() const noexcept { return hu_format_limits(axes_); }
  /* The id of the catalogue where it has the format, else the fp(...) text; format(text()) is the same format. */
  std::string text() const {
    char buffer[HU_FORMAT_TEXT_MAX];
    if (const char *id = hu_format_id(axes_)) return id;
    hu_format_text(buffer, sizeof buffer, axes_);
    return buffer;
  }
  friend bool operator==(const format &a, const format &b) noexcept { return hu_format_equal(a.axes_, b.axes_) != 0; }
  friend bool operator!=(const format &a, const format &b) noexcept { return !(a == b); }

 private:
  hu_format axes_;
};

/* A mode from its rounding's text ("rne", "rtz", "sra:8"); the rest by its fields. */
inline hu_mode mode(const std::string &round) {
  hu_mode m{};
  check(hu_mode_parse_round(&m, round.c_str()), round);
  return m;
}

/* ---- numbers ---- */

/* One value of a format, held as its code: an array of numbers is an array of codes as array.h stores them. Format has
 *
 *   using code = std::uint8_t;         // of the format's storage width
 *   static hu_format make();           // a valid format
 *
 * Construction and operators round to nearest, ties to even, and saturate as is the format's default; `rounded` and the
 * operations by name take a mode, random digits and a place for events as scalar.h and arith.h have them. */
template <class Format>
class number {
 public:
  using code_type = typename Format::code;

  number() noexcept = default; /* code 0 */
  number(float x) noexcept : code_(narrow(hu_encode(Format::make(), hu_mode{}, x, 0, nullptr))) {}
  number(double x) noexcept : code_(narrow(hu_encode64(Format::make(), hu_mode{}, x, 0, nullptr))) {}
  template <class Integer, std::enable_if_t<std::is_integral_v<Integer> && sizeof(Integer) <= 4, int> = 0>
  number(Integer x) noexcept : number(static_cast<double>(x)) {}
  /* Not every one of 64 bits is a double: which rounding comes first is for the caller to say, number(double(x)). */
  template <class Integer, std::enable_if_t<std::is_integral_v<Integer> && (sizeof(Integer) > 4), int> = 0>
  number(Integer x) = delete;
  /* From another format: one rounding, hu_convert. */
  template <class Other, std::enable_if_t<!std::is_same_v<Other, Format>, int> = 0>
  explicit number(number<Other> x) noexcept
      : code_(narrow(hu_convert(Format::make(), hu_mode{}, Other::make(), x.code(), 0, nullptr))) {}

  static number from_code(std::uint32_t code) noexcept {
    number z;
    z.code_ = narrow(code);
    return z;
  }
  static number rounded(double x, hu_mode m, std::uint32_t random = 0, std::uint32_t *events = nullptr) noexcept {
    return from_code(hu_encode64(Format::make(), m, x, random, events));
  }

  code_type code() const noexcept { return code_; }
  explicit operator float() const noexcept { return hu_decode(Format::make(), code_); }
  explicit operator double() const noexcept { return hu_decode64(Format::make(), code_); }

  /* hu_add, hu_sub, hu_mul, hu_div, hu_sqrt, hu_fma (a b + c), hu_compare (HU_LESS ... HU_UNORDERED). */
  static number add(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(hu_add, a, b, m, random, events);
  }
  static number sub(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(hu_sub, a, b, m, random, events);
  }
  static number mul(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(hu_mul, a, b, m, random, events);
  }
  static number div(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(hu_div, a, b, m, random, events);
  }
  static number sqrt(number x, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                     std::uint32_t *events = nullptr) noexcept {
    return from_code(hu_sqrt(Format::make(), m, Format::make(), x.code_, random, events));
  }
  static number fma(number a, number b, number c, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    hu_format f = Format::make();
    return from_code(hu_fma(f, m, f, a.code_, f, b.code_, f, c.code_, random, events));
  }
  static int compare(number a, number b) noexcept {
    return hu_compare(Format::make(), a.code_, Format::make(), b.code_);
  }

  friend number operator+(number a, number b) noexcept { return add(a, b); }
  friend number operator-(number a, number b) noexcept { return sub(a, b); }
  friend number operator*(number a, number b) noexcept { return mul(a, b); }
  friend number operator/(number a, number b) noexcept { return div(a, b); }
  number operator-() const noexcept { return sub(-0.0f, *this); } /* exact in signed formats */
  number &operator+=(number b) noexcept { return *this = *this + b; }
  number &operator-=(number b) noexcept { return *this = *this - b; }
  number &operator*=(number b) noexcept { return *this = *this * b; }
  number &operator/=(number b) noexcept { return *this = *this / b; }
  friend bool operator==(number a, number b) noexcept { return compare(a, b) == HU_EQUAL; }
  friend bool operator!=(number a, number b) noexcept { return compare(a, b) != HU_EQUAL; }
  friend bool operator<(number a, number b) noexcept { return compare(a, b) == HU_LESS; }
  friend bool operator>(number a, number b) noexcept { return compare(a, b) == HU_GREATER; }
  friend bool operator<=(number a, number b) noexcept { return a < b || a == b; }
  friend bool operator>=(number a, number b) noexcept { return a > b || a == b; }

 private:
  static code_type narrow(std::uint32_t code) noexcept { return static_cast<code_type>(code); }
  template <class Call>
  static number two(Call call, number a, number b, hu_mode m, std::uint32_t random, std::uint32_t *events) noexcept {
    hu_format f = Format::make();
    return from_code(call(f, m, f, a.code_, f, b.code_, random, events));
  }

  code_type code_ = 0;
};

/* The usual ones, of formats/ocp.h and formats/ieee.h. */
struct float8_e4m3fn {
  using code = std::uint8_t;
  static hu_format make() noexcept { return hu_float8_e4m3fn(); }
};
struct float8_e5m2 {
  using code = std::uint8_t;
  static hu_format make() noexcept { return hu_float8_e5m2(); }
};
struct float4_e2m1fn {
  using code = std::uint8_t;
  static hu_format make() noexcept { return hu_float4_e2m1fn(); }
};
struct float16 {
  using code = std::uint16_t;
  static hu_format make() noexcept { return hu_binary16(); }
};
struct bfloat {
  using code = std::uint16_t;
  static hu_format make() noexcept { return hu_bfloat16(); }
};
using e4m3 = number<float8_e4m3fn>;
using e5m2 = number<float8_e5m2>;
using e2m1 = number<float4_e2m1fn>;
using binary16 = number<float16>;
using bfloat16 = number<bfloat>;

/* ---- arrays: anything with data() and size() ---- */

namespace inside {
template <class T>
struct element {
  static constexpr std::size_t code_bits = std::is_unsigned_v<T> && !std::is_same_v<T, bool> ? 8 * sizeof(T) : 0;
};
template <class Format>
struct element<number<Format>> {
  static_assert(std::is_standard_layout_v<number<Format>> && sizeof(number<Format>) == sizeof(typename Format::code));
  static constexpr std::size_t code_bits = 8 * sizeof(typename Format::code);
};
template <class A>
using element_of = std::remove_const_t<std::remove_pointer_t<decltype(std::declval<A &>().data())>>;
/* Are the elements of A unsigned integers or numbers as wide as the format's storage? */
template <class A>
bool stores(hu_format f) noexcept {
  return element<element_of<A>>::code_bits == hu_format_limits(f).storage;
}
}  // namespace inside

/* hu_quantize_n, hu_quantize64_n: float to float, double to double. All of these: HU_E_SHAPE where sizes differ. */
template <class X, class Z>
HU_MUST_CHECK hu_status try_quantize(const X &x, Z &&z, hu_format f, hu_mode m = hu_mode{},
                                     const hu_exec *exec = nullptr, hu_events *events = nullptr) noexcept {
  if (x.size() != z.size()) return HU_E_SHAPE;
  if constexpr (std::is_same_v<inside::element_of<const X>, double>) {
    return hu_quantize64_n(x.size(), z.data(), 1, x.data(), 1, f, m, exec, events);
  } else {
    return hu_quantize_n(x.size(), z.data(), 1, x.data(), 1, f, m, exec, events);
  }
}
/* hu_encode_n, hu_encode64_n: float or double to unsigned integers or numbers of the storage's width, else HU_E_SHAPE.
 */
template <class X, class Z>
HU_MUST_CHECK hu_status try_encode(const X &x, Z &&z, hu_format f, hu_mode m = hu_mode{}, const hu_exec *exec = nullptr,
                                   hu_events *events = nullptr) noexcept {
  if (hu_format_check(f, nullptr) != HU_OK) return HU_E_FORMAT;
  if (x.size() != z.size() || !inside::stores<Z>(f)) return HU_E_SHAPE;
  if constexpr (std::is_same_v<inside::element_of<const X>, double>) {
    return hu_encode64_n(x.size(), z.data(), 1, x.data(), 1, f, m, exec, events);
  } else {
    return hu_encode_n(x.size(), z.data(), 1, x.data(), 1, f, m, exec, events);
  }
}
/* hu_decode_n, hu_decode64_n. */
template <class X, class Z>
HU_MUST_CHECK hu_status try_decode(const X &x, Z &&z, hu_format f, const hu_exec *exec = nullptr) noexcept {
  if (hu_format_check(f, nullptr) != HU_OK) return HU_E_FORMAT;
  if (x.size() != z.size() || !inside::stores<const X>(f)) return HU_E_SHAPE;
  if constexpr (std::is_same_v<inside::element_of<Z>, double>) {
    return hu_decode64_n(x.size(), z.data(), 1, x.data(), 1, f, exec);
  } else {
    return hu_decode_n(x.size(), z.data(), 1, x.data(), 1, f, exec);
  }
}

template <class X, class Z>
void quantize(const X &x, Z &&z, hu_format f, hu_mode m = hu_mode{}, const hu_exec *exec = nullptr,
              hu_events *events = nullptr) {
  check(try_quantize(x, z, f, m, exec, events), "quantize");
}
template <class X, class Z>
void encode(const X &x, Z &&z, hu_format f, hu_mode m = hu_mode{}, const hu_exec *exec = nullptr,
            hu_events *events = nullptr) {
  check(try_encode(x, z, f, m, exec, events), "encode");
}
template <class X, class Z>
void decode(const X &x, Z &&z, hu_format f, const hu_exec *exec = nullptr) {
  check(try_decode(x, z, f, exec), "decode");
}

}  // namespace halfulp

#endif
