/* SPDX-License-Identifier: MIT */
/* Sequences of different lengths: zeros and states behind an end; row convolutions, which stop there. */
#include "train/net/net.h"

/* Returns the task of a kernel over a value of so many steps a sample, each with `each` rows. */
static hu_task steps_task(const hu_net *net, const hu_value *x, int lengths, float *z, const float *a) {
  hu_task task = hui_task_of(x->rows, x->cols, z, a, NULL);
  task.steps.sample = x->rows / net->batch;
  task.steps.count = task.steps.sample;
  task.steps.each = 1;
  task.steps.lengths = lengths < 0 ? NULL : net->value[lengths].v;
  return task;
}

/* ---- one state or the one before it ---- */

static hu_task hold_task(const hu_net *net, const hu_operator *op, float *z) {
  hu_task task = steps_task(net, &net->value[op->out], op->in[2], z, NULL);
  task.steps.first = op->part.step;
  return task;
}

static hu_status hold_forward(hu_net *net, hu_operator *op) {
  hu_task task = hold_task(net, op, net->value[op->out].v);
  task.a = net->value[op->in[0]].v;
  task.b = net->value[op->in[1]].v;
  hui_do(net, HU_RUN_WITHIN, &task);
  return hui_done(net);
}

/* Gives the gradient to one of the two states, and +0 where it is the other's. */
static void hold_give(hu_net *net, const hu_operator *op, int which) {
  const float *dz = net->value[op->out].dv;
  if (!hui_needs_gradient(net, op->in[which])) return;
  hu_task task = hold_task(net, op, hui_gift(net, op->in[which], net->work[0]));
  task.a = which ? NULL : dz;
  task.b = which ? dz : NULL;
  hui_do(net, HU_RUN_WITHIN, &task);
  hui_give(net, op->in[which], task.z);
}

static hu_status hold_backward(hu_net *net, hu_operator *op) {
  hold_give(net, op, 1);
  hold_give(net, op, 0);
  return hui_done(net);
}

static const hu_operator_kind hold = {
    .name = "hold", .forward = hold_forward, .backward = hold_backward, .anywhere = 1};

int hui_add_hold(hu_net *net, int x, int before, int lengths, size_t step) {
  hu_value value = net->value[x];
  int z = hui_new_value(net, value.rows, value.cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &hold, x, before, z, 0);
  if (!op) return -1;
  op->in[2] = lengths;
  op->part.step = step;
  return z;
}

/* ---- zeros behind the end ---- */

static hu_status within_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_task task = steps_task(net, z, op->in[1], z->v, net->value[op->in[0]].v);
  task.steps.each = op->part.step;
  hui_do(net, HU_RUN_WITHIN, &task);
  return hui_done(net);
}

static hu_status within_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  if (!hui_needs_gradient(net, op->in[0])) return hui_done(net);
  hu_task task = steps_task(net, z, op->in[1], hui_gift(net, op->in[0], net->work[0]), z->dv);
  task.steps.each = op->part.step;
  hui_do(net, HU_RUN_WITHIN, &task);
  hui_give(net, op->in[0], task.z);
  return hui_done(net);
}

static const hu_operator_kind within = {
    .name = "within", .forward = within_forward, .backward = within_backward, .anywhere = 1};

int hui_add_within(hu_net *net, int x, int lengths) {
  hu_value value = net->value[x];
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &within, x, lengths, z, 0);
  if (!op) return -1;
  op->part.step = value.height ? value.width : 1; /* rows of a step */
  return z;
}

int hu_net_within(hu_net *net, int x, int lengths) {
  if (!hui_usable(net, x) || !hui_are_lengths(net, lengths, "within")) return -1;
  if (lengths < 0) return hui_refuse(net, HU_E_SHAPE, "within: no lengths");
  return hui_add_within(net, x, lengths);
}

/* ---- row convolution: W has a row for each step that is seen ---- */

static hu_task rows_task(const hu_net *net, const hu_operator *op, float *z, const float *a) {
  hu_task task = steps_task(net, &net->value[op->out], op->in[1], z, a);
  task.b = net->parameter[op->theta[0]].theta;
  task.steps.seen = net->parameter[op->theta[0]].rows;
  task.work = task.rows * task.cols * task.steps.seen;
  return task;
}

static hu_status rows_forward(hu_net *net, hu_operator *op) {
  hu_task task = rows_task(net, op, net->value[op->out].v, net->value[op->in[0]].v);
  hui_do(net, HU_RUN_ROW_CONVOLVE, &task);
  return hui_done(net);
}

/* Row k of dW is the column sums of dz times x, k steps later; then comes dx. */
static hu_status rows_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out], *x = &net->value[op->in[0]];
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  float *sums = hui_gift_parameter(net, op->theta[0], net->work[0]), *later = net->work[1];
  for (size_t k = 0; k < parameter->rows; k++) {
    hu_task task = rows_task(net, op, later, x->v);
    task.steps.first = k;
    hui_do(net, HU_RUN_LATER, &task);
    hui_do_columns(net, HU_RUN_COLUMNS_PRODUCT, z->rows, z->cols, sums + k * z->cols, z->dv, later, NULL);
  }
  hui_give_parameter(net, op->theta[0], sums);
  if (!hui_needs_gradient(net, op->in[0])) return hui_done(net);
  hu_task task = rows_task(net, op, hui_gift(net, op->in[0], net->work[0]), z->dv);
  hui_do(net, HU_RUN_ROW_CONVOLVE_BACK, &task);
  hui_give(net, op->in[0], task.z);
  return hui_done(net);
}

static const hu_operator_kind row_convolution = {
    .name = "row_convolution", .forward = rows_forward, .backward = rows_backward, .anywhere = 1};

int hu_net_row_convolution(hu_net *net, int x, size_t seen, int lengths) {
  if (!hui_usable(net, x) || !hui_are_lengths(net, lengths, "row_convolution")) return -1;
  hu_value value = net->value[x];
  if (seen == 0 || seen > 65536) return hui_refuse(net, HU_E_SHAPE, "row_convolution: not 1 to 65536 steps");
  int z = hui_new_value(net, value.rows, value.cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &row_convolution, x, lengths, z, 0);
  if (!op) return -1;
  op->theta[0] = hui_new_parameter(net, seen, value.cols, 0, seen);
  hui_name_parameters(net, "row_convolution", op->theta[0], "weight");
  return net->status == HU_OK ? z : -1;
}
