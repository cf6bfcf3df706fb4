/* SPDX-License-Identifier: MIT */
/* halfulp/core.h - encode, decode and compute with one value by inline functions, in your own loops and CUDA kernels.
 *
 *   hu_core c = hu_core_of(hu_float8_e4m3fn(), mode);                          // once, on the host
 *   __global__ void gelu(hu_core c, size_t n, uint8_t *z, const float *x) {    // by value into the kernel
 *     size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
 *     if (i < n) z[i] = (uint8_t)hu_core_encode(&c, gelu_of(x[i]), hu_core_random(&c, 7, i), NULL);
 *   }
 *
 * C11, C++17 and CUDA (nvcc; host and device) compile the same text, which works in integers alone and needs no library
 * at run time: every result is that of the call of scalar.h or arith.h of the same name, and so bit for bit that of the
 * array calls. (What is needed from the library is at most the format: hu_format_parse and the named formats.)
 *
 * A hu_core is a format and a mode unfolded. Both must be valid: hu_format_check and hu_mode_check, or hu_core_make,
 * which asks them; unlike the calls of the library the functions here do not look. `random` is R of the stochastic
 * modes, its low N bits are used; other modes ignore it, which saves what made it. If `events` is not NULL, *events is
 * set (not added) to the HU_EVENT_ bits of the operation. Bits above the width of a code are ignored: there
 * is no status that could refuse them.
 *
 * What this header includes from halfulp/core/ and names without the prefix hu_core_ is how it works inside: it may
 * change between versions. */
#ifndef HALFULP_CORE_H
#define HALFULP_CORE_H

/* Its casts are C's, also where a C++ program has warnings about these. */
#if defined(__cplusplus) && defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#include "halfulp/core/arith.h"
#include "halfulp/core/bits.h"
#include "halfulp/core/stream.h"

/* Plain data of some 50 bytes; fields are not for users. */
typedef hu_spec hu_core;

/* format and mode valid. Host or device; does some twenty operations, so not once an element. */
HU_FN hu_core hu_core_of(hu_format format, hu_mode mode) { return hui_spec_of(format, mode); }

/* The same with a look at both, by the library: HU_OK, HU_E_FORMAT or HU_E_MODE, and then *z is untouched. Host. */
static inline HU_MUST_CHECK hu_status hu_core_make(hu_core *z, hu_format format, hu_mode mode) {
  hu_status status = hu_format_check(format, NULL);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status == HU_OK) *z = hui_spec_of(format, mode);
  return status;
}

/* R for element i of an array call with the stream (key, counter) is hu_core_random(c, key, counter + i): the high N
 * bits of that word of Philox4x32-10 (docs/numerics.md section 6). 0 in modes that are not stochastic. */
HU_FN uint32_t hu_core_random(const hu_core *c, uint64_t key, uint64_t word) {
  return c->bits ? hui_stream_at(key, word) >> (32 - c->bits) : 0;
}

/* The code of a binary32 number x: hu_encode. */
HU_FN uint32_t hu_core_encode(const hu_core *c, float x, uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_round(c, hui_unpack32(hui_bits_of_float(x)), random, events ? events : &own);
}
/* The code of a binary64 number x: hu_encode64. */
HU_FN uint32_t hu_core_encode64(const hu_core *c, double x, uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_round(c, hui_unpack64(hui_bits_of_double(x)), random, events ? events : &own);
}

/* The value of a code as binary32: hu_decode. The mode of c plays no part. */
HU_FN float hu_core_decode(const hu_core *c, uint32_t code) {
  return hui_float_of_bits(hui_pack32(hui_unpack(c, code)));
}
/* The value of a code as binary64: hu_decode64. The mode of c plays no part. */
HU_FN double hu_core_decode64(const hu_core *c, uint32_t code) {
  return hui_double_of_bits(hui_pack64(hui_unpack(c, code)));
}

/* The value that a binary32 number x rounds to: hu_quantize. */
HU_FN float hu_core_quantize(const hu_core *c, float x, uint32_t random, uint32_t *events) {
  return hu_core_decode(c, hu_core_encode(c, x, random, events));
}
/* The value that a binary64 number x rounds to: hu_quantize64. */
HU_FN double hu_core_quantize64(const hu_core *c, double x, uint32_t random, uint32_t *events) {
  return hu_core_decode64(c, hu_core_encode64(c, x, random, events));
}

/* The code in c of the value of code x of cx: hu_convert. */
HU_FN uint32_t hu_core_convert(const hu_core *c, const hu_core *cx, uint32_t x, uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_round(c, hui_unpack(cx, x), random, events ? events : &own);
}

/* Is a code a signalling NaN: hu_is_signalling. The mode of c plays no part, and no function here looks at it. */
HU_FN int32_t hu_core_is_signalling(const hu_core *c, uint32_t code) {
  return (int32_t)hui_is_signalling_code(c, code);
}

/* Arithmetic on codes, each result rounded once into the format of c. The code of a + b: hu_add of arith.h. */
HU_FN uint32_t hu_core_add(const hu_core *c, const hu_core *ca, uint32_t a, const hu_core *cb, uint32_t b,
                           uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_arith_one(c, HU_OP_ADD, hui_unpack(ca, a), hui_unpack(cb, b), hui_num_special(HU_KIND_ZERO, 0), random,
                       events ? events : &own);
}
/* The code of a - b: hu_sub. */
HU_FN uint32_t hu_core_sub(const hu_core *c, const hu_core *ca, uint32_t a, const hu_core *cb, uint32_t b,
                           uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_arith_one(c, HU_OP_SUB, hui_unpack(ca, a), hui_unpack(cb, b), hui_num_special(HU_KIND_ZERO, 0), random,
                       events ? events : &own);
}
/* The code of a b: hu_mul. */
HU_FN uint32_t hu_core_mul(const hu_core *c, const hu_core *ca, uint32_t a, const hu_core *cb, uint32_t b,
                           uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_arith_one(c, HU_OP_MUL, hui_unpack(ca, a), hui_unpack(cb, b), hui_num_special(HU_KIND_ZERO, 0), random,
                       events ? events : &own);
}
/* The code of a / b: hu_div. */
HU_FN uint32_t hu_core_div(const hu_core *c, const hu_core *ca, uint32_t a, const hu_core *cb, uint32_t b,
                           uint32_t random, uint32_t *events) {
  uint32_t own;
  return hui_arith_one(c, HU_OP_DIV, hui_unpack(ca, a), hui_unpack(cb, b), hui_num_special(HU_KIND_ZERO, 0), random,
                       events ? events : &own);
}
/* The code of the square root of x: hu_sqrt. */
HU_FN uint32_t hu_core_sqrt(const hu_core *c, const hu_core *cx, uint32_t x, uint32_t random, uint32_t *events) {
  uint32_t own;
  hu_num zero = hui_num_special(HU_KIND_ZERO, 0);
  return hui_arith_one(c, HU_OP_SQRT, hui_unpack(cx, x), zero, zero, random, events ? events : &own);
}
/* a b + d, the product not rounded; mode.nan_fma as in hu_fma. */
HU_FN uint32_t hu_core_fma(const hu_core *c, const hu_core *ca, uint32_t a, const hu_core *cb, uint32_t b,
                           const hu_core *cd, uint32_t d, uint32_t random, uint32_t *events) {
  uint32_t own;
  hu_num x = hui_unpack(ca, a), y = hui_unpack(cb, b), z = hui_unpack(cd, d);
  return hui_arith_one(c, HU_OP_FMA, x, y, z, random, events ? events : &own);
}

#if defined(__cplusplus) && defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC diagnostic pop
#endif
#endif
