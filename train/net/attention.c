/* SPDX-License-Identifier: MIT */
/* The operators of attention: scores of queries and keys, softmax, sums of values. There is one product for each sample
 * and head. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"

/* Where operands are: queries, and after them keys and values, in three parts of the columns of one value; or queries
 * alone, and keys and values in parts of another one. */
typedef struct operand_place {
  int value;
  size_t part;
} operand_place;

static operand_place queries_of(const hu_operator *op) { return (operand_place){op->in[0], 0}; }

static operand_place keys_of(const hu_operator *op) {
  return op->in[1] < 0 ? (operand_place){op->in[0], 1} : (operand_place){op->in[1], 0};
}

/* Of the operator that sums values, whose in[0] are the shares. */
static operand_place values_of(const hu_net *net, const hu_operator *op) {
  size_t d = op->heads.count * op->heads.width;
  return (operand_place){op->in[1], net->value[op->in[1]].cols / d - 1};
}

/* Copies columns part d ... of x into z, rows x d; the next function copies them back. */
static void take_columns(hu_net *net, const hu_value *x, const float *from, size_t d, size_t part, float *z) {
  hui_do_copy(net, x->rows, d, z, d, from + part * d, x->cols);
}

static void put_columns(hu_net *net, const hu_value *x, const float *from, size_t d, size_t part, float *z) {
  hui_do_copy(net, x->rows, d, z + part * d, x->cols, from, d);
}

/* Return the heads' matrices in rows x d, so many rows per sample, and in rows x keys scores; on the grid `format`. */
static hu_matrices heads_of(const hu_operator *op, size_t rows, float *x, hu_format format, int transposed) {
  size_t d = op->heads.count * op->heads.width;
  hu_matrices matrices = {
      .data = x, .ld = d, .outer = rows * d, .inner = op->heads.width, .format = format, .transposed = transposed};
  return matrices;
}

static hu_matrices scores_of(const hu_operator *op, float *x, hu_format format, int transposed) {
  size_t all = op->heads.steps * op->heads.keys;
  hu_matrices matrices = {.data = x,
                          .ld = op->heads.keys,
                          .outer = op->heads.count * all,
                          .inner = all,
                          .format = format,
                          .transposed = transposed};
  return matrices;
}

/* Computes one product for each sample and head, for the result `part`. */
static void multiply(hu_net *net, const hu_operator *op, unsigned part, const hu_accum *accum, size_t m, size_t n,
                     size_t k, hu_matrices z, hu_matrices a, hu_matrices b) {
  hu_products products = {.m = m,
                          .n = n,
                          .k = k,
                          .outer = net->batch,
                          .inner = op->heads.count,
                          .z = z,
                          .a = a,
                          .b = b,
                          .accum = accum,
                          .words = {0, 0}};
  hui_do_products(net, op, part, &products);
}

/* Multiplies scores by 1 / sqrt(columns of a head), unless the operator has plain ones. */
static void shrink(hu_net *net, const hu_operator *op, size_t n, float *z, const float *x) {
  if (!op->heads.plain) {
    hui_do_each(net, HU_RUN_SCALE, n, z, x, NULL, (float)(1 / sqrt((double)op->heads.width)));
  } else if (z != x) {
    hui_do_each(net, HU_RUN_COPY, n, z, x, NULL, 0);
  }
}

/* ---- scores: rows (sample, head, step), a column a step ---- */

static hu_status scores_forward(hu_net *net, hu_operator *op) {
  const operand_place at = queries_of(op), of = keys_of(op);
  const hu_value *x = &net->value[at.value], *y = &net->value[of.value];
  hu_value *z = &net->value[op->out];
  size_t h = op->heads.width, d = op->heads.count * h;
  float *q = net->work[0], *k = net->work[1];
  hu_format fq = hui_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &x->round);
  hu_format fk = hui_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &y->round);
  take_columns(net, x, x->v, d, at.part, q);
  take_columns(net, y, y->v, d, of.part, k);
  (void)hui_round_product(net, op, x->rows, d, q, &op->rounding.x, HU_PART_Z_X);
  (void)hui_round_product(net, op, y->rows, d, k, &op->rounding.w, HU_PART_Z_W);
  multiply(net, op, HU_PART_Z_OUT, &op->rounding.z_accum, op->heads.steps, op->heads.keys, h,
           scores_of(op, z->v, hu_binary32(), 0), heads_of(op, op->heads.steps, q, fq, 0),
           heads_of(op, op->heads.keys, k, fk, 1));
  (void)hui_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  shrink(net, op, z->rows * z->cols, z->v, z->v);
  return hui_done(net);
}

/* The model of dW = X^T dZ for the product dW^T = dZ^T X: A and B have changed places. */
static hu_accum swapped(const hu_accum *accum) {
  hu_accum model = *accum;
  model.a = accum->b;
  model.b = accum->a;
  return model;
}

/* which: 0: dQ = (dS by) K, 1: dK = (dS by)^T Q; rows x d, into `part`. */
static void scores_part(hu_net *net, hu_operator *op, unsigned which, float *part) {
  const operand_place to = which ? keys_of(op) : queries_of(op), from = which ? queries_of(op) : keys_of(op);
  const hu_value *x = &net->value[from.value], *y = &net->value[to.value], *z = &net->value[op->out];
  size_t h = op->heads.width, d = op->heads.count * h, rows = which ? op->heads.keys : op->heads.steps,
         along = which ? op->heads.steps : op->heads.keys;
  float *ds = net->work[0], *other = net->work[1];
  const hu_rounding *left = which ? &op->rounding.dz_w : &op->rounding.dz;
  const hu_rounding *right = which ? &op->rounding.x_back : &op->rounding.w_back;
  const hu_rounding scaled = hu_rounding_keep(), *before = op->heads.plain ? &z->round_back : &scaled;
  hu_format format = hui_operand_grid(op, which ? HU_PART_DW_DZ : HU_PART_DX_DZ, left, before);
  hu_format grid = hui_operand_grid(op, which ? HU_PART_DW_X : HU_PART_DX_W, right, &x->round);
  const hu_accum accum = which ? swapped(&op->rounding.dw_accum) : op->rounding.dx_accum;
  shrink(net, op, z->rows * z->cols, ds, z->dv);
  take_columns(net, x, x->v, d, from.part, other);
  (void)hui_round_product(net, op, z->rows, z->cols, ds, left, which ? HU_PART_DW_DZ : HU_PART_DX_DZ);
  (void)hui_round_product(net, op, x->rows, d, other, right, which ? HU_PART_DW_X : HU_PART_DX_W);
  multiply(net, op, which ? HU_PART_DW_OUT : HU_PART_DX_OUT, &accum, rows, h, along,
           heads_of(op, rows, part, hu_binary32(), 0), scores_of(op, ds, format, (int)which),
           heads_of(op, along, other, grid, 0));
  const hu_rounding *out = which ? &op->rounding.dw_out : &op->rounding.dx_out;
  (void)hui_round_product(net, op, y->rows, d, part, out, which ? HU_PART_DW_OUT : HU_PART_DX_OUT);
}

/* Gradients in one value become one gift; an input gets none. */
static hu_status scores_backward(hu_net *net, hu_operator *op) {
  size_t d = op->heads.count * op->heads.width;
  float *part = net->work[2], *dx = op->kept;
  for (unsigned which = 0; which < 2; which++) {
    const operand_place to = which ? keys_of(op) : queries_of(op);
    const hu_value *x = &net->value[to.value];
    int again = which && op->in[1] < 0, last = which || op->in[1] >= 0;
    if (!hui_needs_gradient(net, to.value)) continue;
    if (!again) hui_do_fill(net, x->rows * x->cols, dx, 0);
    scores_part(net, op, which, part);
    put_columns(net, x, part, d, to.part, dx);
    if (last) hui_give(net, to.value, dx);
  }
  return hui_done(net);
}

static const hu_operator_kind scores = {
    .name = "scores", .forward = scores_forward, .backward = scores_backward, .product = 1, .anywhere = 1};

/* Rows of a sample with each other; one head, nothing multiplied. */
static const hu_operator_kind gram = {
    .name = "gram", .forward = scores_forward, .backward = scores_backward, .product = 1, .anywhere = 1};

/* ---- softmax along rows; in[1] says how many columns count ---- */

static hu_task softmax_task(const hu_net *net, const hu_operator *op, float *z) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(x->rows, x->cols, z, x->v, NULL);
  task.softmax.causal = op->softmax.causal;
  task.softmax.steps = op->softmax.steps;
  task.softmax.sample = op->softmax.sample;
  task.softmax.counts = op->in[1] < 0 ? NULL : net->value[op->in[1]].v;
  return task;
}

static hu_status softmax_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *z = net->value[op->out].v;
  hu_task task = softmax_task(net, op, z);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, z, z);
  hui_do(net, HU_RUN_SHARES, &task);
  return hui_done(net);
}

/* ds = p (dp - sum(dp p)) */
static hu_status softmax_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = hui_task_of(z->rows, z->cols, dx, z->v, z->dv);
  hui_do(net, HU_RUN_SHARES_BACK, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind softmax = {
    .name = "softmax", .forward = softmax_forward, .backward = softmax_backward, .anywhere = 1};

/* ---- sums of values: in[0] the scores, in[1] the matrix with the values ---- */

static hu_status mix_forward(hu_net *net, hu_operator *op) {
  const operand_place of = values_of(net, op);
  const hu_value *value = &net->value[op->in[0]], *x = &net->value[of.value];
  hu_value *z = &net->value[op->out];
  size_t h = op->heads.width, d = op->heads.count * h;
  float *a = net->work[0], *v = net->work[1];
  hu_format format = hui_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &value->round);
  hu_format grid = hui_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &x->round);
  hui_do_each(net, HU_RUN_COPY, value->rows * value->cols, a, value->v, NULL, 0);
  take_columns(net, x, x->v, d, of.part, v);
  (void)hui_round_product(net, op, value->rows, value->cols, a, &op->rounding.x, HU_PART_Z_X);
  (void)hui_round_product(net, op, x->rows, d, v, &op->rounding.w, HU_PART_Z_W);
  multiply(net, op, HU_PART_Z_OUT, &op->rounding.z_accum, op->heads.steps, h, op->heads.keys,
           heads_of(op, op->heads.steps, z->v, hu_binary32(), 0), scores_of(op, a, format, 0),
           heads_of(op, op->heads.keys, v, grid, 0));
  return hui_round_product(net, op, z->rows, d, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
}

/* dV = P^T dO. */
static void give_values(hu_net *net, hu_operator *op) {
  const operand_place of = values_of(net, op);
  const hu_value *value = &net->value[op->in[0]], *x = &net->value[of.value], *z = &net->value[op->out];
  size_t h = op->heads.width, d = op->heads.count * h;
  float *dz = net->work[0], *other = net->work[1], *part = net->work[2], *dx = op->kept;
  if (!hui_needs_gradient(net, of.value)) return;
  hu_format format = hui_operand_grid(op, HU_PART_DW_X, &op->rounding.x_back, &value->round);
  hu_format grid = hui_operand_grid(op, HU_PART_DW_DZ, &op->rounding.dz_w, &z->round_back);
  hui_do_each(net, HU_RUN_COPY, z->rows * d, dz, z->dv, NULL, 0);
  hui_do_each(net, HU_RUN_COPY, value->rows * value->cols, other, value->v, NULL, 0);
  (void)hui_round_product(net, op, z->rows, d, dz, &op->rounding.dz_w, HU_PART_DW_DZ);
  (void)hui_round_product(net, op, value->rows, value->cols, other, &op->rounding.x_back, HU_PART_DW_X);
  multiply(net, op, HU_PART_DW_OUT, &op->rounding.dw_accum, op->heads.keys, h, op->heads.steps,
           heads_of(op, op->heads.keys, part, hu_binary32(), 0), scores_of(op, other, format, 1),
           heads_of(op, op->heads.steps, dz, grid, 0));
  (void)hui_round_product(net, op, x->rows, d, part, &op->rounding.dw_out, HU_PART_DW_OUT);
  hui_do_fill(net, x->rows * x->cols, dx, 0);
  put_columns(net, x, part, d, of.part, dx);
  hui_give(net, of.value, dx);
}

/* dV, then dP = dO V^T. */
static hu_status mix_backward(hu_net *net, hu_operator *op) {
  const operand_place of = values_of(net, op);
  const hu_value *value = &net->value[op->in[0]], *x = &net->value[of.value], *z = &net->value[op->out];
  size_t h = op->heads.width, d = op->heads.count * h;
  float *dz = net->work[0], *other = net->work[1];
  give_values(net, op);
  float *dp = hui_gift(net, op->in[0], net->work[2]);
  hu_format format = hui_operand_grid(op, HU_PART_DX_DZ, &op->rounding.dz, &z->round_back);
  hu_format grid = hui_operand_grid(op, HU_PART_DX_W, &op->rounding.w_back, &x->round);
  hui_do_each(net, HU_RUN_COPY, z->rows * d, dz, z->dv, NULL, 0);
  take_columns(net, x, x->v, d, of.part, other);
  (void)hui_round_product(net, op, z->rows, d, dz, &op->rounding.dz, HU_PART_DX_DZ);
  (void)hui_round_product(net, op, x->rows, d, other, &op->rounding.w_back, HU_PART_DX_W);
  multiply(net, op, HU_PART_DX_OUT, &op->rounding.dx_accum, op->heads.steps, op->heads.keys, h,
           scores_of(op, dp, hu_binary32(), 0), heads_of(op, op->heads.steps, dz, format, 0),
           heads_of(op, op->heads.keys, other, grid, 1));
  (void)hui_round_product(net, op, value->rows, value->cols, dp, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], dp);
  return hui_done(net);
}

static const hu_operator_kind mix = {
    .name = "mix", .forward = mix_forward, .backward = mix_backward, .product = 1, .anywhere = 1};

/* ---- building ---- */

/* kv: -1: x has queries, keys and values. The larger of both values is what gradients need space for. */
static int add_scores(hu_net *net, const hu_operator_kind *kind, int x, int kv, const hu_head_sizes *heads) {
  hu_value value = net->value[x], reader = net->value[kv < 0 ? x : kv];
  size_t one = value.rows * value.cols, other = reader.rows * reader.cols;
  int a = hui_new_value(net, net->batch * heads->count * heads->steps, heads->keys, 0, 0);
  hu_operator *op = hui_new_operator(net, kind, x, kv, a, one > other ? one : other);
  if (!op) return -1;
  op->heads = *heads;
  return a;
}

static int add_shares(hu_net *net, int a, int causal, int lengths, const hu_head_sizes *heads) {
  hu_value value = net->value[a];
  int p = hui_new_value(net, value.rows, value.cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &softmax, a, lengths, p, 0);
  if (!op) return -1;
  op->softmax.causal = causal != 0;
  op->softmax.steps = heads->steps;
  op->softmax.sample = heads->count * heads->steps;
  if (lengths >= 0) net->value[lengths].tokens = 1;
  return p;
}

static int add_attention(hu_net *net, int x, int kv, int causal, int lengths, const hu_head_sizes *heads) {
  size_t rows = net->value[x].rows, d = heads->count * heads->width;
  hu_value from = net->value[kv < 0 ? x : kv];
  int a = add_scores(net, &scores, x, kv, heads);
  int p = a < 0 ? -1 : add_shares(net, a, causal, lengths, heads);
  if (p < 0) return -1;
  int z = hui_new_value(net, rows, d, 0, 0);
  hu_operator *op = hui_new_operator(net, &mix, p, kv < 0 ? x : kv, z, from.rows * from.cols);
  if (!op) return -1;
  op->heads = *heads;
  return z;
}

int hu_net_attention(hu_net *net, int x, size_t heads, int causal) {
  return hu_net_attention_masked(net, x, heads, causal, -1);
}

int hu_net_attention_masked(hu_net *net, int x, size_t heads, int causal, int lengths) {
  if (!hui_usable(net, x) || !hui_are_lengths(net, lengths, "attention")) return -1;
  hu_value value = net->value[x];
  size_t t = value.rows / net->batch, d = value.cols / 3;
  if (!value.made) return hui_refuse(net, HU_E_SHAPE, "attention: of an input");
  if (value.cols % 3 || heads == 0 || d % heads)
    return hui_refuse(net, HU_E_SHAPE, "attention: columns are not 3 d, d of heads");
  const hu_head_sizes sizes = {.count = heads, .width = d / heads, .steps = t, .keys = t};
  return add_attention(net, x, -1, causal, lengths, &sizes);
}

int hu_net_attention_across(hu_net *net, int queries, int memory, size_t heads, int lengths) {
  if (!hui_usable(net, queries) || !hui_usable(net, memory) || !hui_are_lengths(net, lengths, "attention")) return -1;
  hu_value value = net->value[queries], other = net->value[memory];
  size_t d = value.cols;
  if (!value.made || !other.made) return hui_refuse(net, HU_E_SHAPE, "attention: of an input");
  if (other.cols != 2 * d || heads == 0 || d % heads)
    return hui_refuse(net, HU_E_SHAPE, "attention: columns are not d and 2 d, d of heads");
  const hu_head_sizes sizes = {
      .count = heads, .width = d / heads, .steps = value.rows / net->batch, .keys = other.rows / net->batch};
  return add_attention(net, queries, memory, 0, lengths, &sizes);
}

int hui_add_gram(hu_net *net, int x) {
  hu_value value = net->value[x];
  const size_t rows = value.rows / net->batch;
  const hu_head_sizes sizes = {.count = 1, .width = value.cols, .steps = rows, .keys = rows, .plain = 1};
  return add_scores(net, &gram, x, x, &sizes);
}
