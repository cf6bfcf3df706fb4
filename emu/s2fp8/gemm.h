/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/gemm.h - products of S2FP8 codes. */
#ifndef HALFULP_EMU_S2FP8_GEMM_H
#define HALFULP_EMU_S2FP8_GEMM_H

#include "emu/base/matrix_view.h"
#include "emu/gemm/check.h"
#include "halfulp/s2fp8.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hu_multiply of a product whose A is of HU_TYPE_S2FP8, on this CPU. */
hu_status hui_s2fp8_gemm(const hu_product *product, const hu_how *how);
/* Checks the model, D and C of such a product, settles and covers both; the extent of a C that is D's own array, or
 * absent, is empty. */
hu_status hui_s2fp8_result(hu_product *product, hu_matrix_extent *d, hu_matrix_extent *c);

#ifdef __cplusplus
}
#endif
#endif
