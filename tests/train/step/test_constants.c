/* SPDX-License-Identifier: MIT */
/* Constants that their format does not keep: other than 0 and 0 there, or below 1 and 1 there. What the error names
 * works, and the number next to it does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "halfulp/train/gradient.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"

static double in(hu_format format, double x) {
  const hu_mode rne = {0};
  return hu_decode64(format, hu_encode64(format, rne, x, 0, NULL));
}

static hu_optimizer of_kind(int kind, hu_format state) {
  hu_optimizer optimizer = kind == HU_SGD     ? hu_optimizer_sgd(state)
                           : kind == HU_ADAMW ? hu_optimizer_adamw(state)
                                              : hu_optimizer_adagrad(state);
  optimizer.momentum = optimizer.beta1 = optimizer.beta2 = optimizer.eps = optimizer.rate = 0.5;
  return optimizer;
}

/* Field number i of six, and which kinds have it. */
static double *field(hu_optimizer *optimizer, int i) {
  double *const all[] = {&optimizer->rate, &optimizer->decay, &optimizer->momentum,
                         &optimizer->eps,  &optimizer->beta1, &optimizer->beta2};
  return all[i];
}
static const char *const names[] = {"rate", "decay", "momentum", "eps", "beta1", "beta2"};
static const int has[3][6] = {{1, 1, 1, 0, 0, 0}, {1, 1, 0, 1, 1, 1}, {1, 1, 0, 1, 0, 0}};
enum { FIELDS = 6 };

/* The last number of the sentence. */
static double named(const char *said, const char *behind) {
  const char *at = strstr(said, behind);
  if (!at) fail_msg("'%s' has no '%s'", said, behind);
  at += strlen(behind);
  return strncmp(at, "2^", 2) == 0 ? ldexp(1, atoi(at + 2)) : strtod(at, NULL);
}

static void refused(const hu_optimizer *optimizer, const char *name, const char *says, double *works) {
  const char *said = "";
  char begin[32];
  snprintf(begin, sizeof begin, "%s: ", name);
  assert_int_equal(hu_optimizer_check(optimizer, &said), HU_E_TRAIN);
  if (strncmp(said, begin, strlen(begin)) != 0) fail_msg("'%s' does not begin with %s", said, begin);
  *works = named(said, says);
}

static void test_optimizers(void **state) {
  (void)state;
  const hu_format formats[] = {hu_binary32(),      hu_bfloat16(),      hu_binary16(),          hu_float8_e5m2(),
                               hu_float8_e4m3fn(), hu_float6_e3m2fn(), hu_format_ieee(6, 9, 0)};
  int cases = 0;
  for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
    for (int kind = HU_SGD; kind <= HU_ADAGRAD; kind++)
      for (int i = 0; i < FIELDS; i++) {
        hu_optimizer optimizer = of_kind(kind, formats[f]);
        double least = hu_limits_of(formats[f]).min, works;
        assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
        *field(&optimizer, i) = least / 2; /* the even neighbour is 0 */
        if (!has[kind][i]) {
          assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
          continue;
        }
        refused(&optimizer, names[i], "the smallest above 0 is ", &works);
        assert_true(works == least);
        *field(&optimizer, i) = nextafter(least / 2, 1);
        assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
        *field(&optimizer, i) = 0;
        assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
        *field(&optimizer, i) = 1 - 0x1p-53;
        refused(&optimizer, names[i], "the largest below 1 is ", &works);
        assert_true(works < 1 && in(formats[f], works) == works && in(formats[f], (1 + works) / 2) == 1);
        *field(&optimizer, i) = works;
        assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
        cases += 6;
      }
  printf("constants of optimizers: %d\n", cases);
}

static void test_defaults(void **state) {
  (void)state;
  double works;
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary16());
  refused(&optimizer, "eps", "the smallest above 0 is ", &works);
  assert_true(works == 0x1p-24);
  optimizer.eps = 1e-7;
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
  optimizer = hu_optimizer_adamw(hu_bfloat16());
  refused(&optimizer, "beta2", "the largest below 1 is ", &works);
  assert_true(works == 0.99609375);
  optimizer = hu_optimizer_adagrad(hu_binary16());
  refused(&optimizer, "eps", "the smallest above 0 is ", &works);
}

/* A schedule may end at a rate that is 0 in the format; the other constants are asked for in each step, too. */
static void test_steps(void **state) {
  (void)state;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary16());
  float w = 1, g = 1, m = 0, v = 0;
  hu_optimizer_arrays x = {&w, &g, &m, NULL, NULL}, y = {&w, &g, &m, &v, NULL};
  hu_optimizer_time now = {1, 0.5, 0.5};
  optimizer.rate = 1e-9;
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_E_TRAIN);
  assert_int_equal(hu_optimizer_check_step(&optimizer, NULL), HU_OK);
  assert_int_equal(hu_optimizer_bytes(&optimizer), 4);
  assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_OK);
  assert_true(w == 1 && m == 1);
  optimizer = hu_optimizer_adamw(hu_binary16());
  assert_int_equal(hu_optimizer_check_step(&optimizer, NULL), HU_E_TRAIN);
  assert_int_equal(hu_optimizer_step(1, &y, &optimizer, &now, (hu_stream){0, 0}, NULL), HU_E_TRAIN);
  assert_true(w == 1 && m == 1 && v == 0);
}

/* Numbers of rules are binary32. */
static void test_rules(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } rows[] = {{"static(1e-50)", HU_E_TEXT, 7},
              {"gradscaler(backoff_factor=1e-50)", HU_E_TEXT, 26},
              {"gradscaler(backoff_factor=0.999999999)", HU_E_TEXT, 26},
              {"gradscaler(backoff_factor=0.99999994)", HU_OK, 0},
              {"backoff(scale_min=1e-60)", HU_E_TEXT, 18},
              {"exponential(start=2^-149)", HU_E_TRAIN, 0},
              {"exponential(start=2^-126)", HU_OK, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hu_loss_rule rule;
    size_t where = 0;
    if (hu_loss_rule_parse(&rule, rows[i].text, &where) != rows[i].status) fail_msg("%s", rows[i].text);
    if (rows[i].status != HU_OK) assert_int_equal(where, rows[i].where);
  }
  hu_penalty penalty = {HU_PENALTY_L2, 1e-60};
  const char *said = "";
  assert_int_equal(hu_penalty_check(&penalty, &said), HU_E_TRAIN);
  assert_true(named(said, "the smallest above 0 is ") == 0x1p-149);
  penalty.lambda = 0;
  assert_int_equal(hu_penalty_check(&penalty, NULL), HU_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_optimizers), cmocka_unit_test(test_defaults),
                                     cmocka_unit_test(test_steps), cmocka_unit_test(test_rules)};
  return cmocka_run_group_tests_name("constants", tests, NULL, NULL);
}
