/* SPDX-License-Identifier: MIT */
/* See vectors.h. */
#include "cli/question/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/vectors/dot_line.h"
#include "halfulp/scalar.h"

hu_type id_column_element(const id_shape *shape, int column) {
  switch (column) {
    case ID_A: return shape->a;
    case ID_B: return shape->b;
    case ID_SA:
    case ID_SB: return hu_type_codes(shape->scale);
    default: return shape->result;
  }
}

size_t id_column_length(const id_shape *shape, int column) {
  if (column == ID_A || column == ID_B) return shape->n;
  if (column == ID_SA || column == ID_SB) return shape->every ? (shape->n + shape->every - 1) / shape->every : 0;
  return 1;
}

size_t id_column_size(const id_shape *shape, int column) {
  return id_column_length(shape, column) ? hu_type_size(id_column_element(shape, column)) : 0;
}

static size_t row_bytes(const id_shape *shape, int column) {
  return id_column_length(shape, column) * id_column_size(shape, column);
}

void id_vectors_start(id_vectors *questions, const id_shape *shape) {
  memset(questions, 0, sizeof *questions);
  questions->shape = shape;
}

void id_vectors_free(id_vectors *questions) {
  for (int i = 0; i < ID_COLUMNS; i++) free(questions->column[i]);
  id_vectors_start(questions, questions->shape);
}

static int reserve(id_vectors *questions, size_t capacity) {
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = row_bytes(questions->shape, i);
    if (!bytes) continue;
    void *larger = realloc(questions->column[i], bytes * capacity);
    if (!larger) return 0;
    questions->column[i] = larger;
  }
  questions->capacity = capacity;
  return 1;
}

size_t id_vectors_grow(id_vectors *questions, size_t count) {
  size_t first = questions->count, past = first + count;
  if (past > questions->capacity &&
      !reserve(questions, past < 2 * questions->capacity ? 2 * questions->capacity : past))
    return SIZE_MAX;
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = row_bytes(questions->shape, i);
    if (bytes) memset((char *)questions->column[i] + first * bytes, 0, count * bytes);
  }
  questions->count = past;
  return first;
}

void id_vectors_copy(id_vectors *questions, size_t to, const id_vectors *other, size_t from) {
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = row_bytes(questions->shape, i);
    if (bytes) memmove((char *)questions->column[i] + to * bytes, (const char *)other->column[i] + from * bytes, bytes);
  }
}

static void swap_bytes(char *x, char *y, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char keep = x[i];
    x[i] = y[i];
    y[i] = keep;
  }
}

void id_vectors_swap(id_vectors *questions, size_t i, size_t j) {
  if (i == j) return;
  for (int column = 0; column < ID_COLUMNS; column++) {
    size_t bytes = row_bytes(questions->shape, column);
    if (bytes)
      swap_bytes((char *)questions->column[column] + i * bytes, (char *)questions->column[column] + j * bytes, bytes);
  }
}

uint64_t id_get(const id_vectors *questions, int column, size_t row, size_t k) {
  return cli_get_pattern(questions->column[column], row * id_column_length(questions->shape, column) + k,
                         id_column_size(questions->shape, column));
}

void id_put(id_vectors *questions, int column, size_t row, size_t k, uint64_t pattern) {
  if (column <= ID_B) pattern = pattern >> questions->shape->low[column] << questions->shape->low[column];
  cli_put_pattern(questions->column[column], row * id_column_length(questions->shape, column) + k,
                  id_column_size(questions->shape, column), pattern);
}

void id_vectors_print(FILE *out, const id_vectors *questions, size_t row) {
  int last = questions->shape->every ? ID_SB : ID_C;
  for (int i = ID_A; i <= last; i++) {
    int digits = (int)(hu_type_width(id_column_element(questions->shape, i)) + 3) / 4;
    if (i) fputc(' ', out);
    for (size_t k = 0; k < id_column_length(questions->shape, i); k++)
      fprintf(out, "%0*llx", digits, (unsigned long long)id_get(questions, i, row, k));
  }
}

double id_value(hu_type element, uint64_t pattern) {
  double z;
  switch (element.kind) {
    case HU_TYPE_CODES: return hu_decode64(element.format, (uint32_t)pattern);
    case HU_TYPE_INT8: return (int8_t)pattern;
    case HU_TYPE_INT4: return (int)(pattern & 7) - (int)(pattern & 8);
    case HU_TYPE_UINT8: return (double)(pattern & 255);
    case HU_TYPE_UINT4: return (double)(pattern & 15);
    case HU_TYPE_INT32: return (int32_t)(uint32_t)pattern;
    default: memcpy(&z, &pattern, sizeof z); return z;
  }
}

size_t id_terms(const id_vectors *questions, size_t row) {
  size_t count = 0;
  for (size_t k = 0; k < questions->shape->n; k++)
    count += id_value(questions->shape->a, id_get(questions, ID_A, row, k)) != 0 &&
             id_value(questions->shape->b, id_get(questions, ID_B, row, k)) != 0;
  return count;
}

/* ---- models ---- */

static hu_view view_of(const id_vectors *questions, int column, size_t first) {
  size_t bytes = row_bytes(questions->shape, column);
  hu_view x = {0};
  if (!bytes) return x;
  x = hu_view_of((const char *)questions->column[column] + first * bytes, 1,
                 id_column_element(questions->shape, column));
  x.row = (ptrdiff_t)id_column_length(questions->shape, column);
  return x;
}

hu_status id_compute_rounded(const hu_accum *model, const id_vectors *questions, size_t first, size_t count,
                             uint8_t mode, void *z) {
  hu_how how = {0};
  hu_product x = hu_product_of_dot(questions->shape->n, hu_output_of(z, 1, questions->shape->result),
                                   view_of(questions, ID_A, first), view_of(questions, ID_B, first), model);
  x.m = count;
  x.d.row = 1;
  x.c = view_of(questions, ID_C, first);
  x.sa = view_of(questions, ID_SA, first);
  x.sb = view_of(questions, ID_SB, first);
  how.mode.round = mode;
  return hu_dot(&x, mode ? &how : NULL);
}

hu_status id_compute(const hu_accum *model, const id_vectors *questions, size_t first, size_t count, void *z) {
  return id_compute_rounded(model, questions, first, count, HU_RNE, z);
}

int id_is_nan(const id_shape *shape, uint64_t x) {
  return shape->result.kind <= HU_TYPE_BINARY64 && isnan(id_value(shape->result, x));
}

int id_same(const id_shape *shape, uint64_t x, uint64_t y) {
  return x == y || (id_is_nan(shape, x) && id_is_nan(shape, y));
}

/* Rows of one call: few at first, since most models fail early. */
enum { CHUNK_LEAST = 2, CHUNK_MOST = 128 };

static size_t differing(const id_vectors *questions, size_t first, size_t count, const void *z) {
  size_t size = id_column_size(questions->shape, ID_D);
  const char *answers = (const char *)questions->column[ID_D] + first * size;
  if (memcmp(answers, z, count * size) == 0) return count;
  for (size_t i = 0; i < count; i++)
    if (!id_same(questions->shape, cli_get_pattern(answers, i, size), cli_get_pattern(z, i, size))) return i;
  return count;
}

size_t id_first_difference(const hu_accum *model, const id_vectors *questions, size_t first, size_t past) {
  uint64_t z[CHUNK_MOST];
  size_t chunk = CHUNK_LEAST;
  while (first < past) {
    size_t count = past - first < chunk ? past - first : chunk;
    if (id_compute(model, questions, first, count, z) != HU_OK) return first;
    size_t same = differing(questions, first, count, z);
    if (same < count) return first + same;
    first += count;
    chunk = 2 * chunk < CHUNK_MOST ? 2 * chunk : CHUNK_MOST;
  }
  return past;
}

size_t id_score(const hu_accum *model, const id_vectors *questions) {
  size_t score = 0;
  for (size_t at = 0; at < questions->count;) {
    size_t next = id_first_difference(model, questions, at, questions->count);
    score += next - at;
    at = next + 1;
  }
  return score;
}
