/* SPDX-License-Identifier: MIT */
/* gpu/base/check.h - arguments of the device calls, checked on the host before anything is started. */
#ifndef HALFULP_GPU_BASE_CHECK_H
#define HALFULP_GPU_BASE_CHECK_H

#include "halfulp/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks format and mode and, if carrier is not 0, that binary32 holds the grid. */
hu_status hui_check_rounding(hu_format format, hu_mode mode, int carrier);
/* Checks pointers, strides and overlap of an element-wise call; sizes are in bytes. */
hu_status hui_check_arrays(size_t n, const void *z, size_t zsize, ptrdiff_t incz, const void *x, size_t xsize,
                           ptrdiff_t incx);
/* hu_events must be aligned like its 64-bit counts; NULL is fine. */
hu_status hui_check_events(const hu_events *events);
/* Checks n codes of `width` bits, dense in one array and a byte each in the other; SIZE_MAX bytes are too many. */
hu_status hui_check_pack(size_t n, const void *z, size_t zbytes, const void *x, size_t xbytes, unsigned width);

#ifdef __cplusplus
}
#endif
#endif
