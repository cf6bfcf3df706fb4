/* SPDX-License-Identifier: MIT */
/* Batches by tokens: their sentences and order by the page's own words, their gradients against those of a net for
 * whole windows that is given the same sentences, the same bits after a stop, with shards, processes and threads. */
#define _GNU_SOURCE /* barriers of threads; mkdtemp */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/processes.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

enum { WINDOW = 21, PAIRS_OF = 400, NUMBERS = 60000 };

/* ---- files ---- */

static char files[64];

/* Sentences of 1 ... 20 words, most of them short, and translations that are up to three words longer. */
static int make_files(void **state) {
  t_random random = {5};
  char path[96];
  (void)state;
  strcpy(files, "/tmp/halfulp-buckets-XXXXXX");
  if (!mkdtemp(files)) return 1;
  FILE *out[2];
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/%s", files, k ? "target" : "source");
    out[k] = fopen(path, "w");
    if (!out[k]) return 1;
  }
  for (size_t i = 0; i < PAIRS_OF + 40; i++) {
    size_t n = 1 + t_below(&random, t_below(&random, 3) ? 8 : 17), m = n + t_below(&random, 4);
    for (size_t j = 0; j < n; j++) fprintf(out[0], "%c%c", (char)('a' + t_below(&random, 9)), j + 1 < n ? ' ' : '\n');
    for (size_t j = 0; j < m; j++) fprintf(out[1], "%c%c", (char)('A' + t_below(&random, 7)), j + 1 < m ? ' ' : '\n');
  }
  for (int k = 0; k < 2; k++) fclose(out[k]);
  folder = files;
  return 0;
}

static int remove_files(void **state) {
  char path[96];
  (void)state;
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "%s/%s", files, k ? "target" : "source");
    unlink(path);
  }
  return rmdir(files);
}

#define SENTENCES                                                                                                      \
  "data.set", "parallel", "data.path", "source", "data.target", "target", "data.window", "21", "data.translate", "no", \
      "run.batch", "8", "model.net", "seq2seq(units=16,heads=2,hidden=24)", "optimizer.kind", "adamw",                 \
      "optimizer.rate", "0.01"
#define BY_TOKENS SENTENCES, "run.tokens", "120", "run.bucket_first", "4", "run.bucket_step", "1.5"

static hu_trainer *begun(const char *const *pairs) {
  hu_trainer *trainer = with(pairs);
  begin(trainer);
  return trainer;
}

/* ---- what a batch is, by the page ---- */

typedef struct t_batches {
  size_t lengths[64], sizes[64], buckets;
  size_t count; /* batches of an epoch */
  size_t bucket[PAIRS_OF];
  uint32_t pairs[PAIRS_OF][128];
} t_batches;

/* Tokens of the longer sentence: words and their end. */
static size_t length_of(const float *example, uint32_t end) {
  size_t target = WINDOW;
  while (target > 1 && (uint32_t)example[WINDOW + 1 + target - 1] == end) target--; /* given: the end, words, padding */
  return (size_t)example[WINDOW] > target ? (size_t)example[WINDOW] : target;
}

static void expect(t_batches *z, const hu_trainer *trainer, uint64_t epoch, size_t tokens, size_t first, double step,
                   size_t shards) {
  const hu_data *data = &trainer->source.training;
  uint32_t *order = malloc(data->count * sizeof *order), waiting[64][128];
  size_t waits[64] = {0};
  assert_non_null(order);
  memset(z, 0, sizeof *z);
  for (size_t length = first; length < WINDOW;) {
    z->lengths[z->buckets++] = length;
    size_t next = (size_t)((double)length * step);
    length = next > length ? next : length + 1;
  }
  z->lengths[z->buckets++] = WINDOW;
  for (size_t k = 0; k < z->buckets; k++) {
    z->sizes[k] = tokens / shards / z->lengths[k] * shards;
    if (!z->sizes[k]) z->sizes[k] = shards;
    assert_true(z->sizes[k] <= 128);
  }
  hu_permutation((uint32_t)data->count, order,
                 hu_stream_child(hu_stream_of_use(trainer->keys.seed, HU_USE_ORDER), epoch));
  for (size_t i = 0; i < data->count; i++) {
    size_t k = 0, length = length_of(data->x + order[i] * (2 * WINDOW + 1), trainer->source.parallel.end);
    while (z->lengths[k] < length) k++;
    waiting[k][waits[k]++] = order[i];
    if (waits[k] < z->sizes[k]) continue;
    memcpy(z->pairs[z->count], waiting[k], waits[k] * sizeof **waiting);
    z->bucket[z->count++] = k;
    waits[k] = 0;
  }
  free(order);
}

/* Labels of a batch in whole windows, and its inputs, for a net of so many samples. */
static double give(hu_trainer *plain, hu_net *net, size_t n, const uint32_t *pairs) {
  const size_t each = 2 * WINDOW + 1;
  float *x = malloc(n * each * sizeof *x);
  uint32_t *labels = malloc(n * WINDOW * sizeof *labels);
  size_t counted = 0;
  assert_true(x && labels);
  for (size_t i = 0; i < n; i++) {
    memcpy(x + i * each, plain->source.training.x + pairs[i] * each, each * sizeof *x);
    counted += hu_parallel_labels(&plain->source.parallel, x + i * each, labels + i * WINDOW);
  }
  assert_int_equal(hu_model_feed(net, &plain->ends, x), HU_OK);
  assert_int_equal(hui_net_labels_among(net, labels, (double)counted), HU_OK);
  free(x);
  free(labels);
  return (double)counted;
}

/* Sums have other chunks where there is less padding. */
static void are_near(const hu_trainer_report *report, float loss, size_t n, const float *got, const float *expected) {
  float largest = 0;
  assert_true(fabs(report->loss - (double)loss) < 1e-5);
  for (size_t i = 0; i < n; i++) largest = fmaxf(largest, fabsf(expected[i]));
  assert_true(largest > 1e-3f);
  for (size_t i = 0; i < n; i++) assert_true(fabsf(got[i] - expected[i]) < 1e-5f * largest);
}

/* Every step of two epochs, of weights that move: gradients and loss are those of the sentences in whole windows. */
static void test_batches(void **state) {
  static float got[NUMBERS], expected[NUMBERS];
  static t_batches batches;
  size_t different = 0, seen[64] = {0};
  (void)state;
  hu_trainer *trainer = begun(PAIRS(BY_TOKENS, "run.epochs", "2"));
  for (uint64_t epoch = 0; epoch < 2; epoch++) {
    expect(&batches, trainer, epoch, 120, 4, 1.5, 1);
    assert_int_equal(hu_trainer_steps_an_epoch(trainer), batches.count);
    assert_int_equal(hu_trainer_steps(trainer), 2 * batches.count);
    for (size_t t = 0; t < batches.count; t++) {
      char size[24];
      float loss;
      hu_trainer_report report;
      const size_t n = batches.sizes[batches.bucket[t]];
      snprintf(size, sizeof size, "%zu", n);
      hu_trainer *plain = begun(PAIRS(SENTENCES, "run.batch", size));
      carry_tensors(plain, trainer);
      (void)give(plain, plain->net, n, batches.pairs[t]);
      assert_int_equal(hu_net_forward(plain->net, 1, &loss), HU_OK);
      assert_int_equal(hu_net_backward(plain->net, 1), HU_OK);
      size_t numbers = gradients_of(plain, expected);
      assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
      assert_int_equal(gradients_of(trainer, got), numbers);
      assert_true(report.epoch == epoch);
      are_near(&report, loss, numbers, got, expected);
      different += batches.bucket[t] + 1 < batches.buckets;
      seen[batches.bucket[t]]++;
      hu_trainer_free(plain);
    }
  }
  assert_true(hu_trainer_done(trainer) && different > 10 && seen[0] && seen[2] && seen[batches.buckets - 1]);
  hu_trainer_free(trainer);
}

/* One bucket of all lengths: batches are those of a run of so many pairs. */
static void test_one_bucket(void **state) {
  (void)state;
  uint64_t z = digest_after(9, PAIRS(SENTENCES, "run.tokens", "200", "run.bucket_first", "21"));
  assert_true(z == digest_after(9, PAIRS(SENTENCES, "run.batch", "9")));
  assert_true(z == digest_after(9, PAIRS(SENTENCES, "run.tokens", "200", "run.bucket_first", "4000")));
  assert_true(z != digest_after(9, PAIRS(SENTENCES, "run.batch", "10")));
}

/* Lengths of the buckets of Tensor2Tensor: at most 256 tokens of a sentence. */
static void test_lengths(void **state) {
  static const size_t expected[] = {8,  9,  10, 11,  12,  13,  14,  15,  16,  17,  18,  19,  20,  22,
                                    24, 26, 28, 30,  33,  36,  39,  42,  46,  50,  55,  60,  66,  72,
                                    79, 86, 94, 103, 113, 124, 136, 149, 163, 179, 196, 215, 236, 256};
  enum { COUNT = sizeof expected / sizeof *expected };
  (void)state;
  hu_trainer *trainer = begun(PAIRS(SENTENCES, "data.window", "256", "run.batch", "1", "run.tokens", "1024",
                                    "model.net", "seq2seq(units=4,heads=1,hidden=4)"));
  assert_int_equal(trainer->buckets.count, COUNT);
  for (size_t k = 0; k < COUNT; k++) {
    assert_int_equal(trainer->buckets.bucket[k].length, expected[k]);
    assert_int_equal(trainer->buckets.bucket[k].size, 1024 / expected[k]);
  }
  hu_trainer_free(trainer);
}

/* ---- the same bits ---- */

static void test_stopped(void **state) {
  (void)state;
  const char *const *pairs = PAIRS(BY_TOKENS, "precision.system", "bfloat16", "precision.values", "bfloat16,sra:8",
                                   "model.net", "seq2seq(units=16,heads=2,hidden=24,dropout=0.2)", "run.epochs", "3");
  hu_trainer *whole = begun(pairs);
  const size_t an_epoch = hu_trainer_steps_an_epoch(whole), at[] = {1, an_epoch - 1, an_epoch, an_epoch + 3};
  steps(whole, an_epoch + 6);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    hu_trainer *first = begun(pairs), *second = begun(pairs);
    steps(first, at[i]);
    char *text = state_of(first);
    carry_tensors(second, first);
    *why = 0;
    if (hu_trainer_resume(second, text, why) != HU_OK) fail_msg("%s", why);
    steps(second, an_epoch + 6 - at[i]);
    assert_true(hu_trainer_digest(second) == hu_trainer_digest(whole));
    free(text);
    hu_trainer_free(first);
    hu_trainer_free(second);
  }
  assert_true(
      digest_after(an_epoch + 6, PAIRS(BY_TOKENS, "precision.system", "bfloat16", "precision.values", "bfloat16,sra:8",
                                       "model.net", "seq2seq(units=16,heads=2,hidden=24,dropout=0.2)", "run.epochs",
                                       "3", "run.threads", "3")) == hu_trainer_digest(whole));
  hu_trainer_free(whole);
}

/* Shards have the sentences in their order, and the loss is the mean of all words; processes change no bit. */
static void test_shards(void **state) {
  static float got[NUMBERS], expected[NUMBERS];
  static t_batches batches;
  (void)state;
  const char *const *pairs = PAIRS(BY_TOKENS, "parallel.shards", "3", "run.batch", "9");
  hu_trainer *trainer = begun(pairs);
  expect(&batches, trainer, 0, 120, 4, 1.5, 3);
  assert_int_equal(hu_trainer_steps_an_epoch(trainer), batches.count);
  for (size_t t = 0; t < 8; t++) {
    char size[24];
    float loss;
    hu_trainer_report report;
    const size_t n = batches.sizes[batches.bucket[t]];
    assert_true(n % 3 == 0);
    snprintf(size, sizeof size, "%zu", n);
    hu_trainer *plain = begun(PAIRS(SENTENCES, "run.batch", size));
    carry_tensors(plain, trainer);
    (void)give(plain, plain->net, n, batches.pairs[t]);
    assert_int_equal(hu_net_forward(plain->net, 1, &loss), HU_OK);
    assert_int_equal(hu_net_backward(plain->net, 1), HU_OK);
    size_t numbers = gradients_of(plain, expected);
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    assert_int_equal(gradients_of(trainer, got), numbers);
    are_near(&report, loss, numbers, got, expected);
    hu_trainer_free(plain);
  }
  hu_trainer_free(trainer);
  t_seat like = {.pairs = pairs}, alone, seats[RANKS_MAX];
  train_on(1, &alone, pairs);
  for (int size = 2; size <= 3; size++) {
    train_like(&like, size, seats);
    for (int r = 0; r < size; r++) {
      same_seats(&seats[r], &alone);
      free(seats[r].state);
    }
  }
  free(alone.state);
}

/* ---- refusals ---- */

static void refused(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  *why = 0;
  hu_status status = hu_trainer_begin(trainer, folder, why);
  if (status == HU_OK || !strstr(why, part)) fail_msg("%s, '%s', not '%s'", hu_status_text(status), why, part);
  hu_trainer_free(trainer);
}

static void test_refused(void **state) {
  (void)state;
  refused(PAIRS("run.tokens", "100", "data.set", "gratings"), "run.tokens: of data.set = parallel alone");
  refused(PAIRS(BY_TOKENS, "run.accumulate", "2"), "run.tokens: does not go with run.accumulate");
  refused(PAIRS(BY_TOKENS, "run.stream", "2"), "run.tokens: does not go with run.stream");
  refused(PAIRS(BY_TOKENS, "run.rest", "keep"), "run.tokens: does not go with run.rest = keep");
  refused(PAIRS(BY_TOKENS, "assignment.kind", "uniform"), "run.tokens: does not go with assignment.kind");
  refused(PAIRS(BY_TOKENS, "precision.system", "fp8_delayed"), "run.tokens: does not go with precision.history");
  refused(PAIRS(BY_TOKENS, "parallel.statistics", "batch"), "run.tokens: does not go with parallel.statistics = batch");
  refused(PAIRS(SENTENCES, "run.tokens", "16777216"), "no bucket has enough sentences for a batch");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches), cmocka_unit_test(test_one_bucket),
                                     cmocka_unit_test(test_lengths), cmocka_unit_test(test_stopped),
                                     cmocka_unit_test(test_shards),  cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("batches by tokens", tests, make_files, remove_files);
}
