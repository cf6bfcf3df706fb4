/* SPDX-License-Identifier: MIT */
/* Splits, gathers, normalises and frees data sets in memory. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"
#include "train/environment.h"

void hu_data_free(hu_data *z) {
  if (!z) return;
  free(z->x);
  free(z->labels);
  free(z->y);
  memset(z, 0, sizeof *z);
}

size_t hu_data_features(const hu_data *x) { return x->height * x->width * x->channels; }

hu_status hu_data_make(hu_data *z, size_t count, const size_t shape[3], uint32_t classes, size_t targets) {
  size_t features, row, all, bytes;
  if (count == 0 || count > UINT32_MAX || !shape[0] || !shape[1] || !shape[2]) return HU_E_SHAPE;
  if (!hu_size_product(&row, shape[0], shape[1]) || !hu_size_product(&features, row, shape[2])) return HU_E_SHAPE;
  if (!hu_size_product(&all, features, count) || !hu_size_product(&bytes, all, sizeof(float))) return HU_E_SHAPE;
  if (!hu_size_product(&all, targets, count) || !hu_size_product(&bytes, all, sizeof(float))) return HU_E_SHAPE;
  hu_data d = {count, shape[0], shape[1], shape[2], NULL, classes, NULL, targets, NULL};
  d.x = hu_data_room(count * features, sizeof(float));
  if (classes) d.labels = hu_data_room(count, sizeof(uint32_t));
  if (targets) d.y = hu_data_room(count * targets, sizeof(float));
  if (!d.x || (classes && !d.labels) || (targets && !d.y)) {
    hu_data_free(&d);
    return HU_E_MEMORY;
  }
  *z = d;
  return HU_OK;
}

/* Example `from` of x becomes example `to` of z. */
static void copy_example(hu_data *z, size_t to, const hu_data *x, size_t from) {
  size_t n = hu_data_features(x);
  memcpy(z->x + to * n, x->x + from * n, n * sizeof *z->x);
  if (x->labels) z->labels[to] = x->labels[from];
  if (x->y) memcpy(z->y + to * x->targets, x->y + from * x->targets, x->targets * sizeof *z->y);
}

static hu_status make_like(hu_data *z, const hu_data *x, size_t count) {
  const size_t shape[3] = {x->height, x->width, x->channels};
  return hu_data_make(z, count, shape, x->labels ? x->classes : 0, x->y ? x->targets : 0);
}

hu_status hu_data_part(hu_data *z, const hu_data *x, size_t first, size_t count) {
  hu_data part;
  if (!z || !x || !x->x) return HU_E_NULL;
  if (first > x->count || count > x->count - first) return HU_E_SHAPE;
  hu_status s = make_like(&part, x, count);
  if (s != HU_OK) return s;
  for (size_t i = 0; i < count; i++) copy_example(&part, i, x, first + i);
  *z = part;
  return HU_OK;
}

hu_status hu_data_split(hu_data *training, hu_data *test, const hu_data *x, size_t period, size_t rest) {
  hu_data a, b;
  size_t na = 0, nb = 0;
  if (!training || !test || !x || !x->x) return HU_E_NULL;
  if (period < 2 || rest >= period || x->count <= rest) return HU_E_SHAPE;
  size_t count = (x->count - rest - 1) / period + 1;
  hu_status s = make_like(&b, x, count);
  if (s != HU_OK) return s;
  s = make_like(&a, x, x->count - count);
  if (s != HU_OK) {
    hu_data_free(&b);
    return s;
  }
  for (size_t i = 0; i < x->count; i++) {
    int testing = i % period == rest;
    copy_example(testing ? &b : &a, testing ? nb++ : na++, x, i);
  }
  *training = a;
  *test = b;
  return HU_OK;
}

static HU_NOINLINE hu_status normalise(hu_data *z, const float *mean, const float *deviation) {
  if (!z || !z->x || !mean || !deviation) return HU_E_NULL;
  for (size_t c = 0; c < z->channels; c++) {
    if (!(deviation[c] > 0 && deviation[c] <= FLT_MAX)) return HU_E_SHAPE;
  }
  size_t pixels = z->count * z->height * z->width;
  for (size_t i = 0; i < pixels; i++) {
    float *x = z->x + i * z->channels;
    for (size_t c = 0; c < z->channels; c++) x[c] = (x[c] - mean[c]) / deviation[c];
  }
  return HU_OK;
}

hu_status hu_data_normalise(hu_data *z, const float *mean, const float *deviation) {
  HU_ENV_RETURN(hu_status, normalise(z, mean, deviation));
}

void hu_data_gather(const hu_data *x, size_t n, const uint32_t *index, float *z, uint32_t *labels, float *y) {
  size_t features = hu_data_features(x);
  for (size_t i = 0; i < n; i++) {
    size_t from = index[i];
    if (z) memcpy(z + i * features, x->x + from * features, features * sizeof *z);
    if (labels) labels[i] = x->labels[from];
    if (y) memcpy(y + i * x->targets, x->y + from * x->targets, x->targets * sizeof *y);
  }
}
