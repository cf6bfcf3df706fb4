/* SPDX-License-Identifier: MIT */
/* emu/gemm/float_block32.h - float_block.h for binary32 sums; the including file must define HU_FINISH and
 * HU_TILE_KERNEL. */
#define HU_REAL float
#define HU_READ hui_gemm_read32
#define HU_COPY call->kernels->copy
#define HU_SPREAD call->kernels->spread32
#define HU_TRANSPOSE call->kernels->transpose32
#define HU_NR HU_GEMM32_NR
#define HU_MB HU_GEMM32_MB
#define HU_NB HU_GEMM32_NB
#define HU_KC HU_GEMM32_KC
#include "emu/gemm/float_block.h"
