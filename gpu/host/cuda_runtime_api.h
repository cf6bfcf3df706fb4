/* SPDX-License-Identifier: MIT */
/* gpu/host/cuda_runtime_api.h - calls of the runtime that of the kernels' files only gpu/base/memory.cu and
 * gpu/base/look.cu make: copies and fills for which the host does not wait, locked memory for them, and the address of
 * a device's variable. The proof of the kernels' roundings (theorem L10) reads cuda_runtime.h alone. */
#ifndef HALFULP_GPU_HOST_CUDA_RUNTIME_API_H
#define HALFULP_GPU_HOST_CUDA_RUNTIME_API_H

#include "cuda_runtime.h"

cudaError_t cudaMemcpyAsync(void *z, const void *x, size_t n, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *z, int value, size_t n, cudaStream_t stream);
cudaError_t cudaMallocHost(void **memory, size_t n);
cudaError_t cudaFreeHost(void *memory);

template <class T>
static inline cudaError_t cudaGetSymbolAddress(void **memory, const T &variable) {
  *memory = (void *)(uintptr_t)&variable;
  return cudaSuccess;
}

#endif
