/* SPDX-License-Identifier: MIT */
/* emu/conversion/steps.h - which steps a preset has before its last rounding. */
#ifndef HALFULP_EMU_CONVERSION_STEPS_H
#define HALFULP_EMU_CONVERSION_STEPS_H

#include "halfulp/conversion.h"

static inline int hui_conversion_has_first(const hu_conversion *conversion) {
  static const hu_format none;
  return !hu_format_equal(conversion->first, none);
}

/* How many formats are behind the first one. */
static inline int hui_conversion_further(const hu_conversion *conversion) {
  static const hu_format none;
  int count = 0;
  while (count < HU_CONVERSION_FURTHER && !hu_format_equal(conversion->further[count].format, none)) count++;
  return count;
}

static inline int hui_conversion_has_through(const hu_conversion *conversion) {
  return conversion->through && *conversion->through;
}

#endif
