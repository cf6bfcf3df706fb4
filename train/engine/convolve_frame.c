/* SPDX-License-Identifier: MIT */
/* Images with their zeros around them, from which convolutions take rows of windows as they lie. */
#include <string.h>

#include "train/engine/convolve.h"

void hui_frame_image(const hu_convolution *convolution, const float *x, float *z) {
  size_t pad = convolution->windows.pad, height = convolution->windows.height;
  size_t side = pad * convolution->channels, inside = convolution->windows.width * convolution->channels,
         row = inside + 2 * side;
  memset(z, 0, pad * row * sizeof *z);
  for (size_t y = 0; y < height; y++) {
    float *to = z + (pad + y) * row;
    memset(to, 0, side * sizeof *z);
    memcpy(to + side, x + y * inside, inside * sizeof *z);
    memset(to + side + inside, 0, side * sizeof *z);
  }
  memset(z + (pad + height) * row, 0, pad * row * sizeof *z);
}
