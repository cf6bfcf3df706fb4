/* SPDX-License-Identifier: MIT */
/* gpu/host/order.h - what a test sets of a host run: the order of threads and blocks, the streams that it expects, the
 * errors of the runtime, and when work is done; and counts of calls. HU_HOST_DEVICE=none, driver or old in the
 * environment stands for no device, no driver, or a driver that is too old. */
#ifndef HALFULP_GPU_HOST_ORDER_H
#define HALFULP_GPU_HOST_ORDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the order: permutations drawn from this seed, a new one after each barrier; 0: ascending. */
void hui_host_order(uint64_t seed);

/* Returns a new stream; each launch, cudaMemcpyAsync and cudaMemsetAsync until the next call must be on it, or the
 * program stops with a message. */
void *hui_host_stream(void);
/* Expects each of them on this stream. */
void hui_host_expect(void *stream);
/* Returns how many kernels were launched. */
uint64_t hui_host_launches(void);

/* Sets when kernels, cudaMemset and the Async calls are done: 1: in order, when the program waits; 0: at once. With 1 a
 * program that reads a result, or changes the source of a copy, too soon gets a wrong result. Does what is left. */
void hui_host_queue(int on);

/* Calls of the runtime. A copy by cudaMemcpy counts as a wait, too, since the program continues when it is done. */
typedef struct hu_host_calls {
  uint64_t launches, waits, allocations;
  uint64_t copies_in, copies_out; /* to the device, from it */
  uint64_t bytes_in, bytes_out, largest_in, largest_out;
} hu_host_calls;
/* Returns the calls since the last call of this function. */
hu_host_calls hui_host_counted(void);

/* Sets what cudaGetLastError returns next, a code of cudaError, as an error of the program itself leaves it. */
void hui_host_stale(int error);
/* Returns the code of cudaError that the runtime has left for cudaGetLastError. */
int hui_host_left(void);
/* Sets what launches return, without running: 0, or a code of cudaError. */
void hui_host_refuse(int error);
/* Sets what copies, fills and allocations return, which then do nothing. */
void hui_host_refuse_copies(int error);
/* Sets what cudaStreamSynchronize and cudaDeviceSynchronize return. */
void hui_host_refuse_waits(int error);

#ifdef __cplusplus
}
#endif
#endif
