/* SPDX-License-Identifier: MIT */
/* Operators on one number at a time. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
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
  hui_do_each(net, kernel, numbers(net, op->out), net->value[op->out].v, a, b, op->by[0]);
  return hui_done(net);
}

static hu_status backward(hu_net *net, hu_operator *op, int kernel, const float *a, const float *b) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_do_each(net, kernel, numbers(net, op->out), dx, a, b, op->by[0]);
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

/* ---- its relatives; gradients from what was read: a rounding may leave a bound, in a format without it, another
 * number ---- */

static hu_status leaky_forward(hu_net *net, hu_operator *op) {
  return forward(net, op, HU_RUN_LEAKY, net->value[op->in[0]].v, NULL);
}

static hu_status leaky_backward(hu_net *net, hu_operator *op) {
  return backward(net, op, HU_RUN_LEAKY_BACK, net->value[op->in[0]].v, net->value[op->out].dv);
}

static const hu_operator_kind leaky = {
    .name = "leaky_relu", .forward = leaky_forward, .backward = leaky_backward, .anywhere = 1};

static void clip_numbers(hu_net *net, const hu_operator *op, int kernel, float *z, const float *b) {
  hu_task task = hui_task_of(1, numbers(net, op->out), z, net->value[op->in[0]].v, b);
  task.clip.low = op->by[0];
  task.clip.high = op->by[1];
  hui_do(net, kernel, &task);
}

static hu_status clip_forward(hu_net *net, hu_operator *op) {
  clip_numbers(net, op, HU_RUN_CLIP, net->value[op->out].v, NULL);
  return hui_done(net);
}

static hu_status clip_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  clip_numbers(net, op, HU_RUN_CLIP_BACK, dx, net->value[op->out].dv);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind relu6 = {
    .name = "relu6", .forward = clip_forward, .backward = clip_backward, .anywhere = 1};
static const hu_operator_kind clip = {
    .name = "clip", .forward = clip_forward, .backward = clip_backward, .anywhere = 1};

/* x sigmoid(u), u = beta x; dx = dy (s (1 + u (1 - s))), s = sigmoid(u). */
static void gate(hu_net *net, const hu_operator *op, float *z) {
  const size_t n = numbers(net, op->out);
  hui_do_each(net, HU_RUN_SCALE, n, z, net->value[op->in[0]].v, NULL, op->by[0]);
  hui_do_function(net, HU_OP_SIGMOID, n, z, z);
}

static hu_status silu_forward(hu_net *net, hu_operator *op) {
  float *z = net->value[op->out].v;
  gate(net, op, z);
  return forward(net, op, HU_RUN_TIMES, net->value[op->in[0]].v, z);
}

static hu_status silu_backward(hu_net *net, hu_operator *op) {
  const float *dz = net->value[op->out].dv;
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  gate(net, op, dx);
  hui_do_each(net, HU_RUN_SILU_BACK, numbers(net, op->out), dx, net->value[op->in[0]].v, dz, op->by[0]);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind silu = {
    .name = "silu", .forward = silu_forward, .backward = silu_backward, .anywhere = 1};

/* max(x, 0) + log(1 + e^-|x|); dx = dy sigmoid(x). */
static hu_status softplus_forward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v;
  const size_t n = numbers(net, op->out);
  float *z = net->value[op->out].v;
  hui_do_each(net, HU_RUN_SOFTPLUS_PART, n, z, x, NULL, 0);
  hui_do_function(net, HU_OP_EXP, n, z, z);
  hui_do_function(net, HU_OP_LOG1P, n, z, z);
  return forward(net, op, HU_RUN_SOFTPLUS, x, z);
}

static hu_status softplus_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_do_function(net, HU_OP_SIGMOID, numbers(net, op->out), dx, net->value[op->in[0]].v);
  hui_do_each(net, HU_RUN_TIMES, numbers(net, op->out), dx, net->value[op->out].dv, dx, 0);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind softplus = {
    .name = "softplus", .forward = softplus_forward, .backward = softplus_backward, .anywhere = 1};

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

/* Its approximation: (0.5 x) (1 + t), t = tanh(c (x + k x^3)). */
static void tanh_of_part(hu_net *net, const hu_operator *op, float *z) {
  hui_do_each(net, HU_RUN_GELU_TANH_PART, numbers(net, op->out), z, net->value[op->in[0]].v, NULL, 0);
  hui_do_function(net, HU_OP_TANH, numbers(net, op->out), z, z);
}

static hu_status gelu_tanh_forward(hu_net *net, hu_operator *op) {
  float *z = net->value[op->out].v;
  tanh_of_part(net, op, z);
  return forward(net, op, HU_RUN_GELU_TANH, net->value[op->in[0]].v, z);
}

static hu_status gelu_tanh_backward(hu_net *net, hu_operator *op) {
  const float *dz = net->value[op->out].dv;
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  tanh_of_part(net, op, dx);
  hui_do_each(net, HU_RUN_GELU_TANH_BACK, numbers(net, op->out), dx, net->value[op->in[0]].v, dz, 0);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind gelu_tanh = {
    .name = "gelu_tanh", .forward = gelu_tanh_forward, .backward = gelu_tanh_backward, .anywhere = 1};

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

/* y has one row per sample, whose gradient is the sum from +0 downwards of those of the sample's rows. */
static hu_status add_row_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_task task = hui_task_of(z->rows, z->cols, z->v, net->value[op->in[0]].v, net->value[op->in[1]].v);
  task.each = z->rows / net->batch;
  hui_do(net, HU_RUN_ADD_ROW, &task);
  return hui_done(net);
}

static hu_status add_row_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  if (hui_needs_gradient(net, op->in[1])) {
    float *dy = hui_gift(net, op->in[1], net->work[0]);
    hu_task task = hui_task_of(net->batch, z->cols, dy, z->dv, NULL);
    task.columns.rows = z->rows;
    task.columns.chunk = z->rows / net->batch;
    task.work = z->rows * z->cols;
    hui_do(net, HU_RUN_COLUMNS, &task);
    hui_give(net, op->in[1], dy);
  }
  if (hui_needs_gradient(net, op->in[0])) hui_give(net, op->in[0], z->dv);
  return hui_done(net);
}

static const hu_operator_kind add_row = {
    .name = "add_row", .forward = add_row_forward, .backward = add_row_backward, .anywhere = 1};

/* ---- constants: factors forward and backward; one of each column, which `kept` holds ---- */

static hu_status scale_forward(hu_net *net, hu_operator *op) {
  return forward(net, op, HU_RUN_SCALE, net->value[op->in[0]].v, NULL);
}

static hu_status scale_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hui_do_each(net, HU_RUN_SCALE, numbers(net, op->out), dx, net->value[op->out].dv, NULL, op->by[1]);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind scale = {
    .name = "scale", .forward = scale_forward, .backward = scale_backward, .anywhere = 1};

static hu_status columns_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_task task = hui_task_of(z->rows, z->cols, z->v, net->value[op->in[0]].v, op->kept);
  hui_do(net, HU_RUN_TIMES_ROW, &task);
  return hui_done(net);
}

static hu_status columns_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_task task = hui_task_of(z->rows, z->cols, hui_gift(net, op->in[0], net->work[0]), z->dv, op->kept);
  hui_do(net, HU_RUN_TIMES_ROW, &task);
  hui_give(net, op->in[0], task.z);
  return hui_done(net);
}

static const hu_operator_kind scale_columns = {
    .name = "scale_columns", .forward = columns_forward, .backward = columns_backward, .anywhere = 1};

/* ---- copies: without a gradient; in another shape ---- */

static hu_status copy_forward(hu_net *net, hu_operator *op) {
  return forward(net, op, HU_RUN_COPY, net->value[op->in[0]].v, NULL);
}

static hu_status no_backward(hu_net *net, hu_operator *op) {
  (void)op;
  return hui_done(net);
}

static const hu_operator_kind stop_gradient = {
    .name = "stop_gradient", .forward = copy_forward, .backward = no_backward, .anywhere = 1};

static hu_status copy_backward(hu_net *net, hu_operator *op) {
  hui_give(net, op->in[0], net->value[op->out].dv);
  return hui_done(net);
}

static const hu_operator_kind reshape = {
    .name = "reshape", .forward = copy_forward, .backward = copy_backward, .anywhere = 1};

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

static int add_relu(hu_net *net, const hu_operator_kind *kind, int x, float first, float second) {
  hu_operator *op;
  note_relu(net, x);
  int z = add_alike(net, kind, x, -1, 0, &op);
  if (z >= 0) op->by[0] = first, op->by[1] = second;
  return z;
}

static int add_plain(hu_net *net, const hu_operator_kind *kind, int x) {
  return hui_usable(net, x) ? add_alike(net, kind, x, -1, 0, NULL) : -1;
}

int hu_net_relu(hu_net *net, int x) { return hui_usable(net, x) ? add_relu(net, &relu, x, 0, 0) : -1; }
int hu_net_relu6(hu_net *net, int x) { return hui_usable(net, x) ? add_relu(net, &relu6, x, 0, 6) : -1; }
int hu_net_gelu(hu_net *net, int x) { return hui_usable(net, x) ? add_relu(net, &gelu, x, 0, 0) : -1; }
int hu_net_gelu_tanh(hu_net *net, int x) { return hui_usable(net, x) ? add_relu(net, &gelu_tanh, x, 0, 0) : -1; }
int hu_net_tanh(hu_net *net, int x) { return add_plain(net, &tanh_kind, x); }
int hu_net_sigmoid(hu_net *net, int x) { return add_plain(net, &sigmoid, x); }
int hu_net_softplus(hu_net *net, int x) { return add_plain(net, &softplus, x); }
int hu_net_stop_gradient(hu_net *net, int x) { return add_plain(net, &stop_gradient, x); }

static int is_number(double x) { return x >= -(double)FLT_MAX && x <= (double)FLT_MAX; }

/* Adds an operator with one or two numbers. */
static HU_NOINLINE int add_with(hu_net *net, const hu_operator_kind *kind, int x, double first, double second) {
  char sentence[96];
  if (!hui_usable(net, x)) return -1;
  const char *wrong = !is_number(first) || !is_number(second) ? "a number that is not finite"
                      : kind == &clip && first > second       ? "the lower bound is above the other"
                                                              : NULL;
  if (wrong) {
    snprintf(sentence, sizeof sentence, "%s: %s", kind->name, wrong);
    return hui_refuse(net, HU_E_TRAIN, sentence);
  }
  if (kind == &leaky || kind == &silu) return add_relu(net, kind, x, (float)first, (float)second);
  hu_operator *op;
  int z = add_alike(net, kind, x, -1, 0, &op);
  if (z >= 0) op->by[0] = (float)first, op->by[1] = (float)second;
  return z;
}

int hu_net_leaky_relu(hu_net *net, int x, double slope) { HU_ENV_RETURN(int, add_with(net, &leaky, x, slope, 0)); }
int hu_net_silu(hu_net *net, int x, double beta) { HU_ENV_RETURN(int, add_with(net, &silu, x, beta, 0)); }
int hu_net_clip(hu_net *net, int x, double low, double high) { HU_ENV_RETURN(int, add_with(net, &clip, x, low, high)); }
int hu_net_scale(hu_net *net, int x, double forward_by, double backward_by) {
  HU_ENV_RETURN(int, add_with(net, &scale, x, forward_by, backward_by));
}

static HU_NOINLINE int add_scale_columns(hu_net *net, int x, const double *factors) {
  if (!hui_usable(net, x)) return -1;
  if (!factors) return hui_refuse(net, HU_E_NULL, "scale: no factors");
  const size_t cols = net->value[x].cols;
  hu_operator *op;
  int z = add_alike(net, &scale_columns, x, -1, cols, &op);
  float *row = z < 0 ? NULL : malloc(cols * sizeof *row);
  if (!row) return z < 0 ? -1 : hui_refuse(net, HU_E_MEMORY, "scale: no memory");
  for (size_t j = 0; j < cols; j++) {
    if (!is_number(factors[j])) hui_refuse(net, HU_E_TRAIN, "scale: a factor that is not finite");
    row[j] = is_number(factors[j]) ? (float)factors[j] : 0;
  }
  if (net->status == HU_OK && net->engine->put(net->self, op->kept, row, cols * sizeof *row) != HU_OK)
    hui_refuse(net, HU_E_DEVICE, "scale: the factors cannot be copied");
  free(row);
  return net->status == HU_OK ? z : -1;
}

int hu_net_scale_columns(hu_net *net, int x, const double *factors) {
  HU_ENV_RETURN(int, add_scale_columns(net, x, factors));
}

static int add_reshaped(hu_net *net, int x, size_t rows, size_t height, size_t width) {
  const hu_value value = net->value[x];
  const size_t each = value.rows / net->batch * value.cols;
  if (rows == 0 || each % rows != 0) return hui_refuse(net, HU_E_SHAPE, "reshape: no divisor of a sample's numbers");
  int z = hui_new_value(net, net->batch * rows, each / rows, height, width);
  return hui_new_operator(net, &reshape, x, -1, z, 0) ? z : -1;
}

int hu_net_as_image(hu_net *net, int x, size_t height, size_t width) {
  if (!hui_usable(net, x)) return -1;
  size_t pixels;
  return add_reshaped(net, x, __builtin_mul_overflow(height, width, &pixels) ? 0 : pixels, height, width);
}

int hu_net_as_rows(hu_net *net, int x, size_t rows) {
  return hui_usable(net, x) ? add_reshaped(net, x, rows, 0, 0) : -1;
}

int hu_net_add(hu_net *net, int a, int b) {
  if (!hui_usable(net, a) || !hui_usable(net, b)) return -1;
  const hu_value *x = &net->value[a], *y = &net->value[b];
  if (x->rows != y->rows || x->cols != y->cols) return hui_refuse(net, HU_E_SHAPE, "add: operands of different shapes");
  return add_alike(net, &add, a, b, 0, NULL);
}

int hu_net_add_row(hu_net *net, int x, int y) {
  if (!hui_usable(net, x) || !hui_usable(net, y)) return -1;
  if (net->value[y].rows != net->batch || net->value[x].cols != net->value[y].cols)
    return hui_refuse(net, HU_E_SHAPE, "add_row: not one row a sample of as many columns");
  return add_alike(net, &add_row, x, y, 0, NULL);
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
