/* SPDX-License-Identifier: MIT */
/* gpu/gemm/fp32.cu - sums in binary32, k ascending from C: the model `fp32`, by fused multiply-adds, and
 * `seq2(binary32,binary32)`, whose products are rounded first.
 *
 * Limit, in the machine code for compute capability 9.0. A slab of 8 products of binary32 values takes 641 instructions
 * of a thread: 512 multiply-adds, 32 vector loads from shared memory, the rest to fetch the next slab: 1.25 for a
 * product. A multiprocessor starts 128 lanes per clock: 102 products; 132 multiprocessors at 1.98 GHz: 53 TFLOP/s, of
 * 67 that the FP32 pipe alone would allow. Codes of 8 bits take 19 more for each operand, codes of 16 bits 47: 1.33 and
 * 1.44 for a product, 50 and 46 TFLOP/s. Rounded products take two operations each, and a thread has only 16 sums to
 * share loads: 4.5 instructions for a product by count, 15 TFLOP/s. Memory is no limit: a slab has 256 elements for
 * 16384 products, 1/16 byte for a product of binary32 values, 1.6 TB/s from the second-level cache at 50 TFLOP/s. */
#include "gpu/gemm/tile.cuh"

struct hu_rule_rounded : hu_rule_fma<float> {
  static __device__ __forceinline__ float step(float a, float b, float sum) { return __fadd_rn(sum, __fmul_rn(a, b)); }
};

/* Computes tiles of 128 x 128 (R = 8), or of 64 x 64 (R = 4), where there are few. */
template <int R, class Rule>
HU_KERNEL __launch_bounds__(HU_THREADS, R == 8 ? 2 : 3)
    hui_gemm_fp32_kernel(const __grid_constant__ hu_gemm_args args) {
  __shared__ __align__(16) float buffer[hu_device_tile<float, R, Rule>::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hui_gemm_tile<float, R>(args, Rule(), buffer, table_a, table_b, sums);
}

template <int R, class Rule>
static hu_status hui_gemm_start_fp32(const hu_gemm_args *args, void *stream) {
  auto kernel = hui_gemm_fp32_kernel<R, Rule>;
  unsigned tiles = hui_tile_count(args, 16 * R);
  if (!tiles) return HU_E_SHAPE;
  HU_LAUNCH(kernel, tiles, 0, stream, *args);
  return hui_launched();
}

hu_status hui_gemm_launch_fp32(const hu_gemm_args *args, void *stream) {
  if (hui_tile_small(args, 128)) return hui_gemm_start_fp32<4, hu_rule_fma<float>>(args, stream);
  return hui_gemm_start_fp32<8, hu_rule_fma<float>>(args, stream);
}

/* ---- many products: tiles of 64 x 64, since heads are small ---- */

/* Two blocks run at once: with three ptxas spills, since the arguments are in shared memory. */
HU_KERNEL __launch_bounds__(HU_THREADS, 2)
    hui_gemm_fp32_batch_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_gemm_range range) {
  typedef hu_rule_fma<float> rule;
  __shared__ __align__(16) float buffer[hu_device_tile<float, 4, rule>::shared];
  __shared__ float table_a[256], table_b[256];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  __shared__ hu_gemm_args own;
  hui_gemm_pick(&own, args, range);
  hui_gemm_tile<float, 4>(own, rule(), buffer, table_a, table_b, sums, NULL, blockIdx.x % range.blocks);
}

hu_status hui_gemm_launch_fp32_batch(const hu_gemm_args *args, const hu_gemm_batch *batch, void *stream) {
  unsigned tiles = hui_tile_count(args, 64);
  if (!tiles) return HU_E_SHAPE;
  return hui_gemm_each_range(batch, tiles, [=](const hu_gemm_range &range, uint32_t blocks) {
    HU_LAUNCH(hui_gemm_fp32_batch_kernel, blocks, 0, stream, *args, range);
  });
}

/* Starts tiles of 4 x 4 sums per thread: with 8 x 8 no registers are left for the products. */
hu_status hui_gemm_launch_rounded(const hu_gemm_args *args, void *stream) {
  return hui_gemm_start_fp32<4, hu_rule_rounded>(args, stream);
}
