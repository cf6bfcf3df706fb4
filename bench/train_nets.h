/* SPDX-License-Identifier: MIT */
/* bench/train_nets.h - the networks that bench_train and compare_torch.py measure, and the precisions they get. */
#ifndef HALFULP_BENCH_TRAIN_NETS_H
#define HALFULP_BENCH_TRAIN_NETS_H

#include <math.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "halfulp/train.h"
#include "halfulp/train/model.h"

/* Numbers of a sample: normal ones, or (tokens) whole ones from `from` on, so many different ones. */
typedef struct bench_input {
  size_t numbers;
  uint32_t tokens, from;
} bench_input;
enum { BENCH_INPUTS = 3 };

typedef struct bench_network {
  const char *name, *what;
  int (*build)(hu_net *net, int *input); /* the logits; NULL: as `model` says */
  size_t batch;
  bench_input input[BENCH_INPUTS];
  size_t labels;  /* a sample */
  uint32_t every; /* only every so many rows one has a label; 0: all have */
  uint32_t classes;
  uint8_t adam;
  const char *model; /* halfulp/train/model.h: of tokens, or of images of 32 x 32 x 3 */
} bench_network;

static inline int bench_mlp(hu_net *net, int x, size_t units) {
  x = hu_net_relu(net, hu_net_linear(net, x, units, 1));
  x = hu_net_relu(net, hu_net_linear(net, x, units, 1));
  return hu_net_linear(net, x, 10, 1);
}

static inline int bench_digits(hu_net *net, int *input) {
  return bench_mlp(net, *input = hu_net_input(net, 1, 64), 64);
}
static inline int bench_large(hu_net *net, int *input) {
  return bench_mlp(net, *input = hu_net_input(net, 1, 784), 512);
}

static inline int bench_images(hu_net *net, int *input) {
  static const size_t channels[3] = {8, 16, 16};
  int x = *input = hu_net_image(net, 16, 16, 1);
  for (int i = 0; i < 3; i++)
    x = hu_net_relu(net, hu_net_batch_norm(net, hu_net_conv(net, x, channels[i], 3, 1, 1, 0)));
  return hu_net_linear(net, hu_net_global_average(net, x), 10, 1);
}

static inline int bench_text(hu_net *net, int *input) {
  *input = hu_net_input(net, 32, 1);
  int hidden = hu_net_position(net, hu_net_embedding(net, *input, 76, 32));
  int qkv = hu_net_linear(net, hu_net_layer_norm(net, hidden), 96, 0);
  hidden = hu_net_add(net, hidden, hu_net_linear(net, hu_net_attention(net, qkv, 2, 1), 32, 0));
  int wide = hu_net_relu(net, hu_net_linear(net, hu_net_layer_norm(net, hidden), 128, 1));
  hidden = hu_net_add(net, hidden, hu_net_linear(net, wide, 32, 1));
  return hu_net_linear(net, hu_net_layer_norm(net, hidden), 76, 1);
}

static inline int bench_rows(hu_net *net, int *input) {
  return hu_net_linear(net, hu_net_gru(net, *input = hu_net_input(net, 8, 8), 32, 1), 10, 1);
}

/* Returns the sizes of the data: tokens, dense features and categories, or images of 32 x 32 x 3. */
static inline hu_model_sizes bench_sizes(const bench_network *network, const hu_model *model) {
  hu_model_sizes sizes;
  memset(&sizes, 0, sizeof sizes);
  sizes.outputs = network->classes;
  if (model->kind == HU_MODEL_DLRM) {
    sizes.dense = network->input[0].numbers;
    sizes.categories = network->input[1].numbers;
    sizes.vocabulary = network->input[1].tokens;
  } else if (network->input[0].tokens) {
    sizes.steps = network->input[0].numbers;
    sizes.vocabulary = network->classes;
    sizes.source_vocabulary = network->input[0].tokens;
  } else {
    sizes.height = sizes.width = 32;
    sizes.channels = 3;
  }
  return sizes;
}

/* Finds where a network begins and ends; returns 0 where the net has an error. */
static inline int bench_ends(const bench_network *network, hu_net *net, hu_model_ends *ends) {
  hu_model model;
  memset(ends, 0, sizeof *ends);
  ends->count = 1;
  if (network->build) return (ends->output = network->build(net, &ends->inputs[0])) >= 0;
  if (hu_model_parse(&model, network->model, NULL) != HU_OK) return 0;
  hu_model_sizes sizes = bench_sizes(network, &model);
  return hu_model_build(net, &model, &sizes, ends, NULL) == HU_OK;
}

/* The last ones have the sizes of the papers: `seq2seq` is the tiny Transformer of Cambier et al. (2020), section 4.3,
 * `bert` the smallest of Turc et al. (2019), `dlrm` the one that its authors have for Kaggle's clicks, with smaller
 * tables. */
static const bench_network bench_networks[] = {
    {"digits", "MLP 64-64-64-10, batch 64", bench_digits, 64, {{64, 0, 0}}, 1, 0, 10, 0, NULL},
    {"mlp", "MLP 784-512-512-10, batch 128", bench_large, 128, {{784, 0, 0}}, 1, 0, 10, 0, NULL},
    {"conv",
     "conv 1-8-16-16, batch norm, 16x16 pixels, batch 128",
     bench_images,
     128,
     {{256, 0, 0}},
     1,
     0,
     10,
     0,
     NULL},
    {"transformer", "one block, d 32, 2 heads, 32 tokens, batch 16", bench_text, 16, {{32, 76, 0}}, 32, 0, 76, 1, NULL},
    {"gru", "GRU of 32 units, 8 steps of 8 numbers, batch 64", bench_rows, 64, {{64, 0, 0}}, 1, 0, 10, 0, NULL},
    {"resnet20", "ResNet-20, 32x32x3 pixels, batch 128", NULL, 128, {{3072, 0, 0}}, 1, 0, 10, 0, "resnet20"},
    {"squeezenet", "SqueezeNet, 32x32x3 pixels, batch 128", NULL, 128, {{3072, 0, 0}}, 1, 0, 10, 0, "squeezenet"},
    {"mobilenet2", "MobileNet v2, 32x32x3 pixels, batch 16", NULL, 16, {{3072, 0, 0}}, 1, 0, 10, 0, "mobilenet2"},
    {"lstm650",
     "LSTM 2 x 650, 10000 words, 35 steps, batch 20",
     NULL,
     20,
     {{35, 10000, 0}},
     35,
     0,
     10000,
     0,
     "lstm(layers=2,units=650)"},
    {"transformer128",
     "transformer 2 x 128/512, 4 heads, 8000 words, 64 tokens, batch 64",
     NULL,
     64,
     {{64, 8000, 0}},
     64,
     0,
     8000,
     1,
     "transformer(layers=2,units=128,heads=4,hidden=512)"},
    {"seq2seq",
     "encoder and decoder of 2 x 128/512, 4 heads, 8000 words each, 32 tokens, batch 64",
     NULL,
     64,
     {{32, 8000, 0}, {1, 32, 1}, {32, 8000, 0}},
     32,
     0,
     8000,
     1,
     "seq2seq(layers=2,units=128,heads=4,hidden=512)"},
    {"bert",
     "BERT 2 x 128/512, 2 heads, 8000 words, 64 tokens, a label each 7th, batch 64",
     NULL,
     64,
     {{64, 8000, 0}},
     64,
     7,
     8000,
     1,
     "bert(layers=2,units=128,heads=2,hidden=512)"},
    {"dlrm",
     "DLRM 13-512-256-64-16, 26 categories of 1000, 512-256-2, batch 128",
     NULL,
     128,
     {{13, 0, 0}, {26, 26000, 0}},
     1,
     0,
     2,
     0,
     "dlrm(units=16,bottom=512/256/64,top=512/256)"}};
enum { BENCH_NETWORKS = sizeof bench_networks / sizeof *bench_networks };

/* Roundings as text; NULL: keep. */
typedef struct bench_precision {
  const char *name;
  const char *v, *dv, *theta, *dtheta; /* of every tensor */
  const char *operand, *result;        /* of every product */
  double goal;                         /* time of a step over binary32's */
} bench_precision;

static const bench_precision bench_precisions[] = {
    {"binary32", NULL, NULL, NULL, NULL, NULL, NULL, 0},
    {"float8_e5m2, all tensors", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", NULL, NULL, 2},
    {"float8_e5m2, products", NULL, NULL, NULL, NULL, "float8_e5m2", "float8_e5m2", 2},
    {"assignment, all low", "fp(4,3,4):finite", "fp(5,2,0):finite", "fp(4,3,4):finite", "fp(6,9,0):finite", NULL, NULL,
     2},
    {"S2FP8, products", NULL, NULL, NULL, NULL, "s2fp8", "s2fp8", 2},
    {"MXFP8 E4M3, operands", NULL, NULL, NULL, NULL, "mxfp8_e4m3", NULL, 2},
    {"bfloat16, all tensors", "bfloat16", "bfloat16", "bfloat16", "bfloat16", NULL, NULL, 2}};
enum { BENCH_PRECISIONS = sizeof bench_precisions / sizeof *bench_precisions };

static inline hu_rounding bench_rounding(const char *text, hu_status *status) {
  hu_rounding rounding = hu_rounding_keep();
  if (text && *status == HU_OK) *status = hu_rounding_parse(&rounding, text, NULL);
  return rounding;
}

/* Makes the roundings of a product; blocks of operands lie along the sum. */
static inline hu_product_rounding bench_product(const bench_precision *precision, hu_status *status) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  hu_rounding along = bench_rounding(precision->operand, status);
  hu_rounding across = along;
  across.turned = along.kind == HU_ROUND_SCALED;
  rounding.x = rounding.dz = rounding.w_back = along;
  rounding.w = rounding.x_back = rounding.dz_w = across;
  rounding.z_out = rounding.dx_out = rounding.dw_out = bench_rounding(precision->result, status);
  return rounding;
}

static inline hu_status bench_set(hu_net *net, const bench_precision *precision) {
  hu_status status = hu_net_status(net, NULL);
  hu_product_rounding product = bench_product(precision, &status);
  hu_rounding value = bench_rounding(precision->v, &status), dv = bench_rounding(precision->dv, &status);
  hu_rounding theta = bench_rounding(precision->theta, &status), dtheta = bench_rounding(precision->dtheta, &status);
  for (int i = 0; i < hu_net_parameters(net) && status == HU_OK; i++)
    status = hu_net_round_parameter(net, i, &theta, &dtheta);
  for (int i = 0; i < hu_net_values(net) && status == HU_OK; i++) {
    status = hu_net_round_value(net, i, &value, &dv);
    if (status == HU_OK && hu_net_round_product(net, i, &product) != HU_OK) continue; /* no product makes it */
  }
  return status;
}

#endif
