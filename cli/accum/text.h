/* SPDX-License-Identifier: MIT */
/* cli/accum/text.h - reads accumulation models and elements of dot products from words, and writes them. */
#ifndef HALFULP_CLI_ACCUM_TEXT_H
#define HALFULP_CLI_ACCUM_TEXT_H

#include "cli/base/cli.h"
#include "halfulp/accum.h"

/* Reads a model's text, with an error line that names the wrong part; `what` names the option or operand. */
int cli_read_model(hu_accum *accum, const char *what, const char *text);
/* Prints the error line of a text that hu_accum_parse refused: what is missing, or may stand there. Returns CLI_BAD. */
int cli_fail_model(const char *what, const char *text, hu_status status, size_t where);
/* Returns what an operand is where it is not given: what the model takes there; else what `otherwise` says. */
hu_type cli_taken_element(hu_type taken, hu_type otherwise);
/* Returns the format of the model's sum, where its text has one (a unit's C, a promotion's); else all zero, a code. */
hu_type cli_model_result(const hu_accum *accum);
/* Prints the error line for HU_E_OPERAND_A, _B or _C: operand, format taken and given, and what to do; `option` chooses
 * the operand's format ("--fa"). Returns CLI_BAD. */
int cli_fail_operand(const char *text, const hu_accum *accum, hu_status status, hu_type given, const char *option);
/* The models that are no presets: "seq(F,MODE)" and what it does. */
typedef struct cli_form {
  const char *text, *meaning;
} cli_form;
extern const cli_form cli_forms[];
extern const size_t cli_form_count;
/* Prints the parts of block(...): an example with its parts named and computed; each key, its values and rules. */
void cli_print_grammar(void);
/* Prints the forms and the keys as one JSON object. */
void cli_json_grammar(void);
/* Reads a format, or binary64, s8, u8, s4, u4, s32. Returns 1, or 0 for another text. */
int cli_parse_element(hu_type *element, const char *text);
/* Does the same with an error line. Returns 0, or an exit code. */
int cli_read_element(hu_type *element, const char *text);
const char *cli_element_name(char text[CLI_NAME_MAX], hu_type element);

#endif
