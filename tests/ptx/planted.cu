/* SPDX-License-Identifier: MIT */
/* tests/ptx/planted.cu - kernels with a mistake each, and beside each the same without it. The interpreter must tell
 * them apart (test_planted.py).
 *
 * usage: planted KERNEL [right] */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 64, WORDS = 256 };

/* Lanes of a warp hand values on through shared memory; the mistake: no __syncwarp between. */
template <bool RIGHT>
__global__ void syncwarp(uint32_t *z) {
  __shared__ uint32_t s[THREADS];
  s[threadIdx.x] = 3 * threadIdx.x;
  if (RIGHT) __syncwarp();
  z[threadIdx.x] = s[threadIdx.x ^ 1];
}

/* The same between warps, and a value that another thread reads is written again too early. */
template <bool RIGHT>
__global__ void syncthreads(uint32_t *z) {
  __shared__ uint32_t s[THREADS];
  s[threadIdx.x ^ 1] = threadIdx.x;
  __syncthreads();
  s[threadIdx.x] *= 3;
  if (RIGHT) __syncthreads();
  z[threadIdx.x] = s[threadIdx.x ^ 32];
}
template <bool RIGHT>
__global__ void again(uint32_t *z) {
  __shared__ uint32_t s[THREADS];
  s[threadIdx.x] = 3 * threadIdx.x;
  __syncthreads();
  uint32_t x = s[threadIdx.x ^ 32];
  if (RIGHT) __syncthreads();
  s[threadIdx.x] = x;
  z[threadIdx.x] = x;
}

/* Part of a warp takes part in __syncwarp, another part in one of its own. */
template <bool RIGHT>
__global__ void half_synced(uint32_t *z) {
  __shared__ uint32_t s[THREADS];
  s[threadIdx.x] = 3 * threadIdx.x;
  uint32_t half = RIGHT ? 0xFFFFFFFFu : threadIdx.x % 32 < 16 ? 0x0000FFFFu : 0xFFFF0000u;
  __syncwarp(half);
  z[threadIdx.x] = s[threadIdx.x ^ 16];
}

template <bool RIGHT>
__global__ void misaligned(uint32_t *z) {
  const uint4 *from = (const uint4 *)(z + (RIGHT ? 4 : 1));
  uint4 v = from[threadIdx.x % 4];
  __syncthreads();
  z[threadIdx.x] = v.x + v.w;
}

template <bool RIGHT>
__global__ void past_the_end(uint32_t *z) {
  z[threadIdx.x + (RIGHT ? WORDS - THREADS : WORDS - THREADS + 1)] = 1;
}
template <bool RIGHT>
__global__ void past_shared(uint32_t *z, uint32_t n) {
  __shared__ uint32_t s[THREADS];
  s[threadIdx.x + (RIGHT ? 0 : n)] = threadIdx.x;
  __syncthreads();
  z[threadIdx.x] = s[threadIdx.x];
}
template <bool RIGHT>
__global__ void past_local(uint32_t *z, uint32_t n) {
  uint32_t own[8];
  for (uint32_t k = 0; k < 8; k++) own[(k * n) % 8] = k;
  z[threadIdx.x] = own[(threadIdx.x % 8) + (RIGHT ? 0 : 4096 * n)];
}

/* Half of the warp exchanges values, and names all lanes. */
template <bool RIGHT>
__global__ void wrong_mask(uint32_t *z) {
  uint32_t x = threadIdx.x;
  if (threadIdx.x % 32 < 16) x = __shfl_xor_sync(RIGHT ? 0x0000FFFFu : 0xFFFFFFFFu, x, 1);
  __syncwarp();
  z[threadIdx.x] = x;
}
template <bool RIGHT>
__global__ void outside_mask(uint32_t *z) {
  z[threadIdx.x] = __shfl_xor_sync(RIGHT ? 0xFFFFFFFFu : 0xFFFF0000u, threadIdx.x, 1);
}
template <bool RIGHT>
__global__ void other_masks(uint32_t *z) {
  z[threadIdx.x] = __ballot_sync(RIGHT || threadIdx.x % 2 ? 0xFFFFFFFFu : 0x55555555u, threadIdx.x % 3 == 0);
}
template <bool RIGHT>
__global__ void other_lane(uint32_t *z) {
  uint32_t x = threadIdx.x;
  if (threadIdx.x % 32 < 16) x = __shfl_xor_sync(0x0000FFFFu, x, RIGHT ? 8 : 16);
  z[threadIdx.x] = x;
}

template <bool RIGHT>
__global__ void unwritten(uint32_t *z) {
  __shared__ uint32_t s[THREADS];
  if (RIGHT || threadIdx.x != 5) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  z[threadIdx.x] = s[threadIdx.x];
}
template <bool RIGHT>
__global__ void other_barriers(uint32_t *z) {
  if (RIGHT || threadIdx.x < 32) {
    __syncthreads();
    z[threadIdx.x] = 1;
  } else {
    z[threadIdx.x] = 2;
    __syncthreads();
  }
}
template <bool RIGHT>
__global__ void is_freed(uint32_t *z) {
  z[threadIdx.x] = 1;
}

/* A matrix instruction that half of the warp does not come to; and one after lanes have ended. */
__device__ static void multiply(uint32_t *z) {
  uint32_t d[4] = {1, 2, 3, 4}, x = threadIdx.x;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(x));
  z[threadIdx.x] = d[0] + d[3];
}
template <bool RIGHT>
__global__ void half_multiplies(uint32_t *z) {
  if (RIGHT || threadIdx.x % 32 < 16) multiply(z);
  __syncwarp();
}
template <bool RIGHT>
__global__ void some_have_ended(uint32_t *z) {
  if (!RIGHT && threadIdx.x % 32 > 28) return;
  __syncthreads();
  multiply(z);
}

static int answer(cudaError_t e, const char *what) {
  if (e != cudaSuccess) fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  return e == cudaSuccess ? 0 : 1;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  bool right = argc > 2 && strcmp(argv[2], "right") == 0, known = false;
  uint32_t *z;
  if (answer(cudaMalloc((void **)&z, WORDS * sizeof *z), "cudaMalloc")) return 1;
  if (answer(cudaMemset(z, 0, WORDS * sizeof *z), "cudaMemset")) return 1;
  if (strcmp(name, "is_freed") == 0 && !right) cudaFree(z);
#define START(KERNEL, ...)                        \
  if (strcmp(name, #KERNEL) == 0) {               \
    known = true;                                 \
    if (right) {                                  \
      KERNEL<true><<<1, THREADS>>>(__VA_ARGS__);  \
    } else {                                      \
      KERNEL<false><<<1, THREADS>>>(__VA_ARGS__); \
    }                                             \
  }
  START(syncwarp, z)
  START(syncthreads, z)
  START(again, z)
  START(half_synced, z)
  START(misaligned, z)
  START(past_the_end, z)
  START(past_shared, z, 1)
  START(past_local, z, 1)
  START(wrong_mask, z)
  START(outside_mask, z)
  START(other_masks, z)
  START(other_lane, z)
  START(unwritten, z)
  START(other_barriers, z)
  START(is_freed, z)
  START(half_multiplies, z)
  START(some_have_ended, z)
  if (!known) {
    fprintf(stderr, "planted: no kernel %s\n", name);
    return 2;
  }
  return answer(cudaGetLastError(), "launch") || answer(cudaDeviceSynchronize(), "wait");
}
