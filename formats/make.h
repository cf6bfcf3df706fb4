/* SPDX-License-Identifier: MIT */
/* formats/make.h - what the headers of named formats share. Each of their functions returns one descriptor built by the
 * family constructors of halfulp/format.h, with the axes in which it differs assigned by name. */
#ifndef HALFULP_FORMATS_MAKE_H
#define HALFULP_FORMATS_MAKE_H

#include "halfulp/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The family without its sign bit: no -0; a NaN under each sign or at the place of -0 moves to the top code. */
static inline hu_format hu_format_unsigned(hu_format f) {
  f.sign = 0;
  f.negzero = 0;
  if (f.nan == HU_NAN_ONES || f.nan == HU_NAN_NEGZERO) f.nan = HU_NAN_TOP;
  return f;
}

#ifdef __cplusplus
}
#endif
#endif
