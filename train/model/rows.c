/* SPDX-License-Identifier: MIT */
/* The layers of texts that are of rows: inputs, linear layers, functions of each number, and changes of shape. */
#include <math.h>
#include <string.h>

#include "train/model/layers.h"

static int keep_input(hu_network *network, int value) {
  enum { MOST = sizeof network->ends->inputs / sizeof *network->ends->inputs };
  if (network->ends->count == MOST) {
    hui_network_wrong(network, HU_E_SHAPE, "more than %d inputs", MOST);
    return -1;
  }
  return network->ends->inputs[network->ends->count++] = value;
}

static int add_input(hu_network *network, const hu_item *items) {
  network->ends->masked |= items[2].number != 0;
  return keep_input(network, hu_net_input(network->net, hui_size_of(&items[0]), hui_size_of(&items[1])));
}

static int add_zeros(hu_network *network, const hu_item *items) {
  return hu_net_image(network->net, hui_size_of(&items[0]), hui_size_of(&items[1]), hui_size_of(&items[2]));
}

static int add_image(hu_network *network, const hu_item *items) {
  return keep_input(network, add_zeros(network, items));
}

/* Multiplies by the table of an embedding, which the layer shares. */
static int add_linear_transposed(hu_network *network, const hu_item *items, int table) {
  hu_net *net = network->net;
  int p = hu_net_parameters(net);
  if (net->parameter[table].rows != hui_size_of(&items[1])) {
    hui_network_wrong(network, HU_E_SHAPE, "linear: share: the table has %zu rows", net->parameter[table].rows);
    return -1;
  }
  int z = hu_net_linear_transposed(net, items[0].value, table, items[2].number != 0);
  network->shared.kind = HU_ITEM_NONE; /* a bias is the layer's own */
  if (items[3].kind == HU_ITEM_START)
    hui_network_wrong(network, HU_E_TEXT, "start: the table is that of another layer");
  else
    hui_layer_start_both(network, p - 1, &items[3], &items[2], 1);
  return z;
}

/* Returns a factor of a product; 0: there is none. */
static float factor_of(hu_network *network, const char *name, const hu_item *item) {
  if (item->kind != HU_ITEM_NUMBER) return 0;
  if (!(item->number >= 0x1p-60 && item->number <= 0x1p60))
    hui_network_wrong(network, HU_E_TRAIN, "linear: %s: the factor is not from 2^-60 to 2^60", name);
  return (float)item->number;
}

static int add_linear(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), table = hui_layer_shared_table(network), z;
  const float forward = factor_of(network, "forward", &items[5]), back = factor_of(network, "backward", &items[6]);
  if (table >= 0) {
    z = add_linear_transposed(network, items, table);
  } else {
    z = hu_net_linear(network->net, items[0].value, hui_size_of(&items[1]), items[2].number != 0);
    hui_layer_start_both(network, p, &items[3], &items[2], 1);
  }
  if (z >= 0) hui_net_factors(network->net, z, forward, back);
  hui_layer_weights(network, p, &items[7]);
  return z;
}

/* Adds a linear layer by a table, its own or that of an embedding. */
static int add_sampled_linear(hu_network *network, const hu_item *items) {
  hu_net *net = network->net;
  const int p = hu_net_parameters(net), table = hui_layer_shared_table(network), bias = items[3].number != 0;
  if (table >= 0) network->shared.kind = HU_ITEM_NONE; /* a bias is the layer's own */
  int z = hu_net_sampled_linear(net, items[0].value, table, hui_size_of(&items[1]), hui_size_of(&items[2]), bias);
  if (table >= 0 && items[4].kind == HU_ITEM_START)
    hui_network_wrong(network, HU_E_TEXT, "start: the table is that of another layer");
  else
    hui_layer_start_both(network, table >= 0 ? p - 1 : p, &items[4], &items[3], 1);
  return z;
}

/* ---- of each number ---- */

static int add_leaky_relu(hu_network *network, const hu_item *items) {
  return hu_net_leaky_relu(network->net, items[0].value, items[1].number);
}

static int add_silu(hu_network *network, const hu_item *items) {
  return hu_net_silu(network->net, items[0].value, items[1].number);
}

static int add_clip(hu_network *network, const hu_item *items) {
  return hu_net_clip(network->net, items[0].value, items[1].number, items[2].number);
}

/* Takes one factor, with another one backward, or one of each column. */
static int add_scale(hu_network *network, const hu_item *items) {
  const hu_item *by = &items[1], *backward = &items[2];
  if (by->kind != HU_ITEM_LIST) {
    const double back = backward->kind == HU_ITEM_NUMBER ? backward->number : by->number;
    return hu_net_scale(network->net, items[0].value, by->number, back);
  }
  if (backward->kind == HU_ITEM_NUMBER)
    hui_network_wrong(network, HU_E_TEXT, "scale: backward: there is a list of factors");
  else if (by->count != network->net->value[items[0].value].cols)
    hui_network_wrong(network, HU_E_SHAPE, "scale: forward: not as many factors as columns");
  else
    return hu_net_scale_columns(network->net, items[0].value, by->list);
  return -1;
}

static int add_as_image(hu_network *network, const hu_item *items) {
  return hu_net_as_image(network->net, items[0].value, hui_size_of(&items[1]), hui_size_of(&items[2]));
}

static int add_as_rows(hu_network *network, const hu_item *items) {
  return hu_net_as_rows(network->net, items[0].value, hui_size_of(&items[1]));
}

/* ---- the others ---- */

/* Lists the values of a layer that takes any number of them. Returns their number. */
static size_t values_of(const hu_item *items, int values[HU_NETWORK_ARGUMENTS]) {
  size_t n = 0;
  for (; n < HU_NETWORK_ARGUMENTS && items[n].kind == HU_ITEM_VALUE; n++) values[n] = items[n].value;
  return n;
}

static int add_concat(hu_network *network, const hu_item *items) {
  int values[HU_NETWORK_ARGUMENTS];
  size_t n = values_of(items, values);
  return hu_net_concat(network->net, n, values);
}

static int add_stack_rows(hu_network *network, const hu_item *items) {
  int values[HU_NETWORK_ARGUMENTS];
  size_t n = values_of(items, values);
  return hu_net_stack_rows(network->net, n, values);
}

static int add_columns(hu_network *network, const hu_item *items) {
  return hu_net_columns(network->net, items[0].value, hui_size_of(&items[1]), hui_size_of(&items[2]));
}

static int add_dropout(hu_network *network, const hu_item *items) {
  return items[1].number == 0 ? items[0].value : hu_net_dropout(network->net, items[0].value, items[1].number);
}

static int add_shuffle(hu_network *network, const hu_item *items) {
  return hu_net_shuffle(network->net, items[0].value, hui_size_of(&items[1]));
}

ADD_ONE(relu)
ADD_ONE(relu6)
ADD_ONE(gelu)
ADD_ONE(gelu_tanh)
ADD_ONE(softplus)
ADD_ONE(stop_gradient)
ADD_ONE(tanh)
ADD_ONE(sigmoid)
ADD_ONE(interactions)
ADD_TWO(add)
ADD_TWO(multiply)
ADD_TWO(add_row)

static const hu_layer layers[] = {
    {"input", {COUNT(rows), COUNT(columns), {"masked", 'b', 0}}, add_input},
    {"image", {COUNT(height), COUNT(width), COUNT(channels)}, add_image},
    {"zeros", {COUNT(height), COUNT(width), COUNT(channels)}, add_zeros},
    {"linear", {VALUE(x), COUNT(outputs), {"bias", 'b', 1}, START, BIAS_START, FORWARD, BACKWARD, WEIGHTS}, add_linear},
    {"sampled_linear",
     {VALUE(x), COUNT(outputs), COUNT(samples), {"bias", 'b', 1}, START, BIAS_START},
     add_sampled_linear},
    {"relu", {VALUE(x)}, add_relu},
    {"relu6", {VALUE(x)}, add_relu6},
    {"gelu", {VALUE(x)}, add_gelu},
    {"gelu_tanh", {VALUE(x)}, add_gelu_tanh},
    {"leaky_relu", {VALUE(x), {"slope", 'r', 0.01}}, add_leaky_relu},
    {"silu", {VALUE(x), {"beta", 'r', 1}}, add_silu},
    {"clip", {VALUE(x), GIVEN(low, 'r'), GIVEN(high, 'r')}, add_clip},
    {"softplus", {VALUE(x)}, add_softplus},
    {"scale", {VALUE(x), GIVEN(forward, 'c'), {"backward", 'm', INFINITY}}, add_scale},
    {"stop_gradient", {VALUE(x)}, add_stop_gradient},
    {"tanh", {VALUE(x)}, add_tanh},
    {"sigmoid", {VALUE(x)}, add_sigmoid},
    {"add", {VALUE(x), VALUE(y)}, add_add},
    {"multiply", {VALUE(x), VALUE(y)}, add_multiply},
    {"add_row", {VALUE(x), VALUE(y)}, add_add_row},
    {"as_image", {VALUE(x), COUNT(height), COUNT(width)}, add_as_image},
    {"as_rows", {VALUE(x), COUNT(rows)}, add_as_rows},
    {"concat", {GIVEN(x, '*')}, add_concat},
    {"columns", {VALUE(x), COUNT(from), COUNT(columns)}, add_columns},
    {"stack_rows", {GIVEN(x, '*')}, add_stack_rows},
    {"interactions", {VALUE(x)}, add_interactions},
    {"shuffle", {VALUE(x), COUNT(groups)}, add_shuffle},
    {"dropout", {VALUE(x), GIVEN(p, 'r')}, add_dropout}};
const hu_layer_list hui_layers_of_rows = {sizeof layers / sizeof *layers, layers};
