/* SPDX-License-Identifier: MIT */
/* Functions that the builders of models share. */
#include "train/model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The layers that these follow went wrong where a parameter is not there, and the net says why. */
static void unless_refused(hu_status s) { (void)s; }

void hu_enter(hu_builder *b, const char *part) {
  char scope[2 * HU_SCOPE_MAX];
  size_t n = strlen(b->base);
  memcpy(scope, b->base, n);
  if (n && part[0]) scope[n++] = '.';
  strncpy(scope + n, part, HU_SCOPE_MAX - 1);
  scope[n + HU_SCOPE_MAX - 1] = 0;
  hu_net_scope(b->net, scope);
}

int hu_next(const hu_builder *b) { return hu_net_parameters(b->net); }

void hu_start_gain(hu_builder *b, int p, unsigned gain, size_t fan_in) {
  unless_refused(hu_net_start_normal(b->net, p, sqrtf((float)gain / (float)fan_in)));
}

void hu_start_deviation(hu_builder *b, int p) { unless_refused(hu_net_start_normal(b->net, p, b->m->deviation)); }

void hu_start_uniform(hu_builder *b, int p, size_t hidden) { unless_refused(hu_net_start_uniform(b->net, p, hidden)); }

size_t hu_builder_channels(const hu_builder *b, size_t c) {
  size_t n = (size_t)(b->m->width * (double)c + 0.5);
  return n ? n : 1;
}

int hu_activate(hu_builder *b, int x) {
  if (b->m->activation == HU_ACTIVATION_GELU) return hu_net_gelu(b->net, x);
  return b->m->activation == HU_ACTIVATION_TANH ? hu_net_tanh(b->net, x) : hu_net_relu(b->net, x);
}

int hu_drop(hu_builder *b, int x) { return b->m->dropout > 0 ? hu_net_dropout(b->net, x, b->m->dropout) : x; }

int hu_add_embedding(hu_builder *b, int x, size_t kinds, size_t cols) {
  int p = hu_next(b), z = hu_net_embedding(b->net, x, kinds, cols);
  if (z >= 0) hu_start_deviation(b, p);
  return z;
}

int hu_add_positions(hu_builder *b, int h) {
  int p = hu_next(b), z = hu_net_position(b->net, h);
  if (z >= 0) hu_start_deviation(b, p);
  return z;
}

int hu_add_dense(hu_builder *b, int x) {
  int p = hu_next(b), z = hu_activate(b, hu_net_linear(b->net, x, b->m->hidden, 1));
  if (z >= 0) hu_start_gain(b, p, 1, hu_channels_of(b, x));
  return hu_net_linear(b->net, z, b->m->units, 1);
}

int hu_image_of(hu_builder *b) {
  return b->ends->inputs[0] = hu_net_image(b->net, b->sizes->height, b->sizes->width, b->sizes->channels);
}

size_t hu_channels_of(const hu_builder *b, int x) { return hu_net_value(b->net, x).cols; }

int hu_add_conv(hu_builder *b, int x, size_t channels, size_t kernel, size_t stride, size_t groups) {
  int p = hu_next(b), z = hu_net_conv_groups(b->net, x, channels, kernel, stride, kernel / 2, groups, 0);
  if (z >= 0) hu_start_gain(b, p, 2, kernel * kernel * (hu_channels_of(b, x) / groups));
  return hu_net_batch_norm(b->net, z);
}

int hu_add_answer(hu_builder *b, int x) {
  return hu_net_linear(b->net, hu_drop(b, hu_net_global_average(b->net, x)), b->sizes->outputs, 1);
}
