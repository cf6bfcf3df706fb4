/* SPDX-License-Identifier: MIT */
/* Losses, and what they are compared with. */
#include <stdlib.h>
#include <string.h>

#include "train/graph.h"

/* weight / R, rounded once to binary32. */
static float share(const hu_net *net, const hu_operator *op) {
  return (float)(op->x / (double)net->value[op->in[0]].rows);
}

static void set_loss(hu_net *net, hu_operator *op, float loss) {
  net->loss = loss;
  net->value[op->out].v[0] = loss;
}

/* ---- cross entropy; `kept` holds the probabilities ---- */

static hu_status entropy_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t n = x->cols;
  float *less = net->work[0], *sums = net->work[1];
  for (size_t i = 0; i < x->rows; i++) {
    const float *row = x->v + i * n;
    float top = row[0];
    for (size_t j = 1; j < n; j++) top = row[j] > top || row[j] != row[j] ? row[j] : top;
    for (size_t j = 0; j < n; j++) less[i * n + j] = row[j] - top;
  }
  hu_exp_each(x->rows * n, op->kept, less);
  for (size_t i = 0; i < x->rows; i++) {
    sums[i] = hu_sum_row(n, op->kept + i * n);
    for (size_t j = 0; j < n; j++) op->kept[i * n + j] /= sums[i];
  }
  hu_log_each(x->rows, sums, sums);
  for (size_t i = 0; i < x->rows; i++) sums[i] -= less[i * n + net->labels[i]];
  set_loss(net, op, hu_sum_row(x->rows, sums) * share(net, op));
  return HU_OK;
}

/* (p - 1 at the label) (dv weight / R) */
static hu_status entropy_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float by = net->value[op->out].dv[0] * share(net, op), *dx = net->work[0];
  for (size_t i = 0; i < x->rows; i++) {
    for (size_t j = 0; j < x->cols; j++) {
      float p = op->kept[i * x->cols + j];
      dx[i * x->cols + j] = (j == net->labels[i] ? p - 1 : p) * by;
    }
  }
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind entropy = {"cross_entropy", entropy_forward, entropy_backward, NULL, 0, 1};

/* ---- squared error; `kept` holds x - target ---- */

static hu_status error_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t n = x->rows * x->cols;
  float *square = net->work[0];
  for (size_t i = 0; i < n; i++) {
    op->kept[i] = x->v[i] - net->targets[i];
    square[i] = op->kept[i] * op->kept[i];
  }
  set_loss(net, op, hu_sum_row(n, square) * (0.5f * share(net, op)));
  return HU_OK;
}

static hu_status error_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float by = net->value[op->out].dv[0] * share(net, op), *dx = net->work[0];
  for (size_t i = 0; i < x->rows * x->cols; i++) dx[i] = op->kept[i] * by;
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind error = {"squared_error", error_forward, error_backward, NULL, 0, 1};

/* ---- building ---- */

static int add_loss(hu_net *net, const hu_operator_kind *kind, int x, double weight) {
  if (!hu_usable(net, x)) return -1;
  hu_value v = net->value[x];
  if (net->labels) return hu_refuse(net, HU_E_SHAPE, "loss: there is one already");
  if (!(weight > 0 && weight < 1e30)) return hu_refuse(net, HU_E_TRAIN, "loss: the weight is not positive and finite");
  if (!v.made) return hu_refuse(net, HU_E_SHAPE, "loss: of an input");
  int z = hu_new_value(net, 1, 1, 0, 0);
  hu_operator *op = hu_new_operator(net, kind, x, -1, z, v.rows * v.cols);
  if (!op) return -1;
  op->x = weight;
  net->labels = calloc(v.rows, sizeof *net->labels);
  net->targets = calloc(v.rows * v.cols, sizeof *net->targets);
  if (!net->labels || !net->targets) return hu_refuse(net, HU_E_MEMORY, "loss: no memory for labels");
  return z;
}

int hu_net_cross_entropy(hu_net *net, int x, double weight) { return add_loss(net, &entropy, x, weight); }
int hu_net_squared_error(hu_net *net, int x, double weight) { return add_loss(net, &error, x, weight); }

/* What the loss looks at; NULL: there is none. */
static const hu_value *compared(const hu_net *net) {
  if (!net->operators || !net->op[net->operators - 1].kind->loss) return NULL;
  return &net->value[net->op[net->operators - 1].in[0]];
}

hu_status hu_net_labels(hu_net *net, const uint32_t *labels) {
  if (!net || !labels) return HU_E_NULL;
  const hu_value *x = compared(net);
  if (net->status != HU_OK || !x) return net->status != HU_OK ? net->status : HU_E_TRAIN;
  for (size_t i = 0; i < x->rows; i++) {
    if (labels[i] >= x->cols) return HU_E_SHAPE;
  }
  memcpy(net->labels, labels, x->rows * sizeof *labels);
  return HU_OK;
}

hu_status hu_net_targets(hu_net *net, const float *targets) {
  if (!net || !targets) return HU_E_NULL;
  const hu_value *x = compared(net);
  if (net->status != HU_OK || !x) return net->status != HU_OK ? net->status : HU_E_TRAIN;
  memcpy(net->targets, targets, x->rows * x->cols * sizeof *targets);
  return HU_OK;
}
