/* SPDX-License-Identifier: MIT */
/* Elementary functions over arrays beside memcpy of the same bytes, ns an element, single thread, every kernel level.
 *
 *   bench_function [--log2 18] [--rounds 7] [--csv]
 *
 * Operands: the values of the format nearest to numbers drawn between -8 and 8 (their magnitudes where a function
 * requires none below 0), and all codes in turn, special ones, overflows and all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
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
  hu_format f;
  hu_exec exec;
  function_n call;
  hu_status status;
} job;

static void run_memcpy(void *p) {
  job *j = p;
  memcpy(j->z, j->x, j->n * sizeof *j->x);
}

static void run_function(void *p) {
  job *j = p;
  hu_mode rne = {0};
  hu_events events = {0};
  if (j->call)
    j->status = j->call(j->n, j->z, 1, j->f, j->x, 1, j->f, rne, &j->exec, &events);
  else
    j->status = hu_pow_n(j->n, j->z, 1, j->f, j->x, 1, j->f, j->y, 1, j->f, rne, &j->exec, &events);
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

static void fill(job *j, int positive, int all) {
  hu_mode rne = {0};
  uint64_t s = 1;
  for (size_t i = 0; i < j->n; i++) {
    double v = (double)(next(&s) >> 40) * 0x1p-20 - 8, w = (double)(next(&s) >> 40) * 0x1p-20 - 8;
    j->x[i] = all ? (uint16_t)i : (uint16_t)hu_encode64(j->f, rne, positive && v < 0 ? -v : v, 0, NULL);
    j->y[i] = (uint16_t)hu_encode64(j->f, rne, w, 0, NULL);
  }
}

static void row(job *j, size_t k, int all, const char *format, int rounds, int csv) {
  double copy = 1e30;
  char name[96];
  snprintf(name, sizeof name, "%s, %s, %s", functions[k].name, all ? "all codes" : "ordinary", format);
  if (!csv) printf("%-10s %-9s %-10s", functions[k].name, format, all ? "all codes" : "ordinary");
  fill(j, functions[k].positive, all);
  j->call = functions[k].call;
  for (size_t level = bench_first(); t_level_bit(level); level++) {
    j->exec.levels_off = t_levels_off(level);
    bench_pair t = bench_against(run_function, run_memcpy, j, rounds, 1);
    if (j->status != HU_OK) exit(2);
    if (t.reference < copy) copy = t.reference;
    double ns = 1e9 * t.subject / (double)j->n;
    if (csv)
      bench_table_line(name, t_level_name(level), 1, "ns", ns);
    else
      printf(" %9.2f", ns);
  }
  if (!csv) printf(" %9.3f\n", 1e9 * copy / (double)j->n);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int bits = 18, rounds = 7, csv = 0;
  for (int i = 1; i < argc; i++) {
    int more = i + 1 < argc;
    if (!strcmp(argv[i], "--csv"))
      csv = 1;
    else if (more && !strcmp(argv[i], "--log2"))
      bits = atoi(argv[++i]);
    else if (more && !strcmp(argv[i], "--rounds"))
      rounds = atoi(argv[++i]);
    else
      bits = 0;
  }
  if (bits < 4 || bits > 28 || rounds < 1) {
    fprintf(stderr, "usage: %s [--log2 4..28] [--rounds N] [--csv]\n", argv[0]);
    return 2;
  }
  job j = {(size_t)1 << bits, NULL, NULL, NULL, hu_binary16(), {0}, NULL, HU_OK};
  j.x = malloc(2 * j.n);
  j.y = malloc(2 * j.n);
  j.z = malloc(2 * j.n);
  if (!j.x || !j.y || !j.z) return 2;
  if (csv) {
    bench_table_head();
  } else {
    printf("ns an element; levels %x; %zu elements into the operands' format, ties to even\n", hu_levels(), j.n);
    printf("%-10s %-9s %-10s", "function", "format", "operands");
    for (size_t i = bench_first(); t_level_bit(i); i++) printf(" %9s", t_level_name(i));
    puts("    memcpy");
  }
  for (int f = 0; f < 2; f++) {
    j.f = f ? hu_bfloat16() : hu_binary16();
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++)
      for (int all = 0; all < 2; all++) row(&j, k, all, f ? "bfloat16" : "binary16", rounds, csv);
  }
  free(j.x);
  free(j.y);
  free(j.z);
  return 0;
}
