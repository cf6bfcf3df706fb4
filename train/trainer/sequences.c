/* SPDX-License-Identifier: MIT */
/* Runs on utterances: each has rows of features and a sequence of labels, and CTC is their loss. */
#include <math.h>
#include <stdlib.h>

#include "train/net/net.h"
#include "train/trainer/trainer.h"

int hui_is_speech(const hu_trainer *trainer) { return trainer->source.speech.steps != 0; }

static hu_status check_keys(const hu_run_keys *keys, char *why) {
  if (!*keys->path || !*keys->target)
    return hui_say(why, HU_E_TRAIN, "data.path, data.target: speech requires a file of rows and one of transcripts");
  if (!*keys->test_file != !*keys->test_target)
    return hui_say(why, HU_E_TRAIN, "data.test_file, data.test_target: one is empty, and the other is not");
  return HU_OK;
}

static hu_status load(hu_trainer *trainer, const char *folder, char *why) {
  enum { FILES = 4 };
  const hu_run_keys *keys = &trainer->keys;
  const char *names[FILES] = {keys->path, keys->test_file, keys->target, keys->test_target};
  char(*path)[HU_PATH_SIZE] = malloc(FILES * sizeof *path);
  if (!path) return HU_E_MEMORY;
  hu_status status = check_keys(keys, why);
  for (size_t i = 0; i < FILES && status == HU_OK; i++) status = hui_path_of(path[i], folder, names[i], "", why);
  const char *const rows[2] = {path[0], path[1]}, *const lists[2] = {path[2], path[3]};
  if (status == HU_OK)
    status = hui_speech_load(&trainer->source.speech, rows, lists, *names[1] ? 2 : 1, keys->window, keys->stride, why);
  free(path);
  return status;
}

static hu_status make(hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  const hu_tones what = {.count = keys->count,
                         .test = keys->test,
                         .steps = keys->window,
                         .stride = keys->stride,
                         .features = keys->features,
                         .kinds = (uint32_t)keys->classes,
                         .noise = (float)keys->noise};
  return hui_speech_tones(&trainer->source.speech, &what, keys->data_seed, why);
}

hu_status hui_open_speech(hu_trainer *trainer, const char *folder, char *why) {
  hu_speech *speech = &trainer->source.speech;
  const hu_data none = {.count = 0};
  hu_status status = trainer->keys.set == SET_TONES ? make(trainer, why) : load(trainer, folder, why);
  if (status != HU_OK) return status;
  trainer->source.training = speech->training; /* which is freed there */
  trainer->source.test = speech->test;
  speech->training = speech->test = none;
  return HU_OK;
}

void hui_speech_sizes(hu_model_sizes *sizes, const hu_trainer *trainer) {
  const hu_speech *speech = &trainer->source.speech;
  if (!speech->steps) return;
  sizes->height = sizes->steps = speech->steps;
  sizes->width = speech->features;
  sizes->channels = 1;
  sizes->outputs = speech->kinds;
}

hu_status hui_check_speech(const hu_trainer *trainer, size_t rows, size_t cols, char *why) {
  const hu_speech *speech = &trainer->source.speech;
  const char *key = *trainer->keys.network ? "model.file" : "model.net";
  const size_t steps = rows / trainer->batch, most = trainer->source.training.targets;
  const size_t longest = most > trainer->source.test.targets ? most : trainer->source.test.targets;
  if (trainer->ends.lengths < 0)
    return hui_say(why, HU_E_SHAPE, "%s: the output has no steps of samples: output x within n", key);
  if (steps != speech->places || steps < longest)
    return hui_say(why, HU_E_SHAPE, "%s: has %zu steps of output, and data.window over data.stride are %zu", key, steps,
                   speech->places);
  return cols == speech->kinds ? HU_OK
                               : hui_say(why, HU_E_SHAPE, "%s: has %zu outputs, and the data %u labels with the blank",
                                         key, cols, speech->kinds);
}

static size_t places_of(const hu_trainer *trainer) { return trainer->source.speech.places; }

void hui_label_speech(hu_trainer *trainer, const hu_data *data, size_t n) {
  const size_t steps = places_of(trainer), targets = data->targets;
  for (size_t i = 0; i < n; i++) {
    const float *y = trainer->buffers.y + i * targets;
    uint32_t *labels = trainer->buffers.labels + i * steps;
    for (size_t t = 0; t < steps; t++) labels[t] = t < targets && y[t] > 0 ? (uint32_t)y[t] : HU_LABEL_NONE;
  }
}

/* Returns where the number behind the rows of an example is. */
static float *length_of(const hu_trainer *trainer, size_t i) {
  const hu_speech *speech = &trainer->source.speech;
  const size_t all = speech->steps * speech->features;
  return trainer->buffers.x + i * (all + 1) + all;
}

void hui_drop_speech(hu_trainer *trainer, size_t n) {
  const size_t steps = places_of(trainer);
  for (size_t i = n; i < trainer->batch; i++) {
    *length_of(trainer, i) = 0;
    for (size_t t = 0; t < steps; t++) trainer->buffers.labels[i * steps + t] = HU_LABEL_NONE;
  }
}

hu_status hui_tally_speech(const hu_trainer *trainer, size_t n, double *wrong, double *labels) {
  const size_t steps = places_of(trainer), cols = hui_net_cols(trainer->net, trainer->ends.output);
  const float *out = hui_net_numbers(trainer->net, trainer->ends.output);
  uint32_t *read = malloc(steps * sizeof *read);
  if (!out || !read) {
    free(read);
    return HU_E_MEMORY;
  }
  for (size_t i = 0; i < n; i++) {
    const uint32_t *given = trainer->buffers.labels + i * steps;
    const size_t own = (size_t)*length_of(trainer, i);
    size_t count = 0;
    while (count < steps && given[count] != HU_LABEL_NONE) count++;
    size_t found = hu_ctc_greedy(own, cols, out + i * steps * cols, 0, read);
    *wrong += (double)hu_edit_distance(found, read, count, given);
    *labels += (double)count;
  }
  free(read);
  return HU_OK;
}
