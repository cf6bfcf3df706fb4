/* SPDX-License-Identifier: MIT */
/* Images with their zeros around them, from which convolutions take rows of windows as they lie. */
#include <string.h>

#include "train/engine/convolve.h"

void hui_frame_image(const hu_convolution *convolution, const float *x, float *z) {
  const hu_window_sizes *sizes = &convolution->windows;
  const size_t left = sizes->left * convolution->channels, right = sizes->right * convolution->channels;
  const size_t inside = sizes->width * convolution->channels, row = hui_frame_row(convolution);
  memset(z, 0, sizes->top * row * sizeof *z);
  for (size_t y = 0; y < sizes->height; y++) {
    float *to = z + (sizes->top + y) * row;
    memset(to, 0, left * sizeof *z);
    memcpy(to + left, x + y * inside, inside * sizeof *z);
    memset(to + left + inside, 0, right * sizeof *z);
  }
  memset(z + (sizes->top + sizes->height) * row, 0, sizes->bottom * row * sizeof *z);
}
