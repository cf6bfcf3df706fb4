/* SPDX-License-Identifier: MIT */
/* gpu/scaled/pack.cu - codes of scaled tensors to the packed layout and back, row by row: a thread moves eight codes,
 * which are `width` bytes.
 *
 * Bound: a code of 4 bits takes some 26 instructions, with the division that finds its row once for eight, so that a
 * multiprocessor, which starts 128 in a clock, moves 4.9. Memory moves 16 bytes in that clock, 10.7 codes of 1.5 bytes:
 * issue slots are the bound. */
#include "emu/scaled/check.h"
#include "emu/core/port.h"
#include "gpu/base/calls.h"
#include "gpu/base/launch.cuh"
#include "gpu/base/look.h"

typedef struct hu_dense {
  size_t rows, cols, down; /* down: rows that are packed, those of padding included */
  size_t row_bytes, ld;
  uint32_t width;
} hu_dense;

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_pack_kernel(const __grid_constant__ hu_dense dense, uint8_t *z, const uint8_t *x) {
  size_t runs = (dense.row_bytes - 1) / dense.width + 1, all = runs * dense.down, step = (size_t)gridDim.x * HU_THREADS;
  uint32_t mask = (1u << dense.width) - 1;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < all; i += step) {
    size_t row = i / runs, run = i % runs;
    uint64_t bits = 0;
    for (uint32_t k = 0; k < 8; k++) {
      if (row < dense.rows && run * 8 + k < dense.cols) {
        bits |= (uint64_t)(x[row * dense.ld + run * 8 + k] & mask) << (k * dense.width);
      }
    }
    for (uint32_t k = 0; k < dense.width && run * dense.width + k < dense.row_bytes; k++) {
      z[row * dense.row_bytes + run * dense.width + k] = (uint8_t)(bits >> (8 * k));
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_unpack_kernel(const __grid_constant__ hu_dense dense, uint8_t *z, const uint8_t *x) {
  size_t runs = (dense.cols - 1) / 8 + 1, all = runs * dense.rows, step = (size_t)gridDim.x * HU_THREADS;
  uint32_t mask = (1u << dense.width) - 1;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < all; i += step) {
    size_t row = i / runs, run = i % runs, codes = dense.cols - run * 8 < 8 ? dense.cols - run * 8 : 8;
    uint64_t bits = 0;
    for (uint32_t k = 0; k * 8 < codes * dense.width; k++) {
      bits |= (uint64_t)x[row * dense.row_bytes + run * dense.width + k] << (8 * k);
    }
    for (uint32_t k = 0; k < codes; k++)
      z[row * dense.ld + run * 8 + k] = (uint8_t)((uint32_t)(bits >> (k * dense.width)) & mask);
  }
}

static hu_dense hui_dense_of(const hu_scaled_sizes *sizes, size_t rows, size_t cols, size_t ld,
                             const hu_scaling *scaling) {
  hu_dense dense;
  dense.rows = rows;
  dense.cols = cols;
  dense.down = sizes->packed / sizes->packed_row;
  dense.row_bytes = sizes->packed_row;
  dense.ld = ld;
  dense.width = 1u + scaling->element.e + scaling->element.m;
  return dense;
}

hu_status hui_cuda_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld,
                               const hu_scaling *scaling, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_scaled_sizes sizes;
  hu_status status = hui_scaled_pack_check(&sizes, rows, cols, x, ld, z, scaling);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  hui_look_at(hui_scaled_elements_of(rows, cols, x, ld, scaling), stream);
  hu_dense dense = hui_dense_of(&sizes, rows, cols, ld, scaling);
  HU_LAUNCH(hui_scaled_pack_kernel, hui_grid_size(sizes.packed / (dense.width * HU_THREADS) + 1, 16), 0, stream, dense,
            z, x);
  return hui_launched();
}

hu_status hui_cuda_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x,
                                 const hu_scaling *scaling, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_scaled_sizes sizes;
  hu_status status = hui_scaled_pack_check(&sizes, rows, cols, z, ld, x, scaling);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  hu_dense dense = hui_dense_of(&sizes, rows, cols, ld, scaling);
  HU_LAUNCH(hui_scaled_unpack_kernel, hui_grid_size(sizes.packed / (dense.width * HU_THREADS) + 1, 16), 0, stream,
            dense, z, x);
  return hui_launched();
}
