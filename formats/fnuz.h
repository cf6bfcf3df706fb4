/* SPDX-License-Identifier: MIT */
/* formats/fnuz.h - finite, one NaN at the place of negative zero: Noune et al., "8-bit numerical formats for deep
 * neural networks", arXiv 2206.02915 (2022); AMD gfx940 to gfx942; the TPU variant with bias 11. */
#ifndef HALFULP_FORMATS_FNUZ_H
#define HALFULP_FORMATS_FNUZ_H

#include "halfulp/formats/make.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Noune et al. 2022, 1.4.3, bias 8. */
static inline hu_format hu_float8_e4m3fnuz(void) { return hu_format_fnuz(4, 3, 1); }

/* Noune et al. 2022, 1.5.2, bias 16. */
static inline hu_format hu_float8_e5m2fnuz(void) { return hu_format_fnuz(5, 2, 1); }

/* The same edges with bias 11 (ml_dtypes, LLVM Float8E4M3B11FNUZ). */
static inline hu_format hu_float8_e4m3b11fnuz(void) { return hu_format_fnuz(4, 3, 4); }

#ifdef __cplusplus
}
#endif
#endif
