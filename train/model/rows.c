/* SPDX-License-Identifier: MIT */
/* Builds models of rows, steps, tokens and pairs. */
#include "train/model/builder.h"

/* ---- rows ---- */

static int row_of(hu_builder *b) {
  const hu_model_sizes *s = b->sizes;
  return b->ends->inputs[0] = hu_net_input(b->net, 1, s->height * s->width * s->channels);
}

int hu_build_linear(hu_builder *b) { return hu_net_linear(b->net, row_of(b), b->sizes->outputs, !b->m->no_bias); }

int hu_build_mlp(hu_builder *b) {
  int x = row_of(b);
  for (uint32_t i = 0; i < b->m->layers; i++) x = hu_drop(b, hu_activate(b, hu_net_linear(b->net, x, b->m->units, 1)));
  return hu_net_linear(b->net, x, b->sizes->outputs, 1);
}

/* ---- steps ---- */

/* A layer of cells; both matrices of weights start uniform, biases at 0. */
static int add_cells(hu_builder *b, int x, int last, int (*layer)(hu_net *, int, size_t, int)) {
  int p = hu_next(b), z = layer(b->net, x, b->m->units, last);
  if (z >= 0) {
    hu_start_uniform(b, p, b->m->units);
    hu_start_uniform(b, p + 2, b->m->units);
  }
  return z;
}

int hu_build_gru(hu_builder *b) {
  int x = b->ends->inputs[0] = hu_net_input(b->net, b->sizes->height, b->sizes->width * b->sizes->channels);
  for (uint32_t i = 1; i <= b->m->layers; i++) x = hu_drop(b, add_cells(b, x, i == b->m->layers, hu_net_gru));
  return hu_net_linear(b->net, x, b->sizes->outputs, 1);
}

/* ---- tokens ---- */

static int tokens_of(hu_builder *b) {
  int x = b->ends->inputs[0] = hu_net_input(b->net, b->sizes->steps, 1);
  return hu_add_embedding(b, x, b->sizes->vocabulary, b->m->units);
}

int hu_build_lstm(hu_builder *b) {
  int x = tokens_of(b);
  for (uint32_t i = 0; i < b->m->layers; i++) x = hu_drop(b, add_cells(b, x, 0, hu_net_lstm));
  return hu_net_linear(b->net, x, b->sizes->vocabulary, 1);
}

/* ---- pairs ---- */

/* Embeddings of both inputs, of so many columns. */
static void add_pair(hu_builder *b, size_t cols, int pair[2]) {
  pair[0] = hu_add_embedding(b, b->ends->inputs[0], b->sizes->users, cols);
  pair[1] = hu_add_embedding(b, b->ends->inputs[1], b->sizes->items, cols);
}

int hu_build_ncf(hu_builder *b) {
  size_t cols = (size_t)b->m->units << (b->m->layers - 1);
  int pair[2], both[2];
  b->ends->count = 2;
  for (int i = 0; i < 2; i++) b->ends->inputs[i] = hu_net_input(b->net, 1, 1);
  hu_enter(b, "product");
  add_pair(b, b->m->units, pair);
  both[0] = hu_net_multiply(b->net, pair[0], pair[1]);
  hu_enter(b, "dense");
  add_pair(b, cols, pair);
  both[1] = hu_net_concat(b->net, 2, pair);
  for (uint32_t i = 0; i < b->m->layers; i++) {
    both[1] = hu_net_relu(b->net, hu_net_linear(b->net, both[1], cols >> i, 1));
  }
  hu_enter(b, "");
  return hu_net_linear(b->net, hu_net_concat(b->net, 2, both), b->sizes->outputs, 1);
}

/* ---- dense features and categories ---- */

/* Layers of a list, up to its 0, a ReLU behind each. */
static int add_layers(hu_builder *b, int x, const uint32_t units[HU_MODEL_UNITS_MAX]) {
  for (size_t i = 0; i < HU_MODEL_UNITS_MAX && units[i]; i++)
    x = hu_net_relu(b->net, hu_net_linear(b->net, x, units[i], 1));
  return x;
}

int hu_build_dlrm(hu_builder *b) {
  const hu_model_sizes *s = b->sizes;
  int both[2];
  b->ends->count = 2;
  b->ends->inputs[0] = hu_net_input(b->net, 1, s->dense);
  b->ends->inputs[1] = hu_net_input(b->net, s->categories, 1);
  hu_enter(b, "bottom");
  int x = add_layers(b, b->ends->inputs[0], b->m->bottom);
  both[0] = x = hu_net_relu(b->net, hu_net_linear(b->net, x, b->m->units, 1));
  hu_enter(b, "");
  both[1] = hu_add_embedding(b, b->ends->inputs[1], s->vocabulary, b->m->units);
  both[1] = hu_net_interactions(b->net, hu_net_stack_rows(b->net, 2, both));
  both[0] = x;
  hu_enter(b, "top");
  x = add_layers(b, hu_net_concat(b->net, 2, both), b->m->top);
  hu_enter(b, "");
  return hu_net_linear(b->net, x, s->outputs, 1);
}
