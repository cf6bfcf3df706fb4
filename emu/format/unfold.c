/* SPDX-License-Identifier: MIT */
#include "emu/format/unfold.h"

#include "emu/format/check.h"

/* The formats of most calls, asked for first: a sign, -0, zero and gradual subnormals in exponent field 0, and the
 * specials of IEEE 754 or those of E4M3FN. What check.h refuses is not among them. */
static int is_usual(const hu_format *format) {
  if ((format->sign ^ 1) | (format->negzero ^ 1) | format->zero | format->subnormal | format->negative) return 0;
  if (!format->e || format->e > 11 || !format->m || format->e + format->m > 31 || format->overflow > HU_OVERFLOW_MAX)
    return 0; /* m is at most 30 then */
  if (format->inf == HU_INF_IEEE) return format->nan == HU_NAN_IEEE || format->nan == HU_NAN_IEEE_ONES;
  return format->inf == HU_INF_NONE && format->nan == HU_NAN_ONES && format->overflow != HU_OVERFLOW_INF;
}

int hui_fields_refused(const hu_format *format) {
  if (is_usual(format)) return 0;
  return check_axes(*format) || check_zero(*format) || check_specials(*format);
}
