/* SPDX-License-Identifier: MIT */
/* Functions that the builders of models share. */
#include "train/model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The layers that these follow went wrong where a parameter is not there, and the net says why. */
static void unless_refused(hu_status status) { (void)status; }

void hui_enter(hu_builder *builder, const char *part) {
  char scope[2 * HU_SCOPE_MAX];
  size_t n = strlen(builder->base);
  memcpy(scope, builder->base, n);
  if (n && part[0]) scope[n++] = '.';
  strncpy(scope + n, part, HU_SCOPE_MAX - 1);
  scope[n + HU_SCOPE_MAX - 1] = 0;
  hu_net_scope(builder->net, scope);
}

int hui_next(const hu_builder *builder) { return hu_net_parameters(builder->net); }

void hui_start_gain(hu_builder *builder, int p, unsigned gain, size_t fan_in) {
  unless_refused(hu_net_start_normal(builder->net, p, sqrtf((float)gain / (float)fan_in)));
}

void hui_start_deviation(hu_builder *builder, int p) {
  unless_refused(hu_net_start_normal(builder->net, p, builder->model->deviation));
}

void hui_start_uniform(hu_builder *builder, int p, size_t hidden) {
  unless_refused(hu_net_start_uniform(builder->net, p, hidden));
}

size_t hui_builder_channels(const hu_builder *builder, size_t c) {
  size_t n = (size_t)(builder->model->width * (double)c + 0.5);
  return n ? n : 1;
}

int hui_activate(hu_builder *builder, int x) {
  if (builder->model->activation == HU_ACTIVATION_GELU) return hu_net_gelu(builder->net, x);
  return builder->model->activation == HU_ACTIVATION_TANH ? hu_net_tanh(builder->net, x) : hu_net_relu(builder->net, x);
}

int hui_drop(hu_builder *builder, int x) {
  return builder->model->dropout > 0 ? hu_net_dropout(builder->net, x, builder->model->dropout) : x;
}

int hui_add_embedding(hu_builder *builder, int x, size_t kinds, size_t cols) {
  int p = hui_next(builder), z = hu_net_embedding(builder->net, x, kinds, cols);
  if (z >= 0) hui_start_deviation(builder, p);
  return z;
}

int hui_add_positions(hu_builder *builder, int h) {
  int p = hui_next(builder), z = hu_net_position(builder->net, h);
  if (z >= 0) hui_start_deviation(builder, p);
  return z;
}

int hui_add_dense(hu_builder *builder, int x) {
  int p = hui_next(builder), z = hui_activate(builder, hu_net_linear(builder->net, x, builder->model->hidden, 1));
  if (z >= 0) hui_start_gain(builder, p, 1, hui_channels_of(builder, x));
  return hu_net_linear(builder->net, z, builder->model->units, 1);
}

int hui_image_of(hu_builder *builder) {
  return builder->ends->inputs[0] =
             hu_net_image(builder->net, builder->sizes->height, builder->sizes->width, builder->sizes->channels);
}

size_t hui_channels_of(const hu_builder *builder, int x) { return hu_net_value(builder->net, x).cols; }

int hui_add_conv(hu_builder *builder, int x, size_t channels, size_t kernel, size_t stride, size_t groups) {
  int p = hui_next(builder), z = hu_net_conv_groups(builder->net, x, channels, kernel, stride, kernel / 2, groups, 0);
  if (z >= 0) hui_start_gain(builder, p, 2, kernel * kernel * (hui_channels_of(builder, x) / groups));
  return hu_net_batch_norm(builder->net, z);
}

int hui_add_answer(hu_builder *builder, int x) {
  return hu_net_linear(builder->net, hui_drop(builder, hu_net_global_average(builder->net, x)), builder->sizes->outputs,
                       1);
}
