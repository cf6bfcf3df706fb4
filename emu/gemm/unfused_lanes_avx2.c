/* SPDX-License-Identifier: MIT */
/* Unfused models in the vectors of emu/simd/products_avx2.h. */
#include "emu/gemm/unfused.h"

#if HU_X86_LEVELS
#include "emu/simd/products_avx2.h"
#include "emu/gemm/unfused_lanes_body.h"

const hu_steps_kernels hu_steps_avx2 = {tile, join};
#endif
