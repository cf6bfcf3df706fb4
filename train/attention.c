/* SPDX-License-Identifier: MIT */
/* Attention: scores of queries and keys, softmax, sums of values. Products are one to a sample and head. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "train/graph.h"

enum { HEADS = 0, STEPS = 1, HEAD = 2 }; /* HEAD: columns of a head */

/* Columns from ... from + d - 1 of x into z, rows x d. */
static void take_columns(const hu_value *x, const float *from, size_t d, size_t part, float *z) {
  for (size_t i = 0; i < x->rows; i++) memcpy(z + i * d, from + i * x->cols + part * d, d * sizeof *z);
}

/* And back into zeros. */
static void put_columns(const hu_value *x, const float *from, size_t d, size_t part, float *z) {
  for (size_t i = 0; i < x->rows; i++) memcpy(z + i * x->cols + part * d, from + i * d, d * sizeof *z);
}

/* A matrix inside of another one. */
typedef struct window {
  float *at;
  size_t ld;
} window;

/* Grids of the two operands. */
typedef struct grids {
  hu_format a, b;
} grids;

static hu_status multiply(hu_net *net, const hu_operator *op, grids g, size_t m, size_t n, size_t k, window z, window a,
                          int a_transposed, window b, int b_transposed) {
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  hu_exec e = hu_exec_of(net, none);
  hu_result d = {z.at, z.ld, hu_binary32(), HU_VALUES};
  hu_operand x = {a.at, a.ld, g.a, HU_VALUES, (uint8_t)a_transposed};
  hu_operand y = {b.at, b.ld, g.b, HU_VALUES, (uint8_t)b_transposed};
  return hu_gemm(m, n, k, &d, &x, &y, NULL, &op->rounding.accum, rne, &e, NULL);
}

/* The head's window into rows x d, and into rows x steps scores. */
static window head_of(const hu_operator *op, float *x, size_t sample, size_t head) {
  size_t d = op->n[HEADS] * op->n[HEAD];
  window w = {x + sample * op->n[STEPS] * d + head * op->n[HEAD], d};
  return w;
}

static window scores_of(const hu_operator *op, float *x, size_t sample, size_t head) {
  size_t t = op->n[STEPS];
  window w = {x + (sample * op->n[HEADS] + head) * t * t, t};
  return w;
}

static float shrink(const hu_operator *op) { return (float)(1 / sqrt((double)op->n[HEAD])); }

/* ---- scores: rows (sample, head, step), a column a step ---- */

static hu_status scores_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_value *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *q = net->work[0], *k = net->work[1], by = shrink(op);
  grids g = {hu_grid_of(op, &op->rounding.x, &x->round), hu_grid_of(op, &op->rounding.w, &x->round)};
  take_columns(x, x->v, d, 0, q);
  take_columns(x, x->v, d, 1, k);
  hu_status s = hu_round_product(net, op, x->rows, d, q, &op->rounding.x, 0);
  if (s == HU_OK) s = hu_round_product(net, op, x->rows, d, k, &op->rounding.w, 1);
  for (size_t i = 0; i < net->batch * op->n[HEADS] && s == HU_OK; i++) {
    size_t sample = i / op->n[HEADS], head = i % op->n[HEADS];
    s = multiply(net, op, g, t, t, h, scores_of(op, z->v, sample, head), head_of(op, q, sample, head), 0,
                 head_of(op, k, sample, head), 1);
  }
  if (s == HU_OK) s = hu_round_product(net, op, z->rows, z->cols, z->v, &op->rounding.z_out, 6);
  for (size_t i = 0; i < z->rows * z->cols; i++) z->v[i] *= by;
  return s;
}

/* dQ = (dS by) K, dK = (dS by)^T Q. */
static hu_status scores_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h, n = z->rows * z->cols;
  float *ds = net->work[0], *other = net->work[1], *part = net->work[2], by = shrink(op), *dx = op->kept;
  memset(dx, 0, x->rows * x->cols * sizeof *dx);
  hu_status s = HU_OK;
  for (size_t which = 0; which < 2 && s == HU_OK; which++) {
    for (size_t i = 0; i < n; i++) ds[i] = z->dv[i] * by;
    const hu_rounding *left = which ? &op->rounding.dz_w : &op->rounding.dz;
    const hu_rounding *right = which ? &op->rounding.x_back : &op->rounding.w_back, keep = hu_rounding_keep();
    grids g = {hu_grid_of(op, left, &keep), hu_grid_of(op, right, &x->round)};
    take_columns(x, x->v, d, 1 - which, other);
    s = hu_round_product(net, op, z->rows, z->cols, ds, left, which ? 3 : 4);
    if (s == HU_OK) s = hu_round_product(net, op, x->rows, d, other, right, which ? 2 : 5);
    for (size_t i = 0; i < net->batch * op->n[HEADS] && s == HU_OK; i++) {
      size_t sample = i / op->n[HEADS], head = i % op->n[HEADS];
      s = multiply(net, op, g, t, h, t, head_of(op, part, sample, head), scores_of(op, ds, sample, head), (int)which,
                   head_of(op, other, sample, head), 0);
    }
    const hu_rounding *out = which ? &op->rounding.dw_out : &op->rounding.dx_out;
    if (s == HU_OK) s = hu_round_product(net, op, x->rows, d, part, out, which ? 8 : 7);
    if (s == HU_OK) put_columns(x, part, d, which, dx);
  }
  if (s == HU_OK) hu_give(net, op->in[0], dx);
  return s;
}

static const hu_operator_kind scores = {"scores", scores_forward, scores_backward, NULL, 1, 0};

/* ---- softmax along rows; n[0]: causal, n[1]: rows of a head ---- */

static hu_status softmax_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_value *z = &net->value[op->out];
  for (size_t i = 0; i < x->rows; i++) {
    const float *row = x->v + i * x->cols;
    float *p = z->v + i * x->cols, top = row[0];
    size_t n = op->n[0] ? i % op->n[1] + 1 : x->cols;
    for (size_t j = 1; j < n; j++) top = row[j] > top || row[j] != row[j] ? row[j] : top;
    for (size_t j = 0; j < n; j++) p[j] = row[j] - top;
    hu_exp_each(n, p, p);
    float sum = hu_sum_row(n, p);
    for (size_t j = 0; j < n; j++) p[j] /= sum;
    memset(p + n, 0, (x->cols - n) * sizeof *p);
  }
  return HU_OK;
}

/* ds = p (dp - sum(dp p)) */
static hu_status softmax_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *dx = net->work[0];
  for (size_t i = 0; i < z->rows; i++) {
    const float *p = z->v + i * z->cols, *dp = z->dv + i * z->cols;
    float *d = dx + i * z->cols;
    for (size_t j = 0; j < z->cols; j++) d[j] = dp[j] * p[j];
    float sum = hu_sum_row(z->cols, d);
    for (size_t j = 0; j < z->cols; j++) d[j] = p[j] * (dp[j] - sum);
  }
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind softmax = {"softmax", softmax_forward, softmax_backward, NULL, 0, 0};

/* ---- sums of values: in[0] the scores, in[1] the matrix with the values ---- */

static hu_status mix_forward(hu_net *net, hu_operator *op) {
  const hu_value *p = &net->value[op->in[0]], *x = &net->value[op->in[1]];
  hu_value *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h;
  float *a = net->work[0], *v = net->work[1];
  grids g = {hu_grid_of(op, &op->rounding.x, &p->round), hu_grid_of(op, &op->rounding.w, &x->round)};
  memcpy(a, p->v, p->rows * p->cols * sizeof *a);
  take_columns(x, x->v, d, 2, v);
  hu_status s = hu_round_product(net, op, p->rows, p->cols, a, &op->rounding.x, 0);
  if (s == HU_OK) s = hu_round_product(net, op, x->rows, d, v, &op->rounding.w, 1);
  for (size_t i = 0; i < net->batch * op->n[HEADS] && s == HU_OK; i++) {
    size_t sample = i / op->n[HEADS], head = i % op->n[HEADS];
    s = multiply(net, op, g, t, h, t, head_of(op, z->v, sample, head), scores_of(op, a, sample, head), 0,
                 head_of(op, v, sample, head), 0);
  }
  return s == HU_OK ? hu_round_product(net, op, z->rows, d, z->v, &op->rounding.z_out, 6) : s;
}

/* dV = P^T dO, then dP = dO V^T. */
static hu_status mix_backward(hu_net *net, hu_operator *op) {
  const hu_value *p = &net->value[op->in[0]], *x = &net->value[op->in[1]], *z = &net->value[op->out];
  size_t t = op->n[STEPS], h = op->n[HEAD], d = op->n[HEADS] * h, all = net->batch * op->n[HEADS];
  float *dz = net->work[0], *other = net->work[1], *part = net->work[2], *dx = op->kept;
  memcpy(dz, z->dv, z->rows * d * sizeof *dz);
  memcpy(other, p->v, p->rows * p->cols * sizeof *other);
  grids g = {hu_grid_of(op, &op->rounding.x_back, &p->round), hu_grid_of(op, &op->rounding.dz_w, &z->round_back)};
  hu_status s = hu_round_product(net, op, z->rows, d, dz, &op->rounding.dz_w, 3);
  if (s == HU_OK) s = hu_round_product(net, op, p->rows, p->cols, other, &op->rounding.x_back, 2);
  for (size_t i = 0; i < all && s == HU_OK; i++) {
    size_t sample = i / op->n[HEADS], head = i % op->n[HEADS];
    s = multiply(net, op, g, t, h, t, head_of(op, part, sample, head), scores_of(op, other, sample, head), 1,
                 head_of(op, dz, sample, head), 0);
  }
  if (s == HU_OK) s = hu_round_product(net, op, x->rows, d, part, &op->rounding.dw_out, 8);
  if (s != HU_OK) return s;
  memset(dx, 0, x->rows * x->cols * sizeof *dx);
  put_columns(x, part, d, 2, dx);
  hu_give(net, op->in[1], dx);
  memcpy(dz, z->dv, z->rows * d * sizeof *dz);
  take_columns(x, x->v, d, 2, other);
  g.a = hu_grid_of(op, &op->rounding.dz, &z->round_back);
  g.b = hu_grid_of(op, &op->rounding.w_back, &x->round);
  s = hu_round_product(net, op, z->rows, d, dz, &op->rounding.dz, 4);
  if (s == HU_OK) s = hu_round_product(net, op, x->rows, d, other, &op->rounding.w_back, 5);
  for (size_t i = 0; i < all && s == HU_OK; i++) {
    size_t sample = i / op->n[HEADS], head = i % op->n[HEADS];
    s = multiply(net, op, g, t, t, h, scores_of(op, part, sample, head), head_of(op, dz, sample, head), 0,
                 head_of(op, other, sample, head), 1);
  }
  if (s == HU_OK) s = hu_round_product(net, op, p->rows, p->cols, part, &op->rounding.dx_out, 7);
  if (s == HU_OK) hu_give(net, op->in[0], part);
  return s;
}

static const hu_operator_kind mix = {"mix", mix_forward, mix_backward, NULL, 1, 0};

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
