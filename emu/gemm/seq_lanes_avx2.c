/* SPDX-License-Identifier: MIT */
/* seq(F) in the vectors of emu/simd/products_avx2.h. */
#include "emu/gemm/seq.h"

#if HU_X86_LEVELS
#include "emu/simd/products_avx2.h"
#include "emu/gemm/seq_lanes_body.h"

const hu_seq_kernels hu_seq_avx2 = {tile, 0};
#endif
