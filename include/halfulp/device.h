/* SPDX-License-Identifier: MIT */
/* halfulp/device.h - the CUDA twins of array.h and gemm.h: same arguments, same bits.
 *
 * Pointers to data and to events are device pointers; `stream` is a cudaStream_t (as void *, so that this header needs no
 * CUDA), NULL the default stream. The calls check their arguments on the host, enqueue one kernel (gemm: a few) and return; they
 * never allocate and never synchronise. exec->threads and levels_off mean nothing here; exec->stream is the random stream.
 * Counts are added atomically to *events. Any n, any stride, pointers aligned to their element only.
 * hu_device_gemm does not look at values before it starts (that would need a synchronisation): a binary32 operand off its grid
 * is a caller's error that HU_E_GRID does not report here.
 * Libraries built without CUDA have these functions too; each returns HU_E_DEVICE. */
#ifndef HALFULP_DEVICE_H
#define HALFULP_DEVICE_H

#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HU_OK if a device can be used; HU_E_DEVICE otherwise. name (may be NULL) gets what is there or why not, at most size
 * bytes with the final 0. Synchronises. */
HU_API hu_status hu_device_available(char *name, size_t size);

HU_API HU_MUST_CHECK hu_status hu_device_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                                    hu_format f, hu_mode mode, const hu_exec *exec, hu_events *events,
                                                    void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x,
                                                      ptrdiff_t incx, hu_format f, hu_mode mode, const hu_exec *exec,
                                                      hu_events *events, void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                                  hu_format f, hu_mode mode, const hu_exec *exec, hu_events *events,
                                                  void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                                    hu_format f, hu_mode mode, const hu_exec *exec, hu_events *events,
                                                    void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                  hu_format f, const hu_exec *exec, void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                    hu_format f, const hu_exec *exec, void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                                   ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                                   hu_events *events, void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_pack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, void *stream);
HU_API HU_MUST_CHECK hu_status hu_device_unpack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, void *stream);

/* Data pointers inside d, a, b, c are device pointers; the structs themselves are on the host. */
HU_API HU_MUST_CHECK hu_status hu_device_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                                              const hu_operand *b, const hu_operand *c, const hu_accum *accum,
                                              hu_mode mode, const hu_exec *exec, hu_events *events, void *stream);

/* The same work on HOST arrays: copies in, runs, synchronises, copies out. For programs that try the device, not for
 * speed; allocates device memory for the call (HU_E_MEMORY). */
HU_API HU_MUST_CHECK hu_status hu_device_host_quantize_n(size_t n, float *z, const float *x, hu_format f, hu_mode mode,
                                                         const hu_exec *exec, hu_events *events);
HU_API HU_MUST_CHECK hu_status hu_device_host_encode_n(size_t n, void *z, const float *x, hu_format f, hu_mode mode,
                                                       const hu_exec *exec, hu_events *events);
HU_API HU_MUST_CHECK hu_status hu_device_host_gemm(size_t m, size_t n, size_t k, const hu_result *d,
                                                   const hu_operand *a, const hu_operand *b, const hu_operand *c,
                                                   const hu_accum *accum, hu_mode mode, const hu_exec *exec,
                                                   hu_events *events);

#ifdef __cplusplus
}
#endif
#endif
