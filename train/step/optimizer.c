/* SPDX-License-Identifier: MIT */
/* Optimizers: one operator and one rounding after another; on the processor in pieces that stay in the first-level
 * cache. */
#include "halfulp/train/optimizer.h"

#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "train/engine/cpu.h"
#include "train/environment.h"

enum { PIECE = 1024 };

static hu_optimizer usual(hu_format f) {
  hu_optimizer o;
  memset(&o, 0, sizeof o);
  o.state = o.weight = f;
  return o;
}

hu_optimizer hu_optimizer_sgd(hu_format f) {
  hu_optimizer o = usual(f);
  o.rate = 0.01;
  o.momentum = 0.9;
  return o;
}

hu_optimizer hu_optimizer_adamw(hu_format f) {
  hu_optimizer o = usual(f);
  o.kind = HU_ADAMW;
  o.rate = 0.001;
  o.beta1 = 0.9;
  o.beta2 = 0.999;
  o.eps = 1e-8;
  return o;
}

/* ---- what is refused ---- */

static double scalar(const hu_optimizer *o, double x) {
  const hu_mode rne = {0};
  return hu_decode64(o->state, hu_encode64(o->state, rne, x, 0, NULL));
}

/* From 0 to below 1, also when rounded. */
static int forgets(const hu_optimizer *o, double x) { return x >= 0 && x < 1 && scalar(o, x) < 1; }

static int some(double x) { return x >= 0 && x < INFINITY; }

static const char *wrong(const hu_optimizer *o) {
  if (o->kind > HU_ADAMW) return "kind: unknown";
  if (o->update > HU_UPDATE_KAHAN) return "update: unknown";
  if (o->coupled > (o->kind == HU_ADAMW)) return "coupled: of AdamW alone";
  if (o->fused > (o->kind == HU_SGD && o->update == HU_UPDATE_ROUND)) return "fused: of SGD without Kahan terms alone";
  if (o->update == HU_UPDATE_KAHAN && (o->mode.round || o->mode.saturate || o->mode.tiny || o->mode.nan)) {
    return "mode: Kahan summation rounds to nearest even";
  }
  if (!some(o->rate)) return "rate: negative or not finite";
  if (!some(o->decay)) return "decay: negative or not finite";
  if (o->kind == HU_SGD && !forgets(o, o->momentum)) return "momentum: not from 0 to below 1 in the state's format";
  if (o->kind == HU_SGD) return NULL;
  if (!forgets(o, o->beta1)) return "beta1: not from 0 to below 1 in the state's format";
  if (!forgets(o, o->beta2)) return "beta2: not from 0 to below 1 in the state's format";
  if (!some(o->eps)) return "eps: negative or not finite";
  return NULL;
}

static HU_NOINLINE hu_status check(const hu_optimizer *o, const char **why) {
  const char *ignored;
  if (!why) why = &ignored;
  if (!o) return HU_E_NULL;
  hu_status s = hu_format_check(o->state, why);
  if (s == HU_OK) s = hu_format_check(o->weight, why);
  if (s != HU_OK) return s;
  *why = "state, weight: not signed, or with values that binary32 lacks";
  if (!o->state.sign || !o->weight.sign) return HU_E_FORMAT;
  if (!hu_format_fits_binary32(o->state) || !hu_format_fits_binary32(o->weight)) return HU_E_CARRIER;
  *why = "mode: unknown";
  if (hu_mode_check(o->mode) != HU_OK) return HU_E_MODE;
  const char *what = wrong(o);
  if (what) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

hu_status hu_optimizer_check(const hu_optimizer *o, const char **why) { HU_ENV_RETURN(hu_status, check(o, why)); }

/* ---- operators ---- */

/* All n numbers, one operator after another; after a failure nothing more is done. */
typedef struct job {
  const hu_optimizer *o;
  float rate, momentum, decay, beta1, beta2, less1, less2, past1, past2, eps;
  int state_is_binary32;
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
  j.rate = (float)scalar(o, o->rate);
  j.momentum = (float)scalar(o, o->momentum);
  j.decay = (float)scalar(o, o->decay);
  j.beta1 = (float)scalar(o, o->beta1);
  j.beta2 = (float)scalar(o, o->beta2);
  j.less1 = (float)scalar(o, 1 - (double)j.beta1);
  j.less2 = (float)scalar(o, 1 - (double)j.beta2);
  j.past1 = (float)scalar(o, 1 - now->power1);
  j.past2 = (float)scalar(o, 1 - now->power2);
  j.eps = (float)scalar(o, o->eps);
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

/* z = Q(x + Q(decay w)) */
static void decayed(job *j, float *z, const float *x, const float *w, float *room) {
  does(j, HU_RUN_SCALE, room, w, NULL, j->decay);
  does(j, HU_RUN_ADD, z, x, room, 0);
}

/* z = Q(Q(a z) + y) */
static void moving(job *j, float *z, float a, const float *y, float *room) {
  does(j, HU_RUN_SCALE, room, z, NULL, a);
  each(j, HU_RUN_ADD, z, room, y, 0);
  nearest(j, z, j->o->state);
}

/* u, or with `fused` m, into room[0] */
static void sgd(job *j, float *const room[4], const hu_optimizer_arrays *x) {
  const float *g = x->g;
  if (j->decay != 0) {
    decayed(j, room[1], g, x->w, room[2]);
    g = room[1];
  }
  if (x->m) {
    moving(j, x->m, j->momentum, g, room[2]);
    g = x->m;
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
  moving(j, x->m, j->beta1, t, d);
  does(j, HU_RUN_TIMES, t, g, g, 0);
  does(j, HU_RUN_SCALE, t, t, NULL, j->less2);
  moving(j, x->v, j->beta2, t, d);
  does(j, HU_RUN_OVER, d, x->v, NULL, j->past2);
  does(j, HU_RUN_ROOT, d, d, NULL, 0);
  does(j, HU_RUN_PLUS, d, d, NULL, j->eps);
  does(j, HU_RUN_OVER, t, x->m, NULL, j->past1);
  does(j, HU_RUN_DIVIDE, u, t, d, 0);
  if (!j->o->coupled && j->decay != 0) decayed(j, u, u, x->w, d);
  does(j, HU_RUN_SCALE, u, u, NULL, j->rate);
}

/* ---- the end of the update: u is in room[0] ---- */

/* The new weights s take their place. */
static void settle(job *j, float *w, const float *u, const float *s, hu_update_counts *counts) {
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
  settle(j, w, u, s, counts);
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
  settle(j, w, u, s, counts);
}

hu_status hu_optimizer_step_on(const hu_engine *engine, void *self, size_t n, const hu_optimizer_arrays *x,
                               const hu_optimizer *o, const hu_optimizer_time *now, hu_stream words,
                               float *const room[4], hu_update_counts *counts) {
  job j = job_of(engine, self, n, o, now);
  if (o->kind == HU_ADAMW) {
    adamw(&j, room, x);
  } else {
    sgd(&j, room, x);
  }
  if (o->update == HU_UPDATE_KAHAN) {
    kahan(&j, x->w, x->c, room, counts);
  } else {
    subtract(&j, x->w, room, words, counts);
  }
  return j.status;
}

/* ---- calls ---- */

static HU_NOINLINE void tick(hu_optimizer_time *now, const hu_optimizer *o) {
  now->t++;
  now->power1 *= scalar(o, o->beta1);
  now->power2 *= scalar(o, o->beta2);
}

void hu_optimizer_tick(hu_optimizer_time *now, const hu_optimizer *o) { HU_ENV_DO(tick(now, o)); }

static hu_status check_arrays(const hu_optimizer_arrays *x, const hu_optimizer *o) {
  int adam = o->kind == HU_ADAMW;
  if (!x || !x->w || !x->g) return HU_E_NULL;
  if (!x->m != !(adam || o->momentum != 0) || !x->v != !adam) return HU_E_NULL;
  return !x->c != !(o->update == HU_UPDATE_KAHAN) ? HU_E_NULL : HU_OK;
}

static hu_optimizer_arrays part_of(const hu_optimizer_arrays *x, size_t at) {
  hu_optimizer_arrays p = *x;
  p.w += at;
  p.g += at;
  if (p.m) p.m += at;
  if (p.v) p.v += at;
  if (p.c) p.c += at;
  return p;
}

static HU_NOINLINE hu_status step(size_t n, const hu_optimizer_arrays *x, const hu_optimizer *o,
                                  const hu_optimizer_time *now, hu_stream stream, hu_update_counts *counts) {
  hu_status s = hu_optimizer_check(o, NULL);
  if (s == HU_OK && !now) s = HU_E_NULL;
  if (s == HU_OK) s = check_arrays(x, o);
  if (s == HU_OK && now->t == 0) s = HU_E_SHAPE;
  if (s != HU_OK) return s;
  hu_cpu cpu = hu_cpu_alone();
  float rooms[4][PIECE], *const room[4] = {rooms[0], rooms[1], rooms[2], rooms[3]};
  for (size_t at = 0; at < n && s == HU_OK; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    hu_optimizer_arrays p = part_of(x, at);
    hu_stream words = {stream.key, stream.counter + at};
    s = hu_optimizer_step_on(hu_engine_cpu(), &cpu, piece, &p, o, now, words, room, counts);
  }
  return s;
}

hu_status hu_optimizer_step(size_t n, const hu_optimizer_arrays *x, const hu_optimizer *o, const hu_optimizer_time *now,
                            hu_stream stream, hu_update_counts *counts) {
  HU_ENV_RETURN(hu_status, step(n, x, o, now, stream, counts));
}

size_t hu_optimizer_bytes(const hu_optimizer *o) {
  if (hu_optimizer_check(o, NULL) != HU_OK) return 0;
  size_t state = hu_format_limits(o->state).storage / 8, weight = hu_format_limits(o->weight).storage / 8;
  size_t states = o->kind == HU_ADAMW ? 2 : o->momentum != 0;
  return weight * (1 + (o->update == HU_UPDATE_KAHAN)) + state * states;
}
