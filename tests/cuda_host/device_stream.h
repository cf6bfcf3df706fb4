/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/device_stream.h - streams of a device and their graphs, for tests in C. Whatever the runtime refuses
 * ends the program with its words. */
#ifndef HALFULP_TESTS_CUDA_HOST_DEVICE_STREAM_H
#define HALFULP_TESTS_CUDA_HOST_DEVICE_STREAM_H

#include <stddef.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream beside the default one; the same in every call. Work of the default stream waits for it, and it for that. */
void *t_device_stream(void);
/* Captures what the call enqueues in a stream, in the mode that refuses whatever allocates or waits, anywhere in the
 * program; then runs the graph so many times, and waits. Returns what the call did; *nodes is how many kernels, copies
 * and the like it enqueued. */
hu_status t_device_captured(hu_status (*call)(void *stream, void *context), void *context, int times, size_t *nodes);

#ifdef __cplusplus
}
#endif
#endif
