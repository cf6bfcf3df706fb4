/* SPDX-License-Identifier: MIT */
/* emu/gemm/short/side.h - operands as integers times a power of two, which the ways of this folder ask for, and what
 * else these share. */
#ifndef HALFULP_EMU_GEMM_SHORT_SIDE_H
#define HALFULP_EMU_GEMM_SHORT_SIDE_H

#include "emu/gemm/call.h"
#include "emu/gemm/tiles/short.h"

/* binary64 is as quick where fewer products are added up, and where a look at all values takes much of the time. */
enum { HU_SHORT_LEAST_K = 128, HU_SHORT_LEAST_SIDE = 64 };

/* Every value of a matrix is an integer times 2^q, of magnitude `most` at most. */
typedef struct hu_side {
  int32_t exponent;
  uint32_t most;
  float scale; /* 2^-exponent */
} hu_side;

/* Is it worth a look at the values? Of few digits (uint8 has 8) and in a range not much wider than halves have. */
int hui_side_is_small(const hu_matrix *x);
/* By the format: 0 if it may have values that are no such integers of so many digits, at most 30. */
int hui_side_of_format(hu_side *z, const hu_matrix *x, int32_t digits);
/* Does it by the values of `rows` stored rows, in multiples of the last place of the least: at most 23 digits. */
int hui_side_of_values(hu_side *z, const hu_short_kernels *kernels, const hu_matrix *x, size_t rows, int32_t digits);
/* Are the magnitudes of k products at most 2^53 together? */
int hui_sides_fit(const hu_side *a, const hu_side *b, size_t k);
/* 2^q of the products, q >= -1022. */
double hui_side_unit(const hu_side *a, const hu_side *b);

/* n sums of row i get their C: exact where hui_gemm_fits_exact64 says so. */
void hui_short_add_c(const hu_gemm_call *call, size_t i, size_t j0, size_t n, double *sum);

#endif
