/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/train/trainer.h: set the keys of a run, begin it, make its steps, evaluate it. */
#include "train/trainer/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/net/net.h"

/* ---- keys ---- */

static char *copied(const char *text) {
  size_t n = strlen(text) + 1;
  char *z = malloc(n);
  if (z) memcpy(z, text, n);
  return z;
}

static HU_NOINLINE hu_status set_value(hu_trainer *trainer, size_t i, const char *value, char *why) {
  if (strlen(value) >= HU_LINE_MAX) return hui_say(why, HU_E_TRAIN, "%s: too long", hu_trainer_key_at(i).name);
  if (strchr(value, '\n')) return hui_say(why, HU_E_TRAIN, "%s: a line end in its value", hu_trainer_key_at(i).name);
  char *kept = copied(value);
  if (!kept) return hui_say(why, HU_E_MEMORY, "no memory");
  hu_status status = hui_read_key(&trainer->keys, i, kept, why);
  if (status != HU_OK) {
    free(kept);
    return status;
  }
  free(trainer->value[i]);
  trainer->value[i] = kept;
  return HU_OK;
}

static hu_status put(hu_trainer *trainer, size_t i, const char *value, char *why) {
  HU_ENV_RETURN(hu_status, set_value(trainer, i, value, why));
}

hu_trainer *hu_trainer_new(void) {
  hu_trainer *trainer = calloc(1, sizeof *trainer);
  if (!trainer) return NULL;
  hu_status status = HU_E_MEMORY;
  trainer->ranks.size = 1;
  trainer->value = calloc(hu_trainer_key_count(), sizeof *trainer->value);
  for (size_t i = 0; trainer->value && i < hu_trainer_key_count(); i++) {
    status = put(trainer, i, hu_trainer_key_at(i).by_default, NULL);
    if (status != HU_OK) break;
  }
  if (status == HU_OK) return trainer;
  hu_trainer_free(trainer);
  return NULL;
}

/* Frees all of a run except its keys. */
static void end_run(hu_trainer *trainer) {
  void *buffers[] = {trainer->buffers.x,     trainer->buffers.y,     trainer->buffers.labels,
                     trainer->buffers.index, trainer->buffers.words, trainer->penalty,
                     trainer->slot};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) free(buffers[i]);
  if (trainer->begun && !trainer->source.text) hu_batches_free(&trainer->order);
  hui_close_source(trainer);
  hui_close_feedback(trainer);
  hui_close_ramping(trainer);
  hui_close_rest(trainer);
  hui_close_averages(trainer);
  hui_close_buckets(trainer);
  hui_close_shards(trainer);
  hu_precision_free(trainer->plan);
  hu_net_free(trainer->net);
  free(trainer->network);
  hu_trainer keys = {
      .value = trainer->value, .keys = trainer->keys, .engine = trainer->engine, .ranks = trainer->ranks};
  *trainer = keys;
}

void hu_trainer_free(hu_trainer *trainer) {
  if (!trainer) return;
  end_run(trainer);
  for (size_t i = 0; trainer->value && i < hu_trainer_key_count(); i++) free(trainer->value[i]);
  free(trainer->value);
  free(trainer);
}

hu_status hu_trainer_set(hu_trainer *trainer, const char *name, const char *value, char *why) {
  if (!trainer || !name || !value) return HU_E_NULL;
  size_t i = hui_find_key(name);
  if (i == SIZE_MAX) return hui_say(why, HU_E_NAME, "%s: no such key", name);
  if (trainer->net) return hui_say(why, HU_E_SHAPE, "%s: the run has begun", name);
  hu_status status = put(trainer, i, value, why);
  if (status != HU_OK || strcmp(name, "precision.system") != 0) return status;
  for (const char *const *p = hui_system_pairs(trainer->value[i]); *p && status == HU_OK; p += 2)
    status = put(trainer, hui_find_key(p[0]), p[1], why);
  return status;
}

hu_status hu_trainer_set_engine(hu_trainer *trainer, const hu_engine *engine) {
  if (!trainer) return HU_E_NULL;
  if (trainer->net) return HU_E_SHAPE;
  trainer->engine = engine;
  return HU_OK;
}

hu_status hu_trainer_set_ranks(hu_trainer *trainer, const hu_trainer_ranks *ranks) {
  if (!trainer || !ranks) return HU_E_NULL;
  if (trainer->net || ranks->size < 1 || ranks->rank < 0 || ranks->rank >= ranks->size) return HU_E_SHAPE;
  if (ranks->size > 1 && (!ranks->join || !ranks->sum)) return HU_E_NULL;
  trainer->ranks = *ranks;
  return HU_OK;
}

/* ---- beginning ---- */

static hu_optimizer optimizer_of(const hu_run_keys *keys) {
  hu_optimizer optimizer = keys->optimizer == HU_ADAMW     ? hu_optimizer_adamw(keys->state)
                           : keys->optimizer == HU_ADAGRAD ? hu_optimizer_adagrad(keys->state)
                           : keys->optimizer == HU_MUON    ? hu_optimizer_muon(keys->state)
                                                           : hu_optimizer_sgd(keys->state);
  optimizer.weight = keys->weight;
  optimizer.rate = keys->rate;
  optimizer.momentum = keys->momentum;
  optimizer.beta1 = keys->beta1;
  optimizer.beta2 = keys->beta2;
  optimizer.eps = keys->eps;
  optimizer.decay = keys->decay;
  optimizer.coupled = (uint8_t)keys->coupled;
  optimizer.fused = (uint8_t)keys->fused;
  optimizer.nesterov = (uint8_t)keys->nesterov;
  optimizer.update = keys->kahan ? HU_UPDATE_KAHAN : HU_UPDATE_ROUND;
  if (!keys->kahan) optimizer.mode = keys->update;
  optimizer.mode_decay = keys->decay_mode;
  optimizer.mode_momentum = keys->momentum_mode;
  optimizer.stored_m = keys->stored_m;
  optimizer.stored_v = keys->stored_v;
  optimizer.product = keys->product;
  optimizer.accum = keys->sums;
  optimizer.iterations = (uint32_t)keys->iterations;
  optimizer.aspect = (uint8_t)keys->aspect;
  optimizer.rate_adamw = keys->rate_adamw;
  optimizer.correction = (uint8_t)keys->correction;
  optimizer.accumulated = keys->accumulated;
  return optimizer;
}

/* Penalties are of weights: not of biases, gains and offsets, which are a single row that is not drawn. */
static hu_status set_rules(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const char *said = NULL;
  int n = hu_net_parameters(trainer->net);
  trainer->rules.rules = hu_gradient_rules_none();
  trainer->rules.rules.clip = keys->clip;
  trainer->rules.rules.literal = (uint8_t)keys->literal;
  trainer->rules.rules.larc = (uint8_t)keys->larc;
  trainer->rules.rules.larc_eta = keys->eta;
  hu_status status = hu_gradient_rules_check(&trainer->rules.rules, &said);
  if (status != HU_OK) return hui_say(why, status, "gradient: %s", said);
  if (keys->larc == HU_LARC_CLIP && keys->rate == 0)
    return hui_say(why, HU_E_TRAIN, "gradient.larc: clip requires a rate above 0");
  if (keys->larc != HU_LARC_NONE && keys->optimizer == HU_MUON)
    return hui_say(why, HU_E_TRAIN, "gradient.larc: requires one rate, and optimizer.kind = muon has two");
  if (!keys->penalty) return HU_OK;
  trainer->penalty = calloc((size_t)n, sizeof *trainer->penalty);
  if (!trainer->penalty) return HU_E_MEMORY;
  for (int i = 0; i < n; i++) {
    hu_penalty penalty = {(uint8_t)keys->penalty, keys->lambda};
    if (trainer->net->parameter[i].rows > 1 || trainer->net->parameter[i].first.fan_in) trainer->penalty[i] = penalty;
    status = hu_penalty_check(&penalty, &said);
  }
  trainer->rules.penalties = trainer->penalty;
  return status == HU_OK ? HU_OK : hui_say(why, status, "gradient.lambda: %s", said);
}

static void set_length(hu_trainer *trainer) {
  const hu_run_keys *keys = &trainer->keys;
  size_t count = trainer->source.text ? trainer->source.split / trainer->source.window : trainer->source.training.count;
  trainer->steps_an_epoch = trainer->buckets.count ? trainer->buckets.batches
                            : trainer->source.text ? count / trainer->samples
                                                   : hu_batches_of_epochs(&trainer->order, 1);
  trainer->steps = keys->steps ? keys->steps : hui_steps_of_epochs(trainer, keys->epochs);
}

static hu_status too_large(const hu_run_keys *keys, char *why) {
  return hui_say(why, HU_E_SHAPE, "run.batch%s: more than the training set has",
                 keys->accumulate > 1 ? " times run.accumulate" : "");
}

static HU_NOINLINE hu_status begin(hu_trainer *trainer, const char *folder, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const char *said = NULL;
  trainer->optimizer = optimizer_of(keys);
  hu_status status = hu_optimizer_check(&trainer->optimizer, &said);
  if (status != HU_OK) return hui_say(why, status, "optimizer: %s", said ? said : hu_status_text(status));
  const int coloured = keys->set == SET_CIFAR10 || keys->set == SET_CIFAR100 || keys->set == SET_IMAGES;
  if (keys->augment && !coloured) {
    return hui_say(why, HU_E_TRAIN, "data.augment: only of cifar10, cifar100 and images");
  }
  if (keys->normalise && !coloured)
    return hui_say(why, HU_E_TRAIN, "data.normalise: only of cifar10, cifar100 and images");
  if (keys->warmup && keys->schedule.kind == HU_SCHEDULE_INVERSE_ROOT)
    return hui_say(why, HU_E_TRAIN, "optimizer.warmup: not 0, and inverse_root has a warm-up of its own");
  if (keys->accumulate > 1 && keys->assignment != ASSIGN_NONE)
    return hui_say(why, HU_E_TRAIN, "run.accumulate: above 1, and assignment.kind says what overflows in one batch");
  status = hui_read_model(trainer, why);
  if (status == HU_OK) status = hui_open_shards(trainer, why);
  if (status == HU_OK) status = hui_open_source(trainer, folder, why);
  if (status == HU_OK) status = hui_build_nets(trainer, why);
  if (status == HU_OK) status = hui_make_buckets(trainer, why);
  if (status != HU_OK) return status;
  hu_batch_state start = {keys->seed, 0, 0};
  if (!trainer->source.text && !trainer->buckets.count && trainer->samples > trainer->source.training.count)
    return too_large(keys, why);
  if (!trainer->source.text) status = hui_open_batches(trainer, &trainer->order, start);
  if (status != HU_OK) return hui_say(why, status, "run.batch: %s", hu_status_text(status));
  set_length(trainer);
  if (!trainer->steps_an_epoch) return too_large(keys, why);
  trainer->begun = 1;
  trainer->stall.factor = 1;
  status = hui_make_buffers(trainer, why);
  if (status == HU_OK) status = hui_make_bucket_buffers(trainer);
  if (status == HU_OK) status = hui_make_rest(trainer, why);
  if (status == HU_OK) status = hui_make_shards(trainer);
  if (status == HU_OK) status = hui_make_feedback(trainer);
  if (status == HU_OK) status = set_rules(trainer, why);
  if (status == HU_OK) status = hui_first_weights(trainer, why);
  trainer->rule = keys->rule;
  if (status == HU_OK && keys->largest) status = hui_choose_scale(trainer, why);
  if (status == HU_OK) status = hui_set_precision(trainer, why);
  if (status == HU_OK) status = hui_make_ramping(trainer, why);
  if (status == HU_OK) status = hui_make_shared(trainer);
  if (status == HU_OK) status = hui_make_averages(trainer, why);
  if (status == HU_OK) status = hui_list_state(trainer);
  trainer->scale = hu_loss_scale_start(&trainer->rule);
  return status;
}

hu_status hu_trainer_begin(hu_trainer *trainer, const char *folder, char *why) {
  char ignored[HU_DATA_WHY_MAX];
  if (!trainer || !folder) return HU_E_NULL;
  if (!why) why = ignored;
  if (trainer->net) return hui_say(why, HU_E_SHAPE, "the run has begun");
  *why = 0;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  hu_status status = begin(trainer, folder, why);
  hui_float_env_leave(saved);
  if (status == HU_OK) return status;
  if (!*why) hui_say(why, status, "%s", hu_status_text(status));
  end_run(trainer);
  return status;
}

/* ---- a step ---- */

static double rate_in(const hu_trainer *trainer, double rate, uint64_t epoch) {
  return hui_rate_of(trainer, rate, trainer->step, epoch, trainer->steps);
}

/* Makes one step, with the rate of an epoch. */
static hu_status make_step(hu_trainer *trainer, uint64_t epoch, hu_trainer_report *report) {
  hu_pass pass = {0};
  memset(report, 0, sizeof *report);
  trainer->failed = 1; /* until it has succeeded */
  trainer->optimizer.rate = rate_in(trainer, trainer->keys.rate, epoch);
  trainer->optimizer.rate_adamw = rate_in(trainer, trainer->keys.rate_adamw, epoch);
  report->scale = trainer->scale.scale;
  report->rate = trainer->optimizer.rate;
  report->epoch = hui_epoch_of(trainer, trainer->step);
  hu_status status = hui_make_pass(trainer, trainer->scale.scale, &pass);
  if (status != HU_OK) return status;
  report->forward = pass.counted.forward;
  report->backward = pass.counted.backward;
  status = hui_step_plan(trainer, report);
  if (status == HU_OK && trainer->step == 0) status = hui_start_averages(trainer);
  if (status == HU_OK)
    status = hu_net_update_with(trainer->net, &trainer->optimizer, &trainer->rule, &trainer->scale, &trainer->rules,
                                &report->updates, &report->taken);
  if (status != HU_OK) return status;
  if (report->taken) hui_keep_feedback(trainer);
  if (report->taken) status = hui_step_averages(trainer);
  if (status != HU_OK) return status;
  trainer->step++;
  hui_stall_add(&trainer->stall, &trainer->keys.schedule, ldexp(pass.loss, (int)trainer->keys.power));
  status = hui_set_products(trainer); /* those of the next step, for callers that look before it, too */
  if (status != HU_OK) return status;
  trainer->failed = 0;
  report->step = trainer->step;
  report->loss = ldexp(pass.loss, (int)trainer->keys.power);
  report->skipped = trainer->scale.skipped;
  report->norm = trainer->rules.norms.norm;
  report->largest = trainer->rules.found.amax;
  return HU_OK;
}

/* Trial steps of an epoch, which all have its rate. */
static hu_status try_steps(hu_trainer *trainer, uint64_t epoch) {
  hu_trainer_report ignored;
  hu_status status = hui_begin_trial(trainer);
  for (uint64_t i = 0; i <= trainer->keys.ramping_steps && status == HU_OK; i++) {
    status = make_step(trainer, epoch, &ignored);
    if (status == HU_OK) status = hui_look_at_trial(trainer);
  }
  return status == HU_OK ? hui_end_trial(trainer) : status;
}

static HU_NOINLINE hu_status step(hu_trainer *trainer, hu_trainer_report *report) {
  hu_trainer_report ignored;
  if (!trainer) return HU_E_NULL;
  if (!trainer->net || trainer->failed) return HU_E_TRAIN;
  uint64_t epoch = hui_epoch_of(trainer, trainer->step);
  trainer->failed = 1; /* until it has succeeded */
  hu_status status = hui_trial_is_due(trainer) ? try_steps(trainer, epoch) : HU_OK;
  return status == HU_OK ? make_step(trainer, epoch, report ? report : &ignored) : status;
}

hu_status hu_trainer_step(hu_trainer *trainer, hu_trainer_report *report) {
  HU_ENV_RETURN(hu_status, step(trainer, report));
}

uint64_t hu_trainer_steps(const hu_trainer *trainer) { return trainer && trainer->net ? trainer->steps : 0; }
uint64_t hu_trainer_steps_an_epoch(const hu_trainer *trainer) {
  return trainer && trainer->net ? trainer->steps_an_epoch : 0;
}
uint64_t hu_trainer_epoch_of(const hu_trainer *trainer, uint64_t step) {
  return trainer && trainer->net ? hui_epoch_of(trainer, step) : 0;
}
uint64_t hu_trainer_at(const hu_trainer *trainer) { return trainer ? trainer->step : 0; }
int hu_trainer_done(const hu_trainer *trainer) { return !trainer || !trainer->net || trainer->step >= trainer->steps; }
hu_net *hu_trainer_net(const hu_trainer *trainer) { return trainer ? trainer->net : NULL; }
uint64_t hu_trainer_digest(const hu_trainer *trainer) { return trainer ? hu_net_digest(trainer->net) : 0; }
