/* SPDX-License-Identifier: MIT */
#include "emu/base/threads.h"

#if defined(HALFULP_NO_THREADS)

/* For programs without pthread.h: the calling thread does all of it. */
void hui_parallel(uint32_t threads, size_t parts, void (*run)(void *context, size_t part), void *context) {
  (void)threads;
  for (size_t part = 0; part < parts; part++) run(context, part);
}

#else

#include <pthread.h>
#include <stdatomic.h>

#include "halfulp/array.h"

#if defined(HU_LENDS_THREADS)
static _Thread_local const hu_helpers *helpers_here;

const hu_helpers *hui_parallel_by(const hu_helpers *helpers) {
  const hu_helpers *before = helpers_here;
  helpers_here = helpers;
  return before;
}

/* 1: helpers have run all parts. */
static int helped(size_t parts, void (*run)(void *context, size_t part), void *context) {
  const hu_helpers *helpers = hui_parallel_by(NULL); /* a part of theirs has no helpers of its own */
  if (!helpers) return 0;
  helpers->run(helpers->self, parts, run, context);
  (void)hui_parallel_by(helpers);
  return 1;
}
#else
static int helped(size_t parts, void (*run)(void *context, size_t part), void *context) {
  (void)parts;
  (void)run;
  (void)context;
  return 0;
}
#endif

typedef struct work {
  atomic_size_t next;
  size_t parts;
  void (*run)(void *context, size_t part);
  void *context;
} work;

static void *take_parts(void *argument) {
  work *shared = argument;
  for (;;) {
    size_t part = atomic_fetch_add(&shared->next, 1);
    if (part >= shared->parts) return NULL;
    shared->run(shared->context, part);
  }
}

void hui_parallel(uint32_t threads, size_t parts, void (*run)(void *context, size_t part), void *context) {
  work shared;
  pthread_t others[HU_THREADS_MAX];
  uint32_t wanted = threads > HU_THREADS_MAX ? HU_THREADS_MAX : threads, started = 0;
  if (wanted > parts) wanted = (uint32_t)parts;
  if (wanted <= 1) { /* small calls would notice the counter */
    for (size_t part = 0; part < parts; part++) run(context, part);
    return;
  }
  if (helped(parts, run, context)) return;
  atomic_init(&shared.next, 0);
  shared.parts = parts;
  shared.run = run;
  shared.context = context;
  while (started + 1 < wanted && pthread_create(&others[started], NULL, take_parts, &shared) == 0) started++;
  take_parts(&shared);
  for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
}

#endif
