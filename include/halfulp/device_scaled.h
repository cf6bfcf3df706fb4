/* SPDX-License-Identifier: MIT */
/* halfulp/device_scaled.h - scaled.h, hadamard.h, s2fp8.h and scaled_gemm.h on a CUDA device: same arguments,
 * same bits.
 *
 * The rules of device.h hold, also for `exec` NULL: data, scales, amax, stats and events are device pointers,
 * records are on the host, calls enqueue and return, never allocate, never synchronise. */
#ifndef HALFULP_DEVICE_SCALED_H
#define HALFULP_DEVICE_SCALED_H

#include "halfulp/device.h"
#include "halfulp/hadamard.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"
#include "halfulp/scaled_gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scaled.h ---- */

/* A block or tensor that many threads look at needs a place for its amax, which no argument of the CPU's calls is: the
 * scales may be narrower than amax, and quantizing stores none. So the calls that make a tensor have one argument more:
 * work, device memory of this many bytes, aligned like uint64_t, overlapping nothing else; what it holds before and
 * after means nothing. A call may start with the same work when the one before it in the stream has not ended, not in
 * another stream. 0 (work may be NULL): one level, blocks of up to 16384 elements; or not a valid description. */
HU_API size_t hu_device_scaled_work(size_t rows, size_t cols, const hu_scaling *scaling);

/* hu_scaled_encode, _decode, _quantize, _pack and _unpack of scaled.h on the device, with the same bits and errors.
 *
 * The record of a scaled tensor is on the host, as are its leading dimensions; codes, scales, tensor and amax, stats,
 * events and plain arrays lie in device memory. The number behind amax is looked at by the kernels alone: its sign is
 * ignored, and what is not finite counts as binary32's largest number. amax may overlap nothing that is written.
 * Without amax a second level takes a first pass over x, as do blocks of more than 16384 elements. Under the rules
 * 4over6 and sweep_mse one thread makes all scales and codes of a block, in integers: the same bits, at a small part of
 * the other rules' speed. */
HU_API HU_MUST_CHECK hu_status hu_device_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x,
                                                       size_t ldx, const hu_scaling *scaling, hu_mode mode,
                                                       const float *amax, hu_scaled_stats *stats, const hu_exec *exec,
                                                       hu_events *events, void *work,
                                                       void *stream); /* a matrix to codes and scales */
HU_API HU_MUST_CHECK hu_status hu_device_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz,
                                                       const hu_scaled *x, const hu_scaling *scaling,
                                                       const hu_exec *exec,
                                                       void *stream); /* codes and scales to binary32 */
HU_API HU_MUST_CHECK hu_status hu_device_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                         size_t ldx, const hu_scaling *scaling, hu_mode mode,
                                                         const float *amax, hu_scaled_stats *stats, const hu_exec *exec,
                                                         hu_events *events, void *work,
                                                         void *stream); /* a matrix to the values of its codes */
HU_API HU_MUST_CHECK hu_status hu_device_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld,
                                                     const hu_scaling *scaling,
                                                     void *stream); /* codes, a byte each, to packed rows */
HU_API HU_MUST_CHECK hu_status hu_device_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld,
                                                       const uint8_t *x, const hu_scaling *scaling,
                                                       void *stream); /* packed rows to codes, a byte each */

/* ---- s2fp8.h ---- */

/* hu_s2fp8_sum_n, _scale_of, _encode_n, _decode_n, _quantize_n and _truncate_n of s2fp8.h on the device, with the same
 * bits; sum_n ADDS to *sums. Sums and scales lie in device memory: a tensor's statistics go from kernel to kernel and
 * are never waited for. What is refused on the host by looking at them is not seen here: sums that no elements have,
 * and invalid scales, count as mu = 0, m = T. `work` is device memory of so many bytes, aligned to 16, for tables; one
 * call at a time may use it, others on the same stream afterwards. */
#define HU_DEVICE_S2FP8_WORK 8192
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_sum_n(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums,
                                                     void *stream); /* adds the statistics of n numbers */
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_scale_of(hu_s2fp8_scale *scale, const hu_s2fp8_sums *sums,
                                                        const hu_s2fp8 *kind,
                                                        void *stream); /* the scale that statistics give */
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x,
                                                        ptrdiff_t incx, const hu_s2fp8 *kind,
                                                        const hu_s2fp8_scale *scale, hu_mode mode, const hu_exec *exec,
                                                        hu_events *events, void *work,
                                                        void *stream); /* numbers to codes, with a scale */
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x,
                                                        ptrdiff_t incx, const hu_s2fp8 *kind,
                                                        const hu_s2fp8_scale *scale, const hu_exec *exec, void *work,
                                                        void *stream); /* codes to numbers, with a scale */
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                          ptrdiff_t incx, const hu_s2fp8 *kind,
                                                          const hu_s2fp8_scale *scale, hu_mode mode,
                                                          const hu_exec *exec, hu_events *events, void *work,
                                                          void *stream); /* numbers to the values of their codes */
/* hu_s2fp8_truncate_n on the device, as above. sums and scale must not be NULL here. */
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_truncate_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                          ptrdiff_t incx, const hu_s2fp8 *kind, hu_mode mode,
                                                          hu_s2fp8_sums *sums, hu_s2fp8_scale *scale,
                                                          const hu_exec *exec, hu_events *events, void *work,
                                                          void *stream); /* statistics, scale and values in one call */
/* hu_s2fp8_gemm on the device, with the same bits: the operands are decoded whole into `work`, then hu_device_gemm
 * runs. hu_device_s2fp8_gemm_work returns the bytes that `work` must have, SIZE_MAX where a size_t cannot hold their
 * number. */
HU_API size_t hu_device_s2fp8_gemm_work(size_t m, size_t n, size_t k, const hu_s2fp8_operand *a,
                                        const hu_s2fp8_operand *b); /* bytes of `work` */
HU_API HU_MUST_CHECK hu_status hu_device_s2fp8_gemm(size_t m, size_t n, size_t k, float *z, size_t ldz,
                                                    const hu_s2fp8_operand *a, const hu_s2fp8_operand *b,
                                                    const float *c, size_t ldc, void *work,
                                                    void *stream); /* the product of two S2FP8 matrices */

/* ---- hadamard.h ---- */

/* hu_hadamard_forward and hu_hadamard_inverse on the device, with the same bits. z, x and transform->mask are device
 * pointers; the record is on the host. */
HU_API HU_MUST_CHECK hu_status hu_device_hadamard_forward(size_t rows, size_t cols, float *z, size_t ldz,
                                                          const float *x, size_t ldx, const hu_hadamard *transform,
                                                          const hu_exec *exec,
                                                          void *stream); /* z = the transform of x */
HU_API HU_MUST_CHECK hu_status hu_device_hadamard_inverse(size_t rows, size_t cols, float *z, size_t ldz,
                                                          const float *x, size_t ldx, const hu_hadamard *transform,
                                                          const hu_exec *exec,
                                                          void *stream); /* z = the inverse transform of x */

/* ---- scaled_gemm.h ---- */

/* hu_scaled_gemm on the device, with the same bits. Descriptions, leading dimensions and the records of d, a, b, c and
 * sum are on the host; codes, scales, tensor, amax, stats, plain data, events and space point to device memory. amax is
 * that of hu_device_scaled_encode; HU_E_GRID is not reported. A few kernels run per run of `parts`. Where `across` is a
 * chain of binary32 steps (fp32, seq(binary32), seq2(binary32), ties to even) and no step inside is stochastic, the
 * working space is 8 bytes per element of D, else 20 bytes per element and run: for as many rows as 256 MiB hold, or
 * one. space: aligned to 64. */
HU_API size_t hu_device_scaled_gemm_space(size_t m, size_t n, size_t k, const hu_scaled_result *d,
                                          const hu_scaled_operand *a, const hu_scaled_operand *b,
                                          const hu_scaled_operand *c, const hu_scaled_sum *sum); /* bytes of `space` */
HU_API HU_MUST_CHECK hu_status hu_device_scaled_gemm(size_t m, size_t n, size_t k, const hu_scaled_result *d,
                                                     const hu_scaled_operand *a, const hu_scaled_operand *b,
                                                     const hu_scaled_operand *c, const hu_scaled_sum *sum, hu_mode mode,
                                                     void *space, size_t bytes, const hu_exec *exec, hu_events *events,
                                                     void *stream); /* the product of two scaled matrices */
/* hu_gemm_scaled of gemm.h on the device, with the same bits: data of d, a, b, c, sa, sb are device pointers. */
HU_API HU_MUST_CHECK hu_status hu_device_gemm_scaled(size_t m, size_t n, size_t k, const hu_result *d,
                                                     const hu_operand *a, const hu_operand *b, const hu_operand *c,
                                                     const hu_operand *sa, const hu_operand *sb, const hu_accum *accum,
                                                     hu_mode mode, const hu_exec *exec, hu_events *events,
                                                     void *stream);

#ifdef __cplusplus
}
#endif
#endif
