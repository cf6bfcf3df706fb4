/* SPDX-License-Identifier: MIT */
/* Sums on the host, in stated orders. */
#include <string.h>

#include "train/net/net.h"

enum { LANES = 16, CHUNK = 64 };

float hui_sum_row(size_t n, const float *x) {
  float s[LANES] = {0};
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (size_t k = 0; k < LANES; k++) s[k] += x[i + k];
  }
  for (size_t k = 0; i + k < n; k++) s[k] += x[i + k];
  for (size_t half = LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) s[k] += s[k + half];
  }
  return s[0];
}

enum { COLUMNS = 256 };

static void some_columns(size_t rows, size_t cols, size_t n, float *z, const float *x, const float *y) {
  float sum[COLUMNS] = {0};
  for (size_t i = 0; i < rows;) {
    float part[COLUMNS] = {0};
    for (size_t end = i + CHUNK < rows ? i + CHUNK : rows; i < end; i++) {
      const float *a = x + i * cols;
      if (y) {
        const float *b = y + i * cols;
        for (size_t j = 0; j < n; j++) part[j] += a[j] * b[j];
      } else {
        for (size_t j = 0; j < n; j++) part[j] += a[j];
      }
    }
    for (size_t j = 0; j < n; j++) sum[j] += part[j];
  }
  memcpy(z, sum, n * sizeof *z);
}

void hui_sum_columns(size_t rows, size_t cols, float *z, const float *x, const float *y) {
  for (size_t j = 0; j < cols; j += COLUMNS) {
    size_t n = cols - j < COLUMNS ? cols - j : COLUMNS;
    some_columns(rows, cols, n, z + j, x + j, y ? y + j : NULL);
  }
}
