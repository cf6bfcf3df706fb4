/* SPDX-License-Identifier: MIT */
/* cli/target/preset_names.h - presets of conversions (halfulp/conversion.h) by name, and what they do before the last
 * rounding. */
#ifndef HALFULP_CLI_TARGET_PRESET_NAMES_H
#define HALFULP_CLI_TARGET_PRESET_NAMES_H

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "halfulp/conversion.h"

typedef struct cli_preset {
  const char *name; /* NULL: none */
  hu_conversion conversion;
  double given; /* the operand, before the preset's steps */
} cli_preset;

/* Returns 1 if the text begins with a family's name and a dot, or with path(, right or wrong. */
int cli_preset_claims(const char *text);
/* Reads a conversion's name. Returns 0, or an exit code after an error line. */
int cli_read_conversion(hu_conversion *z, const char *name);
int cli_preset_read(cli_preset *preset, const char *name); /* the same; presets of scaled tensors are refused */
/* Refuses a mode that is not all zero, which was given beside a preset: CLI_BAD after an error line. */
int cli_preset_alone(const char *name, const hu_mode *given);
/* Writes the preset's rounding into *round, and the policies, in place of --round and others. 0 or an exit code. */
int cli_preset_only(const cli_preset *preset, cli_numeric *numeric, hu_mode *round);
/* Prints, for explain, the operand as the last rounding sees it, with one line (or, json, field) per step. */
void cli_preset_steps(cli_preset *preset, number *z, const char *text, int json);
/* Prints the code of one rounding in place of several, if the preset has several: a line, or an object and a comma. */
void cli_preset_once(const cli_preset *preset, uint32_t random, int json);
/* Returns 1 if a conversion rounds before its last rounding. */
int cli_rounds_before(const hu_conversion *conversion);
/* Returns the code of x, which is what cli_preset_steps has left, or any operand where there is no preset. */
uint32_t cli_preset_code(const cli_preset *preset, hu_format format, hu_mode mode, double x, uint32_t random,
                         uint32_t *events);

#endif
