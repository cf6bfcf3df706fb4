/* SPDX-License-Identifier: MIT */
/* Loss scaling: texts, the published scalers on sequences worked out by hand, their laws, and gradients unscaled. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "halfulp/train/gradient.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { STEPS = 20 };
/* The largest gradient of each step, before scaling. */
static const double gmax[STEPS] = {0.5, 0.9, 1.5, 3, 5, 9, 9, 8, 7.5, 3, 2, 1, 0.8, 0.6, 12, 0.5, 0.4, 0.3, 0.2, 0.1};

static hu_loss_rule rule_of(const char *text) {
  hu_loss_rule rule;
  size_t where = 0;
  hu_status status = hu_loss_rule_parse(&rule, text, &where);
  if (status != HU_OK) fail_msg("%s: %s at %zu", text, hu_status_name(status), where);
  return rule;
}

/* A step overflows binary16 where the scaled gradient rounds to infinity. */
static hu_gradient_found found_by(double g, float scale) {
  hu_gradient_found found = {(float)g, g * (double)scale >= 65520};
  return found;
}

static void trace(const char *text, const double *expected, double tolerance) {
  hu_loss_rule rule = rule_of(text);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int t = 0; t < STEPS; t++) {
    hu_gradient_found found = found_by(gmax[t], scale.scale);
    assert_int_equal(hu_loss_scale_update(&scale, &rule, found), !found.bad);
    if (fabs((double)scale.scale - expected[t]) > tolerance * expected[t]) {
      fail_msg("%s, step %d: %.9g, not %.9g", text, t, (double)scale.scale, expected[t]);
    }
  }
}

static void worked_sequences(void **state) {
  (void)state;
  static const double back[STEPS] = {16384, 16384, 16384, 16384, 8192, 4096, 4096, 4096, 4096,  8192,
                                     8192,  8192,  8192,  16384, 8192, 8192, 8192, 8192, 16384, 16384};
  static const double wide[STEPS] = {65536, 65536, 32768, 16384, 8192, 4096, 4096, 4096, 4096,  8192,
                                     8192,  8192,  8192,  16384, 8192, 8192, 8192, 8192, 16384, 16384};
  static const double log_max[STEPS] = {16384,      16384,      16384,      7111.06118, 3211.79833,
                                        1422.82895, 968.270313, 839.996653, 803.463529, 957.522859,
                                        1119.58931, 1187.21417, 1226.322,   1222.71436, 938.875889,
                                        923.758611, 898.429629, 854.556481, 778.981166, 641.534667};
  static const double corrected[STEPS] = {
      131072, 1,          1,         1,          1,          1,          1,          1,          1,         1,
      1,      1.26726009, 1.7762806, 2.38103447, 2.92502891, 3.67782122, 4.51290622, 5.38535763, 6.1906692, 6.6350782};
  static const double literal[STEPS] = {131072, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  /* Steps 3 to 6 and 14 overflow on the way; powers of 3 are no powers of two, and 729 is not reached. */
  static const double exponents[STEPS] = {16384,  16384,  32768,  32768,   32768,   65536,  65536,
                                          65536,  131072, 131072, 131072,  262144,  262144, 262144,
                                          524288, 524288, 524288, 1048576, 1048576, 1048576};
  static const double threes[STEPS] = {1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27, 81, 81, 81, 81, 243};
  static const double limited[STEPS] = {3,   9,   27,  81,  243, 500, 500, 500, 500, 500,
                                        500, 500, 500, 500, 500, 500, 500, 500, 500, 500};
  trace("exponential(start=16384,every=3,scale_max=2^24)", exponents, 0);
  trace("exponential(factor=3,every=4)", threes, 0);
  trace("Exponential(factor=3,every=1,scale_max=500)", limited, 0);
  trace("backoff(step_window=4)", back, 0);
  trace("Backoff(scale_max=2^24,step_window=4,start=65536)", wide, 0);
  trace("gradscaler(growth_interval=4)", wide, 0);
  trace("logmax", log_max, 1e-6);
  trace("LogNormal", log_max, 1e-6);
  trace("logmax(scale_max=2^24)", corrected, 1e-6);
  trace("logmax(scale_max=2^24,literal)", literal, 0);
}

/* mu and sigma of the published sequence. */
static void moments(void **state) {
  (void)state;
  static const struct {
    int step;
    double mu, sigma;
  } expected[] = {{0, -1, 0},
                  {1, -0.573870901, 0.4239984},
                  {4, 0.684815686, 1.18641383},
                  {9, 1.74817261, 1.40733471},
                  {14, 1.38606851, 1.53370254},
                  {19, 0.487659035, 2.00225163}};
  hu_loss_rule rule = rule_of("logmax");
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  size_t k = 0;
  for (int t = 0; t < STEPS; t++) {
    hu_loss_scale_update(&scale, &rule, found_by(gmax[t], scale.scale));
    if (k == sizeof expected / sizeof *expected || expected[k].step != t) continue;
    double mean = scale.sh / (1 - scale.c2), variance = scale.qh / (1 - scale.c2) - mean * mean;
    assert_true(fabs(scale.xh / (1 - scale.c1) - expected[k].mu) < 1e-7);
    assert_true(fabs(sqrt(variance > 0 ? variance : 0) - expected[k].sigma) < 1e-6);
    k++;
  }
  assert_int_equal(k, sizeof expected / sizeof *expected);
}

/* Steps back to 2^14 after one overflow, the 101st step in a stream of 2^-4. */
static int recovery(const char *text) {
  hu_loss_rule rule = rule_of(text);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  hu_gradient_found good = {0.0625f, 0}, bad = {0, 1};
  for (int t = 0; t < 100; t++) assert_int_equal(hu_loss_scale_update(&scale, &rule, good), 1);
  assert_true(scale.scale == 16384);
  assert_int_equal(hu_loss_scale_update(&scale, &rule, bad), 0);
  assert_true(scale.scale < 16384);
  print_message("%s: %g after the overflow\n", text, (double)scale.scale);
  int steps = 0;
  while (scale.scale < 16384 && steps < 100000) {
    hu_loss_scale_update(&scale, &rule, good);
    steps++;
  }
  return steps;
}

static void laws(void **state) {
  (void)state;
  hu_gradient_found good = {1, 0}, bad = {0, 1}, zero = {0, 0};
  /* n bad steps in a row: start / factor^n, not below the minimum. */
  hu_loss_rule rule = rule_of("backoff(scale_min=4,scale_max=1024,step_factor=4)");
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int n = 1; n <= 10; n++) {
    hu_loss_scale_update(&scale, &rule, bad);
    assert_true((double)scale.scale == fmax(4, ldexp(1024, -2 * n)));
  }
  assert_int_equal(scale.skipped, 10);
  /* 2000 good steps between increases, and no more than the maximum. */
  rule = rule_of("backoff(start=1)");
  scale = hu_loss_scale_start(&rule);
  for (int t = 1; t <= 40000; t++) {
    hu_loss_scale_update(&scale, &rule, good);
    assert_true((double)scale.scale == fmin(16384, ldexp(1, t / 2000)));
  }
  /* The counter of gradscaler is reset by growth and by a bad step; it never grows to infinity. */
  rule = rule_of("gradscaler(init_scale=2^126,growth_interval=1)");
  scale = hu_loss_scale_start(&rule);
  for (int t = 0; t < 5; t++) hu_loss_scale_update(&scale, &rule, good);
  assert_true(scale.scale == 0x1p127f);
  for (int t = 0; t < 400; t++) hu_loss_scale_update(&scale, &rule, bad);
  assert_true(scale.scale > 0);
  /* logmax: zero gradients change nothing. */
  rule = rule_of("logmax");
  scale = hu_loss_scale_start(&rule);
  hu_loss_scale_update(&scale, &rule, good);
  hu_loss_scale before = scale;
  assert_int_equal(hu_loss_scale_update(&scale, &rule, zero), 1);
  before.iteration++;
  assert_memory_equal(&scale, &before, sizeof scale);
  assert_int_equal(recovery("logmax"), 18);
  assert_int_equal(recovery("logmax(literal)"), 13939);
  /* exponential: bad steps are not taken, and the schedule is the same; each product is rounded to binary32. */
  rule = rule_of("exponential(factor=1.1,every=10,scale_max=2^100)");
  scale = hu_loss_scale_start(&rule);
  float product = 1;
  for (int t = 1; t <= 5000; t++) {
    int is_bad = t % 7 == 0;
    assert_int_equal(hu_loss_scale_update(&scale, &rule, is_bad ? bad : good), !is_bad);
    if (t % 10 == 0) product = (float)((double)product * (double)1.1f);
    assert_true(scale.scale == fminf(product, 0x1p100f));
  }
  assert_int_equal(scale.skipped, 5000 / 7);
  assert_true(scale.scale > 0x1p60f);
  /* What is not checked is always taken. */
  rule = rule_of("static(1024,unchecked)");
  scale = hu_loss_scale_start(&rule);
  assert_int_equal(hu_loss_scale_update(&scale, &rule, bad), 1);
  rule = rule_of("static(1024)");
  assert_int_equal(hu_loss_scale_update(&scale, &rule, bad), 0);
  assert_true(scale.scale == 1024);
}

static void static_scales(void **state) {
  (void)state;
  assert_true(hu_loss_scale_of_gmax(0.0037f, 65504, 0) == 0x1p24f);
  assert_true(hu_loss_scale_of_gmax(1, 65504, 0) == 0x1p15f);
  assert_true(hu_loss_scale_of_gmax(511.75f, 65504, 0) == 0x1p7f);
  assert_true(hu_loss_scale_of_gmax(1e-6f, 65504, 0) == 0x1p35f);
  assert_true(hu_loss_scale_of_gmax(1, 65504, 2) == 0x1p13f);
  assert_true(hu_loss_scale_of_gmax(FLT_TRUE_MIN, FLT_MAX, 0) == 0x1p127f);
  assert_true(hu_loss_scale_of_gmax(0, 65504, 0) == 0 && hu_loss_scale_of_gmax(NAN, 65504, 0) == 0);
}

static void gradients(void **state) {
  (void)state;
  float g[7] = {1, -2048, 0x1p-140f, 0, -0.0f, 3, 512};
  const float expected[7] = {0x1p-10f, -2, 0, 0, -0.0f, 3 * 0x1p-10f, 0.5f};
  hu_gradient_found found = {0, 0};
  hu_gradient_unscale_n(7, g, 1024, &found);
  for (int i = 0; i < 7; i++) assert_int_equal(t_bits32(g[i]), t_bits32(expected[i]));
  assert_true(found.amax == 2 && !found.bad);
  float more[3] = {NAN, -INFINITY, 5120};
  hu_gradient_unscale_n(3, more, 1024, &found);
  assert_true(found.amax == 5 && found.bad);
  hu_gradient_unscale_n(7, g, 1, &found);
  assert_true(found.bad);
}

static void texts(void **state) {
  (void)state;
  static const char *const same[] = {"none",
                                     "static(1024)",
                                     "static(0.5,unchecked)",
                                     "backoff",
                                     "logmax",
                                     "gradscaler",
                                     "backoff(scale_max=16777216)",
                                     "logmax(scale_max=16777216,literal)",
                                     "logmax(scale_min=0.1,beta1=0.9)",
                                     "exponential",
                                     "exponential(start=0.5,factor=1.25,every=7,scale_max=129)",
                                     "gradscaler(growth_factor=1.5,backoff_factor=0.25)"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    char text[HU_LOSS_RULE_TEXT_MAX];
    hu_loss_rule rule = rule_of(same[i]);
    assert_int_equal(hu_loss_rule_text(text, sizeof text, &rule), strlen(same[i]));
    assert_string_equal(text, same[i]);
  }
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } bad[] = {{"", HU_E_NAME, 0},
             {"momentum", HU_E_NAME, 0},
             {"static", HU_E_TEXT, 6},
             {"static()", HU_E_TEXT, 7},
             {"static(0)", HU_E_TRAIN, 0},
             {"static(1e400)", HU_E_TEXT, 7},
             {"static(nan)", HU_E_TEXT, 7},
             {"static(8,8)", HU_E_NAME, 9},
             {"none(1)", HU_E_TEXT, 7},
             {"backoff(", HU_E_TEXT, 8},
             {"backoff()", HU_E_TEXT, 8},
             {"backoff(step_factor=2", HU_E_TEXT, 21},
             {"backoff(step_factor=2,step_factor=2)", HU_E_TEXT, 22},
             {"backoff(step_factor=0.5)", HU_E_TRAIN, 0},
             {"backoff(scale_min=4,scale_max=2)", HU_E_TRAIN, 0},
             {"backoff(step_window=1.5)", HU_E_TEXT, 20},
             {"backoff(step_window=0)", HU_E_TRAIN, 0},
             {"backoff(step_window)", HU_E_TEXT, 8},
             {"logmax(literal=1)", HU_E_TEXT, 7},
             {"logmax(beta1=1)", HU_E_TRAIN, 0},
             {"logmax(beta3=1)", HU_E_NAME, 7},
             {"gradscaler(growth_interval=x)", HU_E_TEXT, 27},
             {"exponential(start=0)", HU_E_TRAIN, 0},
             {"exponential(start=32768)", HU_E_TRAIN, 0},
             {"exponential(scale_max=0.5)", HU_E_TRAIN, 0},
             {"exponential(factor=0.5)", HU_E_TRAIN, 0},
             {"exponential(every=0)", HU_E_TRAIN, 0},
             {"exponential(every=1.5)", HU_E_TEXT, 18},
             {"exponential(growth=2)", HU_E_NAME, 12},
             {"exponential(2)", HU_E_NAME, 12}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hu_loss_rule rule, before;
    size_t where = 99;
    memset(&rule, 0x5A, sizeof rule);
    before = rule;
    hu_status status = hu_loss_rule_parse(&rule, bad[i].text, &where);
    if (status != bad[i].status || where != bad[i].where) {
      fail_msg("'%s': %s at %zu, not %s at %zu", bad[i].text, hu_status_name(status), where,
               hu_status_name(bad[i].status), bad[i].where);
    }
    assert_memory_equal(&rule, &before, sizeof rule);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worked_sequences), cmocka_unit_test(moments),   cmocka_unit_test(laws),
      cmocka_unit_test(static_scales),    cmocka_unit_test(gradients), cmocka_unit_test(texts)};
  return cmocka_run_group_tests_name("loss scale", tests, NULL, NULL);
}
