/* SPDX-License-Identifier: MIT */
/* gpu/probe/wgmma.cu - wgmma as the device executes it, one instruction per warpgroup (four warps); layouts: probe.h.
 * Compiled for sm_90a alone, which has these instructions. */
#include "gpu/probe/probe.cuh"

/* Makes a descriptor of shared memory without swizzle: address, 128 bytes to the next 16 bytes along k, 256 to the next
 * 8 rows, in units of 16 bytes. */
HU_DEVICE uint64_t hui_wgmma_descriptor(const void *shared) {
  uint64_t at = (uint64_t)__cvta_generic_to_shared(shared) & 0x3FFFF;
  return at >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

#define HU_GO "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned."
template <int Op>
static __device__ __forceinline__ void hui_wgmma(uint32_t *d, uint64_t a, uint64_t b);
#define HU_WGMMA(op) \
  template <>        \
  __device__ __forceinline__ void hui_wgmma<op>(uint32_t * d, uint64_t a, uint64_t b)
#define HU_WGMMA_F(op, text, more)                                                                               \
  HU_WGMMA(op) {                                                                                                 \
    float f[4];                                                                                                  \
    for (int i = 0; i < 4; i++) f[i] = __uint_as_float(d[i]);                                                    \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                      \
    asm volatile(HU_GO text " {%0,%1,%2,%3}, %4, %5, p, 1, 1" more "; }"                                         \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                                                \
                 : "l"(a), "l"(b)                                                                                \
                 : "memory");                                                                                    \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                               \
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])::"memory"); \
    for (int i = 0; i < 4; i++) d[i] = __float_as_uint(f[i]);                                                    \
  }
#define HU_WGMMA_H(op, text, more)                                                       \
  HU_WGMMA(op) {                                                                         \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                              \
    asm volatile(HU_GO text " {%0,%1}, %2, %3, p, 1, 1" more "; }"                       \
                 : "+r"(d[0]), "+r"(d[1])                                                \
                 : "l"(a), "l"(b)                                                        \
                 : "memory");                                                            \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                       \
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+r"(d[0]), "+r"(d[1])::"memory"); \
  }

HU_WGMMA_F(HU_WGMMA_F16_F32, "m64n8k16.f32.f16.f16", ", 0, 0")
HU_WGMMA_H(HU_WGMMA_F16_F16, "m64n8k16.f16.f16.f16", ", 0, 0")
HU_WGMMA_F(HU_WGMMA_BF16, "m64n8k16.f32.bf16.bf16", ", 0, 0")
HU_WGMMA_F(HU_WGMMA_TF32, "m64n8k8.f32.tf32.tf32", "")
HU_WGMMA_F(HU_WGMMA_FP8_F32 + 0, "m64n8k32.f32.e4m3.e4m3", "")
HU_WGMMA_F(HU_WGMMA_FP8_F32 + 1, "m64n8k32.f32.e4m3.e5m2", "")
HU_WGMMA_F(HU_WGMMA_FP8_F32 + 2, "m64n8k32.f32.e5m2.e4m3", "")
HU_WGMMA_F(HU_WGMMA_FP8_F32 + 3, "m64n8k32.f32.e5m2.e5m2", "")
HU_WGMMA_H(HU_WGMMA_FP8_F16 + 0, "m64n8k32.f16.e4m3.e4m3", "")
HU_WGMMA_H(HU_WGMMA_FP8_F16 + 1, "m64n8k32.f16.e4m3.e5m2", "")
HU_WGMMA_H(HU_WGMMA_FP8_F16 + 2, "m64n8k32.f16.e5m2.e4m3", "")
HU_WGMMA_H(HU_WGMMA_FP8_F16 + 3, "m64n8k32.f16.e5m2.e5m2", "")

enum { HU_WARPGROUP = 128, HU_GROUPS = HU_THREADS / HU_WARPGROUP, HU_BYTES_A = 64 * 32, HU_BYTES_B = 8 * 32 };

/* Stores `rows` lines of 32 bytes where the descriptor says. */
HU_DEVICE void hui_wgmma_fill(const hu_mma_shape &shape, uint8_t *shared, const uint8_t *x, uint32_t rows,
                              uint32_t thread) {
  uint32_t size = 4u / shape.each;
  for (uint32_t element = thread; element < rows * shape.k; element += HU_WARPGROUP) {
    for (uint32_t i = 0; i < size; i++)
      shared[hui_wgmma_place(&shape, element / shape.k, element % shape.k) + i] = x[element * size + i];
  }
}

template <int Op>
HU_KERNEL hui_wgmma_kernel(size_t tiles, void *out, const void *a, const void *b, const void *c) {
  __shared__ __align__(128) uint8_t sa[HU_GROUPS][HU_BYTES_A], sb[HU_GROUPS][HU_BYTES_B];
  const hu_mma_shape shape = hui_mma_shape_of(Op);
  uint32_t group = threadIdx.x / HU_WARPGROUP, thread = threadIdx.x % HU_WARPGROUP, rd[4] = {0, 0, 0, 0};
  size_t tile = (size_t)blockIdx.x * HU_GROUPS + group;
  bool there = tile < tiles; /* the last block may have a warpgroup without a tile */
  if (!there) tile = 0;
  size_t at_c = tile * shape.m * shape.n;
  hui_wgmma_fill(shape, sa[group], (const uint8_t *)a + tile * HU_BYTES_A, shape.m, thread);
  hui_wgmma_fill(shape, sb[group], (const uint8_t *)b + tile * HU_BYTES_B, shape.n, thread);
  hui_mma_load_c(shape, rd, c, at_c, thread);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  hui_wgmma<Op>(rd, hui_wgmma_descriptor(sa[group]), hui_wgmma_descriptor(sb[group]));
  if (there) hui_mma_store_d(shape, rd, out, at_c, thread);
}

template <int Op>
static hu_mma_kernel_of hui_wgmma_find(int op) {
  if (op == Op) return hui_wgmma_kernel<Op>;
  if constexpr (Op > HU_WGMMA_F16_F32) return hui_wgmma_find<Op - 1>(op);
  return NULL;
}

hu_status hui_probe_wgmma(int op, size_t tiles, void *out, const void *a, const void *b, const void *c) {
  hu_mma_kernel_of kernel = hui_wgmma_find<HU_MMA_COUNT - 1>(op);
  size_t blocks = (tiles - 1) / HU_GROUPS + 1;
  if (!kernel || blocks > 0x7FFFFFFF) return HU_E_SHAPE;
  HU_LAUNCH(kernel, blocks, 0, NULL, tiles, out, a, b, c);
  return hui_launched();
}
