/* SPDX-License-Identifier: MIT */
/* Applies an assignment in a run: which tensors are low, which are promoted on the way, and both in the state's
 * text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer/trainer.h"

static hu_precision_rule rule_of(const hu_run_keys *k) {
  hu_precision_rule r = hu_precision_rule_default();
  r.kind = (uint8_t)(k->assignment - ASSIGN_HIGH); /* in the order of HU_PRECISION_ */
  r.order = (uint8_t)k->order;
  r.low_dtheta = !k->keep_high;
  r.promote = k->limit.num < k->limit.den;
  r.r = k->ratio;
  r.limit = k->limit;
  r.seed = k->seed;
  r.formats.low = k->low_forward;
  r.formats.low_back = k->low_backward;
  r.formats.high = k->high_forward;
  r.formats.high_back = k->high_backward;
  return r;
}

hu_status hu_start_plan(hu_trainer *t, char *why) {
  if (t->keys.assignment == ASSIGN_NONE) return HU_OK;
  hu_precision_rule rule = rule_of(&t->keys);
  hu_status s = hu_precision_new(&t->plan, t->net, &rule);
  return s == HU_OK ? HU_OK : hu_say(why, s, "assignment: %s", hu_status_text(s));
}

/* ---- an assignment of one's own: PARTS arrays of m + 1 numbers ---- */

enum { PARTS = 4 };

static hu_assignment assignment_in(uint8_t *room, size_t m) {
  hu_assignment a = {room, room + m + 1, room + 2 * (m + 1), room + 3 * (m + 1)};
  return a;
}

static void copy_assignment(hu_assignment *z, const hu_assignment *a, size_t m) {
  memcpy(z->v, a->v, m + 1);
  memcpy(z->dv, a->dv, m + 1);
  memcpy(z->theta, a->theta, m);
  memcpy(z->dtheta, a->dtheta, m);
}

hu_status hu_check_promoted(hu_trainer *t, hu_status (*check)(const hu_trainer *t, char *why), char *why) {
  if (!t->plan || t->keys.limit.num >= t->keys.limit.den) return HU_OK;
  const hu_assignment *now = hu_precision_assignment(t->plan);
  size_t m = hu_precision_layout(t->plan)->operators;
  uint8_t *room = calloc(2, PARTS * (m + 1));
  if (!room) return hu_say(why, HU_E_MEMORY, "assignment: %s", hu_status_text(HU_E_MEMORY));
  hu_assignment was = assignment_in(room, m), high = assignment_in(room + PARTS * (m + 1), m);
  copy_assignment(&was, now, m);
  copy_assignment(&high, now, m);
  memset(high.v, 0, m + 1);
  memset(high.theta, 0, m);
  hu_status s = hu_precision_set(t->plan, &high, NULL);
  if (s == HU_OK) s = check(t, why);
  hu_status back = hu_precision_set(t->plan, &was, NULL);
  free(room);
  return s == HU_OK ? back : s;
}

hu_status hu_step_plan(hu_trainer *t, hu_trainer_report *r) {
  if (!t->plan) return HU_OK;
  hu_ratio low = hu_precision_ratio(t->plan);
  r->low = (double)low.num / (double)low.den;
  hu_status s = hu_precision_step(t->plan, NULL);
  r->promoted = hu_precision_past_of(t->plan).promoted;
  return s;
}

/* ---- the state ---- */

static const char *const names[PARTS] = {"low.v", "low.dv", "low.theta", "low.dtheta"};

/* The four arrays of an assignment and their lengths. */
static void parts_of(const hu_trainer *t, const hu_assignment *a, uint8_t *part[PARTS], size_t n[PARTS]) {
  size_t m = hu_precision_layout(t->plan)->operators;
  uint8_t *const all[PARTS] = {a->v, a->dv, a->theta, a->dtheta};
  for (size_t i = 0; i < PARTS; i++) {
    part[i] = all[i];
    n[i] = i < 2 ? m + 1 : m;
  }
}

void hu_print_plan(const hu_trainer *t, hu_paper *p) {
  uint8_t *part[PARTS];
  size_t n[PARTS];
  if (!t->plan) return;
  parts_of(t, hu_precision_assignment(t->plan), part, n);
  for (size_t i = 0; i < PARTS; i++) {
    hu_print(p, "%s=", names[i]);
    for (size_t k = 0; k < n[i]; k++) hu_print(p, "%d", part[i][k]);
    hu_print(p, "\n");
  }
  hu_precision_past past = hu_precision_past_of(t->plan);
  hu_print(p, "low.steps=%" PRIu64 "\nlow.elements=%" PRIu64 "\nlow.promoted=%" PRIu64 "\n", past.steps, past.low,
           past.promoted);
}

/* n digits 0 and 1. */
static int read_digits(const char *text, const char *name, size_t n, uint8_t *z) {
  char line[HU_LINE_MAX];
  if (!hu_state_line(text, name, line) || strlen(line) != n || strspn(line, "01") != n) return 0;
  for (size_t i = 0; i < n; i++) z[i] = line[i] == '1';
  return 1;
}

hu_status hu_read_plan(hu_trainer *t, const char *text, char *why) {
  size_t n[PARTS];
  uint8_t *part[PARTS];
  hu_precision_past past;
  if (!t->plan) return HU_OK;
  size_t m = hu_precision_layout(t->plan)->operators;
  uint8_t *room = calloc(PARTS, m + 1);
  if (!room) return HU_E_MEMORY;
  hu_assignment a = assignment_in(room, m);
  parts_of(t, &a, part, n);
  int ok = 1;
  for (size_t i = 0; i < PARTS; i++) ok = ok && read_digits(text, names[i], n[i], part[i]);
  ok = ok && hu_state_count(text, "low.steps", &past.steps) && hu_state_count(text, "low.elements", &past.low) &&
       hu_state_count(text, "low.promoted", &past.promoted);
  hu_status s = ok ? hu_precision_set(t->plan, &a, &past) : HU_E_TEXT;
  free(room);
  return s == HU_OK ? HU_OK : hu_say(why, s, "the state does not say which tensors are low");
}
