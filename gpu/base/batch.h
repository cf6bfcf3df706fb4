/* SPDX-License-Identifier: MIT */
/* gpu/base/batch.h - calls of products on a device for the library itself: one for many products of one shape (the
 * engine of training has the heads of attention and the groups of a convolution), one for operands whose codes have
 * been looked at. C programs without CUDA may include it. */
#ifndef HALFULP_GPU_BASE_BATCH_H
#define HALFULP_GPU_BASE_BATCH_H

#include "emu/base/device_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* outer x inner products: number o inner + i has the matrices that lie o [0] + i [1] elements behind the first. */
typedef struct hu_gemm_batch {
  size_t outer, inner;
  size_t d[2], a[2], b[2];
  uint32_t own_words; /* 1: product i draws from the stream whose key is words 2 i and 2 i + 1 of `words`, from word 0
                         on; 0: each draws from `words` */
} hu_gemm_batch;

/* Computes each product as hui_cuda_gemm does without a C, from binary32 values into such, rounded to nearest even,
 * and checks the first product's arguments as it does. One kernel computes all of them. */
HU_API HU_MUST_CHECK hu_status hui_device_gemm_batch(const hu_product *product, const hu_gemm_batch *batch,
                                                     hu_stream words, void *stream);

/* Does what hui_cuda_gemm does, but does not look at codes (look.h): the caller has enqueued the looks, or made the
 * codes itself. */
hu_call_multiply hui_gemm_enqueue;

#ifdef __cplusplus
}
#endif
#endif
