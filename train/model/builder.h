/* SPDX-License-Identifier: MIT */
/* train/model/builder.h - the table of kinds of models, and what their builders share. */
#ifndef HALFULP_TRAIN_MODEL_BUILDER_H
#define HALFULP_TRAIN_MODEL_BUILDER_H

#include "halfulp/train/model.h"
#include "train/text/keys.h"

/* A model that is being built in a net. */
typedef struct hu_builder {
  hu_net *net;
  const hu_model *model;
  const hu_model_sizes *sizes;
  hu_model_ends *ends;
  char base[HU_SCOPE_MAX]; /* the scope that the caller had set */
} hu_builder;

/* Which of the sizes a kind needs. */
enum { HU_NEEDS_IMAGE = 1, HU_NEEDS_TOKENS = 2, HU_NEEDS_PAIRS = 4, HU_NEEDS_SOURCE = 8, HU_NEEDS_FEATURES = 16 };

typedef struct hu_model_kind {
  const char *name, *alias; /* NULL: none */
  hu_text_keys keys;
  unsigned needs;
  int (*build)(hu_builder *builder); /* returns the output, sets the inputs, leaves the scope as it was */
} hu_model_kind;
/* Returns the record of a kind below HU_MODEL_KINDS. */
const hu_model_kind *hui_model_kind_of(uint8_t kind);
/* hu_model_parse, and on an error a sentence that says what is wrong and what may stand there. */
enum { HU_TEXT_WHY_MAX = 320 };
hu_status hui_model_read(hu_model *model, const char *text, size_t *where, char why[HU_TEXT_WHY_MAX]);

int hui_build_linear(hu_builder *builder);
int hui_build_mlp(hu_builder *builder);
int hui_build_conv(hu_builder *builder);
int hui_build_resnet(hu_builder *builder);
int hui_build_resnet4(hu_builder *builder);
int hui_build_squeezenet(hu_builder *builder);
int hui_build_mobilenet2(hu_builder *builder);
int hui_build_shufflenet2(hu_builder *builder);
int hui_build_gru(hu_builder *builder);
int hui_build_lstm(hu_builder *builder);
int hui_build_transformer(hu_builder *builder);
int hui_build_ncf(hu_builder *builder);
int hui_build_seq2seq(hu_builder *builder);
int hui_build_bert(hu_builder *builder);
int hui_build_dlrm(hu_builder *builder);

/* Layers from here on are of this part of the model; "": of the model itself. */
void hui_enter(hu_builder *builder, const char *part);
/* The number that the next parameter will have. */
int hui_next(const hu_builder *builder);
/* Sets how first weights of parameter p are drawn: N(0, gain / fan_in); N(0, deviation^2); uniform between
 * +-1/sqrt(hidden). */
void hui_start_gain(hu_builder *builder, int p, unsigned gain, size_t fan_in);
void hui_start_deviation(hu_builder *builder, int p);
void hui_start_uniform(hu_builder *builder, int p, size_t hidden);
/* Returns c channels times the model's width. */
size_t hui_builder_channels(const hu_builder *builder, size_t c);
int hui_activate(hu_builder *builder, int x);
/* x behind the model's dropout; x itself where there is none. */
int hui_drop(hu_builder *builder, int x);
/* Adds rows of trained numbers of the model's deviation, one per token of input x; and a trained offset of each
 * step. */
int hui_add_embedding(hu_builder *builder, int x, size_t kinds, size_t cols);
int hui_add_positions(hu_builder *builder, int h);
/* Two linear layers with the model's function between them; the first has `hidden` columns, from N(0, 1 / fan_in). */
int hui_add_dense(hu_builder *builder, int x);
/* The input of images; and how many channels a value has. */
int hui_image_of(hu_builder *builder);
size_t hui_channels_of(const hu_builder *builder, int x);
/* Adds a convolution and a batch norm; first weights are those for a ReLU, wherever it comes. */
int hui_add_conv(hu_builder *builder, int x, size_t channels, size_t kernel, size_t stride, size_t groups);
/* Adds the mean of the image, and the linear layer that answers. */
int hui_add_answer(hu_builder *builder, int x);

#endif
