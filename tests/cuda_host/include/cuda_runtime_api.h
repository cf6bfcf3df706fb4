/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/include/cuda_runtime_api.h - calls of the runtime that gpu/base/memory.cu alone makes: copies that
 * the host does not wait for, and locked memory for them. The proof of the kernels' roundings (theorem L10) reads
 * cuda_runtime.h and knows nothing of these. */
#ifndef HALFULP_TESTS_CUDA_HOST_CUDA_RUNTIME_API_H
#define HALFULP_TESTS_CUDA_HOST_CUDA_RUNTIME_API_H

#include "cuda_runtime.h"

cudaError_t cudaMemcpyAsync(void *z, const void *x, size_t n, cudaMemcpyKind kind, cudaStream_t s);
cudaError_t cudaMallocHost(void **p, size_t n);
cudaError_t cudaFreeHost(void *p);

#endif
