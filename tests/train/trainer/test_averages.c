/* SPDX-License-Identifier: MIT */
/* Moving averages of weights: each number by the formula of trainer.h, evaluations against a run whose weights the
 * averages are, the same bits after a stop, with shards and on several processes. Evaluations without roundings against
 * a run without roundings. */
#define _GNU_SOURCE /* barriers of threads */
#include <math.h>
#include <stdio.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/processes.h"

#define NET "model.net", "mlp(layers=1,units=12)"
#define AVERAGED NET, "run.batch", "24", "optimizer.rate", "0.3"

/* ---- numbers ---- */

/* The tensor of a name, in memory of its own; NULL: there is none. */
static float *tensor_of(const hu_trainer *trainer, const char *name, size_t *n) {
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    if (strcmp(tensor.name, name) != 0) continue;
    *n = tensor.rows * tensor.cols;
    float *numbers = malloc(*n * sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(hu_trainer_read(trainer, i, numbers), HU_OK);
    return numbers;
  }
  return NULL;
}

/* The formula, one operation after another. */
static void move(size_t n, float *a, const float *w, double decay, int counts, uint64_t taken) {
  volatile float less, way = (float)(1 - decay);
  if (counts) {
    volatile float above = 1 + (float)taken, below = 10 + (float)taken, rising = above / below;
    way = 1 - fminf(rising, (float)decay);
  }
  for (size_t i = 0; i < n; i++) {
    less = a[i] - w[i];
    less = less * way;
    a[i] = a[i] - less;
  }
}

typedef struct t_average {
  const char *decay, *counts, *averaged; /* keys */
  const char *const *more;
  int names; /* how many parameters have an average */
} t_average;

static void follows(const t_average *row) {
  static const char *const names[] = {"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"};
  enum { PARAMETERS = sizeof names / sizeof *names };
  float *expected[PARAMETERS] = {NULL};
  char name[64];
  size_t n = 0, seen = 0, skipped = 0;
  hu_trainer_report report;
  hu_trainer *trainer = with(PAIRS(AVERAGED, "optimizer.average", row->decay, "optimizer.average_counts", row->counts,
                                   "optimizer.averaged", row->averaged));
  for (const char *const *pair = row->more; pair && *pair; pair += 2) set(trainer, pair[0], pair[1]);
  begin(trainer);
  for (size_t i = 0; i < PARAMETERS; i++) expected[i] = tensor_of(trainer, names[i], &n);
  uint64_t taken = 0;
  for (int step = 0; step < 30; step++) {
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    taken += report.taken != 0;
    skipped += !report.taken;
    for (size_t i = 0; i < PARAMETERS; i++) {
      snprintf(name, sizeof name, "%s.averaged", names[i]);
      float *weights = tensor_of(trainer, names[i], &n), *average = tensor_of(trainer, name, &n);
      if (average) {
        if (report.taken) move(n, expected[i], weights, strtod(row->decay, NULL), *row->counts == 'y', taken);
        assert_memory_equal(average, expected[i], n * sizeof *average);
        seen++;
      }
      free(weights);
      free(average);
    }
  }
  assert_int_equal(seen, 30 * (size_t)row->names);
  assert_true(!row->more || taken < 30 || skipped == 0);
  if (row->more && strcmp(row->more[0], "loss.scale") == 0) assert_true(skipped > 2 && taken > 2);
  for (size_t i = 0; i < PARAMETERS; i++) free(expected[i]);
  hu_trainer_free(trainer);
}

static void test_formula(void **state) {
  (void)state;
  const char *const *narrow = PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights",
                                    "bfloat16", "optimizer.update", "sra:16", "optimizer.momentum", "0.5");
  const char *const *skips =
      PAIRS("loss.scale", "backoff(start=2^20,scale_max=2^20,step_window=3)", "precision.system", "fp16");
  const t_average rows[] = {{"0.9", "no", "", NULL, 4},          {"0.999", "no", "", NULL, 4},
                            {"0.999", "yes", "", NULL, 4}, /* 30 steps: the decay still rises */
                            {"0.5", "yes", "", NULL, 4},   /* 0.5 from step 8 on */
                            {"0.99", "no", "*.weight", NULL, 2}, {"0.99", "no", "linear2.*,linear1.bias", NULL, 3},
                            {"0.97", "yes", "", narrow, 4},      {"0.9", "yes", "", skips, 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) follows(&rows[i]);
}

/* ---- evaluations ---- */

static hu_trainer_seen seen_as(hu_trainer *trainer, int on, unsigned how) {
  hu_trainer_seen seen;
  assert_int_equal(hu_trainer_evaluate_as(trainer, on, how, &seen), HU_OK);
  return seen;
}

static void same_seen(const hu_trainer_seen *x, const hu_trainer_seen *y) {
  assert_memory_equal(&x->loss, &y->loss, sizeof x->loss);
  assert_memory_equal(&x->accuracy, &y->accuracy, sizeof x->accuracy);
}

/* Writes the averages, or the weights where there are none, of one trainer as the weights of another one. */
static void give_averages(hu_trainer *to, const hu_trainer *from) {
  char name[128];
  size_t n;
  for (size_t i = 0; i < hu_trainer_tensor_count(to); i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(to, i);
    snprintf(name, sizeof name, "%s.averaged", tensor.name);
    float *numbers = tensor_of(from, name, &n);
    if (!numbers) numbers = tensor_of(from, tensor.name, &n);
    assert_non_null(numbers);
    assert_int_equal(hu_trainer_write(to, i, numbers), HU_OK);
    free(numbers);
  }
}

/* Two runs of the same keys, one of them with averages. */
static void seen_of_averages(const char *const *pairs, const char *averaged) {
  hu_trainer *run = with(pairs), *plain = with(pairs), *other = with(pairs);
  set(run, "optimizer.average", "0.9");
  set(run, "optimizer.averaged", averaged);
  begin(run);
  begin(plain);
  begin(other);
  hu_trainer_seen first = seen_as(run, HU_ON_TEST, 0), x = seen_as(plain, HU_ON_TEST, 0);
  same_seen(&first, &x);
  for (int round = 0; round < 2; round++) {
    steps(run, 4);
    steps(plain, 4);
    give_averages(other, run);
    for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
      hu_trainer_seen averages = seen_as(run, on, 0), expected = seen_as(other, on, 0);
      same_seen(&averages, &expected);
      hu_trainer_seen weights = seen_as(run, on, HU_SEE_WEIGHTS), those = seen_as(plain, on, 0);
      same_seen(&weights, &those);
      assert_true(averages.loss != weights.loss);
    }
    assert_true(hu_trainer_digest(run) == hu_trainer_digest(plain));
  }
  hu_trainer_free(run);
  hu_trainer_free(plain);
  hu_trainer_free(other);
}

static void test_evaluations(void **state) {
  (void)state;
  seen_of_averages(PAIRS(AVERAGED), "");
  seen_of_averages(PAIRS(AVERAGED, "precision.system", "s2fp8", "optimizer.momentum", "0.9"), "");
  seen_of_averages(PAIRS(AVERAGED, "precision.system", "mxfp4"), "linear2.weight");
  seen_of_averages(PAIRS("data.set", "gratings", "data.count", "256", "data.test", "64", "model.net",
                         "conv(channels=4/4)", "run.batch", "24", "run.rest", "keep", "precision.system", "fp8"),
                   "*.weight");
}

/* What is seen without roundings is what a run without roundings sees that has these weights. */
static void seen_without_roundings(const char *const *pairs, const char *average) {
  hu_trainer *run = with(pairs), *again = with(pairs), *other = with(pairs);
  set(run, "optimizer.average", average);
  set(again, "optimizer.average", average);
  set(other, "precision.system", "binary32");
  set(other, "assignment.kind", "none");
  begin(run);
  begin(again);
  begin(other);
  steps(run, 3);
  steps(again, 6);
  give_averages(other, run);
  hu_trainer_seen rounded = seen_as(run, HU_ON_TEST, 0);
  for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
    hu_trainer_seen bare = seen_as(run, on, HU_SEE_BINARY32), expected = seen_as(other, on, 0);
    same_seen(&bare, &expected);
  }
  hu_trainer_seen after = seen_as(run, HU_ON_TEST, 0);
  same_seen(&rounded, &after);
  hu_trainer_seen bare = seen_as(run, HU_ON_TEST, HU_SEE_BINARY32);
  assert_true(bare.loss != rounded.loss);
  steps(run, 3);
  assert_true(hu_trainer_digest(run) == hu_trainer_digest(again));
  hu_trainer_free(run);
  hu_trainer_free(again);
  hu_trainer_free(other);
}

static void test_without_roundings(void **state) {
  (void)state;
  seen_without_roundings(PAIRS(AVERAGED, "precision.system", "fp8_tensor"), "0");
  seen_without_roundings(PAIRS(AVERAGED, "precision.system", "fp8_delayed"), "0");
  seen_without_roundings(PAIRS(AVERAGED, "precision.system", "nvfp4"), "0.9");
  seen_without_roundings(PAIRS(AVERAGED, "precision.system", "wang2018"), "0");
  seen_without_roundings(
      PAIRS("data.set", "gratings", "data.count", "256", "data.test", "40", "model.net", "conv(channels=4/4)",
            "run.batch", "24", "assignment.kind", "demote", "assignment.ratio", "0.6", "precision.system", "s2fp8"),
      "0");
}

/* ---- the same bits ---- */

static const char *const *const keys = PAIRS(AVERAGED, "optimizer.average", "0.95", "optimizer.average_counts", "yes",
                                             "precision.system", "fp16", "loss.scale", "static(256)");

static void same_averages(const hu_trainer *x, const hu_trainer *y) {
  size_t n, m;
  for (size_t i = 0; i < hu_trainer_tensor_count(x); i++) {
    float *a = tensor_of(x, hu_trainer_tensor_at(x, i).name, &n),
          *b = tensor_of(y, hu_trainer_tensor_at(x, i).name, &m);
    assert_true(a && b && n == m);
    assert_memory_equal(a, b, n * sizeof *a);
    free(a);
    free(b);
  }
}

static void test_stopped(void **state) {
  (void)state;
  hu_trainer *whole = with(keys), *first = with(keys), *second = with(keys);
  begin(whole);
  begin(first);
  begin(second);
  steps(whole, 9);
  steps(first, 4);
  char *text = state_of(first);
  carry_tensors(second, first);
  assert_int_equal(hu_trainer_resume(second, text, why), HU_OK);
  steps(second, 5);
  same_averages(whole, second);
  hu_trainer_seen x = seen_as(whole, HU_ON_TEST, 0), y = seen_as(second, HU_ON_TEST, 0);
  same_seen(&x, &y);
  hu_trainer *others = with(keys);
  set(others, "optimizer.average", "0.9");
  begin(others);
  assert_int_equal(hu_trainer_resume(others, text, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "optimizer.average"));
  hu_trainer_free(others);
  free(text);
  hu_trainer_free(whole);
  hu_trainer_free(first);
  hu_trainer_free(second);
}

/* The averages of a process, into the run that a process alone made. */
static void look(t_seat *seat, hu_trainer *trainer) { same_averages(seat->seen_by_look, trainer); }

static void test_processes(void **state) {
  (void)state;
  const char *const *pairs = PAIRS(AVERAGED, "optimizer.average", "0.8", "parallel.shards", "4", "parallel.reduce",
                                   "ring(bfloat16)", "precision.values", "bfloat16");
  hu_trainer *alone = with(pairs);
  begin(alone);
  steps(alone, STEPS);
  hu_trainer_seen expected = seen_as(alone, HU_ON_TEST, 0);
  t_seat like = {.pairs = pairs, .look = look, .seen_by_look = alone}, seats[RANKS_MAX];
  for (int size = 2; size <= 3; size++) {
    train_like(&like, size, seats);
    for (int r = 0; r < size; r++) {
      same_seen(&seats[r].seen, &expected);
      free(seats[r].state);
    }
  }
  hu_trainer_free(alone);
}

/* ---- memory, refusals ---- */

static void test_memory(void **state) {
  (void)state;
  hu_trainer *plain = with(PAIRS(AVERAGED)), *all = with(PAIRS(AVERAGED)), *some = with(PAIRS(AVERAGED));
  set(all, "optimizer.average", "0.9");
  set(some, "optimizer.average", "0.9");
  set(some, "optimizer.averaged", "*.bias");
  begin(plain);
  begin(all);
  begin(some);
  assert_true(hu_trainer_stored_of(all).state == hu_trainer_stored_of(plain).state + 4 * (64 * 12 + 12 + 12 * 10 + 10));
  assert_true(hu_trainer_memory_of(some).state == hu_trainer_memory_of(plain).state + 4 * (12 + 10));
  hu_trainer_free(plain);
  hu_trainer_free(all);
  hu_trainer_free(some);
}

static void refused(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  hu_status status = hu_trainer_begin(trainer, folder, why);
  if (status == HU_OK || !strstr(why, part)) fail_msg("%s, '%s', not '%s'", hu_status_text(status), why, part);
  hu_trainer_free(trainer);
}

static void test_refused(void **state) {
  (void)state;
  hu_trainer_seen seen;
  refused(PAIRS("optimizer.averaged", "*.weight"), "optimizer.averaged: optimizer.average is 0");
  refused(PAIRS("optimizer.average_counts", "yes"), "optimizer.average_counts: optimizer.average is 0");
  refused(PAIRS("optimizer.average", "0.5", "optimizer.averaged", "lstm*"), "optimizer.averaged: nothing is called");
  refused(PAIRS("optimizer.average", "0.999999999"), "optimizer.average");
  hu_trainer *trainer = with(PAIRS(AVERAGED));
  assert_int_equal(hu_trainer_set(trainer, "optimizer.average", "1", why), HU_E_TRAIN);
  assert_int_equal(hu_trainer_evaluate_as(trainer, HU_ON_TEST, 0, &seen), HU_E_TRAIN);
  begin(trainer);
  assert_int_equal(hu_trainer_evaluate_as(trainer, HU_ON_TEST, 4, &seen), HU_E_TRAIN);
  assert_int_equal(hu_trainer_evaluate_as(trainer, 2, 0, &seen), HU_E_TRAIN);
  assert_int_equal(hu_trainer_evaluate_as(trainer, HU_ON_TEST, 0, NULL), HU_E_NULL);
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formula), cmocka_unit_test(test_evaluations), cmocka_unit_test(test_without_roundings),
      cmocka_unit_test(test_stopped), cmocka_unit_test(test_processes),   cmocka_unit_test(test_memory),
      cmocka_unit_test(test_refused)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests_name("averages of weights", tests, NULL, NULL);
}
