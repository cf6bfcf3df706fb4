/* SPDX-License-Identifier: MIT */
/* Convolutions: products of patches and weights. X is rounded as the tensor it is, each pixel once, and dX once, after
 * what the windows give to a pixel has been added in binary32. */
#include "train/net/convolution.h"

#include <stdio.h>

/* ---- X and dX as tensors ---- */

/* Gives X, rounded, to an engine that needs no patches. Returns 0 if the engine cannot take it. */
static int takes_images(hu_net *net, hu_operator *op, const hu_accum *accum, const float *x,
                        hu_convolution *convolution) {
  *convolution = hui_convolution_of(net, op);
  convolution->x = x;
  if (!hui_has_border(&op->convolution.windows)) convolution->framed = (float *)x;
  if (hui_has_border(&op->convolution.windows) && !hui_frames_fit(net, op)) return 0;
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
    op->convolution.kept = hui_has_border(&op->convolution.windows) ? HU_KEPT_TENSOR_FRAMES : HU_KEPT_NOTHING;
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
    if (hui_has_border(&op->convolution.windows) && kept != HU_KEPT_TENSOR_FRAMES) {
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

/* ---- the transposed convolution: forward dX of the convolution from its result to what it reads, whose patches are
 * made of the gradient ---- */

static hu_matrices patches_operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part,
                                   float *buffer) {
  const hu_value *z = &net->value[op->out];
  const size_t rows = net->value[op->in[0]].rows, cols = hui_patch_size(net, op);
  /* A Hadamard transform mixes rows of the product's operand, which are windows. */
  if (op->rounding.hadamard && part == HU_PART_DW_DZ) {
    hui_make_patches(net, op, z->dv);
    return hui_product_operand(net, op, rows, cols, op->kept, rounding, &z->round_back, buffer, part);
  }
  hu_matrices dz = hui_gradients_operand(net, op, rounding, buffer, part);
  hui_make_patches(net, op, dz.data);
  return patches_of(net, op, dz);
}

static hu_status transpose_forward(hu_net *net, hu_operator *op) {
  const size_t in = hui_patch_part(net, op), rows = net->value[op->in[0]].rows;
  const size_t channels = net->value[op->in[0]].cols / op->groups;
  hu_matrices x = hui_x_operand(net, op, &op->rounding.x, HU_PART_Z_X);
  hu_matrices w = hui_weights_operand(net, op, in, &op->rounding.w, HU_PART_Z_W);
  x.inner = channels;
  w.transposed = 1;
  hui_multiply(net, op, HU_PART_Z_OUT, rows, in, channels, op->kept, x, w);
  hui_add_windows(net, op, net->value[op->out].v, op->kept);
  return hui_finish_forward(net, op);
}

static hu_status transpose_backward(hu_net *net, hu_operator *op) {
  const size_t in = hui_patch_part(net, op), rows = net->value[op->in[0]].rows;
  const size_t cols = net->value[op->in[0]].cols, channels = cols / op->groups;
  net->rounded.there = 0; /* dZ is another one */
  hu_matrices patches = patches_operand(net, op, &op->rounding.dz_w, HU_PART_DW_DZ, net->work[2]);
  hu_matrices x = hui_x_operand(net, op, &op->rounding.x_back, HU_PART_DW_X);
  float *dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
  patches.inner = in;
  patches.transposed = 1;
  x.inner = channels;
  hui_multiply(net, op, HU_PART_DW_OUT, in, channels, rows, dw, patches, x);
  hu_status status = hui_finish_weights(net, op, in, dw);
  if (status != HU_OK || !hui_needs_gradient(net, op->in[0])) return status;
  patches = patches_operand(net, op, &op->rounding.dz, HU_PART_DX_DZ, net->work[1]);
  hu_matrices w = hui_weights_operand(net, op, in, &op->rounding.w_back, HU_PART_DX_W);
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  patches.inner = in;
  hui_multiply(net, op, HU_PART_DX_OUT, rows, channels, in, dx, patches, w);
  status = hui_round_product(net, op, rows, cols, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hui_give(net, op->in[0], dx);
  return status == HU_OK ? hui_done(net) : status;
}

static const hu_operator_kind transposed = {.name = "conv_transpose",
                                            .forward = transpose_forward,
                                            .backward = transpose_backward,
                                            .product = 1,
                                            .anywhere = 1};

/* ---- building ---- */

static int refuse(hu_net *net, const hu_operator_kind *kind, const char *why) {
  char sentence[96];
  snprintf(sentence, sizeof sentence, "%s: %s", kind->name, why);
  return hui_refuse(net, HU_E_SHAPE, sentence);
}

/* What is wrong with the windows of a convolution of that image to so many outputs, or with its groups; NULL: nothing.
 */
static const char *wrong_sizes(hu_window_sizes *sizes, const hu_value *image, size_t outputs,
                               const hu_net_windows *windows, size_t groups) {
  const char *wrong = hui_windows_over(sizes, image, windows, 0);
  if (wrong) return wrong;
  if (sizes->high > 1024 || sizes->wide > 1024) return "kernel, stride, dilation or pad";
  if (groups == 0) return "groups: none";
  if (image->cols % groups != 0) return "groups: no divisor of the image's channels";
  return outputs % groups != 0 ? "groups: no divisor of the outputs" : NULL;
}

/* Adds the operator of a kind that reads x and makes z, over the windows of the one of them that is `image`. in: rows
 * of W, of one group. */
static hu_operator *add_windows(hu_net *net, const hu_operator_kind *kind, int x, int z, int image,
                                const hu_window_sizes *sizes, size_t *in) {
  const size_t windows = net->batch * sizes->down * sizes->across;
  size_t area, patches, channels = net->value[image].cols, other = net->value[image == x ? z : x].cols;
  if (__builtin_mul_overflow(sizes->high * sizes->wide, channels, &area) ||
      __builtin_mul_overflow(windows, area, &patches)) {
    refuse(net, kind, "too many numbers in patches");
    return NULL;
  }
  hu_operator *op = hui_new_operator(net, kind, x, -1, z, patches);
  if (!op) return NULL;
  op->convolution.windows = *sizes;
  op->convolution.image = image;
  op->groups = sizes->groups;
  size_t kernel_buffer = (area + 15) * (other + 15); /* see hu_convolution */
  if (hui_reserve_work(net, op->kept_size > kernel_buffer ? op->kept_size : kernel_buffer) != HU_OK) {
    hui_refuse(net, HU_E_MEMORY, "conv: no memory for patches");
    return NULL;
  }
  *in = area / sizes->groups;
  return op;
}

int hu_net_conv(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, int bias) {
  return hu_net_conv_groups(net, x, outputs, kernel, stride, pad, 1, bias);
}

int hu_net_conv_groups(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, size_t groups,
                       int bias) {
  const hu_net_windows windows = hu_net_windows_of(kernel, stride, pad);
  return hu_net_conv_windows(net, x, outputs, &windows, groups, bias);
}

int hu_net_conv_windows(hu_net *net, int x, size_t outputs, const hu_net_windows *windows, size_t groups, int bias) {
  if (!hui_usable(net, x)) return -1;
  if (!windows) return hui_refuse(net, HU_E_NULL, "conv: no windows");
  hu_value value = net->value[x];
  hu_window_sizes sizes;
  const char *wrong = wrong_sizes(&sizes, &value, outputs, windows, groups);
  if (wrong) return refuse(net, &conv, wrong);
  size_t in;
  sizes.groups = groups;
  int z = hui_new_value(net, net->batch * sizes.down * sizes.across, outputs, sizes.down, sizes.across);
  hu_operator *op = z < 0 ? NULL : add_windows(net, &conv, x, z, x, &sizes, &in);
  return op ? hui_add_weights(net, op, in, outputs, bias) : -1;
}

/* Returns the pixels of a transposed convolution in one direction; 0: there is none. */
static size_t pixels_of(const hu_net_windows *windows, size_t way, size_t n, size_t more) {
  const size_t all = (n - 1) * windows->stride[way] + (windows->kernel[way] - 1) * windows->dilation[way] + 1 + more;
  const size_t pad = windows->pad[2 * way] + windows->pad[2 * way + 1];
  return all > pad ? all - pad : 0;
}

int hu_net_conv_transpose(hu_net *net, int x, size_t outputs, const hu_net_windows *windows, const size_t more[2],
                          size_t groups, int bias) {
  if (!hui_usable(net, x)) return -1;
  if (!windows || !more) return hui_refuse(net, HU_E_NULL, "conv_transpose: no windows");
  const hu_value value = net->value[x];
  hu_window_sizes sizes;
  if (!value.height) return refuse(net, &transposed, "not an image");
  if (!hui_are_windows(windows)) return refuse(net, &transposed, "kernel, stride, dilation or pad");
  if (more[0] >= windows->stride[0] || more[1] >= windows->stride[1])
    return refuse(net, &transposed, "output_pad: not below the stride");
  hu_value image = value;
  image.height = pixels_of(windows, 0, value.height, more[0]);
  image.width = pixels_of(windows, 1, value.width, more[1]);
  if (!image.height || !image.width) return refuse(net, &transposed, "no pixel is left");
  image.cols = outputs;
  const char *wrong = wrong_sizes(&sizes, &image, value.cols, windows, groups);
  if (wrong) return refuse(net, &transposed, wrong);
  size_t in;
  sizes.groups = groups;
  int z = hui_new_value(net, net->batch * image.height * image.width, outputs, image.height, image.width);
  hu_operator *op = z < 0 ? NULL : add_windows(net, &transposed, x, z, z, &sizes, &in);
  return op ? hui_add_weights(net, op, in, value.cols, bias) : -1;
}
