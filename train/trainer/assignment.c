/* SPDX-License-Identifier: MIT */
/* Applies an assignment in a run: which tensors are low, which are promoted during the run, and both in the state's
 * text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/precision/passed.h"
#include "train/trainer/trainer.h"

static hu_precision_rule rule_of(const hu_run_keys *keys) {
  hu_precision_rule rule = hu_precision_rule_default();
  rule.kind = (uint8_t)(keys->assignment - ASSIGN_HIGH); /* in the order of HU_PRECISION_ */
  rule.order = (uint8_t)keys->order;
  rule.low_dtheta = !keys->keep_high;
  rule.promote = keys->limit.num < keys->limit.den;
  rule.r = keys->ratio;
  rule.most = keys->ratio_max;
  rule.reading = (uint8_t)keys->reading;
  rule.limit = keys->limit;
  rule.seed = keys->seed;
  rule.formats.low = keys->low_forward;
  rule.formats.low_back = keys->low_backward;
  rule.formats.high = keys->high_forward;
  rule.formats.high_back = keys->high_backward;
  return rule;
}

hu_status hui_start_plan(hu_trainer *trainer, char *why) {
  if (trainer->keys.assignment == ASSIGN_NONE) return HU_OK;
  hu_precision_rule rule = rule_of(&trainer->keys);
  hu_status status = hu_precision_new(&trainer->plan, trainer->net, &rule);
  if (status == HU_E_TRAIN) /* all else was checked as keys */
    return hui_say(why, status,
                   "assignment.ratio_max: fewer groups do not reach assignment.ratio, and these are above");
  return status == HU_OK ? HU_OK : hui_say(why, status, "assignment: %s", hu_status_text(status));
}

/* ---- an assignment of one's own: PARTS arrays of m + 1 numbers ---- */

enum { PARTS = 4 };

static hu_assignment assignment_in(uint8_t *buffer, size_t m) {
  hu_assignment assignment = {buffer, buffer + m + 1, buffer + 2 * (m + 1), buffer + 3 * (m + 1)};
  return assignment;
}

static void copy_assignment(hu_assignment *assignment, const hu_assignment *from, size_t m) {
  memcpy(assignment->v, from->v, m + 1);
  memcpy(assignment->dv, from->dv, m + 1);
  memcpy(assignment->theta, from->theta, m);
  memcpy(assignment->dtheta, from->dtheta, m);
}

hu_status hui_check_promoted(hu_trainer *trainer, hu_status (*check)(const hu_trainer *trainer, char *why), char *why) {
  if (!trainer->plan || trainer->keys.limit.num >= trainer->keys.limit.den) return HU_OK;
  const hu_assignment *now = hu_precision_assignment(trainer->plan);
  size_t m = hu_precision_layout(trainer->plan)->operators;
  uint8_t *buffer = calloc(2, PARTS * (m + 1));
  if (!buffer) return hui_say(why, HU_E_MEMORY, "assignment: %s", hu_status_text(HU_E_MEMORY));
  hu_assignment was = assignment_in(buffer, m), high = assignment_in(buffer + PARTS * (m + 1), m);
  copy_assignment(&was, now, m);
  copy_assignment(&high, now, m);
  memset(high.v, 0, m + 1);
  memset(high.theta, 0, m);
  hu_status status = hu_precision_set(trainer->plan, &high, NULL);
  if (status == HU_OK) status = check(trainer, why);
  hu_status back = hu_precision_set(trainer->plan, &was, NULL);
  free(buffer);
  return status == HU_OK ? back : status;
}

hu_status hui_step_plan(hu_trainer *trainer, hu_trainer_report *report) {
  if (!trainer->plan) return HU_OK;
  hu_ratio low = hu_precision_ratio(trainer->plan);
  report->low = (double)low.num / (double)low.den;
  hui_precision_passed(trainer->plan, trainer->rest.passed ? trainer->rest.net : trainer->net);
  hu_status status = hu_precision_step(trainer->plan, NULL);
  report->promoted = hu_precision_past_of(trainer->plan).promoted;
  return status;
}

/* ---- the state ---- */

static const char *const names[PARTS] = {"low.v", "low.dv", "low.theta", "low.dtheta"};

/* Gets the four arrays of an assignment and their lengths. */
static void parts_of(const hu_trainer *trainer, const hu_assignment *assignment, uint8_t *part[PARTS],
                     size_t n[PARTS]) {
  size_t m = hu_precision_layout(trainer->plan)->operators;
  uint8_t *const all[PARTS] = {assignment->v, assignment->dv, assignment->theta, assignment->dtheta};
  for (size_t i = 0; i < PARTS; i++) {
    part[i] = all[i];
    n[i] = i < 2 ? m + 1 : m;
  }
}

void hui_print_plan(const hu_trainer *trainer, hu_paper *paper) {
  uint8_t *part[PARTS];
  size_t n[PARTS];
  if (!trainer->plan) return;
  parts_of(trainer, hu_precision_assignment(trainer->plan), part, n);
  for (size_t i = 0; i < PARTS; i++) {
    hui_print(paper, "%s=", names[i]);
    for (size_t k = 0; k < n[i]; k++) hui_print(paper, "%d", part[i][k]);
    hui_print(paper, "\n");
  }
  hu_precision_past past = hu_precision_past_of(trainer->plan);
  hui_print(paper, "low.steps=%" PRIu64 "\nlow.elements=%" PRIu64 "\nlow.promoted=%" PRIu64 "\n", past.steps, past.low,
            past.promoted);
}

/* Reads n digits 0 and 1. */
static int read_digits(const char *text, const char *name, size_t n, uint8_t *z) {
  char line[HU_LINE_MAX];
  if (!hui_state_line(text, name, line) || strlen(line) != n || strspn(line, "01") != n) return 0;
  for (size_t i = 0; i < n; i++) z[i] = line[i] == '1';
  return 1;
}

hu_status hui_read_plan(hu_trainer *trainer, const char *text, char *why) {
  size_t n[PARTS];
  uint8_t *part[PARTS];
  hu_precision_past past;
  if (!trainer->plan) return HU_OK;
  size_t m = hu_precision_layout(trainer->plan)->operators;
  uint8_t *buffer = calloc(PARTS, m + 1);
  if (!buffer) return HU_E_MEMORY;
  hu_assignment assignment = assignment_in(buffer, m);
  parts_of(trainer, &assignment, part, n);
  int ok = 1;
  for (size_t i = 0; i < PARTS; i++) ok = ok && read_digits(text, names[i], n[i], part[i]);
  ok = ok && hui_state_count(text, "low.steps", &past.steps) && hui_state_count(text, "low.elements", &past.low) &&
       hui_state_count(text, "low.promoted", &past.promoted);
  hu_status status = ok ? hu_precision_set(trainer->plan, &assignment, &past) : HU_E_TEXT;
  free(buffer);
  return status == HU_OK ? HU_OK : hui_say(why, status, "the state does not say which tensors are low");
}
