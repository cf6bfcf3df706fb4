/* SPDX-License-Identifier: MIT */
/* gpu/base/codes.cuh - arrays of codes in device memory: elements of 1, 2 or 4 bytes, aligned, at any stride. */
#ifndef HALFULP_GPU_CODES_CUH
#define HALFULP_GPU_CODES_CUH

#include "emu/core/round.h"
#include "gpu/base/launch.cuh"

/* An array of codes; elements of `size` bytes. */
typedef struct hu_device_codes {
  const uint8_t *data;
  ptrdiff_t stride;
  uint32_t size;
  hu_spec spec;
} hu_device_codes;

HU_DEVICE uint32_t hui_device_load_code(const hu_device_codes &x, size_t i) {
  const uint8_t *at = x.data + (ptrdiff_t)i * x.stride * (ptrdiff_t)x.size;
  if (x.size == 1) return *at;
  if (x.size == 2) return *(const uint16_t *)(const void *)at;
  return *(const uint32_t *)(const void *)at;
}

HU_DEVICE hu_num hui_load_num(const hu_device_codes &x, size_t i) {
  return hui_unpack(&x.spec, hui_device_load_code(x, i));
}

/* Stores element i of z. */
HU_DEVICE void hui_device_put_code(uint8_t *z, ptrdiff_t stride, uint32_t size, size_t i, uint32_t code) {
  uint8_t *at = z + (ptrdiff_t)i * stride * (ptrdiff_t)size;
  if (size == 1) {
    *at = (uint8_t)code;
  } else if (size == 2) {
    *(uint16_t *)(void *)at = (uint16_t)code;
  } else {
    *(uint32_t *)(void *)at = code;
  }
}

#endif
