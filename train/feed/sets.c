/* SPDX-License-Identifier: MIT */
/* Loads or makes a run's data: the sets of data.set, the files that were read, sizes and digest of what is there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer/trainer.h"

/* Takes the first `count` examples for training, the others for testing. */
static hu_status cut(hu_trainer *trainer, hu_data *all, size_t count) {
  hu_status status = hu_data_part(&trainer->source.training, all, 0, count);
  if (status == HU_OK) status = hu_data_part(&trainer->source.test, all, count, all->count - count);
  hu_data_free(all);
  return status;
}

/* Takes every fifth one for testing. */
static hu_status split(hu_trainer *trainer, hu_data *all) {
  hu_status status = hu_data_split(&trainer->source.training, &trainer->source.test, all, 5, 4);
  hu_data_free(all);
  return status;
}

static hu_status open_digits(hu_trainer *trainer, const char *folder, char *why) {
  char path[HU_PATH_SIZE];
  hu_data all;
  hu_status status = hui_path_of(path, folder, trainer->keys.path, "", why);
  if (status == HU_OK) status = hu_data_load_digits(&all, path, (int)trainer->keys.raw, why);
  return status == HU_OK ? split(trainer, &all) : status;
}

static hu_status open_npy(hu_trainer *trainer, const char *folder, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  char images[HU_PATH_SIZE], labels[HU_PATH_SIZE];
  hu_data all;
  if (!*keys->path || !*keys->labels) return hui_say(why, HU_E_TRAIN, "data.path, data.labels: npy requires both");
  hu_status status = hui_path_of(images, folder, keys->path, "", why);
  if (status == HU_OK) status = hui_path_of(labels, folder, keys->labels, "", why);
  if (status == HU_OK) status = hu_data_load_npy(&all, images, labels, (uint32_t)keys->classes, 1, why);
  return status == HU_OK ? split(trainer, &all) : status;
}

static hu_status open_mnist_part(hu_data *data, const hu_trainer *trainer, const char *folder, const char *part,
                                 char *why) {
  char images[HU_PATH_SIZE], labels[HU_PATH_SIZE], name[64];
  snprintf(name, sizeof name, "%s-images-idx3-ubyte", part);
  hu_status status = hui_path_of(images, folder, trainer->keys.path, name, why);
  snprintf(name, sizeof name, "%s-labels-idx1-ubyte", part);
  if (status == HU_OK) status = hui_path_of(labels, folder, trainer->keys.path, name, why);
  return status == HU_OK ? hu_data_load_idx(data, images, labels, 10, 0, why) : status;
}

/* Makes bytes of byte / 255: the product is nearer to the byte than to any other whole number. */
static void to_bytes(hu_data *data) {
  for (size_t i = 0; i < data->count * hu_data_features(data); i++) data->x[i] = nearbyintf(data->x[i] * 255);
}

static hu_status load_cifar(hu_data *data, const hu_trainer *trainer, size_t files, char path[][HU_PATH_SIZE],
                            char *why) {
  const float mean10[] = HU_CIFAR10_MEAN, deviation10[] = HU_CIFAR10_DEVIATION;
  const float mean100[] = HU_CIFAR100_MEAN, deviation100[] = HU_CIFAR100_DEVIATION;
  const char *paths[5];
  for (size_t i = 0; i < files; i++) paths[i] = path[i];
  int ten = trainer->keys.set == SET_CIFAR10;
  hu_status status = ten ? hu_data_load_cifar10(data, paths, files, why)
                         : hu_data_load_cifar100(data, paths, files, (int)trainer->keys.coarse, why);
  if (status != HU_OK) return status;
  const float one[] = {1, 1, 1};
  if (trainer->keys.normalise == NORMALISE_IMAGE) return to_bytes(data), HU_OK;
  const float *deviation = trainer->keys.normalise == NORMALISE_MEANS ? one : ten ? deviation10 : deviation100;
  return hu_data_normalise(data, ten ? mean10 : mean100, deviation);
}

static hu_status open_cifar(hu_trainer *trainer, const char *folder, char *why) {
  char(*path)[HU_PATH_SIZE] = malloc(5 * sizeof *path), name[32];
  size_t files = trainer->keys.set == SET_CIFAR10 ? 5 : 1;
  hu_status status = path ? HU_OK : HU_E_MEMORY;
  for (size_t i = 0; i < files && status == HU_OK; i++) {
    snprintf(name, sizeof name, files == 5 ? "data_batch_%zu.bin" : "train.bin", i + 1);
    status = hui_path_of(path[i], folder, trainer->keys.path, name, why);
  }
  if (status == HU_OK) status = load_cifar(&trainer->source.training, trainer, files, path, why);
  if (status == HU_OK)
    status = hui_path_of(path[0], folder, trainer->keys.path, files == 5 ? "test_batch.bin" : "test.bin", why);
  if (status == HU_OK) status = load_cifar(&trainer->source.test, trainer, 1, path, why);
  free(path);
  return status;
}

static hu_status open_text(hu_trainer *trainer, const char *folder, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  char path[HU_PATH_SIZE];
  hu_status status = hui_path_of(path, folder, *keys->path ? keys->path : "xz_file_format.txt", "", why);
  if (status == HU_OK) status = hu_text_load(&trainer->source.tokens, path, why);
  if (status != HU_OK) return status;
  trainer->source.text = 1;
  trainer->source.split = trainer->source.tokens.count / 10 * 9;
  trainer->source.window = keys->window;
  if (trainer->source.tokens.count - trainer->source.split > trainer->source.window) return HU_OK;
  return hui_say(why, HU_E_DATA, "%s: the last tenth is shorter than a window of %zu bytes", path,
                 trainer->source.window + 1);
}

/* Returns the random words of an epoch's negatives. */
static hu_stream negatives_of(const hu_trainer *trainer, uint64_t epoch) {
  return hu_stream_child(hu_stream_of_use(trainer->keys.seed, HU_USE_NEGATIVES), epoch);
}

static hu_status open_movielens(hu_trainer *trainer, const char *folder, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  hu_movielens *movielens = &trainer->source.movielens;
  char path[HU_PATH_SIZE];
  hu_status status = hui_path_of(path, folder, *keys->path ? keys->path : "ratings.dat", "", why);
  if (status == HU_OK) status = hu_movielens_load(movielens, path, why);
  if (status != HU_OK) return status;
  status =
      hu_movielens_training(&trainer->source.training, movielens, (uint32_t)keys->negatives, negatives_of(trainer, 0));
  if (status != HU_OK) return hui_say(why, status, "data.negatives: %s", hu_status_text(status));
  trainer->source.group = keys->candidates + 1;
  return hu_movielens_test(&trainer->source.test, movielens, (uint32_t)keys->candidates,
                           hu_stream_of_use(keys->data_seed, HU_USE_CANDIDATES), why);
}

hu_status hui_draw_negatives(hu_trainer *trainer) {
  hu_trainer_source *source = &trainer->source;
  uint64_t epoch = trainer->order.state.epoch;
  if (!source->movielens.item || source->drawn == epoch) return HU_OK;
  source->drawn = epoch;
  return hu_movielens_negatives(&source->training, &source->movielens, (uint32_t)trainer->keys.negatives,
                                negatives_of(trainer, epoch));
}

static hu_status open_least_squares(hu_trainer *trainer) {
  const hu_run_keys *keys = &trainer->keys;
  hu_least_squares what = hu_least_squares_default();
  hu_data all;
  what.count = keys->count + keys->test;
  what.features = keys->features;
  what.noise = (float)keys->noise;
  hu_status status = hu_data_least_squares(&all, NULL, &what, keys->data_seed);
  return status == HU_OK ? cut(trainer, &all, keys->count) : status;
}

static hu_status open_teacher(hu_trainer *trainer) {
  const hu_run_keys *keys = &trainer->keys;
  hu_teacher what = hu_teacher_default();
  hu_data all;
  what.count = keys->count + keys->test;
  what.features = keys->features;
  what.deviation = (float)keys->deviation;
  hu_status status = hu_data_teacher(&all, &what, keys->data_seed);
  return status == HU_OK ? cut(trainer, &all, keys->count) : status;
}

static hu_status open_gratings(hu_trainer *trainer) {
  const hu_run_keys *keys = &trainer->keys;
  hu_status status =
      hu_data_gratings(&trainer->source.training, 0, keys->count, keys->size, (uint32_t)keys->classes, keys->data_seed);
  if (status != HU_OK) return status;
  return hu_data_gratings(&trainer->source.test, keys->count, keys->test, keys->size, (uint32_t)keys->classes,
                          keys->data_seed);
}

static hu_status open_ratings(hu_trainer *trainer) {
  const hu_run_keys *keys = &trainer->keys;
  hu_ratings what = hu_ratings_default();
  what.users = keys->users;
  what.items = keys->items;
  what.rank = keys->rank;
  what.noise = (float)keys->noise;
  what.labels = (int)keys->implicit;
  what.count = keys->count;
  hu_status status = hu_data_ratings(&trainer->source.training, 0, &what, keys->data_seed);
  what.count = keys->test;
  return status == HU_OK ? hu_data_ratings(&trainer->source.test, keys->count, &what, keys->data_seed) : status;
}

static hu_status open_mnist(hu_trainer *trainer, const char *folder, char *why) {
  hu_status status = open_mnist_part(&trainer->source.training, trainer, folder, "train", why);
  return status == HU_OK ? open_mnist_part(&trainer->source.test, trainer, folder, "t10k", why) : status;
}

/* Opens the file for training, and the one for testing; without one, the last tenth of the lines is for testing. */
static hu_status open_criteo(hu_trainer *trainer, const char *folder, char *why) {
  enum { ROWS_MOST = (1 << 24) / 26 }; /* of 26 categories, so that binary32 numbers name the rows of all of them */
  const hu_run_keys *keys = &trainer->keys;
  const uint32_t rows = (uint32_t)keys->vocabulary;
  char path[HU_PATH_SIZE];
  hu_data all;
  if (!*keys->path) return hui_say(why, HU_E_TRAIN, "data.path: empty, and criteo requires a file");
  if (rows < 2 || rows > ROWS_MOST)
    return hui_say(why, HU_E_TRAIN, "data.vocabulary: %u, and criteo requires rows of each category, from 2 to %d",
                   rows, ROWS_MOST);
  hu_status status = hui_path_of(path, folder, keys->path, "", why);
  if (status == HU_OK)
    status = hu_data_load_criteo(*keys->test_file ? &trainer->source.training : &all, path, rows, why);
  if (status != HU_OK || !*keys->test_file) {
    if (status != HU_OK) return status;
    if (all.count >= 10) return cut(trainer, &all, all.count / 10 * 9);
    hu_data_free(&all);
    return hui_say(why, HU_E_DATA, "%s: fewer than 10 lines, and the last tenth is for testing", path);
  }
  status = hui_path_of(path, folder, keys->test_file, "", why);
  return status == HU_OK ? hu_data_load_criteo(&trainer->source.test, path, rows, why) : status;
}

static size_t rows_of_clicks(const hu_run_keys *keys) {
  return keys->vocabulary ? keys->vocabulary : hu_clicks_default().rows;
}

static hu_status open_clicks(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  hu_clicks what = {.count = keys->count,
                    .dense = keys->features,
                    .categories = keys->categories,
                    .rows = rows_of_clicks(keys),
                    .rank = keys->rank,
                    .noise = (float)keys->noise};
  hu_status status = hu_data_clicks(&trainer->source.training, 0, &what, keys->data_seed);
  what.count = keys->test;
  if (status == HU_OK) status = hu_data_clicks(&trainer->source.test, keys->count, &what, keys->data_seed);
  return status == HU_OK
             ? status
             : hui_say(why, status, "data.features, data.categories, data.vocabulary: %s", hu_status_text(status));
}

static hu_status open_images(hu_trainer *trainer, const char *folder, char *why) {
  static const char *const names[2] = {"train", "val"};
  const hu_run_keys *keys = &trainer->keys;
  hu_data *sets[2] = {&trainer->source.training, &trainer->source.test};
  char(*path)[HU_PATH_SIZE] = malloc(2 * sizeof *path), name[32];
  hu_status status = path ? HU_OK : HU_E_MEMORY;
  for (int i = 0; i < 2 && status == HU_OK; i++) {
    snprintf(name, sizeof name, "%s-images.npy", names[i]);
    status = hui_path_of(path[0], folder, keys->path, name, why);
    snprintf(name, sizeof name, "%s-labels.npy", names[i]);
    if (status == HU_OK) status = hui_path_of(path[1], folder, keys->path, name, why);
    if (status == HU_OK)
      status = hui_images_open(&trainer->source.images[i], sets[i], path[0], path[1], (uint32_t)keys->classes,
                               keys->size, why);
  }
  free(path);
  return status;
}

static hu_status open_set(hu_trainer *trainer, const char *folder, char *why) {
  switch (trainer->keys.set) {
    case SET_DIGITS: return open_digits(trainer, folder, why);
    case SET_NPY: return open_npy(trainer, folder, why);
    case SET_MNIST: return open_mnist(trainer, folder, why);
    case SET_CIFAR10:
    case SET_CIFAR100: return open_cifar(trainer, folder, why);
    case SET_TEXT: return open_text(trainer, folder, why);
    case SET_WORDS: return hui_open_words(trainer, folder, why);
    case SET_MOVIELENS: return open_movielens(trainer, folder, why);
    case SET_PARALLEL: return hui_open_parallel(trainer, folder, why);
    case SET_CRITEO: return open_criteo(trainer, folder, why);
    case SET_CLICKS: return open_clicks(trainer, why);
    case SET_IMAGES: return open_images(trainer, folder, why);
    case SET_SPEECH:
    case SET_TONES: return hui_open_speech(trainer, folder, why);
    case SET_LEAST_SQUARES: return open_least_squares(trainer);
    case SET_TEACHER: return open_teacher(trainer);
    case SET_GRATINGS: return open_gratings(trainer);
    default: return open_ratings(trainer);
  }
}

/* As many files as there are digests. */
static hu_status check_files(const hu_trainer *trainer, char *why) {
  size_t expected = (size_t)hui_checksums_of(trainer->keys.checksum), there = trainer->files.count;
  if (expected <= there) return HU_OK;
  return hui_say(why, HU_E_TRAIN, "data.checksum: %zu digests, and the run reads %zu files", expected, there);
}

hu_status hui_open_source(hu_trainer *trainer, const char *folder, char *why) {
  trainer->files.expected = trainer->keys.checksum;
  hui_watch_files(&trainer->files);
  hu_status status = open_set(trainer, folder, why);
  hui_watch_files(NULL);
  return status == HU_OK ? check_files(trainer, why) : status;
}

size_t hu_trainer_file_count(const hu_trainer *trainer) { return trainer ? trainer->files.count : 0; }

hu_trainer_file hu_trainer_file_at(const hu_trainer *trainer, size_t i) {
  hu_trainer_file file = {NULL, 0, NULL};
  if (i >= hu_trainer_file_count(trainer)) return file;
  const hu_file_seen *seen = &trainer->files.file[i];
  file.path = seen->path;
  file.bytes = seen->size;
  file.sha256 = seen->sha256;
  return file;
}

void hui_close_source(hu_trainer *trainer) {
  hui_watch_free(&trainer->files);
  hu_trainer_source *source = &trainer->source;
  hu_data_free(&source->training);
  hu_data_free(&source->test);
  for (int i = 0; i < 2; i++) hui_images_close(&source->images[i]);
  hu_text_free(&source->tokens);
  hu_movielens_free(&source->movielens);
  hu_parallel_free(&source->parallel);
  hui_speech_free(&source->speech);
  free(source->merges);
  memset(source, 0, sizeof *source);
}

static void set_parallel_sizes(hu_model_sizes *sizes, const hu_parallel *parallel, size_t steps) {
  if (!parallel->window) return;
  sizes->height = sizes->width = sizes->channels = 0;
  sizes->steps = steps ? steps : parallel->window;
  sizes->source_vocabulary = parallel->source_kinds;
  sizes->vocabulary = sizes->outputs = parallel->target_kinds;
}

static void set_click_sizes(hu_model_sizes *sizes, const hu_trainer *trainer) {
  enum { CRITEO_DENSE = 13, CRITEO_CATEGORIES = 26 };
  const hu_run_keys *keys = &trainer->keys;
  int made = keys->set == SET_CLICKS;
  if (!made && keys->set != SET_CRITEO) return;
  sizes->dense = made ? keys->features : CRITEO_DENSE;
  sizes->categories = made ? keys->categories : CRITEO_CATEGORIES;
  sizes->vocabulary = sizes->categories * (made ? rows_of_clicks(keys) : keys->vocabulary);
}

int hui_is_logistic(const hu_trainer *trainer) {
  const hu_trainer_source *source = &trainer->source;
  return trainer->keys.loss == LOSS_LOGISTIC && source->training.labels && source->training.classes == 2;
}

hu_model_sizes hui_sizes_of_source(const hu_trainer *trainer) {
  const hu_trainer_source *source = &trainer->source;
  hu_model_sizes sizes = source->text ? hu_model_sizes_of_text(&source->tokens, source->window)
                                      : hu_model_sizes_of_data(&source->training);
  sizes.users = source->movielens.item ? source->movielens.users : trainer->keys.users;
  sizes.items = source->movielens.item ? source->movielens.items : trainer->keys.items;
  set_parallel_sizes(&sizes, &source->parallel, trainer->buckets.steps);
  set_click_sizes(&sizes, trainer);
  hui_speech_sizes(&sizes, trainer);
  if (hui_is_logistic(trainer)) sizes.outputs = 1;
  return sizes;
}

/* FNV-1a over words of 64 bits, of which the last may have zeros behind it. */
static uint64_t digest(uint64_t h, size_t bytes, const void *data) {
  const uint8_t *p = data;
  for (size_t i = 0; p && i < bytes; i += 8) {
    uint64_t word = 0;
    memcpy(&word, p + i, bytes - i < 8 ? bytes - i : 8);
    h = (h ^ word) * 0x100000001B3u;
  }
  return h;
}

static uint64_t digest_set(uint64_t h, const hu_data *data) {
  h = digest(h, data->count * hu_data_features(data) * sizeof *data->x, data->x);
  h = digest(h, data->count * sizeof *data->labels, data->labels);
  return digest(h, data->count * data->targets * sizeof *data->y, data->y);
}

uint64_t hu_trainer_data_digest(const hu_trainer *trainer) {
  uint64_t h = 0xCBF29CE484222325u;
  if (!trainer || !trainer->begun) return 0;
  if (trainer->network) h = digest(h, strlen(trainer->network), trainer->network);
  if (trainer->source.text)
    return digest(h, trainer->source.tokens.count * sizeof *trainer->source.tokens.tokens,
                  trainer->source.tokens.tokens);
  const hu_movielens *movielens = &trainer->source.movielens;
  if (!movielens->item) return digest_set(digest_set(h, &trainer->source.training), &trainer->source.test);
  h = digest(h, movielens->count * sizeof *movielens->item,
             movielens->item); /* the negatives change from epoch to epoch */
  return digest_set(digest(h, (movielens->users + (size_t)1) * sizeof *movielens->first, movielens->first),
                    &trainer->source.test);
}
