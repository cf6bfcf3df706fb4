/* SPDX-License-Identifier: MIT */
/* A function of a shared library as a black box. */
#include <dlfcn.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/box/box.h"

typedef void dot_function(size_t n, const void *a, const void *b, const void *c, void *results);
typedef void scaled_function(size_t n, const void *a, const void *b, const void *c, const void *sa, const void *sb,
                             void *results);
typedef void gemm_function(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *results);

struct id_library {
  const id_shape *shape;
  void *handle;
  union { /* POSIX: a symbol's address is that of a function */
    void *symbol;
    dot_function *dot;
    scaled_function *scaled;
    gemm_function *gemm;
  } of;
  id_tile tile; /* rows 0: dot products */
};

id_library *id_library_open(const id_shape *shape, const char *path, const char *function, size_t tile) {
  id_library *library = calloc(1, sizeof *library);
  if (!library) return NULL;
  library->shape = shape;
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    cli_fail(path, "%s", dlerror());
    free(library);
    return NULL;
  }
  if (!function) function = tile ? "gemm" : shape->every ? "dot_scaled" : "dot";
  library->of.symbol = dlsym(library->handle, function);
  if (!library->of.symbol)
    cli_fail(path, "has no function %s", function);
  else if (!tile || id_tile_make(&library->tile, shape, tile) == CLI_OK)
    return library;
  id_library_close(library);
  return NULL;
}

void id_library_close(id_library *library) {
  if (!library) return;
  id_tile_free(&library->tile);
  dlclose(library->handle);
  free(library);
}

const id_tile *id_library_tile(const id_library *library) { return &library->tile; }

static const void *row(const void *x, size_t i, size_t length, hu_type element) {
  return (const char *)x + i * length * hu_type_size(element);
}

static void ask_dot(const id_library *library, size_t i, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *results) {
  const id_shape *shape = library->shape;
  hu_type scale = hu_type_codes(shape->scale);
  size_t scales = id_column_length(shape, ID_SA);
  const void *ai = row(a, i, shape->n, shape->a), *bi = row(b, i, shape->n, shape->b),
             *ci = row(c, i, 1, shape->result);
  void *di = (char *)results + i * hu_type_size(shape->result);
  if (shape->every)
    library->of.scaled(shape->n, ai, bi, ci, row(sa, i, scales, scale), row(sb, i, scales, scale), di);
  else
    library->of.dot(shape->n, ai, bi, ci, di);
}

int id_library_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *results) {
  id_library *library = context;
  size_t rows = library->tile.rows;
  if (!rows) {
    for (size_t i = 0; i < count; i++) ask_dot(library, i, a, b, c, sa, sb, results);
    return CLI_OK;
  }
  for (size_t at = 0; at < count; at += rows) {
    size_t some = count - at < rows ? count - at : rows;
    id_tile_fill(&library->tile, library->shape, at, some, a, b, c);
    library->of.gemm(rows, rows, library->shape->n, library->tile.a, library->tile.b, library->tile.c,
                     library->tile.result);
    id_tile_take(&library->tile, library->shape, at, some, results);
  }
  return CLI_OK;
}
