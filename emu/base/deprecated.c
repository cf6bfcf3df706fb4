/* SPDX-License-Identifier: MIT */
/* Symbols of version 0.1 for programs that were linked to it, and for bindings that find functions by name; sources use
 * the macros of halfulp/deprecated.h instead. The next version no longer has this file. */
#include "halfulp/accum.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

#undef hu_preset_count
#undef hu_preset_at
#undef hu_preset_find
#undef hu_format_limits
#undef hu_format_parse_why
#undef hu_mode_parse_round
#undef hu_mode_parse_saturate
#undef hu_mode_parse_nan
#undef hu_mode_parse_nan_fma

HU_API size_t hu_preset_count(void);
HU_API hu_status hu_preset_at(hu_accum_preset *preset, size_t i);
HU_API hu_status hu_preset_find(hu_accum_preset *preset, const char *name);
HU_API hu_limits hu_format_limits(hu_format f);
HU_API hu_status hu_format_parse_why(hu_format *f, const char *text, size_t *where, const char **axis);
HU_API hu_status hu_mode_parse_round(hu_mode *mode, const char *text);
HU_API hu_status hu_mode_parse_saturate(hu_mode *mode, const char *text);
HU_API hu_status hu_mode_parse_nan(hu_mode *mode, const char *text);
HU_API hu_status hu_mode_parse_nan_fma(hu_mode *mode, const char *text);

size_t hu_preset_count(void) { return hu_accum_preset_count(); }
hu_status hu_preset_at(hu_accum_preset *preset, size_t i) { return hu_accum_preset_at(preset, i); }
hu_status hu_preset_find(hu_accum_preset *preset, const char *name) { return hu_accum_preset_find(preset, name); }

hu_limits hu_format_limits(hu_format f) { return hu_limits_of(f); }
hu_status hu_format_parse_why(hu_format *f, const char *text, size_t *where, const char **axis) {
  return hu_format_parse_axis(f, text, where, axis);
}

hu_status hu_mode_parse_round(hu_mode *mode, const char *text) { return hu_mode_round_parse(mode, text); }
hu_status hu_mode_parse_saturate(hu_mode *mode, const char *text) { return hu_mode_saturate_parse(mode, text); }
hu_status hu_mode_parse_nan(hu_mode *mode, const char *text) { return hu_mode_nan_parse(mode, text); }
hu_status hu_mode_parse_nan_fma(hu_mode *mode, const char *text) { return hu_mode_nan_fma_parse(mode, text); }
