/* SPDX-License-Identifier: MIT */
/* emu/base/array_extent.h - finds where a strided array lies in memory, and whether a result may be written while
 * another is read. */
#ifndef HALFULP_EMU_BASE_ARRAY_EXTENT_H
#define HALFULP_EMU_BASE_ARRAY_EXTENT_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

typedef struct hu_strided {
  const void *data;
  size_t size; /* bytes of an element, a power of two */
  ptrdiff_t stride;
} hu_strided;

/* The bytes an array covers, as addresses. */
typedef struct hu_covered {
  uintptr_t first, past;
} hu_covered;

static inline size_t hui_strided_step(const hu_strided *x) {
  return x->stride < 0 ? (size_t)0 - (size_t)x->stride : (size_t)x->stride;
}

/* n >= 1. HU_E_NULL, HU_E_ALIGN, HU_E_SHAPE (beyond the address space). */
static inline hu_status hui_cover(hu_covered *covered, size_t n, const hu_strided *x) {
  size_t bytes;
  if (!x->data) return HU_E_NULL;
  if ((uintptr_t)x->data & (x->size - 1)) return HU_E_ALIGN;
  if (__builtin_mul_overflow(n - 1, hui_strided_step(x), &bytes) || __builtin_mul_overflow(bytes, x->size, &bytes)) {
    return HU_E_SHAPE;
  }
  if (bytes > PTRDIFF_MAX - x->size) return HU_E_SHAPE;
  covered->first = (uintptr_t)x->data - (x->stride < 0 ? bytes : 0);
  covered->past = covered->first + bytes + x->size;
  return covered->past < covered->first ? HU_E_SHAPE : HU_OK;
}

/* May z (stride not 0) be written while x is read? Arrays apart, the same array, and equally strided ones that
 * interleave, which share no element. */
static inline int hui_may_share(const hu_strided *z, const hu_covered *sz, const hu_strided *x, const hu_covered *sx) {
  if (sz->past <= sx->first || sx->past <= sz->first) return 1;
  if (z->size != x->size || z->stride != x->stride) return 0;
  if (z->data == x->data) return 1;
  size_t step = hui_strided_step(z) * z->size;
  uintptr_t a = (uintptr_t)z->data, b = (uintptr_t)x->data, apart = (a > b ? a - b : b - a) % step;
  return apart >= z->size && step - apart >= z->size;
}

/* HU_OK if z's n elements may be made from x's: strides, addresses, overlap. */
static inline hu_status hui_check_pair(size_t n, const hu_strided *z, const hu_strided *x) {
  hu_covered sz, sx;
  if (z->stride == 0) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  hu_status status = hui_cover(&sz, n, z);
  if (status == HU_OK) status = hui_cover(&sx, n, x);
  if (status != HU_OK) return status;
  return hui_may_share(z, &sz, x, &sx) ? HU_OK : HU_E_OVERLAP;
}

#endif
