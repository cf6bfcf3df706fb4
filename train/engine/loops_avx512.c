/* SPDX-License-Identifier: MIT */
/* Kernels as loops: level avx512. */
#define HU_LOOPS hu_loops_avx512
#include "train/engine/loops_body.h"
