/* SPDX-License-Identifier: MIT */
/* hu_scaled_gemm against hu_gemm's fp32 on binary32 values of the same size and, where there is one, OpenBLAS's sgemm;
 * single thread, run in turn.
 *
 *   bench_scaled_gemm [--size 1024] [--rounds 3] [--csv] [--level vnni|bf16|avx512|avx2|vector]
 *                     [--only PART_OF_A_ROW] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
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
  size_t n, bytes;
  const char *level;
  hu_scaled_operand a, b;
  hu_scaled_result d;
  hu_scaled_sum sum;
  hu_scaling sa, sb, sd;
  void *space;
  hu_exec exec;
  hu_events events;
  hu_status status;
  float *x, *y, *z;
} job;

static void run_scaled(void *p) {
  job *j = p;
  hu_mode rne = {0};
  j->status = hu_scaled_gemm(j->n, j->n, j->n, &j->d, &j->a, &j->b, NULL, &j->sum, rne, j->space, j->bytes, &j->exec,
                             &j->events);
}

static void run_fp32(void *p) {
  job *j = p;
  hu_mode rne = {0};
  hu_accum fp32;
  memset(&fp32, 0, sizeof fp32);
  fp32.kind = HU_ACCUM_FP32;
  hu_operand a = {j->x, j->n, hu_binary32(), HU_STORAGE_VALUES, 0},
             b = {j->y, j->n, hu_binary32(), HU_STORAGE_VALUES, 1};
  hu_result d = {j->z, j->n, hu_binary32(), HU_STORAGE_VALUES};
  j->status = hu_gemm(j->n, j->n, j->n, &d, &a, &b, NULL, &fp32, rne, &j->exec, &j->events);
}

static void run_sgemm(void *p) {
#if HU_HAVE_OPENBLAS
  job *j = p;
  int n = (int)j->n;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, j->x, n, j->y, n, 0, j->z, n);
#else
  (void)p;
#endif
}

static void *must_have(size_t bytes) {
  void *p = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
  if (!p) {
    fprintf(stderr, "bench_scaled_gemm: no memory\n");
    exit(1);
  }
  memset(p, 0, bytes);
  return p;
}

static void must(hu_status s) {
  if (s == HU_OK) return;
  fprintf(stderr, "bench_scaled_gemm: %s\n", hu_status_text(s));
  exit(1);
}

static hu_scaled place(size_t n, const hu_scaling *d) {
  hu_scaled_sizes s = hu_scaled_sizes_of(n, n, d);
  hu_scaled z = {must_have(s.codes), n, must_have(s.scales), s.block_cols, must_have(sizeof(float))};
  return z;
}

static void drop(hu_scaled *z) {
  free(z->codes);
  free(z->scales);
  free(z->tensor);
}

static hu_scaled_operand encoded(size_t n, hu_scaling *d, const char *text, const float *x, int transposed) {
  hu_scaled_operand z;
  hu_mode rne = {0};
  memset(&z, 0, sizeof z);
  must(hu_scaling_parse(d, text, NULL));
  z.scaling = d;
  z.transposed = (uint8_t)transposed;
  z.scaled = place(n, d);
  must(hu_scaled_encode(n, n, &z.scaled, x, n, d, rne, NULL, NULL, NULL, NULL));
  return z;
}

static void table_lines(const job *j, const row *r, double of_fp32, double of_sgemm) {
  char name[256];
  int at = snprintf(name, sizeof name, "%s x %s to %s, %s", r->a, r->b, r->d ? r->d : "binary32", ways[r->way]);
  size_t left = sizeof name - (size_t)at;
  if (r->way == HU_SCALED_PARTS)
    snprintf(name + at, left, ", %s inside, %s across, factors %s", r->inside, r->across, factors[r->factor]);
  else
    snprintf(name + at, left, ", %s", r->inside);
  bench_table_line(name, j->level, 1, "speed / fp32", of_fp32);
  if (HU_HAVE_OPENBLAS) bench_table_line(name, j->level, 1, "speed / sgemm", of_sgemm);
}

static void run_row(job *j, const row *r, int rounds, int csv) {
  hu_accum inside, across;
  j->a = encoded(j->n, &j->sa, r->a, j->x, 0);
  j->b = encoded(j->n, &j->sb, r->b, j->y, 1);
  must(hu_accum_parse(&inside, r->inside, NULL));
  if (r->way == HU_SCALED_PARTS) must(hu_accum_parse(&across, r->across, NULL));
  j->sum = r->way == HU_SCALED_PARTS  ? hu_scaled_sum_parts(inside, across, r->factor)
           : r->way == HU_SCALED_UNIT ? hu_scaled_sum_unit(inside)
                                      : hu_scaled_sum_decoded(inside);
  memset(&j->d, 0, sizeof j->d);
  float *z = must_have(j->n * j->n * sizeof *z);
  if (r->d) {
    must(hu_scaling_parse(&j->sd, r->d, NULL));
    j->d.scaling = &j->sd;
    j->d.scaled = place(j->n, &j->sd);
  } else {
    j->d.plain.data = z;
    j->d.plain.ld = j->n;
    j->d.plain.format = hu_binary32();
  }
  j->bytes = hu_scaled_gemm_space(j->n, j->n, j->n, &j->d, &j->a, &j->b, NULL, &j->sum, &j->exec);
  j->space = must_have(j->bytes);
  bench_pair own = bench_against(run_scaled, run_fp32, j, rounds, 1), blas = {0, 0};
  must(j->status);
  if (HU_HAVE_OPENBLAS) blas = bench_against(run_scaled, run_sgemm, j, rounds, 1);
  double of_fp32 = own.reference / own.subject, of_sgemm = HU_HAVE_OPENBLAS ? blas.reference / blas.subject : 0.0;
  if (csv) {
    table_lines(j, r, of_fp32, of_sgemm);
  } else {
    printf("%-12s %-12s %-10s %-7s %-7s %-48s %-14s %8.1f ms %7.3f %7.3f\n", r->a, r->b, r->d ? r->d : "binary32",
           ways[r->way], r->way ? "" : factors[r->factor], r->inside, r->across, own.subject * 1e3, of_fp32, of_sgemm);
    fflush(stdout);
  }
  drop(&j->a.scaled);
  drop(&j->b.scaled);
  if (r->d) drop(&j->d.scaled);
  free(z);
  free(j->space);
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
  job j;
  int csv = 0, rounds = 3;
  const char *only = "";
  memset(&j, 0, sizeof j);
  j.n = 1024;
  j.level = t_level_name(0);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--csv")) {
      csv = 1;
    } else if (i + 1 < argc && !strcmp(argv[i], "--size")) {
      j.n = strtoul(argv[++i], NULL, 0);
    } else if (i + 1 < argc && !strcmp(argv[i], "--rounds")) {
      rounds = atoi(argv[++i]);
    } else if (i + 1 < argc && !strcmp(argv[i], "--level")) {
      j.level = argv[++i];
      j.exec.levels_off = bench_levels_off(j.level);
    } else if (i + 1 < argc && !strcmp(argv[i], "--only")) {
      only = argv[++i];
    } else {
      fprintf(stderr,
              "usage: bench_scaled_gemm [--size 1024] [--rounds 3] [--csv] [--level vnni|bf16|avx512|avx2|vector] "
              "[--only TEXT]\n"
              "[--only TEXT]\n");
      return 2;
    }
  }
  if (j.n == 0 || j.n > 1 << 13 || rounds < 1) return 2;
  uint64_t seed = 5;
  j.x = must_have(j.n * j.n * sizeof(float));
  j.y = must_have(j.n * j.n * sizeof(float));
  j.z = must_have(j.n * j.n * sizeof(float));
  for (size_t i = 0; i < j.n * j.n; i++) {
    j.x[i] = (float)normal(&seed);
    j.y[i] = (float)normal(&seed);
  }
  if (csv) bench_table_head();
  if (!csv) printf("%zu^3, one thread; speed over hu_gemm fp32 and over OpenBLAS sgemm\n", j.n);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[256];
    snprintf(text, sizeof text, "%s %s %s %s %s", rows[i].a, rows[i].b, ways[rows[i].way], rows[i].inside,
             rows[i].across);
    if (strstr(text, only)) run_row(&j, &rows[i], rounds, csv);
  }
  free(j.x);
  free(j.y);
  free(j.z);
  return 0;
}
