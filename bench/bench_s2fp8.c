/* SPDX-License-Identifier: MIT */
/* Shifted and squeezed tensors against hu_quantize_n into the same format and against memcpy, single thread, every
 * kernel level.
 *
 *   bench_s2fp8 [--log2 26] [--rounds 5] [--csv] [--level vbmi|avx512|avx2|vector] [--order linear|streams]
 *
 * The first ratio is time over hu_quantize_n's, the second over memcpy's. Truncation is two passes over memory: it
 * reads twice and writes once, where memcpy reads and writes once. "truncate" is asked for statistics and scale as
 * well, "alone" is not. vbmi: AVX-512 with it.
 * --order streams: against the same calls linear (HU_LEVEL_STREAMS). */
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

static void run_quantize_n(void *p) {
  job *j = p;
  j->status = hu_quantize_n(j->n, j->z, 1, j->x, 1, j->kind.element, rne, &j->exec, &j->events);
}

static void run_memcpy(void *p) {
  job *j = p;
  memcpy(j->z, j->x, j->n * sizeof *j->x);
}

static void run_sum(void *p) {
  job *j = p;
  memset(&j->sums, 0, sizeof j->sums);
  j->status = hu_s2fp8_sum_n(j->n, j->x, 1, &j->sums, &j->exec);
}

static void run_encode(void *p) {
  job *j = p;
  j->status = hu_s2fp8_encode_n(j->n, j->codes, 1, j->x, 1, &j->kind, &j->scale, rne, &j->exec, &j->events);
}

static void run_decode(void *p) {
  job *j = p;
  j->status = hu_s2fp8_decode_n(j->n, j->z, 1, j->codes, 1, &j->kind, &j->scale, &j->exec);
}

static void run_quantize(void *p) {
  job *j = p;
  j->status = hu_s2fp8_quantize_n(j->n, j->z, 1, j->x, 1, &j->kind, &j->scale, rne, &j->exec, &j->events);
}

static void run_truncate(void *p) {
  job *j = p;
  j->status = hu_s2fp8_truncate_n(j->n, j->z, 1, j->x, 1, &j->kind, rne, &j->sums, &j->scale, &j->exec, &j->events);
}

/* The same where nobody asks for sums and scale. */
static void run_alone(void *p) {
  job *j = p;
  j->status = hu_s2fp8_truncate_n(j->n, j->z, 1, j->x, 1, &j->kind, rne, NULL, NULL, &j->exec, &j->events);
}

static void run_linear(void *p) {
  job *j = p;
  bench_linear(&j->exec, j->subject, j);
}

/* Sums of four uniform numbers between -4 and 4: most of them normal in fp(5,2,0), so that hu_quantize_n goes its quick
 * way. */
static void fill(float *x, size_t n) {
  uint64_t s = 1;
  for (size_t i = 0; i < n; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += (float)(s >> (16 * k) & 0xFFFF) - 32767.5f;
    x[i] = sum * 0x1p-15f;
  }
}

static void check(const job *j, const char *what) {
  if (j->status == HU_OK) return;
  fprintf(stderr, "bench_s2fp8: %s: %s\n", what, hu_status_text(j->status));
  exit(2);
}

static void row(int csv, int rounds, const char *level, const char *what, job *j, void (*subject)(void *)) {
  if (j->streams) {
    j->subject = subject;
    bench_pair o = bench_against(subject, run_linear, j, rounds, 1);
    check(j, what);
    bench_table_orders(csv, what, level, j->n, o.subject, o.reference);
    return;
  }
  bench_pair t = bench_against(subject, run_quantize_n, j, rounds, 1),
             c = bench_against(subject, run_memcpy, j, rounds, 1);
  double best = t.subject < c.subject ? t.subject : c.subject;
  check(j, what);
  if (csv) {
    bench_table_line(what, level, 1, "time / quantize_n", best / t.reference);
    bench_table_line(what, level, 1, "time / memcpy", best / c.reference);
    bench_table_line(what, level, 1, "ns", 1e9 * best / (double)j->n);
  } else {
    printf("%-8s %-10s %9.3f ms  quantize_n %9.3f ms %6.2f  memcpy %9.3f ms %6.2f  %6.2f ns an element\n", level, what,
           1e3 * best, 1e3 * t.reference, best / t.reference, 1e3 * c.reference, best / c.reference,
           1e9 * best / (double)j->n);
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  bench_options o = bench_options_with(argc, argv, "bench_s2fp8", 1);
  if (o.bad) return 2;
  job j;
  memset(&j, 0, sizeof j);
  j.streams = bench_streams_of(o.order);
  j.n = (size_t)1 << o.log2;
  j.x = malloc(j.n * 4);
  j.z = malloc(j.n * 4);
  j.codes = malloc(j.n);
  if (!j.x || !j.z || !j.codes || hu_s2fp8_parse(&j.kind, "s2fp8", NULL) != HU_OK) return 2;
  fill(j.x, j.n);
  memset(j.z, 0, j.n * 4);
  memset(j.codes, 0, j.n);
  if (o.csv) bench_table_head();
  for (size_t i = bench_first(); t_level_bit(i); i++) {
    const char *name = t_level_name(i);
    if (o.level && strcmp(o.level, name)) continue;
    j.exec.levels_off = bench_off(i, j.streams);
    row(o.csv, o.rounds, name, "sum", &j, run_sum);
    row(o.csv, o.rounds, name, "truncate", &j, run_truncate);
    row(o.csv, o.rounds, name, "alone", &j, run_alone);
    row(o.csv, o.rounds, name, "quantize", &j, run_quantize);
    row(o.csv, o.rounds, name, "encode", &j, run_encode);
    row(o.csv, o.rounds, name, "decode", &j, run_decode);
  }
  free(j.x);
  free(j.z);
  free(j.codes);
  return 0;
}
