/* SPDX-License-Identifier: MIT */
/* Accumulated gradients: their sum against hu_gradient_gather_n of the batches one by one, where sums are exact against
 * one larger batch, random words and statistics, steps that are not taken, shards and processes, what is refused. */
#define _GNU_SOURCE /* barriers of threads */
#include <stdio.h>

#include "halfulp/train/gradient.h"
#include "tests/support/cmocka.h"
#include "tests/train/trainer/processes.h"

enum { ROOM = 8192 };
#define NET "model.net", "mlp(layers=2,units=32)"

/* ---- the sum ---- */

/* A run of one batch a step at rate 0 sees the batches of the first step one after another: its order is the same. */
static void gathered_as(const char *count, const char *system, const char *scale) {
  static float one[ROOM], expected[ROOM], got[ROOM];
  uint32_t parts = (uint32_t)strtoul(count, NULL, 10);
  double loss = 0;
  hu_trainer_report report, first;
  size_t n = 0;
  memset(expected, 0, sizeof expected);
  memset(&first, 0, sizeof first);
  hu_trainer *trainer =
      with(PAIRS(NET, "optimizer.rate", "0", "run.batch", "24", "precision.system", system, "loss.scale", scale));
  begin(trainer);
  for (uint32_t m = 0; m < parts; m++) {
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    n = gradients_of(trainer, one);
    hu_gradient_gather_n(n, expected, one, parts);
    loss += report.loss;
    first.backward.elements += report.backward.elements;
    first.backward.events.inexact += report.backward.events.inexact;
  }
  hu_trainer_free(trainer);
  trainer = with(PAIRS(NET, "optimizer.rate", "0", "run.batch", "24", "run.accumulate", count, "precision.system",
                       system, "loss.scale", scale));
  begin(trainer);
  assert_int_equal(hu_trainer_steps_an_epoch(trainer), 1438 / (24 * parts));
  assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
  assert_int_equal(gradients_of(trainer, got), n);
  assert_memory_equal(got, expected, n * sizeof *got);
  assert_true(n > 3000 && report.loss == loss / (double)parts && report.taken);
  assert_int_equal(report.backward.elements, first.backward.elements);
  assert_int_equal(report.backward.events.inexact, first.backward.events.inexact);
  hu_trainer_free(trainer);
}

static void test_sum(void **state) {
  (void)state;
  gathered_as("2", "binary32", "none");
  gathered_as("3", "binary32", "none");
  gathered_as("7", "fp16", "static(1024)"); /* a power of two, so that the sum commutes with it */
  gathered_as("5", "fp8", "none");
}

/* Inputs, values and gradients are short numbers, so that every product and sum is exact. The gradients of a batch that
 * is N times as large are N times as small, and so is the grid of their format: it has the bias b. */
static uint64_t exact_run(const char *batch, const char *count, int b) {
  char gradients[64];
  snprintf(gradients, sizeof gradients, "fp(3,2,%d),sat=finite", b);
  return digest_after(
      6, PAIRS("data.set", "least_squares", "model.net", "mlp(layers=1,units=8)", "run.batch", batch, "run.accumulate",
               count, "precision.values", "fp(3,2,0),sat=finite", "precision.gradients", gradients,
               "optimizer.momentum", "0.9", "optimizer.rate", "0.01"));
}

static void test_larger_batch(void **state) {
  (void)state;
  uint64_t whole = exact_run("64", "1", 6);
  assert_true(whole == exact_run("32", "2", 5));
  assert_true(whole == exact_run("16", "4", 4));
  assert_true(whole == exact_run("2", "32", 1));
  assert_true(whole != exact_run("32", "1", 5));
}

static void test_one(void **state) {
  (void)state;
  uint64_t plain = digest_after(4, PAIRS(NET, "precision.values", "bfloat16,sra:8"));
  assert_true(plain == digest_after(4, PAIRS(NET, "precision.values", "bfloat16,sra:8", "run.accumulate", "1")));
}

/* ---- passes ---- */

/* Two batches are two shards of one that is twice as large, with their random words: half of a gradient is exact, and
 * the sum of two halves has one rounding. Weights that are rounded at random are the same for both. */
static void test_words(void **state) {
  (void)state;
#define STOCHASTIC                                                                                            \
  NET, "precision.values", "bfloat16,sra:8", "precision.gradients", "bfloat16,sra:8", "precision.parameters", \
      "bfloat16,sra:8", "precision.x", "float8_e4m3fn,sra:4"
  hu_trainer *a = with(PAIRS(STOCHASTIC, "run.batch", "32", "run.accumulate", "2"));
  hu_trainer *b = with(PAIRS(STOCHASTIC, "run.batch", "64", "parallel.shards", "2"));
  begin(a), begin(b);
  for (size_t i = 0; i < STEPS; i++) {
    hu_trainer_report x, y;
    assert_int_equal(hu_trainer_step(a, &x), HU_OK);
    assert_int_equal(hu_trainer_step(b, &y), HU_OK);
    assert_true(x.loss == y.loss);
    assert_memory_equal(&x.forward, &y.forward, sizeof x.forward);
    assert_int_equal(x.backward.elements, y.backward.elements);
  }
  assert_true(hu_trainer_digest(a) == hu_trainer_digest(b));
  hu_trainer_free(a), hu_trainer_free(b);
}

static size_t running_of(hu_trainer *trainer, float *z) {
  size_t n = 0;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(trainer, i);
    if (!strstr(x.name, ".running")) continue;
    assert_int_equal(hu_trainer_read(trainer, i, z + n), HU_OK);
    n += x.rows * x.cols;
  }
  return n;
}

/* Running statistics after a step of three batches are those after three steps that move no weight. */
static void test_statistics(void **state) {
  (void)state;
  static float expected[ROOM], got[ROOM];
#define IMAGES                                                                                                         \
  "data.set", "gratings", "data.count", "200", "data.test", "70", "data.size", "8", "model.net", "conv(channels=4/8)", \
      "run.batch", "20", "optimizer.rate", "0"
  hu_trainer *a = with(PAIRS(IMAGES)), *b = with(PAIRS(IMAGES, "run.accumulate", "3"));
  begin(a), begin(b);
  steps(a, 3), steps(b, 1);
  size_t n = running_of(a, expected);
  assert_true(n == 2 * (4 + 8) && n == running_of(b, got));
  assert_memory_equal(got, expected, n * sizeof *got);
  hu_trainer_free(a), hu_trainer_free(b);
}

/* A step is taken if the gradients of all its batches are finite; the scale is that of the step for all of them. */
static void test_skipped(void **state) {
  (void)state;
  enum { PARTS = 3, N = 12 };
#define OVERFLOWS                                                                                                   \
  NET, "run.batch", "16", "precision.parameter_gradients", "fp(4,3,4):finite,over=inf", "loss.scale", "static(96)", \
      "optimizer.rate", "0"
  hu_trainer *a = with(PAIRS(OVERFLOWS)), *b = with(PAIRS(OVERFLOWS, "run.accumulate", "3"));
  size_t taken = 0, alone = 0, mixed = 0;
  hu_trainer_report report;
  begin(a), begin(b);
  for (int i = 0; i < N; i++) {
    int all = 0;
    for (int m = 0; m < PARTS; m++) {
      assert_int_equal(hu_trainer_step(a, &report), HU_OK);
      all += report.taken;
    }
    assert_int_equal(hu_trainer_step(b, &report), HU_OK);
    assert_int_equal(report.taken, all == PARTS);
    assert_true(report.scale == 96);
    alone += (size_t)all;
    mixed += all > 0 && all < PARTS;
    taken += (size_t)report.taken;
  }
  print_message("of %d batches %zu are finite, of %d steps %zu; %zu have both kinds\n", N * PARTS, alone, N, taken,
                mixed);
  assert_true(mixed > 0 && taken > 0);
  hu_trainer_free(a), hu_trainer_free(b);
}

/* ---- shards, processes, threads ---- */

static void test_processes(void **state) {
  (void)state;
  static const int sizes[] = {2, 3, 0};
  (void)same_for(sizes, PAIRS(NET, "parallel.shards", "4", "run.batch", "16", "run.accumulate", "3", "parallel.reduce",
                              "ring(bfloat16)", "precision.values", "bfloat16,sra:8", "loss.scale", "largest"));
  (void)same_for(sizes, PAIRS(NET, "parallel.shards", "4", "run.batch", "16", "run.accumulate", "2", "parallel.reduce",
                              "ring(bfloat16)", "parallel.feedback", "own", "precision.system", "fp16"));
  (void)same_for(sizes,
                 PAIRS("data.set", "gratings", "data.count", "200", "data.test", "70", "data.size", "8", "model.net",
                       "conv(channels=4/8)", "parallel.shards", "4", "run.batch", "16", "run.accumulate", "2"));
  (void)same_for(sizes, PAIRS("data.set", "gratings", "data.count", "200", "data.test", "70", "data.size", "8",
                              "model.net", "conv(channels=4/8)", "parallel.shards", "4", "run.batch", "16",
                              "run.accumulate", "2", "parallel.statistics", "batch"));
}

/* Sums of shards, joined once: with exact numbers two shards of four batches are eight batches. */
static void test_shards(void **state) {
  (void)state;
#define EXACT                                                                                                    \
  "data.set", "least_squares", "model.net", "mlp(layers=1,units=8)", "precision.values", "fp(3,2,0),sat=finite", \
      "optimizer.rate", "0.01"
  uint64_t whole = digest_after(5, PAIRS(EXACT, "run.batch", "64", "precision.gradients", "fp(3,2,6),sat=finite"));
  /* A shard's loss has the factor 1/2, as half of the samples of its batch would have. */
  uint64_t both = digest_after(5, PAIRS(EXACT, "run.batch", "16", "run.accumulate", "4", "parallel.shards", "2",
                                        "precision.gradients", "fp(3,2,4),sat=finite"));
  assert_true(whole == both);
}

static void test_threads(void **state) {
  (void)state;
  uint64_t one = 0;
  for (int threads = 1; threads <= 2; threads++) {
    uint64_t z =
        digest_after(5, PAIRS("model.net", "mlp(layers=1,units=300)", "run.batch", "200", "run.accumulate", "2",
                              "precision.values", "bfloat16,sra:8", "run.threads", threads == 1 ? "1" : "2"));
    if (threads == 1) one = z;
    assert_true(z == one);
  }
}

/* ---- what is said ---- */

static void test_memory(void **state) {
  (void)state;
  hu_trainer *a = with(PAIRS(NET)), *b = with(PAIRS(NET, "run.accumulate", "2"));
  begin(a), begin(b);
  hu_trainer_memory x = hu_trainer_memory_of(a), y = hu_trainer_memory_of(b);
  const double parameters = 64 * 32 + 32 + 32 * 32 + 32 + 32 * 10 + 10;
  assert_true(y.gradients == x.gradients + 4 * parameters && y.values == x.values && y.weights == x.weights);
  hu_trainer_free(a), hu_trainer_free(b);
}

static void not_begun(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  *why = 0;
  hu_status status = hu_trainer_begin(trainer, folder, why);
  if (status == HU_OK || !strstr(why, part)) fail_msg("%s, '%s', not '%s'", hu_status_text(status), why, part);
  hu_trainer_free(trainer);
}

static void test_refused(void **state) {
  (void)state;
  not_begun(PAIRS("run.accumulate", "23"), "run.batch times run.accumulate: more than");
  not_begun(PAIRS("run.accumulate", "65536"), "run.accumulate: more than");
  not_begun(PAIRS("run.accumulate", "2", "assignment.kind", "uniform"), "run.accumulate: above 1, and assignment.kind");
  hu_trainer *trainer = hu_trainer_new();
  assert_int_equal(hu_trainer_set(trainer, "run.accumulate", "0", why), HU_E_TRAIN);
  assert_non_null(strstr(why, "run.accumulate: '0' is not a whole number from 1 to 65536"));
  hu_trainer_free(trainer);
}

/* The state's text without the line of a key. */
static void without(char *text, const char *key) {
  char *line = strstr(text, key), *end = line ? strchr(line, '\n') : NULL;
  assert_non_null(end);
  memmove(line, end + 1, strlen(end + 1) + 1);
}

/* States of versions without the keys are those of runs that have their defaults. */
static void test_earlier_states(void **state) {
  (void)state;
  static const char *const keys[][2] = {{"run.accumulate", "2"}, {"optimizer.nesterov", "yes"}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    hu_trainer *a = with(PAIRS(NET)), *b = with(PAIRS(NET, keys[i][0], keys[i][1]));
    begin(a), begin(b);
    char *text = state_of(a);
    assert_int_equal(hu_trainer_resume(b, text, why), HU_E_TRAIN); /* another value */
    assert_non_null(strstr(why, keys[i][0]));
    without(text, keys[i][0]);
    assert_int_equal(hu_trainer_resume(a, text, why), HU_OK);
    assert_int_equal(hu_trainer_resume(b, text, why), HU_E_TEXT);
    assert_non_null(strstr(why, keys[i][0]));
    free(text);
    hu_trainer_free(a), hu_trainer_free(b);
  }
}

/* Nesterov's key says something with momentum, and nothing without. */
static void test_nesterov(void **state) {
  (void)state;
  uint64_t z[4];
  for (int i = 0; i < 4; i++)
    z[i] = digest_after(
        4, PAIRS(NET, "optimizer.momentum", i < 2 ? "0" : "0.9", "optimizer.nesterov", i % 2 ? "yes" : "no"));
  assert_true(z[0] == z[1] && z[2] != z[3] && z[2] != z[0]);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sum),     cmocka_unit_test(test_larger_batch), cmocka_unit_test(test_one),
      cmocka_unit_test(test_words),   cmocka_unit_test(test_statistics),   cmocka_unit_test(test_skipped),
      cmocka_unit_test(test_shards),  cmocka_unit_test(test_processes),    cmocka_unit_test(test_threads),
      cmocka_unit_test(test_memory),  cmocka_unit_test(test_refused),      cmocka_unit_test(test_earlier_states),
      cmocka_unit_test(test_nesterov)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests_name("accumulated gradients", tests, NULL, NULL);
}
