/* SPDX-License-Identifier: MIT */
/* The operators of attention: scores of queries and keys, softmax, sums of values. There is one product for each sample
 * and head. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"

enum { HEADS = 0, STEPS = 1, HEAD = 2 }; /* HEAD: columns of a head */

/* Columns part d ... of x into z, rows x d, and back. */
static void take_columns(hu_net *net, const hu_value *x, const float *from, size_t d, size_t part, float *z) {
  hu_do_copy(net, x->rows, d, z, d, from + part * d, x->cols);
}

static void put_columns(hu_net *net, const hu_value *x, const float *from, size_t d, size_t part, float *z) {
  hu_do_copy(net, x->rows, d, z + part * d, x->cols, from, d);
}

/* The heads' matrices in rows x d, and in rows x steps scores; on the grid f. */
static hu_matrices heads_of(const hu_operator *op, float *x, hu_format f, int transposed) {
  size_t d = op->n[HEADS] * op->n[HEAD];
  hu_matrices m = {x, d, op->n[STEPS] * d, op->n[HEAD], f, transposed};
  return m;
}

static hu_matrices scores_of(const hu_operator *op, float *x, hu_format f, int transposed) {
  size_t t = op->n[STEPS];
  hu_matrices m = {x, t, op->n[HEADS] * t * t, t * t, f, transposed};
  return m;
}

/* One to a sample and head, for the result `part`. */
static void multiply(hu_net *net, const hu_operator *op, unsigned part, const hu_accum *accum, size_t m, size_t n,
                     size_t k, hu_matrices z, hu_matrices a, hu_matrices b) {
  hu_products p = {m, n, k, net->batch, op->n[HEADS], z, a, b, accum, {0, 0}};
  hu_do_products(net, op, part, &p);
}

static float shrink(const hu_operator *op) { return (float)(1 / sqrt((double)op->n[HEAD])); }

/* ---- scores: rows (sample, head, step), a column a step ---- */

static hu_status scores_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_value *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *q = net->work[0], *k = net->work[1];
  hu_format fq = hu_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &x->round);
  hu_format fk = hu_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &x->round);
  take_columns(net, x, x->v, d, 0, q);
  take_columns(net, x, x->v, d, 1, k);
  (void)hu_round_product(net, op, x->rows, d, q, &op->rounding.x, HU_PART_Z_X);
  (void)hu_round_product(net, op, x->rows, d, k, &op->rounding.w, HU_PART_Z_W);
  multiply(net, op, HU_PART_Z_OUT, &op->rounding.z_accum, t, t, h, scores_of(op, z->v, hu_binary32(), 0),
           heads_of(op, q, fq, 0), heads_of(op, k, fk, 1));
  (void)hu_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  hu_do_each(net, HU_RUN_SCALE, z->rows * z->cols, z->v, z->v, NULL, shrink(op));
  return hu_done(net);
}

/* The model of dW = X^T dZ for the product dW^T = dZ^T X: A and B have changed places. */
static hu_accum swapped(const hu_accum *accum) {
  hu_accum z = *accum;
  z.a = accum->b;
  z.b = accum->a;
  return z;
}

/* dQ = (dS by) K, dK = (dS by)^T Q. */
static hu_status scores_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *ds = net->work[0], *other = net->work[1], *part = net->work[2], *dx = op->kept;
  hu_do_fill(net, x->rows * x->cols, dx, 0);
  for (size_t which = 0; which < 2; which++) {
    const hu_rounding *left = which ? &op->rounding.dz_w : &op->rounding.dz;
    const hu_rounding *right = which ? &op->rounding.x_back : &op->rounding.w_back, keep = hu_rounding_keep();
    hu_format f = hu_operand_grid(op, which ? HU_PART_DW_DZ : HU_PART_DX_DZ, left, &keep);
    hu_format g = hu_operand_grid(op, which ? HU_PART_DW_X : HU_PART_DX_W, right, &x->round);
    const hu_accum accum = which ? swapped(&op->rounding.dw_accum) : op->rounding.dx_accum;
    hu_do_each(net, HU_RUN_SCALE, z->rows * z->cols, ds, z->dv, NULL, shrink(op));
    take_columns(net, x, x->v, d, 1 - which, other);
    (void)hu_round_product(net, op, z->rows, z->cols, ds, left, which ? HU_PART_DW_DZ : HU_PART_DX_DZ);
    (void)hu_round_product(net, op, x->rows, d, other, right, which ? HU_PART_DW_X : HU_PART_DX_W);
    multiply(net, op, which ? HU_PART_DW_OUT : HU_PART_DX_OUT, &accum, t, h, t, heads_of(op, part, hu_binary32(), 0),
             scores_of(op, ds, f, (int)which), heads_of(op, other, g, 0));
    const hu_rounding *out = which ? &op->rounding.dw_out : &op->rounding.dx_out;
    (void)hu_round_product(net, op, x->rows, d, part, out, which ? HU_PART_DW_OUT : HU_PART_DX_OUT);
    put_columns(net, x, part, d, which, dx);
  }
  hu_give(net, op->in[0], dx);
  return hu_done(net);
}

static const hu_operator_kind scores = {"scores", scores_forward, scores_backward, NULL, 1, 0, 1};

/* ---- softmax along rows; n[0]: causal, n[1]: rows of a head ---- */

static hu_status softmax_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *z = net->value[op->out].v;
  hu_task t = hu_task_of(x->rows, x->cols, z, x->v, NULL);
  t.n[0] = op->n[0];
  t.n[1] = op->n[1];
  hu_do(net, HU_RUN_LESS_TOP, &t);
  hu_do_function(net, HU_FUNCTION_EXP, x->rows * x->cols, z, z);
  hu_do(net, HU_RUN_SHARES, &t);
  return hu_done(net);
}

/* ds = p (dp - sum(dp p)) */
static hu_status softmax_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *dx = hu_gift(net, op->in[0], net->work[0]);
  hu_task t = hu_task_of(z->rows, z->cols, dx, z->v, z->dv);
  hu_do(net, HU_RUN_SHARES_BACK, &t);
  hu_give(net, op->in[0], dx);
  return hu_done(net);
}

static const hu_operator_kind softmax = {"softmax", softmax_forward, softmax_backward, NULL, 0, 0, 1};

/* ---- sums of values: in[0] the scores, in[1] the matrix with the values ---- */

static hu_status mix_forward(hu_net *net, hu_operator *op) {
  const hu_value *p = &net->value[op->in[0]], *x = &net->value[op->in[1]];
  hu_value *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *a = net->work[0], *v = net->work[1];
  hu_format f = hu_operand_grid(op, HU_PART_Z_X, &op->rounding.x, &p->round);
  hu_format g = hu_operand_grid(op, HU_PART_Z_W, &op->rounding.w, &x->round);
  hu_do_each(net, HU_RUN_COPY, p->rows * p->cols, a, p->v, NULL, 0);
  take_columns(net, x, x->v, d, 2, v);
  (void)hu_round_product(net, op, p->rows, p->cols, a, &op->rounding.x, HU_PART_Z_X);
  (void)hu_round_product(net, op, x->rows, d, v, &op->rounding.w, HU_PART_Z_W);
  multiply(net, op, HU_PART_Z_OUT, &op->rounding.z_accum, t, h, t, heads_of(op, z->v, hu_binary32(), 0),
           scores_of(op, a, f, 0), heads_of(op, v, g, 0));
  return hu_round_product(net, op, z->rows, d, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
}

/* dV = P^T dO. */
static void give_values(hu_net *net, hu_operator *op) {
  const hu_value *p = &net->value[op->in[0]], *x = &net->value[op->in[1]], *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *dz = net->work[0], *other = net->work[1], *part = net->work[2], *dx = op->kept;
  hu_format f = hu_operand_grid(op, HU_PART_DW_X, &op->rounding.x_back, &p->round);
  hu_format g = hu_operand_grid(op, HU_PART_DW_DZ, &op->rounding.dz_w, &z->round_back);
  hu_do_each(net, HU_RUN_COPY, z->rows * d, dz, z->dv, NULL, 0);
  hu_do_each(net, HU_RUN_COPY, p->rows * p->cols, other, p->v, NULL, 0);
  (void)hu_round_product(net, op, z->rows, d, dz, &op->rounding.dz_w, HU_PART_DW_DZ);
  (void)hu_round_product(net, op, p->rows, p->cols, other, &op->rounding.x_back, HU_PART_DW_X);
  multiply(net, op, HU_PART_DW_OUT, &op->rounding.dw_accum, t, h, t, heads_of(op, part, hu_binary32(), 0),
           scores_of(op, other, f, 1), heads_of(op, dz, g, 0));
  (void)hu_round_product(net, op, x->rows, d, part, &op->rounding.dw_out, HU_PART_DW_OUT);
  hu_do_fill(net, x->rows * x->cols, dx, 0);
  put_columns(net, x, part, d, 2, dx);
  hu_give(net, op->in[1], dx);
}

/* dV, then dP = dO V^T. */
static hu_status mix_backward(hu_net *net, hu_operator *op) {
  const hu_value *p = &net->value[op->in[0]], *x = &net->value[op->in[1]], *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *dz = net->work[0], *other = net->work[1];
  give_values(net, op);
  float *dp = hu_gift(net, op->in[0], net->work[2]);
  hu_format f = hu_operand_grid(op, HU_PART_DX_DZ, &op->rounding.dz, &z->round_back);
  hu_format g = hu_operand_grid(op, HU_PART_DX_W, &op->rounding.w_back, &x->round);
  hu_do_each(net, HU_RUN_COPY, z->rows * d, dz, z->dv, NULL, 0);
  take_columns(net, x, x->v, d, 2, other);
  (void)hu_round_product(net, op, z->rows, d, dz, &op->rounding.dz, HU_PART_DX_DZ);
  (void)hu_round_product(net, op, x->rows, d, other, &op->rounding.w_back, HU_PART_DX_W);
  multiply(net, op, HU_PART_DX_OUT, &op->rounding.dx_accum, t, t, h, scores_of(op, dp, hu_binary32(), 0),
           heads_of(op, dz, f, 0), heads_of(op, other, g, 1));
  (void)hu_round_product(net, op, p->rows, p->cols, dp, &op->rounding.dx_out, HU_PART_DX_OUT);
  hu_give(net, op->in[0], dp);
  return hu_done(net);
}

static const hu_operator_kind mix = {"mix", mix_forward, mix_backward, NULL, 1, 0, 1};

/* ---- building ---- */

int hu_net_attention(hu_net *net, int x, size_t heads, int causal) {
  if (!hu_usable(net, x)) return -1;
  hu_value v = net->value[x];
  size_t t = v.rows / net->batch, d = v.cols / 3;
  if (!v.made) return hu_refuse(net, HU_E_SHAPE, "attention: of an input");
  if (v.cols % 3 || heads == 0 || d % heads)
    return hu_refuse(net, HU_E_SHAPE, "attention: columns are not 3 d, d of heads");
  size_t n[4] = {heads, t, d / heads, 0};
  int a = hu_new_value(net, net->batch * heads * t, t, 0, 0);
  hu_operator *op = hu_new_operator(net, &scores, x, -1, a, v.rows * v.cols);
  if (!op) return -1;
  memcpy(op->n, n, sizeof n);
  int p = hu_new_value(net, net->batch * heads * t, t, 0, 0);
  op = hu_new_operator(net, &softmax, a, -1, p, 0);
  if (!op) return -1;
  op->n[0] = (size_t)(causal != 0);
  op->n[1] = t;
  int z = hu_new_value(net, v.rows, d, 0, 0);
  op = hu_new_operator(net, &mix, p, x, z, v.rows * v.cols);
  if (!op) return -1;
  memcpy(op->n, n, sizeof n);
  return z;
}
