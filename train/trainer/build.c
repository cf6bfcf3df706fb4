/* SPDX-License-Identifier: MIT */
/* Builds the nets of a run: one, or one a shard where batch norms have statistics of the whole batch. */
#define _GNU_SOURCE /* _SC_NPROCESSORS_ONLN */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/data/file.h"
#include "train/environment.h"
#include "train/model/kinds.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

static uint32_t threads_of(const hu_run_keys *keys) {
  long processors = keys->threads ? (long)keys->threads : sysconf(_SC_NPROCESSORS_ONLN);
  return processors < 1 ? 1 : processors > 256 ? 256 : (uint32_t)processors;
}

/* ---- the model ---- */

/* Says "model.file: FILE: sentence", or "model.net: sentence". */
static hu_status wrong_model(const hu_trainer *trainer, hu_status status, const char *said, char *why) {
  const char *file = trainer->keys.network;
  if (!said) said = hu_status_text(status);
  return *file ? hui_say(why, status, "model.file: %s: %s", file, said) : hui_say(why, status, "model.net: %s", said);
}

/* The file's text with a line end behind it, so that it is one. */
static hu_status read_text(hu_trainer *trainer, char *why) {
  hu_bytes bytes;
  hu_status status = hui_bytes_read(&bytes, trainer->keys.network, why);
  if (status != HU_OK) return status;
  char *text = malloc(bytes.size + 2);
  if (text) {
    memcpy(text, bytes.data, bytes.size);
    memcpy(text + bytes.size, "\n", 2);
    trainer->network = text;
    if (strlen(text) <= bytes.size) status = wrong_model(trainer, HU_E_TEXT, "content: a zero byte", why);
  }
  hui_bytes_free(&bytes);
  return text ? status : hui_say(why, HU_E_MEMORY, "no memory for the network's text");
}

hu_status hui_read_model(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  char said[HU_TEXT_WHY_MAX];
  size_t where;
  trainer->model = keys->model;
  if (!*keys->network && *keys->settings)
    return hui_say(why, HU_E_TRAIN, "model.keys: they are those of a text, and model.file names none");
  free(trainer->network);
  trainer->network = NULL;
  trainer->model.scaling = (uint8_t)keys->scaling;
  if (!*keys->network) return HU_OK;
  hu_status status = read_text(trainer, why);
  if (status != HU_OK) return status;
  status = hui_model_read(&trainer->model, trainer->network, &where, said);
  if (status != HU_OK) return wrong_model(trainer, status, said, why);
  trainer->model.scaling = (uint8_t)keys->scaling;
  trainer->model.settings = *keys->settings ? keys->settings : NULL;
  return HU_OK;
}

uint64_t hui_network_digest(const hu_trainer *trainer) {
  uint64_t h = 0xCBF29CE484222325u;
  if (!trainer->network) return 0;
  for (const char *p = trainer->network; *p; p++) h = (h ^ (uint8_t)*p) * 0x100000001B3u;
  return h;
}

/* Says why a model cannot be built. */
static void say_refused(const hu_trainer *trainer, const hu_model_sizes *sizes, char *why) {
  const char *said = NULL;
  hu_model_ends ends;
  hu_net *net = hu_net_new(1, 1);
  hu_status status = net ? hu_model_build(net, &trainer->model, sizes, &ends, &said) : HU_E_MEMORY;
  (void)wrong_model(trainer, status, said, why);
  hu_net_free(net);
}

static HU_NOINLINE size_t describe(hu_trainer *trainer, const hu_model_sizes *sizes, char *text, size_t size,
                                   char *why) {
  hu_model_sizes own;
  if (!trainer || (!sizes && !trainer->net)) return 0;
  if (!trainer->net && hui_read_model(trainer, why) != HU_OK) return 0;
  if (!sizes) own = hui_sizes_of_source(trainer);
  size_t length = hu_model_describe(text, size, &trainer->model, sizes ? sizes : &own);
  if (!length) say_refused(trainer, sizes ? sizes : &own, why);
  return length;
}

size_t hu_trainer_describe(hu_trainer *trainer, const hu_model_sizes *sizes, char *text, size_t size, char *why) {
  HU_ENV_RETURN(size_t, describe(trainer, sizes, text, size, why));
}

/* ---- nets ---- */

/* Adds the loss of a value, as the keys say. */
static int add_loss(const hu_run_keys *keys, hu_net *net, uint64_t kind, int x, int lengths, double weight) {
  unsigned how = (keys->smoothing_over ? HU_SMOOTHING_OTHERS : 0U);
  if (keys->less_minimum) how |= HU_SMOOTHING_LESS_MINIMUM;
  switch (kind) {
    case LOSS_LOGISTIC: return hu_net_logistic(net, x, weight);
    case LOSS_SQUARED_ERROR: return hu_net_squared_error(net, x, weight);
    case LOSS_ABSOLUTE_ERROR: return hu_net_absolute_error(net, x, weight);
    case LOSS_SMOOTH_L1: return hu_net_smooth_l1(net, x, weight, keys->beta);
    case LOSS_CTC: return hu_net_ctc(net, x, weight, 0, lengths, 0);
    default:
      return keys->smoothing > 0 ? hu_net_cross_entropy_smoothed(net, x, weight, keys->smoothing, how)
                                 : hu_net_cross_entropy(net, x, weight);
  }
}

/* Checks that the data have what the loss compares with. */
static hu_status check_loss(const hu_trainer *trainer, uint64_t kind, char *why) {
  int labels = hui_has_labels(trainer), of_labels = kind == LOSS_CROSS_ENTROPY;
  if (trainer->keys.smoothing > 0 && !of_labels)
    return hui_say(why, HU_E_TRAIN, "loss.smoothing: of loss.kind = cross_entropy alone");
  if (kind == LOSS_LOGISTIC && !hui_is_logistic(trainer))
    return hui_say(why, HU_E_TRAIN, "loss.kind: logistic is for labels of two classes, and the data have others");
  if (kind == LOSS_LOGISTIC) return HU_OK;
  if ((kind == LOSS_CTC) != hui_is_speech(trainer))
    return hui_say(why, HU_E_TRAIN, "loss.kind: ctc is the loss of speech and of tones, and of nothing else");
  if (kind == LOSS_CTC) return HU_OK;
  if (of_labels && !labels) return hui_say(why, HU_E_TRAIN, "loss.kind: the data have no labels");
  if (!of_labels && labels) return hui_say(why, HU_E_TRAIN, "loss.kind: the data have no targets");
  return HU_OK;
}

/* The layers of the model, its loss, and those of its heads; *loss is the first loss's value. */
hu_status hui_add_layers(hu_trainer *trainer, hu_net *net, hu_model_ends *ends, int *loss, char *why) {
  hu_run_keys *keys = &trainer->keys;
  const char *said = NULL;
  int labels = hui_has_labels(trainer);
  hu_model_sizes sizes = hui_sizes_of_source(trainer);
  hu_status status = hu_model_build(net, &trainer->model, &sizes, ends, &said);
  if (status != HU_OK) return wrong_model(trainer, status, said, why);
  uint64_t usual = hui_is_speech(trainer) ? LOSS_CTC : labels ? LOSS_CROSS_ENTROPY : LOSS_SQUARED_ERROR;
  uint64_t kind = keys->loss != LOSS_DEFAULT ? keys->loss : usual;
  status = check_loss(trainer, kind, why);
  if (status != HU_OK) return status;
  double weight = ldexp(1, -(int)keys->power) / (double)trainer->shards.count; /* a shard's part of the batch's mean */
  *loss = add_loss(keys, net, kind, ends->output, ends->lengths, weight);
  for (int i = 0; i < ends->head_count; i++)
    (void)add_loss(keys, net, kind, ends->heads[i], ends->lengths, weight * ends->head_weights[i]);
  status = hu_net_status(net, &said);
  return status == HU_OK ? HU_OK : wrong_model(trainer, status, said, why);
}

static hu_status add_net(hu_trainer *trainer, size_t k, char *why) {
  hu_shards *shards = &trainer->shards;
  hu_model_ends ends;
  int loss;
  shards->net[k] = hui_net_new_beside(trainer->net, trainer->batch);
  return shards->net[k] ? hui_add_layers(trainer, shards->net[k], &ends, &loss, why)
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
  hu_status status = hui_add_layers(trainer, trainer->net, &trainer->ends, &trainer->loss, why);
  return status == HU_OK && keys->statistics ? add_nets(trainer, why) : status;
}
