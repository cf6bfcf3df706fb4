/* SPDX-License-Identifier: MIT */
/* Matrix products and convolutions: patches, three products, biases. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "halfulp/hadamard.h"
#include "train/graph.h"

hu_format hu_grid_of(const hu_operator *op, const hu_rounding *r, const hu_rounding *before) {
  const hu_rounding *last = r->kind == HU_ROUND_KEEP ? before : r;
  return op->rounding.accum.kind != HU_ACCUM_FP32 && last->kind == HU_ROUND_FORMAT ? last->format : hu_binary32();
}

/* Operands and results of the three products, as their random words are numbered. */
enum { Z_X = 0, Z_W = 1, DW_X = 2, DW_DZ = 3, DX_DZ = 4, DX_W = 5, Z_OUT = 6, DX_OUT = 7, DW_OUT = 8 };

/* Blocks of rows of x into `room`, transformed; the rows behind them as they are. */
static hu_status transform(const hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *room,
                           const float *x) {
  uint32_t n = op->rounding.hadamard, mask[HU_HADAMARD_MAX / 32];
  const hu_stream none = {0, 0};
  hu_exec e = hu_exec_of(net, none);
  for (size_t i = 0; i < HU_HADAMARD_MAX / 32; i++) mask[i] = op->rounding.signs;
  hu_hadamard t = {n, HU_ALONG_COLUMNS, HU_HADAMARD_ROOT, HU_SIGNS_MASK, 0, mask};
  size_t whole = rows / n * n;
  memcpy(room + whole * cols, x + whole * cols, (rows - whole) * cols * sizeof *room);
  return hu_hadamard_forward(whole, cols, room, cols, x, cols, &t, &e);
}

/* The operand that a product sees: x itself, or x rounded once more into `room`. The grid that a rounding leaves is
 * told to the product, which models of narrow units want to know. */
static hu_status operand(hu_net *net, const hu_operator *op, hu_operand *z, size_t rows, size_t cols, const float *x,
                         const hu_rounding *r, const hu_rounding *before, float *room, unsigned part) {
  memset(z, 0, sizeof *z);
  z->data = x;
  z->ld = cols;
  hu_rounding exact = hu_rounding_keep();
  int turned = op->rounding.hadamard && (part == DW_X || part == DW_DZ);
  z->format = hu_grid_of(op, r, turned ? &exact : before);
  hu_status s = turned ? transform(net, op, rows, cols, room, x) : HU_OK;
  if (turned) z->data = room;
  if (s != HU_OK || r->kind == HU_ROUND_KEEP) return s;
  hu_exec e = hu_exec_of(net, hu_words_of(net, HU_OF_PRODUCT, op->number << 4 | part));
  const float *from = z->data;
  z->data = room;
  return hu_rounding_apply(rows, cols, room, from, r, &e, NULL);
}

hu_status hu_round_product(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *x, const hu_rounding *r,
                           unsigned part) {
  if (r->kind == HU_ROUND_KEEP) return HU_OK;
  hu_exec e = hu_exec_of(net, hu_words_of(net, HU_OF_PRODUCT, op->number << 4 | part));
  return hu_rounding_apply(rows, cols, x, x, r, &e, NULL);
}

/* z = a b (+ bias) in binary32. */
static hu_status multiply(hu_net *net, const hu_operator *op, size_t m, size_t n, size_t k, float *z,
                          const hu_operand *a, const hu_operand *b) {
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  hu_exec e = hu_exec_of(net, none);
  hu_result d = {z, n, hu_binary32(), HU_VALUES};
  return hu_gemm(m, n, k, &d, a, b, NULL, &op->rounding.accum, rne, &e, NULL);
}

static hu_status product_forward(hu_net *net, hu_operator *op, size_t rows, size_t in, const float *x,
                                 const hu_rounding *before) {
  hu_operand a, b;
  hu_parameter *w = &net->parameter[op->theta[0]];
  hu_value *z = &net->value[op->out];
  hu_status s = operand(net, op, &a, rows, in, x, &op->rounding.x, before, net->work[1], Z_X);
  if (s == HU_OK) {
    s = operand(net, op, &b, in, z->cols, w->theta, &op->rounding.w, &w->round, net->work[2], Z_W);
  }
  if (s == HU_OK) s = multiply(net, op, rows, z->cols, in, z->v, &a, &b);
  if (s == HU_OK) s = hu_round_product(net, op, rows, z->cols, z->v, &op->rounding.z_out, Z_OUT);
  if (s != HU_OK || op->theta[1] < 0) return s;
  const float *bias = net->parameter[op->theta[1]].theta;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < z->cols; j++) z->v[i * z->cols + j] += bias[j];
  }
  return HU_OK;
}

/* dx (NULL: not wanted) into dx, dW and db to the parameters. */
static hu_status product_backward(hu_net *net, hu_operator *op, size_t rows, size_t in, const float *x,
                                  const hu_rounding *before, float *dx) {
  hu_operand a, b;
  hu_parameter *w = &net->parameter[op->theta[0]];
  hu_value *z = &net->value[op->out];
  hu_status s = operand(net, op, &a, rows, in, x, &op->rounding.x_back, before, net->work[1], DW_X);
  if (s == HU_OK) {
    s = operand(net, op, &b, rows, z->cols, z->dv, &op->rounding.dz_w, &z->round_back, net->work[2], DW_DZ);
  }
  a.transposed = 1;
  if (s == HU_OK) s = multiply(net, op, in, z->cols, rows, net->work[0], &a, &b);
  if (s == HU_OK) s = hu_round_product(net, op, in, z->cols, net->work[0], &op->rounding.dw_out, DW_OUT);
  if (s != HU_OK) return s;
  hu_give_parameter(net, op->theta[0], net->work[0]);
  if (op->theta[1] >= 0) {
    hu_sum_columns(rows, z->cols, net->work[0], z->dv, NULL);
    hu_give_parameter(net, op->theta[1], net->work[0]);
  }
  if (!dx) return HU_OK;
  s = operand(net, op, &a, rows, z->cols, z->dv, &op->rounding.dz, &z->round_back, net->work[1], DX_DZ);
  if (s == HU_OK) s = operand(net, op, &b, in, z->cols, w->theta, &op->rounding.w_back, &w->round, net->work[2], DX_W);
  b.transposed = 1;
  if (s == HU_OK) s = multiply(net, op, rows, in, z->cols, dx, &a, &b);
  return s == HU_OK ? hu_round_product(net, op, rows, in, dx, &op->rounding.dx_out, DX_OUT) : s;
}

static int add_parameters(hu_net *net, hu_operator *op, size_t in, size_t outputs, int bias) {
  op->theta[0] = hu_new_parameter(net, in, outputs, 0, in);
  if (bias && op->theta[0] >= 0) op->theta[1] = hu_new_parameter(net, 1, outputs, 0, 0);
  return net->status == HU_OK ? op->out : -1;
}

/* ---- rows ---- */

static hu_status linear_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  return product_forward(net, op, x->rows, x->cols, x->v, &x->round);
}

static hu_status linear_backward(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]];
  int wanted = hu_wants_gradient(net, op->in[0]);
  hu_status s = product_backward(net, op, x->rows, x->cols, x->v, &x->round, wanted ? net->work[0] : NULL);
  if (s == HU_OK && wanted) hu_give(net, op->in[0], net->work[0]);
  return s;
}

static const hu_operator_kind linear = {"linear", linear_forward, linear_backward, NULL, 1, 0};

int hu_linear_of(hu_net *net, int x, int weights, int bias) {
  if (!hu_usable(net, x) || weights < 0) return -1;
  hu_value v = net->value[x];
  int z = hu_new_value(net, v.rows, net->parameter[weights].cols, v.height, v.width);
  hu_operator *op = hu_new_operator(net, &linear, x, -1, z, 0);
  if (!op) return -1;
  op->theta[0] = weights;
  op->theta[1] = bias;
  return z;
}

int hu_net_linear(hu_net *net, int x, size_t outputs, int bias) {
  if (!hu_usable(net, x)) return -1;
  int weights = hu_new_parameter(net, net->value[x].cols, outputs, 0, net->value[x].cols);
  int offset = bias && weights >= 0 ? hu_new_parameter(net, 1, outputs, 0, 0) : -1;
  return net->status == HU_OK ? hu_linear_of(net, x, weights, offset) : -1;
}

/* ---- images ---- */

enum { KERNEL = 0, STRIDE = 1, PAD = 2 };

/* The pixels that output row r sees, to its patch, or back: added to the pixels. */
static void patch_row(const hu_value *x, const hu_value *z, const size_t n[4], size_t r, float *patch, float *pixels,
                      int back) {
  size_t per = z->height * z->width, sample = r / per, row = r % per / z->width, col = r % z->width, c = x->cols;
  for (size_t i = 0; i < n[KERNEL]; i++) {
    for (size_t j = 0; j < n[KERNEL]; j++, patch += c) {
      size_t y = row * n[STRIDE] + i, t = col * n[STRIDE] + j;
      int inside = y >= n[PAD] && y - n[PAD] < x->height && t >= n[PAD] && t - n[PAD] < x->width;
      if (!inside) {
        if (!back) memset(patch, 0, c * sizeof *patch);
        continue;
      }
      float *pixel = pixels + ((sample * x->height + y - n[PAD]) * x->width + t - n[PAD]) * c;
      if (back) {
        for (size_t k = 0; k < c; k++) pixel[k] += patch[k];
      } else {
        memcpy(patch, pixel, c * sizeof *patch);
      }
    }
  }
}

static size_t patch_size(const hu_value *x, const hu_operator *op) { return op->n[KERNEL] * op->n[KERNEL] * x->cols; }

static hu_status conv_forward(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t in = patch_size(x, op);
  for (size_t r = 0; r < z->rows; r++) patch_row(x, z, op->n, r, op->kept + r * in, x->v, 0);
  return product_forward(net, op, z->rows, in, op->kept, &x->round);
}

static hu_status conv_backward(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t in = patch_size(x, op);
  int wanted = hu_wants_gradient(net, op->in[0]);
  hu_status s = product_backward(net, op, z->rows, in, op->kept, &x->round, wanted ? net->work[0] : NULL);
  if (s != HU_OK || !wanted) return s;
  float *dx = net->work[1];
  memset(dx, 0, x->rows * x->cols * sizeof *dx);
  for (size_t r = 0; r < z->rows; r++) patch_row(x, z, op->n, r, net->work[0] + r * in, dx, 1);
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind conv = {"conv", conv_forward, conv_backward, NULL, 1, 0};

int hu_net_conv(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, int bias) {
  if (!hu_usable(net, x)) return -1;
  hu_value v = net->value[x];
  if (!v.height) return hu_refuse(net, HU_E_SHAPE, "conv: not an image");
  if (kernel == 0 || stride == 0 || pad >= kernel || kernel > 1024) {
    return hu_refuse(net, HU_E_SHAPE, "conv: kernel, stride or pad");
  }
  if (v.height + 2 * pad < kernel || v.width + 2 * pad < kernel) {
    return hu_refuse(net, HU_E_SHAPE, "conv: the kernel is larger than the image");
  }
  size_t h = (v.height + 2 * pad - kernel) / stride + 1, w = (v.width + 2 * pad - kernel) / stride + 1;
  size_t in, rows = net->batch * h * w, patches;
  if (__builtin_mul_overflow(kernel * kernel, v.cols, &in) || __builtin_mul_overflow(rows, in, &patches)) {
    return hu_refuse(net, HU_E_SHAPE, "conv: too many numbers in patches");
  }
  int z = hu_new_value(net, rows, outputs, h, w);
  hu_operator *op = hu_new_operator(net, &conv, x, -1, z, patches);
  if (!op) return -1;
  op->n[KERNEL] = kernel;
  op->n[STRIDE] = stride;
  op->n[PAD] = pad;
  if (hu_want_work(net, op->kept_size) != HU_OK) return hu_refuse(net, HU_E_MEMORY, "conv: no memory for patches");
  return add_parameters(net, op, in, outputs, bias);
}
