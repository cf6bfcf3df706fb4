/* SPDX-License-Identifier: MIT */
/* gpu/gemm/choose.h - which kernel serves a product, decided by the model and the formats alone, since values would
 * have to be fetched from the device first. */
#ifndef HALFULP_GPU_GEMM_CHOOSE_H
#define HALFULP_GPU_GEMM_CHOOSE_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HU_GEMM_WAY_BY_MODEL = 0, /* emu/core/accum.h, one thread per element */
  HU_GEMM_WAY_FP32 = 1,     /* fused multiply-adds in binary32 */
  HU_GEMM_WAY_EXACT64 = 2,  /* exact, sums in binary64; or products of bytes, where hui_gemm_bytes_serve */
  HU_GEMM_WAY_WIDE = 3,     /* exact, wide integers */
  HU_GEMM_WAY_EXACT32 = 4,  /* exact, sums in binary32 */
  HU_GEMM_WAY_BYTES = 5     /* exact, products of bytes */
};

/* Returns a HU_GEMM_WAY_. fc is NULL without a C; all arguments are valid. */
int hui_gemm_choose_way(size_t k, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum);

#ifdef __cplusplus
}
#endif
#endif
