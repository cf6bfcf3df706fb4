/* SPDX-License-Identifier: MIT */
/* bench/table.h - the lines that every benchmark prints under --csv, one for each figure of a row. bench/measure.py
 * reads them, and bench/README.md says what the columns mean. */
#ifndef HALFULP_BENCH_TABLE_H
#define HALFULP_BENCH_TABLE_H

#include <stdio.h>

static inline void bench_table_head(void) { puts("row,level,threads,unit,figure"); }

/* Names of rows hold commas, and no quotes. */
static inline void bench_table_line(const char *row, const char *level, unsigned threads, const char *unit,
                                    double figure) {
  printf("\"%s\",%s,%u,%s,%.6g\n", row, level, threads, unit, figure);
  fflush(stdout);
}

#endif
