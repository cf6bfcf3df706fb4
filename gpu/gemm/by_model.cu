/* SPDX-License-Identifier: MIT */
/* gpu/gemm/by_model.cu - every accumulation model, one thread an element: matrix products and dot products.
 *
 * The text is emu/core/accum.h, so the steps are those of the CPU. Its functions are called, not inlined, and take what
 * they share by address: an element's state (lines, random words) lies in local memory, as do the waiting nodes of
 * pairwise and strided and the wide integer of exact. Nothing is spilled. A block computes 16 x 16 elements; their
 * operands stay in the first-level cache from one step to the next.
 *
 * Limit. A product takes 630 (seq) to 2000 (kahan) instructions, of which a multiprocessor of compute capability 9.0
 * starts 128 a clock: 0.2 to 0.06 products, with 132 multiprocessors at 1.98 GHz 107 to 33 GFLOP/s. Eight warps of a
 * multiprocessor, each waiting for its own last step, reach a fifth of that. So what models are used much have kernels
 * of their own. */
#include "gpu/base/look.h"
#include "gpu/gemm/by_model.cuh"

#include "emu/accum/check.h"
#include "emu/core/dot.h"
#include "gpu/base/check.h"
#include "halfulp/device.h"

enum { HU_ACCUM_SIDE = 16 };

HU_DEVICE uint32_t hui_accum_element(const hu_gemm_args &g, const hu_accum_args &m, size_t i, size_t j) {
  hu_lines in = hui_lines_of(g, i, j);
  hu_draw d = hui_accum_draw(g, i, j);
  return hui_accum_store(g, m, i, j, hui_accum_sum(&m.plan, &in, g.k, hui_accum_start(g, m.c, i, j), &d));
}

/* The tiles of a product that block `block` of `blocks` computes. */
HU_DEVICE void hui_model_tiles(const hu_gemm_args &g, const hu_accum_args &m, unsigned block, unsigned blocks) {
  size_t down = (g.m + HU_ACCUM_SIDE - 1) / HU_ACCUM_SIDE, across = (g.n + HU_ACCUM_SIDE - 1) / HU_ACCUM_SIDE;
  hu_counts c;
  hui_counts_clear(&c);
  for (size_t tile = block; tile < down * across; tile += blocks) {
    size_t i = tile / across * HU_ACCUM_SIDE + threadIdx.x / HU_ACCUM_SIDE;
    size_t j = tile % across * HU_ACCUM_SIDE + threadIdx.x % HU_ACCUM_SIDE;
    if (i >= g.m || j >= g.n) continue;
    uint32_t events = hui_accum_element(g, m, i, j);
    if (g.events) hui_counts_add(&c, events);
  }
  if (g.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&c, g.events, sums);
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_model_kernel(const __grid_constant__ hu_gemm_args g, const __grid_constant__ hu_accum_args m) {
  hui_model_tiles(g, m, blockIdx.x, gridDim.x);
}

hu_status hui_gemm_launch_model(const hu_gemm_args *g, const hu_accum_args *m, void *stream) {
  size_t down = (g->m - 1) / HU_ACCUM_SIDE + 1, across = (g->n - 1) / HU_ACCUM_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  HU_LAUNCH(hui_gemm_model_kernel, hui_grid_size(tiles, 64), 0, stream, *g, *m);
  return hui_launched();
}

/* ---- many products ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_model_batch_kernel(const __grid_constant__ hu_gemm_args g, const __grid_constant__ hu_accum_args m,
                                const __grid_constant__ hu_gemm_range r) {
  __shared__ hu_gemm_args own;
  hui_gemm_pick(&own, g, r);
  hui_model_tiles(own, m, blockIdx.x % r.blocks, r.blocks);
}

hu_status hui_gemm_launch_model_batch(const hu_gemm_args *g, const hu_accum_args *m, const hu_gemm_batch *batch,
                                      void *stream) {
  size_t down = (g->m - 1) / HU_ACCUM_SIDE + 1, across = (g->n - 1) / HU_ACCUM_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  return hui_gemm_each_range(batch, hui_grid_size(tiles, 64), [=](const hu_gemm_range &r, uint32_t blocks) {
    HU_LAUNCH(hui_gemm_model_batch_kernel, blocks, 0, stream, *g, *m, r);
  });
}

/* ---- products with scales ---- */

HU_DEVICE uint32_t hui_scaled_model_element(const hu_gemm_args &g, const hu_accum_args &m, const hu_accum_scales &s,
                                            size_t i, size_t j) {
  hu_lines in = hui_scaled_lines_of(g, s, i, j);
  hu_draw d = hui_accum_draw(g, i, j);
  hu_num c = hui_accum_start(g, m.c, i, j), x = hui_accum_sum(&m.plan, &in, g.k, c, &d);
  return hui_scaled_store(g, m, s, i, j, x);
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_scaled_kernel(const __grid_constant__ hu_gemm_args g, const __grid_constant__ hu_accum_args m,
                           const __grid_constant__ hu_accum_scales s) {
  hu_counts c;
  hui_counts_clear(&c);
  uint64_t count = (uint64_t)g.m * g.n, step = (uint64_t)gridDim.x * HU_THREADS;
  for (uint64_t e = (uint64_t)blockIdx.x * HU_THREADS + threadIdx.x; e < count; e += step) {
    uint32_t events = hui_scaled_model_element(g, m, s, e / g.n, e % g.n);
    if (g.events) hui_counts_add(&c, events);
  }
  if (g.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&c, g.events, sums);
  }
}

hu_status hui_gemm_launch_scaled(const hu_gemm_args *g, const hu_accum_args *m, const hu_accum_scales *s,
                                 void *stream) {
  uint64_t blocks = ((uint64_t)g->m * g->n - 1) / HU_THREADS + 1;
  HU_LAUNCH(hui_gemm_scaled_kernel, hui_grid_size(blocks, 64), 0, stream, *g, *m, *s);
  return hui_launched();
}

/* ---- dot products ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_dot_kernel(uint64_t count, const __grid_constant__ hu_dot_plan t, hu_events *events) {
  hu_counts c;
  hui_counts_clear(&c);
  for (uint64_t i = (uint64_t)blockIdx.x * HU_THREADS + threadIdx.x; i < count; i += (uint64_t)gridDim.x * HU_THREADS) {
    uint32_t set = t.model.model.kind == HU_ACCUM_INT32 ? hui_dot_integers(&t, i, NULL) : hui_dot_sum(&t, i, NULL);
    if (events) hui_counts_add(&c, set);
  }
  if (events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&c, events, sums);
  }
}

hu_status hu_device_dot_n(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez, const hu_dot_operands *x,
                          const hu_accum *accum, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_dot_plan t;
  hu_status s = hui_dot_plan_make(&t, count, n, z, incz, ez, x, accum, mode, exec);
  if (s == HU_OK) s = hui_check_events(events);
  if (s != HU_OK || count == 0) return s;
  hu_code_area area[HU_DOT_AREAS];
  size_t areas = hui_dot_areas(area, count, n, x, accum);
  for (size_t i = 0; i < areas; i++) hui_look_at(area[i], stream);
  HU_LAUNCH(hui_dot_kernel, hui_grid_size((count - 1) / HU_THREADS + 1, 64), 0, stream, (uint64_t)count, t, events);
  return hui_launched();
}
