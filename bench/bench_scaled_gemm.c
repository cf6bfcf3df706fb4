/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors against hu_gemm's fp32 on binary32 values of the same size and, where there is one,
 * OpenBLAS's sgemm; single thread, run in turn.
 *
 *   bench_scaled_gemm [--size 1024] [--rounds 3] [--csv] [--level vnni|bf16|avx512|avx2|vector]
 *                     [--only PART_OF_A_ROW] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
#include "bench/options.h"
#include "bench/table.h"
#include "files/timing.h"

#ifndef HU_HAVE_OPENBLAS
#define HU_HAVE_OPENBLAS 0
#endif
#if HU_HAVE_OPENBLAS
#include <cblas.h>
#endif

typedef struct row {
  const char *a, *b; /* scalings: of A as it is, of B transposed */
  const char *d;     /* NULL: binary32 */
  uint8_t way, factor;
  const char *inside, *across;
} row;

static const row rows[] = {
    {"mxfp8_e4m3", "mxfp8_e4m3", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_EXACT, "exact", "fp32"},
    {"mxfp8_e4m3", "mxfp8_e4m3", NULL, HU_SCALED_UNIT, 0, "nv.blackwell.mxfp8.e4m3", ""},
    {"mxfp8_e4m3", "mxfp8_e4m3", NULL, HU_SCALED_DECODED, 0, "fp32", ""},
    {"mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e4m3", HU_SCALED_PARTS, HU_SCALED_FACTOR_EXACT, "exact", "fp32"},
    {"mxint8", "mxint8", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_EXACT, "exact", "fp32"},
    {"mxfp4", "mxfp4", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_EXACT, "exact", "fp32"},
    {"nvfp4", "nvfp4", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_ROUNDED, "exact", "fp32"},
    {"nvfp4", "nvfp4", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_ALPHA, "exact", "fp32"},
    {"nvfp4", "nvfp4", NULL, HU_SCALED_UNIT, 0, "nv.blackwell.nvfp4.b16.ue4m3", ""},
    {"nvfp4", "nvfp4", NULL, HU_SCALED_DECODED, 0, "fp32", ""},
    {"dsv3_1x128", "dsv3_128x128", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_ROUNDED, "nv.hopper.e4m3.f32.wgmma", "fp32"},
    {"dsv3_1x128", "dsv3_128x128", NULL, HU_SCALED_UNIT, 0, "promote(128,nv.hopper.e4m3.f32.wgmma,binary32,scaled)",
     ""},
    {"dsv3_1x128", "dsv3_128x128", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_TWICE, "fp32", "seq2(binary32)"},
    {"fp8_tensor", "fp8_tensor", NULL, HU_SCALED_PARTS, HU_SCALED_FACTOR_ROUNDED,
     "promote(128,nv.hopper.e4m3.f32.wgmma,binary32)", "fp32"},
};

static const char *const ways[] = {"parts", "unit", "decoded"};
static const char *const factors[] = {"exact", "rounded", "twice", "alpha"};

typedef struct job {
  size_t n;
  const char *level;
  hu_product product;
  hu_scaled a, b, d;
  hu_scaled_sum sum;
  hu_scaling sa, sb, sd;
  hu_exec exec;
  hu_events events;
  hu_status status;
  float *x, *y, *z;
} job;

static void run_scaled(void *context) {
  job *work = context;
  hu_how how = {.exec = &work->exec, .events = &work->events};
  work->status = hu_multiply(&work->product, &how);
}

static void run_fp32(void *context) {
  job *work = context;
  hu_how how = {.exec = &work->exec, .events = &work->events};
  hu_accum fp32;
  memset(&fp32, 0, sizeof fp32);
  fp32.kind = HU_ACCUM_FP32;
  hu_view a = hu_matrix_floats(work->x, work->n), b = hu_transposed(hu_matrix_floats(work->y, work->n));
  hu_output result = hu_matrix_floats_out(work->z, work->n);
  work->status = hu_gemm(work->n, work->n, work->n, &result, &a, &b, NULL, &fp32, &how);
}

static void run_sgemm(void *context) {
#if HU_HAVE_OPENBLAS
  job *work = context;
  int n = (int)work->n;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, work->x, n, work->y, n, 0, work->z, n);
#else
  (void)context;
#endif
}

static void *must_have(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
  if (!memory) {
    fprintf(stderr, "bench_scaled_gemm: no memory\n");
    exit(1);
  }
  memset(memory, 0, bytes);
  return memory;
}

static void must(hu_status status) {
  if (status == HU_OK) return;
  fprintf(stderr, "bench_scaled_gemm: %s\n", hu_status_text(status));
  exit(1);
}

static hu_scaled place(size_t n, const hu_scaling *scaling) {
  hu_scaled_sizes sizes = hu_scaled_sizes_of(n, n, scaling);
  hu_scaled z = {must_have(sizes.codes), n, must_have(sizes.scales), sizes.block_cols, must_have(sizeof(float))};
  return z;
}

static void drop(hu_scaled *z) {
  free(z->codes);
  free(z->scales);
  free(z->tensor);
}

static hu_view encoded(size_t n, hu_scaled *z, hu_scaling *scaling, const char *text, const float *x) {
  hu_mode rne = {0};
  must(hu_scaling_parse(scaling, text, NULL));
  *z = place(n, scaling);
  must(hu_scaled_encode(n, n, z, x, n, scaling, rne, NULL, NULL, NULL, NULL));
  return hu_scaled_matrix(z, scaling);
}

static void table_lines(const job *work, const row *line, double of_fp32, double of_sgemm) {
  char name[256];
  int at = snprintf(name, sizeof name, "%s x %s to %s, %s", line->a, line->b, line->d ? line->d : "binary32",
                    ways[line->way]);
  size_t left = sizeof name - (size_t)at;
  if (line->way == HU_SCALED_PARTS)
    snprintf(name + at, left, ", %s inside, %s across, factors %s", line->inside, line->across, factors[line->factor]);
  else
    snprintf(name + at, left, ", %s", line->inside);
  bench_table_line(name, work->level, 1, "speed / fp32", of_fp32);
  if (HU_HAVE_OPENBLAS) bench_table_line(name, work->level, 1, "speed / sgemm", of_sgemm);
}

static void run_row(job *work, const row *line, int rounds, int csv) {
  hu_accum inside, across;
  hu_product *own = &work->product;
  memset(own, 0, sizeof *own);
  own->m = own->n = own->k = work->n;
  own->a = encoded(work->n, &work->a, &work->sa, line->a, work->x);
  own->b = hu_transposed(encoded(work->n, &work->b, &work->sb, line->b, work->y));
  own->sum = &work->sum;
  must(hu_accum_parse(&inside, line->inside, NULL));
  if (line->way == HU_SCALED_PARTS) must(hu_accum_parse(&across, line->across, NULL));
  work->sum = line->way == HU_SCALED_PARTS  ? hu_scaled_sum_parts(inside, across, line->factor)
              : line->way == HU_SCALED_UNIT ? hu_scaled_sum_unit(inside)
                                            : hu_scaled_sum_decoded(inside);
  float *z = must_have(work->n * work->n * sizeof *z);
  if (line->d) {
    must(hu_scaling_parse(&work->sd, line->d, NULL));
    work->d = place(work->n, &work->sd);
    own->d = hu_scaled_matrix_out(&work->d, &work->sd);
  } else {
    own->d = hu_matrix_floats_out(z, work->n);
  }
  own->bytes = hu_multiply_space(own, &work->exec);
  own->space = must_have(own->bytes);
  bench_pair times = bench_against(run_scaled, run_fp32, work, rounds, 1), blas = {0, 0};
  must(work->status);
  if (HU_HAVE_OPENBLAS) blas = bench_against(run_scaled, run_sgemm, work, rounds, 1);
  double of_fp32 = times.reference / times.subject, of_sgemm = HU_HAVE_OPENBLAS ? blas.reference / blas.subject : 0.0;
  if (csv) {
    table_lines(work, line, of_fp32, of_sgemm);
  } else {
    printf("%-12s %-12s %-10s %-7s %-7s %-48s %-14s %8.1f ms %7.3f %7.3f\n", line->a, line->b,
           line->d ? line->d : "binary32", ways[line->way], line->way ? "" : factors[line->factor], line->inside,
           line->across, times.subject * 1e3, of_fp32, of_sgemm);
    fflush(stdout);
  }
  drop(&work->a);
  drop(&work->b);
  if (line->d) drop(&work->d);
  free(z);
  free(own->space);
}

static double normal(uint64_t *state) {
  double sum = -6;
  for (int i = 0; i < 12; i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    sum += (double)(*state >> 33) * 0x1p-31;
  }
  return sum;
}

int main(int argc, char **argv) {
  job work;
  bench_options options = bench_options_of(
      argc, argv, (bench_options){.rounds = 3, .size = 1024, .only = "", .level = t_level_name(0)},
      "bench_scaled_gemm [--size 1024] [--rounds 3] [--csv] [--level vnni|bf16|avx512|avx2|vector] [--only TEXT]");
  if (options.bad || options.size < 1 || options.size > 1 << 13) return 2;
  memset(&work, 0, sizeof work);
  work.n = (size_t)options.size;
  work.level = options.level;
  work.exec.levels_off = bench_levels_off(work.level);
  uint64_t seed = 5;
  work.x = must_have(work.n * work.n * sizeof(float));
  work.y = must_have(work.n * work.n * sizeof(float));
  work.z = must_have(work.n * work.n * sizeof(float));
  for (size_t i = 0; i < work.n * work.n; i++) {
    work.x[i] = (float)normal(&seed);
    work.y[i] = (float)normal(&seed);
  }
  if (options.csv) bench_table_head();
  if (!options.csv) printf("%zu^3, one thread; speed over hu_gemm fp32 and over OpenBLAS sgemm\n", work.n);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "%s %s %s %s %s", rows[i].a, rows[i].b, ways[rows[i].way], rows[i].inside,
             rows[i].across);
    if (strstr(text, options.only)) run_row(&work, &rows[i], options.rounds, options.csv);
  }
  free(work.x);
  free(work.y);
  free(work.z);
  return 0;
}
