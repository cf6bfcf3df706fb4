/* SPDX-License-Identifier: MIT */
/* Arrays of posits, logarithmic and fixed-point numbers and tables, single thread, every kernel level and the core.
 *
 *   bench_number [--log2 22] [--rounds 3] [--csv] [--level avx512|avx2|vector|core]
 *
 * Nanoseconds per element; the core, which is slow, does 2^12 elements. The reference is hu_encode_n of float8_e4m3fn
 * from as many binary32 elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
#include "bench/options.h"
#include "bench/table.h"
#include "files/timing.h"

typedef struct job {
  size_t n;
  float *x, *z;
  void *codes;
  hu_number number;
  hu_exec exec;
  hu_events events;
  hu_status status;
} job;

static const hu_mode rne;

static void run_encode(void *context) {
  job *work = context;
  work->status = hu_number_encode_n(work->n, work->codes, 1, work->x, 1, work->number, rne, &work->exec, &work->events);
}

static void run_decode(void *context) {
  job *work = context;
  work->status = hu_number_decode_n(work->n, work->z, 1, work->codes, 1, work->number, &work->exec);
}

static void run_quantize(void *context) {
  job *work = context;
  work->status = hu_number_quantize_n(work->n, work->z, 1, work->x, 1, work->number, rne, &work->exec, &work->events);
}

static void run_reference(void *context) {
  job *work = context;
  hu_exec best = {0};
  if (hu_encode_n(work->n, work->z, 1, work->x, 1, hu_float8_e4m3fn(), rne, &best, &work->events) != HU_OK) exit(2);
}

static void row(int csv, int rounds, const char *level, const char *name, const char *what, job *work,
                void (*subject)(void *)) {
  bench_pair times = bench_against(subject, run_reference, work, rounds, 1);
  double n = (double)work->n;
  if (work->status != HU_OK) {
    fprintf(stderr, "bench_number: %s: %s\n", name, hu_status_text(work->status));
    exit(2);
  }
  if (csv) {
    char text[96];
    snprintf(text, sizeof text, "%s, %s", what, name);
    bench_table_line(text, level, 1, "ns", 1e9 * times.subject / n);
  } else {
    printf("%-8s %-14s %-9s %9.2f ns an element  (to 8-bit floats %5.2f)\n", level, name, what, 1e9 * times.subject / n,
           1e9 * times.reference / n);
  }
  fflush(stdout);
}

static void level_rows(int csv, int rounds, const char *level, job *work) {
  static const char *const names[] = {"posit8", "posit16", "posit32", "lns8", "lns16", "nf4", "int8", "q15", "q31"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (hu_number_find(&work->number, names[i]) != HU_OK) exit(2);
    row(csv, rounds, level, names[i], "encode", work, run_encode);
    row(csv, rounds, level, names[i], "quantize", work, run_quantize);
    row(csv, rounds, level, names[i], "decode", work, run_decode);
  }
}

int main(int argc, char **argv) {
  bench_options options =
      bench_options_of(argc, argv, (bench_options){.rounds = 3, .log2 = 22},
                       "bench_number [--log2 22] [--rounds 3] [--csv] [--level avx512|avx2|vector|core]");
  if (options.bad) return 2;
  job work = {0};
  size_t most = (size_t)1 << options.log2;
  work.x = malloc(most * sizeof *work.x);
  work.z = malloc(most * sizeof *work.z);
  work.codes = malloc(most * sizeof *work.x);
  if (!work.x || !work.z || !work.codes) return 2;
  for (size_t i = 0; i < most; i++) work.x[i] = (float)(i * 2654435761u % 65521 + 1) / 32760 - 1;
  memset(work.codes, 0, most * sizeof *work.x);
  if (options.csv) bench_table_head();
  for (size_t i = 0; i < t_levels(); i++) {
    if (!bench_takes(options.level, i)) continue;
    work.exec.levels_off = t_levels_off(i);
    work.n = t_level_bit(i) || most < 4096 ? most : 4096;
    level_rows(options.csv, options.rounds, t_level_name(i), &work);
  }
  free(work.x);
  free(work.z);
  free(work.codes);
  return 0;
}
