/* SPDX-License-Identifier: MIT */
/* formats/ocp.h - Open Compute Project: 8-bit Floating Point Specification (OFP8) v1.0, Microscaling Formats (MX)
 * Specification v1.0 (section 5.3: elements, 5.4: scales). */
#ifndef HALFULP_FORMATS_OCP_H
#define HALFULP_FORMATS_OCP_H

#include "halfulp/formats/make.h"

#ifdef __cplusplus
extern "C" {
#endif

/* OFP8 v1.0, E4M3: no infinities, NaN at S.1111.111. Overflow without saturation is NaN. */
static inline hu_format hu_float8_e4m3fn(void) { return hu_format_fn(4, 3, 0); }

/* OFP8 v1.0, E5M2: IEEE 754's rules. Canonical NaN 0x7F, as CUDA, PTX and PyTorch write it. */
static inline hu_format hu_float8_e5m2(void) {
  hu_format f = hu_format_ieee(5, 2, 0);
  f.nan = HU_NAN_IEEE_ONES;
  return f;
}

/* MX v1.0 section 5.3.2, FP6 E2M3: every code finite. */
static inline hu_format hu_float6_e2m3fn(void) { return hu_format_finite(2, 3, 0); }

/* MX v1.0 section 5.3.2, FP6 E3M2: every code finite. */
static inline hu_format hu_float6_e3m2fn(void) { return hu_format_finite(3, 2, 0); }

/* MX v1.0 section 5.3.3, FP4 E2M1: every code finite. */
static inline hu_format hu_float4_e2m1fn(void) { return hu_format_finite(2, 1, 0); }

/* MX v1.0 section 5.4, E8M0: unsigned powers of two 2^-127 ... 2^127, NaN at 0xFF, no zero. */
static inline hu_format hu_float8_e8m0fnu(void) {
  hu_format f = hu_format_unsigned(hu_format_fn(8, 0, 0));
  f.zero = HU_ZERO_NONE;
  f.subnormal = HU_SUBNORMAL_NONE;
  return f;
}

#ifdef __cplusplus
}
#endif
#endif
