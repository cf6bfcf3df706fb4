/* SPDX-License-Identifier: MIT */
/* Text as words: what a word is, the order of the vocabulary, what is kept, what is refused; random files against a
 * direct reading, which compares every word with every other one. Argument: the folder with the shipped data. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/trainers.h"
#include "train/data/file.h"
#include "train/trainer/figures.h"

static hu_bytes bytes(const char *name, const char *text) {
  return (hu_bytes){name, (const uint8_t *)text, strlen(text)};
}

/* The words of a text's tokens, each with a blank behind it. */
static void spell(char *z, size_t buffer, const hu_words *words, size_t first, size_t count) {
  size_t at = 0;
  *z = 0;
  for (size_t i = 0; i < count; i++) {
    assert_true(words->tokens[first + i] < words->kinds);
    at += (size_t)snprintf(z + at, buffer - at, "%s ", words->words[words->tokens[first + i]]);
    assert_true(at < buffer);
  }
}

/* The words of the vocabulary in the order of their tokens, and those of every part with | behind it. */
static void reads(const hu_bytes *files, size_t n, uint32_t most, int by_count, const char *vocabulary,
                  const char *parts) {
  char got[4096], all[8192] = "", order[4096] = "";
  hu_words words;
  *why = 0;
  if (hui_words_read(&words, files, n, most, by_count, why) != HU_OK) fail_msg("%s", why);
  for (uint32_t i = 0; i < words.kinds; i++) strcat(strcat(order, words.words[i]), " ");
  size_t first = 0;
  for (size_t p = 0; p < 3 && words.parts[p]; first += words.parts[p++]) {
    spell(got, sizeof got, &words, first, words.parts[p]);
    strcat(strcat(all, got), "|");
  }
  assert_int_equal(first, words.count);
  assert_string_equal(order, vocabulary);
  assert_string_equal(all, parts);
  hu_words_free(&words);
  assert_true(!words.tokens && !words.words && !words.count);
}

static void test_words(void **state) {
  (void)state;
  const hu_bytes a = bytes("a", " b a  b\t\xC3\xA9\n\n a\r\nb c"), b = bytes("b", "a z\n"), c = bytes("c", "\n");
  const hu_bytes three[3] = {a, b, c};
  reads(&a, 1, 0, 0, "b a \xC3\xA9 <eos> <unk> ", "b a b \xC3\xA9 <eos> <eos> a <eos> b |<unk> <eos> |");
  reads(three, 2, 0, 0, "b a \xC3\xA9 <eos> c <unk> ", "b a b \xC3\xA9 <eos> <eos> a <eos> b c <eos> |a <unk> <eos> |");
  reads(three, 3, 0, 0, "b a \xC3\xA9 <eos> c <unk> ",
        "b a b \xC3\xA9 <eos> <eos> a <eos> b c <eos> |a <unk> <eos> |<eos> |");
  /* <eos> 4 times, b 3, a 2, then é before c, which are there once each; <unk> never. */
  reads(three, 3, 0, 1, "<eos> b a \xC3\xA9 c <unk> ",
        "b a b \xC3\xA9 <eos> <eos> a <eos> b c <eos> |a <unk> <eos> |<eos> |");
}

static void test_kept(void **state) {
  (void)state;
  const hu_bytes a[2] = {bytes("a", "d c b a <unk> a b\n"), bytes("b", "c <unk> d")};
  /* Of d and c, which are there once each, d is first. */
  reads(a, 2, 5, 0, "d b a <unk> <eos> ", "d <unk> b a <unk> a b <eos> |<unk> <unk> d <eos> |");
  reads(a, 2, 5, 1, "b a d <unk> <eos> ", "d <unk> b a <unk> a b <eos> |<unk> <unk> d <eos> |");
  reads(a, 2, 3, 1, "b <unk> <eos> ", "<unk> <unk> b <unk> <unk> <unk> b <eos> |<unk> <unk> <unk> <eos> |");
  reads(a, 2, 6, 0, "d c b a <unk> <eos> ", "d c b a <unk> a b <eos> |c <unk> d <eos> |");
  reads(a, 2, 100, 0, "d c b a <unk> <eos> ", "d c b a <unk> a b <eos> |c <unk> d <eos> |");
  /* The end of a line, as a word that stands in the file, is the same. */
  const hu_bytes same = bytes("a", "<eos> x\n\n\n\n\n\n\n\n\n\n\n");
  hu_words words;
  assert_int_equal(hui_words_read(&words, &same, 1, 0, 0, NULL), HU_OK);
  assert_true(words.kinds == 3 && words.count == 13 && words.parts[0] == 9 && words.parts[1] == 4 &&
              words.tokens[0] == words.tokens[2]);
  hu_words_free(&words);
}

/* ---- what is refused ---- */

static void refused(const hu_bytes *files, size_t n, hu_status status, const char *sentence) {
  hu_words words;
  t_fill_pattern(&words, sizeof words);
  *why = 0;
  assert_int_equal(hui_words_read(&words, files, n, 0, 0, why), status);
  assert_string_equal(why, sentence);
  assert_true(t_is_pattern(&words, sizeof words));
}

static void test_refused(void **state) {
  (void)state;
  enum { LONG = 1000000 };
  hu_bytes files[2] = {bytes("a", "one two three four\n"), bytes("b", "")};
  refused(files, 2, HU_E_DATA, "b: size: the file is empty");
  refused(files, 1, HU_E_DATA, "a: size: 5 words with ends of lines, fewer than 10");
  files[1] = (hu_bytes){"b", (const uint8_t *)"a\nb c\0d e\n", 10};
  refused(files, 2, HU_E_DATA, "b: word of line 2: has a NUL byte");
  files[1] = bytes("b", "\x1F\x8B\x08");
  refused(files, 2, HU_E_DATA, "b: content: compressed by gzip; unpack it first");
  char *text = malloc(LONG + 3);
  assert_non_null(text);
  memset(text, 'x', LONG + 2);
  memcpy(text, "\n\n", 2);
  files[1] = (hu_bytes){"b", (const uint8_t *)text, LONG + 2};
  refused(files, 2, HU_E_DATA, "b: word of line 3: 1000000 bytes, more than 1024");
  files[1].size = 1024 + 2;
  hu_words words;
  assert_int_equal(hui_words_read(&words, files, 2, 0, 0, why), HU_OK);
  hu_words_free(&words);
  files[1].size++;
  refused(files, 2, HU_E_DATA, "b: word of line 3: 1025 bytes, more than 1024");
  free(text);
}

static void test_arguments(void **state) {
  (void)state;
  char path[4096];
  const char *const paths[4] = {path, path, "/nowhere/b", path};
  hu_words words;
  snprintf(path, sizeof path, "%s/xz_file_format.txt", folder);
  assert_int_equal(hu_words_load(NULL, paths, 1, 0, 0, why), HU_E_NULL);
  assert_int_equal(hu_words_load(&words, NULL, 1, 0, 0, why), HU_E_NULL);
  assert_int_equal(hu_words_load(&words, paths, 0, 0, 0, why), HU_E_SHAPE);
  assert_int_equal(hu_words_load(&words, paths, 4, 0, 0, why), HU_E_SHAPE);
  for (uint32_t most = 1; most < 3; most++) assert_int_equal(hu_words_load(&words, paths, 1, most, 0, why), HU_E_SHAPE);
  assert_int_equal(hu_words_load(&words, paths, 1, (1u << 24) + 1, 0, why), HU_E_SHAPE);
  assert_string_equal(why, "words: most: 16777217, neither 0 nor from 3 to 16777216");
  assert_int_equal(hu_words_load(&words, paths, 3, 0, 0, why), HU_E_FILE);
  assert_true(strstr(why, "/nowhere/b: ") == why);
  assert_int_equal(hu_words_load(&words, paths, 2, 100, 0, why), HU_OK);
  assert_true(words.kinds == 100 && words.parts[0] == words.parts[1] && words.count == 2 * words.parts[0]);
  assert_memory_equal(words.tokens, words.tokens + words.parts[0], words.parts[0] * sizeof *words.tokens);
  hu_words_free(&words);
  hu_words_free(NULL);
}

/* ---- against a direct reading ---- */

enum { MOST = 600, ROOM = 8 };

/* Words of a text, up to MOST of them, and how often each is among the first `training`. */
typedef struct t_direct {
  char word[MOST][ROOM];
  unsigned times[MOST];
  size_t count;
} t_direct;

static void read_directly(t_direct *z, const char *text) {
  z->count = 0;
  while (*text) {
    size_t line = strcspn(text, "\n"), at = 0;
    while (at < line) {
      size_t blank = strspn(text + at, " \t\r\v\f"), n = strcspn(text + at + blank, " \t\r\v\f\n");
      if (n) snprintf(z->word[z->count++], ROOM, "%.*s", (int)n, text + at + blank);
      at += blank + n;
    }
    strcpy(z->word[z->count++], "<eos>");
    text += line + (text[line] == '\n');
  }
}

/* Does word a stand before word b in the order by number? */
static int is_before(const t_direct *direct, size_t training, const char *a, const char *b) {
  size_t times_a = 0, times_b = 0, first_a = MOST, first_b = MOST;
  for (size_t i = training; i-- > 0;) {
    if (!strcmp(direct->word[i], a)) times_a++, first_a = i;
    if (!strcmp(direct->word[i], b)) times_b++, first_b = i;
  }
  return times_a != times_b ? times_a > times_b : first_a < first_b;
}

static int occurs(const t_direct *direct, size_t training, const char *word) {
  for (size_t i = 0; i < training; i++)
    if (!strcmp(direct->word[i], word)) return 1;
  return 0;
}

static void check_random(const char *text, uint32_t most) {
  static t_direct direct;
  hu_words words;
  read_directly(&direct, text);
  if (direct.count < 10) return;
  uint8_t *data = malloc(strlen(text)); /* no byte more, so that a sanitizer sees a read beyond the end */
  assert_non_null(data);
  memcpy(data, text, strlen(text));
  hu_bytes file = {"a", data, strlen(text)};
  assert_int_equal(hui_words_read(&words, &file, 1, most, 1, why), HU_OK);
  free(data);
  assert_int_equal(words.count, direct.count);
  size_t training = words.parts[0], kept = 0;
  assert_int_equal(training, direct.count / 10 * 9);
  for (uint32_t i = 0; i < words.kinds; i++) kept += strcmp(words.words[i], "<eos>") && strcmp(words.words[i], "<unk>");
  assert_int_equal(kept, words.kinds - 2);
  for (size_t i = 0; i < words.count; i++) {
    const char *is = words.words[words.tokens[i]];
    if (!strcmp(is, direct.word[i])) continue;
    assert_string_equal(is, "<unk>");
    if (!occurs(&direct, training, direct.word[i])) continue;
    assert_true(most && kept == most - 2); /* left out for others, each of which is before it */
    for (uint32_t k = 0; k < words.kinds; k++)
      if (strcmp(words.words[k], "<eos>") && strcmp(words.words[k], "<unk>"))
        assert_true(is_before(&direct, training, words.words[k], direct.word[i]));
  }
  for (uint32_t k = 1; k < words.kinds; k++)
    assert_true(!occurs(&direct, training, words.words[k]) ||
                is_before(&direct, training, words.words[k - 1], words.words[k]));
  hu_words_free(&words);
}

static void test_random(void **state) {
  (void)state;
  static const char *const pieces[] = {" ", " ", " ",  "\t",    "\n", "\r\n",        "a",
                                       "b", "c", "ab", "<unk>", "x",  "\xE2\x82\xAC"};
  t_random random = {t_seed("words", 1)};
  for (int round = 0; round < 400; round++) {
    char text[700] = "";
    for (unsigned n = t_below(&random, 200); n; n--) strcat(text, pieces[t_below(&random, 6 + t_below(&random, 8))]);
    /* Words that are too long for the direct reading's room are cut by a blank. */
    for (size_t i = 0, run = 0; text[i]; i++) {
      run = strchr(" \t\r\n", text[i]) ? 0 : run + 1;
      if (run == ROOM - 1) text[i] = ' ', run = 0;
    }
    check_random(text, t_below(&random, 3) ? 3 + t_below(&random, 6) : 0);
  }
}

/* Any bytes: a sentence about the file, or tokens within the vocabulary. */
static void test_bytes(void **state) {
  (void)state;
  t_random random = {t_seed("bytes", 2)};
  unsigned taken = 0;
  for (int round = 0; round < 3000; round++) {
    size_t size = t_below(&random, 60);
    uint8_t *data = malloc(size ? size : 1);
    hu_words words;
    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
      data[i] = t_below(&random, 3) ? (uint8_t)t_below(&random, 256) : (uint8_t) " \n"[t_below(&random, 2)];
    hu_bytes file = {"a", data, size};
    t_fill_pattern(&words, sizeof words);
    *why = 0;
    if (hui_words_read(&words, &file, 1, t_below(&random, 2) ? 0 : 3, round % 2, why) == HU_OK) {
      taken++;
      assert_true(words.kinds >= 2 && words.count >= 10 && words.count <= size + 1);
      for (size_t i = 0; i < words.count; i++) assert_true(words.tokens[i] < words.kinds);
      hu_words_free(&words);
    } else {
      assert_true(strstr(why, "a: ") == why && t_is_pattern(&words, sizeof words));
    }
    free(data);
  }
  assert_true(taken > 300 && taken < 2700);
}

/* More words than the first room of the table has, all different: none is lost when it grows. */
static void test_many(void **state) {
  (void)state;
  enum { MANY = 20000 };
  char *text = malloc(MANY * 8);
  size_t at = 0;
  hu_words words;
  assert_non_null(text);
  for (int i = 0; i < MANY; i++) at += (size_t)sprintf(text + at, "w%05d%c", i, i % 10 == 9 ? '\n' : ' ');
  const hu_bytes files[2] = {{"a", (const uint8_t *)text, at}, {"b", (const uint8_t *)text, at}};
  assert_int_equal(hui_words_read(&words, files, 2, 0, 0, why), HU_OK);
  assert_true(words.kinds == MANY + 2 && words.parts[0] == MANY + MANY / 10);
  for (size_t i = 0, n = 0; i < words.parts[0]; i++) {
    char word[16];
    snprintf(word, sizeof word, "w%05d", (int)n);
    if (i % 11 == 10) strcpy(word, "<eos>");
    n += i % 11 != 10;
    assert_string_equal(words.words[words.tokens[i]], word);
    assert_int_equal(words.tokens[i], words.tokens[words.parts[0] + i]);
  }
  hu_words_free(&words);
  free(text);
}

/* ---- perplexity ---- */

static void test_exp(void **state) {
  (void)state;
  assert_true(hui_exp_of(0) == 1 && hui_exp_of(INFINITY) == (double)INFINITY && isnan(hui_exp_of(NAN)));
  assert_true(hui_exp_of(-INFINITY) == 0 && hui_exp_of(709.7) < (double)INFINITY);
  assert_true(hui_exp_of(710) == (double)INFINITY);
  for (int i = -70000; i <= 70970; i++) {
    double x = i / 100.0, expected = exp(x), got = hui_exp_of(x);
    if (!(fabs(got - expected) <= 3 * expected * 0x1p-52)) fail_msg("e^%g: %.17g, not %.17g", x, got, expected);
  }
}

/* The whole test part is seen, window by window: the loss by the net's own passes, fed here. */
static void test_evaluation(void **state) {
  (void)state;
  hu_trainer *trainer =
      with(PAIRS("data.set", "words", "data.path", "xz_file_format.txt", "data.vocabulary", "200", "data.window", "7",
                 "run.batch", "16", "run.steps", "3", "model.net", "lstm(units=8)"));
  hu_trainer_seen seen;
  char path[4096];
  const char *const paths[1] = {path};
  hu_words words;
  snprintf(path, sizeof path, "%s/xz_file_format.txt", folder);
  assert_int_equal(hu_words_load(&words, paths, 1, 200, 0, why), HU_OK);
  begin(trainer);
  steps(trainer, 3);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  size_t windows = (words.parts[1] - 1) / 7, right = 0;
  double loss = 0;
  hu_net *net = hu_trainer_net(trainer);
  int out = hu_net_values(net) - 2; /* logits stand before the loss */
  assert_true(windows % 16 != 0);
  for (size_t first = 0; first < windows; first += 16) {
    float x[16 * 7], of_batch;
    uint32_t labels[16 * 7];
    size_t n = windows - first < 16 ? windows - first : 16;
    for (size_t i = 0; i < 16 * 7; i++) {
      size_t window = first + i / 7 < windows ? first + i / 7 : windows - 1;
      x[i] = (float)words.tokens[words.parts[0] + window * 7 + i % 7];
      labels[i] = i / 7 < n ? words.tokens[words.parts[0] + window * 7 + i % 7 + 1] : HU_LABEL_NONE;
    }
    assert_int_equal(hu_net_feed(net, 0, x), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 0, &of_batch), HU_OK);
    loss += (double)of_batch * (double)n;
    hu_net_tensor logits = hu_net_value(net, out);
    assert_int_equal(logits.cols, 200);
    for (size_t i = 0; i < n * 7; i++) {
      size_t best = 0;
      for (size_t j = 1; j < 200; j++) best = logits.numbers[i * 200 + j] > logits.numbers[i * 200 + best] ? j : best;
      right += best == labels[i];
    }
  }
  assert_true(seen.loss == loss / (double)windows);
  assert_true(seen.accuracy == (double)right / (double)(windows * 7));
  assert_true(seen.perplexity == hui_exp_of(seen.loss) && isnan(seen.r2));
  hu_words_free(&words);
  hu_trainer_free(trainer);
  trainer = with(PAIRS("model.net", "linear"));
  begin(trainer);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_true(isnan(seen.perplexity));
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),     cmocka_unit_test(test_kept),   cmocka_unit_test(test_refused),
      cmocka_unit_test(test_arguments), cmocka_unit_test(test_random), cmocka_unit_test(test_many),
      cmocka_unit_test(test_bytes),     cmocka_unit_test(test_exp),    cmocka_unit_test(test_evaluation),
  };
  if (argc < 2) return 2;
  folder = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
