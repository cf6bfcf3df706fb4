/* SPDX-License-Identifier: MIT */
/* train/engine/depthwise.h - convolutions whose groups have one channel and one output each, without patches: a lane a
 * channel, each with the operations that its group's products have. */
#ifndef HALFULP_TRAIN_ENGINE_DEPTHWISE_H
#define HALFULP_TRAIN_ENGINE_DEPTHWISE_H

#include "train/engine/kernels_layers.h"
#include "train/engine/product_tile.h"

#if defined(HU_HAVE_TILES)
#define HU_DEPTHWISE_LOOPS \
  { depthwise_result, depthwise_weights, depthwise_images }

enum { BESIDE = 4, AREA_MAX = 9 }; /* windows beside each other; pixels of kernels that are summed side by side */

/* From the first channel of lanes to that of the next ones: the last ones begin where they end with the last channel,
 * so that a few channels are computed twice, to the same numbers. */
static size_t next_lanes(size_t j, size_t channels) {
  return j + 2 * PANEL > channels && j + PANEL < channels ? channels - PANEL : j + PANEL;
}

/* Computes n windows beside each other from x on, 16 channels: fma over the kernel's pixels in order from +0. */
static inline __attribute__((always_inline)) void windows_beside(const hu_convolution *convolution, size_t n,
                                                                 const float *x, const float *w, float *z) {
  const size_t channels = convolution->channels, step = convolution->windows.stride_across * channels;
  const size_t row = hui_frame_row(convolution);
  static const float zeros[PANEL];
  sums s[BESIDE];
  for (size_t i = 0; i < n; i++) s[i] = sums_load(zeros);
  for (size_t y = 0; y < convolution->windows.high; y++, x += row) {
    for (size_t k = 0; k < convolution->windows.wide; k++, w += channels) {
      const sums by = sums_load(w);
      for (size_t i = 0; i < n; i++) s[i] = sums_of_products(sums_load(x + k * channels + i * step), by, s[i]);
    }
  }
  for (size_t i = 0; i < n; i++) sums_store(z + i * channels, s[i]);
}

/* Z of image i, which is framed. */
static void depthwise_result(const hu_convolution *convolution, size_t image) {
  const hu_window_sizes *sizes = &convolution->windows;
  const size_t channels = convolution->channels, row = hui_frame_row(convolution);
  const float *x = convolution->framed + image * hui_frame_size(convolution);
  float *z = convolution->z + image * sizes->down * sizes->across * channels;
  for (size_t y = 0; y < sizes->down; y++) {
    const float *from = x + y * sizes->stride_down * row;
    for (size_t a = 0, beside; a < sizes->across; a += beside) {
      beside = sizes->across - a < BESIDE ? 1 : BESIDE;
      const float *first = from + a * sizes->stride_across * channels;
      float *to = z + (y * sizes->across + a) * channels;
      for (size_t j = 0; j < channels; j = next_lanes(j, channels)) {
        if (beside == BESIDE) {
          windows_beside(convolution, BESIDE, first + j, convolution->w + j, to + j);
        } else {
          windows_beside(convolution, 1, first + j, convolution->w + j, to + j);
        }
      }
    }
  }
}

/* dW of `area` pixels of kernels, whose places in a framed image are those of `place`, for 16 channels: fma over all
 * windows in order from +0. */
static inline __attribute__((always_inline)) void weights_beside(const hu_convolution *convolution, size_t area,
                                                                 const size_t *place, const float *x, const float *dz,
                                                                 float *dw) {
  const hu_window_sizes *sizes = &convolution->windows;
  const size_t channels = convolution->channels, row = hui_frame_row(convolution);
  const size_t image = hui_frame_size(convolution), step = sizes->stride_across * channels;
  static const float zeros[PANEL];
  sums s[AREA_MAX];
  for (size_t k = 0; k < area; k++) s[k] = sums_load(zeros);
  for (size_t y = 0; y < convolution->images * sizes->down; y++) {
    const float *from = x + y / sizes->down * image + y % sizes->down * sizes->stride_down * row;
    for (size_t a = 0; a < sizes->across; a++, from += step, dz += channels) {
      const sums by = sums_load(dz);
      for (size_t k = 0; k < area; k++) s[k] = sums_of_products(sums_load(from + place[k]), by, s[k]);
    }
  }
  for (size_t k = 0; k < area; k++) sums_store(dw + k * channels, s[k]);
}

/* Computes dW of 16 channels from j on. */
static void depthwise_weights(const hu_convolution *convolution, size_t j) {
  const size_t channels = convolution->channels, row = hui_frame_row(convolution);
  const size_t wide = convolution->windows.wide, area = convolution->windows.high * wide;
  size_t place[AREA_MAX];
  for (size_t k = 0, beside; k < area; k += beside) {
    beside = area == AREA_MAX ? AREA_MAX : 1;
    for (size_t i = 0; i < beside; i++) place[i] = (k + i) / wide * row + (k + i) % wide * channels;
    float *dw = convolution->dw + k * channels + j;
    if (beside == AREA_MAX) {
      weights_beside(convolution, AREA_MAX, place, convolution->framed + j, convolution->dz + j, dw);
    } else {
      weights_beside(convolution, 1, place, convolution->framed + j, convolution->dz + j, dw);
    }
  }
}

/* dX of one pixel: what the windows of `down` and `across` give to it, in order from +0, each product rounded alone. */
static void pixel_of_windows(const hu_convolution *convolution, size_t image, size_t row, size_t col, hu_seen down,
                             hu_seen across, float *dx) {
  const hu_window_sizes *sizes = &convolution->windows;
  const size_t channels = convolution->channels;
  static const float zeros[PANEL];
  const sums zero = sums_load(zeros);
  for (size_t j = 0; j < channels; j = next_lanes(j, channels)) {
    sums s = zero;
    for (size_t y = down.first; y < down.end; y++) {
      for (size_t x = across.first; x < across.end; x++) {
        const float *dz = convolution->dz + ((image * sizes->down + y) * sizes->across + x) * channels + j;
        const size_t place = hui_place_of(sizes, row - y * sizes->stride_down, col - x * sizes->stride_across);
        s = sums_add(s, sums_of_products(sums_load(dz), sums_load(convolution->w + place * channels + j), zero));
      }
    }
    sums_store(dx + j, s);
  }
}

/* Computes dX of an image. */
static void depthwise_images(const hu_convolution *convolution, size_t image) {
  const hu_window_sizes *sizes = &convolution->windows;
  float *dx = convolution->dx + image * sizes->height * sizes->width * convolution->channels;
  for (size_t y = 0; y < sizes->height; y++) {
    const hu_seen down = hui_seen_down(sizes, y + sizes->top);
    for (size_t x = 0; x < sizes->width; x++, dx += convolution->channels) {
      const hu_seen across = hui_seen_across(sizes, x + sizes->left);
      pixel_of_windows(convolution, image, y + sizes->top, x + sizes->left, down, across, dx);
    }
  }
}

#else
#define HU_DEPTHWISE_LOOPS \
  { NULL, NULL, NULL }
#endif
#endif
