/* SPDX-License-Identifier: MIT */
/* gpu/base/check.c - see check.h. Nothing here looks at what a pointer points to. */
#include "gpu/base/check.h"

#include "emu/base/array_extent.h"

hu_status hui_check_rounding(hu_format format, hu_mode mode, int carrier) {
  if (hu_format_check(format, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  return carrier && !hu_format_fits_binary32(format) ? HU_E_CARRIER : HU_OK;
}

hu_status hui_check_events(const hu_events *events) {
  return (uintptr_t)events % sizeof(uint64_t) ? HU_E_ALIGN : HU_OK;
}

hu_status hui_check_arrays(size_t n, const void *z, size_t zsize, ptrdiff_t incz, const void *x, size_t xsize,
                           ptrdiff_t incx) {
  hu_strided az = {z, zsize, incz}, ax = {x, xsize, incx};
  return hui_check_pair(n, &az, &ax);
}

hu_status hui_check_pack(size_t n, const void *z, size_t zbytes, const void *x, size_t xbytes, unsigned width) {
  if (width < 1 || width > 8 || zbytes == SIZE_MAX || xbytes == SIZE_MAX) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  if (!z || !x) return HU_E_NULL;
  if (zbytes > PTRDIFF_MAX || xbytes > PTRDIFF_MAX) return HU_E_SHAPE;
  uintptr_t a = (uintptr_t)z, b = (uintptr_t)x;
  return a + zbytes <= b || b + xbytes <= a ? HU_OK : HU_E_OVERLAP;
}
