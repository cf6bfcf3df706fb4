/* SPDX-License-Identifier: MIT */
/* The layers of texts that transformers are made of: embeddings, positions, attention, mixtures of experts. */
#include "train/model/layers.h"

static int add_embedding(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  int z = hu_net_embedding(network->net, items[0].value, hui_size_of(&items[1]), hui_size_of(&items[2]));
  hui_layer_start(network, p, &items[3], 1);
  hui_layer_weights(network, p, &items[4]);
  hui_note_tokens(network, items[0].value);
  return z;
}

static int add_position(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), z = hu_net_position(network->net, items[0].value);
  hui_layer_start(network, p, &items[1], 1);
  hui_layer_weights(network, p, &items[2]);
  return z;
}

/* Returns attention with the arguments `heads`, `causal`, `lengths` and from `kv_heads` on. */
static hu_attention attention_of(hu_network *network, size_t heads, const hu_item *causal, const hu_item *lengths,
                                 const hu_item *items) {
  hu_attention how = hu_attention_of(heads);
  how.causal = causal->number != 0;
  how.lengths = hui_layer_lengths(network, lengths);
  how.kv_heads = hui_size_of(&items[0]);
  how.window = hui_size_of(&items[1]);
  how.sink = items[2].number != 0;
  how.scale = items[3].number;
  how.dropout = items[4].number;
  how.block = hui_size_of(&items[5]);
  return how;
}

static int add_attention(hu_network *network, const hu_item *items) {
  const hu_attention how = attention_of(network, hui_size_of(&items[1]), &items[2], &items[3], items + 4);
  return hu_net_attend(network->net, items[0].value, -1, &how);
}

static int add_across(hu_network *network, const hu_item *items) {
  const hu_attention how = attention_of(network, hui_size_of(&items[2]), &items[4], &items[3], items + 5);
  return hu_net_attend(network->net, items[0].value, items[1].value, &how);
}

static int add_rotary(hu_network *network, const hu_item *items) {
  const hu_rotary how = {.width = hui_size_of(&items[1]),
                         .columns = hui_size_of(&items[2]),
                         .interleaved = items[3].number != 0,
                         .base = items[4].number,
                         .factor = items[5].number,
                         .low = items[6].number,
                         .high = items[7].kind == HU_ITEM_NUMBER ? items[7].number
                                 : items[9].number != 0          ? 32
                                                                 : 4,
                         .original = items[8].number,
                         .yarn = items[9].number != 0,
                         .whole = items[10].number != 0,
                         .magnitude = items[11].number};
  return hu_net_rotary(network->net, items[0].value, &how);
}

static int add_route(hu_network *network, const hu_item *items) {
  const hu_routing how = {.chosen = hui_size_of(&items[1]),
                          .of_chosen = items[2].number != 0,
                          .normed = items[3].number != 0,
                          .capacity = items[4].number};
  return hu_net_route(network->net, items[0].value, &how);
}

static int add_experts(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  int z = hu_net_experts(network->net, items[0].value, items[1].value, hui_size_of(&items[2]), items[3].number != 0);
  hui_layer_start_both(network, p, &items[4], &items[3], 1);
  return z;
}

static int add_balance_loss(hu_network *network, const hu_item *items) {
  return hu_net_balance_loss(network->net, items[0].value, items[1].number);
}

static int add_z_loss(hu_network *network, const hu_item *items) {
  return hu_net_z_loss(network->net, items[0].value, items[1].number);
}

ADD_ONE(sines)
ADD_TWO(to_experts)
ADD_TWO(from_experts)

static const hu_layer layers[] = {
    {"embedding", {VALUE(x), COUNT(rows), COUNT(columns), START, WEIGHTS}, add_embedding},
    {"position", {VALUE(x), START, WEIGHTS}, add_position},
    {"attention",
     {VALUE(x),
      COUNT(heads),
      {"causal", 'b', 0},
      {"lengths", 'o', 0},
      {"kv_heads", 'n', 0},
      {"window", 'n', 0},
      {"sink", 'b', 0},
      {"scale", 'r', 0},
      {"dropout", 'r', 0},
      {"block", 'n', 0}},
     add_attention},
    {"attention_across",
     {VALUE(queries),
      VALUE(memory),
      COUNT(heads),
      {"lengths", 'o', 0},
      {"causal", 'b', 0},
      {"kv_heads", 'n', 0},
      {"window", 'n', 0},
      {"sink", 'b', 0},
      {"scale", 'r', 0},
      {"dropout", 'r', 0},
      {"block", 'n', 0}},
     add_across},
    {"rotary",
     {VALUE(x),
      COUNT(width),
      {"columns", 'n', 0},
      {"interleaved", 'b', 0},
      {"base", 'r', 10000},
      {"factor", 'r', 1},
      {"low", 'r', 1},
      {"high", 'm', INFINITY},
      {"original", 'r', 8192},
      {"yarn", 'b', 0},
      {"whole", 'b', 0},
      {"magnitude", 'r', 0}},
     add_rotary},
    {"sines", {VALUE(x)}, add_sines},
    {"route", {VALUE(x), COUNT(chosen), {"of_chosen", 'b', 0}, {"normed", 'b', 0}, {"capacity", 'r', 0}}, add_route},
    {"to_experts", {VALUE(x), VALUE(routing)}, add_to_experts},
    {"experts", {VALUE(x), VALUE(routing), COUNT(outputs), {"bias", 'b', 1}, START, BIAS_START}, add_experts},
    {"from_experts", {VALUE(x), VALUE(routing)}, add_from_experts},
    {"balance_loss", {VALUE(routing), GIVEN(weight, 'r')}, add_balance_loss},
    {"z_loss", {VALUE(routing), GIVEN(weight, 'r')}, add_z_loss}};
const hu_layer_list hui_layers_of_transformers = {sizeof layers / sizeof *layers, layers};
