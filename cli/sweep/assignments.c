/* SPDX-License-Identifier: MIT */
/* A sweep over precision assignments of several kinds, the key "assignment": see sweep.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/sweep/sweep.h"

int sweep_has_assignments(const sweep_setup *sweep) { return strcmp(sweep->key, SWEEP_ASSIGNMENT) == 0; }

static int is_key(void *key, const char *one) { return strcmp(key, one) == 0; }

int sweep_varies(const sweep_setup *sweep, const char *key) {
  static const char *const keys[] = {"assignment.kind", "assignment.ratio", "assignment.order", "assignment.promote"};
  if (!sweep_has_assignments(sweep)) return sweep_each_key(sweep, is_key, (void *)(uintptr_t)key);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcmp(keys[i], key) == 0) return 1;
  }
  return 0;
}

static int set_key(hu_trainer *trainer, const char *key, const char *value, const char *shown) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status status = hu_trainer_set(trainer, key, value, why);
  return status == HU_OK ? CLI_OK : config_refuse("--values", key, shown, *why ? why : hu_status_text(status));
}

/* Sets what "ORDER:RATIO" says. */
static int set_ordered(hu_trainer *trainer, const char *value, const char *colon) {
  char order[32];
  snprintf(order, sizeof order, "%.*s", (int)(colon - value), value);
  int status = set_key(trainer, "assignment.order", order, value);
  return status == CLI_OK ? set_key(trainer, "assignment.ratio", colon + 1, value) : status;
}

int sweep_set_assignment(hu_trainer *trainer, const char *value) {
  const char *colon = strchr(value, ':');
  int ours = colon || sweep_is_number(value);
  int status = set_key(trainer, "assignment.kind", ours ? "demote" : value, value);
  if (status != CLI_OK) return status;
  if (!ours) return set_key(trainer, "assignment.promote", "1", value); /* as published: nothing is promoted */
  return colon ? set_ordered(trainer, value, colon) : set_key(trainer, "assignment.ratio", value, value);
}
