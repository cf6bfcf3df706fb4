/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/array.h: each checks everything, then runs run.c. */
#include "halfulp/array.h"

#include "emu/array/run.h"
#include "emu/base/exec.h"

static hu_status check_memory(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec) {
  hu_strided az = hui_view_memory(z), ax = hui_view_memory(x);
  hu_status status = hui_check_pair(n, &az, &ax);
  if (status != HU_OK || x->kind != HU_VIEW_CODES) return status;
  return hui_view_check_codes(n, x, hui_exec_threads(exec));
}

static hu_status convert(size_t n, hu_array_view *z, hu_array_view *x, hu_mode mode, const hu_exec *exec,
                         hu_events *events) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  if (hui_view_unfold(z, mode) != HU_OK) return HU_E_FORMAT;
  if (x->kind == HU_VIEW_CODES && hui_view_unfold_source(x) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  if (z->kind == HU_VIEW_BINARY32 && !z->spec.fits_binary32) return HU_E_CARRIER;
  hu_status status = check_memory(n, z, x, exec);
  if (status == HU_OK && n) hui_array_run(n, z, x, exec, events);
  return status;
}

/* Decoding is converting into the carrier, where every value of format lies: no rounding, whatever the mode. */
static hu_status decode(size_t n, hu_array_view *z, hu_array_view *x, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  if (hui_view_unfold_source(x) != HU_OK) return HU_E_FORMAT;
  if (z->kind == HU_VIEW_BINARY32 && !x->spec.fits_binary32) return HU_E_CARRIER;
  hu_status status = check_memory(n, z, x, exec);
  if (status == HU_OK && n) hui_array_decode(n, z, x, exec);
  return status;
}

hu_status hu_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format format,
                        hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_array_view to = hui_view_of_grid(HU_VIEW_BINARY32, z, incz, format);
  hu_array_view from = hui_view_of_values(HU_VIEW_BINARY32, x, incx);
  return convert(n, &to, &from, mode, exec, events);
}

hu_status hu_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format format,
                          hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_array_view to = hui_view_of_grid(HU_VIEW_BINARY64, z, incz, format);
  hu_array_view from = hui_view_of_values(HU_VIEW_BINARY64, x, incx);
  return convert(n, &to, &from, mode, exec, events);
}

hu_status hu_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format format, hu_mode mode,
                      const hu_exec *exec, hu_events *events) {
  hu_array_view to = hui_view_of_codes(z, incz, format), from = hui_view_of_values(HU_VIEW_BINARY32, x, incx);
  return convert(n, &to, &from, mode, exec, events);
}

hu_status hu_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format format,
                        hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_array_view to = hui_view_of_codes(z, incz, format), from = hui_view_of_values(HU_VIEW_BINARY64, x, incx);
  return convert(n, &to, &from, mode, exec, events);
}

hu_status hu_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                      const hu_exec *exec) {
  hu_array_view to = hui_view_of_values(HU_VIEW_BINARY32, z, incz), from = hui_view_of_codes(x, incx, format);
  return decode(n, &to, &from, exec);
}

hu_status hu_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                        const hu_exec *exec) {
  hu_array_view to = hui_view_of_values(HU_VIEW_BINARY64, z, incz), from = hui_view_of_codes(x, incx, format);
  return decode(n, &to, &from, exec);
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

hu_status hu_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                       hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_array_view to = hui_view_of_codes(z, incz, fz), from = hui_view_of_codes(x, incx, fx);
  return convert(n, &to, &from, mode, exec, events);
}
