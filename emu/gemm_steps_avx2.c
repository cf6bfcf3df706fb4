/* SPDX-License-Identifier: MIT */
/* Unfused models in the vectors of gemm_lanes_avx2.h. */
#include "emu/gemm_steps.h"

#if HU_X86_LEVELS
#include "emu/gemm_lanes_avx2.h"
#include "emu/gemm_steps_body.h"

const hu_steps_kernels hu_steps_avx2 = {tile, join};
#endif
