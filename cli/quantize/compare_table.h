/* SPDX-License-Identifier: MIT */
/* cli/quantize/compare_table.h - the result of a comparison of formats: a column of tensors for each. */
#ifndef HALFULP_CLI_QUANTIZE_COMPARE_TABLE_H
#define HALFULP_CLI_QUANTIZE_COMPARE_TABLE_H

#include "cli/quantize/compare.h"
#include "cli/quantize/tensors.h"

/* One format: how it was asked for, what became of each tensor, and of all. */
typedef struct compare_column {
  cli_quantize_state asked;
  tensors_results results;
  tensors_result total;
  char name[CLI_TARGET_MAX];
} compare_column;
typedef struct compare_table {
  const char *in;
  const compare_asked *asked;
  compare_column *columns;
  int count;
} compare_table;
/* Writes the page with the table and a drawing (compare_report.c). Returns 0 or an exit code. */
int compare_report(const char *path, const compare_table *table);

#endif
