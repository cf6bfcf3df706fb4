/* SPDX-License-Identifier: MIT */
/* Columns of queries, keys and values, their heads, and the products of values, which all kinds of attention have. */
#include "halfulp/formats/ieee.h"
#include "train/transformer/attention.h"

size_t hui_query_columns(const hu_operator *op) { return op->heads.count * op->heads.width; }
size_t hui_key_columns(const hu_operator *op) { return op->heads.keys_count * op->heads.width; }

hu_operand_place hui_values_of(const hu_net *net, const hu_operator *op) {
  return (hu_operand_place){op->in[1], net->value[op->in[1]].cols - hui_key_columns(op)};
}

void hui_take_columns(hu_net *net, hu_operand_place at, size_t d, float *z) {
  const hu_value *x = &net->value[at.value];
  hui_do_copy(net, x->rows, d, z, d, x->v + at.from, x->cols);
}

void hui_put_columns(hu_net *net, hu_operand_place at, size_t d, const float *x, float *z) {
  const hu_value *to = &net->value[at.value];
  hui_do_copy(net, to->rows, d, z + at.from, to->cols, x, d);
}

float *hui_for_each_head(hu_net *net, const hu_operator *op, size_t rows, float *x, float *z) {
  size_t h = op->heads.width, d = hui_query_columns(op), group = op->heads.count / op->heads.keys_count;
  if (group == 1) return x;
  for (size_t i = 0; i < op->heads.count; i++)
    hui_do_copy(net, rows, h, z + i * h, d, x + i / group * h, hui_key_columns(op));
  return z;
}

float *hui_of_each_group(hu_net *net, const hu_operator *op, size_t rows, float *x, float *z) {
  size_t h = op->heads.width, d = hui_query_columns(op), group = op->heads.count / op->heads.keys_count;
  if (group == 1) return x;
  for (size_t i = 0; i < op->heads.count; i++) {
    hu_task task = hui_task_of(rows, h, z + i / group * h, x + i * h, NULL);
    task.ldz = hui_key_columns(op);
    task.lda = d;
    hui_do(net, i % group ? HU_RUN_ACCUMULATE : HU_RUN_COPY, &task);
  }
  return z;
}

hu_matrices hui_heads_of(const hu_operator *op, size_t rows, float *x, hu_format format, int transposed) {
  size_t d = hui_query_columns(op);
  hu_matrices matrices = {
      .data = x, .ld = d, .outer = rows * d, .inner = op->heads.width, .format = format, .transposed = transposed};
  return matrices;
}

hu_matrices hui_scores_of(const hu_operator *op, float *x, hu_format format, int transposed) {
  size_t all = op->heads.steps * op->heads.keys;
  hu_matrices matrices = {.data = x,
                          .ld = op->heads.keys,
                          .outer = op->heads.count * all,
                          .inner = all,
                          .format = format,
                          .transposed = transposed};
  return matrices;
}

void hui_multiply_heads(hu_net *net, const hu_operator *op, unsigned part, const hu_accum *accum, size_t m, size_t n,
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

void hui_give_values(hu_net *net, hu_operator *op, const float *shares) {
  const hu_operand_place of = hui_values_of(net, op);
  const hu_value *value = &net->value[op->in[0]], *x = &net->value[of.value], *z = &net->value[op->out];
  float *dz = net->work[0], *other = net->work[1], *part = net->work[2], *dx = op->kept;
  if (!hui_needs_gradient(net, of.value)) return;
  const hu_rounding keep = hu_rounding_keep(), *before = shares == value->v ? &value->round : &keep;
  hu_format format = hui_operand_grid(op, HU_PART_DW_X, &op->rounding.x_back, before);
  hu_format grid = hui_operand_grid(op, HU_PART_DW_DZ, &op->rounding.dz_w, &z->round_back);
  hui_do_each(net, HU_RUN_COPY, z->rows * z->cols, dz, z->dv, NULL, 0);
  hui_do_each(net, HU_RUN_COPY, value->rows * value->cols, other, shares, NULL, 0);
  (void)hui_round_product(net, op, z->rows, z->cols, dz, &op->rounding.dz_w, HU_PART_DW_DZ);
  (void)hui_round_product(net, op, value->rows, value->cols, other, &op->rounding.x_back, HU_PART_DW_X);
  hui_multiply_heads(net, op, HU_PART_DW_OUT, &op->rounding.dw_accum, op->heads.keys, op->heads.width, op->heads.steps,
                     hui_heads_of(op, op->heads.keys, part, hu_binary32(), 0), hui_scores_of(op, other, format, 1),
                     hui_heads_of(op, op->heads.steps, dz, grid, 0));
  part = hui_of_each_group(net, op, x->rows, part, net->work[1]);
  (void)hui_round_product(net, op, x->rows, hui_key_columns(op), part, &op->rounding.dw_out, HU_PART_DW_OUT);
  hui_do_fill(net, x->rows * x->cols, dx, 0);
  hui_put_columns(net, of, hui_key_columns(op), part, dx);
  hui_give(net, of.value, dx);
}

void hui_shares_gradient(hu_net *net, hu_operator *op, float *dp) {
  const hu_operand_place of = hui_values_of(net, op);
  const hu_value *value = &net->value[op->in[0]], *x = &net->value[of.value], *z = &net->value[op->out];
  float *dz = net->work[0], *other = net->work[1];
  hu_format format = hui_operand_grid(op, HU_PART_DX_DZ, &op->rounding.dz, &z->round_back);
  hu_format grid = hui_operand_grid(op, HU_PART_DX_W, &op->rounding.w_back, &x->round);
  hui_do_each(net, HU_RUN_COPY, z->rows * z->cols, dz, z->dv, NULL, 0);
  hui_take_columns(net, of, hui_key_columns(op), other);
  (void)hui_round_product(net, op, z->rows, z->cols, dz, &op->rounding.dz, HU_PART_DX_DZ);
  (void)hui_round_product(net, op, x->rows, hui_key_columns(op), other, &op->rounding.w_back, HU_PART_DX_W);
  other = hui_for_each_head(net, op, x->rows, other, net->work[3]);
  hui_multiply_heads(net, op, HU_PART_DX_OUT, &op->rounding.dx_accum, op->heads.steps, op->heads.keys, op->heads.width,
                     hui_scores_of(op, dp, hu_binary32(), 0), hui_heads_of(op, op->heads.steps, dz, format, 0),
                     hui_heads_of(op, op->heads.keys, other, grid, 1));
  (void)hui_round_product(net, op, value->rows, value->cols, dp, &op->rounding.dx_out, HU_PART_DX_OUT);
}
