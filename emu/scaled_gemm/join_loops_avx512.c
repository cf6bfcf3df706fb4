/* SPDX-License-Identifier: MIT */
#define HU_JOIN hu_scaled_join_avx512
#include "emu/scaled_gemm/join_loops_body.h"
