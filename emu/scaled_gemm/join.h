/* SPDX-License-Identifier: MIT */
/* emu/scaled_gemm/join.h - kernels that add partial sums times their factors to sums, in binary32 lanes, for levels
 * with fused multiply-adds. */
#ifndef HALFULP_EMU_SCALED_GEMM_JOIN_H
#define HALFULP_EMU_SCALED_GEMM_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "emu/simd/of_level.h"

enum { HU_JOIN_UNFUSED = 1, HU_JOIN_TWICE = 2 };

/* acc = fma(a(i) b(j), part, acc), each operation rounded once to nearest even in the surroundings of
 * emu/base/float_env.h. how: a sum of bits. TWICE: fma(b(j), part a(i), acc); UNFUSED: the last product is rounded,
 * too. Contiguous. */
typedef struct hu_scaled_join {
  void (*run)(size_t rows, size_t cols, const float *a, const float *b, const float *part, float *acc, int how);
} hu_scaled_join;
extern const hu_scaled_join HU_OF_LEVEL(hu_scaled_join);

#endif
