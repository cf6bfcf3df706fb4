/* SPDX-License-Identifier: MIT */
/* Assignments: the network of four products worked out by hand, laws on random networks, promotion, misuse. */
#include <string.h>

#include "halfulp/train/rounding.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { M = 8, MOST = 40 };
/* 8-16-32-16-4 with biases, batch 4: product, ReLU, ... product, loss. */
static const uint64_t values[M + 1] = {32, 64, 64, 128, 128, 64, 64, 16, 1};
static const hu_layout_operator row[M] = {{144, 0, 1}, {0, 1, 0}, {544, 2, 1}, {0, 3, 0},
                                          {528, 4, 1}, {0, 5, 0}, {68, 6, 1},  {0, 7, 0}};
static const hu_layout net = {M, values, row, HU_READING_OPERATORS};
static const hu_stream none;

typedef struct t_place {
  uint8_t v[MOST + 1], dv[MOST + 1], theta[MOST], dtheta[MOST];
} t_place;

static hu_assignment in(t_place *place) {
  hu_assignment a = {place->v, place->dv, place->theta, place->dtheta};
  return a;
}

static void is_ratio(hu_ratio ratio, uint64_t num, uint64_t den) {
  assert_int_equal(ratio.num, num);
  assert_int_equal(ratio.den, den);
}

static hu_ratio ratio_of(const char *text) {
  hu_ratio ratio = {0, 0};
  assert_int_equal(hu_ratio_parse(&ratio, text), HU_OK);
  return ratio;
}

static void by_hand(void **state) {
  (void)state;
  static const struct {
    const char *r;
    uint64_t num, den, kept_num, kept_den;
    unsigned groups; /* bit k: group k is low */
  } expected[] = {{"0", 0, 1, 0, 1, 0},
                  {"0.1", 784, 1845, 104, 369, 4},
                  {"0.4", 784, 1845, 104, 369, 4},
                  {"784/1845", 784, 1845, 104, 369, 4},
                  {"0.5", 1456, 1845, 184, 369, 6},
                  {"0.7", 1456, 1845, 184, 369, 6},
                  {"0.8", 1652, 1845, 1082, 1845, 14},
                  {"0.9", 1828, 1845, 1186, 1845, 15},
                  {"1", 1, 1, 401, 615, 31}};
  static const unsigned group_of[M + 1] = {0, 1, 1, 2, 2, 3, 3, 4, 4};
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    t_place place;
    hu_assignment a = in(&place);
    assert_int_equal(hu_assign_demote(&net, &a, ratio_of(expected[k].r), HU_DEMOTE_LARGEST, none), HU_OK);
    is_ratio(hu_assign_ratio(&net, &a), expected[k].num, expected[k].den);
    for (size_t i = 0; i <= M; i++) {
      assert_int_equal(place.v[i], expected[k].groups >> group_of[i] & 1);
      assert_int_equal(place.dv[i], place.v[i]);
      if (i < M) assert_int_equal(place.theta[i], place.v[i]);
    }
    hu_assign_keep_parameter_gradients(&net, &a);
    is_ratio(hu_assign_ratio(&net, &a), expected[k].kept_num, expected[k].kept_den);
  }
}

static void operators(void **state) {
  (void)state;
  t_place place;
  hu_assignment a = in(&place);
  assert_int_equal(hu_assign_operator(&net, &a), HU_OK);
  is_ratio(hu_assign_ratio(&net, &a), 728, 1845);
  static const uint8_t v[M + 1] = {0, 0, 1, 0, 1}, dv[M + 1] = {0, 0, 0, 1, 0, 1}, theta[M] = {0, 0, 1, 0, 1};
  assert_memory_equal(place.v, v, sizeof v);
  assert_memory_equal(place.dv, dv, sizeof dv);
  assert_memory_equal(place.theta, theta, sizeof theta);
  assert_int_equal(hu_assign_operator_prime(&net, &a), HU_OK);
  hu_assign_keep_parameter_gradients(&net, &a);
  is_ratio(hu_assign_ratio(&net, &a), 184, 369);
  assert_int_equal(hu_assign_uniform(&net, &a), HU_OK);
  is_ratio(hu_assign_ratio(&net, &a), 1, 1);
  assert_int_equal(hu_assign_high(&net, &a), HU_OK);
  is_ratio(hu_assign_ratio(&net, &a), 0, 1);
}

static void orders(void **state) {
  (void)state;
  t_place place;
  hu_assignment a = in(&place);
  /* Smallest first: T5 (34), T1 (352), T4 (392). */
  assert_int_equal(hu_assign_demote(&net, &a, ratio_of("0.1"), HU_DEMOTE_SMALLEST, none), HU_OK);
  is_ratio(hu_assign_ratio(&net, &a), 193, 1845);
  assert_true(place.v[0] && !place.v[1] && !place.v[5] && place.v[8]);
  assert_int_equal(hu_assign_demote(&net, &a, ratio_of("0.11"), HU_DEMOTE_SMALLEST, none), HU_OK);
  assert_true(place.v[0] && !place.v[1] && place.v[5] && place.v[8]);
}

/* Ratios grow with r; they reach it, and without the last group they do not. Every order. */
static void random_networks(void **state) {
  (void)state;
  t_random random = {t_seed("assignment", 1)};
  for (int round = 0; round < 2000; round++) {
    uint64_t sizes[MOST + 1];
    hu_layout_operator ops[MOST];
    size_t m = 1 + t_below(&random, MOST);
    hu_layout layout = {m, sizes, ops, HU_READING_OPERATORS};
    for (size_t i = 0; i <= m; i++) sizes[i] = 1 + t_below(&random, 1u << t_below(&random, 20));
    for (size_t i = 0; i < m; i++) {
      ops[i].product = (uint8_t)t_below(&random, 2);
      ops[i].parameters = ops[i].product ? t_below(&random, 10000) : 0;
      ops[i].input = t_below(&random, (uint32_t)i + 1);
    }
    unsigned order = t_below(&random, 3);
    hu_stream stream = {t_next64(&random), 0};
    double before = 0;
    for (uint64_t k = 0; k <= 10; k++) {
      t_place place, again;
      hu_assignment a = in(&place), b = in(&again);
      hu_ratio expected = {k, 10};
      assert_int_equal(hu_assign_demote(&layout, &a, expected, order, stream), HU_OK);
      hu_ratio got = hu_assign_ratio(&layout, &a);
      double x = (double)got.num / (double)got.den;
      assert_true(got.num * 10 >= k * got.den && x >= before);
      if (k == 0) assert_int_equal(got.num, 0);
      before = x;
      /* The same ratio asked for gives the same assignment. */
      if (got.den > 1000000) continue;
      assert_int_equal(hu_assign_demote(&layout, &b, got, order, stream), HU_OK);
      assert_memory_equal(place.v, again.v, m + 1);
      assert_memory_equal(place.theta, again.theta, m);
    }
  }
}

static void promotion(void **state) {
  (void)state;
  t_place place;
  hu_assignment a = in(&place);
  hu_ratio limit = {1, 100};
  uint64_t over_v[M + 1] = {0}, over_theta[M] = {0};
  assert_int_equal(hu_assign_demote(&net, &a, ratio_of("0.5"), HU_DEMOTE_LARGEST, none), HU_OK);
  over_v[3] = 1;  /* 1 / 128 */
  over_v[0] = 32; /* high already */
  assert_int_equal(hu_assign_promote(&net, &a, over_v, over_theta, limit), 0);
  over_v[3] = 2; /* 2 / 128 */
  over_theta[2] = 544;
  assert_int_equal(hu_assign_promote(&net, &a, over_v, over_theta, limit), 2);
  assert_true(place.v[3] == 0 && place.dv[3] == 1 && place.theta[2] == 0 && place.dtheta[2] == 1 && place.v[4] == 1);
  assert_int_equal(hu_assign_promote(&net, &a, over_v, over_theta, limit), 0);
}

static void misuse(void **state) {
  (void)state;
  static const char *const bad[] = {"", "2", "-1", "0.", ".5", "1e-1", "0.5x", "1/0", "3/2", "0.12345678", "1/2000000"};
  hu_ratio ratio = {7, 9};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (hu_ratio_parse(&ratio, bad[i]) != HU_E_TEXT) fail_msg("'%s' was taken", bad[i]);
    is_ratio(ratio, 7, 9);
  }
  is_ratio(ratio_of("0.350"), 7, 20);
  t_place place;
  hu_assignment a = in(&place);
  hu_layout layout = net;
  layout.operators = 0;
  assert_int_equal(hu_assign_uniform(&layout, &a), HU_E_SHAPE);
  hu_layout_operator late[1] = {{1, 1, 1}};
  hu_layout forward = {1, values, late, HU_READING_OPERATORS};
  assert_int_equal(hu_layout_check(&forward), HU_E_SHAPE);
  late[0].input = 0;
  assert_int_equal(hu_layout_check(&forward), HU_OK);
  forward.reading = HU_READING_PUBLISHED + 1;
  assert_int_equal(hu_layout_check(&forward), HU_E_SHAPE);
  uint64_t big[2] = {(uint64_t)1 << 42, 1};
  late[0].input = 0;
  forward.values = big;
  assert_int_equal(hu_layout_check(&forward), HU_E_SHAPE);
  hu_ratio above = {3, 2};
  assert_int_equal(hu_assign_demote(&net, &a, above, 0, none), HU_E_SHAPE);
  assert_int_equal(hu_assign_demote(&net, &a, ratio_of("0.5"), 3, none), HU_E_SHAPE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),   cmocka_unit_test(operators),
                                     cmocka_unit_test(orders),    cmocka_unit_test(random_networks),
                                     cmocka_unit_test(promotion), cmocka_unit_test(misuse)};
  return cmocka_run_group_tests_name("assignment", tests, NULL, NULL);
}
