/* SPDX-License-Identifier: MIT */
/* Small networks: what each is made of, some steps, one number. */
#include "tests/train/net/small_nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "tests/support/support.h"

enum { STEPS = 3, TOKENS = 7, CLASSES = 5 };

typedef struct small_net {
  const char *name;
  /* Adds the operators: the input's number; *result: what the loss reads. */
  int (*build)(hu_net *net, int *result);
  size_t batch;
  int tokens;         /* 1: the input has token numbers */
  int labels;         /* 1: compared with labels, 2: two of three rows with labels, 3: sequences; else with numbers */
  const char *values; /* rounding of all values and gradients; NULL: keep */
  const char *parameters; /* of parameters and their gradients */
  const char *operands;   /* of the operands of products, "left;right;results;keep": `turned` in the right one where it
                             fits; of the results of products; a fourth part: convolutions round by windows */
  const char *accum;
  uint32_t hadamard;
  const char *rule; /* loss scale */
  void (*optimizer)(hu_optimizer *optimizer);
} small_net;

/* ---- networks ---- */

static int image(hu_net *net, int *result) {
  int x = hu_net_image(net, 9, 7, 2);
  int h = hu_net_relu(net, hu_net_batch_norm(net, hu_net_conv(net, x, 9, 3, 1, 1, 1)));
  h = hu_net_max_pool(net, hu_net_add(net, h, hu_net_gelu(net, hu_net_conv(net, h, 9, 3, 1, 1, 0))), 3, 2);
  h = hu_net_average_pool(net, hu_net_tanh(net, hu_net_conv(net, h, 17, 2, 1, 0, 1)), 2, 1);
  *result = hu_net_linear(net, hu_net_global_average(net, h), CLASSES, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Groups of channels, as many as there are and fewer, whose order is changed between them. */
static int groups(hu_net *net, int *result) {
  int x = hu_net_image(net, 7, 6, 6), both[2];
  int h = hu_net_relu6(net, hu_net_batch_norm(net, hu_net_conv_groups(net, x, 12, 3, 1, 1, 3, 1)));
  both[0] = hu_net_columns(net, h, 0, 6);
  both[1] = hu_net_conv_groups(net, hu_net_columns(net, h, 6, 6), 6, 3, 1, 1, 6, 0);
  h = hu_net_shuffle(net, hu_net_concat(net, 2, both), 2);
  h = hu_net_conv_groups(net, h, 20, 2, 2, 1, 4, 0);
  *result = hu_net_linear(net, hu_net_global_average(net, h), CLASSES, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Windows that are no squares, forward and backward, pools of them, and norms of channels. */
static int windows(hu_net *net, int *result) {
  static const hu_net_windows wide = {{2, 3}, {2, 1}, {1, 1}, {1, 0, 0, 2}},
                              apart = {{3, 2}, {1, 2}, {2, 3}, {3, 1, 2, 1}};
  static const hu_net_windows back = {{3, 2}, {2, 3}, {1, 1}, {1, 0, 1, 1}},
                              pool = {{3, 4}, {2, 3}, {1, 1}, {1, 0, 2, 1}};
  static const hu_net_windows deep = {{3, 2}, {1, 1}, {1, 1}, {2, 0, 1, 0}};
  static const size_t more[2] = {1, 2};
  static const double factors[17] = {1, -2, 0.5, 3, 1, 1, 0.25, 1, 1, 2, 1, 1, 1, 1, 1, 1, -1};
  int x = hu_net_image(net, 9, 8, 3);
  int h = hu_net_leaky_relu(net, hu_net_conv_windows(net, x, 20, &wide, 1, 1), 0.2);
  h = hu_net_response_norm(net, hu_net_conv_windows(net, h, 20, &deep, 20, 0), 4, 0.7, 0.75, 1.5);
  h = hu_net_batch_norm_with(net, hu_net_conv_windows(net, h, 12, &apart, 2, 0), 0.25, 0.003, 1, -1);
  h = hu_net_silu(net, hu_net_conv_transpose(net, h, 18, &back, more, 3, 1), 1.702);
  h = hu_net_max_pool_windows(net, hu_net_rms_norm(net, h, 1e-6), &pool, 1);
  h = hu_net_conv_windows(net, hu_net_clip(net, h, -0.5, 0.75), 17, &apart, 1, 1);
  h = hu_net_average_pool_windows(net, hu_net_l2_norm(net, h, 1e-10), &pool, 1, 0);
  h = hu_net_average_pool_windows(net, hu_net_scale_columns(net, h, factors), &pool, 0, 1);
  *result = hu_net_linear(net, hu_net_global_average(net, h), CLASSES, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Functions of numbers, constants, shapes, and what gets no gradient. */
static int functions(hu_net *net, int *result) {
  int x = hu_net_input(net, 1, 20);
  int y = hu_net_softplus(net, hu_net_linear(net, x, 4, 1));
  int h = hu_net_gelu_tanh(net, hu_net_linear(net, x, 36, 1));
  h = hu_net_add_row(net, hu_net_layer_norm_with(net, hu_net_as_rows(net, h, 9), 1e-12), y);
  int stopped = hu_net_stop_gradient(net, h);
  h = hu_net_multiply(net, hu_net_scale(net, h, 0.75, -1.5), stopped);
  *result = hu_net_global_average(net, hu_net_as_image(net, h, 3, 3));
  hu_net_squared_error(net, *result, 1);
  return x;
}

static int rows(hu_net *net, int *result) {
  int x = hu_net_input(net, 3, 20);
  int h = hu_net_dropout(net, hu_net_layer_norm(net, hu_net_linear(net, x, 33, 1)), 0.25);
  int y = hu_net_sigmoid(net, hu_net_linear(net, h, 33, 0));
  *result = hu_net_tanh(net, hu_net_add(net, h, y));
  hu_net_squared_error(net, *result, 0.5);
  return x;
}

static int text_of(hu_net *net, int *result, int causal) {
  int x = hu_net_input(net, 6, 1);
  int h = hu_net_position(net, hu_net_embedding(net, x, TOKENS, 8));
  int a = hu_net_attention(net, hu_net_linear(net, hu_net_layer_norm(net, h), 24, 1), 2, causal);
  h = hu_net_add(net, h, hu_net_linear(net, a, 8, 1));
  *result = hu_net_linear(net, h, TOKENS, 1);
  hu_net_cross_entropy(net, *result, 2);
  return x;
}
static int text(hu_net *net, int *result) { return text_of(net, result, 1); }
static int all_text(hu_net *net, int *result) { return text_of(net, result, 0); }

/* Heads that share keys, positions that are turned and added, windows, sinks, dropped shares; a layer that is there
 * twice, and a table that is multiplied by. */
static int shared(hu_net *net, int *result) {
  int x = hu_net_input(net, 6, 1), h = hu_net_sines(net, hu_net_embedding(net, x, TOKENS, 8));
  hu_rotary rotary = hu_rotary_of(4);
  hu_attention how = hu_attention_of(2);
  rotary.columns = 12;
  how.kv_heads = how.causal = how.sink = 1;
  how.window = 3;
  how.dropout = 0.25;
  for (int i = 0; i < 2; i++) {
    if (i) hu_net_share(net, 1);
    int a = hu_net_attend(net, hu_net_rotary(net, hu_net_linear(net, h, 16, 1), &rotary), -1, &how);
    h = hu_net_add(net, h, hu_net_linear(net, a, 8, 0));
  }
  *result = hu_net_linear_transposed(net, hu_net_layer_norm(net, h), 0, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Rows that choose experts, of which some get no more. */
static int experts(hu_net *net, int *result) {
  int x = hu_net_input(net, 5, 12), h = hu_net_linear(net, x, 32, 1);
  hu_routing how = {.chosen = 2, .normed = 1, .capacity = 0.8};
  int by = hu_net_route(net, hu_net_linear(net, h, 5, 0), &how), rows = hu_net_to_experts(net, h, by);
  int a = hu_net_gelu(net, hu_net_experts(net, rows, by, 32, 1));
  (void)hu_net_balance_loss(net, by, 0.1);
  (void)hu_net_z_loss(net, by, 0.01);
  *result = hu_net_add(net, h, hu_net_from_experts(net, hu_net_experts(net, a, by, 32, 0), by));
  hu_net_squared_error(net, *result, 1);
  return x;
}

/* Encoder and decoder: two sequences of tokens, the lengths of the first one between them. */
static int across(hu_net *net, int *result) {
  int x = hu_net_input(net, 6, 1), n = hu_net_input(net, 1, 1), y = hu_net_input(net, 4, 1);
  int h = hu_net_position(net, hu_net_embedding(net, x, TOKENS, 8));
  h = hu_net_add(net, h, hu_net_attention_masked(net, hu_net_linear(net, h, 24, 1), 2, 0, n));
  int kv = hu_net_linear(net, hu_net_layer_norm(net, h), 16, 1);
  h = hu_net_position(net, hu_net_embedding(net, y, TOKENS, 8));
  h = hu_net_add(net, h, hu_net_attention_masked(net, hu_net_linear(net, h, 24, 1), 2, 1, -1));
  h = hu_net_add(net, h, hu_net_attention_across(net, hu_net_linear(net, h, 8, 1), kv, 2, n));
  *result = hu_net_linear(net, h, TOKENS, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Rows of two values and products of all pairs of them. */
static int interactions(hu_net *net, int *result) {
  int x = hu_net_input(net, 1, 20), both[2];
  both[0] = hu_net_relu(net, hu_net_linear(net, x, 6, 1));
  both[1] = hu_net_columns(net, hu_net_linear(net, x, 12, 1), 3, 6);
  int rows = hu_net_stack_rows(net, 2, both), three[2] = {rows, both[1]};
  both[1] = hu_net_interactions(net, hu_net_stack_rows(net, 2, three));
  *result = hu_net_linear(net, hu_net_concat(net, 2, both), 2, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

static int gru(hu_net *net, int *result) {
  int x = hu_net_input(net, 4, 1);
  int h = hu_net_gru(net, hu_net_gru(net, hu_net_embedding(net, x, TOKENS, 5), 6, 0), 6, 1);
  *result = hu_net_linear(net, h, CLASSES, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

static int lstm(hu_net *net, int *result) {
  int x = hu_net_input(net, 4, 3);
  int h = hu_net_lstm(net, hu_net_lstm(net, x, 5, 0), 6, 1);
  *result = hu_net_linear(net, h, 2, 1);
  hu_net_squared_error(net, *result, 1);
  return x;
}

/* Tokens of different lengths in both directions, and what looks a few steps ahead; two losses. */
static int speech(hu_net *net, int *result) {
  int x = hu_net_input(net, 6, 1), n = hu_net_input(net, 1, 1);
  hu_recurrent first = hu_recurrent_of(HU_CELL_LSTM, 6), second = hu_recurrent_of(HU_CELL_GRU, 5);
  first.direction = HU_DIRECTION_BOTH;
  first.projection = 4;
  first.forget_bias = 1;
  first.one_bias = 1;
  first.lengths = second.lengths = n;
  second.direction = HU_DIRECTION_SUM;
  int h = hu_net_recurrent(net, hu_net_embedding(net, x, TOKENS, 5), &first);
  h = hu_net_row_convolution(net, hu_net_within(net, hu_net_tanh(net, h), n), 3, n);
  *result = hu_net_linear(net, hu_net_recurrent(net, h, &second), CLASSES, 1);
  hu_net_cross_entropy_smoothed(net, *result, 1, 0.1, HU_SMOOTHING_OTHERS | HU_SMOOTHING_LESS_MINIMUM);
  hu_net_cross_entropy(net, *result, 0.25);
  return x;
}

/* Sequences of labels, which are fed as tokens are, with blanks of another number. */
static int sequences(hu_net *net, int *result) {
  int x = hu_net_input(net, 6, 1), n = hu_net_input(net, 1, 1);
  int h = hu_net_batch_norm_with(net, hu_net_embedding(net, x, TOKENS, 5), 1e-5, 0.1, 1, n);
  *result = hu_net_linear(net, h, CLASSES + 1, 1);
  hu_net_ctc(net, *result, 1, CLASSES, n, HU_CTC_BY_LENGTH | HU_CTC_ZERO_INFINITE);
  return x;
}

/* Random classes in place of all. */
static int sampled(hu_net *net, int *result) {
  int x = hu_net_input(net, 3, 1);
  int h = hu_net_tanh(net, hu_net_linear(net, hu_net_embedding(net, x, TOKENS, 5), 17, 1));
  *result = hu_net_sampled_linear(net, h, -1, 40, 9, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Cells that attend to what others have read, from its end; a table for the answers, too. */
static int translation(hu_net *net, int *result) {
  int x = hu_net_input(net, 6, 1), n = hu_net_input(net, 1, 1), y = hu_net_input(net, 4, 1);
  hu_recurrent layer = hu_recurrent_of(HU_CELL_LSTM, 6);
  layer.direction = HU_DIRECTION_BACKWARD;
  layer.lengths = n;
  int first = hu_net_recurrent(net, hu_net_embedding(net, x, TOKENS, 5), &layer);
  int second = hu_net_recurrent(net, first, &layer);
  int states[2] = {hu_net_last_state(net, first), hu_net_last_state(net, second)};
  hu_attending how = hu_attending_of(6, 2);
  how.forget_bias = 1;
  how.lengths = n;
  how.state = hu_net_concat(net, 2, states);
  int z = hu_net_attending_lstm(net, hu_net_embedding(net, y, TOKENS, 6), second, &how);
  *result = hu_net_sampled_linear(net, z, hu_net_parameter_named(net, "embedding2.weight"), TOKENS, 3, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* Losses of targets, whose rows weigh differently. */
static int losses(hu_net *net, int *result) {
  int x = hu_net_input(net, 1, 12), h = hu_net_tanh(net, hu_net_linear(net, x, 9, 1));
  int y = hu_net_linear(net, h, 7, 1);
  *result = hu_net_linear(net, h, 7, 0);
  hu_net_smooth_l1(net, *result, 1, 0.75);
  hu_net_logistic(net, y, 0.5);
  hu_net_squared_error(net, y, 0.125);
  size_t n = hu_net_value(net, *result).rows;
  float *weights = calloc(n, sizeof *weights);
  for (size_t i = 0; weights && i < n; i++) weights[i] = (float)(i % 4) / 2;
  hu_status status = weights ? hu_net_row_weights(net, weights) : HU_E_MEMORY;
  free(weights);
  return status == HU_OK ? x : -1;
}

/* Halves that meet again in every way. */
static int joined(hu_net *net, int *result) {
  int x = hu_net_input(net, 1, 12), both[2], last[2];
  both[0] = hu_net_linear(net, x, 9, 1);
  both[1] = hu_net_tanh(net, hu_net_linear(net, x, 9, 0));
  int h = hu_net_concat(net, 2, both);
  last[0] = hu_net_multiply(net, hu_net_columns(net, h, 2, 9), both[1]);
  last[1] = hu_net_linear(net, h, 3, 1);
  *result = hu_net_sum(net, 2, last);
  hu_net_absolute_error(net, *result, 1);
  return x;
}

static int layers(hu_net *net, int *result) {
  int x = hu_net_input(net, 1, 32);
  int h = hu_net_relu(net, hu_net_linear(net, x, 48, 1));
  *result = hu_net_linear(net, hu_net_relu(net, hu_net_linear(net, h, 32, 1)), CLASSES, 1);
  hu_net_cross_entropy(net, *result, 1);
  return x;
}

/* ---- optimizers ---- */

static hu_format bfloat16(void) { return hu_format_ieee(8, 7, 0); }

static void momentum(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_sgd(hu_binary32());
  optimizer->decay = 0.01;
}
static void plain(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_sgd(hu_binary32());
  optimizer->momentum = 0;
}
static void fused(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_sgd(bfloat16());
  optimizer->fused = 1;
}
static void stochastic(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_sgd(bfloat16());
  optimizer->mode.round = HU_SRA;
  optimizer->mode.bits = 16;
}
static void adamw(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_adamw(hu_binary32());
  optimizer->decay = 0.1;
}
static void kahan(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_adamw(bfloat16());
  optimizer->beta2 = 0.99;
  optimizer->coupled = 1;
  optimizer->decay = 0.05;
  optimizer->update = HU_UPDATE_KAHAN;
}
static void kahan_sgd(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_sgd(bfloat16());
  optimizer->update = HU_UPDATE_KAHAN;
}
static void nesterov(hu_optimizer *optimizer) {
  kahan_sgd(optimizer);
  optimizer->nesterov = 1;
  optimizer->decay = 0.02;
}
static void adagrad(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_adagrad(bfloat16());
  optimizer->decay = 0.01;
  optimizer->mode.round = HU_SRA;
  optimizer->mode.bits = 16;
}

static void stored(hu_optimizer *optimizer) {
  adamw(optimizer);
  hu_status m = hu_rounding_parse(&optimizer->stored_m, "mxfp8_e4m3,sra:8", NULL);
  hu_status v = hu_rounding_parse(&optimizer->stored_v, "scaled(binary16;scale=binary32;block=*x*;rule=ratio)", NULL);
  if (m != HU_OK || v != HU_OK) optimizer->kind = UINT8_MAX; /* which a step refuses */
}

static void muon(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_muon(hu_binary32());
  optimizer->decay = 0.05;
}
static void narrow_muon(hu_optimizer *optimizer) {
  *optimizer = hu_optimizer_muon(bfloat16());
  optimizer->aspect = HU_MUON_RMS;
  hu_status sums = hu_accum_parse(&optimizer->accum, "seq(bfloat16)", NULL);
  hu_status m = hu_rounding_parse(&optimizer->stored_m, "mxfp8_e5m2", NULL);
  if (m != HU_OK || sums != HU_OK) optimizer->kind = UINT8_MAX; /* which a step refuses */
}

static const small_net nets[] = {
    {"image", image, 5, 0, 1, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"rows", rows, 7, 0, 0, NULL, NULL, NULL, NULL, 0, "static(128)", adamw},
    {"text", text, 4, 1, 1, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"text-all", all_text, 4, 1, 1, "bfloat16", NULL, NULL, NULL, 0, "none", plain},
    {"gru", gru, 3, 1, 1, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"lstm", lstm, 3, 0, 0, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"formats", image, 3, 0, 1, "float8_e5m2,sra:8", "bfloat16,srb:16", "float8_e4m3fn,sat=finite", NULL, 0,
     "backoff(scale_max=2^40,start=2^40)", stochastic},
    {"image-s2fp8", image, 4, 0, 1, NULL, NULL, "s2fp8;s2fp8;s2fp8", NULL, 0, "none", momentum},
    {"image-windows", image, 4, 0, 1, NULL, NULL, "s2fp8;s2fp8;s2fp8;keep", NULL, 0, "none", momentum},
    {"image-mx", image, 4, 0, 1, NULL, NULL, "mxfp8_e4m3;mxfp8_e4m3,turned;float8_e5m2,sra:8", "seq(binary16)", 16,
     "none", adamw},
    {"mx", layers, 8, 0, 1, NULL, NULL, "mxfp8_e4m3;mxfp8_e4m3,turned", NULL, 0, "gradscaler(growth_interval=2)",
     kahan},
    {"nvfp4", layers, 16, 0, 1, "bfloat16", NULL, "nvfp4,sra:8;nvfp4,turned", NULL, 16, "none", fused},
    {"s2fp8", layers, 6, 0, 1, "s2fp8", "s2fp8", "s2fp8", NULL, 0, "none", kahan_sgd},
    {"numbers", layers, 6, 0, 1, "posit16", "lns(16,8)", "posit8", NULL, 0, "logmax(scale_max=2^24,start=1024)",
     momentum},
    {"joined", joined, 9, 0, 0, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"over-inf", layers, 9, 0, 1, "float8_e4m3fn,over=inf,sra:4", "fp(5,2,0):finite,over=inf", NULL, NULL, 0,
     "backoff(scale_max=2^60,start=2^60)", plain},
    {"nan-keep", layers, 9, 0, 1, "fp(4,3,4):finite,nan=keep", "fp(6,9,0):finite,over=inf", "fp(5,2,0):finite,over=inf",
     "seq(binary16)", 0, "backoff(scale_max=2^60,start=2^50)", plain},
    {"chunks", rows, 4, 0, 0, "binary16", "binary16", "binary16", "seq(binary16)", 0, "none", plain},
    {"chunks-text", text, 3, 1, 1, NULL, NULL, "bfloat16", "block(align,l=4,f=24,emin=-133,round=rtz,over=inf)", 0,
     "none", adamw},
    {"nesterov", layers, 7, 0, 1, NULL, NULL, NULL, NULL, 0, "none", nesterov},
    {"adagrad", layers, 7, 0, 1, NULL, NULL, NULL, NULL, 0, "none", adagrad},
    {"stored", layers, 7, 0, 1, NULL, NULL, NULL, NULL, 0, "none", stored},
    {"muon", image, 5, 0, 1, NULL, NULL, NULL, NULL, 0, "none", muon},
    {"muon-narrow", layers, 7, 0, 1, "bfloat16", NULL, NULL, NULL, 0, "gradscaler(growth_interval=2)", narrow_muon},
    {"groups", groups, 5, 0, 1, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"groups-formats", groups, 4, 0, 1, "float8_e4m3fn,sra:8", "bfloat16", "s2fp8;mxfp8_e4m3,turned;float8_e5m2",
     "seq(bfloat16,sra:8)", 16, "static(64)", adamw},
    {"groups-windows", groups, 4, 0, 1, NULL, NULL, "s2fp8;s2fp8;float8_e5m2,sra:8;keep", NULL, 0, "none", momentum},
    {"across", across, 4, 1, 2, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"across-formats", across, 3, 1, 2, "bfloat16", "bfloat16", "s2fp8;mxfp8_e4m3,turned;float8_e5m2,sra:8",
     "seq(bfloat16,sra:8)", 0, "static(64)", stochastic},
    {"windows", windows, 5, 0, 1, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"windows-formats", windows, 4, 0, 1, "bfloat16,sra:8", "bfloat16", "s2fp8;mxfp8_e4m3,turned;float8_e5m2",
     "seq(bfloat16,sra:8)", 16, "static(64)", adamw},
    {"windows-windows", windows, 4, 0, 1, NULL, NULL, "s2fp8;s2fp8;float8_e5m2;keep", NULL, 0, "none", kahan},
    {"functions", functions, 6, 0, 0, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"functions-formats", functions, 6, 0, 0, "float8_e4m3fn,sat=finite", NULL, "s2fp8", NULL, 0, "none", kahan_sgd},
    {"shared", shared, 4, 1, 1, NULL, NULL, NULL, NULL, 0, "none", muon},
    {"shared-formats", shared, 3, 1, 1, "bfloat16", "bfloat16", "s2fp8;mxfp8_e4m3,turned;float8_e5m2,sra:8",
     "seq(bfloat16,sra:8)", 0, "static(64)", stochastic},
    {"experts", experts, 4, 0, 0, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"experts-formats", experts, 3, 0, 0, "bfloat16", "bfloat16", "s2fp8;mxfp8_e4m3,turned;float8_e5m2,sra:8",
     "seq(bfloat16,sra:8)", 16, "static(64)", stochastic},
    {"interactions", interactions, 5, 0, 1, NULL, NULL, NULL, NULL, 0, "none", adagrad},
    {"speech", speech, 3, 1, 2, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"speech-formats", speech, 3, 1, 2, "bfloat16,sra:8", "bfloat16", "float8_e4m3fn,sat=finite;float8_e5m2;bfloat16",
     "seq(bfloat16)", 0, "static(16)", plain},
    {"sampled", sampled, 5, 1, 2, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"sampled-formats", sampled, 5, 1, 2, "bfloat16,sra:8", "bfloat16", "s2fp8;mxfp8_e4m3;bfloat16",
     "seq(binary16,sra:8)", 16, "none", momentum},
    {"translation", translation, 3, 1, 2, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"sequences", sequences, 4, 1, 3, NULL, NULL, NULL, NULL, 0, "none", adamw},
    {"losses", losses, 5, 0, 0, NULL, NULL, NULL, NULL, 0, "none", momentum},
    {"interactions-formats", interactions, 4, 0, 1, "bfloat16", NULL, "float8_e4m3fn,sat=finite;float8_e5m2;bfloat16",
     "seq(binary16)", 0, "backoff(scale_max=2^20,start=2^20)", plain}};

size_t small_net_count(void) { return sizeof nets / sizeof *nets; }
const char *small_net_name(size_t i) { return nets[i].name; }

/* ---- a run ---- */

/* FNV-1a. */
static void mix(uint64_t *h, const void *bytes, size_t n) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i++) *h = (*h ^ b[i]) * 0x100000001B3u;
}

static hu_status read_operands(const char *text, hu_rounding *left, hu_rounding *right, hu_product_rounding *rounding) {
  hu_rounding results = hu_rounding_keep(), windows, *const to[4] = {left, right, &results, &windows};
  hu_status status = HU_OK;
  size_t parts = 0;
  while (text && *text && parts < 4 && status == HU_OK) {
    char part[64];
    size_t n = strcspn(text, ";");
    snprintf(part, sizeof part, "%.*s", (int)n, text);
    status = hu_rounding_parse(to[parts++], part, NULL);
    text += n + (text[n] == ';');
  }
  if (parts == 1) *right = *left;
  rounding->z_out = rounding->dx_out = rounding->dw_out = results;
  rounding->by_window = parts == 4;
  return status;
}

static hu_status roundings(hu_net *net, const small_net *c) {
  hu_rounding v = hu_rounding_keep(), p = v, left = v, right = v;
  hu_product_rounding product = hu_product_rounding_plain();
  hu_status status = c->values ? hu_rounding_parse(&v, c->values, NULL) : HU_OK;
  if (status == HU_OK && c->parameters) status = hu_rounding_parse(&p, c->parameters, NULL);
  if (status == HU_OK) status = read_operands(c->operands, &left, &right, &product);
  if (status == HU_OK && c->accum) status = hu_accum_parse(&product.z_accum, c->accum, NULL);
  product.dx_accum = product.dw_accum = product.z_accum;
  product.x = product.dz = product.w_back = left;
  product.w = product.x_back = product.dz_w = right;
  product.hadamard = c->hadamard;
  product.signs = 0xD7E8u;
  for (int i = c->tokens; i + 1 < hu_net_values(net) && status == HU_OK; i++) {
    status = hu_net_round_value(net, i, &v, &v);
    hu_status is_product = hu_net_round_product(net, i, &product);
    if (is_product != HU_OK && is_product != HU_E_SHAPE) status = is_product;
  }
  for (int i = 0; i < hu_net_parameters(net) && status == HU_OK; i++) status = hu_net_round_parameter(net, i, &p, &p);
  return status;
}

/* Numbers that depend on nothing but the step. */
static hu_status feed(hu_net *net, const small_net *c, int x, int result, t_random *random) {
  hu_net_tensor in = hu_net_value(net, x), out = hu_net_value(net, result);
  size_t n = in.rows * in.cols, m = out.rows * out.cols;
  float *numbers = calloc(n, sizeof *numbers), *targets = calloc(m, sizeof *targets);
  uint32_t *labels = calloc(out.rows, sizeof *labels);
  hu_status status = numbers && targets && labels ? HU_OK : HU_E_MEMORY;
  for (size_t i = 0; status == HU_OK && i < n; i++) {
    numbers[i] = c->tokens ? (float)t_below(random, TOKENS) : (float)t_between(random, -40, 40) / 16;
  }
  for (size_t i = 0; status == HU_OK && i < m; i++) targets[i] = (float)t_between(random, -9, 9) / 8;
  for (size_t i = 0; status == HU_OK && i < out.rows; i++) labels[i] = t_below(random, (uint32_t)out.cols);
  for (size_t i = 1; status == HU_OK && c->labels == 2 && i < out.rows; i += 3) labels[i] = HU_LABEL_NONE;
  for (size_t i = 0; status == HU_OK && c->labels == 3 && i < out.rows; i++)
    labels[i] = i % 6 < 1 + i / 6 % 4 ? t_below(random, CLASSES) : HU_LABEL_NONE;
  if (status == HU_OK) status = hu_net_feed(net, x, numbers);
  for (int i = x + 1; status == HU_OK && c->labels >= 2 && !*hu_net_value_kind(net, i); i++) {
    in = hu_net_value(net, i); /* the other inputs of two sequences follow the first one; none is larger */
    for (size_t k = 0; k < in.rows; k++) numbers[k] = (float)t_below(random, TOKENS);
    status = hu_net_feed(net, i, numbers);
  }
  if (status == HU_OK) status = c->labels ? hu_net_labels(net, labels) : hu_net_targets(net, targets);
  free(numbers);
  free(targets);
  free(labels);
  return status;
}

static void look(const hu_net *net, uint64_t *h) {
  for (int i = 0; i < hu_net_values(net) + hu_net_parameters(net); i++) {
    int values = hu_net_values(net);
    hu_net_tensor tensor = i < values ? hu_net_value(net, i) : hu_net_parameter(net, i - values);
    mix(h, tensor.numbers, tensor.rows * tensor.cols * sizeof *tensor.numbers);
    mix(h, tensor.gradients, tensor.rows * tensor.cols * sizeof *tensor.gradients);
    mix(h, &tensor.forward, sizeof tensor.forward);
    mix(h, &tensor.backward, sizeof tensor.backward);
  }
}

static hu_status steps(hu_net *net, const small_net *c, int x, int result, uint64_t *h) {
  t_random random = {17};
  hu_optimizer optimizer;
  hu_loss_rule rule;
  hu_update_counts counts = {0, 0};
  hu_status status = hu_loss_rule_parse(&rule, c->rule, NULL);
  if (status != HU_OK) return status;
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  c->optimizer(&optimizer);
  for (int t = 0; t < STEPS && status == HU_OK; t++) {
    float loss = 0;
    int taken = 0;
    status = feed(net, c, x, result, &random);
    if (status == HU_OK) status = hu_net_forward(net, 1, &loss);
    if (status == HU_OK) status = hu_net_backward(net, scale.scale);
    if (status == HU_OK) status = hu_net_update(net, &optimizer, &rule, &scale, &counts, &taken);
    mix(h, &loss, sizeof loss);
    mix(h, &taken, sizeof taken);
    mix(h, &scale.scale, sizeof scale.scale);
    if (status == HU_OK) look(net, h);
  }
  mix(h, &counts, sizeof counts);
  for (int i = 0; i < hu_net_parameters(net) && optimizer.stored_m.kind != HU_ROUND_KEEP && status == HU_OK; i++) {
    hu_rounding_counts moments[2];
    if (!hu_net_moment_counts(net, i, moments)) status = HU_E_SHAPE;
    mix(h, moments, sizeof moments);
  }
  float loss = 0;
  if (status == HU_OK) status = hu_net_forward(net, 0, &loss);
  mix(h, &loss, sizeof loss);
  if (status == HU_OK) look(net, h);
  return status;
}

hu_status small_net_run(size_t i, const hu_engine *engine, uint32_t threads, size_t times, uint64_t *digest) {
  const small_net *c = &nets[i];
  int result = -1;
  *digest = 0xCBF29CE484222325u;
  hu_net *net = hu_net_new_on(engine, c->batch * times, threads);
  if (!net) return HU_E_MEMORY;
  int x = c->build(net, &result);
  hu_status status = hu_net_status(net, NULL);
  if (status == HU_OK) status = roundings(net, c);
  if (status == HU_OK) status = hu_net_initialize(net, 3);
  if (status == HU_OK) status = steps(net, c, x, result, digest);
  hu_net_free(net);
  return status;
}

/* 1 if the line is one of the file's. */
static int stands_in(FILE *golden, const char *line) {
  char there[128];
  rewind(golden);
  while (fgets(there, sizeof there, golden)) {
    there[strcspn(there, "\n")] = 0;
    if (strcmp(there, line) == 0) return 1;
  }
  return 0;
}

int small_nets_are_golden(const hu_engine *engine, uint32_t threads, const char *path) {
  FILE *golden = path ? fopen(path, "r") : NULL;
  int good = 1;
  if (path && !golden) {
    printf("FAIL: %s: cannot be read\n", path);
    return 0;
  }
  for (size_t i = 0; i < small_net_count(); i++) {
    uint64_t digest;
    char line[128];
    hu_status status = small_net_run(i, engine, threads, 1, &digest);
    snprintf(line, sizeof line, "%s %016llx", small_net_name(i), (unsigned long long)digest);
    int same = status == HU_OK && (!golden || stands_in(golden, line));
    if (same) printf("%s\n", line);
    if (!same) printf("FAIL: %s: %s\n", line, status == HU_OK ? "not in the golden file" : hu_status_name(status));
    good &= same;
  }
  if (golden) fclose(golden);
  return good;
}
