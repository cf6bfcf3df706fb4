/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/short.h - the inner loops of exact products of short integers by instructions that take two neighbours
 * of K of 16 bits, or four of 8, at a time, in one word. Layouts are those of kernels.h for binary32, such a word in
 * place of each number; accumulators are integers of 32 bits.
 *
 * No sum leaves them: the caller sees to it that, over all products that a sum takes before it is carried on, the
 * magnitudes of the products of halves add up to less than 2^31, and that bytes are at most HU_SHORT_BYTES. With these
 * many each term of a sum, |b| <= 127 times a + offset <= 255 or offset <= 127, is below 2^15, and there are two for
 * each product: together below 2^31, whatever their order. Where kernels have `pairs`, 2 run (a + offset) |b| is below
 * 2^15, too. */
#ifndef HALFULP_EMU_GEMM_TILES_SHORT_H
#define HALFULP_EMU_GEMM_TILES_SHORT_H

#include "emu/gemm/tiles/kernels.h"
#include "emu/simd/level.h"

#define HU_SHORT_KC 64 /* words */
#define HU_SHORT_BYTES 32768

/* Bytes of A have `offset` added, so that they are from 0 to 255. Kernels with `pairs` add up in 16 bits over `run`
 * words. */
typedef struct hu_byte_rule {
  uint32_t offset;
  size_t run;
} hu_byte_rule;

/* With p = the part times unit: sum = fma(row(i) column(j), p, sum), or, `twice`, fma(column(j), p row(i), sum);
 * unfused: the last product is rounded, too. Each operation is rounded to nearest. */
typedef struct hu_short_join {
  const float *row, *column;
  float unit;
  int twice, unfused;
} hu_short_join;

/* Arrays hold whole groups of 16 elements, which kernels read and write. */
typedef struct hu_short_kernels {
  /* The least of *least and the binary32 magnitudes of n numbers that are not 0, as patterns; the largest of *most and
   * all. */
  void (*range)(size_t n, const float *x, uint32_t *least, uint32_t *most);
  /* z[i] = x[i] scale + offset, which are integers of so many bits. */
  void (*bytes)(size_t n, uint8_t *z, const float *x, float scale, int32_t offset);
  void (*halves)(size_t n, uint16_t *z, const float *x, float scale);
  /* z[i] = the word of element i of four lines of bytes, of two of halves, which are so many bytes apart. */
  void (*weave_bytes)(size_t n, uint32_t *z, const void *lines, size_t pitch);
  void (*weave_halves)(size_t n, uint32_t *z, const void *lines, size_t pitch);
  /* acc(i, j) += sum of (a(i, k) - offset) b(k, j), a from 0 to 255, b signed; acc has panels of `high` rows. */
  void (*multiply_bytes)(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b,
                         const hu_byte_rule *rule, int32_t *acc, size_t high);
  /* acc(i, j) += sum of a(i, k) b(k, j), both signed. */
  void (*multiply_halves)(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int32_t *acc,
                          size_t high);
  /* sum(i, j) = what *join makes of the sum of such products, of bytes (group 4) or halves (2), in binary32; cols to a
   * row. */
  void (*add_part)(size_t group, size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b,
                   const hu_byte_rule *rule, const hu_short_join *join, float *sum);
  /* total[i] += acc[i]; acc[i] = 0 */
  void (*carry)(size_t n, double *total, int32_t *acc);
  /* z[i] = x[i] scale */
  void (*scale)(size_t n, double *z, const int32_t *x, double scale);
  int pairs; /* 1: sums of bytes are formed in 16 bits first */
} hu_short_kernels;

/* Beside them: products of bytes by tiles, which take 16 rows, 16 columns and 16 words at a time. */
#define HU_SHORT_TILE 16
typedef struct hu_byte_tiles {
  /* acc(i, j) += sum of a(i, k) b(k, j), b signed, a likewise or from 0 to 255. A is row-major: word p of row i at
   * i HU_SHORT_KC + p. rows and words are multiples of HU_SHORT_TILE. */
  void (*multiply_bytes)(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int unsigned_a,
                         int32_t *acc, size_t high);
  /* sum(i, j) = what *join makes of the sum of such products, as above; A row-major, and of any number of rows; words
   * are at most HU_SHORT_TILE, or a multiple of it. */
  void (*add_part)(size_t rows, size_t cols, size_t words, const uint32_t *a, const uint32_t *b, int unsigned_a,
                   const hu_short_join *join, float *sum);
  /* z[i] = seven digits of the integer x[i] scale, from number `from` on, with its sign; n is a multiple of 16. */
  void (*digit)(size_t n, uint8_t *z, const float *x, float scale, uint32_t from);
} hu_byte_tiles;

extern const hu_extension hu_extension_madd, hu_extension_avx_vnni, hu_extension_vnni, hu_extension_amx_int8;

#endif
