/* SPDX-License-Identifier: MIT */
/* gpu/base/launch.cuh - how a kernel is started, for all of gpu/.
 *
 * nvcc's build calls cudaLaunchKernelEx; the host-run build (gpu/host) has its own cuda_runtime.h, which defines
 * HU_HOST_LAUNCH and runs the same kernel text on the CPU. Kernels are plain CUDA C and take everything by value.
 *
 * Arithmetic of kernels: contraction is off (-fmad=false), subnormals are kept (nvcc's default -ftz=false) and every
 * float operation that a result depends on is written as an intrinsic with its rounding in the name. */
#ifndef HALFULP_GPU_LAUNCH_CUH
#define HALFULP_GPU_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/base/memory.h"

#define HU_DEVICE static __device__ __forceinline__
#define HU_KERNEL static __global__ void
#define HU_THREADS 256 /* threads of a block in every kernel */
#define HU_ALL_LANES 0xFFFFFFFFu

/* Returns where the first error of a launch since hui_launched is kept. cudaGetLastError would also return errors of a
 * program that shares the runtime and has not fetched its own. */
static inline cudaError_t *hui_launch_error(void) {
  static thread_local cudaError_t error = cudaSuccess;
  return &error;
}

static inline void hui_launch_note(cudaError_t error) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError(); /* takes the error out of the runtime, so that no other call reports it */
  if (*hui_launch_error() == cudaSuccess) *hui_launch_error() = error;
}

#if defined(HU_HOST_LAUNCH)
#define HU_LAUNCH(kernel, grid, shared, stream, ...) \
  hui_launch_note(HU_HOST_LAUNCH(kernel, grid, HU_THREADS, shared, stream, __VA_ARGS__))
#else
template <class... Formal, class... Actual>
static inline cudaError_t hui_launch(void (*kernel)(Formal...), unsigned grid, size_t shared, void *stream,
                                     Actual... args) {
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3(grid);
  how.blockDim = dim3(HU_THREADS);
  how.dynamicSmemBytes = shared;
  how.stream = (cudaStream_t)stream;
  return cudaLaunchKernelEx(&how, kernel, (Formal)args...);
}
#define HU_LAUNCH(kernel, grid, shared, stream, ...) \
  hui_launch_note(hui_launch(kernel, (unsigned)(grid), (shared), (stream), __VA_ARGS__))
#endif

/* Returns the status of the launches since the last call. */
static inline hu_status hui_launched(void) {
  cudaError_t error = *hui_launch_error();
  *hui_launch_error() = cudaSuccess;
  return hui_cuda_said((int)error);
}

/* Returns the blocks for `work` pieces of one block, at most what fills the device `waves` times: kernels have
 * loops. */
static inline unsigned hui_grid_size(uint64_t work, unsigned waves) {
  int device = 0, sms = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || sms < 1) return 1;
  uint64_t most = (uint64_t)sms * waves;
  return (unsigned)(work < 1 ? 1 : work < most ? work : most);
}

#endif
