/* SPDX-License-Identifier: MIT */
/* emu/scaled_gemm/scaled_gemm.h - products of scaled tensors, for multiply.c. */
#ifndef HALFULP_EMU_SCALED_GEMM_SCALED_GEMM_H
#define HALFULP_EMU_SCALED_GEMM_SCALED_GEMM_H

#include "halfulp/gemm.h"

/* hu_multiply of a product with `sum` on this CPU. */
hu_status hui_scaled_gemm(const hu_product *product, const hu_how *how);

#endif
