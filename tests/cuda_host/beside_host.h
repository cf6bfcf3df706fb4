/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/beside_host.h - what only a device can run of CUDA, declared so that test_reads.py can read the files
 * that use it: gpu/host stands in for the rest. */
#include <cuda_runtime.h>

typedef struct hu_event *cudaEvent_t;
#define cudaDevAttrClockRate ((cudaDeviceAttr)13)
#define cudaDevAttrComputeCapabilityMajor ((cudaDeviceAttr)75)
#define cudaDevAttrComputeCapabilityMinor ((cudaDeviceAttr)76)

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaMemcpyAsync(void *z, const void *x, size_t n, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
size_t __cvta_generic_to_shared(const void *shared);

/* A compiler for the CPU that looks for registers of operands, as clang does, has none for those of PTX. */
#define asm (void)
#define volatile(...) 0
