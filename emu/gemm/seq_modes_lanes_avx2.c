/* SPDX-License-Identifier: MIT */
/* seq(F) in other modes in the vectors of emu/simd/products_avx2.h. */
#include "emu/gemm/seq_modes.h"

#if HU_X86_LEVELS
#include "emu/simd/products_avx2.h"
#include "emu/gemm/seq_modes_lanes_body.h"

const hu_modes_kernels hu_modes_avx2 = {tile};
#endif
