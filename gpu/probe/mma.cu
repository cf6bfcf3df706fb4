/* SPDX-License-Identifier: MIT */
/* gpu/probe/mma.cu - mma.sync as the device executes it, one instruction per warp; layouts: probe.h. */
#include "gpu/probe/probe.cuh"

template <int Op>
static __device__ __forceinline__ void hui_mma(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c);

#define HU_F(x) __uint_as_float(x)
#define HU_MMA(op) \
  template <>      \
  __device__ __forceinline__ void hui_mma<op>(uint32_t * d, const uint32_t *a, const uint32_t *b, const uint32_t *c)
#define HU_SINGLE_D(f) \
  d[0] = __float_as_uint(f[0]), d[1] = __float_as_uint(f[1]), d[2] = __float_as_uint(f[2]), d[3] = __float_as_uint(f[3])

/* Defines an instruction with A in four registers, B in two, and C and D in binary32. */
#define HU_MMA_42F(op, text)                                                                                           \
  HU_MMA(op) {                                                                                                         \
    float f[4];                                                                                                        \
    asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                 \
                 : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(HU_F(c[0])), "f"(HU_F(c[1])), \
                   "f"(HU_F(c[2])), "f"(HU_F(c[3])));                                                                  \
    HU_SINGLE_D(f);                                                                                                    \
  }
/* Defines one with A in two registers, B in one. */
#define HU_MMA_21F(op, text)                                                                           \
  HU_MMA(op) {                                                                                         \
    float f[4];                                                                                        \
    asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"             \
                 : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3])                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(HU_F(c[0])), "f"(HU_F(c[1])), "f"(HU_F(c[2])), \
                   "f"(HU_F(c[3])));                                                                   \
    HU_SINGLE_D(f);                                                                                    \
  }
/* Define the same with C and D in binary16. */
#define HU_MMA_42H(op, text)                                                                                \
  HU_MMA(op) {                                                                                              \
    asm volatile("mma.sync.aligned." text " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"                      \
                 : "=r"(d[0]), "=r"(d[1])                                                                   \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1])); \
  }
#define HU_MMA_21H(op, text)                                                  \
  HU_MMA(op) {                                                                \
    asm volatile("mma.sync.aligned." text " {%0,%1}, {%2,%3}, {%4}, {%5,%6};" \
                 : "=r"(d[0]), "=r"(d[1])                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));    \
  }

HU_MMA_42F(HU_MMA_F16_F32_K16, "m16n8k16.row.col.f32.f16.f16.f32")
HU_MMA_21F(HU_MMA_F16_F32_K8, "m16n8k8.row.col.f32.f16.f16.f32")
HU_MMA_42H(HU_MMA_F16_F16_K16, "m16n8k16.row.col.f16.f16.f16.f16")
HU_MMA_21H(HU_MMA_F16_F16_K8, "m16n8k8.row.col.f16.f16.f16.f16")
HU_MMA_42F(HU_MMA_BF16_K16, "m16n8k16.row.col.f32.bf16.bf16.f32")
HU_MMA_21F(HU_MMA_BF16_K8, "m16n8k8.row.col.f32.bf16.bf16.f32")
HU_MMA_42F(HU_MMA_TF32_K8, "m16n8k8.row.col.f32.tf32.tf32.f32")
HU_MMA_21F(HU_MMA_TF32_K4, "m16n8k4.row.col.f32.tf32.tf32.f32")

/* Instructions for 8-bit formats, which compute capability 8.9 and newer have. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
#undef HU_MMA_42F
#undef HU_MMA_42H
#define HU_MMA_42F(op, text) \
  HU_MMA(op) { d[0] = d[1] = d[2] = d[3] = 0 * (a[0] + b[0] + c[0]); }
#define HU_MMA_42H(op, text) \
  HU_MMA(op) { d[0] = d[1] = 0 * (a[0] + b[0] + c[0]); }
#endif
HU_MMA_42F(HU_MMA_FP8_F32 + 0, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
HU_MMA_42F(HU_MMA_FP8_F32 + 1, "m16n8k32.row.col.f32.e4m3.e5m2.f32")
HU_MMA_42F(HU_MMA_FP8_F32 + 2, "m16n8k32.row.col.f32.e5m2.e4m3.f32")
HU_MMA_42F(HU_MMA_FP8_F32 + 3, "m16n8k32.row.col.f32.e5m2.e5m2.f32")
HU_MMA_42H(HU_MMA_FP8_F16 + 0, "m16n8k32.row.col.f16.e4m3.e4m3.f16")
HU_MMA_42H(HU_MMA_FP8_F16 + 1, "m16n8k32.row.col.f16.e4m3.e5m2.f16")
HU_MMA_42H(HU_MMA_FP8_F16 + 2, "m16n8k32.row.col.f16.e5m2.e4m3.f16")
HU_MMA_42H(HU_MMA_FP8_F16 + 3, "m16n8k32.row.col.f16.e5m2.e5m2.f16")

/* Returns element `at` of an array of codes of 4 / each bytes. */
HU_DEVICE uint32_t hui_mma_load(const void *x, size_t at, uint32_t each) {
  return each == 4 ? ((const uint8_t *)x)[at] : each == 2 ? ((const uint16_t *)x)[at] : ((const uint32_t *)x)[at];
}

template <int Op>
HU_KERNEL hui_mma_kernel(size_t tiles, void *out, const void *a, const void *b, const void *c) {
  const hu_mma_shape shape = hui_mma_shape_of(Op);
  uint32_t lane = threadIdx.x % 32, ra[4] = {0, 0, 0, 0}, rb[2] = {0, 0}, rc[4] = {0, 0, 0, 0}, rd[4];
  size_t tile = (size_t)blockIdx.x * (HU_THREADS / 32) + threadIdx.x / 32;
  if (tile >= tiles) return;
  size_t at_a = tile * shape.m * shape.k, at_b = tile * shape.n * shape.k, at_c = tile * shape.m * shape.n;
#pragma unroll
  for (uint32_t reg = 0; reg < hui_mma_registers_a(&shape); reg++) {
    for (uint32_t i = 0; i < shape.each; i++)
      ra[reg] |= hui_mma_load(a, at_a + hui_mma_place_a(&shape, lane, reg, i), shape.each) << (32 / shape.each * i);
  }
#pragma unroll
  for (uint32_t reg = 0; reg < hui_mma_registers_b(&shape); reg++) {
    for (uint32_t i = 0; i < shape.each; i++)
      rb[reg] |= hui_mma_load(b, at_b + hui_mma_place_b(&shape, lane, reg, i), shape.each) << (32 / shape.each * i);
  }
  hui_mma_load_c(shape, rc, c, at_c, lane);
  hui_mma<Op>(rd, ra, rb, rc);
  hui_mma_store_d(shape, rd, out, at_c, lane);
}

template <int Op>
static hu_mma_kernel_of hui_mma_find(int op) {
  if (op == Op) return hui_mma_kernel<Op>;
  if constexpr (Op > 0) return hui_mma_find<Op - 1>(op);
  return NULL;
}

hu_status hui_probe_mma(int op, size_t tiles, void *out, const void *a, const void *b, const void *c) {
  hu_mma_kernel_of kernel = hui_mma_find<HU_WGMMA_F16_F32 - 1>(op);
  size_t blocks = (tiles - 1) / (HU_THREADS / 32) + 1;
  if (!kernel || blocks > 0x7FFFFFFF) return HU_E_SHAPE;
  HU_LAUNCH(kernel, blocks, 0, NULL, tiles, out, a, b, c);
  return hui_launched();
}
