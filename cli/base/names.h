/* SPDX-License-Identifier: MIT */
/* cli/base/names.h - explains a name that a command cannot take: what it names instead, or which name is likely
 * meant. */
#ifndef HALFULP_CLI_BASE_NAMES_H
#define HALFULP_CLI_BASE_NAMES_H

#include <stddef.h>

#include "files/suggest.h"

/* What a text may name where it stands, beside number formats. */
enum {
  CLI_NAMES_SCALED = 1,  /* scaled formats, s2fp8 */
  CLI_NAMES_NUMBERS = 2, /* number systems */
  CLI_NAMES_PRESETS = 4, /* conversions of other programs */
  CLI_NAMES_MODELS = 8   /* accumulation models */
};

/* Lists the formats that go by a word, which therefore names none alone: "float8_e4m3fn (OCP, NVIDIA), ..."; NULL if
 * the word is not one of these. */
const char *cli_ambiguous(const char *name);
/* Returns 1 for a name of what `taken` has, or of a number format. */
int cli_is_name(const char *name, unsigned taken);
/* Writes what a name means that cannot stand where `taken` can: "an accumulation model ...". Returns 0 if nothing. */
int cli_other_meaning(char text[SUGGEST_MAX], const char *name, unsigned taken);
/* Writes what is to be said of a name that no number format has: "a scaled format ...", "no such name; perhaps ...". */
const char *cli_name_hint(char text[SUGGEST_MAX], const char *name, unsigned taken);
/* Prints an error line on a text that names no number format, of its first n bytes: "LABEL 'text': a scaled format,
 * ...". Returns CLI_BAD. */
int cli_fail_name(const char *label, const char *text, size_t n, unsigned taken);
/* Do the same for the names of conversions and for parts of names of accumulation models. */
int cli_fail_preset_name(const char *name);
int cli_fail_model_name(const char *part);
/* Returns the names of ggml's blocks (cli/target/ggml.c), from 0 on; NULL behind the last one. */
const char *cli_ggml_name(size_t i);

#endif
