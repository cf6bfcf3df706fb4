/* SPDX-License-Identifier: MIT */
/* Builds the nets of a run: one, or one a shard where batch norms have statistics of the whole batch. */
#define _GNU_SOURCE /* _SC_NPROCESSORS_ONLN */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

static uint32_t threads_of(const hu_run_keys *keys) {
  long processors = keys->threads ? (long)keys->threads : sysconf(_SC_NPROCESSORS_ONLN);
  return processors < 1 ? 1 : processors > 256 ? 256 : (uint32_t)processors;
}

/* The layers of the model and its loss; *loss is the loss's value. */
static hu_status add_layers(hu_trainer *trainer, hu_net *net, hu_model_ends *ends, int *loss, char *why) {
  hu_run_keys *keys = &trainer->keys;
  const char *said = NULL;
  int labels = hui_has_labels(trainer);
  hu_model_sizes sizes = hui_sizes_of_source(trainer);
  hu_status status = hu_model_build(net, &keys->model, &sizes, ends, &said);
  if (status != HU_OK) return hui_say(why, status, "model.net: %s", said ? said : hu_status_text(status));
  if (keys->loss == LOSS_CROSS_ENTROPY && !labels)
    return hui_say(why, HU_E_TRAIN, "loss.kind: the data have no labels");
  if (keys->loss == LOSS_SQUARED_ERROR && labels)
    return hui_say(why, HU_E_TRAIN, "loss.kind: the data have no targets");
  double weight = ldexp(1, -(int)keys->power) / (double)trainer->shards.count; /* a shard's part of the batch's mean */
  *loss = labels ? hu_net_cross_entropy(net, ends->output, weight) : hu_net_squared_error(net, ends->output, weight);
  status = hu_net_status(net, &said);
  return status == HU_OK ? HU_OK : hui_say(why, status, "model.net: %s", said);
}

static hu_status add_net(hu_trainer *trainer, size_t k, char *why) {
  hu_shards *shards = &trainer->shards;
  hu_model_ends ends;
  int loss;
  shards->net[k] = hui_net_new_beside(trainer->net);
  return shards->net[k] ? add_layers(trainer, shards->net[k], &ends, &loss, why)
                        : hui_say(why, HU_E_MEMORY, "no memory for the nets");
}

static hu_status add_nets(hu_trainer *trainer, char *why) {
  hu_shards *shards = &trainer->shards;
  shards->whole.sum = trainer->ranks.size > 1 ? trainer->ranks.sum : NULL;
  shards->whole.context = trainer->ranks.context;
  trainer->net->whole = &shards->whole;
  shards->net = calloc(shards->own, sizeof *shards->net);
  shards->loss = calloc(shards->own, sizeof *shards->loss);
  if (!shards->net || !shards->loss) return HU_E_MEMORY;
  shards->net[0] = trainer->net;
  hu_status status = HU_OK;
  for (size_t k = 1; k < shards->own && status == HU_OK; k++) status = add_net(trainer, k, why);
  return status;
}

hu_status hui_build_nets(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  if (keys->device && !trainer->engine)
    return hui_say(why, HU_E_DEVICE, "run.device: cuda, and there is no device here");
  trainer->net = hu_net_new_on(keys->device ? trainer->engine : NULL, trainer->batch, threads_of(keys));
  if (!trainer->net) return hui_say(why, HU_E_MEMORY, "no memory for the net");
  trainer->net->passes = trainer->shards.count;
  hu_status status = add_layers(trainer, trainer->net, &trainer->ends, &trainer->loss, why);
  return status == HU_OK && keys->statistics ? add_nets(trainer, why) : status;
}
