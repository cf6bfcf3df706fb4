/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact64.cu - the model `exact` where hu_gemm_exact64 proves that no sum in binary64 is ever rounded.
 *
 * Limit, in the machine code for compute capability 9.0. A product is one multiply-add of FP64, of which a
 * multiprocessor starts 64 lanes per clock: 33 TFLOP/s with 132 multiprocessors at 1.98 GHz. A step of a warp has 16 of
 * them in each lane, 8 clocks, and reads shared memory for 6 clocks (its 64 columns are 512 bytes, its two rows of
 * threads 64 each, at 128 bytes per clock), 27 instructions in all. Memory is no limit: a slab has 128 elements for
 * 4096 products. */
#include "gpu/gemm/tile.cuh"

typedef hu_device_tile<double, 4, hu_rule_exact<double>> tile64;

HU_KERNEL __launch_bounds__(HU_THREADS, 2) hui_gemm_exact64_kernel(const __grid_constant__ hu_gemm_args args) {
  __shared__ __align__(16) double buffer[tile64::shared];
  __shared__ double table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hui_gemm_tile<double, 4>(args, hu_rule_exact<double>(), buffer, table_a, table_b, sums);
}

hu_status hui_gemm_launch_exact64(const hu_gemm_args *args, void *stream) {
  unsigned tiles = hui_tile_count(args, tile64::lines);
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(hui_gemm_exact64_kernel, tiles, 0, stream, *args);
  return hui_launched();
}
