/* SPDX-License-Identifier: MIT */
/* First weights that texts ask for, and parameters that a layer shares with another one. */
#include <math.h>
#include <string.h>

#include "train/model/layers.h"

size_t hui_size_of(const hu_item *item) { return (size_t)item->number; }

/* ---- first weights ---- */

void hui_layer_start(hu_network *network, int p, const hu_item *how, size_t window) {
  hu_net *net = network->net;
  hu_status status = HU_OK;
  if (how->kind != HU_ITEM_START || hu_net_status(net, NULL) != HU_OK) return;
  if (network->shared.kind == HU_ITEM_VALUE) {
    hui_network_wrong(network, HU_E_TEXT, "start: the parameters are those of another layer");
    return;
  }
  const size_t matrices = net->parameter[p].first.matrices;
  size_t fan_in = net->parameter[p].rows / (matrices ? matrices : 1), fan_out = net->parameter[p].cols * window;
  float gain = (float)how->number;
  if (net->parameter[p].first.table) {
    fan_in = net->parameter[p].cols;
    fan_out = net->parameter[p].rows;
  }
  switch (how->value) {
    case HU_START_NORMAL: status = hu_net_start_normal(net, p, gain); break;
    case HU_START_FAN_IN: status = hu_net_start_normal(net, p, sqrtf(gain / (float)fan_in)); break;
    case HU_START_FAN_IN_CUT: status = hui_net_start_cut(net, p, sqrtf(gain / (float)fan_in) / HU_CUT_DEVIATION); break;
    case HU_START_FAN_OUT: status = hu_net_start_normal(net, p, sqrtf(gain / (float)fan_out)); break;
    case HU_START_FAN_SUM: status = hu_net_start_within(net, p, sqrtf(gain / (float)(fan_in + fan_out))); break;
    case HU_START_UNIFORM: status = hu_net_start_within(net, p, gain); break;
    case HU_START_CONSTANT: status = hu_net_start_constant(net, p, gain); break;
    default: status = hu_net_start_uniform(net, p, hui_size_of(how));
  }
  if (status != HU_OK) hui_network_wrong(network, status, "start: the number is not one from 0 on");
}

void hui_layer_start_both(hu_network *network, int p, const hu_item *how, const hu_item *bias, size_t window) {
  hui_layer_start(network, p, &how[0], window);
  if (how[1].kind == HU_ITEM_START && bias->number == 0)
    hui_network_wrong(network, HU_E_TEXT, "bias_start: there is no bias");
  else
    hui_layer_start(network, p + 1, &how[1], 1);
}

/* ---- factors of gradients ---- */

void hui_layer_weights(hu_network *network, int p, const hu_item *how) {
  hu_net *net = network->net;
  if (how->kind != HU_ITEM_NUMBER || hu_net_status(net, NULL) != HU_OK) return;
  if (!(how->number > 0 && how->number <= 0x1p60))
    hui_network_wrong(network, HU_E_TRAIN, "weights: the factor is not above 0 and at most 2^60");
  if (p == net->parameters || network->shared.kind == HU_ITEM_VALUE)
    hui_network_wrong(network, HU_E_TEXT, "weights: the parameters are those of another layer");
  for (; p < net->parameters; p++) net->parameter[p].back = how->number;
}

/* ---- parameters of another layer ---- */

int hui_layer_parameter(const hu_net *net, int value) {
  int i = hu_net_value_operator(net, value);
  return i < 0 ? -1 : net->op[i].theta[0];
}

int hui_layer_shared_table(const hu_network *network) {
  int is = network->shared.kind == HU_ITEM_VALUE &&
           strcmp(hu_net_value_kind(network->net, network->shared.value), "embedding") == 0;
  return is ? hui_layer_parameter(network->net, network->shared.value) : -1;
}

/* ---- lengths of samples ---- */

void hui_note_tokens(hu_network *network, int value) {
  for (int i = 0; i < network->ends->count; i++) {
    if (network->ends->inputs[i] == value) network->ends->tokens |= 1u << i;
  }
}

int hui_layer_lengths(hu_network *network, const hu_item *item) {
  if (item->kind != HU_ITEM_VALUE) return -1;
  hui_note_tokens(network, item->value);
  return item->value;
}
