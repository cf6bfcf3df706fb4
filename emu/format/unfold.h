/* SPDX-License-Identifier: MIT */
/* emu/format/unfold.h - checks a format and unfolds it in one step, which a call does once for each format that it is
 * given. What runs inside of the call takes the spec and checks nothing again. */
#ifndef HALFULP_EMU_FORMAT_UNFOLD_H
#define HALFULP_EMU_FORMAT_UNFOLD_H

#include "emu/core/round.h"

#ifdef __cplusplus
extern "C" {
#endif

/* HU_OK: *spec is the format under the mode, which may be one that hu_mode_check refuses. HU_E_FORMAT where
 * hu_format_check refuses the format; *spec is not to be used then. */
hu_status hui_format_unfold(hu_spec *spec, const hu_format *format, hu_mode mode);

#ifdef __cplusplus
}
#endif

/* For calls on one value: unfolds what is read, or the result's format under its mode; 1 where that is refused. */
static inline int hui_source_refused(hu_spec *spec, hu_format format) {
  hu_mode rne = {0};
  return hui_format_unfold(spec, &format, rne) != HU_OK;
}
static inline int hui_result_refused(hu_spec *spec, hu_format format, hu_mode mode) {
  return hui_format_unfold(spec, &format, mode) != HU_OK || hu_mode_check(mode) != HU_OK;
}
/* The same for codes of a format that may be the one that `known` is the spec of, under any mode: what codes mean does
 * not depend on it. Returns the spec to read with, NULL where the format is refused. */
static inline const hu_spec *hui_source_spec(hu_spec *own, const hu_format *format, const hu_spec *known,
                                             const hu_format *other) {
  if (memcmp(format, other, sizeof *format) == 0) return known; /* neither has padding */
  return hui_source_refused(own, *format) ? NULL : own;
}

#endif
