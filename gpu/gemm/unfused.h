/* SPDX-License-Identifier: MIT */
/* gpu/gemm/unfused.h - models that round each product before they add it, ties to even: the constants of their kernels
 * (unfused.cu). */
#ifndef HALFULP_GPU_GEMM_UNFUSED_H
#define HALFULP_GPU_GEMM_UNFUSED_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HU_UNFUSED_SEQ2 = 0, HU_UNFUSED_KAHAN = 1, HU_UNFUSED_NEUMAIER = 2, HU_UNFUSED_TREE = 3 };

/* A tree has at most 2^HU_UNFUSED_LEVELS leaves: HU_UNFUSED_LEVELS + 1 values of a thread may wait for siblings. */
enum { HU_UNFUSED_LEVELS = 31 };

/* A format, as binary64 rounds into it. The words are upper halves of patterns. */
typedef struct hu_unfused_grid {
  double scale;   /* 1.5 2^(52 - m) */
  uint32_t floor; /* of 2^emin */
  uint32_t top;   /* of 2^emax: from there on the element is left open */
  uint32_t sign;  /* 0x80000000 if the format has -0, else 0 */
} hu_unfused_grid;

typedef struct hu_unfused_args {
  hu_unfused_grid product, sum, joined; /* joined: the format of sums of parts */
  uint64_t length;                      /* products of a part; 0: there are no parts */
  uint32_t kind;
  uint8_t single;  /* every format is binary32, and the device's own operations serve */
  uint8_t strided; /* the leaves of the tree are in the order of reversed bits */
} hu_unfused_args;

/* Returns 1, and *unfused, if the kernels serve this model and these formats. fc is NULL without a C. */
int hui_unfused_plan(hu_unfused_args *unfused, uint64_t k, hu_format fa, hu_format fb, const hu_format *fc,
                     const hu_accum *accum);

#ifdef __cplusplus
}
#endif
#endif
