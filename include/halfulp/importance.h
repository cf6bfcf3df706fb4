/* SPDX-License-Identifier: MIT */
/* halfulp/importance.h - quantize with scales that are searched for: each block has the scale of the least error, where
 * some elements count more than others.
 *
 *   hu_view columns = hu_matrix_floats(importance, 0);  // row 0: the same weights for each row
 *   hu_status s = hu_scaled_search(rows, cols, &z, &x, &columns, NULL, NULL);
 *
 * docs/scaled.md section 4.6 defines which scales are tried, and the order of sums. */
#ifndef HALFULP_IMPORTANCE_H
#define HALFULP_IMPORTANCE_H

#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* z = x, as hu_scaled_apply makes it, but with scales that are searched for.
 *
 *   z        HU_TYPE_SCALED, or HU_TYPE_SCALED_VALUES, of a scaling whose rule is floor, ceil, even or rceil, and which
 *            has no `amin` (else HU_E_SCALING)
 *   weights  HU_TYPE_BINARY32, stride 1: that of element (i, j) lies at i row + j; row 0: at j. Finite and from 0 up
 *            (else HU_E_SCALING). z must not overlap them
 *   stats    as in hu_scaled_extra, or NULL
 *   how      mode, threads, stream and events as for hu_scaled_apply, or NULL. Every scale that is tried has the same
 *            random words; events are those of the scale that is taken. A device runs no search (HU_E_DEVICE)
 *   errors   beside these those of hu_scaled_apply; everything is untouched then */
HU_API HU_MUST_CHECK hu_status hu_scaled_search(size_t rows, size_t cols, const hu_output *z, const hu_view *x,
                                                const hu_view *weights, hu_scaled_stats *stats, const hu_how *how);

#ifdef __cplusplus
}
#endif
#endif
