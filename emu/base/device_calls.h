/* SPDX-License-Identifier: MIT */
/* emu/base/device_calls.h - the calls of this library that another place than this CPU runs (hu_where of view.h): a
 * table of functions, each with the arguments of the public call of its name, or of those that differ in one.
 *
 * A public call asks hui_is_elsewhere (exec.h) before it looks at anything else, and hands over to the table as it was
 * called; the exec is there then. This library has no table itself: libhalfulp-cuda gives programs one (gpu/place.c).
 */
#ifndef HALFULP_EMU_BASE_DEVICE_CALLS_H
#define HALFULP_EMU_BASE_DEVICE_CALLS_H

#include "emu/base/exec.h"
#include "halfulp/gemm.h"
#include "halfulp/hadamard.h"
#include "halfulp/s2fp8.h"
#include "halfulp/sum.h"
#include "halfulp/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elements ---- */

typedef hu_status hu_call_apply(int op, size_t n, const hu_output *z, const hu_view *x, const hu_how *how);
/* hu_pack_n, hu_unpack_n */
typedef hu_status hu_call_pack(size_t n, uint8_t *z, const uint8_t *x, unsigned width, const hu_exec *exec);

/* ---- products ---- */

typedef hu_status hu_call_multiply(const hu_product *product, const hu_how *how);
typedef size_t hu_call_multiply_space(const hu_product *product, const hu_exec *exec);
typedef hu_status hu_call_dot(const hu_product *x, const hu_how *how);

/* ---- tensors ---- */

/* hu_hadamard_forward, and with inverse 1 hu_hadamard_inverse. */
typedef hu_status hu_call_hadamard(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                   const hu_hadamard *transform, uint32_t inverse, const hu_exec *exec);
typedef size_t hu_call_scaled_work(size_t rows, size_t cols, const hu_scaling *scaling, const hu_exec *exec);
typedef hu_status hu_call_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                                        const hu_scaling *scaling, hu_mode mode, const float *amax,
                                        hu_scaled_stats *stats, const hu_exec *exec, hu_events *events);
typedef hu_status hu_call_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                          const hu_scaling *scaling, hu_mode mode, const float *amax,
                                          hu_scaled_stats *stats, const hu_exec *exec, hu_events *events);
typedef hu_status hu_call_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                                        const hu_scaling *scaling, const hu_exec *exec);
typedef hu_status hu_call_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld,
                                      const hu_scaling *scaling, const hu_exec *exec);
typedef hu_status hu_call_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x,
                                        const hu_scaling *scaling, const hu_exec *exec);

typedef hu_status hu_call_s2fp8_sum_n(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums,
                                      const hu_exec *exec);
typedef hu_status hu_call_s2fp8_scale_of(hu_s2fp8_scale *scale, const hu_s2fp8_sums *sums, const hu_s2fp8 *kind,
                                         const hu_exec *exec);
typedef hu_status hu_call_s2fp8_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                         const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode,
                                         const hu_exec *exec, hu_events *events);
typedef hu_status hu_call_s2fp8_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                         const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, const hu_exec *exec);
typedef hu_status hu_call_s2fp8_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                           const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode,
                                           const hu_exec *exec, hu_events *events);
typedef hu_status hu_call_s2fp8_truncate_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                           const hu_s2fp8 *kind, hu_mode mode, hu_s2fp8_sums *sums,
                                           hu_s2fp8_scale *scale, const hu_exec *exec, hu_events *events);

/* ---- sums ---- */

/* hu_sum_add_n with one operand, hu_sum_add_product_n with two. */
typedef hu_status hu_call_sum_add(size_t n, uint64_t *sums, hu_sum_range range, const hu_view *x, int operands,
                                  const hu_exec *exec);
typedef hu_status hu_call_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x,
                                      const hu_exec *exec);
typedef hu_status hu_call_sum_round_n(size_t n, hu_output z, const uint64_t *sums, hu_sum_range range,
                                      const hu_how *how);
/* hu_sum_add_all with one operand, hu_sum_add_dot with two. */
typedef hu_status hu_call_sum_total(hu_sum *sum, size_t n, const hu_view *x, int operands, const hu_exec *exec);

/* A member that is NULL: the place does not run the call. */
typedef struct hu_device_calls {
  hu_call_apply *apply;
  hu_call_pack *pack_n, *unpack_n;
  hu_call_multiply *multiply;
  hu_call_multiply_space *multiply_space;
  hu_call_dot *dot;
  hu_call_hadamard *hadamard;
  hu_call_scaled_work *scaled_work;
  hu_call_scaled_encode *scaled_encode;
  hu_call_scaled_quantize *scaled_quantize;
  hu_call_scaled_decode *scaled_decode;
  hu_call_scaled_pack *scaled_pack;
  hu_call_scaled_unpack *scaled_unpack;
  hu_call_s2fp8_sum_n *s2fp8_sum_n;
  hu_call_s2fp8_scale_of *s2fp8_scale_of;
  hu_call_s2fp8_encode_n *s2fp8_encode_n;
  hu_call_s2fp8_decode_n *s2fp8_decode_n;
  hu_call_s2fp8_quantize_n *s2fp8_quantize_n;
  hu_call_s2fp8_truncate_n *s2fp8_truncate_n;
  hu_call_sum_add *sum_add;
  hu_call_sum_merge_n *sum_merge_n;
  hu_call_sum_round_n *sum_round_n;
  hu_call_sum_total *sum_total;
} hu_device_calls;

#ifdef __cplusplus
}
#endif

/* Gives what the place of exec returns for a call, with the arguments in brackets. */
#define HUI_THERE(exec, call, arguments) \
  ((exec)->where.device->call ? (exec)->where.device->call arguments : HU_E_DEVICE)
/* The same of a number of bytes: 0 where the place does not run the call. */
#define HUI_BYTES_THERE(exec, call, arguments) ((exec)->where.device->call ? (exec)->where.device->call arguments : 0)

#endif
