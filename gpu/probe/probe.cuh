/* SPDX-License-Identifier: MIT */
/* gpu/probe/probe.cuh - loads and stores C and D of a matrix instruction. */
#ifndef HALFULP_GPU_PROBE_CUH
#define HALFULP_GPU_PROBE_CUH

#include "gpu/base/launch.cuh"
#include "gpu/probe/probe.h"

/* Loads the tile's C, which begins at element `first`, into four cleared registers. */
HU_DEVICE void hui_mma_load_c(const hu_mma_shape &shape, uint32_t *rc, const void *c, size_t first, uint32_t thread) {
#pragma unroll
  for (uint32_t reg = 0; reg < hui_mma_registers_c(&shape); reg++) {
    for (uint32_t i = 0; i < (shape.half ? 2u : 1u); i++) {
      size_t at = first + hui_mma_place_c(&shape, thread, reg, i);
      rc[reg] |= (shape.half ? ((const uint16_t *)c)[at] : ((const uint32_t *)c)[at]) << (16 * i);
    }
  }
}

HU_DEVICE void hui_mma_store_d(const hu_mma_shape &shape, const uint32_t *rd, void *out, size_t first,
                               uint32_t thread) {
#pragma unroll
  for (uint32_t reg = 0; reg < hui_mma_registers_c(&shape); reg++) {
    for (uint32_t i = 0; i < (shape.half ? 2u : 1u); i++) {
      size_t at = first + hui_mma_place_c(&shape, thread, reg, i);
      if (shape.half) {
        ((uint16_t *)out)[at] = (uint16_t)(rd[reg] >> (16 * i));
      } else {
        ((uint32_t *)out)[at] = rd[reg];
      }
    }
  }
}

/* A kernel of one instruction; its parameters are tiles, D, A, B, C. */
typedef void (*hu_mma_kernel_of)(size_t, void *, const void *, const void *, const void *);

#endif
