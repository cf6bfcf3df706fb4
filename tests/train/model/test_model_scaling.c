/* SPDX-License-Identifier: MIT */
/* Unit scaling of texts (docs/training/networks.md): the factors that a description shows, and the same network with
 * factors by layers `scale`, which are powers of two, so that the bits agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/losses.h"
#include "halfulp/train/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"

enum { BATCH = 16, COLUMNS = 4, LAYERS = 3, WEIGHTS = 16 };

static const char by_rule[] =
    "scaling unit\n"
    "x = linear(input(1, 4), 4, bias=0)\n"
    "x = linear(x, 4, bias=0)\n"
    "output linear(x, 2, bias=0)\n";
static const char by_hand[] =
    "x = scale(linear(input(1, 4), 4, bias=0, start=normal(1)), 0.5, 1)\n"
    "x = scale(linear(scale(x, 1, 0.5), 4, bias=0, start=normal(1)), 0.5, 1)\n"
    "output scale(linear(scale(x, 1, sqrt(0.5)), 2, bias=0, start=normal(1)), 0.5, 1)\n";

/* ---- factors ---- */

static void described(void **state) {
  (void)state;
  static const char expected[] =
      "v0 = input(1, 4)  # 4\n"
      "v1 = linear(v0, 4, bias=0, start=normal(1), forward=0.5, weights=1)  # 4; 16 parameters\n"
      "v2 = linear(v1, 4, bias=0, start=normal(1), forward=0.5, backward=0.5, weights=1)  # 4; 16 parameters\n"
      "v3 = linear(v2, 2, bias=0, start=normal(1), forward=0.5, backward=0.7071067811865475, weights=1)"
      "  # 2; 8 parameters\n"
      "output v3 times 2  # 2; 40 parameters in all\n";
  char text[1024];
  hu_model m = model_of(by_rule);
  hu_model_sizes sizes;
  memset(&sizes, 0, sizeof sizes);
  assert_int_equal(hu_model_describe(text, sizeof text, &m, &sizes), strlen(expected));
  assert_string_equal(text, expected);
  /* The record's field does what the line does; a rule that there is not is refused. */
  m = model_of(strchr(by_rule, '\n') + 1);
  m.scaling = HU_SCALING_UNIT;
  assert_int_equal(hu_model_describe(text, sizeof text, &m, &sizes), strlen(expected));
  assert_string_equal(text, expected);
  const char *why = "";
  m.scaling = HU_SCALING_UNIT + 1;
  assert_int_equal(hu_model_check(&m, NULL, &why), HU_E_TRAIN);
  assert_string_equal(why, "scaling: unknown");
}

/* ---- against factors by hand ---- */

/* Makes a step's passes; the loss, and a copy of all gradients. */
static float pass(const char *text, float gradients[LAYERS * WEIGHTS]) {
  hu_model_sizes sizes;
  hu_model_ends ends;
  float x[BATCH * COLUMNS], loss = 0;
  uint32_t labels[BATCH];
  memset(&sizes, 0, sizeof sizes);
  memset(gradients, 0, LAYERS * WEIGHTS * sizeof *gradients);
  hu_net *net = net_of(text, &sizes, BATCH, 1, &ends);
  for (size_t i = 0; i < BATCH * COLUMNS; i++) x[i] = (float)((i * 37 + 11) % 41) / 16 - 1.25f;
  for (size_t i = 0; i < BATCH; i++) labels[i] = i * i % 3 == 0;
  assert_true(hu_net_cross_entropy(net, ends.output, 1) >= 0);
  assert_int_equal(hu_net_initialize(net, 5), HU_OK);
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_int_equal(hu_net_parameters(net), LAYERS);
  for (int p = 0; p < LAYERS; p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    memcpy(gradients + p * WEIGHTS, tensor.gradients, tensor.rows * tensor.cols * sizeof *gradients);
  }
  hu_net_free(net);
  return loss;
}

/* The loss's gradient is 16 times 2 / sqrt(2 - 1) as large, and gradients of weights are divided by sqrt(16). */
static void as_by_hand(void **state) {
  (void)state;
  float rule[LAYERS * WEIGHTS], hand[LAYERS * WEIGHTS];
  const float loss = pass(by_rule, rule);
  assert_true(loss == pass(by_hand, hand) && loss > 0);
  for (size_t i = 0; i < LAYERS * WEIGHTS; i++) {
    if (rule[i] != 8 * hand[i]) fail_msg("number %zu: %a, not %a", i, (double)rule[i], 8 * (double)hand[i]);
  }
  assert_true(rule[0] != 0 && rule[WEIGHTS] != 0 && rule[LAYERS * WEIGHTS - WEIGHTS] != 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(described), cmocka_unit_test(as_by_hand)};
  return cmocka_run_group_tests_name("model scaling", tests, NULL, NULL);
}
