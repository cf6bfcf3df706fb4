/* SPDX-License-Identifier: MIT */
/* Loss scaling in a network: what a power of two changes (nothing), what an overflow changes (nothing but the scale),
 * what underflows; laws of the scalers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/data.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static const hu_mode rne;
enum { BATCH = 8, SIDE = 6, PIXELS = SIDE * SIDE, OUT = 4, VALUES_MAX = 20 };

/* Convolution, batch norm, ReLU, pool, two products. Every value, parameter and gradient in binary16 if `half`. */
static hu_net *build(int half, double weight, int *x) {
  hu_net *net = hu_net_new(BATCH, 1);
  *x = hu_net_image(net, SIDE, SIDE, 1);
  int h = hu_net_relu(net, hu_net_batch_norm(net, hu_net_conv(net, *x, 4, 3, 1, 1, 1)));
  h = hu_net_relu(net, hu_net_linear(net, hu_net_max_pool(net, h, 2, 2), 12, 1));
  int loss = hu_net_squared_error(net, hu_net_linear(net, h, OUT, 1), weight);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  hu_rounding rounding = half ? hu_rounding_format(hu_binary16(), rne) : hu_rounding_keep();
  for (int i = 0; i < loss; i++) assert_int_equal(hu_net_round_value(net, i, &rounding, &rounding), HU_OK);
  for (int i = 0; i < hu_net_parameters(net); i++)
    assert_int_equal(hu_net_round_parameter(net, i, &rounding, &rounding), HU_OK);
  return net;
}

static void pass(hu_net *net, int x, float scale, uint64_t seed) {
  float in[BATCH * PIXELS], targets[BATCH * PIXELS * OUT];
  hu_stream stream = {seed, 0};
  hu_normal_n(BATCH * PIXELS, in, 1, stream);
  stream.key++;
  hu_normal_n(BATCH * PIXELS * OUT, targets, 1, stream);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, scale), HU_OK);
}

static hu_loss_rule rule_of(const char *text) {
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, text, NULL), HU_OK);
  return rule;
}

/* ---- a power of two ---- */

static size_t compare(hu_net_tensor one, hu_net_tensor other, float factor) {
  size_t n = one.rows * one.cols;
  assert_true(one.backward.events.overflow == 0 && other.backward.events.overflow == 0);
  assert_true(one.backward.events.subnormal == 0 && one.backward.events.to_zero == 0);
  for (size_t i = 0; i < n; i++) assert_int_equal(t_bits32(one.gradients[i] * factor), t_bits32(other.gradients[i]));
  return n;
}

/* Without overflow and subnormal numbers all gradients of the loss times 2^k are 2^k times as large, bit for bit, and
 * the weights after the step are the same. */
static void powers_of_two(void **state) {
  (void)state;
  int x;
  hu_net *plain = build(1, 64, &x), *scaled[3];
  static const float scales[3] = {2, 16, 64};
  pass(plain, x, 1, 3);
  size_t compared = 0, values = (size_t)hu_net_values(plain) - 1;
  for (int k = 0; k < 3; k++) {
    scaled[k] = build(1, 64, &x);
    pass(scaled[k], x, scales[k], 3);
    for (size_t i = 1; i < values; i++) {
      compared += compare(hu_net_value(plain, (int)i), hu_net_value(scaled[k], (int)i), scales[k]);
    }
    for (int i = 0; i < hu_net_parameters(plain); i++) {
      compared += compare(hu_net_parameter(plain, i), hu_net_parameter(scaled[k], i), scales[k]);
    }
  }
  print_message("%zu gradients compared\n", compared);
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule = rule_of("static(1)");
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  uint64_t first = hu_net_digest(plain);
  assert_int_equal(hu_net_update(plain, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  assert_true(hu_net_digest(plain) != first);
  for (int k = 0; k < 3; k++) {
    scale.scale = scales[k];
    assert_int_equal(hu_net_update(scaled[k], &optimizer, &rule, &scale, NULL, NULL), HU_OK);
    assert_true(hu_net_digest(scaled[k]) == hu_net_digest(plain));
    hu_net_free(scaled[k]);
  }
  hu_net_free(plain);
}

/* ---- overflow ---- */

static uint64_t with_overflow(hu_optimizer optimizer, int parameter, float bad) {
  int x, taken;
  hu_net *net = build(0, 1, &x);
  hu_loss_rule rule = rule_of("gradscaler");
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (uint64_t t = 0; t < 4; t++) {
    for (int again = t == 2 && parameter >= 0; again >= 0; again--) {
      uint64_t before = hu_net_digest(net);
      pass(net, x, scale.scale, 10 + t);
      if (again) hu_net_parameter(net, parameter).gradients[1] = bad;
      assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_OK);
      assert_int_equal(taken, !again);
      assert_true((hu_net_digest(net) == before) == again);
      assert_true(scale.scale == (again || (t >= 2 && parameter >= 0) ? 32768 : 65536) &&
                  scale.skipped == (scale.scale == 32768));
    }
  }
  uint64_t z = hu_net_digest(net);
  hu_net_free(net);
  return z;
}

/* A run with an overflow in one gradient ends with the weights of the run without that step: momenta, second moments,
 * their powers and Kahan terms have not moved. */
static void a_skipped_step_never_was(void **state) {
  (void)state;
  hu_optimizer optimizer[3] = {hu_optimizer_sgd(hu_binary32()), hu_optimizer_adamw(hu_binary32()),
                               hu_optimizer_sgd(hu_bfloat16())};
  optimizer[2].update = HU_UPDATE_KAHAN;
  for (int k = 0; k < 3; k++) {
    uint64_t expected = with_overflow(optimizer[k], -1, 0);
    for (int p = 0; p < 4; p++) assert_true(with_overflow(optimizer[k], p, p & 1 ? NAN : -INFINITY) == expected);
  }
}

/* ---- underflow ---- */

/* Nonzero gradients of a binary32 network that are nothing in binary16 after scaling: fewer and fewer. */
static void underflows(void **state) {
  (void)state;
  int x;
  hu_net *net = build(0, 0x1p-16, &x);
  pass(net, x, 1, 3);
  size_t before = SIZE_MAX, first = 0;
  for (int k = 0; k <= 24; k++) {
    size_t lost = 0, all = 0;
    for (int i = 1; i < hu_net_values(net) - 1 + hu_net_parameters(net); i++) {
      int value = i < hu_net_values(net) - 1;
      hu_net_tensor tensor = value ? hu_net_value(net, i) : hu_net_parameter(net, i - hu_net_values(net) + 1);
      for (size_t n = 0; n < tensor.rows * tensor.cols; n++) {
        all += tensor.gradients[n] != 0;
        lost +=
            tensor.gradients[n] != 0 && hu_quantize(hu_binary16(), rne, ldexpf(tensor.gradients[n], k), 0, NULL) == 0;
      }
    }
    if (k == 0) first = lost;
    if (k % 8 == 0) print_message("S = 2^%d: %zu of %zu are lost\n", k, lost, all);
    assert_true(lost <= before);
    before = lost;
  }
  assert_true(first > 800 && before < first / 100);
  hu_net_free(net);
}

/* What any code of binary16 is divided by 2^k comes back exactly up to 2^102, where the smallest is binary32's smallest
 * normal number. */
static void unscaling_is_exact(void **state) {
  (void)state;
  static float g[0x7C00];
  for (int k = 0; k <= 102; k += 17) {
    hu_gradient_found found = {0, 0};
    for (uint32_t i = 0; i < 0x7C00; i++) g[i] = hu_decode(hu_binary16(), i);
    hu_gradient_unscale_n(0x7C00, g, ldexpf(1, k), &found);
    for (uint32_t i = 0; i < 0x7C00; i++) assert_true(ldexp((double)g[i], k) == hu_decode64(hu_binary16(), i));
    assert_true(ldexp((double)found.amax, k) == 65504 && !found.bad);
  }
}

/* ---- scales ---- */

/* The largest power of two with S gmax <= 65504: nothing rounds to infinity, and 2 S is too much. */
static void static_scale(void **state) {
  (void)state;
  t_random random = {t_seed("recipes loss", 2)};
  for (int k = 0; k < 100000; k++) {
    float g = ldexpf((float)(t_next32(&random) >> 8 | 0x800000), t_between(&random, -90, -10));
    float s = hu_loss_scale_of_gmax(g, 65504, 0);
    int e;
    assert_true(frexpf(s, &e) == 0.5f && (double)s * (double)g <= 65504 && 2 * (double)s * (double)g > 65504);
    assert_true(hu_quantize64(hu_binary16(), rne, (double)s * (double)g, 0, NULL) < INFINITY);
    assert_true(hu_loss_scale_of_gmax(g, 65504, 3) == s / 8);
  }
}

/* Backoff and GradScaler of the same window agree until a limit is met; scales are powers of the factor. */
static void scalers_agree(void **state) {
  (void)state;
  t_random random = {t_seed("recipes loss", 4)};
  unsigned changes = 0;
  for (int run = 0; run < 300; run++) {
    char text[120];
    unsigned window = 1 + t_below(&random, 9), odds = 2 + t_below(&random, 20);
    snprintf(text, sizeof text, "backoff(scale_min=2^-100,scale_max=2^100,start=65536,step_window=%u)", window);
    hu_loss_rule one = rule_of(text);
    snprintf(text, sizeof text, "gradscaler(growth_interval=%u)", window);
    hu_loss_rule other = rule_of(text);
    hu_loss_scale a = hu_loss_scale_start(&one), b = hu_loss_scale_start(&other);
    for (int t = 0; t < 200; t++) {
      hu_gradient_found found = {1, (uint8_t)(t_below(&random, odds) == 0)};
      float before = a.scale;
      int e;
      assert_int_equal(hu_loss_scale_update(&a, &one, found), hu_loss_scale_update(&b, &other, found));
      if (a.scale <= 0x1p-90f || a.scale >= 0x1p90f) break;
      assert_true(a.scale == b.scale && frexpf(a.scale, &e) == 0.5f);
      assert_true(found.bad ? a.scale == before / 2 : a.scale == before || a.scale == before * 2);
      changes += a.scale != before;
    }
  }
  assert_true(changes > 1000);
}

/* The first step of LogMax: 2^16 over the largest gradient, within the limits; what mu and sigma become after an
 * overflow, corrected and as published. */
static void logmax_numbers(void **state) {
  (void)state;
  for (int k = -3; k <= 10; k++) {
    hu_loss_rule rule = rule_of("logmax(scale_max=2^24)");
    hu_loss_scale scale = hu_loss_scale_start(&rule);
    hu_gradient_found found = {ldexpf(1, k), 0};
    assert_true(scale.scale == 1);
    hu_loss_scale_update(&scale, &rule, found);
    assert_true(scale.scale == ldexpf(1, 16 - k));
  }
  static const double gmax[20] = {0.5, 0.9, 1.5, 3, 5, 9, 9, 8, 7.5, 3, 2, 1, 0.8, 0.6, 12, 0.5, 0.4, 0.3, 0.2, 0.1};
  for (int literal = 0; literal < 2; literal++) {
    hu_loss_rule rule = rule_of(literal ? "logmax(scale_max=2^24,literal)" : "logmax(scale_max=2^24)");
    hu_loss_scale scale = hu_loss_scale_start(&rule);
    for (int t = 0; t < 20; t++) {
      hu_gradient_found found = {(float)gmax[t], gmax[t] * (double)scale.scale >= 65520};
      hu_loss_scale_update(&scale, &rule, found);
      double mean = scale.sh / (1 - scale.c2), mu = scale.xh / (1 - scale.c1),
             sigma = sqrt(scale.qh / (1 - scale.c2) - mean * mean);
      if (t == 1) {
        assert_true(fabs(mu - (literal ? 32932.1658 : 7.54271357)) < (literal ? 1e-4 : 1e-8));
        assert_true(fabs(sigma - (literal ? 32768.4959 : 8.49999894)) < (literal ? 1e-4 : 1e-8));
      }
      if (t == 19 && literal) assert_true(fabs(mu - 3003.94205) < 1e-4 && fabs(sigma - 14225.566) < 1e-3);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(powers_of_two), cmocka_unit_test(a_skipped_step_never_was),
                                     cmocka_unit_test(underflows),    cmocka_unit_test(unscaling_is_exact),
                                     cmocka_unit_test(static_scale),  cmocka_unit_test(scalers_agree),
                                     cmocka_unit_test(logmax_numbers)};
  return cmocka_run_group_tests_name("recipes: loss scaling", tests, NULL, NULL);
}
