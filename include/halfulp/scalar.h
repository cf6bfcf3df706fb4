/* SPDX-License-Identifier: MIT */
/* halfulp/scalar.h - encode, decode and convert one value. Any bit pattern in gives the documented result.
 *
 *   uint32_t events, code = hu_encode(f, rne, 0.1f, 0, &events);
 *   double value = hu_decode64(f, code);
 *
 * Each call rounds the exact operand once (docs/numerics.md section 2). `random` is R of the stochastic modes: its low
 * N bits are used, and other modes ignore it. If `events` is not NULL, *events is set to the operation's HU_EVENT_ bits
 * (not added). A descriptor or mode that its check refuses gives code 0 (value NaN) and HU_EVENT_INVALID. Bits above
 * the width of a code are ignored: there is no status that could refuse them. */
#ifndef HALFULP_SCALAR_H
#define HALFULP_SCALAR_H

#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The code of x rounded into format. */
HU_API uint32_t hu_encode(hu_format format, hu_mode mode, float x, uint32_t random,
                          uint32_t *events); /* the code of a binary32 number */
HU_API uint32_t hu_encode64(hu_format format, hu_mode mode, double x, uint32_t random,
                            uint32_t *events); /* the code of a binary64 number */
/* The code in fz of the value of code x of format fx: one rounding, whatever the two formats. */
HU_API uint32_t hu_convert(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events);
/* The value of a code; always exact. NaN: 0x7FF8000000000000. */
HU_API double hu_decode64(hu_format format, uint32_t code);
/* The same in binary32, exact if hu_format_fits_binary32(format); else rounded once, ties to even, IEEE overflow. */
HU_API float hu_decode(hu_format format, uint32_t code);
/* decode(encode(x)): the value of format that x rounds to. */
HU_API float hu_quantize(hu_format format, hu_mode mode, float x, uint32_t random,
                         uint32_t *events); /* the value for a binary32 number */
HU_API double hu_quantize64(hu_format format, hu_mode mode, double x, uint32_t random,
                            uint32_t *events); /* the value for a binary64 number */

#ifdef __cplusplus
}
#endif
#endif
