/* SPDX-License-Identifier: MIT */
/* tests/train/recipes/layer.h - a linear layer whose steps a test computes once more: h = x + theta, so that there is a
 * dX, y = h W, squares; and what such tests compute with. Include cmocka.h before it. */
#ifndef HALFULP_TESTS_TRAIN_LAYER_H
#define HALFULP_TESTS_TRAIN_LAYER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/data.h"
#include "halfulp/train/net.h"
#include "tests/support/support.h"

enum { SEED = 5 };

/* Operands by their numbers in docs/training/training.md, section 4. */
enum { Z_X = 0, Z_W = 1, DW_X = 2, DW_DZ = 3, DX_DZ = 4, DX_W = 5 };

typedef struct t_layer {
  hu_net *net;
  size_t batch, in, out;
  int x, h, y;
} t_layer;

/* delayed: NULL, or how scales of its operands are delayed. */
static inline t_layer layer_of(size_t batch, size_t in, size_t out, const hu_product_rounding *rounding,
                               const hu_delayed *delayed) {
  t_layer c = {hu_net_new(batch, 1), batch, in, out, 0, 0, 0};
  c.x = hu_net_input(c.net, 1, in);
  c.h = hu_net_position(c.net, c.x);
  c.y = hu_net_linear(c.net, c.h, out, 0);
  (void)hu_net_squared_error(c.net, c.y, 1);
  assert_int_equal(hu_net_round_product(c.net, c.y, rounding), HU_OK);
  if (delayed) assert_int_equal(hu_net_delay_product(c.net, c.y, delayed), HU_OK);
  assert_int_equal(hu_net_initialize(c.net, SEED), HU_OK);
  return c;
}

static inline void net_forward(hu_net *net, int input, const float *x, const float *targets, int training) {
  assert_int_equal(hu_net_feed(net, input, x), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, training, NULL), HU_OK);
}

static inline void net_pass(hu_net *net, int input, const float *x, const float *targets) {
  net_forward(net, input, x, targets, 1);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
}

/* One step of SGD without a loss scale. */
static inline void net_step(hu_net *net, double rate, double momentum) {
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  optimizer.rate = rate;
  optimizer.momentum = momentum;
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
}

static inline void same(const char *what, uint64_t step, size_t n, const float *z, const float *expected) {
  for (size_t i = 0; i < n; i++) {
    if (t_bits32(z[i]) != t_bits32(expected[i]))
      fail_msg("%s, step %d, number %zu: %a, not %a", what, (int)step, i, (double)z[i], (double)expected[i]);
  }
}

/* What the layer's last pass has come to; dw NULL: not compared. */
static inline void same_pass(const t_layer *c, uint64_t step, const float *z, const float *dx, const float *dw) {
  same("Z", step, c->batch * c->out, hu_net_value(c->net, c->y).numbers, z);
  same("dX", step, c->batch * c->in, hu_net_value(c->net, c->h).gradients, dx);
  if (dw) same("dW", step, c->in * c->out, hu_net_parameter(c->net, 1).gradients, dw);
}

/* z (m x n): the chain of fused multiply-adds over k; sides transposed by their strides. */
static inline void product(size_t m, size_t n, size_t k, float *z, const float *a, size_t ai, size_t ak, const float *b,
                           size_t bk, size_t bj) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      float sum = 0;
      for (size_t l = 0; l < k; l++) sum = fmaf(a[i * ai + l * ak], b[l * bk + j * bj], sum);
      z[i * n + j] = sum;
    }
  }
}

/* Z, dX and dW of the layer by rounded operands: those of Z, of dX and of dW. */
static inline void products(const t_layer *c, float *z, float *dx, float *dw, const float *const operands[6]) {
  product(c->batch, c->out, c->in, z, operands[Z_X], c->in, 1, operands[Z_W], c->out, 1);
  product(c->batch, c->in, c->out, dx, operands[DX_DZ], c->out, 1, operands[DX_W], 1, c->out);
  if (dw) product(c->in, c->out, c->batch, dw, operands[DW_X], 1, c->in, operands[DW_DZ], c->out, 1);
}

/* The words of operand `part` of operator `number` in a step. */
static inline hu_stream words_of(uint64_t number, uint64_t part, uint64_t step) {
  hu_stream stream = hu_stream_child(hu_stream_of_use(SEED, HU_USE_ROUNDING), 5ull << 32 | (16 * number + part));
  stream.counter += step << 36;
  return stream;
}

/* x on the grid of E2M1, 0, 0.5, 1, 1.5, 2, 3, 4, 6, by 16 random bits, or (word NULL) to nearest, ties to even. */
static inline double on_grid(double x, const uint32_t *word) {
  static const double grid[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  double y = fmin(fabs(x), 6);
  int low = 0;
  while (low < 6 && grid[low + 1] <= y) low++;
  double f = (y - grid[low]) / (grid[low + 1] - grid[low]);
  int up = word ? floor(f * 65536) + (double)(*word >> 16) >= 65536 : f > 0.5 || (f == 0.5 && low % 2);
  return copysign(grid[low + up], x);
}

/* The first number of block number b of blocks of 32 along rows, or down columns, the distance from one number to the
 * next, and how many there are. 0: there are fewer blocks. */
static inline int block_of_32(size_t rows, size_t cols, int down, size_t b, size_t *at, size_t *step, size_t *n) {
  size_t lines = down ? cols : rows, length = down ? rows : cols, blocks = (length + 31) / 32;
  size_t line = b / blocks, first = b % blocks * 32;
  *step = down ? cols : 1;
  *at = (down ? line : line * cols) + first * *step;
  *n = length - first < 32 ? length - first : 32;
  return line < lines;
}

#endif
