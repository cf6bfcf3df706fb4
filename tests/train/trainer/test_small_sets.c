/* SPDX-License-Identifier: MIT */
/* Evaluations of a test set that is no multiple of a batch: the loss of its examples, as in a run whose batch it is. */
#include <math.h>
#include <stdio.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

enum { HU_LINE = 1 << 16 };

static hu_trainer_seen seen_by(const char *const *pairs, const char *test, const char *batch) {
  hu_trainer_seen seen;
  hu_trainer *trainer = with(pairs);
  set(trainer, "data.test", test);
  set(trainer, "run.batch", batch);
  begin(trainer);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  hu_trainer_free(trainer);
  return seen;
}

static int near(double x, double y) { return x == y || fabs(x - y) <= 1e-6 * fabs(y); }

static void as_one_batch(const char *const *pairs) {
  static const char *const counts[] = {"1", "5", "31", "33", "63"};
  for (int i = 0; i < 5; i++) {
    hu_trainer_seen part = seen_by(pairs, counts[i], "32"), whole = seen_by(pairs, counts[i], counts[i]);
    if (!(part.loss > 0) || !near(part.loss, whole.loss))
      fail_msg("%s of %s: loss %.17g, in a batch of its own %.17g", counts[i], pairs[1], part.loss, whole.loss);
    assert_true(near(part.accuracy, whole.accuracy) || (isnan(part.accuracy) && isnan(whole.accuracy)));
  }
}

#define SHORT "data.count", "64", "run.steps", "1"

static void test_labels(void **state) {
  (void)state;
  as_one_batch(PAIRS("data.set", "gratings", SHORT, "model.net", "mlp(layers=1,units=16)"));
  as_one_batch(PAIRS("data.set", "gratings", SHORT, "model.net", "conv(channels=4/8)", "precision.system", "bfloat16"));
  as_one_batch(PAIRS("data.set", "ratings", "data.implicit", "yes", SHORT, "model.net", "ncf"));
  as_one_batch(
      PAIRS("data.set", "ratings", "data.implicit", "yes", SHORT, "model.net", "ncf", "loss.kind", "logistic"));
  as_one_batch(PAIRS("data.set", "gratings", SHORT, "model.net", "mlp", "loss.smoothing", "0.1"));
}

/* The last example counts as much as each of those in whole batches. */
static void test_more(void **state) {
  (void)state;
  const char *const *pairs = PAIRS("data.set", "gratings", SHORT, "model.net", "mlp(layers=1,units=16)");
  double some = seen_by(pairs, "32", "32").loss, all = seen_by(pairs, "33", "32").loss;
  assert_true(some != all && fabs(all - some) < 0.2 * some);
}

static void test_targets(void **state) {
  (void)state;
  as_one_batch(PAIRS("data.set", "least_squares", "data.features", "7", SHORT, "model.net", "linear"));
  as_one_batch(
      PAIRS("data.set", "least_squares", "data.features", "7", SHORT, "loss.power", "3", "model.net", "linear"));
  as_one_batch(PAIRS("data.set", "teacher", "data.features", "7", SHORT, "model.net", "mlp(layers=1,units=8)"));
  as_one_batch(PAIRS("data.set", "teacher", SHORT, "model.net", "mlp", "loss.kind", "smooth_l1", "loss.beta", "0.5"));
  as_one_batch(PAIRS("data.set", "teacher", SHORT, "model.net", "mlp", "loss.kind", "absolute_error"));
}

/* Gradients and loss of the last step, of weights that stay. */
static size_t last_step(float *gradients, double *loss, size_t count, const char *batch, const char *const *pairs) {
  hu_trainer_report report;
  hu_trainer *trainer = with(pairs);
  set(trainer, "run.batch", batch);
  begin(trainer);
  assert_int_equal(hu_trainer_steps(trainer), count);
  while (!hu_trainer_done(trainer)) assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
  *loss = report.loss;
  size_t n = gradients_of(trainer, gradients);
  hu_trainer_free(trainer);
  return n;
}

/* What is left of 40 examples behind a batch of 32 are 8, which are the last of 5 batches of 8 as well. */
static void test_rest(void **state) {
  static float a[20000], b[20000];
  const char *const *const runs[] = {
      PAIRS("data.set", "gratings", "data.count", "40", "data.test", "8", "run.rest", "keep", "run.epochs", "1",
            "optimizer.rate", "0", "model.net", "conv(channels=4/8)"),
      PAIRS("data.set", "gratings", "data.count", "40", "data.test", "8", "run.rest", "keep", "run.epochs", "1",
            "optimizer.rate", "0", "model.net", "mlp(layers=1,units=16)", "precision.system", "s2fp8"),
      PAIRS("data.set", "least_squares", "data.count", "40", "data.test", "8", "run.rest", "keep", "run.epochs", "1",
            "optimizer.rate", "0", "model.net", "linear"),
      PAIRS("data.set", "ratings", "data.count", "40", "data.test", "8", "run.rest", "keep", "run.epochs", "1",
            "optimizer.rate", "0", "model.net", "ncf", "data.implicit", "yes", "precision.system", "bfloat16")};
  (void)state;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    double loss_a, loss_b;
    size_t n = last_step(a, &loss_a, 2, "32", runs[i]);
    assert_int_equal(last_step(b, &loss_b, 5, "8", runs[i]), n);
    assert_true(n < 20000 && loss_a == loss_b);
    assert_memory_equal(a, b, n * sizeof *a);
  }
}

/* The net of the last batch moves the weights of all, with the bits that it has after a stop. */
static void test_rest_goes_on(void **state) {
  const char *const *pairs =
      PAIRS("data.set", "gratings", "data.count", "40", "data.test", "8", "run.rest", "keep", "run.batch", "16",
            "run.epochs", "9", "run.stream", "3", "model.net", "conv(channels=4/8)", "optimizer.momentum", "0.9");
  (void)state;
  hu_trainer *a = with(pairs), *b = with(pairs);
  begin(a), begin(b);
  assert_int_equal(hu_trainer_steps(a), 3 * 8); /* 120 examples: 7 batches of 16, and one of 8 */
  assert_int_equal(hu_trainer_epoch_of(a, 2), 0);
  assert_int_equal(hu_trainer_epoch_of(a, 3), 1); /* 48 examples before it */
  assert_int_equal(hu_trainer_epoch_of(a, 8 + 7), 3 + 2);
  steps(a, 24);
  steps(b, 8);
  uint64_t before = hu_trainer_digest(b);
  char text[HU_LINE];
  assert_true(hu_trainer_state(b, text, sizeof text) < sizeof text);
  hu_trainer *c = with(pairs);
  begin(c);
  carry_tensors(c, b);
  *why = 0;
  if (hu_trainer_resume(c, text, why) != HU_OK) fail_msg("%s", why);
  steps(c, 16);
  assert_true(hu_trainer_digest(c) == hu_trainer_digest(a) && hu_trainer_digest(c) != before);
  hu_trainer_free(a), hu_trainer_free(b), hu_trainer_free(c);
}

/* ---- assignments: what overflows in the last batch is a share of its own tensors ---- */

enum { LINE = 400 };

/* The line `name=...` of a text. */
static const char *line_of(const char *text, const char *name) {
  const char *at = text;
  while (at && strncmp(at, name, strlen(name)) != 0) {
    at = strchr(at, '\n');
    at = at ? at + 1 : NULL;
  }
  assert_non_null(at);
  return at;
}

static void keep_line(char z[LINE], const hu_trainer *trainer, const char *name) {
  char text[HU_LINE];
  assert_true(hu_trainer_state(trainer, text, sizeof text) < sizeof text);
  const char *at = line_of(text, name);
  assert_true(strcspn(at, "\n") < LINE);
  snprintf(z, LINE, "%.*s", (int)strcspn(at, "\n"), at);
}

/* The state of a run after `count` steps, with the assignment that it began with. */
static void as_begun(char z[HU_LINE], const hu_trainer *begun, const hu_trainer *after) {
  char was[HU_LINE], now[HU_LINE];
  size_t used = 0;
  assert_true(hu_trainer_state(begun, was, sizeof was) < sizeof was);
  assert_true(hu_trainer_state(after, now, sizeof now) < sizeof now);
  for (const char *at = now; *at; at += strcspn(at, "\n") + 1) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(strcspn(at, "=") + 1), at);
    const char *line = strncmp(at, "low.", 4) == 0 ? line_of(was, name) : at;
    used += (size_t)snprintf(z + used, HU_LINE - used, "%.*s\n", (int)strcspn(line, "\n"), line);
    assert_true(used < HU_LINE);
  }
}

typedef struct t_promoted {
  char v[LINE], theta[LINE], begun[LINE]; /* begun: theta before the step */
  double loss;
  size_t promoted, numbers;
  float gradients[20000];
} t_promoted;

/* The last step of an epoch of 40 examples alone, under the assignment of the beginning. */
static void promoted_last(t_promoted *z, size_t before, const char *batch, const char *const *more) {
  hu_trainer *begun, *passed, *last, **const all[] = {&begun, &passed, &last};
  for (size_t i = 0; i < 3; i++) {
    *all[i] = with(PAIRS("data.set", "gratings", "data.count", "40", "data.test", "8", "run.rest", "keep", "run.epochs",
                         "1", "optimizer.rate", "0", "model.net", "conv(channels=4/8)", "run.batch", batch));
    for (const char *const *pair = more; *pair; pair += 2) set(*all[i], pair[0], pair[1]);
    begin(*all[i]);
  }
  char text[HU_LINE];
  hu_trainer_report report;
  steps(passed, before);
  as_begun(text, begun, passed);
  carry_tensors(last, begun);
  *why = 0;
  if (hu_trainer_resume(last, text, why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_trainer_step(last, &report), HU_OK);
  assert_true(hu_trainer_done(last));
  keep_line(z->begun, begun, "low.theta=");
  keep_line(z->v, last, "low.v=");
  keep_line(z->theta, last, "low.theta=");
  z->loss = report.loss;
  z->promoted = report.promoted;
  z->numbers = gradients_of(last, z->gradients);
  hu_trainer_free(begun), hu_trainer_free(passed), hu_trainer_free(last);
}

static void test_rest_promotes(void **state) {
  static t_promoted a, b;
  const char *const limits[] = {"0", "0.01", "0.05", "0.15", "0.5"};
  const char *const kinds[] = {"demote", "uniform", "operator'"};
  const char *const formats[] = {"fp(4,3,8):finite,sat=finite", "fp(4,3,11):finite,sat=finite"}; /* 1.875, 0.234 */
  size_t parameters = 0, none = 0;
  (void)state;
  for (size_t i = 0; i < 30; i++) {
    const char *const *more =
        PAIRS("assignment.promote", limits[i % 5], "assignment.kind", kinds[i / 5 % 3], "assignment.low_forward",
              formats[i / 15], "assignment.reading", i % 2 ? "published" : "operators");
    promoted_last(&a, 1, "32", more);
    promoted_last(&b, 4, "8", more);
    assert_string_equal(a.v, b.v);
    assert_string_equal(a.theta, b.theta);
    assert_true(a.promoted == b.promoted && a.numbers == b.numbers && a.loss == b.loss);
    assert_memory_equal(a.gradients, b.gradients, a.numbers * sizeof *a.gradients);
    parameters += strcmp(a.theta, a.begun) != 0;
    none += a.promoted == 0;
  }
  assert_true(parameters > 3 && none > 3);
}

static void test_rest_refused(void **state) {
  static const struct {
    const char *key, *value, *said;
  } rows[] = {{"run.accumulate", "2", "run.rest: keep does not go with run.accumulate"},
              {"parallel.shards", "2", "run.rest: keep does not go with parallel.shards"},
              {"data.set", "text", "run.stream, run.rest: a text has no examples"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_trainer *trainer =
        with(PAIRS("data.set", "gratings", "data.count", "40", "run.rest", "keep", "run.batch", "16"));
    set(trainer, rows[i].key, rows[i].value);
    if (i == 2) set(trainer, "model.net", "lstm(units=4)");
    assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
    if (!strstr(why, rows[i].said)) fail_msg("'%s' does not say '%s'", why, rows[i].said);
    hu_trainer_free(trainer);
  }
}

/* An evaluation leaves the run as it was. */
static void test_nothing_changes(void **state) {
  (void)state;
  uint64_t digest[2];
  for (int k = 0; k < 2; k++) {
    hu_trainer_seen seen;
    hu_trainer *trainer =
        with(PAIRS("data.set", "least_squares", "data.features", "7", "data.count", "64", "data.test", "5", "run.batch",
                   "32", "run.steps", "4", "model.net", "linear", "optimizer.rate", "0.001"));
    begin(trainer);
    for (int i = 0; i < 4; i++) {
      if (k) assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
      steps(trainer, 1);
    }
    digest[k] = hu_trainer_digest(trainer);
    hu_trainer_free(trainer);
  }
  assert_true(digest[0] == digest[1]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_labels),        cmocka_unit_test(test_more),
                                     cmocka_unit_test(test_targets),       cmocka_unit_test(test_nothing_changes),
                                     cmocka_unit_test(test_rest),          cmocka_unit_test(test_rest_goes_on),
                                     cmocka_unit_test(test_rest_promotes), cmocka_unit_test(test_rest_refused)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests_name("small sets", tests, NULL, NULL);
}
