/* SPDX-License-Identifier: MIT */
/* Quartet's linear layer (HU_QUARTET_ in halfulp/train/net.h): operands of all three products in MXFP4, transformed
 * before they are rounded. Nothing is kept from the forward pass: the backward pass makes X_q, W_q and their masks once
 * more, from the same numbers, and counts them once.
 *
 * Rooms 1 and 2 have the operands, room 0 or the gradient's own place the result, and the last room the blocks of a
 * matrix with a ragged end while they are transformed, then the scales. */
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/train/data.h"
#include "train/net/product.h"

enum { BLOCK = 32, LARGEST = 6, RANDOM_BITS = 16 };

/* The least squares scale of normal numbers on the grid of E2M1: the authors' mxfp4.py, QuestMXFP4QuantizerFn. */
static const float deviation_factor = (float)(2.92247856 / 6.0);
static const float range_factor = 0.75f, range_back = (float)(16.0 / 9.0);

/* A matrix and the axis that its blocks lie along. */
typedef struct matrix {
  size_t rows, cols;
  int down;
} matrix;

/* ---- the transform ---- */

/* z = the whole blocks of x transformed and the rest as it is; z may be x. A device looks at the longest mask there
 * is, whatever the block. */
static void transform(hu_net *net, matrix m, float *z, const float *x, uint32_t signs) {
  const uint32_t mask[HU_HADAMARD_MAX / 32] = {signs, signs, signs, signs};
  const uint8_t axis = m.down ? HU_HADAMARD_ALONG_COLUMNS : HU_HADAMARD_ALONG_ROWS;
  hu_hadamard t = {BLOCK, axis, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_MASK, 0, mask};
  size_t rows = m.down ? m.rows / BLOCK * BLOCK : m.rows, cols = m.down ? m.cols : m.cols / BLOCK * BLOCK;
  int ragged = cols < m.cols;
  float *to = ragged ? net->work[HU_ROOMS - 1] : z;
  if (z != x) hu_do_copy(net, m.rows, m.cols, z, m.cols, x, m.cols);
  if (!rows || !cols) return;
  if (ragged) hu_do_copy(net, rows, cols, to, cols, x, m.cols);
  if (net->fault == HU_OK) net->fault = net->engine->transform(net->self, rows, cols, to, to, &t);
  if (ragged) hu_do_copy(net, rows, cols, z, m.cols, to, cols);
}

/* ---- blocks ---- */

static size_t blocks_in(size_t n) { return (n + BLOCK - 1) / BLOCK; }

/* The scales of x into the last room. p: the factor of the deviation; 0: by the largest. */
static void find_scales(hu_net *net, matrix m, const float *x, float p) {
  hu_task t = hu_task_of(m.down ? blocks_in(m.rows) : m.rows, m.down ? m.cols : blocks_in(m.cols),
                         net->work[HU_ROOMS - 1], x, NULL);
  t.lda = m.cols;
  t.n[0] = (size_t)m.down;
  t.n[1] = m.down ? m.rows : m.cols;
  t.n[2] = BLOCK;
  t.p = p;
  t.work = m.rows * m.cols;
  hu_do(net, HU_RUN_BLOCK_SCALES, &t);
}

/* A kernel of numbers and their scales. */
static void by_scales(hu_net *net, int kernel, matrix m, float *z, const float *a, const float *c, float p) {
  hu_task t = hu_task_of(m.rows, m.cols, z, a, net->work[HU_ROOMS - 1]);
  t.c = c;
  t.n[0] = (size_t)m.down;
  t.n[2] = BLOCK;
  t.n[3] = m.down ? m.cols : blocks_in(m.cols);
  t.p = p;
  hu_do(net, kernel, &t);
}

static hu_rounding e2m1(int stochastic) {
  const hu_mode nearest = {0}, random = {HU_SRA, 0, 0, 0, RANDOM_BITS, 0, {0, 0}};
  return hu_rounding_format(hu_float4_e2m1fn(), stochastic ? random : nearest);
}

/* x, times `factor` over their scales, on the grid of E2M1, in place. counts: NULL: they were counted before. */
static void round_blocks(hu_net *net, hu_operator *op, matrix m, float *x, float factor, int stochastic, unsigned part,
                         hu_rounding_counts *counts) {
  const hu_rounding r = e2m1(stochastic);
  by_scales(net, HU_RUN_BLOCK_OVER, m, x, x, NULL, factor);
  hu_round_of(net, op, m.rows, m.cols, x, x, &r, HU_OF_PRODUCT, op->number << 4 | part, counts);
  by_scales(net, HU_RUN_BLOCK_TIMES, m, x, x, NULL, 1);
}

/* z = quest(H(x)). */
static void project(hu_net *net, hu_operator *op, matrix m, float *z, const float *x, unsigned part,
                    hu_rounding_counts *counts) {
  transform(net, m, z, x, 0);
  find_scales(net, m, z, deviation_factor);
  round_blocks(net, op, m, z, 1, 0, part, counts);
}

/* z = range(H(S x)). */
static void fit(hu_net *net, hu_operator *op, matrix m, float *z, const float *x, uint32_t signs, unsigned part) {
  transform(net, m, z, x, signs);
  find_scales(net, m, z, 0);
  round_blocks(net, op, m, z, range_factor, op->rounding.quartet == HU_QUARTET_STOCHASTIC, part,
               hu_counts_of_part(net, op, part));
}

/* dx = 16/9 H(dx M), M the mask of quest(H(x)); `room` is for H(x). */
static void give_back(hu_net *net, matrix m, float *dx, float *room, const float *x) {
  transform(net, m, room, x, 0);
  find_scales(net, m, room, deviation_factor);
  by_scales(net, HU_RUN_BLOCK_WITHIN, m, dx, room, dx, LARGEST);
  transform(net, m, dx, dx, 0);
  hu_do_each(net, HU_RUN_SCALE, m.rows * m.cols, dx, dx, NULL, range_back);
}

/* ---- the layer ---- */

static hu_matrices operand(float *x, size_t cols, int transposed) {
  hu_matrices z = {x, cols, 0, cols, hu_binary32(), transposed};
  return z;
}

/* X of rows x I, W of I x O, Z and dZ of rows x O. */
typedef struct layer {
  hu_value *x, *z;
  const hu_parameter *w;
  matrix across_x, down_w; /* along I */
  float *room_x, *room_w;
} layer;

static layer layer_of(hu_net *net, const hu_operator *op) {
  layer c = {&net->value[op->in[0]], &net->value[op->out], &net->parameter[op->theta[0]], {0, 0, 0}, {0, 0, 1},
             net->work[1],           net->work[2]};
  c.across_x.rows = c.x->rows;
  c.across_x.cols = c.x->cols;
  c.down_w.rows = c.w->rows;
  c.down_w.cols = c.w->cols;
  return c;
}

hu_status hu_quartet_forward(hu_net *net, hu_operator *op) {
  layer c = layer_of(net, op);
  project(net, op, c.across_x, c.room_x, c.x->v, HU_PART_Z_X, hu_counts_of_part(net, op, HU_PART_Z_X));
  project(net, op, c.down_w, c.room_w, c.w->theta, HU_PART_Z_W, hu_counts_of_part(net, op, HU_PART_Z_W));
  hu_multiply(net, op, HU_PART_Z_OUT, c.z->rows, c.z->cols, c.x->cols, c.z->v, operand(c.room_x, c.x->cols, 0),
              operand(c.room_w, c.z->cols, 0));
  return hu_finish_forward(net, op);
}

static hu_status backward_weights(hu_net *net, hu_operator *op, layer c, uint32_t signs) {
  const matrix down_x = {c.x->rows, c.x->cols, 1}, down_z = {c.z->rows, c.z->cols, 1};
  hu_give_postponed(net, op->theta[0]);
  float *dw = hu_gift_parameter(net, op->theta[0], net->work[0]);
  project(net, op, c.across_x, c.room_x, c.x->v, HU_PART_Z_X, NULL);
  fit(net, op, down_x, c.room_x, c.room_x, signs, HU_PART_DW_X);
  fit(net, op, down_z, c.room_w, c.z->dv, signs, HU_PART_DW_DZ);
  hu_multiply(net, op, HU_PART_DW_OUT, c.x->cols, c.z->cols, c.z->rows, dw, operand(c.room_x, c.x->cols, 1),
              operand(c.room_w, c.z->cols, 0));
  give_back(net, c.down_w, dw, c.room_w, c.w->theta);
  return hu_finish_weights(net, op, c.x->cols, dw);
}

static hu_status backward_values(hu_net *net, hu_operator *op, layer c, uint32_t signs) {
  const matrix across_w = {c.w->rows, c.w->cols, 0}, across_z = {c.z->rows, c.z->cols, 0};
  float *dx = hu_gift(net, op->in[0], net->work[0]);
  project(net, op, c.down_w, c.room_w, c.w->theta, HU_PART_Z_W, NULL);
  fit(net, op, across_w, c.room_w, c.room_w, signs, HU_PART_DX_W);
  fit(net, op, across_z, c.room_x, c.z->dv, signs, HU_PART_DX_DZ);
  hu_multiply(net, op, HU_PART_DX_OUT, c.z->rows, c.x->cols, c.z->cols, dx, operand(c.room_x, c.z->cols, 0),
              operand(c.room_w, c.z->cols, 1));
  give_back(net, c.across_x, dx, c.room_x, c.x->v);
  hu_status s = hu_round_product(net, op, c.x->rows, c.x->cols, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hu_give(net, op->in[0], dx);
  return s == HU_OK ? hu_done(net) : s;
}

hu_status hu_quartet_backward(hu_net *net, hu_operator *op) {
  layer c = layer_of(net, op);
  uint32_t signs = hu_stream_word(hu_net_words(net, HU_OF_PRODUCT, op->number << 4 | HU_PART_SIGNS), 0);
  hu_status s = backward_weights(net, op, c, signs);
  return s == HU_OK && hu_wants_gradient(net, op->in[0]) ? backward_values(net, op, c, signs) : s;
}
