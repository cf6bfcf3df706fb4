/* SPDX-License-Identifier: MIT */
/* emu/scaled_gemm/join.h - partial sums times their factors onto sums in binary32 lanes. One function a level, for
 * levels with fused multiply-adds. */
#ifndef HALFULP_EMU_SCALED_GEMM_JOIN_H
#define HALFULP_EMU_SCALED_GEMM_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "emu/core/port.h"

enum { HU_JOIN_UNFUSED = 1, HU_JOIN_TWICE = 2 };

/* acc = fma(a(i) b(j), part, acc), each operation rounded once to nearest even in the surroundings of
 * emu/base/float_env.h. how: a sum of bits. TWICE: fma(b(j), part a(i), acc); UNFUSED: the last product is rounded,
 * too. Contiguous. */
typedef void hu_scaled_join(size_t rows, size_t cols, const float *a, const float *b, const float *part, float *acc,
                            int how);
#if HU_X86_LEVELS
hu_scaled_join hu_scaled_join_avx2, hu_scaled_join_avx512;
#endif

#endif
