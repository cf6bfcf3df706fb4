/* SPDX-License-Identifier: MIT */
/* Q-Ramping: trial steps that find out which weights oscillate, and the periods of their updates (halfulp/train/
 * trainer.h). train/engine/optimizer.c makes the updates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* Numbers of a tensor of weights that a trial keeps: W and Q(W) now and a step before, and how far both have moved. */
enum { W_NOW, Q_NOW, W_BEFORE, Q_BEFORE, W_MOVED, Q_MOVED, ROOMS };

/* A weight waits for less than two periods, and HU_RUN_DUE takes counts below 2^23. */
enum { LONGEST = 1 << 22 };

typedef struct hu_watched {
  int parameter, op; /* the weights, and the first product that reads them */
  size_t rows, cols;
  float *room; /* ROOMS times rows x cols */
} hu_watched;

/* ---- before the run ---- */

static int has_words(const hu_rounding *r) { return r->mode.bits != 0; }

/* Why the keys do not go with ramping; NULL: they do. */
static const char *refused(const hu_run_keys *k) {
  if (k->optimizer != HU_ADAMW) return "wants optimizer.kind = adamw";
  if (k->assignment != ASSIGN_NONE) return "does not go with assignment.kind";
  if (k->feedback != FEEDBACK_NONE) return "does not go with parallel.feedback";
  if (k->history) return "does not go with precision.history";
  if (has_words(&k->w)) return "wants a precision.w without random bits";
  return NULL;
}

/* The first product that rounds a parameter as its W; -1: none does. */
static int product_of(const hu_net *net, int parameter) {
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    if (op->kind->product && op->theta[0] == parameter && op->rounding.w.kind != HU_ROUND_KEEP) return i;
  }
  return -1;
}

static float *allocated(hu_net *net, size_t n) { return net->engine->allocate(net->self, (n ? n : 1) * sizeof(float)); }

/* Periods of 1, and nothing that waits. */
static hu_status ramp(hu_net *net, hu_parameter *p) {
  size_t n = p->rows * p->cols;
  float **all[] = {&p->ramping.period, &p->ramping.steps, &p->ramping.sum, &p->ramping.due, &p->ramping.mean};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    *all[i] = allocated(net, n);
    if (!*all[i]) return HU_E_MEMORY;
  }
  net->fault = HU_OK;
  hu_do_fill(net, n, p->ramping.period, 1);
  return hu_done(net);
}

static hu_status watch(hu_trainer *t, int parameter, int op) {
  hu_trial *z = &t->trial;
  hu_parameter *p = &t->net->parameter[parameter];
  hu_watched *more = realloc(z->watched, (z->count + 1) * sizeof *more);
  if (!more) return HU_E_MEMORY;
  z->watched = more;
  hu_watched *w = &z->watched[z->count++];
  *w = (hu_watched){parameter, op, p->rows, p->cols, NULL};
  size_t n = p->rows * p->cols;
  w->room = malloc((n ? n : 1) * ROOMS * sizeof *w->room);
  return w->room ? ramp(t->net, p) : HU_E_MEMORY;
}

hu_status hu_make_ramping(hu_trainer *t, char *why) {
  if (!t->keys.ramping) return HU_OK;
  const char *what = refused(&t->keys);
  if (what) return hu_say(why, HU_E_TRAIN, "optimizer.ramping: %s", what);
  hu_status s = HU_OK;
  for (int i = 0; i < t->net->parameters && s == HU_OK; i++) {
    int op = product_of(t->net, i);
    if (op >= 0) s = watch(t, i, op);
  }
  if (s == HU_OK && !t->trial.count)
    return hu_say(why, HU_E_TRAIN,
                  "optimizer.ramping: no weights of products are rounded: wants precision.w (precision.system = "
                  "tetrajet)");
  return s;
}

void hu_close_ramping(hu_trainer *t) {
  for (size_t i = 0; i < t->trial.count; i++) free(t->trial.watched[i].room);
  free(t->trial.watched);
  free(t->trial.state);
  free(t->trial.text);
  memset(&t->trial, 0, sizeof t->trial);
}

int hu_wants_trial(const hu_trainer *t) { return t->trial.count && t->step % t->steps_an_epoch == 0; }

/* ---- a trial: the run's state is kept, and comes back ---- */

static hu_status keep_state(hu_trainer *t) {
  size_t numbers = 0, at = 0, length = hu_trainer_state(t, NULL, 0);
  for (size_t i = 0; i < hu_trainer_tensor_count(t); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(t, i);
    numbers += x.rows * x.cols;
  }
  t->trial.state = malloc((numbers ? numbers : 1) * sizeof *t->trial.state);
  t->trial.text = malloc(length + 1);
  if (!t->trial.state || !t->trial.text) return HU_E_MEMORY;
  (void)hu_trainer_state(t, t->trial.text, length + 1);
  hu_status s = HU_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(t) && s == HU_OK; i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(t, i);
    s = hu_trainer_read(t, i, t->trial.state + at);
    at += x.rows * x.cols;
  }
  return s;
}

static hu_status restore_state(hu_trainer *t) {
  size_t at = 0;
  hu_status s = HU_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(t) && s == HU_OK; i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(t, i);
    s = hu_trainer_write(t, i, t->trial.state + at);
    at += x.rows * x.cols;
  }
  if (s == HU_OK) s = hu_trainer_resume(t, t->trial.text, NULL);
  free(t->trial.state);
  free(t->trial.text);
  t->trial.state = NULL;
  t->trial.text = NULL;
  return s;
}

/* Updates are ordinary ones, or have their periods. */
static void set_off(hu_trainer *t, int off) {
  for (size_t i = 0; i < t->trial.count; i++) t->net->parameter[t->trial.watched[i].parameter].ramping.off = off;
}

hu_status hu_begin_trial(hu_trainer *t) {
  t->trial.steps = 0;
  set_off(t, 1);
  return keep_state(t);
}

static void move(size_t n, float *moved, const float *now, const float *before) {
  for (size_t i = 0; i < n; i++) moved[i] += fabsf(now[i] - before[i]);
}

static hu_status look_at(hu_trainer *t, hu_watched *w) {
  const hu_parameter *p = &t->net->parameter[w->parameter];
  const hu_rounding *r = &t->net->op[w->op].rounding.w;
  size_t n = w->rows * w->cols;
  float *room[ROOMS];
  for (size_t i = 0; i < ROOMS; i++) room[i] = w->room + i * n;
  t->net->fault = HU_OK;
  hu_do_get(t->net, room[W_NOW], p->master, n * sizeof **room);
  hu_status s = hu_done(t->net);
  if (s == HU_OK) s = hu_rounding_apply(w->rows, w->cols, room[Q_NOW], room[W_NOW], r, NULL, NULL);
  if (t->trial.steps == 0) {
    memset(room[W_MOVED], 0, 2 * n * sizeof **room);
  } else {
    move(n, room[W_MOVED], room[W_NOW], room[W_BEFORE]);
    move(n, room[Q_MOVED], room[Q_NOW], room[Q_BEFORE]);
  }
  memcpy(room[W_BEFORE], room[W_NOW], 2 * n * sizeof **room);
  return s;
}

hu_status hu_look_at_trial(hu_trainer *t) {
  hu_status s = HU_OK;
  for (size_t i = 0; i < t->trial.count && s == HU_OK; i++) s = look_at(t, &t->trial.watched[i]);
  t->trial.steps++;
  return s;
}

/* ---- its result ---- */

/* The whole number at or below a / b. A quotient of two numbers of 24 digits that is below 2^24 and not a whole number
 * is at least 2^-48 of itself away from one, and binary64 does not round so far. */
static double whole_quotient(float a, float b) { return floor((double)a / (double)b); }

static float period_of(const hu_trainer *t, float w_moved, float q_moved) {
  const hu_run_keys *k = &t->keys;
  double longest = (double)(t->steps_an_epoch < LONGEST ? t->steps_an_epoch : LONGEST);
  double q = whole_quotient(q_moved / (float)k->ramping_ratio, w_moved + 1e-8f), z = q * (double)k->ramping + 1;
  return z >= 1 ? (float)(z < longest ? z : longest) : 1; /* NaN: 1 */
}

static hu_status set_periods(hu_trainer *t, const hu_watched *w) {
  size_t n = w->rows * w->cols;
  float *z = w->room; /* in the place of W_NOW */
  for (size_t i = 0; i < n; i++) z[i] = period_of(t, w->room[W_MOVED * n + i], w->room[Q_MOVED * n + i]);
  t->net->fault = HU_OK;
  hu_do_put(t->net, t->net->parameter[w->parameter].ramping.period, z, n * sizeof *z);
  return hu_done(t->net);
}

hu_status hu_end_trial(hu_trainer *t) {
  hu_status s = restore_state(t);
  for (size_t i = 0; i < t->trial.count && s == HU_OK; i++) s = set_periods(t, &t->trial.watched[i]);
  set_off(t, 0);
  return s;
}
