/* SPDX-License-Identifier: MIT */
/* Normalisations: over the rows of a column (batch), over the columns of a row (layer, and by a length alone), over
 * neighbouring columns (response). */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "train/environment.h"
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
  if (op->theta[1] >= 0) give_sum(net, op->theta[1], HU_RUN_COLUMNS, op);
}

/* Sets the fields that all kernels of normalisations have in common. */
static void norm_task(const hu_net *net, const hu_operator *op, hu_task *task) {
  task->norm.gain = net->parameter[op->theta[0]].theta;
  task->norm.offset = op->theta[1] < 0 ? NULL : net->parameter[op->theta[1]].theta;
  task->norm.inverse = inverses(net, op);
  task->norm.normalised = op->kept;
}

/* ---- batch ---- */

/* Computes x of the steps that samples have, less the row `mean` if there is one; +0 behind their ends. z may be x. */
static void keep_steps(hu_net *net, const hu_operator *op, float *z, const float *x, const float *mean) {
  const hu_value *of = &net->value[op->out];
  if (op->in[1] < 0) return;
  hu_task task = hui_task_of(of->rows, of->cols, z, x, mean);
  task.steps.sample = of->rows / net->batch;
  task.steps.each = of->height ? of->width : 1;
  task.steps.lengths = net->value[op->in[1]].v;
  hui_do(net, mean ? HU_RUN_CENTRE : HU_RUN_WITHIN, &task);
}

/* Returns how many rows a column's statistics are of: those of all steps that samples have, at least one. */
static size_t rows_of(hu_net *net, const hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  if (op->in[1] < 0) return x->rows;
  const size_t each = x->height ? x->width : 1, steps = x->rows / net->batch / each;
  float *lengths = malloc(net->batch * sizeof *lengths);
  size_t rows = 0;
  if (lengths) hui_do_get(net, lengths, net->value[op->in[1]].v, net->batch * sizeof *lengths);
  if (!lengths) net->fault = HU_E_MEMORY;
  for (size_t i = 0; i < net->batch && hui_done(net) == HU_OK; i++)
    rows += each * (!(lengths[i] < (float)steps) ? steps : lengths[i] > 0 ? (size_t)lengths[i] : 0);
  free(lengths);
  return rows ? rows : 1;
}

/* Computes the mean and the variance of each column, of a batch with lengths. */
static void moments_within(hu_net *net, const hu_operator *op, float *mean, float *variance) {
  const hu_value *x = &net->value[op->in[0]];
  float *kept = net->work[2], n = (float)rows_of(net, op);
  keep_steps(net, op, kept, x->v, NULL);
  hui_do_columns(net, HU_RUN_COLUMNS, x->rows, x->cols, mean, kept, NULL, NULL);
  hui_do_each(net, HU_RUN_OVER, x->cols, mean, mean, NULL, n);
  keep_steps(net, op, kept, x->v, mean);
  hui_do_columns(net, HU_RUN_COLUMNS_PRODUCT, x->rows, x->cols, variance, kept, kept, NULL);
  hui_do_each(net, HU_RUN_OVER, x->cols, variance, variance, NULL, n);
}

/* Computes the mean and the variance of each column. */
static void moments(hu_net *net, const hu_operator *op, float *mean, float *variance) {
  const hu_value *x = &net->value[op->in[0]];
  float n = (float)x->rows;
  if (op->in[1] >= 0) {
    moments_within(net, op, mean, variance);
    return;
  }
  hui_do_columns(net, HU_RUN_COLUMNS, x->rows, x->cols, mean, x->v, NULL, NULL);
  hui_do_each(net, HU_RUN_OVER, x->cols, mean, mean, NULL, n);
  hui_do_columns(net, HU_RUN_COLUMNS_SPREAD, x->rows, x->cols, variance, x->v, NULL, mean);
  hui_do_each(net, HU_RUN_OVER, x->cols, variance, variance, NULL, n);
}

/* The buffers in which the two passes have means: of x, of (x - mean)^2; of u, of u xh. */
enum { MEAN = 0, VARIANCE = 1, PLAIN = 1, WITH = 2 };

/* Returns the variance that the running one takes: of R rows R / (R - 1) times that of the batch, or this itself. */
static const float *seen_variance(hu_net *net, const hu_operator *op, const float *variance) {
  const hu_value *x = &net->value[op->in[0]];
  if (!op->norm.unbiased) return variance;
  const size_t rows = net->whole ? x->rows * net->passes : rows_of(net, op);
  if (rows == 1) return variance;
  float *z = net->work[WITH];
  hui_do_each(net, HU_RUN_SCALE, x->cols, z, variance, NULL, (float)rows / (float)(rows - 1));
  return z;
}

static hu_status batch_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t cols = x->cols;
  float *mean = net->work[MEAN], *variance = net->work[VARIANCE], *inverse = inverses(net, op);
  float *running = inverse + cols;
  if (net->training) {
    if (!net->whole) moments(net, op, mean, variance);
    hui_do_each(net, HU_RUN_MOVING, cols, running, mean, NULL, op->norm.momentum);
    hui_do_each(net, HU_RUN_MOVING, cols, running + cols, seen_variance(net, op, variance), NULL, op->norm.momentum);
  } else {
    mean = running;
    variance = running + cols;
  }
  hui_do_each(net, HU_RUN_INVERSE, cols, inverse, variance, NULL, op->norm.eps);
  hu_task task = hui_task_of(x->rows, cols, net->value[op->out].v, x->v, NULL);
  norm_task(net, op, &task);
  task.norm.mean = mean;
  hui_do(net, HU_RUN_NORMALISE, &task);
  keep_steps(net, op, task.z, task.z, NULL);
  keep_steps(net, op, op->kept, op->kept, NULL);
  return hui_done(net);
}

/* Computes the means of u = dz gain and of u xh. */
static void slopes(hu_net *net, const hu_operator *op, float *plain, float *with) {
  const hu_value *z = &net->value[op->out];
  const float *gain = net->parameter[op->theta[0]].theta, n = (float)rows_of(net, op);
  hui_do_columns(net, HU_RUN_COLUMNS_GAIN, z->rows, z->cols, plain, z->dv, NULL, gain);
  hui_do_columns(net, HU_RUN_COLUMNS_BOTH, z->rows, z->cols, with, z->dv, op->kept, gain);
  hui_do_each(net, HU_RUN_OVER, z->cols, plain, plain, NULL, n);
  hui_do_each(net, HU_RUN_OVER, z->cols, with, with, NULL, n);
}

/* dx = ((u - mean(u)) - xh mean(u xh)) inverse */
static hu_status batch_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *plain = net->work[PLAIN], *with = net->work[WITH];
  keep_steps(net, op, z->dv, z->dv, NULL);
  give_gains(net, op);
  if (!hui_needs_gradient(net, op->in[0])) return hui_done(net);
  if (!net->whole) slopes(net, op, plain, with);
  hu_task task = hui_task_of(z->rows, z->cols, hui_gift(net, op->in[0], net->work[0]), z->dv, NULL);
  norm_task(net, op, &task);
  task.norm.mean = plain;
  task.norm.slope = with;
  hui_do(net, HU_RUN_BATCH_BACK, &task);
  keep_steps(net, op, task.z, task.z, NULL);
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
  if (op->in[1] >= 0) return HU_E_TRAIN; /* terms of all nets have no lengths */
  hu_status status = mean_of_all(nets, count, i, back ? HU_RUN_COLUMNS_GAIN : HU_RUN_COLUMNS, back ? PLAIN : MEAN);
  if (status != HU_OK) return status;
  return mean_of_all(nets, count, i, back ? HU_RUN_COLUMNS_BOTH : HU_RUN_COLUMNS_SPREAD, back ? WITH : VARIANCE);
}

/* ---- rows: layer; by their lengths alone ---- */

static hu_status layer_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(x->rows, x->cols, net->value[op->out].v, x->v, NULL);
  norm_task(net, op, &task);
  task.norm.count = op->norm.count;
  task.p = op->norm.eps;
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
  task.norm.count = op->norm.count;
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
static const hu_operator_kind rms = {
    .name = "rms_norm", .forward = layer_forward, .backward = layer_backward, .start = nothing, .anywhere = 1};
static const hu_operator_kind l2 = {
    .name = "l2_norm", .forward = layer_forward, .backward = layer_backward, .start = nothing, .anywhere = 1};

/* ---- response: `kept` holds the sums s, then s^-beta ---- */

static hu_task response_task(const hu_net *net, const hu_operator *op, float *z, const float *b) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(x->rows, x->cols, z, x->v, b);
  task.response.size = op->response.size;
  task.response.k = op->response.k;
  task.response.sums = op->kept;
  task.response.power = op->kept + x->rows * x->cols;
  task.work = x->rows * x->cols * op->response.size;
  return task;
}

/* s^-beta is e^(-beta log s). */
static hu_status response_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  const size_t n = x->rows * x->cols;
  float *power = op->kept + n;
  hu_task task = response_task(net, op, op->kept, NULL);
  task.p = op->response.alpha;
  hui_do(net, HU_RUN_NEIGHBOURS, &task);
  hui_do_function(net, HU_OP_LOG, n, power, op->kept);
  hui_do_each(net, HU_RUN_SCALE, n, power, power, NULL, -op->response.beta);
  hui_do_function(net, HU_OP_EXP, n, power, power);
  hui_do_each(net, HU_RUN_TIMES, n, net->value[op->out].v, x->v, power, 0);
  return hui_done(net);
}

static hu_status response_backward(hu_net *net, hu_operator *op) {
  const float *dz = net->value[op->out].dv;
  hu_task task = response_task(net, op, net->work[1], dz);
  hui_do(net, HU_RUN_NEIGHBOURS_PART, &task);
  task.z = hui_gift(net, op->in[0], net->work[0]);
  task.response.shares = net->work[1];
  task.response.slope = (float)(2.0 * op->response.alpha * op->response.beta);
  hui_do(net, HU_RUN_NEIGHBOURS_BACK, &task);
  hui_give(net, op->in[0], task.z);
  return hui_done(net);
}

static const hu_operator_kind response = {
    .name = "response_norm", .forward = response_forward, .backward = response_backward, .anywhere = 1};

float *hui_running_of(const hu_net *net, const hu_operator *op, size_t *n) {
  *n = 2 * net->value[op->out].cols;
  return op->kind == &batch ? inverses(net, op) + net->value[op->out].cols : NULL;
}

/* ---- building ---- */

static int add_norm(hu_net *net, const hu_operator_kind *kind, int x, const hu_norm_sizes *sizes, size_t more) {
  const hu_value value = net->value[x];
  const int offset = kind == &batch || kind == &layer;
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, kind, x, -1, z, value.rows * value.cols + more);
  if (!op) return -1;
  op->norm = *sizes;
  op->theta[0] = hui_new_parameter(net, 1, value.cols, 1, 0);
  if (offset) op->theta[1] = hui_new_parameter(net, 1, value.cols, 0, 0);
  hui_name_parameters(net, kind->name, op->theta[0], offset ? "gain offset" : "gain");
  kind->start(net, op);
  return net->status == HU_OK ? z : -1;
}

static int refuse_number(hu_net *net, const hu_operator_kind *kind, const char *what) {
  char sentence[96];
  snprintf(sentence, sizeof sentence, "%s: %s", kind->name, what);
  return hui_refuse(net, HU_E_TRAIN, sentence);
}

static int is_size(double x) { return x >= 0 && x <= (double)FLT_MAX; }

static HU_NOINLINE int add_of_rows(hu_net *net, const hu_operator_kind *kind, int x, double eps) {
  if (!hui_usable(net, x)) return -1;
  if (!is_size(eps)) return refuse_number(net, kind, "eps: not a number from 0 on");
  const hu_norm_sizes sizes = {.eps = (float)eps, .count = kind == &l2 ? 1 : (float)net->value[x].cols};
  return add_norm(net, kind, x, &sizes, net->value[x].rows);
}

int hu_net_batch_norm(hu_net *net, int x) { return hu_net_batch_norm_with(net, x, 1e-5, 0.1, 0, -1); }
int hu_net_layer_norm(hu_net *net, int x) { return hu_net_layer_norm_with(net, x, 1e-5); }

static HU_NOINLINE int add_batch_norm(hu_net *net, int x, double eps, double momentum, int unbiased, int lengths) {
  if (!hui_usable(net, x) || !hui_are_lengths(net, lengths, batch.name)) return -1;
  if (!is_size(eps)) return refuse_number(net, &batch, "eps: not a number from 0 on");
  if (!(momentum >= 0 && momentum <= 1)) return refuse_number(net, &batch, "momentum: not from 0 to 1");
  if (unbiased != 0 && unbiased != 1) return refuse_number(net, &batch, "unbiased: neither 0 nor 1");
  const hu_norm_sizes sizes = {.eps = (float)eps, .momentum = (float)momentum, .unbiased = unbiased};
  int z = add_norm(net, &batch, x, &sizes, 3 * net->value[x].cols);
  if (z >= 0) net->op[net->operators - 1].in[1] = lengths;
  return z;
}

int hu_net_batch_norm_with(hu_net *net, int x, double eps, double momentum, int unbiased, int lengths) {
  HU_ENV_RETURN(int, add_batch_norm(net, x, eps, momentum, unbiased, lengths));
}

int hu_net_layer_norm_with(hu_net *net, int x, double eps) { HU_ENV_RETURN(int, add_of_rows(net, &layer, x, eps)); }
int hu_net_rms_norm(hu_net *net, int x, double eps) { HU_ENV_RETURN(int, add_of_rows(net, &rms, x, eps)); }
int hu_net_l2_norm(hu_net *net, int x, double eps) { HU_ENV_RETURN(int, add_of_rows(net, &l2, x, eps)); }

static HU_NOINLINE int add_response(hu_net *net, int x, size_t size, double alpha, double beta, double k) {
  if (!hui_usable(net, x)) return -1;
  const hu_value value = net->value[x];
  if (size == 0 || !is_size(alpha) || !is_size(beta) || !(k > 0) || !is_size(k))
    return refuse_number(net, &response, "size, alpha, beta or k");
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &response, x, -1, z, 2 * value.rows * value.cols);
  if (!op) return -1;
  op->response.size = size;
  op->response.alpha = (float)(alpha / (double)size);
  op->response.beta = (float)beta;
  op->response.k = (float)k;
  return z;
}

int hu_net_response_norm(hu_net *net, int x, size_t size, double alpha, double beta, double k) {
  HU_ENV_RETURN(int, add_response(net, x, size, alpha, beta, k));
}
