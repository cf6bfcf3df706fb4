/* SPDX-License-Identifier: MIT */
/* Data made up, orders, first weights: golden digests, a model in binary64, statistics, laws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/papers.h"
#include "halfulp/train/data.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

/* FNV-1a over 32-bit patterns, the low byte first. */
static uint64_t digest(size_t n, const void *words) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < 32; k += 8) h = (h ^ (t_get(words, 4, (ptrdiff_t)i) >> k & 0xFF)) * 0x100000001B3u;
  }
  return h;
}

static void golden(const char *what, size_t n, const void *words, uint64_t want) {
  uint64_t got = digest(n, words);
  if (got != want) fail_msg("%s: digest 0x%016llX", what, (unsigned long long)got);
}

typedef struct moments {
  double mean, variance, least, most;
} moments;

static moments moments_of(size_t n, const float *x) {
  moments m = {0, 0, (double)x[0], (double)x[0]};
  for (size_t i = 0; i < n; i++) {
    m.mean += (double)x[i] / (double)n;
    m.least = fmin(m.least, (double)x[i]);
    m.most = fmax(m.most, (double)x[i]);
  }
  for (size_t i = 0; i < n; i++) m.variance += ((double)x[i] - m.mean) * ((double)x[i] - m.mean) / (double)n;
  return m;
}

enum { MANY = 200000 };
static float z[MANY], other[MANY];

static void streams(void **state) {
  (void)state;
  hu_stream stream = {5, 100}, c = hu_stream_child(stream, 7);
  assert_true(c.counter == 0 && (uint32_t)c.key == hu_stream_word(stream, 14) &&
              c.key >> 32 == hu_stream_word(stream, 15));
  hu_stream a = hu_stream_of_use(9, HU_USE_NOISE), b = hu_stream_child((hu_stream){9, 0}, 3);
  assert_true(a.key == b.key && a.counter == b.counter);
}

static void below(void **state) {
  (void)state;
  /* Of 3 2^30 numbers a quarter of all words is passed over: each draw takes 4/3 of a word. */
  hu_stream stream = {11, 0};
  unsigned thirds[3] = {0};
  for (int i = 0; i < 30000; i++) thirds[hu_stream_below(&stream, 0xC0000000u) >> 30]++;
  for (int i = 0; i < 3; i++) assert_true(thirds[i] > 9600 && thirds[i] < 10400);
  assert_true(stream.counter > 39500 && stream.counter < 40500);
  stream.counter = 0;
  for (int i = 0; i < 1000; i++) assert_int_equal(hu_stream_below(&stream, 1), 0);
  for (int i = 0; i < 1000; i++) assert_true(hu_stream_below(&stream, 0xFFFFFFFF) != 0xFFFFFFFF);
}

/* All orders of 4 equally often: chi-square with 23 degrees of freedom, 60 is beyond 1 in 20000; fixed seeds. */
static void permutations(void **state) {
  (void)state;
  unsigned seen[256] = {0}, orders = 0;
  double chi = 0;
  const double expected = 1000;
  hu_stream stream = hu_stream_of_use(1, HU_USE_ORDER);
  uint32_t p[1797], mark[1797] = {0};
  for (uint64_t e = 0; e < 24000; e++) {
    hu_permutation(4, p, hu_stream_child(stream, e));
    seen[p[0] << 6 | p[1] << 4 | p[2] << 2 | p[3]]++;
  }
  for (int i = 0; i < 256; i++) {
    if (!seen[i]) continue;
    orders++;
    chi += (seen[i] - expected) * (seen[i] - expected) / expected;
  }
  assert_int_equal(orders, 24);
  assert_true(chi < 60);
  hu_permutation(1797, p, stream);
  for (int i = 0; i < 1797; i++) mark[p[i]]++;
  for (int i = 0; i < 1797; i++) assert_int_equal(mark[i], 1);
  golden("permutation", 1797, p, 0xF1C0CCEC3985F8D8);
  hu_permutation(0, NULL, stream);
}

/* Box and Muller by the C library in binary64, from the same words. */
static void normal_numbers(void **state) {
  (void)state;
  hu_stream stream = {3, 1};
  hu_normal_n(MANY, z, 1, stream);
  golden("normal", MANY, z, 0xA265F046CD464322);
  for (size_t i = 0; i < MANY; i++) {
    double u = ((hu_stream_word(stream, i & ~(size_t)1) >> 8) + 1) * 0x1p-24,
           v = (hu_stream_word(stream, i | 1) >> 8) * 0x1p-24;
    double turn = 2 * acos(-1.0) * v, want = sqrt(-2 * log(u)) * (i & 1 ? sin(turn) : cos(turn));
    assert_true(fabs((double)z[i] - want) < 4e-6);
  }
  moments m = moments_of(MANY, z);
  assert_true(fabs(m.mean) < 4 / sqrt(MANY) && fabs(m.variance - 1) < 4 * sqrt(2.0 / MANY));
  assert_true(m.most > 4 && m.least < -4 && m.most < 5.78 && m.least > -5.78);
  size_t inside = 0;
  for (size_t i = 0; i < MANY; i++) inside += fabsf(z[i]) < 1;
  assert_true(fabs((double)inside / MANY - 0.682689) < 4 * sqrt(0.2166 / MANY));
  /* The same numbers in pieces of any even length, and times a deviation. */
  for (size_t at = 0; at < 5000; at += 334) hu_normal_n(334, other + at, 1, (hu_stream){3, 1 + at});
  assert_memory_equal(z, other, 5000 * sizeof(float));
  hu_normal_n(5001, other, 0.3f, stream);
  for (size_t i = 0; i < 5001; i++) assert_true(t_same32(other[i], 0.3f * z[i]));
}

static void uniform_numbers(void **state) {
  (void)state;
  hu_stream stream = {4, 0};
  hu_uniform_n(MANY, z, 0, 100, stream);
  golden("uniform", MANY, z, 0x30AED799D6DB9C82);
  moments m = moments_of(MANY, z);
  assert_true(m.least >= 0 && m.most < 100 && fabs(m.mean - 50) < 4 * sqrt(10000 / 12.0 / MANY));
  assert_true(fabs(m.variance / (10000 / 12.0) - 1) < 4 * sqrt(0.8 / MANY));
  for (size_t i = 0; i < MANY; i += 997) {
    assert_true(t_same32(z[i], 100 * ((float)(hu_stream_word(stream, i) >> 8) / 16777216)));
  }
}

static void first_weights(void **state) {
  (void)state;
  static const size_t fans[] = {1, 64, 576};
  for (size_t k = 0; k < 3; k++) {
    for (unsigned gain = 1; gain <= 2; gain++) {
      hu_init_normal(MANY, z, gain, fans[k], (hu_stream){8, 0});
      moments m = moments_of(MANY, z);
      double variance = gain / (double)fans[k];
      assert_true(fabs(m.mean) < 4 * sqrt(variance / MANY) && fabs(m.variance / variance - 1) < 4 * sqrt(2.0 / MANY));
    }
  }
  golden("normal weights", 1000, z, 0x1F567F2C87D54EEA);
  hu_init_uniform(MANY, z, 32, (hu_stream){8, 0});
  golden("uniform weights", 1000, z, 0x8A794DC0412F270E);
  moments m = moments_of(MANY, z);
  double bound = 1 / sqrt(32);
  assert_true(m.most < bound * 1.0000001 && m.least > -bound * 1.0000001 && m.most > bound * 0.999);
  assert_true(fabs(m.mean) < 4 * bound / sqrt(3.0 * MANY) && fabs(m.variance * 96 - 1) < 4 * sqrt(0.8 / MANY));
}

static double product(const hu_data *data, size_t i, const float *w) {
  double sum = 0;
  for (size_t k = 0; k < data->channels; k++) sum += (double)data->x[i * data->channels + k] * (double)w[k];
  return sum;
}

static void least_squares(void **state) {
  (void)state;
  hu_least_squares what = hu_least_squares_default();
  hu_format grid = hu_bfloat16(), wide = hu_format_ieee(11, 20, 0);
  hu_data data;
  float w[10];
  what.count = 20000;
  assert_int_equal(hu_data_least_squares(&data, w, &what, 1), HU_OK);
  assert_true(data.count == 20000 && data.channels == 10 && data.targets == 1 && !data.labels);
  golden("least squares x", 200000, data.x, 0x5CCE69115F115C4D);
  golden("least squares y", 20000, data.y, 0x6059F6735E447586);
  for (size_t i = 0; i < data.count; i++) other[i] = (float)((double)data.y[i] - product(&data, i, w));
  moments m = moments_of(data.count, other);
  assert_true(fabs(m.mean) < 4 * 0.5 / sqrt(20000) && fabs(m.variance / 0.25 - 1) < 4 * sqrt(2.0 / 20000));
  for (int k = 0; k < 10; k++) assert_true(w[k] >= 0 && w[k] < 100);
  hu_data_free(&data);
  what = (hu_least_squares){200, 10, 50, 100, 0, 1, &grid};
  assert_int_equal(hu_data_least_squares(&data, w, &what, 2), HU_OK);
  for (size_t i = 0; i < 200; i++) {
    assert_true(fabs(product(&data, i, data.x + i * 10) - 1) < 0.01);
    assert_true(t_same32(data.y[i], (float)product(&data, i, w)));
    for (size_t k = 0; k < 10; k++) assert_int_equal(t_bits32(data.x[i * 10 + k]) & 0xFFFF, 0);
  }
  for (int k = 0; k < 10; k++) assert_true((t_bits32(w[k]) & 0xFFFF) == 0 && w[k] >= 50 && w[k] <= 100);
  hu_data_free(&data);
  what.grid = NULL;
  assert_int_equal(hu_data_least_squares(&data, NULL, &what, 2), HU_OK);
  for (size_t i = 0; i < 200; i++) assert_true(fabs(product(&data, i, data.x + i * 10) - 1) < 4e-7);
  hu_data_free(&data);
  what.grid = &wide;
  assert_int_equal(hu_data_least_squares(&data, w, &what, 2), HU_E_CARRIER);
  what.grid = NULL;
  what.high = NAN;
  assert_int_equal(hu_data_least_squares(&data, w, &what, 2), HU_E_SHAPE);
  what.high = 100;
  what.count = 0;
  assert_int_equal(hu_data_least_squares(&data, w, &what, 2), HU_E_SHAPE);
}

/* The noise is what is left when the wave, by the C library, is taken away; its phase is the one that fits best. */
static void gratings(void **state) {
  (void)state;
  hu_data a, b;
  assert_int_equal(hu_data_gratings(&a, 0, 500, 16, 10, 1), HU_OK);
  assert_true(a.count == 500 && a.height == 16 && a.width == 16 && a.channels == 1 && a.classes == 10);
  golden("gratings", 500 * 256, a.x, 0x882F45D7EEBA4251);
  hu_stream phases = hu_stream_of_use(1, HU_USE_DATA);
  for (size_t e = 0; e < 500; e++) {
    double turn = acos(-1.0), angle = turn * (double)(e % 10) / 10;
    double phase = 2 * turn * (hu_stream_word(phases, e) >> 8) * 0x1p-24;
    assert_int_equal(a.labels[e], e % 10);
    for (int i = 0; i < 16; i++) {
      for (int j = 0; j < 16; j++) {
        double wave = cos(2 * turn * 0.22 * (i * sin(angle) + j * cos(angle)) + phase);
        other[e * 256 + i * 16 + j] = (float)((double)a.x[e * 256 + i * 16 + j] - wave);
      }
    }
  }
  moments m = moments_of(500 * 256, other);
  assert_true(fabs(m.mean) < 4 / sqrt(128000) && fabs(m.variance - 1) < 4 * sqrt(2.0 / 128000));
  hu_normal_n(256, z, 1, hu_stream_child(hu_stream_of_use(1, HU_USE_NOISE), 3));
  for (int i = 0; i < 256; i++) assert_true(fabs((double)(other[3 * 256 + i] - z[i])) < 1e-5);
  /* A later part of the same sequence. */
  assert_int_equal(hu_data_gratings(&b, 123, 50, 16, 10, 1), HU_OK);
  assert_memory_equal(b.x, a.x + 123 * 256, 50 * 256 * sizeof(float));
  assert_memory_equal(b.labels, a.labels + 123, 50 * sizeof(uint32_t));
  hu_data_free(&a);
  hu_data_free(&b);
  assert_int_equal(hu_data_gratings(&a, 0, 5, 16, 0, 1), HU_E_SHAPE);
  assert_int_equal(hu_data_gratings(&a, 0, 5, 5000, 10, 1), HU_E_SHAPE);
  assert_int_equal(hu_data_gratings(&a, 0, 0, 16, 10, 1), HU_E_SHAPE);
  assert_int_equal(hu_data_gratings(&a, UINT64_MAX, 5, 16, 10, 1), HU_E_SHAPE);
}

static void teacher(void **state) {
  (void)state;
  hu_teacher what = hu_teacher_default();
  hu_format grid = hu_fp_4_3_4_finite();
  hu_data data;
  float w1[8 * 16], w2[16];
  what.grid = &grid;
  assert_int_equal(hu_data_teacher(&data, &what, 1), HU_OK);
  assert_true(data.count == 2500 && data.channels == 8 && data.targets == 1);
  golden("teacher x", 2500 * 8, data.x, 0x230B7CCFC74141D9);
  golden("teacher y", 2500, data.y, 0x488AC8DDFD6DCE9B);
  moments m = moments_of(2500, data.y);
  assert_true(fabs(sqrt(m.variance) - 25) < 1e-4);
  size_t beyond = 0;
  for (size_t i = 0; i < 2500; i++) beyond += fabsf(data.y[i]) > 30;
  print_message("%zu of 2500 targets beyond 30\n", beyond);
  assert_true(beyond > 400 && beyond < 900);
  hu_stream truth = hu_stream_of_use(1, HU_USE_TRUTH);
  hu_init_normal(128, w1, 1, 8, hu_stream_child(truth, 0));
  hu_init_normal(16, w2, 1, 16, hu_stream_child(truth, 1));
  double ratio = 0;
  for (size_t i = 0; i < 2500; i++) {
    double y = 0;
    for (int h = 0; h < 16; h++) {
      double sum = 0;
      for (int k = 0; k < 8; k++) sum += (double)data.x[i * 8 + (size_t)k] * (double)w1[k * 16 + h];
      y += tanh(1.5 * sum) * (double)w2[h];
    }
    if (i == 0) ratio = (double)data.y[0] / y;
    assert_true(fabs((double)data.y[i] - ratio * y) < 1e-4);
  }
  for (size_t i = 0; i < 2500 * 8; i++) {
    float q;
    assert_int_equal(hu_quantize_n(1, &q, 1, data.x + i, 1, grid, t_mode(HU_RNE), NULL, NULL), HU_OK);
    assert_true(t_same32(q, data.x[i]));
  }
  hu_data_free(&data);
  what.hidden = 0;
  assert_int_equal(hu_data_teacher(&data, &what, 1), HU_E_SHAPE);
}

/* Scores by the C library's arithmetic in binary64 from the hidden rows; labels are their signs. */
static void ratings(void **state) {
  (void)state;
  hu_ratings what = hu_ratings_default();
  hu_data a, b;
  float u[100 * 4], v[80 * 4], noise;
  unsigned users[100] = {0}, items[80] = {0};
  what.count = 20000;
  assert_int_equal(hu_data_ratings(&a, 0, &what, 1), HU_OK);
  assert_true(a.count == 20000 && a.channels == 2 && a.targets == 1 && a.classes == 0 && !a.labels);
  golden("ratings x", 40000, a.x, 0xE74F52BE190F895A);
  golden("ratings y", 20000, a.y, 0x871A460640D66DF9);
  hu_stream truth = hu_stream_of_use(1, HU_USE_TRUTH);
  hu_init_normal(400, u, 1, 4, hu_stream_child(truth, 0));
  hu_normal_n(320, v, 1, hu_stream_child(truth, 1));
  for (size_t i = 0; i < a.count; i++) {
    size_t user = (size_t)a.x[2 * i], item = (size_t)a.x[2 * i + 1];
    double score = 0;
    hu_stream stream = hu_stream_child(hu_stream_of_use(1, HU_USE_DATA), i);
    assert_true((float)user == a.x[2 * i] && (float)item == a.x[2 * i + 1]);
    assert_true(user == hu_stream_below(&stream, 100) && item == hu_stream_below(&stream, 80));
    users[user]++;
    items[item]++;
    hu_normal_n(1, &noise, 0.1f, hu_stream_child(hu_stream_of_use(1, HU_USE_NOISE), i));
    for (size_t k = 0; k < 4; k++) score += (double)u[user * 4 + k] * (double)v[item * 4 + k];
    assert_true(t_same32(a.y[i], (float)(score + (double)noise)));
  }
  for (int i = 0; i < 100; i++) assert_true(users[i] > 140 && users[i] < 260);
  for (int i = 0; i < 80; i++) assert_true(items[i] > 180 && items[i] < 320);
  moments m = moments_of(a.count, a.y);
  assert_true(m.variance > 0.7 && m.variance < 1.4);
  /* A later part, and labels. */
  what.count = 50;
  assert_int_equal(hu_data_ratings(&b, 100, &what, 1), HU_OK);
  assert_memory_equal(b.y, a.y + 100, 50 * sizeof(float));
  hu_data_free(&b);
  what.labels = 1;
  assert_int_equal(hu_data_ratings(&b, 123, &what, 1), HU_OK);
  assert_true(b.classes == 2 && b.targets == 0 && !b.y);
  assert_memory_equal(b.x, a.x + 2 * 123, 100 * sizeof(float));
  for (size_t i = 0; i < 50; i++) assert_int_equal(b.labels[i], a.y[123 + i] > 0);
  hu_data_free(&a);
  hu_data_free(&b);
  static const hu_ratings bad[] = {
      {10, 0, 80, 4, 0, 0},  {10, 100, 0, 4, 0, 0},      {10, 100, 80, 0, 0, 0},        {10, 100, 80, 4, -1, 0},
      {0, 100, 80, 4, 0, 0}, {10, 1 << 25, 80, 4, 0, 0}, {10, 100, 80, 4, INFINITY, 0}, {10, 100, 1 << 25, 4, 0, 0}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(hu_data_ratings(&a, 0, &bad[i], 1), HU_E_SHAPE);
  }
  assert_int_equal(hu_data_ratings(&a, UINT64_MAX, &what, 1), HU_E_SHAPE);
  assert_int_equal(hu_data_ratings(&a, 0, NULL, 1), HU_E_NULL);
}

/* ---- batches ---- */

static void batches(void **state) {
  (void)state;
  enum { COUNT = 103, BATCH = 10, PER = 10, STEPS = 45 };
  static uint32_t index[STEPS][BATCH];
  static hu_stream words[STEPS];
  hu_batch_state at[STEPS];
  hu_batches b;
  assert_int_equal(hu_batches_open(&b, COUNT, BATCH, (hu_batch_state){6, 0, 0}), HU_OK);
  for (int t = 0; t < STEPS; t++) {
    at[t] = b.state;
    memcpy(index[t], hu_batches_next(&b), sizeof index[t]);
    words[t] = hu_batches_stream(&b, HU_USE_AUGMENT);
    for (int k = 0; k < t; k++) assert_true(words[k].key != words[t].key);
  }
  assert_true(b.state.epoch == 4 && b.state.position == 5);
  hu_batches_free(&b);
  assert_null(b.order);
  golden("batches", STEPS * BATCH, index, 0x2B7F3AF79964D29A);
  for (int e = 0; e < 4; e++) { /* within an epoch no example twice */
    unsigned seen[COUNT] = {0};
    for (int i = 0; i < PER * BATCH; i++) assert_int_equal(seen[index[e * PER + i / BATCH][i % BATCH]]++, 0);
  }
  assert_memory_not_equal(index[0], index[PER], sizeof index[0]);
  for (int t = 0; t < STEPS; t++) { /* from the text of every state the rest of the run, and its words */
    char text[HU_BATCH_STATE_TEXT_MAX];
    hu_batch_state again;
    assert_int_equal(hu_batch_state_parse(&again, hu_batch_state_text(text, at[t])), HU_OK);
    assert_int_equal(hu_batches_open(&b, COUNT, BATCH, again), HU_OK);
    for (int k = t; k < STEPS; k++) {
      assert_memory_equal(hu_batches_next(&b), index[k], sizeof index[k]);
      assert_true(hu_batches_stream(&b, HU_USE_AUGMENT).key == words[k].key);
    }
    hu_batches_free(&b);
  }
  assert_int_equal(hu_batches_open(&b, COUNT, COUNT + 1, (hu_batch_state){6, 0, 0}), HU_E_SHAPE);
  assert_int_equal(hu_batches_open(&b, COUNT, 0, (hu_batch_state){6, 0, 0}), HU_E_SHAPE);
  assert_int_equal(hu_batches_open(&b, 0, 0, (hu_batch_state){6, 0, 0}), HU_E_SHAPE);
  assert_int_equal(hu_batches_open(&b, COUNT, BATCH, (hu_batch_state){6, 0, 11}), HU_E_SHAPE);
}

static void state_texts(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "seed=1,epoch=2",
                                    "seed=1,epoch=2,position=3 ",
                                    " seed=1,epoch=2,position=3",
                                    "seed=01,epoch=2,position=3",
                                    "seed=-1,epoch=2,position=3",
                                    "seed=,epoch=2,position=3",
                                    "epoch=2,seed=1,position=3",
                                    "seed=18446744073709551616,epoch=2,position=3",
                                    "seed=1,epoch=2,position=0x3"};
  char text[HU_BATCH_STATE_TEXT_MAX];
  hu_batch_state s = {UINT64_MAX, 0, UINT64_MAX}, t;
  assert_string_equal(hu_batch_state_text(text, s), "seed=18446744073709551615,epoch=0,position=18446744073709551615");
  assert_int_equal(hu_batch_state_parse(&t, text), HU_OK);
  assert_memory_equal(&s, &t, sizeof s);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(hu_batch_state_parse(&t, bad[i]), HU_E_TEXT);
    assert_memory_equal(&s, &t, sizeof s);
  }
}

/* Every place of the crop and both directions occur about equally often; pixels are where the place says. */
static void augmentation(void **state) {
  (void)state;
  enum { N = 4000, H = 6, W = 5, C = 2, PAD = 2, SPAN = 2 * PAD + 1, IMAGE = H * W * C };
  static float x[N * IMAGE], y[N * IMAGE];
  static const float fill[C] = {-1, -2};
  unsigned seen[2][SPAN][SPAN] = {{{0}}};
  for (size_t i = 0; i < N * IMAGE; i++) x[i] = (float)(i % IMAGE);
  hu_augmentation how = {H, W, C, PAD, 1, fill};
  assert_int_equal(hu_augment(N, y, x, &how, (hu_stream){2, 0}), HU_OK);
  golden("augment", N * IMAGE, y, 0xA85745C481954648);
  for (size_t e = 0; e < N; e++) {
    int found = 0;
    for (int m = 0; m < 2; m++) {
      for (int down = 0; down < SPAN; down++) {
        for (int right = 0; right < SPAN; right++) {
          int same = 1;
          for (int i = 0; i < IMAGE && same; i++) {
            int column = i / C % W, row = i / C / W + down - PAD;
            column = (m ? W - 1 - column : column) + right - PAD;
            int inside = row >= 0 && row < H && column >= 0 && column < W;
            float want = inside ? (float)((row * W + column) * C + i % C) : fill[i % C];
            same = y[e * IMAGE + (size_t)i] == want;
          }
          found += same;
          seen[m][down][right] += (unsigned)same;
        }
      }
    }
    assert_int_equal(found, 1);
  }
  for (int i = 0; i < 2 * SPAN * SPAN; i++) assert_true((&seen[0][0][0])[i] > 40 && (&seen[0][0][0])[i] < 125);
  how = (hu_augmentation){H, W, C, 0, 0, NULL};
  assert_int_equal(hu_augment(N, y, x, &how, (hu_stream){2, 0}), HU_OK);
  assert_memory_equal(x, y, sizeof x);
  how.pad = PAD;
  assert_int_equal(hu_augment(1, y, x, &how, (hu_stream){2, 0}), HU_OK);
  assert_int_equal(hu_augment(1, NULL, x, &how, (hu_stream){2, 0}), HU_E_NULL);
  assert_int_equal(hu_augment(1, y, x, NULL, (hu_stream){2, 0}), HU_E_NULL);
  how.width = 0;
  assert_int_equal(hu_augment(1, y, x, &how, (hu_stream){2, 0}), HU_E_SHAPE);
}

static void windows(void **state) {
  (void)state;
  enum { N = 9000, T = 5, FIRST = 10, COUNT = 13 };
  static uint32_t tokens[40], w[N * T];
  unsigned seen[COUNT - T + 1] = {0};
  hu_text text = {40, tokens, 40, {0}};
  for (uint32_t i = 0; i < 40; i++) tokens[i] = i;
  assert_int_equal(hu_text_windows(N, w, &text, FIRST, COUNT, T, (hu_stream){2, 0}), HU_OK);
  golden("windows", N * T, w, 0x56E7DD4BCF0164A6);
  for (size_t i = 0; i < N; i++) {
    for (uint32_t k = 0; k < T; k++) assert_int_equal(w[i * T + k], w[i * T] + k);
    assert_true(w[i * T] >= FIRST && w[i * T] <= FIRST + COUNT - T);
    seen[w[i * T] - FIRST]++;
  }
  for (int i = 0; i <= COUNT - T; i++) assert_true(seen[i] > 870 && seen[i] < 1130);
  assert_int_equal(hu_text_windows(1, w, &text, 0, 4, T, (hu_stream){2, 0}), HU_E_SHAPE);
  assert_int_equal(hu_text_windows(1, w, &text, 30, 11, T, (hu_stream){2, 0}), HU_E_SHAPE);
  assert_int_equal(hu_text_windows(1, w, &text, 0, 40, 0, (hu_stream){2, 0}), HU_E_SHAPE);
}

static void gathered(void **state) {
  (void)state;
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[4] = {10, 11, 12, 13}, a[6], b[3];
  uint32_t labels[4] = {3, 2, 1, 0}, c[3];
  static const uint32_t index[3] = {2, 0, 2};
  hu_data data = {4, 1, 1, 2, x, 4, labels, 1, y};
  hu_data_gather(&data, 3, index, a, c, b);
  assert_memory_equal(a, ((float[]){4, 5, 0, 1, 4, 5}), sizeof a);
  assert_memory_equal(b, ((float[]){12, 10, 12}), sizeof b);
  assert_memory_equal(c, ((uint32_t[]){1, 3, 1}), sizeof c);
  hu_data_gather(&data, 3, index, NULL, NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams),        cmocka_unit_test(below),           cmocka_unit_test(permutations),
      cmocka_unit_test(normal_numbers), cmocka_unit_test(uniform_numbers), cmocka_unit_test(first_weights),
      cmocka_unit_test(least_squares),  cmocka_unit_test(gratings),        cmocka_unit_test(teacher),
      cmocka_unit_test(batches),        cmocka_unit_test(state_texts),     cmocka_unit_test(augmentation),
      cmocka_unit_test(windows),        cmocka_unit_test(gathered),        cmocka_unit_test(ratings)};
  return cmocka_run_group_tests_name("data made", tests, NULL, NULL);
}
