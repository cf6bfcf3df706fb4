/* SPDX-License-Identifier: MIT */
/* What promotion is for (Lee et al. 2023, section 4.2): a regression whose targets lie beyond the low format. Saturated
 * outputs hide progress from the loss and weights run away; with promotion the run is as good as in high precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/view.h"
#include "halfulp/train/data.h"
#include "halfulp/train/precision.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { IN = 8, HIDDEN = 32, BATCH = 50, SAMPLES = 2000, EPOCHS = 30 };

static float x[2 * SAMPLES * IN], y[2 * SAMPLES]; /* for training, for the test */

/* Standard deviation of y. */
static double spread(void) {
  double sum = 0, squares = 0, n = 2 * SAMPLES;
  for (size_t i = 0; i < 2 * SAMPLES; i++) sum += (double)y[i];
  for (size_t i = 0; i < 2 * SAMPLES; i++) squares += pow((double)y[i] - sum / n, 2);
  return sqrt(squares / n);
}

/* y = tanh(1.5 x W1) W2, scaled to a standard deviation of 25: about a quarter lies beyond 30. */
static void make_data(void) {
  static float w1[IN * HIDDEN], w2[HIDDEN];
  hu_init_normal(2 * SAMPLES * IN, x, 1, 1, hu_stream_of_use(7, HU_USE_DATA));
  hu_init_normal(IN * HIDDEN, w1, 1, IN, hu_stream_child(hu_stream_of_use(7, HU_USE_TRUTH), 0));
  hu_init_normal(HIDDEN, w2, 1, HIDDEN, hu_stream_child(hu_stream_of_use(7, HU_USE_TRUTH), 1));
  for (size_t i = 0; i < 2 * SAMPLES; i++) {
    float h[HIDDEN] = {0};
    for (size_t k = 0; k < IN; k++) {
      for (size_t j = 0; j < HIDDEN; j++) h[j] += 1.5f * x[i * IN + k] * w1[k * HIDDEN + j];
    }
    hu_view sums = hu_codes(h, 1, hu_binary32());
    hu_output to = hu_codes_out(h, 1, hu_binary32());
    assert_int_equal(hu_apply(HU_OP_TANH, HIDDEN, &to, &sums, NULL), HU_OK);
    y[i] = 0;
    for (size_t j = 0; j < HIDDEN; j++) y[i] += h[j] * w2[j];
  }
  float by = (float)(25 / spread());
  size_t beyond = 0;
  for (size_t i = 0; i < 2 * SAMPLES; i++) beyond += fabsf(y[i] *= by) > 30;
  print_message("%zu of %d targets beyond 30\n", beyond, 2 * SAMPLES);
  assert_true(beyond > 2 * SAMPLES / 8);
}

typedef struct t_outcome {
  double r2, over, weight; /* on the test set; the largest overflow ratio; the largest weight */
  hu_ratio first, last, mean;
  hu_precision_past past;
  uint64_t digest, skipped;
  size_t when; /* the step of the first promotion, SIZE_MAX: none */
} t_outcome;

/* 1 - the error's share of the variance. */
static double quality(hu_net *net, int in, int out) {
  double error = 0, squares = 0, sum = 0;
  for (size_t i = SAMPLES; i < 2 * SAMPLES; i += BATCH) {
    assert_int_equal(hu_net_feed(net, in, x + i * IN), HU_OK);
    assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
    for (size_t k = 0; k < BATCH; k++) {
      error += pow((double)hu_net_value(net, out).numbers[k] - (double)y[i + k], 2);
      squares += pow((double)y[i + k], 2);
      sum += (double)y[i + k];
    }
  }
  return 1 - error / (squares - sum * sum / SAMPLES);
}

static void look(t_outcome *z, const hu_net *net, const hu_precision *plan) {
  for (size_t k = 0; k < hu_precision_layout(plan)->operators; k++) { /* without the loss */
    hu_ratio ratio = hu_precision_overflow(plan, k);
    z->over = fmax(z->over, (double)ratio.num / (double)ratio.den);
  }
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    for (size_t k = 0; k < tensor.rows * tensor.cols; k++) z->weight = fmax(z->weight, fabs((double)tensor.numbers[k]));
  }
}

static t_outcome train(const char *text, uint32_t threads, size_t epochs) {
  t_outcome z;
  memset(&z, 0, sizeof z);
  z.when = SIZE_MAX;
  hu_net *net = hu_net_new(BATCH, threads);
  int in = hu_net_input(net, 1, IN);
  int h = hu_net_relu(net, hu_net_linear(net, in, HIDDEN, 1));
  int out = hu_net_linear(net, hu_net_relu(net, hu_net_linear(net, h, HIDDEN, 1)), 1, 1);
  (void)hu_net_squared_error(net, out, 1);
  hu_precision_rule rule;
  hu_precision *plan;
  assert_int_equal(hu_precision_rule_parse(&rule, text, NULL), HU_OK);
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  optimizer.rate = 3e-4;
  hu_loss_rule loss_rule;
  assert_int_equal(hu_loss_rule_parse(&loss_rule, "gradscaler(growth_interval=40)", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&loss_rule);
  z.first = hu_precision_ratio(plan);
  for (size_t t = 0; t < epochs * SAMPLES / BATCH; t++) {
    size_t at = t * BATCH % SAMPLES, promoted = 0;
    assert_int_equal(hu_net_feed(net, in, x + at * IN), HU_OK);
    assert_int_equal(hu_net_targets(net, y + at), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &loss_rule, &scale, NULL, NULL), HU_OK);
    look(&z, net, plan);
    assert_int_equal(hu_precision_step(plan, &promoted), HU_OK);
    if (promoted && z.when == SIZE_MAX) z.when = t;
  }
  z.r2 = quality(net, in, out);
  z.last = hu_precision_ratio(plan);
  z.mean = hu_precision_mean_ratio(plan);
  z.past = hu_precision_past_of(plan);
  z.digest = hu_net_digest(net);
  z.skipped = scale.skipped;
  print_message("%s: R^2 %.3f, ratio %.3f to %.3f, %d promoted, overflow up to %.3f, weights up to %g, %d skipped\n",
                text, z.r2, (double)z.first.num / (double)z.first.den, (double)z.last.num / (double)z.last.den,
                (int)z.past.promoted, z.over, z.weight, (int)z.skipped);
  hu_precision_free(plan);
  hu_net_free(net);
  return z;
}

static double value_of(hu_ratio ratio) { return (double)ratio.num / (double)ratio.den; }

static void beyond_the_range(void **state) {
  (void)state;
  make_data();
  t_outcome high = train("high", 1, EPOCHS), low = train("uniform", 1, EPOCHS);
  t_outcome saved = train("demote(1)", 1, EPOCHS), kept = train("demote(1,promote=none)", 1, 3);
  assert_true(high.r2 > 0.9 && high.over == 0 && high.past.promoted == 0 && value_of(high.mean) == 0);
  /* Without promotion: saturation all over. */
  assert_true(low.past.promoted == 0 && low.when == SIZE_MAX);
  assert_true(low.r2 < 0.8 && low.over > 0.5 && low.weight > 10 * high.weight);
  /* With it: as good as high, for little memory. */
  assert_true(saved.r2 > high.r2 - 0.02 && saved.past.promoted >= 1 && saved.when < 200);
  assert_true(saved.over < 0.3);
  assert_true(saved.weight < 3 * high.weight);
  assert_true(value_of(saved.first) == value_of(low.first));
  assert_true(value_of(saved.last) < value_of(saved.first) && value_of(saved.last) > value_of(saved.first) - 0.03);
  assert_true(value_of(saved.mean) < value_of(saved.first) && value_of(saved.mean) >= value_of(saved.last));
  assert_int_equal(saved.past.steps, EPOCHS * SAMPLES / BATCH);
  /* The same bits by another name, and with other threads. */
  assert_true(kept.digest == train("uniform", 1, 3).digest);
  assert_true(train("demote(1)", 1, 2).digest == train("demote(1)", 3, 2).digest);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(beyond_the_range)};
  return cmocka_run_group_tests_name("promotion", tests, NULL, NULL);
}
