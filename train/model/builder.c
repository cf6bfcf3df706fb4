/* SPDX-License-Identifier: MIT */
/* Functions that the builders of models share. */
#include "train/model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The layers that these follow went wrong where a parameter is not there, and the net says why. */
static void unless_refused(hu_status status) { (void)status; }

void hu_enter(hu_builder *builder, const char *part) {
  char scope[2 * HU_SCOPE_MAX];
  size_t n = strlen(builder->base);
  memcpy(scope, builder->base, n);
  if (n && part[0]) scope[n++] = '.';
  strncpy(scope + n, part, HU_SCOPE_MAX - 1);
  scope[n + HU_SCOPE_MAX - 1] = 0;
  hu_net_scope(builder->net, scope);
}

int hu_next(const hu_builder *builder) { return hu_net_parameters(builder->net); }

void hu_start_gain(hu_builder *builder, int p, unsigned gain, size_t fan_in) {
  unless_refused(hu_net_start_normal(builder->net, p, sqrtf((float)gain / (float)fan_in)));
}

void hu_start_deviation(hu_builder *builder, int p) {
  unless_refused(hu_net_start_normal(builder->net, p, builder->model->deviation));
}

void hu_start_uniform(hu_builder *builder, int p, size_t hidden) {
  unless_refused(hu_net_start_uniform(builder->net, p, hidden));
}

size_t hu_builder_channels(const hu_builder *builder, size_t c) {
  size_t n = (size_t)(builder->model->width * (double)c + 0.5);
  return n ? n : 1;
}

int hu_activate(hu_builder *builder, int x) {
  if (builder->model->activation == HU_ACTIVATION_GELU) return hu_net_gelu(builder->net, x);
  return builder->model->activation == HU_ACTIVATION_TANH ? hu_net_tanh(builder->net, x) : hu_net_relu(builder->net, x);
}

int hu_drop(hu_builder *builder, int x) {
  return builder->model->dropout > 0 ? hu_net_dropout(builder->net, x, builder->model->dropout) : x;
}

int hu_add_embedding(hu_builder *builder, int x, size_t kinds, size_t cols) {
  int p = hu_next(builder), z = hu_net_embedding(builder->net, x, kinds, cols);
  if (z >= 0) hu_start_deviation(builder, p);
  return z;
}

int hu_add_positions(hu_builder *builder, int h) {
  int p = hu_next(builder), z = hu_net_position(builder->net, h);
  if (z >= 0) hu_start_deviation(builder, p);
  return z;
}

int hu_add_dense(hu_builder *builder, int x) {
  int p = hu_next(builder), z = hu_activate(builder, hu_net_linear(builder->net, x, builder->model->hidden, 1));
  if (z >= 0) hu_start_gain(builder, p, 1, hu_channels_of(builder, x));
  return hu_net_linear(builder->net, z, builder->model->units, 1);
}

int hu_image_of(hu_builder *builder) {
  return builder->ends->inputs[0] =
             hu_net_image(builder->net, builder->sizes->height, builder->sizes->width, builder->sizes->channels);
}

size_t hu_channels_of(const hu_builder *builder, int x) { return hu_net_value(builder->net, x).cols; }

int hu_add_conv(hu_builder *builder, int x, size_t channels, size_t kernel, size_t stride, size_t groups) {
  int p = hu_next(builder), z = hu_net_conv_groups(builder->net, x, channels, kernel, stride, kernel / 2, groups, 0);
  if (z >= 0) hu_start_gain(builder, p, 2, kernel * kernel * (hu_channels_of(builder, x) / groups));
  return hu_net_batch_norm(builder->net, z);
}

int hu_add_answer(hu_builder *builder, int x) {
  return hu_net_linear(builder->net, hu_drop(builder, hu_net_global_average(builder->net, x)), builder->sizes->outputs,
                       1);
}
