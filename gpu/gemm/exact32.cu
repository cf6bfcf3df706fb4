/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact32.cu - the model `exact` where the formats and k prove that no sum in binary32 is ever rounded: all
 * terms are multiples of one 2^q and add up to at most 2^24 2^q. A product costs one multiply-add, of which a
 * multiprocessor of compute capability 9.0 starts 128 per clock, twice as many as in binary64. With loads and addresses
 * it takes 1.25 instructions, 102 per clock, as in fp32.cu: 53 TFLOP/s of an H200. */
#include "gpu/gemm/tile.cuh"

/* Computes tiles of 128 x 128 (R = 8), or of 64 x 64 (R = 4), where there are few. */
template <int R>
HU_KERNEL __launch_bounds__(HU_THREADS, R == 8 ? 2 : 3)
    hui_gemm_exact32_kernel(const __grid_constant__ hu_gemm_args args) {
  __shared__ __align__(16) float buffer[hu_device_tile<float, R, hu_rule_exact<float>>::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hui_gemm_tile<float, R>(args, hu_rule_exact<float>(), buffer, table_a, table_b, sums);
}

hu_status hui_gemm_launch_exact32(const hu_gemm_args *args, void *stream) {
  bool small = hui_tile_small(args, 128);
  unsigned tiles = hui_tile_count(args, small ? 64 : 128);
  auto kernel = small ? hui_gemm_exact32_kernel<4> : hui_gemm_exact32_kernel<8>;
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(kernel, tiles, 0, stream, *args);
  return hui_launched();
}
