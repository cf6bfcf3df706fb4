/* SPDX-License-Identifier: MIT */
/* train/net/convolution.h - what convolution.c and convolution_windows.c share (patches.c): the sizes of a convolution,
 * its patches, and the calls of an engine that needs none. And the passes of the second, which the first calls. */
#ifndef HALFULP_TRAIN_NET_CONVOLUTION_H
#define HALFULP_TRAIN_NET_CONVOLUTION_H

#include "train/net/product.h"

/* What `kept` of a convolution holds (hu_conv_sizes.kept). */
enum {
  HU_KEPT_PATCHES = 0, /* as they are, or as op->rounded.by leaves them */
  HU_KEPT_FRAMES = 1,  /* images with zeros around them, not rounded */
  HU_KEPT_ROUNDED = 2, /* the same, rounded */
  HU_KEPT_NOTHING = 3, /* neither patches nor images */
  HU_KEPT_TENSOR = 4,  /* patches of X as the forward pass rounded it */
  HU_KEPT_TENSOR_FRAMES = 5
};

/* Rows of W: the numbers of a patch that one group has; and all of them. */
size_t hui_patch_part(const hu_net *net, const hu_operator *op);
size_t hui_patch_size(const hu_net *net, const hu_operator *op);
/* kept = the patches of the image x, a group's columns side by side. */
void hui_make_patches(hu_net *net, hu_operator *op, const float *x);
/* dx = of each pixel the sum of what windows give to it, from their patches' gradients. */
void hui_add_windows(hu_net *net, hu_operator *op, float *dx, const float *patches);
/* Makes the record for an engine that needs no patches; without zeros around them images stay as they are. */
hu_convolution hui_convolution_of(hu_net *net, hu_operator *op);
/* accum: of the product that this is for. 0: it needs patches. */
int hui_without_patches(hu_net *net, const hu_accum *accum, int what, const hu_convolution *convolution);
/* 1 if `kept` has space for images with the zeros around them. */
int hui_frames_fit(const hu_net *net, const hu_operator *op);

/* The passes with X rounded in patches, and dX before windows' contributions are added
 * (hu_product_rounding.by_window). */
hu_status hui_windows_forward(hu_net *net, hu_operator *op);
hu_status hui_windows_weights(hu_net *net, hu_operator *op);
hu_status hui_windows_image(hu_net *net, hu_operator *op);

#endif
