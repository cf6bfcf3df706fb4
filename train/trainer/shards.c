/* SPDX-License-Identifier: MIT */
/* The passes of a step: of its batches, whose gradients are added up, and of the shards that each batch is cut into,
 * whose gradients a collective model joins. Which process computes a shard changes nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/gradient.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- buffers ---- */

/* The layout of what processes exchange after a pass: of each shard the loss, the largest gradient and the amaxes of
 * delayed scaling, of each tensor what overflowed, and the counts of the roundings. */
enum { COUNTS = sizeof(hu_rounding_counts) / sizeof(uint64_t) };
_Static_assert(sizeof(hu_rounding_counts) == COUNTS * sizeof(uint64_t), "counts are whole numbers of 64 bits");

static size_t shared_numbers(const hu_trainer *trainer) {
  return (2 + hui_delayed_records(trainer->net)) * trainer->shards.count + (size_t)trainer->net->values +
         (size_t)trainer->net->parameters + 2 * COUNTS;
}

static double *shared_losses(const hu_shards *shards) { return shards->shared; }
static double *shared_largest(const hu_shards *shards) { return shards->shared + shards->count; }
static double *shared_overflows(const hu_shards *shards) { return shards->shared + 2 * shards->count; }
static double *shared_counts(const hu_trainer *trainer) {
  return shared_overflows(&trainer->shards) + trainer->net->values + trainer->net->parameters;
}
static double *shared_amaxes(const hu_trainer *trainer, size_t shard) {
  return shared_counts(trainer) + 2 * COUNTS + shard * hui_delayed_records(trainer->net);
}

hu_status hui_open_shards(hu_trainer *trainer, char *why) {
  hu_shards *shards = &trainer->shards;
  uint64_t ranks = (uint64_t)trainer->ranks.size, rank = (uint64_t)trainer->ranks.rank;
  shards->count = trainer->keys.shards;
  if (trainer->keys.batch % shards->count)
    return hui_say(why, HU_E_TRAIN, "run.batch: %zu is no multiple of parallel.shards, %zu",
                   (size_t)trainer->keys.batch, shards->count);
  if (ranks > shards->count)
    return hui_say(why, HU_E_TRAIN, "parallel.shards: %zu, and there are %zu processes: each takes at least one",
                   shards->count, (size_t)ranks);
  trainer->batch = trainer->keys.batch / shards->count;
  trainer->samples = trainer->keys.batch * trainer->keys.accumulate;
  size_t each = shards->count / ranks, more = shards->count % ranks;
  shards->first = rank * each + (rank < more ? rank : more);
  shards->own = each + (rank < more);
  return HU_OK;
}

hu_status hui_make_shards(hu_trainer *trainer) {
  hu_shards *shards = &trainer->shards;
  if (shards->count == 1 && trainer->keys.accumulate == 1) return HU_OK;
  shards->gradients = hui_gradient_numbers(trainer->net);
  if (shards->count == 1) {
    shards->sum = trainer->net->engine->allocate(trainer->net->self, shards->gradients * sizeof *shards->sum);
    return shards->sum ? HU_OK : HU_E_MEMORY;
  }
  shards->running = hui_running_numbers(trainer->net);
  hu_status status = hui_make_kept(trainer);
  return status == HU_OK ? hui_make_shared(trainer) : status;
}

hu_status hui_make_shared(hu_trainer *trainer) {
  hu_shards *shards = &trainer->shards;
  if (shards->count == 1) return HU_OK;
  free(shards->shared);
  shards->shared = calloc(shared_numbers(trainer), sizeof *shards->shared);
  return shards->shared ? HU_OK : HU_E_MEMORY;
}

void hui_close_shards(hu_trainer *trainer) {
  hu_shards *shards = &trainer->shards;
  for (size_t k = 1; shards->net && k < shards->own; k++) hu_net_free(shards->net[k]);
  if (shards->sum) trainer->net->engine->release(trainer->net->self, shards->sum);
  hui_close_kept(trainer);
  free((void *)shards->net);
  free(shards->loss);
  free(shards->shared);
  memset(shards, 0, sizeof *shards);
}

/* ---- one shard ---- */

/* The weights are the same for all shards, so that their overflows count once: those of the first shard's process. */
static void share_overflows(const hu_trainer *trainer, const hu_net *net) {
  double *z = shared_overflows(&trainer->shards);
  for (int i = 0; i < net->values; i++) z[i] += (double)net->value[i].over;
  for (int i = 0; i < net->parameters && trainer->ranks.rank == 0; i++)
    z[net->values + i] += (double)net->parameter[i].over;
}

/* The gradients that own shard k leaves in a net; of several batches the sum so far. */
static hu_status keep_gradients(hu_trainer *trainer, hu_net *net, size_t k) {
  float *row = trainer->shards.gradient.there + k * trainer->shards.gradients;
  if (trainer->keys.accumulate > 1) {
    hui_add_gradients(net, row, trainer->keys.accumulate);
  } else {
    hui_keep_gradients(net, row);
  }
  return hui_done(net);
}

/* What own shard k leaves in a net. */
static hu_status keep_shard(hu_trainer *trainer, hu_net *net, size_t k, float loss, int largest) {
  hu_shards *shards = &trainer->shards;
  shared_losses(shards)[shards->first + k] += (double)loss;
  if (largest) {
    double *z = &shared_largest(shards)[shards->first + k];
    *z = fmax(*z, (double)hui_largest_gradient(net, trainer->loss));
  }
  if (net->planned) share_overflows(trainer, net);
  hu_status status = hui_delayed_take(net, shared_amaxes(trainer, shards->first + k));
  return status == HU_OK ? keep_gradients(trainer, net, k) : status;
}

/* Which pass of the step is that of own shard k of a batch: the part of the samples, and the random words. */
static size_t pass_number(const hu_trainer *trainer, size_t batch, size_t k) {
  return batch * trainer->shards.count + trainer->shards.first + k;
}

static hu_status pass_shard(hu_trainer *trainer, size_t batch, size_t k, float scale, int largest) {
  hu_shards *shards = &trainer->shards;
  hu_net *net = trainer->buckets.count ? trainer->buckets.net : trainer->net;
  float loss;
  net->shard = pass_number(trainer, batch, k);
  hui_take_running(net, shards->before);
  hu_status status = hui_done(net);
  if (status == HU_OK) status = hui_feed_part(trainer, net, net->shard);
  if (status == HU_OK) status = hu_net_forward(net, 1, &loss);
  if (status == HU_OK) status = hu_net_backward(net, scale);
  if (status == HU_OK) status = keep_shard(trainer, net, k, loss, largest);
  hui_keep_running(net, shards->statistic.there + k * shards->running);
  return status == HU_OK ? hui_done(net) : status;
}

/* The net of a bucket becomes as that of the trainer is, which rounds the weights for it. */
static hu_status follow_bucket(hu_trainer *trainer) {
  hu_status status = hui_build_bucket(trainer);
  if (status != HU_OK) return status;
  hui_net_follow(trainer->buckets.net);
  hu_net_forget_counts(trainer->buckets.net);
  return hui_net_round_parameters(trainer->net);
}

/* One after another, from the last one to the first, so that what stays in the net of the first process is always that
 * of shard 0. The weights are rounded for the first pass of a step alone. */
static hu_status pass_own(hu_trainer *trainer, size_t batch, float scale, int largest) {
  hu_shards *shards = &trainer->shards;
  hu_status status = trainer->buckets.count ? follow_bucket(trainer) : HU_OK;
  if (status != HU_OK) return status;
  trainer->net->fault = HU_OK;
  hui_keep_running(trainer->net, shards->before);
  for (size_t k = shards->own; k-- > 0 && status == HU_OK;) {
    status = pass_shard(trainer, batch, k, scale, largest);
    trainer->net->same_weights = 1;
  }
  return status;
}

/* All at once, an operator at a time, each in a net of its own: batch norms have statistics of the whole batch. */
static hu_status pass_together(hu_trainer *trainer, size_t batch, float scale, int largest) {
  hu_shards *shards = &trainer->shards;
  hu_status status = HU_OK;
  for (size_t k = 0; k < shards->own && status == HU_OK; k++) {
    if (k) hui_net_follow(shards->net[k]);
    shards->net[k]->shard = pass_number(trainer, batch, k);
    status = hui_feed_part(trainer, shards->net[k], shards->net[k]->shard);
  }
  if (status == HU_OK) status = hui_net_forward_all(shards->net, shards->own, 1, shards->loss);
  if (status == HU_OK) status = hui_net_backward_all(shards->net, shards->own, scale);
  for (size_t k = 0; k < shards->own && status == HU_OK; k++)
    status = keep_shard(trainer, shards->net[k], k, shards->loss[k], largest);
  trainer->net->same_weights = 1;
  return status;
}

/* ---- all of them ---- */

/* The mean of the running statistics that the shards have: their exact sum, rounded, over their number. */
static hu_status join_running(hu_trainer *trainer) {
  hu_shards *shards = &trainer->shards;
  hu_collective exact;
  hu_stream none = {0, 0};
  if (!shards->running || shards->net) return HU_OK; /* those of the whole batch are the same everywhere */
  memset(&exact, 0, sizeof exact);
  hui_bring(trainer, &shards->statistic, shards->own * shards->running);
  hu_status status = hui_done(trainer->net);
  if (status == HU_OK) status = hui_join_shards(trainer, shards->running, &shards->statistic, &exact, none);
  if (status != HU_OK) return status;
  hui_do_each(trainer->net, HU_RUN_OVER, shards->running, shards->joined.there, shards->joined.there, NULL,
              (float)shards->count);
  hui_take_running(trainer->net, shards->joined.there);
  return hui_done(trainer->net);
}

static hu_status join_gradients(hu_trainer *trainer, float scale) {
  hu_shards *shards = &trainer->shards;
  hu_stream words = hui_net_words(trainer->net, HU_OF_JOIN, 0);
  hu_collective exact;
  memset(&exact, 0, sizeof exact);
  hui_bring(trainer, &shards->gradient, shards->own * shards->gradients);
  hu_status status = hui_done(trainer->net);
  if (status == HU_OK) status = hui_feed_back(trainer, scale);
  if (status == HU_OK && hui_feedback_is_of_sums(trainer)) {
    status = hui_join_shards(trainer, shards->gradients, &shards->gradient, &exact, words);
    if (status == HU_OK) hui_feedback_exact(trainer, shards->joined.here);
  }
  if (status == HU_OK)
    status = hui_join_shards(trainer, shards->gradients, &shards->gradient, &trainer->keys.reduce, words);
  if (status != HU_OK) return status;
  hui_feedback_joined(trainer, shards->joined.here, scale);
  hui_take_gradients(trainer->net, shards->joined.there);
  return hui_done(trainer->net);
}

static void put_counts(double *z, const hu_rounding_counts *counts) {
  uint64_t u[COUNTS];
  memcpy(u, counts, sizeof u);
  for (size_t i = 0; i < COUNTS; i++) z[i] = (double)u[i];
}

static void take_counts(hu_rounding_counts *counts, const double *x) {
  uint64_t u[COUNTS];
  for (size_t i = 0; i < COUNTS; i++) u[i] = (uint64_t)x[i];
  memcpy(counts, u, sizeof u);
}

/* Each process has the largest numbers of all shards. */
static void put_amaxes(const hu_trainer *trainer) {
  size_t n = hui_delayed_records(trainer->net);
  double *z = shared_amaxes(trainer, 0);
  for (size_t k = 1; k < trainer->shards.count; k++) {
    const double *x = shared_amaxes(trainer, k);
    for (size_t i = 0; i < n; i++) z[i] = fmax(z[i], x[i]);
  }
  hui_delayed_put(trainer->net, z);
}

/* What every process needs of the others' shards; one process has them all. */
static hu_status share(hu_trainer *trainer, hu_trainer_report *report) {
  double *counts = shared_counts(trainer);
  put_counts(counts, &report->forward);
  put_counts(counts + COUNTS, &report->backward);
  if (trainer->ranks.sum) {
    hu_status status = trainer->ranks.sum(trainer->ranks.context, shared_numbers(trainer), trainer->shards.shared);
    if (status != HU_OK) return status;
  }
  take_counts(&report->forward, counts);
  take_counts(&report->backward, counts + COUNTS);
  put_amaxes(trainer);
  const double *over = shared_overflows(&trainer->shards);
  for (int i = 0; i < trainer->net->values; i++) trainer->net->value[i].over = (uint64_t)over[i];
  for (int i = 0; i < trainer->net->parameters; i++)
    trainer->net->parameter[i].over = (uint64_t)over[trainer->net->values + i];
  return HU_OK;
}

static hu_status pass_shards(hu_trainer *trainer, float scale, hu_pass *pass) {
  const hu_shards *shards = &trainer->shards;
  hu_status status = HU_OK;
  memset(shards->shared, 0, shared_numbers(trainer) * sizeof *shards->shared);
  for (size_t m = 0; m < trainer->keys.accumulate && status == HU_OK; m++) {
    status = shards->net ? pass_together(trainer, m, scale, pass->needs_largest)
                         : pass_own(trainer, m, scale, pass->needs_largest);
    trainer->net->shard = 0;
    if (status == HU_OK) status = join_running(trainer);
  }
  if (status != HU_OK) return status;
  hui_count_tensors(trainer, &pass->counted);
  if (trainer->buckets.count) {
    hui_count_net(trainer->buckets.net, 0, &pass->counted);
    trainer->net->training = trainer->net->trained = 1;
  }
  status = share(trainer, &pass->counted);
  if (status == HU_OK) status = join_gradients(trainer, scale);
  for (size_t i = 0; i < shards->count; i++) {
    pass->loss += shared_losses(shards)[i];
    pass->largest = fmaxf(pass->largest, (float)shared_largest(shards)[i]);
  }
  return status;
}

static hu_status pass_batch(hu_trainer *trainer, size_t batch, float scale, hu_pass *pass) {
  float loss = 0;
  trainer->net->shard = batch;
  hu_status status = hui_feed_part(trainer, trainer->net, batch);
  if (status == HU_OK) status = hu_net_forward(trainer->net, 1, &loss);
  if (status == HU_OK) status = hu_net_backward(trainer->net, scale);
  trainer->net->shard = 0;
  trainer->net->same_weights = 1;
  if (status != HU_OK) return status;
  pass->loss += (double)loss;
  if (pass->needs_largest) pass->largest = fmaxf(pass->largest, hui_largest_gradient(trainer->net, trainer->loss));
  if (trainer->shards.sum) hui_add_gradients(trainer->net, trainer->shards.sum, trainer->keys.accumulate);
  return hui_done(trainer->net);
}

/* Batches that are not cut into shards. */
static hu_status pass_batches(hu_trainer *trainer, float scale, hu_pass *pass) {
  hu_status status = HU_OK;
  trainer->net->fault = HU_OK;
  if (trainer->shards.sum) hui_do_fill(trainer->net, trainer->shards.gradients, trainer->shards.sum, 0);
  for (size_t m = 0; m < trainer->keys.accumulate && status == HU_OK; m++) status = pass_batch(trainer, m, scale, pass);
  if (status != HU_OK) return status;
  hui_count_tensors(trainer, &pass->counted);
  if (trainer->shards.sum) hui_take_gradients(trainer->net, trainer->shards.sum);
  return hui_done(trainer->net);
}

hu_status hui_make_pass(hu_trainer *trainer, float scale, hu_pass *pass) {
  hu_shards *shards = &trainer->shards;
  pass->loss = 0;
  pass->largest = 0;
  memset(&pass->counted, 0, sizeof pass->counted);
  hu_net_forget_counts(trainer->net);
  for (size_t k = 1; shards->net && k < shards->own; k++) hu_net_forget_counts(shards->net[k]);
  trainer->net->fault = HU_OK;
  if (shards->count > 1 && trainer->keys.accumulate > 1)
    hui_do_fill(trainer->net, shards->own * shards->gradients, shards->gradient.there, 0);
  hu_status status = hui_done(trainer->net);
  if (status == HU_OK) status = hui_draw_training(trainer);
  trainer->rest.passed = status == HU_OK && trainer->rest.net && trainer->order.given < trainer->samples;
  if (trainer->rest.passed) return hui_pass_beside(trainer, trainer->rest.net, scale, pass);
  if (status == HU_OK && trainer->buckets.count && shards->count == 1) {
    status = hui_build_bucket(trainer);
    return status == HU_OK ? hui_pass_beside(trainer, trainer->buckets.net, scale, pass) : status;
  }
  if (status == HU_OK)
    status = shards->count > 1 ? pass_shards(trainer, scale, pass) : pass_batches(trainer, scale, pass);
  trainer->net->same_weights = 0;
  pass->loss /= (double)trainer->keys.accumulate;
  return status;
}
