/* SPDX-License-Identifier: MIT */
/* gpu/scaled/pack.cu - codes of scaled tensors to the packed layout and back, row by row: a thread moves eight codes,
 * which are `width` bytes.
 *
 * Bound: a code of 4 bits takes some 26 instructions, with the division that finds its row once for eight, so that a
 * multiprocessor, which starts 128 in a clock, moves 4.9. Memory moves 16 bytes in that clock, 10.7 codes of 1.5 bytes:
 * issue slots are the bound. */
#include "emu/scaled/check.h"
#include "emu/core/port.h"
#include "gpu/base/launch.cuh"
#include "gpu/base/look.h"
#include "halfulp/device_scaled.h"

typedef struct hu_dense {
  size_t rows, cols, down; /* down: rows that are packed, with `pad` more than there are */
  size_t row_bytes, ld;
  uint32_t width;
} hu_dense;

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_pack_kernel(const __grid_constant__ hu_dense d, uint8_t *z, const uint8_t *x) {
  size_t runs = (d.row_bytes - 1) / d.width + 1, all = runs * d.down, step = (size_t)gridDim.x * HU_THREADS;
  uint32_t mask = (1u << d.width) - 1;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < all; i += step) {
    size_t row = i / runs, run = i % runs;
    uint64_t bits = 0;
    for (uint32_t k = 0; k < 8; k++) {
      if (row < d.rows && run * 8 + k < d.cols) {
        bits |= (uint64_t)(x[row * d.ld + run * 8 + k] & mask) << (k * d.width);
      }
    }
    for (uint32_t k = 0; k < d.width && run * d.width + k < d.row_bytes; k++) {
      z[row * d.row_bytes + run * d.width + k] = (uint8_t)(bits >> (8 * k));
    }
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_scaled_unpack_kernel(const __grid_constant__ hu_dense d, uint8_t *z, const uint8_t *x) {
  size_t runs = (d.cols - 1) / 8 + 1, all = runs * d.rows, step = (size_t)gridDim.x * HU_THREADS;
  uint32_t mask = (1u << d.width) - 1;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < all; i += step) {
    size_t row = i / runs, run = i % runs, codes = d.cols - run * 8 < 8 ? d.cols - run * 8 : 8;
    uint64_t bits = 0;
    for (uint32_t k = 0; k * 8 < codes * d.width; k++) {
      bits |= (uint64_t)x[row * d.row_bytes + run * d.width + k] << (8 * k);
    }
    for (uint32_t k = 0; k < codes; k++)
      z[row * d.ld + run * 8 + k] = (uint8_t)((uint32_t)(bits >> (k * d.width)) & mask);
  }
}

static hu_dense hui_dense_of(const hu_scaled_sizes *n, size_t rows, size_t cols, size_t ld, const hu_scaling *d) {
  hu_dense z;
  z.rows = rows;
  z.cols = cols;
  z.down = n->packed / n->packed_row;
  z.row_bytes = n->packed_row;
  z.ld = ld;
  z.width = 1u + d->element.e + d->element.m;
  return z;
}

hu_status hu_device_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld,
                                const hu_scaling *scaling, void *stream) {
  hu_scaled_sizes n;
  hu_status s = hui_scaled_pack_check(&n, rows, cols, x, ld, z, scaling);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  hui_look_at(hui_scaled_elements_of(rows, cols, x, ld, scaling), stream);
  hu_dense d = hui_dense_of(&n, rows, cols, ld, scaling);
  HU_LAUNCH(hui_scaled_pack_kernel, hui_grid_size(n.packed / (d.width * HU_THREADS) + 1, 16), 0, stream, d, z, x);
  return hui_launched();
}

hu_status hu_device_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x,
                                  const hu_scaling *scaling, void *stream) {
  hu_scaled_sizes n;
  hu_status s = hui_scaled_pack_check(&n, rows, cols, z, ld, x, scaling);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  hu_dense d = hui_dense_of(&n, rows, cols, ld, scaling);
  HU_LAUNCH(hui_scaled_unpack_kernel, hui_grid_size(n.packed / (d.width * HU_THREADS) + 1, 16), 0, stream, d, z, x);
  return hui_launched();
}
