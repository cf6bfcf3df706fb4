/* SPDX-License-Identifier: MIT */
/* gpu/base/memory.h - device memory for sources without CUDA: tests, the digest, the calls on host arrays. */
#ifndef HALFULP_GPU_BASE_MEMORY_H
#define HALFULP_GPU_BASE_MEMORY_H

#include <stddef.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the status of a code of cudaError. An error is taken out of the runtime, so that no other call reports it,
 * and kept for hu_device_last_error. */
HU_API hu_status hui_cuda_said(int error);
/* Returns the status of this thread's last error of the runtime: why there was no memory. */
HU_API hu_status hui_cuda_why(void);

/* Returns n bytes of device memory; NULL: there are not so many, or the runtime failed (hui_cuda_why). */
HU_API void *hui_memory_new(size_t n);
HU_API void hui_memory_free(void *memory);
/* Copies from host to device and back; each waits until it is done. */
HU_API HU_MUST_CHECK hu_status hui_memory_put(void *device, const void *host, size_t n);
HU_API HU_MUST_CHECK hu_status hui_memory_get(void *host, const void *device, size_t n);
/* Allocates n bytes of page-locked host memory, from which the device copies while the program continues; returns NULL
 * if the memory does not suffice. */
HU_API void *hui_memory_locked(size_t n);
HU_API void hui_memory_unlock(void *memory);
/* Copies from locked host memory to the device, on the default stream, and returns at once: the bytes must not change
 * until one of the other calls has waited. */
HU_API HU_MUST_CHECK hu_status hui_memory_send(void *device, const void *locked, size_t n);
/* Waits for everything started; HU_E_CUDA if something of it failed. */
HU_API HU_MUST_CHECK hu_status hui_memory_wait(void);

#ifdef __cplusplus
}
#endif
#endif
