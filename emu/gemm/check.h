/* SPDX-License-Identifier: MIT */
/* emu/gemm/check.h - what hu_multiply asks of a plain product's arguments, for the CPU's calls and the CUDA calls
 * alike, and what formats alone say about a product. Nothing here looks at what a pointer points to. */
#ifndef HALFULP_EMU_GEMM_CHECK_H
#define HALFULP_EMU_GEMM_CHECK_H

#include "emu/core/round.h"
#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The formats of a call unfolded, D's under its mode. */
typedef struct hu_gemm_specs {
  hu_spec result, a, b, c, scale_a, scale_b;
} hu_gemm_specs;

/* Settles the views of a plain product (emu/base/matrix_view.h) and returns all errors but HU_E_GRID and HU_E_CODE,
 * which are about the operands' elements. HU_OK: *specs has what is there; c, sa and sb may be absent. */
hu_status hui_gemm_check(hu_gemm_specs *specs, hu_product *product, hu_mode mode);
/* HU_E_ACCUM, HU_E_CARRIER: a model that does not take these formats, or scales. c may be NULL. */
hu_status hui_gemm_model_check(const hu_accum *accum, const hu_view *a, const hu_view *b, const hu_view *c);
/* hu_multiply of a plain product on this CPU (gemm.c). */
hu_status hui_gemm(const hu_product *product, const hu_how *how);
/* Counts the scales for k products of a row; 0: none. */
size_t hui_gemm_scales(const hu_accum *accum, size_t k);

/* Does binary32 have every value of the operands' formats? fc: NULL without C. */
int hui_gemm_fit_binary32(hu_format fa, hu_format fb, const hu_format *fc);
/* Is the model fused multiply-adds in binary32? fit: hui_gemm_fit_binary32. */
int hui_gemm_is_fp32(const hu_accum *accum, int fit);
/* Answers hu_gemm_exact64 for another number of digits and another lowest place. */
int hui_gemm_sums_fit(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t digits, int32_t lowest);
/* The same of formats that are unfolded. */
int hui_gemm_specs_fit(size_t k, const hu_spec *a, const hu_spec *b, const hu_spec *c, int32_t digits, int32_t lowest);

#ifdef __cplusplus
}
#endif
#endif
