/* SPDX-License-Identifier: MIT */
/* The array calls: check everything, then run. */
#include "halfulp/array.h"

#include "emu/array_run.h"

static size_t magnitude(ptrdiff_t stride) { return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride; }

/* The bytes an array covers, as addresses. */
typedef struct span {
  uintptr_t first, past;
} span;

static hu_status span_of(span *s, size_t n, const void *x, hu_ends e) {
  size_t step = magnitude(e.stride), bytes;
  if (!x) return HU_E_NULL;
  if ((uintptr_t)x % e.size) return HU_E_ALIGN;
  if (__builtin_mul_overflow(n - 1, step, &bytes) || __builtin_mul_overflow(bytes, e.size, &bytes)) return HU_E_SHAPE;
  if (bytes > PTRDIFF_MAX - e.size) return HU_E_SHAPE;
  s->first = (uintptr_t)x - (e.stride < 0 ? bytes : 0);
  s->past = s->first + bytes + e.size;
  return s->past < s->first ? HU_E_SHAPE : HU_OK;
}

/* Equally strided arrays that interleave share no element. */
static int interleave(const void *z, hu_ends ez, const void *x, hu_ends ex) {
  size_t step = magnitude(ez.stride) * ez.size;
  uintptr_t apart = (uintptr_t)z > (uintptr_t)x ? (uintptr_t)z - (uintptr_t)x : (uintptr_t)x - (uintptr_t)z;
  if (ez.stride != ex.stride || ez.size != ex.size) return 0;
  return apart % step >= ez.size && step - apart % step >= ez.size;
}

static hu_status check_ends(size_t n, const void *z, hu_ends ez, const void *x, hu_ends ex) {
  span sz, sx;
  if (ez.stride == 0) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  hu_status s = span_of(&sz, n, z, ez);
  if (s == HU_OK) s = span_of(&sx, n, x, ex);
  if (s != HU_OK) return s;
  if (sz.past <= sx.first || sx.past <= sz.first) return HU_OK;
  if (z == x && ez.size == ex.size && ez.stride == ex.stride) return HU_OK;
  return interleave(z, ez, x, ex) ? HU_OK : HU_E_OVERLAP;
}

static hu_ends values32(hu_format f, ptrdiff_t stride) {
  hu_ends e = {HU_ENDS_BINARY32, 4, stride, f};
  return e;
}

static hu_ends values64(hu_format f, ptrdiff_t stride) {
  hu_ends e = {HU_ENDS_BINARY64, 8, stride, f};
  return e;
}

static hu_ends codes(hu_format f, ptrdiff_t stride) {
  uint32_t width = (uint32_t)f.sign + f.e + f.m;
  hu_ends e = {HU_ENDS_CODES, width <= 8 ? 1 : width <= 16 ? 2 : 4, stride, f};
  return e;
}

static hu_status convert(size_t n, void *z, hu_ends ez, const void *x, hu_ends ex, hu_mode mode, const hu_exec *exec,
                         hu_events *events) {
  if (hu_format_check(ez.format, NULL) != HU_OK || hu_format_check(ex.format, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  if (ez.kind == HU_ENDS_BINARY32 && !hu_format_fits_binary32(ez.format)) return HU_E_CARRIER;
  hu_status s = check_ends(n, z, ez, x, ex);
  if (s == HU_OK && n) hu_array_run(n, z, ez, x, ex, mode, exec, events);
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
  s = check_ends(n, z, values32(f, incz), x, codes(f, incx));
  if (s == HU_OK && n) hu_array_decode(n, z, values32(f, incz), x, codes(f, incx), exec);
  return s;
}

hu_status hu_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_format f,
                        const hu_exec *exec) {
  hu_status s = hu_format_check(f, NULL);
  if (s != HU_OK) return s;
  s = check_ends(n, z, values64(f, incz), x, codes(f, incx));
  if (s == HU_OK && n) hu_array_decode(n, z, values64(f, incz), x, codes(f, incx), exec);
  return s;
}

hu_status hu_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx, hu_format fx,
                       hu_mode mode, const hu_exec *exec, hu_events *events) {
  return convert(n, z, codes(fz, incz), x, codes(fx, incx), mode, exec, events);
}
