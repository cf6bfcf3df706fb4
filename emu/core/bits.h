/* SPDX-License-Identifier: MIT */
/* emu/core/bits.h - floats and doubles as their bits, for the calls around the integer core. */
#ifndef HALFULP_EMU_CORE_BITS_H
#define HALFULP_EMU_CORE_BITS_H

#include "port.h"

HU_FN uint32_t hui_bits_of_float(float x) {
  uint32_t pattern;
  memcpy(&pattern, &x, sizeof pattern);
  return pattern;
}

HU_FN float hui_float_of_bits(uint32_t pattern) {
  float x;
  memcpy(&x, &pattern, sizeof x);
  return x;
}

HU_FN uint64_t hui_bits_of_double(double x) {
  uint64_t pattern;
  memcpy(&pattern, &x, sizeof pattern);
  return pattern;
}

HU_FN double hui_double_of_bits(uint64_t pattern) {
  double x;
  memcpy(&x, &pattern, sizeof x);
  return x;
}

#endif
