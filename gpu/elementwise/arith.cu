/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/arith.cu - arithmetic over arrays of codes: emu/core/arith.h for every element, one kernel per
 * operation.
 *
 * Bound: of the 1100 to 1600 instructions of an operation's loop in the machine code for compute capability 9.0 a sum
 * of binary16 codes takes some 530, a product with a sum 700 (docs/device.md), so that a multiprocessor, which starts
 * 128 in a clock, computes 0.24 or 0.18 elements. Memory moves 16 bytes in that clock, 2.7 elements of 6 bytes: issue
 * slots are the bound. The next code, a class or a comparison take 90 to 220 instructions, 0.6 to 1.4 elements. */
#include "gpu/elementwise/arith.cuh"

#include "emu/arith/one.h"
#include "emu/base/exec.h"
#include "emu/base/operation_check.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/base/look.h"
#include "gpu/elementwise/convert.cuh"

/* Gives the number of operands of an operation below HU_OP_ROUNDED, and of the remainder. */
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
  if (Op == HU_OP_REMAINDER) return hui_remainder_code(&call.spec, a, b, random, events);
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

/* ---- hu_apply ---- */

typedef hu_status (*hui_arith_launcher)(const hu_device_arith &call, void *stream);

/* Starts operation op by its kernel. */
static inline hu_status hui_operation_launch(int32_t op, const hu_device_arith &call, void *stream) {
  static const hui_arith_launcher launchers[HU_OP_FUNCTION] = {hui_arith_launch<HU_OP_ADD>,
                                                               hui_arith_launch<HU_OP_SUB>,
                                                               hui_arith_launch<HU_OP_MUL>,
                                                               hui_arith_launch<HU_OP_DIV>,
                                                               hui_arith_launch<HU_OP_MINIMUM>,
                                                               hui_arith_launch<HU_OP_MAXIMUM>,
                                                               hui_arith_launch<HU_OP_MINIMUM_NUMBER>,
                                                               hui_arith_launch<HU_OP_MAXIMUM_NUMBER>,
                                                               hui_arith_launch<HU_OP_SQRT>,
                                                               hui_arith_launch<HU_OP_FMA>,
                                                               hui_arith_launch<HU_OP_INTEGRAL>,
                                                               hui_arith_launch<HU_OP_NEXT_UP>,
                                                               hui_arith_launch<HU_OP_NEXT_DOWN>,
                                                               hui_arith_launch<HU_OP_CLASS>,
                                                               hui_arith_launch<HU_OP_COMPARE>};
  if (op < HU_OP_FUNCTION) return launchers[op](call, stream);
  if (op == HU_OP_REMAINDER) return hui_arith_launch<HU_OP_REMAINDER>(call, stream);
  return hui_function_launch(call, op, stream);
}

/* Fills the record of a call whose types have been checked, and checks its arrays, each against the result. */
static inline hu_status hui_arith_prepare(hu_device_arith *call, const hu_operation &operation, size_t n,
                                          const hu_output *z, const hu_view *x, const hu_how &how) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_status status = HU_OK;
  memset(call, 0, sizeof *call);
  call->zsize = operation.result == HU_RESULT_INT8 ? 1 : hui_code_bytes(z->type.format);
  for (int k = 0; k < operation.operands && status == HU_OK; k++) {
    call->x[k].data = (const uint8_t *)x[k].data;
    call->x[k].stride = x[k].stride;
    call->x[k].size = hui_code_bytes(x[k].type.format);
    call->x[k].spec = hui_spec_of(x[k].type.format, rne);
    status = hui_check_arrays(n, z->data, call->zsize, z->stride, x[k].data, call->x[k].size, x[k].stride);
  }
  call->z = (uint8_t *)z->data;
  call->incz = z->stride;
  call->spec = hui_spec_of(operation.result == HU_RESULT_INT8 ? x[0].type.format : z->type.format, how.mode);
  call->n = n;
  call->stochastic = how.mode.round >= HU_SRA;
  call->stream = hui_exec_stream(how.exec);
  call->events = how.events;
  return status == HU_OK ? hui_check_events(how.events) : status;
}

/* Does what hui_check_types does, and then checks the formats and the mode: HU_E_FORMAT, HU_E_MODE. */
static inline hu_status hui_check_operation(hu_operation *operation, int op, const hu_output *z, const hu_view *x,
                                            hu_mode mode) {
  hu_status status = hui_check_types(operation, op, z, x);
  if (status == HU_OK && operation->result != HU_RESULT_INT8) status = hu_format_check(z->type.format, NULL);
  for (int k = 0; status == HU_OK && k < operation->operands; k++) status = hu_format_check(x[k].type.format, NULL);
  return status == HU_OK && operation->rounds ? hu_mode_check(mode) : status;
}

hu_status hui_cuda_apply(int op, size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_how used = *how;
  void *stream = how->exec->where.queue;
  hu_operation operation;
  hu_device_arith call;
  if (op == HU_OP_CONVERT) return z && x ? hui_device_convert(n, *z, *x, used, stream) : HU_E_NULL;
  hu_status status = hui_check_operation(&operation, op, z, x, used.mode);
  if (status != HU_OK) return status;
  if (!operation.rounds) used = hu_how_of(rne, NULL, NULL);
  status = hui_arith_prepare(&call, operation, n, z, x, used);
  for (int k = 0; k < operation.operands && status == HU_OK; k++)
    hui_look_at(hui_code_array_of(n, x[k].data, x[k].stride, x[k].type.format), stream);
  return status != HU_OK || n == 0 ? status : hui_operation_launch(op, call, stream);
}
