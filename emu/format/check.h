/* SPDX-License-Identifier: MIT */
/* emu/format/check.h - what the fields of a descriptor must be, each alone and beside the others, and its range, which
 * is asked about the format unfolded. hu_format_check (format.c) and unfold.c include it. */
#ifndef HALFULP_EMU_FORMAT_CHECK_H
#define HALFULP_EMU_FORMAT_CHECK_H

#include "emu/core/round.h"

static const char *check_axes(hu_format format) {
  if (format.sign > 1) return "sign: neither 0 nor 1";
  if (format.e > 11) return "e: more than 11 exponent bits";
  if (format.m > 30) return "m: more than 30 trailing significand bits";
  if (format.e + format.m == 0) return "m: no bits below the sign";
  if (format.sign + format.e + format.m > 32) return "e: sign, e and m make more than 32 bits";
  if (format.zero > HU_ZERO_NONE) return "zero: unknown value";
  if (format.subnormal > HU_SUBNORMAL_FLUSH) return "subnormal: unknown value";
  if (format.inf > HU_INF_TOP) return "inf: unknown value";
  if (format.nan > HU_NAN_TOP) return "nan: unknown value";
  if (format.negzero > 1) return "negzero: neither 0 nor 1";
  if (format.overflow > HU_OVERFLOW_MAX) return "overflow: unknown value";
  if (format.negative > HU_NEGATIVE_STOP) return "negative: unknown value";
  return NULL;
}

static const char *check_zero(hu_format format) {
  if (format.zero == HU_ZERO_CODE && format.subnormal != HU_SUBNORMAL_FLUSH) return "subnormal: zero=code needs flush";
  if (format.zero == HU_ZERO_NONE && format.sign) return "zero: none needs an unsigned format";
  if (format.zero == HU_ZERO_NONE && format.subnormal != HU_SUBNORMAL_NONE) return "subnormal: zero=none needs none";
  if (format.e == 0 && format.zero != HU_ZERO_FIELD) return "zero: e = 0 needs field";
  if (format.e == 0 && format.subnormal != HU_SUBNORMAL_GRADUAL) return "subnormal: e = 0 needs gradual";
  if (format.negzero && !format.sign) return "negzero: an unsigned format has none";
  return NULL;
}

static const char *check_specials(hu_format format) {
  int nan_ieee = format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES;
  if (format.e == 0 && format.inf == HU_INF_IEEE) return "inf: ieee needs exponent bits";
  if (format.e == 0 && nan_ieee) return "nan: ieee needs exponent bits";
  if (format.inf == HU_INF_IEEE && format.m > 0 && !nan_ieee)
    return "nan: infinities at ieee need NaN at ieee or ieee1";
  if (format.inf == HU_INF_IEEE && format.m == 0 && format.nan != HU_NAN_NONE && format.nan != HU_NAN_NEGZERO)
    return "nan: infinities at ieee and m = 0 leave no such code";
  if (format.inf == HU_INF_TOP && format.nan != HU_NAN_NONE && format.nan != HU_NAN_NEGZERO && format.nan != HU_NAN_TOP)
    return "nan: infinities at top need NaN at none, negzero or top";
  if (!format.sign && (format.nan == HU_NAN_ONES || format.nan == HU_NAN_NEGZERO))
    return "nan: ones and negzero need a sign";
  if (format.sign && format.nan == HU_NAN_TOP) return "nan: top needs an unsigned format";
  if (format.nan == HU_NAN_NEGZERO && format.negzero) return "negzero: its code is NaN";
  if (format.overflow == HU_OVERFLOW_INF && format.inf == HU_INF_NONE) return "overflow: inf needs infinities";
  if (format.overflow == HU_OVERFLOW_NAN && format.nan == HU_NAN_NONE) return "overflow: nan needs NaN codes";
  if (format.sign && format.negative != HU_NEGATIVE_NAN) return "negative: a signed format needs 0";
  return NULL;
}

/* Returns the smallest positive magnitude code with a value of its own. */
static inline uint32_t hui_smallest_code(hu_format format) {
  if (format.zero == HU_ZERO_NONE) return 0;
  if (format.zero == HU_ZERO_CODE || format.subnormal == HU_SUBNORMAL_GRADUAL) return 1;
  return (uint32_t)1 << format.m;
}

/* Returns what is wrong with the range of a format unfolded, whose smallest such code is min; NULL: nothing. */
static inline const char *hui_range_wrong(const hu_spec *spec, uint32_t min) {
  uint64_t finite = spec->has_inf ? spec->inf_code : spec->nan_from; /* magnitude codes below are finite */
  if (finite <= min) return "e: no positive finite value is left";
  hu_num high = hui_unpack(spec, spec->max_code);
  if (spec->emin - spec->m < -1074) return "b: the smallest values are below binary64's";
  if (high.exp + 63 - hui_clz64(high.sig) > 1023) return "b: the largest values are beyond binary64's";
  return NULL;
}

#endif
