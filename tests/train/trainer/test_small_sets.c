/* SPDX-License-Identifier: MIT */
/* Evaluations of a test set that is less than a batch: the loss of its examples, as in a run whose batch it is. */
#include <math.h>
#include <stdio.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

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
  static const char *const counts[] = {"1", "5", "31"};
  for (int i = 0; i < 3; i++) {
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

/* Where there is a whole batch, the loss is of whole batches alone. */
static void test_more(void **state) {
  (void)state;
  const char *const *pairs = PAIRS("data.set", "gratings", SHORT, "model.net", "mlp(layers=1,units=16)");
  assert_true(seen_by(pairs, "33", "32").loss == seen_by(pairs, "32", "32").loss);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_labels), cmocka_unit_test(test_more),
                                     cmocka_unit_test(test_targets), cmocka_unit_test(test_nothing_changes)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests_name("small sets", tests, NULL, NULL);
}
