/* SPDX-License-Identifier: MIT */
/* Counts of roundings in an engine's memory that is not the host's: one block for all tensors of a net, so that one
 * copy brings them all. */
#include <stdlib.h>

#include "train/net/net.h"

enum { PAIR = 2, FIRST_BUFFER = 128 }; /* counts of a tensor, forward and backward, or of two moments */

static size_t bytes_of(size_t pairs) { return pairs * PAIR * sizeof(hu_rounding_counts); }

static void move(hu_rounding_counts **seen, const hu_rounding_counts *from, hu_rounding_counts *to) {
  if (*seen) *seen = to + (*seen - from);
}

/* Makes all that point into the block point into another one. */
static void move_all(hu_net *net, hu_rounding_counts *to) {
  const hu_rounding_counts *from = net->tally.there;
  for (int i = 0; i < net->values; i++) move(&net->value[i].seen, from, to);
  for (int i = 0; i < net->parameters; i++) {
    move(&net->parameter[i].seen, from, to);
    move(&net->parameter[i].moments_seen, from, to);
  }
  for (int i = 0; i < net->operators; i++) move(&net->op[i].seen, from, to);
}

/* A larger block with what was counted so far; 0: no memory, and nothing has changed. */
static int grow(hu_net *net) {
  hu_tally *tally = &net->tally;
  size_t buffer = tally->capacity ? 2 * tally->capacity : FIRST_BUFFER;
  hu_rounding_counts *there = net->engine->allocate(net->self, bytes_of(buffer));
  hu_rounding_counts *here = realloc(tally->here, bytes_of(buffer));
  if (here) tally->here = here;
  int done = there && here;
  if (done && tally->used) {
    done = net->engine->get(net->self, here, tally->there, bytes_of(tally->used)) == HU_OK &&
           net->engine->put(net->self, there, here, bytes_of(tally->used)) == HU_OK;
  }
  if (!done) {
    if (there) net->engine->release(net->self, there);
    return 0;
  }
  move_all(net, there);
  if (tally->there) net->engine->release(net->self, tally->there);
  tally->there = there;
  tally->capacity = buffer;
  return 1;
}

int hui_tally_add(hu_net *net, hu_rounding_counts **seen) {
  hu_tally *tally = &net->tally;
  if (net->engine->on_host) return 1;
  if (tally->used == tally->capacity && !grow(net)) return 0;
  *seen = tally->there + PAIR * tally->used++;
  return 1;
}

void hui_tally_free(hu_net *net) {
  if (net->tally.there) net->engine->release(net->self, net->tally.there);
  free(net->tally.here);
}

void hui_tally_forget(hu_net *net) {
  const hu_tally *tally = &net->tally;
  if (!tally->used) return;
  /* +0 has the pattern of the integer 0. */
  hu_task task = hui_task_of(1, bytes_of(tally->used) / sizeof(float), (float *)(void *)tally->there, NULL, NULL);
  hu_status status = net->engine->run(net->self, HU_RUN_FILL, &task);
  (void)status; /* the next call reports what is wrong with an engine */
}

void hui_tally_read(hu_net *net) {
  if (net->tally.used) hui_do_get(net, net->tally.here, net->tally.there, bytes_of(net->tally.used));
}

const hu_rounding_counts *hui_tally_of(const hu_net *net, const hu_rounding_counts *seen) {
  return net->tally.here + (seen - net->tally.there);
}
