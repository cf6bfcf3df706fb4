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

static inline __attribute__((always_inline)) void hui_join_row(const hu_corner *c, const int i, const int v,
                                                               __m512i part) {
  size_t left = c->left > 16 * (size_t)v ? c->left - 16 * (size_t)v : 0;
  __mmask16 there = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xFFFF);
  float *at = c->sum + (size_t)i * c->cols + 16 * (size_t)v;
  __m512 sum = _mm512_maskz_loadu_ps(there, at),
         p = _mm512_mul_ps(_mm512_cvtepi32_ps(part), _mm512_set1_ps(c->join->unit));
  __m512 row = _mm512_set1_ps(c->row[i]), column = _mm512_maskz_loadu_ps(there, c->column + 16 * v);
  if (c->join->twice) {
    p = _mm512_mul_ps(p, row);
  } else {
    column = _mm512_mul_ps(row, column);
  }
  sum = c->join->unfused ? _mm512_add_ps(sum, _mm512_mul_ps(column, p)) : _mm512_fmadd_ps(column, p, sum);
  _mm512_mask_storeu_ps(at, there, sum);
}

#endif
