/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/array.h: each checks everything, then runs run.c. */
#include "halfulp/array.h"

#include "emu/array/run.h"
#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/base/exec.h"

static hu_status check_ends(size_t n, const void *z, hu_array_end ez, const void *x, hu_array_end ex,
                            const hu_exec *exec) {
  hu_strided az = {z, ez.size, ez.stride}, ax = {x, ex.size, ex.stride};
  hu_status status = hui_check_pair(n, &az, &ax);
  if (status != HU_OK || ex.kind != HU_ARRAY_END_CODES) return status;
  return hui_code_array_check(n, x, ex.stride, ex.format, hui_exec_threads(exec));
}

static hu_array_end values32(hu_format format, ptrdiff_t stride) {
  hu_array_end end = {HU_ARRAY_END_BINARY32, 4, stride, format};
  return end;
}

static hu_array_end values64(hu_format format, ptrdiff_t stride) {
  hu_array_end end = {HU_ARRAY_END_BINARY64, 8, stride, format};
  return end;
}

static hu_array_end codes(hu_format format, ptrdiff_t stride) {
  hu_array_end end = {HU_ARRAY_END_CODES, hui_code_bytes(format), stride, format};
  return end;
}

static hu_status convert(size_t n, void *z, hu_array_end ez, const void *x, hu_array_end ex, hu_mode mode,
                         const hu_exec *exec, hu_events *events) {
  if (hu_format_check(ez.format, NULL) != HU_OK) return HU_E_FORMAT;
  /* Values are given with the format of the other end. */
  if (ex.kind == HU_ARRAY_END_CODES && hu_format_check(ex.format, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  if (ez.kind == HU_ARRAY_END_BINARY32 && !hu_format_fits_binary32(ez.format)) return HU_E_CARRIER;
  hu_status status = check_ends(n, z, ez, x, ex, exec);
  if (status == HU_OK && n) hui_array_run(n, z, ez, x, ex, mode, exec, events);
  return status;
}

hu_status hu_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format format,
                        hu_mode mode, const hu_exec *exec, hu_events *events) {
  return convert(n, z, values32(format, incz), x, values32(format, incx), mode, exec, events);
}

hu_status hu_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format format,
                          hu_mode mode, const hu_exec *exec, hu_events *events) {
  return convert(n, z, values64(format, incz), x, values64(format, incx), mode, exec, events);
}

hu_status hu_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format format, hu_mode mode,
                      const hu_exec *exec, hu_events *events) {
  return convert(n, z, codes(format, incz), x, values32(format, incx), mode, exec, events);
}

hu_status hu_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format format,
                        hu_mode mode, const hu_exec *exec, hu_events *events) {
  return convert(n, z, codes(format, incz), x, values64(format, incx), mode, exec, events);
}

/* Decoding is converting into the carrier, where every value of format lies: no rounding, whatever the mode. */
hu_status hu_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                      const hu_exec *exec) {
  hu_status status = hu_format_check(format, NULL);
  if (status != HU_OK) return status;
  if (!hu_format_fits_binary32(format)) return HU_E_CARRIER;
  status = check_ends(n, z, values32(format, incz), x, codes(format, incx), exec);
  if (status == HU_OK && n) hui_array_decode(n, z, values32(format, incz), x, codes(format, incx), exec);
  return status;
}

hu_status hu_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format format,
                        const hu_exec *exec) {
  hu_status status = hu_format_check(format, NULL);
  if (status != HU_OK) return status;
  status = check_ends(n, z, values64(format, incz), x, codes(format, incx), exec);
  if (status == HU_OK && n) hui_array_decode(n, z, values64(format, incz), x, codes(format, incx), exec);
  return status;
}

hu_status hu_codes_check_n(size_t n, const void *x, ptrdiff_t incx, hu_format format, const hu_exec *exec,
                           size_t *first) {
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
  return convert(n, z, codes(fz, incz), x, codes(fx, incx), mode, exec, events);
}
