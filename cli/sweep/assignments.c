/* SPDX-License-Identifier: MIT */
/* A sweep over precision assignments of several kinds, the key "assignment": see sweep.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/sweep/sweep.h"

int sweep_has_assignments(const sweep *s) { return strcmp(s->key, SWEEP_ASSIGNMENT) == 0; }

int sweep_is_number(const char *value) {
  char *end;
  hu_ratio r;
  strtod(value, &end);
  return !*end || hu_ratio_parse(&r, value) == HU_OK;
}

int sweep_varies(const sweep *s, const char *key) {
  static const char *const keys[] = {"assignment.kind", "assignment.ratio", "assignment.order", "assignment.promote"};
  if (!sweep_has_assignments(s)) return strcmp(s->key, key) == 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcmp(keys[i], key) == 0) return 1;
  }
  return 0;
}

static int set_key(hu_trainer *t, const char *key, const char *value, const char *shown) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status s = hu_trainer_set(t, key, value, why);
  return s == HU_OK ? CLI_OK : config_refuse("--values", key, shown, *why ? why : hu_status_text(s));
}

/* "ORDER:RATIO" */
static int set_ordered(hu_trainer *t, const char *value, const char *colon) {
  char order[32];
  snprintf(order, sizeof order, "%.*s", (int)(colon - value), value);
  int status = set_key(t, "assignment.order", order, value);
  return status == CLI_OK ? set_key(t, "assignment.ratio", colon + 1, value) : status;
}

int sweep_set_assignment(hu_trainer *t, const char *value) {
  const char *colon = strchr(value, ':');
  int ours = colon || sweep_is_number(value);
  int status = set_key(t, "assignment.kind", ours ? "demote" : value, value);
  if (status != CLI_OK) return status;
  if (!ours) return set_key(t, "assignment.promote", "1", value); /* as published: nothing is promoted */
  return colon ? set_ordered(t, value, colon) : set_key(t, "assignment.ratio", value, value);
}
