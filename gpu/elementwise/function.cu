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

static inline hu_status hui_function_launch(int32_t op, size_t n, void *z, hu_array_of_codes result,
                                            const hu_array_of_codes *x, int operands, hu_mode mode, const hu_exec *exec,
                                            hu_events *events, void *stream) {
  hu_device_arith call;
  hu_status status = hui_arith_prepare(&call, n, z, result, 0, x, operands, mode, exec, events, stream);
  if (status != HU_OK || n == 0) return status;
  auto kernel = hui_function_kernel;
  HU_LAUNCH(kernel, hui_grid_size(call.n / HU_THREADS + 1, 16), 0, stream, call, op);
  return hui_launched();
}

#define HU_FUNCTION(name, op)                                                                                        \
  hu_status hu_device_##name##_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,     \
                                 hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) { \
    hu_array_of_codes codes = hui_codes_at(x, incx, fx);                                                             \
    return hui_function_launch(op, n, z, hui_codes_at(z, incz, fz), &codes, 1, mode, exec, events, stream);          \
  }

HU_FUNCTION(exp, HU_OP_EXP)
HU_FUNCTION(exp2, HU_OP_EXP2)
HU_FUNCTION(expm1, HU_OP_EXPM1)
HU_FUNCTION(log, HU_OP_LOG)
HU_FUNCTION(log2, HU_OP_LOG2)
HU_FUNCTION(log1p, HU_OP_LOG1P)
HU_FUNCTION(tanh, HU_OP_TANH)
HU_FUNCTION(sigmoid, HU_OP_SIGMOID)
HU_FUNCTION(erf, HU_OP_ERF)
HU_FUNCTION(gelu, HU_OP_GELU)
HU_FUNCTION(rsqrt, HU_OP_RSQRT)
HU_FUNCTION(reciprocal, HU_OP_RECIPROCAL)
HU_FUNCTION(sin, HU_OP_SIN)
HU_FUNCTION(cos, HU_OP_COS)

hu_status hu_device_pow_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          const void *y, ptrdiff_t incy, hu_format fy, hu_mode mode, const hu_exec *exec,
                          hu_events *events, void *stream) {
  hu_array_of_codes codes[2] = {hui_codes_at(x, incx, fx), hui_codes_at(y, incy, fy)};
  return hui_function_launch(HU_OP_POW, n, z, hui_codes_at(z, incz, fz), codes, 2, mode, exec, events, stream);
}
