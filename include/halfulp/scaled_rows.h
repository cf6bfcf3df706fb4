/* SPDX-License-Identifier: MIT */
/* halfulp/scaled_rows.h - scaled tensors whose second level is one number for each row, not one for the tensor:
 * Transformer Engine's row-scaled NVFP4.
 *
 *   float t[ROWS];
 *   hu_scaled z = {codes, cols, scales, (cols + 15) / 16, NULL};
 *   hu_status s = hu_scaled_rows_encode(rows, cols, &z, t, x, cols, &nvfp4, rne, NULL, NULL, NULL, NULL);
 *
 * Text, both ways: "rows(" scaling ")", a scaling of scaled.h with a second level and blocks of one row, such as
 * rows(nvfp4_te).
 *
 * A_T of docs/scaled.md is the largest magnitude of a row, and t[i] the second level of row i; all else is as in
 * scaled.h. The scaling must have a second level and blocks of one row (else HU_E_SCALING). z->tensor is not looked at.
 * t has one number a row and must not overlap anything else. No errors but those of scaled.h; everything is untouched
 * then. */
#ifndef HALFULP_SCALED_ROWS_H
#define HALFULP_SCALED_ROWS_H

#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Text to record, as hu_scaling_parse reads what is between the parentheses: HU_E_TEXT also for a text that does not
 * begin with "rows(" or does not end with ")", HU_E_SCALING also for a scaling that the calls below refuse. Then
 * *where, if where is not NULL, is the offset in the text of the part that is wrong, and *scaling is untouched. */
HU_API HU_MUST_CHECK hu_status hu_scaled_rows_parse(hu_scaling *scaling, const char *text, size_t *where);
/* The canonical text, "rows(" with hu_scaling_text's between the parentheses. Returns the length needed, like snprintf;
 * 0 for a scaling that the calls below refuse. HU_SCALED_ROWS_TEXT_MAX bytes always suffice. */
#define HU_SCALED_ROWS_TEXT_MAX (HU_SCALING_TEXT_MAX + 8)
HU_API size_t hu_scaled_rows_text(char *text, size_t size, const hu_scaling *scaling);

/* z and t = x in codes: row i is hu_scaled_encode of that row alone, with the random words of the matrix (element
 * (i, j) takes word i cols + j). amax: NULL, or one for each row, finite and not negative. stats: NULL or one per
 * block. */
HU_API HU_MUST_CHECK hu_status hu_scaled_rows_encode(size_t rows, size_t cols, const hu_scaled *z, float *t,
                                                     const float *x, size_t ldx, const hu_scaling *scaling,
                                                     hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                                     const hu_exec *exec, hu_events *events);
/* z = the values of x under the second levels t. */
HU_API HU_MUST_CHECK hu_status hu_scaled_rows_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                                                     const float *t, const hu_scaling *scaling, const hu_exec *exec);
/* z = the values that hu_scaled_rows_decode gives for what hu_scaled_rows_encode gives for x. z may be x itself (then
 * ldz = ldx), else must not overlap it. */
HU_API HU_MUST_CHECK hu_status hu_scaled_rows_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                       size_t ldx, const hu_scaling *scaling, hu_mode mode,
                                                       const float *amax, hu_scaled_stats *stats, const hu_exec *exec,
                                                       hu_events *events);

#ifdef __cplusplus
}
#endif
#endif
