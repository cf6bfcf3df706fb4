/* SPDX-License-Identifier: MIT */
/* emu/format/value32.h - the value of one code in binary32. */
#ifndef HALFULP_EMU_FORMAT_VALUE32_H
#define HALFULP_EMU_FORMAT_VALUE32_H

#include "emu/core/round.h"

/* The value of a code as a pattern of binary32: put together where that is exact and normal, else rounded. */
static inline uint32_t hui_value32(const hu_spec *spec, uint32_t code) {
  hu_num x = hui_unpack(spec, code);
  if (x.kind == HU_KIND_FINITE) {
    int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
    uint64_t sig = x.sig << lead;
    if (k >= -126 && k <= 127 && !(sig & 0xFFFFFFFFFFu))
      return (uint32_t)x.sign << 31 | (((uint32_t)(k + 126) << 23) + (uint32_t)(sig >> 40));
  }
  return hui_pack32(x);
}

#endif
