/* SPDX-License-Identifier: MIT */
/* tests/function/calls.h - the array calls of function_n.h behind one function, by the oracle's numbers. */
#ifndef HALFULP_TESTS_FUNCTION_CALLS_H
#define HALFULP_TESTS_FUNCTION_CALLS_H

#include "halfulp/function_n.h"
#include "tests/function/functions.h"

/* An array of codes; data of results is written. */
typedef struct fn_array {
  void *data;
  ptrdiff_t inc;
  hu_format format;
} fn_array;

typedef hu_status (*fn_one_n)(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                              hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events);

static inline int fn_operands(int function) { return function == HU_ORACLE_POW ? 2 : 1; }

static inline hu_status fn_array_call(int function, size_t n, fn_array z, const fn_array *x, hu_mode mode,
                                      const hu_exec *exec, hu_events *events) {
  static const fn_one_n one[] = {hu_exp_n,   hu_exp2_n,       hu_expm1_n,   hu_log_n, hu_log2_n,
                                 hu_log1p_n, hu_tanh_n,       hu_sigmoid_n, hu_erf_n, hu_gelu_n,
                                 hu_rsqrt_n, hu_reciprocal_n, hu_sin_n,     hu_cos_n};
  if (function == HU_ORACLE_POW)
    return hu_pow_n(n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc, x[1].format,
                    mode, exec, events);
  return one[function](n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, mode, exec, events);
}

#endif
