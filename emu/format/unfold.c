/* SPDX-License-Identifier: MIT */
#include "emu/format/unfold.h"

#include "emu/format/check.h"

int hui_fields_refused(const hu_format *format) {
  return check_axes(*format) || check_zero(*format) || check_specials(*format);
}
