/* SPDX-License-Identifier: MIT */
/* tests/ptx/number.cpp - instructions on integers, bits and predicates. */
#include <type_traits>

#include "tests/ptx/warp.h"

namespace {

/* ---- one result of one, two or three values of a type ---- */

template <class Op, class T>
void one(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]);
  each(lanes, [=](int l) { d[l] = Op::template of<T>(a[l]); });
}
template <class Op, class T>
void two(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = w.from<T>(i.r[2]);
  each(lanes, [=](int l) { d[l] = Op::template of<T>(a[l], b[l]); });
}
template <class Op, class T>
void three(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = w.from<T>(i.r[2]), *c = w.from<T>(i.r[3]);
  each(lanes, [=](int l) { d[l] = Op::template of<T>(a[l], b[l], c[l]); });
}
/* ... where other operands are words. */
template <class Op, class T>
void shift(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]);
  const uint32_t *b = w.from<uint32_t>(i.r[2]);
  each(lanes, [=](int l) { d[l] = Op::template of<T>(a[l], b[l]); });
}
template <class Op, class T>
void count(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const T *a = w.from<T>(i.r[1]);
  each(lanes, [=](int l) { d[l] = Op::template of<T>(a[l]); });
}

template <class T>
using Bits = std::make_unsigned_t<T>;
/* Wide enough that no product or sum of a narrow type is one of signed ints that overflows. */
template <class T>
using Sum = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
using Twice = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed<T>::value, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed<T>::value, int32_t, uint32_t>>>;

#define ONE(NAME, EXPRESSION) \
  struct NAME {               \
    template <class T>        \
    static T of(T a) {        \
      return (T)(EXPRESSION); \
    }                         \
  };
#define TWO(NAME, EXPRESSION) \
  struct NAME {               \
    template <class T>        \
    static T of(T a, T b) {   \
      return (T)(EXPRESSION); \
    }                         \
  };
#define THREE(NAME, EXPRESSION)  \
  struct NAME {                  \
    template <class T>           \
    static T of(T a, T b, T c) { \
      return (T)(EXPRESSION);    \
    }                            \
  };
TWO(Add, (Sum<T>)a + (Sum<T>)b)
TWO(Sub, (Sum<T>)a - (Sum<T>)b)
TWO(MulLo, (Sum<T>)a *(Sum<T>)b)
TWO(MulHi, ((Twice<T>)a * (Twice<T>)b) >> (8 * sizeof(T)))
TWO(Div, b == 0 ? (T) ~(T)0 : (std::is_signed<T>::value && b == (T)-1) ? (T)(0 - (Sum<T>)a) : (T)(a / b))
TWO(Rem, b == 0 ? a : (std::is_signed<T>::value && b == (T)-1) ? (T)0 : (T)(a % b))
TWO(Min, a < b ? a : b)
TWO(Max, a > b ? a : b)
TWO(And, a &b)
TWO(Or, a | b)
TWO(Xor, a ^ b)
ONE(Not, ~a)
ONE(Copy, a)
ONE(Neg, 0 - (Sum<T>)a)
ONE(Abs, a < 0 ? 0 - (Sum<T>)a : (Sum<T>)a)
THREE(MadLo, (Sum<T>)a *(Sum<T>)b + (Sum<T>)c)
THREE(MadHi, (Sum<T>)MulHi::of<T>(a, b) + (Sum<T>)c)

struct Shl {
  template <class T>
  static T of(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? (T)0 : (T)((Sum<T>)a << n);
  }
};
struct Shr {
  template <class T>
  static T of(T a, uint32_t n) {
    const uint32_t most = 8 * sizeof(T) - 1;
    return n <= most ? (T)(a >> n) : std::is_signed<T>::value ? (T)(a >> most) : (T)0;
  }
};
struct Clz {
  template <class T>
  static uint32_t of(T a) {
    return (uint32_t)(a == 0 ? 8 * sizeof(T) : (unsigned)__builtin_clzll((uint64_t)(Bits<T>)a) - (64 - 8 * sizeof(T)));
  }
};
struct Popc {
  template <class T>
  static uint32_t of(T a) {
    return (uint32_t)__builtin_popcountll((uint64_t)(Bits<T>)a);
  }
};
/* The place of the highest digit that differs from the sign; with Shiftamt how far it is from the top. */
template <bool SHIFTAMT>
struct Bfind {
  template <class T>
  static uint32_t of(T a) {
    Bits<T> b = std::is_signed<T>::value && a < 0 ? (Bits<T>)~a : (Bits<T>)a;
    if (b == 0) return ~0u;
    uint32_t place = 8 * sizeof(T) - 1 - Clz::of<Bits<T>>(b);
    return SHIFTAMT ? 8 * (uint32_t)sizeof(T) - 1 - place : place;
  }
};
struct Brev {
  template <class T>
  static T of(T a) {
    T z = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); n++) z = (T)(z | ((a >> n & 1) << (8 * sizeof(T) - 1 - n)));
    return z;
  }
};

template <class T>
void mul_wide(Warp &w, const Instruction &i, uint32_t lanes) {
  typedef Twice<T> D;
  D *d = w.to<D>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = w.from<T>(i.r[2]);
  each(lanes, [=](int l) { d[l] = (D)((D)a[l] * (D)b[l]); });
}
template <class T>
void mad_wide(Warp &w, const Instruction &i, uint32_t lanes) {
  typedef std::make_unsigned_t<Twice<T>> D;
  D *d = w.to<D>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = w.from<T>(i.r[2]);
  const D *c = w.from<D>(i.r[3]);
  each(lanes, [=](int l) { d[l] = (D)((D)((Twice<T>)a[l] * (Twice<T>)b[l]) + c[l]); });
}

/* bfe d, a, from, length: beyond the top there are copies of the sign, that of the field's own top digit if inside. */
template <class T>
void bfe(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]);
  const uint32_t *b = w.from<uint32_t>(i.r[2]), *c = w.from<uint32_t>(i.r[3]);
  const uint32_t top = 8 * sizeof(T) - 1;
  each(lanes, [=](int l) {
    uint32_t from = b[l] & 255, length = c[l] & 255, last = from + length - 1 < top ? from + length - 1 : top;
    Bits<T> bits = (Bits<T>)a[l], sign = !std::is_signed<T>::value || length == 0 ? 0 : (bits >> last & 1);
    Bits<T> z = 0;
    for (uint32_t n = 0; n <= top; n++) {
      Bits<T> digit = n < length && from + n <= top ? (Bits<T>)(bits >> (from + n) & 1) : sign;
      z = (Bits<T>)(z | digit << n);
    }
    d[l] = (T)z;
  });
}
template <class T>
void bfi(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = w.from<T>(i.r[2]);
  const uint32_t *c = w.from<uint32_t>(i.r[3]), *e = w.from<uint32_t>(i.r[4]);
  const uint32_t width = 8 * sizeof(T);
  each(lanes, [=](int l) {
    uint32_t from = c[l] & 255, length = e[l] & 255;
    T ones = length >= width ? (T) ~(T)0 : (T)(((T)1 << length) - 1);
    T mask = from >= width ? (T)0 : (T)(ones << from);
    d[l] = (T)((b[l] & ~mask) | ((from >= width ? (T)0 : (T)(a[l] << from)) & mask));
  });
}

/* d = c + the products of four signed bytes. */
void dp4a(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const uint32_t *a = w.from<uint32_t>(i.r[1]), *b = w.from<uint32_t>(i.r[2]), *c = w.from<uint32_t>(i.r[3]);
  each(lanes, [=](int l) {
    uint32_t z = c[l];
    for (int n = 0; n < 32; n += 8) z += (uint32_t)((int8_t)(a[l] >> n) * (int8_t)(b[l] >> n));
    d[l] = z;
  });
}

void prmt(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const uint32_t *a = w.from<uint32_t>(i.r[1]), *b = w.from<uint32_t>(i.r[2]), *c = w.from<uint32_t>(i.r[3]);
  each(lanes, [=](int l) {
    uint64_t bytes = (uint64_t)b[l] << 32 | a[l];
    uint32_t z = 0;
    for (int n = 0; n < 4; n++) {
      uint32_t s = c[l] >> (4 * n), byte = (uint32_t)(bytes >> (8 * (s & 7))) & 255;
      if (s & 8) byte = byte & 128 ? 255 : 0;
      z |= byte << (8 * n);
    }
    d[l] = z;
  });
}
void lop3(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const uint32_t *a = w.from<uint32_t>(i.r[1]), *b = w.from<uint32_t>(i.r[2]), *c = w.from<uint32_t>(i.r[3]);
  const uint32_t table = *w.from<uint32_t>(i.r[4]);
  each(lanes, [=](int l) {
    uint32_t z = 0;
    for (uint32_t n = 0; n < 8; n++) {
      uint32_t chosen = (n & 4 ? a[l] : ~a[l]) & (n & 2 ? b[l] : ~b[l]) & (n & 1 ? c[l] : ~c[l]);
      z |= table >> n & 1 ? chosen : 0;
    }
    d[l] = z;
  });
}
template <bool LEFT, bool CLAMP>
void shf(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const uint32_t *a = w.from<uint32_t>(i.r[1]), *b = w.from<uint32_t>(i.r[2]), *c = w.from<uint32_t>(i.r[3]);
  each(lanes, [=](int l) {
    uint64_t both = (uint64_t)b[l] << 32 | a[l];
    uint32_t n = CLAMP ? (c[l] < 32 ? c[l] : 32) : c[l] & 31;
    d[l] = (uint32_t)(LEFT ? (both << n) >> 32 : both >> n);
  });
}

/* ---- predicates ---- */

void set(Warp &w, Ref r, uint32_t lanes, uint32_t bits) {
  if (r == NONE) return;
  uint32_t *p = w.to<uint32_t>(r);
  *p = (*p & ~lanes) | (bits & lanes);
}

template <class Op, class T>
void compare(Warp &w, const Instruction &i, uint32_t lanes) {
  const bool both = i.count == 4; /* p|q, a, b */
  const T *a = w.from<T>(i.r[both ? 2 : 1]), *b = w.from<T>(i.r[both ? 3 : 2]);
  alignas(8) unsigned char is[LANES];
#pragma GCC ivdep
  for (int l = 0; l < LANES; l++) is[l] = Op::template of<T>(a[l], b[l]);
  uint32_t bits = 0;
  for (int n = 0; n < 4; n++) {
    uint64_t eight;
    memcpy(&eight, is + 8 * n, 8);
    bits |= (uint32_t)(eight * 0x0102040810204080u >> 56) << (8 * n);
  }
  set(w, i.r[0], lanes, bits);
  if (both) set(w, i.r[1], lanes, ~bits);
}
#define COMPARE(NAME, EXPRESSION) \
  struct NAME {                   \
    template <class T>            \
    static bool of(T a, T b) {    \
      return EXPRESSION;          \
    }                             \
  };
COMPARE(Eq, a == b)
COMPARE(Ne, a != b)
COMPARE(Lt, a < b)
COMPARE(Le, a <= b)
COMPARE(Gt, a > b)
COMPARE(Ge, a >= b)
COMPARE(Equ, !(a < b) && !(a > b))
COMPARE(Neu, !(a == b))
COMPARE(OrderedNe, a<b || a> b)
COMPARE(Ltu, !(a >= b))
COMPARE(Leu, !(a > b))
COMPARE(Gtu, !(a <= b))
COMPARE(Geu, !(a < b))
COMPARE(Num, a == a && b == b)
COMPARE(Nan, a != a || b != b)

template <class Op>
void logic(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t a = *w.from<uint32_t>(i.r[1]), b = i.count > 2 ? *w.from<uint32_t>(i.r[2]) : 0;
  set(w, i.r[0], lanes, Op::of(a, b));
}
struct LogicAnd {
  static uint32_t of(uint32_t a, uint32_t b) { return a & b; }
};
struct LogicOr {
  static uint32_t of(uint32_t a, uint32_t b) { return a | b; }
};
struct LogicXor {
  static uint32_t of(uint32_t a, uint32_t b) { return a ^ b; }
};
struct LogicNot {
  static uint32_t of(uint32_t a, uint32_t) { return ~a; }
};
struct LogicCopy {
  static uint32_t of(uint32_t a, uint32_t) { return a; }
};

template <class T>
void selp(Warp &w, const Instruction &i, uint32_t lanes) {
  T *d = w.to<T>(i.r[0]);
  const T *a = w.from<T>(i.r[1]), *b = w.from<T>(i.r[2]);
  const uint32_t p = *w.from<uint32_t>(i.r[3]);
  each(lanes, [=](int l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
}

/* ---- moves and conversions between widths ---- */

template <class Whole, class Part>
void pack(Warp &w, const Instruction &i, uint32_t lanes) {
  Whole *d = w.to<Whole>(i.r[0]);
  each(lanes, [&, d](int l) {
    Whole z = 0;
    for (int n = 0; n < i.count; n++)
      z = (Whole)(z | (Whole)w.from<Part>(i.r[n + 1])[l] << (8 * sizeof(Part) * (unsigned)n));
    d[l] = z;
  });
}
template <class Whole, class Part>
void unpack(Warp &w, const Instruction &i, uint32_t lanes) {
  const Whole *a = w.from<Whole>(i.r[0]);
  each(lanes, [&, a](int l) {
    Whole bits = a[l];
    for (int n = 0; n < i.count; n++) w.to<Part>(i.r[n + 1])[l] = (Part)(bits >> (8 * sizeof(Part) * (unsigned)n));
  });
}

template <class D, class S, class R, class A>
void convert(Warp &w, const Instruction &i, uint32_t lanes) {
  R *d = w.to<R>(i.r[0]);
  const A *a = w.from<A>(i.r[1]);
  each(lanes, [=](int l) { d[l] = (R)(D)(S)a[l]; });
}
template <class D, class S, class R>
Run convert_from(int wide) {
  return wide == 2   ? convert<D, S, R, uint16_t>
         : wide == 4 ? convert<D, S, R, uint32_t>
         : wide == 8 ? convert<D, S, R, uint64_t>
                     : nullptr;
}
/* Registers may be wider than the types, and then hold the value extended. */
template <class D, class S>
Run convert_to(const uint8_t *wide) {
  typedef std::conditional_t<std::is_signed<D>::value, int16_t, uint16_t> R2;
  typedef std::conditional_t<std::is_signed<D>::value, int32_t, uint32_t> R4;
  typedef std::conditional_t<std::is_signed<D>::value, int64_t, uint64_t> R8;
  return wide[0] == 2   ? convert_from<D, S, R2>(wide[1])
         : wide[0] == 4 ? convert_from<D, S, R4>(wide[1])
         : wide[0] == 8 ? convert_from<D, S, R8>(wide[1])
                        : nullptr;
}
template <class D>
Run convert_of(const std::string &from, const uint8_t *wide) {
  if (from == "u8") return convert_to<D, uint8_t>(wide);
  if (from == "s8") return convert_to<D, int8_t>(wide);
  if (from == "u16") return convert_to<D, uint16_t>(wide);
  if (from == "s16") return convert_to<D, int16_t>(wide);
  if (from == "u32") return convert_to<D, uint32_t>(wide);
  if (from == "s32") return convert_to<D, int32_t>(wide);
  if (from == "u64") return convert_to<D, uint64_t>(wide);
  if (from == "s64") return convert_to<D, int64_t>(wide);
  return nullptr;
}
Run run_of_conversion(const Words &op, const uint8_t *wide) {
  if (op.size() != 3) return nullptr;
  const std::string &to = op[1], &from = op[2];
  if (to == "u8") return convert_of<uint8_t>(from, wide);
  if (to == "s8") return convert_of<int8_t>(from, wide);
  if (to == "u16") return convert_of<uint16_t>(from, wide);
  if (to == "s16") return convert_of<int16_t>(from, wide);
  if (to == "u32") return convert_of<uint32_t>(from, wide);
  if (to == "s32") return convert_of<int32_t>(from, wide);
  if (to == "u64") return convert_of<uint64_t>(from, wide);
  if (to == "s64") return convert_of<int64_t>(from, wide);
  return nullptr;
}

/* ---- names ---- */

/* MAKE<T> for the type that is written last; bits are without a sign. */
#define OF_BITS(TYPE, MAKE, ...)              \
  ((TYPE) == 2   ? MAKE<__VA_ARGS__ uint16_t> \
   : (TYPE) == 4 ? MAKE<__VA_ARGS__ uint32_t> \
   : (TYPE) == 8 ? MAKE<__VA_ARGS__ uint64_t> \
                 : (Run) nullptr)
#define OF_SIGNED(TYPE, MAKE, ...)           \
  ((TYPE) == 2   ? MAKE<__VA_ARGS__ int16_t> \
   : (TYPE) == 4 ? MAKE<__VA_ARGS__ int32_t> \
   : (TYPE) == 8 ? MAKE<__VA_ARGS__ int64_t> \
                 : (Run) nullptr)
#define COMMA ,

struct Kind {
  bool is_signed, is_float;
  int bytes;
};
template <class Op>
Run run_one(Kind k) {
  return k.is_signed ? OF_SIGNED(k.bytes, one, Op COMMA) : OF_BITS(k.bytes, one, Op COMMA);
}
template <class Op>
Run run_two(Kind k) {
  return k.is_signed ? OF_SIGNED(k.bytes, two, Op COMMA) : OF_BITS(k.bytes, two, Op COMMA);
}
template <class Op>
Run run_three(Kind k) {
  return k.is_signed ? OF_SIGNED(k.bytes, three, Op COMMA) : OF_BITS(k.bytes, three, Op COMMA);
}
template <class Op>
Run run_shift(Kind k) {
  return k.is_signed ? OF_SIGNED(k.bytes, shift, Op COMMA) : OF_BITS(k.bytes, shift, Op COMMA);
}
template <class Op>
Run run_count(Kind k) {
  return k.is_signed ? OF_SIGNED(k.bytes, count, Op COMMA) : OF_BITS(k.bytes, count, Op COMMA);
}
template <class Op>
Run run_compare(Kind k) {
  if (k.is_float) return k.bytes == 4 ? compare<Op, float> : k.bytes == 8 ? compare<Op, double> : (Run) nullptr;
  return k.is_signed ? OF_SIGNED(k.bytes, compare, Op COMMA) : OF_BITS(k.bytes, compare, Op COMMA);
}

Run run_of_compare(const std::string &how, Kind k) {
  if (how == "eq") return run_compare<Eq>(k);
  if (how == "ne") return k.is_float ? run_compare<OrderedNe>(k) : run_compare<Ne>(k);
  if (how == "lt" || how == "lo") return run_compare<Lt>(k);
  if (how == "le" || how == "ls") return run_compare<Le>(k);
  if (how == "gt" || how == "hi") return run_compare<Gt>(k);
  if (how == "ge" || how == "hs") return run_compare<Ge>(k);
  if (!k.is_float) return nullptr;
  if (how == "equ") return run_compare<Equ>(k);
  if (how == "neu") return run_compare<Neu>(k);
  if (how == "ltu") return run_compare<Ltu>(k);
  if (how == "leu") return run_compare<Leu>(k);
  if (how == "gtu") return run_compare<Gtu>(k);
  if (how == "geu") return run_compare<Geu>(k);
  if (how == "num") return run_compare<Num>(k);
  if (how == "nan") return run_compare<Nan>(k);
  return nullptr;
}

Run run_of_predicate(const std::string &name) {
  if (name == "and") return logic<LogicAnd>;
  if (name == "or") return logic<LogicOr>;
  if (name == "xor") return logic<LogicXor>;
  if (name == "not") return logic<LogicNot>;
  if (name == "mov") return logic<LogicCopy>;
  return nullptr;
}

Run run_of_words(const Words &op) {
  const std::string &name = op[0];
  if (name == "prmt" && op.size() == 2) return prmt;
  if (name == "lop3" && op.size() == 2) return lop3;
  if (name == "dp4a" && op.size() == 3 && op[1] == "s32" && op[2] == "s32") return dp4a;
  if (name == "shf" && op.size() == 4) {
    if (op[1] == "l") return op[2] == "clamp" ? shf<true, true> : shf<true, false>;
    return op[2] == "clamp" ? shf<false, true> : shf<false, false>;
  }
  return nullptr;
}

Run run_of_multiplication(const Words &op, Kind k) {
  bool mad = op[0] == "mad";
  if (op.size() != 3) return nullptr;
  if (op[1] == "lo") return mad ? run_three<MadLo>(k) : run_two<MulLo>(k);
  if (op[1] == "hi") return mad ? run_three<MadHi>(k) : run_two<MulHi>(k);
  if (op[1] != "wide") return nullptr;
  if (k.bytes == 2 && k.is_signed) return mad ? mad_wide<int16_t> : mul_wide<int16_t>;
  if (k.bytes == 2) return mad ? mad_wide<uint16_t> : mul_wide<uint16_t>;
  if (k.bytes == 4 && k.is_signed) return mad ? mad_wide<int32_t> : mul_wide<int32_t>;
  if (k.bytes == 4) return mad ? mad_wide<uint32_t> : mul_wide<uint32_t>;
  return nullptr;
}

Run run_of_two_words(const std::string &name, Kind k) {
  if (name == "add") return run_two<Add>(k);
  if (name == "sub") return run_two<Sub>(k);
  if (name == "div") return run_two<Div>(k);
  if (name == "rem") return run_two<Rem>(k);
  if (name == "min") return run_two<Min>(k);
  if (name == "max") return run_two<Max>(k);
  if (name == "and") return run_two<And>(k);
  if (name == "or") return run_two<Or>(k);
  if (name == "xor") return run_two<Xor>(k);
  if (name == "not") return run_one<Not>(k);
  if (name == "neg") return run_one<Neg>(k);
  if (name == "abs") return k.is_signed ? run_one<Abs>(k) : nullptr;
  if (name == "shl") return run_shift<Shl>(k);
  if (name == "shr") return run_shift<Shr>(k);
  if (name == "clz") return run_count<Clz>(k);
  if (name == "popc") return run_count<Popc>(k);
  if (name == "bfind") return run_count<Bfind<false>>(k);
  if (name == "brev") return OF_BITS(k.bytes, one, Brev COMMA);
  if (name == "bfe") return k.is_signed ? OF_SIGNED(k.bytes, bfe, ) : OF_BITS(k.bytes, bfe, );
  if (name == "bfi") return OF_BITS(k.bytes, bfi, );
  return nullptr;
}

}  // namespace

Run run_of_number(const Words &op, const uint8_t *wide) {
  const std::string &name = op[0], &type = op.back();
  if (type == "pred") return run_of_predicate(name);
  Kind k = {type[0] == 's', type[0] == 'f', type_bytes(type)};
  if (type.find("x2") != std::string::npos || type.compare(0, 2, "bf") == 0) return nullptr;
  if (name == "mov" && op.size() == 3) {
    bool half = op[1] == "pack" || op[1] == "unpack";
    if (!half) return nullptr;
    if (k.bytes == 8 && wide[1] == 4) return op[1] == "pack" ? pack<uint64_t, uint32_t> : unpack<uint64_t, uint32_t>;
    if (k.bytes == 8 && wide[1] == 2) return op[1] == "pack" ? pack<uint64_t, uint16_t> : unpack<uint64_t, uint16_t>;
    if (k.bytes == 4 && wide[1] == 2) return op[1] == "pack" ? pack<uint32_t, uint16_t> : unpack<uint32_t, uint16_t>;
    return nullptr;
  }
  if (name == "mov" && op.size() == 2) return OF_BITS(k.bytes, one, Copy COMMA);
  if (name == "selp" && op.size() == 2) return OF_BITS(k.bytes, selp, );
  if (name == "setp" && op.size() == 3) return run_of_compare(op[1], k);
  if (k.is_float) return nullptr;
  if (name == "cvt") return run_of_conversion(op, wide);
  if (name == "mul" || name == "mad") return run_of_multiplication(op, k);
  if (Run r = run_of_words(op)) return r;
  if (name == "bfind" && op.size() == 3 && op[1] == "shiftamt") return run_count<Bfind<true>>(k);
  return op.size() == 2 ? run_of_two_words(name, k) : nullptr;
}
