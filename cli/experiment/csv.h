/* SPDX-License-Identifier: MIT */
/* cli/experiment/csv.h - cells of the tables that experiments save. */
#ifndef HALFULP_CLI_EXPERIMENT_CSV_H
#define HALFULP_CLI_EXPERIMENT_CSV_H

#include <stdio.h>

/* Writes a text in quotes, which are doubled within. */
void csv_text(FILE *out, const char *text);
/* Writes a comma, then x in the fewest digits that read back as x; nothing more where x is NaN. */
void csv_number(FILE *out, double x);

#endif
