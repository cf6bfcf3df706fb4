/* SPDX-License-Identifier: MIT */
/* halfulp/device.h - run the calls of array.h, view.h, gemm.h and hu_dot_n on a CUDA device: the same arguments, the
 * same bits.
 *
 *   pointers   to data and to events are device pointers; any n, any stride, aligned to their element only
 *   stream     a cudaStream_t (as void *, so that this header needs no CUDA), NULL the default stream; it is of the
 *              device that is current, or the call returns HU_E_CUDA (cudaErrorInvalidResourceHandle)
 *   exec       threads and levels_off mean nothing here; exec->stream is the random stream, and `exec` NULL means
 *              stream (0, 0), the same words in every such call
 *   events     counts are added atomically to *events
 *   codes      the host does not look at them: where codes have bits to spare in their storage, one or two small
 *              kernels for each array go before the call's own, and hu_device_synchronize says whether they have seen
 *              one above its width. The results are then those of the lowest bits
 *   errors     a launch that fails is reported by its own call; errors that a program made before stay for it to ask
 *
 * The calls check their arguments on the host, enqueue one kernel (gemm: a few; and up to two for each array of codes
 * with bits to spare) and return; they allocate nothing themselves and never wait. The CUDA driver may, in the first
 * call of a kernel: it loads the kernel's code then, and gives the device the local memory (up to some hundred MiB:
 * kernels of wide integers require kilobytes a thread) that its threads require, for which it synchronises. Call once
 * with small arrays before a stream is captured or time is taken; CUDA_MODULE_LOADING=EAGER loads all code at the
 * start.
 *
 * hu_device_gemm does not look at values before it starts (that would need a synchronisation): a binary32 operand off
 * its grid is a caller's error that HU_E_GRID does not report here. Every model that hu_gemm and hu_dot_n take is
 * taken; docs/device.md says by which kernel. Libraries built without CUDA have these functions too; each returns
 * HU_E_DEVICE. */
#ifndef HALFULP_DEVICE_H
#define HALFULP_DEVICE_H

#include "halfulp/gemm.h"
#include "halfulp/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HU_OK if a device can be used; HU_E_DEVICE otherwise. name (may be NULL) gets what is there or why not, at most size
 * bytes with the final 0. Synchronises. */
HU_API hu_status hu_device_available(char *name, size_t size);
/* Waits for everything in the stream. HU_E_CODE: since this function last said so, a kernel of the library has read a
 * code with bits above its width; hu_codes_check_n finds it in a copy. One word of the current device keeps that, and
 * is cleared by the report: a wide code of another stream or thread can be reported here, and is then not reported
 * there. HU_E_CUDA: something went wrong on the way, and the word is as it was; HU_E_DEVICE. */
HU_API HU_MUST_CHECK hu_status hu_device_synchronize(void *stream);
/* One line on the driver, the runtime and the nvcc that compiled the kernels; "" where there are none. */
HU_API void hu_device_versions(char *text, size_t size);

/* hu_quantize_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                                    hu_format format, hu_mode mode, const hu_exec *exec,
                                                    hu_events *events, void *stream);
/* hu_quantize64_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x,
                                                      ptrdiff_t incx, hu_format format, hu_mode mode,
                                                      const hu_exec *exec, hu_events *events, void *stream);
/* hu_encode_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                                  hu_format format, hu_mode mode, const hu_exec *exec,
                                                  hu_events *events, void *stream);
/* hu_encode64_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                                    hu_format format, hu_mode mode, const hu_exec *exec,
                                                    hu_events *events, void *stream);
/* hu_decode_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                  hu_format format, const hu_exec *exec, void *stream);
/* hu_decode64_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                    hu_format format, const hu_exec *exec, void *stream);
/* hu_convert_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                                   ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                                   hu_events *events, void *stream);
/* hu_pack_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_pack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, void *stream);
/* hu_unpack_n on the device: the same arguments and bits, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_unpack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width, void *stream);

/* hu_apply on the device: the same operations, views and bits, in order with the CUDA stream. Data of z and x and
 * how->events are device pointers; x and how themselves are on the host, and are read before the call returns. */
HU_API HU_MUST_CHECK hu_status hu_device_apply(int op, size_t n, hu_output z, const hu_view *x, const hu_how *how,
                                               void *stream);

/* Data pointers inside d, a, b, c are device pointers; the structs themselves are on the host. */
HU_API HU_MUST_CHECK hu_status hu_device_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                                              const hu_operand *b, const hu_operand *c, const hu_accum *accum,
                                              hu_mode mode, const hu_exec *exec, hu_events *events, void *stream);

/* hu_dot_n on the device, with the same bits; z and the data pointers inside x are device pointers. */
HU_API HU_MUST_CHECK hu_status hu_device_dot_n(size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                                               const hu_dot_operands *x, const hu_accum *accum, hu_mode mode,
                                               const hu_exec *exec, hu_events *events, void *stream);

/* A matrix instruction that the device has, and the preset that models it: D = A B + C. */
typedef struct hu_device_mma {
  char model[48];       /* the preset's name */
  char instruction[32]; /* "mma.sync.m16n8k16" */
  uint32_t m, n, k;     /* A is m x k, B is k x n */
  hu_element a, b, c;   /* those of the preset; c: also of D */
} hu_device_mma;

/* Number i of the instructions that the device has and hu_device_mma_run knows; HU_E_NAME: there are not so many,
 * HU_E_DEVICE: no device. */
HU_API HU_MUST_CHECK hu_status hu_device_mma_at(hu_device_mma *mma, size_t i);
/* `tiles` times instruction i, as the device executes it. HOST arrays, one tile after another: A and C, D row-major, B
 * by columns, codes as hu_element_size says. Waits; allocates device memory for the call. HU_E_NAME, HU_E_NULL,
 * HU_E_MEMORY, HU_E_DEVICE, HU_E_CUDA. */
HU_API HU_MUST_CHECK hu_status hu_device_mma_run(size_t i, size_t tiles, void *d, const void *a, const void *b,
                                                 const void *c);

/* The same work on HOST arrays: copies in, runs, synchronises, copies out. For programs that try the device, not for
 * speed; allocates device memory for the call (HU_E_MEMORY). */
HU_API HU_MUST_CHECK hu_status hu_device_host_quantize_n(size_t n, float *z, const float *x, hu_format format,
                                                         hu_mode mode, const hu_exec *exec,
                                                         hu_events *events); /* hu_quantize_n by way of the device */
HU_API HU_MUST_CHECK hu_status hu_device_host_encode_n(size_t n, void *z, const float *x, hu_format format,
                                                       hu_mode mode, const hu_exec *exec,
                                                       hu_events *events); /* hu_encode_n by way of the device */
HU_API HU_MUST_CHECK hu_status hu_device_host_gemm(size_t m, size_t n, size_t k, const hu_result *d,
                                                   const hu_operand *a, const hu_operand *b, const hu_operand *c,
                                                   const hu_accum *accum, hu_mode mode, const hu_exec *exec,
                                                   hu_events *events); /* hu_gemm by way of the device */

#ifdef __cplusplus
}
#endif
#endif
