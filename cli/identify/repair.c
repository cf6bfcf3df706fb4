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

static void offer(id_search *search, beam *b, const hu_accum *x) {
  for (size_t i = 0; i < b->count; i++)
    if (memcmp(&b->best[i].x, x, sizeof *x) == 0) return;
  if (hu_accum_check(x) != HU_OK) return;
  id_progress(search->box);
  size_t score = id_score(x, &search->asked), at = b->count;
  if (b->count == BEAM && score <= b->best[BEAM - 1].score) return;
  if (b->count < BEAM) b->count++;
  at = b->count - 1;
  while (at > 0 && b->best[at - 1].score < score) {
    b->best[at] = b->best[at - 1];
    at--;
  }
  b->best[at].x = *x;
  b->best[at].score = score;
}

/* Offers all values of one parameter, or some where there are many. */
static void offer_neighbours(id_search *search, beam *b, const hu_accum *from) {
  static int values[ID_VALUES_MOST];
  for (int axis = 0; axis < ID_AXES; axis++) {
    size_t count = id_axis_values(&search->space, axis, from, values), step = 1;
    if (count > NEAR_VALUES) step = count / NEAR_VALUES;
    for (size_t i = step > 1 ? (size_t)id_random_below(&search->random, step) : 0; i < count && count > 1; i += step) {
      hu_accum x = *from;
      id_axis_set(&search->space, axis, &x, values[i]);
      offer(search, b, &x);
    }
  }
}

int id_repair(id_search *search, const id_set *from, hu_accum *nearest) {
  static beam b, next;
  memset(&b, 0, sizeof b);
  if (!from->count) return 0;
  size_t step = from->count / 256 + 1;
  for (size_t i = 0; i < from->count; i += step) offer(search, &b, &from->x[i]);
  for (int i = 0; i < STEPS && b.best[0].score < search->asked.count; i++) {
    size_t before = b.best[0].score;
    next = b;
    for (size_t j = 0; j < b.count; j++) offer_neighbours(search, &next, &b.best[j].x);
    b = next;
    if (b.best[0].score == before) break;
  }
  search->nearest = *nearest = b.best[0].x;
  search->has_nearest = 1;
  search->set.count = 0;
  for (size_t i = 0; i < b.count && b.best[i].score == search->asked.count; i++)
    if (!id_set_add(&search->set, &b.best[i].x)) return 0;
  if (search->log)
    fprintf(search->log,
            "no candidate was left; changing parameters one at a time: the best gives %zu of %zu answers\n",
            b.best[0].score, search->asked.count);
  return search->set.count > 0;
}
