/* SPDX-License-Identifier: MIT */
/* Kernels as loops: level avx2. */
#define HU_LOOPS hu_loops_avx2
#include "train/engine/loops_body.h"
