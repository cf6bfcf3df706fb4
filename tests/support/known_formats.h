/* SPDX-License-Identifier: MIT */
/* tests/support/known_formats.h - a few descriptors spelled out axis by axis, so that the tests of the oracle alone and
 * the golden files lean on no catalogue and no constructor. */
#ifndef HALFULP_TESTS_SUPPORT_KNOWN_FORMATS_H
#define HALFULP_TESTS_SUPPORT_KNOWN_FORMATS_H

#include "halfulp/format.h"

static inline hu_format known_ieee(uint8_t e, uint8_t m) {
  hu_format format = {1, e, m, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_IEEE, HU_NAN_IEEE, 1, HU_OVERFLOW_INF, 0, 0};
  return format;
}
static inline hu_format known_binary16(void) { return known_ieee(5, 10); }
static inline hu_format known_bfloat16(void) { return known_ieee(8, 7); }
static inline hu_format known_binary32(void) { return known_ieee(8, 23); }
static inline hu_format known_e5m2(void) {
  hu_format format = known_ieee(5, 2);
  format.nan = HU_NAN_IEEE_ONES;
  return format;
}
static inline hu_format known_e4m3fn(void) {
  hu_format format = {1, 4, 3, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_NONE, HU_NAN_ONES, 1, HU_OVERFLOW_NAN, 0, 0};
  return format;
}
static inline hu_format known_e4m3fnuz(void) {
  hu_format format = {1, 4, 3, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_NONE, HU_NAN_NEGZERO, 0, HU_OVERFLOW_NAN,
                      0, 1};
  return format;
}
static inline hu_format known_e5m2fnuz(void) {
  hu_format format = known_e4m3fnuz();
  format.e = 5;
  format.m = 2;
  return format;
}
static inline hu_format known_finite(uint8_t e, uint8_t m, int16_t b) {
  hu_format format = {1, e, m, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_NONE, HU_NAN_NONE, 1, HU_OVERFLOW_MAX, 0, b};
  return format;
}
static inline hu_format known_e2m1(void) { return known_finite(2, 1, 0); }
static inline hu_format known_e8m0(void) {
  hu_format format = {
      0, 8, 0, HU_ZERO_NONE, HU_SUBNORMAL_NONE, HU_INF_NONE, HU_NAN_TOP, 0, HU_OVERFLOW_NAN, HU_NEGATIVE_NAN, 0};
  return format;
}
static inline hu_format known_ue5m3(void) {
  hu_format format = {
      0, 5, 3, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_NONE, HU_NAN_TOP, 0, HU_OVERFLOW_NAN, HU_NEGATIVE_NAN, 0};
  return format;
}
static inline hu_format known_uf11(void) {
  hu_format format = {
      0, 5, 6, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_IEEE, HU_NAN_IEEE, 0, HU_OVERFLOW_INF, HU_NEGATIVE_LOW, 0};
  return format;
}
static inline hu_format known_dlfloat16(void) {
  hu_format format = {1, 6, 9, HU_ZERO_CODE, HU_SUBNORMAL_FLUSH, HU_INF_NONE, HU_NAN_ONES, 1, HU_OVERFLOW_NAN, 0, 0};
  return format;
}
static inline hu_format known_binary8p4se(void) {
  hu_format format = {1, 4, 3, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_TOP, HU_NAN_NEGZERO, 0, HU_OVERFLOW_INF,
                      0, 1};
  return format;
}
static inline hu_format known_binary8p1uf(void) {
  hu_format format = {
      0, 8, 0, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_NONE, HU_NAN_TOP, 0, HU_OVERFLOW_NAN, HU_NEGATIVE_STOP, 1};
  return format;
}

#endif
