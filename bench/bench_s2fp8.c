/* SPDX-License-Identifier: MIT */
/* Shifted and squeezed tensors against hu_quantize_n into the same format and against memcpy, single thread, every
 * kernel level.
 *
 *   bench_s2fp8 [--log2 26] [--rounds 5] [--csv] [--level vbmi|avx512|avx2|vector] [--order linear|streams]
 *
 * The first ratio is time over hu_quantize_n's, the second over memcpy's. Truncation is two passes over memory: it
 * reads twice and writes once, where memcpy reads and writes once. "truncate" also returns statistics and scale,
 * "alone" does not. vbmi: AVX-512 with VBMI. --order streams: against the same calls linear (HU_LEVEL_STREAMS). */
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
  uint8_t *codes;
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  hu_exec exec;
  hu_events events;
  hu_status status;
  int streams;
  void (*subject)(void *);
} job;

static const hu_mode rne;

static void run_quantize_n(void *context) {
  job *work = context;
  work->status = hu_quantize_n(work->n, work->z, 1, work->x, 1, work->kind.element, rne, &work->exec, &work->events);
}

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->n * sizeof *work->x);
}

static void run_sum(void *context) {
  job *work = context;
  memset(&work->sums, 0, sizeof work->sums);
  work->status = hu_s2fp8_sum_n(work->n, work->x, 1, &work->sums, &work->exec);
}

static void run_encode(void *context) {
  job *work = context;
  work->status = hu_s2fp8_encode_n(work->n, work->codes, 1, work->x, 1, &work->kind, &work->scale, rne, &work->exec,
                                   &work->events);
}

static void run_decode(void *context) {
  job *work = context;
  work->status = hu_s2fp8_decode_n(work->n, work->z, 1, work->codes, 1, &work->kind, &work->scale, &work->exec);
}

static void run_quantize(void *context) {
  job *work = context;
  work->status =
      hu_s2fp8_quantize_n(work->n, work->z, 1, work->x, 1, &work->kind, &work->scale, rne, &work->exec, &work->events);
}

static void run_truncate(void *context) {
  job *work = context;
  work->status = hu_s2fp8_truncate_n(work->n, work->z, 1, work->x, 1, &work->kind, rne, &work->sums, &work->scale,
                                     &work->exec, &work->events);
}

/* Calls hu_s2fp8_truncate_n without sums and scale. */
static void run_alone(void *context) {
  job *work = context;
  work->status =
      hu_s2fp8_truncate_n(work->n, work->z, 1, work->x, 1, &work->kind, rne, NULL, NULL, &work->exec, &work->events);
}

static void run_linear(void *context) {
  job *work = context;
  bench_linear(&work->exec, work->subject, work);
}

/* Makes sums of four uniform numbers between -4 and 4, most of them normal in fp(5,2,0), where hu_quantize_n is
 * fastest. */
static void fill(float *x, size_t n) {
  uint64_t state = 1;
  for (size_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += (float)(state >> (16 * k) & 0xFFFF) - 32767.5f;
    x[i] = sum * 0x1p-15f;
  }
}

static void check(const job *work, const char *what) {
  if (work->status == HU_OK) return;
  fprintf(stderr, "bench_s2fp8: %s: %s\n", what, hu_status_text(work->status));
  exit(2);
}

static void row(int csv, int rounds, const char *level, const char *what, job *work, void (*subject)(void *)) {
  if (work->streams) {
    work->subject = subject;
    bench_pair alone_times = bench_against(subject, run_linear, work, rounds, 1);
    check(work, what);
    bench_table_orders(csv, what, level, work->n, alone_times.subject, alone_times.reference);
    return;
  }
  bench_pair times = bench_against(subject, run_quantize_n, work, rounds, 1),
             copy_times = bench_against(subject, run_memcpy, work, rounds, 1);
  double best = times.subject < copy_times.subject ? times.subject : copy_times.subject;
  check(work, what);
  if (csv) {
    bench_table_line(what, level, 1, "time / quantize_n", best / times.reference);
    bench_table_line(what, level, 1, "time / memcpy", best / copy_times.reference);
    bench_table_line(what, level, 1, "ns", 1e9 * best / (double)work->n);
  } else {
    printf("%-8s %-10s %9.3f ms  quantize_n %9.3f ms %6.2f  memcpy %9.3f ms %6.2f  %6.2f ns an element\n", level, what,
           1e3 * best, 1e3 * times.reference, best / times.reference, 1e3 * copy_times.reference,
           best / copy_times.reference, 1e9 * best / (double)work->n);
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  bench_options options = bench_options_of(
      argc, argv, (bench_options){.rounds = 5, .log2 = 26, .order = "linear"},
      "bench_s2fp8 [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector] [--order linear|streams]");
  if (options.bad) return 2;
  job work;
  memset(&work, 0, sizeof work);
  work.streams = bench_streams_of(options.order);
  work.n = (size_t)1 << options.log2;
  work.x = malloc(work.n * 4);
  work.z = malloc(work.n * 4);
  work.codes = malloc(work.n);
  if (!work.x || !work.z || !work.codes || hu_s2fp8_parse(&work.kind, "s2fp8", NULL) != HU_OK) return 2;
  fill(work.x, work.n);
  memset(work.z, 0, work.n * 4);
  memset(work.codes, 0, work.n);
  if (options.csv) bench_table_head();
  for (size_t i = bench_first(); t_level_bit(i); i++) {
    const char *name = t_level_name(i);
    if (options.level && strcmp(options.level, name)) continue;
    work.exec.levels_off = bench_off(i, work.streams);
    row(options.csv, options.rounds, name, "sum", &work, run_sum);
    row(options.csv, options.rounds, name, "truncate", &work, run_truncate);
    row(options.csv, options.rounds, name, "alone", &work, run_alone);
    row(options.csv, options.rounds, name, "quantize", &work, run_quantize);
    row(options.csv, options.rounds, name, "encode", &work, run_encode);
    row(options.csv, options.rounds, name, "decode", &work, run_decode);
  }
  free(work.x);
  free(work.z);
  free(work.codes);
  return 0;
}
