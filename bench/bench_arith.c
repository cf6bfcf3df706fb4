/* SPDX-License-Identifier: MIT */
/* Arithmetic over arrays of codes, nanoseconds per element, single thread, every kernel level; beside it the integer
 * core that defines it and a memcpy of the operands' and the result's bytes.
 *
 *   bench_arith [--log2 22] [--rounds 5] [--csv] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
#include "bench/options.h"
#include "bench/table.h"
#include "files/timing.h"

typedef struct job {
  size_t n, bytes;
  int op;
  void *x, *y, *third, *z, *from, *to; /* from, to: for memcpy */
  hu_format format;
  hu_mode mode;
  hu_exec exec;
  hu_events events;
  hu_status status;
} job;

/* Does an operation compute numbers, rather than choose one of its operands? */
static int computes(size_t op) { return op < HU_OP_ROUNDED && hu_operation_at(op).events & HU_EVENT_INVALID; }

static void run_arith(void *context) {
  job *work = context;
  hu_view x[3] = {hu_codes(work->x, 1, work->format), hu_codes(work->y, 1, work->format),
                  hu_codes(work->third, 1, work->format)};
  hu_how how = hu_how_of(work->mode, &work->exec, &work->events);
  hu_output to = hu_codes_out(work->z, 1, work->format);
  work->status = hu_apply(work->op, work->n, &to, x, &how);
}

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->to, work->from, work->bytes);
}

/* Fills with any codes: bits of a generator. */
static void fill(void *z, size_t bytes, uint64_t state) {
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t random = (state += 0x9E3779B97F4A7C15u);
    random = (random ^ (random >> 30)) * 0xBF58476D1CE4E5B9u;
    random ^= random >> 29;
    memcpy((char *)z + i, &random, 8);
  }
}

static double time_one(job *work, uint32_t off, size_t n, int rounds, double *copy) {
  work->n = n;
  work->exec.levels_off = off;
  bench_pair times = bench_against(run_arith, run_memcpy, work, rounds, 1);
  if (work->status != HU_OK) {
    fprintf(stderr, "bench_arith: %s\n", hu_status_text(work->status));
    exit(2);
  }
  *copy = times.reference;
  return 1e9 * times.subject / (double)n;
}

static void row(job *work, const char *format, const char *mode, size_t n, int rounds, int csv) {
  double ns[BENCH_LEVELS], copy = 0;
  size_t levels = t_levels();
  hu_operation operation = hu_operation_at((size_t)work->op);
  unsigned size = hu_limits_of(work->format).storage / 8;
  work->bytes = n * size * (size_t)(operation.operands + 1) / 2; /* it reads and writes them */
  for (size_t i = levels; i-- > 0;) {
    if (bench_changes_arith(i)) ns[i] = time_one(work, t_levels_off(i), t_level_bit(i) ? n : n / 16, rounds, &copy);
  }
  double copied = 1e9 * copy / (double)n;
  if (csv) {
    char name[96];
    snprintf(name, sizeof name, "%s, %s, %s", operation.name, mode, format);
    for (size_t i = 0; i < levels; i++) {
      if (bench_changes_arith(i)) bench_table_line(name, t_level_name(i), 1, "ns", ns[i]);
    }
    return;
  }
  printf("%-6s %-16s %-6s", operation.name, format, mode);
  for (size_t i = 0; i < levels; i++) {
    if (bench_changes_arith(i)) printf(" %8.3f", ns[i]);
  }
  printf(" %8.3f\n", copied);
  fflush(stdout);
}

int main(int argc, char **argv) {
  static const char *const formats[] = {"float8_e4m3fn", "float8_e5m2", "binary16", "bfloat16", "binary32"};
  bench_options options =
      bench_options_of(argc, argv, (bench_options){.rounds = 5, .log2 = 22, .least = 10, .most = 30},
                       "bench_arith [--log2 10..30] [--rounds 5] [--csv]");
  if (options.bad) return 2;
  size_t n = (size_t)1 << options.log2;
  job work = {0};
  void **arrays[] = {&work.x, &work.y, &work.third, &work.z, &work.from, &work.to};
  for (int i = 0; i < 6; i++) {
    size_t bytes = i < 4 ? 4 * n : 8 * n;
    *arrays[i] = aligned_alloc(4096, bytes);
    if (!*arrays[i]) {
      fprintf(stderr, "bench_arith: no memory for arrays of %zu codes\n", n);
      return 2;
    }
    fill(*arrays[i], bytes, (uint64_t)i);
  }
  if (options.csv) {
    bench_table_head();
  } else {
    printf("%-6s %-16s %-6s", "op", "format", "mode");
    for (size_t i = 0; i < t_levels(); i++) {
      if (bench_changes_arith(i)) printf(" %8s", t_level_name(i));
    }
    puts("   memcpy  (ns per element; memcpy of as many bytes)");
  }
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (hu_format_find(&work.format, formats[i]) != HU_OK) return 2;
    memset(&work.mode, 0, sizeof work.mode);
    for (size_t op = 0; op < hu_operation_count(); op++) {
      work.op = (int)op;
      if (computes(op)) row(&work, formats[i], "rne", n, options.rounds, options.csv);
    }
    work.op = HU_OP_FMA;
    work.mode.round = HU_RTO;
    row(&work, formats[i], "rto", n, options.rounds, options.csv);
    work.mode.round = HU_SRA;
    work.mode.bits = 32;
    row(&work, formats[i], "sra:32", n, options.rounds, options.csv);
  }
  for (int i = 0; i < 6; i++) free(*arrays[i]);
  return 0;
}
