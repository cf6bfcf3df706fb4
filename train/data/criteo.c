/* SPDX-License-Identifier: MIT */
/* Loads clicks in the format of Criteo's data sets, and makes some with features of the same kinds. */
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"
#include "train/environment.h"

enum { DENSE = 13, CATEGORIES = 26, FIELDS = 1 + DENSE + CATEGORIES, LARGEST = 1 << 24 };

/* ---- lines ---- */

typedef struct line_field {
  const uint8_t *at;
  size_t size;
} line_field;

/* A line's fields, between tabs; returns how many it has, of which up to FIELDS are set. */
static size_t split(line_field field[FIELDS], const uint8_t *line, size_t size) {
  size_t fields = 0, begun = 0;
  for (size_t i = 0; i <= size; i++) {
    if (i < size && line[i] != '\t') continue;
    if (fields < FIELDS) field[fields] = (line_field){line + begun, i - begun};
    fields++;
    begun = i + 1;
  }
  return fields;
}

/* A decimal whole number of up to 18 digits, maybe with a sign; 0: it is not one. */
static int read_whole(int64_t *z, line_field field) {
  int negative = field.size && field.at[0] == '-';
  int64_t x = 0;
  size_t first = (size_t)negative;
  if (field.size == first || field.size - first > 18) return 0;
  for (size_t i = first; i < field.size; i++) {
    int digit = field.at[i] - '0';
    if (digit < 0 || digit > 9) return 0;
    x = 10 * x + digit;
  }
  *z = negative ? -x : x;
  return 1;
}

/* Up to 8 hexadecimal digits; 0: it is not such a number. */
static int read_hex(uint32_t *z, line_field field) {
  uint32_t x = 0;
  if (field.size == 0 || field.size > 8) return 0;
  for (size_t i = 0; i < field.size; i++) {
    uint8_t c = field.at[i];
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

/* Puts x into the data; ln(1 + x) is taken later, for all numbers at once. */
static hu_status read_dense(float *z, const hu_bytes *file, size_t line, size_t number, line_field field, char *why) {
  int64_t x = 0;
  if (field.size && !read_whole(&x, field))
    return hui_data_wrong(why, HU_E_DATA, file->name, "integer %zu of line %zu: not a whole number of up to 18 digits",
                          number + 1, line);
  *z = x > 0 ? (float)(x + 1) : 1;
  return HU_OK;
}

static hu_status read_category(float *z, const hu_bytes *file, size_t line, size_t number, line_field field,
                               uint32_t rows, char *why) {
  uint32_t x = 0, row = 0;
  if (field.size && !read_hex(&x, field))
    return hui_data_wrong(why, HU_E_DATA, file->name, "category %zu of line %zu: not up to 8 hexadecimal digits",
                          number + 1, line);
  if (field.size) row = 1 + x % (rows - 1);
  *z = (float)((uint32_t)number * rows + row);
  return HU_OK;
}

static hu_status read_line(float *x, uint32_t *label, const hu_bytes *file, size_t line, const uint8_t *at, size_t size,
                           uint32_t rows, char *why) {
  line_field field[FIELDS];
  size_t fields = split(field, at, size);
  if (fields != FIELDS)
    return hui_data_wrong(why, HU_E_DATA, file->name, "line %zu: fields between tabs: %zu, not %d", line, fields,
                          FIELDS);
  if (field[0].size != 1 || (field[0].at[0] != '0' && field[0].at[0] != '1'))
    return hui_data_wrong(why, HU_E_DATA, file->name, "label of line %zu: neither 0 nor 1", line);
  *label = field[0].at[0] == '1';
  hu_status status = HU_OK;
  for (size_t i = 0; i < DENSE && status == HU_OK; i++) status = read_dense(&x[i], file, line, i, field[1 + i], why);
  for (size_t i = 0; i < CATEGORIES && status == HU_OK; i++)
    status = read_category(&x[DENSE + i], file, line, i, field[1 + DENSE + i], rows, why);
  return status;
}

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* All lines, z having space for them; LF may have CR before it. */
static hu_status read_lines(hu_data *data, const hu_bytes *file, uint32_t rows, char *why) {
  size_t line = 0;
  for (size_t at = 0; at < file->size; line++) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    size_t size = end ? (size_t)(end - file->data) - at : file->size - at;
    size_t length = size && file->data[at + size - 1] == '\r' ? size - 1 : size;
    hu_status status = read_line(data->x + line * (DENSE + CATEGORIES), &data->labels[line], file, line + 1,
                                 file->data + at, length, rows, why);
    if (status != HU_OK) return status;
    at += size + 1;
  }
  return HU_OK;
}

static HU_NOINLINE hu_status read_file(hu_data *data, const hu_bytes *file, uint32_t rows, char *why) {
  const size_t shape[3] = {1, 1, DENSE + CATEGORIES};
  hu_data made;
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  size_t lines = count_lines(file);
  status = hui_data_make(&made, lines, shape, 2, 0);
  if (status != HU_OK) return hui_data_wrong(why, status, file->name, "out of memory for %zu lines", lines);
  status = read_lines(&made, file, rows, why);
  for (size_t i = 0; i < lines && status == HU_OK; i++)
    hui_apply_n(HU_OP_LOG, DENSE, made.x + i * (DENSE + CATEGORIES));
  if (status == HU_OK) {
    *data = made;
  } else {
    hu_data_free(&made);
  }
  return status;
}

hu_status hui_criteo_read(hu_data *data, const hu_bytes *file, uint32_t rows, char *why) {
  HU_ENV_RETURN(hu_status, read_file(data, file, rows, why));
}

hu_status hu_data_load_criteo(hu_data *data, const char *path, uint32_t rows, char *why) {
  hu_bytes file = {NULL, NULL, 0};
  if (!data) return hui_data_wrong(why, HU_E_NULL, "criteo", "z: NULL");
  if (rows < 2 || rows > LARGEST / CATEGORIES)
    return hui_data_wrong(why, HU_E_SHAPE, "criteo", "rows: %u, not from 2 to %d", rows, LARGEST / CATEGORIES);
  hu_status status = hui_bytes_read(&file, path, why);
  if (status == HU_OK) status = hui_criteo_read(data, &file, rows, why);
  hui_bytes_free(&file);
  return status;
}

/* ---- made ---- */

hu_clicks hu_clicks_default(void) {
  hu_clicks standard = {.count = 4000, .dense = 8, .categories = 6, .rows = 50, .rank = 4, .noise = 0.5f};
  return standard;
}

/* What decides: weights of dense features, of rows, and hidden rows of `rank` numbers. */
typedef struct click_truth {
  float *dense, *row, *hidden;
} click_truth;

static void free_truth(click_truth *truth) {
  free(truth->dense);
  free(truth->row);
  free(truth->hidden);
}

static hu_status draw_truth(click_truth *truth, const hu_clicks *clicks, uint64_t seed) {
  const hu_stream words = hu_stream_of_use(seed, HU_USE_TRUTH);
  size_t rows = clicks->categories * clicks->rows;
  truth->dense = hui_data_allocate(clicks->dense, sizeof *truth->dense);
  truth->row = hui_data_allocate(rows, sizeof *truth->row);
  truth->hidden = hui_data_allocate(rows * clicks->rank, sizeof *truth->hidden);
  if (!truth->dense || !truth->row || !truth->hidden) return HU_E_MEMORY;
  hu_init_normal(clicks->dense, truth->dense, 1, clicks->dense, hu_stream_child(words, 0));
  hu_init_normal(rows, truth->row, 1, clicks->categories, hu_stream_child(words, 1));
  hu_init_normal(rows * clicks->rank, truth->hidden, 1, clicks->rank, hu_stream_child(words, 2));
  return HU_OK;
}

/* Sums in binary64, in order: dense features, rows, pairs of rows. */
static double score_of(const click_truth *truth, const hu_clicks *clicks, const float *x) {
  double z = 0;
  const float *token = x + clicks->dense;
  for (size_t i = 0; i < clicks->dense; i++) z += (double)x[i] * (double)truth->dense[i];
  for (size_t f = 0; f < clicks->categories; f++) z += (double)truth->row[(size_t)token[f]];
  for (size_t f = 1; f < clicks->categories; f++) {
    for (size_t g = 0; g < f; g++) {
      const float *u = truth->hidden + (size_t)token[f] * clicks->rank,
                  *v = truth->hidden + (size_t)token[g] * clicks->rank;
      for (size_t k = 0; k < clicks->rank; k++) z += (double)u[k] * (double)v[k];
    }
  }
  return z;
}

static hu_status check_clicks(uint64_t first, const hu_clicks *clicks) {
  if (clicks->dense == 0 || clicks->dense > 4095 || clicks->categories == 0 || clicks->categories > 4095)
    return HU_E_SHAPE;
  if (clicks->rows == 0 || clicks->rows > LARGEST / clicks->categories || clicks->rank == 0 || clicks->rank > 256)
    return HU_E_SHAPE;
  return clicks->noise >= 0 && clicks->noise < 1e30f && first <= UINT64_MAX - clicks->count ? HU_OK : HU_E_SHAPE;
}

static HU_NOINLINE hu_status make_clicks(hu_data *data, uint64_t first, const hu_clicks *clicks, uint64_t seed) {
  hu_data made;
  click_truth truth = {NULL, NULL, NULL};
  if (!data || !clicks) return HU_E_NULL;
  hu_status status = check_clicks(first, clicks);
  if (status != HU_OK) return status;
  const size_t all = clicks->dense + clicks->categories, shape[3] = {1, 1, all};
  const hu_stream inputs = hu_stream_of_use(seed, HU_USE_DATA), noises = hu_stream_of_use(seed, HU_USE_NOISE);
  status = hui_data_make(&made, clicks->count, shape, 2, 0);
  if (status != HU_OK) return status;
  status = draw_truth(&truth, clicks, seed);
  for (size_t e = 0; e < clicks->count && status == HU_OK; e++) {
    hu_stream own = hu_stream_child(inputs, first + e), tokens = hu_stream_child(own, 1);
    float *x = made.x + e * all, noise;
    hu_normal_n(clicks->dense, x, 1, hu_stream_child(own, 0));
    for (size_t f = 0; f < clicks->categories; f++)
      x[clicks->dense + f] = (float)(f * clicks->rows + hu_stream_below(&tokens, (uint32_t)clicks->rows));
    hu_normal_n(1, &noise, clicks->noise, hu_stream_child(noises, first + e));
    made.labels[e] = score_of(&truth, clicks, x) + (double)noise > 0;
  }
  free_truth(&truth);
  if (status == HU_OK) {
    *data = made;
  } else {
    hu_data_free(&made);
  }
  return status;
}

hu_status hu_data_clicks(hu_data *data, uint64_t first, const hu_clicks *what, uint64_t seed) {
  HU_ENV_RETURN(hu_status, make_clicks(data, first, what, seed));
}
