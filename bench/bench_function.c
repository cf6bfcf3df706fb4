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

typedef hu_status (*function_n)(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events);

static const struct {
  const char *name;
  function_n call; /* NULL: pow */
  int positive;
} functions[] = {{"exp", hu_exp_n, 0},   {"exp2", hu_exp2_n, 0},       {"expm1", hu_expm1_n, 0},
                 {"log", hu_log_n, 1},   {"log2", hu_log2_n, 1},       {"log1p", hu_log1p_n, 1},
                 {"tanh", hu_tanh_n, 0}, {"sigmoid", hu_sigmoid_n, 0}, {"erf", hu_erf_n, 0},
                 {"gelu", hu_gelu_n, 0}, {"rsqrt", hu_rsqrt_n, 1},     {"reciprocal", hu_reciprocal_n, 0},
                 {"sin", hu_sin_n, 0},   {"cos", hu_cos_n, 0},         {"pow", NULL, 1}};

typedef struct job {
  size_t n;
  uint16_t *x, *y, *z;
  hu_format format;
  hu_exec exec;
  function_n call;
  hu_status status;
} job;

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->n * sizeof *work->x);
}

static void run_function(void *context) {
  job *work = context;
  hu_mode rne = {0};
  hu_events events = {0};
  if (work->call)
    work->status = work->call(work->n, work->z, 1, work->format, work->x, 1, work->format, rne, &work->exec, &events);
  else
    work->status = hu_pow_n(work->n, work->z, 1, work->format, work->x, 1, work->format, work->y, 1, work->format, rne,
                            &work->exec, &events);
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

static void row(job *work, size_t k, int all, const char *format, int rounds, int csv) {
  double copy = 1e30;
  char name[96];
  snprintf(name, sizeof name, "%s, %s, %s", functions[k].name, all ? "all codes" : "ordinary", format);
  if (!csv) printf("%-10s %-9s %-10s", functions[k].name, format, all ? "all codes" : "ordinary");
  fill(work, functions[k].positive, all);
  work->call = functions[k].call;
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
  job work = {(size_t)1 << options.log2, NULL, NULL, NULL, hu_binary16(), {0}, NULL, HU_OK};
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
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++)
      for (int all = 0; all < 2; all++)
        row(&work, k, all, which ? "bfloat16" : "binary16", options.rounds, options.csv);
  }
  free(work.x);
  free(work.y);
  free(work.z);
  return 0;
}
