/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/wide_carries.h - carries between the bins of wide sums, sixteen columns side by side: one text
 * that every level compiles with its own vectors. */
#ifndef HALFULP_EMU_GEMM_TILES_WIDE_CARRIES_H
#define HALFULP_EMU_GEMM_TILES_WIDE_CARRIES_H

#include "emu/gemm/tiles/kernels.h"

#define HU_CARRY_FN static inline __attribute__((always_inline)) void

/* Returns floor(value / 2^width): as a logical shift of value + 2^63, which every instruction set has. */
static inline __attribute__((always_inline)) int64_t hui_carry(int64_t value, int32_t width) {
  const uint64_t half = (uint64_t)1 << 63;
  return (int64_t)((((uint64_t)value ^ half) >> width) - (half >> width));
}

/* Carries up, so that all bins but the last, which keeps what is above, hold digits 0 ... 2^width - 1. */
HU_CARRY_FN hui_propagate_carries(int32_t width, size_t bins, int64_t *z) {
  const int64_t mask = ((int64_t)1 << width) - 1;
  int64_t carry[HU_WIDE_COLS] = {0};
  for (size_t i = 0; i + 1 < bins; i++, z += HU_WIDE_COLS) {
    for (size_t c = 0; c < HU_WIDE_COLS; c++) {
      int64_t value = z[c] + carry[c];
      z[c] = value & mask;
      carry[c] = hui_carry(value, width);
    }
  }
  for (size_t c = 0; c < HU_WIDE_COLS; c++) z[c] += carry[c];
}

/* Writes the sum over the bins modulo 2^(width bins) as 64-bit limbs, least first, in place of the first bins. width
 * divides 64, and 64 / width the number of bins. */
HU_CARRY_FN hui_join(int32_t width, size_t bins, int64_t *z) {
  const uint64_t mask = ((uint64_t)1 << width) - 1;
  int64_t carry[HU_WIDE_COLS] = {0};
  const int64_t *from = z;
  for (size_t i = 0; i < bins; i += 64 / (size_t)width, z += HU_WIDE_COLS) {
    uint64_t limb[HU_WIDE_COLS] = {0};
    for (int32_t at = 0; at < 64; at += width, from += HU_WIDE_COLS) {
      for (size_t c = 0; c < HU_WIDE_COLS; c++) {
        int64_t value = from[c] + carry[c];
        limb[c] |= ((uint64_t)value & mask) << at;
        carry[c] = hui_carry(value, width);
      }
    }
    memcpy(z, limb, sizeof limb);
  }
}

#endif
