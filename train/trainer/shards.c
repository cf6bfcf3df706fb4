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

/* ---- rooms ---- */

static size_t gradient_numbers(const hu_net *net) {
  size_t n = 0;
  for (int i = 0; i < net->parameters; i++) n += net->parameter[i].rows * net->parameter[i].cols;
  return n;
}

static size_t running_numbers(const hu_net *net) {
  size_t all = 0, n;
  for (int i = 0; i < net->operators; i++) all += hu_running_of(net, &net->op[i], &n) ? n : 0;
  return all;
}

/* What processes tell each other after a pass: of each shard the loss, the largest gradient and the amaxes of delayed
 * scaling, of each tensor what overflowed, and the counts of the roundings. */
enum { COUNTS = sizeof(hu_rounding_counts) / sizeof(uint64_t) };
_Static_assert(sizeof(hu_rounding_counts) == COUNTS * sizeof(uint64_t), "counts are whole numbers of 64 bits");

static size_t told_numbers(const hu_trainer *t) {
  return (2 + hu_delayed_records(t->net)) * t->shards.count + (size_t)t->net->values + (size_t)t->net->parameters +
         2 * COUNTS;
}

static double *told_losses(const hu_shards *s) { return s->told; }
static double *told_largest(const hu_shards *s) { return s->told + s->count; }
static double *told_overflows(const hu_shards *s) { return s->told + 2 * s->count; }
static double *told_counts(const hu_trainer *t) {
  return told_overflows(&t->shards) + t->net->values + t->net->parameters;
}
static double *told_amaxes(const hu_trainer *t, size_t shard) {
  return told_counts(t) + 2 * COUNTS + shard * hu_delayed_records(t->net);
}

hu_status hu_open_shards(hu_trainer *t, char *why) {
  hu_shards *s = &t->shards;
  uint64_t ranks = (uint64_t)t->ranks.size, rank = (uint64_t)t->ranks.rank;
  s->count = t->keys.shards;
  if (t->keys.batch % s->count)
    return hu_say(why, HU_E_TRAIN, "run.batch: %zu is no multiple of parallel.shards, %zu", (size_t)t->keys.batch,
                  s->count);
  if (ranks > s->count)
    return hu_say(why, HU_E_TRAIN, "parallel.shards: %zu, and there are %zu processes: each takes at least one",
                  s->count, (size_t)ranks);
  t->batch = t->keys.batch / s->count;
  t->samples = t->keys.batch * t->keys.accumulate;
  size_t each = s->count / ranks, more = s->count % ranks;
  s->first = rank * each + (rank < more ? rank : more);
  s->own = each + (rank < more);
  return HU_OK;
}

hu_status hu_make_shards(hu_trainer *t) {
  hu_shards *s = &t->shards;
  if (s->count == 1 && t->keys.accumulate == 1) return HU_OK;
  s->gradients = gradient_numbers(t->net);
  if (s->count == 1) {
    s->sum = t->net->engine->allocate(t->net->self, s->gradients * sizeof *s->sum);
    return s->sum ? HU_OK : HU_E_MEMORY;
  }
  s->running = running_numbers(t->net);
  hu_status status = hu_make_kept(t);
  return status == HU_OK ? hu_make_told(t) : status;
}

hu_status hu_make_told(hu_trainer *t) {
  hu_shards *s = &t->shards;
  if (s->count == 1) return HU_OK;
  free(s->told);
  s->told = calloc(told_numbers(t), sizeof *s->told);
  return s->told ? HU_OK : HU_E_MEMORY;
}

void hu_close_shards(hu_trainer *t) {
  hu_shards *s = &t->shards;
  for (size_t k = 1; s->net && k < s->own; k++) hu_net_free(s->net[k]);
  if (s->sum) t->net->engine->release(t->net->self, s->sum);
  hu_close_kept(t);
  free((void *)s->net);
  free(s->loss);
  free(s->told);
  memset(s, 0, sizeof *s);
}

/* ---- one shard ---- */

static float larger(float largest, size_t n, const float *x) {
  for (size_t i = 0; i < n; i++) {
    float a = fabsf(x[i]);
    if (a > largest && isfinite(a)) largest = a;
  }
  return largest;
}

/* The same by an engine whose memory is not the host's: gradients divided by 1 stay what they are, and the largest one
 * is found on the way. */
static float largest_there(hu_net *net, int loss) {
  hu_gradient_found found = {0, 0};
  hu_do_put(net, net->found, &found, sizeof found);
  for (int i = 0; i < loss && net->fault == HU_OK; i++) {
    const hu_value *x = &net->value[i];
    net->fault = net->engine->unscale(net->self, x->rows * x->cols, x->dv, 1, net->found);
  }
  for (int i = 0; i < net->parameters && net->fault == HU_OK; i++) {
    const hu_parameter *p = &net->parameter[i];
    net->fault = net->engine->unscale(net->self, p->rows * p->cols, p->dtheta, 1, net->found);
  }
  hu_do_get(net, &found, net->found, sizeof found);
  return found.amax;
}

static float largest_gradient(hu_net *net, int loss) {
  float z = 0;
  if (!net->engine->on_host) return largest_there(net, loss);
  for (int i = 0; i < loss; i++) {
    hu_net_tensor x = hu_net_value(net, i);
    z = larger(z, x.rows * x.cols, x.gradients);
  }
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor x = hu_net_parameter(net, i);
    z = larger(z, x.rows * x.cols, x.gradients);
  }
  return z;
}

/* The weights are the same for all shards, so that their overflows count once: those of the first shard's process. */
static void tell_overflows(const hu_trainer *t, const hu_net *net) {
  double *z = told_overflows(&t->shards);
  for (int i = 0; i < net->values; i++) z[i] += (double)net->value[i].over;
  for (int i = 0; i < net->parameters && t->ranks.rank == 0; i++) z[net->values + i] += (double)net->parameter[i].over;
}

/* The gradients that own shard k leaves in a net; of several batches the sum so far. */
static hu_status keep_gradients(hu_trainer *t, hu_net *net, size_t k) {
  float *row = t->shards.gradient.there + k * t->shards.gradients;
  if (t->keys.accumulate > 1) {
    hu_add_gradients(net, row, t->keys.accumulate);
  } else {
    hu_keep_gradients(net, row);
  }
  return hu_done(net);
}

/* What own shard k leaves in a net. */
static hu_status keep_shard(hu_trainer *t, hu_net *net, size_t k, float loss, int largest) {
  hu_shards *s = &t->shards;
  told_losses(s)[s->first + k] += (double)loss;
  if (largest) {
    double *z = &told_largest(s)[s->first + k];
    *z = fmax(*z, (double)largest_gradient(net, t->loss));
  }
  if (net->planned) tell_overflows(t, net);
  hu_status status = hu_delayed_take(net, told_amaxes(t, s->first + k));
  return status == HU_OK ? keep_gradients(t, net, k) : status;
}

/* Which pass of the step is that of own shard k of a batch: the part of the samples, and the random words. */
static size_t pass_number(const hu_trainer *t, size_t batch, size_t k) {
  return batch * t->shards.count + t->shards.first + k;
}

static hu_status pass_shard(hu_trainer *t, size_t batch, size_t k, float scale, int largest) {
  hu_shards *s = &t->shards;
  float loss;
  t->net->shard = pass_number(t, batch, k);
  hu_take_running(t->net, s->before);
  hu_status status = hu_done(t->net);
  if (status == HU_OK) status = hu_feed_part(t, t->net, t->net->shard);
  if (status == HU_OK) status = hu_net_forward(t->net, 1, &loss);
  if (status == HU_OK) status = hu_net_backward(t->net, scale);
  if (status == HU_OK) status = keep_shard(t, t->net, k, loss, largest);
  hu_keep_running(t->net, s->statistic.there + k * s->running);
  return status == HU_OK ? hu_done(t->net) : status;
}

/* One after another, from the last one to the first, so that what stays in the net of the first process is always that
 * of shard 0. The weights are rounded for the first pass of a step alone. */
static hu_status pass_own(hu_trainer *t, size_t batch, float scale, int largest) {
  hu_shards *s = &t->shards;
  hu_status status = HU_OK;
  t->net->fault = HU_OK;
  hu_keep_running(t->net, s->before);
  for (size_t k = s->own; k-- > 0 && status == HU_OK;) {
    status = pass_shard(t, batch, k, scale, largest);
    t->net->same_weights = 1;
  }
  return status;
}

/* All at once, an operator at a time, each in a net of its own: batch norms have statistics of the whole batch. */
static hu_status pass_together(hu_trainer *t, size_t batch, float scale, int largest) {
  hu_shards *s = &t->shards;
  hu_status status = HU_OK;
  for (size_t k = 0; k < s->own && status == HU_OK; k++) {
    if (k) hu_net_follow(s->net[k]);
    s->net[k]->shard = pass_number(t, batch, k);
    status = hu_feed_part(t, s->net[k], s->net[k]->shard);
  }
  if (status == HU_OK) status = hu_net_forward_all(s->net, s->own, 1, s->loss);
  if (status == HU_OK) status = hu_net_backward_all(s->net, s->own, scale);
  for (size_t k = 0; k < s->own && status == HU_OK; k++) status = keep_shard(t, s->net[k], k, s->loss[k], largest);
  t->net->same_weights = 1;
  return status;
}

/* ---- all of them ---- */

/* The mean of the running statistics that the shards have: their exact sum, rounded, over their number. */
static hu_status join_running(hu_trainer *t) {
  hu_shards *s = &t->shards;
  hu_collective exact;
  hu_stream none = {0, 0};
  if (!s->running || s->net) return HU_OK; /* those of the whole batch are the same everywhere */
  memset(&exact, 0, sizeof exact);
  hu_bring(t, &s->statistic, s->own * s->running);
  hu_status status = hu_done(t->net);
  if (status == HU_OK) status = hu_join_shards(t, s->running, &s->statistic, &exact, none);
  if (status != HU_OK) return status;
  hu_do_each(t->net, HU_RUN_OVER, s->running, s->joined.there, s->joined.there, NULL, (float)s->count);
  hu_take_running(t->net, s->joined.there);
  return hu_done(t->net);
}

static hu_status join_gradients(hu_trainer *t, float scale) {
  hu_shards *s = &t->shards;
  hu_stream words = hu_net_words(t->net, HU_OF_JOIN, 0);
  hu_collective exact;
  memset(&exact, 0, sizeof exact);
  hu_bring(t, &s->gradient, s->own * s->gradients);
  hu_status status = hu_done(t->net);
  if (status == HU_OK) status = hu_feed_back(t, scale);
  if (status == HU_OK && hu_feedback_is_of_sums(t)) {
    status = hu_join_shards(t, s->gradients, &s->gradient, &exact, words);
    if (status == HU_OK) hu_feedback_exact(t, s->joined.here);
  }
  if (status == HU_OK) status = hu_join_shards(t, s->gradients, &s->gradient, &t->keys.reduce, words);
  if (status != HU_OK) return status;
  hu_feedback_joined(t, s->joined.here, scale);
  hu_take_gradients(t->net, s->joined.there);
  return hu_done(t->net);
}

static void put_counts(double *z, const hu_rounding_counts *x) {
  uint64_t u[COUNTS];
  memcpy(u, x, sizeof u);
  for (size_t i = 0; i < COUNTS; i++) z[i] = (double)u[i];
}

static void take_counts(hu_rounding_counts *z, const double *x) {
  uint64_t u[COUNTS];
  for (size_t i = 0; i < COUNTS; i++) u[i] = (uint64_t)x[i];
  memcpy(z, u, sizeof u);
}

/* Each process has the largest numbers of all shards. */
static void put_amaxes(const hu_trainer *t) {
  size_t n = hu_delayed_records(t->net);
  double *z = told_amaxes(t, 0);
  for (size_t k = 1; k < t->shards.count; k++) {
    const double *x = told_amaxes(t, k);
    for (size_t i = 0; i < n; i++) z[i] = fmax(z[i], x[i]);
  }
  hu_delayed_put(t->net, z);
}

/* What every process needs of the others' shards; one process has them all. */
static hu_status tell(hu_trainer *t, hu_trainer_report *r) {
  double *counts = told_counts(t);
  put_counts(counts, &r->forward);
  put_counts(counts + COUNTS, &r->backward);
  if (t->ranks.sum) {
    hu_status status = t->ranks.sum(t->ranks.context, told_numbers(t), t->shards.told);
    if (status != HU_OK) return status;
  }
  take_counts(&r->forward, counts);
  take_counts(&r->backward, counts + COUNTS);
  put_amaxes(t);
  const double *over = told_overflows(&t->shards);
  for (int i = 0; i < t->net->values; i++) t->net->value[i].over = (uint64_t)over[i];
  for (int i = 0; i < t->net->parameters; i++) t->net->parameter[i].over = (uint64_t)over[t->net->values + i];
  return HU_OK;
}

static hu_status pass_shards(hu_trainer *t, float scale, hu_pass *p) {
  const hu_shards *s = &t->shards;
  hu_status status = HU_OK;
  memset(s->told, 0, told_numbers(t) * sizeof *s->told);
  for (size_t m = 0; m < t->keys.accumulate && status == HU_OK; m++) {
    status = s->net ? pass_together(t, m, scale, p->wants_largest) : pass_own(t, m, scale, p->wants_largest);
    t->net->shard = 0;
    if (status == HU_OK) status = join_running(t);
  }
  if (status != HU_OK) return status;
  hu_count_tensors(t, &p->counted);
  status = tell(t, &p->counted);
  if (status == HU_OK) status = join_gradients(t, scale);
  for (size_t i = 0; i < s->count; i++) {
    p->loss += told_losses(s)[i];
    p->largest = fmaxf(p->largest, (float)told_largest(s)[i]);
  }
  return status;
}

static hu_status pass_batch(hu_trainer *t, size_t batch, float scale, hu_pass *p) {
  float loss = 0;
  t->net->shard = batch;
  hu_status status = hu_feed_part(t, t->net, batch);
  if (status == HU_OK) status = hu_net_forward(t->net, 1, &loss);
  if (status == HU_OK) status = hu_net_backward(t->net, scale);
  t->net->shard = 0;
  t->net->same_weights = 1;
  if (status != HU_OK) return status;
  p->loss += (double)loss;
  if (p->wants_largest) p->largest = fmaxf(p->largest, largest_gradient(t->net, t->loss));
  if (t->shards.sum) hu_add_gradients(t->net, t->shards.sum, t->keys.accumulate);
  return hu_done(t->net);
}

/* Batches that are not cut into shards. */
static hu_status pass_batches(hu_trainer *t, float scale, hu_pass *p) {
  hu_status status = HU_OK;
  t->net->fault = HU_OK;
  if (t->shards.sum) hu_do_fill(t->net, t->shards.gradients, t->shards.sum, 0);
  for (size_t m = 0; m < t->keys.accumulate && status == HU_OK; m++) status = pass_batch(t, m, scale, p);
  if (status != HU_OK) return status;
  hu_count_tensors(t, &p->counted);
  if (t->shards.sum) hu_take_gradients(t->net, t->shards.sum);
  return hu_done(t->net);
}

hu_status hu_make_pass(hu_trainer *t, float scale, hu_pass *p) {
  hu_shards *s = &t->shards;
  p->loss = 0;
  p->largest = 0;
  memset(&p->counted, 0, sizeof p->counted);
  hu_net_forget_counts(t->net);
  for (size_t k = 1; s->net && k < s->own; k++) hu_net_forget_counts(s->net[k]);
  t->net->fault = HU_OK;
  if (s->count > 1 && t->keys.accumulate > 1) hu_do_fill(t->net, s->own * s->gradients, s->gradient.there, 0);
  hu_status status = hu_done(t->net);
  if (status == HU_OK) status = hu_draw_training(t);
  if (status == HU_OK) status = s->count > 1 ? pass_shards(t, scale, p) : pass_batches(t, scale, p);
  t->net->same_weights = 0;
  p->loss /= (double)t->keys.accumulate;
  return status;
}
