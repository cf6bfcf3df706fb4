/* SPDX-License-Identifier: MIT */
/* Builds models of images for small devices, of convolutions in groups: MobileNet v2, ShuffleNet v2. */
#include <stdio.h>

#include "train/model/builder.h"

/* Adds a convolution, a batch norm and a ReLU. */
static int add_seen(hu_builder *builder, int x, size_t channels, size_t kernel, size_t stride) {
  return hu_net_relu(builder->net, hui_add_conv(builder, x, channels, kernel, stride, 1));
}

/* Adds a convolution of each channel by itself, of 3 x 3 pixels, and a batch norm. */
static int add_depthwise(hu_builder *builder, int x, size_t stride) {
  size_t channels = hui_channels_of(builder, x);
  return hui_add_conv(builder, x, channels, 3, stride, channels);
}

static void enter_unit(hu_builder *builder, unsigned stage, const char *unit, unsigned number) {
  char part[HU_SCOPE_MAX];
  snprintf(part, sizeof part, "stage%u.%s%u", stage, unit, number);
  hui_enter(builder, part);
}

/* ---- MobileNet v2 ---- */

/* To `expand` times the channels, through pixels, and back without a function. */
static int add_inverted(hu_builder *builder, int x, size_t expand, size_t channels, size_t stride) {
  size_t in = hui_channels_of(builder, x);
  int z = x;
  if (expand > 1) z = hu_net_relu6(builder->net, hui_add_conv(builder, z, expand * in, 1, 1, 1));
  z = hu_net_relu6(builder->net, add_depthwise(builder, z, stride));
  z = hui_add_conv(builder, z, channels, 1, 1, 1);
  return stride == 1 && in == channels ? hu_net_add(builder->net, z, x) : z;
}

int hui_build_mobilenet2(hu_builder *builder) {
  /* Table 2 of the paper; its strides of the first layer and of stage 2 are 2, for images of 224 x 224. */
  static const struct {
    size_t expand, channels;
    unsigned blocks;
    size_t stride;
  } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 1},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  int x = hu_net_relu6(builder->net,
                       hui_add_conv(builder, hui_image_of(builder), hui_builder_channels(builder, 32), 3, 1, 1));
  for (unsigned s = 0; s < sizeof stages / sizeof *stages; s++) {
    for (unsigned block = 1; block <= stages[s].blocks; block++) {
      enter_unit(builder, s + 1, "block", block);
      x = add_inverted(builder, x, stages[s].expand, hui_builder_channels(builder, stages[s].channels),
                       block == 1 ? stages[s].stride : 1);
    }
  }
  hui_enter(builder, "");
  size_t last = builder->model->width > 1 ? hui_builder_channels(builder, 1280) : 1280;
  return hui_add_answer(builder, hu_net_relu6(builder->net, hui_add_conv(builder, x, last, 1, 1, 1)));
}

/* ---- ShuffleNet v2 ---- */

/* Returns the half of the channels that a stage's units change; table 5 of the paper, else 58 doubled from stage to
 * stage. */
static size_t half_of(const hu_builder *builder, unsigned stage) {
  static const struct {
    double width;
    size_t halves[3];
  } table[] = {{0.5, {24, 48, 96}}, {1.5, {88, 176, 352}}, {2, {122, 244, 488}}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].width == builder->model->width) return table[i].halves[stage - 2];
  }
  return hui_builder_channels(builder, (size_t)58 << (stage - 2));
}

/* Both halves side by side, then a channel of the one and of the other in turn. */
static int add_mixed(hu_builder *builder, int left, int right) {
  int both[2] = {left, right};
  return hu_net_shuffle(builder->net, hu_net_concat(builder->net, 2, both), 2);
}

/* Half of the channels stays as it is. */
static int add_unit(hu_builder *builder, int x, size_t half) {
  int left = hu_net_columns(builder->net, x, 0, half);
  int z = add_seen(builder, hu_net_columns(builder->net, x, half, half), half, 1, 1);
  return add_mixed(builder, left, add_seen(builder, add_depthwise(builder, z, 1), half, 1, 1));
}

/* The image is halved; both branches see all channels. */
static int add_halving(hu_builder *builder, int x, size_t half) {
  int left = add_seen(builder, add_depthwise(builder, x, 2), half, 1, 1);
  int z = add_seen(builder, x, half, 1, 1);
  return add_mixed(builder, left, add_seen(builder, add_depthwise(builder, z, 2), half, 1, 1));
}

int hui_build_shufflenet2(hu_builder *builder) {
  static const unsigned units[3] = {4, 8, 4};
  int x = add_seen(builder, hui_image_of(builder), 24, 3, 1);
  for (unsigned stage = 2; stage <= 4; stage++) {
    size_t half = half_of(builder, stage);
    for (unsigned unit = 1; unit <= units[stage - 2]; unit++) {
      enter_unit(builder, stage, "unit", unit);
      x = unit == 1 ? add_halving(builder, x, half) : add_unit(builder, x, half);
    }
  }
  hui_enter(builder, "");
  return hui_add_answer(builder, add_seen(builder, x, builder->model->width < 2 ? 1024 : 2048, 1, 1));
}
