/* SPDX-License-Identifier: MIT */
/* Opens text of words, and of pairs of sentences; rows of an output without labels, tokens that are masked. */
#include <stdlib.h>
#include <string.h>

#include "train/data/subwords.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* ---- words and their parts ---- */

static hu_status rules_of(const hu_trainer *trainer, const char *folder, hu_subwords *subwords, hu_word_rules *rules,
                          char *why) {
  const hu_run_keys *keys = &trainer->keys;
  char path[HU_PATH_SIZE];
  hu_bytes file;
  *rules = (hu_word_rules){.most = (uint32_t)keys->vocabulary, .by_count = (int)keys->by_count};
  if (!keys->subwords && !*keys->merges) return HU_OK;
  rules->subwords = subwords;
  rules->learn = *keys->merges ? 0 : keys->subwords;
  if (!*keys->merges) return HU_OK;
  hu_status status = hui_path_of(path, folder, keys->merges, "", why);
  if (status == HU_OK) status = hui_bytes_read(&file, path, why);
  if (status != HU_OK) return status;
  status = hui_subwords_read(subwords, &file, keys->subwords, why);
  hui_bytes_free(&file);
  return status;
}

/* Keeps the merges of a run as the text of a file. */
static hu_status keep_merges(hu_trainer *trainer, const hu_word_rules *rules) {
  if (rules->subwords) trainer->source.merges = hui_subwords_text(rules->subwords);
  return rules->subwords && !trainer->source.merges ? HU_E_MEMORY : HU_OK;
}

static hu_status load_by_rules(hu_trainer *trainer, hu_words *words, const char *const *paths, size_t files,
                               const char *folder, char *why) {
  hu_subwords subwords;
  hu_word_rules rules;
  memset(&subwords, 0, sizeof subwords);
  hu_status status = rules_of(trainer, folder, &subwords, &rules, why);
  if (status == HU_OK) status = hui_words_load(words, paths, files, &rules, why);
  if (status == HU_OK && (status = keep_merges(trainer, &rules)) != HU_OK) hu_words_free(words);
  hui_subwords_free(&subwords);
  return status;
}

const char *hu_trainer_merges(const hu_trainer *trainer) { return trainer ? trainer->source.merges : NULL; }

/* The files of a run on words: for training, and the one that evaluations are on if there is one. */
static hu_status load_words(hu_trainer *trainer, hu_words *words, const char *folder, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const char *held = keys->on_valid ? keys->valid_file : keys->test_file;
  char(*path)[HU_PATH_SIZE] = malloc(2 * sizeof *path);
  if (!path) return HU_E_MEMORY;
  const char *const paths[2] = {path[0], path[1]};
  hu_status status = hui_path_of(path[0], folder, keys->path, "", why);
  if (status == HU_OK) status = hui_path_of(path[1], folder, held, "", why);
  if (status == HU_OK) status = load_by_rules(trainer, words, paths, *held ? 2 : 1, folder, why);
  free(path);
  return status;
}

static hu_status check_words(const hu_run_keys *keys, char *why) {
  const char *held = keys->on_valid ? keys->valid_file : keys->test_file;
  if (!*keys->path) return hui_say(why, HU_E_TRAIN, "data.path: empty, and words require a file for training");
  if (!*held && (*keys->valid_file || *keys->test_file))
    return hui_say(why, HU_E_TRAIN, "data.evaluate: %s, and data.%s_file is empty", keys->on_valid ? "valid" : "test",
                   keys->on_valid ? "valid" : "test");
  if (keys->vocabulary == 1 || keys->vocabulary == 2)
    return hui_say(why, HU_E_TRAIN, "data.vocabulary: %d: <eos>, <unk> and a word are 3; 0 keeps all",
                   (int)keys->vocabulary);
  if ((keys->subwords || *keys->merges) && !*held)
    return hui_say(why, HU_E_TRAIN, "data.subwords: words of one file, and parts of words require data.test_file, too");
  return HU_OK;
}

/* Checks that evaluations have a batch of windows, each with the token behind it. */
static hu_status check_parts(const hu_trainer *trainer, const hu_words *words, char *why) {
  size_t window = trainer->keys.window;
  if (words->parts[0] <= window)
    return hui_say(why, HU_E_DATA, "%s: %zu words for training, and a window requires %zu", trainer->keys.path,
                   words->parts[0], window + 1);
  if ((words->parts[1] - 1) / window < trainer->batch)
    return hui_say(why, HU_E_DATA, "data.set: %zu words for testing, and a batch of windows requires %zu",
                   words->parts[1], trainer->batch * window + 1);
  return HU_OK;
}

hu_status hui_open_words(hu_trainer *trainer, const char *folder, char *why) {
  hu_words words;
  hu_status status = check_words(&trainer->keys, why);
  if (status == HU_OK) status = load_words(trainer, &words, folder, why);
  if (status != HU_OK) return status;
  status = check_parts(trainer, &words, why);
  trainer->source.text = trainer->source.whole = 1;
  trainer->source.split = words.parts[0];
  trainer->source.window = trainer->keys.window;
  trainer->source.tokens.count = words.count;
  trainer->source.tokens.kinds = words.kinds;
  trainer->source.tokens.tokens = words.tokens;
  words.tokens = NULL;
  hu_words_free(&words);
  return status;
}

/* ---- pairs of sentences ---- */

static hu_status check_keys(const hu_run_keys *keys, char *why) {
  const char *set = keys->on_valid ? "valid" : "test", *held = keys->on_valid ? keys->valid_file : keys->test_file;
  const char *target = keys->on_valid ? keys->valid_target : keys->test_target;
  if (!*keys->path || !*keys->target)
    return hui_say(why, HU_E_TRAIN, "data.path, data.target: parallel requires a file for each language");
  if (!*held != !*target)
    return hui_say(why, HU_E_TRAIN, "data.%s_file, data.%s_target: one is empty, and the other is not", set, set);
  if (!*held && (*keys->valid_file || *keys->test_file))
    return hui_say(why, HU_E_TRAIN, "data.evaluate: %s, and data.%s_file is empty", set, set);
  if (keys->window < 2) return hui_say(why, HU_E_TRAIN, "data.window: 1, and a sentence has a word and its end");
  if (keys->vocabulary == 1 || keys->vocabulary == 2)
    return hui_say(why, HU_E_TRAIN, "data.vocabulary: %d: <eos>, <unk> and a word are 3; 0 keeps all",
                   (int)keys->vocabulary);
  return HU_OK;
}

hu_status hui_open_parallel(hu_trainer *trainer, const char *folder, char *why) {
  enum { FILES = 4 };
  const hu_run_keys *keys = &trainer->keys;
  const char *names[FILES] = {keys->path, keys->on_valid ? keys->valid_file : keys->test_file, keys->target,
                              keys->on_valid ? keys->valid_target : keys->test_target};
  char(*path)[HU_PATH_SIZE] = malloc(FILES * sizeof *path);
  if (!path) return HU_E_MEMORY;
  hu_status status = check_keys(keys, why);
  for (size_t i = 0; i < FILES && status == HU_OK; i++) status = hui_path_of(path[i], folder, names[i], "", why);
  const char *const source[2] = {path[0], path[1]}, *const target[2] = {path[2], path[3]};
  hu_parallel *parallel = &trainer->source.parallel;
  hu_subwords subwords;
  hu_word_rules rules;
  memset(&subwords, 0, sizeof subwords);
  if (status == HU_OK) status = rules_of(trainer, folder, &subwords, &rules, why);
  if (status == HU_OK)
    status = hui_parallel_load(parallel, source, target, *names[1] ? 2 : 1, keys->window, &rules, why);
  if (status == HU_OK) status = keep_merges(trainer, &rules);
  hui_subwords_free(&subwords);
  free(path);
  if (status != HU_OK) return status;
  trainer->source.training = parallel->training; /* which is freed there */
  trainer->source.test = parallel->test;
  memset(&parallel->training, 0, sizeof parallel->training);
  memset(&parallel->test, 0, sizeof parallel->test);
  return HU_OK;
}

size_t hu_trainer_left_out(const hu_trainer *trainer) {
  return trainer ? trainer->source.parallel.left_out + trainer->source.speech.left_out : 0;
}

/* The labels of n examples that are in trainer->buffers.x. */
void hui_label_pairs(hu_trainer *trainer, size_t n) {
  const hu_parallel *parallel = &trainer->source.parallel;
  size_t each = 2 * parallel->window + 1;
  for (size_t i = 0; i < n; i++)
    (void)hu_parallel_labels(parallel, trainer->buffers.x + i * each, trainer->buffers.labels + i * parallel->window);
}

/* ---- masks (Devlin et al. 2019): 15 % of a window's tokens; 80 % of these masked, 10 % drawn again, 10 % kept ---- */

/* At least one token is asked for. */
static size_t asked_of(size_t window) {
  size_t n = (15 * window + 50) / 100;
  return n ? n : 1;
}

static void mask_window(hu_trainer *trainer, float *x, uint32_t *labels, uint32_t *order, hu_stream words) {
  const uint32_t kinds = trainer->source.tokens.kinds;
  size_t w = trainer->source.window;
  hu_stream choices = hu_stream_child(words, 1);
  hu_permutation((uint32_t)w, order, hu_stream_child(words, 0));
  for (size_t j = 0; j < w; j++) labels[j] = HU_LABEL_NONE;
  for (size_t j = 0; j < asked_of(w); j++) {
    size_t at = order[j];
    uint32_t choice = hu_stream_below(&choices, 10);
    labels[at] = (uint32_t)x[at];
    if (choice < 8) x[at] = (float)kinds;
    if (choice == 8) x[at] = (float)hu_stream_below(&choices, kinds);
  }
}

hu_status hui_mask_windows(hu_trainer *trainer, size_t n, hu_stream words) {
  size_t w = trainer->source.window;
  uint32_t *order = malloc(w * sizeof *order);
  if (!order) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++)
    mask_window(trainer, trainer->buffers.x + i * w, trainer->buffers.labels + i * w, order, hu_stream_child(words, i));
  free(order);
  return HU_OK;
}

/* ---- rows that count ---- */

int hui_has_some_labels(const hu_trainer *trainer) {
  return trainer->source.parallel.window || (trainer->source.text && trainer->ends.masked);
}

int hui_has_labels(const hu_trainer *trainer) {
  return trainer->source.text || trainer->source.parallel.window || trainer->source.speech.steps ||
         trainer->source.training.labels != NULL;
}

void hui_count_labels(hu_trainer *trainer, size_t samples, size_t counted) {
  size_t each = hui_net_rows(trainer->net, trainer->ends.output) / trainer->batch, n = 0;
  if (!hui_has_some_labels(trainer)) return;
  for (size_t i = counted * each; i < samples * each; i++) trainer->buffers.labels[i] = HU_LABEL_NONE;
  for (size_t i = 0; i < counted * each; i++) n += trainer->buffers.labels[i] != HU_LABEL_NONE;
  size_t passes = samples / trainer->batch;
  trainer->buffers.counted = (double)n / (double)(passes ? passes : 1);
}
