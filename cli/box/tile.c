/* SPDX-License-Identifier: MIT */
/* Dot products on the diagonal of a product of matrices. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/box/box.h"

void id_tile_free(id_tile *t) {
  free(t->a);
  free(t->b);
  free(t->c);
  free(t->d);
  memset(t, 0, sizeof *t);
}

int id_tile_make(id_tile *t, const id_shape *s, size_t rows) {
  t->rows = rows;
  t->a = calloc(rows * s->n, hu_element_size(s->a));
  t->b = calloc(rows * s->n, hu_element_size(s->b));
  t->c = calloc(rows * rows, hu_element_size(s->d));
  t->d = calloc(rows * rows, hu_element_size(s->d));
  if (t->a && t->b && t->c && t->d) return CLI_OK;
  id_tile_free(t);
  return cli_fail(NULL, "not enough memory");
}

void id_tile_fill(id_tile *t, const id_shape *s, size_t first, size_t count, const void *a, const void *b,
                  const void *c) {
  size_t sa = hu_element_size(s->a), sb = hu_element_size(s->b), sd = hu_element_size(s->d), n = s->n;
  memset(t->a, 0, t->rows * n * sa);
  memset(t->b, 0, t->rows * n * sb);
  memset(t->c, 0, t->rows * t->rows * sd);
  memcpy(t->a, (const char *)a + first * n * sa, count * n * sa);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < n; k++)
      memcpy((char *)t->b + (k * t->rows + i) * sb, (const char *)b + ((first + i) * n + k) * sb, sb);
    for (size_t j = 0; j < t->rows; j++)
      memcpy((char *)t->c + (i * t->rows + j) * sd, (const char *)c + (first + i) * sd, sd);
  }
}

void id_tile_take(const id_tile *t, const id_shape *s, size_t first, size_t count, void *d) {
  size_t size = hu_element_size(s->d);
  for (size_t i = 0; i < count; i++)
    memcpy((char *)d + (first + i) * size, (const char *)t->d + (i * t->rows + i) * size, size);
}
