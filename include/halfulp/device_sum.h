/* SPDX-License-Identifier: MIT */
/* halfulp/device_sum.h - sums without rounding on a CUDA device: the calls of sum.h on arrays, with the same bits.
 *
 *   hu_device_sum_add_n(n, sums, hu_sum_range_of(bfloat16), x, 1, bfloat16, stream);   // one term for each sum
 *   hu_device_sum_round_n(n, z, 1, bfloat16, sums, range, rne, NULL, events, stream);
 *   hu_device_sum_add_all(sum, n, x, 1, bfloat16, stream);                             // all n terms for one sum
 *
 * The rules of device.h hold: sums, records, codes and events are in device memory, and nothing is allocated or waited
 * for. Arrays of sums and records are those of sum.h, byte for byte: a copy on the host goes into every call of sum.h,
 * and a copy of a host's sums into every call here.
 *
 * Arguments are those of sum.h, without `exec` where no random words are drawn; a range is made on the host
 * (hu_sum_range_of). Errors are those of sum.h and HU_E_ALIGN for events, and where a call says so. */
#ifndef HALFULP_DEVICE_SUM_H
#define HALFULP_DEVICE_SUM_H

#include "halfulp/device.h"
#include "halfulp/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hu_sum_add_n on the device: element i of x goes into sum i, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_sum_add_n(size_t n, uint64_t *sums, hu_sum_range range, const void *x,
                                                   ptrdiff_t incx, hu_format fx, void *stream);
/* hu_sum_add_product_n on the device: a[i] b[i] goes into sum i, in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_sum_add_product_n(size_t n, uint64_t *sums, hu_sum_range range, const void *a,
                                                           ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                                           hu_format fb, void *stream);
/* hu_sum_merge_n on the device: sum i of x, an array of the same range, goes into sum i, in order with the CUDA
 * stream. sums may be x, else must not overlap it. */
HU_API HU_MUST_CHECK hu_status hu_device_sum_merge_n(size_t n, uint64_t *sums, hu_sum_range range, const uint64_t *x,
                                                     void *stream);
/* hu_sum_round_n on the device: z[i] = the code of fz that sum i rounds to, with R from word i of exec->stream (stream
 * (0, 0) if exec is NULL), in order with the CUDA stream. */
HU_API HU_MUST_CHECK hu_status hu_device_sum_round_n(size_t n, void *z, ptrdiff_t incz, hu_format fz,
                                                     const uint64_t *sums, hu_sum_range range, hu_mode mode,
                                                     const hu_exec *exec, hu_events *events, void *stream);

/* hu_sum_add_all and hu_sum_add_dot on the device: add n values, or n products, to the record *sum in device memory,
 * with the bits of the CPU's calls whatever the order in which the device adds. Additions to the record are atomic, so
 * that calls on several streams may add to one record at the same time. Beside the errors of sum.h: HU_E_ALIGN, the
 * record is not aligned to 8 bytes; HU_E_OVERLAP, it shares bytes with what is read. */
HU_API HU_MUST_CHECK hu_status hu_device_sum_add_all(hu_sum *sum, size_t n, const void *x, ptrdiff_t incx,
                                                     hu_format format, void *stream); /* adds n values */
HU_API HU_MUST_CHECK hu_status hu_device_sum_add_dot(hu_sum *sum, size_t n, const void *a, ptrdiff_t inca, hu_format fa,
                                                     const void *b, ptrdiff_t incb, hu_format fb,
                                                     void *stream); /* adds n products */

#ifdef __cplusplus
}
#endif
#endif
