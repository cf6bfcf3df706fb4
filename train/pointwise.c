/* SPDX-License-Identifier: MIT */
/* Operators on one number at a time. */
#include <string.h>

#include "train/graph.h"

static size_t numbers(const hu_net *net, int value) { return net->value[value].rows * net->value[value].cols; }

/* A value of the shape of x, and the operator that makes it. */
static int add_alike(hu_net *net, const hu_operator_kind *kind, int x, int y, size_t kept, hu_operator **made) {
  hu_value v = net->value[x];
  int z = hu_new_value(net, v.rows, v.cols, v.height, v.width);
  hu_operator *op = hu_new_operator(net, kind, x, y, z, kept);
  if (made) *made = op;
  return op ? z : -1;
}

/* ---- ReLU ---- */

static hu_status relu_forward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v;
  float *z = net->value[op->out].v;
  for (size_t i = 0, n = numbers(net, op->out); i < n; i++) z[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0;
  return HU_OK;
}

static hu_status relu_backward(hu_net *net, hu_operator *op) {
  const float *y = net->value[op->out].v, *dy = net->value[op->out].dv;
  float *dx = net->work[0];
  for (size_t i = 0, n = numbers(net, op->out); i < n; i++) dx[i] = y[i] > 0 ? dy[i] : 0;
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind relu = {"relu", relu_forward, relu_backward, NULL, 0, 0};

/* ---- GELU ---- */

static hu_status gelu_forward(hu_net *net, hu_operator *op) {
  hu_gelu_each(numbers(net, op->out), net->value[op->out].v, net->value[op->in[0]].v);
  return HU_OK;
}

/* dx = dy (Phi(x) + x phi(x)): Phi = 0.5 + 0.5 erf(x sqrt(1/2)), phi = e^((-0.5 x) x) / sqrt(2 pi). */
static hu_status gelu_backward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v, *dy = net->value[op->out].dv;
  float *whole = net->work[0], *part = net->work[1];
  size_t n = numbers(net, op->out);
  for (size_t i = 0; i < n; i++) {
    whole[i] = x[i] * 0x1.6a09e6p-1f;
    part[i] = -0.5f * x[i] * x[i];
  }
  hu_erf_each(n, whole, whole);
  hu_exp_each(n, part, part);
  for (size_t i = 0; i < n; i++) {
    float density = part[i] * 0x1.988454p-2f, below = 0.5f + 0.5f * whole[i];
    whole[i] = dy[i] * (below + x[i] * density);
  }
  hu_give(net, op->in[0], whole);
  return HU_OK;
}

static const hu_operator_kind gelu = {"gelu", gelu_forward, gelu_backward, NULL, 0, 0};

/* ---- tanh and sigmoid, gradients from what was stored ---- */

static hu_status tanh_forward(hu_net *net, hu_operator *op) {
  hu_tanh_each(numbers(net, op->out), net->value[op->out].v, net->value[op->in[0]].v);
  return HU_OK;
}

static hu_status tanh_backward(hu_net *net, hu_operator *op) {
  const float *y = net->value[op->out].v, *dy = net->value[op->out].dv;
  float *dx = net->work[0];
  for (size_t i = 0, n = numbers(net, op->out); i < n; i++) dx[i] = dy[i] * (1 - y[i] * y[i]);
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind tanh_kind = {"tanh", tanh_forward, tanh_backward, NULL, 0, 0};

static hu_status sigmoid_forward(hu_net *net, hu_operator *op) {
  hu_sigmoid_each(numbers(net, op->out), net->value[op->out].v, net->value[op->in[0]].v);
  return HU_OK;
}

static hu_status sigmoid_backward(hu_net *net, hu_operator *op) {
  const float *y = net->value[op->out].v, *dy = net->value[op->out].dv;
  float *dx = net->work[0];
  for (size_t i = 0, n = numbers(net, op->out); i < n; i++) dx[i] = dy[i] * (y[i] * (1 - y[i]));
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind sigmoid = {"sigmoid", sigmoid_forward, sigmoid_backward, NULL, 0, 0};

/* ---- sums of two values ---- */

static hu_status add_forward(hu_net *net, hu_operator *op) {
  const float *a = net->value[op->in[0]].v, *b = net->value[op->in[1]].v;
  float *z = net->value[op->out].v;
  for (size_t i = 0, n = numbers(net, op->out); i < n; i++) z[i] = a[i] + b[i];
  return HU_OK;
}

static hu_status add_backward(hu_net *net, hu_operator *op) {
  const float *dz = net->value[op->out].dv;
  if (hu_wants_gradient(net, op->in[1])) hu_give(net, op->in[1], dz);
  if (hu_wants_gradient(net, op->in[0])) hu_give(net, op->in[0], dz);
  return HU_OK;
}

static const hu_operator_kind add = {"add", add_forward, add_backward, NULL, 0, 0};

/* ---- dropout ---- */

static hu_status dropout_forward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v;
  float *z = net->value[op->out].v, kept = (float)(1 / (1 - op->x));
  size_t n = numbers(net, op->out);
  hu_stream words = hu_words_of(net, HU_OF_DROPOUT, op->number);
  uint64_t below = (uint64_t)(op->x * 0x1p32);
  for (size_t i = 0; i < n; i++) {
    op->kept[i] = !net->training ? 1 : hu_stream_word(words, i) < below ? 0 : kept;
    z[i] = x[i] * op->kept[i];
  }
  return HU_OK;
}

static hu_status dropout_backward(hu_net *net, hu_operator *op) {
  const float *dz = net->value[op->out].dv;
  float *dx = net->work[0];
  for (size_t i = 0, n = numbers(net, op->out); i < n; i++) dx[i] = dz[i] * op->kept[i];
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind dropout = {"dropout", dropout_forward, dropout_backward, NULL, 0, 0};

/* ---- building ---- */

/* The weights that lead to x, through normalisations, are drawn for a ReLU. */
static void tell_weights(hu_net *net, int x) {
  for (int i = net->operators; i-- > 0;) {
    const hu_operator *op = &net->op[i];
    if (op->out != x) continue;
    if (op->kind->product && op->theta[0] >= 0) net->parameter[op->theta[0]].before_relu = 1;
    if (op->kind->product || !op->kind->start) return;
    x = op->in[0];
  }
}

int hu_net_relu(hu_net *net, int x) {
  if (!hu_usable(net, x)) return -1;
  tell_weights(net, x);
  return add_alike(net, &relu, x, -1, 0, NULL);
}

int hu_net_gelu(hu_net *net, int x) {
  if (!hu_usable(net, x)) return -1;
  tell_weights(net, x);
  return add_alike(net, &gelu, x, -1, 0, NULL);
}

int hu_net_tanh(hu_net *net, int x) { return hu_usable(net, x) ? add_alike(net, &tanh_kind, x, -1, 0, NULL) : -1; }
int hu_net_sigmoid(hu_net *net, int x) { return hu_usable(net, x) ? add_alike(net, &sigmoid, x, -1, 0, NULL) : -1; }

int hu_net_add(hu_net *net, int a, int b) {
  if (!hu_usable(net, a) || !hu_usable(net, b)) return -1;
  const hu_value *x = &net->value[a], *y = &net->value[b];
  if (x->rows != y->rows || x->cols != y->cols) return hu_refuse(net, HU_E_SHAPE, "add: operands of different shapes");
  return add_alike(net, &add, a, b, 0, NULL);
}

int hu_net_dropout(hu_net *net, int x, double p) {
  hu_operator *op;
  if (!hu_usable(net, x)) return -1;
  if (!(p >= 0 && p < 1)) return hu_refuse(net, HU_E_TRAIN, "dropout: p is not from 0 to below 1");
  int z = add_alike(net, &dropout, x, -1, numbers(net, x), &op);
  if (z >= 0) op->x = p;
  return z;
}
