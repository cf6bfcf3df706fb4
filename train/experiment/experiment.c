/* SPDX-License-Identifier: MIT */
/* The list of experiments, and how one is run. */
#include "train/experiment/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"

static const hu_plan *const plans[] = {
    &hu_plan_master_weights,    &hu_plan_loss_scale,    &hu_plan_conv_scale,  &hu_plan_gru_scale,
    &hu_plan_scalers,           &hu_plan_s2fp8,         &hu_plan_s2fp8_conv,  &hu_plan_s2fp8_transformer,
    &hu_plan_least_squares,     &hu_plan_update_memory, &hu_plan_updates,     &hu_plan_adamw,
    &hu_plan_adamw_transformer, &hu_plan_promotion,     &hu_plan_assignments, &hu_plan_blocks,
    &hu_plan_accumulation,      &hu_plan_reduction,     &hu_plan_all_reduce,  &hu_plan_feedback};
enum { PLANS = sizeof plans / sizeof *plans };

size_t hu_experiment_count(void) { return PLANS; }

hu_experiment hu_experiment_at(size_t i) {
  hu_experiment z;
  memset(&z, 0, sizeof z);
  if (i >= PLANS) return z;
  z = plans[i]->shown;
  z.runs = plans[i]->count + plans[i]->own;
  return z;
}

/* ---- a trial ---- */

static hu_status set_pairs(hu_lab *lab, hu_trainer *t, const char *const *pairs) {
  hu_status s = HU_OK;
  for (; pairs && pairs[0] && pairs[1] && s == HU_OK; pairs += 2) s = hu_trainer_set(t, pairs[0], pairs[1], lab->why);
  return s;
}

/* Keys of the run that are not usual, and that weights depend on. */
static size_t print_keys(const hu_trainer *t, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    const char *value = hu_trainer_get(t, k.name);
    if (!k.weights || strcmp(value, k.by_default) == 0) continue;
    int n = snprintf(used < size ? text + used : NULL, used < size ? size - used : 0, "%s = %s\n", k.name, value);
    if (n > 0) used += (size_t)n;
  }
  return used;
}

static hu_status keep_keys(hu_experiment_row *row, const hu_trainer *t) {
  size_t n = print_keys(t, NULL, 0) + 1;
  row->keys = malloc(n);
  if (!row->keys) return HU_E_MEMORY;
  *row->keys = 0;
  (void)print_keys(t, row->keys, n);
  return HU_OK;
}

/* What is added up over the steps. */
typedef struct sums {
  hu_update_counts updates;
  hu_trainer_report last;
  double low;
} sums;

static hu_status train(hu_lab *lab, const hu_trial *trial, hu_trainer *t, sums *z) {
  hu_watcher w;
  memset(z, 0, sizeof *z);
  hu_status s = hu_watch_begin(&w, lab, trial);
  while (s == HU_OK && !hu_trainer_done(t)) {
    s = hu_trainer_step(t, &z->last);
    if (s != HU_OK) break;
    z->updates.moved += z->last.updates.moved;
    z->updates.lost += z->last.updates.lost;
    z->low += z->last.low;
    s = hu_watch_step(&w, t, &z->last);
  }
  hu_watch_end(&w);
  return s == HU_OK ? lab->status : s;
}

static hu_status fill_row(hu_experiment_row *row, hu_trainer *t, const sums *z) {
  hu_trainer_seen training, test;
  hu_status s = hu_trainer_evaluate(t, HU_ON_TRAINING, &training);
  if (s == HU_OK) s = hu_trainer_evaluate(t, HU_ON_TEST, &test);
  if (s != HU_OK) return s;
  row->loss = training.loss;
  row->test_loss = test.loss;
  row->accuracy = test.accuracy;
  row->r2 = test.r2;
  row->steps = z->last.step;
  row->skipped = z->last.skipped;
  row->lost = z->updates.moved ? (double)z->updates.lost / (double)z->updates.moved : 0;
  row->scale = (double)z->last.scale;
  row->low = z->last.step ? z->low / (double)z->last.step : 0;
  row->promoted = z->last.promoted;
  row->digest = hu_trainer_digest(t);
  return keep_keys(row, t);
}

hu_status hu_lab_begin(hu_lab *lab, const char *const *pairs, hu_trainer **begun) {
  hu_trainer *t = hu_trainer_new();
  hu_status s = t ? set_pairs(lab, t, lab->plan->pairs) : HU_E_MEMORY;
  if (s == HU_OK) s = set_pairs(lab, t, pairs);
  if (s == HU_OK) s = set_pairs(lab, t, lab->how->pairs);
  if (s == HU_OK) s = hu_trainer_set_engine(t, lab->how->engine);
  if (s == HU_OK) s = hu_trainer_begin(t, lab->data, lab->why);
  *begun = t;
  return s;
}

hu_status hu_lab_try(hu_lab *lab, const hu_trial *trial, size_t *number) {
  sums z;
  hu_trainer *t;
  hu_status s = hu_lab_begin(lab, trial->pairs, &t);
  if (s == HU_OK) s = train(lab, trial, t, &z);
  hu_experiment_row *row = s == HU_OK ? hu_lab_add_row(lab, trial->name) : NULL;
  if (s == HU_OK) s = row ? fill_row(row, t, &z) : lab->status;
  hu_trainer_free(t);
  if (s != HU_OK) return s;
  if (number) *number = lab->report.rows - 1;
  return hu_lab_tell(lab);
}

/* ---- an experiment ---- */

static const hu_plan *plan_named(const char *name) {
  for (size_t i = 0; i < PLANS; i++) {
    if (strcmp(plans[i]->shown.name, name) == 0) return plans[i];
  }
  return NULL;
}

static HU_NOINLINE hu_status run_plan(hu_lab *lab) {
  const hu_plan *plan = lab->plan;
  hu_status s = HU_OK;
  for (size_t i = 0; i < plan->count && s == HU_OK; i++) s = hu_lab_try(lab, &plan->trials[i], NULL);
  if (s == HU_OK && plan->run) s = plan->run(lab);
  if (s == HU_OK) plan->judge(lab);
  return s == HU_OK ? lab->status : s;
}

hu_status hu_experiment_run(hu_experiment_report *report, const char *name, const hu_experiment_options *how,
                            char *why) {
  static const hu_experiment_options usual = {NULL, NULL, NULL, NULL, NULL};
  char ignored[HU_DATA_WHY_MAX];
  hu_lab lab;
  if (!report || !name) return HU_E_NULL;
  memset(&lab, 0, sizeof lab);
  lab.how = how ? how : &usual;
  lab.data = lab.how->data ? lab.how->data : "data";
  lab.why = why ? why : ignored;
  *lab.why = 0;
  lab.plan = plan_named(name);
  if (!lab.plan) return HU_E_NAME;
  lab.caller = hu_text_env_enter();
  hu_status s = run_plan(&lab);
  hu_text_env_leave(lab.caller);
  if (s == HU_OK) {
    *report = lab.report;
    return HU_OK;
  }
  hu_experiment_report_free(&lab.report);
  return s;
}
