/* SPDX-License-Identifier: MIT */
/* Operators of recommendation models: rows of several values below each other, and products of all pairs of rows. */
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"

/* Numbers of a sample. */
static size_t sample_of(const hu_net *net, const hu_value *x) { return x->rows / net->batch * x->cols; }

/* ---- below each other: a sample's numbers of the values, side by side ---- */

static hu_status below_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  size_t all = sample_of(net, z);
  for (size_t k = 0, from = 0; k < op->list.count; k++) {
    const hu_value *x = &net->value[op->list.value[k]];
    size_t n = sample_of(net, x);
    hui_do_copy(net, net->batch, n, z->v + from, all, x->v, n);
    from += n;
  }
  return hui_done(net);
}

static hu_status below_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  size_t all = sample_of(net, z);
  for (size_t k = op->list.count, from = all; k-- > 0;) {
    size_t n = sample_of(net, &net->value[op->list.value[k]]);
    from -= n;
    if (!hui_needs_gradient(net, op->list.value[k])) continue;
    float *dx = hui_gift(net, op->list.value[k], net->work[0]);
    hui_do_copy(net, net->batch, n, dx, n, z->dv + from, all);
    hui_give(net, op->list.value[k], dx);
  }
  return hui_done(net);
}

static const hu_operator_kind below = {
    .name = "stack_rows", .forward = below_forward, .backward = below_backward, .anywhere = 1};

int hu_net_stack_rows(hu_net *net, size_t count, const int *values) {
  if (!hui_all_usable(net, count, values)) return -1;
  size_t rows = 0, cols = net->value[values[0]].cols;
  for (size_t k = 0; k < count; k++) {
    const hu_value *x = &net->value[values[k]];
    if (x->cols != cols) return hui_refuse(net, HU_E_SHAPE, "stack_rows: values of different columns");
    if (__builtin_add_overflow(rows, x->rows, &rows)) return hui_refuse(net, HU_E_SHAPE, "stack_rows: too many rows");
  }
  return hui_add_list(net, &below, count, values, hui_new_value(net, rows, cols, 0, 0));
}

/* ---- below the diagonal: of each sample's square the numbers (1, 0), (2, 0), (2, 1), (3, 0), ... ---- */

static hu_status triangle_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t side = x->cols;
  for (size_t i = 1; i < side; i++)
    hui_do_copy(net, net->batch, i, z->v + i * (i - 1) / 2, z->cols, x->v + i * side, side * side);
  return hui_done(net);
}

static hu_status triangle_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t side = x->cols;
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_do_fill(net, x->rows * side, dx, 0);
  for (size_t i = 1; i < side; i++)
    hui_do_copy(net, net->batch, i, dx + i * side, side * side, z->dv + i * (i - 1) / 2, z->cols);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind triangle = {
    .name = "triangle", .forward = triangle_forward, .backward = triangle_backward, .anywhere = 1};

int hu_net_interactions(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  size_t side = value.rows / net->batch;
  if (!value.made) return hui_refuse(net, HU_E_SHAPE, "interactions: of an input");
  if (side < 2 || side > 4096) return hui_refuse(net, HU_E_SHAPE, "interactions: not from 2 to 4096 rows a sample");
  int a = hui_add_gram(net, x);
  int z = a < 0 ? -1 : hui_new_value(net, net->batch, side * (side - 1) / 2, 0, 0);
  return hui_new_operator(net, &triangle, a, -1, z, 0) ? z : -1;
}
