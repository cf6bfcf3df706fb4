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

static hu_scaled place_of(job *work) {
  hu_scaled_sizes sizes = hu_scaled_sizes_of(work->rows, COLS, &work->scaling);
  hu_scaled z = {work->codes, COLS, work->scales, sizes.block_cols, work->scaling.tensor ? &work->tensor : NULL};
  return z;
}

static void run_quantize_n(void *context) {
  job *work = context;
  work->status =
      hu_quantize_n(work->rows * COLS, work->z, 1, work->x, 1, work->scaling.element, rne, &work->exec, &work->events);
}

static void run_encode_n(void *context) {
  job *work = context;
  work->status = hu_encode_n(work->rows * COLS, work->codes, 1, work->x, 1, work->scaling.element, rne, &work->exec,
                             &work->events);
}

static void run_decode_n(void *context) {
  job *work = context;
  work->status = hu_decode_n(work->rows * COLS, work->z, 1, work->codes, 1, work->scaling.element, &work->exec);
}

static void run_quantize(void *context) {
  job *work = context;
  work->status = hu_scaled_quantize(work->rows, COLS, work->z, COLS, work->x, COLS, &work->scaling, rne, NULL, NULL,
                                    &work->exec, &work->events);
}

static void run_encode(void *context) {
  job *work = context;
  hu_scaled z = place_of(work);
  work->status = hu_scaled_encode(work->rows, COLS, &z, work->x, COLS, &work->scaling, rne, NULL, NULL, &work->exec,
                                  &work->events);
}

static void run_decode(void *context) {
  job *work = context;
  hu_scaled z = place_of(work);
  work->status = hu_scaled_decode(work->rows, COLS, work->z, COLS, &z, &work->scaling, &work->exec);
}

static void run_copy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->rows * COLS * sizeof *work->z);
}

static void run_linear(void *context) {
  job *work = context;
  bench_linear(&work->exec, work->subject, work);
}

/* Makes sums of four uniform numbers, times a power of two that changes from row to row. */
static void fill(float *x, size_t rows) {
  uint64_t state = 1;
  for (size_t i = 0; i < rows * COLS; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += (float)(state >> (16 * k) & 0xFFFF) - 32767.5f;
    x[i] = sum * (1.0f / (float)(1 << (i / COLS % 16 + 8)));
  }
}

static void row(int csv, int rounds, const char *level, const char *name, const char *what, job *work,
                void (*subject)(void *), void (*reference)(void *)) {
  work->subject = subject;
  if (work->streams) reference = run_linear;
  bench_pair times = bench_against(subject, reference, work, rounds, 1);
  double n = (double)work->rows * COLS, ratio = times.subject / times.reference;
  if (work->status != HU_OK) {
    fprintf(stderr, "bench_scaled: %s: %s\n", name, hu_status_text(work->status));
    exit(2);
  }
  char text[96];
  snprintf(text, sizeof text, "%s, %s", what, name);
  if (work->streams) {
    bench_table_orders(csv, text, level, work->rows * COLS, times.subject, times.reference);
    return;
  }
  if (csv) {
    const char *of = reference == run_copy         ? "time / memcpy"
                     : reference == run_quantize_n ? "time / quantize_n"
                     : reference == run_encode_n   ? "time / encode_n"
                                                   : "time / decode_n";
    bench_table_line(text, level, 1, of, ratio);
  } else {
    printf("%-8s %-14s %-10s %9.3f ms %9.3f ms %7.2f  %6.2f ns an element\n", level, name, what, 1e3 * times.subject,
           1e3 * times.reference, ratio, 1e9 * times.subject / n);
  }
  fflush(stdout);
}

static void level_rows(int csv, int rounds, const char *level, job *work) {
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
  if (hu_scaling_parse(&work->scaling, "mxfp8_e4m3", NULL) != HU_OK) exit(2);
  row(csv, rounds, level, "float8_e4m3fn", "quantize_n", work, run_quantize_n, run_copy);
  row(csv, rounds, level, "float8_e4m3fn", "encode_n", work, run_encode_n, run_copy);
  row(csv, rounds, level, "float8_e4m3fn", "decode_n", work, run_decode_n, run_copy);
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    const char *name = subjects[i].name ? subjects[i].name : subjects[i].text;
    if (hu_scaling_parse(&work->scaling, subjects[i].text, NULL) != HU_OK) exit(2);
    row(csv, rounds, level, name, "quantize", work, run_quantize, run_quantize_n);
    row(csv, rounds, level, name, "encode", work, run_encode, run_encode_n);
    row(csv, rounds, level, name, "decode", work, run_decode, run_decode_n);
  }
}

int main(int argc, char **argv) {
  bench_options options = bench_options_of(
      argc, argv, (bench_options){.rounds = 5, .log2 = 26, .order = "linear"},
      "bench_scaled [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2|vector] [--order linear|streams]");
  if (options.bad) return 2;
  job work = {0};
  work.streams = bench_streams_of(options.order);
  work.rows = (size_t)1 << (options.log2 > 12 ? options.log2 - 12 : 0);
  work.x = malloc(work.rows * COLS * 4);
  work.z = malloc(work.rows * COLS * 4);
  work.codes = malloc(work.rows * COLS * 4);
  work.scales = malloc(work.rows * COLS * 4);
  if (!work.x || !work.z || !work.codes || !work.scales) return 2;
  fill(work.x, work.rows);
  memset(work.z, 0, work.rows * COLS * 4);
  memset(work.codes, 0, work.rows * COLS * 4);
  memset(work.scales, 0, work.rows * COLS * 4);
  if (options.csv) bench_table_head();
  for (size_t i = 0; t_level_bit(i); i++) {
    if (!bench_takes(options.level, i)) continue;
    work.exec.levels_off = bench_off(i, work.streams);
    level_rows(options.csv, options.rounds, t_level_name(i), &work);
  }
  free(work.x);
  free(work.z);
  free(work.codes);
  free(work.scales);
  return 0;
}
