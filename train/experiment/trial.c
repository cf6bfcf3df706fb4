/* SPDX-License-Identifier: MIT */
/* A trial: a run of a trainer with the keys of its plan, and the row of the report that it fills. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/experiment/experiment.h"

static hu_status set_pairs(hu_lab *lab, hu_trainer *trainer, const char *const *pairs) {
  hu_status status = HU_OK;
  for (; pairs && pairs[0] && pairs[1] && status == HU_OK; pairs += 2)
    status = hu_trainer_set(trainer, pairs[0], pairs[1], lab->why);
  return status;
}

/* Records the keys of the run that differ from their defaults and that weights depend on. */
static size_t print_keys(const hu_trainer *trainer, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    const char *value = hu_trainer_get(trainer, key.name);
    if (!key.weights || strcmp(value, key.by_default) == 0) continue;
    int n = snprintf(used < size ? text + used : NULL, used < size ? size - used : 0, "%s = %s\n", key.name, value);
    if (n > 0) used += (size_t)n;
  }
  return used;
}

static hu_status keep_keys(hu_experiment_row *row, const hu_trainer *trainer) {
  size_t n = print_keys(trainer, NULL, 0) + 1;
  row->keys = malloc(n);
  if (!row->keys) return HU_E_MEMORY;
  *row->keys = 0;
  (void)print_keys(trainer, row->keys, n);
  return HU_OK;
}

/* What is added up over the steps. */
typedef struct step_sums {
  hu_update_counts updates;
  hu_trainer_report last;
  double low;
} step_sums;

static hu_status train(hu_lab *lab, const hu_trial *trial, hu_trainer *trainer, step_sums *sums) {
  hu_watcher watcher;
  memset(sums, 0, sizeof *sums);
  hu_status status = hui_watch_begin(&watcher, lab, trial);
  while (status == HU_OK && !hu_trainer_done(trainer)) {
    status = hu_trainer_step(trainer, &sums->last);
    if (status != HU_OK) break;
    sums->updates.moved += sums->last.updates.moved;
    sums->updates.lost += sums->last.updates.lost;
    sums->low += sums->last.low;
    status = hui_watch_step(&watcher, trainer, &sums->last);
  }
  hui_watch_end(&watcher);
  return status == HU_OK ? lab->status : status;
}

static hu_status fill_row(hu_experiment_row *row, hu_trainer *trainer, const step_sums *sums) {
  hu_trainer_seen training, test;
  hu_status status = hu_trainer_evaluate(trainer, HU_ON_TRAINING, &training);
  if (status == HU_OK) status = hu_trainer_evaluate(trainer, HU_ON_TEST, &test);
  if (status != HU_OK) return status;
  row->loss = training.loss;
  row->test_loss = test.loss;
  row->accuracy = test.accuracy;
  row->r2 = test.r2;
  row->steps = sums->last.step;
  row->skipped = sums->last.skipped;
  row->lost = sums->updates.moved ? (double)sums->updates.lost / (double)sums->updates.moved : 0;
  row->scale = (double)sums->last.scale;
  row->low = sums->last.step ? sums->low / (double)sums->last.step : 0;
  row->promoted = sums->last.promoted;
  row->digest = hu_trainer_digest(trainer);
  return keep_keys(row, trainer);
}

static hu_status set_seed(hu_lab *lab, hu_trainer *trainer) {
  char text[24];
  const char *const pairs[] = {"run.seed", text, "data.seed", text, NULL};
  snprintf(text, sizeof text, "%zu", lab->seed);
  return set_pairs(lab, trainer, pairs);
}

hu_status hui_lab_begin(hu_lab *lab, const char *name, const char *const *pairs, hu_trainer **begun) {
  hu_trainer *trainer = hu_trainer_new();
  int meant = !lab->how->row || strcmp(lab->how->row, name) == 0;
  hu_status status = trainer ? set_pairs(lab, trainer, lab->plan->pairs) : HU_E_MEMORY;
  if (status == HU_OK) status = set_pairs(lab, trainer, pairs);
  if (status == HU_OK && lab->seed) status = set_seed(lab, trainer);
  if (status == HU_OK && meant) status = set_pairs(lab, trainer, lab->how->pairs);
  if (status == HU_OK) status = hu_trainer_set_engine(trainer, lab->how->engine);
  if (status == HU_OK) status = hu_trainer_begin(trainer, lab->data, lab->why);
  *begun = trainer;
  return status;
}

/* ---- runs that are no trainer's ---- */

hu_status hui_lab_no_run(hu_lab *lab) {
  snprintf(lab->why, HU_DATA_WHY_MAX, "no run is called '%.64s'", lab->how->row);
  return HU_E_NAME;
}

hu_status hui_lab_own_runs(hu_lab *lab, const char *const *names) {
  hu_trainer *trainer = hu_trainer_new(); /* knows the keys, and which values they take */
  hu_status status = trainer ? set_pairs(lab, trainer, lab->how->pairs) : HU_E_MEMORY;
  hu_trainer_free(trainer);
  if (status != HU_OK || !lab->how->row) return status;
  for (; *names; names++) {
    if (strcmp(*names, lab->how->row) == 0) return HU_OK;
  }
  return hui_lab_no_run(lab);
}

const char *hui_lab_value(const hu_lab *lab, const char *run, const char *key, const char *standard) {
  const char *const *pairs = lab->how->pairs;
  if (lab->how->row && strcmp(lab->how->row, run) != 0) return standard;
  for (; pairs && pairs[0] && pairs[1]; pairs += 2) {
    if (strcmp(pairs[0], key) == 0) standard = pairs[1]; /* the last one counts, as in a trainer */
  }
  return standard;
}

/* ---- trials ---- */

hu_status hui_lab_check(hu_lab *lab) {
  const hu_plan *plan = lab->plan;
  hu_status status = HU_OK;
  for (size_t i = 0; plan->tensors && i < plan->count && status == HU_OK; i++) {
    hu_trainer *trainer = NULL;
    if (!((plan->trials[i].watch | plan->watch) & HU_WATCH_STATISTICS)) continue;
    status = hui_lab_begin(lab, plan->trials[i].name, plan->trials[i].pairs, &trainer);
    if (status == HU_OK) status = hui_watch_check(lab, trainer);
    hu_trainer_free(trainer);
  }
  return status;
}

hu_status hui_lab_try(hu_lab *lab, const hu_trial *trial, size_t *number) {
  step_sums sums;
  hu_trainer *trainer;
  hu_status status = hui_lab_begin(lab, trial->name, trial->pairs, &trainer);
  if (status == HU_OK) status = train(lab, trial, trainer, &sums);
  hu_experiment_row *row = status == HU_OK ? hui_lab_add_row(lab, trial->name) : NULL;
  if (status == HU_OK) status = row ? fill_row(row, trainer, &sums) : lab->status;
  hu_trainer_free(trainer);
  if (status != HU_OK) return status;
  if (number) *number = lab->report.rows - 1;
  return hui_lab_notify(lab);
}
