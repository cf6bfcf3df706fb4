/* SPDX-License-Identifier: MIT */
/* Builds models of rows, steps, tokens and pairs. */
#include "train/model/builder.h"

/* ---- rows ---- */

static int row_of(hu_builder *builder) {
  const hu_model_sizes *sizes = builder->sizes;
  return builder->ends->inputs[0] = hu_net_input(builder->net, 1, sizes->height * sizes->width * sizes->channels);
}

int hui_build_linear(hu_builder *builder) {
  return hu_net_linear(builder->net, row_of(builder), builder->sizes->outputs, !builder->model->no_bias);
}

int hui_build_mlp(hu_builder *builder) {
  int x = row_of(builder);
  for (uint32_t i = 0; i < builder->model->layers; i++)
    x = hui_drop(builder, hui_activate(builder, hu_net_linear(builder->net, x, builder->model->units, 1)));
  return hu_net_linear(builder->net, x, builder->sizes->outputs, 1);
}

/* ---- steps ---- */

/* Adds a layer of cells; both matrices of weights start uniform, biases at 0. */
static int add_cells(hu_builder *builder, int x, int last, int (*layer)(hu_net *, int, size_t, int)) {
  int p = hui_next(builder), z = layer(builder->net, x, builder->model->units, last);
  if (z >= 0) {
    hui_start_uniform(builder, p, builder->model->units);
    hui_start_uniform(builder, p + 2, builder->model->units);
  }
  return z;
}

int hui_build_gru(hu_builder *builder) {
  int x = builder->ends->inputs[0] =
      hu_net_input(builder->net, builder->sizes->height, builder->sizes->width * builder->sizes->channels);
  for (uint32_t i = 1; i <= builder->model->layers; i++)
    x = hui_drop(builder, add_cells(builder, x, i == builder->model->layers, hu_net_gru));
  return hu_net_linear(builder->net, x, builder->sizes->outputs, 1);
}

/* ---- tokens ---- */

static int tokens_of(hu_builder *builder) {
  int x = builder->ends->inputs[0] = hu_net_input(builder->net, builder->sizes->steps, 1);
  return hui_add_embedding(builder, x, builder->sizes->vocabulary, builder->model->units);
}

int hui_build_lstm(hu_builder *builder) {
  int x = tokens_of(builder);
  for (uint32_t i = 0; i < builder->model->layers; i++) x = hui_drop(builder, add_cells(builder, x, 0, hu_net_lstm));
  return hu_net_linear(builder->net, x, builder->sizes->vocabulary, 1);
}

/* ---- pairs ---- */

/* Adds embeddings of both inputs, of so many columns. */
static void add_pair(hu_builder *builder, size_t cols, int pair[2]) {
  pair[0] = hui_add_embedding(builder, builder->ends->inputs[0], builder->sizes->users, cols);
  pair[1] = hui_add_embedding(builder, builder->ends->inputs[1], builder->sizes->items, cols);
}

int hui_build_ncf(hu_builder *builder) {
  size_t cols = (size_t)builder->model->units << (builder->model->layers - 1);
  int pair[2], both[2];
  builder->ends->count = 2;
  for (int i = 0; i < 2; i++) builder->ends->inputs[i] = hu_net_input(builder->net, 1, 1);
  hui_enter(builder, "product");
  add_pair(builder, builder->model->units, pair);
  both[0] = hu_net_multiply(builder->net, pair[0], pair[1]);
  hui_enter(builder, "dense");
  add_pair(builder, cols, pair);
  both[1] = hu_net_concat(builder->net, 2, pair);
  for (uint32_t i = 0; i < builder->model->layers; i++) {
    both[1] = hu_net_relu(builder->net, hu_net_linear(builder->net, both[1], cols >> i, 1));
  }
  hui_enter(builder, "");
  return hu_net_linear(builder->net, hu_net_concat(builder->net, 2, both), builder->sizes->outputs, 1);
}

/* ---- dense features and categories ---- */

/* Adds the layers of a list, up to its 0, with a ReLU behind each. */
static int add_layers(hu_builder *builder, int x, const uint32_t units[HU_MODEL_UNITS_MAX]) {
  for (size_t i = 0; i < HU_MODEL_UNITS_MAX && units[i]; i++)
    x = hu_net_relu(builder->net, hu_net_linear(builder->net, x, units[i], 1));
  return x;
}

int hui_build_dlrm(hu_builder *builder) {
  const hu_model_sizes *sizes = builder->sizes;
  int both[2];
  builder->ends->count = 2;
  builder->ends->inputs[0] = hu_net_input(builder->net, 1, sizes->dense);
  builder->ends->inputs[1] = hu_net_input(builder->net, sizes->categories, 1);
  hui_enter(builder, "bottom");
  int x = add_layers(builder, builder->ends->inputs[0], builder->model->bottom);
  both[0] = x = hu_net_relu(builder->net, hu_net_linear(builder->net, x, builder->model->units, 1));
  hui_enter(builder, "");
  both[1] = hui_add_embedding(builder, builder->ends->inputs[1], sizes->vocabulary, builder->model->units);
  both[1] = hu_net_interactions(builder->net, hu_net_stack_rows(builder->net, 2, both));
  both[0] = x;
  hui_enter(builder, "top");
  x = add_layers(builder, hu_net_concat(builder->net, 2, both), builder->model->top);
  hui_enter(builder, "");
  return hu_net_linear(builder->net, x, sizes->outputs, 1);
}
