/* SPDX-License-Identifier: MIT */
/* Convolutions whose operand X is the matrix of patches: a number is rounded in each window that sees it, and what a
 * window gives to dX is rounded before it is added. Where the same bits can be had by rounding an image once, or some
 * images at a time, that is done. */
#include "train/net/convolution.h"

#include <string.h>

#include "train/step/rounding.h"

/* The engine has a single group's convolutions with what is rounded in windows. */
static int possible(hu_net *net, const hu_operator *op, const hu_accum *accum, const hu_convolution *convolution) {
  return op->groups == 1 && hui_without_patches(net, accum, HU_CONVOLVE_POSSIBLE, convolution);
}

/* The image rounded once, into `kept` or where frames are put around it, and its patches' counts; 0: it needs them. */
static int round_image(hu_net *net, hu_operator *op, hu_convolution *convolution) {
  hu_rounded *rounded = &op->rounded;
  float *to = hui_has_border(&op->convolution.windows) ? net->work[0] : op->kept;
  convolution->rounding = &op->rounding.x;
  convolution->rounded = to;
  convolution->gathered = net->work[1];
  convolution->counts = &rounded->counts;
  hui_notify(net, HU_PHASE_ROUNDING, op, 0);
  int done = hui_without_patches(net, &op->rounding.z_accum, HU_CONVOLVE_ROUND, convolution);
  hui_notify(net, HU_PHASE_ROUNDING, op, 1);
  if (!done) return 0;
  hui_add_counts(hui_counts_of_part(net, op, HU_PART_Z_X), &rounded->counts);
  memcpy(&rounded->by, &op->rounding.x, sizeof rounded->by); /* padding, too, which hui_roundings_alike sees */
  convolution->x = to;
  if (!hui_has_border(&op->convolution.windows)) convolution->framed = to;
  return 1;
}

/* Computes with patches of some images at a time, in the buffer that no operand takes. Returns 0 if the rounding
 * does not allow that. */
static int by_blocks(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part,
                     hu_convolution *convolution) {
  convolution->x = net->value[op->in[0]].v;
  convolution->rounding = rounding;
  convolution->gathered = net->work[1];
  convolution->counts = hui_counts_of_part(net, op, part);
  const hu_accum *accum = hui_accum_of(op, part);
  if (!hui_without_patches(net, accum, HU_CONVOLVE_BLOCKS, convolution)) return 0;
  if (part == HU_PART_Z_X) {
    convolution->w = hui_weights_operand(net, op, hui_patch_part(net, op), &op->rounding.w, HU_PART_Z_W).data;
  } else {
    convolution->dz = hui_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    convolution->dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
  }
  int what = part == HU_PART_Z_X ? HU_CONVOLVE_RESULT_BLOCKS : HU_CONVOLVE_WEIGHTS_BLOCKS;
  if (net->fault == HU_OK && !hui_without_patches(net, accum, what, convolution))
    net->fault = HU_E_MEMORY; /* cannot be: checked */
  return 1;
}

/* Returns 1 if the result was computed without patches. */
static int conv_without_patches(hu_net *net, hu_operator *op, size_t in) {
  hu_convolution convolution = hui_convolution_of(net, op);
  const hu_accum *accum = &op->rounding.z_accum;
  int plain = op->rounding.x.kind == HU_ROUND_KEEP;
  op->convolution.kept = 0;
  if (!hui_frames_fit(net, op) || !possible(net, op, accum, &convolution)) return 0;
  if (!plain && by_blocks(net, op, &op->rounding.x, HU_PART_Z_X, &convolution)) {
    op->convolution.kept = HU_KEPT_NOTHING;
    return 1;
  }
  if (!plain && !round_image(net, op, &convolution)) return 0;
  convolution.w = hui_weights_operand(net, op, in, &op->rounding.w, HU_PART_Z_W).data;
  (void)hui_without_patches(net, accum, HU_CONVOLVE_RESULT, &convolution);
  op->convolution.kept = plain ? HU_KEPT_FRAMES : HU_KEPT_ROUNDED;
  return 1;
}

/* Makes the patches in `kept`, rounded for a product. */
static hu_matrices operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part) {
  return hui_product_operand(net, op, net->value[op->out].rows, hui_patch_size(net, op), op->kept, rounding,
                             &net->value[op->in[0]].round, net->work[1], part);
}

hu_status hui_windows_forward(hu_net *net, hu_operator *op) {
  size_t in = hui_patch_part(net, op);
  if (conv_without_patches(net, op, in)) return hui_finish_forward(net, op);
  hui_make_patches(net, op, net->value[op->in[0]].v);
  return hui_product_forward(net, op, in, operand(net, op, &op->rounding.x, HU_PART_Z_X));
}

/* Do the framed images fit what dW needs? */
static int frames_serve(const hu_operator *op) {
  const hu_rounding *rounding = &op->rounding.x_back;
  if (op->rounding.hadamard || !op->convolution.kept) return 0;
  if (op->convolution.kept == HU_KEPT_FRAMES) return rounding->kind == HU_ROUND_KEEP;
  return op->convolution.kept == HU_KEPT_ROUNDED && rounding->kind != HU_ROUND_KEEP &&
         hui_roundings_alike(&op->rounded.by, rounding);
}

hu_status hui_windows_weights(hu_net *net, hu_operator *op) {
  size_t in = hui_patch_part(net, op);
  hu_convolution convolution = hui_convolution_of(net, op);
  const hu_accum *accum = &op->rounding.dw_accum;
  if (frames_serve(op)) {
    int rounded = op->convolution.kept == HU_KEPT_ROUNDED;
    if (rounded) hui_add_counts(hui_counts_of_part(net, op, HU_PART_DW_X), &op->rounded.counts);
    if (rounded) convolution.framed = op->kept;
    convolution.dz = hui_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    convolution.dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
    if (hui_without_patches(net, accum, HU_CONVOLVE_WEIGHTS, &convolution))
      return hui_finish_weights(net, op, in, convolution.dw);
    if (net->fault != HU_OK) return hui_done(net);
  }
  if (!op->rounding.hadamard && hui_frames_fit(net, op) && possible(net, op, accum, &convolution) &&
      by_blocks(net, op, &op->rounding.x_back, HU_PART_DW_X, &convolution)) {
    return hui_finish_weights(net, op, in, convolution.dw);
  }
  if (op->convolution.kept || hui_patches_spoilt(op, &op->rounding.x_back)) {
    hui_make_patches(net, op, net->value[op->in[0]].v);
  }
  return hui_product_weights(net, op, in, operand(net, op, &op->rounding.x_back, HU_PART_DW_X));
}

/* dX without patches; c can do so. */
static hu_status image_without_patches(hu_net *net, hu_operator *op, size_t in, hu_convolution *convolution) {
  const hu_rounding *rounding = &op->rounding.dx_out;
  const hu_accum *accum = &op->rounding.dx_accum;
  const size_t rows = net->value[op->out].rows;
  int alone = hui_rounds_alone(rounding);
  convolution->dx = hui_gift(net, op->in[0], alone ? net->work[0] : net->work[1]);
  convolution->rounding = rounding;
  convolution->counts = hui_counts_of_part(net, op, HU_PART_DX_OUT);
  convolution->gifts = net->work[0];
  convolution->dz = hui_gradients_operand(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ).data;
  convolution->w = hui_weights_operand(net, op, in, &op->rounding.w_back, HU_PART_DX_W).data;
  if (alone) {
    (void)hui_without_patches(net, accum, HU_CONVOLVE_IMAGES, convolution);
  } else {
    (void)hui_without_patches(net, accum, HU_CONVOLVE_GIFTS, convolution);
    (void)hui_round_product(net, op, rows, in, convolution->gifts, rounding, HU_PART_DX_OUT);
    (void)hui_without_patches(net, accum, HU_CONVOLVE_SCATTER, convolution);
  }
  hui_give(net, op->in[0], convolution->dx);
  return hui_done(net);
}

hu_status hui_windows_image(hu_net *net, hu_operator *op) {
  size_t in = hui_patch_part(net, op);
  hu_convolution convolution = hui_convolution_of(net, op);
  if (possible(net, op, &op->rounding.dx_accum, &convolution)) {
    return image_without_patches(net, op, in, &convolution);
  }
  hui_product_x(net, op, in, net->work[0]);
  hu_status status = hui_round_product(net, op, net->value[op->out].rows, hui_patch_size(net, op), net->work[0],
                                       &op->rounding.dx_out, HU_PART_DX_OUT);
  float *dx = hui_gift(net, op->in[0], net->work[1]);
  hui_add_windows(net, op, dx, net->work[0]);
  hui_give(net, op->in[0], dx);
  return status == HU_OK ? hui_done(net) : status;
}
