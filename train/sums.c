/* SPDX-License-Identifier: MIT */
/* Reductions in stated orders, elementary functions. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/function_n.h"
#include "train/graph.h"

enum { LANES = 16, CHUNK = 64 };

float hu_sum_row(size_t n, const float *x) {
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

void hu_sum_columns(size_t rows, size_t cols, float *z, const float *x, const float *y) {
  for (size_t j = 0; j < cols; j += COLUMNS) {
    size_t n = cols - j < COLUMNS ? cols - j : COLUMNS;
    some_columns(rows, cols, n, z + j, x + j, y ? y + j : NULL);
  }
}

typedef hu_status function_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                             hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events);

/* binary32 arrays are arrays of binary32 codes. Formats and mode are right: nothing can fail. */
static void each(function_n *f, size_t n, float *z, const float *x) {
  const hu_mode rne = {0};
  hu_status s = f(n, z, 1, hu_binary32(), x, 1, hu_binary32(), rne, NULL, NULL);
  (void)s;
}

void hu_exp_each(size_t n, float *z, const float *x) { each(hu_exp_n, n, z, x); }
void hu_log_each(size_t n, float *z, const float *x) { each(hu_log_n, n, z, x); }
void hu_tanh_each(size_t n, float *z, const float *x) { each(hu_tanh_n, n, z, x); }
void hu_sigmoid_each(size_t n, float *z, const float *x) { each(hu_sigmoid_n, n, z, x); }
void hu_erf_each(size_t n, float *z, const float *x) { each(hu_erf_n, n, z, x); }
void hu_gelu_each(size_t n, float *z, const float *x) { each(hu_gelu_n, n, z, x); }
