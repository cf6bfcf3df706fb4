/* SPDX-License-Identifier: MIT */
/* Normalisations: over the rows of a column (batch), over the columns of a row (layer). */
#include <math.h>
#include <string.h>

#include "train/graph.h"

#define EPSILON 1e-5f

/* What is kept: normalised numbers, then 1 / sqrt(variance + epsilon) of each column or row, then for batches the
 * running mean and variance of each column. */
static float *inverses(const hu_net *net, const hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  return op->kept + z->rows * z->cols;
}

static void running_start(hu_net *net, hu_operator *op) {
  size_t cols = net->value[op->out].cols;
  float *mean = inverses(net, op) + cols, *variance = mean + cols;
  for (size_t j = 0; j < cols; j++) {
    mean[j] = 0;
    variance[j] = 1;
  }
}

/* z = gain xh + offset */
static void finish(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  const float *gain = net->parameter[op->theta[0]].theta, *offset = net->parameter[op->theta[1]].theta;
  for (size_t i = 0; i < z->rows; i++) {
    for (size_t j = 0; j < z->cols; j++) z->v[i * z->cols + j] = gain[j] * op->kept[i * z->cols + j] + offset[j];
  }
}

static void give_gains(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *sum = net->work[0];
  hu_sum_columns(z->rows, z->cols, sum, z->dv, op->kept);
  hu_give_parameter(net, op->theta[0], sum);
  hu_sum_columns(z->rows, z->cols, sum, z->dv, NULL);
  hu_give_parameter(net, op->theta[1], sum);
}

/* ---- batch ---- */

/* x - mean into `centred`; mean and variance of each column. */
static void moments(const hu_value *x, float *centred, float *mean, float *variance) {
  float n = (float)x->rows;
  hu_sum_columns(x->rows, x->cols, mean, x->v, NULL);
  for (size_t j = 0; j < x->cols; j++) mean[j] /= n;
  for (size_t i = 0; i < x->rows; i++) {
    for (size_t j = 0; j < x->cols; j++) centred[i * x->cols + j] = x->v[i * x->cols + j] - mean[j];
  }
  hu_sum_columns(x->rows, x->cols, variance, centred, centred);
  for (size_t j = 0; j < x->cols; j++) variance[j] /= n;
}

static hu_status batch_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t cols = x->cols;
  float *mean = net->work[0], *variance = net->work[1], *inverse = inverses(net, op);
  float *running = inverse + cols, *spread = running + cols;
  if (net->training) {
    moments(x, op->kept, mean, variance);
    for (size_t j = 0; j < cols; j++) {
      running[j] = 0.9f * running[j] + 0.1f * mean[j];
      spread[j] = 0.9f * spread[j] + 0.1f * variance[j];
    }
  } else {
    memcpy(variance, spread, cols * sizeof *variance);
    for (size_t i = 0; i < x->rows; i++) {
      for (size_t j = 0; j < cols; j++) op->kept[i * cols + j] = x->v[i * cols + j] - running[j];
    }
  }
  for (size_t j = 0; j < cols; j++) inverse[j] = 1 / sqrtf(variance[j] + EPSILON);
  for (size_t i = 0; i < x->rows; i++) {
    for (size_t j = 0; j < cols; j++) op->kept[i * cols + j] *= inverse[j];
  }
  finish(net, op);
  return HU_OK;
}

/* u = dy gain; dx = ((u - mean(u)) - xh mean(u xh)) inverse */
static hu_status batch_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  size_t cols = z->cols;
  const float *gain = net->parameter[op->theta[0]].theta, *inverse = inverses(net, op);
  float *u = net->work[0], *plain = net->work[1], *with = net->work[2], n = (float)z->rows;
  give_gains(net, op);
  if (!hu_wants_gradient(net, op->in[0])) return HU_OK;
  for (size_t i = 0; i < z->rows; i++) {
    for (size_t j = 0; j < cols; j++) u[i * cols + j] = z->dv[i * cols + j] * gain[j];
  }
  hu_sum_columns(z->rows, cols, plain, u, NULL);
  hu_sum_columns(z->rows, cols, with, u, op->kept);
  for (size_t j = 0; j < cols; j++) {
    plain[j] /= n;
    with[j] /= n;
  }
  for (size_t i = 0; i < z->rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      size_t k = i * cols + j;
      u[k] = ((u[k] - plain[j]) - op->kept[k] * with[j]) * inverse[j];
    }
  }
  hu_give(net, op->in[0], u);
  return HU_OK;
}

static const hu_operator_kind batch = {"batch_norm", batch_forward, batch_backward, running_start, 0, 0};

/* ---- layer ---- */

static hu_status layer_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *inverse = inverses(net, op), *square = net->work[0], n = (float)x->cols;
  for (size_t i = 0; i < x->rows; i++) {
    const float *row = x->v + i * x->cols;
    float *kept = op->kept + i * x->cols, mean = hu_sum_row(x->cols, row) / n;
    for (size_t j = 0; j < x->cols; j++) {
      kept[j] = row[j] - mean;
      square[j] = kept[j] * kept[j];
    }
    inverse[i] = 1 / sqrtf(hu_sum_row(x->cols, square) / n + EPSILON);
    for (size_t j = 0; j < x->cols; j++) kept[j] *= inverse[i];
  }
  finish(net, op);
  return HU_OK;
}

static hu_status layer_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  const float *gain = net->parameter[op->theta[0]].theta, *inverse = inverses(net, op);
  float *dx = net->work[0], *with = net->work[1], n = (float)z->cols;
  give_gains(net, op);
  if (!hu_wants_gradient(net, op->in[0])) return HU_OK;
  for (size_t i = 0; i < z->rows; i++) {
    float *u = dx + i * z->cols;
    const float *kept = op->kept + i * z->cols;
    for (size_t j = 0; j < z->cols; j++) {
      u[j] = z->dv[i * z->cols + j] * gain[j];
      with[j] = u[j] * kept[j];
    }
    float plain = hu_sum_row(z->cols, u) / n, slope = hu_sum_row(z->cols, with) / n;
    for (size_t j = 0; j < z->cols; j++) u[j] = ((u[j] - plain) - kept[j] * slope) * inverse[i];
  }
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static void nothing(hu_net *net, hu_operator *op) {
  (void)net;
  (void)op;
}

static const hu_operator_kind layer = {"layer_norm", layer_forward, layer_backward, nothing, 0, 0};

/* ---- building ---- */

static int add_norm(hu_net *net, const hu_operator_kind *kind, int x, size_t more) {
  if (!hu_usable(net, x)) return -1;
  hu_value v = net->value[x];
  int z = hu_new_value(net, v.rows, v.cols, v.height, v.width);
  hu_operator *op = hu_new_operator(net, kind, x, -1, z, v.rows * v.cols + more);
  if (!op) return -1;
  op->theta[0] = hu_new_parameter(net, 1, v.cols, 1, 0);
  op->theta[1] = hu_new_parameter(net, 1, v.cols, 0, 0);
  kind->start(net, op);
  return net->status == HU_OK ? z : -1;
}

int hu_net_batch_norm(hu_net *net, int x) {
  return hu_usable(net, x) ? add_norm(net, &batch, x, 3 * net->value[x].cols) : -1;
}
int hu_net_layer_norm(hu_net *net, int x) {
  return hu_usable(net, x) ? add_norm(net, &layer, x, net->value[x].rows) : -1;
}
