/* SPDX-License-Identifier: MIT */
/* cli/explain/number.h - number systems beside floating-point formats (halfulp/number.h): read, named, shown.
 * Floating-point formats keep their own cards and explanations. */
#ifndef HALFULP_CLI_EXPLAIN_NUMBER_H
#define HALFULP_CLI_EXPLAIN_NUMBER_H

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "halfulp/number.h"

/* Reads a number system. Returns 1 if it is not a floating-point format, 0 if it is left to cli_read_format, -1 if it
 * was reported as wrong. The values of a table that the text writes out are stored in `values`. */
int cli_read_system(hu_number *z, const char *text, float values[HU_TABLE_MAX]);
/* Returns the name given, or the catalogue's, or the text, shortened where it is long. */
const char *cli_system_name(char text[CLI_NAME_MAX], hu_number system, const char *given);
/* Returns "posit", "lns", "fixed", "table", "takum_linear", "takum" or "hifloat8". */
const char *cli_system_kind(hu_number system);
/* Writes what its values are, in a line. */
const char *cli_system_line(char text[CLI_NAME_MAX], hu_number system);
/* Returns the number of hexadecimal digits of a code. */
int cli_system_digits(hu_number system);
/* Returns the catalogue's entry; name NULL if it has none. */
hu_number_entry cli_system_entry(hu_number system, const char *given);

/* Prints the card of halfulp info, or (json) an object of it; every code with its value. */
void cli_system_card(hu_number system, const char *given, int json);
void cli_system_table(hu_number system, int json);
/* Explains `count` modes for halfulp explain. Returns an exit code. */
int cli_system_explain(hu_number system, const char *given, const char *text, const hu_mode *modes, int count,
                       uint32_t random, int json);

#endif
