/* SPDX-License-Identifier: MIT */
/* halfulp/sum.h - add numbers and products without rounding, in any order, on any number of machines; round once.
 *
 *   hu_sum s = {{0}, 0, 0};                                    // the empty sum
 *   hu_sum_add(&s, bfloat16, code);                            // any values, any products, in any order
 *   hu_sum_add_product(&s, e4m3, a, e4m3, b);
 *   hu_sum_merge(&s, &other);                                  // other: a sum made elsewhere
 *   uint32_t z = hu_sum_round(&s, bfloat16, rne, 0, &events);  // the only rounding
 *
 * A sum is the exact value of its terms, a two's complement integer in units of 2^-2148, which is the least product of
 * two binary64 numbers, together with a set of bits that says which special terms there were. Adding and merging are
 * therefore commutative and associative to the bit: the record does not depend on the order, the grouping, the threads
 * or the machines. It is the state of the accumulation model `exact` (accum.h), and hu_sum_round gives the code that
 * hu_dot gives under that model for the same terms.
 *
 *   terms    2^63 of any size do not overflow the integer
 *   special  a NaN term, an infinity times zero, or infinities of both signs make the sum NaN; an infinity otherwise
 *            makes it an infinity
 *   zero     an exact zero is -0 if there are terms and every one is -0; else, if not all are +0 and the mode is toward
 *            negative, -0; else +0. The empty sum is +0
 *   events   of the one rounding; a NaN sum without a NaN term is `invalid`, with a NaN term `nan_in` (under
 *            HU_NAN_FMA_INVALID also `invalid`, where an infinity was multiplied by zero)
 *
 * A record takes 584 bytes. Arrays of sums (the calls with _n) have a range of digits as narrow as their terms allow:
 * 56 bytes a sum for binary32 numbers. docs/cluster.md shows how sums are used. */
#ifndef HALFULP_SUM_H
#define HALFULP_SUM_H

#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "halfulp/scalar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of 64 digits in a record, and the exponent of its lowest digit. */
#define HU_SUM_WORDS 72
#define HU_SUM_LOW (-2148)
/* Which terms a sum has: bits of hu_sum.terms. */
enum {
  HU_SUM_NAN = 1u << 0,            /* a NaN */
  HU_SUM_INVALID = 1u << 1,        /* an infinity times zero */
  HU_SUM_PLUS_INFINITY = 1u << 2,  /* an infinity of either sign */
  HU_SUM_MINUS_INFINITY = 1u << 3, /* (see before) */
  HU_SUM_PLUS_ZERO = 1u << 4,      /* a zero of either sign, also a product */
  HU_SUM_MINUS_ZERO = 1u << 5,     /* (see before) */
  HU_SUM_NUMBER = 1u << 6          /* a finite term that is not zero */
};

/* A sum. All zero: the empty one. Plain data: it may be copied, stored, compared with memcmp. */
typedef struct hu_sum {
  uint64_t word[HU_SUM_WORDS]; /* two's complement, word[0] lowest: the integer times 2^HU_SUM_LOW is the finite part */
  uint32_t terms;              /* HU_SUM_ */
  uint32_t reserved;           /* 0 */
} hu_sum;

HU_API void hu_sum_add32(hu_sum *sum, float x);                    /* adds a binary32 number */
HU_API void hu_sum_add64(hu_sum *sum, double x);                   /* adds a binary64 number */
HU_API void hu_sum_add_product64(hu_sum *sum, double a, double b); /* adds the product of two, not rounded */
/* Adds the value of a code of format, which binary64 holds. Bits above the width of the code are ignored, as the call
 * has no status. A format that hu_format_check refuses counts as a NaN term. */
static inline void hu_sum_add(hu_sum *sum, hu_format format, uint32_t code) {
  hu_sum_add64(sum, hu_decode64(format, code));
}
/* Adds the product of two codes' values, read in the same way. */
static inline void hu_sum_add_product(hu_sum *sum, hu_format fa, uint32_t a, hu_format fb, uint32_t b) {
  hu_sum_add_product64(sum, hu_decode64(fa, a), hu_decode64(fb, b));
}
/* Adds n values; n products. Views are of HU_TYPE_CODES of formats or HU_TYPE_BINARY32, with the rules and errors of
 * array.h (HU_E_FORMAT: another type; HU_E_CODE, too); x is read as it is stored, and the sum is untouched after an
 * error. One thread adds on this CPU. */
HU_API HU_MUST_CHECK hu_status hu_sum_add_all(hu_sum *sum, size_t n, hu_view x,
                                              const hu_exec *exec); /* n values */
HU_API HU_MUST_CHECK hu_status hu_sum_add_dot(hu_sum *sum, size_t n, hu_view a, hu_view b,
                                              const hu_exec *exec); /* n products */
/* Adds all terms of x. sum may be x. */
HU_API void hu_sum_merge(hu_sum *sum, const hu_sum *x);
/* The code of format that the sum rounds to, with R = `random` in stochastic modes; *events, if not NULL, becomes its
 * HU_EVENT_ bits. A format or mode that its check refuses: 0, and HU_EVENT_INVALID, as in arith.h. */
HU_API uint32_t hu_sum_round(const hu_sum *sum, hu_format format, hu_mode mode, uint32_t random, uint32_t *events);
/* The binary64 number that the sum rounds to, ties to even. */
HU_API double hu_sum_round64(const hu_sum *sum);

/* ---- as bytes ---- */

/* The bytes of a sum, for files and messages; the same on every machine, and equal for equal sums: "HUS1", the 32 bits
 * of terms, the number l of the first word (16 bits), the count c (16 bits), then words l to l + c - 1. All integers
 * are little-endian. Words below are zero; words above are the sign's. c is as small as it can be. */
#define HU_SUM_BYTES_MAX (12 + 8 * HU_SUM_WORDS)
/* Returns the number of bytes that the sum takes; writes them if size suffices, else nothing. */
HU_API size_t hu_sum_write(uint8_t *bytes, size_t size, const hu_sum *sum);
/* Reads exactly `size` bytes. HU_E_DATA: they are not what hu_sum_write writes; *sum is untouched then. */
HU_API HU_MUST_CHECK hu_status hu_sum_read(hu_sum *sum, const uint8_t *bytes, size_t size);

/* ---- arrays of sums ---- */

/* The digits of every sum of an array: from 2^low on, 64 a word, words above included for 2^63 terms and a sign. */
typedef struct hu_sum_range {
  int32_t low;
  uint32_t words; /* 1 to HU_SUM_WORDS */
} hu_sum_range;
/* The least range for values of format; for products of values of fa and fb; for what either of two ranges holds. words
 * is 0 for a format that hu_format_check refuses. */
HU_API hu_sum_range hu_sum_range_of(hu_format format);                    /* values of format */
HU_API hu_sum_range hu_sum_range_of_product(hu_format fa, hu_format fb);  /* products of values of fa and fb */
HU_API hu_sum_range hu_sum_range_of_both(hu_sum_range a, hu_sum_range b); /* what a or b holds */

/* An array of n sums takes n (1 + range.words) 64-bit words: of each sum first its terms (HU_SUM_), then its digits,
 * the lowest word first. All zero: empty sums. Element i of x goes into sum i. Views are those of
 * hu_sum_add_all; strides, threads and errors are those of array.h, and HU_E_SHAPE: a range without words, or one that
 * does not hold the values of the formats. */
HU_API HU_MUST_CHECK hu_status hu_sum_add_n(size_t n, uint64_t *sums, hu_sum_range range, hu_view x,
                                            const hu_exec *exec); /* adds x[i] to sum i */
HU_API HU_MUST_CHECK hu_status hu_sum_add_product_n(size_t n, uint64_t *sums, hu_sum_range range, hu_view a, hu_view b,
                                                    const hu_exec *exec); /* adds a[i] b[i] to sum i */
/* sums and x: arrays of one range. sums may be x, else must not overlap it. */
HU_API HU_MUST_CHECK hu_status hu_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x,
                                              const hu_exec *exec);
/* z[i] = the code of z's format that sum i rounds to by how->mode, with R from word i of the stream; z must not overlap
 * sums. how may be NULL. */
HU_API HU_MUST_CHECK hu_status hu_sum_round_n(size_t n, hu_output z, const uint64_t *sums, hu_sum_range range,
                                              const hu_how *how);

#ifdef __cplusplus
}
#endif
#endif
