/* SPDX-License-Identifier: MIT */
/* Convolutions of groups of one channel and one output: with and without patches, the same bits at every level, with
 * one thread and with two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"
#include "train/engine/cpu.h"
#include "train/net/net.h"

typedef struct t_layer {
  size_t batch, high, wide, channels, kernel, stride, pad;
  int special; /* 1: infinities, NaN and results below the smallest number are among the operands */
} t_layer;

/* 16 channels, a multiple, others behind which lanes overlap; the last but one is enough work for threads. */
static const t_layer layers[] = {{2, 6, 5, 16, 3, 1, 1, 0},  {2, 7, 9, 32, 3, 2, 1, 1}, {3, 5, 6, 33, 3, 1, 2, 0},
                                 {2, 8, 8, 58, 5, 2, 2, 1},  {1, 6, 6, 17, 2, 1, 1, 0}, {2, 4, 4, 24, 1, 1, 0, 1},
                                 {2, 4, 9, 40, 4, 3, 0, 0},  {1, 3, 3, 16, 3, 1, 0, 0}, {4, 33, 31, 40, 3, 1, 1, 1},
                                 {2, 20, 50, 70, 3, 2, 1, 0}};

typedef struct t_pass {
  float *z, *dx, *dw;
  size_t of_z, of_x, of_w;
} t_pass;

static const hu_engine *processor;
static hu_engine without, counted;
static size_t taken[16];

/* The processor's, which notes what it did without patches. */
static int convolve(void *self, int what, const hu_convolution *c) {
  int done = processor->convolve(self, what, c);
  if (done) taken[what]++;
  return done;
}

static void draw(const t_layer *layer, size_t n, float *x, uint64_t seed) {
  static const float specials[] = {INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-120f, -0.0f};
  t_random random = {seed};
  for (size_t i = 0; i < n; i++) {
    x[i] = ldexpf((float)t_between(&random, -9999, 9999), t_between(&random, -20, -10));
    if (t_below(&random, 4) == 0) x[i] = 0;
    if (layer->special && t_below(&random, 97) == 0) x[i] = specials[t_below(&random, 6)];
  }
}

static float *copy_of(const float *x, size_t n) {
  float *z = malloc(n * sizeof *z);
  assert_non_null(z);
  memcpy(z, x, n * sizeof *z);
  return z;
}

static void feed(hu_net *net, const t_layer *layer, int in, int z) {
  hu_net_tensor of_x = hu_net_value(net, in), of_z = hu_net_value(net, z), weights = hu_net_parameter(net, 0);
  size_t most = of_x.rows * of_x.cols + of_z.rows * of_z.cols;
  float *x = malloc(most * sizeof *x);
  assert_non_null(x);
  draw(layer, weights.rows * weights.cols, weights.numbers, 3);
  draw(layer, of_x.rows * of_x.cols, x, 5);
  assert_int_equal(hu_net_feed(net, in, x), HU_OK);
  draw(layer, of_z.rows * of_z.cols, x, 7);
  assert_int_equal(hu_net_targets(net, x), HU_OK);
  free(x);
}

/* X is a sum with an image of zeros, so that its gradient is wanted. */
static t_pass run(const hu_engine *engine, const t_layer *layer, uint32_t threads) {
  hu_net *net = hu_net_new_on(engine, layer->batch, threads);
  int in = hu_net_image(net, layer->high, layer->wide, layer->channels);
  int h = hu_net_add(net, in, hu_net_image(net, layer->high, layer->wide, layer->channels));
  int z = hu_net_conv_groups(net, h, layer->channels, layer->kernel, layer->stride, layer->pad, layer->channels, 0);
  assert_true(hu_net_squared_error(net, z, 1) >= 0);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  feed(net, layer, in, z);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  hu_net_tensor of_h = hu_net_value(net, h), of_z = hu_net_value(net, z), weights = hu_net_parameter(net, 0);
  t_pass pass = {NULL, NULL, NULL, of_z.rows * of_z.cols, of_h.rows * of_h.cols, weights.rows * weights.cols};
  pass.z = copy_of(of_z.numbers, pass.of_z);
  pass.dx = copy_of(of_h.gradients, pass.of_x);
  pass.dw = copy_of(weights.gradients, pass.of_w);
  hu_net_free(net);
  return pass;
}

static void drop(t_pass *pass) {
  free(pass->z);
  free(pass->dx);
  free(pass->dw);
}

static void assert_same(const t_pass *got, const t_pass *expected) {
  assert_true(got->of_z == expected->of_z && got->of_x == expected->of_x && got->of_w == expected->of_w);
  assert_memory_equal(got->z, expected->z, expected->of_z * sizeof *expected->z);
  assert_memory_equal(got->dx, expected->dx, expected->of_x * sizeof *expected->dx);
  assert_memory_equal(got->dw, expected->dw, expected->of_w * sizeof *expected->dw);
}

/* What the level that is used now can do without patches, it did, each pass once. */
static void assert_taken(const size_t *before) {
  hu_cpu cpu = hui_cpu_alone();
  static const int what[] = {HU_CONVOLVE_RESULT, HU_CONVOLVE_WEIGHTS, HU_CONVOLVE_IMAGES};
  for (size_t i = 0; i < 3; i++) assert_int_equal(taken[what[i]] - before[what[i]], cpu.loops->product != NULL);
}

static void with_and_without_patches(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    t_pass expected = run(&without, &layers[i], 1);
    for (size_t k = 0; k < t_levels(); k++) {
      for (uint32_t threads = 1; threads <= 2; threads++) {
        size_t before[16];
        memcpy(before, taken, sizeof before);
        hu_cpu_levels_off = t_levels_off(k);
        t_pass got = run(&counted, &layers[i], threads);
        assert_taken(before);
        hu_cpu_levels_off = 0;
        assert_same(&got, &expected);
        drop(&got);
      }
    }
    drop(&expected);
  }
}

/* Fewer channels than lanes, two outputs a channel, two channels a group: patches are needed. */
static void others_have_patches(void **state) {
  (void)state;
  static const size_t sizes[][3] = {{15, 15, 15}, {16, 32, 16}, {32, 16, 16}};
  hu_cpu cpu = hui_cpu_alone();
  hu_convolution c;
  memset(&c, 0, sizeof c);
  c.windows = (hu_window_sizes){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  c.images = 1;
  for (size_t i = 0; i < 3; i++) {
    c.channels = sizes[i][0];
    c.outputs = sizes[i][1];
    c.windows.groups = sizes[i][2];
    assert_int_equal(processor->convolve(&cpu, HU_CONVOLVE_POSSIBLE, &c), 0);
  }
  c.channels = c.outputs = c.windows.groups = 16;
  assert_int_equal(processor->convolve(&cpu, HU_CONVOLVE_POSSIBLE, &c), cpu.loops->product != NULL);
  static const int never[] = {HU_CONVOLVE_ROUND, HU_CONVOLVE_BLOCKS, HU_CONVOLVE_GIFTS, HU_CONVOLVE_SCATTER};
  for (size_t i = 0; i < 4; i++) assert_int_equal(processor->convolve(&cpu, never[i], &c), 0);
}

int main(void) {
  processor = hui_engine_cpu();
  without = counted = *processor;
  without.convolve = NULL;
  counted.convolve = convolve;
  const struct CMUnitTest tests[] = {cmocka_unit_test(with_and_without_patches), cmocka_unit_test(others_have_patches)};
  return cmocka_run_group_tests_name("depthwise", tests, NULL, NULL);
}
