/* SPDX-License-Identifier: MIT */
/* Networks: a step worked out code by code, what must not change a bit, roundings as text, misuse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/step/rounding_of.h"
#include "train/engine/engine.h"

static const hu_mode rne;

static float half(uint32_t code) { return hu_decode(hu_binary16(), code); }

/* Inputs may stand anywhere; an operator's value has its kind and number. */
static void kinds(void **state) {
  (void)state;
  hu_net *net = hu_net_new(1, 1);
  int x = hu_net_linear(net, hu_net_input(net, 1, 2), 3, 1), y = hu_net_input(net, 1, 3);
  hu_net_squared_error(net, hu_net_add(net, x, y), 1);
  const char *const expected[] = {"", "linear", "", "add", "squared_error"};
  assert_int_equal(hu_net_values(net), 5);
  for (int i = 0; i < 5; i++) assert_string_equal(hu_net_value_kind(net, i), expected[i]);
  assert_null(hu_net_value_kind(net, -1));
  assert_null(hu_net_value_kind(net, 5));
  assert_null(hu_net_value_kind(NULL, 0));
  const int operators[] = {-1, 0, -1, 1, 2};
  for (int i = 0; i < 5; i++) assert_int_equal(hu_net_value_operator(net, i), operators[i]);
  assert_true(hu_net_value_operator(net, -1) == -1 && hu_net_value_operator(net, 5) == -1 &&
              hu_net_value_operator(NULL, 0) == -1);
  hu_net_free(net);
}

/* y = x w, L = (y - t)^2 / 2, S = 1024, rate 2^-6, everything stored in binary16, master weights in binary32. */
static void worked_step(void **state) {
  (void)state;
  hu_rounding rounding = hu_rounding_format(hu_binary16(), rne), keep = hu_rounding_keep();
  hu_net *net = hu_net_new(1, 1);
  int x = hu_net_input(net, 1, 2), y = hu_net_linear(net, x, 1, 0), loss = hu_net_squared_error(net, y, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  for (int i = 0; i <= y; i++) assert_int_equal(hu_net_round_value(net, i, &rounding, &rounding), HU_OK);
  assert_int_equal(hu_net_round_value(net, loss, &keep, &keep), HU_OK);
  assert_int_equal(hu_net_round_parameter(net, 0, &rounding, &rounding), HU_OK);
  float *w = hu_net_parameter(net, 0).numbers, in[2] = {0.1f, -0.7f}, target = 0.25f;
  w[0] = t_float(0x3EAAAAAB);
  w[1] = t_float(0x3903126F);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, &target), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_true(hu_net_value(net, x).numbers[0] == half(0x2E66) && hu_net_value(net, x).numbers[1] == half(0xB99A));
  assert_true(hu_net_value(net, y).numbers[0] == half(0x2841));
  assert_int_equal(hu_net_backward(net, 1024), HU_OK);
  assert_true(hu_net_value(net, y).gradients[0] == half(0xDAF0));
  const float *dw = hu_net_parameter(net, 0).gradients;
  assert_true(dw[0] == half(0xCD8C) && dw[1] == half(0x58DC));
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "static(1024)", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  optimizer.momentum = 0;
  optimizer.rate = 0x1p-6;
  int taken = 0;
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_OK);
  assert_int_equal(taken, 1);
  assert_true(dw[0] == -0x1.63p-6f && dw[1] == 0x1.37p-3f);
  assert_int_equal(t_bits32(w[0]), 0x3EAAD70B);
  assert_int_equal(t_bits32(w[1]), 0xBB134ED9);
  assert_int_equal(hu_encode(hu_binary16(), rne, w[0], 0, NULL), 0x3557);
  assert_int_equal(hu_encode(hu_binary16(), rne, w[1], 0, NULL), 0x989A);
  hu_net_free(net);
}

/* ---- the same bits ---- */

typedef struct run {
  uint32_t threads;
  float scale;
  const char *values; /* rounding of all values and gradients */
  uint64_t seed;
} run;

enum { BATCH = 16, STEPS = 6 };

/* A small network of many operators; the digest of its weights after some steps. */
static uint64_t digest_of(run c) {
  t_random random = {5};
  hu_net *net = hu_net_new(BATCH, c.threads);
  int x = hu_net_image(net, 8, 8, 1);
  int h = hu_net_relu(net, hu_net_batch_norm(net, hu_net_conv(net, x, 8, 3, 1, 1, 0)));
  h = hu_net_add(net, h, hu_net_gelu(net, hu_net_conv(net, h, 8, 3, 1, 1, 1)));
  h = hu_net_dropout(net, hu_net_max_pool(net, h, 2, 2), 0.25);
  int y = hu_net_linear(net, hu_net_layer_norm(net, hu_net_global_average(net, h)), 10, 1);
  int loss = hu_net_cross_entropy(net, y, 1);
  const char *why = "";
  if (hu_net_status(net, &why) != HU_OK) fail_msg("%s", why);
  hu_rounding rounding = rounding_of(c.values);
  for (int i = 0; i < loss; i++) assert_int_equal(hu_net_round_value(net, i, &rounding, &rounding), HU_OK);
  assert_int_equal(hu_net_initialize(net, c.seed), HU_OK);
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_loss_rule rule = {HU_LOSS_STATIC, 0, 0, c.scale, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (int t = 0; t < STEPS; t++) {
    static float images[BATCH * 64];
    uint32_t labels[BATCH];
    for (size_t i = 0; i < BATCH * 64; i++) images[i] = (float)t_below(&random, 17) / 16;
    for (size_t i = 0; i < BATCH; i++) labels[i] = t_below(&random, 10);
    int taken = 0;
    assert_int_equal(hu_net_feed(net, x, images), HU_OK);
    assert_int_equal(hu_net_labels(net, labels), HU_OK);
    assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_OK);
    assert_int_equal(taken, 1);
  }
  uint64_t z = hu_net_digest(net);
  hu_net_free(net);
  return z;
}

static void same_bits(void **state) {
  (void)state;
  static const char *const values[] = {"keep", "bfloat16", "float8_e5m2,sra:8", "mxfp8_e4m3", "s2fp8", "posit16"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    run c = {1, 1, values[i], 1};
    uint64_t one = digest_of(c);
    c.threads = 3;
    assert_true(digest_of(c) == one);
    c.seed = 2;
    assert_true(digest_of(c) != one);
  }
  /* A power of two as loss scale changes nothing in binary32. */
  run plain = {1, 1, "keep", 1}, scaled = {1, 0x1p20f, "keep", 1};
  assert_true(digest_of(plain) == digest_of(scaled));
}

/* An infinite gradient: nothing moves but the scale. */
static void skipped_step(void **state) {
  (void)state;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 1, 3), y = hu_net_linear(net, x, 2, 1);
  (void)hu_net_squared_error(net, y, 1);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  float in[6] = {1, 2, 3, 4, INFINITY, 6}, targets[4] = {0};
  uint64_t before = hu_net_digest(net);
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "gradscaler", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  int taken = 1;
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, scale.scale), HU_OK);
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_OK);
  assert_true(taken == 0 && scale.scale == 32768 && hu_net_digest(net) == before);
  /* Gradients are there for one update. */
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, &taken), HU_E_TRAIN);
  hu_net_free(net);
}

/* Muon's are the matrices of products, of which one was taken out; AdamW's everything else. Each against a step of its
 * own, after the net's. */
static void muon_and_adamw(void **state) {
  (void)state;
  hu_net *net = hu_net_new(BATCH, 1);
  int x = hu_net_image(net, 4, 4, 1);
  int h = hu_net_relu(net, hu_net_batch_norm(net, hu_net_conv(net, x, 6, 3, 1, 1, 0)));
  int y = hu_net_linear(net, hu_net_linear(net, hu_net_global_average(net, h), 12, 1), 10, 1);
  (void)hu_net_cross_entropy(net, y, 1);
  static const char *const names[] = {"conv1.weight", "batch_norm1.gain", "batch_norm1.offset", "linear1.weight",
                                      "linear1.bias", "linear2.weight",   "linear2.bias"};
  enum { ALL = sizeof names / sizeof *names, MOST = 12 * 10 };
  static float images[BATCH * 16], before[ALL][MOST], expected[MOST], m[MOST], v[MOST];
  uint32_t labels[BATCH];
  t_random random = {21};
  hu_optimizer muon = hu_optimizer_muon(hu_binary32()), adamw = hu_optimizer_adamw(hu_binary32());
  muon.product = hu_bfloat16();
  adamw.rate = muon.rate_adamw = 0.125;
  adamw.beta2 = muon.beta2;
  adamw.eps = muon.eps;
  muon.decay = adamw.decay = 0.25;
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  assert_int_equal(hu_net_initialize(net, 4), HU_OK);
  assert_int_equal(hu_net_parameters(net), ALL);
  assert_int_equal(hu_net_muon_parameter(net, 5, 0), HU_OK);
  assert_int_equal(hu_net_muon_parameter(net, 3, 0), HU_OK);
  assert_int_equal(hu_net_muon_parameter(net, 3, 1), HU_OK);
  assert_int_equal(hu_net_muon_parameter(net, ALL, 1), HU_E_SHAPE);
  hu_parameter_rule odd = hu_parameter_rule_none();
  assert_int_equal(hu_net_rule_parameter(net, ALL, &odd), HU_E_SHAPE);
  odd.rate = 2;
  odd.decay = 0.5;
  assert_int_equal(hu_net_rule_parameter(net, 0, &odd), HU_OK);
  assert_int_equal(hu_net_rule_parameter(net, 1, &odd), HU_OK);
  odd.decay = -1;
  assert_int_equal(hu_net_rule_parameter(net, 0, &odd), HU_E_TRAIN);
  assert_int_equal(hu_net_rule_parameter(net, 0, NULL), HU_E_NULL);
  for (size_t i = 0; i < BATCH * 16; i++) images[i] = (float)t_below(&random, 17) / 16;
  for (size_t i = 0; i < BATCH; i++) labels[i] = t_below(&random, 10);
  assert_int_equal(hu_net_feed(net, x, images), HU_OK);
  assert_int_equal(hu_net_labels(net, labels), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  for (int i = 0; i < ALL; i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    assert_string_equal(hu_net_parameter_name(net, i), names[i]);
    memcpy(before[i], tensor.numbers, tensor.rows * tensor.cols * sizeof *tensor.numbers);
  }
  hu_net_gradient_rules larc;
  memset(&larc, 0, sizeof larc);
  larc.rules = hu_gradient_rules_none();
  larc.rules.larc = HU_LARC_CLIP;
  assert_int_equal(hu_net_update_with(net, &muon, &rule, &scale, &larc, NULL, NULL), HU_E_TRAIN);
  assert_int_equal(hu_net_update(net, &muon, &rule, &scale, NULL, NULL), HU_OK);
  for (int i = 0; i < ALL; i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    int own = i == 0 || i == 3;
    const hu_optimizer_matrix matrix = {tensor.rows, tensor.cols, 0};
    hu_optimizer_time now = {0, 1, 1};
    memcpy(expected, before[i], sizeof expected);
    memset(m, 0, sizeof m);
    memset(v, 0, sizeof v);
    hu_optimizer_arrays arrays = {expected, tensor.gradients, m, own ? NULL : v, NULL};
    hu_optimizer_tick(&now, &muon);
    hu_optimizer its = own ? muon : adamw;
    its.rate *= i < 2 ? 2 : 1;
    its.decay *= i < 2 ? 0.5 : 1;
    assert_int_equal(hu_optimizer_step_matrix(&matrix, &arrays, &its, &now, (hu_stream){0, 0}, NULL, NULL), HU_OK);
    assert_memory_equal(tensor.numbers, expected, tensor.rows * tensor.cols * sizeof *expected);
  }
  hu_net_free(net);
}

/* Elements of magnitude beyond the format are counted. */
static void overflow_is_counted(void **state) {
  (void)state;
  hu_rounding rounding = rounding_of("fp(4,3,4):finite");
  float x[5] = {30, 31, -1000, NAN, INFINITY}, z[5];
  hu_rounding_counts n;
  memset(&n, 0, sizeof n);
  assert_int_equal(hu_rounding_apply(1, 5, z, x, &rounding, NULL, &n), HU_OK);
  assert_true(z[0] == 30 && z[1] == 30 && z[2] == -30);
  assert_int_equal(n.elements, 5);
  assert_int_equal(n.over, 2);
  assert_int_equal(n.events.nan_in, 1);
}

/* Blocks along columns. */
static void turned_blocks(void **state) {
  (void)state;
  enum { ROWS = 70, COLS = 5 };
  static float x[ROWS * COLS], t[ROWS * COLS], z[ROWS * COLS], y[ROWS * COLS];
  t_random random = {3};
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLS; j++) t[j * ROWS + i] = x[i * COLS + j] = (float)t_below(&random, 5000) - 2500;
  }
  hu_rounding along = rounding_of("mxfp4"), down = rounding_of("mxfp4,turned");
  assert_int_equal(hu_rounding_apply(ROWS, COLS, z, x, &down, NULL, NULL), HU_OK);
  assert_int_equal(hu_rounding_apply(COLS, ROWS, y, t, &along, NULL, NULL), HU_OK);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLS; j++) assert_int_equal(t_bits32(z[i * COLS + j]), t_bits32(y[j * ROWS + i]));
  }
}

static void texts(void **state) {
  (void)state;
  assert_int_equal(rounding_of("keep").kind, HU_ROUND_KEEP);
  hu_rounding rounding = rounding_of("fp(5,2,0):unsigned,nosub,sra:8,sat=none");
  assert_true(rounding.kind == HU_ROUND_FORMAT && rounding.mode.round == HU_SRA &&
              rounding.mode.saturate == HU_SAT_NONE);
  assert_true(rounding.format.sign == 0 && rounding.format.subnormal == HU_SUBNORMAL_NONE);
  rounding = rounding_of("nvfp4,turned,src:4");
  assert_true(rounding.kind == HU_ROUND_SCALED && rounding.turned && rounding.mode.round == HU_SRC);
  rounding = rounding_of("s2fp8(float8_e4m3fn;target=7)");
  assert_true(rounding.kind == HU_ROUND_S2FP8 && rounding.s2fp8.target == 7);
  rounding = rounding_of("q(3.4),rtz");
  assert_true(rounding.kind == HU_ROUND_NUMBER && rounding.number.kind == HU_NUMBER_FIXED &&
              rounding.mode.round == HU_RTZ);
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } bad[] = {{"", HU_E_TEXT, 0},
             {"bfloat17", HU_E_NAME, 0},
             {"bfloat16,", HU_E_TEXT, 9},
             {"bfloat16,rnx", HU_E_TEXT, 9},
             {"bfloat16,turned", HU_E_TEXT, 9},
             {"binary64", HU_E_NAME, 0},
             {"fp(11,20,0)", HU_E_CARRIER, 0}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t where = 99;
    hu_status status = hu_rounding_parse(&rounding, bad[i].text, &where);
    if (status == HU_OK || (status != bad[i].status && bad[i].text[0]) || (where != bad[i].where && bad[i].text[0])) {
      fail_msg("'%s': %s at %zu", bad[i].text, hu_status_name(status), where);
    }
  }
}

static void misuse(void **state) {
  (void)state;
  const char *why = NULL;
  hu_net *net = hu_net_new(2, 1);
  int x = hu_net_input(net, 1, 3);
  assert_int_equal(hu_net_conv(net, x, 4, 3, 1, 1, 0), -1); /* not an image */
  assert_int_equal(hu_net_status(net, &why), HU_E_SHAPE);
  assert_non_null(strstr(why, "conv"));
  assert_int_equal(hu_net_linear(net, x, 4, 0), -1);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_E_SHAPE);
  hu_net_free(net);
  net = hu_net_new(2, 1);
  x = hu_net_image(net, 4, 4, 1);
  assert_int_equal(hu_net_max_pool(net, x, 5, 1), -1);
  hu_net_free(net);
  net = hu_net_new(2, 1);
  x = hu_net_input(net, 1, 3);
  int y = hu_net_linear(net, x, 4, 1);
  assert_int_equal(hu_net_backward(net, 1), HU_E_TRAIN); /* no loss */
  int loss = hu_net_cross_entropy(net, y, 1);
  uint32_t labels[2] = {0, 4};
  assert_int_equal(hu_net_labels(net, labels), HU_E_SHAPE);
  float in[6] = {0};
  assert_int_equal(hu_net_feed(net, y, in), HU_E_SHAPE);
  hu_rounding wide = hu_rounding_format(hu_format_ieee(11, 20, 0), rne);
  assert_int_equal(hu_net_round_value(net, y, &wide, NULL), HU_E_CARRIER);
  assert_int_equal(hu_net_round_value(net, loss + 1, NULL, NULL), HU_E_SHAPE);
  hu_product_rounding rounding = hu_product_rounding_plain();
  assert_int_equal(hu_net_round_product(net, loss, &rounding), HU_E_SHAPE);
  assert_int_equal(hu_net_values(NULL) + hu_net_parameters(NULL), 0);
  assert_null(hu_net_value(net, 99).numbers);
  assert_null(hu_net_new(0, 1));
  hu_net_free(net);
}

/* Gradients belong to a pass for training with what is fed; a net has one loss, at its end. */
static void orders(void **state) {
  (void)state;
  hu_net *net = hu_net_new(1, 1);
  int x = hu_net_input(net, 4, 1), h = hu_net_embedding(net, x, 5, 12);
  h = hu_net_relu(net, hu_net_attention(net, h, 2, 1));
  (void)hu_net_squared_error(net, h, 1);
  assert_int_equal(hu_net_status(net, NULL), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  float good[4] = {0, 1, 2, 4}, bad[4] = {0, 1, 2, 60000}, targets[16] = {0};
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_feed(net, x, good), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_feed(net, x, bad), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_E_TRAIN);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_E_SHAPE);
  assert_int_equal(hu_net_backward(net, 1), HU_E_TRAIN);
  assert_int_equal(hu_net_relu(net, h), -1);
  assert_int_equal(hu_net_status(net, NULL), HU_E_SHAPE);
  hu_net_free(net);
}

static hu_status refuse_to_get(void *self, void *host, const void *x, size_t bytes) {
  (void)self, (void)host, (void)x, (void)bytes;
  return HU_E_CUDA;
}

/* A value in the memory of a device that does not give it back has no numbers, and no shape. */
static void unreadable(void **state) {
  (void)state;
  hu_engine engine = *hui_engine_cpu();
  engine.on_host = 0;
  engine.get = refuse_to_get;
  hu_net *net = hu_net_new_on(&engine, 2, 1);
  hu_net_tensor value = hu_net_value(net, hu_net_input(net, 1, 3));
  assert_null(value.numbers);
  assert_null(value.gradients);
  assert_true(value.rows == 0 && value.cols == 0 && value.forward.elements == 0 && value.backward.elements == 0);
  hu_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(worked_step),
                                     cmocka_unit_test(same_bits),
                                     cmocka_unit_test(skipped_step),
                                     cmocka_unit_test(muon_and_adamw),
                                     cmocka_unit_test(overflow_is_counted),
                                     cmocka_unit_test(turned_blocks),
                                     cmocka_unit_test(texts),
                                     cmocka_unit_test(misuse),
                                     cmocka_unit_test(orders),
                                     cmocka_unit_test(kinds),
                                     cmocka_unit_test(unreadable)};
  return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
