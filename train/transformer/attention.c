/* SPDX-License-Identifier: MIT */
/* The operators of attention: scores of queries and keys, softmax, sums of values. There is one product for each sample
 * and head. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/transformer/attention.h"

static hu_operand_place queries_of(const hu_operator *op) { return (hu_operand_place){op->in[0], 0}; }

static hu_operand_place keys_of(const hu_operator *op) {
  return op->in[1] < 0 ? (hu_operand_place){op->in[0], hui_query_columns(op)} : (hu_operand_place){op->in[1], 0};
}

/* Multiplies scores by the operator's factor, unless it has plain ones. */
static void shrink(hu_net *net, const hu_operator *op, size_t n, float *z, const float *x) {
  if (!op->heads.plain) {
    hui_do_each(net, HU_RUN_SCALE, n, z, x, NULL, op->heads.scale);
  } else if (z != x) {
    hui_do_each(net, HU_RUN_COPY, n, z, x, NULL, 0);
  }
}

/* ---- scores: rows (sample, head, step), a column a step ---- */

static hu_status scores_forward(hu_net *net, hu_operator *op) {
  const hu_operand_place at = queries_of(op), of = keys_of(op);
  const hu_value *x = &net->value[at.value], *y = &net->value[of.value];
  hu_value *z = &net->value[op->out];
  float *q = net->work[0], *k = net->work[1];
  hu_format fq = hui_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &x->round);
  hu_format fk = hui_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &y->round);
  hui_take_columns(net, at, hui_query_columns(op), q);
  hui_take_columns(net, of, hui_key_columns(op), k);
  (void)hui_round_product(net, op, x->rows, hui_query_columns(op), q, &op->rounding.x, HU_PART_Z_X);
  (void)hui_round_product(net, op, y->rows, hui_key_columns(op), k, &op->rounding.w, HU_PART_Z_W);
  k = hui_for_each_head(net, op, y->rows, k, net->work[2]);
  hui_multiply_heads(net, op, HU_PART_Z_OUT, &op->rounding.z_accum, op->heads.steps, op->heads.keys, op->heads.width,
                     hui_scores_of(op, z->v, hu_binary32(), 0), hui_heads_of(op, op->heads.steps, q, fq, 0),
                     hui_heads_of(op, op->heads.keys, k, fk, 1));
  (void)hui_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  shrink(net, op, z->rows * z->cols, z->v, z->v);
  return hui_done(net);
}

/* Rounds into buffer 0 the gradients that the product for dQ or dK (which: 0, 1) takes. */
static hu_matrices score_gradients(hu_net *net, hu_operator *op, unsigned which) {
  const hu_value *z = &net->value[op->out];
  const unsigned part = which ? HU_PART_DW_DZ : HU_PART_DX_DZ;
  const hu_rounding *rounding = which ? &op->rounding.dz_w : &op->rounding.dz;
  const hu_rounding scaled = hu_rounding_keep(), *before = op->heads.plain ? &z->round_back : &scaled;
  float *ds = net->work[0];
  shrink(net, op, z->rows * z->cols, ds, z->dv);
  (void)hui_round_product(net, op, z->rows, z->cols, ds, rounding, part);
  return hui_scores_of(op, ds, hui_operand_grid(op, part, rounding, before), (int)which);
}

/* dQ = (dS by) K, rows x d. */
static float *queries_gradient(hu_net *net, hu_operator *op) {
  const hu_operand_place of = keys_of(op);
  const hu_value *x = &net->value[op->in[0]], *y = &net->value[of.value];
  hu_matrices ds = score_gradients(net, op, 0);
  float *k = net->work[1], *dq = net->work[2];
  hu_format grid = hui_operand_grid(op, HU_PART_DX_W, &op->rounding.w_back, &y->round);
  hui_take_columns(net, of, hui_key_columns(op), k);
  (void)hui_round_product(net, op, y->rows, hui_key_columns(op), k, &op->rounding.w_back, HU_PART_DX_W);
  k = hui_for_each_head(net, op, y->rows, k, net->work[3]);
  hui_multiply_heads(net, op, HU_PART_DX_OUT, &op->rounding.dx_accum, op->heads.steps, op->heads.width, op->heads.keys,
                     hui_heads_of(op, op->heads.steps, dq, hu_binary32(), 0), ds,
                     hui_heads_of(op, op->heads.keys, k, grid, 0));
  (void)hui_round_product(net, op, x->rows, hui_query_columns(op), dq, &op->rounding.dx_out, HU_PART_DX_OUT);
  return dq;
}

/* dK = (dS by)^T Q. */
static float *keys_gradient(hu_net *net, hu_operator *op) {
  const hu_operand_place at = queries_of(op);
  const hu_value *x = &net->value[at.value], *y = &net->value[keys_of(op).value];
  hu_matrices ds = score_gradients(net, op, 1);
  float *q = net->work[1], *dk = net->work[2];
  hu_format grid = hui_operand_grid(op, HU_PART_DW_X, &op->rounding.x_back, &x->round);
  const hu_accum accum = hui_accum_swapped(&op->rounding.dw_accum);
  hui_take_columns(net, at, hui_query_columns(op), q);
  (void)hui_round_product(net, op, x->rows, hui_query_columns(op), q, &op->rounding.x_back, HU_PART_DW_X);
  hui_multiply_heads(net, op, HU_PART_DW_OUT, &accum, op->heads.keys, op->heads.width, op->heads.steps,
                     hui_heads_of(op, op->heads.keys, dk, hu_binary32(), 0), ds,
                     hui_heads_of(op, op->heads.steps, q, grid, 0));
  dk = hui_of_each_group(net, op, y->rows, dk, net->work[1]);
  (void)hui_round_product(net, op, y->rows, hui_key_columns(op), dk, &op->rounding.dw_out, HU_PART_DW_OUT);
  return dk;
}

/* Gradients in one value become one gift; an input gets none. */
static hu_status scores_backward(hu_net *net, hu_operator *op) {
  float *dx = op->kept;
  for (unsigned which = 0; which < 2; which++) {
    const hu_operand_place to = which ? keys_of(op) : queries_of(op);
    const hu_value *x = &net->value[to.value];
    int again = which && op->in[1] < 0, last = which || op->in[1] >= 0;
    if (!hui_needs_gradient(net, to.value)) continue;
    if (!again) hui_do_fill(net, x->rows * x->cols, dx, 0);
    hui_put_columns(net, to, which ? hui_key_columns(op) : hui_query_columns(op),
                    which ? keys_gradient(net, op) : queries_gradient(net, op), dx);
    if (last) hui_give(net, to.value, dx);
  }
  return hui_done(net);
}

static const hu_operator_kind scores = {
    .name = "scores", .forward = scores_forward, .backward = scores_backward, .product = 1, .anywhere = 1};

/* Rows of a sample with each other; one head, nothing multiplied. */
static const hu_operator_kind gram = {
    .name = "gram", .forward = scores_forward, .backward = scores_backward, .product = 1, .anywhere = 1};

/* ---- softmax along rows; in[1] says how many columns count; theta[0]: a sink for each head, whose shares are kept
 * ---- */

static hu_task softmax_task(const hu_net *net, const hu_operator *op, float *z) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(x->rows, x->cols, z, x->v, NULL);
  task.softmax.causal = op->softmax.causal;
  task.softmax.steps = op->softmax.steps;
  task.softmax.sample = op->softmax.sample;
  task.softmax.window = op->softmax.window;
  task.softmax.counts = op->in[1] < 0 ? NULL : net->value[op->in[1]].v;
  if (op->theta[0] < 0) return task;
  task.softmax.sink = net->parameter[op->theta[0]].theta;
  task.softmax.sinks = op->kept;
  return task;
}

static hu_status softmax_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *z = net->value[op->out].v;
  hu_task task = softmax_task(net, op, z);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, z, z);
  if (op->theta[0] >= 0) hui_do_function(net, HU_OP_EXP, x->rows, op->kept, op->kept);
  hui_do(net, HU_RUN_SHARES, &task);
  return hui_done(net);
}

/* ds = p (dp - sum(dp p)); the sink's share times the same sum goes to the sink. */
static hu_status softmax_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *dx = hui_gift(net, op->in[0], net->work[0]), *sums = net->work[1];
  hu_task task = softmax_task(net, op, dx);
  task.a = z->v;
  task.b = z->dv;
  task.softmax.sums = sums;
  hui_do(net, HU_RUN_SHARES_BACK, &task);
  hui_give(net, op->in[0], dx);
  if (op->theta[0] < 0) return hui_done(net);
  size_t heads = op->softmax.sample / op->softmax.steps;
  float *sink = hui_gift_parameter(net, op->theta[0], net->work[0]);
  hui_do_columns(net, HU_RUN_COLUMNS, z->rows / heads, heads, sink, sums, NULL, NULL);
  hui_give_parameter(net, op->theta[0], sink);
  return hui_done(net);
}

static const hu_operator_kind softmax = {
    .name = "softmax", .forward = softmax_forward, .backward = softmax_backward, .anywhere = 1};

/* ---- sums of values: in[0] the scores, in[1] the matrix with the values ---- */

static hu_status mix_forward(hu_net *net, hu_operator *op) {
  const hu_operand_place of = hui_values_of(net, op);
  const hu_value *value = &net->value[op->in[0]], *x = &net->value[of.value];
  hu_value *z = &net->value[op->out];
  float *a = net->work[0], *v = net->work[1];
  hu_format format = hui_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &value->round);
  hu_format grid = hui_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &x->round);
  hui_do_each(net, HU_RUN_COPY, value->rows * value->cols, a, value->v, NULL, 0);
  hui_take_columns(net, of, hui_key_columns(op), v);
  (void)hui_round_product(net, op, value->rows, value->cols, a, &op->rounding.x, HU_PART_Z_X);
  (void)hui_round_product(net, op, x->rows, hui_key_columns(op), v, &op->rounding.w, HU_PART_Z_W);
  v = hui_for_each_head(net, op, x->rows, v, net->work[2]);
  hui_multiply_heads(net, op, HU_PART_Z_OUT, &op->rounding.z_accum, op->heads.steps, op->heads.width, op->heads.keys,
                     hui_heads_of(op, op->heads.steps, z->v, hu_binary32(), 0), hui_scores_of(op, a, format, 0),
                     hui_heads_of(op, op->heads.keys, v, grid, 0));
  return hui_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
}

/* dV, then dP = dO V^T. */
static hu_status mix_backward(hu_net *net, hu_operator *op) {
  hui_give_values(net, op, net->value[op->in[0]].v);
  float *dp = hui_gift(net, op->in[0], net->work[2]);
  hui_shares_gradient(net, op, dp);
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
  if (hui_reserve_work(net, reader.rows * hui_query_columns(op)) == HU_OK) return a;
  return hui_refuse(net, HU_E_MEMORY, "attention: no memory");
}

static int add_shares(hu_net *net, int a, const hu_attention *how, const hu_head_sizes *heads) {
  hu_value value = net->value[a];
  int p = hui_new_value(net, value.rows, value.cols, 0, 0);
  int sink = how->sink ? hui_new_parameter(net, 1, heads->count, 0, 0) : -1;
  if (how->sink) hui_name_parameters(net, "attention", sink, "sink");
  hu_operator *op = hui_new_operator(net, &softmax, a, how->lengths, p, how->sink ? value.rows : 0);
  if (!op) return -1;
  op->theta[0] = sink;
  op->softmax.causal = how->causal != 0;
  op->softmax.steps = heads->steps;
  op->softmax.sample = heads->count * heads->steps;
  op->softmax.window = how->window;
  if (how->lengths >= 0) net->value[how->lengths].tokens = 1;
  return how->dropout > 0 ? hu_net_dropout(net, p, how->dropout) : p;
}

/* Adds the sums of values by shares p, so many rows. */
static int add_mix(hu_net *net, int p, int kv, size_t rows, const hu_head_sizes *heads) {
  const hu_value from = net->value[kv];
  int z = hui_new_value(net, rows, heads->count * heads->width, 0, 0);
  hu_operator *op = hui_new_operator(net, &mix, p, kv, z, from.rows * from.cols);
  if (!op) return -1;
  op->heads = *heads;
  return z;
}

int hui_add_sum_of_rows(hu_net *net, int a, int rows, int lengths) {
  if (a < 0) return -1;
  const hu_value from = net->value[rows];
  const size_t keys = from.rows / net->batch;
  const hu_head_sizes heads = {.count = 1, .keys_count = 1, .width = from.cols, .steps = 1, .keys = keys};
  hu_attention how = hu_attention_of(1);
  how.lengths = lengths;
  int p = add_shares(net, a, &how, &heads);
  return p < 0 ? -1 : add_mix(net, p, rows, net->batch, &heads);
}

static int add_attention(hu_net *net, int x, int kv, const hu_attention *how, const hu_head_sizes *heads) {
  size_t rows = net->value[x].rows;
  int a = add_scores(net, &scores, x, kv, heads);
  if (how->block && a >= 0) return hui_add_online(net, a, kv < 0 ? x : kv, how, heads);
  int p = a < 0 ? -1 : add_shares(net, a, how, heads);
  return p < 0 ? -1 : add_mix(net, p, kv < 0 ? x : kv, rows, heads);
}

static const char *wrong_sizes(const hu_attention *how, const hu_head_sizes *heads) {
  if (how->window && !how->causal) return "attention: a window, but not causal";
  if (how->causal && heads->steps != heads->keys) return "attention: causal across values of different steps";
  if (how->block && how->dropout > 0) return "attention: dropout of shares that are not there: blocks of keys";
  if (!(how->scale >= 0 && how->scale < 1e30)) return "attention: the scale is negative or not finite";
  return NULL;
}

static HU_NOINLINE int attend(hu_net *net, int x, int kv, const hu_attention *how) {
  if (!hui_usable(net, x) || (kv >= 0 && !hui_usable(net, kv)) || !how ||
      !hui_are_lengths(net, how->lengths, "attention"))
    return -1;
  hu_value value = net->value[x], other = net->value[kv < 0 ? x : kv];
  size_t count = how->heads, keys = how->kv_heads ? how->kv_heads : count;
  size_t all = kv < 0 ? count + 2 * keys : count, width = all ? value.cols / all : 0;
  if (!value.made || !other.made) return hui_refuse(net, HU_E_SHAPE, "attention: of an input");
  if (count == 0 || count > value.cols || keys > count || count % keys)
    return hui_refuse(net, HU_E_SHAPE, "attention: heads of keys do not divide those of queries");
  if (value.cols % all || (kv >= 0 && other.cols != 2 * keys * width)) {
    return hui_refuse(net, HU_E_SHAPE,
                      kv < 0 ? "attention: columns are not those of the heads of queries, keys and values"
                             : "attention: columns are not those of heads: d, and 2 d in the memory");
  }
  const hu_head_sizes sizes = {.count = count,
                               .keys_count = keys,
                               .width = width,
                               .steps = value.rows / net->batch,
                               .keys = other.rows / net->batch,
                               .scale = (float)(how->scale > 0 ? how->scale : 1 / sqrt((double)width))};
  const char *wrong = wrong_sizes(how, &sizes);
  if (wrong) return hui_refuse(net, HU_E_TRAIN, wrong);
  return add_attention(net, x, kv, how, &sizes);
}

hu_attention hu_attention_of(size_t heads) {
  hu_attention how;
  memset(&how, 0, sizeof how);
  how.heads = heads;
  how.lengths = -1;
  return how;
}

int hu_net_attend(hu_net *net, int queries, int memory, const hu_attention *how) {
  HU_ENV_RETURN(int, attend(net, queries, memory, how));
}

int hu_net_attention(hu_net *net, int x, size_t heads, int causal) {
  return hu_net_attention_masked(net, x, heads, causal, -1);
}

int hu_net_attention_masked(hu_net *net, int x, size_t heads, int causal, int lengths) {
  hu_attention how = hu_attention_of(heads);
  how.causal = causal != 0;
  how.lengths = lengths;
  return hu_net_attend(net, x, -1, &how);
}

int hu_net_attention_across(hu_net *net, int queries, int memory, size_t heads, int lengths) {
  hu_attention how = hu_attention_of(heads);
  how.lengths = lengths;
  return memory < 0 ? -1 : hu_net_attend(net, queries, memory, &how);
}

int hui_add_gram(hu_net *net, int x) {
  hu_value value = net->value[x];
  const size_t rows = value.rows / net->batch;
  const hu_head_sizes sizes = {
      .count = 1, .keys_count = 1, .width = value.cols, .steps = rows, .keys = rows, .plain = 1};
  return add_scores(net, &gram, x, x, &sizes);
}
