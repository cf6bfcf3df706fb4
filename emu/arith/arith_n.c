/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/arith_n.h on arrays: each checks everything, then runs run.c. */
#include "halfulp/arith_n.h"

#include "emu/arith/run.h"
#include "emu/base/exec.h"

static hu_status check_arrays(const hu_arith_call *call) {
  hu_strided z = hui_view_memory(&call->result);
  hu_covered sz, sx[3];
  if (z.stride == 0) return HU_E_SHAPE;
  if (call->n == 0) return HU_OK;
  hu_status status = hui_cover(&sz, call->n, &z);
  for (int k = 0; k < call->operands && status == HU_OK; k++) {
    hu_strided x = hui_view_memory(&call->x[k]);
    status = hui_cover(&sx[k], call->n, &x);
  }
  for (int k = 0; k < call->operands && status == HU_OK; k++) {
    hu_strided x = hui_view_memory(&call->x[k]);
    if (!hui_may_share(&z, &sz, &x, &sx[k])) status = HU_E_OVERLAP;
  }
  return status;
}

hu_arith_call hui_arith_call_of(int32_t op, size_t n, void *z, hu_array_view result, int operands, hu_mode mode) {
  hu_arith_call call;
  memset(&call, 0, sizeof call);
  call.op = op;
  call.n = n;
  call.z = z;
  call.result = result;
  call.operands = operands;
  call.mode = mode;
  return call;
}

hu_status hui_arith_operate(hu_arith_call *call, const hu_exec *exec, hu_events *events) {
  if (hui_view_unfold(&call->result, call->mode) != HU_OK) return HU_E_FORMAT;
  for (int k = 0; k < call->operands; k++)
    if (hui_view_unfold_source(&call->x[k]) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(call->mode) != HU_OK) return HU_E_MODE;
  hu_status status = check_arrays(call);
  for (int k = 0; k < call->operands && status == HU_OK; k++)
    status = hui_view_check_codes(call->n, &call->x[k], hui_exec_threads(exec));
  if (status == HU_OK && call->n) hui_arith_run(call, exec, events);
  return status;
}

static hu_status two(int32_t op, size_t n, void *z, hu_array_view result, hu_array_view a, hu_array_view b,
                     hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_arith_call call = hui_arith_call_of(op, n, z, result, 2, mode);
  call.x[0] = a;
  call.x[1] = b;
  return hui_arith_operate(&call, exec, events);
}

static hu_status one(int32_t op, size_t n, void *z, hu_array_view result, hu_array_view codes, hu_mode mode,
                     const hu_exec *exec, hu_events *events) {
  hu_arith_call call = hui_arith_call_of(op, n, z, result, 1, mode);
  call.x[0] = codes;
  return hui_arith_operate(&call, exec, events);
}

hu_status hu_add_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                   const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return two(HU_OP_ADD, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_sub_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                   const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return two(HU_OP_SUB, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_mul_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                   const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return two(HU_OP_MUL, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_div_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                   const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return two(HU_OP_DIV, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_minimum_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                       const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                       hu_events *events) {
  return two(HU_OP_MINIMUM, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_maximum_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                       const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                       hu_events *events) {
  return two(HU_OP_MAXIMUM, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_minimum_number_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                              hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                              const hu_exec *exec, hu_events *events) {
  return two(HU_OP_MINIMUM_NUMBER, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_maximum_number_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                              hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                              const hu_exec *exec, hu_events *events) {
  return two(HU_OP_MAXIMUM_NUMBER, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(a, inca, fa),
             hui_view_of_codes(b, incb, fb), mode, exec, events);
}

hu_status hu_sqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                    hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_SQRT, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_fma_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                   const void *b, ptrdiff_t incb, hu_format fb, const void *c, ptrdiff_t incc, hu_format fc,
                   hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_arith_call call = hui_arith_call_of(HU_OP_FMA, n, z, hui_view_of_codes(z, incz, fz), 3, mode);
  call.x[0] = hui_view_of_codes(a, inca, fa);
  call.x[1] = hui_view_of_codes(b, incb, fb);
  call.x[2] = hui_view_of_codes(c, incc, fc);
  return hui_arith_operate(&call, exec, events);
}

hu_status hu_round_to_integral_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                                 hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_INTEGRAL, n, z, hui_view_of_codes(z, incz, format), hui_view_of_codes(x, incx, format), mode, exec,
             events);
}

/* ---- no rounding, no events ---- */

static hu_mode no_mode(void) {
  hu_mode rne = {0};
  return rne;
}

/* Results of a byte each; the format only has to be a valid one. */
static hu_array_view bytes(const void *z, ptrdiff_t incz, hu_format format) {
  hu_array_view codes = hui_view_of_codes(z, incz, format);
  codes.size = 1;
  return codes;
}

hu_status hu_next_up_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                       const hu_exec *exec) {
  return one(HU_OP_NEXT_UP, n, z, hui_view_of_codes(z, incz, format), hui_view_of_codes(x, incx, format), no_mode(),
             exec, NULL);
}

hu_status hu_next_down_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                         const hu_exec *exec) {
  return one(HU_OP_NEXT_DOWN, n, z, hui_view_of_codes(z, incz, format), hui_view_of_codes(x, incx, format), no_mode(),
             exec, NULL);
}

hu_status hu_compare_n(size_t n, int8_t *z, ptrdiff_t incz, const void *a, ptrdiff_t inca, hu_format fa, const void *b,
                       ptrdiff_t incb, hu_format fb, const hu_exec *exec) {
  return two(HU_OP_COMPARE, n, z, bytes(z, incz, fa), hui_view_of_codes(a, inca, fa), hui_view_of_codes(b, incb, fb),
             no_mode(), exec, NULL);
}

hu_status hu_class_n(size_t n, uint8_t *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                     const hu_exec *exec) {
  return one(HU_OP_CLASS, n, z, bytes(z, incz, format), hui_view_of_codes(x, incx, format), no_mode(), exec, NULL);
}
