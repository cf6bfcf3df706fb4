/* SPDX-License-Identifier: MIT */
/* emu/base/matrix_extent.h - finds where a matrix lies in memory, whether that is possible, and whether two matrices
 * share a byte. */
#ifndef HALFULP_EMU_BASE_MATRIX_EXTENT_H
#define HALFULP_EMU_BASE_MATRIX_EXTENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "halfulp/status.h"

/* The bytes of a matrix: rows of `width` bytes, `pitch` apart. */
typedef struct hu_matrix_extent {
  uintptr_t first, past; /* first = past: no elements */
  size_t width, pitch;
} hu_matrix_extent;

static inline hu_status hui_matrix_extent_of(hu_matrix_extent *extent, const void *data, size_t rows, size_t cols,
                                             size_t ld, size_t size, size_t align) {
  size_t bytes;
  memset(extent, 0, sizeof *extent);
  if (ld < cols) return HU_E_SHAPE;
  if (rows == 0 || cols == 0) return HU_OK;
  if (!data) return HU_E_NULL;
  if ((uintptr_t)data % align) return HU_E_ALIGN;
  if (__builtin_mul_overflow(rows - 1, ld, &bytes) || __builtin_add_overflow(bytes, cols, &bytes)) return HU_E_SHAPE;
  if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > PTRDIFF_MAX) return HU_E_SHAPE;
  extent->first = (uintptr_t)data;
  if (__builtin_add_overflow(extent->first, bytes, &extent->past)) return HU_E_SHAPE;
  extent->width = cols * size;
  /* A single row has no pitch: any that holds it will do, and ld may not fit the address space. */
  extent->pitch = rows == 1 ? extent->width : ld * size;
  return HU_OK;
}

/* Do the two share a byte? Matrices of one pitch may lie side by side in the same rows. */
static inline int hui_matrix_extents_overlap(const hu_matrix_extent *x, const hu_matrix_extent *y) {
  if (x->first >= y->past || y->first >= x->past) return 0;
  if (x->first == x->past || y->first == y->past) return 0;
  if (x->pitch != y->pitch) return 1;
  size_t apart = x->first > y->first ? (x->first - y->first) % x->pitch : (y->first - x->first) % x->pitch;
  size_t low = x->first > y->first ? y->width : x->width, high = x->first > y->first ? x->width : y->width;
  return apart < low || x->pitch - apart < high;
}

#endif
