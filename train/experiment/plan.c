/* SPDX-License-Identifier: MIT */
/* How many seeds an experiment takes. */
#include <string.h>

#include "train/experiment/experiment.h"

static int sets_seed(const char *const *pairs) {
  for (; pairs && pairs[0]; pairs += 2) {
    if (strcmp(pairs[0], "run.seed") == 0 || strcmp(pairs[0], "data.seed") == 0) return 1;
  }
  return 0;
}

int hui_plan_is_seeded(const hu_plan *plan) {
  int own = plan->own || plan->count == 0 || sets_seed(plan->pairs);
  for (size_t i = 0; i < plan->count; i++) own |= sets_seed(plan->trials[i].pairs);
  return !own;
}

size_t hui_lab_seeds(const hu_lab *lab) {
  int chosen = sets_seed(lab->how->pairs); /* by the caller: runs with other seeds would be the same run again */
  return lab->how->seeds > 1 && !chosen && hui_plan_is_seeded(lab->plan) ? lab->how->seeds : 1;
}
