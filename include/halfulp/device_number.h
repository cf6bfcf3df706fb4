/* SPDX-License-Identifier: MIT */
/* halfulp/device_number.h - the array calls of number.h on a CUDA device: same arguments, same bits.
 *
 * The rules of device.h hold (`exec` NULL: stream (0, 0)). A number system is a record on the host, and so is the table
 * that it points to: the table is read before the call returns. Codes of up to 8 bits are decoded and converted (except
 * in stochastic modes) by a table that every thread block makes. Everything else is computed by the integer code of
 * emu/core/number.h, one thread per element. Takums and HiFloat8 are not here: HU_E_NUMBER. */
#ifndef HALFULP_DEVICE_NUMBER_H
#define HALFULP_DEVICE_NUMBER_H

#include "halfulp/device.h"
#include "halfulp/number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hu_number_quantize_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                           ptrdiff_t incx, hu_number number, hu_mode mode,
                                                           const hu_exec *exec, hu_events *events, void *stream);
/* hu_number_quantize64_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x,
                                                             ptrdiff_t incx, hu_number number, hu_mode mode,
                                                             const hu_exec *exec, hu_events *events, void *stream);
/* hu_number_encode_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x,
                                                         ptrdiff_t incx, hu_number number, hu_mode mode,
                                                         const hu_exec *exec, hu_events *events, void *stream);
/* hu_number_encode64_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x,
                                                           ptrdiff_t incx, hu_number number, hu_mode mode,
                                                           const hu_exec *exec, hu_events *events, void *stream);
/* hu_number_decode_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x,
                                                         ptrdiff_t incx, hu_number number, const hu_exec *exec,
                                                         void *stream);
/* hu_number_decode64_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x,
                                                           ptrdiff_t incx, hu_number number, const hu_exec *exec,
                                                           void *stream);
/* hu_number_convert_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_number_convert_n(size_t n, void *z, ptrdiff_t incz, hu_number fz,
                                                          const void *x, ptrdiff_t incx, hu_number fx, hu_mode mode,
                                                          const hu_exec *exec, hu_events *events, void *stream);

#ifdef __cplusplus
}
#endif
#endif
