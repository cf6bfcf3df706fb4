/* SPDX-License-Identifier: MIT */
/* The list of experiments, and how one is run. */
#include "train/experiment/experiment.h"

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
  hu_experiment experiment;
  memset(&experiment, 0, sizeof experiment);
  if (i >= PLANS) return experiment;
  experiment = plans[i]->shown;
  experiment.runs = plans[i]->count + plans[i]->own;
  experiment.seeded = hui_plan_is_seeded(plans[i]);
  return experiment;
}

/* ---- an experiment ---- */

static const hu_plan *plan_named(const char *name) {
  for (size_t i = 0; i < PLANS; i++) {
    if (strcmp(plans[i]->shown.name, name) == 0) return plans[i];
  }
  return NULL;
}

static int has_row(const hu_plan *plan, const char *name) {
  for (size_t i = 0; i < plan->count; i++) {
    if (strcmp(plan->trials[i].name, name) == 0) return 1;
  }
  return 0;
}

static HU_NOINLINE hu_status run_plan(hu_lab *lab) {
  const hu_plan *plan = lab->plan;
  hu_status status = hui_lab_check(lab);
  for (size_t i = 0; i < plan->count && status == HU_OK; i++) status = hui_lab_try(lab, &plan->trials[i], NULL);
  if (status == HU_OK && plan->run) status = plan->run(lab);
  if (status == HU_OK && hui_lab_seeds(lab) > 1) status = hui_lab_other_seeds(lab);
  if (status == HU_OK) plan->judge(lab);
  return status == HU_OK ? lab->status : status;
}

hu_status hu_experiment_run(hu_experiment_report *report, const char *name, const hu_experiment_options *how,
                            char *why) {
  static const hu_experiment_options standard = {NULL, NULL, NULL, NULL, NULL, 0, NULL};
  char ignored[HU_DATA_WHY_MAX];
  hu_lab lab;
  if (!report || !name) return HU_E_NULL;
  memset(&lab, 0, sizeof lab);
  lab.how = how ? how : &standard;
  lab.data = lab.how->data ? lab.how->data : "data";
  lab.why = why ? why : ignored;
  *lab.why = 0;
  lab.plan = plan_named(name);
  if (!lab.plan) return HU_E_NAME;
  if (lab.how->row && lab.plan->count && !has_row(lab.plan, lab.how->row)) return hui_lab_no_run(&lab);
  lab.caller = hui_text_env_enter();
  hu_status status = run_plan(&lab);
  hui_text_env_leave(lab.caller);
  if (status == HU_OK) {
    *report = lab.report;
    return HU_OK;
  }
  hu_experiment_report_free(&lab.report);
  return status;
}
