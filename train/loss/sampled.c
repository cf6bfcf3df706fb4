/* SPDX-License-Identifier: MIT */
/* Linear layers of which cross entropy sees random classes and each row's label in training, and all classes in
 * evaluation. docs/training/losses.md defines each operation. */
#include <math.h>
#include <stdlib.h>

#include "halfulp/formats/ieee.h"
#include "train/data/file.h"
#include "train/environment.h"
#include "train/loss/loss.h"
#include "train/net/product.h"

/* ---- which classes a pass has: on the host ---- */

typedef struct sampler {
  size_t classes, samples, count;
  uint32_t *place; /* of each class: 1 + its column, or 0 */
  float *list;     /* the classes of the columns */
  float *less;     /* -log of the expected count of each */
  uint32_t *columns;
  double tries;
} sampler;

static float log1p_of(float x) {
  hui_apply_n(HU_OP_LOG1P, 1, &x);
  return x;
}

static void add_class(sampler *all, size_t class) {
  all->list[all->count++] = (float)class;
  all->place[class] = (uint32_t)all->count;
}

/* Draws different classes, the small ones more often: of class c the probability of a try is log((c + 2) / (c + 1))
 * over log(classes + 1). */
static void draw(sampler *all, hu_stream words) {
  const double range = (double)log1p_of((float)all->classes);
  while (all->count < all->samples) {
    const uint64_t high = hu_stream_word(words, 0), low = hu_stream_word(words, 1);
    const double u = (double)(high << 21 | low >> 11) * 0x1p-53;
    const size_t class = ((size_t)hui_exp_of(u * range) - 1) % all->classes;
    words.counter += 2;
    all->tries++;
    if (!all->place[class]) add_class(all, class);
  }
}

/* Adds the labels that were not drawn, and notes the column of each row's. */
static void add_labels(sampler *all, size_t rows, const uint32_t *labels) {
  for (size_t r = 0; r < rows; r++) {
    all->columns[r] = HU_LABEL_NONE;
    if (labels[r] == HU_LABEL_NONE || labels[r] >= all->classes) continue;
    if (!all->place[labels[r]]) add_class(all, labels[r]);
    all->columns[r] = all->place[labels[r]] - 1;
  }
}

/* Computes -log of how often each class is expected among the samples. */
static void expect(sampler *all) {
  const float range = log1p_of((float)all->classes), tries = (float)all->tries;
  const int once = all->tries == (double)all->samples;
  float *z = all->less;
  const size_t n = all->count;
  for (size_t i = 0; i < n; i++) z[i] = 1 / (all->list[i] + 1);
  hui_apply_n(HU_OP_LOG1P, n, z);
  for (size_t i = 0; i < n; i++) z[i] = once ? (float)all->samples * (z[i] / range) : -(z[i] / range);
  if (!once) hui_apply_n(HU_OP_LOG1P, n, z);
  for (size_t i = 0; i < n && !once; i++) z[i] = tries * z[i];
  if (!once) hui_apply_n(HU_OP_EXPM1, n, z);
  for (size_t i = 0; i < n && !once; i++) z[i] = -z[i];
  hui_apply_n(HU_OP_LOG, n, z);
  for (size_t i = 0; i < n; i++) z[i] = -z[i];
}

/* ---- what the operator keeps ---- */

typedef struct sampled_arrays {
  float *list, *less, *table;
  uint32_t *columns;
} sampled_arrays;

static size_t numbers_of(size_t rows, size_t width, size_t cols) { return 2 * width + rows + width * cols; }

static sampled_arrays arrays_of(const hu_net *net, const hu_operator *op) {
  const size_t width = op->sampled.width;
  sampled_arrays z = {.list = op->kept, .less = op->kept + width, .table = NULL, .columns = NULL};
  z.columns = (uint32_t *)(op->kept + 2 * width);
  z.table = op->kept + 2 * width + net->value[op->out].rows;
  return z;
}

const uint32_t *hui_sampled_columns(const hu_net *net, const hu_operator *op) { return arrays_of(net, op).columns; }

/* Finds the pass's classes, and copies them to the engine. */
static hu_status choose(hu_net *net, hu_operator *op) {
  const size_t rows = net->value[op->out].rows, width = op->sampled.width;
  const sampled_arrays arrays = arrays_of(net, op);
  sampler all = {.classes = net->parameter[op->theta[0]].rows, .samples = op->sampled.samples};
  all.place = calloc(all.classes, sizeof *all.place);
  all.list = calloc(2 * width, sizeof *all.list);
  all.columns = calloc(2 * rows, sizeof *all.columns);
  hu_status status = all.place && all.list && all.columns ? HU_OK : HU_E_MEMORY;
  if (status == HU_OK) {
    uint32_t *labels = all.columns + rows;
    all.less = all.list + width;
    draw(&all, hui_net_words(net, HU_OF_SAMPLES, op->number));
    hui_do_get(net, labels, net->labels, rows * sizeof *labels);
    add_labels(&all, rows, labels);
    expect(&all);
    op->sampled.count = all.count;
    hui_do_put(net, arrays.list, all.list, 2 * width * sizeof *all.list);
    hui_do_put(net, arrays.columns, all.columns, rows * sizeof *all.columns);
  }
  free(all.place);
  free(all.list);
  free(all.columns);
  return status == HU_OK ? hui_done(net) : status;
}

/* ---- products: Z = X T^T of the rows T of this pass's classes, in as many columns of the result ---- */

/* z = a b, m x k times k x n, for the result `part`. */
static void multiply(hu_net *net, const hu_operator *op, unsigned part, size_t m, size_t n, size_t k, float *z,
                     size_t ldz, hu_matrices a, hu_matrices b, const hu_accum *accum) {
  hu_matrices to = {.data = z, .ld = ldz, .inner = n, .format = hu_binary32()};
  hu_products products = {
      .m = m, .n = n, .k = k, .outer = 1, .inner = 1, .z = to, .a = a, .b = b, .accum = accum, .words = {0, 0}};
  hui_do_products(net, op, part, &products);
}

/* Returns the table's rows as the product that `part` belongs to has them, in buffer 2. */
static hu_matrices table_operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part) {
  const hu_parameter *table = &net->parameter[op->theta[0]];
  const size_t rows = op->sampled.count, cols = table->cols;
  hu_matrices z = {.data = net->work[2], .ld = cols, .format = hui_operand_grid(op, part, rounding, &table->round)};
  hui_do_each(net, HU_RUN_COPY, rows * cols, z.data, arrays_of(net, op).table, NULL, 0);
  (void)hui_round_product(net, op, rows, cols, z.data, rounding, part);
  return z;
}

/* z = row list[i] of a parameter of so many columns, for each class of this pass. */
static void gather(hu_net *net, const hu_operator *op, const float *from, size_t cols, float *z) {
  hu_task task = hui_task_of(op->sampled.count, cols, z, arrays_of(net, op).list, from);
  task.tokens.vocabulary = net->parameter[op->theta[0]].rows;
  hui_do(net, HU_RUN_GATHER, &task);
}

/* z = +0, with row i of x added to row list[i]. */
static void scatter(hu_net *net, const hu_operator *op, const float *x, size_t cols, float *z) {
  hui_do_fill(net, net->parameter[op->theta[0]].rows * cols, z, 0);
  hu_task task = hui_task_of(1, cols, z, arrays_of(net, op).list, x);
  task.tokens.rows = op->sampled.count;
  hui_do(net, HU_RUN_SCATTER, &task);
}

static hu_status sampled_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  const size_t n = z->rows * z->cols;
  if (!net->labels) return HU_E_TRAIN;
  hu_status status = choose(net, op);
  if (status != HU_OK) return status;
  const sampled_arrays arrays = arrays_of(net, op);
  gather(net, op, net->parameter[op->theta[0]].theta, x->cols, arrays.table);
  hui_do_fill(net, n, z->v, 0);
  hu_matrices a = hui_x_operand(net, op, &op->rounding.x, HU_PART_Z_X);
  hu_matrices b = table_operand(net, op, &op->rounding.w, HU_PART_Z_W);
  b.transposed = 1;
  multiply(net, op, HU_PART_Z_OUT, z->rows, op->sampled.count, x->cols, z->v, z->cols, a, b, &op->rounding.z_accum);
  (void)hui_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  if (op->theta[1] >= 0) {
    hui_do_fill(net, z->cols, net->work[0], 0);
    gather(net, op, net->parameter[op->theta[1]].theta, 1, net->work[0]);
    hu_task task = hui_task_of(z->rows, z->cols, z->v, z->v, net->work[0]);
    hui_do(net, HU_RUN_ADD_ROW, &task);
  }
  hu_task task = hui_task_of(z->rows, z->cols, z->v, z->v, arrays.less);
  hui_do(net, HU_RUN_ADD_ROW, &task);
  return hui_done(net);
}

/* dT = dZ^T X goes to the rows of the table, column sums of dZ to the numbers of the bias. */
static void give_table(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  const size_t count = op->sampled.count;
  hui_give_postponed(net, op->theta[0]);
  hu_matrices a = hui_x_operand(net, op, &op->rounding.x_back, HU_PART_DW_X);
  hu_matrices b = hui_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ);
  const hu_accum model = hui_accum_swapped(&op->rounding.dw_accum);
  b.transposed = 1;
  multiply(net, op, HU_PART_DW_OUT, count, x->cols, z->rows, net->work[0], x->cols, b, a, &model);
  (void)hui_round_product(net, op, count, x->cols, net->work[0], &op->rounding.dw_out, HU_PART_DW_OUT);
  float *sum = hui_gift_parameter(net, op->theta[0], net->work[1]);
  scatter(net, op, net->work[0], x->cols, sum);
  hui_give_parameter(net, op->theta[0], sum);
  if (op->theta[1] < 0) return;
  hui_do_columns(net, HU_RUN_COLUMNS, z->rows, z->cols, net->work[0], z->dv, NULL, NULL);
  sum = hui_gift_parameter(net, op->theta[1], net->work[1]);
  scatter(net, op, net->work[0], 1, sum);
  hui_give_parameter(net, op->theta[1], sum);
}

static hu_status sampled_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  net->rounded.there = 0; /* dZ is another one */
  give_table(net, op);
  if (!hui_needs_gradient(net, op->in[0])) return hui_done(net);
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_matrices a = hui_gradients_operand(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ);
  hu_matrices b = table_operand(net, op, &op->rounding.w_back, HU_PART_DX_W);
  multiply(net, op, HU_PART_DX_OUT, x->rows, x->cols, op->sampled.count, dx, x->cols, a, b, &op->rounding.dx_accum);
  (void)hui_round_product(net, op, x->rows, x->cols, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind sampled = {
    .name = "sampled", .forward = sampled_forward, .backward = sampled_backward, .product = 1, .anywhere = 1};

/* ---- building ---- */

/* Adds the operator of training; returns its value, or -1. */
static int add_sampled(hu_net *net, int x, const int theta[2], size_t samples) {
  const hu_value value = net->value[x];
  const hu_parameter *table = &net->parameter[theta[0]];
  const size_t most = samples + value.rows, width = most < table->rows ? most : table->rows, cols = table->cols;
  int z = hui_new_value(net, value.rows, width, 0, 0);
  hu_operator *op = hui_new_operator(net, &sampled, x, -1, z, numbers_of(value.rows, width, cols));
  if (!op) return -1;
  op->theta[0] = theta[0];
  op->theta[1] = theta[1];
  op->sharing.transposed = 1;
  op->passes = HU_PASSES_TRAINING;
  op->sampled.samples = samples;
  op->sampled.width = width;
  net->value[z].sampled = 1 + z;
  return z;
}

static int add_layer(hu_net *net, int x, int table, size_t outputs, size_t samples, int bias) {
  int theta[2] = {table, -1};
  if (!hui_usable(net, x)) return -1;
  const size_t cols = net->value[x].cols;
  if (outputs == 0 || outputs > ((size_t)1 << 24) || samples == 0 || samples > outputs)
    return hui_refuse(net, HU_E_SHAPE, "sampled_linear: not from 1 to 2^24 outputs, or not from 1 to as many samples");
  if (table >= net->parameters ||
      (table >= 0 && (net->parameter[table].rows != outputs || net->parameter[table].cols != cols)))
    return hui_refuse(net, HU_E_SHAPE, "sampled_linear: no table with a row for each output and the value's columns");
  const int first = hu_net_parameters(net);
  if (table < 0) theta[0] = hui_new_parameter(net, outputs, cols, 0, cols);
  if (table < 0 && theta[0] >= 0) net->parameter[theta[0]].first.table = 1;
  if (bias && theta[0] >= 0) theta[1] = hui_new_parameter(net, 1, outputs, 0, 0);
  if (net->status != HU_OK) return -1;
  if (first < hu_net_parameters(net) || table < 0)
    hui_name_parameters(net, "sampled_linear", table < 0 ? theta[0] : theta[1], table < 0 ? "weight bias" : "bias");
  int in_training = add_sampled(net, x, theta, samples);
  int z = in_training < 0 ? -1 : hui_linear_by_table(net, x, theta[0], theta[1]);
  if (z < 0) return -1;
  net->op[net->operators - 1].passes = HU_PASSES_EVALUATION;
  net->value[z].sampled = 1 + in_training;
  return z;
}

int hu_net_sampled_linear(hu_net *net, int x, int table, size_t outputs, size_t samples, int bias) {
  HU_ENV_RETURN(int, add_layer(net, x, table, outputs, samples, bias));
}
