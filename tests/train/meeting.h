/* SPDX-License-Identifier: MIT */
/* tests/train/meeting.h - processes of a training run, which are threads here that meet at barriers. Include cmocka.h
 * and define _GNU_SOURCE before it. */
#ifndef HALFULP_TESTS_TRAIN_MEETING_H
#define HALFULP_TESTS_TRAIN_MEETING_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/trainer.h"

enum { RANKS_MAX = 8, SHARDS_MAX = 16 };

typedef struct meeting {
  pthread_barrier_t barrier;
  size_t own[RANKS_MAX];
  const void *const *x[RANKS_MAX];
  double *told[RANKS_MAX];
} meeting;

/* One of them; the first field of what its thread is given. */
typedef struct place {
  meeting *m;
  hu_trainer_ranks ranks;
} place;

static inline hu_status join(void *context, size_t n, float *z, size_t own, const void *const *x,
                             const hu_collective *model, const hu_exec *exec) {
  const place *s = context;
  meeting *m = s->m;
  const void *all[SHARDS_MAX];
  size_t count = 0;
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  m->own[s->ranks.rank] = own;
  m->x[s->ranks.rank] = x;
  pthread_barrier_wait(&m->barrier);
  for (int r = 0; r < s->ranks.size; r++) {
    for (size_t k = 0; k < m->own[r]; k++) all[count++] = m->x[r][k];
  }
  hu_status status = hu_collective_reduce(count, n, z, hu_binary32(), all, model, rne, exec, NULL);
  pthread_barrier_wait(&m->barrier);
  return status;
}

static inline hu_status sum(void *context, size_t n, double *x) {
  const place *s = context;
  meeting *m = s->m;
  double *z = calloc(n + 1, sizeof *z);
  m->told[s->ranks.rank] = x;
  pthread_barrier_wait(&m->barrier);
  for (int r = 0; r < s->ranks.size; r++) {
    for (size_t i = 0; i < n; i++) z[i] += m->told[r][i];
  }
  pthread_barrier_wait(&m->barrier);
  memcpy(x, z, n * sizeof *z);
  free(z);
  return HU_OK;
}

/* Runs `process` in so many threads, each with one of `count` things of that size, which begin with a place. */
static inline void meet(int count, void *things, size_t size, void *(*process)(void *thing)) {
  meeting m;
  pthread_t thread[RANKS_MAX];
  pthread_barrier_init(&m.barrier, NULL, (unsigned)count);
  for (int r = 0; r < count; r++) {
    place *p = (void *)((char *)things + (size_t)r * size);
    p->m = &m;
    p->ranks = (hu_trainer_ranks){r, count, p, join, sum};
    assert_int_equal(pthread_create(&thread[r], NULL, process, p), 0);
  }
  for (int r = 0; r < count; r++) pthread_join(thread[r], NULL);
  pthread_barrier_destroy(&m.barrier);
}

#endif
