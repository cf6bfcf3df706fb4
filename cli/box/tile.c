/* SPDX-License-Identifier: MIT */
/* Dot products on the diagonal of a product of matrices. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/box/box.h"

void id_tile_free(id_tile *tile) {
  free(tile->a);
  free(tile->b);
  free(tile->c);
  free(tile->result);
  memset(tile, 0, sizeof *tile);
}

int id_tile_make(id_tile *tile, const id_shape *shape, size_t rows) {
  tile->rows = rows;
  tile->a = calloc(rows * shape->n, hu_type_size(shape->a));
  tile->b = calloc(rows * shape->n, hu_type_size(shape->b));
  tile->c = calloc(rows * rows, hu_type_size(shape->result));
  tile->result = calloc(rows * rows, hu_type_size(shape->result));
  if (tile->a && tile->b && tile->c && tile->result) return CLI_OK;
  id_tile_free(tile);
  return cli_fail(NULL, "not enough memory");
}

void id_tile_fill(id_tile *tile, const id_shape *shape, size_t first, size_t count, const void *a, const void *b,
                  const void *c) {
  size_t sa = hu_type_size(shape->a), sb = hu_type_size(shape->b), sd = hu_type_size(shape->result), n = shape->n;
  memset(tile->a, 0, tile->rows * n * sa);
  memset(tile->b, 0, tile->rows * n * sb);
  memset(tile->c, 0, tile->rows * tile->rows * sd);
  memcpy(tile->a, (const char *)a + first * n * sa, count * n * sa);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < n; k++)
      memcpy((char *)tile->b + (k * tile->rows + i) * sb, (const char *)b + ((first + i) * n + k) * sb, sb);
    for (size_t j = 0; j < tile->rows; j++)
      memcpy((char *)tile->c + (i * tile->rows + j) * sd, (const char *)c + (first + i) * sd, sd);
  }
}

void id_tile_take(const id_tile *tile, const id_shape *shape, size_t first, size_t count, void *results) {
  size_t size = hu_type_size(shape->result);
  for (size_t i = 0; i < count; i++)
    memcpy((char *)results + (first + i) * size, (const char *)tile->result + (i * tile->rows + i) * size, size);
}
