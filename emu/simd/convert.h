/* SPDX-License-Identifier: MIT */
/* emu/simd/convert.h - kernels that convert contiguous arrays between binary32 and codes. Each level has one table of
 * them (level.h). */
#ifndef HALFULP_EMU_SIMD_CONVERT_H
#define HALFULP_EMU_SIMD_CONVERT_H

#include <stddef.h>

#include "halfulp/array.h"

#include "emu/core/round.h"
#include "emu/simd/of_level.h"

typedef struct hu_lane_constants hu_lane_constants; /* the lane constants of a hu_spec (emu/core/lane_constants.h) */

/* One contiguous piece of a call, at most 2^31 elements; kernels split it as they like. */
typedef struct hu_piece {
  size_t n;
  void *z;            /* float patterns, or codes of 1, 2 or 4 bytes */
  const uint32_t *x;  /* binary32 patterns */
  uint64_t key, word; /* random words: element i draws number word + i */
  int bypass;         /* 1: write around the caches, the output is much larger than they are */
} hu_piece;

typedef struct hu_kernels {
  /* Grid values; then codes in 1, 2, 4 bytes, by hui_by_size. Events are added. */
  void (*quantize)(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events);
  void (*encode[3])(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events);
  /* n codes of 1, 2, 4 bytes to binary32 patterns; the format fits binary32. */
  void (*decode[3])(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x);
  /* binary64 to binary32 patterns, rounded to odd; returns 1 if an element was finite and at or beyond 2^127. */
  int (*to_odd)(size_t n, uint32_t *z, const uint64_t *x);
  /* quantize, encode, decode for a caller that has entered the floating-point environment (emu/base/float_env.h) in the
   * direction of the mode, any for decode, and leaves it after its last call: the others do that each time. */
  void (*quantize_within)(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events);
  void (*encode_within[3])(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events);
  void (*decode_within[3])(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x);
} hu_kernels;
extern const hu_kernels HU_OF_LEVEL(hu_kernels);

/* Where a table has codes of 1, 2 or 4 bytes: the logarithm, which for these is half of them. */
static inline size_t hui_by_size(size_t bytes) { return bytes >> 1; }

#endif
