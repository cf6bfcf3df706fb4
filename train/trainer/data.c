/* SPDX-License-Identifier: MIT */
/* Loads or makes a run's data, and feeds it batch by batch into the net. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

enum { TEST_WINDOWS = 8 };

/* ---- sets ---- */

/* The first `count` examples for training, the others for testing. */
static hu_status cut(hu_trainer *t, hu_data *all, size_t count) {
  hu_status s = hu_data_part(&t->source.training, all, 0, count);
  if (s == HU_OK) s = hu_data_part(&t->source.test, all, count, all->count - count);
  hu_data_free(all);
  return s;
}

/* Every fifth one for testing. */
static hu_status split(hu_trainer *t, hu_data *all) {
  hu_status s = hu_data_split(&t->source.training, &t->source.test, all, 5, 4);
  hu_data_free(all);
  return s;
}

static hu_status open_digits(hu_trainer *t, const char *folder, char *why) {
  char path[HU_PATH_ROOM];
  hu_data all;
  hu_status s = hu_path_of(path, folder, t->keys.path, "", why);
  if (s == HU_OK) s = hu_data_load_digits(&all, path, (int)t->keys.raw, why);
  return s == HU_OK ? split(t, &all) : s;
}

static hu_status open_npy(hu_trainer *t, const char *folder, char *why) {
  const hu_run_keys *k = &t->keys;
  char images[HU_PATH_ROOM], labels[HU_PATH_ROOM];
  hu_data all;
  if (!*k->path || !*k->labels) return hu_say(why, HU_E_TRAIN, "data.path, data.labels: npy wants both");
  hu_status s = hu_path_of(images, folder, k->path, "", why);
  if (s == HU_OK) s = hu_path_of(labels, folder, k->labels, "", why);
  if (s == HU_OK) s = hu_data_load_npy(&all, images, labels, (uint32_t)k->classes, 1, why);
  return s == HU_OK ? split(t, &all) : s;
}

static hu_status open_mnist_part(hu_data *z, const hu_trainer *t, const char *folder, const char *part, char *why) {
  char images[HU_PATH_ROOM], labels[HU_PATH_ROOM], name[64];
  snprintf(name, sizeof name, "%s-images-idx3-ubyte", part);
  hu_status s = hu_path_of(images, folder, t->keys.path, name, why);
  snprintf(name, sizeof name, "%s-labels-idx1-ubyte", part);
  if (s == HU_OK) s = hu_path_of(labels, folder, t->keys.path, name, why);
  return s == HU_OK ? hu_data_load_idx(z, images, labels, 10, 0, why) : s;
}

static hu_status load_cifar(hu_data *z, const hu_trainer *t, size_t files, char path[][HU_PATH_ROOM], char *why) {
  const float mean10[] = HU_CIFAR10_MEAN, deviation10[] = HU_CIFAR10_DEVIATION;
  const float mean100[] = HU_CIFAR100_MEAN, deviation100[] = HU_CIFAR100_DEVIATION;
  const char *paths[5];
  for (size_t i = 0; i < files; i++) paths[i] = path[i];
  int ten = t->keys.set == SET_CIFAR10;
  hu_status s = ten ? hu_data_load_cifar10(z, paths, files, why)
                    : hu_data_load_cifar100(z, paths, files, (int)t->keys.coarse, why);
  if (s != HU_OK) return s;
  return hu_data_normalise(z, ten ? mean10 : mean100, ten ? deviation10 : deviation100);
}

static hu_status open_cifar(hu_trainer *t, const char *folder, char *why) {
  char(*path)[HU_PATH_ROOM] = malloc(5 * sizeof *path), name[32];
  size_t files = t->keys.set == SET_CIFAR10 ? 5 : 1;
  hu_status s = path ? HU_OK : HU_E_MEMORY;
  for (size_t i = 0; i < files && s == HU_OK; i++) {
    snprintf(name, sizeof name, files == 5 ? "data_batch_%zu.bin" : "train.bin", i + 1);
    s = hu_path_of(path[i], folder, t->keys.path, name, why);
  }
  if (s == HU_OK) s = load_cifar(&t->source.training, t, files, path, why);
  if (s == HU_OK) s = hu_path_of(path[0], folder, t->keys.path, files == 5 ? "test_batch.bin" : "test.bin", why);
  if (s == HU_OK) s = load_cifar(&t->source.test, t, 1, path, why);
  free(path);
  return s;
}

static hu_status open_text(hu_trainer *t, const char *folder, char *why) {
  const hu_run_keys *k = &t->keys;
  char path[HU_PATH_ROOM];
  hu_status s = hu_path_of(path, folder, *k->path ? k->path : "xz_file_format.txt", "", why);
  if (s == HU_OK) s = hu_text_load(&t->source.tokens, path, why);
  if (s != HU_OK) return s;
  t->source.text = 1;
  t->source.split = t->source.tokens.count / 10 * 9;
  t->source.window = k->window;
  if (t->source.tokens.count - t->source.split > t->source.window) return HU_OK;
  return hu_say(why, HU_E_DATA, "%s: the last tenth is shorter than a window of %zu bytes", path, t->source.window + 1);
}

/* The files of a run on words: for training, and the one that evaluations are on if there is one. */
static hu_status load_words(hu_words *z, const hu_run_keys *k, const char *folder, char *why) {
  const char *held = k->on_valid ? k->valid_file : k->test_file;
  char(*path)[HU_PATH_ROOM] = malloc(2 * sizeof *path);
  if (!path) return HU_E_MEMORY;
  const char *const paths[2] = {path[0], path[1]};
  hu_status s = hu_path_of(path[0], folder, k->path, "", why);
  if (s == HU_OK) s = hu_path_of(path[1], folder, held, "", why);
  if (s == HU_OK) s = hu_words_load(z, paths, *held ? 2 : 1, (uint32_t)k->vocabulary, (int)k->by_count, why);
  free(path);
  return s;
}

static hu_status check_words(const hu_run_keys *k, char *why) {
  const char *held = k->on_valid ? k->valid_file : k->test_file;
  if (!*k->path) return hu_say(why, HU_E_TRAIN, "data.path: empty, and words want a file for training");
  if (!*held && (*k->valid_file || *k->test_file))
    return hu_say(why, HU_E_TRAIN, "data.evaluate: %s, and data.%s_file is empty", k->on_valid ? "valid" : "test",
                  k->on_valid ? "valid" : "test");
  if (k->vocabulary == 1 || k->vocabulary == 2)
    return hu_say(why, HU_E_TRAIN, "data.vocabulary: %d: <eos>, <unk> and a word are 3; 0 keeps all",
                  (int)k->vocabulary);
  return HU_OK;
}

/* Evaluations need a batch of windows, each with the token behind it. */
static hu_status check_parts(const hu_trainer *t, const hu_words *w, char *why) {
  size_t window = t->keys.window;
  if (w->parts[0] <= window)
    return hu_say(why, HU_E_DATA, "%s: %zu words for training, and a window wants %zu", t->keys.path, w->parts[0],
                  window + 1);
  if ((w->parts[1] - 1) / window < t->batch)
    return hu_say(why, HU_E_DATA, "data.set: %zu words for testing, and a batch of windows wants %zu", w->parts[1],
                  t->batch * window + 1);
  return HU_OK;
}

static hu_status open_words(hu_trainer *t, const char *folder, char *why) {
  hu_words w;
  hu_status s = check_words(&t->keys, why);
  if (s == HU_OK) s = load_words(&w, &t->keys, folder, why);
  if (s != HU_OK) return s;
  s = check_parts(t, &w, why);
  t->source.text = t->source.whole = 1;
  t->source.split = w.parts[0];
  t->source.window = t->keys.window;
  t->source.tokens.count = w.count;
  t->source.tokens.kinds = w.kinds;
  t->source.tokens.tokens = w.tokens;
  w.tokens = NULL;
  hu_words_free(&w);
  return s;
}

/* The words of an epoch's negatives. */
static hu_stream negatives_of(const hu_trainer *t, uint64_t epoch) {
  return hu_stream_child(hu_stream_of_use(t->keys.seed, HU_USE_NEGATIVES), epoch);
}

static hu_status open_movielens(hu_trainer *t, const char *folder, char *why) {
  const hu_run_keys *k = &t->keys;
  hu_movielens *m = &t->source.movielens;
  char path[HU_PATH_ROOM];
  hu_status s = hu_path_of(path, folder, *k->path ? k->path : "ratings.dat", "", why);
  if (s == HU_OK) s = hu_movielens_load(m, path, why);
  if (s != HU_OK) return s;
  s = hu_movielens_training(&t->source.training, m, (uint32_t)k->negatives, negatives_of(t, 0));
  if (s != HU_OK) return hu_say(why, s, "data.negatives: %s", hu_status_text(s));
  t->source.group = k->candidates + 1;
  return hu_movielens_test(&t->source.test, m, (uint32_t)k->candidates,
                           hu_stream_of_use(k->data_seed, HU_USE_CANDIDATES), why);
}

/* The training set has the negatives of the epoch that the order of batches is in. */
static hu_status draw_negatives(hu_trainer *t) {
  hu_trainer_source *x = &t->source;
  uint64_t epoch = t->order.state.epoch;
  if (!x->movielens.item || x->drawn == epoch) return HU_OK;
  x->drawn = epoch;
  return hu_movielens_negatives(&x->training, &x->movielens, (uint32_t)t->keys.negatives, negatives_of(t, epoch));
}

static hu_status open_least_squares(hu_trainer *t) {
  const hu_run_keys *k = &t->keys;
  hu_least_squares what = hu_least_squares_default();
  hu_data all;
  what.count = k->count + k->test;
  what.features = k->features;
  what.noise = (float)k->noise;
  hu_status s = hu_data_least_squares(&all, NULL, &what, k->data_seed);
  return s == HU_OK ? cut(t, &all, k->count) : s;
}

static hu_status open_teacher(hu_trainer *t) {
  const hu_run_keys *k = &t->keys;
  hu_teacher what = hu_teacher_default();
  hu_data all;
  what.count = k->count + k->test;
  what.features = k->features;
  what.deviation = (float)k->deviation;
  hu_status s = hu_data_teacher(&all, &what, k->data_seed);
  return s == HU_OK ? cut(t, &all, k->count) : s;
}

static hu_status open_gratings(hu_trainer *t) {
  const hu_run_keys *k = &t->keys;
  hu_status s = hu_data_gratings(&t->source.training, 0, k->count, k->size, (uint32_t)k->classes, k->data_seed);
  if (s != HU_OK) return s;
  return hu_data_gratings(&t->source.test, k->count, k->test, k->size, (uint32_t)k->classes, k->data_seed);
}

static hu_status open_ratings(hu_trainer *t) {
  const hu_run_keys *k = &t->keys;
  hu_ratings what = hu_ratings_default();
  what.users = k->users;
  what.items = k->items;
  what.rank = k->rank;
  what.noise = (float)k->noise;
  what.labels = (int)k->implicit;
  what.count = k->count;
  hu_status s = hu_data_ratings(&t->source.training, 0, &what, k->data_seed);
  what.count = k->test;
  return s == HU_OK ? hu_data_ratings(&t->source.test, k->count, &what, k->data_seed) : s;
}

static hu_status open_mnist(hu_trainer *t, const char *folder, char *why) {
  hu_status s = open_mnist_part(&t->source.training, t, folder, "train", why);
  return s == HU_OK ? open_mnist_part(&t->source.test, t, folder, "t10k", why) : s;
}

/* The file for training, and the one for testing; without one the last tenth of the lines. */
static hu_status open_criteo(hu_trainer *t, const char *folder, char *why) {
  enum { ROWS_MOST = 645277 };
  const hu_run_keys *k = &t->keys;
  const uint32_t rows = (uint32_t)k->vocabulary;
  char path[HU_PATH_ROOM];
  hu_data all;
  if (!*k->path) return hu_say(why, HU_E_TRAIN, "data.path: empty, and criteo wants a file");
  if (rows < 2 || rows > ROWS_MOST)
    return hu_say(why, HU_E_TRAIN, "data.vocabulary: %u, and criteo wants rows of each category, from 2 to %d", rows,
                  ROWS_MOST);
  hu_status s = hu_path_of(path, folder, k->path, "", why);
  if (s == HU_OK) s = hu_data_load_criteo(*k->test_file ? &t->source.training : &all, path, rows, why);
  if (s != HU_OK || !*k->test_file) {
    if (s != HU_OK) return s;
    if (all.count >= 10) return cut(t, &all, all.count / 10 * 9);
    hu_data_free(&all);
    return hu_say(why, HU_E_DATA, "%s: fewer than 10 lines, and the last tenth is for testing", path);
  }
  s = hu_path_of(path, folder, k->test_file, "", why);
  return s == HU_OK ? hu_data_load_criteo(&t->source.test, path, rows, why) : s;
}

static size_t rows_of_clicks(const hu_run_keys *k) { return k->vocabulary ? k->vocabulary : hu_clicks_default().rows; }

static hu_status open_clicks(hu_trainer *t, char *why) {
  const hu_run_keys *k = &t->keys;
  hu_clicks what = {k->count, k->features, k->categories, rows_of_clicks(k), k->rank, (float)k->noise};
  hu_status s = hu_data_clicks(&t->source.training, 0, &what, k->data_seed);
  what.count = k->test;
  if (s == HU_OK) s = hu_data_clicks(&t->source.test, k->count, &what, k->data_seed);
  return s == HU_OK ? s : hu_say(why, s, "data.features, data.categories, data.vocabulary: %s", hu_status_text(s));
}

static hu_status open_set(hu_trainer *t, const char *folder, char *why) {
  switch (t->keys.set) {
    case SET_DIGITS: return open_digits(t, folder, why);
    case SET_NPY: return open_npy(t, folder, why);
    case SET_MNIST: return open_mnist(t, folder, why);
    case SET_CIFAR10:
    case SET_CIFAR100: return open_cifar(t, folder, why);
    case SET_TEXT: return open_text(t, folder, why);
    case SET_WORDS: return open_words(t, folder, why);
    case SET_MOVIELENS: return open_movielens(t, folder, why);
    case SET_PARALLEL: return hu_open_parallel(t, folder, why);
    case SET_CRITEO: return open_criteo(t, folder, why);
    case SET_CLICKS: return open_clicks(t, why);
    case SET_LEAST_SQUARES: return open_least_squares(t);
    case SET_TEACHER: return open_teacher(t);
    case SET_GRATINGS: return open_gratings(t);
    default: return open_ratings(t);
  }
}

/* As many files as there are digests. */
static hu_status check_files(const hu_trainer *t, char *why) {
  size_t wanted = (size_t)hu_checksums_of(t->keys.checksum), there = t->files.count;
  if (wanted <= there) return HU_OK;
  return hu_say(why, HU_E_TRAIN, "data.checksum: %zu digests, and the run reads %zu files", wanted, there);
}

hu_status hu_open_source(hu_trainer *t, const char *folder, char *why) {
  t->files.wanted = t->keys.checksum;
  hu_watch_files(&t->files);
  hu_status s = open_set(t, folder, why);
  hu_watch_files(NULL);
  return s == HU_OK ? check_files(t, why) : s;
}

size_t hu_trainer_file_count(const hu_trainer *t) { return t ? t->files.count : 0; }

hu_trainer_file hu_trainer_file_at(const hu_trainer *t, size_t i) {
  hu_trainer_file z = {NULL, 0, NULL};
  if (i >= hu_trainer_file_count(t)) return z;
  const hu_file_seen *x = &t->files.file[i];
  z.path = x->path;
  z.bytes = x->size;
  z.sha256 = x->sha256;
  return z;
}

void hu_close_source(hu_trainer *t) {
  hu_watch_free(&t->files);
  hu_trainer_source *x = &t->source;
  hu_data_free(&x->training);
  hu_data_free(&x->test);
  hu_text_free(&x->tokens);
  hu_movielens_free(&x->movielens);
  hu_parallel_free(&x->parallel);
  memset(x, 0, sizeof *x);
}

static void set_parallel_sizes(hu_model_sizes *z, const hu_parallel *x) {
  if (!x->window) return;
  z->height = z->width = z->channels = 0;
  z->steps = x->window;
  z->source_vocabulary = x->source_kinds;
  z->vocabulary = z->outputs = x->target_kinds;
}

static void set_click_sizes(hu_model_sizes *z, const hu_trainer *t) {
  enum { CRITEO_DENSE = 13, CRITEO_CATEGORIES = 26 };
  const hu_run_keys *k = &t->keys;
  int made = k->set == SET_CLICKS;
  if (!made && k->set != SET_CRITEO) return;
  z->dense = made ? k->features : CRITEO_DENSE;
  z->categories = made ? k->categories : CRITEO_CATEGORIES;
  z->vocabulary = z->categories * (made ? rows_of_clicks(k) : k->vocabulary);
}

hu_model_sizes hu_sizes_of_source(const hu_trainer *t) {
  const hu_trainer_source *x = &t->source;
  hu_model_sizes z = x->text ? hu_model_sizes_of_text(&x->tokens, x->window) : hu_model_sizes_of_data(&x->training);
  z.users = x->movielens.item ? x->movielens.users : t->keys.users;
  z.items = x->movielens.item ? x->movielens.items : t->keys.items;
  set_parallel_sizes(&z, &x->parallel);
  set_click_sizes(&z, t);
  return z;
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

static uint64_t digest_set(uint64_t h, const hu_data *d) {
  h = digest(h, d->count * hu_data_features(d) * sizeof *d->x, d->x);
  h = digest(h, d->count * sizeof *d->labels, d->labels);
  return digest(h, d->count * d->targets * sizeof *d->y, d->y);
}

uint64_t hu_trainer_data_digest(const hu_trainer *t) {
  uint64_t h = 0xCBF29CE484222325u;
  if (!t || !t->begun) return 0;
  if (t->source.text)
    return digest(h, t->source.tokens.count * sizeof *t->source.tokens.tokens, t->source.tokens.tokens);
  const hu_movielens *m = &t->source.movielens;
  if (!m->item) return digest_set(digest_set(h, &t->source.training), &t->source.test);
  h = digest(h, m->count * sizeof *m->item, m->item); /* the negatives change from epoch to epoch */
  return digest_set(digest(h, (m->users + (size_t)1) * sizeof *m->first, m->first), &t->source.test);
}

/* ---- batches ---- */

hu_status hu_make_rooms(hu_trainer *t, char *why) {
  size_t n = t->batch, all = t->samples, passes = all / n, numbers = 0;
  for (int i = 0; i < t->ends.count; i++) {
    int x = t->ends.inputs[i];
    numbers += hu_net_rows(t->net, x) * hu_net_cols(t->net, x);
  }
  size_t rows = hu_net_rows(t->net, t->ends.output), cols = hu_net_cols(t->net, t->ends.output);
  const hu_data *d = &t->source.training;
  if (!t->source.text && numbers != n * hu_data_features(d)) {
    return hu_say(why, HU_E_SHAPE, "model.net: reads %zu numbers a sample, and the data have %zu", numbers / n,
                  hu_data_features(d));
  }
  if (!t->source.text && d->labels && (rows != n || cols < d->classes)) {
    return hu_say(why, HU_E_SHAPE, "model.net: has %zu outputs, and the data %u classes", cols, d->classes);
  }
  if (!hu_has_labels(t) && rows * cols != n * d->targets) {
    return hu_say(why, HU_E_SHAPE, "model.net: has %zu outputs, and the data %zu targets", cols, d->targets);
  }
  t->x = calloc(passes * numbers, sizeof *t->x);
  t->y = calloc(passes * rows * cols, sizeof *t->y);
  t->labels = calloc(passes * rows, sizeof *t->labels);
  t->index = calloc(all, sizeof *t->index);
  t->words = t->source.text ? calloc(all * (t->source.window + 1), sizeof *t->words) : t->words;
  if (!t->x || !t->y || !t->labels || !t->index || (t->source.text && !t->words)) return HU_E_MEMORY;
  return HU_OK;
}

/* n examples into the rooms. */
static hu_status gather(hu_trainer *t, const hu_data *d, size_t n, const uint32_t *index, const hu_stream *augment) {
  hu_data_gather(d, n, index, t->x, d->labels ? t->labels : NULL, d->targets ? t->y : NULL);
  if (t->source.parallel.window) hu_label_pairs(t, n);
  if (!augment) return HU_OK;
  float *whole = malloc(n * hu_data_features(d) * sizeof *whole);
  if (!whole) return HU_E_MEMORY;
  memcpy(whole, t->x, n * hu_data_features(d) * sizeof *whole);
  hu_status s = hu_augment(n, t->x, whole, d->height, d->width, d->channels, 4, 1, NULL, *augment);
  free(whole);
  return s;
}

/* t->words has n windows of one more token than steps: inputs all but the last, labels all but the first; of a masked
 * language model, labels are those that `masks` choose. */
static hu_status put_windows(hu_trainer *t, size_t n, hu_stream masks) {
  size_t w = t->source.window;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < w; j++) {
      t->x[i * w + j] = (float)t->words[i * (w + 1) + j];
      t->labels[i * w + j] = t->words[i * (w + 1) + j + 1];
    }
  }
  return hu_has_some_labels(t) ? hu_mask_windows(t, n, masks) : HU_OK;
}

/* n windows from random places: those of batch `number` of a seed. */
static hu_status gather_windows(hu_trainer *t, size_t n, size_t first, size_t count, uint64_t seed, uint64_t number) {
  hu_stream places = hu_stream_child(hu_stream_of_use(seed, HU_USE_WINDOWS), number);
  hu_stream masks = hu_stream_child(hu_stream_of_use(seed, HU_USE_MASK), number);
  hu_status s = hu_text_windows(n, t->words, &t->source.tokens, first, count, t->source.window + 1, places);
  return s == HU_OK ? put_windows(t, n, masks) : s;
}

/* The number of batch b of an evaluation, whose seed is 0. */
static uint64_t number_to_see(int on, size_t b) { return ((uint64_t)(on + 1) << 40) + b; }

/* Windows of the test part, one behind the other. */
static size_t test_windows(const hu_trainer *t) {
  return (t->source.tokens.count - t->source.split - 1) / t->source.window;
}

/* Batch b of these, *n windows; behind the last one it is repeated. */
static hu_status gather_in_order(hu_trainer *t, size_t b, size_t *n) {
  size_t w = t->source.window, all = test_windows(t), batch = t->batch;
  if ((b + 1) * batch > all) *n = all - b * batch;
  for (size_t i = 0; i < batch; i++) {
    size_t at = b * batch + (i < *n ? i : *n - 1);
    memcpy(t->words + i * (w + 1), t->source.tokens.tokens + t->source.split + at * w, (w + 1) * sizeof *t->words);
  }
  return put_windows(t, batch, hu_stream_child(hu_stream_of_use(0, HU_USE_MASK), number_to_see(HU_ON_TEST, b)));
}

static hu_status draw_training(hu_trainer *t) {
  if (t->source.text) return gather_windows(t, t->samples, 0, t->source.split, t->keys.seed, t->step);
  const uint32_t *index = hu_batches_next(&t->order);
  hu_stream augment = hu_batches_stream(&t->order, HU_USE_AUGMENT);
  hu_status s = draw_negatives(t);
  if (s != HU_OK) return s;
  return gather(t, &t->source.training, t->samples, index, t->keys.augment ? &augment : NULL);
}

hu_status hu_draw_training(hu_trainer *t) {
  hu_status s = draw_training(t);
  if (s == HU_OK) hu_count_labels(t, t->samples, t->samples);
  return s;
}

hu_status hu_feed_part(hu_trainer *t, hu_net *net, size_t part) {
  const hu_data *d = &t->source.training;
  size_t numbers = t->source.text ? t->source.window : hu_data_features(d);
  size_t rows = hu_net_rows(t->net, t->ends.output), cols = hu_net_cols(t->net, t->ends.output);
  hu_status s = hu_model_feed(net, &t->ends, t->x + part * t->batch * numbers);
  if (s != HU_OK) return s;
  if (hu_has_some_labels(t)) return hu_net_labels_among(net, t->labels + part * rows, t->counted);
  return hu_has_labels(t) ? hu_net_labels(net, t->labels + part * rows)
                          : hu_net_targets(net, t->y + part * rows * cols);
}

size_t hu_batches_to_see(const hu_trainer *t, int on) {
  const hu_data *d = on == HU_ON_TEST ? &t->source.test : &t->source.training;
  if (t->source.whole && on == HU_ON_TEST) return (test_windows(t) + t->batch - 1) / t->batch;
  size_t all = (d->count + t->batch - 1) / t->batch;
  if (t->source.parallel.window && on == HU_ON_TRAINING) return all < TEST_WINDOWS ? all : TEST_WINDOWS;
  return t->source.text ? TEST_WINDOWS : all;
}

/* Batch b of the set into the rooms. */
static hu_status gather_to_see(hu_trainer *t, int on, size_t b, size_t *n) {
  size_t batch = t->batch;
  *n = batch;
  if (t->source.whole && on == HU_ON_TEST) return gather_in_order(t, b, n);
  if (t->source.text) {
    size_t first = on == HU_ON_TEST ? t->source.split : 0;
    size_t count = on == HU_ON_TEST ? t->source.tokens.count - t->source.split : t->source.split;
    return gather_windows(t, batch, first, count, 0, number_to_see(on, b));
  }
  const hu_data *d = on == HU_ON_TEST ? &t->source.test : &t->source.training;
  hu_status s = on == HU_ON_TEST ? HU_OK : draw_negatives(t);
  if (s != HU_OK) return s;
  if ((b + 1) * batch > d->count) *n = d->count - b * batch;
  for (size_t i = 0; i < batch; i++) t->index[i] = (uint32_t)(i < *n ? b * batch + i : d->count - 1);
  return gather(t, d, batch, t->index, NULL);
}

/* A set that is less than a batch has a loss of its own examples: the rows behind them, which repeat the last one, have
 * no label. */
static void drop_labels(hu_trainer *t, size_t n) {
  size_t each = hu_net_rows(t->net, t->ends.output) / t->batch;
  if (!hu_has_labels(t) || hu_has_some_labels(t)) return;
  for (size_t i = n * each; i < t->batch * each; i++) t->labels[i] = HU_LABEL_NONE;
}

hu_status hu_feed_to_see(hu_trainer *t, int on, size_t b, size_t *n) {
  hu_status s = gather_to_see(t, on, b, n);
  if (s == HU_OK) hu_count_labels(t, t->batch, *n);
  if (s == HU_OK && *n < t->batch && hu_batches_to_see(t, on) == 1) drop_labels(t, *n);
  return s == HU_OK ? hu_feed_part(t, t->net, 0) : s;
}
