/* SPDX-License-Identifier: MIT */
/* Convolutions of the papers: X is rounded as a tensor before them, dX as a tensor after its accumulation in binary32
 * (Cambier et al. 2020, section 4.1: truncation before and after every convolution). So a convolution with roundings
 * is one without, of tensors that hu_rounding_apply has rounded. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum {
  BATCH = 3,
  HIGH = 7,
  WIDE = 6,
  CHANNELS = 5,
  OUTPUTS = 4,
  PIXELS = BATCH * HIGH * WIDE,
  MOST = PIXELS * OUTPUTS * 4
};
enum { KERNEL = 3, WEIGHTS = KERNEL * KERNEL * CHANNELS * OUTPUTS };

typedef struct t_layer {
  size_t stride, pad;
  uint32_t threads;
  const char *accum;
  int flat; /* 1: the loss has the same gradient everywhere */
} t_layer;

/* What a pass leaves: X as it was fed, Z, dX, dW. */
typedef struct t_pass {
  float x[PIXELS * CHANNELS], z[MOST], dx[PIXELS * CHANNELS], dw[WEIGHTS];
  size_t results;
  hu_rounding_counts counts[2];
} t_pass;

static hu_rounding rounding_of(const char *text) {
  hu_rounding rounding;
  assert_int_equal(hu_rounding_parse(&rounding, text, NULL), HU_OK);
  return rounding;
}

/* X, not below 0, goes through a ReLU, so that its gradient is wanted; the gradient of Z is Z less the targets, about
 * 2^-17. */
static void run(const t_layer *c, const hu_product_rounding *rounding, const float *x, t_pass *pass) {
  t_random random = {23};
  hu_net *net = hu_net_new(BATCH, c->threads);
  int in = hu_net_image(net, HIGH, WIDE, CHANNELS), h = hu_net_relu(net, in);
  int z = hu_net_conv(net, h, OUTPUTS, KERNEL, c->stride, c->pad, 0);
  int loss = c->flat ? hu_net_absolute_error(net, z, 1) : hu_net_squared_error(net, z, 0x1p-12);
  assert_true(loss >= 0);
  hu_product_rounding own = *rounding;
  assert_int_equal(hu_accum_parse(&own.z_accum, c->accum, NULL), HU_OK);
  own.dx_accum = own.dw_accum = own.z_accum;
  assert_int_equal(hu_net_round_product(net, z, &own), HU_OK);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  static float targets[MOST];
  for (size_t i = 0; i < MOST; i++) targets[i] = c->flat ? 0x1p40f : (float)t_between(&random, -100, 100) / 32;
  assert_int_equal(hu_net_feed(net, in, x), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  hu_net_tensor of_h = hu_net_value(net, h), of_z = hu_net_value(net, z), weights = hu_net_parameter(net, 0);
  assert_int_equal(weights.rows * weights.cols, WEIGHTS);
  pass->results = of_z.rows * of_z.cols;
  memcpy(pass->x, of_h.numbers, sizeof pass->x);
  memcpy(pass->dx, of_h.gradients, sizeof pass->dx);
  memcpy(pass->z, of_z.numbers, pass->results * sizeof *pass->z);
  memcpy(pass->dw, weights.gradients, sizeof pass->dw);
  assert_int_equal(hu_net_product_counts(net, z, pass->counts), 1);
  hu_net_free(net);
}

/* Numbers of many sizes, a third of them 0. */
static void draw(float *x) {
  t_random random = {31};
  for (size_t i = 0; i < PIXELS * CHANNELS; i++) {
    x[i] = ldexpf((float)t_between(&random, 1, 999), t_between(&random, -18, -4));
    if (t_below(&random, 3) == 0) x[i] = 0;
  }
}

static const t_layer layers[] = {{1, 1, 1, "fp32", 0}, {1, 0, 2, "fp32", 0},           {2, 1, 1, "fp32", 0},
                                 {3, 2, 2, "fp32", 0}, {1, 1, 1, "seq2(binary32)", 0}, {2, 0, 1, "seq2(binary32)", 0}};
static const char *const roundings[] = {"float8_e5m2", "s2fp8",        "fp8_tensor",  "mxfp8_e4m3",
                                        "posit8",      "mxfp4,turned", "bfloat16,rtz"};

#define EACH_LAYER(c) (const t_layer *c = layers; c < layers + sizeof layers / sizeof *layers; c++)
#define EACH_ROUNDING(t) (size_t t = 0; t < sizeof roundings / sizeof *roundings; t++)

static void x_is_a_tensor(void **state) {
  (void)state;
  static t_pass got, expected;
  static float x[PIXELS * CHANNELS], rounded[PIXELS * CHANNELS];
  draw(x);
  for
    EACH_LAYER(c) {
    for
      EACH_ROUNDING(t) {
        hu_product_rounding rounding = hu_product_rounding_plain(), plain = rounding;
        hu_rounding_counts counts = {0};
        rounding.x = rounding.x_back = rounding_of(roundings[t]);
        assert_int_equal(hu_rounding_apply(PIXELS, CHANNELS, rounded, x, &rounding.x, NULL, &counts), HU_OK);
        run(c, &rounding, x, &got);
        run(c, &plain, rounded, &expected);
        assert_memory_equal(got.z, expected.z, expected.results * sizeof *expected.z);
        assert_memory_equal(got.dw, expected.dw, sizeof expected.dw);
        assert_int_equal(got.counts[0].elements, PIXELS * CHANNELS);
        assert_memory_equal(&got.counts[0].events, &counts.events, sizeof counts.events);
        assert_memory_equal(&got.counts[1].events, &counts.events, sizeof counts.events);
      }
    }
}

/* dW has an X of its own. The gradient of this loss does not depend on Z. */
static void x_of_gradients_is_a_tensor(void **state) {
  (void)state;
  static t_pass got, expected;
  static float x[PIXELS * CHANNELS], rounded[PIXELS * CHANNELS];
  draw(x);
  for
    EACH_LAYER(c) {
    for
      EACH_ROUNDING(t) {
        t_layer flat = *c;
        hu_product_rounding rounding = hu_product_rounding_plain(), plain = rounding;
        flat.flat = 1;
        rounding.x = rounding_of("float8_e4m3fn");
        rounding.x_back = rounding_of(roundings[t]);
        assert_int_equal(hu_rounding_apply(PIXELS, CHANNELS, rounded, x, &rounding.x_back, NULL, NULL), HU_OK);
        run(&flat, &rounding, x, &got);
        run(&flat, &plain, rounded, &expected);
        assert_memory_equal(got.dw, expected.dw, sizeof expected.dw);
      }
    }
}

static void dx_is_rounded_once(void **state) {
  (void)state;
  static t_pass got, expected;
  static float x[PIXELS * CHANNELS], rounded[PIXELS * CHANNELS];
  draw(x);
  for
    EACH_LAYER(c) {
    for
      EACH_ROUNDING(t) {
        hu_product_rounding rounding = hu_product_rounding_plain(), plain = rounding;
        hu_rounding_counts counts = {0};
        rounding.dx_out = rounding_of(roundings[t]);
        run(c, &plain, x, &expected);
        run(c, &rounding, x, &got);
        assert_int_equal(hu_rounding_apply(PIXELS, CHANNELS, rounded, expected.dx, &rounding.dx_out, NULL, &counts),
                         HU_OK);
        assert_memory_equal(got.dx, rounded, sizeof rounded);
        assert_memory_equal(got.dw, expected.dw, sizeof expected.dw);
        assert_memory_equal(&got.counts[1].events, &counts.events, sizeof counts.events);
      }
    }
}

static double error_of(const float *got, const float *expected) {
  double miss = 0, all = 0;
  for (size_t i = 0; i < PIXELS * CHANNELS; i++) {
    miss += ((double)got[i] - expected[i]) * ((double)got[i] - expected[i]);
    all += (double)expected[i] * expected[i];
  }
  return sqrt(miss / all);
}

static size_t magnitudes_of(const float *x) {
  size_t n = 0;
  for (size_t i = 0; i < PIXELS * CHANNELS; i++) {
    size_t j = 0;
    while (j < i && fabsf(x[j]) != fabsf(x[i])) j++;
    n += j == i;
  }
  return n;
}

/* What the place of the rounding costs: gradients near the lower end of E5M2, whose windows' contributions vanish, sum
 * up to numbers that do not; and a shifted and squeezed dX has the numbers that 8 bits hold. */
static void windows_lose(void **state) {
  (void)state;
  static t_pass plain, tensor, window;
  static float x[PIXELS * CHANNELS];
  const t_layer c = {1, 1, 1, "fp32", 0};
  hu_product_rounding rounding = hu_product_rounding_plain();
  draw(x);
  run(&c, &rounding, x, &plain);
  rounding.dx_out = rounding_of("float8_e5m2");
  run(&c, &rounding, x, &tensor);
  rounding.by_window = 1;
  run(&c, &rounding, x, &window);
  double once = error_of(tensor.dx, plain.dx), often = error_of(window.dx, plain.dx);
  print_message("dX in E5M2: relative error %.3f as a tensor, %.3f by windows\n", once, often);
  assert_true(often > 1.5 * once);
  rounding.dx_out = rounding_of("s2fp8");
  run(&c, &rounding, x, &window);
  rounding.by_window = 0;
  run(&c, &rounding, x, &tensor);
  assert_true(magnitudes_of(tensor.dx) <= 124 && magnitudes_of(window.dx) > 124);
}

static void wrong_values(void **state) {
  (void)state;
  hu_net *net = hu_net_new(BATCH, 1);
  int z = hu_net_conv(net, hu_net_image(net, HIGH, WIDE, 1), 1, 2, 1, 0, 0);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.by_window = 2;
  assert_int_equal(hu_net_round_product(net, z, &rounding), HU_E_TRAIN);
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(x_is_a_tensor), cmocka_unit_test(x_of_gradients_is_a_tensor),
                                     cmocka_unit_test(dx_is_rounded_once), cmocka_unit_test(windows_lose),
                                     cmocka_unit_test(wrong_values)};
  return cmocka_run_group_tests_name("convolution", tests, NULL, NULL);
}
