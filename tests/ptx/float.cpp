/* SPDX-License-Identifier: MIT */
/* tests/ptx/float.cpp - instructions on binary32 and binary64, in all directions of rounding.
 *
 * They are the CPU's operations under fesetround. A NaN that an instruction makes is a device's: 0x7FFFFFFF, or
 * 0xFFF8000000000000 for binary64; so a kernel that stores one shows it. The file is compiled with -frounding-math. */
#include <fenv.h>
#include <math.h>

#include <limits>

#include "tests/ptx/warp.h"

namespace {

/* The call keeps the arithmetic between its two sides. */
struct Rounding {
  int mode;
  explicit Rounding(int m) : mode(m) {
    if (mode != FE_TONEAREST) fesetround(mode);
  }
  ~Rounding() {
    if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  }
};

template <class T, class U>
T with_bits(U bits) {
  T x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
inline float canonical(float x) { return x == x ? x : with_bits<float>(0x7FFFFFFFu); }
inline double canonical(double x) { return x == x ? x : with_bits<double>(UINT64_C(0xFFF8000000000000)); }

#define FLOAT1(NAME, EXPRESSION)         \
  struct NAME {                          \
    template <class T>                   \
    static T of(T a, T, T) {             \
      return canonical((T)(EXPRESSION)); \
    }                                    \
  };
#define FLOAT2(NAME, EXPRESSION)         \
  struct NAME {                          \
    template <class T>                   \
    static T of(T a, T b, T) {           \
      return canonical((T)(EXPRESSION)); \
    }                                    \
  };
#define FLOAT3(NAME, EXPRESSION)         \
  struct NAME {                          \
    template <class T>                   \
    static T of(T a, T b, T c) {         \
      return canonical((T)(EXPRESSION)); \
    }                                    \
  };
FLOAT2(Add, a + b)
FLOAT2(Sub, a - b)
FLOAT2(Mul, a *b)
FLOAT2(Div, a / b)
FLOAT3(Fma, __builtin_fma(a, b, c))
FLOAT1(Rcp, 1 / a)
FLOAT1(Sqrt, __builtin_sqrt(a))
/* What becomes of a NaN's payload here is not specified; canonical is not what a CPU would leave. */
FLOAT1(Abs, __builtin_fabs(a))
FLOAT1(Neg, -a)
FLOAT2(Copysign, __builtin_copysign(b, a))
/* Of one NaN and a number the number; of zeros -0 is the smaller. */
FLOAT2(Min, a != a ? b : b != b ? a : a < b || (a == b && __builtin_signbit(a)) ? a : b)
FLOAT2(Max, a != a ? b : b != b ? a : a > b || (a == b && !__builtin_signbit(a)) ? a : b)
FLOAT2(MinNan, a != a || b != b ? a + b : Min::of<T>(a, b, b))
FLOAT2(MaxNan, a != a || b != b ? a + b : Max::of<T>(a, b, b))
struct FmaSingle {
  template <class T>
  static T of(T a, T b, T c) {
    return canonical(__builtin_fmaf(a, b, c));
  }
};
struct SqrtSingle {
  template <class T>
  static T of(T a, T, T) {
    return canonical(__builtin_sqrtf(a));
  }
};

template <class Op, class T, int N, int MODE>
void apply(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = N > 1 ? w.from<T>(i.r[2]) : a, *c = N > 2 ? w.from<T>(i.r[3]) : a;
  Rounding r(MODE);
  each(lanes, [=](int l) { d[l] = Op::template of<T>(a[l], b[l], c[l]); });
}

template <class Op, class T, int N>
Run run_rounded(const std::string &mode) {
  if (mode == "rn") return apply<Op, T, N, FE_TONEAREST>;
  if (mode == "rz") return apply<Op, T, N, FE_TOWARDZERO>;
  if (mode == "rm") return apply<Op, T, N, FE_DOWNWARD>;
  if (mode == "rp") return apply<Op, T, N, FE_UPWARD>;
  return nullptr;
}
template <class Op, int N>
Run run_of(const Words &op, bool is_double) {
  std::string mode = op.size() == 3 ? op[1] : "rn";
  return is_double ? run_rounded<Op, double, N>(mode) : run_rounded<Op, float, N>(mode);
}
template <class Op, int N>
Run run_exact(const Words &op, bool is_double) {
  if (op.size() != 2) return nullptr;
  return is_double ? apply<Op, double, N, FE_TONEAREST> : apply<Op, float, N, FE_TONEAREST>;
}

/* ---- conversions ---- */

template <class D, class S, int MODE>
void convert(Warp &w, const Instruction &i, uint32_t lanes) {
  D *d = w.to<D>(i.r[0]);
  const S *a = w.from<S>(i.r[1]);
  Rounding r(MODE);
  each(lanes, [=](int l) { d[l] = canonical((D)a[l]); });
}
template <class D, class S>
Run run_convert(const std::string &mode) {
  if (mode == "rn" || mode == "") return convert<D, S, FE_TONEAREST>;
  if (mode == "rz") return convert<D, S, FE_TOWARDZERO>;
  if (mode == "rm") return convert<D, S, FE_DOWNWARD>;
  if (mode == "rp") return convert<D, S, FE_UPWARD>;
  return nullptr;
}
template <class D>
Run run_convert_from(const std::string &from, const std::string &mode) {
  if (from == "u16") return run_convert<D, uint16_t>(mode);
  if (from == "s16") return run_convert<D, int16_t>(mode);
  if (from == "u32") return run_convert<D, uint32_t>(mode);
  if (from == "s32") return run_convert<D, int32_t>(mode);
  if (from == "u64") return run_convert<D, uint64_t>(mode);
  if (from == "s64") return run_convert<D, int64_t>(mode);
  if (from == "f32") return run_convert<D, float>(mode);
  if (from == "f64") return run_convert<D, double>(mode);
  return nullptr;
}

struct Nearest {
  template <class T>
  static T of(T a) {
    return __builtin_rint(a);
  }
};
struct Zero {
  template <class T>
  static T of(T a) {
    return __builtin_trunc(a);
  }
};
struct Minus {
  template <class T>
  static T of(T a) {
    return __builtin_floor(a);
  }
};
struct Plus {
  template <class T>
  static T of(T a) {
    return __builtin_ceil(a);
  }
};

/* A value beyond the ends of the type is the end, a NaN is 0, or the top bit alone where one of the types has 64. */
template <class D, class S, class How>
void to_integer(Warp &w, const Instruction &i, uint32_t lanes) {
  D *d = w.to<D>(i.r[0]);
  const S *a = w.from<S>(i.r[1]);
  const bool is_wide = sizeof(D) == 8 || sizeof(S) == 8;
  const D nan = is_wide ? (D)((uint64_t)1 << (8 * sizeof(D) - 1)) : (D)0;
  const D least = std::numeric_limits<D>::min(), most = std::numeric_limits<D>::max();
  const S above = (S)ldexp(1, std::numeric_limits<D>::digits);
  each(lanes, [=](int l) {
    S x = How::template of<S>(a[l]);
    d[l] = x != x ? nan : x >= above ? most : x <= (S)least ? least : (D)x;
  });
}
template <class S, class How>
void to_integral(Warp &w, const Instruction &i, uint32_t lanes) {
  S *d = w.to<S>(i.r[0]);
  const S *a = w.from<S>(i.r[1]);
  each(lanes, [=](int l) { d[l] = canonical(How::template of<S>(a[l])); });
}
template <class S, class How>
Run run_to_integer(const std::string &to, const std::string &from) {
  if (to == from) return to_integral<S, How>;
  if (to == "u16") return to_integer<uint16_t, S, How>;
  if (to == "s16") return to_integer<int16_t, S, How>;
  if (to == "u32") return to_integer<uint32_t, S, How>;
  if (to == "s32") return to_integer<int32_t, S, How>;
  if (to == "u64") return to_integer<uint64_t, S, How>;
  if (to == "s64") return to_integer<int64_t, S, How>;
  return nullptr;
}
template <class S>
Run run_to_integer_by(const std::string &how, const std::string &to, const std::string &from) {
  if (how == "rni") return run_to_integer<S, Nearest>(to, from);
  if (how == "rzi") return run_to_integer<S, Zero>(to, from);
  if (how == "rmi") return run_to_integer<S, Minus>(to, from);
  if (how == "rpi") return run_to_integer<S, Plus>(to, from);
  return nullptr;
}

Run run_of_conversion(const Words &op) {
  if (op.size() != 3 && op.size() != 4) return nullptr;
  std::string how = op.size() == 4 ? op[1] : "", to = op[op.size() - 2], from = op.back();
  if (how.size() == 3)
    return from == "f32"   ? run_to_integer_by<float>(how, to, from)
           : from == "f64" ? run_to_integer_by<double>(how, to, from)
                           : nullptr;
  return to == "f32" ? run_convert_from<float>(from, how) : to == "f64" ? run_convert_from<double>(from, how) : nullptr;
}

}  // namespace

Run run_of_float(const Words &op) {
  const std::string &name = op[0];
  bool is_double = op.back() == "f64";
  if (name == "cvt") return run_of_conversion(op);
  if ((op.back() != "f32" && !is_double) || op.size() > 3) return nullptr;
  if (name == "add") return run_of<Add, 2>(op, is_double);
  if (name == "sub") return run_of<Sub, 2>(op, is_double);
  if (name == "mul") return run_of<Mul, 2>(op, is_double);
  if (name == "div" && op.size() == 3) return run_of<Div, 2>(op, is_double);
  if (name == "rcp" && op.size() == 3) return run_of<Rcp, 1>(op, is_double);
  if (name == "sqrt" && op.size() == 3) return is_double ? run_of<Sqrt, 1>(op, true) : run_of<SqrtSingle, 1>(op, false);
  if (name == "fma" && op.size() == 3) return is_double ? run_of<Fma, 3>(op, true) : run_of<FmaSingle, 3>(op, false);
  if (name == "abs") return run_exact<Abs, 1>(op, is_double);
  if (name == "neg") return run_exact<Neg, 1>(op, is_double);
  if (op.size() == 3 && op[1] == "NaN" && !is_double) {
    return name == "min"   ? apply<MinNan, float, 2, FE_TONEAREST>
           : name == "max" ? apply<MaxNan, float, 2, FE_TONEAREST>
                           : nullptr;
  }
  if (name == "min") return run_exact<Min, 2>(op, is_double);
  if (name == "max") return run_exact<Max, 2>(op, is_double);
  if (name == "copysign") return run_exact<Copysign, 2>(op, is_double);
  return nullptr;
}
