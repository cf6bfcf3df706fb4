/* SPDX-License-Identifier: MIT */
/* Elementary functions over arrays beside memcpy of the same bytes, ns per element, single thread, every kernel level.
 *
 *   bench_function [--log2 18] [--rounds 7] [--csv]
 *
 * Operands: the values of the format nearest to numbers drawn between -8 and 8 (their magnitudes where a function takes
 * none below 0), and all codes in turn. */
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
  uint16_t *x, *y, *z;
  hu_format format;
  hu_exec exec;
  int op;
  hu_status status;
} job;

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->n * sizeof *work->x);
}

static void run_function(void *context) {
  job *work = context;
  hu_events events = {0};
  hu_view x[2] = {hu_codes(work->x, 1, work->format), hu_codes(work->y, 1, work->format)};
  hu_how how = {.exec = &work->exec, .events = &events};
  hu_output to = hu_codes_out(work->z, 1, work->format);
  work->status = hu_apply(work->op, work->n, &to, x, &how);
}

/* Functions whose operands are magnitudes. */
static int is_positive(int op) {
  return op == HU_OP_LOG || op == HU_OP_LOG2 || op == HU_OP_LOG1P || op == HU_OP_RSQRT || op == HU_OP_POW;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

static void fill(job *work, int positive, int all) {
  hu_mode rne = {0};
  uint64_t state = 1;
  for (size_t i = 0; i < work->n; i++) {
    double x = (double)(next(&state) >> 40) * 0x1p-20 - 8, y = (double)(next(&state) >> 40) * 0x1p-20 - 8;
    work->x[i] = all ? (uint16_t)i : (uint16_t)hu_encode64(work->format, rne, positive && x < 0 ? -x : x, 0, NULL);
    work->y[i] = (uint16_t)hu_encode64(work->format, rne, y, 0, NULL);
  }
}

static void row(job *work, int op, int all, const char *format, int rounds, int csv) {
  double copy = 1e30;
  char name[96];
  const char *function = hu_operation_at((size_t)op).name;
  snprintf(name, sizeof name, "%s, %s, %s", function, all ? "all codes" : "ordinary", format);
  if (!csv) printf("%-10s %-9s %-10s", function, format, all ? "all codes" : "ordinary");
  fill(work, is_positive(op), all);
  work->op = op;
  for (size_t level = bench_first(); t_level_bit(level); level++) {
    work->exec.levels_off = t_levels_off(level);
    bench_pair times = bench_against(run_function, run_memcpy, work, rounds, 1);
    if (work->status != HU_OK) exit(2);
    if (times.reference < copy) copy = times.reference;
    double ns = 1e9 * times.subject / (double)work->n;
    if (csv)
      bench_table_line(name, t_level_name(level), 1, "ns", ns);
    else
      printf(" %9.2f", ns);
  }
  if (!csv) printf(" %9.3f\n", 1e9 * copy / (double)work->n);
  fflush(stdout);
}

int main(int argc, char **argv) {
  bench_options options = bench_options_of(argc, argv, (bench_options){.rounds = 7, .log2 = 18, .least = 4, .most = 28},
                                           "bench_function [--log2 4..28] [--rounds 7] [--csv]");
  if (options.bad) return 2;
  job work = {(size_t)1 << options.log2, NULL, NULL, NULL, hu_binary16(), {0}, 0, HU_OK};
  work.x = malloc(2 * work.n);
  work.y = malloc(2 * work.n);
  work.z = malloc(2 * work.n);
  if (!work.x || !work.y || !work.z) return 2;
  if (options.csv) {
    bench_table_head();
  } else {
    printf("ns an element; levels %x; %zu elements into the operands' format, ties to even\n", hu_levels(), work.n);
    printf("%-10s %-9s %-10s", "function", "format", "operands");
    for (size_t i = bench_first(); t_level_bit(i); i++) printf(" %9s", t_level_name(i));
    puts("    memcpy");
  }
  for (int which = 0; which < 2; which++) {
    work.format = which ? hu_bfloat16() : hu_binary16();
    for (int op = HU_OP_FUNCTION; op <= HU_OP_POW; op++)
      for (int all = 0; all < 2; all++)
        row(&work, op, all, which ? "bfloat16" : "binary16", options.rounds, options.csv);
  }
  free(work.x);
  free(work.y);
  free(work.z);
  return 0;
}
