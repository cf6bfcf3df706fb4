/* SPDX-License-Identifier: MIT */
/* Builds models of rows, steps, tokens and pairs. */
#include <stdio.h>

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

static int add_embedding(hu_builder *b, int x, size_t kinds, size_t cols) {
  int p = hu_next(b), z = hu_net_embedding(b->net, x, kinds, cols);
  if (z >= 0) hu_start_deviation(b, p);
  return z;
}

static int tokens_of(hu_builder *b) {
  int x = b->ends->inputs[0] = hu_net_input(b->net, b->sizes->steps, 1);
  return add_embedding(b, x, b->sizes->vocabulary, b->m->units);
}

int hu_build_lstm(hu_builder *b) {
  int x = tokens_of(b);
  for (uint32_t i = 0; i < b->m->layers; i++) x = hu_drop(b, add_cells(b, x, 0, hu_net_lstm));
  return hu_net_linear(b->net, x, b->sizes->vocabulary, 1);
}

/* h1 = h + D(Attn(LN h) Wo); h2 = h1 + D(W2 f(W1 LN h1 + b1) + b2), D the dropout. All matrices N(0, 1 / fan_in). */
static int add_transformer_block(hu_builder *b, int h) {
  const hu_model *m = b->m;
  hu_net *net = b->net;
  int x = hu_net_linear(net, hu_net_layer_norm(net, h), 3 * (size_t)m->units, 0);
  x = hu_net_linear(net, hu_net_attention(net, x, m->heads, 1), m->units, 0);
  h = hu_net_add(net, h, hu_drop(b, x));
  x = hu_net_layer_norm(net, h);
  int p = hu_next(b);
  x = hu_activate(b, hu_net_linear(net, x, m->hidden, 1));
  if (x >= 0) hu_start_gain(b, p, 1, m->units);
  return hu_net_add(net, h, hu_drop(b, hu_net_linear(net, x, m->units, 1)));
}

int hu_build_transformer(hu_builder *b) {
  char part[HU_SCOPE_MAX];
  int h = tokens_of(b), p = hu_next(b);
  h = hu_net_position(b->net, h);
  if (h >= 0) hu_start_deviation(b, p);
  h = hu_drop(b, h);
  for (unsigned i = 1; i <= b->m->layers; i++) {
    snprintf(part, sizeof part, "block%u", i);
    hu_enter(b, part);
    h = add_transformer_block(b, h);
  }
  hu_enter(b, "");
  return hu_net_linear(b->net, hu_net_layer_norm(b->net, h), b->sizes->vocabulary, 1);
}

/* ---- pairs ---- */

/* Embeddings of both inputs, of so many columns. */
static void add_pair(hu_builder *b, size_t cols, int pair[2]) {
  pair[0] = add_embedding(b, b->ends->inputs[0], b->sizes->users, cols);
  pair[1] = add_embedding(b, b->ends->inputs[1], b->sizes->items, cols);
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
