/* SPDX-License-Identifier: MIT */
/* emu/shared.h - what the CUDA calls ask of a call's arguments as the CPU's own calls do. */
#ifndef HALFULP_EMU_SHARED_H
#define HALFULP_EMU_SHARED_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hu_dot_plan; /* emu/dot_last.h */

/* hu_dot_n's errors; HU_OK: *t is made. Nothing here looks at what a pointer points to. */
hu_status hu_dot_plan_make(struct hu_dot_plan *t, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                           const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec);
/* HU_E_ACCUM, HU_E_CARRIER: a model that does not take these formats, or scales. c may be NULL. */
hu_status hu_gemm_model_check(const hu_accum *accum, const hu_operand *a, const hu_operand *b, const hu_operand *c);
/* hu_gemm_exact64 for another number of digits and another lowest place. */
int hu_gemm_sums_fit(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t digits, int32_t lowest);
/* The format that a model's sums have before the last rounding; all zero: none (exact, fp64, int32). */
hu_format hu_accum_result(const hu_accum *accum);

#ifdef __cplusplus
}
#endif
#endif
