/* SPDX-License-Identifier: MIT */
/* seq(F) in the vectors of gemm_lanes_avx2.h. */
#include "emu/gemm_seq.h"

#if HU_X86_LEVELS
#include "emu/gemm_lanes_avx2.h"
#include "emu/gemm_seq_body.h"

const hu_seq_kernels hu_seq_avx2 = {tile, 0};
#endif
