/* SPDX-License-Identifier: MIT */
/* halfulp/train/windows.h - layers that look at windows of images: convolutions and pools. Results are those of
 * layers.h. */
#ifndef HALFULP_TRAIN_WINDOWS_H
#define HALFULP_TRAIN_WINDOWS_H

#include "halfulp/train/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hu_net_linear over patches of kernel x kernel pixels, `pad` pixels of zeros around the image: W is (kernel kernel
 * channels) x outputs, patches row by row, pixel by pixel, channel by channel. */
HU_API int hu_net_conv(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, int bias);
/* The same with the channels of the image and the outputs in so many groups, each of neighbours: the outputs of a group
 * see the channels of their own group alone, in a product of its own. W is (kernel kernel channels / groups) x outputs.
 * With one group it is hu_net_conv, with as many as channels a depthwise convolution. HU_E_SHAPE: `groups` is 0, or
 * does not divide both the channels and the outputs. Krizhevsky et al., ImageNet classification (2012); Sandler et al.,
 * MobileNetV2 (2018). */
HU_API int hu_net_conv_groups(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad,
                              size_t groups, int bias);
/* Windows of pixels over an image, whole ones, of which each number is given down and across. The first one begins with
 * the first pixel of zeros. Of an image of n pixels in one direction, with the zeros on both of its sides, there are
 * (n + pad + pad - reach) / stride + 1 windows, rounded down, where one reaches over dilation (kernel - 1) + 1 pixels.
 * HU_E_SHAPE: a kernel, stride or dilation of 0, a kernel above 1024 pixels, a pad that is not below the reach, or
 * windows that are larger than the image with its zeros. */
typedef struct hu_net_windows {
  size_t kernel[2];   /* pixels of a window: down, across */
  size_t stride[2];   /* from a window to the next one */
  size_t dilation[2]; /* from a pixel of a window to the next one */
  size_t pad[4];      /* zeros at the top, at the bottom, on the left and on the right */
} hu_net_windows;
/* Returns square windows with the same zeros on all sides, without dilation. */
HU_API hu_net_windows hu_net_windows_of(size_t kernel, size_t stride, size_t pad);
/* Adds the convolution hu_net_conv_groups with any windows: W is (kernel[0] kernel[1] channels / groups) x outputs. One
 * side may have more zeros than the other, as under TensorFlow's "SAME". Errors too: those of the windows. */
HU_API int hu_net_conv_windows(hu_net *net, int x, size_t outputs, const hu_net_windows *windows, size_t groups,
                               int bias);
/* Adds the transposed convolution: with the weights W of a convolution whose images have `outputs` channels and whose
 * results have the shape of x, Z is what that convolution gives as the gradient of its images where x is the gradient
 * of its results; then + b. W is (kernel[0] kernel[1] outputs / groups) x channels of x. Z has stride (n - 1) + reach -
 * pad - pad + more pixels in a direction, n those of x. `more`, down and across, is below the stride: pixels at the
 * bottom and on the right that the convolution's windows leave over. Dumoulin and Visin, A guide to convolution
 * arithmetic (2016), section 4. HU_E_SHAPE: `more` is not below the stride, no pixel is left, or those of
 * hu_net_conv_windows. */
HU_API int hu_net_conv_transpose(hu_net *net, int x, size_t outputs, const hu_net_windows *windows,
                                 const size_t more[2], size_t groups, int bias);

/* ---- pools ---- */

/* Windows of kernel x kernel pixels, whole ones only; the first largest one counts. */
HU_API int hu_net_max_pool(hu_net *net, int x, size_t kernel, size_t stride);     /* the largest of a window */
HU_API int hu_net_average_pool(hu_net *net, int x, size_t kernel, size_t stride); /* the mean of a window */
HU_API int hu_net_global_average(hu_net *net, int x);                             /* the mean of an image */
/* Do the same over any windows without dilation. The zeros around an image never are a maximum; in a mean they count as
 * pixels (`zeros`), or its pixels alone do. ceil: 1: the number of windows is rounded up, unless the last one would
 * begin behind the image, and what reaches beyond the image and its zeros does not count. Errors too: those of the
 * windows; HU_E_SHAPE: dilation, a kernel above 4096, `ceil` or `zeros` above 1. */
HU_API int hu_net_max_pool_windows(hu_net *net, int x, const hu_net_windows *windows, int ceil);
HU_API int hu_net_average_pool_windows(hu_net *net, int x, const hu_net_windows *windows, int ceil,
                                       int zeros); /* the mean of a window's numbers */

#ifdef __cplusplus
}
#endif
#endif
