/* SPDX-License-Identifier: MIT */
/* Threads that wait for work; and the processor, alone or with such a crew, which loops run on and cpu.c makes an
 * engine. */
#include "train/engine/cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "halfulp/array.h"
#include "train/environment.h"

struct hu_crew {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  pthread_t others[HU_THREADS_MAX];
  uint32_t started;
  uint64_t turn;    /* pieces of work so far */
  uint32_t working; /* others that have not finished this turn */
  int over;
  atomic_size_t next;
  size_t parts;
  void (*work)(void *context, size_t part);
  void *context;
};

static void take_parts(hu_crew *crew) {
  for (;;) {
    size_t part = atomic_fetch_add(&crew->next, 1);
    if (part >= crew->parts) return;
    crew->work(crew->context, part);
  }
}

static void *wait_for_work(void *argument) {
  hu_crew *crew = argument;
  uint64_t turn = 0;
  (void)hu_float_env_enter(HU_LANE_NEAREST); /* not the environment of the thread that started it */
  pthread_mutex_lock(&crew->lock);
  for (;;) {
    while (!crew->over && crew->turn == turn) pthread_cond_wait(&crew->begin, &crew->lock);
    if (crew->over) break;
    turn = crew->turn;
    pthread_mutex_unlock(&crew->lock);
    take_parts(crew);
    pthread_mutex_lock(&crew->lock);
    if (--crew->working == 0) pthread_cond_signal(&crew->end);
  }
  pthread_mutex_unlock(&crew->lock);
  return NULL;
}

hu_crew *hu_crew_new(uint32_t threads) {
  if (threads > HU_THREADS_MAX) threads = HU_THREADS_MAX;
  hu_crew *crew = threads > 1 ? calloc(1, sizeof *crew) : NULL;
  if (!crew) return NULL;
  pthread_mutex_init(&crew->lock, NULL);
  pthread_cond_init(&crew->begin, NULL);
  pthread_cond_init(&crew->end, NULL);
  atomic_init(&crew->next, 0);
  while (crew->started + 1 < threads && pthread_create(&crew->others[crew->started], NULL, wait_for_work, crew) == 0) {
    crew->started++;
  }
  if (crew->started) return crew;
  hu_crew_free(crew);
  return NULL;
}

void hu_crew_free(hu_crew *crew) {
  if (!crew) return;
  pthread_mutex_lock(&crew->lock);
  crew->over = 1;
  pthread_cond_broadcast(&crew->begin);
  pthread_mutex_unlock(&crew->lock);
  for (uint32_t i = 0; i < crew->started; i++) pthread_join(crew->others[i], NULL);
  pthread_cond_destroy(&crew->begin);
  pthread_cond_destroy(&crew->end);
  pthread_mutex_destroy(&crew->lock);
  free(crew);
}

void hu_crew_run(hu_crew *crew, size_t parts, void (*work)(void *context, size_t part), void *context) {
  if (!crew || parts < 2) {
    for (size_t i = 0; i < parts; i++) work(context, i);
    return;
  }
  pthread_mutex_lock(&crew->lock);
  crew->work = work;
  crew->context = context;
  crew->parts = parts;
  atomic_store(&crew->next, 0);
  crew->working = crew->started;
  crew->turn++;
  pthread_cond_broadcast(&crew->begin);
  pthread_mutex_unlock(&crew->lock);
  take_parts(crew);
  pthread_mutex_lock(&crew->lock);
  while (crew->working) pthread_cond_wait(&crew->end, &crew->lock);
  pthread_mutex_unlock(&crew->lock);
}

/* ---- the processor with its crew ---- */

uint32_t hu_cpu_levels_off;

/* The best first, that of every processor last. */
#define LOOPS(name) &hu_loops_##name,
static const hu_loops *const known[] = {HU_EACH_LEVEL(LOOPS)};

hu_cpu hu_cpu_alone(void) {
  hu_cpu c = {1, NULL, &hu_loops_vector, hu_cpu_levels_off, NULL};
  uint32_t levels = hu_levels() & ~c.levels_off;
  for (size_t i = sizeof known / sizeof *known; i-- > 0;) {
    if (levels & known[i]->level) c.loops = known[i];
  }
  return c;
}

void hu_cpu_run(const hu_cpu *cpu, size_t parts, void (*work)(void *context, size_t part), void *context) {
  hu_crew_run(cpu->crew, parts, work, context);
}
