/* SPDX-License-Identifier: MIT */
/* Q-Ramping: trial steps that find out which weights oscillate, and the periods of their updates (halfulp/train/
 * trainer.h). train/engine/optimizer.c makes the updates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* Numbers of a tensor of weights that a trial keeps: W and Q(W) now and a step before, and how far both have moved. */
enum { W_NOW, Q_NOW, W_BEFORE, Q_BEFORE, W_MOVED, Q_MOVED, BUFFERS };

/* A weight waits for less than two periods, and HU_RUN_DUE takes counts below 2^23. */
enum { LONGEST = 1 << 22 };

typedef struct hu_watched {
  int parameter, op; /* the weights, and the first product that reads them */
  size_t rows, cols;
  float *buffer; /* BUFFERS times rows x cols */
} hu_watched;

/* ---- before the run ---- */

static int has_words(const hu_rounding *rounding) { return rounding->mode.bits != 0; }

/* Why the keys do not go with ramping; NULL: they do. */
static const char *refused(const hu_run_keys *keys) {
  if (keys->optimizer != HU_ADAMW) return "requires optimizer.kind = adamw";
  if (keys->assignment != ASSIGN_NONE) return "does not go with assignment.kind";
  if (keys->feedback != FEEDBACK_NONE) return "does not go with parallel.feedback";
  if (keys->history) return "does not go with precision.history";
  if (keys->stored_m.kind != HU_ROUND_KEEP || keys->stored_v.kind != HU_ROUND_KEEP)
    return "does not go with optimizer.stored_m or optimizer.stored_v";
  if (has_words(&keys->w)) return "requires a precision.w without random bits";
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

/* Sets periods of 1, with nothing that waits. */
static hu_status ramp(hu_net *net, hu_parameter *parameter) {
  size_t n = parameter->rows * parameter->cols;
  float **all[] = {&parameter->ramping.period, &parameter->ramping.steps, &parameter->ramping.sum,
                   &parameter->ramping.due, &parameter->ramping.mean};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    *all[i] = allocated(net, n);
    if (!*all[i]) return HU_E_MEMORY;
  }
  net->fault = HU_OK;
  hui_do_fill(net, n, parameter->ramping.period, 1);
  return hui_done(net);
}

static hu_status watch(hu_trainer *trainer, int parameter, int op) {
  hu_trial *trial = &trainer->trial;
  hu_parameter *weights = &trainer->net->parameter[parameter];
  hu_watched *more = realloc(trial->watched, (trial->count + 1) * sizeof *more);
  if (!more) return HU_E_MEMORY;
  trial->watched = more;
  hu_watched *watched = &trial->watched[trial->count++];
  *watched = (hu_watched){parameter, op, weights->rows, weights->cols, NULL};
  size_t n = weights->rows * weights->cols;
  watched->buffer = malloc((n ? n : 1) * BUFFERS * sizeof *watched->buffer);
  return watched->buffer ? ramp(trainer->net, weights) : HU_E_MEMORY;
}

hu_status hui_make_ramping(hu_trainer *trainer, char *why) {
  if (!trainer->keys.ramping) return HU_OK;
  const char *what = refused(&trainer->keys);
  if (what) return hui_say(why, HU_E_TRAIN, "optimizer.ramping: %s", what);
  hu_status status = HU_OK;
  for (int i = 0; i < trainer->net->parameters && status == HU_OK; i++) {
    int op = product_of(trainer->net, i);
    if (op >= 0) status = watch(trainer, i, op);
  }
  if (status == HU_OK && !trainer->trial.count)
    return hui_say(why, HU_E_TRAIN,
                   "optimizer.ramping: no weights of products are rounded: it requires precision.w (precision.system = "
                   "tetrajet)");
  return status;
}

void hui_close_ramping(hu_trainer *trainer) {
  for (size_t i = 0; i < trainer->trial.count; i++) free(trainer->trial.watched[i].buffer);
  free(trainer->trial.watched);
  free(trainer->trial.state);
  free(trainer->trial.text);
  memset(&trainer->trial, 0, sizeof trainer->trial);
}

int hui_trial_is_due(const hu_trainer *trainer) {
  return trainer->trial.count && trainer->step % trainer->steps_an_epoch == 0;
}

/* ---- a trial: the run's state is kept, and comes back ---- */

static hu_status keep_state(hu_trainer *trainer) {
  size_t numbers = 0, at = 0, length = hu_trainer_state(trainer, NULL, 0);
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    numbers += tensor.rows * tensor.cols;
  }
  trainer->trial.state = malloc((numbers ? numbers : 1) * sizeof *trainer->trial.state);
  trainer->trial.text = malloc(length + 1);
  if (!trainer->trial.state || !trainer->trial.text) return HU_E_MEMORY;
  (void)hu_trainer_state(trainer, trainer->trial.text, length + 1);
  hu_status status = HU_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && status == HU_OK; i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    status = hu_trainer_read(trainer, i, trainer->trial.state + at);
    at += tensor.rows * tensor.cols;
  }
  return status;
}

static hu_status restore_state(hu_trainer *trainer) {
  size_t at = 0;
  hu_status status = HU_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && status == HU_OK; i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    status = hu_trainer_write(trainer, i, trainer->trial.state + at);
    at += tensor.rows * tensor.cols;
  }
  if (status == HU_OK) status = hu_trainer_resume(trainer, trainer->trial.text, NULL);
  free(trainer->trial.state);
  free(trainer->trial.text);
  trainer->trial.state = NULL;
  trainer->trial.text = NULL;
  return status;
}

/* Updates are ordinary ones, or have their periods. */
static void set_off(hu_trainer *trainer, int off) {
  for (size_t i = 0; i < trainer->trial.count; i++)
    trainer->net->parameter[trainer->trial.watched[i].parameter].ramping.off = off;
}

hu_status hui_begin_trial(hu_trainer *trainer) {
  trainer->trial.steps = 0;
  set_off(trainer, 1);
  return keep_state(trainer);
}

static void move(size_t n, float *moved, const float *now, const float *before) {
  for (size_t i = 0; i < n; i++) moved[i] += fabsf(now[i] - before[i]);
}

static hu_status look_at(hu_trainer *trainer, hu_watched *watched) {
  const hu_parameter *parameter = &trainer->net->parameter[watched->parameter];
  const hu_rounding *rounding = &trainer->net->op[watched->op].rounding.w;
  size_t n = watched->rows * watched->cols;
  float *buffer[BUFFERS];
  for (size_t i = 0; i < BUFFERS; i++) buffer[i] = watched->buffer + i * n;
  trainer->net->fault = HU_OK;
  hui_do_get(trainer->net, buffer[W_NOW], parameter->master, n * sizeof **buffer);
  hu_status status = hui_done(trainer->net);
  if (status == HU_OK)
    status = hu_rounding_apply(watched->rows, watched->cols, buffer[Q_NOW], buffer[W_NOW], rounding, NULL, NULL);
  if (trainer->trial.steps == 0) {
    memset(buffer[W_MOVED], 0, 2 * n * sizeof **buffer);
  } else {
    move(n, buffer[W_MOVED], buffer[W_NOW], buffer[W_BEFORE]);
    move(n, buffer[Q_MOVED], buffer[Q_NOW], buffer[Q_BEFORE]);
  }
  memcpy(buffer[W_BEFORE], buffer[W_NOW], 2 * n * sizeof **buffer);
  return status;
}

hu_status hui_look_at_trial(hu_trainer *trainer) {
  hu_status status = HU_OK;
  for (size_t i = 0; i < trainer->trial.count && status == HU_OK; i++)
    status = look_at(trainer, &trainer->trial.watched[i]);
  trainer->trial.steps++;
  return status;
}

/* ---- its result ---- */

/* The whole number at or below a / b. A quotient of two numbers of 24 digits that is below 2^24 and not a whole number
 * is at least 2^-48 of itself away from one, and binary64 does not round so far. */
static double whole_quotient(float a, float b) { return floor((double)a / (double)b); }

static float period_of(const hu_trainer *trainer, float w_moved, float q_moved) {
  const hu_run_keys *keys = &trainer->keys;
  double longest = (double)(trainer->steps_an_epoch < LONGEST ? trainer->steps_an_epoch : LONGEST);
  double q = whole_quotient(q_moved / (float)keys->ramping_ratio, w_moved + 1e-8f), z = q * (double)keys->ramping + 1;
  return z >= 1 ? (float)(z < longest ? z : longest) : 1; /* NaN: 1 */
}

static hu_status set_periods(hu_trainer *trainer, const hu_watched *watched) {
  size_t n = watched->rows * watched->cols;
  float *z = watched->buffer; /* instead of W_NOW */
  for (size_t i = 0; i < n; i++)
    z[i] = period_of(trainer, watched->buffer[W_MOVED * n + i], watched->buffer[Q_MOVED * n + i]);
  trainer->net->fault = HU_OK;
  hui_do_put(trainer->net, trainer->net->parameter[watched->parameter].ramping.period, z, n * sizeof *z);
  return hui_done(trainer->net);
}

hu_status hui_end_trial(hu_trainer *trainer) {
  hu_status status = restore_state(trainer);
  for (size_t i = 0; i < trainer->trial.count && status == HU_OK; i++)
    status = set_periods(trainer, &trainer->trial.watched[i]);
  set_off(trainer, 0);
  return status;
}
