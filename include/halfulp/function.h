/* SPDX-License-Identifier: MIT */
/* halfulp/function.h - elementary functions of codes, correctly rounded.
 *
 *   hu_format half = hu_binary16(), e4m3 = hu_float8_e4m3fn();
 *   hu_mode rne = {0};
 *   uint32_t events, z = hu_exp(half, rne, e4m3, x, 0, &events);
 *
 * Operands are codes, each in a format of its own (bits above the width are ignored: one code, no status), the result
 * is a code of fz. The exact result, a real number, infinity or NaN, is rounded into fz ONCE, in any mode, as in
 * docs/numerics.md section 2: also where it lies a hair beside a value of fz, is beyond its range or below it, and in
 * the stochastic modes, whose R is `random` as in scalar.h. There is no error bound to state: the result is the one
 * that infinitely many digits give, for every format of up to 32 bits. No libm, no tables of results; the same bits on
 * every machine.
 *
 * Special operands: IEEE 754-2019 9.2 and 9.2.1; of tanh, sigmoid, erf and gelu, which it does not have, the limits
 * (docs/numerics.md section 12). In short:
 *
 *   NaN       gives NaN (pow: except 1^y and x^0, which are 1).
 *   a pole    (log of a zero, ...) is an infinity with `divide_by_zero`; it goes into fz like an infinite operand.
 *   no value  (log of a negative number, sine of an infinity, ...) is NaN with `invalid`.
 *   events    those of the rounding, these two, and `nan_in`, `inf_in` where an OPERAND is a NaN, an infinity.
 *
 * If `events` is not NULL, *events is set (not added). Total: a descriptor or mode that its check refuses gives code 0
 * and HU_EVENT_INVALID. operation.h lists the functions, and hu_apply of view.h computes arrays of them. */
#ifndef HALFULP_FUNCTION_H
#define HALFULP_FUNCTION_H

#include "halfulp/arith.h"

#ifdef __cplusplus
extern "C" {
#endif

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
