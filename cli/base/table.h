/* SPDX-License-Identifier: MIT */
/* cli/base/table.h - rows of numbers in memory, as CSV and as JSON lines. Rows are appended a whole line at a time
 * during the run; a run that continues reads the files back and removes the rows behind its checkpoint. Numbers are the
 * shortest decimals that read back as they were; NaN is an empty cell, or null; infinities are inf and -inf, or
 * null. */
#ifndef HALFULP_CLI_BASE_TABLE_H
#define HALFULP_CLI_BASE_TABLE_H

#include <stddef.h>

typedef struct table {
  const char *const *names; /* of the columns; the first one counts up */
  size_t columns, rows, capacity;
  double *cells;
  char *csv, *json; /* paths; json may be NULL */
  int csv_file, json_file;
} table;

/* Takes both paths over, which may be NULL: then nothing is written. Opens no file. */
void table_start(table *data, const char *const *names, size_t columns, char *csv, char *json);
void table_free(table *data);
/* All below return 0, or an exit code after an error line. */
/* Makes new files, with the head alone, instead of old ones. */
int table_create(table *data);
/* Reads the rows of the CSV file whose first number is at most `last`. A last line without an end, of a run that was
 * killed, is left out. */
int table_read_back(table *data, double last);
/* Writes both files again with the rows that are in memory, and opens them for more. */
int table_rewrite(table *data);
/* Puts the rows on the disk. */
int table_sync(const table *data);
/* Adds a row, in memory and in the files. */
int table_add(table *data, const double *row);

#endif
