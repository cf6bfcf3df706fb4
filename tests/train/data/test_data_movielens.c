/* SPDX-License-Identifier: MIT */
/* Ratings of MovieLens: the record, what is held out, pairs from streams, what is refused; random files against a
 * direct reading, which compares every line with every other one; AUC, HR@10 and NDCG@10 against all pairs. */
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
#include "train/trainer/figures.h"

static hu_bytes bytes(const char *text) { return (hu_bytes){"a", (const uint8_t *)text, strlen(text)}; }

static hu_movielens of_text(const char *text) {
  hu_movielens m;
  hu_bytes file = bytes(text);
  *why = 0;
  if (hui_movielens_read(&m, &file, why) != HU_OK) fail_msg("%s", why);
  return m;
}

static void test_record(void **state) {
  (void)state;
  /* User 30: the latest time is that of movie 7 and of movie 2, whose line is later. User 4: the first line is the
   * latest. User 9 has one rating. */
  hu_movielens m = of_text("30::7::5::90\r\n4::2::1::80\n30::9::3::70\n9::4000000000::2::1\n30::2::4::90\n4::7::1::79");
  static const uint32_t users[3] = {4, 9, 30}, items[4] = {2, 7, 9, 4000000000u}, item[6] = {0, 1, 3, 1, 2, 0};
  static const size_t first[4] = {0, 2, 3, 6}, held[3] = {0, SIZE_MAX, 5};
  assert_true(m.count == 6 && m.users == 3 && m.items == 4 && m.tested == 2);
  assert_memory_equal(m.user_ids, users, sizeof users);
  assert_memory_equal(m.item_ids, items, sizeof items);
  assert_memory_equal(m.first, first, sizeof first);
  assert_memory_equal(m.item, item, sizeof item);
  assert_memory_equal(m.held, held, sizeof held);
  hu_movielens_free(&m);
  assert_true(!m.item && !m.count);
  hu_movielens_free(NULL);
}

/* ---- what is refused ---- */

static void refused_bytes(const char *text, size_t size, const char *sentence) {
  hu_movielens m;
  hu_bytes file = {"a", (const uint8_t *)text, size};
  t_fill_pattern(&m, sizeof m);
  *why = 0;
  assert_int_equal(hui_movielens_read(&m, &file, why), HU_E_DATA);
  assert_string_equal(why, sentence);
  assert_true(t_is_pattern(&m, sizeof m));
}

static void refused(const char *text, const char *sentence) { refused_bytes(text, strlen(text), sentence); }

#define GOOD "1::1::5::0\n1::2::5::1\n"

static void test_refused(void **state) {
  (void)state;
  hu_movielens m = of_text(GOOD);
  hu_movielens_free(&m);
  refused("", "a: size: the file is empty");
  refused("\x1F\x8B\x08", "a: content: compressed by gzip; unpack it first");
  refused(GOOD "1::3::5\n", "a: line 3: fields between '::': 3, not 4");
  refused(GOOD "1::3::5::2::\n", "a: line 3: fields between '::': 5, not 4");
  refused(GOOD "1,3,5,2\n", "a: line 3: fields between '::': 1, not 4");
  refused(GOOD "\n1::3::5::2\n", "a: line 3: fields between '::': 1, not 4");
  refused(GOOD "1:3::5::2\n", "a: line 3: fields between '::': 3, not 4");
  refused("one::3::5::2\n", "a: UserID of line 1: not a whole number up to 4294967295");
  refused("::3::5::2\n", "a: UserID of line 1: not a whole number up to 4294967295");
  refused("-1::3::5::2\n", "a: UserID of line 1: not a whole number up to 4294967295");
  refused(" 1::3::5::2\n", "a: UserID of line 1: not a whole number up to 4294967295");
  refused("4294967296::3::5::2\n", "a: UserID of line 1: not a whole number up to 4294967295");
  refused("0::3::5::2\n", "a: UserID of line 1: 0, and ids begin with 1");
  refused("1::0::5::2\n", "a: MovieID of line 1: 0, and ids begin with 1");
  refused("1::3.5::5::2\n", "a: MovieID of line 1: not a whole number up to 4294967295");
  static const char *const stars[] = {"0", "6", "9", "10", "3.5", "", "x"};
  for (size_t i = 0; i < sizeof stars / sizeof *stars; i++) {
    char text[100];
    snprintf(text, sizeof text, "%s1::3::%s::2\n", GOOD, stars[i]);
    refused(text, "a: Rating of line 3: not a whole number from 1 to 5");
  }
  refused(GOOD "1::3::5::9223372036854775808\n", "a: Timestamp of line 3: not a whole number below 2^63");
  refused(GOOD "1::3::5::2 \n", "a: Timestamp of line 3: not a whole number below 2^63");
  m = of_text(GOOD "1::3::5::9223372036854775807\n");
  hu_movielens_free(&m);
  refused_bytes("1\0::3::5::2\n", 12, "a: UserID of line 1: not a whole number up to 4294967295");
  refused_bytes("1::3::5::2\n\0", 12, "a: line 2: fields between '::': 1, not 4");
  refused(GOOD "2::1::5::1\n1::2::4::7\n", "a: MovieID of line 4: user 1 has rated movie 2 in line 2 too");
  refused("1::1::5::0\n2::1::5::0\n", "a: UserID: no user has two ratings");
}

static void test_long_word(void **state) {
  (void)state;
  enum { LONG = 1000000 };
  char *text = malloc(LONG);
  assert_non_null(text);
  memset(text, '7', LONG);
  refused_bytes(text, LONG, "a: line 1: fields between '::': 1, not 4");
  memcpy(text + LONG - 10, "::1::1::1\n", 10);
  refused_bytes(text, LONG, "a: UserID of line 1: not a whole number up to 4294967295");
  memset(text, ':', LONG);
  refused_bytes(text, LONG, "a: line 1: fields between '::': 500001, not 4");
  free(text);
}

static void test_arguments(void **state) {
  (void)state;
  hu_movielens m;
  hu_data data;
  hu_stream stream = {0, 0};
  assert_int_equal(hu_movielens_load(NULL, "x", why), HU_E_NULL);
  assert_int_equal(hu_movielens_load(&m, NULL, why), HU_E_NULL);
  assert_int_equal(hu_movielens_load(&m, "/nowhere/a", why), HU_E_FILE);
  assert_true(strstr(why, "/nowhere/a: ") == why);
  m = of_text(GOOD "2::3::1::1\n2::1::1::2\n");
  t_fill_pattern(&data, sizeof data);
  assert_int_equal(hu_movielens_training(NULL, &m, 1, stream), HU_E_NULL);
  assert_int_equal(hu_movielens_training(&data, NULL, 1, stream), HU_E_NULL);
  assert_int_equal(hu_movielens_training(&data, &m, UINT32_MAX, stream), HU_E_SHAPE);
  assert_int_equal(hu_movielens_test(&data, NULL, 1, stream, why), HU_E_NULL);
  assert_int_equal(hu_movielens_test(&data, &m, 2, stream, why), HU_E_SHAPE);
  assert_string_equal(why, "movielens: candidates: user 1 has not rated 1 movies, fewer than 2");
  assert_true(t_is_pattern(&data, sizeof data));
  assert_int_equal(hu_movielens_training(&data, &m, 3, stream), HU_OK);
  assert_int_equal(hu_movielens_negatives(&data, &m, 3, stream), HU_OK);
  assert_int_equal(hu_movielens_negatives(&data, &m, 1, stream), HU_E_SHAPE);
  assert_int_equal(hu_movielens_negatives(&data, &m, 2, stream), HU_E_SHAPE);
  assert_int_equal(hu_movielens_negatives(NULL, &m, 3, stream), HU_E_NULL);
  hu_data_free(&data);
  hu_movielens_free(&m);
}

/* ---- random files ---- */

enum { LINES = 60, NEGATIVES = 3, CANDIDATES = 4 };

typedef struct t_line {
  uint32_t user, item;
  unsigned time;
} t_line;

/* Up to LINES different pairs of few users and movies, some times equal; their number. */
static size_t random_lines(t_line *z, char *text, size_t buffer, t_random *random) {
  size_t n = 0, at = 0, tries = 5 + t_below(random, LINES - 4);
  while (tries--) {
    t_line x = {1 + 3 * t_below(random, 5), 1 + t_below(random, 20), t_below(random, 4)};
    size_t i = 0;
    while (i < n && (z[i].user != x.user || z[i].item != x.item)) i++;
    if (i < n) continue;
    z[n++] = x;
    at += (size_t)snprintf(text + at, buffer - at, "%u::%u::%u::%u\n", x.user, x.item, 1 + t_below(random, 5), x.time);
  }
  return n;
}

/* The line of a user's that is held out; n: none. */
static size_t held_line(const t_line *x, size_t n, uint32_t user) {
  size_t best = n, count = 0;
  for (size_t i = 0; i < n; i++) {
    if (x[i].user != user) continue;
    count++;
    if (best == n || x[i].time > x[best].time || (x[i].time == x[best].time && i > best)) best = i;
  }
  return count > 1 ? best : n;
}

static uint32_t number_of(const uint32_t *ids, uint32_t n, uint32_t id) {
  for (uint32_t i = 0; i < n; i++)
    if (ids[i] == id) return i;
  fail_msg("id %u is missing", id);
  return 0;
}

static int has_rated(const t_line *x, size_t n, uint32_t user, uint32_t item, size_t but) {
  for (size_t i = 0; i < n; i++)
    if (i != but && x[i].user == user && x[i].item == item) return 1;
  return 0;
}

static void same_pair(const hu_data *data, size_t at, uint32_t user, uint32_t item, uint32_t label) {
  assert_true(at < data->count && data->x[2 * at] == (float)user && data->x[2 * at + 1] == (float)item &&
              data->labels[at] == label);
}

/* Training pairs, drawn here once more. */
static void check_training(const hu_data *data, const hu_movielens *m, const t_line *x, size_t n, hu_stream stream) {
  size_t at = 0, positive = 0;
  for (uint32_t u = 0; u < m->users; u++) {
    uint32_t user = m->user_ids[u];
    size_t held = held_line(x, n, user);
    for (size_t i = 0; i < n; i++) {
      if (x[i].user != user || i == held) continue;
      hu_stream words = hu_stream_child(stream, positive++);
      same_pair(data, at++, u, number_of(m->item_ids, m->items, x[i].item), 1);
      for (int k = 0; k < NEGATIVES; k++) {
        uint32_t item = hu_stream_below(&words, m->items);
        while (has_rated(x, n, user, m->item_ids[item], held)) item = hu_stream_below(&words, m->items);
        same_pair(data, at++, u, item, 0);
      }
    }
  }
  assert_int_equal(at, data->count);
}

static void check_test(const hu_data *data, const hu_movielens *m, const t_line *x, size_t n, hu_stream stream) {
  size_t at = 0;
  for (uint32_t u = 0; u < m->users; u++) {
    size_t held = held_line(x, n, m->user_ids[u]);
    uint32_t drawn[CANDIDATES];
    if (held == n) continue;
    hu_stream words = hu_stream_child(stream, u);
    same_pair(data, at++, u, number_of(m->item_ids, m->items, x[held].item), 1);
    for (int k = 0; k < CANDIDATES;) {
      int again = 0;
      drawn[k] = hu_stream_below(&words, m->items);
      for (int j = 0; j < k; j++) again |= drawn[j] == drawn[k];
      if (again || has_rated(x, n, m->user_ids[u], m->item_ids[drawn[k]], n)) continue;
      same_pair(data, at++, u, drawn[k++], 0);
    }
  }
  assert_int_equal(at, data->count);
}

static void test_random(void **state) {
  (void)state;
  t_random random = {t_seed("movielens", 1)};
  unsigned tested = 0;
  for (int round = 0; round < 500; round++) {
    char text[LINES * 32] = "";
    t_line x[LINES];
    hu_movielens m;
    hu_data data;
    size_t n = random_lines(x, text, sizeof text, &random);
    hu_bytes file = bytes(text);
    hu_stream stream = {(uint64_t)round, 0}, other = {(uint64_t)round + 1000, 0};
    if (hui_movielens_read(&m, &file, why) != HU_OK) continue; /* no user has two */
    assert_int_equal(hu_movielens_training(&data, &m, NEGATIVES, stream), HU_OK);
    assert_true(data.classes == 2 && data.height == 1 && data.width == 1 && data.channels == 2 && !data.y);
    check_training(&data, &m, x, n, stream);
    assert_int_equal(hu_movielens_negatives(&data, &m, NEGATIVES, other), HU_OK);
    check_training(&data, &m, x, n, other);
    hu_data_free(&data);
    if (hu_movielens_test(&data, &m, CANDIDATES, stream, why) == HU_OK) {
      tested++;
      check_test(&data, &m, x, n, stream);
      hu_data_free(&data);
    }
    hu_movielens_free(&m);
  }
  assert_true(tested > 100);
}

/* Bytes that are wrong somewhere: a sentence about the file, or a record within its bounds. */
static void test_mutations(void **state) {
  (void)state;
  static const char edges[] = "\0:0159\n\r \xFF", text[] = "12::1::5::100\n12::34::4::7\n3::1::1::8\n3::9::2::8\r\n";
  t_random random = {t_seed("mutations", 2)};
  unsigned taken = 0;
  for (int round = 0; round < 5000; round++) {
    size_t size = sizeof text - 1;
    uint8_t *data = malloc(size);
    hu_movielens m;
    assert_non_null(data);
    memcpy(data, text, size);
    for (unsigned n = t_below(&random, 4); n; n--)
      data[t_below(&random, (uint32_t)size)] = (uint8_t)edges[t_below(&random, 10)];
    if (t_below(&random, 4) == 0) size = t_below(&random, (uint32_t)size);
    hu_bytes file = {"a", data, size};
    t_fill_pattern(&m, sizeof m);
    *why = 0;
    if (hui_movielens_read(&m, &file, why) == HU_OK) {
      taken++;
      for (size_t i = 0; i < m.count; i++) assert_true(m.item[i] < m.items);
      assert_true(m.first[m.users] == m.count && m.tested >= 1 && m.items >= 2);
      hu_movielens_free(&m);
    } else {
      assert_true(strstr(why, "a: ") == why && t_is_pattern(&m, sizeof m));
    }
    free(data);
  }
  assert_true(taken > 300 && taken < 4700);
}

/* ---- figures ---- */

static void test_auc(void **state) {
  (void)state;
  t_random random = {t_seed("auc", 3)};
  double z;
  for (int round = 0; round < 300; round++) {
    double x[80], twice = 0, pairs = 0;
    uint32_t label[80];
    size_t n = 1 + t_below(&random, 80);
    for (size_t i = 0; i < n; i++) {
      x[i] = (double)t_below(&random, 10) - 5;
      if (x[i] == 5 - 5 && t_below(&random, 2)) x[i] = -0.0;
      label[i] = t_below(&random, 2);
    }
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        if (!label[i] || label[j]) continue;
        pairs++;
        twice += x[i] > x[j] ? 2 : x[i] == x[j];
      }
    }
    assert_int_equal(hui_auc(n, x, label, &z), HU_OK);
    assert_true(pairs > 0 ? z == twice / (2 * pairs) : isnan(z));
    x[t_below(&random, (uint32_t)n)] = (double)NAN;
    assert_int_equal(hui_auc(n, x, label, &z), HU_OK);
    assert_true(isnan(z));
  }
  const double x[4] = {-(double)INFINITY, 1, (double)INFINITY, 1};
  const uint32_t label[4] = {0, 0, 1, 1};
  assert_int_equal(hui_auc(4, x, label, &z), HU_OK);
  assert_true(z == 0.875);
}

static void test_ranks(void **state) {
  (void)state;
  enum { GROUPS = 40, SIZE = 20 };
  t_random random = {t_seed("ranks", 4)};
  double x[GROUPS * SIZE], hit, ndcg, hits = 0, gains = 0;
  for (size_t i = 0; i < GROUPS * SIZE; i++) x[i] = (double)t_below(&random, 12);
  x[0] = (double)NAN;                                                /* behind all others */
  for (size_t i = SIZE; i < 2 * SIZE; i++) x[i] = 1;                 /* all are equal */
  for (size_t i = 2 * SIZE; i < 3 * SIZE; i++) x[i] = i == 2 * SIZE; /* before all others */
  for (size_t g = 0; g < GROUPS; g++) {
    size_t above = 0;
    for (size_t i = 1; i < SIZE; i++) above += isnan(x[g * SIZE]) || x[g * SIZE + i] >= x[g * SIZE];
    if (g < 3) assert_int_equal(above, g < 2 ? SIZE - 1 : 0);
    hits += above < 10;
    gains += above < 10 ? 1 / log2((double)above + 2) : 0;
  }
  hui_rank_groups(GROUPS, SIZE, x, &hit, &ndcg);
  assert_true(hit == hits / GROUPS && hits > 3 && hits < GROUPS - 3);
  assert_true(fabs(ndcg - gains / GROUPS) < 1e-14);
  for (size_t rank = 0; rank < 12; rank++) {
    for (size_t i = 0; i < SIZE; i++) x[i] = i == 0 ? 0 : i <= rank ? 1 : -1;
    hui_rank_groups(1, SIZE, x, &hit, &ndcg);
    assert_true(hit == (rank < 10) && fabs(ndcg - (rank < 10 ? 1 / log2((double)rank + 2) : 0)) < 1e-16 * 2);
  }
}

/* ---- runs ---- */

static char path[200];

/* 12 users and 40 movies, about half of the pairs of an even user with an even movie, fewer others. */
static void write_ratings(void) {
  t_random random = {7};
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (unsigned u = 1; u <= 12; u++) {
    for (unsigned i = 1; i <= 40; i++)
      if (t_below(&random, (u + i) % 2 ? 8 : 2) == 0)
        fprintf(file, "%u::%u::%u::%u\n", u, i, 1 + i % 5, t_next32(&random));
  }
  assert_int_equal(fclose(file), 0);
}

#define RUN(...)                                                                                                       \
  PAIRS("data.set", "movielens", "data.path", path, "data.candidates", "15", "data.negatives", "2", "model.net",       \
        "ncf(layers=2,units=4,deviation=0.1)", "optimizer.kind", "adamw", "optimizer.rate", "0.01", "run.steps", "60", \
        "run.batch", "32", __VA_ARGS__)

/* The outputs of the net for all pairs of a set, by its own passes, fed here. */
static void scores_of(hu_trainer *trainer, const hu_data *data, double *score) {
  hu_net *net = hu_trainer_net(trainer);
  int out = hu_net_values(net) - 2;
  for (size_t first = 0; first < data->count; first += 32) {
    float users[32], items[32], loss;
    uint32_t labels[32];
    for (size_t i = 0; i < 32; i++) {
      size_t at = first + i < data->count ? first + i : data->count - 1;
      users[i] = data->x[2 * at];
      items[i] = data->x[2 * at + 1];
      labels[i] = data->labels[at];
    }
    assert_int_equal(hu_net_feed(net, 0, users), HU_OK);
    assert_int_equal(hu_net_feed(net, 1, items), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 0, &loss), HU_OK);
    hu_net_tensor z = hu_net_value(net, out);
    assert_int_equal(z.cols, 2);
    for (size_t i = 0; i < 32 && first + i < data->count; i++)
      score[first + i] = (double)z.numbers[2 * i + 1] - (double)z.numbers[2 * i];
  }
}

static double auc_directly(const hu_data *data, const double *score) {
  double twice = 0, pairs = 0;
  for (size_t i = 0; i < data->count; i++) {
    for (size_t j = 0; j < data->count && data->labels[i]; j++) {
      if (data->labels[j]) continue;
      pairs++;
      twice += score[i] > score[j] ? 2 : score[i] == score[j];
    }
  }
  return twice / (2 * pairs);
}

/* The sets that a run of seed 5 and data.seed 3 has in an epoch. */
static void check_seen(hu_trainer *trainer, uint64_t epoch) {
  hu_trainer_seen test, training;
  hu_movielens m;
  hu_data data;
  assert_int_equal(hu_movielens_load(&m, path, why), HU_OK);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TRAINING, &training), HU_OK);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &test), HU_OK);
  assert_true(isnan(training.hit) && isnan(training.ndcg) && isnan(training.perplexity) && isnan(test.perplexity));
  assert_int_equal(hu_movielens_training(&data, &m, 2, hu_stream_child(hu_stream_of_use(5, HU_USE_NEGATIVES), epoch)),
                   HU_OK);
  double *score = malloc(data.count * sizeof *score), hits = 0, gains = 0;
  assert_non_null(score);
  scores_of(trainer, &data, score);
  assert_true(training.auc == auc_directly(&data, score));
  hu_data_free(&data);
  assert_int_equal(hu_movielens_test(&data, &m, 15, hu_stream_of_use(3, HU_USE_CANDIDATES), why), HU_OK);
  score = realloc(score, data.count * sizeof *score);
  assert_non_null(score);
  scores_of(trainer, &data, score);
  assert_true(test.auc == auc_directly(&data, score));
  assert_int_equal(data.count, 16 * m.tested);
  for (size_t u = 0; u < m.tested; u++) {
    size_t rank = 0;
    for (size_t i = 1; i < 16; i++) rank += score[16 * u + i] >= score[16 * u];
    hits += rank < 10;
    gains += rank < 10 ? 1 / log2((double)rank + 2) : 0;
  }
  assert_true(test.hit == hits / m.tested && fabs(test.ndcg - gains / m.tested) < 1e-14);
  free(score);
  hu_data_free(&data);
  hu_movielens_free(&m);
}

static void test_run(void **state) {
  (void)state;
  hu_trainer *trainer = with(RUN("run.seed", "5", "data.seed", "3"));
  begin(trainer);
  uint64_t data = hu_trainer_data_digest(trainer), of = hu_trainer_steps_an_epoch(trainer);
  assert_true(data && of >= 5 && of < 20);
  check_seen(trainer, 0);
  steps(trainer, of);
  check_seen(trainer, 0);
  steps(trainer, 1);
  check_seen(trainer, 1);
  steps(trainer, 2 * of);
  check_seen(trainer, 3);
  assert_true(hu_trainer_data_digest(trainer) == data);
  hu_trainer_free(trainer);
}

/* Another epoch has other negatives: with one order of all epochs weights would differ, too, so that the sets are
 * looked at. */
static void test_epochs_differ(void **state) {
  (void)state;
  hu_movielens m;
  hu_data a, b;
  hu_stream stream = hu_stream_of_use(5, HU_USE_NEGATIVES);
  assert_int_equal(hu_movielens_load(&m, path, why), HU_OK);
  assert_int_equal(hu_movielens_training(&a, &m, 2, hu_stream_child(stream, 0)), HU_OK);
  assert_int_equal(hu_movielens_training(&b, &m, 2, hu_stream_child(stream, 1)), HU_OK);
  assert_memory_not_equal(a.x, b.x, 2 * a.count * sizeof *a.x);
  assert_memory_equal(a.labels, b.labels, a.count * sizeof *a.labels);
  hu_data_free(&a);
  hu_data_free(&b);
  hu_movielens_free(&m);
}

static void carry(hu_trainer *to, hu_trainer *from) {
  char *text = state_of(from);
  carry_tensors(to, from);
  if (hu_trainer_resume(to, text, why) != HU_OK) fail_msg("%s", why);
  free(text);
}

/* From within an epoch and from its end: what a run that goes on has and sees is what the whole one does. */
static void test_resume(void **state) {
  (void)state;
  for (int within = 0; within < 2; within++) {
    hu_trainer *a = with(RUN("run.threads", "1")), *b = with(RUN("run.threads", "2"));
    hu_trainer_seen x, y;
    begin(a), begin(b);
    steps(a, hu_trainer_steps_an_epoch(a) * 2 + (within ? 3 : 0));
    carry(b, a);
    for (int i = 0; i < 2; i++) {
      for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
        assert_int_equal(hu_trainer_evaluate(a, on, &x), HU_OK);
        assert_int_equal(hu_trainer_evaluate(b, on, &y), HU_OK);
        assert_memory_equal(&x, &y, sizeof x);
      }
      steps(a, 20), steps(b, 20);
      assert_true(hu_trainer_digest(a) == hu_trainer_digest(b));
    }
    hu_trainer_free(a), hu_trainer_free(b);
  }
}

/* Processes share the evaluation; what the largest gradient of some batches asks for does not move the negatives. */
static void test_processes(void **state) {
  (void)state;
  static const int sizes[] = {2, 3, 0};
  same_for(sizes, RUN("parallel.shards", "4"));
  hu_trainer *trainer = with(RUN("run.seed", "5", "data.seed", "3", "loss.scale", "largest"));
  begin(trainer);
  check_seen(trainer, 0);
  hu_trainer_free(trainer);
}

/* Of two classes any set has an area; of others none has. */
static void test_other_sets(void **state) {
  (void)state;
  hu_trainer_seen seen;
  hu_trainer *trainer =
      with(PAIRS("data.set", "ratings", "data.implicit", "yes", "model.net", "ncf(units=4)", "run.steps", "9"));
  begin(trainer);
  steps(trainer, 9);
  for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
    assert_int_equal(hu_trainer_evaluate(trainer, on, &seen), HU_OK);
    assert_true(seen.auc > 0 && seen.auc < 1 && isnan(seen.hit) && isnan(seen.ndcg));
  }
  hu_trainer_free(trainer);
  trainer = with(PAIRS("data.set", "gratings", "data.classes", "3"));
  begin(trainer);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_true(isnan(seen.auc));
  hu_trainer_free(trainer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_record),     cmocka_unit_test(test_refused),       cmocka_unit_test(test_long_word),
      cmocka_unit_test(test_arguments),  cmocka_unit_test(test_random),        cmocka_unit_test(test_mutations),
      cmocka_unit_test(test_auc),        cmocka_unit_test(test_ranks),         cmocka_unit_test(test_run),
      cmocka_unit_test(test_resume),     cmocka_unit_test(test_epochs_differ), cmocka_unit_test(test_processes),
      cmocka_unit_test(test_other_sets),
  };
  char made[] = "/tmp/halfulp-movielens-XXXXXX";
  folder = mkdtemp(made);
  if (!folder) return 2;
  snprintf(path, sizeof path, "%s/ratings.dat", folder);
  write_ratings();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  rmdir(folder);
  return failed;
}
