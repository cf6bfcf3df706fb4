/* SPDX-License-Identifier: MIT */
/* formats/p3109.h - IEEE P3109, "Standard for Arithmetic Formats for Machine Learning", draft D1 (July 2026):
 * binary{K}p{P}{s|u}{e|f} has K bits and precision P, signed or unsigned, extended (with infinities) or finite. One
 * NaN, one zero, bias 2^(K-P-1) signed, 2^(K-P) unsigned. Any of them: hu_format_p3109 of halfulp/format.h, or
 * hu_format_find by name. */
#ifndef HALFULP_FORMATS_P3109_H
#define HALFULP_FORMATS_P3109_H

#include "halfulp/formats/make.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Those that the draft requires: two of 8 bits, one of 4, one for scales. */
static inline hu_format hu_binary8p4se(void) {
  return hu_format_p3109(8, 4, 1, 1);
} /* 8 bits, precision 4, signed, infinities */
static inline hu_format hu_binary8p3se(void) {
  return hu_format_p3109(8, 3, 1, 1);
} /* 8 bits, precision 3, signed, infinities */
static inline hu_format hu_binary4p2sf(void) {
  return hu_format_p3109(4, 2, 1, 0);
} /* 4 bits, precision 2, signed, finite */
static inline hu_format hu_binary8p1uf(void) {
  return hu_format_p3109(8, 1, 0, 0);
} /* 8 bits, precision 1, unsigned, finite */

/* Other signed ones of 8, 6 and 4 bits in frequent use. */
static inline hu_format hu_binary8p5se(void) {
  return hu_format_p3109(8, 5, 1, 1);
} /* 8 bits, precision 5, infinities */
static inline hu_format hu_binary8p4sf(void) { return hu_format_p3109(8, 4, 1, 0); } /* 8 bits, precision 4, finite */
static inline hu_format hu_binary8p3sf(void) { return hu_format_p3109(8, 3, 1, 0); } /* 8 bits, precision 3, finite */
static inline hu_format hu_binary6p4sf(void) { return hu_format_p3109(6, 4, 1, 0); } /* 6 bits, precision 4, finite */
static inline hu_format hu_binary6p3sf(void) { return hu_format_p3109(6, 3, 1, 0); } /* 6 bits, precision 3, finite */
static inline hu_format hu_binary4p2se(void) {
  return hu_format_p3109(4, 2, 1, 1);
} /* 4 bits, precision 2, infinities */

#ifdef __cplusplus
}
#endif
#endif
