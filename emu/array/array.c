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
  hu_status s = hui_check_pair(n, &az, &ax);
  if (s != HU_OK || ex.kind != HU_ARRAY_END_CODES) return s;
  return hui_code_array_check(n, x, ex.stride, ex.format, hui_exec_threads(exec));
}

static hu_array_end values32(hu_format f, ptrdiff_t stride) {
  hu_array_end e = {HU_ARRAY_END_BINARY32, 4, stride, f};
  return e;
}

static hu_array_end values64(hu_format f, ptrdiff_t stride) {
  hu_array_end e = {HU_ARRAY_END_BINARY64, 8, stride, f};
  return e;
}

static hu_array_end codes(hu_format f, ptrdiff_t stride) {
  hu_array_end e = {HU_ARRAY_END_CODES, hui_code_bytes(f), stride, f};
  return e;
}

static hu_status convert(size_t n, void *z, hu_array_end ez, const void *x, hu_array_end ex, hu_mode mode,
                         const hu_exec *exec, hu_events *events) {
  if (hu_format_check(ez.format, NULL) != HU_OK) return HU_E_FORMAT;
  /* Values are given with the format of the other end. */
  if (ex.kind == HU_ARRAY_END_CODES && hu_format_check(ex.format, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  if (ez.kind == HU_ARRAY_END_BINARY32 && !hu_format_fits_binary32(ez.format)) return HU_E_CARRIER;
  hu_status s = check_ends(n, z, ez, x, ex, exec);
  if (s == HU_OK && n) hui_array_run(n, z, ez, x, ex, mode, exec, events);
  return s;
}

hu_status hu_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f, hu_mode mode,
                        const hu_exec *exec, hu_events *events) {
  return convert(n, z, values32(f, incz), x, values32(f, incx), mode, exec, events);
}

hu_status hu_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format f,
                          hu_mode mode, const hu_exec *exec, hu_events *events) {
  return convert(n, z, values64(f, incz), x, values64(f, incx), mode, exec, events);
}

hu_status hu_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_format f, hu_mode mode,
                      const hu_exec *exec, hu_events *events) {
  return convert(n, z, codes(f, incz), x, values32(f, incx), mode, exec, events);
}

hu_status hu_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format f, hu_mode mode,
                        const hu_exec *exec, hu_events *events) {
  return convert(n, z, codes(f, incz), x, values64(f, incx), mode, exec, events);
}

/* Decoding is converting into the carrier, where every value of f lies: no rounding, whatever the mode. */
hu_status hu_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                      const hu_exec *exec) {
  hu_status s = hu_format_check(f, NULL);
  if (s != HU_OK) return s;
  if (!hu_format_fits_binary32(f)) return HU_E_CARRIER;
  s = check_ends(n, z, values32(f, incz), x, codes(f, incx), exec);
  if (s == HU_OK && n) hui_array_decode(n, z, values32(f, incz), x, codes(f, incx), exec);
  return s;
}

hu_status hu_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                        const hu_exec *exec) {
  hu_status s = hu_format_check(f, NULL);
  if (s != HU_OK) return s;
  s = check_ends(n, z, values64(f, incz), x, codes(f, incx), exec);
  if (s == HU_OK && n) hui_array_decode(n, z, values64(f, incz), x, codes(f, incx), exec);
  return s;
}

hu_status hu_codes_check_n(size_t n, const void *x, ptrdiff_t incx, hu_format f, const hu_exec *exec, size_t *first) {
  hu_status s = hu_format_check(f, NULL);
  hu_covered covered;
  if (s != HU_OK || n == 0) return s;
  size_t size = hui_code_bytes(f), i = 0;
  hu_strided ax = {x, size, incx};
  s = hui_cover(&covered, n, &ax);
  if (s == HU_OK) s = hui_code_array_check(n, x, incx, f, hui_exec_threads(exec));
  if (s != HU_E_CODE || !first) return s;
  while (hui_code_check(hui_load_code((const uint8_t *)x + (ptrdiff_t)i * incx * (ptrdiff_t)size, size), f) == HU_OK)
    i++;
  *first = i;
  return s;
}

hu_status hu_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                       hu_mode mode, const hu_exec *exec, hu_events *events) {
  return convert(n, z, codes(fz, incz), x, codes(fx, incx), mode, exec, events);
}
