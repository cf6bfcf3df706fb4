/* SPDX-License-Identifier: MIT */
/* Array calls against memcpy and plain loops over the same bytes, single thread, every kernel level, in one run.
 *
 *   bench_array [--log2 26] [--rounds 7] [--csv] [--level avx512|avx2|vector] [--order linear|streams]
 *
 * --order streams: against the same calls linear (HU_LEVEL_STREAMS). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

#include "bench/levels.h"
#include "bench/table.h"
#include "files/timing.h"

typedef struct job {
  size_t n;
  float *x, *z;
  uint8_t *codes;
  hu_format f;
  hu_mode mode;
  hu_exec exec;
  hu_events events;
  hu_status status;
  int streams;
  void (*subject)(void *);
} job;

static void run_memcpy(void *p) {
  job *j = p;
  memcpy(j->z, j->x, j->n * sizeof *j->x);
}

static void run_quantize(void *p) {
  job *j = p;
  j->status = hu_quantize_n(j->n, j->z, 1, j->x, 1, j->f, j->mode, &j->exec, &j->events);
}

static void run_encode(void *p) {
  job *j = p;
  j->status = hu_encode_n(j->n, j->codes, 1, j->x, 1, j->f, j->mode, &j->exec, &j->events);
}

static void run_decode(void *p) {
  job *j = p;
  j->status = hu_decode_n(j->n, j->z, 1, j->codes, 1, j->f, &j->exec);
}

static void run_linear(void *p) {
  job *j = p;
  bench_linear(&j->exec, j->subject, j);
}

/* The same bytes in and out, the least arithmetic. */
static void run_narrow(void *p) {
  job *j = p;
  const uint32_t *x = (const uint32_t *)(const void *)j->x;
  for (size_t i = 0; i < j->n; i++) j->codes[i] = (uint8_t)(x[i] >> 24);
}

static void run_widen(void *p) {
  job *j = p;
  uint32_t *z = (uint32_t *)(void *)j->z;
  for (size_t i = 0; i < j->n; i++) z[i] = (uint32_t)j->codes[i] << 24;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

/* Magnitudes spread over 2^low .. 2^high, either sign. */
static void fill(float *x, size_t n, int low, int high) {
  uint64_t s = 1;
  for (size_t i = 0; i < n; i++) {
    uint64_t r = next(&s);
    uint32_t field = (uint32_t)(127 + low) + (uint32_t)((r >> 40) % (uint64_t)(high - low));
    uint32_t u = (uint32_t)(r & 0x807FFFFF) | field << 23;
    memcpy(&x[i], &u, sizeof u);
  }
}

typedef struct settings {
  int csv, rounds;
} settings;

static void row(const settings *o, const char *level, const char *what, const char *format, job *j,
                void (*subject)(void *), void (*reference)(void *)) {
  int repeat = j->n < ((size_t)1 << 20) ? 200 : 1;
  j->subject = subject;
  if (j->streams) reference = run_linear;
  bench_pair t = bench_against(subject, reference, j, repeat > 1 ? 3 * o->rounds : o->rounds, repeat);
  double ratio = t.subject / t.reference;
  if (j->status != HU_OK) {
    fprintf(stderr, "bench_array: %s: %s\n", what, hu_status_text(j->status));
    exit(2);
  }
  char name[96];
  snprintf(name, sizeof name, "%s, %s", what, format);
  if (j->streams) {
    bench_table_orders(o->csv, name, level, j->n, t.subject, t.reference);
    return;
  }
  if (o->csv) {
    bench_table_line(name, level, 1, reference == run_memcpy ? "time / memcpy" : "time / plain loop", ratio);
  } else {
    printf("%-8s %-36s %-16s %9.3f ms %9.3f ms  %6.2f\n", level, what, format, 1e3 * t.subject, 1e3 * t.reference,
           ratio);
  }
  fflush(stdout);
}

static void level_rows(const settings *o, const char *level, uint32_t off, size_t big, job *j) {
  static const char *formats[] = {"float8_e4m3fn", "float8_e5m2", "bfloat16"};
  hu_mode rne = {0}, sr = {0};
  sr.round = HU_SRA;
  sr.bits = 32;
  j->exec.levels_off = off;
  j->mode = rne;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (hu_format_find(&j->f, formats[i]) != HU_OK) exit(2);
    hu_limits l = hu_limits_of(j->f);
    j->n = big;
    fill(j->x, big, l.emin, l.emax);
    row(o, level, "grid values, rne", formats[i], j, run_quantize, run_memcpy);
    j->mode.round = HU_RTO;
    row(o, level, "grid values, rto", formats[i], j, run_quantize, run_memcpy);
    j->mode.round = HU_RTN;
    row(o, level, "grid values, rtn", formats[i], j, run_quantize, run_memcpy);
    j->mode = rne;
    j->n = 1 << 16;
    row(o, level, "grid values, rne, 2^16 in L2", formats[i], j, run_quantize, run_memcpy);
    j->n = big;
    fill(j->x, big, l.emin < -120 ? -126 : l.emin - 6, l.emin < -120 ? -125 : l.emin + 3);
    if (l.emin < -120) /* subnormal in binary32 too */
      for (size_t k = 0; k < big; k++) j->x[k] *= 0x1p-4f;
    row(o, level, "grid values, rne, many subnormal", formats[i], j, run_quantize, run_memcpy);
    j->mode.round = HU_RTP;
    row(o, level, "grid values, rtp, many subnormal", formats[i], j, run_quantize, run_memcpy);
    j->mode.round = HU_RTO;
    row(o, level, "grid values, rto, many subnormal", formats[i], j, run_quantize, run_memcpy);
    if (l.emin >= -120) {
      j->mode = sr;
      row(o, level, "grid values, sra:32, many subnormal", formats[i], j, run_quantize, run_memcpy);
    }
    j->mode = rne;
    fill(j->x, big, l.emin, l.emax);
    if (l.storage == 8) {
      row(o, level, "8-bit codes, rne", formats[i], j, run_encode, run_narrow);
      row(o, level, "decode 8-bit codes", formats[i], j, run_decode, run_widen);
    }
    j->mode = sr;
    row(o, level, "grid values, sra:32, Philox", formats[i], j, run_quantize, run_memcpy);
    j->mode = rne;
  }
}

int main(int argc, char **argv) {
  settings o = {0, 7};
  size_t big = (size_t)1 << 26;
  const char *only = NULL, *order = "linear";
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--csv"))
      o.csv = 1;
    else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
      o.rounds = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--log2") && i + 1 < argc)
      big = (size_t)1 << atoi(argv[++i]);
    else if (!strcmp(argv[i], "--level") && i + 1 < argc)
      only = argv[++i];
    else if (!strcmp(argv[i], "--order") && i + 1 < argc)
      order = argv[++i];
    else {
      fprintf(stderr,
              "usage: bench_array [--log2 26] [--rounds 7] [--csv] [--level avx512|avx2|vector] "
              "[--order linear|streams]\n");
      return 2;
    }
  }
  if (big < (size_t)1 << 16) big = (size_t)1 << 16; /* the size of the rows in L2 */
  job j = {0};
  j.streams = bench_streams_of(order);
  j.x = aligned_alloc(4096, big * 4);
  j.z = aligned_alloc(4096, big * 4);
  j.codes = aligned_alloc(4096, big);
  if (!j.x || !j.z || !j.codes) {
    fprintf(stderr, "bench_array: no memory for 2 arrays of %zu floats\n", big);
    return 2;
  }
  memset(j.z, 1, big * 4);
  memset(j.codes, 1, big);
  if (o.csv)
    bench_table_head();
  else if (!j.streams)
    printf("%-8s %-36s %-16s %12s %12s  %6s\n", "level", "operation (binary32, one thread)", "format", "time",
           "reference", "ratio");
  for (size_t i = 0; t_level_bit(i); i++) {
    const char *name = t_level_name(i);
    if (bench_wants(only, i)) level_rows(&o, name, bench_off(i, j.streams), big, &j);
  }
  free(j.x);
  free(j.z);
  free(j.codes);
  return 0;
}
