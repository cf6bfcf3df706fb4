/* SPDX-License-Identifier: MIT */
/* Normalisations: over the rows of a column (batch), over the columns of a row (layer). */
#include "train/net/net.h"

/* What is kept: normalised numbers, then 1 / sqrt(variance + epsilon) of each column or row, then for batches the
 * running mean and variance of each column. */
static float *inverses(const hu_net *net, const hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  return op->kept + z->rows * z->cols;
}

static void running_start(hu_net *net, hu_operator *op) {
  size_t cols = net->value[op->out].cols;
  float *mean = inverses(net, op) + cols;
  hui_do_fill(net, cols, mean, 0);
  hui_do_fill(net, cols, mean + cols, 1);
}

/* Gives a parameter the column sums of dz, or of dz times what was kept. */
static void give_sum(hu_net *net, int parameter, int kernel, const hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *sum = hui_gift_parameter(net, parameter, net->work[0]);
  hui_do_columns(net, kernel, z->rows, z->cols, sum, z->dv, op->kept, NULL);
  hui_give_parameter(net, parameter, sum);
}

static void give_gains(hu_net *net, hu_operator *op) {
  give_sum(net, op->theta[0], HU_RUN_COLUMNS_PRODUCT, op);
  give_sum(net, op->theta[1], HU_RUN_COLUMNS, op);
}

/* Sets the fields that all kernels of normalisations have in common. */
static void norm_task(const hu_net *net, const hu_operator *op, hu_task *task) {
  task->norm.gain = net->parameter[op->theta[0]].theta;
  task->norm.offset = net->parameter[op->theta[1]].theta;
  task->norm.inverse = inverses(net, op);
  task->norm.normalised = op->kept;
}

/* ---- batch ---- */

/* Computes the mean and the variance of each column. */
static void moments(hu_net *net, const hu_value *x, float *mean, float *variance) {
  float n = (float)x->rows;
  hui_do_columns(net, HU_RUN_COLUMNS, x->rows, x->cols, mean, x->v, NULL, NULL);
  hui_do_each(net, HU_RUN_OVER, x->cols, mean, mean, NULL, n);
  hui_do_columns(net, HU_RUN_COLUMNS_SPREAD, x->rows, x->cols, variance, x->v, NULL, mean);
  hui_do_each(net, HU_RUN_OVER, x->cols, variance, variance, NULL, n);
}

/* The buffers in which the two passes have means: of x, of (x - mean)^2; of u, of u xh. */
enum { MEAN = 0, VARIANCE = 1, PLAIN = 1, WITH = 2 };

static hu_status batch_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t cols = x->cols;
  float *mean = net->work[MEAN], *variance = net->work[VARIANCE], *inverse = inverses(net, op);
  float *running = inverse + cols;
  if (net->training) {
    if (!net->whole) moments(net, x, mean, variance);
    hui_do_each(net, HU_RUN_MOVING, cols, running, mean, NULL, 0);
    hui_do_each(net, HU_RUN_MOVING, cols, running + cols, variance, NULL, 0);
  } else {
    mean = running;
    variance = running + cols;
  }
  hui_do_each(net, HU_RUN_INVERSE, cols, inverse, variance, NULL, 0);
  hu_task task = hui_task_of(x->rows, cols, net->value[op->out].v, x->v, NULL);
  norm_task(net, op, &task);
  task.norm.mean = mean;
  hui_do(net, HU_RUN_NORMALISE, &task);
  return hui_done(net);
}

/* Computes the means of u = dz gain and of u xh. */
static void slopes(hu_net *net, const hu_operator *op, float *plain, float *with) {
  const hu_value *z = &net->value[op->out];
  const float *gain = net->parameter[op->theta[0]].theta, n = (float)z->rows;
  hui_do_columns(net, HU_RUN_COLUMNS_GAIN, z->rows, z->cols, plain, z->dv, NULL, gain);
  hui_do_columns(net, HU_RUN_COLUMNS_BOTH, z->rows, z->cols, with, z->dv, op->kept, gain);
  hui_do_each(net, HU_RUN_OVER, z->cols, plain, plain, NULL, n);
  hui_do_each(net, HU_RUN_OVER, z->cols, with, with, NULL, n);
}

/* dx = ((u - mean(u)) - xh mean(u xh)) inverse */
static hu_status batch_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *plain = net->work[PLAIN], *with = net->work[WITH];
  give_gains(net, op);
  if (!hui_needs_gradient(net, op->in[0])) return hui_done(net);
  if (!net->whole) slopes(net, op, plain, with);
  hu_task task = hui_task_of(z->rows, z->cols, hui_gift(net, op->in[0], net->work[0]), z->dv, NULL);
  norm_task(net, op, &task);
  task.norm.mean = plain;
  task.norm.slope = with;
  hui_do(net, HU_RUN_BATCH_BACK, &task);
  hui_give(net, op->in[0], task.z);
  return hui_done(net);
}

static const hu_operator_kind batch = {
    .name = "batch_norm", .forward = batch_forward, .backward = batch_backward, .start = running_start, .anywhere = 1};

/* ---- a batch of several nets ---- */

/* Returns the task of the terms: forward of x and its mean, backward of dz, the gain and xh. */
static hu_task terms_of(const hu_net *net, const hu_operator *op, int kernel) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  int back = kernel == HU_RUN_COLUMNS_GAIN || kernel == HU_RUN_COLUMNS_BOTH;
  hu_task task = hui_task_of(z->rows, z->cols, NULL, back ? z->dv : x->v, op->kept);
  task.columns.row = back ? net->parameter[op->theta[0]].theta : net->work[MEAN];
  return task;
}

/* Computes the mean of a kernel's terms over the rows of all nets and processes, and puts it into a buffer of each
 * net. */
static hu_status mean_of_all(hu_net *const *nets, size_t count, int i, int kernel, int buffer) {
  hu_exact_columns columns;
  size_t cols = nets[0]->value[nets[0]->op[i].out].cols;
  hu_status status = hui_exact_columns_open(&columns, cols);
  for (size_t k = 0; k < count && status == HU_OK; k++)
    status = hui_exact_columns_add(&columns, nets[k], kernel, terms_of(nets[k], &nets[k]->op[i], kernel));
  if (status == HU_OK) status = hui_exact_columns_round(&columns, nets[0]->whole);
  for (size_t k = 0; k < count && status == HU_OK; k++) {
    float *z = nets[k]->work[buffer], n = (float)(nets[k]->value[nets[k]->op[i].out].rows * nets[k]->passes);
    hui_do_put(nets[k], z, columns.z, cols * sizeof *z);
    hui_do_each(nets[k], HU_RUN_OVER, cols, z, z, NULL, n);
    status = hui_done(nets[k]);
  }
  hui_exact_columns_close(&columns);
  return status;
}

hu_status hui_whole_statistics(hu_net *const *nets, size_t count, int i, int back) {
  const hu_operator *op = &nets[0]->op[i];
  if (!nets[0]->whole || op->kind != &batch || (back && !hui_needs_gradient(nets[0], op->in[0]))) return HU_OK;
  hu_status status = mean_of_all(nets, count, i, back ? HU_RUN_COLUMNS_GAIN : HU_RUN_COLUMNS, back ? PLAIN : MEAN);
  if (status != HU_OK) return status;
  return mean_of_all(nets, count, i, back ? HU_RUN_COLUMNS_BOTH : HU_RUN_COLUMNS_SPREAD, back ? WITH : VARIANCE);
}

/* ---- layer ---- */

static hu_status layer_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(x->rows, x->cols, net->value[op->out].v, x->v, NULL);
  norm_task(net, op, &task);
  hui_do(net, HU_RUN_LAYER, &task);
  return hui_done(net);
}

static hu_status layer_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  give_gains(net, op);
  if (!hui_needs_gradient(net, op->in[0])) return hui_done(net);
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = hui_task_of(z->rows, z->cols, dx, z->dv, NULL);
  norm_task(net, op, &task);
  hui_do(net, HU_RUN_LAYER_BACK, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static void nothing(hu_net *net, hu_operator *op) {
  (void)net;
  (void)op;
}

static const hu_operator_kind layer = {
    .name = "layer_norm", .forward = layer_forward, .backward = layer_backward, .start = nothing, .anywhere = 1};

float *hui_running_of(const hu_net *net, const hu_operator *op, size_t *n) {
  *n = 2 * net->value[op->out].cols;
  return op->kind == &batch ? inverses(net, op) + net->value[op->out].cols : NULL;
}

/* ---- building ---- */

static int add_norm(hu_net *net, const hu_operator_kind *kind, int x, size_t more) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, kind, x, -1, z, value.rows * value.cols + more);
  if (!op) return -1;
  op->theta[0] = hui_new_parameter(net, 1, value.cols, 1, 0);
  op->theta[1] = hui_new_parameter(net, 1, value.cols, 0, 0);
  hui_name_parameters(net, kind->name, op->theta[0], "gain offset");
  kind->start(net, op);
  return net->status == HU_OK ? z : -1;
}

int hu_net_batch_norm(hu_net *net, int x) {
  return hui_usable(net, x) ? add_norm(net, &batch, x, 3 * net->value[x].cols) : -1;
}
int hu_net_layer_norm(hu_net *net, int x) {
  return hui_usable(net, x) ? add_norm(net, &layer, x, net->value[x].rows) : -1;
}
