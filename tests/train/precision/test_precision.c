/* SPDX-License-Identifier: MIT */
/* Assignments on networks: the network of four products worked out by hand, layouts of other graphs, promotion one
 * iteration later, memory, texts. */
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/precision.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/step/rounding_of.h"

static hu_precision_rule rule_of(const char *text) {
  hu_precision_rule rule;
  size_t where = 0;
  hu_status status = hu_precision_rule_parse(&rule, text, &where);
  if (status != HU_OK) fail_msg("%s: %s at %zu", text, hu_status_name(status), where);
  return rule;
}

static hu_precision *plan_of(hu_net *net, const char *text) {
  hu_precision_rule rule = rule_of(text);
  hu_precision *plan = NULL;
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_OK);
  return plan;
}

static void is_ratio(hu_ratio ratio, uint64_t num, uint64_t den) {
  assert_int_equal(ratio.num, num);
  assert_int_equal(ratio.den, den);
}

/* 8-16-32-16-4 with biases, ReLU between, batch 4: value 0 the input, 8 the loss. */
enum { M = 8, ALL = 3690 };

static hu_net *toy(void) {
  hu_net *net = hu_net_new(4, 1);
  int h = hu_net_input(net, 1, 8);
  h = hu_net_relu(net, hu_net_linear(net, h, 16, 1));
  h = hu_net_relu(net, hu_net_linear(net, h, 32, 1));
  h = hu_net_relu(net, hu_net_linear(net, h, 16, 1));
  assert_int_equal(hu_net_cross_entropy(net, hu_net_linear(net, h, 4, 1), 1), M);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  return net;
}

static void layout_by_hand(void **state) {
  (void)state;
  static const uint64_t values[M + 1] = {32, 64, 64, 128, 128, 64, 64, 16, 1};
  static const uint64_t parameters[M] = {144, 0, 544, 0, 528, 0, 68, 0};
  hu_net *net = toy();
  hu_precision *plan = plan_of(net, "high");
  const hu_layout *layout = hu_precision_layout(plan);
  assert_int_equal(layout->operators, M);
  assert_memory_equal(layout->values, values, sizeof values);
  for (size_t i = 0; i < M; i++) {
    assert_int_equal(layout->row[i].parameters, parameters[i]);
    assert_int_equal(layout->row[i].input, i);
    assert_int_equal(layout->row[i].product, i % 2 == 0);
  }
  hu_precision_free(plan);
  hu_net_free(net);
}

/* Ratios by the dtheta rule and without it, for all r, and the groups that are low. */
static void ratios_by_hand(void **state) {
  (void)state;
  static const struct {
    const char *rule;
    uint64_t num, den, all_num, all_den;
  } expected[] = {{"demote(0)", 0, 1, 0, 1},
                  {"demote(0.1)", 104, 369, 784, 1845},
                  {"demote(0.2)", 104, 369, 784, 1845},
                  {"demote(0.3)", 104, 369, 784, 1845},
                  {"demote(0.4)", 104, 369, 784, 1845},
                  {"demote(0.5)", 184, 369, 1456, 1845},
                  {"demote(0.6)", 184, 369, 1456, 1845},
                  {"demote(0.7)", 184, 369, 1456, 1845},
                  {"demote(0.8)", 1082, 1845, 1652, 1845},
                  {"demote(0.9)", 1186, 1845, 1828, 1845},
                  {"demote(1)", 401, 615, 1, 1},
                  {"demote", 401, 615, 1, 1},
                  {"uniform", 401, 615, 1, 1},
                  {"operator", 728, 1845, 728, 1845},
                  {"operator_prime", 184, 369, 1456, 1845},
                  {"high", 0, 1, 0, 1}};
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    hu_net *net = toy();
    hu_precision_rule rule = rule_of(expected[k].rule);
    hu_precision *plan = plan_of(net, expected[k].rule), *all;
    is_ratio(hu_precision_ratio(plan), expected[k].num, expected[k].den);
    is_ratio(hu_precision_mean_ratio(plan), expected[k].num, expected[k].den);
    rule.low_dtheta = 1;
    assert_int_equal(hu_precision_new(&all, net, &rule), HU_OK);
    is_ratio(hu_precision_ratio(all), expected[k].all_num, expected[k].all_den);
    hu_precision_free(all);
    hu_precision_free(plan);
    hu_net_free(net);
  }
}

/* {v3, theta3, dv4, v5, theta5, dv6} of the paper, which counts from 1. */
static void operators_by_hand(void **state) {
  (void)state;
  static const uint8_t v[M + 1] = {0, 0, 1, 0, 1}, dv[M + 1] = {0, 0, 0, 1, 0, 1}, theta[M] = {0, 0, 1, 0, 1};
  static const uint8_t v2[M + 1] = {0, 0, 1, 1, 1, 1}, none[M] = {0};
  hu_net *net = toy();
  hu_precision *plan = plan_of(net, "operator");
  const hu_assignment *a = hu_precision_assignment(plan);
  assert_memory_equal(a->v, v, sizeof v);
  assert_memory_equal(a->dv, dv, sizeof dv);
  assert_memory_equal(a->theta, theta, sizeof theta);
  assert_memory_equal(a->dtheta, none, sizeof none);
  hu_precision_free(plan);
  plan = plan_of(net, "operator_prime");
  a = hu_precision_assignment(plan);
  assert_memory_equal(a->v, v2, sizeof v2);
  assert_memory_equal(a->dv, v2, sizeof v2);
  assert_memory_equal(a->theta, theta, sizeof theta);
  assert_memory_equal(a->dtheta, none, sizeof none);
  hu_precision_free(plan);
  hu_net_free(net);
}

/* The most digits behind the first that one of n numbers has. */
static unsigned most_digits(size_t n, const float *x) {
  unsigned most = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t fraction = t_bits32(x[i]) & 0x7FFFFF;
    unsigned used = 23;
    while (used && !(fraction >> (23 - used) & 1)) used--;
    most = used > most ? used : most;
  }
  return most;
}

/* Formats that differ in their digits: low ones have at most `low`, high ones `high` and, unless they are few numbers
 * or copies of low ones, more than any low one. */
static void has_digits(const char *what, int k, hu_net_tensor tensor, const float *x, int is_low, int is_copy,
                       unsigned low, unsigned high) {
  size_t n = tensor.rows * tensor.cols;
  unsigned most = most_digits(n, x);
  if (is_low ? most > low : most > high || (n > 8 && !is_copy && most <= 3)) {
    fail_msg("%s %d: %u digits, %s", what, k, most, is_low ? "low" : "high");
  }
}

/* Every tensor is rounded to what the assignment says. */
static void formats_arrive_by(const char *text) {
  hu_net *net = toy();
  hu_precision_rule rule = rule_of(text);
  const hu_mode rne = {0};
  rule.formats.low = hu_rounding_format(hu_format_ieee(8, 2, 0), rne);
  rule.formats.low_back = hu_rounding_format(hu_format_ieee(8, 3, 0), rne);
  rule.formats.high = hu_rounding_format(hu_format_ieee(8, 8, 0), rne);
  rule.formats.high_back = hu_rounding_format(hu_format_ieee(8, 9, 0), rne);
  hu_precision *plan;
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_OK);
  t_random random = {t_seed("precision", 1)};
  float x[32];
  uint32_t labels[4] = {0, 1, 2, 3};
  for (size_t i = 0; i < 32; i++) x[i] = (float)t_below(&random, 1000000) / 300000 - 1;
  assert_int_equal(hu_net_feed(net, 0, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  const hu_assignment *a = hu_precision_assignment(plan);
  for (int k = 0; k <= M; k++) {
    hu_net_tensor tensor = hu_net_value(net, k);
    /* ReLU copies v from value 1 to 2, 3 to 4, 5 to 6, and dv back. */
    has_digits("v", k, tensor, tensor.numbers, a->v[k], k && k % 2 == 0 && a->v[k - 1], 2, 8);
    if (k == 0) continue; /* nobody computes dv of the input */
    has_digits("dv", k, tensor, tensor.gradients, a->dv[k], k % 2 == 1 && a->dv[k + 1], 3, 9);
  }
  for (int p = 0; p < 8; p++) { /* weights and bias of the operators 0, 2, 4, 6 */
    hu_net_tensor tensor = hu_net_parameter(net, p);
    has_digits("dtheta", p, tensor, tensor.gradients, a->dtheta[p / 2 * 2], 0, 3, 9);
  }
  hu_precision_free(plan);
  hu_net_free(net);
}

static void formats_arrive(void **state) {
  (void)state;
  static const char *const rules[] = {
      "high",     "uniform",        "uniform(dtheta=low)",    "demote(0.5)",
      "operator", "operator_prime", "demote(0.4,dtheta=low)", "demote(0.1,order=smallest)"};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) formats_arrive_by(rules[i]);
}

static void ratio_grows_with_r(void **state) {
  (void)state;
  static const char *const orders[] = {"largest", "smallest", "random,seed=3", "random,seed=4"};
  double half[4];
  for (size_t o = 0; o < 4; o++) {
    double before = 0;
    for (unsigned k = 0; k <= 40; k++) {
      char text[64];
      snprintf(text, sizeof text, "demote(%u/40,order=%s,dtheta=low)", k, orders[o]);
      hu_net *net = toy();
      hu_precision *plan = plan_of(net, text);
      hu_ratio got = hu_precision_ratio(plan);
      double x = (double)got.num / (double)got.den;
      assert_true(x >= before && got.num * 40 >= k * got.den && (k || x == 0));
      before = x;
      if (k == 20) half[o] = x;
      hu_precision_free(plan);
      hu_net_free(net);
    }
    assert_true(before == 1);
  }
  assert_true(half[0] == 1456 / 1845.0);
  assert_true(half[1] != half[0] || half[2] != half[0] || half[3] != half[0]);
}

/* ---- other graphs ---- */

static void is_row(const hu_layout *layout, size_t value, size_t input, uint64_t parameters, int product) {
  assert_int_equal(layout->row[value - 1].input, input);
  assert_int_equal(layout->row[value - 1].parameters, parameters);
  assert_int_equal(layout->row[value - 1].product, product);
}

/* Two inputs of names, rows of tables multiplied and side by side. */
static void two_inputs(void **state) {
  (void)state;
  hu_net *net = hu_net_new(5, 1);
  int user = hu_net_input(net, 1, 1), item = hu_net_input(net, 1, 1);
  int a = hu_net_embedding(net, user, 700, 6), b = hu_net_embedding(net, item, 9, 6);
  int both[2] = {hu_net_multiply(net, a, b), b};
  int h = hu_net_concat(net, 2, both);
  (void)hu_net_squared_error(net, hu_net_linear(net, h, 1, 1), 1);
  hu_precision *plan = plan_of(net, "uniform(promote=1/100,dtheta=low)");
  static const uint64_t values[8] = {0, 0, 30, 30, 30, 60, 5, 1};
  const hu_layout *layout = hu_precision_layout(plan);
  assert_int_equal(layout->operators, 7);
  assert_memory_equal(layout->values, values, sizeof values);
  is_row(layout, 1, 0, 0, 0);
  is_row(layout, 2, 0, 4200, 0);
  is_row(layout, 3, 1, 54, 0);
  is_row(layout, 4, 2, 0, 0);
  is_row(layout, 5, 4, 0, 0);
  is_row(layout, 6, 5, 13, 1);
  is_row(layout, 7, 6, 0, 0);
  is_ratio(hu_precision_ratio(plan), 1, 1);
  /* Names are no numbers: 699 stays 699. */
  float users[5] = {0, 1, 699, 37, 300}, items[5] = {8, 7, 6, 5, 4}, targets[5] = {1, 0, 1, 0, 1};
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_net_feed(net, user, users), HU_OK);
  assert_int_equal(hu_net_feed(net, item, items), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_memory_equal(hu_net_value(net, user).numbers, users, sizeof users);
  assert_int_equal(hu_precision_step(plan, NULL), HU_OK);
  hu_precision_free(plan);
  hu_net_free(net);
}

/* A residual, normalisation, attention, a cell whose steps share parameters: every parameter belongs to one operator,
 * the first that reads it. */
static void shared_parameters(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 4, 6), h = hu_net_linear(net, x, 18, 1), n = hu_net_layer_norm(net, h);
  int s = hu_net_add(net, h, n), a = hu_net_attention(net, s, 2, 0);
  int first = hu_net_values(net), y = hu_net_gru(net, a, 5, 1);
  (void)hu_net_cross_entropy(net, hu_net_linear(net, y, 3, 0), 1);
  hu_precision *plan = plan_of(net, "demote");
  const hu_layout *layout = hu_precision_layout(plan);
  uint64_t sum = 0, all = 0, products = 0, with = 0;
  for (size_t i = 0; i < layout->operators; i++) {
    sum += layout->row[i].parameters;
    products += layout->row[i].product;
    with += layout->row[i].parameters > 0;
  }
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    all += tensor.rows * tensor.cols;
  }
  assert_int_equal(sum, all);
  assert_int_equal(products, 1 + 2 + 4 * 2 + 1);
  assert_int_equal(with, 5);
  is_row(layout, (size_t)h, (size_t)x, 6 * 18 + 18, 1);
  is_row(layout, (size_t)n, (size_t)h, 36, 0);
  is_row(layout, (size_t)s, (size_t)h, 0, 0);
  is_row(layout, (size_t)a, (size_t)a - 1, 0, 1);
  /* first state, row of the step, its product, that of the state, the cell; then the next step */
  is_row(layout, (size_t)first, (size_t)first - 1, 0, 0);
  is_row(layout, (size_t)first + 2, (size_t)first + 1, 6 * 15 + 15, 1);
  is_row(layout, (size_t)first + 3, (size_t)first, 5 * 15 + 15, 1);
  is_row(layout, (size_t)first + 6, (size_t)first + 5, 0, 1);
  hu_precision_free(plan);
  hu_net_free(net);
}

/* ---- promotion ---- */

static void iterate(hu_net *net, const float *x) {
  uint32_t labels[4] = {0, 1, 2, 3};
  assert_int_equal(hu_net_feed(net, 0, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
}

/* Weights that hand the first number of a sample on, doubled once. */
static hu_net *doubling(void) {
  hu_net *net = toy();
  for (int p = 0; p < 8; p++) {
    hu_net_tensor tensor = hu_net_parameter(net, p);
    memset(tensor.numbers, 0, tensor.rows * tensor.cols * sizeof *tensor.numbers);
    if (p % 2 == 0) tensor.numbers[0] = p == 2 ? 2 : p == 4 ? 0.25f : 1;
  }
  return net;
}

static void promotion_toy(void **state) {
  (void)state;
  hu_net *net = doubling();
  hu_precision *plan = plan_of(net, "uniform(promote=1/100)");
  const hu_assignment *a = hu_precision_assignment(plan);
  const float *v3 = hu_net_value(net, 3).numbers, *v4 = hu_net_value(net, 4).numbers;
  float one[32] = {20}, two[32] = {20};
  size_t promoted = 9;
  two[24] = -20;
  two[8] = 20;
  /* 40 is more than 30: 1 of 128 stays. */
  iterate(net, one);
  is_ratio(hu_precision_overflow(plan, 3), 1, 128);
  /* Of no value, no operator, no plan. */
  const size_t values = hu_precision_layout(plan)->operators + 1, wrong[] = {values, values + 1, SIZE_MAX};
  for (size_t i = 0; i < 3; i++) is_ratio(hu_precision_overflow(plan, wrong[i]), 0, 1);
  for (size_t i = 0; i < 3; i++) is_ratio(hu_precision_overflow_theta(plan, wrong[i] - 1), 0, 1);
  is_ratio(hu_precision_overflow(NULL, 3), 0, 1);
  is_ratio(hu_precision_overflow_theta(NULL, 0), 0, 1);
  assert_int_equal(hu_precision_step(plan, &promoted), HU_OK);
  assert_true(promoted == 0 && a->v[3] == 1);
  is_ratio(hu_precision_ratio(plan), 401, 615);
  /* 2 of 128 does not; this iteration has it saturated. What passes in between for evaluation does not count. */
  assert_int_equal(hu_net_feed(net, 0, one), HU_OK);
  assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK);
  assert_int_equal(hu_precision_step(plan, NULL), HU_E_TRAIN);
  iterate(net, two);
  is_ratio(hu_precision_overflow(plan, 3), 1, 64);
  is_ratio(hu_precision_overflow(plan, 4), 0, 1);
  assert_true(v3[0] == 30 && v3[32] == 30 && v4[0] == 30);
  assert_int_equal(hu_precision_step(plan, &promoted), HU_OK);
  assert_true(promoted == 1 && a->v[3] == 0 && a->dv[3] == 1 && a->v[4] == 1 && a->theta[2] == 1);
  assert_true(v3[0] == 30);
  is_ratio(hu_precision_ratio(plan), (2406 - 128) / 2, ALL / 2);
  is_ratio(hu_precision_mean_ratio(plan), 401, 615);
  /* The next has it whole; now the value behind it overflows. */
  iterate(net, two);
  is_ratio(hu_precision_overflow(plan, 3), 0, 1);
  is_ratio(hu_precision_overflow(plan, 4), 1, 64);
  assert_true(v3[0] == 40 && v4[0] == 30);
  assert_int_equal(hu_precision_step(plan, &promoted), HU_OK);
  assert_true(promoted == 1 && a->v[4] == 0 && a->v[3] == 0);
  hu_ratio mean = hu_ratio_of(3 * 2406 - 128, 3 * ALL);
  is_ratio(hu_precision_mean_ratio(plan), mean.num, mean.den);
  iterate(net, two);
  assert_true(v3[0] == 40 && v4[0] == 40);
  assert_int_equal(hu_precision_step(plan, &promoted), HU_OK);
  assert_int_equal(promoted, 0);
  hu_precision_past past = hu_precision_past_of(plan);
  assert_true(past.steps == 4 && past.promoted == 2 && past.low == 3 * 2406 - 128 + 2406 - 256);
  /* A run that goes on from here: the same assignment, the same mean. */
  hu_net *again = doubling();
  hu_precision *later = plan_of(again, "uniform(promote=1/100)");
  assert_int_equal(hu_precision_set(later, a, &past), HU_OK);
  iterate(again, two);
  assert_true(hu_net_value(again, 3).numbers[0] == 40);
  assert_int_equal(hu_precision_step(later, NULL), HU_OK);
  assert_int_equal(hu_precision_step(plan, NULL), HU_OK);
  mean = hu_precision_mean_ratio(plan);
  is_ratio(hu_precision_mean_ratio(later), mean.num, mean.den);
  hu_precision_free(later);
  hu_net_free(again);
  hu_precision_free(plan);
  hu_net_free(net);
}

/* Weights and biases are one theta; without promotion nothing moves; the limit is a limit. */
static void promotion_of_weights(void **state) {
  (void)state;
  static const char *const rules[] = {"uniform", "uniform(promote=1/600)", "demote(promote=3/544)",
                                      "demote(1,promote=1/200)"};
  static const int promoted_of[] = {0, 1, 0, 1};
  for (size_t k = 0; k < 4; k++) {
    hu_net *net = doubling();
    float x[32] = {0};
    size_t promoted = 9;
    hu_net_parameter(net, 2).numbers[7] = -31; /* two weights and a bias of 512 + 32 */
    hu_net_parameter(net, 2).numbers[9] = 1e9f;
    hu_net_parameter(net, 3).numbers[2] = 30.5f;
    hu_precision *plan = plan_of(net, rules[k]);
    hu_net_parameter(net, 4).numbers[0] = 0;
    iterate(net, x);
    is_ratio(hu_precision_overflow_theta(plan, 2), 3, 544);
    assert_int_equal(hu_precision_step(plan, &promoted), HU_OK);
    assert_int_equal(hu_precision_assignment(plan)->theta[2], !promoted_of[k]);
    iterate(net, x);
    /* The master weights are as they were; what overflowed is the tensor that is read. */
    assert_true(hu_net_parameter(net, 2).numbers[7] == -31);
    is_ratio(hu_precision_overflow_theta(plan, 2), promoted_of[k] ? 0 : 3, promoted_of[k] ? 1 : 544);
    hu_precision_free(plan);
    hu_net_free(net);
  }
}

/* ---- memory ---- */

static void memory_by_hand(void **state) {
  (void)state;
  hu_net *net = toy();
  hu_precision *plan = plan_of(net, "demote(0.5)");
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_precision_memory m;
  assert_int_equal(hu_precision_memory_of(&m, plan, &optimizer), HU_OK);
  /* v: 561 numbers, 384 low; theta: 1284, 1072 low; 16 bits and 8. */
  assert_int_equal(m.values, 16 * 561 - 8 * 384);
  assert_int_equal(m.value_gradients, m.values);
  assert_int_equal(m.weights, 16 * 1284 - 8 * 1072);
  assert_int_equal(m.weight_gradients, 16 * 1284);
  assert_int_equal(m.aggregate, 16 * ALL - 8 * 1840);
  assert_int_equal(m.high, 16 * ALL);
  assert_true(m.master == 32 * 1284 && m.state == 32 * 1284);
  optimizer = hu_optimizer_adamw(hu_bfloat16());
  optimizer.update = HU_UPDATE_KAHAN;
  optimizer.beta2 = 0.98;
  assert_int_equal(hu_precision_memory_of(&m, plan, &optimizer), HU_OK);
  assert_true(m.master == 16 * 1284 && m.state == 3 * 16 * 1284);
  assert_int_equal(hu_precision_memory_of(&m, plan, NULL), HU_OK);
  assert_true(m.master == 0 && m.state == 0);
  optimizer.rate = -1;
  assert_int_equal(hu_precision_memory_of(&m, plan, &optimizer), HU_E_TRAIN);
  hu_precision_free(plan);
  hu_net_free(net);
}

static void bits_of_roundings(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t bits; /* of 3 x 70 numbers */
  } expected[] = {{"keep", 210 * 32},
                  {"fp(4,3,4):finite", 210 * 8},
                  {"fp(2,1,0):finite", 210 * 4},
                  {"posit16", 210 * 16},
                  {"s2fp8", 210 * 8 + 64},
                  {"mxfp6_e3m2", 210 * 6 + 9 * 8},
                  {"mxfp6_e3m2,turned", 210 * 6 + 70 * 8},
                  {"nvfp4", 210 * 4 + 15 * 8 + 32}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    hu_rounding rounding = rounding_of(expected[i].text);
    assert_int_equal(hu_rounding_bits(3, 70, &rounding), expected[i].bits);
  }
  assert_int_equal(hu_rounding_bits(3, 70, NULL), 0);
}

/* ---- misuse ---- */

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } bad[] = {{"", HU_E_NAME, 0},
             {"lowest", HU_E_NAME, 0},
             {"uniform(0.5)", HU_E_TEXT, 8},
             {"demote()", HU_E_TEXT, 7},
             {"demote(2)", HU_E_TEXT, 7},
             {"demote(0.5", HU_E_TEXT, 10},
             {"demote(0.5)x", HU_E_TEXT, 11},
             {"demote(0.5,0.5)", HU_E_TEXT, 11},
             {"demote(0.5,order=big)", HU_E_TEXT, 17},
             {"demote(0.5,seed=)", HU_E_TEXT, 16},
             {"demote(0.5,seed=1,seed=1)", HU_E_TEXT, 18},
             {"demote(0.5,speed=1)", HU_E_NAME, 11},
             {"demote(most=2)", HU_E_TEXT, 12},
             {"operator(most=1)", HU_E_NAME, 9},
             {"operator(reading=text)", HU_E_TEXT, 17},
             {"operator(order=random)", HU_E_NAME, 9},
             {"operator(promote=1.5)", HU_E_TEXT, 17}};
  hu_precision_rule rule = rule_of("demote(0.35,order=random,seed=12,promote=0.001,dtheta=low)");
  assert_true(rule.kind == HU_PRECISION_DEMOTE && rule.order == HU_DEMOTE_RANDOM && rule.seed == 12 &&
              rule.low_dtheta == 1);
  assert_true(rule.r.num == 7 && rule.r.den == 20 && rule.promote && rule.limit.den == 1000);
  rule = rule_of("demote(promote=none)");
  assert_true(!rule.promote && rule.r.num == 1 && rule.r.den == 1 && !rule.reading && rule.most.num == 1);
  rule = rule_of("demote(0.25,most=0.5,reading=published)");
  assert_true(rule.reading == HU_READING_PUBLISHED && rule.most.num == 1 && rule.most.den == 2);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t where = 99;
    hu_status status = hu_precision_rule_parse(&rule, bad[i].text, &where);
    if (status != bad[i].status || where != bad[i].where) {
      fail_msg("'%s': %s at %zu", bad[i].text, hu_status_name(status), where);
    }
  }
  hu_precision *plan = (hu_precision *)&rule;
  hu_net *net = hu_net_new(1, 1);
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_E_SHAPE);
  assert_null(plan);
  int x = hu_net_input(net, 1, 1), y = hu_net_linear(net, x, 1, 0);
  rule.formats.high.format.e = 99;
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_E_FORMAT);
  rule = rule_of("high");
  rule.limit.den = 0;
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_E_TRAIN);
  rule = rule_of("high");
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_OK);
  assert_int_equal(hu_precision_step(plan, NULL), HU_E_TRAIN);
  (void)hu_net_squared_error(net, y, 1);
  assert_int_equal(hu_precision_step(plan, NULL), HU_E_SHAPE);
  hu_precision_free(plan);
  (void)hu_net_add(net, x, 9);
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_E_SHAPE);
  hu_net_free(net);
  assert_int_equal(hu_precision_step(NULL, NULL), HU_E_NULL);
  assert_null(hu_precision_layout(NULL));
  is_ratio(hu_precision_mean_ratio(NULL), 0, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layout_by_hand),    cmocka_unit_test(ratios_by_hand),     cmocka_unit_test(operators_by_hand),
      cmocka_unit_test(formats_arrive),    cmocka_unit_test(ratio_grows_with_r), cmocka_unit_test(two_inputs),
      cmocka_unit_test(shared_parameters), cmocka_unit_test(promotion_toy),      cmocka_unit_test(promotion_of_weights),
      cmocka_unit_test(memory_by_hand),    cmocka_unit_test(bits_of_roundings),  cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("precision", tests, NULL, NULL);
}
