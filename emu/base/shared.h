/* SPDX-License-Identifier: MIT */
/* emu/base/shared.h - what the CUDA calls ask of a call's arguments as the CPU's own calls do. */
#ifndef HALFULP_EMU_BASE_SHARED_H
#define HALFULP_EMU_BASE_SHARED_H

#include "halfulp/gemm.h"
#include "halfulp/hadamard.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hu_dot_plan; /* emu/core/dot.h */
struct hu_s2;       /* emu/core/s2fp8.h */

/* hu_dot_n's errors; HU_OK: *t is made. Nothing here looks at what a pointer points to. */
hu_status hu_dot_plan_make(struct hu_dot_plan *t, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                           const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec);
/* HU_E_ACCUM, HU_E_CARRIER: a model that does not take these formats, or scales. c may be NULL. */
hu_status hu_gemm_model_check(const hu_accum *accum, const hu_operand *a, const hu_operand *b, const hu_operand *c);
/* hu_gemm_exact64 for another number of digits and another lowest place. */
int hu_gemm_sums_fit(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t digits, int32_t lowest);
/* The format that a model's sums have before the last rounding; all zero: none (exact, fp64, int32). */
hu_format hu_accum_result(const hu_accum *accum);
/* The errors of halfulp/hadamard.h. */
hu_status hu_hadamard_check(size_t rows, size_t cols, const void *z, size_t ldz, const void *x, size_t ldx,
                            const hu_hadamard *transform);

/* Kind, mode, and a scale that may be NULL. */
hu_status hu_s2_check(const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode);
/* The map of a kind, scale and mode that have been checked. */
void hu_s2_make(struct hu_s2 *t, const hu_s2fp8 *kind, int64_t mu, int64_t m, hu_mode mode);

/* What hu_scaled_encode (z NULL) and hu_scaled_quantize (codes NULL) check, but for the number behind amax and a NULL
 * in place of the codes of an empty tensor. */
hu_status hu_scaled_made_check(size_t rows, size_t cols, const hu_scaled *codes, const float *z, size_t ldz,
                               const float *x, size_t ldx, const hu_scaling *scaling, hu_mode mode, const float *amax,
                               const hu_scaled_stats *stats);
hu_status hu_scaled_decode_check(size_t rows, size_t cols, const float *z, size_t ldz, const hu_scaled *x,
                                 const hu_scaling *scaling);
/* hu_scaled_pack and unpack; *n is set where the description is valid. */
hu_status hu_scaled_pack_check(hu_scaled_sizes *n, size_t rows, size_t cols, const uint8_t *wide, size_t ld,
                               const uint8_t *dense, const hu_scaling *d);

#ifdef __cplusplus
}
#endif
#endif
