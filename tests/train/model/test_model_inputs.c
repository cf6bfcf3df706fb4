/* SPDX-License-Identifier: MIT */
/* Models of several inputs and of long sequences: whole forward passes against binary64 models of their own. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train.h"
#include "tests/support/cmocka.h"
#include "tests/train/model/reference.h"

static const float *part_of(const hu_net *net, const char *scope, const char *name) {
  char all[HU_PARAMETER_NAME_MAX];
  snprintf(all, sizeof all, "%s%s%s", scope, *scope ? "." : "", name);
  return theta(net, all);
}

/* Rows of T steps: row i of q sees the first n rows of keys and values (causal: those up to i). */
static void attend_to(const double *q, size_t ldq, const double *kv, size_t ldk, size_t n, int causal, double *z) {
  for (size_t i = 0; i < T; i++) {
    for (size_t h = 0; h < 2; h++) {
      double e[T], sum = 0;
      size_t seen = causal && i + 1 < n ? i + 1 : n;
      for (size_t j = 0; j < seen; j++) {
        double score = 0;
        for (size_t c = 0; c < D / 2; c++) score += q[i * ldq + h * D / 2 + c] * kv[j * ldk + h * D / 2 + c];
        sum += e[j] = exp(score / sqrt(D / 2));
      }
      for (size_t c = 0; c < D / 2; c++) {
        double *to = &z[i * D + h * D / 2 + c];
        *to = 0;
        for (size_t j = 0; j < seen; j++) *to += e[j] / sum * kv[j * ldk + D + h * D / 2 + c];
      }
    }
  }
}

/* Tensor2Tensor: rows times sqrt(D), and sines: of D / 2 frequencies from 1 to 1 / 10000. */
static void embed_with_sines(const hu_net *net, const float *x, double *h) {
  const float *table = theta(net, "encoder.embedding1.weight");
  for (size_t i = 0; i < T * D; i++) {
    size_t half = D / 2, k = i % D;
    double angle = (double)(i / D) * pow(10000, -(double)(k % half) / (double)(half - 1));
    h[i] = sqrt(D) * (double)table[(size_t)x[i / D] * D + k] + (k < half ? sin(angle) : cos(angle));
  }
}

static void embed(const hu_net *net, const char *scope, const float *x, double *h) {
  for (size_t i = 0; i < T * D; i++) {
    h[i] = (double)part_of(net, scope, "embedding1.weight")[(size_t)x[i / D] * D + i % D] +
           (double)part_of(net, scope, "position1.weight")[i];
  }
}

/* h + part(norm(h)), the norm and the layers of a scope by their numbers. */
static void numbered_norm(const hu_net *net, const char *scope, int number, const double *h, double *n) {
  char gain[32], offset[32];
  snprintf(gain, sizeof gain, "layer_norm%d.gain", number);
  snprintf(offset, sizeof offset, "layer_norm%d.offset", number);
  norm(h, part_of(net, scope, gain), part_of(net, scope, offset), n);
}

static void layer(const hu_net *net, const char *scope, int number, int bias, size_t in, size_t out, const double *x,
                  double *z) {
  char weight[32], offset[32];
  snprintf(weight, sizeof weight, "linear%d.weight", number);
  snprintf(offset, sizeof offset, "linear%d.bias", number);
  dense(T, in, out, x, part_of(net, scope, weight), bias ? part_of(net, scope, offset) : NULL, z);
}

static void self_part(const hu_net *net, const char *scope, size_t n, int causal, double *h) {
  double x[T * D], wide[T * 3 * D], a[T * D];
  numbered_norm(net, scope, 1, h, x);
  layer(net, scope, 1, 0, D, 3 * D, x, wide);
  attend_to(wide, 3 * D, wide + D, 3 * D, n, causal, a);
  layer(net, scope, 2, 0, D, D, a, x);
  add(T * D, h, x);
}

static void dense_part(const hu_net *net, const char *scope, int norms, int layers, double *h) {
  double x[T * D], f[T * FORWARD];
  numbered_norm(net, scope, norms, h, x);
  layer(net, scope, layers, 1, D, FORWARD, x, f);
  rectify(T * FORWARD, f);
  layer(net, scope, layers + 1, 1, FORWARD, D, f, x);
  add(T * D, h, x);
}

/* shared: 1: one table for both languages and the logits. */
static void translate(const char *text, int shared) {
  const hu_model_sizes sizes = {.steps = T, .vocabulary = V, .source_vocabulary = shared ? V : V + 2};
  /* Source tokens, of which 3 are no padding; then those of the target. */
  const float x[2 * T + 1] = {shared ? 5 : 7, 1, 0, 4, 4, 3, 2, 0, 5, 5, 1};
  double memory[T * D], h[T * D], n[T * D], q[T * D], kv[T * 2 * D], a[T * D], expected[T * V];
  hu_model_ends ends;
  hu_net *net = net_of(text, &sizes, 1, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  fill(net, 6);
  if (shared) embed_with_sines(net, x, h);
  if (!shared) embed(net, "encoder", x, h);
  for (int block = 1; block <= 2; block++) {
    const char *scope = block == 1 ? "encoder.block1" : "encoder.block2";
    self_part(net, scope, 3, 0, h);
    dense_part(net, scope, 2, 3, h);
  }
  numbered_norm(net, "encoder", 1, h, memory);
  if (shared) embed_with_sines(net, x + T + 1, h);
  if (!shared) embed(net, "decoder", x + T + 1, h);
  for (int block = 1; block <= 2; block++) {
    const char *scope = block == 1 ? "decoder.block1" : "decoder.block2";
    self_part(net, scope, T, 1, h);
    numbered_norm(net, scope, 2, h, n);
    layer(net, scope, 3, 0, D, D, n, q);
    layer(net, scope, 4, 0, D, 2 * D, memory, kv);
    attend_to(q, D, kv, 2 * D, 3, 0, a);
    layer(net, scope, 5, 0, D, D, a, n);
    add(T * D, h, n);
    dense_part(net, scope, 3, 6, h);
  }
  numbered_norm(net, "", 1, h, n);
  if (!shared) layer(net, "", 1, 1, D, V, n, expected);
  for (size_t i = 0; shared && i < T * V; i++) {
    expected[i] = 0;
    for (size_t k = 0; k < D; k++)
      expected[i] += n[i / V * D + k] * (double)theta(net, "encoder.embedding1.weight")[i % V * D + k];
  }
  uint32_t labels[T] = {0};
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  close_to(text, net, ends.output, expected);
  hu_net_free(net);
}

static void encoder_and_decoder(void **state) {
  (void)state;
  translate("seq2seq(layers=2,units=4,heads=2,hidden=7)", 0);
  translate("t2t_transformer(units=4,heads=2,hidden=7,dropout=0)", 1);
}

static void gelu_of(size_t n, double *x) {
  for (size_t i = 0; i < n; i++) x[i] *= 0.5 * erfc(-x[i] / sqrt(2));
}

static void masked_model(void **state) {
  (void)state;
  const hu_model_sizes sizes = {.steps = T, .vocabulary = V};
  static const float x[T] = {3, V, 5, V, 1}; /* two masks */
  double h[T * D], n[T * D], a[T * D], wide[T * 3 * D], f[T * FORWARD], expected[T * V];
  hu_model_ends ends;
  hu_net *net = net_of("bert(layers=2,units=4,heads=2,hidden=7)", &sizes, 1, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  fill(net, 7);
  embed(net, "", x, n);
  numbered_norm(net, "", 1, n, h);
  for (int block = 1; block <= 2; block++) {
    const char *scope = block == 1 ? "block1" : "block2";
    layer(net, scope, 1, 1, D, 3 * D, h, wide);
    attend_to(wide, 3 * D, wide + D, 3 * D, T, 0, a);
    layer(net, scope, 2, 1, D, D, a, n);
    add(T * D, n, h);
    numbered_norm(net, scope, 1, n, h);
    layer(net, scope, 3, 1, D, FORWARD, h, f);
    gelu_of(T * FORWARD, f);
    layer(net, scope, 4, 1, FORWARD, D, f, n);
    add(T * D, n, h);
    numbered_norm(net, scope, 2, n, h);
  }
  layer(net, "head", 1, 1, D, D, h, n);
  gelu_of(T * D, n);
  numbered_norm(net, "head", 1, n, h);
  layer(net, "", 1, 1, D, V, h, expected);
  uint32_t labels[T] = {0};
  assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  close_to("bert", net, ends.output, expected);
  hu_net_free(net);
}

static void recommendation(void **state) {
  (void)state;
  enum { DENSE = 3, CATEGORIES = 2, UNITS = 4, ROWS = 9, FIRST = 5, LAST = 6, PAIRS = 3 };
  const hu_model_sizes sizes = {.dense = DENSE, .categories = CATEGORIES, .vocabulary = ROWS, .outputs = 2};
  static const float x[2][DENSE + CATEGORIES] = {{0.5f, -1, 2, 0, 8}, {3, 0.25f, -2, 7, 7}};
  hu_model_ends ends;
  double expected[2 * 2];
  hu_net *net = net_of("dlrm(units=4,bottom=5,top=6)", &sizes, 2, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  fill(net, 8);
  for (size_t s = 0; s < 2; s++) {
    double in[DENSE], first[FIRST], row[(1 + CATEGORIES) * UNITS], both[UNITS + PAIRS], last[LAST];
    for (size_t i = 0; i < DENSE; i++) in[i] = (double)x[s][i];
    dense(1, DENSE, FIRST, in, theta(net, "bottom.linear1.weight"), theta(net, "bottom.linear1.bias"), first);
    rectify(FIRST, first);
    dense(1, FIRST, UNITS, first, theta(net, "bottom.linear2.weight"), theta(net, "bottom.linear2.bias"), row);
    rectify(UNITS, row);
    for (size_t i = 0; i < CATEGORIES * UNITS; i++)
      row[UNITS + i] = (double)theta(net, "embedding1.weight")[(size_t)x[s][DENSE + i / UNITS] * UNITS + i % UNITS];
    memcpy(both, row, UNITS * sizeof *both);
    for (size_t i = 1, at = UNITS; i <= CATEGORIES; i++) {
      for (size_t j = 0; j < i; j++, at++) {
        both[at] = 0;
        for (size_t c = 0; c < UNITS; c++) both[at] += row[i * UNITS + c] * row[j * UNITS + c];
      }
    }
    dense(1, UNITS + PAIRS, LAST, both, theta(net, "top.linear1.weight"), theta(net, "top.linear1.bias"), last);
    rectify(LAST, last);
    dense(1, LAST, 2, last, theta(net, "linear1.weight"), theta(net, "linear1.bias"), expected + 2 * s);
  }
  uint32_t labels[2] = {0, 1};
  assert_int_equal(hu_model_feed(net, &ends, x[0]), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  close_to("dlrm", net, ends.output, expected);
  hu_net_free(net);
}

/* Speech has hundreds of steps: two layers of cells over 400 of them are 4803 values and more, and take a step. */
static void long_sequences(void **state) {
  (void)state;
  enum { LONG = 400, KINDS = 30 };
  const hu_model_sizes sizes = {.steps = LONG, .vocabulary = KINDS};
  static float x[2 * LONG];
  static uint32_t labels[2 * LONG];
  float first = 0, loss = 0;
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  hu_model_ends ends;
  hu_net *net = net_of("lstm(layers=2,units=16)", &sizes, 2, 1, &ends);
  (void)hu_net_cross_entropy(net, ends.output, 1);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_true(hu_net_values(net) > 4800);
  assert_string_equal(hu_net_parameter_name(net, 0), "embedding1.weight");
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  optimizer.rate = 0.01;
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (size_t i = 0; i < 2 * LONG; i++) labels[i] = (uint32_t)((i + 1) % KINDS), x[i] = (float)(i % KINDS);
  for (int step = 0; step < 3; step++) {
    assert_int_equal(hu_model_feed(net, &ends, x), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, &loss), HU_OK);
    if (!step) first = loss;
    assert_int_equal(hu_net_backward(net, 1), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  }
  assert_true(loss < first && loss > 0);
  getrusage(RUSAGE_SELF, &after);
  print_message("%d values, %ld KiB\n", hu_net_values(net), after.ru_maxrss - before.ru_maxrss);
  assert_true(after.ru_maxrss - before.ru_maxrss < 256 * 1024);
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(encoder_and_decoder), cmocka_unit_test(masked_model),
                                     cmocka_unit_test(recommendation), cmocka_unit_test(long_sequences)};
  return cmocka_run_group_tests_name("models of several inputs", tests, NULL, NULL);
}
