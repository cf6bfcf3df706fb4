/* SPDX-License-Identifier: MIT */
/* Descriptors: which are formats, what follows from them, and the families of formats. */
#include "halfulp/format.h"

#include "emu/format/check.h"
#include "emu/format/unfold.h"

static const char *check_range(hu_format format) {
  hu_mode rne = {0};
  hu_spec spec = hui_spec_of(format, rne);
  return hui_range_wrong(&spec, hui_smallest_code(format));
}

hu_status hu_format_check(hu_format format, const char **axis) {
  const char *wrong = check_axes(format);
  if (!wrong) wrong = check_zero(format);
  if (!wrong) wrong = check_specials(format);
  if (!wrong) wrong = check_range(format);
  if (!wrong) return HU_OK;
  if (axis) *axis = wrong;
  return HU_E_FORMAT;
}

static double value_of(const hu_spec *spec, uint32_t code) {
  uint64_t pattern = hui_pack64(hui_unpack(spec, code));
  double x;
  memcpy(&x, &pattern, sizeof x);
  return x;
}

static uint64_t count_nan_codes(hu_format format, const hu_spec *spec) {
  if (format.nan == HU_NAN_NEGZERO) return 1;
  return ((uint64_t)spec->mag_mask + 1 - spec->nan_from) << (format.sign ? 1 : 0);
}

/* Counts codes that hold a finite value of their own: not the ones read as another zero. */
static uint64_t count_finite_codes(hu_format format, const hu_spec *spec) {
  uint64_t n = (uint64_t)spec->max_code + 1;
  if (format.zero == HU_ZERO_FIELD && format.subnormal != HU_SUBNORMAL_GRADUAL) n -= ((uint64_t)1 << format.m) - 1;
  if (!format.sign) return n;
  return 2 * n - !format.negzero;
}

hu_limits hu_limits_of(hu_format format) {
  hu_limits limits;
  memset(&limits, 0, sizeof limits);
  hu_mode rne = {0};
  hu_spec spec;
  if (hui_format_unfold(&spec, &format, rne) != HU_OK) return limits;
  limits.width = (uint32_t)format.sign + format.e + format.m;
  limits.storage = 8u * spec.code_bytes;
  limits.sign_mask = spec.sign_mask;
  limits.max_code = spec.max_code;
  limits.min_code = hui_smallest_code(format);
  limits.min_normal_code = format.e == 0                  ? HU_NO_CODE
                           : format.zero == HU_ZERO_FIELD ? (uint32_t)1 << format.m
                                                          : limits.min_code;
  limits.inf_code = spec.inf_code;
  limits.nan_code = spec.has_nan ? spec.nan_code : HU_NO_CODE;
  limits.has_nan = spec.has_nan;
  limits.bias = spec.bias;
  limits.emin = spec.emin;
  limits.emax = spec.emax;
  limits.max = value_of(&spec, spec.max_code);
  limits.min = value_of(&spec, limits.min_code);
  /* Where max itself is subnormal (every exponent field but 0 is taken by specials) there is no normal value. */
  if (limits.min_normal_code != HU_NO_CODE && limits.min_normal_code > spec.max_code)
    limits.min_normal_code = HU_NO_CODE;
  limits.min_normal = limits.min_normal_code == HU_NO_CODE ? 0 : value_of(&spec, limits.min_normal_code);
  limits.low = format.sign ? -limits.max : format.zero == HU_ZERO_NONE ? limits.min : 0;
  limits.finite_codes = count_finite_codes(format, &spec);
  limits.nan_codes = count_nan_codes(format, &spec);
  return limits;
}

int hu_format_fits_binary32(hu_format format) {
  const hu_mode rne = {0};
  hu_spec spec;
  return hui_format_unfold(&spec, &format, rne) == HU_OK && spec.fits_binary32;
}
