/* SPDX-License-Identifier: MIT */
/* Small networks of every operator and rounding on the device: weights, values, gradients and counts are those of the
 * golden file, which the processor wrote; with blocks and threads in other orders, too; what is copied and refused.
 *
 *   test_device_train GOLDEN */
#include <math.h>

#include "tests/cuda_host/twin.h"

#include "halfulp/formats/ieee.h"
#include "halfulp/train/net.h"
#include "tests/train/net/small_nets.h"

static const hu_engine *device;
static const char *golden;

static void same_as_golden(void **state) {
  (void)state;
  assert_true(small_nets_are_golden(device, 1, golden));
}

/* Parameters are set by a call, and what is looked at are copies. */
static void copies(void **state) {
  (void)state;
  hu_net *net = hu_net_new_on(device, 2, 1);
  int x = hu_net_input(net, 1, 2), y = hu_net_linear(net, x, 1, 0), loss = hu_net_squared_error(net, y, 1);
  const float w[2] = {0.5f, -2}, in[4] = {1, 2, 3, 4}, targets[2] = {1, 0};
  float l = 0;
  assert_true(loss >= 0);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_net_set_parameter(net, 1, w), HU_E_SHAPE);
  assert_int_equal(hu_net_set_parameter(net, 0, NULL), HU_E_NULL);
  assert_int_equal(hu_net_set_parameter(net, 0, w), HU_OK);
  hu_net_tensor tensor = hu_net_parameter(net, 0);
  assert_true(tensor.numbers[0] == 0.5f && tensor.numbers[1] == -2);
  tensor.numbers[0] = 7; /* into the copy */
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &l), HU_OK);
  assert_true(hu_net_value(net, y).numbers[0] == -3.5f && hu_net_value(net, y).numbers[1] == -6.5f);
  assert_true(l == (4.5f * 4.5f + 6.5f * 6.5f) / 4);
  assert_true(hu_net_parameter(net, 0).numbers[0] == 0.5f);
  hu_rounding rounding = hu_rounding_format(hu_binary16(), t_mode(0));
  assert_int_equal(hu_net_round_value(net, x, &rounding, NULL), HU_OK);
  const float large[4] = {1e6f, 1, INFINITY, -7e4f};
  hu_net_forget_counts(net);
  assert_int_equal(hu_net_feed(net, x, large), HU_OK);
  hu_rounding_counts c = hu_net_value(net, x).forward;
  assert_int_equal(c.elements, 4);
  assert_int_equal(c.over, 2);
  assert_int_equal(c.events.overflow, 2);
  hu_net_forget_counts(net);
  assert_int_equal(hu_net_value(net, x).forward.elements, 0);
  hu_net_free(net);
}

/* A token that is none, found on the device. */
static void tokens(void **state) {
  (void)state;
  hu_net *net = hu_net_new_on(device, 2, 1);
  int x = hu_net_input(net, 2, 1);
  hu_net_cross_entropy(net, hu_net_linear(net, hu_net_embedding(net, x, 4, 3), 2, 1), 1);
  const float right[4] = {0, 3, 2, 1}, wrong[3][4] = {{0, 3, 4, 1}, {0, 0.5f, 0, 0}, {0, 0, 0, -1}};
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(hu_net_feed(net, x, wrong[i]), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_E_SHAPE);
    assert_int_equal(hu_net_backward(net, 1), HU_E_TRAIN);
  }
  assert_int_equal(hu_net_feed(net, x, right), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  hu_net_free(net);
}

/* Values and every count of a rounding under which a number becomes what its format lacks are hu_rounding_apply's. */
static void wider_than_formats(void **state) {
  (void)state;
  static const char *const texts[] = {
      "float8_e4m3fn,over=inf", "float8_e4m3fn,sat=none,over=inf", "float8_e4m3fn,sat=none,nan=keep",
      "float8_e5m2,over=inf",   "float8_e5m2,sat=finite,over=inf", "fp(5,2,0):finite,over=inf",
      "fp(6,9,0):finite",       "fp(4,3,4):finite,nan=keep",       "fp(5,2,0):finite,sat=none,over=inf,nan=keep",
      "float8_e8m0fnu,over=inf"};
  const uint32_t patterns[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x7F7FFFFF,
                               0xFF7FFFFF, 0x43E00000, 0xC3E80000, 0x43E80001, 0x47600000, 0xC7700000,
                               0,          0x80000000, 1,          0x3F800000};
  enum { N = sizeof patterns / sizeof *patterns };
  float in[N], expected[N];
  uint64_t infinities = 0;
  memcpy(in, patterns, sizeof in);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    hu_net *net = hu_net_new_on(device, 1, 1);
    int x = hu_net_input(net, 1, N);
    hu_rounding rounding;
    hu_rounding_counts counts;
    memset(&counts, 0, sizeof counts);
    hu_net_squared_error(net, hu_net_linear(net, x, 1, 0), 1);
    assert_int_equal(hu_rounding_parse(&rounding, texts[i], NULL), HU_OK);
    assert_int_equal(hu_rounding_apply(1, N, expected, in, &rounding, NULL, &counts), HU_OK);
    assert_int_equal(hu_net_round_value(net, x, &rounding, NULL), HU_OK);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    assert_int_equal(hu_net_feed(net, x, in), HU_OK);
    hu_net_tensor got = hu_net_value(net, x);
    if (memcmp(got.numbers, expected, sizeof expected) || memcmp(&got.forward, &counts, sizeof counts))
      fail_msg("%s: other values or counts than the processor's", texts[i]);
    infinities += counts.events.invalid;
    hu_net_free(net);
  }
  assert_true(infinities > 0);
  print_message("%zu roundings of %d numbers\n", sizeof texts / sizeof *texts, (int)N);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(copies), cmocka_unit_test(tokens),
                                     cmocka_unit_test(wider_than_formats), cmocka_unit_test(same_as_golden)};
  if (argc < 2) return 2;
  golden = argv[1];
  int skip = twin_skip("training on the device");
  if (skip) return skip;
  if (hu_engine_device(&device) != HU_OK) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
