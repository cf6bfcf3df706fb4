/* SPDX-License-Identifier: MIT */
/* gpu/tools/digest.cu - see digest.h. */
#include "gpu/tools/digest.h"

#include "gpu/base/launch.cuh"

HU_KERNEL __launch_bounds__(HU_THREADS) hui_inputs_kernel(uint32_t *x, uint64_t first, uint32_t stride, size_t n) {
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < n; i += step)
    x[i] = (uint32_t)((first + i) * stride);
}

template <class Code>
HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_digest_kernel(unsigned long long *sum, const Code *codes, uint64_t first, uint32_t stride, size_t n) {
  __shared__ unsigned long long block;
  size_t step = (size_t)gridDim.x * HU_THREADS;
  unsigned long long mine = 0;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < n; i += step)
    mine += hui_digest_pair((uint32_t)((first + i) * stride), codes[i]);
#pragma unroll
  for (int by = 16; by > 0; by /= 2) mine += __shfl_xor_sync(HU_ALL_LANES, mine, by);
  if ((threadIdx.x & 31) == 0) atomicAdd(&block, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, block);
}

hu_status hui_digest_inputs(uint32_t *x, uint64_t first, uint32_t stride, size_t n) {
  HU_LAUNCH(hui_inputs_kernel, hui_grid_size(n / HU_THREADS + 1, 16), 0, NULL, x, first, stride, n);
  return hui_launched();
}

hu_status hui_digest_add(unsigned long long *sum, const void *codes, uint32_t storage, uint64_t first, uint32_t stride,
                         size_t n) {
  unsigned grid = hui_grid_size(n / HU_THREADS + 1, 16);
  if (storage == 8) {
    HU_LAUNCH(hui_digest_kernel<uint8_t>, grid, 0, NULL, sum, (const uint8_t *)codes, first, stride, n);
  } else if (storage == 16) {
    HU_LAUNCH(hui_digest_kernel<uint16_t>, grid, 0, NULL, sum, (const uint16_t *)codes, first, stride, n);
  } else {
    HU_LAUNCH(hui_digest_kernel<uint32_t>, grid, 0, NULL, sum, (const uint32_t *)codes, first, stride, n);
  }
  return hui_launched();
}
