/* SPDX-License-Identifier: MIT */
/* Operators that make one value of several: side by side, as products, as sums. */
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"

static size_t numbers(const hu_value *x) { return x->rows * x->cols; }

int hui_add_list(hu_net *net, const hu_operator_kind *kind, size_t count, const int *values, int out) {
  hu_operator *op = hui_new_operator(net, kind, values[0], -1, out, 0);
  if (!op) return -1;
  op->list.value = malloc(count * sizeof *values);
  if (!op->list.value) return hui_refuse(net, HU_E_MEMORY, "no memory for a list of values");
  memcpy(op->list.value, values, count * sizeof *values);
  op->list.count = count;
  for (size_t k = 1; k < count; k++) {
    if (net->value[values[k]].sampled)
      return hui_refuse(net, HU_E_SHAPE, "of a sampled linear layer, which cross entropy alone reads");
  }
  return out;
}

int hui_all_usable(hu_net *net, size_t count, const int *values) {
  if (!net || net->status != HU_OK) return 0;
  if (!values || count == 0 || count > HU_TENSORS_MAX) {
    hui_refuse(net, HU_E_SHAPE, "a list of no values, or of too many");
    return 0;
  }
  for (size_t k = 0; k < count; k++) {
    if (!hui_usable(net, values[k])) return 0;
  }
  return 1;
}

/* ---- side by side ---- */

static hu_status concat_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  for (size_t k = 0, from = 0; k < op->list.count; k++) {
    const hu_value *x = &net->value[op->list.value[k]];
    hui_do_copy(net, x->rows, x->cols, z->v + from, z->cols, x->v, x->cols);
    from += x->cols;
  }
  return hui_done(net);
}

static hu_status concat_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  for (size_t k = op->list.count, from = z->cols; k-- > 0;) {
    const hu_value *x = &net->value[op->list.value[k]];
    from -= x->cols;
    if (!hui_needs_gradient(net, op->list.value[k])) continue;
    float *dx = hui_gift(net, op->list.value[k], net->work[0]);
    hui_do_copy(net, x->rows, x->cols, dx, x->cols, z->dv + from, z->cols);
    hui_give(net, op->list.value[k], dx);
  }
  return hui_done(net);
}

static const hu_operator_kind concat = {
    .name = "concat", .forward = concat_forward, .backward = concat_backward, .anywhere = 1};

int hu_net_concat(hu_net *net, size_t count, const int *values) {
  if (!hui_all_usable(net, count, values)) return -1;
  hu_value first = net->value[values[0]];
  size_t cols = 0;
  for (size_t k = 0; k < count; k++) {
    const hu_value *x = &net->value[values[k]];
    if (x->rows != first.rows || x->height != first.height || x->width != first.width) {
      return hui_refuse(net, HU_E_SHAPE, "concat: values of different rows");
    }
    cols += x->cols;
  }
  return hui_add_list(net, &concat, count, values, hui_new_value(net, first.rows, cols, first.height, first.width));
}

/* ---- products of two values ---- */

static hu_status times_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hui_do_each(net, HU_RUN_TIMES, numbers(z), z->v, net->value[op->in[0]].v, net->value[op->in[1]].v, 0);
  return hui_done(net);
}

static void give_times(hu_net *net, const hu_operator *op, int to, const float *other) {
  const hu_value *z = &net->value[op->out];
  if (!hui_needs_gradient(net, to)) return;
  float *dx = hui_gift(net, to, net->work[0]);
  hui_do_each(net, HU_RUN_TIMES, numbers(z), dx, z->dv, other, 0);
  hui_give(net, to, dx);
}

static hu_status times_backward(hu_net *net, hu_operator *op) {
  give_times(net, op, op->in[1], net->value[op->in[0]].v);
  give_times(net, op, op->in[0], net->value[op->in[1]].v);
  return hui_done(net);
}

static const hu_operator_kind times = {
    .name = "multiply", .forward = times_forward, .backward = times_backward, .anywhere = 1};

int hu_net_multiply(hu_net *net, int a, int b) {
  if (!hui_usable(net, a) || !hui_usable(net, b)) return -1;
  hu_value x = net->value[a], y = net->value[b];
  if (x.rows != y.rows || x.cols != y.cols) {
    return hui_refuse(net, HU_E_SHAPE, "multiply: operands of different shapes");
  }
  int z = hui_new_value(net, x.rows, x.cols, x.height, x.width);
  return hui_new_operator(net, &times, a, b, z, 0) ? z : -1;
}

/* ---- sums of samples ---- */

static hu_status sum_forward(hu_net *net, hu_operator *op) {
  for (size_t k = 0; k < op->list.count; k++) {
    const hu_value *x = &net->value[op->list.value[k]];
    hu_task task = hui_task_of(net->batch, numbers(x) / net->batch, net->value[op->out].v, x->v, NULL);
    task.p = 1;
    task.onto = k > 0;
    hui_do(net, HU_RUN_SUM_ROWS, &task);
  }
  return hui_done(net);
}

static hu_status sum_backward(hu_net *net, hu_operator *op) {
  for (size_t k = op->list.count; k-- > 0;) {
    if (!hui_needs_gradient(net, op->list.value[k])) continue;
    size_t n = numbers(&net->value[op->list.value[k]]) / net->batch;
    float *dx = hui_gift(net, op->list.value[k], net->work[0]);
    hu_task task = hui_task_of(net->batch, n, dx, NULL, net->value[op->out].dv);
    hui_do(net, HU_RUN_SPREAD, &task);
    hui_give(net, op->list.value[k], dx);
  }
  return hui_done(net);
}

static const hu_operator_kind sum = {.name = "sum", .forward = sum_forward, .backward = sum_backward, .anywhere = 1};

int hu_net_sum(hu_net *net, size_t count, const int *values) {
  if (!hui_all_usable(net, count, values)) return -1;
  return hui_add_list(net, &sum, count, values, hui_new_value(net, net->batch, 1, 0, 0));
}
