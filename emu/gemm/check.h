/* SPDX-License-Identifier: MIT */
/* emu/gemm/check.h - what hu_gemm asks of a call's arguments, for the CPU's calls and the CUDA calls alike, and what
 * formats alone say about a product. Nothing here looks at what a pointer points to. */
#ifndef HALFULP_EMU_GEMM_CHECK_H
#define HALFULP_EMU_GEMM_CHECK_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns all errors of hu_gemm (sa and sb NULL) and hu_gemm_scaled but HU_E_GRID and HU_E_CODE, which are about the
 * operands' elements. */
hu_status hui_gemm_check(size_t m, size_t n, size_t k, const hu_result *result, const hu_operand *a,
                         const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                         const hu_accum *accum, hu_mode mode);
/* HU_E_ACCUM, HU_E_CARRIER: a model that does not take these formats, or scales. c may be NULL. */
hu_status hui_gemm_model_check(const hu_accum *accum, const hu_operand *a, const hu_operand *b, const hu_operand *c);
/* Counts the scales for k products of a row; 0: none. */
size_t hui_gemm_scales(const hu_accum *accum, size_t k);

/* Does binary32 have every value of the operands' formats? fc: NULL without C. */
int hui_gemm_fit_binary32(hu_format fa, hu_format fb, const hu_format *fc);
/* Is the model fused multiply-adds in binary32? fit: hui_gemm_fit_binary32. */
int hui_gemm_is_fp32(const hu_accum *accum, int fit);
/* Answers hu_gemm_exact64 for another number of digits and another lowest place. */
int hui_gemm_sums_fit(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t digits, int32_t lowest);

#ifdef __cplusplus
}
#endif
#endif
