/* SPDX-License-Identifier: MIT */
/* halfulp/arith_n.h - arith.h over arrays of codes.
 *
 *   hu_status s = hu_fma_n(n, z, 1, half, a, 1, e4m3, b, 1, e4m3, z, 1, half, rne, NULL, &events);
 *
 * Element i of the result is what the one-value call returns for elements i of the operands, with R = the high N bits
 * of word i of exec->stream: the same bits for every thread count, kernel level, stride and device. Codes are stored
 * one to a uint8_t, uint16_t or uint32_t (hu_limits.storage); bits above the width are an error in operands
 * (HU_E_CODE, array.h) and 0 in results. Strides count elements; that of the result must not be 0, an operand's may be
 * (one value for all). The result may be the same array as an operand where element sizes and strides are the same,
 * else it must not overlap one (elements of equally strided arrays may interleave). n may be 0; then pointers may be
 * NULL. `exec` may be NULL, which means stream (0, 0) for stochastic modes: the same words in every such call. Counts
 * are added to `events` if it is not NULL. No allocation. Errors: HU_E_FORMAT, HU_E_MODE, HU_E_NULL, HU_E_SHAPE,
 * HU_E_ALIGN, HU_E_OVERLAP, HU_E_CODE; results and events are untouched then. Where HU_LEVEL_FP16 is there (gemm.h),
 * the CPU's own operations compute hu_add_n, hu_sub_n, hu_mul_n, hu_div_n, hu_sqrt_n and hu_fma_n where all formats are
 * binary16 and the mode rounds to nearest even, toward zero, up or down, with the same results and events. */
#ifndef HALFULP_ARITH_N_H
#define HALFULP_ARITH_N_H

#include "halfulp/arith.h"
#include "halfulp/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element by element what the call of arith.h without _n returns; the head of arith_n.h has arrays, errors
 * and events. */
HU_API HU_MUST_CHECK hu_status hu_add_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                        hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                        const hu_exec *exec, hu_events *events); /* z[i] = a[i] + b[i] */
HU_API HU_MUST_CHECK hu_status hu_sub_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                        hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                        const hu_exec *exec, hu_events *events); /* z[i] = a[i] - b[i] */
HU_API HU_MUST_CHECK hu_status hu_mul_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                        hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                        const hu_exec *exec, hu_events *events); /* z[i] = a[i] b[i] */
HU_API HU_MUST_CHECK hu_status hu_div_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                        hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                        const hu_exec *exec, hu_events *events); /* z[i] = a[i] / b[i] */
HU_API HU_MUST_CHECK hu_status hu_minimum_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                            ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb, hu_format fb,
                                            hu_mode mode, const hu_exec *exec,
                                            hu_events *events); /* the smaller of a[i] and b[i], or NaN */
HU_API HU_MUST_CHECK hu_status hu_maximum_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                            ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb, hu_format fb,
                                            hu_mode mode, const hu_exec *exec,
                                            hu_events *events); /* the larger of a[i] and b[i], or NaN */
HU_API HU_MUST_CHECK hu_status
hu_minimum_number_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca, hu_format fa,
                    const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode, const hu_exec *exec,
                    hu_events *events); /* the smaller of a[i] and b[i] that are no NaN */
HU_API HU_MUST_CHECK hu_status hu_maximum_number_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                                   ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                                   hu_format fb, hu_mode mode, const hu_exec *exec,
                                                   hu_events *events); /* the larger of a[i] and b[i] that are no NaN */
HU_API HU_MUST_CHECK hu_status hu_sqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                         hu_format fx, hu_mode mode, const hu_exec *exec,
                                         hu_events *events); /* z[i] = the square root of x[i] */
HU_API HU_MUST_CHECK hu_status hu_fma_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                        hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, const void *c,
                                        ptrdiff_t incc, hu_format fc, hu_mode mode, const hu_exec *exec,
                                        hu_events *events); /* z[i] = a[i] b[i] + c[i], one rounding */
HU_API HU_MUST_CHECK hu_status hu_round_to_integral_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                      hu_format format, hu_mode mode, const hu_exec *exec,
                                                      hu_events *events); /* z[i] = x[i] rounded to an integer */
HU_API HU_MUST_CHECK hu_status hu_next_up_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                            hu_format format,
                                            const hu_exec *exec); /* z[i] = the least value above x[i] */
HU_API HU_MUST_CHECK hu_status hu_next_down_n(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                              hu_format format,
                                              const hu_exec *exec); /* z[i] = the largest value below x[i] */
/* z[i] = HU_LESS, HU_EQUAL, HU_GREATER or HU_UNORDERED. */
HU_API HU_MUST_CHECK hu_status hu_compare_n(size_t n, int8_t *z, ptrdiff_t incz, const void *a, ptrdiff_t inca,
                                            hu_format fa, const void *b, ptrdiff_t incb, hu_format fb,
                                            const hu_exec *exec);
/* z[i] = HU_CLASS_... */
HU_API HU_MUST_CHECK hu_status hu_class_n(size_t n, uint8_t *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                          hu_format format, const hu_exec *exec);

#ifdef __cplusplus
}
#endif
#endif
