/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/pack.cu - codes of 1 to 8 bits, dense. Eight codes are `width` bytes: a thread moves one such run.
 *
 * Bound: a code of 4 bits takes some 20 instructions, most of them for its byte, so that a multiprocessor, which starts
 * 128 in a clock, moves 6.5. Memory moves 16 bytes in that clock, 10.7 codes of 1.5 bytes: issue slots limit it. */
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/base/launch.cuh"
#include "gpu/base/look.h"

HU_KERNEL __launch_bounds__(HU_THREADS) hui_pack_kernel(size_t n, uint8_t *z, const uint8_t *x, unsigned width) {
  size_t step = (size_t)gridDim.x * HU_THREADS, runs = (n + 7) / 8;
  uint32_t mask = (1u << width) - 1;
  for (size_t run = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; run < runs; run += step) {
    uint64_t bits = 0;
    unsigned codes = n - run * 8 < 8 ? (unsigned)(n - run * 8) : 8;
    for (unsigned i = 0; i < codes; i++) bits |= (uint64_t)(x[run * 8 + i] & mask) << (i * width);
    unsigned bytes = (codes * width + 7) / 8;
    for (unsigned i = 0; i < bytes; i++) z[run * width + i] = (uint8_t)(bits >> (8 * i));
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS) hui_unpack_kernel(size_t n, uint8_t *z, const uint8_t *x, unsigned width) {
  size_t step = (size_t)gridDim.x * HU_THREADS, runs = (n + 7) / 8;
  uint32_t mask = (1u << width) - 1;
  for (size_t run = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; run < runs; run += step) {
    uint64_t bits = 0;
    unsigned codes = n - run * 8 < 8 ? (unsigned)(n - run * 8) : 8, bytes = (codes * width + 7) / 8;
    for (unsigned i = 0; i < bytes; i++) bits |= (uint64_t)x[run * width + i] << (8 * i);
    for (unsigned i = 0; i < codes; i++) z[run * 8 + i] = (uint8_t)((uint32_t)(bits >> (i * width)) & mask);
  }
}

hu_status hui_cuda_pack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_check_pack(n, z, hu_pack_size(n, width), x, n, width);
  if (status != HU_OK || n == 0) return status;
  hu_code_area codes = {x, 1, n, 0, 1, 1, width, 0};
  hui_look_at(codes, stream);
  HU_LAUNCH(hui_pack_kernel, hui_grid_size(n / (8 * HU_THREADS) + 1, 16), 0, stream, n, z, x, width);
  return hui_launched();
}

hu_status hui_cuda_unpack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_check_pack(n, z, n, x, hu_pack_size(n, width), width);
  if (status != HU_OK || n == 0) return status;
  HU_LAUNCH(hui_unpack_kernel, hui_grid_size(n / (8 * HU_THREADS) + 1, 16), 0, stream, n, z, x, width);
  return hui_launched();
}
