/* SPDX-License-Identifier: MIT */
/* Kernels as loops: level vector. */
#define HU_LOOPS hu_loops_vector
#include "train/engine/loops_body.h"
