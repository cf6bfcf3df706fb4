/* SPDX-License-Identifier: MIT */
/* emu/conversion/steps.h - which steps a preset has before its last rounding. */
#ifndef HALFULP_EMU_CONVERSION_STEPS_H
#define HALFULP_EMU_CONVERSION_STEPS_H

#include "halfulp/conversion.h"

static inline int hui_conversion_has_first(const hu_conversion *conversion) {
  static const hu_format none;
  return !hu_format_equal(conversion->first, none);
}

static inline int hui_conversion_has_through(const hu_conversion *conversion) {
  return conversion->through && *conversion->through;
}

#endif
