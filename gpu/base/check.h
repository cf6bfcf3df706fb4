/* SPDX-License-Identifier: MIT */
/* gpu/base/check.h - arguments of the device calls, checked on the host before anything is started. */
#ifndef HALFULP_GPU_BASE_CHECK_H
#define HALFULP_GPU_BASE_CHECK_H

#include "emu/base/operation_check.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks pointers, strides and overlap of an element-wise call; sizes are in bytes. */
hu_status hui_check_arrays(size_t n, const void *z, size_t zsize, ptrdiff_t incz, const void *x, size_t xsize,
                           ptrdiff_t incx);
/* Returns the bytes of an element of a type of a format, or of float and double. */
size_t hui_type_bytes(const hu_type *type);
/* Checks a conversion between formats, whose kinds of types have been checked (hui_check_conversion), as the CPU does
 * and in the same order: formats, mode, carrier, arrays; then events. */
hu_status hui_check_formats(size_t n, const hu_output *z, const hu_view *x, const hu_how *how);
/* hu_events must be aligned like its 64-bit counts; NULL is fine. */
hu_status hui_check_events(const hu_events *events);
/* Checks n codes of `width` bits, dense in one array and a byte each in the other; SIZE_MAX bytes are too many. */
hu_status hui_check_pack(size_t n, const void *z, size_t zbytes, const void *x, size_t xbytes, unsigned width);

#ifdef __cplusplus
}
#endif
#endif
