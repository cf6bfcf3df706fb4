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

/* The words that several formats go by, so that alone they name none: "float8_e4m3fn (OCP, NVIDIA), ..."; NULL: not one
 * of these. */
const char *cli_ambiguous(const char *name);
/* 1: a name of what `taken` has, or of a number format. */
int cli_is_name(const char *name, unsigned taken);
/* What a name means that cannot stand where `taken` can: "an accumulation model ...". 0, and "": it means nothing. */
int cli_other_meaning(char text[SUGGEST_MAX], const char *name, unsigned taken);
/* What is to be said of a name that is no number format's: "a scaled format ...", "no such name; perhaps ...". */
const char *cli_name_hint(char text[SUGGEST_MAX], const char *name, unsigned taken);
/* An error line on a text that is no number format's name, of its first n bytes: "LABEL 'text': a scaled format, ...".
 * Returns CLI_BAD. */
int cli_fail_name(const char *label, const char *text, size_t n, unsigned taken);
/* The same for the names of conversions and for parts of names of accumulation models. */
int cli_fail_preset_name(const char *name);
int cli_fail_model_name(const char *part);
/* The names of ggml's blocks (cli/target/ggml.c), from 0 on; NULL: there are no more. */
const char *cli_ggml_name(size_t i);

#endif
