/* SPDX-License-Identifier: MIT */
/* halfulp/function_n.h - function.h over arrays of codes.
 *
 *   hu_status s = hu_gelu_n(n, z, 1, half, x, 1, e4m3, rne, NULL, &events);
 *
 * Element i of the result is what the one-value call returns for elements i of the operands, with R = the high N bits
 * of word i of exec->stream: the same bits for every thread count, kernel level, stride and device. Arrays, strides,
 * overlap, `exec`, `events` and errors are those of arith_n.h, to the word: `exec` NULL means stream (0, 0), the same
 * random words in every such call. */
#ifndef HALFULP_FUNCTION_N_H
#define HALFULP_FUNCTION_N_H

#include "halfulp/array.h"
#include "halfulp/function.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element by element what the call of function.h without _n returns; arrays, errors and events as in arith_n.h. */
HU_API HU_MUST_CHECK hu_status hu_exp_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                        hu_format fx, hu_mode mode, const hu_exec *exec,
                                        hu_events *events); /* z[i] = e^x[i] */
HU_API HU_MUST_CHECK hu_status hu_exp2_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                         hu_format fx, hu_mode mode, const hu_exec *exec,
                                         hu_events *events); /* z[i] = 2^x[i] */
HU_API HU_MUST_CHECK hu_status hu_expm1_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                          ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                          hu_events *events); /* z[i] = e^x[i] - 1 */
HU_API HU_MUST_CHECK hu_status hu_log_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                        hu_format fx, hu_mode mode, const hu_exec *exec,
                                        hu_events *events); /* z[i] = ln(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_log2_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                         hu_format fx, hu_mode mode, const hu_exec *exec,
                                         hu_events *events); /* z[i] = log2(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_log1p_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                          ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                          hu_events *events); /* z[i] = ln(1 + x[i]) */
HU_API HU_MUST_CHECK hu_status hu_tanh_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                         hu_format fx, hu_mode mode, const hu_exec *exec,
                                         hu_events *events); /* z[i] = tanh(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_sigmoid_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                            ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                            hu_events *events); /* z[i] = 1 / (1 + e^-x[i]) */
HU_API HU_MUST_CHECK hu_status hu_erf_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                        hu_format fx, hu_mode mode, const hu_exec *exec,
                                        hu_events *events); /* z[i] = erf(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_gelu_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                         hu_format fx, hu_mode mode, const hu_exec *exec,
                                         hu_events *events); /* z[i] = x[i] Phi(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_rsqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                          ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                          hu_events *events); /* z[i] = 1 / sqrt(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_reciprocal_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                               ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                               hu_events *events); /* z[i] = 1 / x[i] */
HU_API HU_MUST_CHECK hu_status hu_sin_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                        hu_format fx, hu_mode mode, const hu_exec *exec,
                                        hu_events *events); /* z[i] = sin(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_cos_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                        hu_format fx, hu_mode mode, const hu_exec *exec,
                                        hu_events *events); /* z[i] = cos(x[i]) */
HU_API HU_MUST_CHECK hu_status hu_pow_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                        hu_format fx, const void *y, ptrdiff_t incy, hu_format fy, hu_mode mode,
                                        const hu_exec *exec, hu_events *events); /* z[i] = x[i]^y[i] */

#ifdef __cplusplus
}
#endif
#endif
