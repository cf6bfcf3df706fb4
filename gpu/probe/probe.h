/* SPDX-License-Identifier: MIT */
/* gpu/probe/probe.h - matrix instructions of the device, and which register holds which element of A, B, C and D.
 *
 * The layouts are those of the PTX ISA, "Warp-level matrix instructions" (mma.m16n8k*) and "Asynchronous warpgroup
 * level matrix instructions" (wgmma.m64n8k*). A register of 32 bits holds e elements of A or B: 4 of 8 bits, 2 of 16, 1
 * of tf32, the first in its low bits. With group = lane / 4 and t = lane % 4:
 *
 *   A, register r, element i   row group + 8 (r mod 2),   k = e t + i + 4 e (r / 2)
 *   B, register r, element i   column group,              k = e t + i + 4 e r
 *   C, D of binary32, r        row group + 8 (r / 2),     column 2 t + r mod 2
 *   C, D of binary16, r, i     row group + 8 r,           column 2 t + i
 *
 * C and D of wgmma have the same layout, with rows 16 w ... 16 w + 15 in warp w of the four. Its A and B lie in shared
 * memory without swizzle: 8 rows of A (columns of B) times 16 bytes along k are contiguous; the next 16 bytes along k
 * begin 128 bytes behind, the next 8 rows 256 bytes. */
#ifndef HALFULP_GPU_PROBE_PROBE_H
#define HALFULP_GPU_PROBE_PROBE_H

#include "emu/core/port.h"
#include "halfulp/device.h"

enum {
  HU_MMA_F16_F32_K16,
  HU_MMA_F16_F32_K8,
  HU_MMA_F16_F16_K16,
  HU_MMA_F16_F16_K8,
  HU_MMA_BF16_K16,
  HU_MMA_BF16_K8,
  HU_MMA_TF32_K8,
  HU_MMA_TF32_K4,
  HU_MMA_FP8_F32, /* and the three after it: e4m3, e4m3 x e5m2, e5m2 x e4m3, e5m2 */
  HU_MMA_FP8_F16 = HU_MMA_FP8_F32 + 4,
  HU_WGMMA_F16_F32 = HU_MMA_FP8_F16 + 4,
  HU_WGMMA_F16_F16,
  HU_WGMMA_BF16,
  HU_WGMMA_TF32,
  HU_WGMMA_FP8_F32,
  HU_WGMMA_FP8_F16 = HU_WGMMA_FP8_F32 + 4,
  HU_MMA_COUNT = HU_WGMMA_FP8_F16 + 4
};

typedef struct hu_mma_shape {
  uint8_t m, n, k;
  uint8_t each; /* elements of A or B in a register */
  uint8_t half; /* 1: C and D are binary16 */
  uint8_t wgmma;
} hu_mma_shape;

HU_FN hu_mma_shape hui_mma_shape_of(int32_t op) {
  hu_mma_shape shape;
  shape.wgmma = op >= HU_WGMMA_F16_F32;
  shape.m = shape.wgmma ? 64 : 16;
  shape.n = 8;
  shape.half = 0;
  if ((op >= HU_MMA_FP8_F32 && op < HU_WGMMA_F16_F32) || op >= HU_WGMMA_FP8_F32) {
    shape.each = 4;
    shape.k = 32;
    shape.half = (op >= HU_MMA_FP8_F16 && op < HU_WGMMA_F16_F32) || op >= HU_WGMMA_FP8_F16;
    return shape;
  }
  shape.each = op == HU_MMA_TF32_K8 || op == HU_MMA_TF32_K4 || op == HU_WGMMA_TF32 ? 1 : 2;
  shape.k = shape.each == 1 ? (op == HU_MMA_TF32_K4 ? 4 : 8)
                            : (op == HU_MMA_F16_F32_K8 || op == HU_MMA_F16_F16_K8 || op == HU_MMA_BF16_K8 ? 8 : 16);
  shape.half = op == HU_MMA_F16_F16_K16 || op == HU_MMA_F16_F16_K8 || op == HU_WGMMA_F16_F16;
  return shape;
}

/* ---- mma.sync: index of element i of register r of a lane, in A (m x k), B (n x k: columns one after another) and C
 * or D (m x n) ---- */

HU_FN uint32_t hui_mma_place_a(const hu_mma_shape *shape, uint32_t lane, uint32_t reg, uint32_t i) {
  return (lane / 4 + 8 * (reg % 2)) * shape->k + shape->each * (lane % 4) + i + 4 * shape->each * (reg / 2);
}

HU_FN uint32_t hui_mma_place_b(const hu_mma_shape *shape, uint32_t lane, uint32_t reg, uint32_t i) {
  return lane / 4 * shape->k + shape->each * (lane % 4) + i + 4 * shape->each * reg;
}

/* Returns the index in C or D; thread is 0 to 31, for wgmma 0 to 127. */
HU_FN uint32_t hui_mma_place_c(const hu_mma_shape *shape, uint32_t thread, uint32_t reg, uint32_t i) {
  uint32_t lane = thread % 32, row = 16 * (thread / 32) + lane / 4 + 8 * (shape->half ? reg : reg / 2);
  return row * shape->n + 2 * (lane % 4) + (shape->half ? i : reg % 2);
}

HU_FN uint32_t hui_mma_registers_a(const hu_mma_shape *shape) { return shape->m * shape->k / (32u * shape->each); }
HU_FN uint32_t hui_mma_registers_b(const hu_mma_shape *shape) { return shape->n * shape->k / (32u * shape->each); }
HU_FN uint32_t hui_mma_registers_c(const hu_mma_shape *shape) { return shape->half ? 2 : 4; }

/* ---- wgmma: byte of element (row, k) in shared memory; 32 bytes along k ---- */

HU_FN uint32_t hui_wgmma_place(const hu_mma_shape *shape, uint32_t row, uint32_t k) {
  uint32_t byte = k * (4 / shape->each);
  return row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Does what hu_device_mma_at does, for a compute capability; *op gets the number above. */
hu_status hui_mma_of_capability(hu_device_mma *mma, int *op, int capability, size_t i);
/* Returns 10 major + minor of the device's compute capability; 0: no device. */
int hui_device_capability(void);
/* Run `tiles` instructions on device arrays. HU_E_DEVICE: not compiled for this device. */
hu_status hui_probe_mma(int op, size_t tiles, void *out, const void *a, const void *b, const void *c);
hu_status hui_probe_wgmma(int op, size_t tiles, void *out, const void *a, const void *b, const void *c);

#ifdef __cplusplus
}
#endif
#endif
