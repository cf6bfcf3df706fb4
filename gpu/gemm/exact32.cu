/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact32.cu - the model `exact` where the formats and k prove that no sum in binary32 is ever rounded: all
 * terms are multiples of one 2^q and add up to at most 2^24 2^q. A product costs one multiply-add, 128 a clock and
 * multiprocessor of compute capability 9.0: twice what binary64 has there. */
#include "gpu/gemm/tile.cuh"

typedef hu_device_tile<float, 8, hu_rule_exact<float>> tile_exact32;

HU_KERNEL __launch_bounds__(HU_THREADS, 2) hu_gemm_exact32_kernel(const __grid_constant__ hu_gemm_args g) {
  __shared__ __align__(16) float buffer[tile_exact32::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_gemm_tile<float, 8>(g, hu_rule_exact<float>(), buffer, table_a, table_b, sums);
}

hu_status hu_gemm_launch_exact32(const hu_gemm_args *g, void *stream) {
  unsigned tiles = hu_tile_count(g, tile_exact32::lines);
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(hu_gemm_exact32_kernel, tiles, 0, stream, *g);
  return hu_launched();
}
