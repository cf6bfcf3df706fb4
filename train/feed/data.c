/* SPDX-License-Identifier: MIT */
/* Feeds a run's data into the net, batch by batch: those of a step, those of an evaluation. */
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

enum { TEST_WINDOWS = 8 };

/* ---- batches ---- */

/* Which of the open files a set's images are in; NULL: its numbers are in memory. */
static hu_image_file *file_of(hu_trainer *trainer, const hu_data *data) {
  hu_image_file *images = &trainer->source.images[data == &trainer->source.test];
  return images->file ? images : NULL;
}

/* How many answers a row of the output chooses from. */
static size_t classes_of(const hu_trainer *trainer) {
  const hu_trainer_source *source = &trainer->source;
  if (source->text) return source->tokens.kinds;
  return source->parallel.window ? source->parallel.target_kinds : source->training.classes;
}

/* Do the inputs have the numbers of a sample, and the output the rows and columns that answers are for? */
static hu_status check_shapes(const hu_trainer *trainer, size_t numbers, size_t rows, size_t cols, char *why) {
  const char *key = *trainer->keys.network ? "model.file" : "model.net";
  const hu_data *data = &trainer->source.training;
  int text = trainer->source.text, labels = hui_has_labels(trainer);
  size_t n = trainer->batch, steps = text ? trainer->source.window : trainer->source.parallel.window;
  size_t features = text ? trainer->source.window : hu_data_features(data),
         classes = hui_is_logistic(trainer) ? 1 : classes_of(trainer);
  if (numbers != n * features)
    return hui_say(why, HU_E_SHAPE, "%s: reads %zu numbers a sample, and the data have %zu", key, numbers / n,
                   features);
  if (hui_is_speech(trainer)) return hui_check_speech(trainer, rows, cols, why);
  if (labels && rows != n * (steps ? steps : 1))
    return hui_say(why, HU_E_SHAPE, "%s: has %zu rows of outputs, and a sample of the data %zu answers", key, rows / n,
                   steps ? steps : 1);
  if (classes == 1 && labels && cols != 1)
    return hui_say(why, HU_E_SHAPE, "%s: has %zu outputs, and loss.kind = logistic looks at 1", key, cols);
  if (labels && (steps ? cols != classes : cols < classes))
    return hui_say(why, HU_E_SHAPE, "%s: has %zu outputs, and the data %zu classes", key, cols, classes);
  if (!labels && rows * cols != n * data->targets)
    return hui_say(why, HU_E_SHAPE, "%s: has %zu outputs, and the data %zu targets", key, cols, data->targets);
  return HU_OK;
}

hu_status hui_make_buffers(hu_trainer *trainer, char *why) {
  size_t n = trainer->batch, all = trainer->samples, passes = all / n, numbers = 0;
  for (int i = 0; i < trainer->ends.count; i++) {
    int x = trainer->ends.inputs[i];
    numbers += hui_net_rows(trainer->net, x) * hui_net_cols(trainer->net, x);
  }
  size_t rows = hui_net_rows(trainer->net, trainer->ends.output),
         cols = hui_net_cols(trainer->net, trainer->ends.output);
  hu_status status = check_shapes(trainer, numbers, rows, cols, why);
  if (status != HU_OK) return status;
  trainer->buffers.x = calloc(passes * numbers, sizeof *trainer->buffers.x);
  trainer->buffers.y = calloc(passes * rows * cols, sizeof *trainer->buffers.y);
  trainer->buffers.labels = calloc(passes * rows, sizeof *trainer->buffers.labels);
  trainer->buffers.index = calloc(all, sizeof *trainer->buffers.index);
  trainer->buffers.words = trainer->source.text
                               ? calloc(all * (trainer->source.window + 1), sizeof *trainer->buffers.words)
                               : trainer->buffers.words;
  if (!trainer->buffers.x || !trainer->buffers.y || !trainer->buffers.labels || !trainer->buffers.index ||
      (trainer->source.text && !trainer->buffers.words))
    return HU_E_MEMORY;
  return HU_OK;
}

/* Gathers n images of a file. */
static hu_status gather_large(hu_trainer *trainer, hu_image_file *images, const hu_data *data, size_t n,
                              const uint32_t *index, const hu_stream *augment) {
  static const int what[] = {HU_IMAGE_SCALED, HU_IMAGE_MEANS, HU_IMAGE_BYTES}; /* of NORMALISE_ */
  for (size_t i = 0; i < n; i++) trainer->buffers.labels[i] = data->labels[index[i]];
  return hui_images_gather(images, n, index, trainer->buffers.x, data->height, (float)trainer->keys.area,
                           what[trainer->keys.normalise], augment);
}

/* Gathers n examples into the buffers. */
static hu_status gather_images(hu_trainer *trainer, const hu_data *data, size_t n, const uint32_t *index,
                               const hu_stream *augment) {
  hu_data_gather(data, n, index, trainer->buffers.x, data->labels ? trainer->buffers.labels : NULL,
                 data->targets ? trainer->buffers.y : NULL);
  if (trainer->source.parallel.window) hui_label_pairs(trainer, n);
  if (hui_is_speech(trainer)) hui_label_speech(trainer, data, n);
  if (!augment) return HU_OK;
  float *whole = malloc(n * hu_data_features(data) * sizeof *whole);
  if (!whole) return HU_E_MEMORY;
  memcpy(whole, trainer->buffers.x, n * hu_data_features(data) * sizeof *whole);
  const hu_augmentation varied = {data->height, data->width, data->channels, 4, 1, NULL};
  hu_status status = hu_augment(n, trainer->buffers.x, whole, &varied, *augment);
  free(whole);
  return status;
}

static hu_status gather(hu_trainer *trainer, const hu_data *data, size_t n, const uint32_t *index,
                        const hu_stream *augment) {
  hu_image_file *images = file_of(trainer, data);
  hu_status status =
      images ? gather_large(trainer, images, data, n, index, augment) : gather_images(trainer, data, n, index, augment);
  if (status == HU_OK && trainer->keys.normalise == NORMALISE_IMAGE)
    hu_standardise_n(n, hu_data_features(data), trainer->buffers.x);
  return status;
}

/* trainer->buffers.words has n windows of one more token than steps: inputs all but the last, labels all but the
 * first; of a masked language model, labels are those that `masks` choose. */
static hu_status put_windows(hu_trainer *trainer, size_t n, hu_stream masks) {
  size_t w = trainer->source.window;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < w; j++) {
      trainer->buffers.x[i * w + j] = (float)trainer->buffers.words[i * (w + 1) + j];
      trainer->buffers.labels[i * w + j] = trainer->buffers.words[i * (w + 1) + j + 1];
    }
  }
  return hui_has_some_labels(trainer) ? hui_mask_windows(trainer, n, masks) : HU_OK;
}

/* Gathers n windows from random places: those of batch `number` of a seed. */
static hu_status gather_windows(hu_trainer *trainer, size_t n, size_t first, size_t count, uint64_t seed,
                                uint64_t number) {
  hu_stream places = hu_stream_child(hu_stream_of_use(seed, HU_USE_WINDOWS), number);
  hu_stream masks = hu_stream_child(hu_stream_of_use(seed, HU_USE_MASK), number);
  hu_status status = hu_text_windows(n, trainer->buffers.words, &trainer->source.tokens, first, count,
                                     trainer->source.window + 1, places);
  return status == HU_OK ? put_windows(trainer, n, masks) : status;
}

/* The number of batch b of an evaluation, whose seed is 0. */
static uint64_t number_to_see(int on, size_t b) { return ((uint64_t)(on + 1) << 40) + b; }

/* Returns the number of windows of the test part, one behind the other. */
static size_t test_windows(const hu_trainer *trainer) {
  return (trainer->source.tokens.count - trainer->source.split - 1) / trainer->source.window;
}

/* Gathers batch b of these windows. If fewer are left, *n becomes their number, and the last one is repeated. */
static hu_status gather_in_order(hu_trainer *trainer, size_t b, size_t *n) {
  size_t w = trainer->source.window, all = test_windows(trainer), batch = trainer->batch;
  if ((b + 1) * batch > all) *n = all - b * batch;
  for (size_t i = 0; i < batch; i++) {
    size_t at = b * batch + (i < *n ? i : *n - 1);
    memcpy(trainer->buffers.words + i * (w + 1), trainer->source.tokens.tokens + trainer->source.split + at * w,
           (w + 1) * sizeof *trainer->buffers.words);
  }
  return put_windows(trainer, batch, hu_stream_child(hu_stream_of_use(0, HU_USE_MASK), number_to_see(HU_ON_TEST, b)));
}

static hu_status draw_training(hu_trainer *trainer) {
  if (trainer->source.text)
    return gather_windows(trainer, trainer->samples, 0, trainer->source.split, trainer->keys.seed, trainer->step);
  const uint32_t *index = hu_batches_next(&trainer->order);
  hu_stream augment = hu_batches_stream(&trainer->order, HU_USE_AUGMENT);
  hu_status status = hui_draw_negatives(trainer);
  if (status != HU_OK) return status;
  return gather(trainer, &trainer->source.training, trainer->order.given, index,
                trainer->keys.augment ? &augment : NULL);
}

hu_status hui_draw_training(hu_trainer *trainer) {
  if (trainer->buckets.count) return hui_draw_bucket(trainer), HU_OK;
  hu_status status = draw_training(trainer);
  size_t samples = trainer->source.text ? trainer->samples : trainer->order.given;
  if (status == HU_OK) hui_count_labels(trainer, samples, samples);
  return status;
}

hu_status hui_feed_part(hu_trainer *trainer, hu_net *net, size_t part) {
  if (trainer->buckets.count && net == trainer->buckets.net) return hui_feed_bucket(trainer, net, part);
  const hu_data *data = &trainer->source.training;
  size_t numbers = trainer->source.text ? trainer->source.window : hu_data_features(data);
  size_t rows = hui_net_rows(trainer->net, trainer->ends.output),
         cols = hui_net_cols(trainer->net, trainer->ends.output);
  hu_status status = hu_model_feed(net, &trainer->ends, trainer->buffers.x + part * trainer->batch * numbers);
  if (status != HU_OK) return status;
  if (hui_has_some_labels(trainer))
    return hui_net_labels_among(net, trainer->buffers.labels + part * rows, trainer->buffers.counted);
  return hui_has_labels(trainer) ? hu_net_labels(net, trainer->buffers.labels + part * rows)
                                 : hu_net_targets(net, trainer->buffers.y + part * rows * cols);
}

size_t hui_batches_to_see(const hu_trainer *trainer, int on) {
  const hu_data *data = on == HU_ON_TEST ? &trainer->source.test : &trainer->source.training;
  if (trainer->source.whole && on == HU_ON_TEST) return (test_windows(trainer) + trainer->batch - 1) / trainer->batch;
  size_t all = (data->count + trainer->batch - 1) / trainer->batch;
  if (trainer->source.parallel.window && on == HU_ON_TRAINING) return all < TEST_WINDOWS ? all : TEST_WINDOWS;
  return trainer->source.text ? TEST_WINDOWS : all;
}

/* Gathers batch b of the set into the buffers. */
static hu_status gather_to_see(hu_trainer *trainer, int on, size_t b, size_t *n) {
  size_t batch = trainer->batch;
  *n = batch;
  if (trainer->source.whole && on == HU_ON_TEST) return gather_in_order(trainer, b, n);
  if (trainer->source.text) {
    size_t first = on == HU_ON_TEST ? trainer->source.split : 0;
    size_t count = on == HU_ON_TEST ? trainer->source.tokens.count - trainer->source.split : trainer->source.split;
    return gather_windows(trainer, batch, first, count, 0, number_to_see(on, b));
  }
  const hu_data *data = on == HU_ON_TEST ? &trainer->source.test : &trainer->source.training;
  hu_status status = on == HU_ON_TEST ? HU_OK : hui_draw_negatives(trainer);
  if (status != HU_OK) return status;
  if ((b + 1) * batch > data->count) *n = data->count - b * batch;
  for (size_t i = 0; i < batch; i++) trainer->buffers.index[i] = (uint32_t)(i < *n ? b * batch + i : data->count - 1);
  return gather(trainer, data, batch, trainer->buffers.index, NULL);
}

/* The rows behind the last example of a set, which repeat it, have no label. */
static void drop_labels(hu_trainer *trainer, size_t n) {
  size_t each = hui_net_rows(trainer->net, trainer->ends.output) / trainer->batch;
  if (!hui_has_labels(trainer) || hui_has_some_labels(trainer)) return;
  if (hui_is_speech(trainer)) hui_drop_speech(trainer, n);
  for (size_t i = n * each; i < trainer->batch * each; i++) trainer->buffers.labels[i] = HU_LABEL_NONE;
}

hu_status hui_feed_to_see(hu_trainer *trainer, int on, size_t b, size_t *n) {
  hu_status status = gather_to_see(trainer, on, b, n);
  if (status == HU_OK) hui_count_labels(trainer, trainer->batch, *n);
  if (status == HU_OK && *n < trainer->batch) drop_labels(trainer, *n);
  return status == HU_OK ? hui_feed_part(trainer, trainer->net, 0) : status;
}
