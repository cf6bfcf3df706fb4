/* SPDX-License-Identifier: MIT */
#include "emu/format/unfold.h"

#include "emu/format/check.h"

enum { FAMILY_OTHER = 0, FAMILY_IEEE = 1, FAMILY_E4M3FN = 2 };

/* Finds the formats of most calls in a few steps: a sign, -0, zero and gradual subnormals in exponent field 0, and the
 * specials of IEEE 754 or of E4M3FN. Of the others some are no formats. */
static int family(const hu_format *format) {
  if ((format->sign ^ 1) | (format->negzero ^ 1) | format->zero | format->subnormal | format->negative)
    return FAMILY_OTHER;
  if (!format->e || format->e > 11 || !format->m || format->e + format->m > 31 || format->overflow > HU_OVERFLOW_MAX)
    return FAMILY_OTHER; /* m is at most 30 then */
  if (format->inf == HU_INF_IEEE && (format->nan == HU_NAN_IEEE || format->nan == HU_NAN_IEEE_ONES)) return FAMILY_IEEE;
  if (format->inf == HU_INF_NONE && format->nan == HU_NAN_ONES && format->overflow != HU_OVERFLOW_INF)
    return FAMILY_E4M3FN;
  return FAMILY_OTHER;
}

static HU_NOINLINE hu_status unfold_other(hu_spec *spec, const hu_format *format, hu_mode mode) {
  if (check_axes(*format) || check_zero(*format) || check_specials(*format)) return HU_E_FORMAT;
  *spec = hui_spec_of(*format, mode);
  return hui_range_wrong(spec, hui_smallest_code(*format)) ? HU_E_FORMAT : HU_OK;
}

/* Unfolds a format of a family, the axes of which the compiler knows: it leaves out what others need. emax is the
 * exponent of max_code wherever that is not the code of zero. */
HU_FN hu_status unfold_known(hu_spec *spec, hu_format format, hu_mode mode) {
  *spec = hui_spec_of(format, mode);
  uint64_t finite = spec->has_inf ? spec->inf_code : spec->nan_from;
  return finite <= 1 || spec->emin - spec->m < -1074 || spec->emax > 1023 ? HU_E_FORMAT : HU_OK;
}

hu_status hui_format_unfold(hu_spec *spec, const hu_format *format, hu_mode mode) {
  int is = family(format);
  if (is == FAMILY_OTHER) return unfold_other(spec, format, mode);
  hu_format known = *format; /* with what family() has seen as constants */
  known.sign = known.negzero = 1;
  known.zero = known.subnormal = known.negative = 0;
  if (is == FAMILY_IEEE) {
    known.inf = HU_INF_IEEE;
    known.nan = known.nan == HU_NAN_IEEE ? HU_NAN_IEEE : HU_NAN_IEEE_ONES;
    return unfold_known(spec, known, mode);
  }
  known.inf = HU_INF_NONE;
  known.nan = HU_NAN_ONES;
  return unfold_known(spec, known, mode);
}
