/* SPDX-License-Identifier: MIT */
/* tests/train/trainer/processes.h - a run on several processes, which are threads here that meet at barriers.
 * Include cmocka.h before it; _GNU_SOURCE is defined.
 */
#ifndef HALFULP_TESTS_TRAIN_PROCESSES_H
#define HALFULP_TESTS_TRAIN_PROCESSES_H

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "tests/train/trainer/trainers.h"

enum { RANKS_MAX = 16, STEPS = 5, SHARDS_MAX = 16 };

/* ---- processes ---- */

typedef struct meeting {
  pthread_barrier_t barrier;
  size_t own[RANKS_MAX];
  const void *const *x[RANKS_MAX];
  double *reported[RANKS_MAX];
} meeting;

typedef struct t_seat {
  meeting *m;
  hu_trainer_ranks ranks;
  const char *const *pairs;
  void (*look)(struct t_seat *seat, hu_trainer *trainer); /* after the steps; NULL: nothing is looked at */
  void *seen_by_look;
  const hu_engine *engine; /* of the last process, whose run.device is cuda; NULL: none */
  uint64_t digest;
  hu_trainer_report report[STEPS];
  hu_trainer_seen seen;
  char *state;
} t_seat;

static inline hu_status join(void *context, size_t n, float *z, size_t own, const void *const *x,
                             const hu_collective *model, const hu_exec *exec) {
  t_seat *seat = context;
  meeting *m = seat->m;
  const void *all[SHARDS_MAX];
  size_t count = 0;
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  m->own[seat->ranks.rank] = own;
  m->x[seat->ranks.rank] = x;
  pthread_barrier_wait(&m->barrier);
  for (int r = 0; r < seat->ranks.size; r++) {
    for (size_t k = 0; k < m->own[r]; k++) all[count++] = m->x[r][k];
  }
  hu_status status = hu_collective_reduce(count, n, z, hu_binary32(), all, model, &(hu_how){rne, exec, NULL});
  pthread_barrier_wait(&m->barrier);
  return status;
}

static inline hu_status sum(void *context, size_t n, double *x) {
  t_seat *seat = context;
  meeting *m = seat->m;
  double *z = calloc(n + 1, sizeof *z);
  m->reported[seat->ranks.rank] = x;
  pthread_barrier_wait(&m->barrier);
  for (int r = 0; r < seat->ranks.size; r++) {
    for (size_t i = 0; i < n; i++) z[i] += m->reported[r][i];
  }
  pthread_barrier_wait(&m->barrier);
  memcpy(x, z, n * sizeof *z);
  free(z);
  return HU_OK;
}

static inline char *state_of(const hu_trainer *trainer) {
  size_t size = hu_trainer_state(trainer, NULL, 0) + 1;
  char *text = malloc(size);
  assert_non_null(text);
  assert_true(hu_trainer_state(trainer, text, size) < size);
  return text;
}

static inline void *train(void *context) {
  t_seat *seat = context;
  hu_trainer *trainer = with(seat->pairs);
  if (seat->engine && seat->ranks.rank == seat->ranks.size - 1) {
    assert_int_equal(hu_trainer_set_engine(trainer, seat->engine), HU_OK);
    set(trainer, "run.device", "cuda");
  }
  if (seat->ranks.size > 1) assert_int_equal(hu_trainer_set_ranks(trainer, &seat->ranks), HU_OK);
  begin(trainer);
  for (size_t i = 0; i < STEPS; i++) assert_int_equal(hu_trainer_step(trainer, &seat->report[i]), HU_OK);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seat->seen), HU_OK);
  seat->digest = hu_trainer_digest(trainer);
  seat->state = state_of(trainer);
  if (seat->look) seat->look(seat, trainer);
  hu_trainer_free(trainer);
  return NULL;
}

/* The run of these keys on so many processes, each with what `like` says, into seats. */
static inline void train_like(const t_seat *like, int size, t_seat seats[]) {
  meeting m;
  pthread_t thread[RANKS_MAX];
  pthread_barrier_init(&m.barrier, NULL, (unsigned)size);
  for (int r = 0; r < size; r++) {
    seats[r] = *like;
    seats[r].m = &m;
    seats[r].ranks = (hu_trainer_ranks){r, size, &seats[r], join, sum};
    assert_int_equal(pthread_create(&thread[r], NULL, train, &seats[r]), 0);
  }
  for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
  pthread_barrier_destroy(&m.barrier);
}

static inline void train_on(int size, t_seat seats[], const char *const *pairs) {
  t_seat like;
  memset(&like, 0, sizeof like);
  like.pairs = pairs;
  train_like(&like, size, seats);
}

static inline void same_seats(const t_seat *a, const t_seat *b) {
  assert_true(a->digest == b->digest);
  assert_string_equal(a->state, b->state);
  for (size_t i = 0; i < STEPS; i++) {
    const hu_trainer_report *x = &a->report[i], *y = &b->report[i];
    assert_true(memcmp(&x->loss, &y->loss, sizeof x->loss) == 0);
    assert_memory_equal(&x->forward, &y->forward, sizeof x->forward);
    assert_memory_equal(&x->backward, &y->backward, sizeof x->backward);
    assert_memory_equal(&x->updates, &y->updates, sizeof x->updates);
    assert_true(x->largest == y->largest && x->scale == y->scale && x->taken == y->taken && x->low == y->low);
    assert_true(x->promoted == y->promoted && isfinite(x->loss));
  }
  assert_true(memcmp(&a->seen, &b->seen, sizeof a->seen) == 0);
}

/* A step with these calls returns HU_E_DEVICE; nothing is updated. */
static inline void step_fails(const hu_trainer_ranks *ranks, const char *const *pairs) {
  hu_trainer *trainer = with(pairs);
  assert_int_equal(hu_trainer_set_ranks(trainer, ranks), HU_OK);
  begin(trainer);
  uint64_t before = hu_trainer_digest(trainer);
  assert_int_equal(hu_trainer_step(trainer, NULL), HU_E_DEVICE);
  assert_true(hu_trainer_digest(trainer) == before && hu_trainer_at(trainer) == 0);
  assert_int_equal(hu_trainer_step(trainer, NULL), HU_E_TRAIN); /* batches and statistics are half-done */
  hu_trainer_free(trainer);
}

/* 1 process and others, up to a 0: every one has what the one process has. Returns the digest. */
static inline uint64_t same_for(const int *sizes, const char *const *pairs) {
  t_seat one, some[RANKS_MAX];
  train_on(1, &one, pairs);
  for (; *sizes; sizes++) {
    train_on(*sizes, some, pairs);
    for (int r = 0; r < *sizes; r++) {
      same_seats(&one, &some[r]);
      free(some[r].state);
    }
  }
  free(one.state);
  return one.digest;
}

#endif
