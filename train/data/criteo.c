/* SPDX-License-Identifier: MIT */
/* Loads clicks in the format of Criteo's data sets, and makes some with features of the same kinds. */
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"
#include "train/environment.h"

enum { DENSE = 13, CATEGORIES = 26, FIELDS = 1 + DENSE + CATEGORIES, LARGEST = 1 << 24 };

/* ---- lines ---- */

typedef struct field {
  const uint8_t *at;
  size_t size;
} field;

/* A line's fields, between tabs; returns how many it has, of which up to FIELDS are set. */
static size_t split(field z[FIELDS], const uint8_t *line, size_t size) {
  size_t fields = 0, begun = 0;
  for (size_t i = 0; i <= size; i++) {
    if (i < size && line[i] != '\t') continue;
    if (fields < FIELDS) z[fields] = (field){line + begun, i - begun};
    fields++;
    begun = i + 1;
  }
  return fields;
}

/* A decimal whole number of up to 18 digits, maybe with a sign; 0: it is not one. */
static int read_whole(int64_t *z, field f) {
  int negative = f.size && f.at[0] == '-';
  int64_t x = 0;
  size_t first = (size_t)negative;
  if (f.size == first || f.size - first > 18) return 0;
  for (size_t i = first; i < f.size; i++) {
    int digit = f.at[i] - '0';
    if (digit < 0 || digit > 9) return 0;
    x = 10 * x + digit;
  }
  *z = negative ? -x : x;
  return 1;
}

/* Up to 8 hexadecimal digits; 0: it is not such a number. */
static int read_hex(uint32_t *z, field f) {
  uint32_t x = 0;
  if (f.size == 0 || f.size > 8) return 0;
  for (size_t i = 0; i < f.size; i++) {
    uint8_t c = f.at[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 55
                                       : -1;
    if (digit < 0) return 0;
    x = x << 4 | (uint32_t)digit;
  }
  *z = x;
  return 1;
}

/* ln(1 + x) comes later, for all numbers at once. */
static hu_status read_dense(float *z, const hu_bytes *file, size_t line, size_t number, field f, char *why) {
  int64_t x = 0;
  if (f.size && !read_whole(&x, f))
    return hu_data_wrong(why, HU_E_DATA, file->name, "integer %zu of line %zu: not a whole number of up to 18 digits",
                         number + 1, line);
  *z = x > 0 ? (float)(x + 1) : 1;
  return HU_OK;
}

static hu_status read_category(float *z, const hu_bytes *file, size_t line, size_t number, field f, uint32_t rows,
                               char *why) {
  uint32_t x = 0, row = 0;
  if (f.size && !read_hex(&x, f))
    return hu_data_wrong(why, HU_E_DATA, file->name, "category %zu of line %zu: not up to 8 hexadecimal digits",
                         number + 1, line);
  if (f.size) row = 1 + x % (rows - 1);
  *z = (float)((uint32_t)number * rows + row);
  return HU_OK;
}

static hu_status read_line(float *x, uint32_t *label, const hu_bytes *file, size_t line, const uint8_t *at, size_t size,
                           uint32_t rows, char *why) {
  field f[FIELDS];
  size_t fields = split(f, at, size);
  if (fields != FIELDS)
    return hu_data_wrong(why, HU_E_DATA, file->name, "line %zu: fields between tabs: %zu, not %d", line, fields,
                         FIELDS);
  if (f[0].size != 1 || (f[0].at[0] != '0' && f[0].at[0] != '1'))
    return hu_data_wrong(why, HU_E_DATA, file->name, "label of line %zu: neither 0 nor 1", line);
  *label = f[0].at[0] == '1';
  hu_status s = HU_OK;
  for (size_t i = 0; i < DENSE && s == HU_OK; i++) s = read_dense(&x[i], file, line, i, f[1 + i], why);
  for (size_t i = 0; i < CATEGORIES && s == HU_OK; i++)
    s = read_category(&x[DENSE + i], file, line, i, f[1 + DENSE + i], rows, why);
  return s;
}

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* All lines, z having room for them; LF may have CR before it. */
static hu_status read_lines(hu_data *z, const hu_bytes *file, uint32_t rows, char *why) {
  size_t line = 0;
  for (size_t at = 0; at < file->size; line++) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    size_t size = end ? (size_t)(end - file->data) - at : file->size - at;
    size_t told = size && file->data[at + size - 1] == '\r' ? size - 1 : size;
    hu_status s = read_line(z->x + line * (DENSE + CATEGORIES), &z->labels[line], file, line + 1, file->data + at, told,
                            rows, why);
    if (s != HU_OK) return s;
    at += size + 1;
  }
  return HU_OK;
}

static HU_NOINLINE hu_status read_file(hu_data *z, const hu_bytes *file, uint32_t rows, char *why) {
  const size_t shape[3] = {1, 1, DENSE + CATEGORIES};
  hu_data d;
  hu_status s = hu_bytes_check_plain(file, why);
  if (s != HU_OK) return s;
  size_t lines = count_lines(file);
  s = hu_data_make(&d, lines, shape, 2, 0);
  if (s != HU_OK) return hu_data_wrong(why, s, file->name, "out of memory for %zu lines", lines);
  s = read_lines(&d, file, rows, why);
  for (size_t i = 0; i < lines && s == HU_OK; i++) hu_apply_n(hu_log_n, DENSE, d.x + i * (DENSE + CATEGORIES));
  if (s == HU_OK) {
    *z = d;
  } else {
    hu_data_free(&d);
  }
  return s;
}

hu_status hu_criteo_read(hu_data *z, const hu_bytes *file, uint32_t rows, char *why) {
  HU_ENV_RETURN(hu_status, read_file(z, file, rows, why));
}

hu_status hu_data_load_criteo(hu_data *z, const char *path, uint32_t rows, char *why) {
  hu_bytes file = {NULL, NULL, 0};
  if (!z) return hu_data_wrong(why, HU_E_NULL, "criteo", "z: NULL");
  if (rows < 2 || rows > LARGEST / CATEGORIES)
    return hu_data_wrong(why, HU_E_SHAPE, "criteo", "rows: %u, not from 2 to %d", rows, LARGEST / CATEGORIES);
  hu_status s = hu_bytes_read(&file, path, why);
  if (s == HU_OK) s = hu_criteo_read(z, &file, rows, why);
  hu_bytes_free(&file);
  return s;
}

/* ---- made ---- */

hu_clicks hu_clicks_default(void) {
  hu_clicks usual = {4000, 8, 6, 50, 4, 0.5f};
  return usual;
}

/* What decides: weights of dense features, of rows, and hidden rows of `rank` numbers. */
typedef struct truth {
  float *dense, *row, *hidden;
} truth;

static void free_truth(truth *t) {
  free(t->dense);
  free(t->row);
  free(t->hidden);
}

static hu_status draw_truth(truth *t, const hu_clicks *a, uint64_t seed) {
  const hu_stream words = hu_stream_of_use(seed, HU_USE_TRUTH);
  size_t rows = a->categories * a->rows;
  t->dense = hu_data_room(a->dense, sizeof *t->dense);
  t->row = hu_data_room(rows, sizeof *t->row);
  t->hidden = hu_data_room(rows * a->rank, sizeof *t->hidden);
  if (!t->dense || !t->row || !t->hidden) return HU_E_MEMORY;
  hu_init_normal(a->dense, t->dense, 1, a->dense, hu_stream_child(words, 0));
  hu_init_normal(rows, t->row, 1, a->categories, hu_stream_child(words, 1));
  hu_init_normal(rows * a->rank, t->hidden, 1, a->rank, hu_stream_child(words, 2));
  return HU_OK;
}

/* Sums in binary64, in order: dense features, rows, pairs of rows. */
static double score_of(const truth *t, const hu_clicks *a, const float *x) {
  double z = 0;
  const float *token = x + a->dense;
  for (size_t i = 0; i < a->dense; i++) z += (double)x[i] * (double)t->dense[i];
  for (size_t f = 0; f < a->categories; f++) z += (double)t->row[(size_t)token[f]];
  for (size_t f = 1; f < a->categories; f++) {
    for (size_t g = 0; g < f; g++) {
      const float *u = t->hidden + (size_t)token[f] * a->rank, *v = t->hidden + (size_t)token[g] * a->rank;
      for (size_t k = 0; k < a->rank; k++) z += (double)u[k] * (double)v[k];
    }
  }
  return z;
}

static hu_status check_clicks(uint64_t first, const hu_clicks *a) {
  if (a->dense == 0 || a->dense > 4095 || a->categories == 0 || a->categories > 4095) return HU_E_SHAPE;
  if (a->rows == 0 || a->rows > LARGEST / a->categories || a->rank == 0 || a->rank > 256) return HU_E_SHAPE;
  return a->noise >= 0 && a->noise < 1e30f && first <= UINT64_MAX - a->count ? HU_OK : HU_E_SHAPE;
}

static HU_NOINLINE hu_status make_clicks(hu_data *z, uint64_t first, const hu_clicks *a, uint64_t seed) {
  hu_data d;
  truth t = {NULL, NULL, NULL};
  if (!z || !a) return HU_E_NULL;
  hu_status s = check_clicks(first, a);
  if (s != HU_OK) return s;
  const size_t all = a->dense + a->categories, shape[3] = {1, 1, all};
  const hu_stream inputs = hu_stream_of_use(seed, HU_USE_DATA), noises = hu_stream_of_use(seed, HU_USE_NOISE);
  s = hu_data_make(&d, a->count, shape, 2, 0);
  if (s != HU_OK) return s;
  s = draw_truth(&t, a, seed);
  for (size_t e = 0; e < a->count && s == HU_OK; e++) {
    hu_stream own = hu_stream_child(inputs, first + e), tokens = hu_stream_child(own, 1);
    float *x = d.x + e * all, noise;
    hu_normal_n(a->dense, x, 1, hu_stream_child(own, 0));
    for (size_t f = 0; f < a->categories; f++)
      x[a->dense + f] = (float)(f * a->rows + hu_stream_below(&tokens, (uint32_t)a->rows));
    hu_normal_n(1, &noise, a->noise, hu_stream_child(noises, first + e));
    d.labels[e] = score_of(&t, a, x) + (double)noise > 0;
  }
  free_truth(&t);
  if (s == HU_OK) {
    *z = d;
  } else {
    hu_data_free(&d);
  }
  return s;
}

hu_status hu_data_clicks(hu_data *z, uint64_t first, const hu_clicks *what, uint64_t seed) {
  HU_ENV_RETURN(hu_status, make_clicks(z, first, what, seed));
}
