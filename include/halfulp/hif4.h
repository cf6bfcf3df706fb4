/* SPDX-License-Identifier: MIT */
/* halfulp/hif4.h - encode and decode HiFloat4: 64 elements of 4 bits under a scale of 8 bits and 24 bits that double it
 * for groups of 8 and of 4.
 *
 *   hu_hif4 kind = hu_hif4_usual();
 *   hu_status s = hu_hif4_encode(rows, cols, codes, cols, scales, (cols + 63) / 64, x, cols, &kind, NULL);
 *   if (s == HU_OK) s = hu_hif4_decode(rows, cols, z, cols, codes, cols, scales, (cols + 63) / 64);
 *
 * Source: Huawei, HiFloat4 Format for Language Model Inference (arXiv 2602.11287), in the form of Huawei's public code:
 * the golden data of CANN's operator dynamic_mx_quant (_dynamic_quant_hifp4), those of its matrix product
 * (hif4_quantize), and the emulation in PyTorch (quant_cy/base/QFuncs/hifx.py). These agree on the layout and differ in
 * the points that hu_hif4 names; the paper's text, which could decide, was not at hand.
 *
 * Blocks are 64 elements of a row, the last one of a row perhaps fewer. Conversion is from bfloat16: y is x rounded to
 * it, ties to even. All products below are of two bfloat16 numbers, and P is what `products` makes of them.
 *
 *   A    the largest |y| of the block; A8 and A4 those of a group of 8 and of 4
 *   S    A times 0.142578125, the bfloat16 number next to 1/7, rounded to bfloat16, ties to even
 *   s    the scale: S rounded to three digits, ties to even; `low` and `high` define its ends
 *   r    1 / s rounded to bfloat16, ties to even
 *   b8   1 if P(A8 r) >= 4, else 0
 *   b4   1 if P(A4 r) 2^-b8 >= 2, else 0
 *   P4   P(y r) 2^-(b8 + b4) rounded to a multiple of 1/4 by `ties`, at most 7/4 in magnitude; +0 where y is -0
 *   value = s 2^(b8 + b4) P4, which bfloat16 has, too
 *
 * A block with an infinity or a NaN has the scale NaN; then all bits and codes are 0 and all values NaN (0x7FC00000).
 *
 * Bytes: a code has sign, one exponent bit and two digits: bit 3 is the sign, the others P4 in quarters. The scale of a
 * block are four bytes: the code c of s, with s = 2^(c div 4 - 48) (1 + (c mod 4) / 4), c = 255 NaN; a bit b8 for each
 * group of 8, the first one lowest; then b4, two bytes, in the same order. Groups behind the end of a row have bits 0.
 * Packed codes are two to a byte, the first in the low half. So an element takes 4.5 bits.
 *
 * Events are those of rounding P(y r) 2^-(b8 + b4) into E1M2, where going beyond 7/4 is an overflow that saturates. In
 * a block whose scale is NaN: NaN: nan_in; an infinity: inf_in, invalid; all others: inexact. In a block of zeros under
 * `low` zero, a y other than 0: inexact, underflow, to_zero. All is computed element by element, some 0.2 us each. */
#ifndef HALFULP_HIF4_H
#define HALFULP_HIF4_H

#include "halfulp/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of a block; bytes of its scale. */
enum {
  HU_HIF4_BLOCK = 64, /* elements */
  HU_HIF4_SCALE = 4   /* bytes */
};
/* Ties of elements. */
enum {
  HU_HIF4_EVEN = 0, /* ties=even: the matrix product's and the operator's code */
  HU_HIF4_AWAY = 1  /* ties=away: the emulation, floor(x + 1/2) of magnitudes */
};
/* A block whose S is below 2^-48, the smallest scale: blocks of zeros among them. */
enum {
  HU_HIF4_LOW_ZERO = 0,  /* low=zero: code 0, and all elements are 0; also where S rounds to 2^-48, which is code 0
                            (the matrix product's code takes the reciprocal of code 0 to be 0) */
  HU_HIF4_LOW_LEAST = 1, /* low=least: the scale is 2^-48 (the emulation) */
  HU_HIF4_LOW_NAN = 2    /* low=nan: the scale is NaN (the operator's code) */
};
/* A block whose S is 1.625 2^15 or more; less rounds to at most 1.5 2^15. */
enum {
  HU_HIF4_HIGH_LIMIT = 0, /* high=limit: the scale is 1.5 2^15, the largest one (the matrix product, the emulation) */
  HU_HIF4_HIGH_NAN = 1    /* high=nan: the scale is NaN (the operator's code) */
};
/* P, what becomes of a product. */
enum {
  HU_HIF4_ROUNDED = 0, /* products=bfloat16: rounded to bfloat16, ties to even (the matrix product's code) */
  HU_HIF4_EXACT = 1,   /* products=exact: as they are (the emulation, of bfloat16 numbers in binary32 tensors) */
  HU_HIF4_MIXED = 2    /* products=mixed: exact for b8 and b4, rounded for elements (the operator's code) */
};
/* The points on which the sources differ. */
typedef struct hu_hif4 {
  uint8_t ties, low, high, products; /* HU_HIF4_ */
} hu_hif4;
/* All 0: "hifloat4", as the matrix product's code. It gives zeros for zeros and no NaN for large numbers. */
HU_API hu_hif4 hu_hif4_usual(void);
/* HU_OK, HU_E_NULL or HU_E_SCALING: a field out of its range. */
HU_API HU_MUST_CHECK hu_status hu_hif4_check(const hu_hif4 *kind);
/* Text: a name of hu_hif4_at, or "hifloat4(" key { ";" key } ")", key = "ties=" ... | "low=" ... | "high=" ... |
 * "products=" ..., each at most once, with the words above; what is not there is that of "hifloat4". HU_E_TEXT: not the
 * grammar; then *where, if not NULL, is the offset of the part that is wrong, and *kind is untouched. */
HU_API HU_MUST_CHECK hu_status hu_hif4_parse(hu_hif4 *kind, const char *text, size_t *where);
/* The canonical text, "hifloat4" or with the keys that differ from it, in the order above. Returns the length needed,
 * like snprintf; 0 for a kind that its check refuses. HU_HIF4_TEXT_MAX bytes always suffice. */
#define HU_HIF4_TEXT_MAX 80
HU_API size_t hu_hif4_text(char *text, size_t size, const hu_hif4 *kind);
/* The named ones: hifloat4, hifloat4_cann, hifloat4_hifx. */
typedef struct hu_hif4_entry {
  const char *name, *source;
  const char *text; /* parses to the record, is canonical */
} hu_hif4_entry;
/* The number of names; and one of them. */
HU_API size_t hu_hif4_count(void);
HU_API hu_hif4_entry hu_hif4_at(size_t i); /* i < hu_hif4_count(), else name is NULL */

/* codes (one to a byte, element (i, j) at i ldc + j) and scales (four bytes per block, block (i, q) at 4 (i lds + q))
 * of x, rows x cols. Nothing overlaps. events: NULL or added to. HU_E_NULL; HU_E_SCALING; HU_E_SHAPE: ldc or ldx is
 * less than cols, lds less than the blocks of a row, or a size that memory cannot have; HU_E_ALIGN; HU_E_OVERLAP. */
HU_API HU_MUST_CHECK hu_status hu_hif4_encode(size_t rows, size_t cols, uint8_t *codes, size_t ldc, uint8_t *scales,
                                              size_t lds, const float *x, size_t ldx, const hu_hif4 *kind,
                                              hu_events *events);
/* z = the values, rows x cols. Errors as hu_hif4_encode, and HU_E_CODE: a code above 15 (array.h). */
HU_API HU_MUST_CHECK hu_status hu_hif4_decode(size_t rows, size_t cols, float *z, size_t ldz, const uint8_t *codes,
                                              size_t ldc, const uint8_t *scales, size_t lds);
/* z = the values that hu_hif4_decode gives for what hu_hif4_encode gives for x. z may be x itself (then ldz = ldx),
 * else must not overlap it. Events and errors as hu_hif4_encode. */
HU_API HU_MUST_CHECK hu_status hu_hif4_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                size_t ldx, const hu_hif4 *kind, hu_events *events);

#ifdef __cplusplus
}
#endif
#endif
