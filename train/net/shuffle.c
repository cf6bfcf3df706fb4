/* SPDX-License-Identifier: MIT */
/* The channel shuffle: a permutation of columns. */
#include "train/net/net.h"

/* z = the columns of x as a matrix of so many rows, transposed. */
static void shuffle_columns(hu_net *net, const hu_value *like, size_t groups, float *z, const float *x) {
  hu_task task = hui_task_of(like->rows, like->cols, z, x, NULL);
  task.groups = groups;
  hui_do(net, HU_RUN_SHUFFLE, &task);
}

static hu_status shuffle_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  shuffle_columns(net, z, op->shuffled, z->v, net->value[op->in[0]].v);
  return hui_done(net);
}

static hu_status shuffle_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  if (!hui_needs_gradient(net, op->in[0])) return HU_OK;
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  shuffle_columns(net, z, z->cols / op->shuffled, dx, z->dv); /* transposed back */
  hui_give_unrounded(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind shuffle = {
    .name = "shuffle", .forward = shuffle_forward, .backward = shuffle_backward, .anywhere = 1};

int hu_net_shuffle(hu_net *net, int x, size_t groups) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  if (groups == 0 || value.cols % groups != 0)
    return hui_refuse(net, HU_E_SHAPE, "shuffle: groups: no divisor of the columns");
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &shuffle, x, -1, z, 0);
  if (!op) return -1;
  op->shuffled = groups;
  return z;
}
