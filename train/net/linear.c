/* SPDX-License-Identifier: MIT */
/* Linear layers: their passes, by the products that all layers with weights share, or (`quartet`) by their own. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/product.h"

static const hu_operator_kind linear;

/* Returns the part that a linear operator of a layer of cells reads, made for the operator, one or two before it;
 * NULL: it reads something else. */
static hu_operator *part_before(const hu_net *net, const hu_operator *reader) {
  for (long back = 1; back <= 2 && back <= reader - net->op; back++) {
    hu_operator *op = net->op + (reader - net->op) - back;
    if (strcmp(op->kind->name, "part") == 0 && op->out == reader->in[0]) return op;
  }
  return NULL;
}

/* The value whose row `*step` of each sample, all columns, is what a linear of a layer of cells reads, not rounded once
 * more; -1: it reads something else. */
static int step_of(const hu_net *net, const hu_operator *reader, size_t *step) {
  const hu_operator *op = part_before(net, reader);
  if (!op) return -1;
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  *step = op->part.step;
  return z->cols == x->cols && z->rows < x->rows && z->round.kind == HU_ROUND_KEEP ? op->in[0] : -1;
}

/* A layer of cells multiplies each step's row of X by the same weights. Where nothing rounds those operands, the first
 * step computes the products of all steps as one, which reads the weights once: each number of Z has the terms that it
 * has by itself, in the same order. The value X; -1: this product has to be made alone. */
static int steps_together(const hu_net *net, const hu_operator *op, size_t *step) {
  const hu_product_rounding *rounding = &op->rounding;
  int standard = op->kind == &linear && op->sharing.shared && !op->sharing.transposed && !rounding->quartet &&
                 hui_is_kept(&rounding->x) && hui_is_kept(&rounding->w);
  return standard && hui_is_plain_fp32(&rounding->z_accum) && net->engine->on_host ? step_of(net, op, step) : -1;
}

/* Samples from ... from + count - 1, whose products with the weights are in `buffer`, of X as it lies: all operators
 * from the first one on that have a step of X get theirs. NULL: they are counted. */
static size_t each_step(hu_net *net, hu_operator *first, int x, const float *buffer, size_t from, size_t count) {
  size_t steps = 0, step;
  for (hu_operator *op = first; op < net->op + net->operators; op++) {
    if (op->theta[0] != first->theta[0] || steps_together(net, op, &step) != x) continue;
    const hu_value *z = &net->value[op->out];
    size_t all = net->value[x].rows / z->rows;
    steps++;
    if (!buffer) continue;
    hui_do_copy(net, count, z->cols, z->v + from * z->cols, z->cols, buffer + step * z->cols, all * z->cols);
    op->sharing.ahead = 1;
  }
  return steps;
}

/* 1: the product is there. As many samples as a buffer has space for are multiplied at once. */
static int comes_with_others(hu_net *net, hu_operator *op) {
  size_t step;
  int of = op->sharing.ahead ? -1 : steps_together(net, op, &step);
  if (of < 0) return op->sharing.ahead;
  const hu_value *x = &net->value[of], *z = &net->value[op->out];
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  size_t samples = z->rows, steps = x->rows / samples, most = net->work_size / parameter->cols / steps;
  if (!most || each_step(net, op, of, NULL, 0, 0) != steps) return 0;
  for (size_t at = 0; at < samples; at += most) {
    size_t count = samples - at < most ? samples - at : most;
    hu_matrices a = {.data = x->v + at * steps * x->cols, .ld = x->cols, .format = hu_binary32()};
    hu_matrices b = {.data = parameter->theta, .ld = parameter->cols, .format = hu_binary32()};
    hui_multiply(net, op, HU_PART_Z_OUT, count * steps, parameter->cols, x->cols, net->work[0], a, b);
    each_step(net, op, of, net->work[0], at, count);
  }
  return 1;
}

/* ---- dX of all steps of a layer of cells ---- */

/* What a step gives to its row of X does not go through the state, so no other step waits for it. Where nothing rounds
 * the operands, dX or the row's gradient, the product of a step may be made when dZ of all steps is there, with those
 * of the others: each number of dX has the terms that it has by itself, in the same order. The value X; -1: this
 * product has to be made alone. */
static int steps_together_back(const hu_net *net, const hu_operator *op, size_t *step) {
  const hu_product_rounding *rounding = &op->rounding;
  int kept = hui_is_kept(&rounding->dz) && hui_is_kept(hui_last_rounding(op, HU_PART_DX_W, &rounding->w_back)) &&
             hui_is_kept(&rounding->dx_out);
  int standard = op->kind == &linear && op->sharing.shared && !op->sharing.transposed && !rounding->quartet && kept &&
                 hui_is_plain_fp32(&rounding->dx_accum);
  if (!standard || !net->engine->on_host || op->factor[1] != 0) return -1;
  const hu_value *row = &net->value[op->in[0]];
  return hui_is_kept(&row->round_back) && !row->gradient ? step_of(net, op, step) : -1;
}

/* The operators of a layer in the order of its steps, from that of the last step back. 0: they are not all there. */
static int list_steps(hu_net *net, hu_operator *last, int x, size_t steps, hu_operator **list) {
  size_t left = steps, step;
  for (long i = last - net->op; left && i >= 0; i--) {
    hu_operator *op = &net->op[i];
    if (op->theta[0] != last->theta[0] || steps_together_back(net, op, &step) != x) continue;
    if (step != left - 1) return 0;
    list[--left] = op;
  }
  return !left;
}

/* Steps whose dZ, and whose dX, buffers have space for. */
static size_t steps_at_once(const hu_net *net, const hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  return net->work_size / z->rows / (x->cols > z->cols ? x->cols : z->cols);
}

/* 1: the product for dX is made when the first step's turn comes. The last step decides for all. */
static int comes_later(hu_net *net, hu_operator *op) {
  size_t step;
  int x = op->sharing.later ? -1 : steps_together_back(net, op, &step);
  if (x < 0 || !steps_at_once(net, op)) return op->sharing.later;
  size_t steps = net->value[x].rows / net->value[op->out].rows;
  if (step != steps - 1) return 0;
  hu_operator **list = malloc(steps * sizeof *list);
  int all = list && list_steps(net, op, x, steps, list);
  for (size_t t = 0; all && t < steps; t++) list[t]->sharing.later = 1;
  free(list);
  return all;
}

/* Steps first ... first + count - 1 of those that are listed, from the last one on: each row of X gets its gradient,
 * and gives it to X unless its turn is still to come. */
static void give_some_steps(hu_net *net, hu_operator *const *list, size_t first, size_t count) {
  const hu_operator *op = list[0];
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  size_t given = x->rows * x->cols, taken = z->rows * z->cols;
  hu_matrices a = {.data = net->work[1], .ld = z->cols, .format = hu_binary32()};
  hu_matrices b = {.data = parameter->theta, .ld = parameter->cols, .format = hu_binary32(), .transposed = 1};
  for (size_t t = 0; t < count; t++)
    hui_do_copy(net, 1, taken, net->work[1] + t * taken, taken, net->value[list[first + t]->out].dv, taken);
  hui_multiply(net, op, HU_PART_DX_OUT, count * z->rows, x->cols, z->cols, net->work[2], a, b);
  for (size_t t = count; t-- > 0;) {
    int row = list[first + t]->in[0];
    hui_do_copy(net, 1, given, net->value[row].dv, given, net->work[2] + t * given, given);
    hui_give(net, row, net->value[row].dv);
    if (first + t) hui_backward_after_turn(net, part_before(net, list[first + t]));
  }
}

static hu_status give_all_steps(hu_net *net, hu_operator *op) {
  size_t step, at_once = steps_at_once(net, op), steps = 0;
  int x = step_of(net, op, &step);
  if (step) return hui_done(net);
  size_t left = net->value[x].rows / net->value[op->out].rows;
  hu_operator **list = malloc(left * sizeof *list);
  if (!list) return HU_E_MEMORY;
  for (hu_operator *one = op; steps < left; one++) {
    if (one->sharing.later && one->theta[0] == op->theta[0]) list[steps++] = one;
  }
  for (; left; left -= left < at_once ? left : at_once) {
    size_t count = left < at_once ? left : at_once;
    give_some_steps(net, list, left - count, count);
  }
  free(list);
  return hui_done(net);
}

/* ---- passes ---- */

static hu_status linear_forward(hu_net *net, hu_operator *op) {
  if (op->rounding.quartet) return hui_quartet_forward(net, op);
  if (comes_with_others(net, op)) return hui_finish_forward(net, op);
  return hui_product_forward(net, op, net->value[op->in[0]].cols, hui_x_operand(net, op, &op->rounding.x, HU_PART_Z_X));
}

static hu_status linear_backward(hu_net *net, hu_operator *op) {
  if (op->rounding.quartet) return hui_quartet_backward(net, op);
  hu_value *x = &net->value[op->in[0]];
  net->rounded.there = 0; /* dZ is another one */
  hu_status status =
      hui_postponed(net, op)
          ? hui_give_bias(net, op)
          : hui_product_weights(net, op, x->cols, hui_x_operand(net, op, &op->rounding.x_back, HU_PART_DW_X));
  if (status != HU_OK || !hui_needs_gradient(net, op->in[0])) return status;
  if (comes_later(net, op)) return give_all_steps(net, op);
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_product_x(net, op, x->cols, dx);
  hui_times_factor(net, x->rows * x->cols, dx, op->factor[1]);
  status = hui_round_product(net, op, x->rows, x->cols, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], dx);
  return status == HU_OK ? hui_done(net) : status;
}

static const hu_operator_kind linear = {
    .name = "linear", .forward = linear_forward, .backward = linear_backward, .product = 1, .anywhere = 1};

/* Adds the operator; transposed: 1: a column of the result for each row of the weights. */
static int add_linear(hu_net *net, int x, int weights, int bias, int transposed) {
  if (!hui_usable(net, x) || weights < 0) return -1;
  hu_value value = net->value[x];
  const hu_parameter *parameter = &net->parameter[weights];
  int z = hui_new_value(net, value.rows, transposed ? parameter->rows : parameter->cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &linear, x, -1, z, 0);
  if (!op) return -1;
  op->theta[0] = weights;
  op->theta[1] = bias;
  op->sharing.transposed = transposed;
  int i = net->operators - 2; /* the last one with these weights: those before it are marked already */
  while (i >= 0 && (net->op[i].kind != &linear || net->op[i].theta[0] != weights)) i--;
  if (i >= 0) op->sharing.shared = net->op[i].sharing.shared = 1;
  return z;
}

int hui_linear_of(hu_net *net, int x, int weights, int bias) { return add_linear(net, x, weights, bias, 0); }

int hui_linear_by_table(hu_net *net, int x, int table, int bias) { return add_linear(net, x, table, bias, 1); }

int hu_net_linear(hu_net *net, int x, size_t outputs, int bias) {
  if (!hui_usable(net, x)) return -1;
  int weights = hui_new_parameter(net, net->value[x].cols, outputs, 0, net->value[x].cols);
  int offset = bias && weights >= 0 ? hui_new_parameter(net, 1, outputs, 0, 0) : -1;
  hui_name_parameters(net, "linear", weights, "weight bias");
  return net->status == HU_OK ? hui_linear_of(net, x, weights, offset) : -1;
}

int hu_net_linear_transposed(hu_net *net, int x, int table, int bias) {
  if (!hui_usable(net, x)) return -1;
  if (table < 0 || table >= net->parameters || net->parameter[table].cols != net->value[x].cols)
    return hui_refuse(net, HU_E_SHAPE, "linear_transposed: no table with the columns of the value");
  int offset = bias ? hui_new_parameter(net, 1, net->parameter[table].rows, 0, 0) : -1;
  if (bias) hui_name_parameters(net, "linear", offset, "bias");
  return net->status == HU_OK ? hui_linear_by_table(net, x, table, offset) : -1;
}
