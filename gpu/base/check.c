/* SPDX-License-Identifier: MIT */
/* gpu/base/check.c - see check.h. Nothing here looks at what a pointer points to. */
#include "gpu/base/check.h"

#include "emu/base/array_extent.h"
#include "emu/core/round.h"

hu_status hui_check_events(const hu_events *events) {
  return (uintptr_t)events % sizeof(uint64_t) ? HU_E_ALIGN : HU_OK;
}

hu_status hui_check_arrays(size_t n, const void *z, size_t zsize, ptrdiff_t incz, const void *x, size_t xsize,
                           ptrdiff_t incx) {
  hu_strided az = {z, zsize, incz}, ax = {x, xsize, incx};
  return hui_check_pair(n, &az, &ax);
}

size_t hui_type_bytes(const hu_type *type) {
  size_t carrier = hui_carrier_bytes(type);
  return carrier ? carrier : hui_code_bytes(type->format);
}

hu_status hui_check_formats(size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  int rounds = !hui_is_plain(&z->type), codes = x->type.kind == HU_TYPE_CODES;
  if (rounds && hu_format_check(z->type.format, NULL) != HU_OK) return HU_E_FORMAT;
  if (codes && hu_format_check(x->type.format, NULL) != HU_OK) return HU_E_FORMAT;
  if (rounds && hu_mode_check(how->mode) != HU_OK) return HU_E_MODE;
  if (hui_carrier_bytes(&z->type) == 4 && !hu_format_fits_binary32(rounds ? z->type.format : x->type.format))
    return HU_E_CARRIER;
  hu_status status =
      hui_check_arrays(n, z->data, hui_type_bytes(&z->type), z->stride, x->data, hui_type_bytes(&x->type), x->stride);
  return status == HU_OK && rounds ? hui_check_events(how->events) : status;
}

hu_status hui_check_pack(size_t n, const void *z, size_t zbytes, const void *x, size_t xbytes, unsigned width) {
  if (width < 1 || width > 8 || zbytes == SIZE_MAX || xbytes == SIZE_MAX) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  if (!z || !x) return HU_E_NULL;
  if (zbytes > PTRDIFF_MAX || xbytes > PTRDIFF_MAX) return HU_E_SHAPE;
  uintptr_t a = (uintptr_t)z, b = (uintptr_t)x;
  return a + zbytes <= b || b + xbytes <= a ? HU_OK : HU_E_OVERLAP;
}
