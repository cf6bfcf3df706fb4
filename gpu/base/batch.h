/* SPDX-License-Identifier: MIT */
/* gpu/base/batch.h - the library's own calls of products on a device. Many of one shape in one call, for the engine of
 * training: the heads of attention, the groups of a convolution. And one of operands whose codes have been looked at.
 * C programs that know no CUDA may include it. */
#ifndef HALFULP_GPU_BASE_BATCH_H
#define HALFULP_GPU_BASE_BATCH_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* outer x inner products; number o inner + i is of the matrices that lie o [0] + i [1] elements behind the first
 * ones. */
typedef struct hu_gemm_batch {
  size_t outer, inner;
  size_t d[2], a[2], b[2];
  uint32_t own_words; /* 1: product i draws from the stream whose key is words 2 i and 2 i + 1 of `words`, from word 0
                         on; 0: each draws from `words` */
} hu_gemm_batch;

/* Each product is that of hu_device_gemm without a C, of and into binary32 values, rounded to nearest even. The first
 * product's arguments are checked as there. Under `fp32` and every other model one kernel computes all of them. */
HU_API HU_MUST_CHECK hu_status hui_device_gemm_batch(size_t m, size_t n, size_t k, const hu_result *result,
                                                     const hu_operand *a, const hu_operand *b,
                                                     const hu_gemm_batch *batch, const hu_accum *accum, hu_stream words,
                                                     void *stream);

/* hu_device_gemm (sa and sb NULL) and hu_device_gemm_scaled without the looks at codes (look.h): the caller has
 * enqueued them, or made the codes itself. */
hu_status hui_gemm_enqueue(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                           const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                           const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream);

#ifdef __cplusplus
}
#endif
#endif
