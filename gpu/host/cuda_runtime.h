/* SPDX-License-Identifier: MIT */
/* gpu/host/cuda_runtime.h - what the kernels of gpu/ use of CUDA, on the CPU.
 *
 * Each CUDA thread is a fiber. Blocks run one at a time, all in the calling thread, and barriers, shuffles and votes
 * hold a fiber until the others have arrived, so that a run is deterministic. The order of fibers and blocks is a
 * permutation drawn from a seed (order.h), so that a kernel without a barrier that it requires gives different results
 * under different seeds. Shared memory is filled with a pattern before each block. Misuse (a thread that leaves while
 * others wait at a block barrier, a shuffle that does not name its own lane) stops the program with a message. */
#ifndef HALFULP_GPU_HOST_CUDA_RUNTIME_H
#define HALFULP_GPU_HOST_CUDA_RUNTIME_H

#include <fenv.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <functional>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline, unused))
#define __launch_bounds__(...)
#define __grid_constant__
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __shared__ static __attribute__((section("hu_host_shared")))

struct dim3 {
  unsigned x, y, z;
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim; /* of the fiber that runs */

typedef void *cudaStream_t;
typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorNotReady = 600,
  cudaErrorUnknown = 999
} cudaError_t;

/* ---- the launch ---- */

cudaError_t hui_host_launch(unsigned grid, unsigned block, cudaStream_t stream, const std::function<void()> &kernel);

template <class... Formal, class... Actual>
static inline cudaError_t hui_host_start(void (*kernel)(Formal...), unsigned grid, unsigned block, void *stream,
                                         Actual... args) {
  return hui_host_launch(grid, block, stream, [=]() { kernel(args...); });
}
#define HU_HOST_LAUNCH(kernel, grid, block, shared, stream, ...) \
  ((void)(shared), hui_host_start(kernel, (unsigned)(grid), (block), (stream), __VA_ARGS__))

/* ---- threads of a block and of a warp ---- */

void __syncthreads(void);
void __syncwarp(unsigned mask = 0xFFFFFFFFu);
/* Waits for all lanes of the mask; returns the array of their values, valid until the lane's next exchange. */
const uint64_t *hui_host_exchange(unsigned mask, uint64_t value);

static inline unsigned hui_host_lane(void) { return threadIdx.x & 31; }

template <class T>
static inline T hui_host_cast(uint64_t bits) {
  T z;
  memcpy(&z, &bits, sizeof z);
  return z;
}
template <class T>
static inline uint64_t hui_host_bits(T z) {
  uint64_t bits = 0;
  static_assert(sizeof z <= sizeof bits, "a shuffle moves at most 64 bits");
  memcpy(&bits, &z, sizeof z);
  return bits;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T x, int lane) {
  return hui_host_cast<T>(hui_host_exchange(mask, hui_host_bits(x))[lane & 31]);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T x, unsigned by) {
  const uint64_t *all = hui_host_exchange(mask, hui_host_bits(x));
  unsigned lane = hui_host_lane();
  return lane < by ? x : hui_host_cast<T>(all[lane - by]);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T x, unsigned by) {
  const uint64_t *all = hui_host_exchange(mask, hui_host_bits(x));
  unsigned lane = hui_host_lane();
  return lane + by > 31 ? x : hui_host_cast<T>(all[lane + by]);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T x, unsigned with) {
  return hui_host_cast<T>(hui_host_exchange(mask, hui_host_bits(x))[(hui_host_lane() ^ with) & 31]);
}
static inline unsigned __ballot_sync(unsigned mask, int c) {
  const uint64_t *all = hui_host_exchange(mask, c != 0);
  unsigned z = 0;
  for (unsigned i = 0; i < 32; i++)
    if (mask >> i & 1) z |= (unsigned)all[i] << i;
  return z;
}
static inline int __any_sync(unsigned mask, int c) { return __ballot_sync(mask, c) != 0; }
static inline unsigned __reduce_add_sync(unsigned mask, unsigned x) {
  const uint64_t *all = hui_host_exchange(mask, x);
  unsigned z = 0;
  for (unsigned i = 0; i < 32; i++)
    if (mask >> i & 1) z += (unsigned)all[i];
  return z;
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned x) {
  const uint64_t *all = hui_host_exchange(mask, x);
  unsigned z = 0;
  for (unsigned i = 0; i < 32; i++)
    if (mask >> i & 1) z |= (unsigned)all[i];
  return z;
}

static inline unsigned atomicAdd(unsigned *at, unsigned x) {
  unsigned old = *at;
  *at += x;
  return old;
}
static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long x) {
  unsigned long long old = *at;
  *at += x;
  return old;
}

static inline unsigned atomicMax(unsigned *at, unsigned x) {
  unsigned old = *at;
  *at = x > old ? x : old;
  return old;
}

static inline unsigned atomicOr(unsigned *at, unsigned x) {
  unsigned old = *at;
  *at |= x;
  return old;
}

/* ---- arithmetic ---- */

static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  uint64_t bytes = (uint64_t)y << 32 | x;
  unsigned z = 0;
  for (unsigned i = 0; i < 4; i++) z |= (unsigned)(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xFF) << (8 * i);
  return z;
}
/* Returns c plus the sum of the products of four signed bytes. */
static inline int __dp4a(int a, int b, int c) {
  unsigned z = (unsigned)c;
  for (int i = 0; i < 32; i += 8) z += (unsigned)((int8_t)(a >> i) * (int8_t)(b >> i));
  return (int)z;
}
static inline float __uint_as_float(unsigned bits) { return hui_host_cast<float>(bits); }
static inline unsigned __float_as_uint(float x) { return (unsigned)hui_host_bits(x); }
static inline double __longlong_as_double(long long bits) { return hui_host_cast<double>((uint64_t)bits); }
static inline long long __double_as_longlong(double x) { return (long long)hui_host_bits(x); }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline unsigned __float2uint_rz(float x) { return (unsigned)x; }
/* Computes fma.rn.f16x2, or fma.rn.bf16x2 if brain is 1. */
uint32_t hui_host_fma_pair(int brain, uint32_t a, uint32_t b, uint32_t c);
static inline int __float2int_rz(float x) { /* saturates; NaN: 0 */
  if (x != x) return 0;
  return x >= 2147483648.0f ? 2147483647 : x < -2147483648.0f ? -2147483647 - 1 : (int)x;
}
/* Returns z, or the one NaN of a device's binary32 arithmetic, whatever the operands' NaN are. */
static inline float hui_host_result(float z) { return z == z ? z : __uint_as_float(0x7FFFFFFFu); }
/* Set and restore the direction of rounding in the vector unit alone. fesetround also sets the x87 unit's: half of a
 * test's time. */
static inline int hui_host_turn(int direction) {
#if defined(__x86_64__)
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr((before & ~0x6000u) | (unsigned)direction << 3);
  return (int)before;
#else
  int before = fegetround();
  fesetround(direction);
  return before;
#endif
}
static inline void hui_host_turn_back(int before) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((unsigned)before);
#else
  fesetround(before);
#endif
}
static inline float hui_host_add(float a, float b, int direction) {
  volatile float x = a, y = b; /* volatile, so that the sum is made here, in this direction */
  int before = hui_host_turn(direction);
  volatile float sum = x + y;
  hui_host_turn_back(before);
  return hui_host_result(sum);
}
static inline float hui_host_fma(float a, float b, float c, int direction) {
  volatile float x = a, y = b, z = c;
  int before = hui_host_turn(direction);
  volatile float sum = fmaf(x, y, z);
  hui_host_turn_back(before);
  return hui_host_result(sum);
}
static inline float __fmaf_rd(float a, float b, float c) { return hui_host_fma(a, b, c, FE_DOWNWARD); }
static inline float __fmaf_ru(float a, float b, float c) { return hui_host_fma(a, b, c, FE_UPWARD); }
static inline float __fadd_rd(float a, float b) { return hui_host_add(a, b, FE_DOWNWARD); }
static inline float __fadd_ru(float a, float b) { return hui_host_add(a, b, FE_UPWARD); }
static inline float __fadd_rz(float a, float b) { return hui_host_add(a, b, FE_TOWARDZERO); }
static inline float __fadd_rn(float a, float b) { return hui_host_result(a + b); }
static inline float __fsub_rn(float a, float b) { return hui_host_result(a - b); }
static inline float __fmul_rn(float a, float b) { return hui_host_result(a * b); }
static inline float __fdiv_rn(float a, float b) { return hui_host_result(a / b); }
static inline float __fmaf_rn(float a, float b, float c) { return hui_host_result(fmaf(a, b, c)); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

/* ---- the runtime ---- */

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount;
};

cudaError_t cudaMalloc(void **memory, size_t n);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemcpy(void *z, const void *x, size_t n, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *z, int value, size_t n);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr a, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDriverGetVersion(int *value);
cudaError_t cudaRuntimeGetVersion(int *value);

#endif
