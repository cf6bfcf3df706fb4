/* SPDX-License-Identifier: MIT */
/* Batches by tokens: pairs of sentences in buckets by length, whose batches have about the same number of tokens. A net
 * of the bucket's shape passes over a batch, beside that of the run, whose weights it reads. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- buckets ---- */

/* Returns the length of the bucket behind one, at most that of a window. */
static size_t next_length(const hu_run_keys *keys, size_t length) {
  double longer = floor((double)length * keys->bucket_step);
  size_t next = longer < (double)keys->window ? (size_t)longer : keys->window;
  if (next <= length) next = length + 1;
  return next < keys->window ? next : keys->window;
}

/* Lists the buckets; NULL: counts them. */
static size_t list_buckets(const hu_trainer *trainer, hu_bucket *bucket) {
  const hu_run_keys *keys = &trainer->keys;
  const size_t shards = trainer->shards.count;
  size_t n = 0, length = keys->bucket_first < keys->window ? keys->bucket_first : keys->window;
  for (;; length = next_length(keys, length)) {
    size_t each = keys->tokens / (shards * length);
    if (bucket) bucket[n] = (hu_bucket){.length = length, .size = shards * (each ? each : 1)};
    n++;
    if (length == keys->window) return n;
  }
}

/* Returns the tokens of the longer sentence of a pair, its end among them. */
static size_t length_of(const hu_trainer *trainer, size_t pair) {
  const hu_parallel *parallel = &trainer->source.parallel;
  const float *example = trainer->source.training.x + pair * (2 * parallel->window + 1);
  size_t source = (size_t)example[parallel->window],
         target = hu_parallel_labels(parallel, example, trainer->buckets.label);
  return source > target ? source : target;
}

static void find_buckets(hu_trainer *trainer) {
  hu_buckets *buckets = &trainer->buckets;
  for (size_t i = 0; i < trainer->source.training.count; i++) {
    size_t length = length_of(trainer, i);
    uint32_t k = 0;
    while (buckets->bucket[k].length < length) k++;
    buckets->of[i] = k;
    buckets->bucket[k].pairs++;
  }
  for (size_t k = 0; k < buckets->count; k++) buckets->batches += buckets->bucket[k].pairs / buckets->bucket[k].size;
}

/* What is not defined of batches of several shapes. */
static const char *does_not_go(const hu_run_keys *keys) {
  if (keys->accumulate > 1) return "run.accumulate";
  if (keys->stream > 1) return "run.stream";
  if (keys->rest) return "run.rest = keep";
  if (keys->assignment != ASSIGN_NONE) return "assignment.kind";
  if (keys->history) return "precision.history";
  if (keys->statistics) return "parallel.statistics = batch";
  return NULL;
}

static hu_status check_keys(const hu_trainer *trainer, char *why) {
  const char *other = does_not_go(&trainer->keys);
  if (!trainer->source.parallel.window)
    return hui_say(why, HU_E_TRAIN, "run.tokens: of data.set = parallel alone, whose sentences have lengths");
  return other ? hui_say(why, HU_E_TRAIN, "run.tokens: does not go with %s", other) : HU_OK;
}

/* ---- the net of a bucket ---- */

static size_t samples_of(const hu_trainer *trainer, size_t k) {
  return trainer->buckets.bucket[k].size / trainer->shards.count;
}

/* Is a net built as that of the run, except for rows that a step more or less has? */
static hu_status check_net(const hu_trainer *trainer, const hu_net *net, char *why) {
  const hu_net *first = trainer->net;
  if (net->values != first->values || net->operators != first->operators || net->parameters != first->parameters)
    return hui_say(why, HU_E_TRAIN, "run.tokens: the network has other layers for sentences of another length");
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *own = &net->parameter[i], *whole = &first->parameter[i];
    if (own->cols != whole->cols || own->rows > whole->rows)
      return hui_say(why, HU_E_TRAIN, "run.tokens: %s has other columns for sentences of another length", whole->name);
  }
  return HU_OK;
}

static hu_status build(hu_trainer *trainer, size_t k, char *why) {
  hu_buckets *buckets = &trainer->buckets;
  int loss;
  hu_net_free(buckets->net);
  buckets->net = hui_net_new_beside(trainer->net, samples_of(trainer, k));
  if (!buckets->net) return HU_E_MEMORY;
  buckets->built = k;
  buckets->steps = buckets->bucket[k].length;
  hu_status status = hui_add_layers(trainer, buckets->net, &buckets->ends, &loss, why);
  buckets->steps = 0;
  return status == HU_OK ? check_net(trainer, buckets->net, why) : status;
}

hu_status hui_build_bucket(hu_trainer *trainer) {
  const hu_buckets *buckets = &trainer->buckets;
  return buckets->net && buckets->built == buckets->now ? HU_OK : build(trainer, buckets->now, NULL);
}

/* ---- beginning ---- */

static hu_status allocate(hu_trainer *trainer) {
  hu_buckets *buckets = &trainer->buckets;
  const size_t pairs = trainer->source.training.count, window = trainer->keys.window;
  buckets->count = list_buckets(trainer, NULL);
  buckets->bucket = calloc(buckets->count, sizeof *buckets->bucket);
  buckets->of = calloc(pairs, sizeof *buckets->of);
  buckets->order = calloc(pairs, sizeof *buckets->order);
  buckets->sorted = calloc(pairs, sizeof *buckets->sorted);
  buckets->batch = calloc(pairs, sizeof *buckets->batch);
  buckets->label = calloc(window, sizeof *buckets->label);
  buckets->met = calloc(buckets->count, sizeof *buckets->met);
  buckets->ordered = UINT64_MAX;
  int all = buckets->bucket && buckets->of && buckets->order && buckets->sorted && buckets->batch && buckets->label &&
            buckets->met;
  return all ? HU_OK : HU_E_MEMORY;
}

hu_status hui_make_buckets(hu_trainer *trainer, char *why) {
  hu_buckets *buckets = &trainer->buckets;
  if (!trainer->keys.tokens) return HU_OK;
  hu_status status = check_keys(trainer, why);
  if (status == HU_OK) status = allocate(trainer);
  if (status != HU_OK) return status;
  (void)list_buckets(trainer, buckets->bucket);
  find_buckets(trainer);
  if (!buckets->batches)
    return hui_say(why, HU_E_TRAIN, "run.tokens: %" PRIu64 ", and no bucket has enough sentences for a batch",
                   trainer->keys.tokens);
  for (size_t k = 0; k < buckets->count && status == HU_OK; k++) {
    if (buckets->bucket[k].pairs >= buckets->bucket[k].size) status = build(trainer, k, why);
  }
  return status;
}

hu_status hui_make_bucket_buffers(hu_trainer *trainer) {
  const hu_buckets *buckets = &trainer->buckets;
  size_t numbers = 0, labels = 0;
  for (size_t k = 0; k < buckets->count; k++) {
    const hu_bucket *bucket = &buckets->bucket[k];
    if (bucket->pairs < bucket->size) continue;
    if (bucket->size * (2 * bucket->length + 1) > numbers) numbers = bucket->size * (2 * bucket->length + 1);
    if (bucket->size * bucket->length > labels) labels = bucket->size * bucket->length;
  }
  trainer->buckets.x = calloc(numbers + 1, sizeof *trainer->buckets.x);
  trainer->buckets.labels = calloc(labels + 1, sizeof *trainer->buckets.labels);
  if (!buckets->count) return HU_OK;
  return trainer->buckets.x && trainer->buckets.labels ? hui_make_rest_row(trainer) : HU_E_MEMORY;
}

void hui_close_buckets(hu_trainer *trainer) {
  hu_buckets *buckets = &trainer->buckets;
  void *all[] = {buckets->bucket, buckets->of,  buckets->order, buckets->sorted, buckets->batch,
                 buckets->label,  buckets->met, buckets->x,     buckets->labels};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  hu_net_free(buckets->net);
  memset(buckets, 0, sizeof *buckets);
}

/* ---- order ---- */

/* Sorts an epoch's pairs by buckets, in each of them as they come, and lists the batches as they become whole. */
static void put_in_order(hu_trainer *trainer, uint64_t epoch) {
  hu_buckets *buckets = &trainer->buckets;
  const size_t pairs = trainer->source.training.count;
  hu_stream epochs = hu_stream_of_use(trainer->keys.seed, HU_USE_ORDER);
  hu_permutation((uint32_t)pairs, buckets->order, hu_stream_child(epochs, epoch));
  size_t first = 0, batches = 0;
  for (size_t k = 0; k < buckets->count; k++) {
    buckets->met[k] = first;
    buckets->bucket[k].first = first;
    first += buckets->bucket[k].pairs;
  }
  for (size_t i = 0; i < pairs; i++) {
    const uint32_t pair = buckets->order[i], k = buckets->of[pair];
    const hu_bucket *bucket = &buckets->bucket[k];
    buckets->sorted[buckets->met[k]++] = pair;
    if ((buckets->met[k] - bucket->first) % bucket->size == 0)
      buckets->batch[batches++] = (hu_token_batch){k, buckets->met[k] - bucket->size};
  }
  buckets->ordered = epoch;
}

/* Copies a pair without the padding behind its bucket's length. */
static void gather(hu_trainer *trainer, uint32_t pair, size_t i, size_t length) {
  hu_buckets *buckets = &trainer->buckets;
  const hu_parallel *parallel = &trainer->source.parallel;
  const size_t window = parallel->window;
  const float *example = trainer->source.training.x + pair * (2 * window + 1);
  float *x = buckets->x + i * (2 * length + 1);
  memcpy(x, example, length * sizeof *x);
  x[length] = example[window];
  memcpy(x + length + 1, example + window + 1, length * sizeof *x);
  buckets->counted += (double)hu_parallel_labels(parallel, example, buckets->label);
  memcpy(buckets->labels + i * length, buckets->label, length * sizeof *buckets->labels);
}

void hui_draw_bucket(hu_trainer *trainer) {
  hu_buckets *buckets = &trainer->buckets;
  hu_batch_state *state = &trainer->order.state;
  if (state->position == buckets->batches) {
    state->epoch++;
    state->position = 0;
  }
  if (buckets->ordered != state->epoch) put_in_order(trainer, state->epoch);
  const hu_token_batch *batch = &buckets->batch[state->position++];
  const hu_bucket *bucket = &buckets->bucket[batch->bucket];
  buckets->now = batch->bucket;
  buckets->counted = 0;
  for (size_t i = 0; i < bucket->size; i++) gather(trainer, buckets->sorted[batch->first + i], i, bucket->length);
  buckets->counted /= (double)trainer->shards.count;
}

hu_status hui_feed_bucket(hu_trainer *trainer, hu_net *net, size_t part) {
  const hu_buckets *buckets = &trainer->buckets;
  const size_t length = buckets->bucket[buckets->now].length, samples = samples_of(trainer, buckets->now);
  hu_status status = hu_model_feed(net, &buckets->ends, buckets->x + part * samples * (2 * length + 1));
  if (status != HU_OK) return status;
  return hui_net_labels_among(net, buckets->labels + part * samples * length, buckets->counted);
}
