/* SPDX-License-Identifier: MIT */
/* hu_gemm in binary32 against sgemm on the products of bench_train's networks: thin, small, transposed. One thread.
 *
 *   bench_gemm_shapes [--rounds 5] [--csv]
 *
 * Without OpenBLAS there is nothing to compare with, and nothing is measured. Set OPENBLAS_NUM_THREADS=1. */
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

/* D (m x n) = A B over k: Z = X W; dW = X^T dZ; dX = dZ W^T. */
typedef struct shape {
  const char *net;
  size_t m, n, k;
  int a_turned, b_turned;
} shape;

static const shape shapes[] = {{"digits: Z", 64, 64, 64, 0, 0},
                               {"digits: dW", 64, 64, 64, 1, 0},
                               {"digits: dX", 64, 64, 64, 0, 1},
                               {"digits: Z, last", 64, 10, 64, 0, 0},
                               {"digits: dW, last", 64, 10, 64, 1, 0},
                               {"digits: dX, last", 64, 64, 10, 0, 1},
                               {"mlp: Z, first", 128, 512, 784, 0, 0},
                               {"mlp: dW, first", 784, 512, 128, 1, 0},
                               {"mlp: Z", 128, 512, 512, 0, 0},
                               {"mlp: dW", 512, 512, 128, 1, 0},
                               {"mlp: dX", 128, 512, 512, 0, 1},
                               {"conv: Z, first", 32768, 8, 9, 0, 0},
                               {"conv: dW, first", 9, 8, 32768, 1, 0},
                               {"conv: Z, second", 32768, 16, 72, 0, 0},
                               {"conv: dW, second", 72, 16, 32768, 1, 0},
                               {"conv: dX, second", 32768, 72, 16, 0, 1},
                               {"conv: Z, third", 32768, 16, 144, 0, 0},
                               {"conv: dW, third", 144, 16, 32768, 1, 0},
                               {"conv: dX, third", 32768, 144, 16, 0, 1},
                               {"transformer: Z, qkv", 512, 96, 32, 0, 0},
                               {"transformer: dW, qkv", 32, 96, 512, 1, 0},
                               {"transformer: dX, qkv", 512, 32, 96, 0, 1},
                               {"transformer: Z, wide", 512, 128, 32, 0, 0},
                               {"transformer: Z, logits", 512, 76, 32, 0, 0},
                               {"transformer: scores", 32, 32, 16, 0, 1},
                               {"transformer: p V", 32, 16, 32, 0, 0},
                               {"gru: Z of x", 64, 96, 8, 0, 0},
                               {"gru: dW of x", 8, 96, 64, 1, 0},
                               {"gru: Z of h", 64, 96, 32, 0, 0},
                               {"gru: dW of h", 32, 96, 64, 1, 0},
                               {"gru: dX of h", 64, 32, 96, 0, 1}};

typedef struct job {
  shape size;
  hu_view a, b;
  hu_output result;
  float *x, *y, *z;
  hu_accum accum;
  hu_status status;
} job;

static void run_gemm(void *context) {
  job *work = context;
  hu_status status =
      hu_gemm(work->size.m, work->size.n, work->size.k, &work->result, &work->a, &work->b, NULL, &work->accum, NULL);
  if (status != HU_OK) work->status = status;
}

static void run_sgemm(void *context) {
#if HU_HAVE_OPENBLAS
  job *work = context;
  int m = (int)work->size.m, n = (int)work->size.n, k = (int)work->size.k;
  cblas_sgemm(CblasRowMajor, work->size.a_turned ? CblasTrans : CblasNoTrans,
              work->size.b_turned ? CblasTrans : CblasNoTrans, m, n, k, 1, work->x, work->size.a_turned ? m : k,
              work->y, work->size.b_turned ? k : n, 0, work->z, n);
#else
  (void)context;
#endif
}

static float *numbers(size_t n) {
  float *x = malloc(n * sizeof *x);
  if (!x) exit(2);
  for (size_t i = 0; i < n; i++) x[i] = (float)(i * 2654435761u % 1000) * 0x1p-9f - 1;
  return x;
}

static hu_view operand(const float *x, size_t rows, size_t cols, int turned) {
  return turned ? hu_transposed(hu_matrix_floats(x, rows)) : hu_matrix_floats(x, cols);
}

static void row(const shape *size, const bench_options *options) {
  job work;
  memset(&work, 0, sizeof work);
  work.size = *size;
  work.x = numbers(size->m * size->k);
  work.y = numbers(size->k * size->n);
  work.z = numbers(size->m * size->n);
  work.a = operand(work.x, size->m, size->k, size->a_turned);
  work.b = operand(work.y, size->k, size->n, size->b_turned);
  work.result = hu_matrix_floats_out(work.z, size->n);
  work.accum.kind = HU_ACCUM_FP32;
  int repeat = 1 + (int)(2e8 / (2.0 * (double)(size->m * size->n * size->k) + 5e4));
  bench_pair times = bench_against(run_gemm, run_sgemm, &work, options->rounds, repeat);
  if (work.status != HU_OK) {
    fprintf(stderr, "bench_gemm_shapes: %s: %s\n", size->net, hu_status_text(work.status));
    exit(2);
  }
  double ratio = times.subject / times.reference;
  if (options->csv) {
    char name[96];
    snprintf(name, sizeof name, "%s, %zu x %zu over %zu", size->net, size->m, size->n, size->k);
    bench_table_line(name, t_level_name(0), 1, "time / sgemm", ratio);
  } else {
    printf("  %-22s %5zu x %3zu over %5zu %c%c %9.2f us  sgemm %9.2f us %6.2f%s\n", size->net, size->m, size->n,
           size->k, size->a_turned ? 't' : 'n', size->b_turned ? 't' : 'n', 1e6 * times.subject, 1e6 * times.reference,
           ratio, ratio > 2 ? "  above 2" : "");
  }
  fflush(stdout);
  free(work.x);
  free(work.y);
  free(work.z);
}

int main(int argc, char **argv) {
  bench_options options =
      bench_options_of(argc, argv, (bench_options){.rounds = 5}, "bench_gemm_shapes [--rounds 5] [--csv]");
  if (options.bad) return 2;
  if (options.csv) bench_table_head();
  if (!HU_HAVE_OPENBLAS) {
    fprintf(stderr, "bench_gemm_shapes: built without OpenBLAS, nothing to compare with\n");
    return 0;
  }
  if (!options.csv)
    printf("products of networks, binary32, time over sgemm's (no goal; the step as a whole has one)\n");
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) row(&shapes[i], &options);
  return 0;
}
