/* SPDX-License-Identifier: MIT */
/* Recurrent cells, and layers of them: in both directions, with lengths, with a projection. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/recurrent/recurrent.h"

/* ---- cells: in[0] of the step's row, in[1] of h, in[2] the state ---- */

/* Makes the task of a cell's kernels, over rows x units. */
static hu_task cell_task(const hu_net *net, const hu_operator *op) {
  const hu_value *out = &net->value[op->out];
  hu_task task = hui_task_of(out->rows, op->cell.units, out->v, NULL, NULL);
  task.cell.sums_x = net->value[op->in[0]].v;
  task.cell.sums_h = net->value[op->in[1]].v;
  task.cell.state = net->value[op->in[2]].v;
  task.cell.dz = out->dv;
  task.cell.kept = op->kept;
  return task;
}

/* z = sigmoid(a_z + c_z), r = sigmoid(a_r + c_r), n = tanh(a_n + r c_n), h' = (1 - z) n + z h. kept: z, r, n. */
static hu_status gru_forward(hu_net *net, hu_operator *op) {
  hu_task task = cell_task(net, op);
  size_t n = task.rows * task.cols;
  hui_do(net, HU_RUN_GRU_GATES, &task);
  hui_do_function(net, HU_OP_SIGMOID, 2 * n, op->kept, op->kept);
  hui_do(net, HU_RUN_GRU_CANDIDATE, &task);
  hui_do_function(net, HU_OP_TANH, n, op->kept + 2 * n, op->kept + 2 * n);
  hui_do(net, HU_RUN_GRU_STATE, &task);
  return hui_done(net);
}

static hu_status gru_backward(hu_net *net, hu_operator *op) {
  hu_task task = cell_task(net, op);
  task.cell.d_sums_x = net->work[0];
  task.cell.d_sums_h = net->work[1];
  task.cell.d_state = net->work[2];
  hui_do(net, HU_RUN_GRU_BACK, &task);
  hui_give(net, op->in[0], task.cell.d_sums_x);
  hui_give(net, op->in[1], task.cell.d_sums_h);
  if (hui_needs_gradient(net, op->in[2])) hui_give(net, op->in[2], task.cell.d_state);
  return hui_done(net);
}

static const hu_operator_kind gru = {.name = "gru", .forward = gru_forward, .backward = gru_backward, .anywhere = 1};

/* s = a + b of four parts i, f, o, g; c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c'). The state and
 * the result are h and c side by side. kept: the four, and tanh(c'). */
static hu_status lstm_forward(hu_net *net, hu_operator *op) {
  hu_task task = cell_task(net, op);
  size_t n = task.rows * task.cols;
  float *k = op->kept;
  task.p = op->cell.forget_bias;
  hui_do(net, HU_RUN_LSTM_GATES, &task);
  hui_do_function(net, HU_OP_SIGMOID, 3 * n, k, k);
  hui_do_function(net, HU_OP_TANH, n, k + 3 * n, k + 3 * n);
  hui_do(net, HU_RUN_LSTM_CELL, &task);
  hui_do_function(net, HU_OP_TANH, n, k + 4 * n, k + 4 * n);
  hui_do(net, HU_RUN_LSTM_STATE, &task);
  return hui_done(net);
}

static hu_status lstm_backward(hu_net *net, hu_operator *op) {
  hu_task task = cell_task(net, op);
  task.cell.d_sums_x = net->work[0];
  task.cell.d_state = net->work[1];
  hui_do(net, HU_RUN_LSTM_BACK, &task);
  hui_give(net, op->in[0], task.cell.d_sums_x);
  hui_give(net, op->in[1], task.cell.d_sums_x);
  if (hui_needs_gradient(net, op->in[2])) hui_give(net, op->in[2], task.cell.d_state);
  return hui_done(net);
}

static const hu_operator_kind lstm = {
    .name = "lstm", .forward = lstm_forward, .backward = lstm_backward, .anywhere = 1};

/* ---- layers of cells ---- */

typedef struct cell_kind {
  const hu_operator_kind *kind;
  size_t parts, state, kept; /* of linear results, of the state, of what is kept; in units */
} cell_kind;
static const cell_kind kinds[] = {{&gru, 3, 1, 3}, {&lstm, 4, 2, 5}};

enum { STEP_OPERATORS = 4 }; /* of a step, at least: its row, two linear ones, the cell */

static const cell_kind *kind_of(const hu_recurrent *layer) { return &kinds[layer->cell == HU_CELL_LSTM]; }

static size_t columns_of_h(const hu_recurrent *layer) { return layer->projection ? layer->projection : layer->units; }

void hui_add_cell_parameters(hu_net *net, hu_cell *way, const hu_recurrent *layer, size_t cols) {
  size_t all = kind_of(layer)->parts * layer->units, h = columns_of_h(layer);
  way->layer = layer;
  way->theta[HU_CELL_WEIGHT_X] = hui_new_parameter(net, cols, all, 0, cols);
  way->theta[HU_CELL_BIAS_X] = hui_new_parameter(net, 1, all, 0, 0);
  way->theta[HU_CELL_WEIGHT_H] = hui_new_parameter(net, h, all, 0, h);
  way->theta[HU_CELL_BIAS_H] = layer->one_bias ? -1 : hui_new_parameter(net, 1, all, 0, 0);
  way->theta[HU_CELL_PROJECTION] = layer->projection ? hui_new_parameter(net, layer->units, h, 0, layer->units) : -1;
}

static void name_parameters(hu_net *net, const hu_recurrent *layer, const cell_kind *cell, int first) {
  static const char *const parts[] = {"weight_x", "bias_x", "weight_h", "bias_h", "projection"};
  char words[256] = "";
  for (int back = 0; back <= (layer->direction >= HU_DIRECTION_BOTH); back++) {
    for (int i = 0; i < HU_CELL_PARAMETERS; i++) {
      if ((i == HU_CELL_BIAS_H && layer->one_bias) || (i == HU_CELL_PROJECTION && !layer->projection)) continue;
      size_t n = strlen(words);
      snprintf(words + n, sizeof words - n, "%s%s%s", n ? " " : "", back ? "reverse_" : "", parts[i]);
    }
  }
  hui_name_parameters(net, cell->kind->name, first, words);
}

int hui_add_cell(hu_net *net, hu_cell *way, int row, size_t t) {
  const hu_recurrent *layer = way->layer;
  const cell_kind *cell = kind_of(layer);
  const int *theta = way->theta;
  size_t rows = net->batch, units = layer->units;
  int parted = cell->state > 1 && !layer->projection;
  int h = parted ? hui_add_part(net, way->state, rows, 0, 0, units) : way->h;
  int a = hui_linear_of(net, row, theta[HU_CELL_WEIGHT_X], theta[HU_CELL_BIAS_X]);
  int b = hui_linear_of(net, h, theta[HU_CELL_WEIGHT_H], theta[HU_CELL_BIAS_H]);
  int z = a >= 0 && b >= 0 ? hui_new_value(net, rows, cell->state * units, 0, 0) : -1;
  hu_operator *op = hui_new_operator(net, cell->kind, a, b, z, cell->kept * units * rows);
  if (!op) return -1;
  op->in[2] = way->state;
  op->cell.units = units;
  op->cell.forget_bias = layer->forget_bias;
  way->state = layer->lengths < 0 ? z : hui_add_hold(net, z, way->state, layer->lengths, t);
  if (way->state < 0) return -1;
  way->h = cell->state == 1 ? way->state : hui_add_part(net, way->state, rows, 0, 0, units);
  if (layer->projection) way->h = hui_linear_of(net, way->h, theta[HU_CELL_PROJECTION], -1);
  return way->h;
}

void hui_add_cell_state(hu_net *net, hu_cell *way) {
  const hu_recurrent *layer = way->layer;
  way->state = hui_new_value(net, net->batch, kind_of(layer)->state * layer->units, 0, 0);
  way->h = layer->projection ? hui_new_value(net, net->batch, layer->projection, 0, 0) : way->state;
}

/* Adds all steps. Returns the last h, or those of all steps; -1 after an error. */
static int add_way(hu_net *net, hu_cell *way, int x, int reverse) {
  const hu_recurrent *layer = way->layer;
  size_t rows = net->batch, steps = net->value[x].rows / rows, cols = net->value[x].cols;
  if (steps > HU_OPERATORS_MAX / STEP_OPERATORS) {
    char said[128];
    snprintf(said, sizeof said, "%s: %zu steps are more than %d operators", kind_of(layer)->kind->name, steps,
             HU_OPERATORS_MAX);
    return hui_refuse(net, HU_E_SHAPE, said);
  }
  int *list = calloc(steps, sizeof *list);
  if (!list) return hui_refuse(net, HU_E_MEMORY, "recurrent: no memory");
  hui_add_cell_state(net, way);
  int first[] = {way->state, way->h}, last = -1;
  for (size_t i = 0; i < steps && net->status == HU_OK; i++) {
    size_t t = reverse ? steps - 1 - i : i;
    int row = hui_add_part(net, x, rows, t, 0, cols);
    last = list[t] = row < 0 || way->state < 0 ? -1 : hui_add_cell(net, way, row, t);
  }
  if (layer->carried && net->status == HU_OK) hui_carry(net, first[0], way->state);
  if (layer->carried && layer->projection && net->status == HU_OK) hui_carry(net, first[1], way->h);
  int z = net->status != HU_OK ? -1 : layer->last ? last : hui_add_stack(net, steps, list);
  if (z < 0 || layer->last) free(list);
  return z >= 0 && !layer->last && layer->lengths >= 0 ? hui_add_within(net, z, layer->lengths) : z;
}

/* What is wrong with a layer; NULL: nothing. */
static const char *wrong(const hu_recurrent *layer) {
  if (layer->cell > HU_CELL_LSTM || layer->direction > HU_DIRECTION_SUM) return "no such cell or direction";
  if (layer->units == 0) return "no units";
  if (layer->cell == HU_CELL_GRU && (layer->projection || layer->forget_bias != 0))
    return "a projection and a forget bias are of lstm alone";
  if (!(fabsf(layer->forget_bias) <= FLT_MAX)) return "the forget bias is not finite";
  if (layer->last > 1 || layer->one_bias > 1 || layer->carried > 1) return "last, one_bias and carried are 0 or 1";
  return layer->carried && layer->direction ? "only steps forward have a state that is carried" : NULL;
}

static HU_NOINLINE int add_layer(hu_net *net, int x, const hu_recurrent *layer) {
  char said[128];
  if (!hui_usable(net, x)) return -1;
  const char *what = layer ? wrong(layer) : "no layer";
  const cell_kind *cell = &kinds[layer && layer->cell == HU_CELL_LSTM];
  if (what) {
    snprintf(said, sizeof said, "%s: %s", cell->kind->name, what);
    return hui_refuse(net, HU_E_SHAPE, said);
  }
  if (!hui_are_lengths(net, layer->lengths, "recurrent")) return -1;
  int both = layer->direction >= HU_DIRECTION_BOTH, first = hu_net_parameters(net), z[2] = {-1, -1};
  hu_cell ways[2];
  memset(ways, 0, sizeof ways);
  for (int i = 0; i <= both; i++) hui_add_cell_parameters(net, &ways[i], layer, net->value[x].cols);
  name_parameters(net, layer, cell, first);
  for (int i = 0; i <= both && net->status == HU_OK; i++)
    z[i] = add_way(net, &ways[i], x, both ? i : layer->direction == HU_DIRECTION_BACKWARD);
  if (net->status != HU_OK) return -1;
  if (!both) {
    net->value[z[0]].state = 1 + ways[0].state;
    return z[0];
  }
  return layer->direction == HU_DIRECTION_SUM ? hu_net_add(net, z[0], z[1]) : hu_net_concat(net, 2, z);
}

int hu_net_last_state(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  if (net->value[x].state) return net->value[x].state - 1;
  return hui_refuse(net, HU_E_SHAPE, "last_state: not of a layer of cells in one direction");
}

hu_recurrent hu_recurrent_of(uint8_t cell, size_t units) {
  hu_recurrent layer = {.cell = cell, .units = units, .lengths = -1};
  return layer;
}

int hu_net_recurrent(hu_net *net, int x, const hu_recurrent *layer) { HU_ENV_RETURN(int, add_layer(net, x, layer)); }

static int add_plain(hu_net *net, int x, uint8_t cell, size_t units, int last) {
  hu_recurrent layer = hu_recurrent_of(cell, units);
  layer.last = last != 0;
  return hu_net_recurrent(net, x, &layer);
}

int hu_net_gru(hu_net *net, int x, size_t units, int last) { return add_plain(net, x, HU_CELL_GRU, units, last); }
int hu_net_lstm(hu_net *net, int x, size_t units, int last) { return add_plain(net, x, HU_CELL_LSTM, units, last); }
