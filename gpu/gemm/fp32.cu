/* SPDX-License-Identifier: MIT */
/* gpu/gemm/fp32.cu - the model `fp32`: fused multiply-adds in binary32, k ascending from C. */
#include "gpu/gemm/tile.cuh"

typedef hu_device_tile<float, 8, hu_rule_fma<float>> tile32;

HU_KERNEL __launch_bounds__(HU_THREADS, 2) hu_gemm_fp32_kernel(const __grid_constant__ hu_gemm_args g) {
  __shared__ __align__(16) float buffer[tile32::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_gemm_tile<float, 8>(g, hu_rule_fma<float>(), buffer, table_a, table_b, sums);
}

hu_status hu_gemm_launch_fp32(const hu_gemm_args *g, void *stream) {
  unsigned tiles = hu_tile_count(g, tile32::lines);
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(hu_gemm_fp32_kernel, tiles, 0, stream, *g);
  return hu_launched();
}
