/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/arith.cu - arithmetic over arrays of codes: emu/core/arith.h for every element, one kernel per
 * operation.
 *
 * Bound: of the 1100 to 1600 instructions of an operation's loop in the machine code for compute capability 9.0 a sum
 * of binary16 codes takes some 530, a product with a sum 700 (docs/device.md), so that a multiprocessor, which starts
 * 128 in a clock, computes 0.24 or 0.18 elements. Memory moves 16 bytes in that clock, 2.7 elements of 6 bytes: issue
 * slots are the bound. The next code, a class or a comparison take 90 to 220 instructions, 0.6 to 1.4 elements. */
#include "gpu/elementwise/arith.cuh"

/* Gives the number of operands of an operation below HU_OP_ROUNDED. */
#define HU_OPERANDS(op) ((op) == HU_OP_SQRT ? 1 : (op) == HU_OP_FMA ? 3 : 2)

template <int32_t Op>
HU_DEVICE uint32_t hui_arith_element(const hu_device_arith &call, size_t i, uint32_t random, uint32_t *events) {
  hu_num none = hui_num_special(HU_KIND_ZERO, 0);
  *events = 0;
  if (Op == HU_OP_INTEGRAL)
    return hui_round_to_integral_code(&call.spec, hui_device_load_code(call.x[0], i), random, events);
  if (Op == HU_OP_NEXT_UP) return hui_next_code(&call.x[0].spec, hui_device_load_code(call.x[0], i), 0);
  if (Op == HU_OP_NEXT_DOWN) return hui_next_code(&call.x[0].spec, hui_device_load_code(call.x[0], i), 1);
  if (Op == HU_OP_CLASS) return hui_class_of(&call.x[0].spec, hui_device_load_code(call.x[0], i));
  hu_num a = hui_load_num(call.x[0], i);
  hu_num b = Op == HU_OP_COMPARE || HU_OPERANDS(Op) > 1 ? hui_load_num(call.x[1], i) : none;
  if (Op == HU_OP_COMPARE) {
    if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return (uint32_t)HU_UNORDERED;
    return (uint32_t)hui_compare_numbers(a, b);
  }
  hu_num third = HU_OPERANDS(Op) > 2 ? hui_load_num(call.x[2], i) : none;
  return hui_arith_one(&call.spec, Op, a, b, third, random, events);
}

template <int32_t Op>
HU_KERNEL __launch_bounds__(HU_THREADS, 1) hui_arith_kernel(const __grid_constant__ hu_device_arith call) {
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < call.n; i += step) {
    uint32_t events, random = call.stochastic ? hui_random_of(call.spec, hui_word(call.stream, i)) : 0;
    hui_device_store_code(call, i, hui_arith_element<Op>(call, i, random, &events));
    if (call.events) hui_counts_add(&counts, events);
  }
  if (call.events) hui_counts_flush(&counts, call.events, sums);
}

template <int32_t Op>
static inline hu_status hui_arith_launch(const hu_device_arith &call, void *stream) {
  auto kernel = hui_arith_kernel<Op>;
  HU_LAUNCH(kernel, hui_grid_size(call.n / HU_THREADS + 1, 16), 0, stream, call);
  return hui_launched();
}

/* ---- the calls ---- */

template <int32_t Op>
static inline hu_status hui_arith_two(size_t n, void *z, hu_array_of_codes result, int bytes, hu_array_of_codes a,
                                      hu_array_of_codes b, hu_mode mode, const hu_exec *exec, hu_events *events,
                                      void *stream) {
  hu_device_arith call;
  hu_array_of_codes x[2] = {a, b};
  hu_status status = hui_arith_prepare(&call, n, z, result, bytes, x, 2, mode, exec, events, stream);
  return status != HU_OK || n == 0 ? status : hui_arith_launch<Op>(call, stream);
}

template <int32_t Op>
static inline hu_status hui_arith_single(size_t n, void *z, hu_array_of_codes result, int bytes, hu_array_of_codes x,
                                         hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_device_arith call;
  hu_status status = hui_arith_prepare(&call, n, z, result, bytes, &x, 1, mode, exec, events, stream);
  return status != HU_OK || n == 0 ? status : hui_arith_launch<Op>(call, stream);
}

#define HU_ARITH_TWO(name, op)                                                                                         \
  hu_status hu_device_##name##_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,       \
                                 hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,              \
                                 const hu_exec *exec, hu_events *events, void *stream) {                               \
    return hui_arith_two<op>(n, z, hui_codes_at(z, incz, fz), 0, hui_codes_at(a, inca, fa), hui_codes_at(b, incb, fb), \
                             mode, exec, events, stream);                                                              \
  }

HU_ARITH_TWO(add, HU_OP_ADD)
HU_ARITH_TWO(sub, HU_OP_SUB)
HU_ARITH_TWO(mul, HU_OP_MUL)
HU_ARITH_TWO(div, HU_OP_DIV)
HU_ARITH_TWO(minimum, HU_OP_MINIMUM)
HU_ARITH_TWO(maximum, HU_OP_MAXIMUM)
HU_ARITH_TWO(minimum_number, HU_OP_MINIMUM_NUMBER)
HU_ARITH_TWO(maximum_number, HU_OP_MAXIMUM_NUMBER)

hu_status hu_device_sqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                           hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  return hui_arith_single<HU_OP_SQRT>(n, z, hui_codes_at(z, incz, fz), 0, hui_codes_at(x, incx, fx), mode, exec, events,
                                      stream);
}

hu_status hu_device_fma_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                          const void *b, ptrdiff_t incb, hu_format fb, const void *c, ptrdiff_t incc, hu_format fc,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_device_arith call;
  hu_array_of_codes x[3] = {hui_codes_at(a, inca, fa), hui_codes_at(b, incb, fb), hui_codes_at(c, incc, fc)};
  hu_status status = hui_arith_prepare(&call, n, z, hui_codes_at(z, incz, fz), 0, x, 3, mode, exec, events, stream);
  return status != HU_OK || n == 0 ? status : hui_arith_launch<HU_OP_FMA>(call, stream);
}

hu_status hu_device_round_to_integral_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                        hu_format format, hu_mode mode, const hu_exec *exec, hu_events *events,
                                        void *stream) {
  return hui_arith_single<HU_OP_INTEGRAL>(n, z, hui_codes_at(z, incz, format), 0, hui_codes_at(x, incx, format), mode,
                                          exec, events, stream);
}

static inline hu_mode hui_no_mode(void) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  return rne;
}

hu_status hu_device_next_up_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                              const hu_exec *exec, void *stream) {
  return hui_arith_single<HU_OP_NEXT_UP>(n, z, hui_codes_at(z, incz, format), 0, hui_codes_at(x, incx, format),
                                         hui_no_mode(), exec, NULL, stream);
}

hu_status hu_device_next_down_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                                const hu_exec *exec, void *stream) {
  return hui_arith_single<HU_OP_NEXT_DOWN>(n, z, hui_codes_at(z, incz, format), 0, hui_codes_at(x, incx, format),
                                           hui_no_mode(), exec, NULL, stream);
}

hu_status hu_device_compare_n(size_t n, int8_t *z, ptrdiff_t incz, const void *a, ptrdiff_t inca, hu_format fa,
                              const void *b, ptrdiff_t incb, hu_format fb, const hu_exec *exec, void *stream) {
  return hui_arith_two<HU_OP_COMPARE>(n, z, hui_codes_at(z, incz, fa), 1, hui_codes_at(a, inca, fa),
                                      hui_codes_at(b, incb, fb), hui_no_mode(), exec, NULL, stream);
}

hu_status hu_device_class_n(size_t n, uint8_t *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                            const hu_exec *exec, void *stream) {
  return hui_arith_single<HU_OP_CLASS>(n, z, hui_codes_at(z, incz, format), 1, hui_codes_at(x, incx, format),
                                       hui_no_mode(), exec, NULL, stream);
}
