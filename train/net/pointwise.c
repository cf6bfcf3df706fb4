/* SPDX-License-Identifier: MIT */
/* Operators on one number at a time. */
#include <string.h>

#include "train/environment.h"
#include "train/net/net.h"

static size_t numbers(const hu_net *net, int value) { return net->value[value].rows * net->value[value].cols; }

/* A value of the shape of x, and the operator that makes it. */
static int add_alike(hu_net *net, const hu_operator_kind *kind, int x, int y, size_t kept, hu_operator **made) {
  hu_value value = net->value[x];
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, kind, x, y, z, kept);
  if (made) *made = op;
  return op ? z : -1;
}

/* Compute the result, or the gradient of the operand, from what a kernel reads. */
static hu_status forward(hu_net *net, hu_operator *op, int kernel, const float *a, const float *b) {
  hui_do_each(net, kernel, numbers(net, op->out), net->value[op->out].v, a, b, 0);
  return hui_done(net);
}

static hu_status backward(hu_net *net, hu_operator *op, int kernel, const float *a, const float *b) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_do_each(net, kernel, numbers(net, op->out), dx, a, b, 0);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static hu_status function(hu_net *net, hu_operator *op, int which) {
  hui_do_function(net, which, numbers(net, op->out), net->value[op->out].v, net->value[op->in[0]].v);
  return hui_done(net);
}

/* ---- ReLU ---- */

static hu_status relu_forward(hu_net *net, hu_operator *op) {
  return forward(net, op, HU_RUN_RELU, net->value[op->in[0]].v, NULL);
}

static hu_status relu_backward(hu_net *net, hu_operator *op) {
  return backward(net, op, HU_RUN_RELU_BACK, net->value[op->out].v, net->value[op->out].dv);
}

static const hu_operator_kind relu = {
    .name = "relu", .forward = relu_forward, .backward = relu_backward, .anywhere = 1};

/* ---- ReLU6; the gradient from what was read: a rounding may leave 6, in a format without it, another number ---- */

static hu_status relu6_forward(hu_net *net, hu_operator *op) {
  return forward(net, op, HU_RUN_RELU6, net->value[op->in[0]].v, NULL);
}

static hu_status relu6_backward(hu_net *net, hu_operator *op) {
  return backward(net, op, HU_RUN_RELU6_BACK, net->value[op->in[0]].v, net->value[op->out].dv);
}

static const hu_operator_kind relu6 = {
    .name = "relu6", .forward = relu6_forward, .backward = relu6_backward, .anywhere = 1};

/* ---- GELU ---- */

static hu_status gelu_forward(hu_net *net, hu_operator *op) { return function(net, op, HU_OP_GELU); }

/* dx = dy (Phi(x) + x phi(x)): Phi = 0.5 + 0.5 erf(x sqrt(1/2)), phi = e^((-0.5 x) x) / sqrt(2 pi). */
static hu_status gelu_backward(hu_net *net, hu_operator *op) {
  size_t n = numbers(net, op->out);
  float *erf = net->work[0], *exp = net->work[1];
  hu_task task = hui_task_of(1, n, hui_gift(net, op->in[0], net->work[2]), NULL, NULL);
  task.gelu.erf = erf;
  task.gelu.exp = exp;
  task.gelu.x = net->value[op->in[0]].v;
  task.gelu.dz = net->value[op->out].dv;
  hui_do(net, HU_RUN_GELU_PARTS, &task);
  hui_do_function(net, HU_OP_ERF, n, erf, erf);
  hui_do_function(net, HU_OP_EXP, n, exp, exp);
  hui_do(net, HU_RUN_GELU_BACK, &task);
  hui_give(net, op->in[0], task.z);
  return hui_done(net);
}

static const hu_operator_kind gelu = {
    .name = "gelu", .forward = gelu_forward, .backward = gelu_backward, .anywhere = 1};

/* ---- tanh and sigmoid, gradients from what was stored ---- */

static hu_status tanh_forward(hu_net *net, hu_operator *op) { return function(net, op, HU_OP_TANH); }

static hu_status tanh_backward(hu_net *net, hu_operator *op) {
  return backward(net, op, HU_RUN_TANH_BACK, net->value[op->out].v, net->value[op->out].dv);
}

static const hu_operator_kind tanh_kind = {
    .name = "tanh", .forward = tanh_forward, .backward = tanh_backward, .anywhere = 1};

static hu_status sigmoid_forward(hu_net *net, hu_operator *op) { return function(net, op, HU_OP_SIGMOID); }

static hu_status sigmoid_backward(hu_net *net, hu_operator *op) {
  return backward(net, op, HU_RUN_SIGMOID_BACK, net->value[op->out].v, net->value[op->out].dv);
}

static const hu_operator_kind sigmoid = {
    .name = "sigmoid", .forward = sigmoid_forward, .backward = sigmoid_backward, .anywhere = 1};

/* ---- sums of two values ---- */

static hu_status add_forward(hu_net *net, hu_operator *op) {
  return forward(net, op, HU_RUN_ADD, net->value[op->in[0]].v, net->value[op->in[1]].v);
}

static hu_status add_backward(hu_net *net, hu_operator *op) {
  const float *dz = net->value[op->out].dv;
  if (hui_needs_gradient(net, op->in[1])) hui_give(net, op->in[1], dz);
  if (hui_needs_gradient(net, op->in[0])) hui_give(net, op->in[0], dz);
  return hui_done(net);
}

static const hu_operator_kind add = {.name = "add", .forward = add_forward, .backward = add_backward, .anywhere = 1};

/* ---- dropout; `kept` holds the factors ---- */

static hu_status dropout_forward(hu_net *net, hu_operator *op) {
  hu_task task = hui_task_of(1, numbers(net, op->out), op->kept, NULL, NULL);
  task.mask.words = hui_net_words(net, HU_OF_DROPOUT, op->number);
  task.mask.below = net->training ? (uint64_t)(op->dropped * 0x1p32) : 0;
  task.p = net->training ? (float)(1 / (1 - op->dropped)) : 1;
  hui_do(net, HU_RUN_MASK, &task);
  return forward(net, op, HU_RUN_TIMES, net->value[op->in[0]].v, op->kept);
}

static hu_status dropout_backward(hu_net *net, hu_operator *op) {
  return backward(net, op, HU_RUN_TIMES, net->value[op->out].dv, op->kept);
}

static const hu_operator_kind dropout = {
    .name = "dropout", .forward = dropout_forward, .backward = dropout_backward, .anywhere = 1};

/* ---- building ---- */

/* The weights that lead to x, through normalisations, are drawn for a ReLU. */
static void note_relu(hu_net *net, int x) {
  for (int i = net->operators; i-- > 0;) {
    const hu_operator *op = &net->op[i];
    if (op->out != x) continue;
    if (op->kind->product && op->theta[0] >= 0) net->parameter[op->theta[0]].first.before_relu = 1;
    if (op->kind->product || !op->kind->start) return;
    x = op->in[0];
  }
}

int hu_net_relu(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  note_relu(net, x);
  return add_alike(net, &relu, x, -1, 0, NULL);
}

int hu_net_relu6(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  note_relu(net, x);
  return add_alike(net, &relu6, x, -1, 0, NULL);
}

int hu_net_gelu(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  note_relu(net, x);
  return add_alike(net, &gelu, x, -1, 0, NULL);
}

int hu_net_tanh(hu_net *net, int x) { return hui_usable(net, x) ? add_alike(net, &tanh_kind, x, -1, 0, NULL) : -1; }
int hu_net_sigmoid(hu_net *net, int x) { return hui_usable(net, x) ? add_alike(net, &sigmoid, x, -1, 0, NULL) : -1; }

int hu_net_add(hu_net *net, int a, int b) {
  if (!hui_usable(net, a) || !hui_usable(net, b)) return -1;
  const hu_value *x = &net->value[a], *y = &net->value[b];
  if (x->rows != y->rows || x->cols != y->cols) return hui_refuse(net, HU_E_SHAPE, "add: operands of different shapes");
  return add_alike(net, &add, a, b, 0, NULL);
}

static HU_NOINLINE int add_dropout(hu_net *net, int x, double p) {
  hu_operator *op;
  if (!hui_usable(net, x)) return -1;
  if (!(p >= 0 && p < 1)) return hui_refuse(net, HU_E_TRAIN, "dropout: p is not from 0 to below 1");
  int z = add_alike(net, &dropout, x, -1, numbers(net, x), &op);
  if (z >= 0) op->dropped = p;
  return z;
}

int hu_net_dropout(hu_net *net, int x, double p) { HU_ENV_RETURN(int, add_dropout(net, x, p)); }
