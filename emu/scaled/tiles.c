/* SPDX-License-Identifier: MIT */
/* Scales in tiles of 128 x 4: see halfulp/scaled.h. */
#include <stdint.h>
#include <string.h>

#include "emu/base/matrix_extent.h"
#include "halfulp/scaled.h"

static hu_status check(size_t rows, size_t cols, const uint8_t *plain, size_t ld, const uint8_t *tiles) {
  hu_matrix_extent a, b;
  size_t size = hu_scaled_tiles_size(rows, cols);
  if (ld < cols) return HU_E_SHAPE;
  if (rows == 0 || cols == 0) return HU_OK;
  if (!size) return HU_E_SHAPE;
  hu_status status = hui_matrix_extent_of(&a, plain, rows, cols, ld, 1, 1);
  if (status == HU_OK) status = hui_matrix_extent_of(&b, tiles, 1, size, size, 1, 1);
  if (status != HU_OK) return status;
  return hui_matrix_extents_overlap(&a, &b) ? HU_E_OVERLAP : HU_OK;
}

hu_status hu_scaled_tile(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld) {
  hu_status status = check(rows, cols, x, ld, z);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  memset(z, 0, hu_scaled_tiles_size(rows, cols));
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) z[hu_scaled_tile_place(i, j, cols)] = x[i * ld + j];
  return HU_OK;
}

hu_status hu_scaled_untile(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x) {
  hu_status status = check(rows, cols, z, ld, x);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) z[i * ld + j] = x[hu_scaled_tile_place(i, j, cols)];
  return HU_OK;
}
