/* SPDX-License-Identifier: MIT */
/* Threads that wait for work; and the CPU, alone or with such a crew, which loops run on and cpu.c makes an engine.
 *
 * Work comes many times a millisecond, and to wake a sleeping thread takes as long as a small piece of it. So a
 * thread that waits looks for the end of its wait some times (LOOKS) before it sleeps, where each thread has a CPU
 * of its own. */
#define _GNU_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "train/engine/cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "halfulp/array.h"
#include "train/environment.h"

struct hu_crew {
  pthread_mutex_t lock;
  pthread_cond_t begin, end;
  pthread_t others[HU_THREADS_MAX];
  uint32_t started;
  int looks;
  atomic_uint_fast64_t turn; /* pieces of work so far; changes while `lock` is held */
  atomic_uint working;       /* others that have not finished this turn */
  int over;                  /* written before `turn` changes, as are the parts, the work and its context */
  atomic_size_t next;
  size_t parts;
  void (*work)(void *context, size_t part);
  void *context;
};

enum { LOOKS = 2000 }; /* of about 20 ns each */

/* Lets the CPU save power between two looks, or work for its other thread. */
static void pause_a_moment(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void take_parts(hu_crew *crew) {
  for (;;) {
    size_t part = atomic_fetch_add(&crew->next, 1);
    if (part >= crew->parts) return;
    crew->work(crew->context, part);
  }
}

/* Waits until the turn is not `last` any more, and returns it. */
static uint_fast64_t next_turn(hu_crew *crew, uint_fast64_t last) {
  for (int i = 0; i < crew->looks; i++) {
    if (atomic_load(&crew->turn) != last) return atomic_load(&crew->turn);
    pause_a_moment();
  }
  pthread_mutex_lock(&crew->lock);
  while (atomic_load(&crew->turn) == last) pthread_cond_wait(&crew->begin, &crew->lock);
  pthread_mutex_unlock(&crew->lock);
  return atomic_load(&crew->turn);
}

/* The last one to finish holds the lock while it signals: a thread that is about to sleep has seen that another one
 * works. */
static void finish(hu_crew *crew) {
  if (atomic_fetch_sub(&crew->working, 1) != 1) return;
  pthread_mutex_lock(&crew->lock);
  pthread_cond_signal(&crew->end);
  pthread_mutex_unlock(&crew->lock);
}

static void *wait_for_work(void *argument) {
  hu_crew *crew = argument;
  uint_fast64_t turn = 0;
  (void)hui_float_env_enter(HU_LANE_NEAREST); /* not the environment of the thread that started it */
  for (;;) {
    turn = next_turn(crew, turn);
    if (crew->over) return NULL;
    take_parts(crew);
    finish(crew);
  }
}

/* All that threads read is written when the turn changes. */
static void begin_turn(hu_crew *crew) {
  pthread_mutex_lock(&crew->lock);
  atomic_fetch_add(&crew->turn, 1);
  pthread_cond_broadcast(&crew->begin);
  pthread_mutex_unlock(&crew->lock);
}

static void wait_for_end(hu_crew *crew) {
  for (int i = 0; i < crew->looks; i++) {
    if (!atomic_load(&crew->working)) return;
    pause_a_moment();
  }
  pthread_mutex_lock(&crew->lock);
  while (atomic_load(&crew->working)) pthread_cond_wait(&crew->end, &crew->lock);
  pthread_mutex_unlock(&crew->lock);
}

hu_crew *hui_crew_new(uint32_t threads) {
  if (threads > HU_THREADS_MAX) threads = HU_THREADS_MAX;
  hu_crew *crew = threads > 1 ? calloc(1, sizeof *crew) : NULL;
  if (!crew) return NULL;
  pthread_mutex_init(&crew->lock, NULL);
  pthread_cond_init(&crew->begin, NULL);
  pthread_cond_init(&crew->end, NULL);
  atomic_init(&crew->next, 0);
  atomic_init(&crew->turn, 0);
  atomic_init(&crew->working, 0);
  crew->looks = sysconf(_SC_NPROCESSORS_ONLN) >= (long)threads ? LOOKS : 0;
  while (crew->started + 1 < threads && pthread_create(&crew->others[crew->started], NULL, wait_for_work, crew) == 0) {
    crew->started++;
  }
  if (crew->started) return crew;
  hui_crew_free(crew);
  return NULL;
}

void hui_crew_free(hu_crew *crew) {
  if (!crew) return;
  crew->over = 1;
  begin_turn(crew);
  for (uint32_t i = 0; i < crew->started; i++) pthread_join(crew->others[i], NULL);
  pthread_cond_destroy(&crew->begin);
  pthread_cond_destroy(&crew->end);
  pthread_mutex_destroy(&crew->lock);
  free(crew);
}

void hui_crew_run(hu_crew *crew, size_t parts, void (*work)(void *context, size_t part), void *context) {
  if (!crew || parts < 2) {
    for (size_t i = 0; i < parts; i++) work(context, i);
    return;
  }
  crew->work = work;
  crew->context = context;
  crew->parts = parts;
  atomic_store(&crew->next, 0);
  atomic_store(&crew->working, crew->started);
  begin_turn(crew);
  take_parts(crew);
  wait_for_end(crew);
}

/* ---- the CPU with its crew ---- */

uint32_t hu_cpu_levels_off;

/* Lists the best first, and that of every CPU last. */
#define LOOPS(name) &hu_loops_##name,
static const hu_loops *const known[] = {HU_EACH_LEVEL(LOOPS)};

hu_cpu hui_cpu_alone(void) {
  hu_cpu cpu = {.threads = 1, .helpers = {NULL, NULL}, .loops = &hu_loops_vector, .levels_off = hu_cpu_levels_off};
  uint32_t levels = hu_levels() & ~cpu.levels_off;
  for (size_t i = sizeof known / sizeof *known; i-- > 0;) {
    if (levels & known[i]->level) cpu.loops = known[i];
  }
  return cpu;
}

void hui_cpu_run(const hu_cpu *cpu, size_t parts, void (*work)(void *context, size_t part), void *context) {
  hui_crew_run(cpu->crew, parts, work, context);
}
