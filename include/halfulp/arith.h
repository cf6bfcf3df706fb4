/* SPDX-License-Identifier: MIT */
/* halfulp/arith.h - arithmetic and elementary functions on codes, one value at a time: every result is rounded once.
 *
 *   hu_format e4m3 = hu_float8_e4m3fn(), half = hu_binary16();
 *   hu_mode rne = {0};
 *   uint32_t events, z = hu_fma(half, rne, e4m3, a, e4m3, b, half, c, 0, &events);
 *
 * Operands are codes, each in a format of its own (bits above the width are ignored: one code, no status), the result
 * is a code of fz. The exact result, a real number, infinity or NaN, is formed and then rounded into fz as in
 * docs/numerics.md section 2; there is no other rounding. `random` is R of the stochastic modes as in scalar.h. Special
 * operands, signs of zeros and events: docs/numerics.md section 10, after IEEE 754-2019 sections 5, 6.3, 7.2, 7.3 and
 * 9.6. In short:
 *
 *   events    those of the rounding; `invalid` for an operation that has no value (inf - inf, 0 x inf, 0/0, inf/inf,
 *             the root of a negative number); `divide_by_zero` for x/0 with x finite and not 0; `nan_in`, `inf_in`
 *             where an OPERAND is a NaN, an infinity. An infinity made by a division goes into fz like an infinite
 *             operand (section 3).
 *   zeros     an exact sum 0 is +0, in the mode toward negative -0, if the terms are not zeros of one sign; products
 *             and quotients have the sign of IEEE 754; formats without -0 take +0.
 *
 * If `events` is not NULL, *events is set (not added). Total: a descriptor or mode that its check refuses gives code 0
 * and HU_EVENT_INVALID (hu_compare: HU_UNORDERED; hu_class: HU_CLASS_NAN). operation.h lists the operations, and
 * hu_apply of view.h computes arrays of them. */
#ifndef HALFULP_ARITH_H
#define HALFULP_ARITH_H

#include <string.h>

#include "halfulp/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hu_apply_code with an argument for each part ---- */

/* A code of format. */
static inline hu_code hu_code_of(hu_format format, uint32_t code) {
  hu_code x;
  x.format = format;
  x.code = code;
  return x;
}
/* Operation op of one operand: hu_sqrt, hu_exp and their like. */
static inline uint32_t hu_apply_one_code(int op, hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                         uint32_t *events) {
  hu_code operand = hu_code_of(fx, x);
  return hu_apply_code(op, fz, mode, &operand, random, events);
}
/* Operation op of two operands: hu_add, hu_pow and their like. */
static inline uint32_t hu_apply_two_codes(int op, hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb,
                                          uint32_t b, uint32_t random, uint32_t *events) {
  hu_code x[2];
  x[0] = hu_code_of(fa, a);
  x[1] = hu_code_of(fb, b);
  return hu_apply_code(op, fz, mode, x, random, events);
}
/* Operation op of those that do not round, of the codes x: hu_next_up, hu_next_down. */
static inline uint32_t hu_apply_exact(int op, const hu_code *x) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  return hu_apply_code(op, x[0].format, rne, x, 0, NULL);
}
/* The same where the result is HU_RESULT_INT8: hu_compare, hu_class. */
static inline int hu_apply_int8(int op, const hu_code *x) {
  uint32_t pattern = hu_apply_exact(op, x);
  int int8;
  memcpy(&int8, &pattern, sizeof int8); /* C's cast is a warning in C++ */
  return int8;
}

/* ---- the operations ---- */

/* The sum a + b, rounded once into fz. */
static inline uint32_t hu_add(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                              uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_ADD, fz, mode, fa, a, fb, b, random, events);
}
/* The difference a - b, rounded once into fz. */
static inline uint32_t hu_sub(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                              uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_SUB, fz, mode, fa, a, fb, b, random, events);
}
/* The product a b, rounded once into fz. */
static inline uint32_t hu_mul(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                              uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_MUL, fz, mode, fa, a, fb, b, random, events);
}
/* The quotient a / b, rounded once into fz; a finite a that is not 0 over 0 is an infinity with divide_by_zero. */
static inline uint32_t hu_div(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                              uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_DIV, fz, mode, fa, a, fb, b, random, events);
}
/* The square root of x; of -0 it is -0. */
static inline uint32_t hu_sqrt(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                               uint32_t *events) {
  return hu_apply_one_code(HU_OP_SQRT, fz, mode, fx, x, random, events);
}
/* a b + c, the product not rounded. A NaN operand makes the result NaN without `invalid`; whether 0 x inf plus a NaN c
 * is invalid says mode.nan_fma (mode.h): RISC-V and Arm report it, x86 does not. */
static inline uint32_t hu_fma(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                              hu_format fc, uint32_t c, uint32_t random, uint32_t *events) {
  hu_code x[3];
  x[0] = hu_code_of(fa, a);
  x[1] = hu_code_of(fb, b);
  x[2] = hu_code_of(fc, c);
  return hu_apply_code(HU_OP_FMA, fz, mode, x, random, events);
}

/* The smaller of a and b (-0 below +0), rounded into fz; NaN if an operand is a NaN (IEEE 754-2019 9.6). */
static inline uint32_t hu_minimum(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                                  uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_MINIMUM, fz, mode, fa, a, fb, b, random, events);
}
/* The larger of a and b (-0 below +0), rounded into fz; NaN if an operand is a NaN (9.6). */
static inline uint32_t hu_maximum(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                                  uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_MAXIMUM, fz, mode, fa, a, fb, b, random, events);
}
/* The smaller of a and b (-0 below +0), rounded into fz; if one is a NaN, the other (9.6). */
static inline uint32_t hu_minimum_number(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                                         uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_MINIMUM_NUMBER, fz, mode, fa, a, fb, b, random, events);
}
/* The larger of a and b (-0 below +0), rounded into fz; if one is a NaN, the other (9.6). */
static inline uint32_t hu_maximum_number(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                                         uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_MAXIMUM_NUMBER, fz, mode, fa, a, fb, b, random, events);
}

/* How one number stands to another. */
enum {
  HU_LESS = -1,    /* a < b */
  HU_EQUAL = 0,    /* a = b */
  HU_GREATER = 1,  /* a > b */
  HU_UNORDERED = 2 /* a or b is a NaN */
};
/* How a stands to b, HU_LESS to HU_UNORDERED; -0 and +0 are equal, a NaN is unordered with everything. Exact, no
 * events: formats here have one NaN, so IEEE 754's quiet and signalling predicates give the same answers, and a caller
 * that needs the latter's exception tests for HU_UNORDERED. */
static inline int hu_compare(hu_format fa, uint32_t a, hu_format fb, uint32_t b) {
  hu_code x[2];
  x[0] = hu_code_of(fa, a);
  x[1] = hu_code_of(fb, b);
  return hu_apply_int8(HU_OP_COMPARE, x);
}

/* The integer that x rounds to in the mode's way (stochastic modes with R too), as a code of the same format: IEEE
 * 754's roundToIntegralExact. `inexact` if the result is not x. The integer may lie beyond max (7.5 in a format that
 * ends there): overflow, section 3. The sign of x stays on a zero. */
static inline uint32_t hu_round_to_integral(hu_format format, hu_mode mode, uint32_t x, uint32_t random,
                                            uint32_t *events) {
  return hu_apply_one_code(HU_OP_INTEGRAL, format, mode, format, x, random, events);
}

/* The remainder x - y n, n the integer nearest to x / y, of two the even one (IEEE 754-2019 5.3.1): exact, so in a
 * format that holds both operands' values nothing is rounded. Of zero it has the sign of x; x infinite or y zero:
 * `invalid`; x finite and y infinite: x. TestFloat's f16_rem and the like. */
static inline uint32_t hu_remainder(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, hu_format fy, uint32_t y,
                                    uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_REMAINDER, fz, mode, fx, x, fy, y, random, events);
}

/* The next value of format above x (IEEE 754-2019 5.3.1); x itself where there is none (above the last finite value
 * comes the infinity, if format has one); of a NaN the canonical NaN. A zero from below is -0 if format has -0. No
 * events. */
static inline uint32_t hu_next_up(hu_format format, uint32_t x) {
  hu_code code = hu_code_of(format, x);
  return hu_apply_exact(HU_OP_NEXT_UP, &code);
}
/* The next value below x, as hu_next_up. */
static inline uint32_t hu_next_down(hu_format format, uint32_t x) {
  hu_code code = hu_code_of(format, x);
  return hu_apply_exact(HU_OP_NEXT_DOWN, &code);
}

/* Classes of codes. */
enum {
  HU_CLASS_NAN = 0,                /* a NaN */
  HU_CLASS_NEGATIVE_INFINITY = 1,  /* -infinity */
  HU_CLASS_NEGATIVE_NORMAL = 2,    /* below zero, normal */
  HU_CLASS_NEGATIVE_SUBNORMAL = 3, /* below zero, subnormal */
  HU_CLASS_NEGATIVE_ZERO = 4,      /* -0 */
  HU_CLASS_POSITIVE_ZERO = 5,      /* +0 */
  HU_CLASS_POSITIVE_SUBNORMAL = 6, /* above zero, subnormal */
  HU_CLASS_POSITIVE_NORMAL = 7,    /* above zero, normal */
  HU_CLASS_POSITIVE_INFINITY = 8   /* +infinity */
};
/* What an invalid conversion to an integer type gives (IEEE 754-2019 7.2 j leaves that open). lowest, highest: of the
 * type. "below", "above": a number or an infinity beyond the lowest, the highest.
 *
 *   rule                NaN       below     above
 *   HU_INTEGER_RISCV    highest   lowest    highest    RISC-V's fcvt
 *   HU_INTEGER_ARM      0         lowest    highest    Arm's FCVT*S, FCVT*U; results of AVX10.2's VCVT*S
 *   HU_INTEGER_X86      the "integer indefinite" each time: lowest if signed, else highest (cvt*si, cvt*usi) */
enum {
  HU_INTEGER_RISCV = 0, /* see above */
  HU_INTEGER_ARM = 1,   /* see above */
  HU_INTEGER_X86 = 2    /* see above */
};
/* An integer type, and how a conversion to it reports. */
typedef struct hu_integer {
  uint8_t width;     /* binary digits, 1 to 64 */
  uint8_t is_signed; /* 1: two's complement, -2^(width-1) to 2^(width-1) - 1; 0: 0 to 2^width - 1 */
  uint8_t invalid;   /* HU_INTEGER_: the result of an invalid conversion */
  uint8_t exact;     /* 1: reports inexact (5.8 convertToIntegerExact...); 0: does not (convertToInteger...) */
} hu_integer;
/* The integer that x rounds to in the mode's way (all modes; the other policies play no part), a negative one in two's
 * complement of 64 digits: cast to int64_t. `invalid` and the rule's result if x is a NaN, or the rounded integer is
 * not of the type (5.8, 7.1: then neither overflow nor inexact); else `inexact`, if integer.exact, where the integer is
 * not x, and `to_zero` where x is not zero and the integer is; nan_in, inf_in. A wrong integer: as a wrong mode.
 * TestFloat's f16_to_i32, _ui32, _i64, _ui64 are {32, 1}, {32, 0}, {64, 1}, {64, 0}, with `exact` as its option
 * -exact. */
HU_API uint64_t hu_to_integer(hu_integer integer, hu_mode mode, hu_format format, uint32_t x, uint32_t random,
                              uint32_t *events);
/* The code of an integer: rounded once like any number, +0 for 0. TestFloat's i32_to_f16, i64_to_f16; ui32_, ui64_. */
HU_API uint32_t hu_from_signed(hu_format fz, hu_mode mode, int64_t x, uint32_t random,
                               uint32_t *events); /* x: -2^63 to 2^63 - 1 */
HU_API uint32_t hu_from_unsigned(hu_format fz, hu_mode mode, uint64_t x, uint32_t random,
                                 uint32_t *events); /* x: 0 to 2^64 - 1 */

/* The HU_CLASS_ of a code (IEEE 754-2019 5.7.2). A NaN has one class. */
static inline int hu_class(hu_format format, uint32_t x) {
  hu_code code = hu_code_of(format, x);
  return hu_apply_int8(HU_OP_CLASS, &code);
}

/* 1 if x is a signalling NaN (IEEE 754-2019 6.2.1): format has NaN `ieee` or `ieee1` and m >= 1, x is a NaN, and its
 * first trailing digit, bit m - 1, is 0; else 0, for a descriptor that its check refuses too. The operations of this
 * library treat a signalling NaN like a quiet one, without `invalid`; for IEEE 754's exception (7.2 a) ask this
 * function about each operand and add HU_EVENT_INVALID. */
HU_API int hu_is_signalling(hu_format format, uint32_t x);

/* ---- elementary functions of codes, correctly rounded ----
 *
 *   hu_format half = hu_binary16(), e4m3 = hu_float8_e4m3fn();
 *   hu_mode rne = {0};
 *   uint32_t events, z = hu_exp(half, rne, e4m3, x, 0, &events);
 *
 * As above, the exact result is rounded into fz once, in any mode, also where it lies a hair beside a value of fz. No
 * error bound is to be stated: the result is the one that infinitely many digits give, for every format of up to 32
 * bits. No libm, no tables of results; the same bits on every machine.
 *
 * Special operands: IEEE 754-2019 9.2 and 9.2.1; of tanh, sigmoid, erf and gelu, which it does not have, the limits
 * (docs/numerics.md section 12). In short:
 *
 *   NaN       gives NaN (pow: except 1^y and x^0, which are 1).
 *   a pole    (log of a zero, ...) is an infinity with `divide_by_zero`; it goes into fz like an infinite operand.
 *   no value  (log of a negative number, sine of an infinity, ...) is NaN with `invalid`.
 *   events    those of the rounding, these two, and `nan_in`, `inf_in` where an OPERAND is a NaN, an infinity. */

/* e^x. exp(-inf) = +0. */
static inline uint32_t hu_exp(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return hu_apply_one_code(HU_OP_EXP, fz, mode, fx, x, random, events);
}
/* 2^x; exact for integers. */
static inline uint32_t hu_exp2(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                               uint32_t *events) {
  return hu_apply_one_code(HU_OP_EXP2, fz, mode, fx, x, random, events);
}
/* e^x - 1. expm1(+-0) = +-0, expm1(-inf) = -1. */
static inline uint32_t hu_expm1(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                uint32_t *events) {
  return hu_apply_one_code(HU_OP_EXPM1, fz, mode, fx, x, random, events);
}
/* The natural logarithm. log(1) = +0. */
static inline uint32_t hu_log(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return hu_apply_one_code(HU_OP_LOG, fz, mode, fx, x, random, events);
}
/* The logarithm to base 2; exact for powers of two. log2(1) = +0. */
static inline uint32_t hu_log2(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                               uint32_t *events) {
  return hu_apply_one_code(HU_OP_LOG2, fz, mode, fx, x, random, events);
}
/* ln(1 + x). log1p(+-0) = +-0; a pole at -1; invalid below it. */
static inline uint32_t hu_log1p(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                uint32_t *events) {
  return hu_apply_one_code(HU_OP_LOG1P, fz, mode, fx, x, random, events);
}
/* The hyperbolic tangent. tanh(+-0) = +-0, tanh(+-inf) = +-1. */
static inline uint32_t hu_tanh(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                               uint32_t *events) {
  return hu_apply_one_code(HU_OP_TANH, fz, mode, fx, x, random, events);
}
/* 1 / (1 + e^-x). sigmoid(+-0) = 1/2, sigmoid(-inf) = +0, sigmoid(+inf) = 1. */
static inline uint32_t hu_sigmoid(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                  uint32_t *events) {
  return hu_apply_one_code(HU_OP_SIGMOID, fz, mode, fx, x, random, events);
}
/* 2/sqrt(pi) times the integral of e^-(t^2) from 0 to x. erf(+-0) = +-0, erf(+-inf) = +-1. */
static inline uint32_t hu_erf(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return hu_apply_one_code(HU_OP_ERF, fz, mode, fx, x, random, events);
}
/* x Phi(x), Phi the distribution function of the normal distribution: the exact GELU, no approximation by tanh.
 * gelu(+-0) = +-0, gelu(+inf) = +inf. gelu(-inf) = -0: the limit, reached from below 0. */
static inline uint32_t hu_gelu(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                               uint32_t *events) {
  return hu_apply_one_code(HU_OP_GELU, fz, mode, fx, x, random, events);
}
/* 1 / sqrt(x). A pole at a zero, with its sign; rsqrt(+inf) = +0; invalid below 0. */
static inline uint32_t hu_rsqrt(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                uint32_t *events) {
  return hu_apply_one_code(HU_OP_RSQRT, fz, mode, fx, x, random, events);
}
/* 1 / x: hu_div of 1 and x. A pole at a zero, with its sign; reciprocal(+-inf) = +-0. */
static inline uint32_t hu_reciprocal(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                     uint32_t *events) {
  return hu_apply_one_code(HU_OP_RECIPROCAL, fz, mode, fx, x, random, events);
}
/* The sine of x radians. sin(+-0) = +-0; invalid for infinities. */
static inline uint32_t hu_sin(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return hu_apply_one_code(HU_OP_SIN, fz, mode, fx, x, random, events);
}
/* The cosine of x radians. cos(+-0) = 1; invalid for infinities. */
static inline uint32_t hu_cos(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return hu_apply_one_code(HU_OP_COS, fz, mode, fx, x, random, events);
}

/* x^y (IEEE 754-2019 9.2.1). With "odd" for an odd integer y:
 *
 *   x^+-0 = 1 and 1^y = 1, even for a NaN                (-1)^+-inf = 1
 *   x^+inf = +inf, x^-inf = +0 for |x| > 1               x^+inf = +0, x^-inf = +inf for |x| < 1, zeros too
 *   a zero to y < 0: a pole, + unless y is odd           a zero to y > 0: +0, for odd y the zero itself
 *   +inf to y: +0 for y < 0, +inf for y > 0              -inf to y: the same, with - for odd y
 *   x < 0 finite, y finite and no integer: invalid       otherwise the sign is - for x < 0 and odd y
 */
static inline uint32_t hu_pow(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, hu_format fy, uint32_t y,
                              uint32_t random, uint32_t *events) {
  return hu_apply_two_codes(HU_OP_POW, fz, mode, fx, x, fy, y, random, events);
}

#ifdef __cplusplus
}
#endif
#endif
