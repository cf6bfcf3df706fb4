/* SPDX-License-Identifier: MIT */
/* See evidence.h. */
#include "cli/identify/evidence.h"

#include <string.h>

#include "cli/base/cli.h"
#include "cli/identify/distinguish.h"

enum { DRAWN_MOST = 1024, DRAWN_PRODUCTS = 65536, NEAR_MOST = 4 };

/* Returns the row of fewest products that the model gets wrong; the count of rows where it gets every row right. */
static size_t least_row(const hu_accum *model, const id_vectors *questions) {
  size_t best = questions->count, least = SIZE_MAX;
  for (size_t at = 0; at < questions->count; at++) {
    at = id_first_difference(model, questions, at, questions->count);
    if (at == questions->count) break;
    size_t terms = id_terms(questions, at);
    if (terms >= least) continue;
    least = terms;
    best = at;
  }
  return best;
}

/* Returns the number of questions of each kind, fewer where they are long. */
static size_t drawn(const id_search *search) {
  size_t count = DRAWN_PRODUCTS / search->box->shape.n;
  return count < 1 ? 1 : count > DRAWN_MOST ? DRAWN_MOST : count;
}

int id_ask_for(id_search *search, const hu_accum *model, const hu_accum *other, int *asked) {
  id_vectors questions;
  int found = id_distinguish(&questions, &search->box->shape, model, other, drawn(search), &search->random, NULL),
      status = CLI_OK;
  if (found == 0) {
    id_vectors_free(&questions);
    found = id_distinguish_near(&questions, &search->asked, model, other, NEAR_MOST * drawn(search), &search->random);
  }
  *asked = found > 0;
  if (found > 0) {
    id_shorten_difference(&questions, model, other);
    status = id_ask_rows(search, &questions, 0, 1);
  }
  id_vectors_free(&questions);
  return found < 0 ? cli_fail(NULL, "not enough memory") : status;
}

int id_show(id_search *search, const hu_accum *model, const hu_accum *other, id_vectors *evidence, uint64_t *gives) {
  uint64_t z[1] = {0};
  if (id_vectors_grow(evidence, 1) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  id_vectors_copy(evidence, 0, &search->asked, least_row(other, &search->asked));
  id_shorten_difference(evidence, model, other);
  int status = id_ask_rows(search, evidence, 0, 1);
  if (status != CLI_OK) return status;
  id_vectors_copy(evidence, 0, &search->asked, search->asked.count - 1);
  if (id_compute(other, evidence, 0, 1, z) == HU_OK) memcpy(gives, z, id_column_size(&search->box->shape, ID_D));
  return CLI_OK;
}
