/* SPDX-License-Identifier: MIT */
/* seq(F) in the vectors of emu/simd/products_avx512.h. */
#include "emu/gemm/seq.h"

#if HU_X86_LEVELS
#include "emu/simd/products_avx512.h"
#include "emu/gemm/seq_lanes_body.h"

const hu_seq_kernels hu_seq_avx512 = {tile, 1};
#endif
