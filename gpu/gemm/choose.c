/* SPDX-License-Identifier: MIT */
/* gpu/gemm/choose.c - see choose.h. */
#include "gpu/gemm/choose.h"

#include "emu/base/shared.h"

static int carried(hu_format fa, hu_format fb, const hu_format *fc) {
  return hu_format_fits_binary32(fa) && hu_format_fits_binary32(fb) && (!fc || hu_format_fits_binary32(*fc));
}

/* seq(binary32) to nearest of operands that binary32 holds is fp32. */
static int is_fp32(const hu_accum *x, hu_format fa, hu_format fb, const hu_format *fc) {
  if (x->promote || x->slices) return 0;
  if (x->kind == HU_ACCUM_FP32) return 1;
  if (x->kind != HU_ACCUM_SEQ || !hu_format_equal(x->sum, hu_format_ieee(8, 23, 0))) return 0;
  if (x->mode.round != HU_RNE || x->mode.saturate > HU_SAT_NONE) return 0;
  return carried(fa, fb, fc);
}

int hu_gemm_way(size_t k, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum) {
  if (accum->kind == HU_ACCUM_EXACT) {
    if (carried(fa, fb, fc) && hu_gemm_sums_fit(k, fa, fb, fc, 24, -149)) return HU_WAY_EXACT32;
    return hu_gemm_exact64(k, fa, fb, fc) ? HU_WAY_EXACT64 : HU_WAY_WIDE;
  }
  return is_fp32(accum, fa, fb, fc) ? HU_WAY_FP32 : HU_WAY_MODEL;
}
