/* SPDX-License-Identifier: MIT */
#include "emu/base/threads.h"

#if defined(HALFULP_NO_THREADS)

/* For programs without pthread.h: the calling thread does all of it. */
void hu_parallel(uint32_t threads, size_t parts, void (*run)(void *context, size_t part), void *context) {
  (void)threads;
  for (size_t part = 0; part < parts; part++) run(context, part);
}

const hu_helpers *hu_parallel_by(const hu_helpers *helpers) {
  (void)helpers;
  return NULL;
}

#else

#include <pthread.h>
#include <stdatomic.h>

#include "halfulp/array.h"

HU_OWN_OF_THREAD const hu_helpers *helpers_here;

const hu_helpers *hu_parallel_by(const hu_helpers *helpers) {
  const hu_helpers *before = helpers_here;
  helpers_here = helpers;
  return before;
}

typedef struct work {
  atomic_size_t next;
  size_t parts;
  void (*run)(void *context, size_t part);
  void *context;
} work;

static void *take_parts(void *argument) {
  work *w = argument;
  for (;;) {
    size_t part = atomic_fetch_add(&w->next, 1);
    if (part >= w->parts) return NULL;
    w->run(w->context, part);
  }
}

void hu_parallel(uint32_t threads, size_t parts, void (*run)(void *context, size_t part), void *context) {
  work w;
  pthread_t others[HU_THREADS_MAX];
  uint32_t wanted = threads > HU_THREADS_MAX ? HU_THREADS_MAX : threads, started = 0;
  if (wanted > parts) wanted = (uint32_t)parts;
  if (wanted <= 1) { /* small calls would notice the counter */
    for (size_t part = 0; part < parts; part++) run(context, part);
    return;
  }
  if (helpers_here) {
    const hu_helpers *helpers = hu_parallel_by(NULL); /* a part of theirs has no helpers of its own */
    helpers->run(helpers->self, parts, run, context);
    hu_parallel_by(helpers);
    return;
  }
  atomic_init(&w.next, 0);
  w.parts = parts;
  w.run = run;
  w.context = context;
  while (started + 1 < wanted && pthread_create(&others[started], NULL, take_parts, &w) == 0) started++;
  take_parts(&w);
  for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
}

#endif
