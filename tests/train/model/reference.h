/* SPDX-License-Identifier: MIT */
/* tests/train/model/reference.h - layers of models in binary64, by a net's own parameters. Include cmocka.h before
 * it. */
#ifndef HALFULP_TESTS_TRAIN_REFERENCE_H
#define HALFULP_TESTS_TRAIN_REFERENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "halfulp/train/net.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"

static inline const float *theta(const hu_net *net, const char *name) {
  int p = hu_net_parameter_named(net, name);
  if (p < 0) fail_msg("no parameter %s", name);
  return hu_net_parameter(net, p).numbers;
}

/* Every parameter gets numbers of its own that matter: no bias is left at 0, no gain at 1. */
static inline void fill(hu_net *net, uint64_t seed) {
  t_random random = {seed};
  for (int p = 0; p < hu_net_parameters(net); p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    for (size_t i = 0; i < tensor.rows * tensor.cols; i++) {
      tensor.numbers[i] = ((float)t_below(&random, 2001) - 1000) / (1000 * sqrtf((float)tensor.rows + 1));
    }
  }
}

/* z = x w + b; b NULL: none */
static inline void dense(size_t rows, size_t in, size_t out, const double *x, const float *w, const float *b,
                         double *z) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < out; j++) {
      double sum = b ? (double)b[j] : 0;
      for (size_t k = 0; k < in; k++) sum += x[r * in + k] * (double)w[k * out + j];
      z[r * out + j] = sum;
    }
  }
}

static inline void rectify(size_t n, double *x) {
  for (size_t i = 0; i < n; i++) x[i] = fmax(x[i], 0);
}

static inline void close_to(const char *what, const hu_net *net, int value, const double *expected) {
  hu_net_tensor tensor = hu_net_value(net, value);
  for (size_t i = 0; i < tensor.rows * tensor.cols; i++) {
    if (!(fabs((double)tensor.numbers[i] - expected[i]) < 2e-5 * (1 + fabs(expected[i])))) {
      fail_msg("%s: number %zu: %g, not %g", what, i, (double)tensor.numbers[i], expected[i]);
    }
  }
}

enum { T = 5, D = 4, HEADS = 2, FORWARD = 7, V = 6 };

static inline void norm(const double *x, const float *g, const float *b, double *z) {
  for (size_t r = 0; r < T; r++) {
    double mean = 0, variance = 0;
    for (size_t j = 0; j < D; j++) mean += x[r * D + j] / D;
    for (size_t j = 0; j < D; j++) variance += pow(x[r * D + j] - mean, 2) / D;
    for (size_t j = 0; j < D; j++) {
      z[r * D + j] = (double)g[j] * (x[r * D + j] - mean) / sqrt(variance + 1e-5) + (double)b[j];
    }
  }
}

static inline void add(size_t n, double *x, const double *y) {
  for (size_t i = 0; i < n; i++) x[i] += y[i];
}

#endif
