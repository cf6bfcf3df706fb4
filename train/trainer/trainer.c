/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/train/trainer.h: set the keys of a run, begin it, make its steps, evaluate it. */
#include "train/trainer/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/net/net.h"
#include "train/trainer/figures.h"

/* ---- keys ---- */

static char *copied(const char *text) {
  size_t n = strlen(text) + 1;
  char *z = malloc(n);
  if (z) memcpy(z, text, n);
  return z;
}

static HU_NOINLINE hu_status set_value(hu_trainer *t, size_t i, const char *value, char *why) {
  if (strlen(value) >= HU_LINE_MAX) return hu_say(why, HU_E_TRAIN, "%s: too long", hu_trainer_key_at(i).name);
  if (strchr(value, '\n')) return hu_say(why, HU_E_TRAIN, "%s: a line end in its value", hu_trainer_key_at(i).name);
  char *kept = copied(value);
  if (!kept) return hu_say(why, HU_E_MEMORY, "no memory");
  hu_status s = hu_read_key(&t->keys, i, kept, why);
  if (s != HU_OK) {
    free(kept);
    return s;
  }
  free(t->value[i]);
  t->value[i] = kept;
  return HU_OK;
}

static hu_status put(hu_trainer *t, size_t i, const char *value, char *why) {
  HU_ENV_RETURN(hu_status, set_value(t, i, value, why));
}

hu_trainer *hu_trainer_new(void) {
  hu_trainer *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  hu_status s = HU_E_MEMORY;
  t->ranks.size = 1;
  t->value = calloc(hu_trainer_key_count(), sizeof *t->value);
  for (size_t i = 0; t->value && i < hu_trainer_key_count(); i++) {
    s = put(t, i, hu_trainer_key_at(i).by_default, NULL);
    if (s != HU_OK) break;
  }
  if (s == HU_OK) return t;
  hu_trainer_free(t);
  return NULL;
}

/* All of a run but its keys. */
static void end_run(hu_trainer *t) {
  void *rooms[] = {t->x, t->y, t->labels, t->index, t->words, t->penalty, t->slot};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) free(rooms[i]);
  if (t->begun && !t->source.text) hu_batches_free(&t->order);
  hu_close_source(t);
  hu_close_feedback(t);
  hu_close_ramping(t);
  hu_close_shards(t);
  hu_precision_free(t->plan);
  hu_net_free(t->net);
  hu_trainer keys = {.value = t->value, .keys = t->keys, .engine = t->engine, .ranks = t->ranks};
  *t = keys;
}

void hu_trainer_free(hu_trainer *t) {
  if (!t) return;
  end_run(t);
  for (size_t i = 0; t->value && i < hu_trainer_key_count(); i++) free(t->value[i]);
  free(t->value);
  free(t);
}

hu_status hu_trainer_set(hu_trainer *t, const char *name, const char *value, char *why) {
  if (!t || !name || !value) return HU_E_NULL;
  size_t i = hu_find_key(name);
  if (i == SIZE_MAX) return hu_say(why, HU_E_NAME, "%s: no such key", name);
  if (t->net) return hu_say(why, HU_E_SHAPE, "%s: the run has begun", name);
  hu_status s = put(t, i, value, why);
  if (s != HU_OK || strcmp(name, "precision.system") != 0) return s;
  for (const char *const *p = hu_system_pairs(t->value[i]); *p && s == HU_OK; p += 2)
    s = put(t, hu_find_key(p[0]), p[1], why);
  return s;
}

hu_status hu_trainer_set_engine(hu_trainer *t, const hu_engine *engine) {
  if (!t) return HU_E_NULL;
  if (t->net) return HU_E_SHAPE;
  t->engine = engine;
  return HU_OK;
}

hu_status hu_trainer_set_ranks(hu_trainer *t, const hu_trainer_ranks *ranks) {
  if (!t || !ranks) return HU_E_NULL;
  if (t->net || ranks->size < 1 || ranks->rank < 0 || ranks->rank >= ranks->size) return HU_E_SHAPE;
  if (ranks->size > 1 && (!ranks->join || !ranks->sum)) return HU_E_NULL;
  t->ranks = *ranks;
  return HU_OK;
}

/* ---- beginning ---- */

static hu_optimizer optimizer_of(const hu_run_keys *k) {
  hu_optimizer o = k->optimizer == HU_ADAMW     ? hu_optimizer_adamw(k->state)
                   : k->optimizer == HU_ADAGRAD ? hu_optimizer_adagrad(k->state)
                                                : hu_optimizer_sgd(k->state);
  o.weight = k->weight;
  o.rate = k->rate;
  o.momentum = k->momentum;
  o.beta1 = k->beta1;
  o.beta2 = k->beta2;
  o.eps = k->eps;
  o.decay = k->decay;
  o.coupled = (uint8_t)k->coupled;
  o.fused = (uint8_t)k->fused;
  o.nesterov = (uint8_t)k->nesterov;
  o.update = k->kahan ? HU_UPDATE_KAHAN : HU_UPDATE_ROUND;
  if (!k->kahan) o.mode = k->update;
  o.mode_decay = k->decay_mode;
  o.mode_momentum = k->momentum_mode;
  return o;
}

/* Penalties are of weights: not of biases, gains and offsets, which are a single row that is not drawn. */
static hu_status set_rules(hu_trainer *t, char *why) {
  const hu_run_keys *k = &t->keys;
  const char *said = NULL;
  int n = hu_net_parameters(t->net);
  t->rules.rules = hu_gradient_rules_none();
  t->rules.rules.clip = k->clip;
  t->rules.rules.literal = (uint8_t)k->literal;
  t->rules.rules.larc = (uint8_t)k->larc;
  t->rules.rules.larc_eta = k->eta;
  hu_status s = hu_gradient_rules_check(&t->rules.rules, &said);
  if (s != HU_OK) return hu_say(why, s, "gradient: %s", said);
  if (k->larc == HU_LARC_CLIP && k->rate == 0)
    return hu_say(why, HU_E_TRAIN, "gradient.larc: clip wants a rate above 0");
  if (!k->penalty) return HU_OK;
  t->penalty = calloc((size_t)n, sizeof *t->penalty);
  if (!t->penalty) return HU_E_MEMORY;
  for (int i = 0; i < n; i++) {
    hu_penalty p = {(uint8_t)k->penalty, k->lambda};
    if (t->net->parameter[i].rows > 1 || t->net->parameter[i].fan_in) t->penalty[i] = p;
    s = hu_penalty_check(&p, &said);
  }
  t->rules.penalties = t->penalty;
  return s == HU_OK ? HU_OK : hu_say(why, s, "gradient.lambda: %s", said);
}

static void set_length(hu_trainer *t) {
  const hu_run_keys *k = &t->keys;
  size_t count = t->source.text ? t->source.split / t->source.window : t->source.training.count;
  t->steps_an_epoch = count / t->samples;
  t->steps = k->steps ? k->steps : k->epochs * t->steps_an_epoch;
}

static HU_NOINLINE hu_status begin(hu_trainer *t, const char *folder, char *why) {
  const hu_run_keys *k = &t->keys;
  const char *said = NULL;
  t->optimizer = optimizer_of(k);
  hu_status s = hu_optimizer_check(&t->optimizer, &said);
  if (s != HU_OK) return hu_say(why, s, "optimizer: %s", said ? said : hu_status_text(s));
  if (k->augment && k->set != SET_CIFAR10 && k->set != SET_CIFAR100) {
    return hu_say(why, HU_E_TRAIN, "data.augment: only of cifar10 and cifar100");
  }
  if (k->accumulate > 1 && k->assignment != ASSIGN_NONE)
    return hu_say(why, HU_E_TRAIN, "run.accumulate: above 1, and assignment.kind says what overflows in one batch");
  s = hu_open_shards(t, why);
  if (s == HU_OK) s = hu_open_source(t, folder, why);
  if (s == HU_OK) s = hu_build_nets(t, why);
  if (s != HU_OK) return s;
  set_length(t);
  if (!t->steps_an_epoch)
    return hu_say(why, HU_E_SHAPE, "run.batch%s: more than the training set has",
                  k->accumulate > 1 ? " times run.accumulate" : "");
  hu_batch_state start = {k->seed, 0, 0};
  if (!t->source.text) s = hu_batches_open(&t->order, t->source.training.count, t->samples, start);
  if (s != HU_OK) return hu_say(why, s, "run.batch: %s", hu_status_text(s));
  t->begun = 1;
  s = hu_make_rooms(t, why);
  if (s == HU_OK) s = hu_make_shards(t);
  if (s == HU_OK) s = hu_make_feedback(t);
  if (s == HU_OK) s = set_rules(t, why);
  if (s == HU_OK) s = hu_first_weights(t);
  t->rule = k->rule;
  if (s == HU_OK && k->largest) s = hu_choose_scale(t);
  if (s == HU_OK) s = hu_set_precision(t, why);
  if (s == HU_OK) s = hu_make_ramping(t, why);
  if (s == HU_OK) s = hu_make_told(t);
  if (s == HU_OK) s = hu_list_state(t);
  t->scale = hu_loss_scale_start(&t->rule);
  return s;
}

hu_status hu_trainer_begin(hu_trainer *t, const char *folder, char *why) {
  char ignored[HU_DATA_WHY_MAX];
  if (!t || !folder) return HU_E_NULL;
  if (!why) why = ignored;
  if (t->net) return hu_say(why, HU_E_SHAPE, "the run has begun");
  *why = 0;
  hu_float_env saved = hu_float_env_enter(HU_LANE_NEAREST);
  hu_status s = begin(t, folder, why);
  hu_float_env_leave(saved);
  if (s == HU_OK) return s;
  if (!*why) hu_say(why, s, "%s", hu_status_text(s));
  end_run(t);
  return s;
}

/* ---- a step ---- */

/* One step, with the rate of an epoch. */
static hu_status make_step(hu_trainer *t, uint64_t epoch, hu_trainer_report *r) {
  hu_pass pass = {0};
  memset(r, 0, sizeof *r);
  t->failed = 1; /* until it has succeeded */
  t->optimizer.rate = hu_warm_rate(&t->keys, t->step, hu_rate_of(t, epoch, t->steps));
  r->scale = t->scale.scale;
  r->rate = t->optimizer.rate;
  r->epoch = t->step / t->steps_an_epoch;
  hu_status s = hu_make_pass(t, t->scale.scale, &pass);
  if (s != HU_OK) return s;
  r->forward = pass.counted.forward;
  r->backward = pass.counted.backward;
  s = hu_step_plan(t, r);
  if (s == HU_OK) s = hu_net_update_with(t->net, &t->optimizer, &t->rule, &t->scale, &t->rules, &r->updates, &r->taken);
  if (s != HU_OK) return s;
  if (r->taken) hu_keep_feedback(t);
  t->step++;
  s = hu_set_products(t); /* as the next step, and whoever looks before it, has them */
  if (s != HU_OK) return s;
  t->failed = 0;
  r->step = t->step;
  r->loss = ldexp(pass.loss, (int)t->keys.power);
  r->skipped = t->scale.skipped;
  r->norm = t->rules.norms.norm;
  r->largest = t->rules.found.amax;
  return HU_OK;
}

/* Trial steps of an epoch, which all have its rate. */
static hu_status try_steps(hu_trainer *t, uint64_t epoch) {
  hu_trainer_report ignored;
  hu_status s = hu_begin_trial(t);
  for (uint64_t i = 0; i <= t->keys.ramping_steps && s == HU_OK; i++) {
    s = make_step(t, epoch, &ignored);
    if (s == HU_OK) s = hu_look_at_trial(t);
  }
  return s == HU_OK ? hu_end_trial(t) : s;
}

static HU_NOINLINE hu_status step(hu_trainer *t, hu_trainer_report *report) {
  hu_trainer_report ignored;
  if (!t) return HU_E_NULL;
  if (!t->net || t->failed) return HU_E_TRAIN;
  uint64_t epoch = t->step / t->steps_an_epoch;
  t->failed = 1; /* until it has succeeded */
  hu_status s = hu_wants_trial(t) ? try_steps(t, epoch) : HU_OK;
  return s == HU_OK ? make_step(t, epoch, report ? report : &ignored) : s;
}

hu_status hu_trainer_step(hu_trainer *t, hu_trainer_report *report) { HU_ENV_RETURN(hu_status, step(t, report)); }

uint64_t hu_trainer_steps(const hu_trainer *t) { return t && t->net ? t->steps : 0; }
uint64_t hu_trainer_steps_an_epoch(const hu_trainer *t) { return t && t->net ? t->steps_an_epoch : 0; }
uint64_t hu_trainer_at(const hu_trainer *t) { return t ? t->step : 0; }
int hu_trainer_done(const hu_trainer *t) { return !t || !t->net || t->step >= t->steps; }
hu_net *hu_trainer_net(const hu_trainer *t) { return t ? t->net : NULL; }
uint64_t hu_trainer_digest(const hu_trainer *t) { return t ? hu_net_digest(t->net) : 0; }

/* ---- looking ---- */

typedef struct tally {
  double loss, right, rows, squares, sum, sum_of_squares;
  double whole;  /* batches that the loss is of; where some rows have no label, rows */
  double part;   /* loss of the examples of a set that has no whole batch; else 0 */
  double *score; /* of each example; NULL: not wanted */
} tally;

/* Where the labels are: what the net answers need not come here. */
static hu_status tally_labels(const hu_trainer *t, size_t n, tally *z) {
  hu_answers answers = {0, 0};
  size_t rows = hu_net_rows(t->net, t->ends.output) / t->batch * n;
  hu_status s = hu_net_judge(t->net, t->ends.output, rows, &answers);
  z->rows += (double)answers.asked;
  z->right += (double)answers.right;
  return s;
}

/* Scores of batch b. */
static hu_status keep_scores(const hu_trainer *t, size_t b, size_t n, double *score) {
  const float *out = hu_net_numbers(t->net, t->ends.output);
  size_t cols = hu_net_cols(t->net, t->ends.output);
  if (!out) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const float *y = out + i * cols;
    score[b * t->batch + i] = (double)y[1] - (double)y[0];
  }
  return HU_OK;
}

static hu_status tally_targets(const hu_trainer *t, size_t n, tally *z) {
  const float *out = hu_net_numbers(t->net, t->ends.output);
  size_t count = hu_net_rows(t->net, t->ends.output) * hu_net_cols(t->net, t->ends.output) / t->batch * n;
  if (!out) return HU_E_MEMORY;
  for (size_t i = 0; i < count; i++) {
    double y = (double)t->y[i], error = (double)out[i] - y;
    z->squares += error * error;
    z->sum += y;
    z->sum_of_squares += y * y;
  }
  z->rows += (double)count;
  return HU_OK;
}

/* The loss of n examples that are less than a batch, whose other rows repeat the last one. Rows without a label do
 * not count in the loss; rows with targets have no error once their targets are what the net answers. */
static hu_status lose_part(hu_trainer *t, size_t n, float *loss) {
  size_t all = hu_net_rows(t->net, t->ends.output) * hu_net_cols(t->net, t->ends.output), kept = all / t->batch * n;
  if (hu_has_labels(t)) return HU_OK; /* hu_feed_to_see has taken them */
  const float *out = hu_net_numbers(t->net, t->ends.output);
  if (!out) return HU_E_MEMORY;
  memcpy(t->y + kept, out + kept, (all - kept) * sizeof *out);
  hu_status s = hu_net_targets(t->net, t->y);
  if (s == HU_OK) s = hu_net_forward(t->net, 0, loss);
  *loss = (float)((double)*loss * (double)t->batch / (double)n);
  return s;
}

static hu_status tally_batch(hu_trainer *t, int on, size_t b, int labels, tally *z) {
  size_t n;
  float loss;
  hu_status s = hu_feed_to_see(t, on, b, &n);
  int only_part = s == HU_OK && n < t->batch && hu_batches_to_see(t, on) == 1;
  if (s == HU_OK) s = hu_net_forward(t->net, 0, &loss);
  if (s == HU_OK && only_part && !hu_has_some_labels(t)) s = lose_part(t, n, &loss);
  if (s != HU_OK) return s;
  double mean = ldexp((double)loss * (double)t->shards.count, (int)t->keys.power);
  if (hu_has_some_labels(t)) {
    z->loss += mean * t->counted;
    z->whole += t->counted;
  } else if (n == t->batch) {
    z->loss += mean;
    z->whole++;
  } else if (only_part) {
    z->part = mean;
  }
  if (z->score) s = keep_scores(t, b, n, z->score);
  if (s != HU_OK) return s;
  return labels ? tally_labels(t, n, z) : tally_targets(t, n, z);
}

/* Processes take every size-th batch each; of every batch they tell its loss, whether it is whole, its answers, and
 * its loss as a part, so that the sums are made in one order by all. */
static hu_status tally_shared(hu_trainer *t, int on, tally *z) {
  enum { TELL = 5 };
  size_t batches = hu_batches_to_see(t, on), size = (size_t)t->ranks.size;
  double *told = calloc(batches * TELL + 1, sizeof *told);
  if (!told) return HU_E_MEMORY;
  hu_status s = HU_OK;
  for (size_t b = (size_t)t->ranks.rank; b < batches && s == HU_OK; b += size) {
    tally one = {.score = z->score};
    s = tally_batch(t, on, b, 1, &one);
    const double of_batch[TELL] = {one.loss, one.whole, one.right, one.rows, one.part};
    memcpy(told + b * TELL, of_batch, sizeof of_batch);
  }
  if (s == HU_OK) s = t->ranks.sum(t->ranks.context, batches * TELL, told);
  for (size_t b = 0; b < batches; b++) {
    z->loss += told[b * TELL];
    z->whole += told[b * TELL + 1];
    z->right += told[b * TELL + 2];
    z->rows += told[b * TELL + 3];
    z->part += told[b * TELL + 4];
  }
  free(told);
  return s;
}

/* The examples of a set of two classes; NULL: it has others. */
static const hu_data *pairs_to_see(const hu_trainer *t, int on) {
  const hu_data *d = on == HU_ON_TEST ? &t->source.test : &t->source.training;
  return !t->source.text && d->labels && d->classes == 2 ? d : NULL;
}

static hu_status rank(const hu_trainer *t, int on, double *score, hu_trainer_seen *seen) {
  const hu_data *d = pairs_to_see(t, on);
  hu_status s = t->ranks.size > 1 ? t->ranks.sum(t->ranks.context, d->count, score) : HU_OK;
  if (s == HU_OK) s = hu_auc(d->count, score, d->labels, &seen->auc);
  if (s == HU_OK && on == HU_ON_TEST && t->source.group)
    hu_rank_groups(d->count / t->source.group, t->source.group, score, &seen->hit, &seen->ndcg);
  return s;
}

static hu_status tally_all(hu_trainer *t, int on, int labels, tally *z) {
  hu_status s = HU_OK;
  if (labels && t->ranks.size > 1) return tally_shared(t, on, z);
  for (size_t b = 0; b < hu_batches_to_see(t, on) && s == HU_OK; b++) s = tally_batch(t, on, b, labels, z);
  return s;
}

static HU_NOINLINE hu_status evaluate(hu_trainer *t, int on, hu_trainer_seen *seen) {
  const double none = (double)NAN;
  tally z;
  hu_trainer_seen ranked = {none, none, none, none, none, none, none, none};
  if (!t || !seen) return HU_E_NULL;
  if (!t->net || on < HU_ON_TRAINING || on > HU_ON_TEST) return HU_E_TRAIN;
  memset(&z, 0, sizeof z);
  int labels = hu_has_labels(t), sentences = t->source.parallel.window != 0;
  const hu_data *pairs = pairs_to_see(t, on);
  if (pairs) z.score = calloc(pairs->count, sizeof *z.score);
  if (pairs && !z.score) return HU_E_MEMORY;
  hu_status s = tally_all(t, on, labels, &z);
  if (s == HU_OK && pairs) s = rank(t, on, z.score, &ranked);
  free(z.score);
  if (s == HU_OK && sentences && on == HU_ON_TEST && t->keys.translate) s = hu_translate(t, &ranked.bleu);
  if (s != HU_OK) return s;
  *seen = ranked;
  seen->loss = z.whole > 0 ? z.loss / z.whole : z.rows > 0 ? z.part : none;
  seen->perplexity = t->source.text || sentences ? hu_exp_of_loss(seen->loss) : (double)NAN;
  seen->accuracy = labels ? z.right / z.rows : (double)NAN;
  seen->r2 = labels ? (double)NAN : 1 - z.squares / (z.sum_of_squares - z.sum * z.sum / z.rows);
  return HU_OK;
}

hu_status hu_trainer_evaluate(hu_trainer *t, int on, hu_trainer_seen *seen) {
  HU_ENV_RETURN(hu_status, evaluate(t, on, seen));
}

static HU_NOINLINE void count_exponents(size_t n, const float *x, uint64_t z[HU_EXPONENTS]) {
  for (size_t i = 0; i < n; i++) {
    int e;
    if (x[i] == 0) {
      z[0]++;
    } else if (!isfinite(x[i])) {
      z[HU_EXPONENTS - 1]++;
    } else {
      (void)frexpf(x[i], &e);
      z[e - 1 + 150]++;
    }
  }
}

void hu_exponents_of(size_t n, const float *x, uint64_t z[HU_EXPONENTS]) { HU_ENV_DO(count_exponents(n, x, z)); }
