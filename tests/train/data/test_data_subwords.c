/* SPDX-License-Identifier: MIT */
/* Parts of words: the paper's words by hand, pairs of sentences with one vocabulary, and a BLEU of whole words against
 * one of texts. Argument: none is looked at. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/trainers.h"
#include "train/data/subwords.h"
#include "train/trainer/bleu.h"
#include "train/trainer/trainer.h"

static hu_bytes bytes(const char *name, const char *text) {
  return (hu_bytes){name, (const uint8_t *)text, strlen(text)};
}

/* ---- merges ---- */

/* Sennrich et al. 2016, section 3.2: "low" five times, "lower" twice, "newest" six times, "widest" three times. Counted
 * by hand: (e, s) and (s, t</w>) are there 9 times, and the larger left text is taken; and so on. */
#define LOW "low low low low low lower lower newest newest newest\nnewest newest newest widest widest widest\n"
static const char low_merges[] =
    "#version: 0.2\ns t</w>\ne st</w>\nl o\nw est</w>\nn e\nne west</w>\nlo w</w>\nw i\nwi d\nwid est</w>\n";

static void learn(hu_subwords *subwords, const char *text, size_t most) {
  const hu_bytes file = bytes("f", text);
  memset(subwords, 0, sizeof *subwords);
  if (hui_subwords_learn(subwords, &file, 1, most, why) != HU_OK) fail_msg("%s", why);
}

static void merges_are(const hu_subwords *subwords, const char *expected) {
  char *text = hui_subwords_text(subwords);
  assert_non_null(text);
  assert_string_equal(text, expected);
  free(text);
}

static void cut_is(hu_subwords *subwords, const char *text, const char *expected) {
  const hu_bytes file = bytes("f", text);
  hu_bytes coded;
  assert_int_equal(hui_subwords_apply(subwords, &file, &coded, why), HU_OK);
  assert_int_equal(coded.size, strlen(expected));
  assert_memory_equal(coded.data, expected, coded.size);
  hui_bytes_free(&coded);
}

static void test_paper(void **state) {
  (void)state;
  hu_subwords subwords;
  learn(&subwords, LOW, 10);
  merges_are(&subwords, low_merges);
  cut_is(&subwords, "lowest  <unk>\n\n lower new wid widest",
         "lo@@ west <unk>\n\nlo@@ w@@ e@@ r ne@@ w wi@@ d widest\n");
  hui_subwords_free(&subwords);
  /* No pair is left that occurs twice: "lower" is lo w e r</w>, twice. */
  learn(&subwords, LOW, 1000);
  merges_are(&subwords,
             "#version: 0.2\ns t</w>\ne st</w>\nl o\nw est</w>\nn e\nne west</w>\nlo w</w>\nw i\nwi d\nwid est</w>\n"
             "w e\nwe r</w>\nlo wer</w>\n");
  cut_is(&subwords, LOW, LOW);
  hui_subwords_free(&subwords);
}

/* Occurrences overlap, pairs are merged from the left, and no part reads <unk> or <eos>. */
static void test_edges(void **state) {
  (void)state;
  hu_subwords subwords;
  learn(&subwords, "aaaaa aaaaa", 1);
  merges_are(&subwords, "#version: 0.2\na a\n");
  cut_is(&subwords, "aaaa aaa a\n", "aa@@ a@@ a aa@@ a a\n");
  hui_subwords_free(&subwords);
  learn(&subwords, "x<unk> y<unk> z<unk> <unk> <unk> <eos>", 100);
  for (size_t i = 0; i < subwords.symbols.count; i++)
    assert_false(hui_same_words(subwords.symbols.known[i].word, hui_word_of("<unk></w>")));
  assert_int_equal(subwords.merges.count, 3); /* of the four that would make <unk></w> */
  hui_subwords_free(&subwords);
  /* Bytes that go on with a character stay with it. */
  learn(&subwords, "q", 5);
  cut_is(&subwords, "\xC3\xA9\xE2\x82\xAC\x80z", "\xC3\xA9@@ \xE2\x82\xAC\x80@@ z\n");
  assert_int_equal(subwords.merges.count, 0);
  hui_subwords_free(&subwords);
  hui_subwords_free(&subwords);
}

/* ---- pairs of sentences ---- */

static void test_pairs(void **state) {
  (void)state;
  /* Both training parts: "ab" four times, "cb" once: a b</w>. Numbers: ab 0, <eos> 1, c@@ 2, b 3, <unk> 4. */
  const hu_bytes source[2] = {bytes("s", "ab\ncb ab\n"), bytes("s2", "b ab d")},
                 target[2] = {bytes("t", "ab\nab\n"), bytes("t2", "c cb\n")};
  hu_subwords subwords;
  hu_parallel pairs;
  memset(&subwords, 0, sizeof subwords);
  const hu_word_rules rules = {.subwords = &subwords, .learn = 9};
  if (hui_parallel_read_by(&pairs, source, target, 2, 4, &rules, why) != HU_OK) fail_msg("%s", why);
  merges_are(&subwords, "#version: 0.2\na b</w>\n");
  assert_true(pairs.joined && pairs.source_kinds == 5 && pairs.target_kinds == 5 && pairs.end == 1 &&
              pairs.unknown == 4);
  assert_true(pairs.training.count == 2 && pairs.test.count == 1);
  const float expected[3][9] = {{0, 1, 1, 1, 2, 1, 0, 1, 1}, {2, 3, 0, 1, 4, 1, 0, 1, 1}, {3, 0, 4, 1, 4, 1, 4, 2, 3}};
  assert_memory_equal(pairs.training.x, expected, 2 * sizeof *expected);
  assert_memory_equal(pairs.test.x, expected[2], sizeof *expected);
  assert_string_equal(pairs.words[2], "c@@");
  hu_parallel_free(&pairs);
  hui_subwords_free(&subwords);
}

/* ---- BLEU of whole words ---- */

static char files[64];

/* Four or five words of one or two letters, and the same words backwards, in capitals. */
static int make_files(void **state) {
  (void)state;
  t_random random = {5};
  strcpy(files, "/tmp/halfulp-subwords-XXXXXX");
  if (!mkdtemp(files)) return 1;
  FILE *out[2];
  for (int k = 0; k < 2; k++) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", files, k ? "target" : "source");
    out[k] = fopen(path, "w");
    if (!out[k]) return 1;
  }
  for (size_t line = 0; line < 200; line++) {
    for (size_t words = 4 + t_below(&random, 2), w = 0; w < words; w++) {
      size_t n = 1 + t_below(&random, 2);
      char word[2][5] = {{0}, {0}};
      for (size_t j = 0; j < n; j++) {
        word[0][j] = (char)('a' + t_below(&random, 4));
        word[1][n - 1 - j] = (char)(word[0][j] - 'a' + 'A');
      }
      for (int k = 0; k < 2; k++) fprintf(out[k], "%s%s", word[k], w + 1 < words ? " " : "\n");
    }
  }
  for (int k = 0; k < 2; k++) fclose(out[k]);
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

/* A text of parts as one of words: "a@@ b c" becomes "ab c". */
static void join(char *z, const char *parts) {
  for (; *parts; parts++) {
    if (strncmp(parts, "@@ ", 3) == 0) {
      parts += 2;
    } else if (strcmp(parts, "@@") == 0) {
      break;
    } else {
      *z++ = *parts;
    }
  }
  *z = 0;
}

/* The words of a line as numbers of a list of all words so far. */
static size_t number(const char *line, uint32_t *z) {
  static char known[2000][40];
  static uint32_t count;
  size_t n = 0;
  char copy[400], *rest = copy;
  snprintf(copy, sizeof copy, "%s", line);
  for (const char *word; (word = strsep(&rest, " ")) != NULL;) {
    uint32_t i = 0;
    if (!*word) continue;
    while (i < count && strcmp(known[i], word) != 0) i++;
    assert_true(i < 2000 && strlen(word) < 40);
    if (i == count) strcpy(known[count++], word);
    z[n++] = i;
  }
  return n;
}

static void add_part(char *line, size_t size, const hu_parallel *pairs, uint32_t token) {
  snprintf(line + strlen(line), size - strlen(line), "%s%s", *line ? " " : "", pairs->words[token]);
}

static void test_bleu(void **state) {
  (void)state;
  enum { W = 14, N = 7 };
  folder = files;
  hu_trainer *trainer =
      with(PAIRS("data.set", "parallel", "data.path", "source", "data.target", "target", "data.window", "14",
                 "data.subwords", "5", "run.batch", "7", "model.net", "seq2seq(units=16,heads=2,hidden=32)",
                 "optimizer.kind", "adamw", "optimizer.rate", "0.01", "run.steps", "1000"));
  begin(trainer);
  assert_non_null(hu_trainer_merges(trainer));
  const hu_parallel *pairs = &trainer->source.parallel;
  hu_trainer_seen seen;
  hu_bleu of_words, of_parts;
  memset(&of_words, 0, sizeof of_words);
  memset(&of_parts, 0, sizeof of_parts);
  steps(trainer, 400);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  for (size_t b = 0, n; b < hui_batches_to_see(trainer, HU_ON_TEST); b++) {
    float x[N * (2 * W + 1)];
    uint32_t text[N][W], labels[W], numbers[2][W];
    size_t words[N] = {0};
    int done[N] = {0};
    assert_int_equal(hui_feed_to_see(trainer, HU_ON_TEST, b, &n), HU_OK);
    memcpy(x, trainer->buffers.x, sizeof x);
    for (size_t i = 0; i < N * W; i++) x[i / W * (2 * W + 1) + W + 1 + i % W] = (float)pairs->end;
    for (size_t j = 0; j < W; j++) { /* a pass for each part */
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
      char line[2][400] = {"", ""}, joined[400];
      for (size_t j = 0; j < words[i]; j++) add_part(line[0], sizeof line[0], pairs, text[i][j]);
      for (size_t j = 0; j < others; j++) add_part(line[1], sizeof line[1], pairs, labels[j]);
      size_t count[2];
      for (int k = 0; k < 2; k++) {
        join(joined, line[k]);
        assert_null(strstr(joined, "@@"));
        count[k] = number(joined, numbers[k]);
      }
      hui_bleu_add(&of_words, count[0], numbers[0], count[1], numbers[1]);
      hui_bleu_add(&of_parts, words[i], text[i], others, labels);
    }
  }
  print_message("BLEU %.4f, of parts %.4f\n", seen.bleu, hui_bleu_of(&of_parts));
  assert_true(seen.bleu > 1 && seen.bleu < 99 && seen.bleu == hui_bleu_of(&of_words));
  assert_true(fabs(seen.bleu - hui_bleu_of(&of_parts)) > 0.1);
  hu_trainer_free(trainer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paper),
      cmocka_unit_test(test_edges),
      cmocka_unit_test(test_pairs),
      cmocka_unit_test_setup_teardown(test_bleu, make_files, remove_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
