/* SPDX-License-Identifier: MIT */
/* Builds models of images: convolutions with batch norm, residual networks, fire modules. */
#include <stdio.h>

#include "train/model/builder.h"

/* Adds a convolution and a batch norm. */
static int add_conv(hu_builder *builder, int x, size_t channels, size_t kernel, size_t stride) {
  return hui_add_conv(builder, x, channels, kernel, stride, 1);
}

int hui_build_conv(hu_builder *builder) {
  int x = hui_image_of(builder);
  for (size_t i = 0; i < HU_MODEL_CHANNELS_MAX && builder->model->channels[i]; i++) {
    x = hu_net_relu(builder->net, add_conv(builder, x, hui_builder_channels(builder, builder->model->channels[i]),
                                           builder->model->kernel, 1));
  }
  return hui_add_answer(builder, x);
}

/* ---- residual ---- */

/* Every second pixel of every second row, and channels of zeros behind them: an image that the net makes itself.
 * `halved` counts how often the image has been halved by then. */
static int add_padded(hu_builder *builder, int x, size_t channels, unsigned halved) {
  int z = hu_net_average_pool(builder->net, x, 1, 2);
  size_t there = hui_channels_of(builder, z), height = builder->sizes->height, width = builder->sizes->width;
  if (z < 0 || channels == there) return z;
  for (unsigned i = 0; i < halved; i++) {
    height = (height + 1) / 2;
    width = (width + 1) / 2;
  }
  int both[2] = {z, hu_net_image(builder->net, height, width, channels - there)};
  return hu_net_concat(builder->net, 2, both);
}

/* halved: 0, or the block halves the image for the first, second time. */
static int add_block(hu_builder *builder, int x, size_t channels, unsigned halved) {
  size_t stride = halved ? 2 : 1;
  int z = hu_net_relu(builder->net, add_conv(builder, x, channels, 3, stride));
  z = add_conv(builder, z, channels, 3, 1);
  if (halved)
    x = builder->model->projection ? add_conv(builder, x, channels, 1, stride)
                                   : add_padded(builder, x, channels, halved);
  return hu_net_relu(builder->net, hu_net_add(builder->net, z, x));
}

int hui_build_resnet(hu_builder *builder) {
  char part[HU_SCOPE_MAX];
  int x = hu_net_relu(builder->net, add_conv(builder, hui_image_of(builder), hui_builder_channels(builder, 16), 3, 1));
  for (unsigned stage = 1; stage <= 3; stage++) {
    for (unsigned block = 1; block <= builder->model->blocks; block++) {
      snprintf(part, sizeof part, "stage%u.block%u", stage, block);
      hui_enter(builder, part);
      x = add_block(builder, x, hui_builder_channels(builder, (size_t)8 << stage), block == 1 ? stage - 1 : 0);
    }
  }
  hui_enter(builder, "");
  return hui_add_answer(builder, x);
}

/* Two layers of 3 x 3, or with `bottleneck` 1 x 1, 3 x 3 and 1 x 1 with four times the channels; the first has the
 * stride. The shortcut is projected where its shape is another one. */
static int add_deep_block(hu_builder *builder, int x, size_t channels, size_t stride) {
  size_t out = builder->model->bottleneck ? 4 * channels : channels;
  int z = hu_net_relu(builder->net, add_conv(builder, x, channels, builder->model->bottleneck ? 1 : 3, stride));
  if (builder->model->bottleneck) z = hu_net_relu(builder->net, add_conv(builder, z, channels, 3, 1));
  z = add_conv(builder, z, out, builder->model->bottleneck ? 1 : 3, 1);
  if (stride > 1 || hui_channels_of(builder, x) != out) x = add_conv(builder, x, out, 1, stride);
  return hu_net_relu(builder->net, hu_net_add(builder->net, z, x));
}

int hui_build_resnet4(hu_builder *builder) {
  char part[HU_SCOPE_MAX];
  int x = hu_net_relu(builder->net, add_conv(builder, hui_image_of(builder), hui_builder_channels(builder, 64), 3, 1));
  for (unsigned stage = 0; stage < HU_MODEL_STAGES_MAX && builder->model->stages[stage]; stage++) {
    size_t channels = hui_builder_channels(builder, (size_t)64 << stage);
    for (unsigned block = 1; block <= builder->model->stages[stage]; block++) {
      snprintf(part, sizeof part, "stage%u.block%u", stage + 1, block);
      hui_enter(builder, part);
      x = add_deep_block(builder, x, channels, stage && block == 1 ? 2 : 1);
    }
  }
  hui_enter(builder, "");
  return hui_add_answer(builder, x);
}

/* ---- squeezed ---- */

static int add_fire(hu_builder *builder, unsigned number, int x, size_t squeeze, size_t expand, int bypass) {
  char part[HU_SCOPE_MAX];
  snprintf(part, sizeof part, "fire%u", number);
  hui_enter(builder, part);
  int s = hu_net_relu(builder->net, add_conv(builder, x, hui_builder_channels(builder, squeeze), 1, 1));
  int both[2];
  both[0] = hu_net_relu(builder->net, add_conv(builder, s, hui_builder_channels(builder, expand), 1, 1));
  both[1] = hu_net_relu(builder->net, add_conv(builder, s, hui_builder_channels(builder, expand), 3, 1));
  int z = hu_net_concat(builder->net, 2, both);
  return bypass && builder->model->bypass ? hu_net_add(builder->net, z, x) : z;
}

int hui_build_squeezenet(hu_builder *builder) {
  /* Channels of the squeezing and of each of the two expanding convolutions; fires 3, 5, 7 and 9 have as many channels
   * as what they read. */
  static const struct {
    size_t squeeze, expand;
    int pool;
  } fires[] = {{16, 64, 0},  {16, 64, 0},  {32, 128, 1}, {32, 128, 0},
               {48, 192, 0}, {48, 192, 0}, {64, 256, 1}, {64, 256, 0}};
  int x = hu_net_relu(builder->net, add_conv(builder, hui_image_of(builder), hui_builder_channels(builder, 96), 3, 1));
  x = hu_net_max_pool(builder->net, x, 2, 2);
  for (unsigned i = 0; i < sizeof fires / sizeof *fires; i++) {
    x = add_fire(builder, i + 2, x, fires[i].squeeze, fires[i].expand, i % 2);
    if (fires[i].pool) x = hu_net_max_pool(builder->net, x, 2, 2);
  }
  hui_enter(builder, "");
  return hu_net_global_average(builder->net,
                               hu_net_conv(builder->net, hui_drop(builder, x), builder->sizes->outputs, 1, 1, 0, 1));
}
