/* SPDX-License-Identifier: MIT */
/* Assignments as the authors' code reads the paper: the groups and ratios of its networks, gradients of each reader. */
#include <stdio.h>
#include <string.h>

#include "halfulp/train/precision.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"
#include "train/net/net.h"

static hu_precision *plan_of(hu_net *net, const char *text) {
  hu_precision_rule rule;
  hu_precision *plan = NULL;
  assert_int_equal(hu_precision_rule_parse(&rule, text, NULL), HU_OK);
  assert_int_equal(hu_precision_new(&plan, net, &rule), HU_OK);
  return plan;
}

/* ---- the authors' networks ---- */

/* One sample 128 times has the sizes of a batch of 128. */
static hu_net *network(const char *text, size_t classes) {
  const hu_model_sizes sizes = {.height = 32, .width = 32, .channels = 3, .outputs = classes};
  hu_model_ends ends;
  hu_net *net = net_of(text, &sizes, 1, 1, &ends);
  assert_true(hu_net_cross_entropy(net, ends.output, 1) > 0);
  net->passes = 128;
  return net;
}

/* A group begins at the input and with what each product makes. */
static unsigned groups_of(const hu_precision *plan, int low) {
  const hu_layout *layout = hu_precision_layout(plan);
  const hu_assignment *now = hu_precision_assignment(plan);
  unsigned count = !low || now->dv[0];
  for (size_t i = 0; i < layout->operators; i++) count += layout->row[i].product && (!low || now->dv[i + 1]);
  return count;
}

static double share_of(hu_ratio ratio) { return (double)ratio.num / (double)ratio.den; }

/* Groups that are taken at a ratio, their share of all elements, and that in force. */
typedef struct taken {
  unsigned groups;
  double sum, in_force;
} taken;

static taken take(hu_net *net, const char *ratio) {
  char text[80];
  snprintf(text, sizeof text, "demote(%s,reading=published,dtheta=low)", ratio);
  hu_precision *whole = plan_of(net, text);
  snprintf(text, sizeof text, "demote(%s,reading=published)", ratio);
  hu_precision *plan = plan_of(net, text);
  taken found = {groups_of(plan, 1), share_of(hu_precision_ratio(whole)), share_of(hu_precision_ratio(plan))};
  hu_precision_free(whole);
  hu_precision_free(plan);
  return found;
}

static void near(const char *what, const char *ratio, double found, double expected, double within) {
  if (found < expected - within || found > expected + within) fail_msg("%s, %s: %.9f", what, ratio, found);
}

/* An independent simulation of the authors' rules gave these, to the digits that are here. */
static void ratios(void **state) {
  (void)state;
  static const char *const at[] = {"0.1", "0.2", "0.4", "0.7", "0.9"};
  static const struct {
    const char *text;
    unsigned groups;
    uint64_t elements;
    taken at[5];
    double all;
  } expected[] = {{"lee_squeezenet",
                   27,
                   356966344,
                   {{1, .2291, .2291}, {1, .2291, .2291}, {3, .4585, .4584}, {7, .7055, .7053}, {15, .9117, .9112}},
                   .997812},
                  {"lee_squeezenet(width=0.25)",
                   27,
                   96339976,
                   {{1, .2122, .2122}, {1, .2122, .2122}, {3, .4245, .4245}, {8, .7196, .7190}, {16, .9156, .9149}},
                   .998641},
                  {"lee_shufflenet2",
                   58,
                   521153424,
                   {{2, .1386, .1386}, {4, .2407, .2407}, {9, .4084, .4083}, {22, .7038, .7033}, {40, .9071, .9052}},
                   .997398},
                  {"lee_shufflenet2(width=0.25)",
                   58,
                   152770992,
                   {{1, .1236, .1236}, {2, .2090, .2083}, {6, .4072, .4065}, {20, .7132, .7124}, {38, .9071, .9055}},
                   .998216},
                  {"lee_mobilenet2",
                   59,
                   1313564264,
                   {{2, .1724, .1724}, {3, .2586, .2586}, {6, .4024, .4023}, {19, .7043, .7042}, {35, .9077, .9069}},
                   .998164},
                  {"lee_mobilenet2(width=0.25)",
                   59,
                   375459448,
                   {{1, .1005, .1005}, {2, .2011, .2011}, {5, .4022, .4022}, {18, .7075, .7071}, {33, .9027, .9022}},
                   .999016},
                  {"lee_resnet18",
                   22,
                   543502920,
                   {{1, .1238, .1236}, {2, .2474, .2472}, {4, .4329, .4325}, {9, .7445, .7427}, {15, .9189, .9070}},
                   .979356},
                  {"lee_resnet18(width=0.25)",
                   22,
                   132320232,
                   {{1, .1269, .1268}, {2, .2537, .2536}, {4, .4440, .4439}, {8, .7140, .7136}, {14, .9073, .9053}},
                   .994611}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    hu_net *net = network(expected[i].text, 100);
    hu_precision *plan = plan_of(net, "high(reading=published)");
    assert_int_equal(groups_of(plan, 0), expected[i].groups);
    assert_int_equal(hu_layout_elements(hu_precision_layout(plan)), expected[i].elements);
    hu_precision_free(plan);
    for (size_t k = 0; k < 5; k++) {
      const taken found = take(net, at[k]), *want = &expected[i].at[k];
      if (found.groups != want->groups) fail_msg("%s, %s: %u groups", expected[i].text, at[k], found.groups);
      near(expected[i].text, at[k], found.sum, want->sum, 5.1e-5);
      near(expected[i].text, at[k], found.in_force, want->in_force, 5.1e-5);
    }
    near(expected[i].text, "1", take(net, "1").in_force, expected[i].all, 5.1e-7);
    hu_net_free(net);
  }
}

static void sizes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t elements;
  } of_10_classes[] = {{"lee_squeezenet", 356459284},
                       {"lee_shufflenet2", 520922844},
                       {"lee_mobilenet2", 1313287604},
                       {"lee_resnet18", 543364500}};
  for (size_t i = 0; i < sizeof of_10_classes / sizeof *of_10_classes; i++) {
    hu_net *net = network(of_10_classes[i].text, 10);
    hu_precision *plan = plan_of(net, "high(reading=published)");
    assert_int_equal(hu_layout_elements(hu_precision_layout(plan)), of_10_classes[i].elements);
    hu_precision_free(plan);
    hu_net_free(net);
  }
  hu_net *net = network("lee_mobilenet2(width=0.1)", 100);
  hu_precision *plan = plan_of(net, "high(reading=published)");
  assert_int_equal(groups_of(plan, 0), 57);
  hu_precision_free(plan);
  hu_net_free(net);
}

/* Runs for which no sum is from r to r + 0.1: the only ones, at any of four widths. */
static void missing_runs(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int tenths; /* 0: none is missing */
  } missing[] = {{"lee_squeezenet(width=%s)", 1}, {"lee_shufflenet2(width=%s)", 1}, {"lee_resnet18(width=%s)", 5}};
  static const char *const widths[] = {"1", "0.5", "0.25", "0.1"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
    for (size_t k = 0; k < 4; k++) {
      char text[64], ratio[8];
      snprintf(text, sizeof text, missing[i].text, widths[k]);
      hu_net *net = network(text, 100);
      for (int r = 1; r <= 9; r++) {
        snprintf(ratio, sizeof ratio, "0.%d", r);
        const int is_missing = r == missing[i].tenths && (i == 0 || k == 3);
        hu_precision_rule rule = hu_precision_rule_default();
        hu_precision *plan = NULL;
        rule.kind = HU_PRECISION_DEMOTE;
        rule.reading = HU_READING_PUBLISHED;
        rule.r = (hu_ratio){(uint64_t)r, 10};
        rule.most = (hu_ratio){(uint64_t)r + 1, 10};
        assert_int_equal(hu_precision_new(&plan, net, &rule), is_missing ? HU_E_TRAIN : HU_OK);
        hu_precision_free(plan);
        if ((take(net, ratio).sum > (r + 1) / 10.0) != is_missing) fail_msg("%s, %s", text, ratio);
      }
      hu_net_free(net);
    }
  }
}

/* ---- operators ---- */

/* What the first and the last group have, and what the last product reads, is high; here three products, of which the
 * middle one alone would be low, read the input, too. */
static void operators(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 1, 3);
  int z = hu_net_linear(net, hu_net_add(net, hu_net_linear(net, x, 3, 0), hu_net_linear(net, x, 3, 0)), 3, 0);
  assert_true(hu_net_cross_entropy(net, hu_net_linear(net, z, 2, 0), 1) == 6);
  hu_precision *plan = plan_of(net, "operator"), *theirs = plan_of(net, "operator(reading=published)");
  const hu_assignment *now = hu_precision_assignment(plan);
  static const uint8_t v[] = {1, 0, 0, 1, 0, 0, 0}, dv[] = {0, 0, 1, 0, 1, 0, 0}, theta[] = {0, 1, 0, 1, 0, 0};
  assert_memory_equal(now->v, v, sizeof v);
  assert_memory_equal(now->dv, dv, sizeof dv);
  assert_memory_equal(now->theta, theta, sizeof theta);
  static const uint8_t v2[] = {0, 0, 0, 1, 0, 0, 0}, dv2[] = {0, 0, 1, 0, 0, 0, 0}, theta2[] = {0, 0, 0, 1, 0, 0};
  now = hu_precision_assignment(theirs);
  assert_memory_equal(now->v, v2, sizeof v2);
  assert_memory_equal(now->dv, dv2, sizeof dv2);
  assert_memory_equal(now->theta, theta2, sizeof theta2);
  hu_precision_free(plan);
  hu_precision_free(theirs);
  hu_net_free(net);
}

/* ---- gradients ---- */

/* x W is read by two sums, in one of them shuffled or as it is, and as its two halves. */
enum { HALF = 2, COLUMNS = 2 * HALF };
typedef struct readers {
  hu_net *net;
  int value, shuffled;
} readers;

static readers many_readers(int shuffle) {
  readers made = {hu_net_new(1, 1), 0, 0};
  hu_net *net = made.net;
  made.value = made.shuffled = hu_net_linear(net, hu_net_input(net, 1, 1), COLUMNS, 0);
  int halves[] = {hu_net_columns(net, made.value, HALF, HALF), hu_net_columns(net, made.value, 0, HALF)};
  if (shuffle) made.shuffled = hu_net_shuffle(net, made.value, 2);
  int z = hu_net_add(net, hu_net_concat(net, 2, halves), made.shuffled);
  assert_true(hu_net_absolute_error(net, hu_net_add(net, z, made.value), 1) > 0);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  return made;
}

static void pass(hu_net *net, float scale) {
  const float x = 1, far[COLUMNS] = {-100, -100, -100, -100};
  float loss;
  assert_int_equal(hu_net_feed(net, 0, &x), HU_OK);
  assert_int_equal(hu_net_targets(net, far), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
  assert_int_equal(hu_net_backward(net, scale), HU_OK);
}

/* A plan of this reading, and gradients of x W alone rounded. */
static hu_precision *plan_of_one(const readers *made, uint8_t reading, hu_mode mode, hu_rounding *coarse) {
  hu_precision_rule rule = hu_precision_rule_default();
  const hu_rounding keep = hu_rounding_keep();
  hu_precision *plan;
  *coarse = hu_rounding_format(hu_format_ieee(5, 1, 0), mode);
  rule.formats = (hu_candidate){keep, keep, keep, keep};
  rule.reading = reading;
  assert_int_equal(hu_precision_new(&plan, made->net, &rule), HU_OK);
  assert_int_equal(hu_net_round_value(made->net, made->value, &keep, coarse), HU_OK);
  return plan;
}

/* With gradients of two digits, 1.25 of each of three readers becomes 1 and their sum 3; of the other reading the sum
 * 3.75 becomes 4. What a shuffle gives was rounded where it was given. */
static void each_reader(void **state) {
  (void)state;
  static const struct {
    uint8_t reading;
    int shuffle;
    float sum;
    uint64_t rounded;
  } cases[] = {{HU_READING_OPERATORS, 0, 4, COLUMNS},
               {HU_READING_PUBLISHED, 0, 3, 3 * COLUMNS},
               {HU_READING_PUBLISHED, 1, 3.25f, 2 * COLUMNS}};
  const hu_mode rne = {0};
  for (size_t k = 0; k < 3; k++) {
    hu_rounding coarse;
    readers made = many_readers(cases[k].shuffle);
    hu_precision *plan = plan_of_one(&made, cases[k].reading, rne, &coarse);
    pass(made.net, 1.25f);
    const float *dv = hu_net_value(made.net, made.value).gradients;
    for (size_t i = 0; i < COLUMNS; i++) assert_true(dv[i] == cases[k].sum);
    assert_int_equal(made.net->value[made.value].counts_back.elements, cases[k].rounded);
    hu_precision_free(plan);
    hu_net_free(made.net);
  }
}

/* A shuffle's value has the gradient's format of what it shuffles, and is not rounded; the loss's gradient is the scale
 * as it is, here above the range. */
static void shuffles_and_the_loss(void **state) {
  (void)state;
  readers made = many_readers(1);
  hu_precision *plan = plan_of(made.net, "demote(1,reading=published)");
  const hu_value *shuffled = &made.net->value[made.shuffled], *value = &made.net->value[made.value];
  assert_int_equal(hu_precision_layout(plan)->values[made.shuffled], 0);
  assert_int_equal(shuffled->round.kind, HU_ROUND_KEEP);
  assert_memory_equal(&shuffled->round_back, &value->round_back, sizeof value->round_back);
  assert_int_not_equal(value->round.kind, HU_ROUND_KEEP);
  pass(made.net, 65536);
  assert_true(hu_net_value(made.net, hu_net_values(made.net) - 1).gradients[0] == 65536);
  assert_true(hu_net_value(made.net, made.value).gradients[0] == 3 * 65536);
  hu_precision_free(plan);
  plan = plan_of(made.net, "demote(1)"); /* the other reading takes the net back */
  pass(made.net, 65536);
  assert_true(hu_net_value(made.net, made.value).gradients[0] > 65536);
  hu_precision_free(plan);
  hu_net_free(made.net);
}

/* Readers draw words of their own: the two sums, then the halves, whose numbers are counted within each. */
static void stochastic(void **state) {
  (void)state;
  const hu_mode sra = {.round = HU_SRA, .bits = 16};
  hu_rounding coarse;
  readers made = many_readers(0);
  hu_precision *plan = plan_of_one(&made, HU_READING_PUBLISHED, sra, &coarse);
  pass(made.net, 1.25f);
  const float *dv = hu_net_value(made.net, made.value).gradients, x = 1.25f;
  for (size_t i = 0; i < COLUMNS; i++) {
    float sum = 0, one;
    const uint64_t numbers[] = {0, 1, i < HALF ? 2 : 3};
    for (size_t k = 0; k < 3; k++) {
      hu_stream words = hui_net_words(made.net, HU_OF_GRADIENT, numbers[k] << 22 | (uint64_t)made.value);
      words.counter += k == 2 ? i % HALF : i;
      const hu_exec exec = {.stream = words};
      assert_int_equal(hu_rounding_apply(1, 1, &one, &x, &coarse, &exec, NULL), HU_OK);
      sum += one;
    }
    if (dv[i] != sum) fail_msg("%zu: %g, not %g", i, (double)dv[i], (double)sum);
  }
  hu_precision_free(plan);
  hu_net_free(made.net);
}

/* A tensor of which a hundredth overflows is promoted by the authors' code alone. */
static void promoted_at_the_limit(void **state) {
  (void)state;
  const uint64_t values[] = {100, 100}, over[] = {1, 0}, none[] = {0, 0};
  const hu_layout_operator row = {0, 0, 0};
  for (uint8_t reading = 0; reading < 2; reading++) {
    uint8_t low[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const hu_layout layout = {1, values, &row, reading};
    hu_assignment assignment = {low, low + 2, low + 4, low + 6};
    const hu_ratio limit = {1, 100}, zero = {0, 1};
    assert_int_equal(hu_assign_promote(&layout, &assignment, over, none, limit), reading);
    assert_int_equal(assignment.v[0], !reading);
    assert_int_equal(hu_assign_promote(&layout, &assignment, none, none, zero), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ratios),       cmocka_unit_test(sizes),
                                     cmocka_unit_test(missing_runs), cmocka_unit_test(operators),
                                     cmocka_unit_test(each_reader),  cmocka_unit_test(shuffles_and_the_loss),
                                     cmocka_unit_test(stochastic),   cmocka_unit_test(promoted_at_the_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
