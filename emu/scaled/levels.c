/* SPDX-License-Identifier: MIT */
/* The kernels of the best level that a call may use. */
#include "emu/scaled/rows.h"
#include "emu/scaled/strip.h"

const hu_scaled_lanes *hu_scaled_lanes_for(uint32_t levels) {
#if HU_X86_LEVELS
  if (levels & HU_LEVEL_AVX512) return hu_scaled_lanes_avx512();
  if (levels & HU_LEVEL_AVX2) return hu_scaled_lanes_avx2();
#endif
  return levels & HU_LEVEL_VECTOR ? hu_scaled_lanes_vector() : NULL;
}

const hu_scaled_strips *hu_scaled_strips_for(uint32_t levels) {
#if HU_X86_LEVELS
  if (levels & HU_LEVEL_AVX512) return hu_scaled_strips_avx512();
  if (levels & HU_LEVEL_AVX2) return hu_scaled_strips_avx2();
#endif
  return levels & HU_LEVEL_VECTOR ? hu_scaled_strips_vector() : NULL;
}
