/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/half.h - the inner loops of seq(binary16) by fused multiply-adds of binary16, and products of models
 * that round them. Layouts are those of kernels.h with these sizes, codes of binary16 in place of numbers. */
#ifndef HALFULP_EMU_GEMM_TILES_HALF_H
#define HALFULP_EMU_GEMM_TILES_HALF_H

#include "emu/gemm/tiles/kernels.h"
#include "emu/simd/level.h"

#define HU_HALF_NR 96
#define HU_HALF_MB 256
#define HU_HALF_NB 576
#define HU_HALF_KC 80

typedef struct hu_half_kernels {
  /* The codes of n values of binary16, and the values of codes; NaN stay NaN. n is a multiple of 16. */
  void (*narrow)(size_t n, uint16_t *z, const float *x);
  void (*widen)(size_t n, float *z, const uint16_t *x);
  /* acc(i, j) = a(i, k) b(k, j) + acc(i, j), rounded once into binary16, for k = 0 ... kc - 1 in this order. round:
   * HU_RNE, HU_RTZ, HU_RTP or HU_RTN. fresh: acc holds nothing yet and counts as +0. */
  void (*multiply)(uint32_t round, size_t rows, size_t cols, size_t kc, const uint16_t *a, const uint16_t *b,
                   uint16_t *acc, int fresh);
  /* z[i pitch + j] = a[i] b[j], rounded once into binary16; cols is a multiple of 32. */
  void (*outer)(uint32_t round, size_t rows, size_t cols, uint16_t *z, size_t pitch, const uint16_t *a,
                const uint16_t *b);
} hu_half_kernels;

extern const hu_extension hu_extension_fp16, hu_extension_fp16_neon;

#endif
