/* SPDX-License-Identifier: MIT */
/* bench/table.h - the lines that every benchmark prints under --csv, one for each figure of a row. bench/measure.py
 * reads them, and bench/README.md says what the columns mean. */
#ifndef HALFULP_BENCH_TABLE_H
#define HALFULP_BENCH_TABLE_H

#include <stddef.h>
#include <stdio.h>

static inline void bench_table_head(void) { puts("row,level,threads,unit,figure"); }

/* Prints a line. Names of rows have commas, and no quotes. */
static inline void bench_table_line(const char *row, const char *level, unsigned threads, const char *unit,
                                    double figure) {
  printf("\"%s\",%s,%u,%s,%.6g\n", row, level, threads, unit, figure);
  fflush(stdout);
}

/* Prints a row of --order streams: seconds of a call on n elements in that order, and of the same call linear. */
static inline void bench_table_orders(int csv, const char *row, const char *level, size_t n, double streams,
                                      double linear) {
  if (csv) {
    bench_table_line(row, level, 1, "streams / linear", streams / linear);
    bench_table_line(row, level, 1, "ns linear", 1e9 * linear / (double)n);
    bench_table_line(row, level, 1, "ns streams", 1e9 * streams / (double)n);
  } else {
    printf("%-8s %-56s streams %9.3f ms  linear %9.3f ms  %6.2f\n", level, row, 1e3 * streams, 1e3 * linear,
           streams / linear);
  }
  fflush(stdout);
}

#endif
