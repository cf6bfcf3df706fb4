/* SPDX-License-Identifier: MIT */
/* halfulp/device.h - a CUDA device as the place where calls run: the same calls, the same bits.
 *
 *   hu_exec exec = {0};
 *   hu_how how = {rne, &exec, events};
 *   exec.where = hu_cuda(stream);                  // a cudaStream_t; NULL: the default stream
 *   hu_status s = hu_gemm(m, n, k, &d, &a, &b, NULL, &accum, &how);
 *   s = hu_device_synchronize(stream);
 *
 * These run there; every other call that takes an exec returns HU_E_DEVICE, and looks at nothing:
 *
 *   view.h, array.h, number.h
 *                     hu_apply and its wrappers, without takums and HiFloat8 (HU_E_NUMBER); hu_pack_n, hu_unpack_n
 *   gemm.h, accum.h   hu_multiply of every product but those with `watch`; hu_dot
 *   scaled.h          hu_scaled_encode, _decode, _quantize, _pack, _unpack
 *   s2fp8.h           hu_s2fp8_sum_n, _scale_of, _encode_n, _decode_n, _quantize_n, _truncate_n
 *   hadamard.h        hu_hadamard_forward, hu_hadamard_inverse
 *   sum.h             hu_sum_add_n, _add_product_n, _merge_n, _round_n, _add_all, _add_dot
 *
 * What differs from this CPU:
 *
 *   pointers   to data, scales, amax, statistics, sums, masks, working space and events are device pointers; any n, any
 *              stride, aligned to their element only, events and sums to 8 bytes (HU_E_ALIGN). Records with pointers in
 *              them (views, operands, exec, how, descriptions) are on the host, and are read before the call returns
 *   queue      exec->where.queue is the stream; it is of the device that is current, or the call returns HU_E_CUDA
 *              (cudaErrorInvalidResourceHandle)
 *   exec       threads and levels_off mean nothing there; exec->stream is the random stream
 *   events     counts are added atomically to *events
 *   codes      the host does not look at them: where codes have bits to spare in their storage, one or two small
 *              kernels for each array go before the call's own, and hu_device_synchronize says whether they have seen
 *              one above its width. The results are then those of the lowest bits
 *   values     hu_multiply does not look at values before it starts (that would need a synchronisation):
 *              a binary32 operand off its grid is a caller's error that HU_E_GRID does not report there. Nor are amax,
 *              sums and scales in device memory looked at: the sign of amax is ignored, and what is not finite counts
 *              as binary32's largest number; sums that no elements have and invalid S2FP8 scales count as mu = 0, m = T
 *   work       exec->where.work is device memory, overlapping nothing else; what it holds before and after means
 *              nothing. hu_scaled_encode and hu_scaled_quantize need hu_scaled_work_size(...) bytes, aligned to 8;
 *              hu_s2fp8_encode_n, _decode_n, _quantize_n and _truncate_n HU_DEVICE_S2FP8_WORK, aligned to 16
 *              (HU_E_NULL, HU_E_ALIGN). A call may start with the same work when the one before it in the stream has
 *              not ended, not in another stream. Others need none. hu_multiply takes product->space in its place
 *   errors     those of the call, but HU_E_GRID and HU_E_CODE. A launch that fails is reported by its own call: as
 *              HU_E_MEMORY where the device has no memory left for the kernel's threads, else as HU_E_CUDA;
 *              hu_device_last_error has the runtime's own error, which is taken out of the runtime. Calls that succeed
 *              leave errors that a program made before for it to ask
 *
 * Calls check their arguments on the host, enqueue one kernel (products: a few; and up to two for each array of codes
 * with bits to spare) and return; they allocate nothing themselves and never wait, so that they can be part of a CUDA
 * graph. The CUDA driver may, in the first call of a kernel: it loads the kernel's code then, and gives the device the
 * local memory (up to some hundred MiB: kernels of wide integers require kilobytes a thread) that its threads require,
 * for which it synchronises. A captured call has its arguments' values of then, exec->stream as well: each replay of a
 * graph draws the same words, so that steps that are to draw new ones are to be captured again, or called without a
 * graph. Call once with small arrays before a stream is captured or time is taken;
 * CUDA_MODULE_LOADING=EAGER loads all code at the start.
 *
 * Notes on single calls:
 *
 *   hu_scaled_encode     without amax a second level takes a first pass over x, as do blocks of more than 16384
 *                        elements. amax may overlap nothing that is written. Under the rules 4over6 and sweep_mse one
 *                        thread makes all scales and codes of a block, in integers: the same bits, at a small part of
 *                        the other rules' speed
 *   hu_multiply          of scaled tensors: hu_multiply_space with the same exec says how much space there is to be. A
 *                        few kernels run per run of `parts`. Where `across` is a chain of binary32 steps (fp32,
 *                        seq(binary32), seq2(binary32), ties to even) and no step inside is stochastic, it is 8 bytes
 *                        per element of D, else 20 bytes per element and run: for as many rows as 256 MiB hold, or one
 *   hu_s2fp8_truncate_n  sums and scale must not be NULL: a tensor's statistics go from kernel to kernel
 *   hu_multiply          of S2FP8 codes: decodes the operands whole into space
 *   hu_sum_add_all, hu_sum_add_dot
 *                        additions to the record are atomic, so that calls on several streams may add to one record at
 *                        the same time; HU_E_OVERLAP: it shares bytes with what is read
 *
 * Libraries built without CUDA have these functions, too; every call of their place returns HU_E_DEVICE. */
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
/* The current device as a place, for hu_exec.where: calls are enqueued in a cudaStream_t, NULL the default stream. */
HU_API hu_where hu_cuda(void *stream);
/* The same for arrays of the HOST, for programs that try the device, not for speed: a call copies in, runs on the
 * default stream, waits and copies out; it allocates device memory (HU_E_MEMORY). Plain products without scales run
 * there, and hu_quantize_n, hu_encode_n and their like between formats, of strides 1. */
HU_API hu_where hu_cuda_host(void);
/* Waits for everything in the stream. HU_E_CODE: since this function last said so, a kernel of the library has read a
 * code with bits above its width; hu_codes_check_n finds it in a copy. One word of the current device keeps that, and
 * is cleared by the report: a wide code of another stream or thread can be reported here, and is then not reported
 * there. HU_E_CUDA: something went wrong on the way, and the word is as it was; HU_E_DEVICE. */
HU_API HU_MUST_CHECK hu_status hu_device_synchronize(void *stream);
/* The last error (a code of cudaError) that the CUDA runtime gave a call of this library in this thread, as behind its
 * HU_E_CUDA, HU_E_MEMORY or HU_E_DEVICE; 0: there was none. text (may be NULL) gets what the runtime says of it, at
 * most size bytes with the final 0. Calls that succeed leave it. */
HU_API int hu_device_last_error(char *text, size_t size);
/* One line on the driver, the runtime and the nvcc that compiled the kernels; "" where there are none. */
HU_API void hu_device_versions(char *text, size_t size);

/* Bytes of exec->where.work for calls of s2fp8.h on arrays: for tables. */
#define HU_DEVICE_S2FP8_WORK 8192

/* A matrix instruction that the device has, and the preset that models it: D = A B + C. */
typedef struct hu_device_mma {
  char model[48];       /* the preset's name */
  char instruction[32]; /* "mma.sync.m16n8k16" */
  uint32_t m, n, k;     /* A is m x k, B is k x n */
  hu_type a, b, c;      /* those of the preset; c: also of D */
} hu_device_mma;

/* Number i of the instructions that the device has and hu_device_mma_run knows; HU_E_NAME: there are not so many,
 * HU_E_DEVICE: no device. */
HU_API HU_MUST_CHECK hu_status hu_device_mma_at(hu_device_mma *mma, size_t i);
/* `tiles` times instruction i, as the device executes it. HOST arrays, one tile after another: A and C, D row-major, B
 * by columns, codes as hu_type_size says. Waits; allocates device memory for the call. HU_E_NAME, HU_E_NULL,
 * HU_E_MEMORY, HU_E_DEVICE, HU_E_CUDA. */
HU_API HU_MUST_CHECK hu_status hu_device_mma_run(size_t i, size_t tiles, void *d, const void *a, const void *b,
                                                 const void *c);

#ifdef __cplusplus
}
#endif
#endif
