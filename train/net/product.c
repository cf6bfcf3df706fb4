/* SPDX-License-Identifier: MIT */
/* Matrix products and convolutions: patches, three products, biases. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/engine/kernels_layers.h"
#include "train/net/net.h"
#include "train/step/rounding.h"

/* z = a b in binary32, for the result `part`. */
static void multiply(hu_net *net, const hu_operator *op, unsigned part, size_t m, size_t n, size_t k, float *z,
                     hu_matrices a, hu_matrices b) {
  hu_matrices d = {z, n, 0, 0, hu_binary32(), 0};
  hu_products p = {m, n, k, 1, 1, d, a, b, hu_accum_of(op, part), {0, 0}};
  hu_do_products(net, op, part, &p);
}

static hu_matrices weights(hu_net *net, hu_operator *op, size_t in, const hu_rounding *r, unsigned part) {
  const hu_parameter *w = &net->parameter[op->theta[0]];
  return hu_product_operand(net, op, in, w->cols, w->theta, r, &w->round, net->work[2], part);
}

static hu_matrices gradients(hu_net *net, hu_operator *op, const hu_rounding *r, float *room, unsigned part) {
  const hu_value *z = &net->value[op->out];
  return hu_product_operand(net, op, z->rows, z->cols, z->dv, r, &z->round_back, room, part);
}

/* Z is the product: rounded, and the bias added. */
static hu_status finish_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  size_t rows = z->rows;
  hu_status s = hu_round_product(net, op, rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  if (s != HU_OK || op->theta[1] < 0) return s;
  hu_task t = hu_task_of(rows, z->cols, z->v, z->v, net->parameter[op->theta[1]].theta);
  hu_do(net, HU_RUN_ADD_ROW, &t);
  return hu_done(net);
}

static hu_status product_forward(hu_net *net, hu_operator *op, size_t rows, size_t in, const float *x,
                                 const hu_rounding *before) {
  hu_value *z = &net->value[op->out];
  hu_matrices a = hu_product_operand(net, op, rows, in, x, &op->rounding.x, before, net->work[1], HU_PART_Z_X);
  hu_matrices b = weights(net, op, in, &op->rounding.w, HU_PART_Z_W);
  multiply(net, op, HU_PART_Z_OUT, rows, z->cols, in, z->v, a, b);
  return finish_forward(net, op);
}

/* dX into dx. */
static hu_status give_x(hu_net *net, hu_operator *op, size_t rows, size_t in, float *dx) {
  hu_matrices a = gradients(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ);
  hu_matrices b = weights(net, op, in, &op->rounding.w_back, HU_PART_DX_W);
  b.transposed = 1;
  multiply(net, op, HU_PART_DX_OUT, rows, in, net->value[op->out].cols, dx, a, b);
  return hu_round_product(net, op, rows, in, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
}

/* dW, in dw, is the product: rounded, and given, and so is db. */
static hu_status finish_weights(hu_net *net, hu_operator *op, size_t in, float *dw) {
  hu_value *z = &net->value[op->out];
  hu_status s = hu_round_product(net, op, in, z->cols, dw, &op->rounding.dw_out, HU_PART_DW_OUT);
  hu_give_parameter(net, op->theta[0], dw);
  if (op->theta[1] < 0) return s;
  float *db = hu_gift_parameter(net, op->theta[1], net->work[0]);
  hu_do_columns(net, HU_RUN_COLUMNS, z->rows, z->cols, db, z->dv, NULL, NULL);
  hu_give_parameter(net, op->theta[1], db);
  return s == HU_OK ? hu_done(net) : s;
}

/* dW and db to the parameters. */
static hu_status give_weights(hu_net *net, hu_operator *op, size_t rows, size_t in, const float *x,
                              const hu_rounding *before) {
  float *dw = hu_gift_parameter(net, op->theta[0], net->work[0]);
  hu_matrices a = hu_product_operand(net, op, rows, in, x, &op->rounding.x_back, before, net->work[1], HU_PART_DW_X);
  hu_matrices b = gradients(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ);
  a.transposed = 1;
  multiply(net, op, HU_PART_DW_OUT, in, net->value[op->out].cols, rows, dw, a, b);
  return finish_weights(net, op, in, dw);
}

static int add_parameters(hu_net *net, hu_operator *op, size_t in, size_t outputs, int bias) {
  op->theta[0] = hu_new_parameter(net, in, outputs, 0, in);
  if (bias && op->theta[0] >= 0) op->theta[1] = hu_new_parameter(net, 1, outputs, 0, 0);
  hu_name_parameters(net, op->kind->name, op->theta[0], "weight bias");
  return net->status == HU_OK ? op->out : -1;
}

/* ---- rows ---- */

static hu_status linear_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  return product_forward(net, op, x->rows, x->cols, x->v, &x->round);
}

static hu_status linear_backward(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]];
  net->rounded.there = 0; /* dZ is another one */
  hu_status s = give_weights(net, op, x->rows, x->cols, x->v, &x->round);
  if (s != HU_OK || !hu_wants_gradient(net, op->in[0])) return s;
  float *dx = hu_gift(net, op->in[0], net->work[0]);
  s = give_x(net, op, x->rows, x->cols, dx);
  hu_give(net, op->in[0], dx);
  return s == HU_OK ? hu_done(net) : s;
}

static const hu_operator_kind linear = {"linear", linear_forward, linear_backward, NULL, 1, 0, 1};

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
  hu_name_parameters(net, "linear", weights, "weight bias");
  return net->status == HU_OK ? hu_linear_of(net, x, weights, offset) : -1;
}

/* ---- images ---- */

/* FRAMED: `kept` has framed images, not patches: as they are, or as op->rounded.by leaves them. */
enum { KERNEL = 0, STRIDE = 1, PAD = 2, FRAMED = 3 };
enum { FRAMED_PLAIN = 1, FRAMED_ROUNDED = 2, FRAMED_NOTHING = 3 }; /* nothing: neither images nor patches */

static size_t patch_size(const hu_value *x, const hu_operator *op) { return op->n[KERNEL] * op->n[KERNEL] * x->cols; }

/* Between the image x and the windows of z. */
static hu_task windows(const hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *to,
                       const float *from) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_task t = hu_task_of(rows, cols, to, from, NULL);
  const size_t n[8] = {op->n[KERNEL], op->n[KERNEL], op->n[STRIDE], op->n[PAD],
                       x->height,     x->width,      z->height,     z->width};
  memcpy(t.n, n, sizeof n);
  return t;
}

static void make_patches(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_task t = windows(net, op, z->rows, patch_size(x, op), op->kept, x->v);
  hu_do(net, HU_RUN_PATCHES, &t);
  op->n[FRAMED] = 0;
}

/* Numbers of the images with zeros around them. */
static size_t framed_size(const hu_net *net, const hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  return net->batch * (x->height + 2 * op->n[PAD]) * (x->width + 2 * op->n[PAD]) * x->cols;
}

static void tell_rounding(void *const told[2], int ends) {
  hu_tell((hu_net *)told[0], HU_PHASE_ROUNDING, (const hu_operator *)told[1], ends);
}

/* What an engine that needs no patches is told; without zeros around them images are as they are. */
static hu_convolution convolution(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_task t = windows(net, op, 0, 0, NULL, NULL);
  hu_convolution c;
  memset(&c, 0, sizeof c);
  memcpy(c.n, t.n, sizeof c.n);
  c.images = net->batch;
  c.channels = x->cols;
  c.outputs = z->cols;
  c.x = x->v;
  c.z = z->v;
  c.framed = op->n[PAD] ? op->kept : x->v;
  c.room = net->work[HU_ROOMS - 1];
  c.tell = net->observer ? tell_rounding : NULL;
  c.told[0] = net;
  c.told[1] = op;
  return c;
}

/* accum: of the product that this is for. */
static int without_patches(hu_net *net, const hu_accum *accum, int what, const hu_convolution *c) {
  if (net->fault != HU_OK || !net->engine->convolve || !hu_is_plain_fp32(accum)) return 0;
  return net->engine->convolve(net->self, what, c);
}

/* The image rounded once, into `kept` or where frames are put around it, and its patches' counts; 0: it needs them. */
static int round_image(hu_net *net, hu_operator *op, hu_convolution *c) {
  hu_rounded *x = &op->rounded;
  float *to = op->n[PAD] ? net->work[0] : op->kept;
  c->rounding = &op->rounding.x;
  c->rounded = to;
  c->gathered = net->work[1];
  c->counts = &x->counts;
  hu_tell(net, HU_PHASE_ROUNDING, op, 0);
  int done = without_patches(net, &op->rounding.z_accum, HU_CONVOLVE_ROUND, c);
  hu_tell(net, HU_PHASE_ROUNDING, op, 1);
  if (!done) return 0;
  hu_add_counts(hu_counts_of_part(net, op, HU_PART_Z_X), &x->counts);
  memcpy(&x->by, &op->rounding.x, sizeof x->by); /* padding, too, which hu_roundings_alike sees */
  c->x = to;
  if (!op->n[PAD]) c->framed = to;
  return 1;
}

/* With patches of some images at a time, in the room that no operand takes; 0: not with this rounding. */
static int by_blocks(hu_net *net, hu_operator *op, const hu_rounding *r, unsigned part, hu_convolution *c) {
  c->x = net->value[op->in[0]].v;
  c->rounding = r;
  c->gathered = net->work[1];
  c->counts = hu_counts_of_part(net, op, part);
  const hu_accum *accum = hu_accum_of(op, part);
  if (!without_patches(net, accum, HU_CONVOLVE_BLOCKS, c)) return 0;
  if (part == HU_PART_Z_X) {
    c->w = weights(net, op, patch_size(&net->value[op->in[0]], op), &op->rounding.w, HU_PART_Z_W).data;
  } else {
    c->dz = gradients(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    c->dw = hu_gift_parameter(net, op->theta[0], net->work[0]);
  }
  int what = part == HU_PART_Z_X ? HU_CONVOLVE_RESULT_BLOCKS : HU_CONVOLVE_WEIGHTS_BLOCKS;
  if (net->fault == HU_OK && !without_patches(net, accum, what, c)) net->fault = HU_E_MEMORY; /* cannot be: checked */
  return 1;
}

/* 1: done. */
static int conv_without_patches(hu_net *net, hu_operator *op, size_t in) {
  hu_convolution c = convolution(net, op);
  const hu_accum *accum = &op->rounding.z_accum;
  int plain = op->rounding.x.kind == HU_ROUND_KEEP;
  op->n[FRAMED] = 0;
  if (framed_size(net, op) > op->kept_size || !without_patches(net, accum, HU_CONVOLVE_POSSIBLE, &c)) return 0;
  if (!plain && by_blocks(net, op, &op->rounding.x, HU_PART_Z_X, &c)) {
    op->n[FRAMED] = FRAMED_NOTHING;
    return 1;
  }
  if (!plain && !round_image(net, op, &c)) return 0;
  c.w = weights(net, op, in, &op->rounding.w, HU_PART_Z_W).data;
  (void)without_patches(net, accum, HU_CONVOLVE_RESULT, &c);
  op->n[FRAMED] = plain ? FRAMED_PLAIN : FRAMED_ROUNDED;
  return 1;
}

static hu_status conv_forward(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t in = patch_size(x, op);
  if (conv_without_patches(net, op, in)) return finish_forward(net, op);
  make_patches(net, op);
  return product_forward(net, op, z->rows, in, op->kept, &x->round);
}

/* Do the framed images fit what dW needs? */
static int frames_serve(const hu_operator *op) {
  const hu_rounding *r = &op->rounding.x_back;
  if (op->rounding.hadamard || !op->n[FRAMED]) return 0;
  if (op->n[FRAMED] == FRAMED_PLAIN) return r->kind == HU_ROUND_KEEP;
  return op->n[FRAMED] == FRAMED_ROUNDED && r->kind != HU_ROUND_KEEP && hu_roundings_alike(&op->rounded.by, r);
}

static hu_status conv_weights(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]];
  size_t in = patch_size(x, op);
  hu_convolution c = convolution(net, op);
  const hu_accum *accum = &op->rounding.dw_accum;
  if (frames_serve(op)) {
    int rounded = op->n[FRAMED] == FRAMED_ROUNDED;
    if (rounded) hu_add_counts(hu_counts_of_part(net, op, HU_PART_DW_X), &op->rounded.counts);
    if (rounded) c.framed = op->kept;
    c.dz = gradients(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    c.dw = hu_gift_parameter(net, op->theta[0], net->work[0]);
    if (without_patches(net, accum, HU_CONVOLVE_WEIGHTS, &c)) return finish_weights(net, op, in, c.dw);
    if (net->fault != HU_OK) return hu_done(net);
  }
  if (!op->rounding.hadamard && framed_size(net, op) <= op->kept_size &&
      without_patches(net, accum, HU_CONVOLVE_POSSIBLE, &c) &&
      by_blocks(net, op, &op->rounding.x_back, HU_PART_DW_X, &c)) {
    return finish_weights(net, op, in, c.dw);
  }
  if (op->n[FRAMED] || hu_patches_spoilt(op, &op->rounding.x_back)) make_patches(net, op);
  return give_weights(net, op, net->value[op->out].rows, in, op->kept, &x->round);
}

/* dX without patches; c can do so. */
static hu_status image_without_patches(hu_net *net, hu_operator *op, size_t in, hu_convolution *c) {
  const hu_rounding *r = &op->rounding.dx_out;
  const hu_accum *accum = &op->rounding.dx_accum;
  const size_t rows = net->value[op->out].rows;
  int alone = hu_rounds_alone(r);
  c->dx = hu_gift(net, op->in[0], alone ? net->work[0] : net->work[1]);
  c->rounding = r;
  c->counts = hu_counts_of_part(net, op, HU_PART_DX_OUT);
  c->gifts = net->work[0];
  c->dz = gradients(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ).data;
  c->w = weights(net, op, in, &op->rounding.w_back, HU_PART_DX_W).data;
  if (alone) {
    (void)without_patches(net, accum, HU_CONVOLVE_IMAGES, c);
  } else {
    (void)without_patches(net, accum, HU_CONVOLVE_GIFTS, c);
    (void)hu_round_product(net, op, rows, in, c->gifts, r, HU_PART_DX_OUT);
    (void)without_patches(net, accum, HU_CONVOLVE_SCATTER, c);
  }
  hu_give(net, op->in[0], c->dx);
  return hu_done(net);
}

static hu_status conv_image(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t in = patch_size(x, op);
  hu_convolution c = convolution(net, op);
  if (without_patches(net, &op->rounding.dx_accum, HU_CONVOLVE_POSSIBLE, &c)) {
    return image_without_patches(net, op, in, &c);
  }
  hu_status s = give_x(net, op, z->rows, in, net->work[0]);
  float *dx = hu_gift(net, op->in[0], net->work[1]);
  hu_task t = windows(net, op, x->rows, x->cols, dx, net->work[0]);
  t.work = z->rows * in;
  hu_do(net, HU_RUN_PATCHES_BACK, &t);
  hu_give(net, op->in[0], dx);
  return s == HU_OK ? hu_done(net) : s;
}

static hu_status conv_backward(hu_net *net, hu_operator *op) {
  net->rounded.there = 0;
  hu_status s = conv_weights(net, op);
  return s == HU_OK && hu_wants_gradient(net, op->in[0]) ? conv_image(net, op) : s;
}

static const hu_operator_kind conv = {"conv", conv_forward, conv_backward, NULL, 1, 0, 1};

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
  size_t kernel_room = (in + 15) * (outputs + 15); /* see hu_convolution */
  if (hu_want_work(net, op->kept_size > kernel_room ? op->kept_size : kernel_room) != HU_OK)
    return hu_refuse(net, HU_E_MEMORY, "conv: no memory for patches");
  return add_parameters(net, op, in, outputs, bias);
}
