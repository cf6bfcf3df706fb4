/* SPDX-License-Identifier: MIT */
/* Unfused models in the vectors of gemm_lanes_avx512.h. */
#include "emu/gemm_steps.h"

#if HU_X86_LEVELS
#include "emu/gemm_lanes_avx512.h"
#include "emu/gemm_steps_body.h"

const hu_steps_kernels hu_steps_avx512 = {tile, join};
#endif
