/* SPDX-License-Identifier: MIT */
/* The layers of texts over steps: recurrent cells, and what knows the steps of each sample. */
#include "train/model/layers.h"

/* Adds a layer of cells, whose matrices start alike. items: those of gru; of lstm three more. */
static int add_cells(hu_network *network, const hu_item *items, uint8_t cell) {
  hu_recurrent layer = hu_recurrent_of(cell, hui_size_of(&items[1]));
  int p = hu_net_parameters(network->net);
  double ways = items[4].number + 2 * items[5].number + 4 * items[6].number;
  layer.last = items[2].number != 0;
  layer.lengths = hui_layer_lengths(network, &items[7]);
  layer.one_bias = items[8].number != 0;
  layer.direction = (uint8_t)(ways == 4 ? HU_DIRECTION_SUM : ways);
  if (ways != 0 && ways != 1 && ways != 2 && ways != 4)
    hui_network_wrong(network, HU_E_TEXT, "only one of reverse, both and sum may be 1");
  if (network->status != HU_OK) return -1;
  layer.carried = items[9].number != 0;
  if (cell == HU_CELL_LSTM) {
    layer.projection = hui_size_of(&items[10]);
    layer.forget_bias = (float)items[11].number;
  }
  int z = hu_net_recurrent(network->net, items[0].value, &layer);
  for (int i = p; i < hu_net_parameters(network->net); i++)
    if (network->net->parameter[i].first.fan_in) hui_layer_start(network, i, &items[3], 1);
  return z;
}

static int add_gru(hu_network *network, const hu_item *items) { return add_cells(network, items, HU_CELL_GRU); }

static int add_lstm(hu_network *network, const hu_item *items) { return add_cells(network, items, HU_CELL_LSTM); }

static int add_attending_lstm(hu_network *network, const hu_item *items) {
  hu_attending how = hu_attending_of(hui_size_of(&items[2]), hui_size_of(&items[3]));
  int p = hu_net_parameters(network->net);
  how.state = items[4].kind == HU_ITEM_VALUE ? items[4].value : -1;
  how.lengths = hui_layer_lengths(network, &items[5]);
  how.forget_bias = (float)items[7].number;
  int z = hu_net_attending_lstm(network->net, items[0].value, items[1].value, &how);
  for (int i = p; i < hu_net_parameters(network->net); i++)
    if (network->net->parameter[i].first.fan_in) hui_layer_start(network, i, &items[6], 1);
  return z;
}

ADD_ONE(last_state)

static int add_within(hu_network *network, const hu_item *items) {
  hui_note_tokens(network, items[1].value);
  return hu_net_within(network->net, items[0].value, items[1].value);
}

static int add_row_convolution(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  int lengths = hui_layer_lengths(network, &items[2]);
  int z = hu_net_row_convolution(network->net, items[0].value, hui_size_of(&items[1]), lengths);
  hui_layer_start(network, p, &items[3], 1);
  return z;
}

#define CELLS                                                                                              \
  VALUE(x), COUNT(units), {"last", 'b', 0}, START, {"reverse", 'b', 0}, {"both", 'b', 0}, {"sum", 'b', 0}, \
      {"lengths", 'o', 0}, {"one_bias", 'b', 0}, {                                                         \
    "carried", 'b', 0                                                                                      \
  }
static const hu_layer layers[] = {
    {"gru", {CELLS}, add_gru},
    {"lstm", {CELLS, {"projection", 'n', 0}, {"forget_bias", 'r', 0}}, add_lstm},
    {"last_state", {VALUE(x)}, add_last_state},
    {"attending_lstm",
     {VALUE(x),
      VALUE(memory),
      COUNT(units),
      {"layers", 'n', 1},
      {"state", 'o', 0},
      {"lengths", 'o', 0},
      START,
      {"forget_bias", 'r', 0}},
     add_attending_lstm},
    {"within", {VALUE(x), VALUE(lengths)}, add_within},
    {"row_convolution", {VALUE(x), COUNT(steps), {"lengths", 'o', 0}, START}, add_row_convolution}};
const hu_layer_list hui_layers_of_steps = {sizeof layers / sizeof *layers, layers};
