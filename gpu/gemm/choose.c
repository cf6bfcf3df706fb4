/* SPDX-License-Identifier: MIT */
/* gpu/gemm/choose.c - see choose.h. */
#include "gpu/gemm/choose.h"

#include "emu/gemm/check.h"

int hu_gemm_choose_way(size_t k, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum) {
  int fit = hu_gemm_fit_binary32(fa, fb, fc);
  if (accum->kind == HU_ACCUM_EXACT) {
    if (fit && hu_gemm_sums_fit(k, fa, fb, fc, 24, -149)) return HU_GEMM_WAY_EXACT32;
    return hu_gemm_exact64(k, fa, fb, fc) ? HU_GEMM_WAY_EXACT64 : HU_GEMM_WAY_WIDE;
  }
  return hu_gemm_is_fp32(accum, fit) ? HU_GEMM_WAY_FP32 : HU_GEMM_WAY_BY_MODEL;
}
