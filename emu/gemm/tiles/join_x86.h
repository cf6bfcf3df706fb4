/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/join_x86.h - the parts of scaled sums that are integers of 32 bits join their sums, sixteen at a time
 * (short.h, hu_short_join). */
#ifndef HALFULP_EMU_GEMM_TILES_JOIN_X86_H
#define HALFULP_EMU_GEMM_TILES_JOIN_X86_H

#include <immintrin.h>

#include "emu/gemm/tiles/short.h"

/* Where a tile of a part goes: rows and columns that are there, cols to a row. */
typedef struct hu_corner {
  float *sum;
  size_t rows, left, cols;
  const float *row, *column;
  const hu_short_join *join;
} hu_corner;

static inline __attribute__((always_inline)) void hui_join_row(const hu_corner *corner, const int i, const int j,
                                                               __m512i part) {
  size_t left = corner->left > 16 * (size_t)j ? corner->left - 16 * (size_t)j : 0;
  __mmask16 there = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xFFFF);
  float *at = corner->sum + (size_t)i * corner->cols + 16 * (size_t)j;
  __m512 sum = _mm512_maskz_loadu_ps(there, at),
         product = _mm512_mul_ps(_mm512_cvtepi32_ps(part), _mm512_set1_ps(corner->join->unit));
  __m512 row = _mm512_set1_ps(corner->row[i]), column = _mm512_maskz_loadu_ps(there, corner->column + 16 * j);
  if (corner->join->twice) {
    product = _mm512_mul_ps(product, row);
  } else {
    column = _mm512_mul_ps(row, column);
  }
  sum = corner->join->unfused ? _mm512_add_ps(sum, _mm512_mul_ps(column, product))
                              : _mm512_fmadd_ps(column, product, sum);
  _mm512_mask_storeu_ps(at, there, sum);
}

#endif
