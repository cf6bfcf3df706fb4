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

static void run_transform(void *p) {
  job *j = p;
  j->status = hu_hadamard_forward(j->rows, COLS, j->z, COLS, j->x, COLS, &j->transform, &j->exec);
}

static void run_memcpy(void *p) {
  job *j = p;
  memcpy(j->z, j->x, j->rows * COLS * sizeof *j->z);
}

static void row(int csv, int rounds, const char *level, const char *what, job *j) {
  bench_pair t = bench_against(run_transform, run_memcpy, j, rounds, 1);
  double n = (double)j->rows * COLS, ratio = t.subject / t.reference;
  if (j->status != HU_OK) {
    fprintf(stderr, "bench_hadamard: %s: %s\n", what, hu_status_text(j->status));
    exit(2);
  }
  if (csv) {
    char name[96];
    snprintf(name, sizeof name, "%s, blocks of %u", what, (unsigned)j->transform.n);
    bench_table_line(name, level, 1, "time / memcpy", ratio);
  } else {
    printf("%-8s %-28s %3u %9.3f ms  memcpy %9.3f ms %7.2f  %6.2f ns an element\n", level, what,
           (unsigned)j->transform.n, 1e3 * t.subject, 1e3 * t.reference, ratio, 1e9 * t.subject / n);
  }
  fflush(stdout);
}

static void level_rows(int csv, int rounds, const char *level, job *j) {
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
    j->transform = subjects[i].transform;
    row(csv, rounds, level, subjects[i].text, j);
  }
}

int main(int argc, char **argv) {
  int csv = 0, rounds = 5, log2 = 26;
  const char *only = NULL;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--csv"))
      csv = 1;
    else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
      rounds = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--log2") && i + 1 < argc)
      log2 = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--level") && i + 1 < argc)
      only = argv[++i];
    else {
      fprintf(stderr, "usage: bench_hadamard [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector]\n");
      return 2;
    }
  }
  job j = {0};
  j.rows = (size_t)1 << (log2 > 19 ? log2 - 12 : 7); /* 128 rows at least: a block of each size along columns */
  j.x = malloc(j.rows * COLS * sizeof *j.x);
  j.z = malloc(j.rows * COLS * sizeof *j.z);
  if (!j.x || !j.z) return 2;
  for (size_t i = 0; i < j.rows * COLS; i++) j.x[i] = (float)(i * 2654435761u % 65521) - 32760;
  memset(j.z, 0, j.rows * COLS * sizeof *j.z);
  j.exec.stream.key = 1;
  if (csv) bench_table_head();
  for (size_t i = 0; t_level_bit(i); i++) {
    if (!bench_wants(only, i)) continue;
    j.exec.levels_off = t_levels_off(i);
    level_rows(csv, rounds, t_level_name(i), &j);
  }
  free(j.x);
  free(j.z);
  return 0;
}
