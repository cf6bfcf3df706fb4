/* SPDX-License-Identifier: MIT */
/* Dropout of models: where its layers stand, each number against the words of its stream, evaluation, the same bits for
 * any number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/model/models.h"
#include "tests/train/trainer/trainers.h"

/* ---- where it stands ---- */

typedef struct t_seen {
  char kinds[2048]; /* of the operators of a pass, in their order */
  uint64_t number;  /* of the first dropout */
} t_seen;

static void look(void *context, const hu_net_phase *phase, int ends) {
  t_seen *seen = context;
  size_t n = strlen(seen->kinds);
  if (phase->phase != HU_PHASE_FORWARD || ends) return;
  if (seen->number == UINT64_MAX && strcmp(phase->kind, "dropout") == 0) seen->number = phase->number;
  snprintf(seen->kinds + n, sizeof seen->kinds - n, "%s%s", n ? " " : "", phase->kind);
}

static const hu_model_sizes image = {.height = 8, .width = 8, .channels = 1, .outputs = 10};
static const hu_model_sizes words = {.steps = 3, .vocabulary = 7};

static void kinds_of(const char *text, t_seen *seen) {
  const int tokens = strncmp(text, "lstm", 4) == 0 || strncmp(text, "transformer", 11) == 0;
  hu_model_ends ends;
  static const float x[64];
  hu_net *net = net_of(text, tokens ? &words : &image, 1, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  memset(seen, 0, sizeof *seen);
  seen->number = UINT64_MAX;
  hu_net_observe(net, look, seen);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  hu_net_free(net);
}

static void places(void **state) {
  (void)state;
  static const struct {
    const char *text, *kinds; /* the beginning of the kinds */
    unsigned count;
  } table[] = {
      {"mlp(layers=1,units=4,dropout=0.5)", "linear relu dropout linear cross_entropy", 1},
      {"mlp(layers=2,units=4,activation=tanh,dropout=0.5)", "linear tanh dropout linear tanh dropout linear", 2},
      {"conv(channels=3,dropout=0.5)", "conv batch_norm relu average_pool dropout linear", 1},
      {"gru(layers=2,units=4,dropout=0.5)", "", 2},
      {"lstm(layers=2,units=4,dropout=0.5)", "embedding", 2},
      {"squeezenet(width=0.05,dropout=0.5)", "conv batch_norm relu max_pool", 1},
      {"mobilenet2(width=0.05,dropout=0.5)", "conv batch_norm relu6 conv batch_norm relu6 conv batch_norm conv", 1},
      {"transformer(layers=2,units=4,hidden=4,dropout=0.1)", "embedding position dropout layer_norm linear",
       1 + 2 * 2}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    t_seen seen;
    unsigned count = 0;
    kinds_of(table[i].text, &seen);
    for (const char *at = seen.kinds; (at = strstr(at, "dropout")) != NULL; at++) count++;
    if (count != table[i].count) fail_msg("%s: %u dropouts in %s", table[i].text, count, seen.kinds);
    if (strncmp(seen.kinds, table[i].kinds, strlen(table[i].kinds)) != 0) fail_msg("%s: %s", table[i].text, seen.kinds);
  }
  t_seen seen;
  kinds_of("squeezenet(width=0.05,dropout=0.5)", &seen);
  assert_non_null(strstr(seen.kinds, "concat dropout conv average_pool cross_entropy")); /* behind fire9 */
  kinds_of("mobilenet2(width=0.05,dropout=0.5)", &seen);
  assert_non_null(strstr(seen.kinds, "conv batch_norm relu6 average_pool dropout linear cross_entropy"));
  kinds_of("transformer(layers=1,units=4,hidden=4,dropout=0.1)", &seen);
  assert_non_null(strstr(seen.kinds, "linear dropout add layer_norm linear relu linear dropout add layer_norm linear"));
  kinds_of("lstm(layers=1,units=4,dropout=0.5)", &seen);
  assert_non_null(strstr(seen.kinds, " dropout linear cross_entropy"));
  kinds_of("gru(layers=1,units=4,dropout=0.5)", &seen);
  assert_non_null(strstr(seen.kinds, " dropout linear cross_entropy"));
  kinds_of("mlp(layers=1,units=4,dropout=0)", &seen);
  assert_string_equal(seen.kinds, "linear relu linear cross_entropy");
}

/* ---- numbers ---- */

enum { BATCH = 5, UNITS = 40, N = BATCH * UNITS, PASSES = 3 };

/* Word i of operator `number` in a step, by the definition of docs/training/training.md, section 4. */
static uint32_t word_of(uint64_t seed, uint64_t number, uint64_t step, size_t i) {
  hu_stream stream = hu_stream_child(hu_stream_of_use(seed, HU_USE_DROPOUT), (uint64_t)6 << 32 | number);
  stream.counter += step << 36;
  return hu_stream_word(stream, i);
}

static float rounded(const hu_rounding *rounding, float x) {
  return rounding->kind == HU_ROUND_KEEP ? x : hu_quantize(rounding->format, rounding->mode, x, 0, NULL);
}

/* The values are input, linear, relu, dropout, linear. Returns how many numbers became 0. */
static size_t check_numbers(hu_net *net, uint64_t seed, uint64_t number, uint64_t step, double p,
                            const hu_rounding *rounding) {
  hu_net_tensor x = hu_net_value(net, 2), z = hu_net_value(net, 3);
  float f = (float)(1 / (1 - p));
  size_t zeros = 0;
  assert_int_equal(z.rows * z.cols, N);
  for (size_t i = 0; i < N; i++) {
    int none = word_of(seed, number, step, i) < (uint64_t)floor(ldexp(p, 32));
    float expected = rounded(rounding, x.numbers[i] * (none ? 0 : f)),
          back = rounded(rounding, z.gradients[i] * (none ? 0 : f));
    if (z.numbers[i] != expected || x.gradients[i] != back)
      fail_msg("step %d, number %zu: %a of %a, %a of %a", (int)step, i, (double)z.numbers[i], (double)x.numbers[i],
               (double)x.gradients[i], (double)z.gradients[i]);
    zeros += (size_t)none;
  }
  return zeros;
}

static void numbers(double p, const char *text, const char *rounding) {
  const uint64_t seed = 9;
  hu_loss_rule rule;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_model_ends ends;
  hu_rounding how;
  t_seen seen;
  t_random random = {4};
  static float x[BATCH * 64];
  size_t zeros = 0;
  kinds_of(text, &seen);
  assert_int_equal(hu_rounding_parse(&how, rounding, NULL), HU_OK);
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  hu_net *net = net_of(text, &image, BATCH, 1, &ends);
  const uint32_t labels[BATCH] = {1, 2, 3, 4, 5};
  (void)hu_net_cross_entropy(net, ends.output, 1);
  for (int i = 1; i < hu_net_values(net) - 1; i++) assert_int_equal(hu_net_round_value(net, i, &how, &how), HU_OK);
  assert_int_equal(hu_net_initialize(net, seed), HU_OK);
  for (uint64_t step = 0; step < PASSES; step++) {
    for (size_t i = 0; i < BATCH * 64; i++) x[i] = (float)t_below(&random, 17) / 16;
    assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    zeros += check_numbers(net, seed, seen.number, step, p, &how);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
    assert_int_equal(hu_net_forward(net, 0, NULL), HU_OK); /* evaluation */
    assert_memory_equal(hu_net_value(net, 3).numbers, hu_net_value(net, 2).numbers, N * sizeof(float));
  }
  double all = N * PASSES;
  assert_true(fabs((double)zeros - all * p) < 5 * sqrt(all * p * (1 - p)) + 1);
  hu_net_free(net);
}

static void against_words(void **state) {
  (void)state;
  numbers(0.5, "mlp(layers=1,units=40,dropout=0.5)", "keep");
  numbers(0.1, "mlp(layers=1,units=40,dropout=0.1)", "bfloat16");
  numbers(0.3, "mlp(layers=1,units=40,activation=gelu,dropout=0.3)", "float8_e5m2");
  numbers(0.99, "mlp(layers=1,units=40,dropout=0.99)", "keep"); /* binary32 has another 0.99 */
  numbers(0x1p-40, "mlp(layers=1,units=40,dropout=2^-40)", "keep");
}

/* ---- texts ---- */

static void texts(void **state) {
  (void)state;
  static const char *const same[] = {"mlp(dropout=0.5)",        "conv(channels=3,dropout=0.1)",
                                     "squeezenet(dropout=0.5)", "gru(dropout=0.25)",
                                     "lstm(dropout=0.3)",       "transformer(dropout=0.1)"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    char text[HU_MODEL_TEXT_MAX];
    hu_model m = model_of(same[i]);
    assert_true(m.dropout > 0);
    assert_int_equal(hu_model_text(text, sizeof text, &m), strlen(same[i]));
    assert_string_equal(text, same[i]);
  }
  static const struct {
    const char *text;
    hu_status status;
  } bad[] = {{"mlp(dropout=1)", HU_E_TRAIN},     {"mlp(dropout=-0.1)", HU_E_TRAIN}, {"mlp(dropout=x)", HU_E_TEXT},
             {"linear(dropout=0.5)", HU_E_NAME}, {"ncf(dropout=0.5)", HU_E_NAME},   {"resnet(dropout=0.5)", HU_E_NAME},
             {"resnet4(dropout=0.5)", HU_E_NAME}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hu_model m;
    if (hu_model_parse(&m, bad[i].text, NULL) != bad[i].status) fail_msg("%s is not refused", bad[i].text);
  }
  hu_model m = model_of("mlp(dropout=0.9999999999999999)"); /* the largest number below 1 */
  assert_true(m.dropout < 1);
  m.dropout = (double)NAN;
  const char *said = "";
  assert_int_equal(hu_model_check(&m, NULL, &said), HU_E_TRAIN);
  assert_string_equal(said, "dropout: not from 0 to below 1");
}

/* ---- runs ---- */

static void runs(void **state) {
  (void)state;
#define LARGE(p) "model.net", "mlp(layers=2,units=300,dropout=" p ")", "run.batch", "256"
  uint64_t none = digest_after(3, PAIRS("model.net", "mlp(layers=2,units=300)", "run.batch", "256"));
  uint64_t half = digest_after(3, PAIRS(LARGE("0.5")));
  assert_true(none == digest_after(3, PAIRS(LARGE("0"))) && none != half);
  assert_true(half == digest_after(3, PAIRS(LARGE("0.5"), "run.threads", "2")));
  assert_true(half != digest_after(3, PAIRS(LARGE("0.25"))));
  hu_trainer *trainer = hu_trainer_new();
  assert_int_equal(hu_trainer_set(trainer, "model.net", "mlp(dropout=1)", why), HU_E_TRAIN);
  assert_non_null(strstr(why, "model.net: 'mlp(dropout=1)' is not a model: mlp: dropout: not from 0 to below 1"));
  assert_int_equal(hu_trainer_set(trainer, "model.net", "mlp(droput=0.1)", why), HU_E_NAME);
  assert_non_null(strstr(why, "perhaps dropout is meant"));
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(against_words), cmocka_unit_test(texts),
                                     cmocka_unit_test(runs)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests_name("dropout", tests, NULL, NULL);
}
