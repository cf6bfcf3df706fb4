/* SPDX-License-Identifier: MIT */
/* Candidates near those that a stage ruled out: two parameters that depend on each other may lie on axes of different
 * stages. */
#include <stdlib.h>
#include <string.h>

#include "cli/identify/search.h"

enum { BEAM = 8, STEPS = 6, NEAR_VALUES = 48 };

typedef struct scored {
  hu_accum x;
  size_t score;
} scored;

typedef struct beam {
  scored best[BEAM];
  size_t count;
} beam;

static void offer(id_search *search, beam *kept, const hu_accum *model) {
  for (size_t i = 0; i < kept->count; i++)
    if (memcmp(&kept->best[i].x, model, sizeof *model) == 0) return;
  if (hu_accum_check(model) != HU_OK) return;
  id_progress(search->box);
  size_t score = id_score(model, &search->asked), at = kept->count;
  if (kept->count == BEAM && score <= kept->best[BEAM - 1].score) return;
  if (kept->count < BEAM) kept->count++;
  at = kept->count - 1;
  while (at > 0 && kept->best[at - 1].score < score) {
    kept->best[at] = kept->best[at - 1];
    at--;
  }
  kept->best[at].x = *model;
  kept->best[at].score = score;
}

/* Offers all values of one parameter, or some where there are many. */
static void offer_neighbours(id_search *search, beam *kept, const hu_accum *from) {
  static int values[ID_VALUES_MOST];
  for (int axis = 0; axis < ID_AXES && !id_stop_due(); axis++) {
    size_t count = id_axis_values(&search->space, axis, from, values), step = 1;
    if (count > NEAR_VALUES) step = count / NEAR_VALUES;
    for (size_t i = step > 1 ? (size_t)id_random_below(&search->random, step) : 0; i < count && count > 1; i += step) {
      hu_accum model = *from;
      id_axis_set(&search->space, axis, &model, values[i]);
      offer(search, kept, &model);
    }
  }
}

int id_repair(id_search *search, const id_set *from, hu_accum *nearest) {
  static beam kept, next;
  memset(&kept, 0, sizeof kept);
  if (!from->count) return 0;
  int length = search->space.length;
  search->space.length = 0; /* of models near a wrong one any may be right */
  size_t step = from->count / 256 + 1;
  for (size_t i = 0; i < from->count; i += step) offer(search, &kept, &from->x[i]);
  for (int i = 0; i < STEPS && kept.best[0].score < search->asked.count; i++) {
    size_t before = kept.best[0].score;
    next = kept;
    for (size_t j = 0; j < kept.count; j++) offer_neighbours(search, &next, &kept.best[j].x);
    kept = next;
    if (kept.best[0].score == before) break;
  }
  search->space.length = length;
  search->nearest = *nearest = kept.best[0].x;
  search->has_nearest = 1;
  search->set.count = 0;
  for (size_t i = 0; i < kept.count && kept.best[i].score == search->asked.count; i++)
    if (!id_set_add(&search->set, &kept.best[i].x)) return 0;
  if (search->log)
    fprintf(search->log,
            "no candidate was left; changing parameters one at a time: the best gives %zu of %zu answers\n",
            kept.best[0].score, search->asked.count);
  return search->set.count > 0;
}
