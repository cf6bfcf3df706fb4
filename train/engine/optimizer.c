/* SPDX-License-Identifier: MIT */
/* The step of an optimizer on any engine: one operator and one rounding after another. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/data.h"
#include "train/engine/engine.h"
#include "train/engine/muon.h"
#include "train/step/optimizer.h"

/* All n numbers, one operator after another; after a failure nothing more is done. */
typedef struct optimizer_job {
  const hu_optimizer *optimizer;
  const hu_optimizer_matrix *matrix;
  float rate, momentum, decay, beta1, beta2, less1, less2, past1, past2, eps, factor;
  int state_is_binary32;
  hu_stream words;
  const float *due; /* by how much each update is multiplied, 0: none is made; NULL: all are made as they are */
  const hu_engine *engine;
  void *self;
  size_t n;
  hu_status status;
} optimizer_job;

static optimizer_job job_of(const hu_engine *engine, void *self, const hu_optimizer_matrix *matrix,
                            const hu_optimizer *optimizer, const hu_optimizer_time *now) {
  optimizer_job job;
  memset(&job, 0, sizeof job);
  job.engine = engine;
  job.self = self;
  job.matrix = matrix;
  job.n = matrix->rows * matrix->cols;
  job.optimizer = optimizer;
  job.rate = (float)hui_optimizer_scalar(optimizer, hui_optimizer_rate(optimizer, now));
  job.momentum = (float)hui_optimizer_scalar(optimizer, optimizer->momentum);
  job.decay = (float)hui_optimizer_scalar(optimizer, optimizer->decay);
  job.beta1 = (float)hui_optimizer_scalar(optimizer, optimizer->beta1);
  job.beta2 = (float)hui_optimizer_scalar(optimizer, optimizer->beta2);
  job.less1 = (float)hui_optimizer_scalar(optimizer, 1 - (double)job.beta1);
  job.less2 = (float)hui_optimizer_scalar(optimizer, 1 - (double)job.beta2);
  job.past1 = (float)hui_optimizer_scalar(optimizer, 1 - now->power1);
  job.past2 = (float)hui_optimizer_scalar(optimizer, 1 - now->power2);
  job.eps = (float)hui_optimizer_scalar(optimizer, optimizer->eps);
  job.factor = (float)hui_optimizer_scalar(optimizer, hui_muon_factor(matrix, optimizer->aspect));
  job.state_is_binary32 = hu_format_equal(optimizer->state, hu_binary32());
  return job;
}

static void each(optimizer_job *job, int kernel, float *z, const float *a, const float *b, float p) {
  hu_task task = hui_task_of(1, job->n, z, a, b);
  task.p = p;
  if (job->status == HU_OK) job->status = job->engine->run(job->self, kernel, &task);
}

static void rounded(optimizer_job *job, float *x, hu_format format, hu_mode mode, hu_stream words) {
  if (job->status == HU_OK) job->status = job->engine->quantize(job->self, job->n, x, format, mode, words);
}

static void nearest(optimizer_job *job, float *x, hu_format format) {
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  rounded(job, x, format, rne, none);
}

/* Rounds an intermediate result by Q; with a binary32 state nothing is left to do. */
static void q(optimizer_job *job, float *x) {
  if (!job->state_is_binary32) nearest(job, x, job->optimizer->state);
}

/* z = Q(a op b), or of a and a number p */
static void does(optimizer_job *job, int kernel, float *z, const float *a, const float *b, float p) {
  each(job, kernel, z, a, b, p);
  q(job, z);
}

/* D, M and the storage of moments, whose words are streams of their own: a child of the key alone, so that a piece of a
 * tensor, which begins at another counter, has the words that it has in the whole. */
enum { WORDS_OF_DECAY = 1, WORDS_OF_MOMENTUM = 2, WORDS_OF_STORED_M = 3, WORDS_OF_STORED_V = 4 };

static hu_stream child_of(hu_stream words, uint64_t child) {
  hu_stream key = {words.key, 0};
  hu_stream own = hu_stream_child(key, child);
  own.counter += words.counter;
  return own;
}

static void by_mode(optimizer_job *job, float *x, hu_mode mode, uint64_t child) {
  rounded(job, x, job->optimizer->state, mode, child_of(job->words, child));
}

/* z = D(x + Q(decay w)) */
static void decayed(optimizer_job *job, float *z, const float *x, const float *w, float *buffer) {
  does(job, HU_RUN_SCALE, buffer, w, NULL, job->decay);
  each(job, HU_RUN_ADD, z, x, buffer, 0);
  const hu_mode mode = job->optimizer->mode_decay;
  int done = job->state_is_binary32 && !mode.saturate && !mode.tiny && !mode.nan;
  if (!done) by_mode(job, z, mode, WORDS_OF_DECAY);
}

/* z = Q(Q(a z) + y), by a mode; where no update is made z stays. */
static void moving(optimizer_job *job, float *z, float a, const float *y, float *buffer, hu_mode mode) {
  float *sum = job->due ? buffer : z;
  does(job, HU_RUN_SCALE, buffer, z, NULL, a);
  each(job, HU_RUN_ADD, sum, buffer, y, 0);
  by_mode(job, sum, mode, WORDS_OF_MOMENTUM);
  if (job->due) each(job, HU_RUN_DUE_TAKE, z, buffer, job->due, 0);
}

/* Computes Q(g + Q(momentum m)) of the new m, where Nesterov's momentum looks. */
static const float *ahead(optimizer_job *job, float *const buffer[4], const float *m, const float *g) {
  does(job, HU_RUN_SCALE, buffer[2], m, NULL, job->momentum);
  does(job, HU_RUN_ADD, buffer[1], g, buffer[2], 0);
  return buffer[1];
}

/* Returns d of a gradient g; the momentum moves. */
static const float *direction(optimizer_job *job, float *const buffer[4], float *m, const float *g) {
  if (!m) return g;
  moving(job, m, job->momentum, g, buffer[2], job->optimizer->mode_momentum);
  return job->optimizer->nesterov ? ahead(job, buffer, m, g) : m;
}

/* Computes u, or with `fused` d, into buffer[0]. */
static void sgd(optimizer_job *job, float *const buffer[4], const hu_optimizer_arrays *arrays) {
  const float *g = arrays->g;
  if (job->decay != 0) {
    decayed(job, buffer[1], g, arrays->w, buffer[2]);
    g = buffer[1];
  }
  g = direction(job, buffer, arrays->m, g);
  if (job->optimizer->fused) {
    each(job, HU_RUN_COPY, buffer[0], g, NULL, 0);
  } else {
    does(job, HU_RUN_SCALE, buffer[0], g, NULL, job->rate);
  }
}

/* Divides the first moment by the root of the second one, both corrected or not, into buffer[0]. */
static void quotient(optimizer_job *job, float *const buffer[4], const hu_optimizer_arrays *arrays) {
  const int inside = job->optimizer->correction == HU_ADAM_INSIDE;
  float *t = buffer[1], *d = buffer[2];
  if (inside) does(job, HU_RUN_OVER, d, arrays->v, NULL, job->past2);
  does(job, HU_RUN_ROOT, d, inside ? d : arrays->v, NULL, 0);
  does(job, HU_RUN_PLUS, d, d, NULL, job->eps);
  if (inside) does(job, HU_RUN_OVER, t, arrays->m, NULL, job->past1);
  does(job, HU_RUN_DIVIDE, buffer[0], inside ? t : arrays->m, d, 0);
}

/* Computes u into buffer[0]. */
static void adamw(optimizer_job *job, float *const buffer[4], const hu_optimizer_arrays *arrays) {
  const float *g = arrays->g;
  float *u = buffer[0], *t = buffer[1], *d = buffer[2];
  if (job->optimizer->coupled && job->decay != 0) {
    decayed(job, buffer[3], g, arrays->w, d);
    g = buffer[3];
  }
  does(job, HU_RUN_SCALE, t, g, NULL, job->less1);
  moving(job, arrays->m, job->beta1, t, d, job->optimizer->mode_momentum);
  does(job, HU_RUN_TIMES, t, g, g, 0);
  does(job, HU_RUN_SCALE, t, t, NULL, job->less2);
  moving(job, arrays->v, job->beta2, t, d, job->optimizer->mode_momentum);
  quotient(job, buffer, arrays);
  if (job->due) does(job, HU_RUN_DUE_TIMES, u, u, job->due, 0);
  if (!job->optimizer->coupled && job->decay != 0) decayed(job, u, u, arrays->w, d);
  does(job, HU_RUN_SCALE, u, u, NULL, job->rate);
}

/* Computes u into buffer[0]. */
static void adagrad(optimizer_job *job, float *const buffer[4], const hu_optimizer_arrays *arrays) {
  const float *g = arrays->g;
  float *u = buffer[0], *d = buffer[2];
  if (job->optimizer->decay != 0) {
    decayed(job, buffer[1], g, arrays->w, d);
    g = buffer[1];
  }
  does(job, HU_RUN_TIMES, d, g, g, 0);
  each(job, HU_RUN_ADD, arrays->v, arrays->v, d, 0);
  nearest(job, arrays->v, job->optimizer->state);
  does(job, HU_RUN_ROOT, d, arrays->v, NULL, 0);
  does(job, HU_RUN_PLUS, d, d, NULL, job->eps);
  does(job, HU_RUN_DIVIDE, u, g, d, 0);
  does(job, HU_RUN_SCALE, u, u, NULL, job->rate);
}

/* Computes u into buffer[0]. */
static void muon(optimizer_job *job, float *const buffer[4], const hu_optimizer_arrays *arrays) {
  float *u = buffer[0];
  each(job, HU_RUN_COPY, u, direction(job, buffer, arrays->m, arrays->g), NULL, 0);
  if (job->status == HU_OK) {
    const hu_muon_call call = {job->engine, job->self, job->matrix, job->optimizer, buffer};
    job->status = hui_muon_orthogonal(&call);
  }
  does(job, HU_RUN_SCALE, u, u, NULL, job->factor);
  if (job->decay != 0) decayed(job, u, u, arrays->w, buffer[2]);
  does(job, HU_RUN_SCALE, u, u, NULL, job->rate);
}

/* ---- the end of the update: u is in buffer[0] ---- */

/* Puts the new weights in their place. */
static void finish_update(optimizer_job *job, float *w, const float *u, const float *s, hu_update_counts *counts) {
  if (counts && job->status == HU_OK) job->status = job->engine->compare(job->self, job->n, u, w, s, counts);
  each(job, HU_RUN_COPY, w, s, NULL, 0);
}

static void subtract(optimizer_job *job, float *w, float *const buffer[4], hu_stream words, hu_update_counts *counts) {
  float *u = buffer[0], *s = buffer[1];
  if (job->optimizer->fused) {
    each(job, HU_RUN_FUSED, s, u, w, -job->rate);
  } else {
    each(job, HU_RUN_MINUS, s, w, u, 0);
  }
  rounded(job, s, job->optimizer->weight, job->optimizer->mode, words);
  finish_update(job, w, u, s, counts);
}

static void kahan(optimizer_job *job, float *w, float *c, float *const buffer[4], hu_update_counts *counts) {
  float *u = buffer[0], *y = buffer[1], *s = buffer[2];
  hu_format format = job->optimizer->weight;
  each(job, HU_RUN_NEGATIVE_SUM, y, u, c, 0);
  nearest(job, y, format);
  each(job, HU_RUN_ADD, s, w, y, 0);
  nearest(job, s, format);
  each(job, HU_RUN_MINUS, c, s, w, 0);
  nearest(job, c, format);
  each(job, HU_RUN_MINUS, c, c, y, 0);
  nearest(job, c, format);
  finish_update(job, w, u, s, counts);
}

/* Computes the weights and their state from the numbers of the job. */
static void make_step(optimizer_job *job, const hu_optimizer_arrays *arrays, hu_stream words, float *const buffer[4],
                      hu_update_counts *counts) {
  job->words = words;
  if (job->optimizer->kind == HU_ADAMW) {
    adamw(job, buffer, arrays);
  } else if (job->optimizer->kind == HU_ADAGRAD) {
    adagrad(job, buffer, arrays);
  } else if (job->optimizer->kind == HU_MUON) {
    muon(job, buffer, arrays);
  } else {
    sgd(job, buffer, arrays);
  }
  if (job->optimizer->update == HU_UPDATE_KAHAN) {
    kahan(job, arrays->w, arrays->c, buffer, counts);
  } else {
    subtract(job, arrays->w, buffer, words, counts);
  }
}

hu_status hui_optimizer_step_on(const hu_engine *engine, void *self, const hu_optimizer_matrix *matrix,
                                const hu_optimizer_arrays *arrays, const hu_optimizer *optimizer,
                                const hu_optimizer_time *now, hu_stream words, float *const buffer[4],
                                hu_update_counts *counts) {
  optimizer_job job = job_of(engine, self, matrix, optimizer, now);
  make_step(&job, arrays, words, buffer, counts);
  return job.status;
}

/* ---- what is kept until the next step ---- */

hu_status hui_optimizer_store(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *arrays,
                              const hu_optimizer *optimizer, hu_stream words, hu_rounding_counts *moments) {
  const hu_rounding *m = &optimizer->stored_m, *v = &optimizer->stored_v;
  hu_status status = HU_OK;
  if (arrays->m && m->kind != HU_ROUND_KEEP)
    status = engine->round(self, 1, n, arrays->m, arrays->m, m, child_of(words, WORDS_OF_STORED_M), moments);
  if (status == HU_OK && arrays->v && v->kind != HU_ROUND_KEEP)
    status = engine->round(self, 1, n, arrays->v, arrays->v, v, child_of(words, WORDS_OF_STORED_V),
                           moments ? moments + 1 : NULL);
  return status;
}

/* ---- with a period for each weight ---- */

hu_status hui_optimizer_step_ramped(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *arrays,
                                    const hu_optimizer *optimizer, const hu_optimizer_time *now, hu_stream words,
                                    float *const buffer[4], const hu_ramping *ramping, hu_update_counts *counts) {
  const hu_optimizer_matrix row = {1, n, 0};
  optimizer_job job = job_of(engine, self, &row, optimizer, now);
  hu_task task = hui_task_of(1, n, NULL, NULL, NULL);
  hu_optimizer_arrays with = *arrays;
  if (optimizer->kind != HU_ADAMW) return HU_E_TRAIN;
  each(&job, HU_RUN_PLUS, ramping->steps, ramping->steps, NULL, 1);
  each(&job, HU_RUN_ADD, ramping->sum, ramping->sum, arrays->g, 0);
  const hu_due_task due = {ramping->steps, ramping->period, ramping->sum, ramping->due, ramping->mean};
  task.due = due;
  if (job.status == HU_OK) job.status = engine->run(self, HU_RUN_DUE, &task);
  job.due = ramping->due;
  with.g = ramping->mean;
  make_step(&job, &with, words, buffer, counts);
  each(&job, HU_RUN_FILL, buffer[0], NULL, NULL, 0);
  each(&job, HU_RUN_DUE_TAKE, ramping->sum, buffer[0], ramping->due, 0);
  each(&job, HU_RUN_DUE_TAKE, ramping->steps, buffer[0], ramping->due, 0);
  return job.status;
}
