/* SPDX-License-Identifier: MIT */
/* What a copy of a large array costs by the order of its addresses and by the kind of its loads and stores, against
 * memcpy of the same array: the measurement behind the loops of emu/simd/loop.h.
 *
 *   bench_streams [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2]
 *
 * Linear loops go from the first byte to the last. Loops of several streams walk blocks of as many pages of 4 KiB side
 * by side: 64 or 256 bytes of the first page, as many of the second, and so on. "around the caches" are stores that
 * fetch no line of the array (MOVNTPS); "asked ahead" are lines that the loop prefetches (PREFETCHT0) 512 bytes before
 * it reads them. The ratio is time over memcpy's time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options.h"
#include "bench/table.h"
#include "files/timing.h"

static bench_options options_of(int argc, char **argv) {
  return bench_options_of(argc, argv, (bench_options){.rounds = 5, .log2 = 26},
                          "bench_streams [--log2 26] [--rounds 5] [--csv] [--level avx512|avx2]");
}

enum { PAGE = 4096 };

typedef struct job {
  uint8_t *x, *z;
  size_t bytes; /* whole blocks of pages */
  void (*copy)(uint8_t *z, const uint8_t *x, size_t bytes, size_t streams, size_t chunk);
  size_t streams, chunk;
} job;

static void run_copy(void *context) {
  job *work = context;
  work->copy(work->z, work->x, work->bytes, work->streams, work->chunk);
}

static void run_memcpy(void *context) {
  job *work = context;
  memcpy(work->z, work->x, work->bytes);
}

#if defined __x86_64__
#include <immintrin.h>

/* The order of addresses is the same for each kind of loads and stores; STEP copies 64 bytes from x + at to z + at. */
#define IN_ORDER(STEP)                                              \
  for (size_t block = 0; block < bytes; block += streams * PAGE) {  \
    for (size_t within = 0; within < PAGE; within += chunk) {       \
      for (size_t s = 0; s < streams; s++) {                        \
        size_t first = block + s * PAGE + within;                   \
        for (size_t at = first; at < first + chunk; at += 64) STEP; \
      }                                                             \
    }                                                               \
  }

#define TARGET(WHICH) __attribute__((target(WHICH)))

static inline TARGET("avx2") void step32(uint8_t *z, const uint8_t *x, int around, int ahead) {
  if (ahead) _mm_prefetch((const char *)x + 512, _MM_HINT_T0);
  __m256 a = _mm256_loadu_ps((const float *)(const void *)x),
         b = _mm256_loadu_ps((const float *)(const void *)(x + 32));
  if (around) {
    _mm256_stream_ps((float *)(void *)z, a);
    _mm256_stream_ps((float *)(void *)(z + 32), b);
  } else {
    _mm256_storeu_ps((float *)(void *)z, a);
    _mm256_storeu_ps((float *)(void *)(z + 32), b);
  }
}

static inline TARGET("avx512f") void step64(uint8_t *z, const uint8_t *x, int around, int ahead) {
  if (ahead) _mm_prefetch((const char *)x + 512, _MM_HINT_T0);
  __m512 a = _mm512_loadu_ps(x);
  if (around) {
    _mm512_stream_ps((float *)(void *)z, a);
  } else {
    _mm512_storeu_ps(z, a);
  }
}

#define COPY(NAME, WHICH, STEP, AROUND, AHEAD)                                                               \
  static TARGET(WHICH) void NAME(uint8_t *z, const uint8_t *x, size_t bytes, size_t streams, size_t chunk) { \
    IN_ORDER(STEP(z + at, x + at, AROUND, AHEAD))                                                            \
    _mm_sfence();                                                                                            \
  }
COPY(avx2_plain, "avx2", step32, 0, 0)
COPY(avx2_ahead, "avx2", step32, 0, 1)
COPY(avx2_around, "avx2", step32, 1, 0)
COPY(avx2_around_ahead, "avx2", step32, 1, 1)
COPY(avx512_plain, "avx512f", step64, 0, 0)
COPY(avx512_ahead, "avx512f", step64, 0, 1)
COPY(avx512_around, "avx512f", step64, 1, 0)
COPY(avx512_around_ahead, "avx512f", step64, 1, 1)

typedef struct way {
  const char *name;
  void (*avx2)(uint8_t *, const uint8_t *, size_t, size_t, size_t);
  void (*avx512)(uint8_t *, const uint8_t *, size_t, size_t, size_t);
} way;
static const way ways[] = {{"stores", avx2_plain, avx512_plain},
                           {"stores, asked ahead", avx2_ahead, avx512_ahead},
                           {"stores around the caches", avx2_around, avx512_around},
                           {"stores around the caches, asked ahead", avx2_around_ahead, avx512_around_ahead}};

static int has_avx2(void) { return __builtin_cpu_supports("avx2"); }
static int has_avx512(void) { return __builtin_cpu_supports("avx512f"); }

static void row(const bench_options *options, const char *level, const char *name, job *work) {
  bench_pair times = bench_against(run_copy, run_memcpy, work, options->rounds, 1);
  double ratio = times.subject / times.reference;
  char text[96];
  if (work->streams == 1) {
    snprintf(text, sizeof text, "linear, %s", name);
  } else {
    snprintf(text, sizeof text, "%zu streams of %zu bytes, %s", work->streams, work->chunk, name);
  }
  if (memcmp(work->z, work->x, work->bytes) != 0) {
    fprintf(stderr, "bench_streams: %s: the copy differs\n", text);
    exit(2);
  }
  if (options->csv) {
    bench_table_line(text, level, 1, "time / memcpy", ratio);
  } else {
    printf("%-8s %-64s %9.3f ms  memcpy %9.3f ms %7.2f\n", level, text, 1e3 * times.subject, 1e3 * times.reference,
           ratio);
  }
  fflush(stdout);
}

static void level_rows(const bench_options *options, const char *level, job *work) {
  static const size_t orders[][2] = {{1, PAGE}, {2, 64}, {2, 256}, {4, 64}, {4, 256}, {4, 1024}, {8, 64}, {8, 256}};
  int wide = level[3] == '5';
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
      work->copy = wide ? ways[k].avx512 : ways[k].avx2;
      work->streams = orders[i][0];
      work->chunk = orders[i][1];
      memset(work->z, 0, work->bytes);
      row(options, level, ways[k].name, work);
    }
  }
}

int main(int argc, char **argv) {
  bench_options options = options_of(argc, argv);
  if (options.bad) return 2;
  job work = {0};
  work.bytes = (size_t)4 << (options.log2 > 14 ? options.log2 : 14);
  work.x = aligned_alloc(PAGE, work.bytes + PAGE); /* prefetches go beyond the end */
  work.z = aligned_alloc(PAGE, work.bytes + PAGE);
  if (!work.x || !work.z) {
    fprintf(stderr, "bench_streams: no memory for twice %zu bytes\n", work.bytes);
    return 2;
  }
  for (size_t i = 0; i < work.bytes; i++) work.x[i] = (uint8_t)(i * 2654435761u >> 13);
  if (options.csv) bench_table_head();
  int avx512 = has_avx512() && (!options.level || !strcmp(options.level, "avx512"));
  int avx2 = has_avx2() && (!options.level || !strcmp(options.level, "avx2"));
  if (avx512) level_rows(&options, "avx512", &work);
  if (avx2) level_rows(&options, "avx2", &work);
  if (!avx512 && !avx2)
    fprintf(stderr, "bench_streams: this CPU has no such level; these loops are for avx512 and avx2\n");
  free(work.x);
  free(work.z);
  return avx512 || avx2 || !options.level ? 0 : 2;
}
#else
int main(int argc, char **argv) {
  bench_options options = options_of(argc, argv);
  if (options.bad) return 2;
  fprintf(stderr, "bench_streams: these loops are written for x86-64 alone\n");
  return options.csv ? (bench_table_head(), 0) : 0;
}
#endif
