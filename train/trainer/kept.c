/* SPDX-License-Identifier: MIT */
/* What shards leave: their gradients and running statistics, kept in the memory of the engine until all shards of a
 * pass are done, and the sums over shards.
 *
 * Where the engine's memory is the host's, a collective model makes the sums. A device makes those of `exact` itself if
 * one process has all shards, so that neither gradients nor statistics are copied. Other models, several processes and
 * error feedback need the host: all shards come there in one copy, and the sums go back in one. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- buffers ---- */

static int sums_on_host(const hu_trainer *trainer) {
  const hu_collective *collective = &trainer->keys.reduce;
  int exact = collective->base.kind == HU_COLLECTIVE_EXACT && !collective->group;
  return trainer->net->engine->on_host || trainer->ranks.join || !exact || trainer->keys.feedback != FEEDBACK_NONE;
}

static float *allocate(hu_trainer *trainer, size_t n) {
  return trainer->net->engine->allocate(trainer->net->self, (n ? n : 1) * sizeof(float));
}

static hu_status make_row(hu_trainer *trainer, size_t n, hu_kept *kept) {
  int same = trainer->net->engine->on_host, copied = !same && trainer->shards.sums_here;
  kept->there = allocate(trainer, n);
  kept->here = same ? kept->there : copied ? malloc((n ? n : 1) * sizeof *kept->here) : NULL;
  return kept->there && (kept->here || !copied) ? HU_OK : HU_E_MEMORY;
}

hu_status hui_make_kept(hu_trainer *trainer) {
  hu_shards *shards = &trainer->shards;
  size_t larger = shards->gradients > shards->running ? shards->gradients : shards->running;
  shards->sums_here = sums_on_host(trainer);
  shards->part = malloc(shards->own * sizeof *shards->part);
  shards->before = allocate(trainer, shards->running);
  if (!shards->part || !shards->before) return HU_E_MEMORY;
  hu_status status = make_row(trainer, shards->own * shards->gradients, &shards->gradient);
  if (status == HU_OK) status = make_row(trainer, shards->own * shards->running, &shards->statistic);
  return status == HU_OK ? make_row(trainer, larger, &shards->joined) : status;
}

static void release(hu_trainer *trainer, float *there) {
  if (there) trainer->net->engine->release(trainer->net->self, there);
}

static void free_row(hu_trainer *trainer, hu_kept *kept) {
  if (kept->here != kept->there) free(kept->here);
  release(trainer, kept->there);
}

void hui_close_kept(hu_trainer *trainer) {
  hu_shards *shards = &trainer->shards;
  free_row(trainer, &shards->gradient);
  free_row(trainer, &shards->statistic);
  free_row(trainer, &shards->joined);
  release(trainer, shards->before);
  free((void *)shards->part);
}

/* ---- between a net and a row, both in the engine's memory ---- */

static size_t size_of(const hu_parameter *parameter) { return parameter->rows * parameter->cols; }

static void copy(hu_net *net, size_t n, float *z, const float *x) { hui_do_each(net, HU_RUN_COPY, n, z, x, NULL, 0); }

/* A net for shorter samples may have the first rows of a parameter alone: the others have no gradient. */
void hui_keep_gradients(hu_net *net, float *row) {
  for (int i = 0; i < net->parameters; i++) {
    const size_t n = size_of(&net->parameter[i]), all = net->first ? size_of(&net->first->parameter[i]) : n;
    copy(net, n, row, net->parameter[i].dtheta);
    if (n < all) hui_do_fill(net, all - n, row + n, 0);
    row += all;
  }
}

void hui_add_gradients(hu_net *net, float *row, uint64_t batches) {
  float *part = net->work[0];
  for (int i = 0; i < net->parameters; i++) {
    size_t n = size_of(&net->parameter[i]);
    hui_do_each(net, HU_RUN_OVER, n, part, net->parameter[i].dtheta, NULL, (float)batches);
    hui_do_each(net, HU_RUN_ACCUMULATE, n, row, part, NULL, 0);
    row += n;
  }
}

void hui_take_gradients(hu_net *net, const float *row) {
  for (int i = 0; i < net->parameters; i++) {
    copy(net, size_of(&net->parameter[i]), net->parameter[i].dtheta, row);
    row += size_of(&net->parameter[i]);
  }
}

void hui_keep_running(hu_net *net, float *row) {
  size_t n;
  for (int i = 0; i < net->operators; i++) {
    const float *running = hui_running_of(net, &net->op[i], &n);
    if (!running) continue;
    copy(net, n, row, running);
    row += n;
  }
}

void hui_take_running(hu_net *net, const float *row) {
  size_t n;
  for (int i = 0; i < net->operators; i++) {
    float *running = hui_running_of(net, &net->op[i], &n);
    if (!running) continue;
    copy(net, n, running, row);
    row += n;
  }
}

/* ---- sums ---- */

void hui_bring(hu_trainer *trainer, const hu_kept *kept, size_t n) {
  if (trainer->shards.sums_here && kept->here != kept->there)
    hui_do_get(trainer->net, kept->here, kept->there, n * sizeof *kept->here);
}

static hu_status sum_here(hu_trainer *trainer, size_t n, const hu_kept *own, const hu_collective *model,
                          hu_stream words) {
  hu_shards *shards = &trainer->shards;
  hu_mode rne;
  hu_exec exec = {trainer->net->threads, 0, words, {0}};
  memset(&rne, 0, sizeof rne);
  for (size_t k = 0; k < shards->own; k++) shards->part[k] = own->here + k * n;
  if (trainer->ranks.join)
    return trainer->ranks.join(trainer->ranks.context, n, shards->joined.here, shards->own, shards->part, model, &exec);
  return hu_collective_reduce(shards->own, n, shards->joined.here, hu_binary32(), shards->part, model,
                              &(hu_how){rne, &exec, NULL});
}

hu_status hui_join_shards(hu_trainer *trainer, size_t n, const hu_kept *own, const hu_collective *model,
                          hu_stream words) {
  const hu_kept *kept = &trainer->shards.joined;
  const hu_engine *engine = trainer->net->engine;
  if (!trainer->shards.sums_here)
    return engine->sum_rows(trainer->net->self, trainer->shards.own, n, kept->there, own->there);
  hu_status status = sum_here(trainer, n, own, model, words);
  if (status != HU_OK || kept->here == kept->there) return status;
  hui_do_put(trainer->net, kept->there, kept->here, n * sizeof *kept->here);
  return hui_done(trainer->net);
}

hu_status hui_make_rest_row(hu_trainer *trainer) {
  const size_t numbers = hui_gradient_numbers(trainer->net) + hui_running_numbers(trainer->net);
  trainer->rest.row =
      trainer->net->engine->allocate(trainer->net->self, (numbers ? numbers : 1) * sizeof *trainer->rest.row);
  return trainer->rest.row ? HU_OK : HU_E_MEMORY;
}
