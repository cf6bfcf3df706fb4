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
#include "bench/options.h"
#include "bench/table.h"
#include "files/timing.h"

typedef struct job {
  size_t n;
  float *x, *z;
  uint8_t *codes;
  hu_format format;
  hu_mode mode;
  hu_exec exec;
  hu_events events;
  hu_status status;
  int streams;
  void (*subject)(void *);
} job;

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->n * sizeof *work->x);
}

static void run_quantize(void *context) {
  job *work = context;
  work->status = hu_quantize_n(work->n, work->z, 1, work->x, 1, work->format, work->mode, &work->exec, &work->events);
}

static void run_encode(void *context) {
  job *work = context;
  work->status = hu_encode_n(work->n, work->codes, 1, work->x, 1, work->format, work->mode, &work->exec, &work->events);
}

static void run_decode(void *context) {
  job *work = context;
  work->status = hu_decode_n(work->n, work->z, 1, work->codes, 1, work->format, &work->exec);
}

static void run_linear(void *context) {
  job *work = context;
  bench_linear(&work->exec, work->subject, work);
}

/* Reads and writes the same bytes with the least arithmetic. */
static void run_narrow(void *context) {
  job *work = context;
  const uint32_t *x = (const uint32_t *)(const void *)work->x;
  for (size_t i = 0; i < work->n; i++) work->codes[i] = (uint8_t)(x[i] >> 24);
}

static void run_widen(void *context) {
  job *work = context;
  uint32_t *z = (uint32_t *)(void *)work->z;
  for (size_t i = 0; i < work->n; i++) z[i] = (uint32_t)work->codes[i] << 24;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

/* Spreads magnitudes over 2^low .. 2^high, of either sign. */
static void fill(float *x, size_t n, int low, int high) {
  uint64_t state = 1;
  for (size_t i = 0; i < n; i++) {
    uint64_t random = next(&state);
    uint32_t field = (uint32_t)(127 + low) + (uint32_t)((random >> 40) % (uint64_t)(high - low));
    uint32_t bits = (uint32_t)(random & 0x807FFFFF) | field << 23;
    memcpy(&x[i], &bits, sizeof bits);
  }
}

static void row(const bench_options *given, const char *level, const char *what, const char *format, job *work,
                void (*subject)(void *), void (*reference)(void *)) {
  int repeat = work->n < ((size_t)1 << 20) ? 200 : 1;
  work->subject = subject;
  if (work->streams) reference = run_linear;
  bench_pair times = bench_against(subject, reference, work, repeat > 1 ? 3 * given->rounds : given->rounds, repeat);
  double ratio = times.subject / times.reference;
  if (work->status != HU_OK) {
    fprintf(stderr, "bench_array: %s: %s\n", what, hu_status_text(work->status));
    exit(2);
  }
  char name[96];
  snprintf(name, sizeof name, "%s, %s", what, format);
  if (work->streams) {
    bench_table_orders(given->csv, name, level, work->n, times.subject, times.reference);
    return;
  }
  if (given->csv) {
    bench_table_line(name, level, 1, reference == run_memcpy ? "time / memcpy" : "time / plain loop", ratio);
  } else {
    printf("%-8s %-36s %-16s %9.3f ms %9.3f ms  %6.2f\n", level, what, format, 1e3 * times.subject,
           1e3 * times.reference, ratio);
  }
  fflush(stdout);
}

static void level_rows(const bench_options *given, const char *level, uint32_t off, size_t big, job *work) {
  static const char *formats[] = {"float8_e4m3fn", "float8_e5m2", "bfloat16"};
  hu_mode rne = {0}, sr = {0};
  sr.round = HU_SRA;
  sr.bits = 32;
  work->exec.levels_off = off;
  work->mode = rne;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (hu_format_find(&work->format, formats[i]) != HU_OK) exit(2);
    hu_limits limits = hu_limits_of(work->format);
    work->n = big;
    fill(work->x, big, limits.emin, limits.emax);
    row(given, level, "grid values, rne", formats[i], work, run_quantize, run_memcpy);
    work->mode.round = HU_RTO;
    row(given, level, "grid values, rto", formats[i], work, run_quantize, run_memcpy);
    work->mode.round = HU_RTN;
    row(given, level, "grid values, rtn", formats[i], work, run_quantize, run_memcpy);
    work->mode = rne;
    work->n = 1 << 16;
    row(given, level, "grid values, rne, 2^16 in L2", formats[i], work, run_quantize, run_memcpy);
    work->n = big;
    fill(work->x, big, limits.emin < -120 ? -126 : limits.emin - 6, limits.emin < -120 ? -125 : limits.emin + 3);
    if (limits.emin < -120) /* subnormal in binary32 too */
      for (size_t k = 0; k < big; k++) work->x[k] *= 0x1p-4f;
    row(given, level, "grid values, rne, many subnormal", formats[i], work, run_quantize, run_memcpy);
    work->mode.round = HU_RTP;
    row(given, level, "grid values, rtp, many subnormal", formats[i], work, run_quantize, run_memcpy);
    work->mode.round = HU_RTO;
    row(given, level, "grid values, rto, many subnormal", formats[i], work, run_quantize, run_memcpy);
    if (limits.emin >= -120) {
      work->mode = sr;
      row(given, level, "grid values, sra:32, many subnormal", formats[i], work, run_quantize, run_memcpy);
    }
    work->mode = rne;
    fill(work->x, big, limits.emin, limits.emax);
    if (limits.storage == 8) {
      row(given, level, "8-bit codes, rne", formats[i], work, run_encode, run_narrow);
      row(given, level, "decode 8-bit codes", formats[i], work, run_decode, run_widen);
    }
    work->mode = sr;
    row(given, level, "grid values, sra:32, Philox", formats[i], work, run_quantize, run_memcpy);
    work->mode = rne;
  }
}

int main(int argc, char **argv) {
  bench_options options = bench_options_of(argc, argv, (bench_options){.rounds = 7, .log2 = 26, .order = "linear"},
                                           "bench_array [--log2 26] [--rounds 7] [--csv] [--level avx512|avx2|vector] "
                                           "[--order linear|streams]");
  if (options.bad) return 2;
  size_t big = (size_t)1 << options.log2;
  if (big < (size_t)1 << 16) big = (size_t)1 << 16; /* the size of the rows in L2 */
  job work = {0};
  work.streams = bench_streams_of(options.order);
  work.x = aligned_alloc(4096, big * 4);
  work.z = aligned_alloc(4096, big * 4);
  work.codes = aligned_alloc(4096, big);
  if (!work.x || !work.z || !work.codes) {
    fprintf(stderr, "bench_array: no memory for 2 arrays of %zu floats\n", big);
    return 2;
  }
  memset(work.z, 1, big * 4);
  memset(work.codes, 1, big);
  if (options.csv)
    bench_table_head();
  else if (!work.streams)
    printf("%-8s %-36s %-16s %12s %12s  %6s\n", "level", "operation (binary32, one thread)", "format", "time",
           "reference", "ratio");
  for (size_t i = 0; t_level_bit(i); i++) {
    const char *name = t_level_name(i);
    if (bench_takes(options.level, i)) level_rows(&options, name, bench_off(i, work.streams), big, &work);
  }
  free(work.x);
  free(work.z);
  free(work.codes);
  return 0;
}
