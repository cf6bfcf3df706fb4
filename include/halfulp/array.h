/* SPDX-License-Identifier: MIT */
/* halfulp/array.h - quantize, encode, decode and convert arrays, at memory speed.
 *
 *   hu_format f = hu_float8_e4m3fn();         // formats/ocp.h
 *   hu_mode rne = {0};
 *   hu_events ev = {0};
 *   hu_status s = hu_quantize_n(n, z, 1, x, 1, f, rne, NULL, &ev);
 *
 * Each element is what the one-value call of scalar.h returns, with R = the high N bits of word i of exec->stream: the
 * same bits for every thread count, instruction set, stride and device. No allocation. These rules hold for all array
 * calls of the library:
 *
 *   elements   element i of x is x[i * incx], of z is z[i * incz]; strides count elements; incz must not be 0, and incx
 *              may be (one value for all)
 *   codes      are stored one to a uint8_t, uint16_t or uint32_t (hu_limits.storage), bits above the width 0. One that
 *              is read with such a bit set is refused: HU_E_CODE, from every call with a status, for every array,
 *              matrix or single code that it reads. In packed codes, of which a byte holds two, such bits are the next
 *              code: hu_unpack_n gives each a byte of its own. In signed integer types (HU_TYPE_INT4, int4 and all
 *              signed fixed-point numbers, code=twos of scaled.h) these bits may repeat the sign instead, as -1 in an
 *              int8_t does for int4. Calls on one code that have no status (scalar.h, core.h) ignore them, and so do
 *              those of oracle.h on one code, which say what the former must return
 *   pointers   are aligned to their element; n may be 0, and then pointers may be NULL
 *   overlap    x and z may be the same array where the element sizes and strides are the same, else they must not
 *              overlap (elements of equally strided arrays may interleave)
 *   exec       may be NULL: one thread, every kernel level, and the stream (0, 0), so that stochastic modes draw the
 *              same words in every such call. For words of its own give each call a stream (the next one: counter + n)
 *   where      exec->where is the place that a call runs at: as it is zero, this CPU; hu_cuda of device.h gives a CUDA
 *              device, which all pointers to data are of then. Calls that do not run there return HU_E_DEVICE and look
 *              at nothing
 *   events     may be NULL, else the counts are added to it
 *   errors     HU_E_FORMAT, HU_E_MODE, HU_E_CARRIER (the format's grid does not fit the array's binary32), HU_E_NULL,
 *              HU_E_SHAPE, HU_E_ALIGN, HU_E_OVERLAP, HU_E_CODE; outputs and events are untouched then */
#ifndef HALFULP_ARRAY_H
#define HALFULP_ARRAY_H

#include "halfulp/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hu_apply of HU_OP_CONVERT (view.h) with an argument for each part ---- */

/* z[i] = x[i] converted. */
static inline HU_MUST_CHECK hu_status hu_apply_convert(size_t n, hu_output z, hu_view x, hu_mode mode,
                                                       const hu_exec *exec, hu_events *events) {
  hu_how how;
  how.mode = mode; /* in its place: a copy of a small record waits for its parts */
  how.exec = exec;
  how.events = events;
  return hu_apply(HU_OP_CONVERT, n, &z, &x, &how);
}

/* z[i] = the value of format that x[i] rounds to. -0, infinities and NaN become what format has for them (NaN is
 * 0x7FC00000, in binary64 0x7FF8000000000000). Binary32 to binary32. */
static inline HU_MUST_CHECK hu_status hu_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                                    hu_format format, hu_mode mode, const hu_exec *exec,
                                                    hu_events *events) {
  return hu_apply_convert(n, hu_values_out(z, incz, format), hu_floats(x, incx), mode, exec, events);
}
/* The same, binary64 to binary64. */
static inline HU_MUST_CHECK hu_status hu_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x,
                                                      ptrdiff_t incx, hu_format format, hu_mode mode,
                                                      const hu_exec *exec, hu_events *events) {
  return hu_apply_convert(n, hu_values64_out(z, incz, format), hu_doubles(x, incx), mode, exec, events);
}
/* z[i] = the code of format that x[i] rounds to, of binary32 numbers. */
static inline HU_MUST_CHECK hu_status hu_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                                  hu_format format, hu_mode mode, const hu_exec *exec,
                                                  hu_events *events) {
  return hu_apply_convert(n, hu_codes_out(z, incz, format), hu_floats(x, incx), mode, exec, events);
}
/* The same, of binary64 numbers. */
static inline HU_MUST_CHECK hu_status hu_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                                    hu_format format, hu_mode mode, const hu_exec *exec,
                                                    hu_events *events) {
  return hu_apply_convert(n, hu_codes_out(z, incz, format), hu_doubles(x, incx), mode, exec, events);
}
/* z[i] = the value of code x[i] of format; exact (HU_E_CARRIER if binary32 does not hold the grid). */
static inline HU_MUST_CHECK hu_status hu_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                  hu_format format, const hu_exec *exec) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  return hu_apply_convert(n, hu_floats_out(z, incz), hu_codes(x, incx, format), rne, exec, NULL);
}
/* The same in binary64, which holds every grid. */
static inline HU_MUST_CHECK hu_status hu_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                                    hu_format format, const hu_exec *exec) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  return hu_apply_convert(n, hu_doubles_out(z, incz), hu_codes(x, incx, format), rne, exec, NULL);
}
/* Codes of fx to codes of fz, one rounding. binary16 and bfloat16 arrays are codes of those formats. */
static inline HU_MUST_CHECK hu_status hu_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                                   ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                                   hu_events *events) {
  return hu_apply_convert(n, hu_codes_out(z, incz, fz), hu_codes(x, incx, fx), mode, exec, events);
}

/* HU_OK if no code of x has bits above the width of format, else HU_E_CODE, and *first, if not NULL, becomes the number
 * of the first one that has. Calls with a status on arrays of the host look at their codes themselves; a caller asks
 * for a message that names the code, or before a call on a device (device.h). */
HU_API HU_MUST_CHECK hu_status hu_codes_check_n(size_t n, const void *x, ptrdiff_t incx, hu_format format,
                                                const hu_exec *exec, size_t *first);

/* Dense packing of codes of `width` bits (1..8): code i occupies bits i*width .. i*width + width - 1 of the output seen
 * as one little-endian bit string (two 4-bit codes a byte, the first in the low half; four 6-bit codes in three bytes).
 * hu_pack_size gives the bytes, ceil(n * width / 8), or SIZE_MAX if that overflows; spare bits of the last byte are 0.
 * hu_pack_n reads one code per byte: HU_E_CODE if one has bits above width. It knows no type, so a signed integer that
 * repeats its sign there is refused, too (hu_scaled_pack takes it). z and x must not overlap. HU_E_SHAPE if width is
 * not 1..8. */
static inline size_t hu_pack_size(size_t n, unsigned width) {
  return width && n / 8 > SIZE_MAX / width ? SIZE_MAX : n / 8 * width + (n % 8 * width + 7) / 8;
}
HU_API HU_MUST_CHECK hu_status hu_pack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width,
                                         const hu_exec *exec); /* n codes, a byte each, to packed bits */
HU_API HU_MUST_CHECK hu_status hu_unpack_n(size_t n, uint8_t *z, const uint8_t *x, unsigned width,
                                           const hu_exec *exec); /* n packed codes to a byte each */

#ifdef __cplusplus
}
#endif
#endif
