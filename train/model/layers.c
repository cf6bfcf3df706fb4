/* SPDX-License-Identifier: MIT */
/* The layers that networks' texts name, and how their arguments are taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/model/network.h"
#include "train/text/words.h"

static size_t size_of(const hu_item *item) { return (size_t)item->number; }

/* ---- first weights ---- */

/* Draws parameter p as the text says, if it does. window: the pixels that an output sees, of a convolution. */
static void start(hu_network *network, int p, const hu_item *how, size_t window) {
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
  switch (how->value) {
    case HU_START_NORMAL: status = hu_net_start_normal(net, p, gain); break;
    case HU_START_FAN_IN: status = hu_net_start_normal(net, p, sqrtf(gain / (float)fan_in)); break;
    case HU_START_FAN_IN_CUT: status = hui_net_start_cut(net, p, sqrtf(gain / (float)fan_in) / HU_CUT_DEVIATION); break;
    case HU_START_FAN_OUT: status = hu_net_start_normal(net, p, sqrtf(gain / (float)fan_out)); break;
    case HU_START_FAN_SUM: status = hu_net_start_within(net, p, sqrtf(gain / (float)(fan_in + fan_out))); break;
    case HU_START_UNIFORM: status = hu_net_start_within(net, p, gain); break;
    case HU_START_CONSTANT: status = hu_net_start_constant(net, p, gain); break;
    default: status = hu_net_start_uniform(net, p, size_of(how));
  }
  if (status != HU_OK) hui_network_wrong(network, status, "start: the number is not one from 0 on");
}

/* Draws the weights of a layer from parameter p on, and its bias. items: those of both, and whether there is a bias. */
static void start_both(hu_network *network, int p, const hu_item *how, const hu_item *bias, size_t window) {
  start(network, p, &how[0], window);
  if (how[1].kind == HU_ITEM_START && bias->number == 0)
    hui_network_wrong(network, HU_E_TEXT, "bias_start: there is no bias");
  else
    start(network, p + 1, &how[1], 1);
}

/* ---- parameters of another layer ---- */

/* Returns the first parameter of the layer that made a value; -1: it has none. */
static int parameter_of(const hu_net *net, int value) {
  int i = hu_net_value_operator(net, value);
  return i < 0 ? -1 : net->op[i].theta[0];
}

/* Returns the table that the layer in hand shares with an embedding; -1: it shares something else, or nothing. */
static int shared_table(const hu_network *network) {
  int is = network->shared.kind == HU_ITEM_VALUE &&
           strcmp(hu_net_value_kind(network->net, network->shared.value), "embedding") == 0;
  return is ? parameter_of(network->net, network->shared.value) : -1;
}

/* The layer in hand takes the parameters of the one that made this value; `share` is that argument. */
static void share(hu_network *network, const hu_layer *layer) {
  if (network->shared.kind == HU_ITEM_NONE) return;
  int value = network->shared.kind == HU_ITEM_VALUE, p = value ? parameter_of(network->net, network->shared.value) : -1;
  if (p < 0) {
    hui_network_wrong(network, HU_E_TEXT, "%s: share: not a value that a layer with parameters has made", layer->name);
  } else if (strcmp(layer->name, "linear") != 0 || shared_table(network) < 0) {
    hu_net_share(network->net, p);
  }
}

/* ---- the layers: items in the order of the table's parameters ---- */

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
  return keep_input(network, hu_net_input(network->net, size_of(&items[0]), size_of(&items[1])));
}

void hui_note_tokens(hu_network *network, int value) {
  for (int i = 0; i < network->ends->count; i++) {
    if (network->ends->inputs[i] == value) network->ends->tokens |= 1u << i;
  }
}

static int add_zeros(hu_network *network, const hu_item *items) {
  return hu_net_image(network->net, size_of(&items[0]), size_of(&items[1]), size_of(&items[2]));
}

static int add_image(hu_network *network, const hu_item *items) {
  return keep_input(network, add_zeros(network, items));
}

/* Multiplies by the table of an embedding, which the layer shares. */
static int add_linear_transposed(hu_network *network, const hu_item *items, int table) {
  hu_net *net = network->net;
  int p = hu_net_parameters(net);
  if (net->parameter[table].rows != size_of(&items[1])) {
    hui_network_wrong(network, HU_E_SHAPE, "linear: share: the table has %zu rows", net->parameter[table].rows);
    return -1;
  }
  int z = hu_net_linear_transposed(net, items[0].value, table, items[2].number != 0);
  network->shared.kind = HU_ITEM_NONE; /* a bias is the layer's own */
  if (items[3].kind == HU_ITEM_START)
    hui_network_wrong(network, HU_E_TEXT, "start: the table is that of another layer");
  else
    start_both(network, p - 1, &items[3], &items[2], 1);
  return z;
}

static int add_linear(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), table = shared_table(network);
  if (table >= 0) return add_linear_transposed(network, items, table);
  int z = hu_net_linear(network->net, items[0].value, size_of(&items[1]), items[2].number != 0);
  start_both(network, p, &items[3], &items[2], 1);
  return z;
}

/* ---- windows ---- */

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
  int z = hu_net_conv_windows(network->net, items[0].value, size_of(&items[1]), &windows, size_of(&items[6]),
                              items[7].number != 0);
  start_both(network, p, &items[8], &items[7], windows.kernel[0] * windows.kernel[1]);
  return z;
}

static int add_conv_transpose(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  const hu_net_windows windows = windows_of(&items[2], &items[3], &items[4], &items[5]);
  size_t more[2];
  pair_of(&items[10], more);
  int z = hu_net_conv_transpose(network->net, items[0].value, size_of(&items[1]), &windows, more, size_of(&items[6]),
                                items[7].number != 0);
  start_both(network, p, &items[8], &items[7], windows.kernel[0] * windows.kernel[1]);
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

/* ---- norms ---- */

static int lengths_of(hu_network *network, const hu_item *item) {
  if (item->kind != HU_ITEM_VALUE) return -1;
  hui_note_tokens(network, item->value);
  return item->value;
}

static int add_batch_norm(hu_network *network, const hu_item *items) {
  int lengths = lengths_of(network, &items[4]);
  return hu_net_batch_norm_within(network->net, items[0].value, items[1].number, items[2].number, items[3].number != 0,
                                  lengths);
}

static int add_layer_norm(hu_network *network, const hu_item *items) {
  return hu_net_layer_norm_with(network->net, items[0].value, items[1].number);
}

static int add_rms_norm(hu_network *network, const hu_item *items) {
  return hu_net_rms_norm(network->net, items[0].value, items[1].number);
}

static int add_l2_norm(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), z = hu_net_l2_norm(network->net, items[0].value, items[1].number);
  start(network, p, &items[2], 1);
  return z;
}

static int add_response_norm(hu_network *network, const hu_item *items) {
  return hu_net_response_norm(network->net, items[0].value, size_of(&items[1]), items[2].number, items[3].number,
                              items[4].number);
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
  return hu_net_as_image(network->net, items[0].value, size_of(&items[1]), size_of(&items[2]));
}

static int add_as_rows(hu_network *network, const hu_item *items) {
  return hu_net_as_rows(network->net, items[0].value, size_of(&items[1]));
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
  return hu_net_columns(network->net, items[0].value, size_of(&items[1]), size_of(&items[2]));
}

static int add_dropout(hu_network *network, const hu_item *items) {
  return items[1].number == 0 ? items[0].value : hu_net_dropout(network->net, items[0].value, items[1].number);
}

static int add_embedding(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  int z = hu_net_embedding(network->net, items[0].value, size_of(&items[1]), size_of(&items[2]));
  start(network, p, &items[3], 1);
  hui_note_tokens(network, items[0].value);
  return z;
}

static int add_position(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net), z = hu_net_position(network->net, items[0].value);
  start(network, p, &items[1], 1);
  return z;
}

/* Returns attention with the arguments `heads`, `causal`, `lengths` and from `kv_heads` on. */
static hu_attention attention_of(hu_network *network, size_t heads, const hu_item *causal, const hu_item *lengths,
                                 const hu_item *items) {
  hu_attention how = hu_attention_of(heads);
  how.causal = causal->number != 0;
  how.lengths = lengths_of(network, lengths);
  how.kv_heads = size_of(&items[0]);
  how.window = size_of(&items[1]);
  how.sink = items[2].number != 0;
  how.scale = items[3].number;
  how.dropout = items[4].number;
  how.block = size_of(&items[5]);
  return how;
}

static int add_attention(hu_network *network, const hu_item *items) {
  const hu_attention how = attention_of(network, size_of(&items[1]), &items[2], &items[3], items + 4);
  return hu_net_attend(network->net, items[0].value, -1, &how);
}

static int add_across(hu_network *network, const hu_item *items) {
  const hu_attention how = attention_of(network, size_of(&items[2]), &items[4], &items[3], items + 5);
  return hu_net_attend(network->net, items[0].value, items[1].value, &how);
}

static int add_rotary(hu_network *network, const hu_item *items) {
  const hu_rotary how = {.width = size_of(&items[1]),
                         .columns = size_of(&items[2]),
                         .interleaved = items[3].number != 0,
                         .base = items[4].number,
                         .factor = items[5].number,
                         .low = items[6].number,
                         .high = items[7].number,
                         .original = items[8].number};
  return hu_net_rotary(network->net, items[0].value, &how);
}

static int add_route(hu_network *network, const hu_item *items) {
  const hu_routing how = {.chosen = size_of(&items[1]),
                          .of_chosen = items[2].number != 0,
                          .normed = items[3].number != 0,
                          .capacity = items[4].number};
  return hu_net_route(network->net, items[0].value, &how);
}

static int add_experts(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  int z = hu_net_experts(network->net, items[0].value, items[1].value, size_of(&items[2]), items[3].number != 0);
  start_both(network, p, &items[4], &items[3], 1);
  return z;
}

static int add_balance_loss(hu_network *network, const hu_item *items) {
  return hu_net_balance_loss(network->net, items[0].value, items[1].number);
}

static int add_z_loss(hu_network *network, const hu_item *items) {
  return hu_net_z_loss(network->net, items[0].value, items[1].number);
}

/* Adds a layer of cells, whose matrices start alike. items: those of gru; of lstm three more. */
static int add_cells(hu_network *network, const hu_item *items, uint8_t cell) {
  hu_recurrent layer = hu_recurrent_of(cell, size_of(&items[1]));
  int p = hu_net_parameters(network->net);
  double ways = items[4].number + 2 * items[5].number + 4 * items[6].number;
  layer.last = items[2].number != 0;
  layer.lengths = lengths_of(network, &items[7]);
  layer.one_bias = items[8].number != 0;
  layer.direction = (uint8_t)(ways == 4 ? HU_DIRECTION_SUM : ways);
  if (ways != 0 && ways != 1 && ways != 2 && ways != 4)
    hui_network_wrong(network, HU_E_TEXT, "only one of reverse, both and sum may be 1");
  if (network->status != HU_OK) return -1;
  layer.carried = items[9].number != 0;
  if (cell == HU_CELL_LSTM) {
    layer.projection = size_of(&items[10]);
    layer.forget_bias = (float)items[11].number;
  }
  int z = hu_net_recurrent(network->net, items[0].value, &layer);
  for (int i = p; i < hu_net_parameters(network->net); i++)
    if (network->net->parameter[i].first.fan_in) start(network, i, &items[3], 1);
  return z;
}

static int add_gru(hu_network *network, const hu_item *items) { return add_cells(network, items, HU_CELL_GRU); }

static int add_lstm(hu_network *network, const hu_item *items) { return add_cells(network, items, HU_CELL_LSTM); }

static int add_within(hu_network *network, const hu_item *items) {
  hui_note_tokens(network, items[1].value);
  return hu_net_within(network->net, items[0].value, items[1].value);
}

static int add_row_convolution(hu_network *network, const hu_item *items) {
  int p = hu_net_parameters(network->net);
  int z = hu_net_row_convolution(network->net, items[0].value, size_of(&items[1]), lengths_of(network, &items[2]));
  start(network, p, &items[3], 1);
  return z;
}

static int add_shuffle(hu_network *network, const hu_item *items) {
  return hu_net_shuffle(network->net, items[0].value, size_of(&items[1]));
}

/* Define layers of one value, or of two, that take nothing else. */
#define ADD_ONE(name)                                                \
  static int add_##name(hu_network *network, const hu_item *items) { \
    return hu_net_##name(network->net, items[0].value);              \
  }
#define ADD_TWO(name)                                                   \
  static int add_##name(hu_network *network, const hu_item *items) {    \
    return hu_net_##name(network->net, items[0].value, items[1].value); \
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
ADD_ONE(sines)
ADD_ONE(global_average)
ADD_TWO(to_experts)
ADD_TWO(from_experts)
ADD_TWO(add)
ADD_TWO(multiply)
ADD_TWO(add_row)

#define GIVEN(name, type) \
  { #name, type, NAN }
#define VALUE(name) GIVEN(name, 'v')
#define COUNT(name) GIVEN(name, 'n')
#define KERNEL GIVEN(kernel, 'w')
#define STRIDE \
  { "stride", 'w', 1 }
#define PAD \
  { "pad", 'p', 0 }
#define EPS \
  { "eps", 'r', 1e-5 }
#define START \
  { "start", 's', 0 }
#define BIAS_START \
  { "bias_start", 's', 0 }
#define CELLS                                                                                              \
  VALUE(x), COUNT(units), {"last", 'b', 0}, START, {"reverse", 'b', 0}, {"both", 'b', 0}, {"sum", 'b', 0}, \
      {"lengths", 'o', 0}, {"one_bias", 'b', 0}, {                                                         \
    "carried", 'b', 0                                                                                      \
  }
static const hu_layer layers[] = {
    {"input", {COUNT(rows), COUNT(columns), {"masked", 'b', 0}}, add_input},
    {"image", {COUNT(height), COUNT(width), COUNT(channels)}, add_image},
    {"zeros", {COUNT(height), COUNT(width), COUNT(channels)}, add_zeros},
    {"linear", {VALUE(x), COUNT(outputs), {"bias", 'b', 1}, START, BIAS_START}, add_linear},
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
    {"batch_norm", {VALUE(x), EPS, {"momentum", 'r', 0.1}, {"unbiased", 'b', 0}, {"lengths", 'o', 0}}, add_batch_norm},
    {"layer_norm", {VALUE(x), EPS}, add_layer_norm},
    {"rms_norm", {VALUE(x), EPS}, add_rms_norm},
    {"l2_norm", {VALUE(x), {"eps", 'r', 1e-10}, START}, add_l2_norm},
    {"response_norm",
     {VALUE(x), {"size", 'n', 5}, {"alpha", 'r', 1e-4}, {"beta", 'r', 0.75}, {"k", 'r', 1}},
     add_response_norm},
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
    {"dropout", {VALUE(x), GIVEN(p, 'r')}, add_dropout},
    {"embedding", {VALUE(x), COUNT(rows), COUNT(columns), START}, add_embedding},
    {"position", {VALUE(x), START}, add_position},
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
      {"high", 'r', 4},
      {"original", 'r', 8192}},
     add_rotary},
    {"sines", {VALUE(x)}, add_sines},
    {"route", {VALUE(x), COUNT(chosen), {"of_chosen", 'b', 0}, {"normed", 'b', 0}, {"capacity", 'r', 0}}, add_route},
    {"to_experts", {VALUE(x), VALUE(routing)}, add_to_experts},
    {"experts", {VALUE(x), VALUE(routing), COUNT(outputs), {"bias", 'b', 1}, START, BIAS_START}, add_experts},
    {"from_experts", {VALUE(x), VALUE(routing)}, add_from_experts},
    {"balance_loss", {VALUE(routing), GIVEN(weight, 'r')}, add_balance_loss},
    {"z_loss", {VALUE(routing), GIVEN(weight, 'r')}, add_z_loss},
    {"gru", {CELLS}, add_gru},
    {"lstm", {CELLS, {"projection", 'n', 0}, {"forget_bias", 'r', 0}}, add_lstm},
    {"within", {VALUE(x), VALUE(lengths)}, add_within},
    {"row_convolution", {VALUE(x), COUNT(steps), {"lengths", 'o', 0}, START}, add_row_convolution},
    {"max_pool", {VALUE(x), KERNEL, GIVEN(stride, 'w'), PAD, {"ceil", 'b', 0}}, add_max_pool},
    {"average_pool",
     {VALUE(x), KERNEL, GIVEN(stride, 'w'), PAD, {"ceil", 'b', 0}, {"zeros", 'b', 1}},
     add_average_pool},
    {"global_average", {VALUE(x)}, add_global_average}};
enum { LAYERS = sizeof layers / sizeof *layers };

static const hu_layer *layer_named(const char *name, size_t size) {
  for (size_t i = 0; i < LAYERS; i++) {
    if (strlen(layers[i].name) == size && memcmp(layers[i].name, name, size) == 0) return &layers[i];
  }
  return NULL;
}

int hui_is_layer(const char *name, size_t size) { return layer_named(name, size) != NULL; }

void hui_network_unknown(hu_network *network, const char *name, size_t size) {
  const char *names[LAYERS + 1] = {NULL};
  char word[64], perhaps[HU_PERHAPS_MAX];
  for (size_t i = 0; i < LAYERS; i++) names[i] = layers[i].name;
  snprintf(word, sizeof word, "%.*s", (int)(size < 63 ? size : 63), name);
  hui_network_wrong(network, HU_E_NAME, "there is no layer, block or function '%s'%s", word,
                    hui_perhaps(perhaps, word, names));
}

/* ---- arguments ---- */

/* Returns the argument; numbers of windows in their shortest form: of pads that are equal above and below, and on both
 * sides, two of four; of two equal numbers one. */
static hu_item shortest(hu_network *network, const hu_layer_parameter *parameter, const hu_item *item) {
  hu_item one = *item;
  const double *list = item->list;
  if (item->kind != HU_ITEM_LIST || (parameter->type != 'w' && parameter->type != 'p')) return one;
  if (parameter->type == 'p' && item->count == 4 && list[0] == list[1] && list[2] == list[3]) {
    const double two[2] = {list[0], list[2]};
    one = hui_network_list(network, two, 2);
  }
  if (one.count != 2 || one.list[0] != one.list[1]) return one;
  const double number = one.list[0];
  memset(&one, 0, sizeof one);
  one.kind = HU_ITEM_NUMBER;
  one.value = -1;
  one.number = number;
  return one;
}

static int is_whole(double x) { return x >= 0 && x <= 0x1p40 && x == floor(x); }

/* 1 if it is a whole number, or a list of so many. */
static int are_whole(const hu_item *item, size_t count) {
  if (item->kind != HU_ITEM_LIST) return item->kind == HU_ITEM_NUMBER && is_whole(item->number);
  int whole = item->count == count;
  for (size_t i = 0; i < item->count; i++) whole &= is_whole(item->list[i]);
  return whole;
}

/* What is wrong with an argument; NULL: nothing. */
static const char *wrong_argument(const hu_layer_parameter *parameter, const hu_item *item) {
  double x = item->number;
  switch (parameter->type) {
    case 'v':
    case '*':
    case 'o': return item->kind == HU_ITEM_VALUE ? NULL : "not a value of the network";
    case 's':
      return item->kind == HU_ITEM_START
                 ? NULL
                 : "not a start: normal, fan_in, fan_in_cut, fan_out, fan_sum, uniform, inverse_root or constant";
    case 'n': return item->kind == HU_ITEM_NUMBER && is_whole(x) ? NULL : "not a whole number";
    case 'w': return are_whole(item, 2) ? NULL : "neither a whole number nor two, down and across";
    case 'p': return are_whole(item, 2) || are_whole(item, 4) ? NULL : "neither a whole number nor two or four";
    case 'c': return item->kind == HU_ITEM_NUMBER || item->kind == HU_ITEM_LIST ? NULL : "neither a number nor a list";
    case 'b': return item->kind == HU_ITEM_NUMBER && (x == 0 || x == 1) ? NULL : "neither 0 nor 1";
    default: return item->kind == HU_ITEM_NUMBER ? NULL : "not a number";
  }
}

/* Returns the place of an argument among a layer's parameters; -1 after an error. */
static int place_of(hu_network *network, const hu_layer *layer, const hu_argument *argument, size_t i) {
  size_t place = 0;
  if (layer->parameter[0].type == '*') place = HU_LAYER_PARAMETERS;
  while (place < HU_LAYER_PARAMETERS && layer->parameter[place].name) {
    const char *name = layer->parameter[place].name;
    if (argument->name ? strlen(name) == argument->size && memcmp(name, argument->name, argument->size) == 0
                       : place == i)
      return (int)place;
    place++;
  }
  if (layer->parameter[0].type == '*' && !argument->name) return 0;
  if (argument->name) {
    hui_network_wrong(network, HU_E_NAME, "%s has no '%.*s'", layer->name,
                      (int)(argument->size < 40 ? argument->size : 40), argument->name);
  } else {
    hui_network_wrong(network, HU_E_TEXT, "%s: too many arguments", layer->name);
  }
  return -1;
}

/* Any layer with parameters has this argument, by name. */
static int is_share(const hu_argument *argument) {
  return argument->name && argument->size == 5 && memcmp(argument->name, "share", 5) == 0;
}

/* Takes the arguments of a call. Returns how many items there are. */
static size_t take(hu_network *network, const hu_layer *layer, const hu_argument *arguments, size_t count,
                   hu_item items[HU_NETWORK_ARGUMENTS]) {
  int all = layer->parameter[0].type == '*';
  size_t i = 0;
  memset(items, 0, HU_NETWORK_ARGUMENTS * sizeof *items);
  network->shared.kind = HU_ITEM_NONE;
  for (; i < count && network->status == HU_OK; i++) {
    if (is_share(&arguments[i])) {
      network->shared = arguments[i].item;
      continue;
    }
    int place = place_of(network, layer, &arguments[i], i);
    if (place < 0) return 0;
    const hu_layer_parameter *parameter = &layer->parameter[place];
    hu_item *item = &items[all ? i : (size_t)place];
    const int twice = item->kind != HU_ITEM_NONE;
    const char *wrong = twice ? "given twice" : wrong_argument(parameter, &arguments[i].item);
    if (wrong) hui_network_wrong(network, HU_E_TEXT, "%s: %s: %s", layer->name, parameter->name, wrong);
    *item = wrong ? arguments[i].item : shortest(network, parameter, &arguments[i].item);
  }
  if (all) return count;
  for (i = 0; i < HU_LAYER_PARAMETERS && layer->parameter[i].name; i++) {
    const hu_layer_parameter *parameter = &layer->parameter[i];
    if (items[i].kind) continue;
    if (isnan(parameter->standard))
      hui_network_wrong(network, HU_E_TEXT, "%s: %s is missing", layer->name, parameter->name);
    if (!strchr("osm", parameter->type)) items[i].kind = HU_ITEM_NUMBER;
    items[i].number = parameter->standard;
  }
  return i;
}

/* The engine's sentence, with the shapes that the layer was given. */
static void refused(hu_network *network, const hu_layer *layer, const hu_item *items, size_t count) {
  const char *said = "";
  char shapes[HU_NETWORK_WHY_MAX] = "", shape[HU_SHAPE_TEXT_MAX];
  hu_status status = hu_net_status(network->net, &said);
  const char *sentence = strstr(said, ": "), *own = sentence ? sentence + 2 : said;
  size_t n = strlen(layer->name), length = 0;
  if (strncmp(own, layer->name, n) == 0 && own[n] == ':') own += n + 2;
  for (size_t i = 0; i < count && length < sizeof shapes - HU_SHAPE_TEXT_MAX - 8; i++) {
    if (items[i].kind == HU_ITEM_VALUE)
      length += (size_t)snprintf(shapes + length, sizeof shapes - length, "%s%s", length ? " and " : " of ",
                                 hui_shape_text(shape, network->net, items[i].value));
  }
  hui_network_wrong(network, status, "%s%s: %s", layer->name, shapes, own);
}

int hui_network_layer(hu_network *network, const char *name, size_t size, const hu_argument *arguments, size_t count,
                      hu_item *result) {
  hu_item items[HU_NETWORK_ARGUMENTS];
  const hu_layer *layer = layer_named(name, size);
  if (!layer) return 0;
  size_t taken = take(network, layer, arguments, count, items);
  if (network->status != HU_OK) return 1;
  int parameters = hu_net_parameters(network->net);
  const hu_item shared = network->shared;
  share(network, layer);
  if (network->status != HU_OK) return 1;
  int z = layer->add(network, items);
  if (hu_net_status(network->net, NULL) == HU_OK && network->net->shared)
    hui_network_wrong(network, HU_E_TEXT, "%s: share: the layer has no parameters", layer->name);
  network->shared = shared;
  if (hu_net_status(network->net, NULL) != HU_OK) refused(network, layer, items, taken);
  if (network->status != HU_OK) return 1;
  result->kind = HU_ITEM_VALUE;
  result->value = z;
  if (layer->add != add_dropout || items[1].number != 0) hui_show_layer(network, layer, items, taken, z, parameters);
  return 1;
}
