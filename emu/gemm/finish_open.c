/* SPDX-License-Identifier: MIT */
/* Binary32 sums that lanes left open, as NaN, go to the core; the others are rounded into D. */
#include "emu/gemm/call.h"

void hui_gemm_finish_open(const hu_gemm_call *call, size_t i, size_t j0, size_t n, float *sum, hu_events *events) {
  for (size_t j = 0, past; j < n; j = past) {
    int open = sum[j] != sum[j];
    for (past = j + 1; past < n && (sum[past] != sum[past]) == open;) past++;
    if (open) {
      hui_gemm_model_block(call, i, j0 + j, 1, past - j, events);
    } else {
      hui_gemm_finish32(call, i, j0 + j, past - j, sum + j, events);
    }
  }
}
