/* SPDX-License-Identifier: MIT */
/* The norms of texts. */
#include "train/model/layers.h"

static int add_batch_norm(hu_network *network, const hu_item *items) {
  int lengths = hui_layer_lengths(network, &items[4]);
  return hu_net_batch_norm_with(network->net, items[0].value, items[1].number, items[2].number, items[3].number != 0,
                                lengths);
}

static int add_layer_norm(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), z = hu_net_layer_norm_with(network->net, items[0].value, items[1].number);
  hui_layer_weights(network, p, &items[2]);
  return z;
}

static int add_rms_norm(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), z = hu_net_rms_norm(network->net, items[0].value, items[1].number);
  hui_layer_weights(network, p, &items[2]);
  return z;
}

static int add_l2_norm(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), z = hu_net_l2_norm(network->net, items[0].value, items[1].number);
  hui_layer_start(network, p, &items[2], 1);
  return z;
}

static int add_response_norm(hu_network *network, const hu_item *items) {
  return hu_net_response_norm(network->net, items[0].value, hui_size_of(&items[1]), items[2].number, items[3].number,
                              items[4].number);
}

static const hu_layer layers[] = {
    {"batch_norm", {VALUE(x), EPS, {"momentum", 'r', 0.1}, {"unbiased", 'b', 0}, {"lengths", 'o', 0}}, add_batch_norm},
    {"layer_norm", {VALUE(x), EPS, WEIGHTS}, add_layer_norm},
    {"rms_norm", {VALUE(x), EPS, WEIGHTS}, add_rms_norm},
    {"l2_norm", {VALUE(x), {"eps", 'r', 1e-10}, START}, add_l2_norm},
    {"response_norm",
     {VALUE(x), {"size", 'n', 5}, {"alpha", 'r', 1e-4}, {"beta", 'r', 0.75}, {"k", 'r', 1}},
     add_response_norm}};
const hu_layer_list hui_layers_of_norms = {sizeof layers / sizeof *layers, layers};
