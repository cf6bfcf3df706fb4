/* SPDX-License-Identifier: MIT */
/* Builds models of attention: the causal language model, encoder and decoder, the masked language model. */
#include <stdio.h>

#include "train/model/builder.h"

/* Embedding and positions of the tokens of input x. */
static int add_tokens(hu_builder *b, int x, size_t kinds) {
  return hu_add_positions(b, hu_add_embedding(b, x, kinds, b->m->units));
}

static int tokens_of(hu_builder *b) { return hu_net_input(b->net, b->sizes->steps, 1); }

static void enter_block(hu_builder *b, const char *part, unsigned number) {
  char scope[HU_SCOPE_MAX];
  snprintf(scope, sizeof scope, "%s%sblock%u", part, *part ? "." : "", number);
  hu_enter(b, scope);
}

/* ---- parts of pre-norm blocks: h + D(part(norm(h))), D the dropout; matrices N(0, 1 / fan_in) ---- */

/* lengths: -1, or how many steps of each sample are seen. */
static int add_self(hu_builder *b, int h, int causal, int lengths) {
  const size_t units = b->m->units;
  int x = hu_net_linear(b->net, hu_net_layer_norm(b->net, h), 3 * units, 0);
  x = hu_net_linear(b->net, hu_net_attention_masked(b->net, x, b->m->heads, causal, lengths), units, 0);
  return hu_net_add(b->net, h, hu_drop(b, x));
}

static int add_across(hu_builder *b, int h, int memory, int lengths) {
  const size_t units = b->m->units;
  int q = hu_net_linear(b->net, hu_net_layer_norm(b->net, h), units, 0);
  int kv = hu_net_linear(b->net, memory, 2 * units, 0);
  int x = hu_net_linear(b->net, hu_net_attention_across(b->net, q, kv, b->m->heads, lengths), units, 0);
  return hu_net_add(b->net, h, hu_drop(b, x));
}

static int add_dense_part(hu_builder *b, int h) {
  return hu_net_add(b->net, h, hu_drop(b, hu_add_dense(b, hu_net_layer_norm(b->net, h))));
}

/* ---- transformer ---- */

int hu_build_transformer(hu_builder *b) {
  int h = hu_drop(b, add_tokens(b, b->ends->inputs[0] = tokens_of(b), b->sizes->vocabulary));
  for (unsigned i = 1; i <= b->m->layers; i++) {
    enter_block(b, "", i);
    h = add_dense_part(b, add_self(b, h, 1, -1));
  }
  hu_enter(b, "");
  return hu_net_linear(b->net, hu_net_layer_norm(b->net, h), b->sizes->vocabulary, 1);
}

/* ---- encoder and decoder ---- */

/* What the decoder reads: one row a step of the source. */
static int add_encoder(hu_builder *b) {
  hu_enter(b, "encoder");
  int h = hu_drop(b, add_tokens(b, b->ends->inputs[0], b->sizes->source_vocabulary));
  for (unsigned i = 1; i <= b->m->layers; i++) {
    enter_block(b, "encoder", i);
    h = add_dense_part(b, add_self(b, h, 0, b->ends->inputs[1]));
  }
  hu_enter(b, "encoder");
  return hu_net_layer_norm(b->net, h);
}

int hu_build_seq2seq(hu_builder *b) {
  b->ends->count = 3;
  b->ends->inputs[0] = tokens_of(b);
  b->ends->inputs[1] = hu_net_input(b->net, 1, 1);
  b->ends->inputs[2] = tokens_of(b);
  int memory = add_encoder(b);
  hu_enter(b, "decoder");
  int h = hu_drop(b, add_tokens(b, b->ends->inputs[2], b->sizes->vocabulary));
  for (unsigned i = 1; i <= b->m->layers; i++) {
    enter_block(b, "decoder", i);
    h = add_self(b, h, 1, -1);
    h = add_across(b, h, memory, b->ends->inputs[1]);
    h = add_dense_part(b, h);
  }
  hu_enter(b, "");
  return hu_net_linear(b->net, hu_net_layer_norm(b->net, h), b->sizes->vocabulary, 1);
}

/* ---- masked language model: post-norm, as in its paper ---- */

static int add_bert_block(hu_builder *b, int h) {
  const size_t units = b->m->units;
  int x = hu_net_attention(b->net, hu_net_linear(b->net, h, 3 * units, 1), b->m->heads, 0);
  h = hu_net_layer_norm(b->net, hu_net_add(b->net, h, hu_drop(b, hu_net_linear(b->net, x, units, 1))));
  return hu_net_layer_norm(b->net, hu_net_add(b->net, h, hu_drop(b, hu_add_dense(b, h))));
}

int hu_build_bert(hu_builder *b) {
  /* One token more than there are words: the mask. */
  int h = add_tokens(b, b->ends->inputs[0] = tokens_of(b), b->sizes->vocabulary + 1);
  h = hu_drop(b, hu_net_layer_norm(b->net, h));
  for (unsigned i = 1; i <= b->m->layers; i++) {
    enter_block(b, "", i);
    h = add_bert_block(b, h);
  }
  hu_enter(b, "head");
  int p = hu_next(b);
  h = hu_activate(b, hu_net_linear(b->net, h, b->m->units, 1));
  if (h >= 0) hu_start_gain(b, p, 1, b->m->units);
  h = hu_net_layer_norm(b->net, h);
  hu_enter(b, "");
  return hu_net_linear(b->net, h, b->sizes->vocabulary, 1);
}
