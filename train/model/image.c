/* SPDX-License-Identifier: MIT */
/* Builds models of images: convolutions with batch norm, residual networks, fire modules. */
#include <stdio.h>

#include "train/model/builder.h"

/* Convolution and batch norm. */
static int add_conv(hu_builder *b, int x, size_t channels, size_t kernel, size_t stride) {
  return hu_add_conv(b, x, channels, kernel, stride, 1);
}

int hu_build_conv(hu_builder *b) {
  int x = hu_image_of(b);
  for (size_t i = 0; i < HU_MODEL_CHANNELS_MAX && b->m->channels[i]; i++) {
    x = hu_net_relu(b->net, add_conv(b, x, hu_builder_channels(b, b->m->channels[i]), b->m->kernel, 1));
  }
  return hu_add_answer(b, x);
}

/* ---- residual ---- */

/* Every second pixel of every second row, and channels of zeros behind them: an image that the net makes itself.
 * `halved` counts how often the image has been halved by then. */
static int add_padded(hu_builder *b, int x, size_t channels, unsigned halved) {
  int z = hu_net_average_pool(b->net, x, 1, 2);
  size_t there = hu_channels_of(b, z), height = b->sizes->height, width = b->sizes->width;
  if (z < 0 || channels == there) return z;
  for (unsigned i = 0; i < halved; i++) {
    height = (height + 1) / 2;
    width = (width + 1) / 2;
  }
  int both[2] = {z, hu_net_image(b->net, height, width, channels - there)};
  return hu_net_concat(b->net, 2, both);
}

/* halved: 0, or the block halves the image for the first, second time. */
static int add_block(hu_builder *b, int x, size_t channels, unsigned halved) {
  size_t stride = halved ? 2 : 1;
  int z = hu_net_relu(b->net, add_conv(b, x, channels, 3, stride));
  z = add_conv(b, z, channels, 3, 1);
  if (halved) x = b->m->projection ? add_conv(b, x, channels, 1, stride) : add_padded(b, x, channels, halved);
  return hu_net_relu(b->net, hu_net_add(b->net, z, x));
}

int hu_build_resnet(hu_builder *b) {
  char part[HU_SCOPE_MAX];
  int x = hu_net_relu(b->net, add_conv(b, hu_image_of(b), hu_builder_channels(b, 16), 3, 1));
  for (unsigned stage = 1; stage <= 3; stage++) {
    for (unsigned block = 1; block <= b->m->blocks; block++) {
      snprintf(part, sizeof part, "stage%u.block%u", stage, block);
      hu_enter(b, part);
      x = add_block(b, x, hu_builder_channels(b, (size_t)8 << stage), block == 1 ? stage - 1 : 0);
    }
  }
  hu_enter(b, "");
  return hu_add_answer(b, x);
}

/* Two layers of 3 x 3, or with `bottleneck` 1 x 1, 3 x 3 and 1 x 1 with four times the channels; the first has the
 * stride. The shortcut is projected where its shape is another one. */
static int add_deep_block(hu_builder *b, int x, size_t channels, size_t stride) {
  size_t out = b->m->bottleneck ? 4 * channels : channels;
  int z = hu_net_relu(b->net, add_conv(b, x, channels, b->m->bottleneck ? 1 : 3, stride));
  if (b->m->bottleneck) z = hu_net_relu(b->net, add_conv(b, z, channels, 3, 1));
  z = add_conv(b, z, out, b->m->bottleneck ? 1 : 3, 1);
  if (stride > 1 || hu_channels_of(b, x) != out) x = add_conv(b, x, out, 1, stride);
  return hu_net_relu(b->net, hu_net_add(b->net, z, x));
}

int hu_build_resnet4(hu_builder *b) {
  char part[HU_SCOPE_MAX];
  int x = hu_net_relu(b->net, add_conv(b, hu_image_of(b), hu_builder_channels(b, 64), 3, 1));
  for (unsigned stage = 0; stage < HU_MODEL_STAGES_MAX && b->m->stages[stage]; stage++) {
    size_t channels = hu_builder_channels(b, (size_t)64 << stage);
    for (unsigned block = 1; block <= b->m->stages[stage]; block++) {
      snprintf(part, sizeof part, "stage%u.block%u", stage + 1, block);
      hu_enter(b, part);
      x = add_deep_block(b, x, channels, stage && block == 1 ? 2 : 1);
    }
  }
  hu_enter(b, "");
  return hu_add_answer(b, x);
}

/* ---- squeezed ---- */

static int add_fire(hu_builder *b, unsigned number, int x, size_t squeeze, size_t expand, int bypass) {
  char part[HU_SCOPE_MAX];
  snprintf(part, sizeof part, "fire%u", number);
  hu_enter(b, part);
  int s = hu_net_relu(b->net, add_conv(b, x, hu_builder_channels(b, squeeze), 1, 1));
  int both[2];
  both[0] = hu_net_relu(b->net, add_conv(b, s, hu_builder_channels(b, expand), 1, 1));
  both[1] = hu_net_relu(b->net, add_conv(b, s, hu_builder_channels(b, expand), 3, 1));
  int z = hu_net_concat(b->net, 2, both);
  return bypass && b->m->bypass ? hu_net_add(b->net, z, x) : z;
}

int hu_build_squeezenet(hu_builder *b) {
  /* Channels of the squeezing and of each of the two expanding convolutions; fires 3, 5, 7 and 9 have as many channels
   * as what they read. */
  static const struct {
    size_t squeeze, expand;
    int pool;
  } fires[] = {{16, 64, 0},  {16, 64, 0},  {32, 128, 1}, {32, 128, 0},
               {48, 192, 0}, {48, 192, 0}, {64, 256, 1}, {64, 256, 0}};
  int x = hu_net_relu(b->net, add_conv(b, hu_image_of(b), hu_builder_channels(b, 96), 3, 1));
  x = hu_net_max_pool(b->net, x, 2, 2);
  for (unsigned i = 0; i < sizeof fires / sizeof *fires; i++) {
    x = add_fire(b, i + 2, x, fires[i].squeeze, fires[i].expand, i % 2);
    if (fires[i].pool) x = hu_net_max_pool(b->net, x, 2, 2);
  }
  hu_enter(b, "");
  return hu_net_global_average(b->net, hu_net_conv(b->net, hu_drop(b, x), b->sizes->outputs, 1, 1, 0, 1));
}
