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
  hu_operand a, b, scales; /* scales: of both, the same for all products of a part; data NULL: none */
  hu_result d;
  hu_accum accum;
  hu_mode mode;
  hu_exec exec;
  hu_events events;
  hu_status status;
  const char *level;
  float *x32, *y32, *z32;
  double *x64, *y64, *z64;
} job;

static void run_gemm(void *p) {
  job *j = p;
  if (j->scales.data) {
    j->status = hu_gemm_scaled(j->n, j->n, j->n, &j->d, &j->a, &j->b, NULL, &j->scales, &j->scales, &j->accum, j->mode,
                               &j->exec, &j->events);
    return;
  }
  j->status = hu_gemm(j->n, j->n, j->n, &j->d, &j->a, &j->b, NULL, &j->accum, j->mode, &j->exec, &j->events);
}

static void run_sgemm(void *p) {
#if HU_HAVE_OPENBLAS
  job *j = p;
  int n = (int)j->n;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, j->b.transposed ? CblasTrans : CblasNoTrans, n, n, n, 1, j->x32, n, j->y32,
              n, 0, j->z32, n);
#else
  (void)p;
#endif
}

static void run_dgemm(void *p) {
#if HU_HAVE_OPENBLAS
  job *j = p;
  int n = (int)j->n;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, j->b.transposed ? CblasTrans : CblasNoTrans, n, n, n, 1, j->x64, n, j->y64,
              n, 0, j->z64, n);
#else
  (void)p;
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
  void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!p) {
    fprintf(stderr, "bench_gemm: no memory\n");
    exit(1);
  }
  memset(p, 0, bytes);
  return p;
}

/* Powers of two about 1: enough of them for every model. */
static void fill_scales(hu_operand *to, size_t n, hu_format f) {
  static const double some[4] = {0.5, 1, 2, 1};
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  float *p = must_have(n * n * 4);
  for (size_t i = 0; i < n * n; i++) p[i] = hu_decode(f, hu_encode64(f, rne, some[i / 7 % 4], 0, NULL));
  to->data = p;
  to->ld = n;
  to->format = f;
  to->storage = HU_STORAGE_VALUES;
}

/* n x n elements of format f into *to; codes or values. */
static void fill(hu_operand *to, size_t n, const char *name, int codes, int data, uint64_t seed) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  if (hu_format_parse(&to->format, name, NULL) != HU_OK) exit(1);
  hu_limits l = hu_limits_of(to->format);
  uint8_t *p = must_have(n * n * 4);
  for (size_t i = 0; i < n * n; i++) {
    uint32_t code = (uint32_t)(next(&seed) >> 32);
    code = (uint32_t)(((uint64_t)code * ((uint64_t)l.max_code + 1)) >> 32) | (next(&seed) & 1 ? l.sign_mask : 0);
    if (data == NORMAL) code = hu_encode64(to->format, rne, normal(&seed), 0, NULL);
    float value = hu_decode(to->format, code);
    uint16_t half = (uint16_t)code;
    if (!codes) memcpy(p + 4 * i, &value, 4);
    if (codes && l.storage == 8) p[i] = (uint8_t)code;
    if (codes && l.storage == 16) memcpy(p + 2 * i, &half, 2);
    if (codes && l.storage == 32) memcpy(p + 4 * i, &code, 4);
  }
  to->data = p;
  to->ld = n;
  to->storage = codes ? HU_STORAGE_CODES : HU_STORAGE_VALUES;
}

static void run_row(const row *r, job *j, int rounds, int csv) {
  fill(&j->a, j->n, r->fa, r->a_codes, r->data, 1);
  fill(&j->b, j->n, r->fb, r->a_codes, r->data, 2);
  j->b.transposed = (uint8_t)r->b_turned;
  if (hu_format_parse(&j->d.format, r->fd, NULL) != HU_OK) exit(1);
  j->d.data = must_have(j->n * j->n * 4);
  j->d.ld = j->n;
  j->d.storage = r->d_codes ? HU_STORAGE_CODES : HU_STORAGE_VALUES;
  memset(&j->accum, 0, sizeof j->accum);
  memset(&j->mode, 0, sizeof j->mode);
  if (r->stochastic) {
    j->mode.round = HU_SRA;
    j->mode.bits = 32;
  }
  if (hu_accum_parse(&j->accum, r->way, NULL) != HU_OK) j->accum.kind = HU_ACCUM_EXACT;
  memset(&j->scales, 0, sizeof j->scales);
  if (hu_accum_is_scaled(&j->accum)) {
    fill_scales(&j->scales, j->n, j->accum.scaled ? j->d.format : j->accum.block.scale);
  }
  uint32_t off = j->exec.levels_off;
  if (!strncmp(r->way, "binary", 6)) j->exec.levels_off |= HU_LEVEL_VNNI | HU_LEVEL_AVX_VNNI | HU_LEVEL_MADD;
  bench_pair t = bench_against(run_gemm, r->dgemm ? run_dgemm : run_sgemm, j, rounds, 1);
  j->exec.levels_off = off;
  if (j->status != HU_OK) {
    fprintf(stderr, "bench_gemm: %s\n", hu_status_name(j->status));
    exit(1);
  }
  double work = 2e-9 * (double)j->n * (double)j->n * (double)j->n;
  const char *storage = r->a_codes ? "codes" : "values", *data = r->data == NORMAL ? "normal" : "any";
  if (csv) {
    char name[256];
    snprintf(name, sizeof name, "%s, %s x %s to %s, %s %s, %s", r->way, r->fa, r->fb, r->fd, storage,
             r->b_turned ? "nt" : "nn", data);
    if (HU_HAVE_OPENBLAS)
      bench_table_line(name, j->level, 1, r->dgemm ? "speed / dgemm" : "speed / sgemm", t.reference / t.subject);
  } else {
    printf("%-36s %-14s x %-14s -> %-14s %-6s %-2s %-6s %8.1f", r->way, r->fa, r->fb, r->fd, storage,
           r->b_turned ? "nt" : "nn", data, work / t.subject);
    if (HU_HAVE_OPENBLAS)
      printf(" %8.1f %7.3f of %s", work / t.reference, t.reference / t.subject, r->dgemm ? "dgemm" : "sgemm");
    putchar('\n');
  }
  fflush(stdout);
  free((void *)(uintptr_t)j->a.data);
  free((void *)(uintptr_t)j->b.data);
  free((void *)(uintptr_t)j->scales.data);
  free(j->d.data);
}

/* Every preset of block(...), with its own operands and result. */
static void run_presets(job *j, int rounds, int csv, const char *only) {
  hu_accum_preset p;
  for (size_t i = 0; hu_accum_preset_at(&p, i) == HU_OK; i++) {
    char fa[HU_FORMAT_TEXT_MAX], fb[HU_FORMAT_TEXT_MAX], fd[HU_FORMAT_TEXT_MAX];
    if (p.accum.kind != HU_ACCUM_BLOCK) continue;
    if (only && strncmp(only, p.name, strlen(only))) continue;
    hu_format_text(fa, sizeof fa, p.a.format);
    hu_format_text(fb, sizeof fb, p.b.format);
    hu_format_text(fd, sizeof fd, p.c.format);
    row r = {p.name, fa, fb, fd, 1, 1, 0, NORMAL, 0, 0};
    run_row(&r, j, rounds, csv);
  }
}

int main(int argc, char **argv) {
  job j;
  int csv = 0, rounds = 5, presets = 0;
  const char *only = NULL;
  memset(&j, 0, sizeof j);
  j.n = 1024;
  j.level = t_level_name(0);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--csv")) {
      csv = 1;
    } else if (!strcmp(argv[i], "--presets")) {
      presets = 1;
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
              "usage: bench_gemm [--size 1024] [--rounds 5] [--csv] [--only WAY] [--presets]\n"
              "                  [--level amx_int8|amx_bf16|vnni|bf16|avx512|avx2|vector]\n");
      return 2;
    }
  }
  if (j.n == 0 || j.n > 1 << 14 || rounds < 1) return 2;
  size_t elements = j.n * j.n;
  uint64_t seed = 3;
  j.x32 = must_have(elements * 4);
  j.y32 = must_have(elements * 4);
  j.z32 = must_have(elements * 4);
  j.x64 = must_have(elements * 8);
  j.y64 = must_have(elements * 8);
  j.z64 = must_have(elements * 8);
  for (size_t i = 0; i < elements; i++) {
    j.x32[i] = (float)(j.x64[i] = normal(&seed));
    j.y32[i] = (float)(j.y64[i] = normal(&seed));
  }
  if (csv) {
    bench_table_head();
  } else {
    printf("%-36s %-14s   %-14s    %-14s %-6s %-2s %-6s %8s %8s %7s\n", "way", "A", "B", "D", "A, B", "", "data",
           "GFlop/s", "BLAS", "ratio");
  }
  if (presets) run_presets(&j, rounds, csv, only);
  for (size_t i = 0; !presets && i < sizeof rows / sizeof rows[0]; i++) {
    if (!only || !strncmp(only, rows[i].way, strlen(only))) run_row(&rows[i], &j, rounds, csv);
  }
  free(j.x32);
  free(j.y32);
  free(j.z32);
  free(j.x64);
  free(j.y64);
  free(j.z64);
  return 0;
}
