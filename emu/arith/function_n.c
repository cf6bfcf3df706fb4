/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/function_n.h on arrays, which do what those of arith_n.c do. */
#include "halfulp/function_n.h"

#include "emu/arith/run.h"

static hu_status one(int32_t op, size_t n, void *z, hu_array_view result, hu_array_view codes, hu_mode mode,
                     const hu_exec *exec, hu_events *events) {
  hu_arith_call call = hui_arith_call_of(op, n, z, result, 1, mode);
  call.x[0] = codes;
  return hui_arith_operate(&call, exec, events);
}

hu_status hu_exp_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                   hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_EXP, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_exp2_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                    hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_EXP2, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_expm1_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                     hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_EXPM1, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_log_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                   hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_LOG, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_log2_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                    hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_LOG2, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_log1p_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                     hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_LOG1P, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_tanh_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                    hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_TANH, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_sigmoid_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                       hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_SIGMOID, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_erf_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                   hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_ERF, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_gelu_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                    hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_GELU, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_rsqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                     hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_RSQRT, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_reciprocal_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                          hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_RECIPROCAL, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec,
             events);
}

hu_status hu_sin_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                   hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_SIN, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_cos_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                   hu_mode mode, const hu_exec *exec, hu_events *events) {
  return one(HU_OP_COS, n, z, hui_view_of_codes(z, incz, fz), hui_view_of_codes(x, incx, fx), mode, exec, events);
}

hu_status hu_pow_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                   const void *y, ptrdiff_t incy, hu_format fy, hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_arith_call call = hui_arith_call_of(HU_OP_POW, n, z, hui_view_of_codes(z, incz, fz), 2, mode);
  call.x[0] = hui_view_of_codes(x, incx, fx);
  call.x[1] = hui_view_of_codes(y, incy, fy);
  return hui_arith_operate(&call, exec, events);
}
