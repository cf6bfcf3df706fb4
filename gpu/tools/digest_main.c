/* SPDX-License-Identifier: MIT */
/* hu-digest: digests of the codes of all binary32 inputs (or every STRIDE-th), on the CPU or on the device.
 *
 *   hu-digest [--device cpu|cuda] [--stride S] [--limit N] [--format NAME]... [--mode MODE] [--jobs J] [--check FILE]
 *
 * One line per format and deterministic mode: FORMAT MODE INPUTS DIGEST (gpu/tools/digest.h). With --mode sum, one line
 * per format: the digest of the exact sum of all codes that the inputs round to, ties to even, and of the products of
 * each input and its code. With --check each line must stand in FILE too; other lines of FILE are not looked at. Exit:
 * 0, 1 a digest differs, 2 usage or failure, 77 no device. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/memory.h"
#include "gpu/tools/digest.h"
#include "halfulp/device_sum.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/halfulp.h"

enum { FORMATS_MAX = 32, JOBS_MAX = 256, CPU_CHUNK = 1 << 16, DEVICE_CHUNK = 1 << 26, SUMS = HU_SRA };

static const char *const usual[] = {"float8_e4m3fn",   "float8_e5m2",   "float8_e4m3fnuz", "float8_e5m2fnuz",
                                    "float6_e3m2fn",   "float6_e2m3fn", "float4_e2m1fn",   "float8_e8m0fnu",
                                    "binary8p4se",     "binary16",      "bfloat16",        "dlfloat16",
                                    "fp(6,9,0):finite"};

typedef struct options {
  int cuda;
  uint32_t stride;
  uint64_t inputs;
  const char *names[FORMATS_MAX];
  size_t n;
  int only; /* one rounding mode, SUMS, or -1: all modes */
  unsigned jobs;
  char *expected; /* the text of --check, or NULL */
} options;

typedef struct task {
  const options *o;
  hu_format f;
  hu_mode mode;
  unsigned number; /* of the thread: it takes every jobs-th chunk */
  uint64_t sum;
  hu_events events;
  hu_sum exact;
  hu_status status;
} task;

static uint64_t sum_codes(const void *codes, uint32_t storage, uint64_t first, uint32_t stride, size_t n) {
  uint64_t sum = 0;
  const uint8_t *c8 = codes;
  const uint16_t *c16 = codes;
  const uint32_t *c32 = codes;
  for (size_t i = 0; storage == 8 && i < n; i++) sum += hui_digest_pair((uint32_t)((first + i) * stride), c8[i]);
  for (size_t i = 0; storage == 16 && i < n; i++) sum += hui_digest_pair((uint32_t)((first + i) * stride), c16[i]);
  for (size_t i = 0; storage == 32 && i < n; i++) sum += hui_digest_pair((uint32_t)((first + i) * stride), c32[i]);
  return sum;
}

static void *cpu_task(void *argument) {
  task *t = argument;
  const options *o = t->o;
  uint32_t storage = hu_limits_of(t->f).storage;
  uint32_t *x = malloc(CPU_CHUNK * sizeof *x), *z = malloc(CPU_CHUNK * sizeof *z);
  t->status = x && z ? HU_OK : HU_E_MEMORY;
  for (uint64_t first = (uint64_t)t->number * CPU_CHUNK; t->status == HU_OK && first < o->inputs;
       first += (uint64_t)o->jobs * CPU_CHUNK) {
    size_t n = o->inputs - first < CPU_CHUNK ? (size_t)(o->inputs - first) : CPU_CHUNK;
    for (size_t i = 0; i < n; i++) x[i] = (uint32_t)((first + i) * o->stride);
    t->status = hu_encode_n(n, z, 1, (const float *)(const void *)x, 1, t->f, t->mode, NULL, &t->events);
    t->sum += sum_codes(z, storage, first, o->stride, n);
    if (o->only != SUMS) continue;
    if (t->status == HU_OK) t->status = hu_sum_add_all(&t->exact, n, z, 1, t->f);
    if (t->status == HU_OK) t->status = hu_sum_add_dot(&t->exact, n, x, 1, hu_binary32(), z, 1, t->f);
  }
  free(x);
  free(z);
  return NULL;
}

static hu_status on_cpu(const options *o, hu_format f, hu_mode mode, uint64_t *digest) {
  pthread_t threads[JOBS_MAX];
  static task tasks[JOBS_MAX];
  hu_status s = HU_OK;
  uint64_t sum = 0;
  hu_events events;
  hu_sum exact;
  unsigned started = 0;
  memset(&events, 0, sizeof events);
  memset(&exact, 0, sizeof exact);
  memset(tasks, 0, sizeof tasks);
  for (unsigned i = 0; i < o->jobs; i++) {
    tasks[i].o = o;
    tasks[i].f = f;
    tasks[i].mode = mode;
    tasks[i].number = i;
  }
  while (started < o->jobs && pthread_create(&threads[started], NULL, cpu_task, &tasks[started]) == 0) started++;
  for (unsigned i = started; i < o->jobs; i++) cpu_task(&tasks[i]);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  for (unsigned i = 0; i < o->jobs; i++) {
    if (tasks[i].status != HU_OK) s = tasks[i].status;
    sum += tasks[i].sum;
    hu_events_add(&events, &tasks[i].events);
    hu_sum_merge(&exact, &tasks[i].exact);
  }
  *digest = o->only == SUMS ? hui_digest_sum(&exact) : hui_digest_finish(sum, &events);
  return s;
}

/* Device memory of a run. */
typedef struct arena {
  uint32_t *x;
  void *codes;
  unsigned long long *sum;
  hu_events *events;
  hu_sum *exact;
  size_t chunk;
} arena;

static hu_status on_device(const options *o, const arena *a, hu_format f, hu_mode mode, uint64_t *digest) {
  unsigned long long sum = 0;
  hu_events events;
  hu_sum exact;
  uint32_t storage = hu_limits_of(f).storage;
  memset(&events, 0, sizeof events);
  memset(&exact, 0, sizeof exact);
  hu_status s = hui_memory_put(a->sum, &sum, sizeof sum);
  if (s == HU_OK) s = hui_memory_put(a->events, &events, sizeof events);
  if (s == HU_OK) s = hui_memory_put(a->exact, &exact, sizeof exact);
  for (uint64_t first = 0; s == HU_OK && first < o->inputs; first += a->chunk) {
    size_t n = o->inputs - first < a->chunk ? (size_t)(o->inputs - first) : a->chunk;
    s = hui_digest_inputs(a->x, first, o->stride, n);
    if (s == HU_OK) {
      s = hu_device_encode_n(n, a->codes, 1, (const float *)(const void *)a->x, 1, f, mode, NULL, a->events, NULL);
    }
    if (s == HU_OK && o->only != SUMS) s = hui_digest_add(a->sum, a->codes, storage, first, o->stride, n);
    if (o->only != SUMS) continue;
    if (s == HU_OK) s = hu_device_sum_add_all(a->exact, n, a->codes, 1, f, NULL);
    if (s == HU_OK) s = hu_device_sum_add_dot(a->exact, n, a->x, 1, hu_binary32(), a->codes, 1, f, NULL);
  }
  if (s == HU_OK) s = hui_memory_wait();
  if (s == HU_OK) s = hui_memory_get(&sum, a->sum, sizeof sum);
  if (s == HU_OK) s = hui_memory_get(&events, a->events, sizeof events);
  if (s == HU_OK) s = hui_memory_get(&exact, a->exact, sizeof exact);
  *digest = o->only == SUMS ? hui_digest_sum(&exact) : hui_digest_finish(sum, &events);
  return s;
}

static hu_status arena_new(arena *a, size_t chunk) {
  a->chunk = chunk;
  a->x = hui_memory_new(chunk * sizeof *a->x);
  a->codes = hui_memory_new(chunk * sizeof(uint32_t));
  a->sum = hui_memory_new(sizeof *a->sum);
  a->events = hui_memory_new(sizeof *a->events);
  a->exact = hui_memory_new(sizeof *a->exact);
  return a->x && a->codes && a->sum && a->events && a->exact ? HU_OK : HU_E_MEMORY;
}

static void arena_free(arena *a) {
  hui_memory_free(a->x);
  hui_memory_free(a->codes);
  hui_memory_free(a->sum);
  hui_memory_free(a->events);
  hui_memory_free(a->exact);
}

/* 1 if the line is one of the text's. */
static int stands_in(const char *text, const char *line) {
  size_t n = strlen(line);
  for (const char *at = text; (at = strstr(at, line)) != NULL; at++)
    if ((at == text || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0')) return 1;
  return 0;
}

static int run(const options *o, const arena *a) {
  int wrong = 0;
  for (size_t i = 0; i < o->n; i++) {
    for (unsigned round = 0; round <= SUMS; round++) {
      if (o->only >= 0 ? (unsigned)o->only != round : round == SUMS) continue;
      hu_format f;
      hu_mode mode;
      char line[256], name[8];
      uint64_t digest;
      memset(&mode, 0, sizeof mode);
      mode.round = (uint8_t)(round == SUMS ? HU_RNE : round);
      hu_status s = hu_format_parse(&f, o->names[i], NULL);
      if (s == HU_OK) s = o->cuda ? on_device(o, a, f, mode, &digest) : on_cpu(o, f, mode, &digest);
      if (s != HU_OK) {
        fprintf(stderr, "hu-digest: %s: %s\n", o->names[i], hu_status_text(s));
        return 2;
      }
      snprintf(line, sizeof line, "%s %s %llu %016llx", o->names[i],
               round == SUMS ? "sum" : hu_mode_round_text(name, mode), (unsigned long long)o->inputs,
               (unsigned long long)digest);
      int known = !o->expected || stands_in(o->expected, line);
      printf("%s%s\n", line, known ? "" : "  DIFFERS");
      fflush(stdout);
      wrong |= !known;
    }
  }
  return wrong;
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
    fprintf(stderr, "hu-digest: %s: cannot be read\n", path);
    exit(2);
  }
  fclose(file);
  return text;
}

static int usage(void) {
  fprintf(stderr,
          "usage: hu-digest [--device cpu|cuda] [--stride S] [--limit N] [--format NAME]... [--mode MODE]\n"
          "                 [--jobs J] [--check FILE]\n");
  return 2;
}

/* A whole number from 1 to max; 0 if the text is anything else. */
static uint64_t read_number(const char *text, uint64_t max) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  return *text < '0' || *text > '9' || *end || errno || number > max ? 0 : number;
}

/* A deterministic mode's number, SUMS, or -1. */
static int read_mode(const char *text) {
  hu_mode mode;
  memset(&mode, 0, sizeof mode);
  if (strcmp(text, "sum") == 0) return SUMS;
  return hu_mode_round_parse(&mode, text) == HU_OK && mode.round < HU_SRA ? mode.round : -1;
}

static int read_options(options *o, int argc, char **argv) {
  uint64_t limit = UINT64_MAX;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    uint64_t number = read_number(value, UINT64_MAX);
    if (strcmp(key, "--device") == 0) {
      if (strcmp(value, "cpu") != 0 && strcmp(value, "cuda") != 0) return usage();
      o->cuda = value[1] == 'u';
    } else if (strcmp(key, "--stride") == 0 && number >= 1 && number <= UINT32_MAX) {
      o->stride = (uint32_t)number;
    } else if (strcmp(key, "--limit") == 0 && number >= 1) {
      limit = number;
    } else if (strcmp(key, "--jobs") == 0 && number >= 1 && number <= JOBS_MAX) {
      o->jobs = (unsigned)number;
    } else if (strcmp(key, "--format") == 0 && o->n < FORMATS_MAX) {
      o->names[o->n++] = value;
    } else if (strcmp(key, "--mode") == 0 && read_mode(value) >= 0) {
      o->only = read_mode(value);
    } else if (strcmp(key, "--check") == 0 && !o->expected) {
      o->expected = read_text(value);
    } else {
      return usage();
    }
  }
  if (argc % 2 == 0) return usage();
  if (o->n == 0) {
    o->n = sizeof usual / sizeof usual[0];
    memcpy(o->names, usual, sizeof usual);
  }
  o->inputs = (((uint64_t)1 << 32) - 1) / o->stride + 1;
  if (limit < o->inputs) o->inputs = limit;
  return 0;
}

int main(int argc, char **argv) {
  options o;
  arena a;
  char name[128];
  memset(&o, 0, sizeof o);
  memset(&a, 0, sizeof a);
  o.stride = 1;
  o.jobs = 1;
  o.only = -1;
  int status = read_options(&o, argc, argv);
  if (status) return status;
  if (o.cuda) {
    if (hu_device_available(name, sizeof name) != HU_OK) {
      fprintf(stderr, "hu-digest: skipped: %s\n", name);
      return 77;
    }
    fprintf(stderr, "hu-digest: on %s\n", name);
    size_t chunk = o.inputs < DEVICE_CHUNK ? (size_t)o.inputs : DEVICE_CHUNK;
    if (arena_new(&a, chunk) != HU_OK) {
      fprintf(stderr, "hu-digest: %s\n", hu_status_text(HU_E_MEMORY));
      return 2;
    }
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  status = run(&o, &a);
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "hu-digest: standard output: cannot write\n");
    status = 2;
  }
  if (o.cuda) arena_free(&a);
  free(o.expected);
  return status;
}
