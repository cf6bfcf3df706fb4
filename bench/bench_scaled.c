/* SPDX-License-Identifier: MIT */
/* Scaled tensors against hu_quantize_n, hu_encode_n and hu_decode_n of the same elements, and those against memcpy of
 * the values, single thread, every kernel level.
 *
 *   bench_scaled [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector] [--order linear|streams]
 *
 * The ratio is time over the reference's time. --order streams: against the same calls linear (HU_LEVEL_STREAMS). */
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
  void *codes, *scales;
  float tensor;
  hu_scaling scaling;
  hu_exec exec;
  hu_events events;
  hu_status status;
  int streams;
  void (*subject)(void *);
} job;

static const hu_mode rne;

static hu_scaled place_of(job *j) {
  hu_scaled_sizes n = hu_scaled_sizes_of(j->rows, COLS, &j->scaling);
  hu_scaled z = {j->codes, COLS, j->scales, n.block_cols, j->scaling.tensor ? &j->tensor : NULL};
  return z;
}

static void run_quantize_n(void *p) {
  job *j = p;
  j->status = hu_quantize_n(j->rows * COLS, j->z, 1, j->x, 1, j->scaling.element, rne, &j->exec, &j->events);
}

static void run_encode_n(void *p) {
  job *j = p;
  j->status = hu_encode_n(j->rows * COLS, j->codes, 1, j->x, 1, j->scaling.element, rne, &j->exec, &j->events);
}

static void run_decode_n(void *p) {
  job *j = p;
  j->status = hu_decode_n(j->rows * COLS, j->z, 1, j->codes, 1, j->scaling.element, &j->exec);
}

static void run_quantize(void *p) {
  job *j = p;
  j->status =
      hu_scaled_quantize(j->rows, COLS, j->z, COLS, j->x, COLS, &j->scaling, rne, NULL, NULL, &j->exec, &j->events);
}

static void run_encode(void *p) {
  job *j = p;
  hu_scaled z = place_of(j);
  j->status = hu_scaled_encode(j->rows, COLS, &z, j->x, COLS, &j->scaling, rne, NULL, NULL, &j->exec, &j->events);
}

static void run_decode(void *p) {
  job *j = p;
  hu_scaled z = place_of(j);
  j->status = hu_scaled_decode(j->rows, COLS, j->z, COLS, &z, &j->scaling, &j->exec);
}

static void run_copy(void *p) {
  job *j = p;
  memcpy(j->z, j->x, j->rows * COLS * sizeof *j->z);
}

static void run_linear(void *p) {
  job *j = p;
  bench_linear(&j->exec, j->subject, j);
}

/* Sums of four uniform numbers, times a power of two that changes from row to row. */
static void fill(float *x, size_t rows) {
  uint64_t s = 1;
  for (size_t i = 0; i < rows * COLS; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += (float)(s >> (16 * k) & 0xFFFF) - 32767.5f;
    x[i] = sum * (1.0f / (float)(1 << (i / COLS % 16 + 8)));
  }
}

static void row(int csv, int rounds, const char *level, const char *name, const char *what, job *j,
                void (*subject)(void *), void (*reference)(void *)) {
  j->subject = subject;
  if (j->streams) reference = run_linear;
  bench_pair t = bench_against(subject, reference, j, rounds, 1);
  double n = (double)j->rows * COLS, ratio = t.subject / t.reference;
  if (j->status != HU_OK) {
    fprintf(stderr, "bench_scaled: %s: %s\n", name, hu_status_text(j->status));
    exit(2);
  }
  char text[96];
  snprintf(text, sizeof text, "%s, %s", what, name);
  if (j->streams) {
    bench_table_orders(csv, text, level, j->rows * COLS, t.subject, t.reference);
    return;
  }
  if (csv) {
    const char *of = reference == run_copy         ? "time / memcpy"
                     : reference == run_quantize_n ? "time / quantize_n"
                     : reference == run_encode_n   ? "time / encode_n"
                                                   : "time / decode_n";
    bench_table_line(text, level, 1, of, ratio);
  } else {
    printf("%-8s %-14s %-10s %9.3f ms %9.3f ms %7.2f  %6.2f ns an element\n", level, name, what, 1e3 * t.subject,
           1e3 * t.reference, ratio, 1e9 * t.subject / n);
  }
  fflush(stdout);
}

static void level_rows(int csv, int rounds, const char *level, job *j) {
  static const struct {
    const char *text;
    const char *name; /* NULL: text */
  } subjects[] = {{"mxfp8_e4m3", NULL},
                  {"mxfp8_e5m2", NULL},
                  {"mxfp6_e3m2", NULL},
                  {"mxfp6_e2m3", NULL},
                  {"mxfp4", NULL},
                  {"mxint8", NULL},
                  {"scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)", "mx rceil"},
                  {"scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=32x1;rule=floor)", "mx 32x1"},
                  {"nvfp4", NULL},
                  {"nvfp4_te", NULL},
                  {"nvfp4_torchao", NULL},
                  {"nvfp4_4over6", NULL},
                  {"nvfp4_modelopt_mse", NULL},
                  {"msfp12", NULL},
                  {"dsv3_1x128", NULL},
                  {"dsv3_128x128", NULL},
                  {"fp8_tensor", NULL},
                  {"hbfp8", NULL}};
  if (hu_scaling_parse(&j->scaling, "mxfp8_e4m3", NULL) != HU_OK) exit(2);
  row(csv, rounds, level, "float8_e4m3fn", "quantize_n", j, run_quantize_n, run_copy);
  row(csv, rounds, level, "float8_e4m3fn", "encode_n", j, run_encode_n, run_copy);
  row(csv, rounds, level, "float8_e4m3fn", "decode_n", j, run_decode_n, run_copy);
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    const char *name = subjects[i].name ? subjects[i].name : subjects[i].text;
    if (hu_scaling_parse(&j->scaling, subjects[i].text, NULL) != HU_OK) exit(2);
    row(csv, rounds, level, name, "quantize", j, run_quantize, run_quantize_n);
    row(csv, rounds, level, name, "encode", j, run_encode, run_encode_n);
    row(csv, rounds, level, name, "decode", j, run_decode, run_decode_n);
  }
}

int main(int argc, char **argv) {
  bench_options o = bench_options_with(argc, argv, "bench_scaled", 1);
  if (o.bad) return 2;
  job j = {0};
  j.streams = bench_streams_of(o.order);
  j.rows = (size_t)1 << (o.log2 > 12 ? o.log2 - 12 : 0);
  j.x = malloc(j.rows * COLS * 4);
  j.z = malloc(j.rows * COLS * 4);
  j.codes = malloc(j.rows * COLS * 4);
  j.scales = malloc(j.rows * COLS * 4);
  if (!j.x || !j.z || !j.codes || !j.scales) return 2;
  fill(j.x, j.rows);
  memset(j.z, 0, j.rows * COLS * 4);
  memset(j.codes, 0, j.rows * COLS * 4);
  memset(j.scales, 0, j.rows * COLS * 4);
  if (o.csv) bench_table_head();
  for (size_t i = 0; t_level_bit(i); i++) {
    if (!bench_wants(o.level, i)) continue;
    j.exec.levels_off = bench_off(i, j.streams);
    level_rows(o.csv, o.rounds, t_level_name(i), &j);
  }
  free(j.x);
  free(j.z);
  free(j.codes);
  free(j.scales);
  return 0;
}
