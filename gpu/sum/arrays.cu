/* SPDX-License-Identifier: MIT */
/* gpu/sum/arrays.cu - arrays of sums: one thread per sum, by the integers of emu/core/exact_digits.h.
 *
 * A kernel reads and writes a sum in place, and only the words that change: two or three for a term, if no carry
 * propagates further.
 *
 * Bound: a term of bfloat16 takes some 277 instructions, merging 111, rounding 237 (docs/device.md), so that a
 * multiprocessor, which starts 128 in a clock, does 0.46, 1.2 and 0.54. Memory moves 16 bytes in that clock: 0.32 terms
 * of 50 bytes (a sum's mark and two of its words, read and written), 0.1 sums of 168, 0.28 of 58, and is the bound of
 * all. */
#include "emu/base/exec.h"
#include "gpu/base/check.h"
#include "gpu/base/core_op.cuh"
#include "gpu/base/look.h"
#include "gpu/sum/sum.cuh"

typedef struct hu_device_sums {
  size_t n;
  uint64_t *sums;
  hu_sum_range range;
} hu_device_sums;

HU_DEVICE uint64_t *hui_device_sum_at(const hu_device_sums &array, size_t i) {
  return array.sums + i * (1 + array.range.words);
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_sum_add_kernel(const __grid_constant__ hu_device_sums array, const __grid_constant__ hu_device_terms terms) {
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < array.n; i += step) {
    uint64_t *sum = hui_device_sum_at(array, i);
    sum[0] |= hui_device_add_term(sum + 1, array.range, terms, i);
  }
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_sum_merge_kernel(const __grid_constant__ hu_device_sums array, const uint64_t *x) {
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < array.n; i += step) {
    uint64_t *sum = hui_device_sum_at(array, i);
    const uint64_t *other = x + (sum - array.sums);
    sum[0] |= other[0];
    hui_digits_merge(sum + 1, (int32_t)array.range.words, other + 1);
  }
}

/* Where rounded sums are stored. */
typedef struct hu_device_rounded {
  uint8_t *z;
  ptrdiff_t incz;
  uint32_t zsize, stochastic;
  hu_spec spec;
  hu_stream stream;
  hu_events *events;
} hu_device_rounded;

HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_sum_round_kernel(const __grid_constant__ hu_device_sums array,
                                                                const __grid_constant__ hu_device_rounded rounded) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < array.n; i += step) {
    const uint64_t *sum = hui_device_sum_at(array, i);
    uint32_t set, random = rounded.stochastic ? hui_random_of(rounded.spec, hui_word(rounded.stream, i)) : 0;
    uint32_t code = hui_digits_round(&rounded.spec, sum + 1, (int32_t)array.range.words, array.range.low,
                                     (uint32_t)sum[0], random, &set);
    hui_device_put_code(rounded.z, rounded.incz, rounded.zsize, i, code);
    if (rounded.events) hui_counts_add(&counts, set);
  }
  if (rounded.events) hui_counts_flush(&counts, rounded.events, sums);
}

/* ---- calls ---- */

static hu_device_sums hui_device_sums_of(size_t n, uint64_t *sums, hu_sum_range range) {
  hu_device_sums array = {n, sums, range};
  return array;
}

static unsigned hui_sums_grid(size_t n) { return hui_grid_size(n / HU_THREADS + 1, 16); }

hu_status hui_cuda_sum_add(size_t n, uint64_t *sums, hu_sum_range range, const hu_view *x, int operands,
                           const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_sum_check_add(n, sums, range, x, operands);
  if (status != HU_OK || n == 0) return status;
  for (int k = 0; k < operands; k++)
    hui_look_at(hui_code_array_of(n, x[k].data, x[k].stride, x[k].type.format), stream);
  HU_LAUNCH(hui_sum_add_kernel, hui_sums_grid(n), 0, stream, hui_device_sums_of(n, sums, range),
            hui_device_terms_of(x, operands));
  return hui_launched();
}

hu_status hui_cuda_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_sum_check_merge(n, sums, range, x);
  if (status != HU_OK || n == 0) return status;
  HU_LAUNCH(hui_sum_merge_kernel, hui_sums_grid(n), 0, stream, hui_device_sums_of(n, sums, range), x);
  return hui_launched();
}

hu_status hui_cuda_sum_round_n(size_t n, hu_output z, const uint64_t *sums, hu_sum_range range, const hu_how *how) {
  void *stream = how->exec->where.queue;
  hu_device_rounded rounded;
  hu_status status = hui_sum_check_round(n, &z, sums, range, how->mode);
  if (status == HU_OK) status = hui_check_events(how->events);
  if (status != HU_OK || n == 0) return status;
  memset(&rounded, 0, sizeof rounded);
  rounded.z = (uint8_t *)z.data;
  rounded.incz = z.stride;
  rounded.zsize = hui_code_bytes(z.type.format);
  rounded.stochastic = how->mode.round >= HU_SRA;
  rounded.spec = hui_spec_of(z.type.format, how->mode);
  rounded.stream = hui_exec_stream(how->exec);
  rounded.events = how->events;
  uint64_t *read = (uint64_t *)(uintptr_t)sums; /* read only */
  HU_LAUNCH(hui_sum_round_kernel, hui_sums_grid(n), 0, stream, hui_device_sums_of(n, read, range), rounded);
  return hui_launched();
}
