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

static hu_status add_slot(hu_trainer *trainer, const char *name, const char *part, size_t rows, size_t cols,
                          float *numbers) {
  hu_slot *more = realloc(trainer->slot, (trainer->slots + 1) * sizeof *more);
  if (!more) return HU_E_MEMORY;
  trainer->slot = more;
  hu_slot *slot = &trainer->slot[trainer->slots++];
  snprintf(slot->name, sizeof slot->name, "%s%s%s", name, *part ? "." : "", part);
  slot->rows = rows;
  slot->cols = cols;
  slot->numbers = numbers;
  slot->host = NULL;
  slot->first = 0;
  return HU_OK;
}

static hu_status add_residual(hu_trainer *trainer, const char *name, const hu_parameter *parameter, size_t *first) {
  hu_status status =
      add_slot(trainer, name, "residual", trainer->feedback.residuals * parameter->rows, parameter->cols, NULL);
  if (status == HU_OK) trainer->slot[trainer->slots - 1].first = *first;
  *first += parameter->rows * parameter->cols;
  return status;
}

/* What Q-Ramping remembers of a tensor of weights. */
static hu_status add_ramping(hu_trainer *trainer, const char *name, const hu_parameter *parameter) {
  hu_status status = add_slot(trainer, name, "period", parameter->rows, parameter->cols, parameter->ramping.period);
  if (status == HU_OK)
    status = add_slot(trainer, name, "waiting", parameter->rows, parameter->cols, parameter->ramping.steps);
  if (status == HU_OK)
    status = add_slot(trainer, name, "gradients", parameter->rows, parameter->cols, parameter->ramping.sum);
  return status;
}

/* What delayed scaling remembers of a product: the rows of X, W and dZ. A product may have no weights, and so no name;
 * the number of the value that it makes is its own. */
static hu_status add_records(hu_trainer *trainer, const hu_operator *op) {
  char name[32];
  if (!op->delay) return HU_OK;
  snprintf(name, sizeof name, "product%d", op->out);
  hu_status status = add_slot(trainer, name, "amax", HU_DELAYED_OF, 1 + (size_t)op->delay->rule.history, NULL);
  if (status == HU_OK) trainer->slot[trainer->slots - 1].host = op->delay->state;
  return status;
}

hu_status hui_list_state(hu_trainer *trainer) {
  hu_status status = HU_OK;
  size_t first = 0;
  for (int i = 0; i < trainer->net->parameters && status == HU_OK; i++) {
    hu_parameter *parameter = &trainer->net->parameter[i];
    const char *name = hu_net_parameter_name(trainer->net, i);
    hu_optimizer own = hui_optimizer_of(trainer->net, i, &trainer->optimizer);
    status = add_slot(trainer, name, "", parameter->rows, parameter->cols, parameter->master);
    if (status == HU_OK && hui_optimizer_has_m(&own))
      status = add_slot(trainer, name, "momentum", parameter->rows, parameter->cols, parameter->state.m);
    if (status == HU_OK && hui_optimizer_has_v(&own))
      status = add_slot(trainer, name, "second", parameter->rows, parameter->cols, parameter->state.second);
    if (status == HU_OK && own.update == HU_UPDATE_KAHAN)
      status = add_slot(trainer, name, "kahan", parameter->rows, parameter->cols, parameter->state.kahan);
    if (status == HU_OK && parameter->average.numbers)
      status = add_slot(trainer, name, "average", parameter->rows, parameter->cols, parameter->average.numbers);
    if (status == HU_OK && trainer->averages.of && trainer->averages.of[i])
      status = add_slot(trainer, name, "averaged", parameter->rows, parameter->cols, trainer->averages.of[i]);
    if (status == HU_OK && parameter->ramping.period) status = add_ramping(trainer, name, parameter);
    if (status == HU_OK && trainer->feedback.kept) status = add_residual(trainer, name, parameter, &first);
  }
  for (int i = 0; i < trainer->net->operators && status == HU_OK; i++) {
    size_t n;
    float *running = hui_running_of(trainer->net, &trainer->net->op[i], &n);
    if (!running) continue;
    char name[HU_PARAMETER_NAME_MAX]; /* that of the gain, "batch_norm1.gain", without its last word */
    snprintf(name, sizeof name, "%s", hu_net_parameter_name(trainer->net, trainer->net->op[i].theta[0]));
    *strrchr(name, '.') = 0;
    status = add_slot(trainer, name, "running", 2, n / 2, running);
  }
  for (int i = 0; i < trainer->net->operators && status == HU_OK; i++)
    status = add_records(trainer, &trainer->net->op[i]);
  return status;
}

size_t hu_trainer_tensor_count(const hu_trainer *trainer) { return trainer ? trainer->slots : 0; }

hu_trainer_tensor hu_trainer_tensor_at(const hu_trainer *trainer, size_t i) {
  const hu_trainer_tensor none = {NULL, 0, 0};
  if (!trainer || i >= trainer->slots) return none;
  hu_trainer_tensor tensor = {trainer->slot[i].name, trainer->slot[i].rows, trainer->slot[i].cols};
  return tensor;
}

hu_status hu_trainer_read(const hu_trainer *trainer, size_t i, float *numbers) {
  if (!trainer || !numbers) return HU_E_NULL;
  if (i >= trainer->slots) return HU_E_SHAPE;
  const hu_slot *slot = &trainer->slot[i];
  if (slot->host) {
    memcpy(numbers, slot->host, slot->rows * slot->cols * sizeof *numbers);
    return HU_OK;
  }
  if (!slot->numbers)
    return hui_read_residual(trainer, slot->first, slot->rows * slot->cols / trainer->feedback.residuals, numbers);
  trainer->net->fault = HU_OK;
  hui_do_get(trainer->net, numbers, slot->numbers, slot->rows * slot->cols * sizeof *numbers);
  return hui_done(trainer->net);
}

hu_status hu_trainer_write(hu_trainer *trainer, size_t i, const float *numbers) {
  if (!trainer || !numbers) return HU_E_NULL;
  if (i >= trainer->slots) return HU_E_SHAPE;
  const hu_slot *slot = &trainer->slot[i];
  if (slot->host) {
    memcpy(slot->host, numbers, slot->rows * slot->cols * sizeof *numbers);
    return HU_OK;
  }
  if (!slot->numbers)
    return hui_write_residual(trainer, slot->first, slot->rows * slot->cols / trainer->feedback.residuals, numbers);
  trainer->net->fault = HU_OK;
  hui_do_put(trainer->net, slot->numbers, numbers, slot->rows * slot->cols * sizeof *numbers);
  return hui_done(trainer->net);
}

/* ---- the text ---- */

/* Writes the 64 bits of a number: exact, and equal in every locale. */
static uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

/* Writes what the run has counted as lines. */
static void print_counts(hu_paper *paper, const hu_trainer *trainer) {
  const hu_loss_scale *scale = &trainer->scale;
  hui_print(paper, "step=%" PRIu64 "\nnet.step=%" PRIu64 "\ntime=%" PRIu64 "\n", trainer->step, trainer->net->step,
            trainer->net->time.t);
  hui_print(paper, "epoch=%" PRIu64 "\nposition=%" PRIu64 "\n", trainer->order.state.epoch,
            trainer->order.state.position);
  const char *const names[] = {"scale", "scale.xh", "scale.sh", "scale.qh", "scale.c1", "scale.c2"};
  const double numbers[] = {(double)scale->scale, scale->xh, scale->sh, scale->qh, scale->c1, scale->c2};
  for (size_t i = 0; i < 6; i++) hui_print(paper, "%s=%016" PRIx64 "\n", names[i], bits_of(numbers[i]));
  hui_print(paper, "scale.iteration=%" PRIu64 "\nscale.skipped=%" PRIu64 "\nscale.since=%" PRIu64 "\n",
            scale->iteration, scale->skipped, scale->since);
}

/* Writes what the schedule `plateau` remembers. */
static void print_stall(hu_paper *paper, const hu_trainer *trainer) {
  const hu_stall *stall = &trainer->stall;
  if (trainer->keys.schedule.kind != HU_SCHEDULE_PLATEAU) return;
  hui_print(paper, "plateau.means=%" PRIu64 "\nplateau.count=%" PRIu64 "\n", stall->means, stall->count);
  hui_print(paper, "plateau.factor=%016" PRIx64 "\nplateau.sum=%016" PRIx64 "\n", bits_of(stall->factor),
            bits_of(stall->sum));
  for (uint64_t i = 0; i < stall->means; i++)
    hui_print(paper, "plateau.mean%" PRIu64 "=%016" PRIx64 "\n", i, bits_of(stall->mean[i]));
}

static HU_NOINLINE size_t write(const hu_trainer *trainer, char *text, size_t size) {
  hu_paper paper = {text, size, 0};
  if (!trainer || !trainer->net) return 0;
  if (text && size) *text = 0;
  print_counts(&paper, trainer);
  print_stall(&paper, trainer);
  hui_print_plan(trainer, &paper);
  if (trainer->network) hui_print(&paper, "network=%016" PRIx64 "\n", hui_network_digest(trainer));
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    if (key.weights) hui_print(&paper, "%s=%s\n", key.name, trainer->value[i]);
  }
  return paper.used;
}

size_t hu_trainer_state(const hu_trainer *trainer, char *text, size_t size) {
  HU_ENV_RETURN(size_t, write(trainer, text, size));
}

static int number_of(const char *text, const char *name, double *z) {
  char value[HU_LINE_MAX];
  if (!hui_state_line(text, name, value)) return 0;
  if (strlen(value) != 16 || strspn(value, "0123456789abcdef") != 16) return 0;
  uint64_t u = strtoull(value, NULL, 16);
  memcpy(z, &u, sizeof u);
  return 1;
}

/* The length of a run is no property of its steps: another one may be gone on with, if its rates are the same. */
static int is_length(const char *key) { return strcmp(key, "run.epochs") == 0 || strcmp(key, "run.steps") == 0; }

/* Keys that states of earlier versions have not, whose runs were what the default says. */
static int is_later_key(const char *key) {
  static const char *const later[] = {"run.accumulate",
                                      "optimizer.nesterov",
                                      "data.vocabulary",
                                      "data.numbering",
                                      "data.negatives",
                                      "data.candidates",
                                      "data.categories",
                                      "data.stride",
                                      "precision.history",
                                      "precision.until",
                                      "precision.after",
                                      "precision.twice",
                                      "optimizer.round_decay",
                                      "optimizer.round_momentum",
                                      "precision.history_takes",
                                      "precision.history_margin",
                                      "precision.quartet",
                                      "precision.w_average",
                                      "optimizer.ramping",
                                      "optimizer.ramping_ratio",
                                      "optimizer.ramping_steps",
                                      "optimizer.stored_m",
                                      "optimizer.stored_v",
                                      "optimizer.rate_adamw",
                                      "optimizer.adamw",
                                      "optimizer.iterations",
                                      "optimizer.product",
                                      "optimizer.accum",
                                      "optimizer.aspect",
                                      "precision.off",
                                      "run.stream",
                                      "run.rest",
                                      "data.normalise",
                                      "optimizer.correction",
                                      "optimizer.accumulated",
                                      "run.tokens",
                                      "run.bucket_first",
                                      "run.bucket_step",
                                      "optimizer.average",
                                      "optimizer.average_counts"};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
    if (strcmp(key, later[i]) == 0) return 1;
  }
  return strncmp(key, "parallel.", 9) == 0;
}

/* Is the text of model.file still that of the run that is to continue? */
static hu_status same_network(const hu_trainer *trainer, const char *text, char *why) {
  char value[HU_LINE_MAX], own[32];
  snprintf(own, sizeof own, "%016" PRIx64, hui_network_digest(trainer));
  if (!trainer->network || (hui_state_line(text, "network", value) && strcmp(value, own) == 0)) return HU_OK;
  return hui_say(why, HU_E_TRAIN, "model.file: %s: not the text that the run began with", trainer->keys.network);
}

/* Do two values of precision.off differ only from the step on that the text is of? */
static int are_off_later(const hu_trainer *trainer, const char *text, const hu_trainer_key *key, const char *there) {
  uint64_t step;
  return strcmp(key->name, "precision.off") == 0 && hui_state_count(text, "step", &step) && hui_off_is_text(there) &&
         hui_off_same_before(there, trainer->keys.off, step);
}

static hu_status same_keys(const hu_trainer *trainer, const char *text, char *why) {
  char value[HU_LINE_MAX];
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    if (!key.weights) continue;
    if (!hui_state_line(text, key.name, value)) {
      if (!*trainer->value[i]) continue; /* an empty value */
      if (is_later_key(key.name) && strcmp(trainer->value[i], key.by_default) == 0) continue;
      return hui_say(why, HU_E_TEXT, "no line %s", key.name);
    }
    if (strcmp(value, trainer->value[i]) != 0 && !is_length(key.name) && !are_off_later(trainer, text, &key, value)) {
      return hui_say(why, HU_E_TRAIN, "%s: here '%s', and there '%s'", key.name, trainer->value[i], value);
    }
  }
  return same_network(trainer, text, why);
}

/* Returns a key's number, which may be written as "2^10". */
static int key_of(const char *text, const char *name, double *x) {
  char value[HU_LINE_MAX];
  return hui_state_line(text, name, value) && hui_read_number(value, strlen(value), x) && *x >= 0 && *x <= 0x1p40;
}

/* Steps of the run that wrote the text; 0: it does not say. */
static int steps_of(const hu_trainer *trainer, const char *text, uint64_t *steps) {
  double count, epochs;
  if (!key_of(text, "run.steps", &count) || !key_of(text, "run.epochs", &epochs)) return 0;
  *steps = count > 0 ? (uint64_t)count : hui_steps_of_epochs(trainer, (uint64_t)epochs);
  return 1;
}

/* Is a rate in a step that of a run of so many steps? */
static int is_same_rate(const hu_trainer *trainer, double rate, uint64_t step, uint64_t steps) {
  const uint64_t epoch = hui_epoch_of(trainer, step);
  return hui_rate_of(trainer, rate, step, epoch, steps) == hui_rate_of(trainer, rate, step, epoch, trainer->steps);
}

/* Have the steps done so far the rates that they have in a run of this one's length? */
static hu_status same_rates(const hu_trainer *trainer, const char *text, uint64_t step, char *why) {
  uint64_t steps;
  if (!steps_of(trainer, text, &steps)) return hui_say(why, HU_E_TEXT, "no lines run.steps, run.epochs");
  if (step > trainer->steps) {
    return hui_say(why, HU_E_TRAIN, "run.steps, run.epochs: %" PRIu64 " steps are done, and the run has %" PRIu64, step,
                   trainer->steps);
  }
  const hu_run_keys *keys = &trainer->keys;
  const uint64_t each = keys->schedule.each == HU_EACH_STEP || keys->stream > 1 ? 1 : trainer->steps_an_epoch;
  for (uint64_t t = 0; steps != trainer->steps && t < step; t += each) {
    if (is_same_rate(trainer, trainer->keys.rate, t, steps) &&
        is_same_rate(trainer, trainer->keys.rate_adamw, t, steps))
      continue;
    return hui_say(why, HU_E_TRAIN,
                   "optimizer.schedule: the rates of '%s' depend on the length of the run, %" PRIu64
                   " steps there, %" PRIu64 " here: the steps that are done had other rates from epoch %" PRIu64
                   " on than they have in a run of this length; such a run has to begin again",
                   hu_trainer_get(trainer, "optimizer.schedule"), steps, trainer->steps, hui_epoch_of(trainer, t));
  }
  return HU_OK;
}

static int read_scale(hu_loss_scale *loss_scale, const char *text) {
  double scale;
  int ok = number_of(text, "scale", &scale) && scale > 0 && scale <= 0x1.fffffep127;
  ok = ok && hui_state_count(text, "scale.iteration", &loss_scale->iteration) &&
       hui_state_count(text, "scale.skipped", &loss_scale->skipped);
  ok = ok && hui_state_count(text, "scale.since", &loss_scale->since) && number_of(text, "scale.xh", &loss_scale->xh);
  ok = ok && number_of(text, "scale.sh", &loss_scale->sh) && number_of(text, "scale.qh", &loss_scale->qh);
  ok = ok && number_of(text, "scale.c1", &loss_scale->c1) && number_of(text, "scale.c2", &loss_scale->c2);
  if (ok) loss_scale->scale = (float)scale;
  return ok;
}

static int read_stall(hu_stall *stall, const hu_trainer *trainer, const char *text) {
  const hu_stall begun = {.factor = 1};
  char name[HU_DECIMAL_TEXT_MAX];
  *stall = begun;
  if (trainer->keys.schedule.kind != HU_SCHEDULE_PLATEAU) return 1;
  int ok = hui_state_count(text, "plateau.means", &stall->means) && stall->means <= trainer->keys.schedule.last &&
           hui_state_count(text, "plateau.count", &stall->count) && number_of(text, "plateau.factor", &stall->factor) &&
           number_of(text, "plateau.sum", &stall->sum);
  for (uint64_t i = 0; ok && i < stall->means; i++) {
    snprintf(name, sizeof name, "plateau.mean%" PRIu64, i);
    ok = number_of(text, name, &stall->mean[i]);
  }
  return ok;
}

static hu_optimizer_time time_after(uint64_t steps, const hu_optimizer *optimizer) {
  hu_optimizer_time now = {0, 1, 1};
  for (uint64_t i = 0; i < steps; i++) hu_optimizer_tick(&now, optimizer);
  return now;
}

static HU_NOINLINE hu_status resume(hu_trainer *trainer, const char *text, char *why) {
  hu_loss_scale scale;
  hu_stall stall;
  hu_batch_state state = {0, 0, 0};
  hu_batches order;
  uint64_t step, net_step, time;
  if (!trainer || !text) return HU_E_NULL;
  if (!trainer->net) return HU_E_TRAIN;
  hu_status status = same_keys(trainer, text, why);
  if (status != HU_OK) return status;
  memset(&scale, 0, sizeof scale);
  state.seed = trainer->keys.seed;
  int ok = hui_state_count(text, "step", &step) && hui_state_count(text, "net.step", &net_step) &&
           hui_state_count(text, "time", &time);
  ok = ok && hui_state_count(text, "epoch", &state.epoch) && hui_state_count(text, "position", &state.position);
  ok = ok && read_scale(&scale, text) && read_stall(&stall, trainer, text) && time <= step;
  if (!ok) return hui_say(why, HU_E_TEXT, "the state is not whole");
  status = same_rates(trainer, text, step, why);
  if (status != HU_OK) return status;
  if (!trainer->source.text) {
    status = hui_open_batches(trainer, &order, state);
    if (status != HU_OK) return hui_say(why, status, "position: %s", hu_status_text(status));
  }
  status = hui_read_plan(trainer, text, why);
  if (status != HU_OK) {
    if (!trainer->source.text) hu_batches_free(&order);
    return status;
  }
  if (!trainer->source.text) {
    hu_batches_free(&trainer->order);
    trainer->order = order;
  }
  trainer->step = step;
  trainer->failed = 0;
  trainer->feedback.stale = 0; /* all residuals were written */
  trainer->scale = scale;
  trainer->stall = stall;
  trainer->net->step = net_step;
  trainer->net->time = time_after(time, &trainer->optimizer);
  return hui_set_products(trainer);
}

hu_status hu_trainer_resume(hu_trainer *trainer, const char *text, char *why) {
  HU_ENV_RETURN(hu_status, resume(trainer, text, why));
}
