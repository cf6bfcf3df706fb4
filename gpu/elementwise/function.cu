/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/function.cu - elementary functions over arrays of codes: emu/arith/function_one.h for every element.
 * One kernel serves all functions: they share the long multi-digit fallback, which is a call. Every thread of a launch
 * computes the same function. Binary64 there is IEEE 754's own, to nearest (gpu/meson.build: no contraction).
 *
 * Bound: an exponential of bfloat16 takes some 780 instructions where the first digits decide (docs/device.md), so that
 * a multiprocessor, which starts 128 in a clock, computes 0.16. Memory moves 16 bytes in that clock, 4 elements of 4
 * bytes: issue slots are the bound. */
#include "emu/arith/function_one.h"
#include "gpu/elementwise/arith.cuh"

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_function_kernel(const __grid_constant__ hu_device_arith call, int32_t op) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < call.n; i += step) {
    uint32_t events, random = call.stochastic ? hui_random_of(call.spec, hui_word(call.stream, i)) : 0;
    hu_num x = hui_load_num(call.x[0], i),
           y = op == HU_OP_POW ? hui_load_num(call.x[1], i) : hui_num_special(HU_KIND_ZERO, 0);
    hui_device_store_code(call, i, hui_function_code_of(&call.spec, op, x, y, random, &events));
    if (call.events) hui_counts_add(&counts, events);
  }
  if (call.events) hui_counts_flush(&counts, call.events, sums);
}

hu_status hui_function_launch(const hu_device_arith &call, int32_t op, void *stream) {
  auto kernel = hui_function_kernel;
  HU_LAUNCH(kernel, hui_grid_size(call.n / HU_THREADS + 1, 16), 0, stream, call, op);
  return hui_launched();
}
