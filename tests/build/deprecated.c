/* SPDX-License-Identifier: MIT */
/* Names of the version before: a program that uses them compiles as C and as C++, gets the new things, and their
 * symbols are in the library. */
#include <stdio.h>
#include <string.h>

#include "halfulp/halfulp.h"

/* Each pair of enumerators is one number. */
static const struct {
  int old, now;
} same[] = {{HU_CUT_TRUNC, HU_BLOCK_CUT_TRUNC},
            {HU_CUT_FLOOR, HU_BLOCK_CUT_FLOOR},
            {HU_CUT_NEAREST, HU_BLOCK_CUT_NEAREST},
            {HU_ORDER_UP, HU_BLOCK_ORDER_UP},
            {HU_ORDER_DOWN, HU_BLOCK_ORDER_DOWN},
            {HU_ORDER_MOD4, HU_BLOCK_ORDER_MOD4},
            {HU_JOIN_FIRST, HU_BLOCK_JOIN_FIRST},
            {HU_JOIN_LAST, HU_BLOCK_JOIN_LAST},
            {HU_DAZ_NONE, HU_BLOCK_DAZ_NONE},
            {HU_DAZ_SIGN, HU_BLOCK_DAZ_SIGN},
            {HU_DAZ_PLUS, HU_BLOCK_DAZ_PLUS},
            {HU_FTZ_NONE, HU_BLOCK_FTZ_NONE},
            {HU_FTZ_AFTER, HU_BLOCK_FTZ_AFTER},
            {HU_FTZ_TINY, HU_BLOCK_FTZ_TINY},
            {HU_FTZ_BEFORE, HU_BLOCK_FTZ_BEFORE},
            {HU_VALUES, HU_STORAGE_VALUES},
            {HU_CODES, HU_STORAGE_CODES},
            {HU_FACTOR_EXACT, HU_SCALED_FACTOR_EXACT},
            {HU_FACTOR_ROUNDED, HU_SCALED_FACTOR_ROUNDED},
            {HU_FACTOR_TWICE, HU_SCALED_FACTOR_TWICE},
            {HU_FACTOR_ALPHA, HU_SCALED_FACTOR_ALPHA},
            {HU_FACTORS, HU_SCALED_FACTOR_COUNT},
            {HU_ALONG_ROWS, HU_HADAMARD_ALONG_ROWS},
            {HU_ALONG_COLUMNS, HU_HADAMARD_ALONG_COLUMNS},
            {HU_SIGNS_NONE, HU_HADAMARD_SIGNS_NONE},
            {HU_SIGNS_MASK, HU_HADAMARD_SIGNS_MASK},
            {HU_SIGNS_STREAM, HU_HADAMARD_SIGNS_STREAM},
            {HU_SIGNS_TRANSFORMER_ENGINE, HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE}};

static int with_macros(void) {
  hu_format f;
  hu_mode mode;
  hu_preset preset;
  const char *axis = NULL;
  memset(&mode, 0, sizeof mode);
  if (hu_format_parse_why(&f, "fp(5,10,0)", NULL, &axis) != HU_OK || hu_format_limits(f).width != 16) return 0;
  if (hu_mode_parse_round(&mode, "rtz") != HU_OK || mode.round != HU_RTZ) return 0;
  if (hu_mode_parse_saturate(&mode, "finite") != HU_OK || mode.saturate != HU_SAT_FINITE) return 0;
  if (hu_mode_parse_nan(&mode, "zero") != HU_OK || mode.nan != HU_NAN_TO_ZERO) return 0;
  if (hu_mode_parse_nan_fma(&mode, "invalid") != HU_OK || mode.nan_fma != HU_NAN_FMA_INVALID) return 0;
  if (hu_preset_count() == 0 || hu_preset_at(&preset, 0) != HU_OK) return 0;
  return hu_preset_find(&preset, preset.name) == HU_OK;
}

/* The symbols, as a program sees them that was linked to the version before. */
#undef hu_preset_count
#undef hu_preset_at
#undef hu_preset_find
#undef hu_format_limits
#undef hu_format_parse_why
#undef hu_mode_parse_round
#undef hu_mode_parse_saturate
#undef hu_mode_parse_nan
#undef hu_mode_parse_nan_fma

#ifdef __cplusplus
extern "C" {
#endif
size_t hu_preset_count(void);
hu_status hu_preset_at(hu_accum_preset *preset, size_t i);
hu_status hu_preset_find(hu_accum_preset *preset, const char *name);
hu_limits hu_format_limits(hu_format f);
hu_status hu_format_parse_why(hu_format *f, const char *text, size_t *where, const char **axis);
hu_status hu_mode_parse_round(hu_mode *mode, const char *text);
hu_status hu_mode_parse_saturate(hu_mode *mode, const char *text);
hu_status hu_mode_parse_nan(hu_mode *mode, const char *text);
hu_status hu_mode_parse_nan_fma(hu_mode *mode, const char *text);
#ifdef __cplusplus
}
#endif

static int with_symbols(void) {
  hu_format f;
  hu_mode mode;
  hu_accum_preset preset;
  const char *axis = NULL;
  size_t where = 0;
  memset(&mode, 0, sizeof mode);
  if (hu_format_parse_why(&f, "fp(5,31,0)", &where, &axis) != HU_E_FORMAT || !axis || axis[0] != 'm') return 0;
  if (hu_format_parse_why(&f, "fp(8,23,0)", NULL, NULL) != HU_OK || hu_format_limits(f).width != 32) return 0;
  if (hu_mode_parse_round(&mode, "sra:5") != HU_OK || mode.round != HU_SRA || mode.bits != 5) return 0;
  if (hu_mode_parse_saturate(&mode, "propagate") != HU_OK || mode.saturate != HU_SAT_PROPAGATE) return 0;
  if (hu_mode_parse_nan(&mode, "error") != HU_OK || mode.nan != HU_NAN_TO_ERROR) return 0;
  if (hu_mode_parse_nan_fma(&mode, "invalid") != HU_OK || mode.nan_fma != HU_NAN_FMA_INVALID) return 0;
  if (hu_preset_count() != hu_accum_preset_count() || hu_preset_at(&preset, 1) != HU_OK) return 0;
  return hu_preset_find(&preset, preset.name) == HU_OK && hu_preset_find(&preset, "none") == HU_E_NAME;
}

int main(void) {
  size_t n = sizeof same / sizeof *same, wrong = 0;
  for (size_t i = 0; i < n; i++) wrong += same[i].old != same[i].now;
  int macros = with_macros(), symbols = with_symbols();
  printf("%zu of %zu enumerators differ; macros %s, symbols %s\n", wrong, n, macros ? "hold" : "do not hold",
         symbols ? "hold" : "do not hold");
  return wrong != 0 || !macros || !symbols;
}
