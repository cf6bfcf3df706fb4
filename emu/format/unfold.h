/* SPDX-License-Identifier: MIT */
/* emu/format/unfold.h - checks a format and unfolds it in one step, which a call does once for each format that it is
 * given. What runs inside of the call takes the spec and checks nothing again. */
#ifndef HALFULP_EMU_FORMAT_UNFOLD_H
#define HALFULP_EMU_FORMAT_UNFOLD_H

#include "emu/core/round.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1: a field of the descriptor is out of its range, or does not go with the others. */
int hui_fields_refused(const hu_format *format);

#ifdef __cplusplus
}
#endif

/* Returns the smallest positive magnitude code with a value of its own. */
static uint32_t hui_smallest_code(hu_format format) {
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

/* HU_OK: *spec is the format under the mode, which may be one that hu_mode_check refuses. HU_E_FORMAT where
 * hu_format_check refuses the format; *spec is not to be used then. */
static inline hu_status hui_format_unfold(hu_spec *spec, hu_format format, hu_mode mode) {
  if (hui_fields_refused(&format)) return HU_E_FORMAT;
  *spec = hui_spec_of(format, mode);
  return hui_range_wrong(spec, hui_smallest_code(format)) ? HU_E_FORMAT : HU_OK;
}

/* For calls on one value: unfolds what is read, or the result's format under its mode; 1 where that is refused. */
static inline int hui_source_refused(hu_spec *spec, hu_format format) {
  hu_mode rne = {0};
  return hui_format_unfold(spec, format, rne) != HU_OK;
}
static inline int hui_result_refused(hu_spec *spec, hu_format format, hu_mode mode) {
  return hui_format_unfold(spec, format, mode) != HU_OK || hu_mode_check(mode) != HU_OK;
}
/* The same for codes of a format that may be the one that `known` is the spec of, under any mode: what codes mean does
 * not depend on it. Returns the spec to read with, NULL where the format is refused. */
static inline const hu_spec *hui_source_spec(hu_spec *own, const hu_format *format, const hu_spec *known,
                                             const hu_format *other) {
  if (memcmp(format, other, sizeof *format) == 0) return known; /* neither has padding */
  return hui_source_refused(own, *format) ? NULL : own;
}

#endif
