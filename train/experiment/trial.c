/* SPDX-License-Identifier: MIT */
/* A trial: a run of a trainer with the keys of its plan, and the row of the report that it fills. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/experiment/experiment.h"

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

static hu_status set_seed(hu_lab *lab, hu_trainer *t) {
  char text[24];
  const char *const pairs[] = {"run.seed", text, "data.seed", text, NULL};
  snprintf(text, sizeof text, "%zu", lab->seed);
  return set_pairs(lab, t, pairs);
}

hu_status hu_lab_begin(hu_lab *lab, const char *name, const char *const *pairs, hu_trainer **begun) {
  hu_trainer *t = hu_trainer_new();
  int meant = !lab->how->row || strcmp(lab->how->row, name) == 0;
  hu_status s = t ? set_pairs(lab, t, lab->plan->pairs) : HU_E_MEMORY;
  if (s == HU_OK) s = set_pairs(lab, t, pairs);
  if (s == HU_OK && lab->seed) s = set_seed(lab, t);
  if (s == HU_OK && meant) s = set_pairs(lab, t, lab->how->pairs);
  if (s == HU_OK) s = hu_trainer_set_engine(t, lab->how->engine);
  if (s == HU_OK) s = hu_trainer_begin(t, lab->data, lab->why);
  *begun = t;
  return s;
}

/* ---- runs that are no trainer's ---- */

hu_status hu_lab_no_run(hu_lab *lab) {
  snprintf(lab->why, HU_DATA_WHY_MAX, "no run is called '%.64s'", lab->how->row);
  return HU_E_NAME;
}

hu_status hu_lab_own_runs(hu_lab *lab, const char *const *names) {
  hu_trainer *t = hu_trainer_new(); /* knows the keys, and which values they take */
  hu_status s = t ? set_pairs(lab, t, lab->how->pairs) : HU_E_MEMORY;
  hu_trainer_free(t);
  if (s != HU_OK || !lab->how->row) return s;
  for (; *names; names++) {
    if (strcmp(*names, lab->how->row) == 0) return HU_OK;
  }
  return hu_lab_no_run(lab);
}

const char *hu_lab_value(const hu_lab *lab, const char *run, const char *key, const char *usual) {
  const char *const *pairs = lab->how->pairs;
  if (lab->how->row && strcmp(lab->how->row, run) != 0) return usual;
  for (; pairs && pairs[0] && pairs[1]; pairs += 2) {
    if (strcmp(pairs[0], key) == 0) usual = pairs[1]; /* the last one counts, as in a trainer */
  }
  return usual;
}

/* ---- trials ---- */

hu_status hu_lab_check(hu_lab *lab) {
  const hu_plan *plan = lab->plan;
  hu_status s = HU_OK;
  for (size_t i = 0; plan->tensors && i < plan->count && s == HU_OK; i++) {
    hu_trainer *t = NULL;
    if (!((plan->trials[i].watch | plan->watch) & HU_WATCH_STATISTICS)) continue;
    s = hu_lab_begin(lab, plan->trials[i].name, plan->trials[i].pairs, &t);
    if (s == HU_OK) s = hu_watch_check(lab, t);
    hu_trainer_free(t);
  }
  return s;
}

hu_status hu_lab_try(hu_lab *lab, const hu_trial *trial, size_t *number) {
  sums z;
  hu_trainer *t;
  hu_status s = hu_lab_begin(lab, trial->name, trial->pairs, &t);
  if (s == HU_OK) s = train(lab, trial, t, &z);
  hu_experiment_row *row = s == HU_OK ? hu_lab_add_row(lab, trial->name) : NULL;
  if (s == HU_OK) s = row ? fill_row(row, t, &z) : lab->status;
  hu_trainer_free(t);
  if (s != HU_OK) return s;
  if (number) *number = lab->report.rows - 1;
  return hu_lab_tell(lab);
}
