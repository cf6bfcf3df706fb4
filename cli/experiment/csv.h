/* SPDX-License-Identifier: MIT */
/* cli/experiment/csv.h - cells of the tables that experiments save. */
#ifndef HALFULP_CLI_EXPERIMENT_CSV_H
#define HALFULP_CLI_EXPERIMENT_CSV_H

#include <stdio.h>

/* A text in quotes, which are doubled within. */
void csv_text(FILE *out, const char *text);
/* A comma, then x in the fewest digits that read back as x; nothing where x is NaN. */
void csv_number(FILE *out, double x);

#endif
