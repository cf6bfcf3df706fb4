/* SPDX-License-Identifier: MIT */
/* See decide.h. */
#include "cli/identify/decide.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/identify/evidence.h"

enum { NEIGHBOURS = 16, NEAR = 6, ROUNDS = 12 };

void id_decisions_free(id_decisions *decisions) {
  for (int i = 0; i < decisions->count; i++) id_vectors_free(&decisions->of[i].evidence);
  decisions->count = 0;
}

/* Lists values other than the model's: those next to it, and some from end to end. */
static size_t other_values(id_search *search, int axis, const hu_accum *model, int z[NEIGHBOURS]) {
  int *all = malloc(ID_VALUES_MOST * sizeof *all);
  size_t count = all ? id_axis_values(&search->space, axis, model, all) : 0, at = 0, n = 0;
  int own = id_axis_get(&search->space, axis, model);
  for (size_t i = 0; i < count; i++)
    if (all[i] == own) at = i;
  for (size_t away = 1; away < count && n < NEAR; away++) {
    if (at + away < count) z[n++] = all[at + away];
    if (away <= at && n < NEAR) z[n++] = all[at - away];
  }
  size_t more = count > NEAR + 1 ? NEIGHBOURS - NEAR : 0;
  for (size_t i = 0; i < more; i++) {
    size_t j = i * (count - 1) / (more - 1), away = j > at ? j - at : at - j;
    if (away > NEAR / 2) z[n++] = all[j];
  }
  free(all);
  return n;
}

/* Counts a model as tried. The values nearest to the model's come first, and the first that is ruled out is shown. */
static int note(id_search *search, id_decision *decision, const hu_accum *model, const hu_accum *other) {
  if (id_agrees(search, other)) {
    if (!decision->open++) decision->first_open = id_axis_get(&search->space, decision->axis, other);
    return CLI_OK;
  }
  if (decision->evidence.count) return CLI_OK;
  decision->nearest = id_axis_get(&search->space, decision->axis, other);
  return id_show(search, model, other, &decision->evidence, &decision->other);
}

/* Makes candidates of all values of an axis that agree. */
static int add_values(id_search *search, int axis, const hu_accum *model) {
  int *all = malloc(ID_VALUES_MOST * sizeof *all), fine = all != NULL;
  size_t count = fine ? id_axis_values(&search->space, axis, model, all) : 0;
  for (size_t i = 0; i < count && fine; i++) {
    hu_accum accum = *model;
    id_axis_set(&search->space, axis, &accum, all[i]);
    if (hu_accum_check(&accum) == HU_OK && id_agrees(search, &accum)) fine = id_set_add(&search->set, &accum);
  }
  free(all);
  return fine ? CLI_OK : cli_fail(NULL, "not enough memory");
}

/* Returns 1 for a model that takes these operands, and is not the same sum in other words. */
static int is_another(id_search *search, const hu_accum *model, const hu_accum *other) {
  uint64_t z[1];
  if (hu_accum_check(other) != HU_OK || id_compute(other, &search->asked, 0, 1, z) != HU_OK) return 0;
  hu_accum known = id_simplest(&search->space, *model), another = id_simplest(&search->space, *other);
  return memcmp(&known, &another, sizeof known) != 0;
}

/* Decides one axis; *fell: the model itself has been ruled out, and the set is another one. */
static int decide_axis(id_search *search, const hu_accum *model, id_decision *decision, int *fell) {
  int values[NEIGHBOURS], status = CLI_OK;
  size_t count = other_values(search, decision->axis, model, values);
  for (size_t i = 0; i < count && status == CLI_OK && !*fell; i++) {
    hu_accum other = *model;
    int asked = 0;
    id_axis_set(&search->space, decision->axis, &other, values[i]);
    if (!is_another(search, model, &other)) continue;
    decision->tried++;
    if (id_agrees(search, &other)) status = id_ask_for(search, model, &other, &asked);
    if (status != CLI_OK) break;
    if (!asked || id_agrees(search, model)) status = note(search, decision, model, &other);
    if (status == CLI_OK && !id_agrees(search, model)) {
      *fell = 1;
      status = add_values(search, decision->axis, model);
    }
  }
  return status;
}

static int decide_all(id_search *search, const hu_accum *model, id_decisions *decisions, int *fell) {
  int status = CLI_OK;
  for (int axis = 0; axis < ID_AXES && status == CLI_OK && !*fell; axis++) {
    id_decision *decision = &decisions->of[decisions->count];
    memset(decision, 0, sizeof *decision);
    id_vectors_start(&decision->evidence, &search->box->shape);
    decision->axis = axis;
    decision->value = id_axis_get(&search->space, axis, model);
    status = decide_axis(search, model, decision, fell);
    decision->verdict = decision->open == 0 ? ID_DECIDED : decision->open < decision->tried ? ID_PARTLY : ID_OPEN;
    if (decision->tried)
      decisions->count++;
    else
      id_vectors_free(&decision->evidence);
  }
  return status;
}

int id_decide(id_search *search, id_decisions *decisions) {
  int status = CLI_OK, length = search->space.length;
  decisions->count = 0;
  search->space.length = 0; /* other lengths than the order says are tried, too */
  for (int i = 0; i < ROUNDS && status == CLI_OK && search->set.count; i++) {
    hu_accum model = search->set.x[0], nearest;
    int fell = 0;
    status = decide_all(search, &model, decisions, &fell);
    if (!fell || status != CLI_OK) break;
    id_decisions_free(decisions);
    status = id_mend(search, &model, &nearest);
  }
  search->space.length = length;
  return status;
}
