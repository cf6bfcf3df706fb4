/* SPDX-License-Identifier: MIT */
/* Builds models of attention: the causal language model, encoder and decoder, the masked language model. */
#include <stdio.h>

#include "train/model/builder.h"

/* Adds an embedding and positions of the tokens of input x. */
static int add_tokens(hu_builder *builder, int x, size_t kinds) {
  return hui_add_positions(builder, hui_add_embedding(builder, x, kinds, builder->model->units));
}

static int tokens_of(hu_builder *builder) { return hu_net_input(builder->net, builder->sizes->steps, 1); }

static void enter_block(hu_builder *builder, const char *part, unsigned number) {
  char scope[HU_SCOPE_MAX];
  snprintf(scope, sizeof scope, "%s%sblock%u", part, *part ? "." : "", number);
  hui_enter(builder, scope);
}

/* ---- parts of pre-norm blocks: h + D(part(norm(h))), D the dropout; matrices N(0, 1 / fan_in) ---- */

/* lengths: -1, or how many steps of each sample are seen. */
static int add_self(hu_builder *builder, int h, int causal, int lengths) {
  const size_t units = builder->model->units;
  int x = hu_net_linear(builder->net, hu_net_layer_norm(builder->net, h), 3 * units, 0);
  x = hu_net_linear(builder->net, hu_net_attention_masked(builder->net, x, builder->model->heads, causal, lengths),
                    units, 0);
  return hu_net_add(builder->net, h, hui_drop(builder, x));
}

static int add_across(hu_builder *builder, int h, int memory, int lengths) {
  const size_t units = builder->model->units;
  int q = hu_net_linear(builder->net, hu_net_layer_norm(builder->net, h), units, 0);
  int kv = hu_net_linear(builder->net, memory, 2 * units, 0);
  int x = hu_net_linear(builder->net, hu_net_attention_across(builder->net, q, kv, builder->model->heads, lengths),
                        units, 0);
  return hu_net_add(builder->net, h, hui_drop(builder, x));
}

static int add_dense_part(hu_builder *builder, int h) {
  return hu_net_add(builder->net, h, hui_drop(builder, hui_add_dense(builder, hu_net_layer_norm(builder->net, h))));
}

/* ---- transformer ---- */

int hui_build_transformer(hu_builder *builder) {
  int h =
      hui_drop(builder, add_tokens(builder, builder->ends->inputs[0] = tokens_of(builder), builder->sizes->vocabulary));
  for (unsigned i = 1; i <= builder->model->layers; i++) {
    enter_block(builder, "", i);
    h = add_dense_part(builder, add_self(builder, h, 1, -1));
  }
  hui_enter(builder, "");
  return hu_net_linear(builder->net, hu_net_layer_norm(builder->net, h), builder->sizes->vocabulary, 1);
}

/* ---- encoder and decoder ---- */

/* Adds what the decoder reads: one row per step of the source. */
static int add_encoder(hu_builder *builder) {
  hui_enter(builder, "encoder");
  int h = hui_drop(builder, add_tokens(builder, builder->ends->inputs[0], builder->sizes->source_vocabulary));
  for (unsigned i = 1; i <= builder->model->layers; i++) {
    enter_block(builder, "encoder", i);
    h = add_dense_part(builder, add_self(builder, h, 0, builder->ends->inputs[1]));
  }
  hui_enter(builder, "encoder");
  return hu_net_layer_norm(builder->net, h);
}

int hui_build_seq2seq(hu_builder *builder) {
  builder->ends->count = 3;
  builder->ends->inputs[0] = tokens_of(builder);
  builder->ends->inputs[1] = hu_net_input(builder->net, 1, 1);
  builder->ends->inputs[2] = tokens_of(builder);
  int memory = add_encoder(builder);
  hui_enter(builder, "decoder");
  int h = hui_drop(builder, add_tokens(builder, builder->ends->inputs[2], builder->sizes->vocabulary));
  for (unsigned i = 1; i <= builder->model->layers; i++) {
    enter_block(builder, "decoder", i);
    h = add_self(builder, h, 1, -1);
    h = add_across(builder, h, memory, builder->ends->inputs[1]);
    h = add_dense_part(builder, h);
  }
  hui_enter(builder, "");
  return hu_net_linear(builder->net, hu_net_layer_norm(builder->net, h), builder->sizes->vocabulary, 1);
}

/* ---- masked language model: post-norm, as in its paper ---- */

static int add_bert_block(hu_builder *builder, int h) {
  const size_t units = builder->model->units;
  int x = hu_net_attention(builder->net, hu_net_linear(builder->net, h, 3 * units, 1), builder->model->heads, 0);
  h = hu_net_layer_norm(builder->net,
                        hu_net_add(builder->net, h, hui_drop(builder, hu_net_linear(builder->net, x, units, 1))));
  return hu_net_layer_norm(builder->net, hu_net_add(builder->net, h, hui_drop(builder, hui_add_dense(builder, h))));
}

int hui_build_bert(hu_builder *builder) {
  /* One token more than there are words: the mask. */
  int h = add_tokens(builder, builder->ends->inputs[0] = tokens_of(builder), builder->sizes->vocabulary + 1);
  h = hui_drop(builder, hu_net_layer_norm(builder->net, h));
  for (unsigned i = 1; i <= builder->model->layers; i++) {
    enter_block(builder, "", i);
    h = add_bert_block(builder, h);
  }
  hui_enter(builder, "head");
  int p = hui_next(builder);
  h = hui_activate(builder, hu_net_linear(builder->net, h, builder->model->units, 1));
  if (h >= 0) hui_start_gain(builder, p, 1, builder->model->units);
  h = hu_net_layer_norm(builder->net, h);
  hui_enter(builder, "");
  return hu_net_linear(builder->net, h, builder->sizes->vocabulary, 1);
}
