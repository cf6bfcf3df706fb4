/* SPDX-License-Identifier: MIT */
/* Theorem 3.2 of Lee et al. (2023): choosing an assignment is as hard as the knapsack problem. Its construction as a
 * network: one step of training gives the closed form of lemma A.1 bit for bit, for every choice of tensors, and the
 * best assignment that is small enough is the best packing.
 *
 *   v_0 = x in R^n, split into v_1 ... v_n; v_(n+i) = v_i theta_i in R^(w_i), no biases; v_(2n+1) the sum of all of
 *   them; v_(2n+2) = 2^-k |v_(2n+1) - y|. theta = 0; one step of SGD, rate 2^-l, no momentum, binary32 weights.
 *   Numbers of values are the paper's, and those of the net. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/precision.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { N = 3, MOST = 3 * N + 3 };
static const hu_mode rne;

typedef struct instance {
  size_t n;
  unsigned w[N], p[N], limit; /* weights, profits, W */
  int k, l;
  double x[N], y;
} instance;

static unsigned all_weights(const instance *c) {
  unsigned sum = 0;
  for (size_t i = 0; i < c->n; i++) sum += c->w[i];
  return sum;
}

static hu_format low(void) { return hu_format_finite(4, 3, 4); }
static hu_format high(void) { return hu_format_finite(6, 9, 0); }
static double in_low(double x) { return hu_quantize64(low(), rne, x, 0, NULL); }
static double in_high(double x) { return hu_quantize64(high(), rne, x, 0, NULL); }

/* What the proof asks of formats and constants: (3) holds for them; (4), (5), (6), and the range of y. */
static void conditions(const instance *c) {
  unsigned top = 0;
  double reach = 0;
  for (size_t i = 0; i < c->n; i++) top = c->p[i] > top ? c->p[i] : top;
  assert_true(in_low(ldexp(1, -c->k)) == 0 && in_high(ldexp(1, -c->k)) == ldexp(1, -c->k));
  for (size_t i = 0; i < c->n; i++) {
    double s = sqrt((double)c->p[i] / c->w[i]);
    assert_true(c->x[i] == in_low(s) && fabs(c->x[i] - s) < s / (6.0 * (double)c->n * top));
    assert_true(in_low(ldexp(c->x[i], -c->k)) == 0);
    assert_true(in_high(ldexp(c->x[i], -c->k)) == ldexp(c->x[i], -c->k));
    assert_true(in_high(ldexp(c->x[i], -c->k - c->l)) == ldexp(c->x[i], -c->k - c->l));
    reach += c->w[i] * c->x[i] * c->x[i];
  }
  assert_true(c->y < -ldexp(reach, -c->k - c->l));
}

typedef struct t_problem {
  const instance *c;
  hu_net *net;
  hu_precision *plan;
  int x;
} t_problem;

static t_problem build(const instance *c) {
  t_problem z = {c, hu_net_new(1, 1), NULL, 0};
  int part[N], product[N];
  z.x = hu_net_input(z.net, 1, c->n);
  for (size_t i = 0; i < c->n; i++) part[i] = hu_net_columns(z.net, z.x, i, 1);
  for (size_t i = 0; i < c->n; i++) product[i] = hu_net_linear(z.net, part[i], c->w[i], 0);
  (void)hu_net_absolute_error(z.net, hu_net_sum(z.net, c->n, product), ldexp(1, -c->k));
  hu_precision_rule rule = hu_precision_rule_default();
  rule.formats.low = rule.formats.low_back = hu_rounding_format(low(), rne);
  rule.formats.high = rule.formats.high_back = hu_rounding_format(high(), rne);
  assert_int_equal(hu_precision_new(&z.plan, z.net, &rule), HU_OK);
  const hu_layout *layout = hu_precision_layout(z.plan);
  assert_int_equal(layout->operators, 2 * c->n + 2);
  for (size_t i = 0; i < c->n; i++) assert_int_equal(layout->row[c->n + i].parameters, c->w[i]);
  return z;
}

static void drop(t_problem *z) {
  hu_precision_free(z->plan);
  hu_net_free(z->net);
}

/* The tensors that matter: bit 0 dv_(2n+1), bits 1 ... n dv_(n+i), the next n dtheta_i; set: high. The others all
 * low or all high. */
static void choose(t_problem *z, unsigned mask, int others_low) {
  uint8_t v[MOST], dv[MOST], theta[MOST], dtheta[MOST];
  hu_assignment a = {v, dv, theta, dtheta};
  size_t n = z->c->n;
  memset(v, others_low, sizeof v);
  memset(dv, others_low, sizeof dv);
  memset(theta, others_low, sizeof theta);
  memset(dtheta, others_low, sizeof dtheta);
  dv[2 * n + 1] = !(mask & 1);
  for (size_t i = 0; i < n; i++) {
    dv[n + 1 + i] = !(mask >> (1 + i) & 1);
    dtheta[n + i] = !(mask >> (1 + n + i) & 1);
  }
  assert_int_equal(hu_precision_set(z->plan, &a, NULL), HU_OK);
}

static unsigned taken(const instance *c, unsigned mask) {
  return mask & 1 ? mask >> 1 & mask >> (1 + c->n) & ((1u << c->n) - 1) : 0;
}

/* One step from zero; then -L of the new weights, exactly: sums of few binary64 digits. */
static double accuracy(t_problem *z) {
  const instance *c = z->c;
  float x[N], y = (float)c->y;
  for (size_t i = 0; i < c->n; i++) x[i] = (float)c->x[i];
  assert_int_equal(hu_net_initialize(z->net, 1), HU_OK);
  for (size_t i = 0; i < c->n; i++) {
    memset(hu_net_parameter(z->net, (int)i).numbers, 0, c->w[i] * sizeof(float));
  }
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  optimizer.momentum = 0;
  optimizer.rate = ldexp(1, -c->l);
  assert_int_equal(hu_net_feed(z->net, z->x, x), HU_OK);
  assert_int_equal(hu_net_targets(z->net, &y), HU_OK);
  assert_int_equal(hu_net_forward(z->net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(z->net, scale.scale), HU_OK);
  assert_int_equal(hu_net_update(z->net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  double out = 0;
  for (size_t i = 0; i < c->n; i++) {
    const float *theta = hu_net_parameter(z->net, (int)i).numbers;
    for (size_t j = 0; j < c->w[i]; j++) out += (double)theta[j] * c->x[i];
  }
  return -ldexp(fabs(out - c->y), -c->k);
}

/* Lemma A.1. */
static double closed_form(const instance *c, unsigned set) {
  double sum = 0;
  for (size_t i = 0; i < c->n; i++) sum += (set >> i & 1) * c->w[i] * c->x[i] * c->x[i];
  return ldexp(c->y, -c->k) + ldexp(sum, -2 * c->k - c->l);
}

static unsigned total(const unsigned *of, size_t n, unsigned set) {
  unsigned sum = 0;
  for (size_t i = 0; i < n; i++) sum += (set >> i & 1) * of[i];
  return sum;
}

/* The set of items of the largest profit that fits; *only: no other has as much. */
static unsigned best_packing(const instance *c, int *only) {
  unsigned best = 0;
  *only = 1;
  for (unsigned set = 1; set < 1u << c->n; set++) {
    if (total(c->w, c->n, set) > c->limit) continue;
    unsigned was = total(c->p, c->n, best), is = total(c->p, c->n, set);
    if (is == was) *only = 0;
    if (is <= was) continue;
    best = set;
    *only = 1;
  }
  return best;
}

/* At least r = max(0, 1 - (2 W + 1) / size) of the elements low. */
static int small_enough(const t_problem *z) {
  uint64_t size = 4 * z->c->n + 4 + 4 * all_weights(z->c), most = 2 * z->c->limit + 1;
  hu_ratio got = hu_precision_ratio(z->plan);
  assert_int_equal(size % got.den, 0);
  return most >= size || got.num * size >= (size - most) * got.den;
}

/* All choices of all tensors that matter; the best of those that are small enough. */
static unsigned check(const instance *c) {
  t_problem z = build(c);
  double best = -INFINITY;
  unsigned found = 0;
  conditions(c);
  for (int others_low = 0; others_low < 2; others_low++) {
    for (unsigned mask = 0; mask < 1u << (1 + 2 * c->n); mask++) {
      choose(&z, mask, others_low);
      double got = accuracy(&z), expected = closed_form(c, taken(c, mask));
      if (!t_same64(got, expected)) fail_msg("choice %u, others %d: %a, not %a", mask, others_low, got, expected);
      if (!small_enough(&z) || got < best) continue;
      best = got;
      found = taken(c, mask);
    }
  }
  int only;
  unsigned packing = best_packing(c, &only);
  assert_true(total(c->w, c->n, found) <= c->limit);
  assert_int_equal(total(c->p, c->n, found), total(c->p, c->n, packing));
  if (only) assert_int_equal(found, packing);
  drop(&z);
  return found;
}

/* Exactly the tensors high that a set of items needs: what the table says of it. */
static void line(const instance *c, unsigned set, double accuracy_of, uint64_t num, uint64_t den, int fits) {
  t_problem z = build(c);
  choose(&z, 1 | set << 1 | set << (1 + c->n), 1);
  double got = accuracy(&z);
  if (!t_same64(got, accuracy_of)) fail_msg("set %u: %a, not %a", set, got, accuracy_of);
  hu_ratio ratio = hu_precision_ratio(z.plan), expected = hu_ratio_of(num, den);
  assert_true(ratio.num == expected.num && ratio.den == expected.den);
  assert_int_equal(small_enough(&z), fits);
  drop(&z);
}

/* The paper's own formats, exact roots. */
static const instance first = {3, {1, 2, 4}, {1, 8, 9}, 5, 16, 4, {1, 2, 1.5}, -1};
/* Roots that are rounded: 13/16, 11/16. */
static const instance second = {2, {3, 2}, {2, 1}, 3, 16, 3, {0x1.ap-1, 0x1.6p-1}, -0.5};

static void instance_1(void **state) {
  (void)state;
  line(&first, 0, -0x1.00000p-16, 43, 44, 1);
  line(&first, 1, -0x1.ffffep-17, 41, 44, 1);
  line(&first, 2, -0x1.ffffp-17, 39, 44, 1);
  line(&first, 4, -0x1.fffeep-17, 35, 44, 1);
  line(&first, 3, -0x1.fffeep-17, 37, 44, 1);
  line(&first, 5, -0x1.fffecp-17, 33, 44, 1);
  line(&first, 6, -0x1.fffdep-17, 31, 44, 0);
  line(&first, 7, -0x1.fffdcp-17, 29, 44, 0);
  assert_int_equal(check(&first), 5);
}

static void instance_2(void **state) {
  (void)state;
  line(&second, 0, -0x1.000000p-17, 31, 32, 1);
  line(&second, 1, -0x1.ffff028p-18, 25, 32, 1);
  line(&second, 2, -0x1.ffff87p-18, 27, 32, 1);
  line(&second, 3, -0x1.fffe898p-18, 21, 32, 0);
  assert_int_equal(check(&second), 1);
}

/* Binary32 has digits enough for the first instance: the engine's own loss of the new weights, nothing rounded. */
static void the_loss_itself(void **state) {
  (void)state;
  hu_rounding keep = hu_rounding_keep();
  for (unsigned set = 0; set < 8; set++) {
    t_problem z = build(&first);
    float loss = 0;
    choose(&z, 1 | set << 1 | set << 4, 1);
    double got = accuracy(&z);
    for (int i = 0; i < hu_net_values(z.net); i++) {
      assert_int_equal(hu_net_round_value(z.net, i, &keep, NULL), HU_OK);
    }
    for (int i = 0; i < hu_net_parameters(z.net); i++) {
      assert_int_equal(hu_net_round_parameter(z.net, i, &keep, NULL), HU_OK);
    }
    assert_int_equal(hu_net_forward(z.net, 0, &loss), HU_OK);
    assert_true(t_same64(-(double)loss, got));
    drop(&z);
  }
}

/* Random items with exact roots 1, 1.5, 2, 3; any capacity, also one that holds nothing and one that holds all. */
static void random_items(void **state) {
  (void)state;
  static const unsigned root[] = {2, 3, 4, 6}; /* halves */
  t_random random = {t_seed("knapsack", 1)};
  for (int round = 0; round < 60; round++) {
    instance c = {1 + t_below(&random, N), {0}, {0}, 0, 16, 4, {0}, -1};
    for (size_t i = 0; i < c.n; i++) {
      unsigned half = root[t_below(&random, 4)];
      c.w[i] = (1 + t_below(&random, 3)) * (half == 3 ? 4 : 1);
      c.p[i] = c.w[i] * half * half / 4;
      c.x[i] = half / 2.0;
    }
    c.limit = t_below(&random, all_weights(&c) + 2);
    (void)check(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(instance_1), cmocka_unit_test(instance_2),
                                     cmocka_unit_test(the_loss_itself), cmocka_unit_test(random_items)};
  return cmocka_run_group_tests_name("knapsack", tests, NULL, NULL);
}
