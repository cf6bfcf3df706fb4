/* SPDX-License-Identifier: MIT */
/* Builds the nets of a run: one, or one a shard where batch norms have statistics of the whole batch. */
#define _GNU_SOURCE /* _SC_NPROCESSORS_ONLN */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

static uint32_t threads_of(const hu_run_keys *k) {
  long processors = k->threads ? (long)k->threads : sysconf(_SC_NPROCESSORS_ONLN);
  return processors < 1 ? 1 : processors > 256 ? 256 : (uint32_t)processors;
}

/* The layers of the model and its loss; *loss is the loss's value. */
static hu_status add_layers(hu_trainer *t, hu_net *net, hu_model_ends *ends, int *loss, char *why) {
  hu_run_keys *k = &t->keys;
  const char *said = NULL;
  int labels = hu_has_labels(t);
  hu_model_sizes sizes = hu_sizes_of_source(t);
  hu_status s = hu_model_build(net, &k->model, &sizes, ends, &said);
  if (s != HU_OK) return hu_say(why, s, "model.net: %s", said ? said : hu_status_text(s));
  if (k->loss == LOSS_CROSS_ENTROPY && !labels) return hu_say(why, HU_E_TRAIN, "loss.kind: the data have no labels");
  if (k->loss == LOSS_SQUARED_ERROR && labels) return hu_say(why, HU_E_TRAIN, "loss.kind: the data have no targets");
  double weight = ldexp(1, -(int)k->power) / (double)t->shards.count; /* a shard's part of the batch's mean */
  *loss = labels ? hu_net_cross_entropy(net, ends->output, weight) : hu_net_squared_error(net, ends->output, weight);
  s = hu_net_status(net, &said);
  return s == HU_OK ? HU_OK : hu_say(why, s, "model.net: %s", said);
}

static hu_status add_net(hu_trainer *t, size_t k, char *why) {
  hu_shards *s = &t->shards;
  hu_model_ends ends;
  int loss;
  s->net[k] = hu_net_new_beside(t->net);
  return s->net[k] ? add_layers(t, s->net[k], &ends, &loss, why) : hu_say(why, HU_E_MEMORY, "no memory for the nets");
}

static hu_status add_nets(hu_trainer *t, char *why) {
  hu_shards *s = &t->shards;
  s->whole.sum = t->ranks.size > 1 ? t->ranks.sum : NULL;
  s->whole.context = t->ranks.context;
  t->net->whole = &s->whole;
  s->net = calloc(s->own, sizeof *s->net);
  s->loss = calloc(s->own, sizeof *s->loss);
  if (!s->net || !s->loss) return HU_E_MEMORY;
  s->net[0] = t->net;
  hu_status status = HU_OK;
  for (size_t k = 1; k < s->own && status == HU_OK; k++) status = add_net(t, k, why);
  return status;
}

hu_status hu_build_nets(hu_trainer *t, char *why) {
  const hu_run_keys *k = &t->keys;
  if (k->device && !t->engine) return hu_say(why, HU_E_DEVICE, "run.device: cuda, and there is no device here");
  t->net = hu_net_new_on(k->device ? t->engine : NULL, t->batch, threads_of(k));
  if (!t->net) return hu_say(why, HU_E_MEMORY, "no memory for the net");
  t->net->passes = t->shards.count;
  hu_status s = add_layers(t, t->net, &t->ends, &t->loss, why);
  return s == HU_OK && k->statistics ? add_nets(t, why) : s;
}
