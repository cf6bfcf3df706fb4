/* SPDX-License-Identifier: MIT */
/* gpu/host/order.h - what a test sets of a host run: the order in which threads and blocks get their turn,
 * the streams that it expects, the errors that the runtime has, and when work is done; and how many calls there were.
 * With HU_HOST_DEVICE=none, driver or old in the environment there is no device, no driver, one too old. */
#ifndef HALFULP_GPU_HOST_ORDER_H
#define HALFULP_GPU_HOST_ORDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A permutation drawn from this seed, a new one after each barrier; 0: ascending. */
void hui_host_order(uint64_t seed);

/* A stream that none was before; each launch, cudaMemcpyAsync and cudaMemsetAsync until the next call must be on it, or
 * the program stops with a message. */
void *hui_host_stream(void);
/* Each of them must be on this one. */
void hui_host_expect(void *stream);
/* How many kernels were launched. */
uint64_t hui_host_launches(void);

/* 1: what a program need not wait for (kernels, cudaMemset, the Async calls) is done in order when it waits, and no
 * sooner; 0: at once. So a program that reads a result, or changes the source of a copy, before it has waited gets
 * another result than it should. What is left is done by this call. */
void hui_host_queue(int on);

/* Calls of the runtime. A copy by cudaMemcpy counts as a wait, too: the program goes on when it is done. */
typedef struct hu_host_calls {
  uint64_t launches, waits, allocations;
  uint64_t copies_in, copies_out; /* to the device, from it */
  uint64_t bytes_in, bytes_out, largest_in, largest_out;
} hu_host_calls;
/* Those since the last call of this. */
hu_host_calls hui_host_counted(void);

/* What cudaGetLastError is to say next, as a program's own mistake leaves it: of a stream not ready, a code of
 * cudaError. */
void hui_host_stale(int error);
/* What launches return, without running: 0, or a code of cudaError. */
void hui_host_refuse(int error);
/* What cudaMemcpyAsync returns, without copying. */
void hui_host_refuse_copies(int error);

#ifdef __cplusplus
}
#endif
#endif
