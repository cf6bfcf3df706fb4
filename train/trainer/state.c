/* SPDX-License-Identifier: MIT */
/* Writes and reads all that the next step depends on, as tensors and a text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/net/net.h"
#include "train/step/optimizer.h"
#include "train/text/words.h"
#include "train/trainer/trainer.h"

/* A tensor of the state. */
typedef struct hu_slot {
  char name[HU_PARAMETER_NAME_MAX + 16]; /* a parameter's, ".momentum" */
  size_t rows, cols;
  float *numbers; /* in the engine's memory; NULL: residuals */
  float *host;    /* in the host's memory, in place of numbers: records of delayed scaling */
  size_t first;   /* residuals: the first of the parameter's numbers among all gradients */
} hu_slot;

/* ---- tensors ---- */

static hu_status add_slot(hu_trainer *t, const char *name, const char *part, size_t rows, size_t cols, float *numbers) {
  hu_slot *more = realloc(t->slot, (t->slots + 1) * sizeof *more);
  if (!more) return HU_E_MEMORY;
  t->slot = more;
  hu_slot *s = &t->slot[t->slots++];
  snprintf(s->name, sizeof s->name, "%s%s%s", name, *part ? "." : "", part);
  s->rows = rows;
  s->cols = cols;
  s->numbers = numbers;
  s->host = NULL;
  s->first = 0;
  return HU_OK;
}

static hu_status add_residual(hu_trainer *t, const char *name, const hu_parameter *p, size_t *first) {
  hu_status s = add_slot(t, name, "residual", t->feedback.residuals * p->rows, p->cols, NULL);
  if (s == HU_OK) t->slot[t->slots - 1].first = *first;
  *first += p->rows * p->cols;
  return s;
}

/* What Q-Ramping remembers of a tensor of weights. */
static hu_status add_ramping(hu_trainer *t, const char *name, const hu_parameter *p) {
  hu_status s = add_slot(t, name, "period", p->rows, p->cols, p->ramping.period);
  if (s == HU_OK) s = add_slot(t, name, "waiting", p->rows, p->cols, p->ramping.steps);
  if (s == HU_OK) s = add_slot(t, name, "gradients", p->rows, p->cols, p->ramping.sum);
  return s;
}

/* What delayed scaling remembers of a product: the rows of X, W and dZ. A product may have no weights, and so no name;
 * the number of the value that it makes is its own. */
static hu_status add_records(hu_trainer *t, const hu_operator *op) {
  char name[32];
  if (!op->delay) return HU_OK;
  snprintf(name, sizeof name, "product%d", op->out);
  hu_status s = add_slot(t, name, "amax", HU_DELAYED_OF, 1 + (size_t)op->delay->rule.history, NULL);
  if (s == HU_OK) t->slot[t->slots - 1].host = op->delay->state;
  return s;
}

hu_status hu_list_state(hu_trainer *t) {
  int momentum = hu_optimizer_has_m(&t->optimizer), second = hu_optimizer_has_v(&t->optimizer);
  hu_status s = HU_OK;
  size_t first = 0;
  for (int i = 0; i < t->net->parameters && s == HU_OK; i++) {
    hu_parameter *p = &t->net->parameter[i];
    const char *name = hu_net_parameter_name(t->net, i);
    int kahan = hu_optimizer_of(t->net, i, &t->optimizer).update == HU_UPDATE_KAHAN;
    s = add_slot(t, name, "", p->rows, p->cols, p->master);
    if (s == HU_OK && momentum) s = add_slot(t, name, "momentum", p->rows, p->cols, p->m);
    if (s == HU_OK && second) s = add_slot(t, name, "second", p->rows, p->cols, p->second);
    if (s == HU_OK && kahan) s = add_slot(t, name, "kahan", p->rows, p->cols, p->kahan);
    if (s == HU_OK && p->average) s = add_slot(t, name, "average", p->rows, p->cols, p->average);
    if (s == HU_OK && p->ramping.period) s = add_ramping(t, name, p);
    if (s == HU_OK && t->feedback.kept) s = add_residual(t, name, p, &first);
  }
  for (int i = 0; i < t->net->operators && s == HU_OK; i++) {
    size_t n;
    float *running = hu_running_of(t->net, &t->net->op[i], &n);
    if (!running) continue;
    char name[HU_PARAMETER_NAME_MAX]; /* that of the gain, "batch_norm1.gain", without its last word */
    snprintf(name, sizeof name, "%s", hu_net_parameter_name(t->net, t->net->op[i].theta[0]));
    *strrchr(name, '.') = 0;
    s = add_slot(t, name, "running", 2, n / 2, running);
  }
  for (int i = 0; i < t->net->operators && s == HU_OK; i++) s = add_records(t, &t->net->op[i]);
  return s;
}

size_t hu_trainer_tensor_count(const hu_trainer *t) { return t ? t->slots : 0; }

hu_trainer_tensor hu_trainer_tensor_at(const hu_trainer *t, size_t i) {
  const hu_trainer_tensor none = {NULL, 0, 0};
  if (!t || i >= t->slots) return none;
  hu_trainer_tensor z = {t->slot[i].name, t->slot[i].rows, t->slot[i].cols};
  return z;
}

hu_status hu_trainer_read(const hu_trainer *t, size_t i, float *numbers) {
  if (!t || !numbers) return HU_E_NULL;
  if (i >= t->slots) return HU_E_SHAPE;
  const hu_slot *s = &t->slot[i];
  if (s->host) {
    memcpy(numbers, s->host, s->rows * s->cols * sizeof *numbers);
    return HU_OK;
  }
  if (!s->numbers) return hu_read_residual(t, s->first, s->rows * s->cols / t->feedback.residuals, numbers);
  t->net->fault = HU_OK;
  hu_do_get(t->net, numbers, s->numbers, s->rows * s->cols * sizeof *numbers);
  return hu_done(t->net);
}

hu_status hu_trainer_write(hu_trainer *t, size_t i, const float *numbers) {
  if (!t || !numbers) return HU_E_NULL;
  if (i >= t->slots) return HU_E_SHAPE;
  const hu_slot *s = &t->slot[i];
  if (s->host) {
    memcpy(s->host, numbers, s->rows * s->cols * sizeof *numbers);
    return HU_OK;
  }
  if (!s->numbers) return hu_write_residual(t, s->first, s->rows * s->cols / t->feedback.residuals, numbers);
  t->net->fault = HU_OK;
  hu_do_put(t->net, s->numbers, numbers, s->rows * s->cols * sizeof *numbers);
  return hu_done(t->net);
}

/* ---- the text ---- */

/* The 64 bits of a number: exact, and the same in every locale. */
static uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* What is counted on the way, as lines. */
static void print_counts(hu_paper *p, const hu_trainer *t) {
  const hu_loss_scale *s = &t->scale;
  hu_print(p, "step=%" PRIu64 "\nnet.step=%" PRIu64 "\ntime=%" PRIu64 "\n", t->step, t->net->step, t->net->time.t);
  hu_print(p, "epoch=%" PRIu64 "\nposition=%" PRIu64 "\n", t->order.state.epoch, t->order.state.position);
  const char *const names[] = {"scale", "scale.xh", "scale.sh", "scale.qh", "scale.c1", "scale.c2"};
  const double numbers[] = {(double)s->scale, s->xh, s->sh, s->qh, s->c1, s->c2};
  for (size_t i = 0; i < 6; i++) hu_print(p, "%s=%016" PRIx64 "\n", names[i], bits_of(numbers[i]));
  hu_print(p, "scale.iteration=%" PRIu64 "\nscale.skipped=%" PRIu64 "\nscale.since=%" PRIu64 "\n", s->iteration,
           s->skipped, s->since);
}

static HU_NOINLINE size_t write(const hu_trainer *t, char *text, size_t size) {
  hu_paper p = {text, size, 0};
  if (!t || !t->net) return 0;
  if (text && size) *text = 0;
  print_counts(&p, t);
  hu_print_plan(t, &p);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (k.weights) hu_print(&p, "%s=%s\n", k.name, t->value[i]);
  }
  return p.used;
}

size_t hu_trainer_state(const hu_trainer *t, char *text, size_t size) { HU_ENV_RETURN(size_t, write(t, text, size)); }

static int number_of(const char *text, const char *name, double *z) {
  char value[HU_LINE_MAX];
  if (!hu_state_line(text, name, value)) return 0;
  if (strlen(value) != 16 || strspn(value, "0123456789abcdef") != 16) return 0;
  uint64_t u = strtoull(value, NULL, 16);
  memcpy(z, &u, sizeof u);
  return 1;
}

/* The length of a run is no property of its steps: another one may be gone on with, if its rates are the same. */
static int is_length(const char *key) { return strcmp(key, "run.epochs") == 0 || strcmp(key, "run.steps") == 0; }

/* Keys that states of earlier versions have not, whose runs were what the default says. */
static int is_later_key(const char *key) {
  static const char *const later[] = {
      "run.accumulate",           "optimizer.nesterov",      "data.vocabulary",          "data.numbering",
      "data.negatives",           "data.candidates",         "data.categories",          "precision.history",
      "precision.until",          "precision.after",         "precision.twice",          "optimizer.round_decay",
      "optimizer.round_momentum", "precision.history_takes", "precision.history_margin", "precision.quartet",
      "precision.w_average",      "optimizer.ramping",       "optimizer.ramping_ratio",  "optimizer.ramping_steps"};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
    if (strcmp(key, later[i]) == 0) return 1;
  }
  return strncmp(key, "parallel.", 9) == 0;
}

static hu_status same_keys(const hu_trainer *t, const char *text, char *why) {
  char value[HU_LINE_MAX];
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (!k.weights) continue;
    if (!hu_state_line(text, k.name, value)) {
      if (!*t->value[i]) continue; /* an empty value */
      if (is_later_key(k.name) && strcmp(t->value[i], k.by_default) == 0) continue;
      return hu_say(why, HU_E_TEXT, "no line %s", k.name);
    }
    if (strcmp(value, t->value[i]) != 0 && !is_length(k.name)) {
      return hu_say(why, HU_E_TRAIN, "%s: here '%s', and there '%s'", k.name, t->value[i], value);
    }
  }
  return HU_OK;
}

/* A key's number, in whatever way it was written ("2^10"). */
static int key_of(const char *text, const char *name, double *x) {
  char value[HU_LINE_MAX];
  return hu_state_line(text, name, value) && hu_read_number(value, strlen(value), x) && *x >= 0 && *x <= 0x1p40;
}

/* Steps of the run that wrote the text; 0: it does not say. */
static int steps_of(const hu_trainer *t, const char *text, uint64_t *steps) {
  double count, epochs;
  if (!key_of(text, "run.steps", &count) || !key_of(text, "run.epochs", &epochs)) return 0;
  *steps = count > 0 ? (uint64_t)count : (uint64_t)epochs * t->steps_an_epoch;
  return 1;
}

/* Have the steps done so far the rates that they have in a run of this one's length? */
static hu_status same_rates(const hu_trainer *t, const char *text, uint64_t step, char *why) {
  uint64_t steps;
  if (!steps_of(t, text, &steps)) return hu_say(why, HU_E_TEXT, "no lines run.steps, run.epochs");
  if (step > t->steps) {
    return hu_say(why, HU_E_TRAIN, "run.steps, run.epochs: %" PRIu64 " steps are done, and the run has %" PRIu64, step,
                  t->steps);
  }
  for (uint64_t e = 0; steps != t->steps && e * t->steps_an_epoch < step; e++) {
    if (hu_rate_of(t, e, steps) == hu_rate_of(t, e, t->steps)) continue;
    return hu_say(why, HU_E_TRAIN,
                  "optimizer.schedule: the rates of '%s' depend on the length of the run, %" PRIu64
                  " steps there, %" PRIu64 " here: the steps that are done had other rates from epoch %" PRIu64
                  " on than they have in a run of this length; such a run has to begin anew",
                  hu_trainer_get(t, "optimizer.schedule"), steps, t->steps, e);
  }
  return HU_OK;
}

static int read_scale(hu_loss_scale *s, const char *text) {
  double scale;
  int ok = number_of(text, "scale", &scale) && scale > 0 && scale <= 0x1.fffffep127;
  ok = ok && hu_state_count(text, "scale.iteration", &s->iteration) &&
       hu_state_count(text, "scale.skipped", &s->skipped);
  ok = ok && hu_state_count(text, "scale.since", &s->since) && number_of(text, "scale.xh", &s->xh);
  ok = ok && number_of(text, "scale.sh", &s->sh) && number_of(text, "scale.qh", &s->qh);
  ok = ok && number_of(text, "scale.c1", &s->c1) && number_of(text, "scale.c2", &s->c2);
  if (ok) s->scale = (float)scale;
  return ok;
}

static hu_optimizer_time time_after(uint64_t steps, const hu_optimizer *o) {
  hu_optimizer_time now = {0, 1, 1};
  for (uint64_t i = 0; i < steps; i++) hu_optimizer_tick(&now, o);
  return now;
}

static HU_NOINLINE hu_status resume(hu_trainer *t, const char *text, char *why) {
  hu_loss_scale scale;
  hu_batch_state state = {0, 0, 0};
  hu_batches order;
  uint64_t step, net_step, time;
  if (!t || !text) return HU_E_NULL;
  if (!t->net) return HU_E_TRAIN;
  hu_status s = same_keys(t, text, why);
  if (s != HU_OK) return s;
  memset(&scale, 0, sizeof scale);
  state.seed = t->keys.seed;
  int ok = hu_state_count(text, "step", &step) && hu_state_count(text, "net.step", &net_step) &&
           hu_state_count(text, "time", &time);
  ok = ok && hu_state_count(text, "epoch", &state.epoch) && hu_state_count(text, "position", &state.position);
  ok = ok && read_scale(&scale, text) && time <= step;
  if (!ok) return hu_say(why, HU_E_TEXT, "the state is not whole");
  s = same_rates(t, text, step, why);
  if (s != HU_OK) return s;
  if (!t->source.text) {
    s = hu_batches_open(&order, t->source.training.count, t->samples, state);
    if (s != HU_OK) return hu_say(why, s, "position: %s", hu_status_text(s));
  }
  s = hu_read_plan(t, text, why);
  if (s != HU_OK) {
    if (!t->source.text) hu_batches_free(&order);
    return s;
  }
  if (!t->source.text) {
    hu_batches_free(&t->order);
    t->order = order;
  }
  t->step = step;
  t->failed = 0;
  t->feedback.stale = 0; /* all residuals were written */
  t->scale = scale;
  t->net->step = net_step;
  t->net->time = time_after(time, &t->optimizer);
  return hu_set_products(t);
}

hu_status hu_trainer_resume(hu_trainer *t, const char *text, char *why) {
  HU_ENV_RETURN(hu_status, resume(t, text, why));
}
