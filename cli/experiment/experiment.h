/* SPDX-License-Identifier: MIT */
/* cli/experiment/experiment.h - the parts of `halfulp experiment`: what it prints, and the files that it writes. */
#ifndef HALFULP_CLI_EXPERIMENT_EXPERIMENT_H
#define HALFULP_CLI_EXPERIMENT_EXPERIMENT_H

#include "halfulp/train/experiment.h"

/* What one experiment was, and what came out. */
typedef struct experiment_result {
  hu_experiment what;
  const hu_experiment_report *report;
  double seconds;
} experiment_result;

/* Prints rows, tables, claims, for reading (print.c). */
void experiment_print(const experiment_result *result);
/* Prints one JSON object, without a line end. */
void experiment_print_json(const experiment_result *result);
void experiment_list_json(void);
/* Returns 1 if one of the rows has such a number. */
int experiment_has(const hu_experiment_report *report, double (*number)(const hu_experiment_row *row));
double experiment_r2(const hu_experiment_row *row);
double experiment_accuracy(const hu_experiment_row *row);
double experiment_low(const hu_experiment_row *row); /* NaN: nothing is low, as nothing was promoted */

/* Writes report.html, rows.csv, series.csv and NAME.svg of each figure to the folder, which is made (files.c). Returns
 * 0, or an exit code after an error line. */
int experiment_write(const char *folder, const experiment_result *result);

#endif
