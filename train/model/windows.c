/* SPDX-License-Identifier: MIT */
/* The layers of texts that look at windows of images: convolutions and pools. */
#include "train/model/layers.h"

/* Writes two numbers, down and across: those of a list, or one twice. */
static void pair_of(const hu_item *item, size_t pair[2]) {
  const int list = item->kind == HU_ITEM_LIST;
  for (size_t i = 0; i < 2; i++) pair[i] = (size_t)(list ? item->list[i] : item->number);
}

/* Reads windows from the items of a kernel, a stride, pads and, if it is not NULL, a dilation. */
static hu_net_windows windows_of(const hu_item *kernel, const hu_item *stride, const hu_item *pad,
                                 const hu_item *dilation) {
  hu_net_windows windows = hu_net_windows_of(1, 1, 0);
  pair_of(kernel, windows.kernel);
  pair_of(stride, windows.stride);
  if (dilation) pair_of(dilation, windows.dilation);
  for (size_t i = 0; i < 4; i++) {
    const size_t at = pad->count == 4 ? i : i / 2;
    windows.pad[i] = (size_t)(pad->kind == HU_ITEM_LIST ? pad->list[at] : pad->number);
  }
  return windows;
}

static int add_conv(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  const hu_net_windows windows = windows_of(&items[2], &items[3], &items[4], &items[5]);
  int z = hu_net_conv_windows(network->net, items[0].value, hui_size_of(&items[1]), &windows, hui_size_of(&items[6]),
                              items[7].number != 0);
  hui_layer_start_both(network, p, &items[8], &items[7], windows.kernel[0] * windows.kernel[1]);
  return z;
}

static int add_conv_transpose(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  const hu_net_windows windows = windows_of(&items[2], &items[3], &items[4], &items[5]);
  size_t more[2];
  pair_of(&items[10], more);
  int z = hu_net_conv_transpose(network->net, items[0].value, hui_size_of(&items[1]), &windows, more,
                                hui_size_of(&items[6]), items[7].number != 0);
  hui_layer_start_both(network, p, &items[8], &items[7], windows.kernel[0] * windows.kernel[1]);
  return z;
}

static int add_max_pool(hu_network *network, const hu_item *items) {
  const hu_net_windows windows = windows_of(&items[1], &items[2], &items[3], NULL);
  return hu_net_max_pool_windows(network->net, items[0].value, &windows, items[4].number != 0);
}

static int add_average_pool(hu_network *network, const hu_item *items) {
  const hu_net_windows windows = windows_of(&items[1], &items[2], &items[3], NULL);
  return hu_net_average_pool_windows(network->net, items[0].value, &windows, items[4].number != 0,
                                     items[5].number != 0);
}

ADD_ONE(global_average)

static const hu_layer layers[] = {
    {"conv",
     {VALUE(x),
      COUNT(outputs),
      KERNEL,
      STRIDE,
      PAD,
      {"dilation", 'w', 1},
      {"groups", 'n', 1},
      {"bias", 'b', 0},
      START,
      BIAS_START},
     add_conv},
    {"conv_transpose",
     {VALUE(x),
      COUNT(outputs),
      KERNEL,
      STRIDE,
      PAD,
      {"dilation", 'w', 1},
      {"groups", 'n', 1},
      {"bias", 'b', 0},
      START,
      BIAS_START,
      {"output_pad", 'w', 0}},
     add_conv_transpose},
    {"max_pool", {VALUE(x), KERNEL, GIVEN(stride, 'w'), PAD, {"ceil", 'b', 0}}, add_max_pool},
    {"average_pool",
     {VALUE(x), KERNEL, GIVEN(stride, 'w'), PAD, {"ceil", 'b', 0}, {"zeros", 'b', 1}},
     add_average_pool},
    {"global_average", {VALUE(x)}, add_global_average}};
const hu_layer_list hui_layers_of_windows = {sizeof layers / sizeof *layers, layers};
