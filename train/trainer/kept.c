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

/* ---- rooms ---- */

static int sums_on_host(const hu_trainer *t) {
  const hu_collective *m = &t->keys.reduce;
  int exact = m->base.kind == HU_COLLECTIVE_EXACT && !m->group;
  return t->net->engine->on_host || t->ranks.join || !exact || t->keys.feedback != FEEDBACK_NONE;
}

static float *allocate(hu_trainer *t, size_t n) {
  return t->net->engine->allocate(t->net->self, (n ? n : 1) * sizeof(float));
}

static hu_status make_row(hu_trainer *t, size_t n, hu_kept *z) {
  int same = t->net->engine->on_host, copied = !same && t->shards.sums_here;
  z->there = allocate(t, n);
  z->here = same ? z->there : copied ? malloc((n ? n : 1) * sizeof *z->here) : NULL;
  return z->there && (z->here || !copied) ? HU_OK : HU_E_MEMORY;
}

hu_status hu_make_kept(hu_trainer *t) {
  hu_shards *s = &t->shards;
  size_t larger = s->gradients > s->running ? s->gradients : s->running;
  s->sums_here = sums_on_host(t);
  s->part = malloc(s->own * sizeof *s->part);
  s->before = allocate(t, s->running);
  if (!s->part || !s->before) return HU_E_MEMORY;
  hu_status status = make_row(t, s->own * s->gradients, &s->gradient);
  if (status == HU_OK) status = make_row(t, s->own * s->running, &s->statistic);
  return status == HU_OK ? make_row(t, larger, &s->joined) : status;
}

static void release(hu_trainer *t, float *there) {
  if (there) t->net->engine->release(t->net->self, there);
}

static void free_row(hu_trainer *t, hu_kept *x) {
  if (x->here != x->there) free(x->here);
  release(t, x->there);
}

void hu_close_kept(hu_trainer *t) {
  hu_shards *s = &t->shards;
  free_row(t, &s->gradient);
  free_row(t, &s->statistic);
  free_row(t, &s->joined);
  release(t, s->before);
  free((void *)s->part);
}

/* ---- between a net and a row, both in the engine's memory ---- */

static size_t size_of(const hu_parameter *p) { return p->rows * p->cols; }

static void copy(hu_net *net, size_t n, float *z, const float *x) { hu_do_each(net, HU_RUN_COPY, n, z, x, NULL, 0); }

void hu_keep_gradients(hu_net *net, float *row) {
  for (int i = 0; i < net->parameters; i++) {
    copy(net, size_of(&net->parameter[i]), row, net->parameter[i].dtheta);
    row += size_of(&net->parameter[i]);
  }
}

void hu_add_gradients(hu_net *net, float *row, uint64_t batches) {
  float *part = net->work[0];
  for (int i = 0; i < net->parameters; i++) {
    size_t n = size_of(&net->parameter[i]);
    hu_do_each(net, HU_RUN_OVER, n, part, net->parameter[i].dtheta, NULL, (float)batches);
    hu_do_each(net, HU_RUN_ACCUMULATE, n, row, part, NULL, 0);
    row += n;
  }
}

void hu_take_gradients(hu_net *net, const float *row) {
  for (int i = 0; i < net->parameters; i++) {
    copy(net, size_of(&net->parameter[i]), net->parameter[i].dtheta, row);
    row += size_of(&net->parameter[i]);
  }
}

void hu_keep_running(hu_net *net, float *row) {
  size_t n;
  for (int i = 0; i < net->operators; i++) {
    const float *running = hu_running_of(net, &net->op[i], &n);
    if (!running) continue;
    copy(net, n, row, running);
    row += n;
  }
}

void hu_take_running(hu_net *net, const float *row) {
  size_t n;
  for (int i = 0; i < net->operators; i++) {
    float *running = hu_running_of(net, &net->op[i], &n);
    if (!running) continue;
    copy(net, n, running, row);
    row += n;
  }
}

/* ---- sums ---- */

void hu_bring(hu_trainer *t, const hu_kept *x, size_t n) {
  if (t->shards.sums_here && x->here != x->there) hu_do_get(t->net, x->here, x->there, n * sizeof *x->here);
}

static hu_status sum_here(hu_trainer *t, size_t n, const hu_kept *own, const hu_collective *model, hu_stream words) {
  hu_shards *s = &t->shards;
  hu_mode rne;
  hu_exec exec = {t->net->threads, 0, words};
  memset(&rne, 0, sizeof rne);
  for (size_t k = 0; k < s->own; k++) s->part[k] = own->here + k * n;
  if (t->ranks.join) return t->ranks.join(t->ranks.context, n, s->joined.here, s->own, s->part, model, &exec);
  return hu_collective_reduce(s->own, n, s->joined.here, hu_binary32(), s->part, model, rne, &exec, NULL);
}

hu_status hu_join_shards(hu_trainer *t, size_t n, const hu_kept *own, const hu_collective *model, hu_stream words) {
  const hu_kept *z = &t->shards.joined;
  const hu_engine *engine = t->net->engine;
  if (!t->shards.sums_here) return engine->sum_rows(t->net->self, t->shards.own, n, z->there, own->there);
  hu_status status = sum_here(t, n, own, model, words);
  if (status != HU_OK || z->here == z->there) return status;
  hu_do_put(t->net, z->there, z->here, n * sizeof *z->here);
  return hu_done(t->net);
}
