/* SPDX-License-Identifier: MIT */
/* gpu/gemm/by_model.cu - matrix products and dot products under every accumulation model, one thread per element.
 *
 * The text is emu/core/accum.h, so that the steps are those of the CPU. Its functions are called, not inlined, and take
 * addresses, so that an element's state (lines, random words) lies in local memory, as do the waiting nodes of pairwise
 * and strided and the wide integer of exact. No registers are spilled. A block computes 16 x 16 elements; their
 * operands stay in the first-level cache from one step to the next.
 *
 * Limit. A product takes 630 (seq) to 2000 (kahan) instructions, of which a multiprocessor of compute capability 9.0
 * starts 128 per clock: 0.2 to 0.06 products, with 132 multiprocessors at 1.98 GHz 107 to 33 GFLOP/s. Eight warps of a
 * multiprocessor, each waiting for its own last step, reach a fifth of that. Therefore models that are used much have
 * kernels of their own. */
#include "gpu/base/look.h"
#include "gpu/gemm/by_model.cuh"

#include "emu/accum/check.h"
#include "emu/core/dot.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"

enum { HU_ACCUM_SIDE = 16 };

HU_DEVICE uint32_t hui_accum_element(const hu_gemm_args &args, const hu_accum_args &model, size_t i, size_t j) {
  hu_lines in = hui_lines_of(args, i, j);
  hu_draw draw = hui_accum_draw(args, i, j);
  return hui_accum_store(args, model, i, j,
                         hui_accum_sum(&model.plan, &in, args.k, hui_accum_start(args, model.c, i, j), &draw));
}

/* Computes the tiles of a product that are those of block `block` of `blocks`. */
HU_DEVICE void hui_model_tiles(const hu_gemm_args &args, const hu_accum_args &model, unsigned block, unsigned blocks) {
  size_t down = (args.m + HU_ACCUM_SIDE - 1) / HU_ACCUM_SIDE, across = (args.n + HU_ACCUM_SIDE - 1) / HU_ACCUM_SIDE;
  hu_counts counts;
  hui_counts_clear(&counts);
  for (size_t tile = block; tile < down * across; tile += blocks) {
    size_t i = tile / across * HU_ACCUM_SIDE + threadIdx.x / HU_ACCUM_SIDE;
    size_t j = tile % across * HU_ACCUM_SIDE + threadIdx.x % HU_ACCUM_SIDE;
    if (i >= args.m || j >= args.n) continue;
    uint32_t events = hui_accum_element(args, model, i, j);
    if (args.events) hui_counts_add(&counts, events);
  }
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_model_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model) {
  hui_model_tiles(args, model, blockIdx.x, gridDim.x);
}

hu_status hui_gemm_launch_model(const hu_gemm_args *args, const hu_accum_args *model, void *stream) {
  size_t down = (args->m - 1) / HU_ACCUM_SIDE + 1, across = (args->n - 1) / HU_ACCUM_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  HU_LAUNCH(hui_gemm_model_kernel, hui_grid_size(tiles, 64), 0, stream, *args, *model);
  return hui_launched();
}

/* ---- many products ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_model_batch_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model,
                                const __grid_constant__ hu_gemm_range range) {
  __shared__ hu_gemm_args own;
  hui_gemm_pick(&own, args, range);
  hui_model_tiles(own, model, blockIdx.x % range.blocks, range.blocks);
}

hu_status hui_gemm_launch_model_batch(const hu_gemm_args *args, const hu_accum_args *model, const hu_gemm_batch *batch,
                                      void *stream) {
  size_t down = (args->m - 1) / HU_ACCUM_SIDE + 1, across = (args->n - 1) / HU_ACCUM_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  return hui_gemm_each_range(batch, hui_grid_size(tiles, 64), [=](const hu_gemm_range &range, uint32_t blocks) {
    HU_LAUNCH(hui_gemm_model_batch_kernel, blocks, 0, stream, *args, *model, range);
  });
}

/* ---- products with scales ---- */

HU_DEVICE uint32_t hui_scaled_model_element(const hu_gemm_args &args, const hu_accum_args &model,
                                            const hu_accum_scales &scales, size_t i, size_t j) {
  hu_lines in = hui_scaled_lines_of(args, scales, i, j);
  hu_draw draw = hui_accum_draw(args, i, j);
  hu_num c = hui_accum_start(args, model.c, i, j), x = hui_accum_sum(&model.plan, &in, args.k, c, &draw);
  return hui_scaled_store(args, model, scales, i, j, x);
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_gemm_scaled_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model,
                           const __grid_constant__ hu_accum_scales scales) {
  hu_counts counts;
  hui_counts_clear(&counts);
  uint64_t count = (uint64_t)args.m * args.n, step = (uint64_t)gridDim.x * HU_THREADS;
  for (uint64_t element = (uint64_t)blockIdx.x * HU_THREADS + threadIdx.x; element < count; element += step) {
    uint32_t events = hui_scaled_model_element(args, model, scales, element / args.n, element % args.n);
    if (args.events) hui_counts_add(&counts, events);
  }
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

hu_status hui_gemm_launch_scaled(const hu_gemm_args *args, const hu_accum_args *model, const hu_accum_scales *scales,
                                 void *stream) {
  uint64_t blocks = ((uint64_t)args->m * args->n - 1) / HU_THREADS + 1;
  HU_LAUNCH(hui_gemm_scaled_kernel, hui_grid_size(blocks, 64), 0, stream, *args, *model, *scales);
  return hui_launched();
}

/* ---- dot products ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_dot_kernel(uint64_t count, const __grid_constant__ hu_dot_plan plan, hu_events *events) {
  hu_counts counts;
  hui_counts_clear(&counts);
  for (uint64_t i = (uint64_t)blockIdx.x * HU_THREADS + threadIdx.x; i < count; i += (uint64_t)gridDim.x * HU_THREADS) {
    uint32_t set =
        plan.model.model.kind == HU_ACCUM_INT32 ? hui_dot_integers(&plan, i, NULL) : hui_dot_sum(&plan, i, NULL);
    if (events) hui_counts_add(&counts, set);
  }
  if (events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, events, sums);
  }
}

hu_status hui_cuda_dot(const hu_product *x, const hu_how *how) {
  void *stream = how->exec->where.queue;
  hu_dot_plan plan;
  hu_status status = hui_dot_plan_make(&plan, x, how->mode, how->exec);
  if (status == HU_OK) status = hui_check_events(how->events);
  if (status != HU_OK || x->m == 0) return status;
  hu_code_area area[HU_DOT_OPERANDS];
  size_t areas = hui_dot_areas(area, x);
  for (size_t i = 0; i < areas; i++) hui_look_at(area[i], stream);
  HU_LAUNCH(hui_dot_kernel, hui_grid_size((x->m - 1) / HU_THREADS + 1, 64), 0, stream, (uint64_t)x->m, plan,
            how->events);
  return hui_launched();
}
