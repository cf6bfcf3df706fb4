/* SPDX-License-Identifier: MIT */
/* Decoders whose steps attend to the rows of another value: a stack of LSTM, and additive attention whose sum goes into
 * the next step. hu_net_attending_lstm of halfulp/train/net.h defines the step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/recurrent/recurrent.h"
#include "train/transformer/attention.h"

enum { LAYERS_MAX = 16 };
enum {
  WEIGHT_KEYS,
  WEIGHT_INPUT,
  BIAS_INPUT,
  WEIGHT_QUERY,
  BIAS_QUERY,
  WEIGHT_SCORE,
  WEIGHT_OUTPUT,
  BIAS_OUTPUT,
  OTHERS
};

/* What steps share. */
typedef struct decoder {
  const hu_attending *how;
  size_t cols, memory_cols; /* of x, of the memory */
  int memory, keys;
  hu_recurrent layer; /* of each of the stack */
  int theta[OTHERS];
  hu_cell cell[LAYERS_MAX];
  int context; /* the sum of the memory's rows of the step before */
} decoder;

static int weight(hu_net *net, size_t rows, size_t cols) { return hui_new_parameter(net, rows, cols, 0, rows); }

static int bias(hu_net *net, size_t cols) { return hui_new_parameter(net, 1, cols, 0, 0); }

static void name_parameters(hu_net *net, const decoder *made, int first) {
  char words[1024] = "weight_keys weight_input bias_input";
  for (size_t k = 1; k <= made->how->layers; k++) {
    const size_t n = strlen(words);
    snprintf(words + n, sizeof words - n, " weight_x%zu bias_x%zu weight_h%zu", k, k, k);
  }
  const size_t n = strlen(words);
  snprintf(words + n, sizeof words - n, " weight_query bias_query weight_score weight_output bias_output");
  hui_name_parameters(net, "attending_lstm", first, words);
}

static void add_parameters(hu_net *net, decoder *made) {
  const size_t units = made->how->units, all = 2 * units * made->how->layers, cols = made->memory_cols;
  const int first = hu_net_parameters(net);
  int *theta = made->theta;
  theta[WEIGHT_KEYS] = weight(net, cols, cols);
  theta[WEIGHT_INPUT] = weight(net, made->cols + cols, made->cols);
  theta[BIAS_INPUT] = bias(net, made->cols);
  for (size_t k = 0; k < made->how->layers; k++)
    hui_add_cell_parameters(net, &made->cell[k], &made->layer, k ? units : made->cols);
  theta[WEIGHT_QUERY] = weight(net, all, cols);
  theta[BIAS_QUERY] = bias(net, cols);
  theta[WEIGHT_SCORE] = weight(net, cols, 1);
  theta[WEIGHT_OUTPUT] = weight(net, units + cols, units);
  theta[BIAS_OUTPUT] = bias(net, units);
  name_parameters(net, made, first);
}

/* Adds what a decoder begins with: zeros, or the columns of a value. */
static void add_states(hu_net *net, decoder *made) {
  const size_t units = made->how->units;
  for (size_t k = 0; k < made->how->layers && net->status == HU_OK; k++) {
    hui_add_cell_state(net, &made->cell[k]);
    if (made->how->state >= 0)
      made->cell[k].state = hui_add_part(net, made->how->state, net->batch, 0, 2 * units * k, 2 * units);
  }
  made->context = hui_new_value(net, net->batch, made->memory_cols, 0, 0);
}

/* Adds [x, y] W + b for theta number `which` and the one behind it. */
static int add_both(hu_net *net, const decoder *made, int x, int y, int which) {
  const int both[] = {x, y};
  const int joined = x < 0 || y < 0 ? -1 : hu_net_concat(net, 2, both);
  return joined < 0 ? -1 : hui_linear_of(net, joined, made->theta[which], made->theta[which + 1]);
}

/* Adds the states of all layers side by side. */
static int add_query(hu_net *net, const decoder *made) {
  int states[LAYERS_MAX];
  for (size_t k = 0; k < made->how->layers; k++) states[k] = made->cell[k].state;
  int all = made->how->layers > 1 ? hu_net_concat(net, made->how->layers, states) : states[0];
  return all < 0 ? -1 : hui_linear_of(net, all, made->theta[WEIGHT_QUERY], made->theta[BIAS_QUERY]);
}

/* Adds the sum of the memory's rows whose shares are the softmax of their scores. */
static int add_context(hu_net *net, const decoder *made, int query) {
  const int sums = query < 0 ? -1 : hu_net_tanh(net, hu_net_add_row(net, made->keys, query));
  const int score = sums < 0 ? -1 : hui_linear_of(net, sums, made->theta[WEIGHT_SCORE], -1);
  return score < 0 ? -1 : hui_add_sum_of_rows(net, hu_net_as_rows(net, score, 1), made->memory, made->how->lengths);
}

/* Adds a step. Returns its row of the result, or -1. */
static int add_step(hu_net *net, decoder *made, int row, size_t t) {
  int h = add_both(net, made, row, made->context, WEIGHT_INPUT);
  for (size_t k = 0; k < made->how->layers && h >= 0; k++) h = hui_add_cell(net, &made->cell[k], h, t);
  if (h < 0) return -1;
  made->context = add_context(net, made, add_query(net, made));
  return add_both(net, made, h, made->context, WEIGHT_OUTPUT);
}

static int add_steps(hu_net *net, decoder *made, int x) {
  const size_t steps = net->value[x].rows / net->batch;
  int *list = calloc(steps, sizeof *list);
  if (!list) return hui_refuse(net, HU_E_MEMORY, "attending_lstm: no memory");
  made->keys = hui_linear_of(net, made->memory, made->theta[WEIGHT_KEYS], -1);
  add_states(net, made);
  for (size_t t = 0; t < steps && net->status == HU_OK; t++) {
    int row = hui_add_part(net, x, net->batch, t, 0, made->cols);
    list[t] = row < 0 ? -1 : add_step(net, made, row, t);
  }
  int z = net->status == HU_OK ? hui_add_stack(net, steps, list) : -1;
  if (z < 0) free(list);
  return z;
}

/* What is wrong with a decoder; NULL: nothing. */
static const char *wrong(const hu_net *net, const hu_attending *how, const hu_value *memory) {
  if (!how || how->units == 0 || how->layers == 0 || how->layers > LAYERS_MAX)
    return "attending_lstm: no units, or not 1 to 16 layers";
  if (!memory->made) return "attending_lstm: the memory is an input";
  if (how->state < 0) return NULL;
  const hu_value *state = &net->value[how->state];
  return state->rows == net->batch && state->cols == 2 * how->units * how->layers
             ? NULL
             : "attending_lstm: the state has not a row for each sample, and h and c of each layer";
}

static HU_NOINLINE int add_layer(hu_net *net, int x, int memory, const hu_attending *how) {
  if (!hui_usable(net, x) || !hui_usable(net, memory) || (how && how->state >= 0 && !hui_usable(net, how->state)))
    return -1;
  const char *what = wrong(net, how, &net->value[memory]);
  if (what) return hui_refuse(net, HU_E_SHAPE, what);
  if (!hui_are_lengths(net, how->lengths, "attending_lstm")) return -1;
  decoder made;
  memset(&made, 0, sizeof made);
  made.how = how;
  made.cols = net->value[x].cols;
  made.memory_cols = net->value[memory].cols;
  made.memory = memory;
  made.layer = hu_recurrent_of(HU_CELL_LSTM, how->units);
  made.layer.one_bias = 1;
  made.layer.forget_bias = how->forget_bias;
  add_parameters(net, &made);
  return net->status == HU_OK ? add_steps(net, &made, x) : -1;
}

hu_attending hu_attending_of(size_t units, size_t layers) {
  const hu_attending how = {.units = units, .layers = layers, .state = -1, .lengths = -1};
  return how;
}

int hu_net_attending_lstm(hu_net *net, int x, int memory, const hu_attending *how) {
  HU_ENV_RETURN(int, add_layer(net, x, memory, how));
}
