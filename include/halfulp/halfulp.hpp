/* SPDX-License-Identifier: MIT */
/* halfulp/halfulp.hpp - the library in C++17: formats that are valid, numbers with operators, arrays as containers.
 *
 *   using e4m3 = halfulp::float8_e4m3fn;
 *   e4m3 a = 1.3f, b = 0.4f, c = a * b + a;              // each operation exact, then rounded once, ties to even
 *   halfulp::format f("fp(4,3,0):fn");                   // throws halfulp::error if that is not a format
 *   halfulp::quantize(x, z, f, halfulp::mode("sra:8"));  // std::vector, std::array, std::span, number arrays
 *
 * A thin layer, header only, beside the library: what a call returns is said by the header of the C call that stands
 * with it here. Calls over arrays come twice: `quantize` throws halfulp::error, `try_quantize` returns the status.
 * Operators cannot fail. */
#ifndef HALFULP_HALFULP_HPP
#define HALFULP_HALFULP_HPP

#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "halfulp/halfulp.hpp requires C++17: compile with -std=c++17, or include halfulp/halfulp.h"
#else

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
  explicit error(hu_status status, const std::string &about = std::string())
      : std::runtime_error((about.empty() ? about : about + ": ") + hu_status_text(status)), status_(status) {}
  hu_status status() const noexcept { return status_; }

 private:
  hu_status status_;
};

inline void check(hu_status status, const std::string &about = std::string()) {
  if (status != HU_OK) throw error(status, about);
}

/* ---- formats and modes ---- */

/* A valid format, which converts to hu_format wherever the C calls require one. */
class format {
 public:
  format(hu_format axes) : axes_(axes) {
    const char *wrong = nullptr;
    hu_status status = hu_format_check(axes, &wrong);
    check(status, wrong ? wrong : "");
  }
  explicit format(const std::string &text) : axes_() { check(hu_format_parse(&axes_, text.c_str(), nullptr), text); }

  operator hu_format() const noexcept { return axes_; }
  hu_limits limits() const noexcept { return hu_limits_of(axes_); }
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
  check(hu_mode_round_parse(&m, round.c_str()), round);
  return m;
}

/* ---- numbers ---- */

/* One value of a format, held as its code: an array of numbers is an array of codes as array.h stores them. Format has
 *
 *   using code = std::uint8_t;         // of the format's storage width
 *   static hu_format make();           // a valid format
 *
 * Construction and operators round to nearest, ties to even, and saturate as is the format's default; `rounded` and the
 * operations by name take a mode, random digits and a pointer for events, like the calls of scalar.h and arith.h. */
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
  static number rounded(float x, hu_mode m, std::uint32_t random = 0, std::uint32_t *events = nullptr) noexcept {
    return from_code(hu_encode(Format::make(), m, x, random, events));
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
    return two(HU_OP_ADD, a, b, m, random, events);
  }
  static number sub(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(HU_OP_SUB, a, b, m, random, events);
  }
  static number mul(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(HU_OP_MUL, a, b, m, random, events);
  }
  static number div(number a, number b, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    return two(HU_OP_DIV, a, b, m, random, events);
  }
  static number sqrt(number x, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                     std::uint32_t *events = nullptr) noexcept {
    return from_code(hu_sqrt(Format::make(), m, Format::make(), x.code_, random, events));
  }
  static number fma(number a, number b, number c, hu_mode m = hu_mode{}, std::uint32_t random = 0,
                    std::uint32_t *events = nullptr) noexcept {
    hu_format format = Format::make();
    return from_code(hu_fma(format, m, format, a.code_, format, b.code_, format, c.code_, random, events));
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
  static number two(int op, number a, number b, hu_mode m, std::uint32_t random, std::uint32_t *events) noexcept {
    hu_format format = Format::make();
    return from_code(hu_apply_two_codes(op, format, m, format, a.code_, format, b.code_, random, events));
  }

  code_type code_ = 0;
};

/* Tags: a named format in a type, for `number`. Those of IEEE P3109 stand in formats::p3109<K, P>. */
namespace formats {

/* binary{K}p{P}: K bits, precision P, signed or not, extended (with infinities) or finite. */
template <unsigned K, unsigned P, bool Signed = true, bool Extended = true>
struct p3109 {
  static_assert(K >= 3 && K <= 16 && P >= 1 && P <= K - Signed && K - P <= 11, "no format of IEEE P3109");
  using code = std::conditional_t<(K > 8), std::uint16_t, std::uint8_t>;
  static hu_format make() noexcept { return hu_format_p3109(K, P, Signed, Extended); }
};

}  // namespace formats

/* Every format of the catalogue that is not of IEEE P3109: X(name, bits that a code is stored in). */
#define HALFULP_FORMATS(X) \
  X(binary16, 16)          \
  X(bfloat16, 16)          \
  X(binary32, 32)          \
  X(float8_e4m3fn, 8)      \
  X(float8_e5m2, 8)        \
  X(float6_e2m3fn, 8)      \
  X(float6_e3m2fn, 8)      \
  X(float4_e2m1fn, 8)      \
  X(float8_e8m0fnu, 8)     \
  X(float8_e4m3fnuz, 8)    \
  X(float8_e5m2fnuz, 8)    \
  X(float8_e4m3b11fnuz, 8) \
  X(fp_4_3_4_finite, 8)    \
  X(fp_5_2_0_finite, 8)    \
  X(fp_6_9_0_finite, 16)   \
  X(hfp8_fwd_143, 8)       \
  X(hfp8_bwd_152, 8)       \
  X(dlfloat16, 16)         \
  X(fp16_169_wang2018, 16) \
  X(cfloat8_143, 8)        \
  X(cfloat8_152, 8)        \
  X(shp_cfloat16, 16)      \
  X(uhp_cfloat16, 16)      \
  X(tf32, 32)              \
  X(binary16_ahp, 16)      \
  X(float8_e4m3, 8)        \
  X(float8_e3m4, 8)        \
  X(float8_e3m4fn, 8)      \
  X(ue4m3, 8)              \
  X(ue5m3, 8)              \
  X(r11g11b10_uf11, 16)    \
  X(r11g11b10_uf10, 16)    \
  X(float5_e2m2, 8)        \
  X(float5_e3m1, 8)        \
  X(float4_e1m2, 8)        \
  X(float4_e3m0, 8)        \
  X(float3_e2m0, 8)        \
  X(uint1, 8)              \
  X(uint2, 8)              \
  X(uint4, 8)              \
  X(uint8, 8)

/* formats::NAME, the tag, and NAME, its number: halfulp::float8_e4m3fn q = 0.3f. */
#define HALFULP_NUMBER(name, bits)                           \
  namespace formats {                                        \
  struct name {                                              \
    using code = std::uint##bits##_t;                        \
    static hu_format make() noexcept { return hu_##name(); } \
  };                                                         \
  }                                                          \
  using name = number<formats::name>;
HALFULP_FORMATS(HALFULP_NUMBER)
#undef HALFULP_NUMBER

/* The catalogue's other names of them: X(alias, name). (`float` is a word of C++. "e4m3" and "fp8" name nothing: they
 * mean different formats to different people.) */
#define HALFULP_FORMAT_ALIASES(X)       \
  X(fp16, binary16)                     \
  X(half, binary16)                     \
  X(float16, binary16)                  \
  X(e5m10, binary16)                    \
  X(bf16, bfloat16)                     \
  X(e8m7, bfloat16)                     \
  X(fp32, binary32)                     \
  X(single, binary32)                   \
  X(float32, binary32)                  \
  X(e8m23, binary32)                    \
  X(ocp_e4m3, float8_e4m3fn)            \
  X(e4m3fn, float8_e4m3fn)              \
  X(f8e4m3fn, float8_e4m3fn)            \
  X(hf8, float8_e4m3fn)                 \
  X(ocp_e5m2, float8_e5m2)              \
  X(e5m2, float8_e5m2)                  \
  X(f8e5m2, float8_e5m2)                \
  X(lf8, float8_e5m2)                   \
  X(ocp_e2m3, float6_e2m3fn)            \
  X(e2m3, float6_e2m3fn)                \
  X(f6e2m3fn, float6_e2m3fn)            \
  X(ocp_e3m2, float6_e3m2fn)            \
  X(e3m2, float6_e3m2fn)                \
  X(f6e3m2fn, float6_e3m2fn)            \
  X(ocp_e2m1, float4_e2m1fn)            \
  X(e2m1, float4_e2m1fn)                \
  X(f4e2m1fn, float4_e2m1fn)            \
  X(ocp_e8m0, float8_e8m0fnu)           \
  X(e8m0, float8_e8m0fnu)               \
  X(ue8m0, float8_e8m0fnu)              \
  X(f8e8m0fnu, float8_e8m0fnu)          \
  X(e4m3fnuz, float8_e4m3fnuz)          \
  X(f8e4m3fnuz, float8_e4m3fnuz)        \
  X(f143, float8_e4m3fnuz)              \
  X(e5m2fnuz, float8_e5m2fnuz)          \
  X(f8e5m2fnuz, float8_e5m2fnuz)        \
  X(f152, float8_e5m2fnuz)              \
  X(e4m3b11fnuz, float8_e4m3b11fnuz)    \
  X(f8e4m3b11fnuz, float8_e4m3b11fnuz)  \
  X(hfp8_fwd, hfp8_fwd_143)             \
  X(hfp8_bwd, hfp8_bwd_152)             \
  X(dlfloat, dlfloat16)                 \
  X(tensorfloat32, tf32)                \
  X(e8m10, tf32)                        \
  X(arm_alternative_half, binary16_ahp) \
  X(ieee_e4m3, float8_e4m3)             \
  X(f8e4m3, float8_e4m3)                \
  X(ieee_e3m4, float8_e3m4)             \
  X(f8e3m4, float8_e3m4)                \
  X(e3m4fn, float8_e3m4fn)              \
  X(f8ue4m3, ue4m3)                     \
  X(uf11, r11g11b10_uf11)               \
  X(uf10, r11g11b10_uf10)               \
  X(e2m2, float5_e2m2)                  \
  X(e3m1, float5_e3m1)                  \
  X(ascend_e1m2, float4_e1m2)           \
  X(e3m0, float4_e3m0)                  \
  X(e2m0, float3_e2m0)

#define HALFULP_ALIAS(alias, name) using alias = name;
HALFULP_FORMAT_ALIASES(HALFULP_ALIAS)
#undef HALFULP_ALIAS

/* The formats of IEEE P3109 in the catalogue, 3 to 8 bits: BOTH(K, P), signed and unsigned, or UNSIGNED(K, P) alone. */
#define HALFULP_P3109_3(BOTH, UNSIGNED) BOTH(3, 1) BOTH(3, 2) UNSIGNED(3, 3)
#define HALFULP_P3109_4(BOTH, UNSIGNED) BOTH(4, 1) BOTH(4, 2) BOTH(4, 3) UNSIGNED(4, 4)
#define HALFULP_P3109_5(BOTH, UNSIGNED) BOTH(5, 1) BOTH(5, 2) BOTH(5, 3) BOTH(5, 4) UNSIGNED(5, 5)
#define HALFULP_P3109_6(BOTH, UNSIGNED) BOTH(6, 1) BOTH(6, 2) BOTH(6, 3) BOTH(6, 4) BOTH(6, 5) UNSIGNED(6, 6)
#define HALFULP_P3109_7(BOTH, UNSIGNED) BOTH(7, 1) BOTH(7, 2) BOTH(7, 3) BOTH(7, 4) BOTH(7, 5) BOTH(7, 6) UNSIGNED(7, 7)
#define HALFULP_P3109_8(BOTH, UNSIGNED) \
  BOTH(8, 1) BOTH(8, 2) BOTH(8, 3) BOTH(8, 4) BOTH(8, 5) BOTH(8, 6) BOTH(8, 7) UNSIGNED(8, 8)
#define HALFULP_P3109_FORMATS(BOTH, UNSIGNED) \
  HALFULP_P3109_3(BOTH, UNSIGNED)             \
  HALFULP_P3109_4(BOTH, UNSIGNED)             \
  HALFULP_P3109_5(BOTH, UNSIGNED)             \
  HALFULP_P3109_6(BOTH, UNSIGNED)             \
  HALFULP_P3109_7(BOTH, UNSIGNED)             \
  HALFULP_P3109_8(BOTH, UNSIGNED)

/* binary8p4se, or p3109_k8p4se, and so on: "s" signed, "u" unsigned, "e" extended, "f" finite. */
#define HALFULP_UNSIGNED(K, P)                                            \
  using binary##K##p##P##ue = number<formats::p3109<K, P, false>>;        \
  using p3109_k##K##p##P##ue = binary##K##p##P##ue;                       \
  using binary##K##p##P##uf = number<formats::p3109<K, P, false, false>>; \
  using p3109_k##K##p##P##uf = binary##K##p##P##uf;
#define HALFULP_BOTH(K, P)                                               \
  using binary##K##p##P##se = number<formats::p3109<K, P>>;              \
  using p3109_k##K##p##P##se = binary##K##p##P##se;                      \
  using binary##K##p##P##sf = number<formats::p3109<K, P, true, false>>; \
  using p3109_k##K##p##P##sf = binary##K##p##P##sf;                      \
  HALFULP_UNSIGNED(K, P)
HALFULP_P3109_FORMATS(HALFULP_BOTH, HALFULP_UNSIGNED)
#undef HALFULP_BOTH
#undef HALFULP_UNSIGNED

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
  return element<element_of<A>>::code_bits == hu_limits_of(f).storage;
}
}  // namespace inside

/* hu_quantize_n, hu_quantize64_n: float to float, double to double. All of these: HU_E_SHAPE where sizes differ. */
template <class X, class Z>
HU_MUST_CHECK hu_status try_quantize(const X &x, Z &&z, hu_format format, hu_mode m = hu_mode{},
                                     const hu_exec *exec = nullptr, hu_events *events = nullptr) noexcept {
  if (x.size() != z.size()) return HU_E_SHAPE;
  if constexpr (std::is_same_v<inside::element_of<const X>, double>) {
    return hu_quantize64_n(x.size(), z.data(), 1, x.data(), 1, format, m, exec, events);
  } else {
    return hu_quantize_n(x.size(), z.data(), 1, x.data(), 1, format, m, exec, events);
  }
}
/* hu_encode_n, hu_encode64_n: float or double to unsigned integers or numbers of the storage's width, else HU_E_SHAPE.
 */
template <class X, class Z>
HU_MUST_CHECK hu_status try_encode(const X &x, Z &&z, hu_format format, hu_mode m = hu_mode{},
                                   const hu_exec *exec = nullptr, hu_events *events = nullptr) noexcept {
  if (hu_format_check(format, nullptr) != HU_OK) return HU_E_FORMAT;
  if (x.size() != z.size() || !inside::stores<Z>(format)) return HU_E_SHAPE;
  if constexpr (std::is_same_v<inside::element_of<const X>, double>) {
    return hu_encode64_n(x.size(), z.data(), 1, x.data(), 1, format, m, exec, events);
  } else {
    return hu_encode_n(x.size(), z.data(), 1, x.data(), 1, format, m, exec, events);
  }
}
/* hu_decode_n, hu_decode64_n. */
template <class X, class Z>
HU_MUST_CHECK hu_status try_decode(const X &x, Z &&z, hu_format format, const hu_exec *exec = nullptr) noexcept {
  if (hu_format_check(format, nullptr) != HU_OK) return HU_E_FORMAT;
  if (x.size() != z.size() || !inside::stores<const X>(format)) return HU_E_SHAPE;
  if constexpr (std::is_same_v<inside::element_of<Z>, double>) {
    return hu_decode64_n(x.size(), z.data(), 1, x.data(), 1, format, exec);
  } else {
    return hu_decode_n(x.size(), z.data(), 1, x.data(), 1, format, exec);
  }
}

template <class X, class Z>
void quantize(const X &x, Z &&z, hu_format format, hu_mode m = hu_mode{}, const hu_exec *exec = nullptr,
              hu_events *events = nullptr) {
  check(try_quantize(x, z, format, m, exec, events), "quantize");
}
template <class X, class Z>
void encode(const X &x, Z &&z, hu_format format, hu_mode m = hu_mode{}, const hu_exec *exec = nullptr,
            hu_events *events = nullptr) {
  check(try_encode(x, z, format, m, exec, events), "encode");
}
template <class X, class Z>
void decode(const X &x, Z &&z, hu_format format, const hu_exec *exec = nullptr) {
  check(try_decode(x, z, format, exec), "decode");
}

}  // namespace halfulp

#endif
#endif
