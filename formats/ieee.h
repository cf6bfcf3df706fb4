/* SPDX-License-Identifier: MIT */
/* formats/ieee.h - IEEE 754-2019 clauses 3.4 (binary interchange format encodings) and 3.6 (their parameters,
 * table 3.5), and bfloat16, which keeps their rules. */
#ifndef HALFULP_FORMATS_IEEE_H
#define HALFULP_FORMATS_IEEE_H

#include "halfulp/formats/make.h"

#ifdef __cplusplus
extern "C" {
#endif

/* IEEE 754-2019 table 3.5: 5 exponent bits, precision 11. */
static inline hu_format hu_binary16(void) { return hu_format_ieee(5, 10, 0); }

/* The upper half of binary32: 8 exponent bits, precision 8. */
static inline hu_format hu_bfloat16(void) { return hu_format_ieee(8, 7, 0); }

/* IEEE 754-2019 table 3.5: 8 exponent bits, precision 24. */
static inline hu_format hu_binary32(void) { return hu_format_ieee(8, 23, 0); }

#ifdef __cplusplus
}
#endif
#endif
