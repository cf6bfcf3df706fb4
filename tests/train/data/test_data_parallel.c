/* SPDX-License-Identifier: MIT */
/* Parallel text: pairs as examples, what is left out and what is refused; BLEU against counts of its own; runs whose
 * rows have labels in part. Tokens that are masked. Argument: the folder with the shipped data. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/processes.h"
#include "train/data/file.h"
#include "train/trainer/bleu.h"
#include "train/trainer/trainer.h"

static hu_bytes bytes(const char *name, const char *text) {
  return (hu_bytes){name, (const uint8_t *)text, strlen(text)};
}

/* ---- examples ---- */

static void numbers_are(const float *x, size_t n, const char *expected) {
  char got[512] = "";
  for (size_t i = 0; i < n; i++) snprintf(got + strlen(got), sizeof got - strlen(got), "%g ", (double)x[i]);
  assert_string_equal(got, expected);
}

static void labels_are(const hu_parallel *pairs, const hu_data *data, size_t i, size_t counted, const char *expected) {
  uint32_t labels[16];
  char got[256] = "";
  assert_int_equal(hu_parallel_labels(pairs, data->x + i * (2 * pairs->window + 1), labels), counted);
  for (size_t j = 0; j < pairs->window; j++) {
    if (labels[j] == UINT32_MAX) strcat(got, "- ");
    if (labels[j] != UINT32_MAX) snprintf(got + strlen(got), 16, "%u ", labels[j]);
  }
  assert_string_equal(got, expected);
}

static void test_examples(void **state) {
  (void)state;
  /* Source: b 0, a 1, <eos> 2, c 3, <unk> 4; target: X 0, Y 1, <eos> 2, Z 3, <unk> 4. */
  const hu_bytes source[2] = {bytes("s", "b a\n\n a  c b\r\nb"), bytes("t", "a z\n")};
  const hu_bytes target[2] = {bytes("u", "X Y\nX\n\tZ\nY Y Y Y"), bytes("v", "Q X")};
  hu_parallel pairs;
  if (hui_parallel_read(&pairs, source, target, 2, 4, 0, 0, why) != HU_OK) fail_msg("%s", why);
  assert_true(pairs.window == 4 && pairs.source_kinds == 5 && pairs.target_kinds == 5 && pairs.end == 2 &&
              pairs.unknown == 4);
  assert_true(pairs.training.count == 3 && pairs.left_out == 1 &&
              pairs.test.count == 1); /* Y Y Y Y and its end are 5 */
  assert_true(hu_data_features(&pairs.training) == 9 && !pairs.training.labels && !pairs.training.targets);
  numbers_are(pairs.training.x, 9, "0 1 2 2 3 2 0 1 2 ");
  numbers_are(pairs.training.x + 9, 9, "2 2 2 2 1 2 0 2 2 ");
  numbers_are(pairs.training.x + 18, 9, "1 3 0 2 4 2 3 2 2 ");
  numbers_are(pairs.test.x, 9, "1 4 2 2 3 2 4 0 2 ");
  labels_are(&pairs, &pairs.training, 0, 3, "0 1 2 - ");
  labels_are(&pairs, &pairs.training, 1, 2, "0 2 - - ");
  labels_are(&pairs, &pairs.training, 2, 2, "3 2 - - ");
  labels_are(&pairs, &pairs.test, 0, 3, "4 0 2 - ");
  hu_parallel_free(&pairs);
  assert_true(!pairs.training.x && !pairs.test.x && !pairs.window);
  /* A sentence that fills its window has no padding. */
  if (hui_parallel_read(&pairs, source, target, 2, 5, 0, 0, why) != HU_OK) fail_msg("%s", why);
  assert_true(pairs.training.count == 4 && pairs.left_out == 0);
  labels_are(&pairs, &pairs.training, 3, 5, "1 1 1 1 2 ");
  hu_parallel_free(&pairs);
  /* <eos>, <unk> and the most frequent word of each language. */
  if (hui_parallel_read(&pairs, source, target, 2, 5, 3, 1, why) != HU_OK) fail_msg("%s", why);
  assert_true(pairs.source_kinds == 3 && pairs.target_kinds == 3);
  hu_parallel_free(&pairs);
}

/* A file alone: the last tenth, rounded up, is for testing; the vocabulary comes from the rest. */
static void test_cut(void **state) {
  (void)state;
  const hu_bytes source = bytes("s", "a\na\na\na\na\na\na\na\na\nb\nc\n"),
                 target = bytes("t", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11");
  hu_parallel pairs;
  if (hui_parallel_read(&pairs, &source, &target, 1, 3, 0, 0, why) != HU_OK) fail_msg("%s", why);
  assert_true(pairs.training.count == 9 && pairs.test.count == 2 && pairs.source_kinds == 3 &&
              pairs.target_kinds == 11);
  labels_are(&pairs, &pairs.training, 8, 2, "9 1 - ");
  labels_are(&pairs, &pairs.test, 0, 2, "10 1 - "); /* unknown */
  hu_parallel_free(&pairs);
}

/* ---- what is refused ---- */

static void refused(const char *source, const char *target, size_t files, hu_status status, const char *sentence) {
  const hu_bytes s[2] = {bytes("s", source), bytes("s2", "a b c d\n")};
  const hu_bytes t[2] = {bytes("t", target), bytes("t2", "e\n")};
  hu_parallel pairs;
  t_fill_pattern(&pairs, sizeof pairs);
  *why = 0;
  assert_int_equal(hui_parallel_read(&pairs, s, t, files, 3, 0, 0, why), status);
  assert_string_equal(why, sentence);
  assert_true(t_is_pattern(&pairs, sizeof pairs));
}

static void test_refused(void **state) {
  (void)state;
  static char nul[] = "a\nx\xFFy b\n"; /* no UTF-8, and no harm */
  refused("a\nb\n", "x\n", 2, HU_E_DATA, "t: lines: 1, and s has 2");
  refused("a\nb", "x\ny\nz", 2, HU_E_DATA, "t: lines: 3, and s has 2");
  refused("", "x\n", 2, HU_E_DATA, "s: size: the file is empty");
  refused("x\n", "", 2, HU_E_DATA, "t: size: the file is empty");
  refused("\x1F\x8B\x08", "x", 2, HU_E_DATA, "s: content: compressed by gzip; unpack it first");
  refused("a\nb <eos> c\n", "x\ny\n", 2, HU_E_DATA, "s: word of line 2: <eos>, which ends every line");
  refused("a\nb\n", "x\n<eos>", 2, HU_E_DATA, "t: word of line 2: <eos>, which ends every line");
  refused("<eos>x\na\n", "x\ny\n", 2, HU_E_DATA,
          "s2: line 1: more than 2 words in one of the languages, and a sentence that is tested is not left out");
  refused("a\n", "x\n", 1, HU_E_DATA, "s: lines: 1, fewer than 10");
  refused("a b c\n", "x\n", 2, HU_E_DATA, "s: lines: none has at most 2 words in both languages");
  refused(nul, "x\ny\n", 2, HU_E_DATA,
          "s2: line 1: more than 2 words in one of the languages, and a sentence that is tested is not left out");
  hu_parallel pairs;
  const char *const none[1] = {"/nonexistent/s"};
  assert_int_equal(hu_parallel_load(&pairs, none, none, 1, 8, 0, 0, why), HU_E_FILE);
  assert_non_null(strstr(why, "/nonexistent/s: "));
  assert_int_equal(hu_parallel_load(NULL, none, none, 1, 8, 0, 0, why), HU_E_NULL);
  assert_int_equal(hu_parallel_load(&pairs, none, none, 3, 8, 0, 0, why), HU_E_SHAPE);
  assert_int_equal(hu_parallel_load(&pairs, none, none, 1, 1, 0, 0, why), HU_E_SHAPE);
  assert_int_equal(hu_parallel_load(&pairs, none, none, 1, 8, 2, 0, why), HU_E_SHAPE);
}

/* ---- BLEU ---- */

static double bleu(size_t words, const uint32_t *text, size_t others, const uint32_t *reference) {
  hu_bleu z;
  memset(&z, 0, sizeof z);
  hui_bleu_add(&z, words, text, others, reference);
  return hui_bleu_of(&z);
}

static void test_bleu_by_hand(void **state) {
  (void)state;
  /* Papineni et al., example 2: "the" seven times, of which two are in the reference; no pair is. */
  const uint32_t the[7] = {1, 1, 1, 1, 1, 1, 1}, mat[6] = {1, 2, 3, 4, 1, 5};
  hu_bleu z;
  memset(&z, 0, sizeof z);
  hui_bleu_add(&z, 7, the, 6, mat);
  assert_true(z.number[0] == 2 && z.number[4] == 7 && z.number[1] == 0 && z.number[5] == 6);
  assert_true(hui_bleu_of(&z) == 0);
  /* One word of seven is another one: shares 6/7, 4/6, 3/5, 2/4. */
  const uint32_t a[7] = {1, 2, 3, 4, 5, 6, 7}, b[7] = {1, 2, 3, 4, 5, 8, 7};
  assert_true(fabs(bleu(7, a, 7, b) - 100 * pow(6.0 / 7 * 4 / 6 * 3 / 5 * 2 / 4, 0.25)) < 1e-11);
  assert_true(bleu(7, a, 7, a) == 100);
  /* A translation that is a part of the reference is too short; a longer one pays by its shares alone. */
  assert_true(fabs(bleu(5, a, 7, a) - 100 * exp(1 - 7.0 / 5)) < 1e-11);
  assert_true(fabs(bleu(7, a, 5, a) - 100 * pow(5.0 / 7 * 4 / 6 * 3 / 5 * 2 / 4, 0.25)) < 1e-11);
  assert_true(bleu(3, a, 3, a) == 0 && bleu(0, a, 3, a) == 0); /* no part of four words */
}

/* Parts as numbers to the base 8, sorted; partners are found by going through both lists. */
static int by_size(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static size_t sorted_parts(size_t n, size_t words, const uint32_t *text, uint32_t *z) {
  size_t count = 0;
  for (size_t i = 0; i + n <= words; i++, count++) {
    z[count] = 0;
    for (size_t k = 0; k < n; k++) z[count] = 8 * z[count] + text[i + k];
  }
  qsort(z, count, sizeof *z, by_size);
  return count;
}

static void test_bleu_of_many(void **state) {
  (void)state;
  t_random random = {t_seed("train-bleu", 4)};
  for (int corpus = 0; corpus < 50; corpus++) {
    hu_bleu z;
    double match[4] = {0}, all[4] = {0}, words = 0, others = 0, product = 1;
    memset(&z, 0, sizeof z);
    for (int sentence = 0; sentence < 20; sentence++) {
      uint32_t text[2][40], parts[2][40];
      size_t n[2] = {t_below(&random, 40), t_below(&random, 40)};
      for (size_t i = 0; i < 40; i++)
        text[0][i] = t_below(&random, 4), text[1][i] = t_below(&random, 3) ? text[0][i] : t_below(&random, 4);
      hui_bleu_add(&z, n[0], text[0], n[1], text[1]);
      words += (double)n[0];
      others += (double)n[1];
      for (size_t k = 1; k <= 4; k++) {
        size_t a = sorted_parts(k, n[0], text[0], parts[0]), b = sorted_parts(k, n[1], text[1], parts[1]);
        all[k - 1] += (double)a;
        for (size_t i = 0, j = 0; i < a && j < b;) {
          match[k - 1] += parts[0][i] == parts[1][j];
          if (parts[0][i] < parts[1][j]) {
            i++;
          } else if (parts[0][i] > parts[1][j]) {
            j++;
          } else {
            i++, j++;
          }
        }
      }
    }
    for (int k = 0; k < 4; k++) product *= match[k] / all[k];
    double expected = 100 * pow(product, 0.25) * (words > others ? 1 : exp(1 - others / words));
    assert_true(expected > 1 && fabs(hui_bleu_of(&z) - expected) < 1e-10);
  }
}

/* ---- runs ---- */

static char files[64];

/* Sentences of letters and the same backwards, in capitals: two files. */
static void write_files(size_t lines) {
  t_random random = {9};
  char path[2][96];
  FILE *out[2];
  for (int k = 0; k < 2; k++) {
    snprintf(path[k], sizeof path[k], "%s/%s", files, k ? "target" : "source");
    out[k] = fopen(path[k], "w");
    assert_non_null(out[k]);
  }
  for (size_t i = 0; i < lines; i++) {
    size_t n = 1 + t_below(&random, 6);
    char word[6];
    for (size_t j = 0; j < n; j++) word[j] = (char)('a' + t_below(&random, 5));
    for (size_t j = 0; j < n; j++) {
      fprintf(out[0], "%c%c", word[j], j + 1 < n ? ' ' : '\n');
      fprintf(out[1], "%c%c", word[n - 1 - j] - 'a' + 'A', j + 1 < n ? ' ' : '\n');
    }
  }
  for (int k = 0; k < 2; k++) fclose(out[k]);
}

static int make_files(void **state) {
  (void)state;
  strcpy(files, "/tmp/halfulp-parallel-XXXXXX");
  if (!mkdtemp(files)) return 1;
  write_files(300);
  return 0;
}

static int remove_files(void **state) {
  char path[96];
  (void)state;
  snprintf(path, sizeof path, "%s/source", files);
  unlink(path);
  snprintf(path, sizeof path, "%s/target", files);
  unlink(path);
  return rmdir(files);
}

#define PARALLEL                                                                                                 \
  "data.set", "parallel", "data.path", "source", "data.target", "target", "data.window", "8", "run.batch", "24", \
      "model.net", "seq2seq(units=16,heads=2,hidden=32)", "optimizer.kind", "adamw", "optimizer.rate", "0.01"

static hu_trainer *begun(const char *const *pairs) {
  folder = files;
  hu_trainer *trainer = with(pairs);
  begin(trainer);
  return trainer;
}

/* The loss of a step is the mean of all words of its sentences, however the batch is cut. */
static void test_parts_of_a_step(void **state) {
  (void)state;
  hu_trainer *trainer[3] = {begun(PAIRS(PARALLEL)), begun(PAIRS(PARALLEL, "parallel.shards", "4")),
                            begun(PAIRS(PARALLEL, "run.batch", "8", "run.accumulate", "3"))};
  static float gradient[3][100000];
  double loss[3];
  size_t n = 0;
  for (int k = 0; k < 3; k++) {
    hu_trainer_report report;
    assert_int_equal(hu_trainer_step(trainer[k], &report), HU_OK);
    loss[k] = report.loss;
    n = gradients_of(trainer[k], gradient[k]);
    assert_true(n < 100000);
  }
  for (int k = 1; k < 3; k++) {
    assert_true(fabs(loss[k] - loss[0]) < 1e-5);
    for (size_t i = 0; i < n; i++) assert_true(fabsf(gradient[k][i] - gradient[0][i]) < 2e-6f);
  }
  for (int k = 0; k < 3; k++) hu_trainer_free(trainer[k]);
}

/* The loss of an evaluation is the mean of all words, the last batch with them, and is what the logits say. */
static void test_evaluation(void **state) {
  (void)state;
  hu_trainer *trainer = begun(PAIRS(PARALLEL, "run.batch", "7"));
  const hu_parallel *pairs = &trainer->source.parallel;
  hu_trainer_seen seen;
  double sum = 0, right = 0, words = 0;
  steps(trainer, 30);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  for (size_t b = 0, n; b < hui_batches_to_see(trainer, HU_ON_TEST); b++) {
    assert_int_equal(hui_feed_to_see(trainer, HU_ON_TEST, b, &n), HU_OK);
    assert_int_equal(hu_net_forward(trainer->net, 0, NULL), HU_OK);
    hu_net_tensor z = hu_net_value(trainer->net, trainer->ends.output);
    for (size_t i = 0; i < n; i++) {
      uint32_t labels[8];
      size_t some = hu_parallel_labels(pairs, trainer->source.test.x + (7 * b + i) * 17, labels);
      for (size_t j = 0; j < some; j++) {
        const float *y = z.numbers + (i * 8 + j) * z.cols;
        double all = 0;
        size_t best = 0;
        for (size_t c = 0; c < z.cols; c++) all += exp((double)y[c]), best = y[c] > y[best] ? c : best;
        sum += log(all) - (double)y[labels[j]];
        right += best == labels[j];
        words++;
      }
    }
  }
  assert_true(fabs(seen.loss - sum / words) < 1e-5 && fabs(seen.accuracy - right / words) < 1e-12);
  assert_true(fabs(seen.perplexity - exp(seen.loss)) < 1e-9 * seen.perplexity);
  assert_true(isnan(seen.auc) && seen.bleu >= 0);
  hu_trainer_free(trainer);
}

/* Word by word, a pass each: the same translations. */
static void test_greedy(void **state) {
  (void)state;
  enum { W = 8, N = 7 };
  hu_trainer *trainer = begun(PAIRS(PARALLEL, "run.batch", "7"));
  const hu_parallel *pairs = &trainer->source.parallel;
  hu_trainer_seen seen;
  hu_bleu bleu;
  memset(&bleu, 0, sizeof bleu);
  steps(trainer, 150);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  for (size_t b = 0, n; b < hui_batches_to_see(trainer, HU_ON_TEST); b++) {
    float x[N * (2 * W + 1)];
    uint32_t text[N][W], labels[W];
    size_t words[N] = {0};
    int done[N] = {0};
    assert_int_equal(hui_feed_to_see(trainer, HU_ON_TEST, b, &n), HU_OK);
    memcpy(x, trainer->buffers.x, sizeof x);
    for (size_t i = 0; i < N * W; i++) x[i / W * (2 * W + 1) + W + 1 + i % W] = (float)pairs->end;
    for (size_t j = 0; j < W; j++) {
      assert_int_equal(hu_model_feed(trainer->net, &trainer->ends, x), HU_OK);
      assert_int_equal(hu_net_forward(trainer->net, 0, NULL), HU_OK);
      hu_net_tensor z = hu_net_value(trainer->net, trainer->ends.output);
      for (size_t i = 0; i < N; i++) {
        const float *y = z.numbers + (i * W + j) * z.cols;
        uint32_t best = 0;
        for (uint32_t c = 0; c < z.cols; c++) best = y[c] > y[best] ? c : best;
        done[i] |= best == pairs->end;
        if (done[i]) continue;
        text[i][words[i]++] = best;
        if (j + 1 < W) x[i * (2 * W + 1) + W + 2 + j] = (float)best;
      }
    }
    for (size_t i = 0; i < n; i++) {
      size_t others = hu_parallel_labels(pairs, trainer->source.test.x + (N * b + i) * (2 * W + 1), labels) - 1;
      hui_bleu_add(&bleu, words[i], text[i], others, labels);
    }
  }
  print_message("BLEU %.4f\n", seen.bleu);
  assert_true(seen.bleu > 1 && seen.bleu < 99 && seen.bleu == hui_bleu_of(&bleu));
  hu_trainer_free(trainer);
}

/* What is learnt is translated; a run that is stopped goes on as if it had not been. */
static void test_learns(void **state) {
  (void)state;
  hu_trainer *trainer = begun(PAIRS(PARALLEL, "run.epochs", "40")),
             *stopped = begun(PAIRS(PARALLEL, "run.epochs", "40"));
  hu_trainer_seen before, after, again;
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &before), HU_OK);
  steps(trainer, 60);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &again), HU_OK);
  char *text = malloc(hu_trainer_state(trainer, NULL, 0) + 1);
  assert_non_null(text);
  (void)hu_trainer_state(trainer, text, hu_trainer_state(trainer, NULL, 0) + 1);
  carry_tensors(stopped, trainer);
  if (hu_trainer_resume(stopped, text, why) != HU_OK) fail_msg("%s", why);
  free(text);
  steps(trainer, 240);
  steps(stopped, 240);
  assert_true(hu_trainer_digest(trainer) == hu_trainer_digest(stopped));
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &after), HU_OK);
  print_message("loss %.3f to %.3f, accuracy %.3f to %.3f, BLEU %.2f to %.2f\n", before.loss, after.loss,
                before.accuracy, after.accuracy, before.bleu, after.bleu);
  assert_true(after.loss < 0.3 && after.accuracy > 0.9 && before.bleu < 10 && after.bleu > 60);
  hu_trainer_free(trainer);
  hu_trainer_free(stopped);
  trainer = begun(PAIRS(PARALLEL, "data.translate", "no"));
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &before), HU_OK);
  assert_true(isnan(before.bleu) && before.loss > 0);
  hu_trainer_free(trainer);
}

/* Any number of processes has the same weights, figures and translations. */
static void test_processes(void **state) {
  (void)state;
  const char *const *const runs[2] = {PAIRS(PARALLEL, "parallel.shards", "6"),
                                      PAIRS("data.set", "words", "data.path", "source", "data.window", "6", "run.batch",
                                            "6", "model.net", "bert(units=8,hidden=16)", "parallel.shards", "3")};
  folder = files;
  for (int k = 0; k < 2; k++) {
    t_seat alone, seats[3];
    train_on(1, &alone, runs[k]);
    train_on(3, seats, runs[k]);
    for (int i = 0; i < 3; i++) same_seats(&seats[i], &alone);
    for (int i = 0; i < 3; i++) free(seats[i].state);
    free(alone.state);
  }
}

static void no_run(hu_status status, const char *sentence, const char *const *pairs) {
  folder = files;
  hu_trainer *trainer = with(pairs);
  *why = 0;
  assert_int_equal(hu_trainer_begin(trainer, folder, why), status);
  if (!strstr(why, sentence)) fail_msg("'%s', not '%s'", why, sentence);
  hu_trainer_free(trainer);
}

static void test_refused_runs(void **state) {
  (void)state;
  no_run(HU_E_TRAIN, "data.target: parallel requires", PAIRS(PARALLEL, "data.target", ""));
  no_run(HU_E_TRAIN, "data.test_file, data.test_target: one is empty", PAIRS(PARALLEL, "data.test_file", "source"));
  no_run(HU_E_TRAIN, "data.evaluate: test", PAIRS(PARALLEL, "data.valid_file", "source"));
  no_run(HU_E_TRAIN, "data.window", PAIRS(PARALLEL, "data.window", "1"));
  no_run(HU_E_TRAIN, "data.vocabulary", PAIRS(PARALLEL, "data.vocabulary", "2"));
  no_run(HU_E_FILE, "/missing: ", PAIRS(PARALLEL, "data.target", "missing"));
  no_run(HU_E_SHAPE, "numbers a sample", PAIRS(PARALLEL, "model.net", "transformer"));
  no_run(HU_E_SHAPE, "source_vocabulary", PAIRS(PARALLEL, "data.set", "words", "run.batch", "2"));
  no_run(HU_E_TRAIN, "targets", PAIRS(PARALLEL, "loss.kind", "squared_error"));
}

/* ---- masks ---- */

static void test_masks(void **state) {
  (void)state;
  enum { WINDOW = 20, ASKED = 3, TIMES = 400 };
  hu_trainer *trainer = begun(PAIRS("data.set", "words", "data.path", "source", "data.window", "20", "run.batch", "4",
                                    "model.net", "bert(units=8,hidden=16)", "run.steps", "1000"));
  double masked = 0, kept = 0, all = 0;
  static uint32_t first[4 * WINDOW];
  size_t places[WINDOW] = {0};
  for (trainer->step = 0; trainer->step < TIMES; trainer->step++) {
    assert_int_equal(hui_draw_training(trainer), HU_OK);
    assert_true(trainer->buffers.counted == 4 * ASKED);
    if (trainer->step == 0) memcpy(first, trainer->buffers.labels, sizeof first);
    if (trainer->step == 1) assert_memory_not_equal(first, trainer->buffers.labels, sizeof first);
    for (size_t i = 0; i < 4 * WINDOW; i++) {
      uint32_t word = trainer->buffers.words[i / WINDOW * (WINDOW + 1) + i % WINDOW],
               given = (uint32_t)trainer->buffers.x[i];
      if (trainer->buffers.labels[i] == HU_LABEL_NONE) {
        assert_int_equal(given, word);
        continue;
      }
      assert_int_equal(trainer->buffers.labels[i], word);
      assert_true(given <= trainer->source.tokens.kinds);
      places[i % WINDOW]++;
      masked += given == trainer->source.tokens.kinds;
      kept += given == word;
      all++;
    }
  }
  assert_true(all == TIMES * 4 * ASKED);
  for (size_t j = 0; j < WINDOW; j++) assert_true(places[j] > 160 && places[j] < 320); /* 240 each */
  double other = 1 - (masked + kept) / all; /* of 10 % one of 7 words is the word itself */
  print_message("%.0f: masked %.3f, kept %.3f, others %.3f\n", all, masked / all, kept / all, other);
  assert_true(fabs(masked / all - 0.8) < 0.025 && fabs(other - 0.1 * 6 / 7) < 0.02);
  trainer->step = 0;
  assert_int_equal(hui_draw_training(trainer), HU_OK);
  assert_memory_equal(first, trainer->buffers.labels, sizeof first);
  hu_trainer_seen seen, again;
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &again), HU_OK);
  assert_true(seen.loss == again.loss && seen.loss > 1 && seen.perplexity > 1 && isnan(seen.bleu));
  steps(trainer, 100);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &again), HU_OK);
  assert_true(again.loss < seen.loss);
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  if (argc < 2) return 1;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples),     cmocka_unit_test(test_cut),          cmocka_unit_test(test_refused),
      cmocka_unit_test(test_bleu_by_hand), cmocka_unit_test(test_bleu_of_many), cmocka_unit_test(test_parts_of_a_step),
      cmocka_unit_test(test_evaluation),   cmocka_unit_test(test_greedy),       cmocka_unit_test(test_processes),
      cmocka_unit_test(test_learns),       cmocka_unit_test(test_refused_runs), cmocka_unit_test(test_masks)};
  return cmocka_run_group_tests_name("parallel text", tests, make_files, remove_files);
}
