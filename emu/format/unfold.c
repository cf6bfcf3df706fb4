/* SPDX-License-Identifier: MIT */
#include "emu/format/unfold.h"

#include "emu/format/check.h"

/* Finds the formats of most calls in a few steps: a sign, -0, zero and gradual subnormals in exponent field 0, and the
 * specials of IEEE 754 or of E4M3FN. Returns their HU_NAN_, 0 for other descriptors. */
static int common_nan(const hu_format *format) {
  if ((format->sign ^ 1) | (format->negzero ^ 1) | format->zero | format->subnormal | format->negative) return 0;
  if (!format->e || format->e > 11 || !format->m || format->e + format->m > 31 || format->overflow > HU_OVERFLOW_MAX)
    return 0; /* m is at most 30 then */
  if (format->inf == HU_INF_IEEE)
    return format->nan == HU_NAN_IEEE || format->nan == HU_NAN_IEEE_ONES ? format->nan : 0;
  return format->inf == HU_INF_NONE && format->nan == HU_NAN_ONES && format->overflow != HU_OVERFLOW_INF ? HU_NAN_ONES
                                                                                                         : 0;
}

static HU_NOINLINE hu_status unfold_other(hu_spec *spec, const hu_format *format, hu_mode mode) {
  if (check_axes(*format) || check_zero(*format) || check_specials(*format)) return HU_E_FORMAT;
  *spec = hui_spec_of(*format, mode);
  return hui_range_wrong(spec, hui_smallest_code(*format)) ? HU_E_FORMAT : HU_OK;
}

/* Unfolds such a format, of which the compiler knows inf and nan: it leaves out what others need. emax is the exponent
 * of max_code wherever that is not the code of zero. */
HU_FN hu_status unfold_common(hu_spec *spec, hu_format format, hu_mode mode, uint8_t inf, uint8_t nan) {
  format.sign = format.negzero = 1;
  format.zero = format.subnormal = format.negative = 0;
  format.inf = inf;
  format.nan = nan;
  *spec = hui_spec_of(format, mode);
  uint64_t finite = spec->has_inf ? spec->inf_code : spec->nan_from;
  return finite <= 1 || spec->emin - spec->m < -1074 || spec->emax > 1023 ? HU_E_FORMAT : HU_OK;
}

/* Returns what unfold_common does. Compilers that weigh what they inline take hui_spec_of into a function each. */
static HU_NOINLINE hu_status unfold_ieee(hu_spec *spec, const hu_format *format, hu_mode mode) {
  return unfold_common(spec, *format, mode, HU_INF_IEEE, HU_NAN_IEEE);
}
static HU_NOINLINE hu_status unfold_ieee_ones(hu_spec *spec, const hu_format *format, hu_mode mode) {
  return unfold_common(spec, *format, mode, HU_INF_IEEE, HU_NAN_IEEE_ONES);
}
static HU_NOINLINE hu_status unfold_ones(hu_spec *spec, const hu_format *format, hu_mode mode) {
  return unfold_common(spec, *format, mode, HU_INF_NONE, HU_NAN_ONES);
}

hu_status hui_format_unfold(hu_spec *spec, const hu_format *format, hu_mode mode) {
  switch (common_nan(format)) {
    case HU_NAN_IEEE: return unfold_ieee(spec, format, mode);
    case HU_NAN_IEEE_ONES: return unfold_ieee_ones(spec, format, mode);
    case HU_NAN_ONES: return unfold_ones(spec, format, mode);
    default: return unfold_other(spec, format, mode);
  }
}
