/* SPDX-License-Identifier: MIT */
/* Makes data sets: least squares, gratings, a teacher with large answers, ratings. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "train/data/file.h"
#include "train/environment.h"

static float of(int op, float x) {
  hui_apply_n(op, 1, &x);
  return x;
}

static hu_status check_grid(const hu_format *grid) {
  if (!grid) return HU_OK;
  hu_status status = hu_format_check(*grid, NULL);
  if (status != HU_OK) return status;
  return hu_format_fits_binary32(*grid) ? HU_OK : HU_E_CARRIER;
}

static void onto_grid(size_t n, float *x, const hu_format *grid) {
  const hu_mode rne = {0};
  hu_status status = grid ? hu_quantize_n(n, x, 1, x, 1, *grid, rne, NULL, NULL) : HU_OK;
  (void)status; /* checked before */
}

/* Products of binary32 numbers are exact in binary64; one sum after another, k ascending. */
static double dot(size_t n, const float *x, const float *w, size_t step) {
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += (double)x[k] * (double)w[k * step];
  return sum;
}

static int is_finite(float x) { return x >= -FLT_MAX && x <= FLT_MAX; }

/* ---- least squares ---- */

hu_least_squares hu_least_squares_default(void) {
  hu_least_squares standard = {.count = 1000, .features = 10, .high = 100, .noise = 0.5f};
  return standard;
}

/* Every row of a set with its norm 1, as far as binary32 can say. */
static void to_unit_rows(hu_data *data) {
  for (size_t i = 0; i < data->count; i++) {
    float *x = data->x + i * data->channels;
    double norm = sqrt(dot(data->channels, x, x, 1));
    for (size_t k = 0; norm > 0 && k < data->channels; k++) x[k] = (float)((double)x[k] / norm);
  }
}

static hu_status check_least_squares(const hu_least_squares *settings) {
  if (!is_finite(settings->low) || !is_finite(settings->high) || !is_finite(settings->high - settings->low) ||
      !(settings->low <= settings->high))
    return HU_E_SHAPE;
  if (!(settings->noise >= 0 && settings->noise <= FLT_MAX)) return HU_E_SHAPE;
  return check_grid(settings->grid);
}

static HU_NOINLINE hu_status make_least_squares(hu_data *data, float *w, const hu_least_squares *what, uint64_t seed) {
  if (!data || !what) return HU_E_NULL;
  const size_t n = what->count, m = what->features, shape[3] = {1, 1, m};
  hu_data made;
  hu_status status = check_least_squares(what);
  if (status == HU_OK) status = hui_data_make(&made, n, shape, 0, 1);
  if (status != HU_OK) return status;
  float *truth = hui_data_allocate(m, sizeof *truth);
  if (!truth) {
    hu_data_free(&made);
    return HU_E_MEMORY;
  }
  hu_normal_n(n * m, made.x, 1, hu_stream_of_use(seed, HU_USE_DATA));
  if (what->unit) to_unit_rows(&made);
  hu_uniform_n(m, truth, what->low, what->high, hu_stream_of_use(seed, HU_USE_TRUTH));
  onto_grid(n * m, made.x, what->grid);
  onto_grid(m, truth, what->grid);
  hu_normal_n(n, made.y, what->noise, hu_stream_of_use(seed, HU_USE_NOISE));
  for (size_t i = 0; i < n; i++) made.y[i] = (float)(dot(m, made.x + i * m, truth, 1) + (double)made.y[i]);
  if (w) memcpy(w, truth, m * sizeof *w);
  free(truth);
  *data = made;
  return HU_OK;
}

hu_status hu_data_least_squares(hu_data *data, float *w, const hu_least_squares *what, uint64_t seed) {
  HU_ENV_RETURN(hu_status, make_least_squares(data, w, what, seed));
}

/* ---- gratings ---- */

static void grating(float *z, size_t size, uint32_t c, uint32_t classes, float phase) {
  const float half_turn = 0x1.921fb6p+1f, frequency = 0x1.61de76p+0f; /* pi; 2 pi 0.22 */
  float angle = half_turn * (float)c / (float)classes;
  float sine = of(HU_OP_SIN, angle), cosine = of(HU_OP_COS, angle);
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < size; j++) {
      float place = (float)i * sine + (float)j * cosine;
      z[i * size + j] = frequency * place + phase;
    }
  }
}

static HU_NOINLINE hu_status make_gratings(hu_data *data, uint64_t first, size_t count, size_t size, uint32_t classes,
                                           uint64_t seed) {
  const size_t shape[3] = {size, size, 1}, pixels = size * size;
  const hu_stream phases = hu_stream_of_use(seed, HU_USE_DATA), noises = hu_stream_of_use(seed, HU_USE_NOISE);
  hu_data made;
  if (!data) return HU_E_NULL;
  if (classes == 0 || size > 4096 || first > UINT64_MAX - count) return HU_E_SHAPE;
  hu_status status = hui_data_make(&made, count, shape, classes, 0);
  if (status != HU_OK) return status;
  float *noise = hui_data_allocate(pixels, sizeof *noise);
  if (!noise) {
    hu_data_free(&made);
    return HU_E_MEMORY;
  }
  for (size_t e = 0; e < count; e++) {
    const uint64_t i = first + e;
    const hu_stream at = {phases.key, phases.counter + i};
    float *x = made.x + e * pixels, phase;
    hu_uniform_n(1, &phase, 0, 0x1.921fb6p+2f, at);
    made.labels[e] = (uint32_t)(i % classes);
    grating(x, size, made.labels[e], classes, phase);
    hui_apply_n(HU_OP_COS, pixels, x);
    hu_normal_n(pixels, noise, 1, hu_stream_child(noises, i));
    for (size_t k = 0; k < pixels; k++) x[k] += noise[k];
  }
  free(noise);
  *data = made;
  return HU_OK;
}

hu_status hu_data_gratings(hu_data *data, uint64_t first, size_t count, size_t size, uint32_t classes, uint64_t seed) {
  HU_ENV_RETURN(hu_status, make_gratings(data, first, count, size, classes, seed));
}

/* ---- teacher ---- */

hu_teacher hu_teacher_default(void) {
  hu_teacher standard = {2500, 8, 16, 25, NULL};
  return standard;
}

/* y = tanh(1.5 x W1) W2 of one input; binary64 sums rounded to binary32 before each function. */
static double answer(const hu_teacher *teacher, const float *x, const float *w1, const float *w2) {
  double sum = 0;
  for (size_t h = 0; h < teacher->hidden; h++) {
    float t = (float)(1.5 * dot(teacher->features, x, w1 + h, teacher->hidden));
    sum += (double)of(HU_OP_TANH, t) * (double)w2[h];
  }
  return sum;
}

/* Scales answers to a standard deviation; 0: they have none. */
static int scaled(size_t n, float *y, const double *raw, float deviation) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) mean += raw[i];
  mean /= (double)n;
  for (size_t i = 0; i < n; i++) squares += (raw[i] - mean) * (raw[i] - mean);
  if (!(squares > 0)) return 0;
  double factor = (double)deviation / sqrt(squares / (double)n);
  for (size_t i = 0; i < n; i++) y[i] = (float)(factor * raw[i]);
  return 1;
}

static hu_status teach(hu_data *data, const hu_teacher *teacher, float *w, double *raw, uint64_t seed) {
  const size_t first = teacher->features * teacher->hidden;
  const hu_stream truth = hu_stream_of_use(seed, HU_USE_TRUTH);
  hu_init_normal(first, w, 1, teacher->features, hu_stream_child(truth, 0));
  hu_init_normal(teacher->hidden, w + first, 1, teacher->hidden, hu_stream_child(truth, 1));
  hu_normal_n(teacher->count * teacher->features, data->x, 1, hu_stream_of_use(seed, HU_USE_DATA));
  onto_grid(teacher->count * teacher->features, data->x, teacher->grid);
  for (size_t i = 0; i < teacher->count; i++) raw[i] = answer(teacher, data->x + i * teacher->features, w, w + first);
  return scaled(teacher->count, data->y, raw, teacher->deviation) ? HU_OK : HU_E_SHAPE;
}

static HU_NOINLINE hu_status make_teacher(hu_data *data, const hu_teacher *what, uint64_t seed) {
  size_t weights;
  hu_data made;
  if (!data || !what) return HU_E_NULL;
  const size_t shape[3] = {1, 1, what->features};
  if (what->count < 2 || what->hidden == 0 || !(what->deviation > 0 && what->deviation <= FLT_MAX)) return HU_E_SHAPE;
  if (what->features == SIZE_MAX || !hui_size_product(&weights, what->features + 1, what->hidden)) return HU_E_SHAPE;
  hu_status status = check_grid(what->grid);
  if (status == HU_OK) status = hui_data_make(&made, what->count, shape, 0, 1);
  if (status != HU_OK) return status;
  float *w = hui_data_allocate(weights, sizeof *w);
  double *raw = hui_data_allocate(what->count, sizeof *raw);
  status = w && raw ? teach(&made, what, w, raw, seed) : HU_E_MEMORY;
  free(w);
  free(raw);
  if (status == HU_OK) {
    *data = made;
  } else {
    hu_data_free(&made);
  }
  return status;
}

hu_status hu_data_teacher(hu_data *data, const hu_teacher *what, uint64_t seed) {
  HU_ENV_RETURN(hu_status, make_teacher(data, what, seed));
}

/* ---- ratings ---- */

hu_ratings hu_ratings_default(void) {
  hu_ratings standard = {.count = 4000, .users = 100, .items = 80, .rank = 4, .noise = 0.1f};
  return standard;
}

/* Makes examples from number `first` on; u, v: hidden rows of users and items. */
static void rate(hu_data *data, const hu_ratings *ratings, uint64_t first, const float *u, const float *v,
                 uint64_t seed) {
  const hu_stream pairs = hu_stream_of_use(seed, HU_USE_DATA), noises = hu_stream_of_use(seed, HU_USE_NOISE);
  for (size_t e = 0; e < data->count; e++) {
    hu_stream stream = hu_stream_child(pairs, first + e);
    size_t user = hu_stream_below(&stream, (uint32_t)ratings->users),
           item = hu_stream_below(&stream, (uint32_t)ratings->items);
    float noise;
    hu_normal_n(1, &noise, ratings->noise, hu_stream_child(noises, first + e));
    float score = (float)(dot(ratings->rank, u + user * ratings->rank, v + item * ratings->rank, 1) + (double)noise);
    data->x[2 * e] = (float)user;
    data->x[2 * e + 1] = (float)item;
    if (ratings->labels) {
      data->labels[e] = score > 0;
    } else {
      data->y[e] = score;
    }
  }
}

static HU_NOINLINE hu_status make_ratings(hu_data *data, uint64_t first, const hu_ratings *what, uint64_t seed) {
  const size_t shape[3] = {1, 1, 2}, most = (size_t)1 << 24;
  size_t users, items;
  hu_data made;
  if (!data || !what) return HU_E_NULL;
  if (what->users == 0 || what->items == 0 || what->users > most || what->items > most) return HU_E_SHAPE;
  if (what->rank == 0 || !(what->noise >= 0 && what->noise <= FLT_MAX)) return HU_E_SHAPE;
  if (first > UINT64_MAX - what->count) return HU_E_SHAPE;
  if (!hui_size_product(&users, what->users, what->rank) || !hui_size_product(&items, what->items, what->rank)) {
    return HU_E_SHAPE;
  }
  hu_status status = hui_data_make(&made, what->count, shape, what->labels ? 2 : 0, what->labels ? 0 : 1);
  if (status != HU_OK) return status;
  const hu_stream truth = hu_stream_of_use(seed, HU_USE_TRUTH);
  float *u = hui_data_allocate(users, sizeof *u), *v = hui_data_allocate(items, sizeof *v);
  if (u && v) {
    hu_init_normal(users, u, 1, what->rank, hu_stream_child(truth, 0));
    hu_normal_n(items, v, 1, hu_stream_child(truth, 1));
    rate(&made, what, first, u, v, seed);
    *data = made;
  } else {
    status = HU_E_MEMORY;
    hu_data_free(&made);
  }
  free(u);
  free(v);
  return status;
}

hu_status hu_data_ratings(hu_data *data, uint64_t first, const hu_ratings *what, uint64_t seed) {
  HU_ENV_RETURN(hu_status, make_ratings(data, first, what, seed));
}
