/* SPDX-License-Identifier: MIT */
/* cli/models.h - accumulation models and elements of dot products as words. */
#ifndef HALFULP_CLI_MODELS_H
#define HALFULP_CLI_MODELS_H

#include "cli/cli.h"
#include "halfulp/accum.h"

/* Model text to record, with an error line that names the wrong part; `what` names the option or operand. */
int cli_read_model(hu_accum *accum, const char *what, const char *text);
/* The error line of a text that hu_accum_parse refused: what is missing, or may stand there. Returns CLI_BAD. */
int cli_fail_model(const char *what, const char *text, hu_status status, size_t where);
/* The models that are no presets: "seq(F,MODE)" and what it does. */
typedef struct cli_form {
  const char *text, *meaning;
} cli_form;
extern const cli_form cli_forms[];
extern const size_t cli_form_count;
/* A format, or binary64, s8, u8, s4, u4, s32: 1, or 0 if it is none. */
int cli_parse_element(hu_element *e, const char *text);
/* Likewise with an error line: 0, or an exit code. */
int cli_read_element(hu_element *e, const char *text);
const char *cli_element_name(char text[CLI_NAME_MAX], hu_element e);

#endif
