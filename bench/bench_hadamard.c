/* SPDX-License-Identifier: MIT */
/* The random Hadamard transform against memcpy of the same array, single thread, every kernel level.
 *
 *   bench_hadamard [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector]
 *
 * The ratio is time over memcpy's time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
#include "bench/options.h"
#include "bench/table.h"
#include "files/timing.h"

enum { COLS = 4096 };

typedef struct job {
  size_t rows;
  float *x, *z;
  hu_hadamard transform;
  hu_exec exec;
  hu_status status;
} job;

static void run_transform(void *context) {
  job *work = context;
  work->status = hu_hadamard_forward(work->rows, COLS, work->z, COLS, work->x, COLS, &work->transform, &work->exec);
}

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->rows * COLS * sizeof *work->z);
}

static void row(int csv, int rounds, const char *level, const char *what, job *work) {
  bench_pair times = bench_against(run_transform, run_memcpy, work, rounds, 1);
  double n = (double)work->rows * COLS, ratio = times.subject / times.reference;
  if (work->status != HU_OK) {
    fprintf(stderr, "bench_hadamard: %s: %s\n", what, hu_status_text(work->status));
    exit(2);
  }
  if (csv) {
    char name[96];
    snprintf(name, sizeof name, "%s, blocks of %u", what, (unsigned)work->transform.n);
    bench_table_line(name, level, 1, "time / memcpy", ratio);
  } else {
    printf("%-8s %-28s %3u %9.3f ms  memcpy %9.3f ms %7.2f  %6.2f ns an element\n", level, what,
           (unsigned)work->transform.n, 1e3 * times.subject, 1e3 * times.reference, ratio, 1e9 * times.subject / n);
  }
  fflush(stdout);
}

static void level_rows(int csv, int rounds, const char *level, job *work) {
  static const struct {
    const char *text;
    hu_hadamard transform;
  } subjects[] = {
      {"rows, one vector of signs", {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL}},
      {"rows, one vector of signs", {32, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL}},
      {"rows, one vector of signs", {128, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL}},
      {"rows, a sign a column", {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 1, NULL}},
      {"columns, one vector of signs",
       {16, HU_HADAMARD_ALONG_COLUMNS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL}},
      {"columns, one vector of signs",
       {32, HU_HADAMARD_ALONG_COLUMNS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL}},
      {"columns, one vector of signs",
       {128, HU_HADAMARD_ALONG_COLUMNS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_STREAM, 0, NULL}}};
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    work->transform = subjects[i].transform;
    row(csv, rounds, level, subjects[i].text, work);
  }
}

int main(int argc, char **argv) {
  bench_options options =
      bench_options_of(argc, argv, (bench_options){.rounds = 5, .log2 = 26},
                       "bench_hadamard [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector]");
  if (options.bad) return 2;
  job work = {0};
  work.rows = (size_t)1 << (options.log2 > 19 ? options.log2 - 12
                                              : 7); /* 128 rows at least: a block of each size along columns */
  work.x = malloc(work.rows * COLS * sizeof *work.x);
  work.z = malloc(work.rows * COLS * sizeof *work.z);
  if (!work.x || !work.z) return 2;
  for (size_t i = 0; i < work.rows * COLS; i++) work.x[i] = (float)(i * 2654435761u % 65521) - 32760;
  memset(work.z, 0, work.rows * COLS * sizeof *work.z);
  work.exec.stream.key = 1;
  if (options.csv) bench_table_head();
  for (size_t i = 0; t_level_bit(i); i++) {
    if (!bench_takes(options.level, i)) continue;
    work.exec.levels_off = t_levels_off(i);
    level_rows(options.csv, options.rounds, t_level_name(i), &work);
  }
  free(work.x);
  free(work.z);
  return 0;
}
