/* SPDX-License-Identifier: MIT */
/* halfulp/train/transformer.h - layers of transformers: embeddings, positions, attention. `rows` of a sample are steps
 * of time. Results are those of layers.h. */
#ifndef HALFULP_TRAIN_TRANSFORMER_H
#define HALFULP_TRAIN_TRANSFORMER_H

#include "halfulp/train/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x: one column of token numbers, each a whole number below `vocabulary` (else hu_net_forward fails with HU_E_SHAPE).
 * The result has row `token` of theta, vocabulary x cols, N(0, 1 / cols) at first. */
HU_API int hu_net_embedding(hu_net *net, int x, size_t vocabulary, size_t cols);
/* A trained offset of the size of one sample, 0 at first, added to each. */
HU_API int hu_net_position(hu_net *net, int x);
/* Attention of `heads` heads: x has 3 d columns, queries, keys, values, each of heads groups of d / heads; the result
 * has d. Three operators: scores Q K^T / sqrt(d / heads) (a product), softmax along rows (causal: of the columns up to
 * the row's own step), scores times V (a product). */
HU_API int hu_net_attention(hu_net *net, int x, size_t heads, int causal);
/* The same where the steps of samples have different lengths: `lengths` is an input of one number a sample, a row of
 * one column, and shares are of the columns below that number alone (causal: and up to the row's step); the others are
 * +0. A number above the steps, or a NaN, means all of them; one below 1 none, and then all of a sample's shares are
 * +0. -1: no lengths, which is hu_net_attention. Vaswani et al., Attention is all you need (2017): the mask of padding.
 */
HU_API int hu_net_attention_masked(hu_net *net, int x, size_t heads, int causal, int lengths);
/* Attention across two sequences: `queries` has d columns, `memory` 2 d, keys and then values, with as many steps as it
 * has; the result has the rows of `queries` and d columns. `lengths` are of `memory`, or -1. The three operators are
 * those of hu_net_attention, whose gradients go to dV of `memory`, then to the queries, then to the keys. HU_E_SHAPE:
 * an input instead of a value, or columns that are not d and 2 d. Vaswani et al. (2017), section 3.2.3. */
HU_API int hu_net_attention_across(hu_net *net, int queries, int memory, size_t heads, int lengths);
/* How attention computes. hu_attention_of(heads) has 0 in all other fields and no lengths. */
typedef struct hu_attention {
  size_t heads;    /* of queries */
  size_t kv_heads; /* of keys, and of values: head i of queries reads head floor(i kv_heads / heads); 0: as many */
  size_t window;   /* a step sees so many steps, of which its own is the last; 0: all before it. Only with causal */
  int lengths;     /* as of hu_net_attention_masked; -1: none */
  uint8_t causal;  /* 1: a step sees those up to its own */
  uint8_t sink;    /* 1: a trained number a head, 0 at first, is one of the scores of each row; its share is left out */
  double scale;    /* of the scores, rounded to binary32; 0: 1 / sqrt(columns of a head) */
  size_t block;    /* 0: softmax of whole rows; else so many keys at a time (below) */
  double dropout;  /* of the shares, as hu_net_dropout's p: an operator of its own behind softmax; 0: none */
} hu_attention;
HU_API hu_attention hu_attention_of(size_t heads);
/* With `block` softmax and the sums of values are one operator, `online` (Milakov and Gimelshein, Online normalizer
 * calculation for softmax (2018); Dao et al., FlashAttention (2022)). For each row of scores s, the blocks of keys in
 * order, all binary32, one operation after another:
 *
 *   m = -infinity, l = 0, o = 0; with a sink m = sink, l = 1
 *   n = max(m, the s of the block that are seen);  p = e^(s - n), +0 where it is not seen;  f = e^(m - n)
 *   l = l f + row sum of p;  o = o f + rnd(p) rnd(V);  m = n
 *
 * and at the end o / l, +0 if l is 0. rnd(p) is the rounding x of the operator (hu_net_round_product) of the block, all
 * rows x its columns, so that a scale of the tensor, of a row or of some columns is one of this block; rnd(V) is w of
 * all V. The product of a block is a sum by z_accum. A block without a key that a row sees leaves its m, l and o. So
 * P and V in FP8 or FP4 are those of FlashAttention-3 (Shah et al. 2024), SageAttention2 (Zhang et al. 2024) and 3
 * (2025), without their smoothing of Q, K and V. Gradients are those of the function without these roundings: p =
 * e^(s - m) / l of the last m and l, dV = p^T dO, D = row sum of dO o, ds = p (dO V^T - D), of a sink the column sum of
 * -(p D). */

/* Attention with all of this. memory is -1: `queries` has the columns of all heads of queries, keys and values, in this
 * order; else it has those of queries, and `memory` those of keys and values. HU_E_SHAPE: an input instead of a value,
 * or other columns. HU_E_TRAIN: dropout with blocks, a window that is not causal, causal where `memory` has other
 * steps, a scale that is negative or not finite, dropout not from 0 to below 1. Grouped queries: Ainslie et al., GQA
 * (2023). Windows: Beltagy et al., Longformer (2020); Jiang et al., Mistral 7B (2023). Sinks: OpenAI, gpt-oss (2025),
 * model.py; Xiao et al., Efficient Streaming Language Models with Attention Sinks (2023). */
HU_API int hu_net_attend(hu_net *net, int queries, int memory, const hu_attention *how);
/* Rotary positions. hu_rotary_of(width) has those of Su et al., RoFormer (2021): pairs of halves, base 10000. */
typedef struct hu_rotary {
  size_t width;   /* columns of a head, an even number */
  size_t columns; /* the first ones, which are turned: whole heads; 0: all */
  uint8_t
      interleaved; /* 0: column k and k + width / 2 of a head are a pair (Hugging Face); 1: 2 k and 2 k + 1 (Meta) */
  uint8_t yarn;    /* 0: a factor is Llama 3's; 1: it is YaRN's (Peng et al. 2023) */
  uint8_t whole;   /* YaRN: 1: its bounds are rounded to whole pairs (DeepSeek, transformers); 0: not (gpt-oss) */
  double base;
  double factor;    /* low frequencies are divided by it; 1: none are */
  double low, high; /* turns over `original`: low_freq_factor, high_freq_factor; YaRN: beta_slow 1, beta_fast 32 */
  double original;  /* steps before they were made longer: original_max_position_embeddings */
  double magnitude; /* YaRN: of cosines and sines: attention_factor; 0: 0.1 ln(factor) + 1, of a factor above 1 */
} hu_rotary;
HU_API hu_rotary hu_rotary_of(size_t width);
/* Turns each pair of step p of a sample by the angle p f_k: (x, y) becomes (x c - y s, y c + x s). Everything is
 * binary32, ties to even, one operation after another; powers, sines and cosines are correctly rounded:
 *
 *   f = 1 / base^(2k / width)      a = p f      c = cos a, s = sin a
 *   factor other than 1:  w = (1 / f) 2 pi;  w > original / low: f / factor;  w < original / high: f as it is; else
 *     t = ((1 / w) original - low) / (high - low),  f = ((1 - t) f) / factor + t f
 *
 * 2 pi, original / low, original / high and high - low are binary64 numbers that are rounded to binary32. The order is
 * that of transformers, modeling_rope_utils.py, as PyTorch computes a number over a tensor. With yarn, whatever the
 * factor is, with the power b = base^(2k / width):
 *
 *   e = 1 - t,  t = (k - from) / (to - from), at least 0 and at most 1
 *   f = (1 / (factor b)) (1 - e) + (1 / b) e      c = m cos a, s = m sin a,  m the magnitude
 *   at(turns) = (width ln(original / (turns 2 pi))) / (2 ln(base))
 *   from = the larger one of at(high) and 0;  to = the smaller one of at(low) and width - 1;  `whole`: at(high) is
 *   rounded down and at(low) up before;  to is 0.001 more where it is from
 *
 * from, to - from and m are rounded to binary32 from binary64, in which ln x = e ln 2 + 2 (s + s^3 / 3 + ... + s^29 /
 * 29), the last term first, x = 2^e y, y from sqrt(1/2) on and below sqrt(2), s = (y - 1) / (y + 1). So f is that of
 * transformers and of gpt-oss, model.py; DeepSeek's code divides after the power, and has the magnitude 1. Pairs
 * between the two bounds are mixed by their number, as in that code and not, as in the paper, by their turns.
 * HU_E_SHAPE: an input, an odd width, columns that are no whole heads; HU_E_TRAIN: numbers that are not positive and
 * finite, high not above low, `yarn` or `whole` above 1, `whole` or a magnitude without yarn, yarn with a base that is
 * not above 1. */
HU_API int hu_net_rotary(hu_net *net, int x, const hu_rotary *how);
/* Adds the sines of Vaswani et al. (2017) in the form of tensor2tensor: with n = floor(columns / 2), column k < n of
 * step p gets sin(p f_k), column n + k cos(p f_k), and a last odd column nothing; f_k = e^(k (-i)), i = ln(10000) /
 * max(n - 1, 1), all binary32 as above, ln(10000) rounded from its binary64 number. */
HU_API int hu_net_sines(hu_net *net, int x);

#ifdef __cplusplus
}
#endif
#endif
