/* SPDX-License-Identifier: MIT */
/* hu_gemm against OpenBLAS's sgemm and dgemm of the same size, single thread, run in turn.
 *
 *   bench_gemm [--size 1024] [--rounds 5] [--csv] [--level amx_int8|amx_bf16|vnni|bf16|avx512|avx2|vector] [--only WAY]
 *              [--presets]
 *
 * --presets: the models of all matrix units whose operands hu_gemm takes, instead of the table below; --only: those
 * whose name begins so.
 *
 * Without OpenBLAS (HU_HAVE_OPENBLAS 0) the reference columns are empty. Set OPENBLAS_NUM_THREADS=1. */
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

/* What the elements of A and B are: sums of uniform numbers, about normal with deviation 1, or any finite code. */
enum { NORMAL, ANY };

typedef struct row {
  /* An accumulation model, or the way `exact` takes: bytes and halves (with HU_LEVEL_VNNI, HU_LEVEL_AVX_VNNI or
   * HU_LEVEL_MADD), binary32 and binary64 (without), wide (brackets), integers. */
  const char *way;
  const char *fa, *fb, *fd;
  int a_codes, d_codes, b_turned, data;
  int dgemm;      /* against dgemm, not sgemm */
  int stochastic; /* 32 random bits: no bracket is narrow enough */
} row;

static const row rows[] = {
    {"fp32", "binary32", "binary32", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"fp32", "binary32", "binary32", "binary32", 0, 0, 1, NORMAL, 0, 0},
    {"fp32", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"fp32", "bfloat16", "bfloat16", "bfloat16", 1, 1, 0, NORMAL, 0, 0},
    {"fp32", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", 0, 1, 0, NORMAL, 0, 0},
    {"fp32", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", 1, 1, 0, NORMAL, 0, 0},
    {"binary64", "float8_e4m3fn", "float8_e4m3fn", "binary32", 0, 0, 0, NORMAL, 1, 0},
    {"binary64", "float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", 0, 1, 0, NORMAL, 1, 0},
    {"binary64", "float8_e4m3fn", "float8_e4m3fn", "bfloat16", 1, 1, 1, NORMAL, 1, 0},
    {"binary32", "float4_e2m1fn", "float4_e2m1fn", "bfloat16", 1, 1, 0, NORMAL, 0, 0},
    {"bytes", "float4_e2m1fn", "float4_e2m1fn", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"bytes", "float6_e2m3fn", "float6_e2m3fn", "binary32", 1, 0, 1, NORMAL, 0, 0},
    {"bytes", "fp(1,6,-6):finite", "fp(1,6,-6):finite", "binary32", 1, 0, 0, ANY, 0, 0},
    {"bytes", "fp(1,6,-6):finite", "fp(1,6,-6):finite", "binary32", 0, 0, 1, ANY, 0, 0},
    {"halves", "float6_e3m2fn", "float6_e3m2fn", "binary32", 1, 0, 0, ANY, 0, 0},
    {"halves", "float8_e4m3fn", "float8_e4m3fn", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"halves", "float8_e4m3fn", "float8_e4m3fn", "bfloat16", 0, 1, 1, NORMAL, 0, 0},
    {"seq(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(bfloat16)", "binary32", "binary32", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"seq(binary16)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(binary16)", "float8_e4m3fn", "float8_e4m3fn", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(float8_e5m2)", "float8_e5m2", "float8_e5m2", "float8_e5m2", 0, 1, 0, NORMAL, 0, 0},
    {"seq(fp(6,9,0))", "fp(6,9,0)", "fp(6,9,0)", "fp(6,9,0)", 0, 1, 0, NORMAL, 0, 0},
    {"seq2(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq2(binary16)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq2(float8_e5m2,binary16)", "float8_e5m2", "float8_e5m2", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"chunk(64,fp(6,9,0),fp(6,9,0))", "float8_e5m2", "float8_e5m2", "fp(6,9,0)", 0, 1, 0, NORMAL, 0, 0},
    {"chunk(64,bfloat16,binary32)", "bfloat16", "bfloat16", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"promote(128,seq2(binary16),binary32)", "float8_e4m3fn", "float8_e4m3fn", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"kahan(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"kahan(binary16)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"neumaier(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"nv.volta.f16.f16", "binary16", "binary16", "binary16", 1, 0, 0, NORMAL, 0, 0},
    {"nv.ampere.tf32.f32", "binary32", "binary32", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"nv.hopper.f16.f32", "binary16", "binary16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"nv.hopper.e4m3.f32.wgmma", "float8_e4m3fn", "float8_e4m3fn", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"promote(128,nv.hopper.e4m3.f32.wgmma,binary32)", "float8_e4m3fn", "float8_e4m3fn", "binary32", 1, 0, 0, NORMAL, 0,
     0},
    {"promote(128,nv.hopper.e4m3.f32.wgmma,binary32,scaled)", "float8_e4m3fn", "float8_e4m3fn", "binary32", 1, 0, 0,
     NORMAL, 0, 0},
    {"nv.hopper.e4m3.f32.mma", "float8_e4m3fn", "float8_e4m3fn", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"nv.blackwell.mxfp8.e4m3", "float8_e4m3fn", "float8_e4m3fn", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"nv.blackwell.nvfp4.b16.ue4m3", "float4_e2m1fn", "float4_e2m1fn", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"amd.cdna1.bf16", "bfloat16", "bfloat16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"amd.cdna2.bf16", "bfloat16", "bfloat16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"amd.cdna3.bf16.k4", "bfloat16", "bfloat16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"amd.cdna3.fp8", "float8_e4m3fnuz", "float8_e4m3fnuz", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"intel.vdpbf16ps", "bfloat16", "bfloat16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"intel.vdpbf16ps", "bfloat16", "bfloat16", "bfloat16", 0, 1, 1, NORMAL, 0, 0},
    {"intel.tdpbf16ps", "bfloat16", "bfloat16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"seq(bfloat16,sra:8)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(binary16,sra:13)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(bfloat16,srb:8)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(bfloat16,src:8)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq2(bfloat16,sra:8)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq2(binary16,rtz)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(bfloat16,rtz)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(binary16,rtz)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(binary16,rtp)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(binary16,rna)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"seq(binary16,rto)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"pairwise(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"pairwise(binary16,rtz)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"strided(bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"kahan(bfloat16,rtz)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"kahan(bfloat16,sra:8)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"neumaier(binary16,rto)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"chunk(128,float8_e5m2,binary16,rtz)", "float8_e5m2", "float8_e5m2", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"promote(128,seq(bfloat16,rtz),binary32)", "bfloat16", "bfloat16", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"promote(128,seq(bfloat16,sra:8),binary32)", "bfloat16", "bfloat16", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"promote(128,fp32,bfloat16)", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"splitk(4,fp32)", "binary32", "binary32", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"splitk(4,seq(bfloat16))", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"pairwise(binary16)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"chunk(64,binary16,binary16)", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"splitk(4,seq(binary16))", "binary16", "binary16", "binary16", 0, 1, 0, NORMAL, 0, 0},
    {"splitk(4,seq(bfloat16,sra:8))", "bfloat16", "bfloat16", "bfloat16", 0, 1, 0, NORMAL, 0, 0},
    {"splitk(4,nv.hopper.f16.f32)", "binary16", "binary16", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"wide", "binary32", "binary32", "binary32", 0, 0, 0, NORMAL, 0, 0},
    {"wide", "bfloat16", "bfloat16", "bfloat16", 1, 1, 0, NORMAL, 0, 0},
    {"wide", "binary16", "float8_e5m2", "binary32", 1, 0, 0, NORMAL, 0, 0},
    {"wide", "binary32", "binary32", "binary32", 0, 0, 0, ANY, 0, 0},
    {"wide", "bfloat16", "bfloat16", "bfloat16", 1, 1, 0, ANY, 0, 0},
    {"wide", "binary16", "float8_e5m2", "binary32", 1, 0, 0, ANY, 0, 0},
    {"integers", "binary32", "binary32", "binary32", 0, 0, 0, NORMAL, 0, 1},
    {"integers", "bfloat16", "bfloat16", "bfloat16", 1, 1, 0, NORMAL, 0, 1},
    {"integers", "binary32", "binary32", "binary32", 0, 0, 0, ANY, 0, 1},
    {"integers", "bfloat16", "bfloat16", "bfloat16", 1, 1, 0, ANY, 0, 1},
    {"integers", "fp(7,24,0)", "fp(7,24,0)", "binary32", 1, 0, 0, ANY, 0, 1},
    {"integers", "fp(11,20,0)", "fp(11,20,0)", "binary32", 1, 0, 0, ANY, 0, 1},
};

typedef struct job {
  size_t n;
  hu_view a, b, scales; /* scales: of both, the same for all products of a part; data NULL: none */
  hu_output result;
  hu_accum accum;
  hu_mode mode;
  hu_exec exec;
  hu_events events;
  hu_status status;
  const char *level;
  float *x32, *y32, *z32;
  double *x64, *y64, *z64;
} job;

static void run_gemm(void *context) {
  job *work = context;
  if (work->scales.data) {
    work->status = hu_multiply(&(hu_product){.m = work->n,
                                             .n = work->n,
                                             .k = work->n,
                                             .d = work->result,
                                             .a = work->a,
                                             .b = work->b,
                                             .sa = work->scales,
                                             .sb = work->scales,
                                             .accum = &work->accum},
                               &(hu_how){work->mode, &work->exec, &work->events});
    return;
  }
  work->status = hu_gemm(work->n, work->n, work->n, &work->result, &work->a, &work->b, NULL, &work->accum,
                         &(hu_how){work->mode, &work->exec, &work->events});
}

static void run_sgemm(void *context) {
#if HU_HAVE_OPENBLAS
  job *work = context;
  int n = (int)work->n;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, work->b.transposed ? CblasTrans : CblasNoTrans, n, n, n, 1, work->x32, n,
              work->y32, n, 0, work->z32, n);
#else
  (void)context;
#endif
}

static void run_dgemm(void *context) {
#if HU_HAVE_OPENBLAS
  job *work = context;
  int n = (int)work->n;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, work->b.transposed ? CblasTrans : CblasNoTrans, n, n, n, 1, work->x64, n,
              work->y64, n, 0, work->z64, n);
#else
  (void)context;
#endif
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

static double normal(uint64_t *state) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += (double)(next(state) >> 11) * 0x1p-53;
  return sum;
}

static void *must_have(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!memory) {
    fprintf(stderr, "bench_gemm: no memory\n");
    exit(1);
  }
  memset(memory, 0, bytes);
  return memory;
}

/* Fills with powers of two about 1, enough of them for every model. */
static void fill_scales(hu_view *to, size_t n, hu_format format) {
  static const double some[4] = {0.5, 1, 2, 1};
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  float *scales = must_have(n * n * 4);
  for (size_t i = 0; i < n * n; i++) scales[i] = hu_decode(format, hu_encode64(format, rne, some[i / 7 % 4], 0, NULL));
  *to = hu_matrix_of(scales, n, hu_type_values(HU_TYPE_VALUES32, format));
}

/* Fills *to with n x n elements of the format, codes or values. */
static void fill(hu_view *to, size_t n, const char *name, int codes, int data, uint64_t seed) {
  hu_mode rne;
  hu_format format;
  memset(&rne, 0, sizeof rne);
  if (hu_format_parse(&format, name, NULL) != HU_OK) exit(1);
  hu_limits limits = hu_limits_of(format);
  uint8_t *bytes = must_have(n * n * 4);
  for (size_t i = 0; i < n * n; i++) {
    uint32_t code = (uint32_t)(next(&seed) >> 32);
    code =
        (uint32_t)(((uint64_t)code * ((uint64_t)limits.max_code + 1)) >> 32) | (next(&seed) & 1 ? limits.sign_mask : 0);
    if (data == NORMAL) code = hu_encode64(format, rne, normal(&seed), 0, NULL);
    float value = hu_decode(format, code);
    uint16_t half = (uint16_t)code;
    if (!codes) memcpy(bytes + 4 * i, &value, 4);
    if (codes && limits.storage == 8) bytes[i] = (uint8_t)code;
    if (codes && limits.storage == 16) memcpy(bytes + 2 * i, &half, 2);
    if (codes && limits.storage == 32) memcpy(bytes + 4 * i, &code, 4);
  }
  *to = hu_matrix_of(bytes, n, hu_type_values(codes ? HU_TYPE_CODES : HU_TYPE_VALUES32, format));
}

static void run_row(const row *line, job *task, int rounds, int csv) {
  hu_format fd;
  fill(&task->a, task->n, line->fa, line->a_codes, line->data, 1);
  fill(&task->b, task->n, line->fb, line->a_codes, line->data, 2);
  if (line->b_turned) task->b = hu_transposed(task->b);
  if (hu_format_parse(&fd, line->fd, NULL) != HU_OK) exit(1);
  task->result = hu_matrix_out_of(must_have(task->n * task->n * 4), task->n,
                                  hu_type_values(line->d_codes ? HU_TYPE_CODES : HU_TYPE_VALUES32, fd));
  memset(&task->accum, 0, sizeof task->accum);
  memset(&task->mode, 0, sizeof task->mode);
  if (line->stochastic) {
    task->mode.round = HU_SRA;
    task->mode.bits = 32;
  }
  if (hu_accum_parse(&task->accum, line->way, NULL) != HU_OK) task->accum.kind = HU_ACCUM_EXACT;
  memset(&task->scales, 0, sizeof task->scales);
  if (hu_accum_is_scaled(&task->accum)) {
    fill_scales(&task->scales, task->n, task->accum.scaled ? fd : task->accum.block.scale);
  }
  uint32_t off = task->exec.levels_off;
  if (!strncmp(line->way, "binary", 6)) task->exec.levels_off |= HU_LEVEL_VNNI | HU_LEVEL_AVX_VNNI | HU_LEVEL_MADD;
  bench_pair times = bench_against(run_gemm, line->dgemm ? run_dgemm : run_sgemm, task, rounds, 1);
  task->exec.levels_off = off;
  if (task->status != HU_OK) {
    fprintf(stderr, "bench_gemm: %s\n", hu_status_name(task->status));
    exit(1);
  }
  double work = 2e-9 * (double)task->n * (double)task->n * (double)task->n;
  const char *storage = line->a_codes ? "codes" : "values", *data = line->data == NORMAL ? "normal" : "any";
  if (csv) {
    char name[256];
    snprintf(name, sizeof name, "%s, %s x %s to %s, %s %s, %s", line->way, line->fa, line->fb, line->fd, storage,
             line->b_turned ? "nt" : "nn", data);
    if (HU_HAVE_OPENBLAS)
      bench_table_line(name, task->level, 1, line->dgemm ? "speed / dgemm" : "speed / sgemm",
                       times.reference / times.subject);
  } else {
    printf("%-36s %-14s x %-14s -> %-14s %-6s %-2s %-6s %8.1f", line->way, line->fa, line->fb, line->fd, storage,
           line->b_turned ? "nt" : "nn", data, work / times.subject);
    if (HU_HAVE_OPENBLAS)
      printf(" %8.1f %7.3f of %s", work / times.reference, times.reference / times.subject,
             line->dgemm ? "dgemm" : "sgemm");
    putchar('\n');
  }
  fflush(stdout);
  free((void *)(uintptr_t)task->a.data);
  free((void *)(uintptr_t)task->b.data);
  free((void *)(uintptr_t)task->scales.data);
  free(task->result.data);
}

/* Is a preset before this one the same model of the same operands, which its text names? */
static int is_repeated(const hu_accum_preset *preset, size_t at) {
  char text[2][HU_ACCUM_TEXT_MAX];
  hu_accum_preset before;
  hu_accum_text(text[0], sizeof text[0], &preset->accum);
  for (size_t i = 0; i < at && hu_accum_preset_at(&before, i) == HU_OK; i++) {
    hu_accum_text(text[1], sizeof text[1], &before.accum);
    if (!strcmp(text[0], text[1])) return 1;
  }
  return 0;
}

/* Measures every preset of block(...), with its own operands and result; a model of several names under the first. */
static void run_presets(job *work, int rounds, int csv, const char *only) {
  hu_accum_preset preset;
  for (size_t i = 0; hu_accum_preset_at(&preset, i) == HU_OK; i++) {
    char fa[HU_FORMAT_TEXT_MAX], fb[HU_FORMAT_TEXT_MAX], fd[HU_FORMAT_TEXT_MAX];
    if (preset.accum.kind != HU_ACCUM_BLOCK || is_repeated(&preset, i)) continue;
    if (only && strncmp(only, preset.name, strlen(only))) continue;
    hu_format_text(fa, sizeof fa, preset.a.format);
    hu_format_text(fb, sizeof fb, preset.b.format);
    hu_format_text(fd, sizeof fd, preset.c.format);
    row line = {preset.name, fa, fb, fd, 1, 1, 0, NORMAL, 0, 0};
    run_row(&line, work, rounds, csv);
  }
}

int main(int argc, char **argv) {
  job work;
  bench_options options =
      bench_options_of(argc, argv, (bench_options){.rounds = 5, .size = 1024, .level = t_level_name(0)},
                       "bench_gemm [--size 1024] [--rounds 5] [--csv] [--only WAY] [--presets]\n"
                       "                  [--level amx_int8|amx_bf16|vnni|bf16|avx512|avx2|vector]");
  if (options.bad || options.size < 1 || options.size > 1 << 14) return 2;
  memset(&work, 0, sizeof work);
  work.n = (size_t)options.size;
  work.level = options.level;
  work.exec.levels_off = bench_levels_off(work.level);
  size_t elements = work.n * work.n;
  uint64_t seed = 3;
  work.x32 = must_have(elements * 4);
  work.y32 = must_have(elements * 4);
  work.z32 = must_have(elements * 4);
  work.x64 = must_have(elements * 8);
  work.y64 = must_have(elements * 8);
  work.z64 = must_have(elements * 8);
  for (size_t i = 0; i < elements; i++) {
    work.x32[i] = (float)(work.x64[i] = normal(&seed));
    work.y32[i] = (float)(work.y64[i] = normal(&seed));
  }
  if (options.csv) {
    bench_table_head();
  } else {
    printf("%-36s %-14s   %-14s    %-14s %-6s %-2s %-6s %8s %8s %7s\n", "way", "A", "B", "D", "A, B", "", "data",
           "GFlop/s", "BLAS", "ratio");
  }
  if (options.presets) run_presets(&work, options.rounds, options.csv, options.only);
  for (size_t i = 0; !options.presets && i < sizeof rows / sizeof rows[0]; i++) {
    if (!options.only || !strncmp(options.only, rows[i].way, strlen(options.only)))
      run_row(&rows[i], &work, options.rounds, options.csv);
  }
  free(work.x32);
  free(work.y32);
  free(work.z32);
  free(work.x64);
  free(work.y64);
  free(work.z64);
  return 0;
}
