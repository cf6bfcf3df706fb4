/* SPDX-License-Identifier: MIT */
/* Builds models of images for small devices, of convolutions in groups: MobileNet v2, ShuffleNet v2. */
#include <stdio.h>

#include "train/model/builder.h"

/* Convolution, batch norm and ReLU. */
static int add_seen(hu_builder *b, int x, size_t channels, size_t kernel, size_t stride) {
  return hu_net_relu(b->net, hu_add_conv(b, x, channels, kernel, stride, 1));
}

/* Each channel by itself, 3 x 3 pixels, and batch norm. */
static int add_depthwise(hu_builder *b, int x, size_t stride) {
  size_t channels = hu_channels_of(b, x);
  return hu_add_conv(b, x, channels, 3, stride, channels);
}

static void enter_unit(hu_builder *b, unsigned stage, const char *unit, unsigned number) {
  char part[HU_SCOPE_MAX];
  snprintf(part, sizeof part, "stage%u.%s%u", stage, unit, number);
  hu_enter(b, part);
}

/* ---- MobileNet v2 ---- */

/* To `expand` times the channels, through pixels, and back without a function. */
static int add_inverted(hu_builder *b, int x, size_t expand, size_t channels, size_t stride) {
  size_t in = hu_channels_of(b, x);
  int z = x;
  if (expand > 1) z = hu_net_relu6(b->net, hu_add_conv(b, z, expand * in, 1, 1, 1));
  z = hu_net_relu6(b->net, add_depthwise(b, z, stride));
  z = hu_add_conv(b, z, channels, 1, 1, 1);
  return stride == 1 && in == channels ? hu_net_add(b->net, z, x) : z;
}

int hu_build_mobilenet2(hu_builder *b) {
  /* Table 2 of the paper; its strides of the first layer and of stage 2 are 2, for images of 224 x 224. */
  static const struct {
    size_t expand, channels;
    unsigned blocks;
    size_t stride;
  } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 1},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  int x = hu_net_relu6(b->net, hu_add_conv(b, hu_image_of(b), hu_builder_channels(b, 32), 3, 1, 1));
  for (unsigned s = 0; s < sizeof stages / sizeof *stages; s++) {
    for (unsigned block = 1; block <= stages[s].blocks; block++) {
      enter_unit(b, s + 1, "block", block);
      x = add_inverted(b, x, stages[s].expand, hu_builder_channels(b, stages[s].channels),
                       block == 1 ? stages[s].stride : 1);
    }
  }
  hu_enter(b, "");
  size_t last = b->m->width > 1 ? hu_builder_channels(b, 1280) : 1280;
  return hu_add_answer(b, hu_net_relu6(b->net, hu_add_conv(b, x, last, 1, 1, 1)));
}

/* ---- ShuffleNet v2 ---- */

/* The half of the channels that a stage's units change; table 5 of the paper, else 58 doubled from stage to stage. */
static size_t half_of(const hu_builder *b, unsigned stage) {
  static const struct {
    double width;
    size_t halves[3];
  } table[] = {{0.5, {24, 48, 96}}, {1.5, {88, 176, 352}}, {2, {122, 244, 488}}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].width == b->m->width) return table[i].halves[stage - 2];
  }
  return hu_builder_channels(b, (size_t)58 << (stage - 2));
}

/* Both halves side by side, then a channel of the one and of the other in turn. */
static int add_mixed(hu_builder *b, int left, int right) {
  int both[2] = {left, right};
  return hu_net_shuffle(b->net, hu_net_concat(b->net, 2, both), 2);
}

/* Half of the channels goes on as it is. */
static int add_unit(hu_builder *b, int x, size_t half) {
  int left = hu_net_columns(b->net, x, 0, half);
  int z = add_seen(b, hu_net_columns(b->net, x, half, half), half, 1, 1);
  return add_mixed(b, left, add_seen(b, add_depthwise(b, z, 1), half, 1, 1));
}

/* The image is halved; both ways see all channels. */
static int add_halving(hu_builder *b, int x, size_t half) {
  int left = add_seen(b, add_depthwise(b, x, 2), half, 1, 1);
  int z = add_seen(b, x, half, 1, 1);
  return add_mixed(b, left, add_seen(b, add_depthwise(b, z, 2), half, 1, 1));
}

int hu_build_shufflenet2(hu_builder *b) {
  static const unsigned units[3] = {4, 8, 4};
  int x = add_seen(b, hu_image_of(b), 24, 3, 1);
  for (unsigned stage = 2; stage <= 4; stage++) {
    size_t half = half_of(b, stage);
    for (unsigned unit = 1; unit <= units[stage - 2]; unit++) {
      enter_unit(b, stage, "unit", unit);
      x = unit == 1 ? add_halving(b, x, half) : add_unit(b, x, half);
    }
  }
  hu_enter(b, "");
  return hu_add_answer(b, add_seen(b, x, b->m->width < 2 ? 1024 : 2048, 1, 1));
}
