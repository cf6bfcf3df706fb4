/* SPDX-License-Identifier: MIT */
/* Splits, gathers, normalises and frees data sets in memory. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"
#include "train/environment.h"

void hu_data_free(hu_data *data) {
  if (!data) return;
  free(data->x);
  free(data->labels);
  free(data->y);
  memset(data, 0, sizeof *data);
}

size_t hu_data_features(const hu_data *data) { return data->height * data->width * data->channels; }

hu_status hui_data_make(hu_data *made, size_t count, const size_t shape[3], uint32_t classes, size_t targets) {
  size_t features, row, all, bytes;
  if (count == 0 || count > UINT32_MAX || !shape[0] || !shape[1] || !shape[2]) return HU_E_SHAPE;
  if (!hui_size_product(&row, shape[0], shape[1]) || !hui_size_product(&features, row, shape[2])) return HU_E_SHAPE;
  if (!hui_size_product(&all, features, count) || !hui_size_product(&bytes, all, sizeof(float))) return HU_E_SHAPE;
  if (!hui_size_product(&all, targets, count) || !hui_size_product(&bytes, all, sizeof(float))) return HU_E_SHAPE;
  hu_data data = {.count = count,
                  .height = shape[0],
                  .width = shape[1],
                  .channels = shape[2],
                  .classes = classes,
                  .targets = targets};
  data.x = hui_data_allocate(count * features, sizeof(float));
  if (classes) data.labels = hui_data_allocate(count, sizeof(uint32_t));
  if (targets) data.y = hui_data_allocate(count * targets, sizeof(float));
  if (!data.x || (classes && !data.labels) || (targets && !data.y)) {
    hu_data_free(&data);
    return HU_E_MEMORY;
  }
  *made = data;
  return HU_OK;
}

/* Example `from` of x becomes example `to` of z. */
static void copy_example(hu_data *data, size_t to, const hu_data *source, size_t from) {
  size_t n = hu_data_features(source);
  memcpy(data->x + to * n, source->x + from * n, n * sizeof *data->x);
  if (source->labels) data->labels[to] = source->labels[from];
  if (source->y)
    memcpy(data->y + to * source->targets, source->y + from * source->targets, source->targets * sizeof *data->y);
}

static hu_status make_like(hu_data *data, const hu_data *source, size_t count) {
  const size_t shape[3] = {source->height, source->width, source->channels};
  return hui_data_make(data, count, shape, source->labels ? source->classes : 0, source->y ? source->targets : 0);
}

hu_status hu_data_part(hu_data *data, const hu_data *source, size_t first, size_t count) {
  hu_data part;
  if (!data || !source || !source->x) return HU_E_NULL;
  if (first > source->count || count > source->count - first) return HU_E_SHAPE;
  hu_status status = make_like(&part, source, count);
  if (status != HU_OK) return status;
  for (size_t i = 0; i < count; i++) copy_example(&part, i, source, first + i);
  *data = part;
  return HU_OK;
}

hu_status hu_data_split(hu_data *training, hu_data *test, const hu_data *data, size_t period, size_t rest) {
  hu_data a, b;
  size_t na = 0, nb = 0;
  if (!training || !test || !data || !data->x) return HU_E_NULL;
  if (period < 2 || rest >= period || data->count <= rest) return HU_E_SHAPE;
  size_t count = (data->count - rest - 1) / period + 1;
  hu_status status = make_like(&b, data, count);
  if (status != HU_OK) return status;
  status = make_like(&a, data, data->count - count);
  if (status != HU_OK) {
    hu_data_free(&b);
    return status;
  }
  for (size_t i = 0; i < data->count; i++) {
    int testing = i % period == rest;
    copy_example(testing ? &b : &a, testing ? nb++ : na++, data, i);
  }
  *training = a;
  *test = b;
  return HU_OK;
}

static HU_NOINLINE hu_status normalise(hu_data *data, const float *mean, const float *deviation) {
  if (!data || !data->x || !mean || !deviation) return HU_E_NULL;
  for (size_t c = 0; c < data->channels; c++) {
    if (!(deviation[c] > 0 && deviation[c] <= FLT_MAX)) return HU_E_SHAPE;
  }
  size_t pixels = data->count * data->height * data->width;
  for (size_t i = 0; i < pixels; i++) {
    float *x = data->x + i * data->channels;
    for (size_t c = 0; c < data->channels; c++) x[c] = (x[c] - mean[c]) / deviation[c];
  }
  return HU_OK;
}

static HU_NOINLINE void standardise(size_t count, float *x) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += (double)x[i];
  const double mean = sum / (double)count;
  for (size_t i = 0; i < count; i++) {
    const double d = (double)x[i] - mean;
    squares += d * d;
  }
  const double deviation = sqrt(squares / (double)count), least = 1 / sqrt((double)count);
  for (size_t i = 0; i < count; i++) {
    const double d = (double)x[i] - mean;
    x[i] = (float)(d / (deviation > least ? deviation : least));
  }
}

static void standardise_all(size_t n, size_t count, float *x) {
  for (size_t i = 0; i < n; i++) standardise(count, x + i * count);
}

void hu_standardise_n(size_t n, size_t count, float *x) { HU_ENV_DO(standardise_all(n, count, x)); }

hu_status hu_data_normalise(hu_data *data, const float *mean, const float *deviation) {
  HU_ENV_RETURN(hu_status, normalise(data, mean, deviation));
}

void hu_data_gather(const hu_data *data, size_t n, const uint32_t *index, float *z, uint32_t *labels, float *y) {
  size_t features = hu_data_features(data);
  for (size_t i = 0; i < n; i++) {
    size_t from = index[i];
    if (z) memcpy(z + i * features, data->x + from * features, features * sizeof *z);
    if (labels) labels[i] = data->labels[from];
    if (y) memcpy(y + i * data->targets, data->y + from * data->targets, data->targets * sizeof *y);
  }
}
