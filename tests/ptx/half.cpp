/* SPDX-License-Identifier: MIT */
/* tests/ptx/half.cpp - instructions on binary16 and bfloat16, alone and in pairs.
 *
 * Values are binary64 here. a * b is exact in it; of a * b + c the 53 digits are rounded to odd, and then once more to
 * the 11 or 8 digits of the format, which is one rounding of the exact sum since 53 is more than twice 11 + 2. */
#include <math.h>

#include "tests/ptx/warp.h"

namespace {

struct Binary16 {
  enum { DIGITS = 11, LEAST = -14, BITS = 5 };
};
struct Bfloat16 {
  enum { DIGITS = 8, LEAST = -126, BITS = 8 };
};

template <class F>
double value(uint16_t code) {
  int exponent = code >> (F::DIGITS - 1) & ((1 << F::BITS) - 1), digits = code & ((1 << (F::DIGITS - 1)) - 1);
  double z;
  if (exponent == (1 << F::BITS) - 1) {
    z = digits ? NAN : HUGE_VAL;
  } else if (exponent == 0) {
    z = ldexp(digits, F::LEAST - F::DIGITS + 1);
  } else {
    z = ldexp(digits + (1 << (F::DIGITS - 1)), exponent - 1 + F::LEAST - F::DIGITS + 1);
  }
  return code >> 15 ? -z : z;
}

enum Direction { RN, RZ, RM, RP };

double to_integral(double x, Direction d) {
  return d == RN ? nearbyint(x) : d == RZ ? trunc(x) : d == RM ? floor(x) : ceil(x);
}

template <class F>
uint16_t code(double x, Direction direction) {
  const int infinity = ((1 << F::BITS) - 1) << (F::DIGITS - 1);
  const int sign = signbit(x) ? 0x8000 : 0;
  if (x != x) return 0x7FFF;
  if (isinf(x)) return (uint16_t)(sign | infinity);
  if (x == 0) return (uint16_t)sign;
  int exponent = ilogb(x) < F::LEAST ? F::LEAST : ilogb(x);
  double digits = fabs(to_integral(ldexp(x, F::DIGITS - 1 - exponent), direction));
  int z = (exponent - F::LEAST) * (1 << (F::DIGITS - 1)) + (int)digits; /* a carry goes into the exponent */
  if (z >= infinity) {
    bool away = direction == RN || (direction == RP && !sign) || (direction == RM && sign);
    z = away ? infinity : infinity - 1;
  }
  return (uint16_t)(sign | z);
}

/* a * b + c rounded to odd: what is lost makes the last digit 1. */
double fused(double a, double b, double c) {
  double p = a * b, s = p + c;
  if (!isfinite(s)) return s;
  double t = s - p, lost = (p - (s - t)) + (c - t);
  uint64_t bits;
  memcpy(&bits, &s, 8);
  if (lost == 0 || bits & 1) return s;
  /* s was rounded to an even last digit: the odd one is its neighbour on the other side of what was lost. */
  return nextafter(s, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

#define HALF(NAME, EXPRESSION)                       \
  struct NAME {                                      \
    static double of(double a, double b, double c) { \
      (void)b;                                       \
      (void)c;                                       \
      return EXPRESSION;                             \
    }                                                \
  };
HALF(Add, fused(a, 1, b))
HALF(Sub, fused(a, 1, -b))
HALF(Mul, a *b)
HALF(Fma, fused(a, b, c))
HALF(Abs, fabs(a))
HALF(Neg, -a)
HALF(Min, a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b)
HALF(Max, a != a ? b : b != b ? a : a > b || (a == b && !signbit(a)) ? a : b)

template <class Op, class F, class T, int N>
void apply(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = N > 1 ? w.from<T>(i.r[2]) : a, *c = N > 2 ? w.from<T>(i.r[3]) : a;
  each(lanes, [=](int l) {
    T z = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); n += 16) {
      double x =
          Op::of(value<F>((uint16_t)(a[l] >> n)), value<F>((uint16_t)(b[l] >> n)), value<F>((uint16_t)(c[l] >> n)));
      z = (T)(z | (T)code<F>(x, RN) << n);
    }
    d[l] = z;
  });
}
template <class Op, int N>
Run run_of(const std::string &type) {
  if (type == "f16") return apply<Op, Binary16, uint16_t, N>;
  if (type == "bf16") return apply<Op, Bfloat16, uint16_t, N>;
  if (type == "f16x2") return apply<Op, Binary16, uint32_t, N>;
  if (type == "bf16x2") return apply<Op, Bfloat16, uint32_t, N>;
  return nullptr;
}

/* ---- conversions with binary32 ---- */

template <class F>
void to_single(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const uint16_t *a = w.from<uint16_t>(i.r[1]);
  each(lanes, [=](int l) {
    float x = (float)value<F>(a[l]);
    uint32_t bits;
    memcpy(&bits, &x, 4);
    d[l] = x == x ? bits : 0x7FFFFFFF;
  });
}
template <class F, Direction D>
void from_single(Warp &w, const Instruction &i, uint32_t lanes) {
  uint16_t *d = w.to<uint16_t>(i.r[0]);
  const float *a = w.from<float>(i.r[1]);
  each(lanes, [=](int l) { d[l] = code<F>(a[l], D); });
}
template <class F, Direction D>
void pair_from_singles(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const float *a = w.from<float>(i.r[1]), *b = w.from<float>(i.r[2]); /* a is the upper half */
  each(lanes, [=](int l) { d[l] = (uint32_t)code<F>(a[l], D) << 16 | code<F>(b[l], D); });
}
template <class F>
Run run_from_single(const std::string &how, bool pair) {
  if (how == "rn") return pair ? pair_from_singles<F, RN> : from_single<F, RN>;
  if (how == "rz") return pair ? pair_from_singles<F, RZ> : from_single<F, RZ>;
  if (how == "rm" && !pair) return from_single<F, RM>;
  if (how == "rp" && !pair) return from_single<F, RP>;
  return nullptr;
}
Run run_of_conversion(const Words &op) {
  if (op.size() == 3 && op[1] == "f32")
    return op[2] == "f16" ? to_single<Binary16> : op[2] == "bf16" ? to_single<Bfloat16> : nullptr;
  if (op.size() != 4 || op[3] != "f32") return nullptr;
  bool pair = op[2].find("x2") != std::string::npos;
  if (op[2] == "f16" || op[2] == "f16x2") return run_from_single<Binary16>(op[1], pair);
  if (op[2] == "bf16" || op[2] == "bf16x2") return run_from_single<Bfloat16>(op[1], pair);
  return nullptr;
}

}  // namespace

Run run_of_half(const Words &op) {
  const std::string &name = op[0], &type = op.back();
  if (name == "cvt") return run_of_conversion(op);
  if (op.size() > 3 || (op.size() == 3 && op[1] != "rn")) return nullptr;
  if (name == "add") return run_of<Add, 2>(type);
  if (name == "sub") return run_of<Sub, 2>(type);
  if (name == "mul") return run_of<Mul, 2>(type);
  if (name == "fma") return run_of<Fma, 3>(type);
  if (name == "abs") return run_of<Abs, 1>(type);
  if (name == "neg") return run_of<Neg, 1>(type);
  if (name == "min") return run_of<Min, 2>(type);
  if (name == "max") return run_of<Max, 2>(type);
  return nullptr;
}
