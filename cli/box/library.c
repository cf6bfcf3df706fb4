/* SPDX-License-Identifier: MIT */
/* A function of a shared library as a black box. */
#include <dlfcn.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/box/box.h"

typedef void dot_function(size_t n, const void *a, const void *b, const void *c, void *d);
typedef void scaled_function(size_t n, const void *a, const void *b, const void *c, const void *sa, const void *sb,
                             void *d);
typedef void gemm_function(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *d);

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
  id_library *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->shape = shape;
  l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!l->handle) {
    cli_fail(path, "%s", dlerror());
    free(l);
    return NULL;
  }
  if (!function) function = tile ? "gemm" : shape->every ? "dot_scaled" : "dot";
  l->of.symbol = dlsym(l->handle, function);
  if (!l->of.symbol)
    cli_fail(path, "has no function %s", function);
  else if (!tile || id_tile_make(&l->tile, shape, tile) == CLI_OK)
    return l;
  id_library_close(l);
  return NULL;
}

void id_library_close(id_library *l) {
  if (!l) return;
  id_tile_free(&l->tile);
  dlclose(l->handle);
  free(l);
}

static const void *row(const void *x, size_t i, size_t length, hu_element e) {
  return (const char *)x + i * length * hu_element_size(e);
}

static void ask_dot(const id_library *l, size_t i, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *d) {
  const id_shape *s = l->shape;
  hu_element scale = {.format = s->scale};
  size_t scales = id_column_length(s, ID_SA);
  const void *ai = row(a, i, s->n, s->a), *bi = row(b, i, s->n, s->b), *ci = row(c, i, 1, s->d);
  void *di = (char *)d + i * hu_element_size(s->d);
  if (s->every)
    l->of.scaled(s->n, ai, bi, ci, row(sa, i, scales, scale), row(sb, i, scales, scale), di);
  else
    l->of.dot(s->n, ai, bi, ci, di);
}

int id_library_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *d) {
  id_library *l = context;
  size_t rows = l->tile.rows;
  if (!rows) {
    for (size_t i = 0; i < count; i++) ask_dot(l, i, a, b, c, sa, sb, d);
    return CLI_OK;
  }
  for (size_t at = 0; at < count; at += rows) {
    size_t some = count - at < rows ? count - at : rows;
    id_tile_fill(&l->tile, l->shape, at, some, a, b, c);
    l->of.gemm(rows, rows, l->shape->n, l->tile.a, l->tile.b, l->tile.c, l->tile.d);
    id_tile_take(&l->tile, l->shape, at, some, d);
  }
  return CLI_OK;
}
