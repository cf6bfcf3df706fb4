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
#include "halfulp/device.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/halfulp.h"

enum { FORMATS_MAX = 32, JOBS_MAX = 256, CPU_CHUNK = 1 << 16, DEVICE_CHUNK = 1 << 26, SUMS = HU_SRA };

static const char *const presets[] = {"float8_e4m3fn",   "float8_e5m2",   "float8_e4m3fnuz", "float8_e5m2fnuz",
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
  const options *given;
  hu_format format;
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
  task *work = argument;
  const options *given = work->given;
  uint32_t storage = hu_limits_of(work->format).storage;
  uint32_t *x = malloc(CPU_CHUNK * sizeof *x), *z = malloc(CPU_CHUNK * sizeof *z);
  work->status = x && z ? HU_OK : HU_E_MEMORY;
  for (uint64_t first = (uint64_t)work->number * CPU_CHUNK; work->status == HU_OK && first < given->inputs;
       first += (uint64_t)given->jobs * CPU_CHUNK) {
    size_t n = given->inputs - first < CPU_CHUNK ? (size_t)(given->inputs - first) : CPU_CHUNK;
    for (size_t i = 0; i < n; i++) x[i] = (uint32_t)((first + i) * given->stride);
    work->status =
        hu_encode_n(n, z, 1, (const float *)(const void *)x, 1, work->format, work->mode, NULL, &work->events);
    work->sum += sum_codes(z, storage, first, given->stride, n);
    if (given->only != SUMS) continue;
    if (work->status == HU_OK) work->status = hu_sum_add_all(&work->exact, n, hu_codes(z, 1, work->format), NULL);
    if (work->status == HU_OK)
      work->status = hu_sum_add_dot(&work->exact, n, hu_codes(x, 1, hu_binary32()), hu_codes(z, 1, work->format), NULL);
  }
  free(x);
  free(z);
  return NULL;
}

static hu_status on_cpu(const options *given, hu_format format, hu_mode mode, uint64_t *digest) {
  pthread_t threads[JOBS_MAX];
  static task tasks[JOBS_MAX];
  hu_status status = HU_OK;
  uint64_t sum = 0;
  hu_events events;
  hu_sum exact;
  unsigned started = 0;
  memset(&events, 0, sizeof events);
  memset(&exact, 0, sizeof exact);
  memset(tasks, 0, sizeof tasks);
  for (unsigned i = 0; i < given->jobs; i++) {
    tasks[i].given = given;
    tasks[i].format = format;
    tasks[i].mode = mode;
    tasks[i].number = i;
  }
  while (started < given->jobs && pthread_create(&threads[started], NULL, cpu_task, &tasks[started]) == 0) started++;
  for (unsigned i = started; i < given->jobs; i++) cpu_task(&tasks[i]);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  for (unsigned i = 0; i < given->jobs; i++) {
    if (tasks[i].status != HU_OK) status = tasks[i].status;
    sum += tasks[i].sum;
    hu_events_add(&events, &tasks[i].events);
    hu_sum_merge(&exact, &tasks[i].exact);
  }
  *digest = given->only == SUMS ? hui_digest_sum(&exact) : hui_digest_finish(sum, &events);
  return status;
}

/* The device memory of a run. */
typedef struct arena {
  uint32_t *x;
  void *codes;
  unsigned long long *sum;
  hu_events *events;
  hu_sum *exact;
  size_t chunk;
} arena;

static hu_status on_device(const options *given, const arena *memory, hu_format format, hu_mode mode,
                           uint64_t *digest) {
  unsigned long long sum = 0;
  hu_events events;
  hu_sum exact;
  const hu_exec there = {.where = hu_cuda(NULL)};
  uint32_t storage = hu_limits_of(format).storage;
  memset(&events, 0, sizeof events);
  memset(&exact, 0, sizeof exact);
  hu_status status = hui_memory_put(memory->sum, &sum, sizeof sum);
  if (status == HU_OK) status = hui_memory_put(memory->events, &events, sizeof events);
  if (status == HU_OK) status = hui_memory_put(memory->exact, &exact, sizeof exact);
  for (uint64_t first = 0; status == HU_OK && first < given->inputs; first += memory->chunk) {
    size_t n = given->inputs - first < memory->chunk ? (size_t)(given->inputs - first) : memory->chunk;
    status = hui_digest_inputs(memory->x, first, given->stride, n);
    if (status == HU_OK) {
      status = hu_encode_n(n, memory->codes, 1, (const float *)(const void *)memory->x, 1, format, mode, &there,
                           memory->events);
    }
    if (status == HU_OK && given->only != SUMS)
      status = hui_digest_add(memory->sum, memory->codes, storage, first, given->stride, n);
    if (given->only != SUMS) continue;
    if (status == HU_OK) status = hu_sum_add_all(memory->exact, n, hu_codes(memory->codes, 1, format), &there);
    if (status == HU_OK)
      status = hu_sum_add_dot(memory->exact, n, hu_codes(memory->x, 1, hu_binary32()),
                              hu_codes(memory->codes, 1, format), &there);
  }
  if (status == HU_OK) status = hui_memory_wait();
  if (status == HU_OK) status = hui_memory_get(&sum, memory->sum, sizeof sum);
  if (status == HU_OK) status = hui_memory_get(&events, memory->events, sizeof events);
  if (status == HU_OK) status = hui_memory_get(&exact, memory->exact, sizeof exact);
  *digest = given->only == SUMS ? hui_digest_sum(&exact) : hui_digest_finish(sum, &events);
  return status;
}

static hu_status arena_new(arena *memory, size_t chunk) {
  memory->chunk = chunk;
  memory->x = hui_memory_new(chunk * sizeof *memory->x);
  memory->codes = hui_memory_new(chunk * sizeof(uint32_t));
  memory->sum = hui_memory_new(sizeof *memory->sum);
  memory->events = hui_memory_new(sizeof *memory->events);
  memory->exact = hui_memory_new(sizeof *memory->exact);
  return memory->x && memory->codes && memory->sum && memory->events && memory->exact ? HU_OK : HU_E_MEMORY;
}

static void arena_free(arena *memory) {
  hui_memory_free(memory->x);
  hui_memory_free(memory->codes);
  hui_memory_free(memory->sum);
  hui_memory_free(memory->events);
  hui_memory_free(memory->exact);
}

/* Returns 1 if the line is one of the text's. */
static int stands_in(const char *text, const char *line) {
  size_t n = strlen(line);
  for (const char *at = text; (at = strstr(at, line)) != NULL; at++)
    if ((at == text || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0')) return 1;
  return 0;
}

static int run(const options *given, const arena *memory) {
  int wrong = 0;
  for (size_t i = 0; i < given->n; i++) {
    for (unsigned round = 0; round <= SUMS; round++) {
      if (given->only >= 0 ? (unsigned)given->only != round : round == SUMS) continue;
      hu_format format;
      hu_mode mode;
      char line[256], name[8];
      uint64_t digest;
      memset(&mode, 0, sizeof mode);
      mode.round = (uint8_t)(round == SUMS ? HU_RNE : round);
      hu_status status = hu_format_parse(&format, given->names[i], NULL);
      if (status == HU_OK)
        status = given->cuda ? on_device(given, memory, format, mode, &digest) : on_cpu(given, format, mode, &digest);
      if (status != HU_OK) {
        fprintf(stderr, "hu-digest: %s: %s\n", given->names[i], hu_status_text(status));
        return 2;
      }
      snprintf(line, sizeof line, "%s %s %llu %016llx", given->names[i],
               round == SUMS ? "sum" : hu_mode_round_text(name, mode), (unsigned long long)given->inputs,
               (unsigned long long)digest);
      int known = !given->expected || stands_in(given->expected, line);
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

/* Reads a whole number from 1 to max; returns 0 if the text is anything else. */
static uint64_t read_number(const char *text, uint64_t max) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  return *text < '0' || *text > '9' || *end || errno || number > max ? 0 : number;
}

/* Returns a deterministic mode's number, SUMS, or -1. */
static int read_mode(const char *text) {
  hu_mode mode;
  memset(&mode, 0, sizeof mode);
  if (strcmp(text, "sum") == 0) return SUMS;
  return hu_mode_round_parse(&mode, text) == HU_OK && mode.round < HU_SRA ? mode.round : -1;
}

static int read_options(options *given, int argc, char **argv) {
  uint64_t limit = UINT64_MAX;
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    uint64_t number = read_number(value, UINT64_MAX);
    if (strcmp(key, "--device") == 0) {
      if (strcmp(value, "cpu") != 0 && strcmp(value, "cuda") != 0) return usage();
      given->cuda = value[1] == 'u';
    } else if (strcmp(key, "--stride") == 0 && number >= 1 && number <= UINT32_MAX) {
      given->stride = (uint32_t)number;
    } else if (strcmp(key, "--limit") == 0 && number >= 1) {
      limit = number;
    } else if (strcmp(key, "--jobs") == 0 && number >= 1 && number <= JOBS_MAX) {
      given->jobs = (unsigned)number;
    } else if (strcmp(key, "--format") == 0 && given->n < FORMATS_MAX) {
      given->names[given->n++] = value;
    } else if (strcmp(key, "--mode") == 0 && read_mode(value) >= 0) {
      given->only = read_mode(value);
    } else if (strcmp(key, "--check") == 0 && !given->expected) {
      given->expected = read_text(value);
    } else {
      return usage();
    }
  }
  if (argc % 2 == 0) return usage();
  if (given->n == 0) {
    given->n = sizeof presets / sizeof presets[0];
    memcpy(given->names, presets, sizeof presets);
  }
  given->inputs = (((uint64_t)1 << 32) - 1) / given->stride + 1;
  if (limit < given->inputs) given->inputs = limit;
  return 0;
}

int main(int argc, char **argv) {
  options given;
  arena memory;
  char name[128];
  memset(&given, 0, sizeof given);
  memset(&memory, 0, sizeof memory);
  given.stride = 1;
  given.jobs = 1;
  given.only = -1;
  int status = read_options(&given, argc, argv);
  if (status) return status;
  if (given.cuda) {
    if (hu_device_available(name, sizeof name) != HU_OK) {
      fprintf(stderr, "hu-digest: skipped: %s\n", name);
      return 77;
    }
    fprintf(stderr, "hu-digest: on %s\n", name);
    size_t chunk = given.inputs < DEVICE_CHUNK ? (size_t)given.inputs : DEVICE_CHUNK;
    if (arena_new(&memory, chunk) != HU_OK) {
      fprintf(stderr, "hu-digest: %s\n", hu_status_text(HU_E_MEMORY));
      return 2;
    }
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  status = run(&given, &memory);
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "hu-digest: standard output: cannot write\n");
    status = 2;
  }
  if (given.cuda) arena_free(&memory);
  free(given.expected);
  return status;
}
