/* SPDX-License-Identifier: MIT */
/* cli/explain/number.h - number systems beside floating-point formats (halfulp/number.h): read, named, shown.
 * Floating-point formats keep their own cards and explanations. */
#ifndef HALFULP_CLI_EXPLAIN_NUMBER_H
#define HALFULP_CLI_EXPLAIN_NUMBER_H

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "halfulp/number.h"

/* Text to number system. 1: one that is not a floating-point format; 0: left to cli_read_format; -1: reported as wrong.
 * room gets the values of a table that the text writes out. */
int cli_read_system(hu_number *z, const char *text, float room[HU_TABLE_MAX]);
/* The name given, or the catalogue's, or the text, shortened where it is long. */
const char *cli_system_name(char text[CLI_NAME_MAX], hu_number n, const char *given);
/* "posit", "lns", "fixed", "table", "takum_linear", "takum", "hifloat8". */
const char *cli_system_kind(hu_number n);
/* What its values are, in a line. */
const char *cli_system_line(char text[CLI_NAME_MAX], hu_number n);
/* Hexadecimal digits of a code. */
int cli_system_digits(hu_number n);
/* The catalogue's entry; name NULL if it has none. */
hu_number_entry cli_system_entry(hu_number n, const char *given);

/* halfulp info: the card, or (json) an object of it; every code with its value. */
void cli_system_card(hu_number n, const char *given, int json);
void cli_system_table(hu_number n, int json);
/* halfulp explain: `count` modes. An exit code. */
int cli_system_explain(hu_number n, const char *given, const char *text, const hu_mode *modes, int count,
                       uint32_t random, int json);

#endif
