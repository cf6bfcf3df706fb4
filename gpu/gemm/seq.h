/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq.h - the constants of seq(F), ties to even, in binary32 arithmetic (seq.cu). */
#ifndef HALFULP_GPU_GEMM_SEQ_H
#define HALFULP_GPU_GEMM_SEQ_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All sums are computed 2^shift times as large: A is multiplied by up_a, B by up_b. */
typedef struct hu_seq_args {
  float up_a, up_b, down_a, down_b; /* powers of two; down = 1 / up */
  float scale;                      /* 1.5 2^(23 - m) */
  uint32_t floor;                   /* the pattern of 2^(emin + shift) */
  uint32_t sign;                    /* 0x80000000 if F has -0, else 0 */
  int32_t shift;
} hu_seq_args;

/* Returns 1, and *seq, if the kernel serves this model and these formats. */
int hui_seq_plan(hu_seq_args *seq, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum);

#ifdef __cplusplus
}
#endif
#endif
