/* SPDX-License-Identifier: MIT */
/* gpu/gemm/choose.c - see choose.h. */
#include "gpu/gemm/choose.h"

#include "emu/core/accum_plan.h"
#include "emu/gemm/check.h"

/* Returns the bits of the integers that F's finite numbers are, times a power of two. */
static int32_t bits_of(hu_format format) {
  hu_spec spec = hui_spec_of(format, hui_plain_mode());
  return spec.emax + 1 - (spec.emin - spec.m);
}

int hui_gemm_choose_way(size_t k, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum) {
  int fit = hui_gemm_fit_binary32(fa, fb, fc);
  if (accum->kind == HU_ACCUM_EXACT) {
    if (fit && hui_gemm_sums_fit(k, fa, fb, fc, 24, -149)) return HU_GEMM_WAY_EXACT32;
    if (hu_gemm_exact64(k, fa, fb, fc)) return HU_GEMM_WAY_EXACT64;
    return bits_of(fa) <= 42 && bits_of(fb) <= 42 ? HU_GEMM_WAY_BYTES : HU_GEMM_WAY_WIDE;
  }
  return hui_gemm_is_fp32(accum, fit) ? HU_GEMM_WAY_FP32 : HU_GEMM_WAY_BY_MODEL;
}
