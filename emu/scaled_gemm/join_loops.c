/* SPDX-License-Identifier: MIT */
/* The kernels of join.h as loops that the compiler puts into lanes; every element has the same operations. Compiled
 * once for each level that has fused multiply-adds. */
#include "emu/scaled_gemm/join.h"

static inline __attribute__((always_inline)) void join_row(size_t n, float a, const float *restrict b,
                                                           const float *restrict part, float *restrict acc, int how) {
  for (size_t j = 0; j < n; j++) {
    float factor = how & HU_JOIN_TWICE ? b[j] : a * b[j], term = how & HU_JOIN_TWICE ? part[j] * a : part[j];
    acc[j] = how & HU_JOIN_UNFUSED ? acc[j] + factor * term : __builtin_fmaf(factor, term, acc[j]);
  }
}

static void run(size_t rows, size_t cols, const float *a, const float *b, const float *part, float *acc, int how) {
  for (size_t i = 0; i < rows; i++, part += cols, acc += cols) {
    switch (how) {
      case 0: join_row(cols, a[i], b, part, acc, 0); break;
      case HU_JOIN_UNFUSED: join_row(cols, a[i], b, part, acc, HU_JOIN_UNFUSED); break;
      case HU_JOIN_TWICE: join_row(cols, a[i], b, part, acc, HU_JOIN_TWICE); break;
      default: join_row(cols, a[i], b, part, acc, HU_JOIN_TWICE | HU_JOIN_UNFUSED);
    }
  }
}

const hu_scaled_join HU_OF_LEVEL(hu_scaled_join) = {run};
