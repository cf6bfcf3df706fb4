/* SPDX-License-Identifier: MIT */
/* Mixtures of experts: which experts a row chooses, rows sorted by expert, products of each expert's rows, their sums;
 * and the losses beside the last one that keep the load even. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/net/product.h"

static const hu_operator *route_of(const hu_net *net, const hu_operator *op) { return &net->op[op->experts.route]; }

/* Returns how many rows choose. */
static size_t rows_of(const hu_net *net, const hu_operator *route) { return net->value[route->out].rows; }

/* A routing operator keeps e^(s - max) or p; and as whole numbers place, source and counts of hu_experts_task. */
static uint32_t *places_of(const hu_net *net, const hu_operator *route) {
  return (uint32_t *)(void *)(route->kept + rows_of(net, route) * route->experts.experts);
}

/* Makes a task of kernels that read a routing, over rows x cols. */
static hu_task task_of(const hu_net *net, const hu_operator *route, size_t rows, size_t cols, float *z, const float *a,
                       const float *b) {
  const hu_expert_sizes *sizes = &route->experts;
  hu_task task = hui_task_of(rows, cols, z, a, b);
  task.experts.rows = rows_of(net, route);
  task.experts.experts = sizes->experts;
  task.experts.chosen = sizes->chosen;
  task.experts.capacity = sizes->capacity;
  task.experts.place = places_of(net, route);
  task.experts.source = task.experts.place + task.experts.rows * sizes->experts;
  task.experts.counts = task.experts.source + task.experts.rows * sizes->chosen;
  task.experts.normed = sizes->normed || sizes->of_chosen;
  return task;
}

/* ---- route: a row's shares of its experts, +0 for the others; list.value: the first place of each expert, and the
 * end ---- */

/* Brings the numbers of rows that experts take to the host: products are of so many. */
static void read_places(hu_net *net, hu_operator *op, const uint32_t *counts) {
  const hu_expert_sizes *sizes = &op->experts;
  int *first = op->list.value;
  uint32_t *count = (uint32_t *)(void *)(first + 1);
  hui_do_get(net, count, counts, sizes->experts * sizeof *count);
  first[0] = 0;
  for (size_t i = 0; i < sizes->experts && net->fault == HU_OK; i++) {
    const size_t taken = sizes->capacity && count[i] > sizes->capacity ? sizes->capacity : count[i];
    first[i + 1] = first[i] + (int)taken;
  }
}

static hu_status route_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *numbers = op->kept;
  hu_task task = hui_task_of(x->rows, x->cols, numbers, x->v, NULL);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, numbers, numbers);
  if (!op->experts.of_chosen) hui_do(net, HU_RUN_SHARES, &task);
  task = task_of(net, op, x->rows, x->cols, NULL, x->v, NULL);
  hui_do(net, HU_RUN_CHOOSE, &task);
  task = task_of(net, op, x->rows, x->cols, net->value[op->out].v, numbers, NULL);
  hui_do(net, HU_RUN_CHOSEN, &task);
  task.rows = op->experts.experts;
  task.work = x->rows * x->cols;
  hui_do(net, HU_RUN_EXPERT_COUNT, &task);
  hui_do(net, HU_RUN_EXPERT_PLACES, &task);
  read_places(net, op, task.experts.counts);
  return hui_done(net);
}

static hu_status route_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *dx = hui_gift(net, op->in[0], net->work[0]), *dp = op->experts.of_chosen ? dx : net->work[1];
  hu_task task = task_of(net, op, z->rows, z->cols, dp, op->experts.of_chosen ? NULL : op->kept, z->dv);
  task.experts.shares = z->v;
  hui_do(net, HU_RUN_CHOSEN_BACK, &task);
  if (!op->experts.of_chosen) {
    task = hui_task_of(z->rows, z->cols, dx, op->kept, dp);
    hui_do(net, HU_RUN_SHARES_BACK, &task);
  }
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind route = {
    .name = "route", .forward = route_forward, .backward = route_backward, .anywhere = 1};

/* ---- rows to experts, and back ---- */

static hu_status to_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_task task = task_of(net, route_of(net, op), z->rows, z->cols, z->v, net->value[op->in[0]].v, NULL);
  hui_do(net, HU_RUN_EXPERT_ROWS, &task);
  return hui_done(net);
}

static hu_status to_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  if (!hui_needs_gradient(net, op->in[0])) return HU_OK;
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = task_of(net, route_of(net, op), x->rows, x->cols, dx, net->value[op->out].dv, NULL);
  hui_do(net, HU_RUN_EXPERT_SUMS, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind to_experts = {
    .name = "to_experts", .forward = to_forward, .backward = to_backward, .anywhere = 1};

static hu_status from_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_task task = task_of(net, route_of(net, op), z->rows, z->cols, z->v, net->value[op->in[0]].v, NULL);
  task.experts.shares = net->value[op->in[1]].v;
  hui_do(net, HU_RUN_EXPERT_SUMS, &task);
  return hui_done(net);
}

static hu_status from_backward(hu_net *net, hu_operator *op) {
  const hu_operator *by = route_of(net, op);
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = task_of(net, by, x->rows, x->cols, dx, z->dv, NULL);
  task.experts.shares = net->value[op->in[1]].v;
  hui_do(net, HU_RUN_EXPERT_ROWS, &task);
  hui_give(net, op->in[0], dx);
  float *shares = hui_gift(net, op->in[1], net->work[0]);
  task = task_of(net, by, z->rows, z->cols, shares, z->dv, x->v);
  hui_do(net, HU_RUN_EXPERT_SHARES, &task);
  hui_give(net, op->in[1], shares);
  return hui_done(net);
}

static const hu_operator_kind from_experts = {
    .name = "from_experts", .forward = from_forward, .backward = from_backward, .anywhere = 1};

/* ---- a linear layer for each expert: W has their matrices below each other, b a row each ---- */

/* Computes the product of one expert, whose random words are those of one of several products. */
static void multiply(hu_net *net, const hu_operator *op, unsigned part, size_t expert, hu_products products) {
  products.outer = op->experts.experts;
  products.inner = 1;
  if (products.accum->mode.bits) {
    products.words = hui_net_words(net, HU_OF_SUM, op->number << 4 | part);
    products.words = hui_words_of_product(&products, expert);
  }
  products.outer = 1;
  if (net->fault == HU_OK) net->fault = net->engine->products(net->self, &products);
}

static hu_matrices part_of(hu_matrices whole, size_t row, int transposed) {
  whole.data += row * whole.ld;
  whole.transposed = transposed;
  return whole;
}

static hu_matrices result_of(float *z, size_t cols) {
  return (hu_matrices){.data = z, .ld = cols, .format = hu_binary32()};
}

static hu_status experts_forward(hu_net *net, hu_operator *op) {
  const int *first = route_of(net, op)->list.value;
  const hu_parameter *weights = &net->parameter[op->theta[0]];
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t experts = op->experts.experts, in = x->cols, out = z->cols, end = (size_t)first[experts];
  hu_matrices a = hui_x_operand(net, op, &op->rounding.x, HU_PART_Z_X);
  hu_matrices b = hui_weights_operand(net, op, weights->rows, &op->rounding.w, HU_PART_Z_W);
  for (size_t i = 0; i < experts; i++) {
    size_t at = (size_t)first[i], rows = (size_t)first[i + 1] - at;
    hu_products products = {.m = rows, .n = out, .k = in, .accum = &op->rounding.z_accum};
    products.z = result_of(z->v + at * out, out);
    products.a = part_of(a, at, 0);
    products.b = part_of(b, i * in, 0);
    if (rows) multiply(net, op, HU_PART_Z_OUT, i, products);
  }
  hui_do_fill(net, (z->rows - end) * out, z->v + end * out, 0);
  hu_status status = hui_round_product(net, op, z->rows, out, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  for (size_t i = 0; i < experts && op->theta[1] >= 0 && status == HU_OK; i++) {
    float *to = z->v + (size_t)first[i] * out;
    hu_task task =
        hui_task_of((size_t)(first[i + 1] - first[i]), out, to, to, net->parameter[op->theta[1]].theta + i * out);
    if (task.rows) hui_do(net, HU_RUN_ADD_ROW, &task);
  }
  return status == HU_OK ? hui_done(net) : status;
}

/* dW_i = X_i^T dZ_i and db_i, +0 where no row chose the expert. */
static hu_status give_weights(hu_net *net, hu_operator *op, const int *first) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t experts = op->experts.experts, in = x->cols, out = z->cols;
  float *dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
  hu_matrices a = hui_x_operand(net, op, &op->rounding.x_back, HU_PART_DW_X);
  hu_matrices b = hui_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ);
  for (size_t i = 0; i < experts; i++) {
    size_t at = (size_t)first[i], rows = (size_t)first[i + 1] - at;
    hu_products products = {.m = in, .n = out, .k = rows, .accum = &op->rounding.dw_accum};
    products.z = result_of(dw + i * in * out, out);
    products.a = part_of(a, at, 1);
    products.b = part_of(b, at, 0);
    if (rows) multiply(net, op, HU_PART_DW_OUT, i, products);
    if (!rows) hui_do_fill(net, in * out, products.z.data, 0);
  }
  hu_status status = hui_round_product(net, op, experts * in, out, dw, &op->rounding.dw_out, HU_PART_DW_OUT);
  hui_give_parameter(net, op->theta[0], dw);
  if (op->theta[1] < 0 || status != HU_OK) return status;
  float *db = hui_gift_parameter(net, op->theta[1], net->work[0]);
  for (size_t i = 0; i < experts; i++) {
    size_t at = (size_t)first[i], rows = (size_t)first[i + 1] - at;
    if (rows) hui_do_columns(net, HU_RUN_COLUMNS, rows, out, db + i * out, z->dv + at * out, NULL, NULL);
    if (!rows) hui_do_fill(net, out, db + i * out, 0);
  }
  hui_give_parameter(net, op->theta[1], db);
  return hui_done(net);
}

static hu_status experts_backward(hu_net *net, hu_operator *op) {
  const int *first = route_of(net, op)->list.value;
  const hu_parameter *weights = &net->parameter[op->theta[0]];
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t experts = op->experts.experts, in = x->cols, out = z->cols, end = (size_t)first[experts];
  net->rounded.there = 0; /* dZ is another one */
  hu_status status = give_weights(net, op, first);
  if (status != HU_OK) return status;
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_matrices a = hui_gradients_operand(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ);
  hu_matrices b = hui_weights_operand(net, op, weights->rows, &op->rounding.w_back, HU_PART_DX_W);
  for (size_t i = 0; i < experts; i++) {
    size_t at = (size_t)first[i], rows = (size_t)first[i + 1] - at;
    hu_products products = {.m = rows, .n = in, .k = out, .accum = &op->rounding.dx_accum};
    products.z = result_of(dx + at * in, in);
    products.a = part_of(a, at, 0);
    products.b = part_of(b, i * in, 1);
    if (rows) multiply(net, op, HU_PART_DX_OUT, i, products);
  }
  hui_do_fill(net, (x->rows - end) * in, dx + end * in, 0);
  status = hui_round_product(net, op, x->rows, in, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], dx);
  return status == HU_OK ? hui_done(net) : status;
}

static const hu_operator_kind experts_kind = {
    .name = "experts", .forward = experts_forward, .backward = experts_backward, .product = 1, .anywhere = 1};

/* ---- losses beside the last one; kept: p, and f or the logarithms of the sums ---- */

/* Writes p of the logits to `kept`, with the row sums before the division. */
static void share_logits(hu_net *net, const hu_operator *op, float *sums) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(x->rows, x->cols, op->kept, x->v, NULL);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, op->kept, op->kept);
  task.softmax.sums = sums;
  hui_do(net, HU_RUN_SHARES, &task);
}

/* The loss is the sum of n products times `factor`. */
static hu_status set_aside(hu_net *net, const hu_operator *op, size_t n, const float *a, const float *b, float factor) {
  float *products = net->work[2];
  hui_do_each(net, HU_RUN_TIMES, n, products, a, b, 0);
  hu_task task = hui_task_of(1, n, net->value[op->out].v, products, NULL);
  task.p = factor;
  hui_do(net, HU_RUN_SUM_ROWS, &task);
  return hui_done(net);
}

/* weight E times the sum of f P, P = (column sums of p) / R. */
static hu_status balance_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *f = op->kept + x->rows * x->cols, *mean = net->work[1];
  share_logits(net, op, NULL);
  hu_task task = task_of(net, route_of(net, op), 1, x->cols, f, NULL, NULL);
  hui_do(net, HU_RUN_LOAD, &task);
  hui_do_columns(net, HU_RUN_COLUMNS, x->rows, x->cols, mean, op->kept, NULL, NULL);
  hui_do_each(net, HU_RUN_OVER, x->cols, mean, mean, NULL, (float)x->rows);
  return set_aside(net, op, x->cols, f, mean, (float)(op->experts.weight * (double)x->cols));
}

/* dp = ((dv (weight E)) f) / R in all rows; ds = p (dp - row sum of dp p). */
static hu_status balance_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *f = op->kept + x->rows * x->cols, *row = net->work[1], *dp = net->work[2];
  float *dx = hui_gift(net, op->in[0], net->work[0]), *by = row + x->cols;
  hui_do_each(net, HU_RUN_SCALE, 1, by, net->value[op->out].dv, NULL, (float)(op->experts.weight * (double)x->cols));
  hu_task task = hui_task_of(1, x->cols, row, f, by);
  hui_do(net, HU_RUN_TIMES_COLUMN, &task);
  hui_do_each(net, HU_RUN_OVER, x->cols, row, row, NULL, (float)x->rows);
  hui_do_fill(net, x->rows * x->cols, dp, 0);
  task = hui_task_of(x->rows, x->cols, dp, dp, row);
  hui_do(net, HU_RUN_ADD_ROW, &task);
  task = hui_task_of(x->rows, x->cols, dx, op->kept, dp);
  hui_do(net, HU_RUN_SHARES_BACK, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind balance = {
    .name = "balance_loss", .forward = balance_forward, .backward = balance_backward, .aside = 1, .anywhere = 1};

/* weight / R times the sum of l l, l = max + log(row sum of e^(s - max)). */
static hu_status z_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *l = op->kept + x->rows * x->cols, *sums = net->work[1];
  share_logits(net, op, sums);
  hui_do_function(net, HU_OP_LOG, x->rows, sums, sums);
  hu_task task = hui_task_of(x->rows, x->cols, l, x->v, sums);
  hui_do(net, HU_RUN_LOG_SUMS, &task);
  return set_aside(net, op, x->rows, l, l, (float)(op->experts.weight / (double)x->rows));
}

/* ds = p (l (dv (2 weight / R))). */
static hu_status z_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *l = op->kept + x->rows * x->cols, *by = net->work[1], *slopes = net->work[2];
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_do_each(net, HU_RUN_SCALE, 1, by, net->value[op->out].dv, NULL,
              (float)(2 * op->experts.weight / (double)x->rows));
  hu_task task = hui_task_of(1, x->rows, slopes, l, by);
  hui_do(net, HU_RUN_TIMES_COLUMN, &task);
  task = hui_task_of(x->rows, x->cols, dx, op->kept, slopes);
  hui_do(net, HU_RUN_TIMES_COLUMN, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind z_loss = {
    .name = "z_loss", .forward = z_forward, .backward = z_backward, .aside = 1, .anywhere = 1};

/* ---- building ---- */

enum { CHOICES_MAX = 1 << 30 };

static HU_NOINLINE int add_route(hu_net *net, int x, const hu_routing *how) {
  if (!hui_usable(net, x) || !how) return -1;
  hu_value value = net->value[x];
  if (!value.made) return hui_refuse(net, HU_E_SHAPE, "route: of an input");
  if (how->chosen == 0 || how->chosen > value.cols)
    return hui_refuse(net, HU_E_SHAPE, "route: chosen: not from 1 to the number of experts");
  if (value.rows * value.cols > CHOICES_MAX) return hui_refuse(net, HU_E_SHAPE, "route: too many rows");
  if (!(how->capacity >= 0 && how->capacity < 1e9))
    return hui_refuse(net, HU_E_TRAIN, "route: the capacity is negative or not finite");
  size_t numbers = value.rows * value.cols, kept = 2 * numbers + value.rows * how->chosen + value.cols;
  double most = ceil(how->capacity * (double)(value.rows * how->chosen) / (double)value.cols);
  int z = hui_new_value(net, value.rows, value.cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &route, x, -1, z, kept);
  if (!op) return -1;
  op->experts = (hu_expert_sizes){.route = net->operators - 1,
                                  .experts = value.cols,
                                  .chosen = how->chosen,
                                  .capacity = most < 0x1p31 ? (size_t)most : 0,
                                  .of_chosen = how->of_chosen != 0,
                                  .normed = how->normed != 0};
  op->list.value = calloc(value.cols + 1, sizeof *op->list.value);
  return op->list.value ? z : hui_refuse(net, HU_E_MEMORY, "route: no memory");
}

hu_routing hu_routing_of(size_t chosen) {
  hu_routing how = {.chosen = chosen};
  return how;
}

int hu_net_route(hu_net *net, int logits, const hu_routing *how) { HU_ENV_RETURN(int, add_route(net, logits, how)); }

/* Returns the operator that made a routing; NULL and an error: it is another one. */
static const hu_operator *routing(hu_net *net, int x) {
  int i = hui_usable(net, x) ? hu_net_value_operator(net, x) : -1;
  if (i >= 0 && net->op[i].kind == &route) return &net->op[i];
  if (net && net->status == HU_OK) hui_refuse(net, HU_E_SHAPE, "experts: the second value is not one of route");
  return NULL;
}

/* Adds an operator that reads x by a routing. */
static int add_by_route(hu_net *net, const hu_operator_kind *kind, int x, int by, size_t rows, size_t cols,
                        size_t kept) {
  hu_expert_sizes sizes = net->op[hu_net_value_operator(net, by)].experts;
  int z = hui_new_value(net, rows, cols, 0, 0);
  hu_operator *op = hui_new_operator(net, kind, x, by, z, kept);
  if (!op) return -1;
  op->experts = sizes;
  return z;
}

int hu_net_to_experts(hu_net *net, int x, int by) {
  const hu_operator *op = hui_usable(net, x) ? routing(net, by) : NULL;
  if (!op) return -1;
  hu_value value = net->value[x];
  if (value.rows != rows_of(net, op)) return hui_refuse(net, HU_E_SHAPE, "to_experts: other rows than those of route");
  return add_by_route(net, &to_experts, x, by, value.rows * op->experts.chosen, value.cols, 0);
}

/* Returns 1 if x has the rows of the experts. */
static int has_rows(hu_net *net, const hu_operator *op, int x) {
  if (net->value[x].rows == rows_of(net, op) * op->experts.chosen && net->value[x].made) return 1;
  hui_refuse(net, HU_E_SHAPE, "experts: not the rows of to_experts");
  return 0;
}

int hu_net_experts(hu_net *net, int x, int by, size_t outputs, int bias) {
  const hu_operator *op = hui_usable(net, x) ? routing(net, by) : NULL;
  if (!op || !has_rows(net, op, x)) return -1;
  size_t experts = op->experts.experts, in = net->value[x].cols, rows = net->value[x].rows;
  int z = add_by_route(net, &experts_kind, x, by, rows, outputs, 0);
  if (z < 0) return -1;
  int weights = hui_new_parameter(net, experts * in, outputs, 0, in);
  int offsets = bias && weights >= 0 ? hui_new_parameter(net, experts, outputs, 0, 0) : -1;
  hui_name_parameters(net, "experts", weights, "weight bias");
  if (weights >= 0) net->parameter[weights].first.matrices = experts;
  net->op[net->operators - 1].theta[0] = weights;
  net->op[net->operators - 1].theta[1] = offsets;
  return net->status == HU_OK ? z : -1;
}

int hu_net_from_experts(hu_net *net, int x, int by) {
  const hu_operator *op = hui_usable(net, x) ? routing(net, by) : NULL;
  if (!op || !has_rows(net, op, x)) return -1;
  return add_by_route(net, &from_experts, x, by, rows_of(net, op), net->value[x].cols, 0);
}

static HU_NOINLINE int add_aside(hu_net *net, const hu_operator_kind *kind, int by, double weight) {
  const hu_operator *op = routing(net, by);
  if (!op) return -1;
  if (!(weight > 0 && weight < 1e30)) return hui_refuse(net, HU_E_TRAIN, "loss: the weight is not positive and finite");
  size_t rows = rows_of(net, op), experts = op->experts.experts;
  int z = add_by_route(net, kind, op->in[0], by, 1, 1, rows * experts + rows + experts);
  if (z < 0 || hui_reserve_work(net, 2 * rows * experts) != HU_OK)
    return hui_refuse(net, HU_E_MEMORY, "loss: no memory");
  net->op[net->operators - 1].experts.weight = weight;
  return z;
}

int hu_net_balance_loss(hu_net *net, int by, double weight) {
  HU_ENV_RETURN(int, add_aside(net, &balance, by, weight));
}

int hu_net_z_loss(hu_net *net, int by, double weight) { HU_ENV_RETURN(int, add_aside(net, &z_loss, by, weight)); }
