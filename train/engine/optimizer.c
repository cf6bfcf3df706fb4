/* SPDX-License-Identifier: MIT */
/* The step of an optimizer on any engine: one operator and one rounding after another. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/data.h"
#include "train/engine/engine.h"
#include "train/step/optimizer.h"

/* All n numbers, one operator after another; after a failure nothing more is done. */
typedef struct job {
  const hu_optimizer *o;
  float rate, momentum, decay, beta1, beta2, less1, less2, past1, past2, eps;
  int state_is_binary32;
  hu_stream words;
  const float *due; /* by how much each update is multiplied, 0: none is made; NULL: all are made as they are */
  const hu_engine *engine;
  void *self;
  size_t n;
  hu_status status;
} job;

static job job_of(const hu_engine *engine, void *self, size_t n, const hu_optimizer *o, const hu_optimizer_time *now) {
  job j;
  memset(&j, 0, sizeof j);
  j.engine = engine;
  j.self = self;
  j.n = n;
  j.o = o;
  j.rate = (float)hu_optimizer_scalar(o, o->rate);
  j.momentum = (float)hu_optimizer_scalar(o, o->momentum);
  j.decay = (float)hu_optimizer_scalar(o, o->decay);
  j.beta1 = (float)hu_optimizer_scalar(o, o->beta1);
  j.beta2 = (float)hu_optimizer_scalar(o, o->beta2);
  j.less1 = (float)hu_optimizer_scalar(o, 1 - (double)j.beta1);
  j.less2 = (float)hu_optimizer_scalar(o, 1 - (double)j.beta2);
  j.past1 = (float)hu_optimizer_scalar(o, 1 - now->power1);
  j.past2 = (float)hu_optimizer_scalar(o, 1 - now->power2);
  j.eps = (float)hu_optimizer_scalar(o, o->eps);
  j.state_is_binary32 = hu_format_equal(o->state, hu_binary32());
  return j;
}

static void each(job *j, int kernel, float *z, const float *a, const float *b, float p) {
  hu_task t = hu_task_of(1, j->n, z, a, b);
  t.p = p;
  if (j->status == HU_OK) j->status = j->engine->run(j->self, kernel, &t);
}

static void rounded(job *j, float *x, hu_format f, hu_mode mode, hu_stream words) {
  if (j->status == HU_OK) j->status = j->engine->quantize(j->self, j->n, x, f, mode, words);
}

static void nearest(job *j, float *x, hu_format f) {
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  rounded(j, x, f, rne, none);
}

/* Q of a result on the way: nothing is left to do in binary32. */
static void q(job *j, float *x) {
  if (!j->state_is_binary32) nearest(j, x, j->o->state);
}

/* z = Q(a op b), or of a and a number p */
static void does(job *j, int kernel, float *z, const float *a, const float *b, float p) {
  each(j, kernel, z, a, b, p);
  q(j, z);
}

/* D and M, whose words are streams of their own: a child of the key alone, so that a piece of a tensor, which begins at
 * another counter, has the words that it has in the whole. */
enum { WORDS_OF_DECAY = 1, WORDS_OF_MOMENTUM = 2 };

static void by_mode(job *j, float *x, hu_mode mode, uint64_t child) {
  hu_stream words = {j->words.key, 0};
  words = hu_stream_child(words, child);
  words.counter += j->words.counter;
  rounded(j, x, j->o->state, mode, words);
}

/* z = D(x + Q(decay w)) */
static void decayed(job *j, float *z, const float *x, const float *w, float *room) {
  does(j, HU_RUN_SCALE, room, w, NULL, j->decay);
  each(j, HU_RUN_ADD, z, x, room, 0);
  const hu_mode mode = j->o->mode_decay;
  int done = j->state_is_binary32 && !mode.saturate && !mode.tiny && !mode.nan;
  if (!done) by_mode(j, z, mode, WORDS_OF_DECAY);
}

/* z = Q(Q(a z) + y), by a mode; where no update is made z stays. */
static void moving(job *j, float *z, float a, const float *y, float *room, hu_mode mode) {
  float *sum = j->due ? room : z;
  does(j, HU_RUN_SCALE, room, z, NULL, a);
  each(j, HU_RUN_ADD, sum, room, y, 0);
  by_mode(j, sum, mode, WORDS_OF_MOMENTUM);
  if (j->due) each(j, HU_RUN_DUE_TAKE, z, room, j->due, 0);
}

/* Q(g + Q(momentum m)), of the new m: where Nesterov's momentum looks. */
static const float *ahead(job *j, float *const room[4], const float *m, const float *g) {
  does(j, HU_RUN_SCALE, room[2], m, NULL, j->momentum);
  does(j, HU_RUN_ADD, room[1], g, room[2], 0);
  return room[1];
}

/* u, or with `fused` d, into room[0] */
static void sgd(job *j, float *const room[4], const hu_optimizer_arrays *x) {
  const float *g = x->g;
  if (j->decay != 0) {
    decayed(j, room[1], g, x->w, room[2]);
    g = room[1];
  }
  if (x->m) {
    moving(j, x->m, j->momentum, g, room[2], j->o->mode_momentum);
    g = j->o->nesterov ? ahead(j, room, x->m, g) : x->m;
  }
  if (j->o->fused) {
    each(j, HU_RUN_COPY, room[0], g, NULL, 0);
  } else {
    does(j, HU_RUN_SCALE, room[0], g, NULL, j->rate);
  }
}

/* u into room[0] */
static void adamw(job *j, float *const room[4], const hu_optimizer_arrays *x) {
  const float *g = x->g;
  float *u = room[0], *t = room[1], *d = room[2];
  if (j->o->coupled && j->decay != 0) {
    decayed(j, room[3], g, x->w, d);
    g = room[3];
  }
  does(j, HU_RUN_SCALE, t, g, NULL, j->less1);
  moving(j, x->m, j->beta1, t, d, j->o->mode_momentum);
  does(j, HU_RUN_TIMES, t, g, g, 0);
  does(j, HU_RUN_SCALE, t, t, NULL, j->less2);
  moving(j, x->v, j->beta2, t, d, j->o->mode_momentum);
  does(j, HU_RUN_OVER, d, x->v, NULL, j->past2);
  does(j, HU_RUN_ROOT, d, d, NULL, 0);
  does(j, HU_RUN_PLUS, d, d, NULL, j->eps);
  does(j, HU_RUN_OVER, t, x->m, NULL, j->past1);
  does(j, HU_RUN_DIVIDE, u, t, d, 0);
  if (j->due) does(j, HU_RUN_DUE_TIMES, u, u, j->due, 0);
  if (!j->o->coupled && j->decay != 0) decayed(j, u, u, x->w, d);
  does(j, HU_RUN_SCALE, u, u, NULL, j->rate);
}

/* u into room[0] */
static void adagrad(job *j, float *const room[4], const hu_optimizer_arrays *x) {
  const float *g = x->g;
  float *u = room[0], *d = room[2];
  if (j->o->decay != 0) {
    decayed(j, room[1], g, x->w, d);
    g = room[1];
  }
  does(j, HU_RUN_TIMES, d, g, g, 0);
  each(j, HU_RUN_ADD, x->v, x->v, d, 0);
  nearest(j, x->v, j->o->state);
  does(j, HU_RUN_ROOT, d, x->v, NULL, 0);
  does(j, HU_RUN_PLUS, d, d, NULL, j->eps);
  does(j, HU_RUN_DIVIDE, u, g, d, 0);
  does(j, HU_RUN_SCALE, u, u, NULL, j->rate);
}

/* ---- the end of the update: u is in room[0] ---- */

/* The new weights s take their place. */
static void finish_update(job *j, float *w, const float *u, const float *s, hu_update_counts *counts) {
  if (counts && j->status == HU_OK) j->status = j->engine->compare(j->self, j->n, u, w, s, counts);
  each(j, HU_RUN_COPY, w, s, NULL, 0);
}

static void subtract(job *j, float *w, float *const room[4], hu_stream words, hu_update_counts *counts) {
  float *u = room[0], *s = room[1];
  if (j->o->fused) {
    each(j, HU_RUN_FUSED, s, u, w, -j->rate);
  } else {
    each(j, HU_RUN_MINUS, s, w, u, 0);
  }
  rounded(j, s, j->o->weight, j->o->mode, words);
  finish_update(j, w, u, s, counts);
}

static void kahan(job *j, float *w, float *c, float *const room[4], hu_update_counts *counts) {
  float *u = room[0], *y = room[1], *s = room[2];
  hu_format f = j->o->weight;
  each(j, HU_RUN_NEGATIVE_SUM, y, u, c, 0);
  nearest(j, y, f);
  each(j, HU_RUN_ADD, s, w, y, 0);
  nearest(j, s, f);
  each(j, HU_RUN_MINUS, c, s, w, 0);
  nearest(j, c, f);
  each(j, HU_RUN_MINUS, c, c, y, 0);
  nearest(j, c, f);
  finish_update(j, w, u, s, counts);
}

/* The weights and their state from the numbers of j. */
static void make_step(job *j, const hu_optimizer_arrays *x, hu_stream words, float *const room[4],
                      hu_update_counts *counts) {
  j->words = words;
  if (j->o->kind == HU_ADAMW) {
    adamw(j, room, x);
  } else if (j->o->kind == HU_ADAGRAD) {
    adagrad(j, room, x);
  } else {
    sgd(j, room, x);
  }
  if (j->o->update == HU_UPDATE_KAHAN) {
    kahan(j, x->w, x->c, room, counts);
  } else {
    subtract(j, x->w, room, words, counts);
  }
}

hu_status hu_optimizer_step_on(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *x,
                               const hu_optimizer *o, const hu_optimizer_time *now, hu_stream words,
                               float *const room[4], hu_update_counts *counts) {
  job j = job_of(engine, self, n, o, now);
  make_step(&j, x, words, room, counts);
  return j.status;
}

/* ---- with a period for each weight ---- */

hu_status hu_optimizer_step_ramped(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *x,
                                   const hu_optimizer *o, const hu_optimizer_time *now, hu_stream words,
                                   float *const room[4], const hu_ramping *r, hu_update_counts *counts) {
  job j = job_of(engine, self, n, o, now);
  hu_task due = hu_task_of(1, n, r->due, r->steps, r->period);
  hu_optimizer_arrays with = *x;
  if (o->kind != HU_ADAMW) return HU_E_TRAIN;
  each(&j, HU_RUN_PLUS, r->steps, r->steps, NULL, 1);
  each(&j, HU_RUN_ADD, r->sum, r->sum, x->g, 0);
  due.c = r->sum;
  due.y = r->mean;
  if (j.status == HU_OK) j.status = engine->run(self, HU_RUN_DUE, &due);
  j.due = r->due;
  with.g = r->mean;
  make_step(&j, &with, words, room, counts);
  each(&j, HU_RUN_FILL, room[0], NULL, NULL, 0);
  each(&j, HU_RUN_DUE_TAKE, r->sum, room[0], r->due, 0);
  each(&j, HU_RUN_DUE_TAKE, r->steps, room[0], r->due, 0);
  return j.status;
}
