/* SPDX-License-Identifier: MIT */
/* Models: parameters counted against formulas and published numbers, names, first weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/model.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"

static const hu_model_sizes digits = {.height = 8, .width = 8, .channels = 1, .outputs = 10};
static const hu_model_sizes small = {.height = 8, .width = 8, .channels = 3, .outputs = 10};
static const hu_model_sizes thousand = {.height = 8, .width = 8, .channels = 3, .outputs = 1000};
static const hu_model_sizes cifar = {.height = 32, .width = 32, .channels = 3, .outputs = 10};
static const hu_model_sizes words = {.steps = 32, .vocabulary = 76};
static const hu_model_sizes pairs = {.users = 40, .items = 60, .outputs = 1};

enum { BATCH = 2 };

static size_t numbers_of(const hu_net *net) {
  size_t n = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) n += hu_net_parameter(net, i).rows * hu_net_parameter(net, i).cols;
  return n;
}

/* ---- counts ---- */

/* A convolution of k x k pixels from i to o channels, and its batch norm. */
static size_t conv(size_t k, size_t i, size_t o) { return k * k * i * o + 2 * o; }
static size_t dense(size_t i, size_t o) { return i * o + o; }

/* n blocks a stage, c channels in the first one. */
static size_t resnet(size_t n, size_t input, size_t c, int projection) {
  size_t sum = conv(3, input, c) + 2 * n * conv(3, c, c) + dense(4 * c, 10);
  for (size_t d = 2 * c; d <= 4 * c; d *= 2) {
    sum += conv(3, d / 2, d) + (2 * n - 1) * conv(3, d, d) + (projection ? conv(1, d / 2, d) : 0);
  }
  return sum;
}

static size_t fire(size_t i, size_t s, size_t e) { return conv(1, i, s) + conv(1, s, e) + conv(3, s, e); }

/* 1 / d of the channels. */
static size_t squeezenet(size_t input, size_t d) {
  size_t c = 64 / d, s = 16 / d;
  return conv(3, input, 96 / d) + fire(96 / d, s, c) + fire(2 * c, s, c) + fire(2 * c, 2 * s, 2 * c) +
         fire(4 * c, 2 * s, 2 * c) + fire(4 * c, 3 * s, 3 * c) + fire(6 * c, 3 * s, 3 * c) + fire(6 * c, 4 * s, 4 * c) +
         fire(8 * c, 4 * s, 4 * c) + dense(8 * c, 10);
}

static size_t cell(size_t parts, size_t i, size_t h) { return parts * h * (i + h + 2); }

static size_t transformer(size_t layers, size_t v, size_t t, size_t d, size_t f) {
  return v * d + t * d + layers * (2 * d + 3 * d * d + d * d + 2 * d + dense(d, f) + dense(f, d)) + 2 * d + dense(d, v);
}

static void counts(void **state) {
  (void)state;
  const struct {
    const char *text;
    const hu_model_sizes *sizes;
    size_t numbers, rows, cols; /* the last two a sample */
  } table[] = {
      {"linear", &digits, dense(64, 10), 1, 10},
      {"linear(nobias)", &digits, 640, 1, 10},
      {"mlp", &digits, 2 * dense(64, 64) + dense(64, 10), 1, 10},
      {"mlp(layers=1,units=7,activation=tanh)", &small, dense(192, 7) + dense(7, 10), 1, 10},
      {"conv", &digits, conv(3, 1, 8) + conv(3, 8, 16) + conv(3, 16, 16) + dense(16, 10), 1, 10},
      {"conv(channels=1/2/3/4/5/6/7/8,width=1.1)", &digits,
       conv(3, 1, 1) + conv(3, 1, 2) + conv(3, 2, 3) + conv(3, 3, 4) + conv(3, 4, 6) + conv(3, 6, 7) + conv(3, 7, 8) +
           conv(3, 8, 9) + dense(9, 10),
       1, 10},
      {"conv(channels=3/5,width=1.5,kernel=5)", &small, conv(5, 3, 5) + conv(5, 5, 8) + dense(8, 10), 1, 10},
      {"resnet", &cifar, resnet(3, 3, 16, 0), 1, 10},
      {"resnet20(projection)", &cifar, resnet(3, 3, 16, 1), 1, 10},
      {"resnet(blocks=9,width=0.25)", &small, resnet(9, 3, 4, 0), 1, 10},
      {"resnet(blocks=1,width=0.01)", &digits, conv(3, 1, 1) + 6 * conv(3, 1, 1) + dense(1, 10), 1, 10},
      /* Public code for CIFAR-10 counts as many. */
      {"resnet18", &cifar, 11173962, 1, 10},
      {"resnet34", &cifar, 21282122, 1, 10},
      {"resnet50", &cifar, 23520842, 1, 10},
      {"resnet4(stages=1/1,width=0.25)", &digits,
       conv(3, 1, 16) + 2 * conv(3, 16, 16) + conv(3, 16, 32) + conv(3, 32, 32) + conv(1, 16, 32) + dense(32, 10), 1,
       10},
      /* torchvision's, which has 1000 classes: 3504872; 1366792, 2278604, 3503624, 7393996. */
      {"mobilenet2", &thousand, 3504872, 1, 1000},
      {"mobilenet2", &small, 3504872 - 990 * 1281, 1, 10},
      {"shufflenet2(width=0.5)", &thousand, 1366792, 1, 1000},
      {"shufflenet2", &thousand, 2278604, 1, 1000},
      {"shufflenet2(width=1.5)", &thousand, 3503624, 1, 1000},
      {"shufflenet2(width=2)", &thousand, 7393996, 1, 1000},
      {"squeezenet", &small, squeezenet(3, 1), 1, 10},
      {"squeezenet(width=0.25,bypass)", &small, squeezenet(3, 4), 1, 10},
      {"gru", &digits, cell(3, 8, 32) + dense(32, 10), 1, 10},
      {"gru(layers=3,units=5)", &small, cell(3, 24, 5) + 2 * cell(3, 5, 5) + dense(5, 10), 1, 10},
      {"lstm", &words, 76 * 64 + cell(4, 64, 64) + dense(64, 76), 32, 76},
      {"lstm(layers=2,units=9)", &words, 76 * 9 + 2 * cell(4, 9, 9) + dense(9, 76), 32, 76},
      {"transformer", &words, transformer(1, 76, 32, 32, 128), 32, 76},
      {"transformer(layers=4,units=12,heads=3,hidden=20)", &words, transformer(4, 76, 32, 12, 20), 32, 76},
      {"ncf", &pairs, 100 * (8 + 32) + dense(64, 32) + dense(32, 16) + dense(16, 8) + dense(16, 1), 1, 1},
      {"ncf(layers=1,units=5)", &pairs, 100 * (5 + 5) + dense(10, 5) + dense(10, 1), 1, 1}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    hu_model_ends ends;
    hu_net *net = net_of(table[i].text, table[i].sizes, BATCH, 1, &ends);
    hu_net_tensor z = hu_net_value(net, ends.output);
    if (numbers_of(net) != table[i].numbers) fail_msg("%s: %zu numbers", table[i].text, numbers_of(net));
    if (z.rows != BATCH * table[i].rows || z.cols != table[i].cols) fail_msg("%s: shape", table[i].text);
    assert_int_equal(ends.count, table[i].sizes == &pairs ? 2 : 1);
    hu_net_free(net);
  }
}

/* ResNet-20: 0.27 million, -32: 0.46, -44: 0.66, -56: 0.85 (He et al., table 6); to the number, with batch norm and
 * option A, 269722 (public code for CIFAR says so, too). */
static void residual_counts(void **state) {
  (void)state;
  static const struct {
    unsigned blocks;
    size_t hundredths;
  } published[] = {{3, 27}, {5, 46}, {7, 66}, {9, 85}};
  hu_model_ends ends;
  for (size_t i = 0; i < 4; i++) {
    char text[40];
    snprintf(text, sizeof text, "resnet(blocks=%u)", published[i].blocks);
    hu_net *net = net_of(text, &small, BATCH, 1, &ends);
    if ((numbers_of(net) + 5000) / 10000 != published[i].hundredths) fail_msg("%s: %zu", text, numbers_of(net));
    hu_net_free(net);
  }
  hu_net *net = net_of("resnet20", &cifar, BATCH, 1, &ends);
  assert_int_equal(numbers_of(net), 269722);
  hu_net_free(net);
  net = net_of("resnet20(projection)", &cifar, BATCH, 1, &ends);
  assert_int_equal(numbers_of(net), 272474);
  hu_net_free(net);
}

/* Fires 2 ... 9 with a bias a channel, as Iandola et al. count them in table 1. */
static void fire_counts(void **state) {
  (void)state;
  static const size_t published[] = {11920, 12432, 45344, 49440, 104880, 111024, 188992, 197184};
  hu_model_ends ends;
  hu_net *net = net_of("squeezenet", &small, BATCH, 1, &ends);
  for (unsigned f = 2; f <= 9; f++) {
    size_t sum = 0;
    for (unsigned k = 1; k <= 3; k++) {
      char name[HU_PARAMETER_NAME_MAX];
      snprintf(name, sizeof name, "fire%u.conv%u.weight", f, k);
      hu_net_tensor weights = hu_net_parameter(net, hu_net_parameter_named(net, name));
      sum += weights.rows * weights.cols + weights.cols;
    }
    assert_int_equal(sum, published[f - 2]);
  }
  hu_net_free(net);
}

/* ---- names ---- */

static void names(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    const hu_model_sizes *sizes;
    size_t rows, cols;
  } table[] = {{"linear", "linear1.weight", &digits, 64, 10},
               {"mlp", "linear3.bias", &digits, 1, 10},
               {"conv", "conv3.weight", &digits, 144, 16},
               {"conv", "batch_norm2.gain", &digits, 1, 16},
               {"resnet", "conv1.weight", &cifar, 27, 16},
               {"resnet", "stage2.block1.conv1.weight", &cifar, 144, 32},
               {"resnet", "stage3.block3.batch_norm2.offset", &cifar, 1, 64},
               {"resnet(projection)", "stage3.block1.conv3.weight", &cifar, 32, 64},
               {"resnet", "linear1.weight", &cifar, 64, 10},
               {"resnet50", "stage1.block1.conv4.weight", &cifar, 64, 256},
               {"resnet50", "stage4.block3.conv3.weight", &cifar, 512, 2048},
               {"resnet34", "stage3.block6.conv2.weight", &cifar, 2304, 256},
               {"mobilenet2", "stage1.block1.conv1.weight", &small, 9, 32},
               {"mobilenet2", "stage2.block1.conv1.weight", &small, 16, 96},
               {"mobilenet2", "stage7.block1.conv2.weight", &small, 9, 960},
               {"mobilenet2", "stage7.block1.conv3.weight", &small, 960, 320},
               {"mobilenet2(width=0.25)", "conv2.weight", &small, 80, 1280},
               {"mobilenet2(width=1.5)", "conv2.weight", &small, 480, 1920},
               {"shufflenet2", "stage2.unit1.conv1.weight", &small, 9, 24},
               {"shufflenet2", "stage2.unit1.conv2.weight", &small, 24, 58},
               {"shufflenet2", "stage4.unit4.conv2.weight", &small, 9, 232},
               {"shufflenet2(width=2)", "conv2.weight", &small, 976, 2048},
               {"shufflenet2(width=0.1)", "stage3.unit8.conv3.weight", &small, 12, 12},
               {"squeezenet", "fire9.conv3.weight", &small, 576, 256},
               {"squeezenet", "conv2.bias", &small, 1, 10},
               {"gru(layers=2)", "gru2.weight_h", &digits, 32, 96},
               {"lstm", "lstm1.weight_x", &words, 64, 256},
               {"lstm", "embedding1.weight", &words, 76, 64},
               {"transformer", "position1.weight", &words, 32, 32},
               {"transformer(layers=2)", "block2.linear3.weight", &words, 32, 128},
               {"transformer(layers=2)", "layer_norm1.gain", &words, 1, 32},
               {"ncf", "product.embedding2.weight", &pairs, 60, 8},
               {"ncf", "dense.embedding1.weight", &pairs, 40, 32},
               {"ncf", "dense.linear1.weight", &pairs, 64, 32}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    hu_model_ends ends;
    hu_net *net = net_of(table[i].text, table[i].sizes, BATCH, 1, &ends);
    hu_net_tensor weights = hu_net_parameter(net, hu_net_parameter_named(net, table[i].name));
    if (weights.rows != table[i].rows || weights.cols != table[i].cols)
      fail_msg("%s: %s", table[i].text, table[i].name);
    for (int k = 0; k < hu_net_parameters(net); k++) { /* the first of its name, and so the only one */
      assert_int_equal(hu_net_parameter_named(net, hu_net_parameter_name(net, k)), k);
      assert_true(hu_net_parameter_name(net, k)[0] != 0);
    }
    hu_net_free(net);
  }
}

static int named(const hu_net *net, const char *name) { return hu_net_parameter_named(net, name); }

static void scopes(void **state) {
  (void)state;
  hu_net *net = hu_net_new(1, 1);
  int x = hu_net_input(net, 1, 4);
  x = hu_net_linear(net, x, 3, 1); /* 0, 1 */
  x = hu_net_linear(net, x, 3, 0); /* 2 */
  hu_net_scope(net, "linear1");
  x = hu_net_linear(net, x, 3, 0); /* 3 */
  hu_net_scope(net, "a_1.b");
  for (int i = 0; i < 11; i++) x = hu_net_linear(net, x, 3, 0); /* 4 ... 14 */
  x = hu_net_layer_norm(net, x);                                /* 15, 16 */
  hu_net_scope(net, "linear1");
  x = hu_net_linear(net, x, 3, 0); /* 17 */
  assert_string_equal(hu_net_scope_of(net), "linear1");
  hu_net_scope(net, "");
  (void)hu_net_linear(net, x, 3, 0); /* 18 */
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_true(named(net, "linear1.weight") == 0 && named(net, "linear1.bias") == 1 &&
              named(net, "linear2.weight") == 2);
  assert_true(named(net, "linear1.linear1.weight") == 3 && named(net, "linear1.linear2.weight") == 17);
  assert_true(named(net, "a_1.b.linear1.weight") == 4 && named(net, "a_1.b.linear11.weight") == 14);
  assert_true(named(net, "a_1.b.layer_norm1.offset") == 16 && named(net, "linear3.weight") == 18);
  assert_true(named(net, "linear2.bias") == -1 && named(net, NULL) == -1 && named(NULL, "linear1.weight") == -1);
  assert_true(!hu_net_parameter_name(net, 19) && !hu_net_parameter_name(net, -1) && !hu_net_parameter_name(NULL, 0));
  assert_string_equal(hu_net_scope_of(NULL), "");
  hu_net_free(net);
  static const char *const bad[] = {
      ".", "a.", ".a", "a..b", "A", "a b", "a/b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    net = hu_net_new(1, 1);
    hu_net_scope(net, bad[i]);
    assert_int_equal(hu_net_status(net, NULL), HU_E_NAME);
    hu_net_free(net);
  }
  net = hu_net_new(1, 1);
  hu_net_scope(net, NULL);
  assert_int_equal(hu_net_status(net, NULL), HU_E_NULL);
  hu_net_free(net);
}

/* Two models in one net, each in a scope of its own. */
static void side_by_side(void **state) {
  (void)state;
  hu_model m = model_of("resnet(blocks=1,width=0.25)");
  hu_model_ends a, b;
  hu_net *net = hu_net_new(BATCH, 1);
  hu_net_scope(net, "teacher");
  assert_int_equal(hu_model_build(net, &m, &small, &a, NULL), HU_OK);
  assert_string_equal(hu_net_scope_of(net), "teacher");
  int half = hu_net_parameters(net);
  hu_net_scope(net, "pupil");
  assert_int_equal(hu_model_build(net, &m, &small, &b, NULL), HU_OK);
  assert_int_equal(named(net, "teacher.stage1.block1.conv1.weight") + half,
                   named(net, "pupil.stage1.block1.conv1.weight"));
  assert_int_equal(named(net, "pupil.linear1.bias"), 2 * half - 1);
  assert_true(a.output != b.output && a.inputs[0] != b.inputs[0]);
  hu_net_free(net);
}

/* ---- first weights ---- */

/* Deviation of a parameter; its largest magnitude. */
static double deviation(const hu_net *net, const char *name, double *most) {
  hu_net_tensor weights = hu_net_parameter(net, named(net, name));
  double sum = 0, n = (double)(weights.rows * weights.cols);
  *most = 0;
  for (size_t i = 0; i < weights.rows * weights.cols; i++) {
    sum += (double)weights.numbers[i] * (double)weights.numbers[i];
    *most = fmax(*most, fabs((double)weights.numbers[i]));
  }
  return n > 0 ? sqrt(sum / n) : NAN;
}

static void first_weights(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    const hu_model_sizes *sizes;
    double expected;                                                       /* negative: uniform up to that */
  } table[] = {{"mlp", "linear1.weight", &digits, 0.17678},                /* sqrt(2 / 64) */
               {"mlp(activation=tanh)", "linear1.weight", &digits, 0.125}, /* sqrt(1 / 64) */
               {"mlp", "linear3.weight", &digits, 0.125},
               {"resnet", "stage3.block1.conv2.weight", &small, 0.058926},   /* sqrt(2 / (9 64)) */
               {"mobilenet2", "stage7.block1.conv2.weight", &small, 0.4714}, /* sqrt(2 / 9) */
               {"shufflenet2", "conv2.weight", &small, 0.065653},            /* sqrt(2 / 464) */
               {"squeezenet", "fire9.conv1.weight", &small, 0.0625},         /* sqrt(2 / 512) */
               {"squeezenet", "conv2.weight", &small, 0.044194},             /* sqrt(1 / 512) */
               {"gru", "gru1.weight_x", &digits, -0.17678},                  /* 1 / sqrt(32) */
               {"gru", "gru1.weight_h", &digits, -0.17678},
               {"lstm", "lstm1.weight_h", &words, -0.125},
               {"lstm", "embedding1.weight", &words, 0.1},
               {"transformer", "embedding1.weight", &words, 0.3},
               {"transformer", "position1.weight", &words, 0.3},
               {"transformer", "block1.linear1.weight", &words, 0.17678}, /* sqrt(1 / 32) */
               {"transformer", "block1.linear3.weight", &words, 0.17678},
               {"transformer", "block1.linear4.weight", &words, 0.088388}, /* sqrt(1 / 128) */
               {"transformer(deviation=0)", "embedding1.weight", &words, 0},
               {"ncf", "dense.embedding2.weight", &pairs, 0.01},
               {"gru", "gru1.bias_h", &digits, 0},
               {"resnet", "batch_norm1.offset", &small, 0}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    hu_model_ends ends;
    hu_net *net = net_of(table[i].text, table[i].sizes, BATCH, 1, &ends);
    assert_int_equal(hu_net_initialize(net, 1), HU_OK);
    hu_net_tensor weights = hu_net_parameter(net, named(net, table[i].name));
    double most, got = deviation(net, table[i].name, &most), expected = table[i].expected,
                 n = (double)(weights.rows * weights.cols);
    int good = expected == 0  ? got == 0
               : expected > 0 ? fabs(got / expected - 1) < 4 / sqrt(2 * n) && most > 2 * expected
                              : fabs(got * sqrt(3) / -expected - 1) < 4 / sqrt(5 * n) && most < -expected * 1.0001;
    if (!good) fail_msg("%s: %s: deviation %g, most %g", table[i].text, table[i].name, got, most);
    hu_net_free(net);
  }
}

/* The numbers themselves, and the calls alone. */
static void asked_for(void **state) {
  (void)state;
  float expected[12];
  hu_net *net = hu_net_new(1, 1);
  (void)hu_net_relu(net, hu_net_linear(net, hu_net_input(net, 1, 4), 3, 1));
  hu_stream words_of_0 = hu_stream_child(hu_stream_of_use(7, HU_USE_WEIGHTS), 0);
  const float *w = hu_net_parameter(net, 0).numbers;
  assert_int_equal(hu_net_start_normal(net, 0, 0.25f), HU_OK);
  assert_int_equal(hu_net_initialize(net, 7), HU_OK);
  hu_normal_n(12, expected, 0.25f, words_of_0);
  assert_memory_equal(w, expected, sizeof expected);
  assert_int_equal(hu_net_start_uniform(net, 0, 5), HU_OK);
  assert_int_equal(hu_net_start_normal(net, 1, 1), HU_OK);
  assert_int_equal(hu_net_initialize(net, 7), HU_OK);
  hu_init_uniform(12, expected, 5, words_of_0);
  assert_memory_equal(w, expected, sizeof expected);
  hu_normal_n(3, expected, 1, hu_stream_child(hu_stream_of_use(7, HU_USE_WEIGHTS), 1));
  assert_memory_equal(hu_net_parameter(net, 1).numbers, expected, 3 * sizeof *expected);
  assert_int_equal(hu_net_start_normal(net, 2, 1), HU_E_SHAPE);
  assert_int_equal(hu_net_start_uniform(net, -1, 1), HU_E_SHAPE);
  assert_int_equal(hu_net_start_normal(net, 0, -1), HU_E_TRAIN);
  assert_int_equal(hu_net_start_normal(net, 0, NAN), HU_E_TRAIN);
  assert_int_equal(hu_net_start_normal(net, 0, INFINITY), HU_E_TRAIN);
  assert_int_equal(hu_net_start_within(net, 0, 0.5f), HU_OK);
  assert_int_equal(hu_net_start_constant(net, 1, -2), HU_OK);
  assert_int_equal(hu_net_initialize(net, 7), HU_OK);
  hu_init_uniform(12, expected, 4, words_of_0); /* 1/sqrt(4) */
  assert_memory_equal(w, expected, sizeof expected);
  for (size_t i = 0; i < 3; i++) assert_true(hu_net_parameter(net, 1).numbers[i] == -2);
  assert_int_equal(hu_net_start_constant(net, 0, 3), HU_OK); /* a matrix, which is drawn otherwise */
  assert_int_equal(hu_net_initialize(net, 7), HU_OK);
  for (size_t i = 0; i < 12; i++) assert_true(w[i] == 3);
  assert_int_equal(hu_net_start_within(net, 0, -1), HU_E_TRAIN);
  assert_int_equal(hu_net_start_constant(net, 0, INFINITY), HU_E_TRAIN);
  assert_int_equal(hu_net_start_within(net, 2, 1), HU_E_SHAPE);
  assert_int_equal(hu_net_start_uniform(net, 0, 0), HU_E_TRAIN);
  assert_int_equal(hu_net_start_normal(NULL, 0, 1), HU_E_NULL);
  assert_int_equal(hu_net_start_uniform(NULL, 0, 1), HU_E_NULL);
  hu_net_free(net);
}

static void sizes_of_data(void **state) {
  (void)state;
  hu_data data = {5, 4, 3, 2, NULL, 7, NULL, 9, NULL};
  hu_model_sizes sizes = hu_model_sizes_of_data(&data);
  assert_true(sizes.height == 4 && sizes.width == 3 && sizes.channels == 2 && sizes.outputs == 7 && sizes.steps == 0 &&
              sizes.users == 0);
  data.classes = 0;
  assert_int_equal(hu_model_sizes_of_data(&data).outputs, 9);
  hu_text text = {100, NULL, 50, {0}};
  sizes = hu_model_sizes_of_text(&text, 16);
  assert_true(sizes.steps == 16 && sizes.vocabulary == 50 && sizes.outputs == 50 && sizes.height == 0);
  assert_true(hu_model_sizes_of_data(NULL).height == 0 && hu_model_sizes_of_text(NULL, 3).steps == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts),        cmocka_unit_test(residual_counts), cmocka_unit_test(fire_counts),
      cmocka_unit_test(names),         cmocka_unit_test(scopes),          cmocka_unit_test(side_by_side),
      cmocka_unit_test(first_weights), cmocka_unit_test(asked_for),       cmocka_unit_test(sizes_of_data)};
  return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
