/* SPDX-License-Identifier: MIT */
/* See vectors.h. */
#include "cli/question/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/vectors/dot_line.h"
#include "halfulp/scalar.h"

hu_element id_column_element(const id_shape *s, int column) {
  hu_element scale = {0};
  scale.format = s->scale;
  switch (column) {
    case ID_A: return s->a;
    case ID_B: return s->b;
    case ID_SA:
    case ID_SB: return scale;
    default: return s->d;
  }
}

size_t id_column_length(const id_shape *s, int column) {
  if (column == ID_A || column == ID_B) return s->n;
  if (column == ID_SA || column == ID_SB) return s->every ? (s->n + s->every - 1) / s->every : 0;
  return 1;
}

size_t id_column_size(const id_shape *s, int column) {
  return id_column_length(s, column) ? hu_element_size(id_column_element(s, column)) : 0;
}

static size_t row_bytes(const id_shape *s, int column) {
  return id_column_length(s, column) * id_column_size(s, column);
}

void id_vectors_start(id_vectors *v, const id_shape *shape) {
  memset(v, 0, sizeof *v);
  v->shape = shape;
}

void id_vectors_free(id_vectors *v) {
  for (int i = 0; i < ID_COLUMNS; i++) free(v->column[i]);
  id_vectors_start(v, v->shape);
}

static int reserve(id_vectors *v, size_t room) {
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = row_bytes(v->shape, i);
    if (!bytes) continue;
    void *larger = realloc(v->column[i], bytes * room);
    if (!larger) return 0;
    v->column[i] = larger;
  }
  v->room = room;
  return 1;
}

size_t id_vectors_grow(id_vectors *v, size_t count) {
  size_t first = v->count, wanted = first + count;
  if (wanted > v->room && !reserve(v, wanted < 2 * v->room ? 2 * v->room : wanted)) return SIZE_MAX;
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = row_bytes(v->shape, i);
    if (bytes) memset((char *)v->column[i] + first * bytes, 0, count * bytes);
  }
  v->count = wanted;
  return first;
}

void id_vectors_copy(id_vectors *v, size_t to, const id_vectors *w, size_t from) {
  for (int i = 0; i < ID_COLUMNS; i++) {
    size_t bytes = row_bytes(v->shape, i);
    if (bytes) memmove((char *)v->column[i] + to * bytes, (const char *)w->column[i] + from * bytes, bytes);
  }
}

static void swap_bytes(char *x, char *y, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char keep = x[i];
    x[i] = y[i];
    y[i] = keep;
  }
}

void id_vectors_swap(id_vectors *v, size_t i, size_t j) {
  if (i == j) return;
  for (int column = 0; column < ID_COLUMNS; column++) {
    size_t bytes = row_bytes(v->shape, column);
    if (bytes) swap_bytes((char *)v->column[column] + i * bytes, (char *)v->column[column] + j * bytes, bytes);
  }
}

uint64_t id_get(const id_vectors *v, int column, size_t row, size_t k) {
  return cli_get_pattern(v->column[column], row * id_column_length(v->shape, column) + k,
                         id_column_size(v->shape, column));
}

void id_put(id_vectors *v, int column, size_t row, size_t k, uint64_t pattern) {
  cli_put_pattern(v->column[column], row * id_column_length(v->shape, column) + k, id_column_size(v->shape, column),
                  pattern);
}

void id_vectors_print(FILE *out, const id_vectors *v, size_t row) {
  int last = v->shape->every ? ID_SB : ID_C;
  for (int i = ID_A; i <= last; i++) {
    int digits = (int)(hu_element_width(id_column_element(v->shape, i)) + 3) / 4;
    if (i) fputc(' ', out);
    for (size_t k = 0; k < id_column_length(v->shape, i); k++)
      fprintf(out, "%0*llx", digits, (unsigned long long)id_get(v, i, row, k));
  }
}

double id_value(hu_element e, uint64_t pattern) {
  double z;
  switch (e.kind) {
    case HU_ELEMENT_CODE: return hu_decode64(e.format, (uint32_t)pattern);
    case HU_ELEMENT_S8: return (int8_t)pattern;
    case HU_ELEMENT_S4: return (int)(pattern & 7) - (int)(pattern & 8);
    case HU_ELEMENT_U8: return (double)(pattern & 255);
    case HU_ELEMENT_U4: return (double)(pattern & 15);
    case HU_ELEMENT_S32: return (int32_t)(uint32_t)pattern;
    default: memcpy(&z, &pattern, sizeof z); return z;
  }
}

size_t id_terms(const id_vectors *v, size_t row) {
  size_t count = 0;
  for (size_t k = 0; k < v->shape->n; k++)
    count += id_value(v->shape->a, id_get(v, ID_A, row, k)) != 0 && id_value(v->shape->b, id_get(v, ID_B, row, k)) != 0;
  return count;
}

/* ---- models ---- */

static hu_vector vector_of(const id_vectors *v, int column, size_t first) {
  hu_vector x = {0};
  size_t bytes = row_bytes(v->shape, column);
  if (!bytes) return x;
  x.data = (const char *)v->column[column] + first * bytes;
  x.stride = 1;
  x.step = (ptrdiff_t)id_column_length(v->shape, column);
  x.element = id_column_element(v->shape, column);
  return x;
}

hu_status id_compute(const hu_accum *model, const id_vectors *v, size_t first, size_t count, void *z) {
  hu_dot_operands x = {0};
  hu_mode mode = {0};
  x.a = vector_of(v, ID_A, first);
  x.b = vector_of(v, ID_B, first);
  x.c = vector_of(v, ID_C, first);
  x.sa = vector_of(v, ID_SA, first);
  x.sb = vector_of(v, ID_SB, first);
  return hu_dot_n(count, v->shape->n, z, 1, v->shape->d, &x, model, mode, NULL, NULL);
}

int id_is_nan(const id_shape *shape, uint64_t x) {
  return shape->d.kind <= HU_ELEMENT_BINARY64 && isnan(id_value(shape->d, x));
}

int id_same(const id_shape *shape, uint64_t x, uint64_t y) {
  return x == y || (id_is_nan(shape, x) && id_is_nan(shape, y));
}

/* Rows of one call: few at first, since most models fail early. */
enum { CHUNK_LEAST = 2, CHUNK_MOST = 128 };

static size_t differing(const id_vectors *v, size_t first, size_t count, const void *z) {
  size_t size = id_column_size(v->shape, ID_D);
  const char *d = (const char *)v->column[ID_D] + first * size;
  if (memcmp(d, z, count * size) == 0) return count;
  for (size_t i = 0; i < count; i++)
    if (!id_same(v->shape, cli_get_pattern(d, i, size), cli_get_pattern(z, i, size))) return i;
  return count;
}

size_t id_first_difference(const hu_accum *model, const id_vectors *v, size_t first, size_t past) {
  uint64_t z[CHUNK_MOST];
  size_t chunk = CHUNK_LEAST;
  while (first < past) {
    size_t count = past - first < chunk ? past - first : chunk;
    if (id_compute(model, v, first, count, z) != HU_OK) return first;
    size_t same = differing(v, first, count, z);
    if (same < count) return first + same;
    first += count;
    chunk = 2 * chunk < CHUNK_MOST ? 2 * chunk : CHUNK_MOST;
  }
  return past;
}

size_t id_score(const hu_accum *model, const id_vectors *v) {
  size_t score = 0;
  for (size_t at = 0; at < v->count;) {
    size_t next = id_first_difference(model, v, at, v->count);
    score += next - at;
    at = next + 1;
  }
  return score;
}
