/* SPDX-License-Identifier: MIT */
/* seq(F) in other modes in the vectors of gemm_lanes_avx512.h. */
#include "emu/gemm_modes.h"

#if HU_X86_LEVELS
#include "emu/gemm_lanes_avx512.h"
#include "emu/gemm_modes_body.h"

const hu_modes_kernels hu_modes_avx512 = {tile};
#endif
