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

/* n windows beside each other from x on, 16 channels: fma over the kernel's pixels in order from +0. */
static inline __attribute__((always_inline)) void windows_beside(const hu_convolution *c, size_t n, const float *x,
                                                                 const float *w, float *z) {
  const size_t channels = c->channels, step = c->n[HU_STRIDE] * channels;
  const size_t row = (c->n[HU_WIDTH] + 2 * c->n[HU_PAD]) * channels;
  static const float zeros[PANEL];
  sums s[BESIDE];
  for (size_t i = 0; i < n; i++) s[i] = sums_load(zeros);
  for (size_t y = 0; y < c->n[HU_HIGH]; y++, x += row) {
    for (size_t k = 0; k < c->n[HU_WIDE]; k++, w += channels) {
      const sums by = sums_load(w);
      for (size_t i = 0; i < n; i++) s[i] = sums_of_products(sums_load(x + k * channels + i * step), by, s[i]);
    }
  }
  for (size_t i = 0; i < n; i++) sums_store(z + i * channels, s[i]);
}

/* Z of image i, which is framed. */
static void depthwise_result(const hu_convolution *c, size_t image) {
  const size_t *n = c->n, channels = c->channels, row = (n[HU_WIDTH] + 2 * n[HU_PAD]) * channels;
  const float *x = c->framed + image * (n[HU_HEIGHT] + 2 * n[HU_PAD]) * row;
  float *z = c->z + image * n[HU_DOWN] * n[HU_ACROSS] * channels;
  for (size_t y = 0; y < n[HU_DOWN]; y++) {
    const float *from = x + y * n[HU_STRIDE] * row;
    for (size_t a = 0, beside; a < n[HU_ACROSS]; a += beside) {
      beside = n[HU_ACROSS] - a < BESIDE ? 1 : BESIDE;
      const float *first = from + a * n[HU_STRIDE] * channels;
      float *to = z + (y * n[HU_ACROSS] + a) * channels;
      for (size_t j = 0; j < channels; j = next_lanes(j, channels)) {
        if (beside == BESIDE) {
          windows_beside(c, BESIDE, first + j, c->w + j, to + j);
        } else {
          windows_beside(c, 1, first + j, c->w + j, to + j);
        }
      }
    }
  }
}

/* dW of `area` pixels of kernels, whose places in a framed image are those of `place`, for 16 channels: fma over all
 * windows in order from +0. */
static inline __attribute__((always_inline)) void weights_beside(const hu_convolution *c, size_t area,
                                                                 const size_t *place, const float *x, const float *dz,
                                                                 float *dw) {
  const size_t *n = c->n, channels = c->channels, row = (n[HU_WIDTH] + 2 * n[HU_PAD]) * channels;
  const size_t image = (n[HU_HEIGHT] + 2 * n[HU_PAD]) * row, step = n[HU_STRIDE] * channels;
  static const float zeros[PANEL];
  sums s[AREA_MAX];
  for (size_t k = 0; k < area; k++) s[k] = sums_load(zeros);
  for (size_t y = 0; y < c->images * n[HU_DOWN]; y++) {
    const float *from = x + y / n[HU_DOWN] * image + y % n[HU_DOWN] * n[HU_STRIDE] * row;
    for (size_t a = 0; a < n[HU_ACROSS]; a++, from += step, dz += channels) {
      const sums by = sums_load(dz);
      for (size_t k = 0; k < area; k++) s[k] = sums_of_products(sums_load(from + place[k]), by, s[k]);
    }
  }
  for (size_t k = 0; k < area; k++) sums_store(dw + k * channels, s[k]);
}

/* dW of 16 channels from j on. */
static void depthwise_weights(const hu_convolution *c, size_t j) {
  const size_t channels = c->channels, row = (c->n[HU_WIDTH] + 2 * c->n[HU_PAD]) * channels;
  const size_t wide = c->n[HU_WIDE], area = c->n[HU_HIGH] * wide;
  size_t place[AREA_MAX];
  for (size_t k = 0, beside; k < area; k += beside) {
    beside = area == AREA_MAX ? AREA_MAX : 1;
    for (size_t i = 0; i < beside; i++) place[i] = (k + i) / wide * row + (k + i) % wide * channels;
    float *dw = c->dw + k * channels + j;
    if (beside == AREA_MAX) {
      weights_beside(c, AREA_MAX, place, c->framed + j, c->dz + j, dw);
    } else {
      weights_beside(c, 1, place, c->framed + j, c->dz + j, dw);
    }
  }
}

/* dX of one pixel: what the windows of `down` and `across` give to it, in order from +0, each product rounded alone. */
static void pixel_of_windows(const hu_convolution *c, size_t image, size_t row, size_t col, hu_seen down,
                             hu_seen across, float *dx) {
  const size_t *n = c->n, channels = c->channels;
  static const float zeros[PANEL];
  const sums zero = sums_load(zeros);
  for (size_t j = 0; j < channels; j = next_lanes(j, channels)) {
    sums s = zero;
    for (size_t y = down.first; y < down.end; y++) {
      for (size_t x = across.first; x < across.end; x++) {
        const float *dz = c->dz + ((image * n[HU_DOWN] + y) * n[HU_ACROSS] + x) * channels + j;
        const size_t place = (row - y * n[HU_STRIDE]) * n[HU_WIDE] + col - x * n[HU_STRIDE];
        s = sums_add(s, sums_of_products(sums_load(dz), sums_load(c->w + place * channels + j), zero));
      }
    }
    sums_store(dx + j, s);
  }
}

/* dX of image i. */
static void depthwise_images(const hu_convolution *c, size_t image) {
  const size_t *n = c->n, pad = n[HU_PAD];
  float *dx = c->dx + image * n[HU_HEIGHT] * n[HU_WIDTH] * c->channels;
  for (size_t y = 0; y < n[HU_HEIGHT]; y++) {
    const hu_seen down = hu_seen_of(y, pad, n[HU_HIGH], n[HU_STRIDE], n[HU_DOWN]);
    for (size_t x = 0; x < n[HU_WIDTH]; x++, dx += c->channels) {
      const hu_seen across = hu_seen_of(x, pad, n[HU_WIDE], n[HU_STRIDE], n[HU_ACROSS]);
      pixel_of_windows(c, image, y + pad, x + pad, down, across, dx);
    }
  }
}

#else
#define HU_DEPTHWISE_LOOPS \
  { NULL, NULL, NULL }
#endif
#endif
