/* SPDX-License-Identifier: MIT */
/* HU_OP_CONVERT between formats, and hu_codes_check_n: each checks everything; the former then runs run.c. */
#include "halfulp/array.h"

#include "emu/array/run.h"
#include "emu/base/exec.h"
#include "emu/base/operation_check.h"

static hu_status check_memory(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec) {
  hu_strided az = hui_view_memory(z), ax = hui_view_memory(x);
  hu_status status = hui_check_pair(n, &az, &ax);
  if (status != HU_OK || x->kind != HU_VIEW_CODES) return status;
  return hui_view_check_codes(n, x, hui_exec_threads(exec));
}

static hu_status convert(size_t n, hu_array_view *z, hu_array_view *x, const hu_how *how) {
  if (hui_view_unfold(z, how->mode) != HU_OK) return HU_E_FORMAT;
  if (x->kind == HU_VIEW_CODES && hui_view_unfold_source(x) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(how->mode) != HU_OK) return HU_E_MODE;
  if (z->kind == HU_VIEW_BINARY32 && !z->spec.fits_binary32) return HU_E_CARRIER;
  hu_status status = check_memory(n, z, x, how->exec);
  if (status == HU_OK && n) hui_array_run(n, z, x, how->exec, how->events);
  return status;
}

/* Decoding is converting into the carrier, where every value of format lies: no rounding, whatever the mode. */
static hu_status decode(size_t n, hu_array_view *z, hu_array_view *x, const hu_exec *exec) {
  if (hui_view_unfold_source(x) != HU_OK) return HU_E_FORMAT;
  if (z->kind == HU_VIEW_BINARY32 && !x->spec.fits_binary32) return HU_E_CARRIER;
  hu_status status = check_memory(n, z, x, exec);
  if (status == HU_OK && n) hui_array_decode(n, z, x, exec);
  return status;
}

/* Describes one end. The format of any numbers is not looked at. */
static void describe(hu_array_view *view, const void *data, ptrdiff_t stride, const hu_type *type) {
  size_t bytes = hui_carrier_bytes(type);
  int kind = bytes == 8 ? HU_VIEW_BINARY64 : bytes ? HU_VIEW_BINARY32 : HU_VIEW_CODES;
  if (hui_is_plain(type))
    hui_view_values(view, kind, data, stride);
  else
    hui_view_grid(view, kind, data, stride, &type->format);
}

hu_status hui_array_convert(size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  hu_array_view to, from;
  describe(&to, z->data, z->stride, &z->type);
  describe(&from, x->data, x->stride, &x->type);
  return hui_is_plain(&z->type) ? decode(n, &to, &from, how->exec) : convert(n, &to, &from, how);
}

hu_status hu_codes_check_n(size_t n, const void *x, ptrdiff_t incx, hu_format format, const hu_exec *exec,
                           size_t *first) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  hu_status status = hu_format_check(format, NULL);
  hu_covered covered;
  if (status != HU_OK || n == 0) return status;
  size_t size = hui_code_bytes(format), i = 0;
  hu_strided ax = {x, size, incx};
  status = hui_cover(&covered, n, &ax);
  if (status == HU_OK) status = hui_code_array_check(n, x, incx, format, hui_exec_threads(exec));
  if (status != HU_E_CODE || !first) return status;
  while (hui_code_check(hui_load_code((const uint8_t *)x + (ptrdiff_t)i * incx * (ptrdiff_t)size, size), format) ==
         HU_OK)
    i++;
  *first = i;
  return status;
}
