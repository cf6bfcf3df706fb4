/* SPDX-License-Identifier: MIT */
/* gpu/base/memory.cu - see memory.h. */
#include "gpu/base/memory.h"

#include "halfulp/device.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

/* ptxas decides which matrix instructions run, so that its version belongs to their results. */
#if defined(__CUDACC_VER_MAJOR__)
#define HU_TEXT_OF(x) #x
#define HU_TEXT(x) HU_TEXT_OF(x)
#define HU_NVCC \
  ", nvcc " HU_TEXT(__CUDACC_VER_MAJOR__) "." HU_TEXT(__CUDACC_VER_MINOR__) "." HU_TEXT(__CUDACC_VER_BUILD__)
#else
#define HU_NVCC ""
#endif

static thread_local cudaError_t last_error = cudaSuccess;

static hu_status status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return HU_OK;
    case cudaErrorMemoryAllocation: return HU_E_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return HU_E_DEVICE;
    default: return HU_E_CUDA;
  }
}

hu_status hui_cuda_said(int error) {
  if (error == (int)cudaSuccess) return HU_OK;
  (void)cudaGetLastError();
  last_error = (cudaError_t)error;
  return status_of(last_error);
}

hu_status hui_cuda_why(void) { return status_of(last_error); }

int hu_device_last_error(char *text, size_t size) {
  if (text && size) snprintf(text, size, "%s", last_error == cudaSuccess ? "" : cudaGetErrorString(last_error));
  return (int)last_error;
}

void *hui_memory_new(size_t n) {
  void *memory = NULL;
  return hui_cuda_said(cudaMalloc(&memory, n ? n : 1)) == HU_OK ? memory : NULL;
}

void hui_memory_free(void *memory) { (void)hui_cuda_said(cudaFree(memory)); }

hu_status hui_memory_put(void *device, const void *host, size_t n) {
  return n ? hui_cuda_said(cudaMemcpy(device, host, n, cudaMemcpyHostToDevice)) : HU_OK;
}

hu_status hui_memory_get(void *host, const void *device, size_t n) {
  return n ? hui_cuda_said(cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost)) : HU_OK;
}

void *hui_memory_locked(size_t n) {
  void *memory = NULL;
  return hui_cuda_said(cudaMallocHost(&memory, n ? n : 1)) == HU_OK ? memory : NULL;
}

void hui_memory_unlock(void *memory) { (void)hui_cuda_said(cudaFreeHost(memory)); }

hu_status hui_memory_send(void *device, const void *locked, size_t n) {
  return n ? hui_cuda_said(cudaMemcpyAsync(device, locked, n, cudaMemcpyHostToDevice, NULL)) : HU_OK;
}

hu_status hui_memory_wait(void) { return hui_cuda_said(cudaDeviceSynchronize()); }

void hu_device_versions(char *text, size_t size) {
  int driver = 0, runtime = 0;
  if (size) text[0] = '\0';
  if (cudaDriverGetVersion(&driver) != cudaSuccess || cudaRuntimeGetVersion(&runtime) != cudaSuccess || !driver) return;
  snprintf(text, size, "CUDA driver API %d.%d, runtime %d.%d" HU_NVCC, driver / 1000, driver % 1000 / 10,
           runtime / 1000, runtime % 1000 / 10);
}
