/* SPDX-License-Identifier: MIT */
/* emu/hadamard/lanes.h - blocks of docs/hadamard.md through vector lanes, in the surroundings of emu/base/float_env.h,
 * to nearest: one table per level. */
#ifndef HALFULP_EMU_HADAMARD_LANES_H
#define HALFULP_EMU_HADAMARD_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "emu/simd/of_level.h"

enum { HU_HADAMARD_PANEL = 8192 }; /* elements that are taken at a time where blocks lie in columns */

typedef struct hu_hadamard_piece {
  uint32_t n, inverse;
  float factor;
  const uint32_t *signs; /* a set bit inverts; bit 0 of word 0 is the first element's */
  int bypass;            /* 1: write around the caches; z is much larger than they are */
  size_t period;         /* signs of elements 32 w ... are in word w & period */
} hu_hadamard_piece;

typedef struct hu_hadamard_lanes {
  /* `count` elements next to each other, whole blocks. z may be x. */
  void (*along_rows)(const hu_hadamard_piece *piece, size_t count, float *z, const float *x);
  /* One block in each of up to HU_HADAMARD_PANEL / n columns, n rows. z may be x with ldz = ldx. */
  void (*along_columns)(const hu_hadamard_piece *piece, size_t cols, float *z, size_t ldz, const float *x, size_t ldx);
} hu_hadamard_lanes;
extern const hu_hadamard_lanes HU_OF_LEVEL(hu_hadamard_lanes);

#endif
