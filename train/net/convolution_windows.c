/* SPDX-License-Identifier: MIT */
/* Convolutions whose operand X is the matrix of patches: a number is rounded in each window that sees it, and what a
 * window gives to dX is rounded before it is added. Where the same bits can be had by rounding an image once, or some
 * images at a time, that is done. */
#include "train/net/convolution.h"

#include <string.h>

#include "train/step/rounding.h"

/* The engine has a single group's convolutions with what is rounded in windows. */
static int possible(hu_net *net, const hu_operator *op, const hu_accum *accum, const hu_convolution *c) {
  return op->groups == 1 && hu_without_patches(net, accum, HU_CONVOLVE_POSSIBLE, c);
}

/* The image rounded once, into `kept` or where frames are put around it, and its patches' counts; 0: it needs them. */
static int round_image(hu_net *net, hu_operator *op, hu_convolution *c) {
  hu_rounded *x = &op->rounded;
  float *to = op->n[HU_CONV_PAD] ? net->work[0] : op->kept;
  c->rounding = &op->rounding.x;
  c->rounded = to;
  c->gathered = net->work[1];
  c->counts = &x->counts;
  hu_tell(net, HU_PHASE_ROUNDING, op, 0);
  int done = hu_without_patches(net, &op->rounding.z_accum, HU_CONVOLVE_ROUND, c);
  hu_tell(net, HU_PHASE_ROUNDING, op, 1);
  if (!done) return 0;
  hu_add_counts(hu_counts_of_part(net, op, HU_PART_Z_X), &x->counts);
  memcpy(&x->by, &op->rounding.x, sizeof x->by); /* padding, too, which hu_roundings_alike sees */
  c->x = to;
  if (!op->n[HU_CONV_PAD]) c->framed = to;
  return 1;
}

/* With patches of some images at a time, in the room that no operand takes; 0: not with this rounding. */
static int by_blocks(hu_net *net, hu_operator *op, const hu_rounding *r, unsigned part, hu_convolution *c) {
  c->x = net->value[op->in[0]].v;
  c->rounding = r;
  c->gathered = net->work[1];
  c->counts = hu_counts_of_part(net, op, part);
  const hu_accum *accum = hu_accum_of(op, part);
  if (!hu_without_patches(net, accum, HU_CONVOLVE_BLOCKS, c)) return 0;
  if (part == HU_PART_Z_X) {
    c->w = hu_weights_operand(net, op, hu_patch_part(net, op), &op->rounding.w, HU_PART_Z_W).data;
  } else {
    c->dz = hu_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    c->dw = hu_gift_parameter(net, op->theta[0], net->work[0]);
  }
  int what = part == HU_PART_Z_X ? HU_CONVOLVE_RESULT_BLOCKS : HU_CONVOLVE_WEIGHTS_BLOCKS;
  if (net->fault == HU_OK && !hu_without_patches(net, accum, what, c))
    net->fault = HU_E_MEMORY; /* cannot be: checked */
  return 1;
}

/* 1: done. */
static int conv_without_patches(hu_net *net, hu_operator *op, size_t in) {
  hu_convolution c = hu_convolution_of(net, op);
  const hu_accum *accum = &op->rounding.z_accum;
  int plain = op->rounding.x.kind == HU_ROUND_KEEP;
  op->n[HU_CONV_KEPT] = 0;
  if (!hu_frames_fit(net, op) || !possible(net, op, accum, &c)) return 0;
  if (!plain && by_blocks(net, op, &op->rounding.x, HU_PART_Z_X, &c)) {
    op->n[HU_CONV_KEPT] = HU_KEPT_NOTHING;
    return 1;
  }
  if (!plain && !round_image(net, op, &c)) return 0;
  c.w = hu_weights_operand(net, op, in, &op->rounding.w, HU_PART_Z_W).data;
  (void)hu_without_patches(net, accum, HU_CONVOLVE_RESULT, &c);
  op->n[HU_CONV_KEPT] = plain ? HU_KEPT_FRAMES : HU_KEPT_ROUNDED;
  return 1;
}

/* The patches in `kept`, rounded for a product. */
static hu_matrices operand(hu_net *net, hu_operator *op, const hu_rounding *r, unsigned part) {
  return hu_product_operand(net, op, net->value[op->out].rows, hu_patch_size(net, op), op->kept, r,
                            &net->value[op->in[0]].round, net->work[1], part);
}

hu_status hu_windows_forward(hu_net *net, hu_operator *op) {
  size_t in = hu_patch_part(net, op);
  if (conv_without_patches(net, op, in)) return hu_finish_forward(net, op);
  hu_make_patches(net, op, net->value[op->in[0]].v);
  return hu_product_forward(net, op, in, operand(net, op, &op->rounding.x, HU_PART_Z_X));
}

/* Do the framed images fit what dW needs? */
static int frames_serve(const hu_operator *op) {
  const hu_rounding *r = &op->rounding.x_back;
  if (op->rounding.hadamard || !op->n[HU_CONV_KEPT]) return 0;
  if (op->n[HU_CONV_KEPT] == HU_KEPT_FRAMES) return r->kind == HU_ROUND_KEEP;
  return op->n[HU_CONV_KEPT] == HU_KEPT_ROUNDED && r->kind != HU_ROUND_KEEP && hu_roundings_alike(&op->rounded.by, r);
}

hu_status hu_windows_weights(hu_net *net, hu_operator *op) {
  size_t in = hu_patch_part(net, op);
  hu_convolution c = hu_convolution_of(net, op);
  const hu_accum *accum = &op->rounding.dw_accum;
  if (frames_serve(op)) {
    int rounded = op->n[HU_CONV_KEPT] == HU_KEPT_ROUNDED;
    if (rounded) hu_add_counts(hu_counts_of_part(net, op, HU_PART_DW_X), &op->rounded.counts);
    if (rounded) c.framed = op->kept;
    c.dz = hu_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    c.dw = hu_gift_parameter(net, op->theta[0], net->work[0]);
    if (hu_without_patches(net, accum, HU_CONVOLVE_WEIGHTS, &c)) return hu_finish_weights(net, op, in, c.dw);
    if (net->fault != HU_OK) return hu_done(net);
  }
  if (!op->rounding.hadamard && hu_frames_fit(net, op) && possible(net, op, accum, &c) &&
      by_blocks(net, op, &op->rounding.x_back, HU_PART_DW_X, &c)) {
    return hu_finish_weights(net, op, in, c.dw);
  }
  if (op->n[HU_CONV_KEPT] || hu_patches_spoilt(op, &op->rounding.x_back)) {
    hu_make_patches(net, op, net->value[op->in[0]].v);
  }
  return hu_product_weights(net, op, in, operand(net, op, &op->rounding.x_back, HU_PART_DW_X));
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
  c->dz = hu_gradients_operand(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ).data;
  c->w = hu_weights_operand(net, op, in, &op->rounding.w_back, HU_PART_DX_W).data;
  if (alone) {
    (void)hu_without_patches(net, accum, HU_CONVOLVE_IMAGES, c);
  } else {
    (void)hu_without_patches(net, accum, HU_CONVOLVE_GIFTS, c);
    (void)hu_round_product(net, op, rows, in, c->gifts, r, HU_PART_DX_OUT);
    (void)hu_without_patches(net, accum, HU_CONVOLVE_SCATTER, c);
  }
  hu_give(net, op->in[0], c->dx);
  return hu_done(net);
}

hu_status hu_windows_image(hu_net *net, hu_operator *op) {
  size_t in = hu_patch_part(net, op);
  hu_convolution c = hu_convolution_of(net, op);
  if (possible(net, op, &op->rounding.dx_accum, &c)) {
    return image_without_patches(net, op, in, &c);
  }
  hu_product_x(net, op, in, net->work[0]);
  hu_status s = hu_round_product(net, op, net->value[op->out].rows, hu_patch_size(net, op), net->work[0],
                                 &op->rounding.dx_out, HU_PART_DX_OUT);
  float *dx = hu_gift(net, op->in[0], net->work[1]);
  hu_add_windows(net, op, dx, net->work[0]);
  hu_give(net, op->in[0], dx);
  return s == HU_OK ? hu_done(net) : s;
}
