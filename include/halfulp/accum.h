/* SPDX-License-Identifier: MIT */
/* halfulp/accum.h - how a sum of products is accumulated, as a value.
 *
 *   exact   c + sum of a[k] b[k] over the reals; no rounding until the one into the result's format.
 *   fp32    acc = c; for k ascending: acc = fma(a[k], b[k], acc) in binary32, ties to even, subnormals kept; then one
 *           rounding into the result's format.
 *
 * A model is a plain record so that models with parameters (formats, modes, lengths) can be named by the same value. The
 * all-zero record is `exact`. */
#ifndef HALFULP_ACCUM_H
#define HALFULP_ACCUM_H

#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HU_ACCUM_EXACT = 0, HU_ACCUM_FP32 = 1 };

typedef struct hu_accum {
  uint32_t kind;        /* HU_ACCUM_ */
  uint32_t length;      /* 0 */
  hu_format product;    /* all zero in exact and fp32, likewise what follows */
  hu_format sum;
  hu_mode mode;
  uint32_t reserved[4];
} hu_accum;

/* HU_OK or HU_E_ACCUM (unknown kind, or a field that the kind does not use is not 0). */
HU_API HU_MUST_CHECK hu_status hu_accum_check(const hu_accum *accum);
/* "exact", "fp32"; HU_E_TEXT otherwise, *accum untouched. */
HU_API HU_MUST_CHECK hu_status hu_accum_parse(hu_accum *accum, const char *text);
/* Canonical text; returns the length needed, like snprintf; 0 if the model is not valid. */
HU_API size_t hu_accum_text(char *text, size_t size, const hu_accum *accum);

#ifdef __cplusplus
}
#endif
#endif
