/* SPDX-License-Identifier: MIT */
/* Loads and makes utterances: rows of features, of which each utterance has some, and labels. */
#include "train/data/speech.h"

#include <stdlib.h>
#include <string.h>

#include "train/environment.h"

enum { PARTS = 2, BYTES = 256, NONE_LABEL = -1 };

void hui_speech_free(hu_speech *z) {
  hu_data_free(&z->training);
  hu_data_free(&z->test);
  memset(z, 0, sizeof *z);
}

/* ---- lists ---- */

typedef struct utterance {
  size_t line, first, rows; /* rows of the matrix from `first` on */
  const uint8_t *text;
  size_t size; /* of the transcript */
} utterance;

typedef struct part {
  hu_bytes rows_file, list;
  hu_data matrix; /* an example a row */
  utterance *all;
  size_t count;
} part;

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* Reads "rows TAB transcript"; returns what is wrong, or NULL. */
static const char *read_line(utterance *z, const uint8_t *line, size_t size) {
  enum { ROWS_MOST = 1 << 24 };
  size_t at = 0, rows = 0;
  if (size && line[size - 1] == '\r') size--;
  for (; at < size && line[at] >= '0' && line[at] <= '9' && rows <= ROWS_MOST; at++) rows = 10 * rows + line[at] - '0';
  if (at == 0 || at == size || line[at] != '\t') return "not a number of rows, a tab and a transcript";
  if (rows == 0 || rows > ROWS_MOST) return "rows: not from 1 to 2^24";
  if (memchr(line, 0, size)) return "a NUL byte";
  z->rows = rows;
  z->text = line + at + 1;
  z->size = size - at - 1;
  return NULL;
}

static hu_status read_list(part *z, char *why) {
  const hu_bytes *file = &z->list;
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  z->count = count_lines(file);
  z->all = hui_data_allocate(z->count, sizeof *z->all);
  if (!z->all) return hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu lines", z->count);
  size_t at = 0, first = 0;
  for (size_t i = 0; i < z->count; i++) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    const size_t size = (end ? (size_t)(end - file->data) : file->size) - at;
    const char *wrong = read_line(&z->all[i], file->data + at, size);
    if (wrong) return hui_data_wrong(why, HU_E_DATA, file->name, "line %zu: %s", i + 1, wrong);
    z->all[i].line = i + 1;
    z->all[i].first = first;
    first += z->all[i].rows;
    at += size + 1;
  }
  if (first == z->matrix.count) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, file->name, "rows: %zu in all lines, and %s has %zu", first, z->rows_file.name,
                        z->matrix.count);
}

static hu_status open_part(part *z, const char *rows, const char *list, char *why) {
  hu_status status = hui_bytes_read(&z->rows_file, rows, why);
  if (status == HU_OK) status = hui_bytes_read(&z->list, list, why);
  if (status == HU_OK) status = hui_data_read_npy(&z->matrix, &z->rows_file, NULL, 0, 1, why);
  return status == HU_OK ? read_list(z, why) : status;
}

static void close_part(part *z) {
  hui_bytes_free(&z->rows_file);
  hui_bytes_free(&z->list);
  hu_data_free(&z->matrix);
  free(z->all);
}

/* ---- examples ---- */

static size_t places_of(size_t rows, size_t stride) { return (rows + stride - 1) / stride; }

/* Returns how many steps a sequence requires: one for each label, and one between equal ones. */
static size_t steps_needed(size_t n, const uint8_t *text) {
  size_t all = n;
  for (size_t i = 1; i < n; i++) all += text[i] == text[i - 1];
  return all;
}

/* What is wrong with an utterance; NULL: it fits. */
static const char *misfit(const hu_speech *speech, const utterance *one, size_t stride) {
  if (one->rows > speech->steps) return "more rows than data.window";
  return steps_needed(one->size, one->text) > places_of(one->rows, stride)
             ? "more characters than the steps of the output can hold"
             : NULL;
}

static void put(float *x, float *y, const hu_speech *speech, const part *from, const utterance *one, size_t stride,
                size_t targets, const uint32_t number[BYTES]) {
  const size_t n = one->rows * speech->features;
  memcpy(x, from->matrix.x + one->first * speech->features, n * sizeof *x);
  x[speech->steps * speech->features] = (float)places_of(one->rows, stride);
  for (size_t i = 0; i < targets; i++) y[i] = i < one->size ? (float)number[one->text[i]] : (float)NONE_LABEL;
}

/* Makes the examples of utterances first ... end - 1; those for training that do not fit are left out. */
static hu_status take(hu_data *data, hu_speech *speech, const part *from, size_t first, size_t end, size_t stride,
                      const uint32_t number[BYTES], int training, char *why) {
  size_t kept = 0, targets = 1;
  for (size_t i = first; i < end; i++) {
    const utterance *one = &from->all[i];
    const char *wrong = misfit(speech, one, stride);
    for (size_t k = 0; k < one->size && !training && !wrong; k++)
      wrong = number[one->text[k]] ? NULL : "a character that no transcript for training has";
    if (wrong && !training) return hui_data_wrong(why, HU_E_DATA, from->list.name, "line %zu: %s", one->line, wrong);
    kept += !wrong;
    targets = !wrong && one->size > targets ? one->size : targets;
  }
  speech->left_out += end - first - kept;
  if (!kept)
    return hui_data_wrong(why, HU_E_DATA, from->list.name, "lines: none fits data.window = %zu", speech->steps);
  const size_t shape[3] = {1, 1, speech->steps * speech->features + 1};
  hu_status status = hui_data_make(data, kept, shape, 0, targets);
  if (status != HU_OK) return hui_data_wrong(why, status, from->list.name, "out of memory for %zu utterances", kept);
  for (size_t i = first, at = 0; i < end; i++) {
    if (misfit(speech, &from->all[i], stride)) continue;
    put(data->x + at * shape[2], data->y + at * targets, speech, from, &from->all[i], stride, targets, number);
    at++;
  }
  return HU_OK;
}

/* Numbers the bytes of transcripts for training from 1 on, in increasing order; returns their number. */
static uint32_t number_bytes(const part *from, size_t count, uint32_t number[BYTES]) {
  uint32_t kinds = 0;
  memset(number, 0, BYTES * sizeof *number);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < from->all[i].size; k++) number[from->all[i].text[k]] = 1;
  }
  for (size_t i = 0; i < BYTES; i++) number[i] = number[i] ? ++kinds : 0;
  return kinds;
}

static hu_status read_parts(hu_speech *z, const part *parts, size_t files, size_t stride, char *why) {
  uint32_t number[BYTES];
  const part *first = &parts[0], *other = &parts[files - 1];
  const size_t all = first->count, count = files == 2 ? all : all / 10 * 9;
  z->features = hu_data_features(&first->matrix);
  z->places = places_of(z->steps, stride);
  if (!count) return hui_data_wrong(why, HU_E_DATA, first->list.name, "lines: %zu, fewer than 10", all);
  if (hu_data_features(&other->matrix) != z->features)
    return hui_data_wrong(why, HU_E_DATA, other->rows_file.name, "columns: %zu, and %s has %zu",
                          hu_data_features(&other->matrix), first->rows_file.name, z->features);
  z->kinds = number_bytes(first, count, number) + 1;
  if (z->kinds == 1) return hui_data_wrong(why, HU_E_DATA, first->list.name, "transcripts: all of them are empty");
  hu_status status = take(&z->training, z, first, 0, count, stride, number, 1, why);
  const size_t from = files == 2 ? 0 : count;
  return status == HU_OK ? take(&z->test, z, other, from, other->count, stride, number, 0, why) : status;
}

static HU_NOINLINE hu_status load(hu_speech *z, const char *const *rows, const char *const *lists, size_t files,
                                  size_t steps, size_t stride, char *why) {
  part parts[PARTS];
  hu_status status = HU_OK;
  memset(parts, 0, sizeof parts);
  memset(z, 0, sizeof *z);
  z->steps = steps;
  for (size_t i = 0; i < files && status == HU_OK; i++) status = open_part(&parts[i], rows[i], lists[i], why);
  if (status == HU_OK) status = read_parts(z, parts, files, stride, why);
  for (size_t i = 0; i < PARTS; i++) close_part(&parts[i]);
  if (status != HU_OK) hui_speech_free(z);
  return status;
}

hu_status hui_speech_load(hu_speech *z, const char *const *rows, const char *const *lists, size_t files, size_t steps,
                          size_t stride, char *why) {
  HU_ENV_RETURN(hu_status, load(z, rows, lists, files, steps, stride, why));
}

/* ---- tones ---- */

/* A label has two to four rows, and one is silent behind it; returns how many labels the example has. */
static size_t make_tone(float *x, float *y, const hu_tones *what, size_t targets, hu_stream words, hu_stream noise) {
  enum { LONGEST = 5 };
  size_t rows = 0, n = 0;
  const size_t asked = 1 + hu_stream_below(&words, (uint32_t)targets), all = what->steps * what->features;
  for (; n < asked && rows + LONGEST <= what->steps; n++) {
    const uint32_t label = hu_stream_below(&words, what->kinds), length = 2 + hu_stream_below(&words, 3);
    for (size_t t = rows; t < rows + length; t++) x[t * what->features + label] = 1;
    y[n] = (float)(label + 1);
    rows += length + 1;
  }
  float *drawn = malloc((rows * what->features + 1) * sizeof *drawn);
  if (!drawn) return 0;
  hu_normal_n(rows * what->features, drawn, what->noise, noise);
  for (size_t i = 0; i < rows * what->features; i++) x[i] += drawn[i];
  free(drawn);
  for (size_t i = n; i < targets; i++) y[i] = (float)NONE_LABEL;
  x[all] = (float)places_of(rows, what->stride);
  return n;
}

static hu_status make_tones(hu_data *data, size_t first, size_t count, const hu_tones *what, uint64_t seed) {
  const size_t targets = what->steps / 5, shape[3] = {1, 1, what->steps * what->features + 1};
  hu_status status = hui_data_make(data, count, shape, 0, targets);
  for (size_t i = 0; i < count && status == HU_OK; i++) {
    const hu_stream words = hu_stream_child(hu_stream_of_use(seed, HU_USE_DATA), first + i);
    const hu_stream noise = hu_stream_child(hu_stream_of_use(seed, HU_USE_NOISE), first + i);
    if (!make_tone(data->x + i * shape[2], data->y + i * targets, what, targets, words, noise)) status = HU_E_MEMORY;
  }
  return status;
}

static HU_NOINLINE hu_status tones(hu_speech *z, const hu_tones *what, uint64_t seed, char *why) {
  memset(z, 0, sizeof *z);
  if (what->features < what->kinds || what->steps < 5)
    return hui_data_wrong(why, HU_E_SHAPE, "tones", "%s",
                          what->steps < 5 ? "data.window: below 5" : "data.features: fewer than data.classes");
  if (what->stride > 1) return hui_data_wrong(why, HU_E_SHAPE, "tones", "data.stride: %zu, not 1", what->stride);
  z->steps = what->steps;
  z->features = what->features;
  z->places = places_of(what->steps, what->stride);
  z->kinds = what->kinds + 1;
  hu_status status = make_tones(&z->training, 0, what->count, what, seed);
  if (status == HU_OK) status = make_tones(&z->test, what->count, what->test, what, seed);
  if (status != HU_OK) hui_speech_free(z);
  return status;
}

hu_status hui_speech_tones(hu_speech *z, const hu_tones *what, uint64_t seed, char *why) {
  HU_ENV_RETURN(hu_status, tones(z, what, seed, why));
}
