/* SPDX-License-Identifier: MIT */
/* Softmax and sums of values in one operator, a block of keys after another, with a maximum and a sum of each row that
 * are carried from block to block. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/transformer/attention.h"

/* What the operator keeps of its rows. */
typedef struct kept_rows {
  float *top, *sum, *factor, *sinks; /* a number a row */
  float *shares;                     /* of the backward pass, rows x keys */
} kept_rows;

static kept_rows kept_of(const hu_net *net, const hu_operator *op) {
  size_t rows = net->value[op->in[0]].rows;
  float *k = op->kept + op->heads.given;
  return (kept_rows){k, k + rows, k + 2 * rows, k + 3 * rows, k + 4 * rows};
}

/* Makes a task of kernels over rows of scores, `cols` columns from `from` on. */
static hu_task task_of(const hu_net *net, const hu_operator *op, size_t from, size_t cols, float *z) {
  const hu_value *x = &net->value[op->in[0]];
  const kept_rows kept = kept_of(net, op);
  hu_task task = hui_task_of(x->rows, cols, z, x->v, NULL);
  hu_online_task *online = &task.online;
  task.lda = x->cols;
  online->softmax.causal = op->heads.causal;
  online->softmax.window = op->heads.window;
  online->softmax.steps = op->heads.steps;
  online->softmax.sample = op->heads.count * op->heads.steps;
  online->softmax.counts = op->in[2] < 0 ? NULL : net->value[op->in[2]].v;
  online->softmax.sink = op->theta[0] < 0 ? NULL : net->parameter[op->theta[0]].theta;
  online->softmax.sinks = kept.sinks;
  online->keys = x->cols;
  online->from = from;
  online->width = op->heads.width;
  online->top = kept.top;
  online->sum = kept.sum;
  online->factor = kept.factor;
  return task;
}

/* Rounds P of a block: word i n + j of its own, behind those of the blocks before it. */
static void round_shares(hu_net *net, hu_operator *op, size_t from, size_t cols, float *p) {
  const size_t rows = net->value[op->in[0]].rows;
  hu_rounding given;
  if (op->rounding.x.kind == HU_ROUND_KEEP) return;
  const hu_rounding *rounding = hui_delayed_rounding(net, op, rows * cols, p, &op->rounding.x, HU_PART_Z_X, &given);
  hu_stream words = hui_net_words(net, HU_OF_PRODUCT, op->number << 4 | HU_PART_Z_X);
  words.counter += rows * from;
  hui_notify(net, HU_PHASE_ROUNDING, op, 0);
  hui_do_round(net, rows, cols, p, p, rounding, words, hui_counts_of_part(net, op, HU_PART_Z_X));
  hui_notify(net, HU_PHASE_ROUNDING, op, 1);
}

/* z = P V of one block of keys. */
static void multiply(hu_net *net, const hu_operator *op, size_t from, size_t cols, float *z, hu_matrices p,
                     hu_matrices v) {
  const size_t steps = op->heads.steps;
  hu_products products = {.m = steps, .n = op->heads.width, .k = cols, .outer = net->batch, .inner = op->heads.count};
  products.accum = &op->rounding.z_accum;
  products.z = hui_heads_of(op, steps, z, hu_binary32(), 0);
  p.ld = cols;
  p.outer = op->heads.count * steps * cols;
  p.inner = steps * cols;
  v.data += from * v.ld;
  products.a = p;
  products.b = v;
  if (products.accum->mode.bits) {
    products.words = hui_net_words(net, HU_OF_SUM, op->number << 4 | HU_PART_Z_OUT);
    products.words.counter += 2 * net->batch * op->heads.count * from;
  }
  if (net->fault == HU_OK) net->fault = net->engine->products(net->self, &products);
}

static hu_status online_forward(hu_net *net, hu_operator *op) {
  const hu_operand_place of = hui_values_of(net, op);
  const hu_value *x = &net->value[op->in[0]], *y = &net->value[of.value];
  hu_value *z = &net->value[op->out];
  const kept_rows kept = kept_of(net, op);
  const hu_rounding keep = hu_rounding_keep();
  float *p = net->work[0], *v = net->work[1], *part = net->work[3];
  hu_matrices a = {.data = p, .format = hui_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &keep)};
  hu_format grid = hui_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &y->round);
  hui_take_columns(net, of, hui_key_columns(op), v);
  (void)hui_round_product(net, op, y->rows, hui_key_columns(op), v, &op->rounding.w, HU_PART_Z_W);
  v = hui_for_each_head(net, op, y->rows, v, net->work[2]);
  hui_do_fill(net, z->rows * z->cols, z->v, 0);
  hu_task task = task_of(net, op, 0, 1, NULL);
  hui_do(net, HU_RUN_ONLINE_BEGIN, &task);
  for (size_t from = 0; from < x->cols; from += op->heads.block) {
    size_t cols = x->cols - from < op->heads.block ? x->cols - from : op->heads.block;
    task = task_of(net, op, from, cols, p);
    hui_do(net, HU_RUN_ONLINE_TOP, &task);
    hui_do_function(net, HU_OP_EXP, x->rows * cols, p, p);
    hui_do_function(net, HU_OP_EXP, x->rows, kept.factor, kept.factor);
    hui_do(net, HU_RUN_ONLINE_SUM, &task);
    round_shares(net, op, from, cols, p);
    multiply(net, op, from, cols, part, a, hui_heads_of(op, op->heads.keys, v, grid, 0));
    task = task_of(net, op, from, z->cols, z->v);
    task.rows = z->rows;
    task.b = part;
    hui_do(net, HU_RUN_ONLINE_ADD, &task);
  }
  task = task_of(net, op, 0, z->cols, z->v);
  task.rows = z->rows;
  hui_do(net, HU_RUN_ONLINE_END, &task);
  return hui_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
}

/* p = e^(s - top) / sum; dV = p^T dO, dP = dO V^T; ds = p (dP - D), D = row sum of dO O. */
static hu_status online_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  const kept_rows kept = kept_of(net, op);
  hu_task task = task_of(net, op, 0, x->cols, kept.shares);
  hui_do(net, HU_RUN_ONLINE_LESS, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, kept.shares, kept.shares);
  if (op->theta[0] >= 0) hui_do_function(net, HU_OP_EXP, x->rows, kept.sinks, kept.sinks);
  hui_do(net, HU_RUN_ONLINE_SHARES, &task);
  hui_give_values(net, op, kept.shares);
  float *dp = hui_gift(net, op->in[0], net->work[2]), *sums = net->work[1];
  hui_shares_gradient(net, op, dp);
  task = task_of(net, op, 0, x->cols, dp);
  task.a = kept.shares;
  task.b = z->dv;
  task.online.result = z->v;
  task.online.softmax.sums = sums;
  hui_do(net, HU_RUN_ONLINE_BACK, &task);
  hui_give(net, op->in[0], dp);
  if (op->theta[0] < 0) return hui_done(net);
  float *sink = hui_gift_parameter(net, op->theta[0], net->work[0]);
  hui_do_columns(net, HU_RUN_COLUMNS, z->rows, op->heads.count, sink, sums, NULL, NULL);
  hui_give_parameter(net, op->theta[0], sink);
  return hui_done(net);
}

static const hu_operator_kind online = {
    .name = "online", .forward = online_forward, .backward = online_backward, .product = 1, .anywhere = 1};

int hui_add_online(hu_net *net, int a, int kv, const hu_attention *how, const hu_head_sizes *heads) {
  hu_value value = net->value[a], from = net->value[kv];
  size_t given = from.rows * from.cols;
  int z = hui_new_value(net, net->batch * heads->steps, heads->count * heads->width, 0, 0);
  int sink = how->sink ? hui_new_parameter(net, 1, heads->count, 0, 0) : -1;
  if (how->sink) hui_name_parameters(net, "attention", sink, "sink");
  hu_operator *op = hui_new_operator(net, &online, a, kv, z, given + value.rows * (4 + value.cols));
  if (!op) return -1;
  op->in[2] = how->lengths;
  op->theta[0] = sink;
  op->heads = *heads;
  op->heads.block = how->block;
  op->heads.window = how->window;
  op->heads.causal = how->causal != 0;
  op->heads.given = given;
  if (how->lengths >= 0) net->value[how->lengths].tokens = 1;
  return z;
}
