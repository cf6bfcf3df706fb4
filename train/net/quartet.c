/* SPDX-License-Identifier: MIT */
/* Quartet's linear layer (HU_QUARTET_ in train/products.h): operands of all three products in MXFP4, transformed
 * before they are rounded. Nothing is kept from the forward pass: the backward pass makes X_q, W_q and their masks
 * once more, from the same numbers, and counts them once.
 *
 * Buffers 1 and 2 have the operands, buffer 0 or the gradient's own place the result, and the last buffer the blocks
 * of a matrix with a ragged end while they are transformed, then the scales. */
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/train/data.h"
#include "train/net/product.h"

enum { BLOCK = 32, LARGEST = 6, RANDOM_BITS = 16 };

/* The least squares scale of normal numbers on the grid of E2M1: the authors' mxfp4.py, QuestMXFP4QuantizerFn. */
static const float deviation_factor = (float)(2.92247856 / 6.0);
static const float range_factor = 0.75f, range_back = (float)(16.0 / 9.0);

/* A matrix and the axis that its blocks lie along. */
typedef struct blocked_matrix {
  size_t rows, cols;
  int down;
} blocked_matrix;

/* ---- the transform ---- */

/* z = the whole blocks of x transformed and the rest as it is; z may be x. A device looks at the longest mask there
 * is, whatever the block. */
static void transform(hu_net *net, blocked_matrix matrix, float *z, const float *x, uint32_t signs) {
  const uint32_t mask[HU_HADAMARD_MAX / 32] = {signs, signs, signs, signs};
  const uint8_t axis = matrix.down ? HU_HADAMARD_ALONG_COLUMNS : HU_HADAMARD_ALONG_ROWS;
  hu_hadamard made = {
      .n = BLOCK, .axis = axis, .norm = HU_HADAMARD_ROOT, .signs = HU_HADAMARD_SIGNS_MASK, .mask = mask};
  size_t rows = matrix.down ? matrix.rows / BLOCK * BLOCK : matrix.rows,
         cols = matrix.down ? matrix.cols : matrix.cols / BLOCK * BLOCK;
  int ragged = cols < matrix.cols;
  float *to = ragged ? net->work[HU_BUFFERS - 1] : z;
  if (z != x) hui_do_copy(net, matrix.rows, matrix.cols, z, matrix.cols, x, matrix.cols);
  if (!rows || !cols) return;
  if (ragged) hui_do_copy(net, rows, cols, to, cols, x, matrix.cols);
  if (net->fault == HU_OK) net->fault = net->engine->transform(net->self, rows, cols, to, to, &made);
  if (ragged) hui_do_copy(net, rows, cols, z, matrix.cols, to, cols);
}

/* ---- blocks ---- */

static size_t blocks_in(size_t n) { return (n + BLOCK - 1) / BLOCK; }

/* Computes the scales of x into the last buffer. p is the factor of the deviation; 0: the largest number decides. */
static void find_scales(hu_net *net, blocked_matrix matrix, const float *x, float p) {
  hu_task task = hui_task_of(matrix.down ? blocks_in(matrix.rows) : matrix.rows,
                             matrix.down ? matrix.cols : blocks_in(matrix.cols), net->work[HU_BUFFERS - 1], x, NULL);
  task.lda = matrix.cols;
  task.blocks.down = matrix.down;
  task.blocks.length = matrix.down ? matrix.rows : matrix.cols;
  task.blocks.size = BLOCK;
  task.p = p;
  task.work = matrix.rows * matrix.cols;
  hui_do(net, HU_RUN_BLOCK_SCALES, &task);
}

/* Runs a kernel of numbers and their scales. */
static void by_scales(hu_net *net, int kernel, blocked_matrix matrix, float *z, const float *a, const float *other,
                      float p) {
  hu_task task = hui_task_of(matrix.rows, matrix.cols, z, a, NULL);
  task.blocks.down = matrix.down;
  task.blocks.size = BLOCK;
  task.blocks.across = matrix.down ? matrix.cols : blocks_in(matrix.cols);
  task.blocks.scales = net->work[HU_BUFFERS - 1];
  task.blocks.other = other;
  task.p = p;
  hui_do(net, kernel, &task);
}

static hu_rounding e2m1(int stochastic) {
  const hu_mode nearest = {0}, random = {HU_SRA, 0, 0, 0, RANDOM_BITS, 0, {0, 0}};
  return hu_rounding_format(hu_float4_e2m1fn(), stochastic ? random : nearest);
}

/* x, times `factor` over their scales, on the grid of E2M1, in place. counts: NULL: they were counted before. */
static void round_blocks(hu_net *net, hu_operator *op, blocked_matrix matrix, float *x, float factor, int stochastic,
                         unsigned part, hu_rounding_counts *counts) {
  const hu_rounding rounding = e2m1(stochastic);
  by_scales(net, HU_RUN_BLOCK_OVER, matrix, x, x, NULL, factor);
  hui_round_of(net, op, matrix.rows, matrix.cols, x, x, &rounding, HU_OF_PRODUCT, op->number << 4 | part, counts);
  by_scales(net, HU_RUN_BLOCK_TIMES, matrix, x, x, NULL, 1);
}

/* z = quest(H(x)). */
static void project(hu_net *net, hu_operator *op, blocked_matrix matrix, float *z, const float *x, unsigned part,
                    hu_rounding_counts *counts) {
  transform(net, matrix, z, x, 0);
  find_scales(net, matrix, z, deviation_factor);
  round_blocks(net, op, matrix, z, 1, 0, part, counts);
}

/* z = range(H(S x)). */
static void fit(hu_net *net, hu_operator *op, blocked_matrix matrix, float *z, const float *x, uint32_t signs,
                unsigned part) {
  transform(net, matrix, z, x, signs);
  find_scales(net, matrix, z, 0);
  round_blocks(net, op, matrix, z, range_factor, op->rounding.quartet == HU_QUARTET_STOCHASTIC, part,
               hui_counts_of_part(net, op, part));
}

/* dx = 16/9 H(dx M), M the mask of quest(H(x)); `buffer` is for H(x). */
static void give_back(hu_net *net, blocked_matrix matrix, float *dx, float *buffer, const float *x) {
  transform(net, matrix, buffer, x, 0);
  find_scales(net, matrix, buffer, deviation_factor);
  by_scales(net, HU_RUN_BLOCK_WITHIN, matrix, dx, buffer, dx, LARGEST);
  transform(net, matrix, dx, dx, 0);
  hui_do_each(net, HU_RUN_SCALE, matrix.rows * matrix.cols, dx, dx, NULL, range_back);
}

/* ---- the layer ---- */

static hu_matrices operand(float *x, size_t cols, int transposed) {
  hu_matrices z = {.data = x, .ld = cols, .inner = cols, .format = hu_binary32(), .transposed = transposed};
  return z;
}

/* X of rows x I, W of I x O, Z and dZ of rows x O. */
typedef struct quartet_layer {
  hu_value *x, *z;
  const hu_parameter *parameter;
  blocked_matrix across_x, down_w; /* along I */
  float *buffer_x, *buffer_w;
} quartet_layer;

static quartet_layer layer_of(hu_net *net, const hu_operator *op) {
  quartet_layer layer = {.x = &net->value[op->in[0]],
                         .z = &net->value[op->out],
                         .parameter = &net->parameter[op->theta[0]],
                         .across_x = {0, 0, 0},
                         .down_w = {0, 0, 1},
                         .buffer_x = net->work[1],
                         .buffer_w = net->work[2]};
  layer.across_x.rows = layer.x->rows;
  layer.across_x.cols = layer.x->cols;
  layer.down_w.rows = layer.parameter->rows;
  layer.down_w.cols = layer.parameter->cols;
  return layer;
}

hu_status hui_quartet_forward(hu_net *net, hu_operator *op) {
  quartet_layer layer = layer_of(net, op);
  project(net, op, layer.across_x, layer.buffer_x, layer.x->v, HU_PART_Z_X, hui_counts_of_part(net, op, HU_PART_Z_X));
  project(net, op, layer.down_w, layer.buffer_w, layer.parameter->theta, HU_PART_Z_W,
          hui_counts_of_part(net, op, HU_PART_Z_W));
  hui_multiply(net, op, HU_PART_Z_OUT, layer.z->rows, layer.z->cols, layer.x->cols, layer.z->v,
               operand(layer.buffer_x, layer.x->cols, 0), operand(layer.buffer_w, layer.z->cols, 0));
  return hui_finish_forward(net, op);
}

static hu_status backward_weights(hu_net *net, hu_operator *op, quartet_layer layer, uint32_t signs) {
  const blocked_matrix down_x = {layer.x->rows, layer.x->cols, 1}, down_z = {layer.z->rows, layer.z->cols, 1};
  hui_give_postponed(net, op->theta[0]);
  float *dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
  project(net, op, layer.across_x, layer.buffer_x, layer.x->v, HU_PART_Z_X, NULL);
  fit(net, op, down_x, layer.buffer_x, layer.buffer_x, signs, HU_PART_DW_X);
  fit(net, op, down_z, layer.buffer_w, layer.z->dv, signs, HU_PART_DW_DZ);
  hui_multiply(net, op, HU_PART_DW_OUT, layer.x->cols, layer.z->cols, layer.z->rows, dw,
               operand(layer.buffer_x, layer.x->cols, 1), operand(layer.buffer_w, layer.z->cols, 0));
  give_back(net, layer.down_w, dw, layer.buffer_w, layer.parameter->theta);
  return hui_finish_weights(net, op, layer.x->cols, dw);
}

static hu_status backward_values(hu_net *net, hu_operator *op, quartet_layer layer, uint32_t signs) {
  const blocked_matrix across_w = {layer.parameter->rows, layer.parameter->cols, 0},
                       across_z = {layer.z->rows, layer.z->cols, 0};
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  project(net, op, layer.down_w, layer.buffer_w, layer.parameter->theta, HU_PART_Z_W, NULL);
  fit(net, op, across_w, layer.buffer_w, layer.buffer_w, signs, HU_PART_DX_W);
  fit(net, op, across_z, layer.buffer_x, layer.z->dv, signs, HU_PART_DX_DZ);
  hui_multiply(net, op, HU_PART_DX_OUT, layer.z->rows, layer.x->cols, layer.z->cols, dx,
               operand(layer.buffer_x, layer.z->cols, 0), operand(layer.buffer_w, layer.z->cols, 1));
  give_back(net, layer.across_x, dx, layer.buffer_x, layer.x->v);
  hui_times_factor(net, layer.x->rows * layer.x->cols, dx, op->factor[1]);
  hu_status status = hui_round_product(net, op, layer.x->rows, layer.x->cols, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], dx);
  return status == HU_OK ? hui_done(net) : status;
}

hu_status hui_quartet_backward(hu_net *net, hu_operator *op) {
  quartet_layer layer = layer_of(net, op);
  uint32_t signs = hu_stream_word(hui_net_words(net, HU_OF_PRODUCT, op->number << 4 | HU_PART_SIGNS), 0);
  hu_status status = backward_weights(net, op, layer, signs);
  return status == HU_OK && hui_needs_gradient(net, op->in[0]) ? backward_values(net, op, layer, signs) : status;
}
