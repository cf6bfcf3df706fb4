/* SPDX-License-Identifier: MIT */
/* Convolutions: products of patches and weights. X is rounded as the tensor it is, each pixel once, and dX once, after
 * what the windows give to a pixel has been added in binary32. */
#include "train/net/convolution.h"

/* ---- X and dX as tensors ---- */

/* Gives X, rounded, to an engine that needs no patches. Returns 0 if the engine cannot take it. */
static int takes_images(hu_net *net, hu_operator *op, const hu_accum *accum, const float *x,
                        hu_convolution *convolution) {
  *convolution = hui_convolution_of(net, op);
  convolution->x = x;
  if (!op->convolution.pad) convolution->framed = (float *)x;
  if (op->convolution.pad && !hui_frames_fit(net, op)) return 0;
  return hui_without_patches(net, accum, HU_CONVOLVE_POSSIBLE, convolution);
}

static hu_matrices patches_of(const hu_net *net, hu_operator *op, hu_matrices x) {
  x.data = op->kept;
  x.ld = hui_patch_size(net, op);
  return x;
}

static hu_status tensor_forward(hu_net *net, hu_operator *op) {
  size_t in = hui_patch_part(net, op);
  hu_matrices x = hui_x_operand(net, op, &op->rounding.x, HU_PART_Z_X);
  hu_convolution convolution;
  if (takes_images(net, op, &op->rounding.z_accum, x.data, &convolution)) {
    convolution.w = hui_weights_operand(net, op, in, &op->rounding.w, HU_PART_Z_W).data;
    (void)hui_without_patches(net, &op->rounding.z_accum, HU_CONVOLVE_RESULT, &convolution);
    op->convolution.kept = op->convolution.pad ? HU_KEPT_TENSOR_FRAMES : HU_KEPT_NOTHING;
    return hui_finish_forward(net, op);
  }
  hui_make_patches(net, op, x.data);
  op->convolution.kept = HU_KEPT_TENSOR;
  return hui_product_forward(net, op, in, patches_of(net, op, x));
}

static hu_status tensor_weights(hu_net *net, hu_operator *op) {
  size_t in = hui_patch_part(net, op);
  hu_matrices x = hui_x_operand(net, op, &op->rounding.x_back, HU_PART_DW_X);
  int same = !op->rounding.twice && hui_roundings_alike(&op->rounding.x, &op->rounding.x_back);
  unsigned kept = same ? op->convolution.kept : HU_KEPT_NOTHING;
  hu_convolution convolution;
  if (takes_images(net, op, &op->rounding.dw_accum, x.data, &convolution)) {
    if (op->convolution.pad && kept != HU_KEPT_TENSOR_FRAMES) {
      (void)hui_without_patches(net, &op->rounding.dw_accum, HU_CONVOLVE_FRAMES, &convolution);
      op->convolution.kept = same ? HU_KEPT_TENSOR_FRAMES : HU_KEPT_NOTHING;
    }
    convolution.dz = hui_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ).data;
    convolution.dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
    (void)hui_without_patches(net, &op->rounding.dw_accum, HU_CONVOLVE_WEIGHTS, &convolution);
    return hui_finish_weights(net, op, in, convolution.dw);
  }
  if (kept != HU_KEPT_TENSOR) {
    hui_make_patches(net, op, x.data);
    op->convolution.kept = same ? HU_KEPT_TENSOR : HU_KEPT_NOTHING;
  }
  return hui_product_weights(net, op, in, patches_of(net, op, x));
}

/* A Hadamard transform mixes rows of the product's operand, which are windows: patches of X as it is. */
static hu_status transformed_weights(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t in = hui_patch_part(net, op);
  hui_make_patches(net, op, x->v);
  op->convolution.kept = HU_KEPT_NOTHING;
  return hui_product_weights(net, op, in,
                             hui_product_operand(net, op, net->value[op->out].rows, hui_patch_size(net, op), op->kept,
                                                 &op->rounding.x_back, &x->round, net->work[1], HU_PART_DW_X));
}

static hu_status tensor_image(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  size_t in = hui_patch_part(net, op);
  const hu_accum *accum = &op->rounding.dx_accum;
  hu_convolution convolution = hui_convolution_of(net, op);
  if (hui_without_patches(net, accum, HU_CONVOLVE_POSSIBLE, &convolution)) {
    convolution.dx = hui_gift(net, op->in[0], net->work[0]);
    convolution.dz = hui_gradients_operand(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ).data;
    convolution.w = hui_weights_operand(net, op, in, &op->rounding.w_back, HU_PART_DX_W).data;
    (void)hui_without_patches(net, accum, HU_CONVOLVE_IMAGES, &convolution);
  } else {
    hui_product_x(net, op, in, net->work[0]);
    convolution.dx = hui_gift(net, op->in[0], net->work[1]);
    hui_add_windows(net, op, convolution.dx, net->work[0]);
  }
  hu_status status = hui_round_product(net, op, x->rows, x->cols, convolution.dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], convolution.dx);
  return status == HU_OK ? hui_done(net) : status;
}

/* ---- the operator ---- */

static hu_status conv_forward(hu_net *net, hu_operator *op) {
  return op->rounding.by_window ? hui_windows_forward(net, op) : tensor_forward(net, op);
}

static hu_status conv_weights(hu_net *net, hu_operator *op) {
  if (op->rounding.by_window) return hui_windows_weights(net, op);
  return op->rounding.hadamard ? transformed_weights(net, op) : tensor_weights(net, op);
}

static hu_status conv_image(hu_net *net, hu_operator *op) {
  return op->rounding.by_window ? hui_windows_image(net, op) : tensor_image(net, op);
}

static hu_status conv_backward(hu_net *net, hu_operator *op) {
  net->rounded.there = 0; /* dZ is another one */
  hu_status status = conv_weights(net, op);
  return status == HU_OK && hui_needs_gradient(net, op->in[0]) ? conv_image(net, op) : status;
}

static const hu_operator_kind conv = {
    .name = "conv", .forward = conv_forward, .backward = conv_backward, .product = 1, .anywhere = 1};

/* What is wrong with the sizes of a convolution of v; NULL: nothing. */
static const char *wrong_sizes(const hu_value *value, size_t outputs, size_t kernel, size_t stride, size_t pad,
                               size_t groups) {
  if (!value->height) return "conv: not an image";
  if (kernel == 0 || stride == 0 || pad >= kernel || kernel > 1024) return "conv: kernel, stride or pad";
  if (value->height + 2 * pad < kernel || value->width + 2 * pad < kernel)
    return "conv: the kernel is larger than the image";
  if (groups == 0) return "conv: groups: none";
  if (value->cols % groups != 0) return "conv: groups: no divisor of the image's channels";
  return outputs % groups != 0 ? "conv: groups: no divisor of the outputs" : NULL;
}

int hu_net_conv(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, int bias) {
  return hu_net_conv_groups(net, x, outputs, kernel, stride, pad, 1, bias);
}

int hu_net_conv_groups(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, size_t groups,
                       int bias) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  const char *wrong = wrong_sizes(&value, outputs, kernel, stride, pad, groups);
  if (wrong) return hui_refuse(net, HU_E_SHAPE, wrong);
  size_t h = (value.height + 2 * pad - kernel) / stride + 1, w = (value.width + 2 * pad - kernel) / stride + 1;
  size_t in, rows = net->batch * h * w, patches;
  if (__builtin_mul_overflow(kernel * kernel, value.cols, &in) || __builtin_mul_overflow(rows, in, &patches)) {
    return hui_refuse(net, HU_E_SHAPE, "conv: too many numbers in patches");
  }
  int z = hui_new_value(net, rows, outputs, h, w);
  hu_operator *op = hui_new_operator(net, &conv, x, -1, z, patches);
  if (!op) return -1;
  op->convolution.kernel = kernel;
  op->convolution.stride = stride;
  op->convolution.pad = pad;
  op->groups = groups;
  size_t kernel_buffer = (in + 15) * (outputs + 15); /* see hu_convolution */
  if (hui_reserve_work(net, op->kept_size > kernel_buffer ? op->kept_size : kernel_buffer) != HU_OK)
    return hui_refuse(net, HU_E_MEMORY, "conv: no memory for patches");
  return hui_add_weights(net, op, in / groups, outputs, bias);
}
