/* SPDX-License-Identifier: MIT */
/* halfulp/train/net.h - a network whose every tensor has a precision, and its gradients.
 *
 *   hu_net *net = hu_net_new(64, 1);                       // batches of 64 samples, one thread
 *   int x = hu_net_input(net, 1, 64);                      // a row of 64 numbers a sample
 *   int h = hu_net_relu(net, hu_net_linear(net, x, 128, 1));
 *   int y = hu_net_linear(net, h, 10, 1);
 *   int loss = hu_net_cross_entropy(net, y, 1);
 *   if (hu_net_status(net, &why) != HU_OK) ...             // building calls fail silently, this one tells
 *   hu_net_initialize(net, 1);
 *   each step:  hu_net_feed(net, x, images);
 *               hu_net_labels(net, labels);
 *               hu_net_forward(net, 1, &l);
 *               hu_net_backward(net, scale.scale);
 *               hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL);
 *
 * Values (numbers from 0) are matrices, row-major: `rows` rows a sample, the batch's samples one after another, `cols`
 * columns. Images are rows of pixels, columns of channels (height x width x channels). Operators run in the order in
 * which they were added. Every operator computes in binary32, ties to even, in the order that docs/training/training.md
 * states; then each tensor of the gradient computation is rounded once, by its own rounding (rounding.h):
 *
 *   v_out = rnd(op(v_in, theta))         theta = rnd(master weights), once a step
 *   dv    = rnd(the sum of what its readers give, last reader first)       dtheta = rnd(...)
 *
 * (Lee et al., Training with Mixed-Precision Floating-Point Assignments, equation (1); all keep: plain binary32.)
 * Matrix products and convolutions have an accumulation model (accum.h; default fp32) and six more roundings, of
 * the operands of their three products Z = X W, dX = dZ W^T, dW = X^T dZ, for systems that round there (S2FP8, MX).
 * Random words come from (seed, tensor, step), so that nothing depends on threads or order of calls: the same bits for
 * any number of threads. Elementary functions are the library's, correctly rounded.
 *
 * A net is one thread's at a time; it owns its memory. The caller's floating-point environment changes nothing, neither
 * in his thread nor in the net's own (train.h). docs/training/training.md is normative. */
#ifndef HALFULP_TRAIN_NET_H
#define HALFULP_TRAIN_NET_H

#include "halfulp/accum.h"
#include "halfulp/train/gradient.h"
#include "halfulp/train/optimizer.h"
#include "halfulp/train/rounding.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A network; opaque. */
typedef struct hu_net hu_net;

/* What computes: NULL is the CPU, hu_engine_device (below) a CUDA device. All bits are the same
 * (docs/training/training.md section 6). */
typedef struct hu_engine hu_engine;

/* NULL: no memory, or batch is 0. */
HU_API hu_net *hu_net_new(size_t batch, uint32_t threads);
/* The same on an engine, which keeps the tensors in its memory. `threads` are the CPU's. NULL also if the engine
 * has gone. */
HU_API hu_net *hu_net_new_on(const hu_engine *engine, size_t batch, uint32_t threads);
/* Frees a net; NULL is allowed. */
HU_API void hu_net_free(hu_net *net);
/* HU_OK, or the first error of a building call and, if why is not NULL, a sentence that names the operator (it lives as
 * long as the net). HU_E_SHAPE, HU_E_NULL, HU_E_TRAIN, HU_E_NAME, HU_E_MEMORY, HU_E_DEVICE (an operator that a device
 * does not have). */
HU_API hu_status hu_net_status(const hu_net *net, const char **why);

/* ---- building: each returns the number of its result, -1 after an error; given -1 it returns -1 ---- */

/* An input: `rows` rows of `cols` numbers a sample; and one of images. */
HU_API int hu_net_input(hu_net *net, size_t rows, size_t cols);                     /* rows of numbers */
HU_API int hu_net_image(hu_net *net, size_t height, size_t width, size_t channels); /* rows of pixels */
/* Z = X W + b: W is cols x outputs; b a row, added in binary32 before the rounding. */
HU_API int hu_net_linear(hu_net *net, int x, size_t outputs, int bias);
/* Z = X T^T + b with a parameter T that is there, such as the table of an embedding: a column for each row of T, and a
 * bias of its own. The gradient of T is dZ^T X. HU_E_SHAPE: T is no parameter, or has other columns than x. Press and
 * Wolf, Using the Output Embedding to Improve Language Models (2017). */
HU_API int hu_net_linear_transposed(hu_net *net, int x, int table, int bias);
/* The same over patches of kernel x kernel pixels, `pad` pixels of zeros around the image: W is (kernel kernel
 * channels) x outputs, patches row by row, pixel by pixel, channel by channel. */
HU_API int hu_net_conv(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad, int bias);
/* The same with the channels of the image and the outputs in so many groups, each of neighbours: the outputs of a group
 * see the channels of their own group alone, in a product of its own. W is (kernel kernel channels / groups) x outputs.
 * With one group it is hu_net_conv, with as many as channels a depthwise convolution. HU_E_SHAPE: `groups` is 0, or
 * does not divide both the channels and the outputs. Krizhevsky et al., ImageNet classification (2012); Sandler et al.,
 * MobileNetV2 (2018). */
HU_API int hu_net_conv_groups(hu_net *net, int x, size_t outputs, size_t kernel, size_t stride, size_t pad,
                              size_t groups, int bias);
/* Windows of pixels over an image, whole ones, of which each number is given down and across. The first one begins with
 * the first pixel of zeros. Of an image of n pixels in one direction, with the zeros on both of its sides, there are
 * (n + pad + pad - reach) / stride + 1 windows, rounded down, where one reaches over dilation (kernel - 1) + 1 pixels.
 * HU_E_SHAPE: a kernel, stride or dilation of 0, a kernel above 1024 pixels, a pad that is not below the reach, or
 * windows that are larger than the image with its zeros. */
typedef struct hu_net_windows {
  size_t kernel[2];   /* pixels of a window: down, across */
  size_t stride[2];   /* from a window to the next one */
  size_t dilation[2]; /* from a pixel of a window to the next one */
  size_t pad[4];      /* zeros at the top, at the bottom, on the left and on the right */
} hu_net_windows;
/* Returns square windows with the same zeros on all sides, without dilation. */
HU_API hu_net_windows hu_net_windows_of(size_t kernel, size_t stride, size_t pad);
/* Adds the convolution hu_net_conv_groups with any windows: W is (kernel[0] kernel[1] channels / groups) x outputs. One
 * side may have more zeros than the other, as under TensorFlow's "SAME". Errors too: those of the windows. */
HU_API int hu_net_conv_windows(hu_net *net, int x, size_t outputs, const hu_net_windows *windows, size_t groups,
                               int bias);
/* Adds the transposed convolution: with the weights W of a convolution whose images have `outputs` channels and whose
 * results have the shape of x, Z is what that convolution gives as the gradient of its images where x is the gradient
 * of its results; then + b. W is (kernel[0] kernel[1] outputs / groups) x channels of x. Z has stride (n - 1) + reach -
 * pad - pad + more pixels in a direction, n those of x. `more`, down and across, is below the stride: pixels at the
 * bottom and on the right that the convolution's windows leave over. Dumoulin and Visin, A guide to convolution
 * arithmetic (2016), section 4. HU_E_SHAPE: `more` is not below the stride, no pixel is left, or those of
 * hu_net_conv_windows. */
HU_API int hu_net_conv_transpose(hu_net *net, int x, size_t outputs, const hu_net_windows *windows,
                                 const size_t more[2], size_t groups, int bias);
/* g (x - mean) / sqrt(variance + eps) + b. Batch: over all rows, a column at a time, with running statistics for
 * evaluation, r = (1 - momentum) r + momentum mean (or variance); layer: over the columns of a row. Without more
 * arguments eps is 1e-5 and the momentum 0.1. unbiased: 1: the running variance is R / (R - 1) times that of the batch
 * of R rows (of one row: once), as in PyTorch and TensorFlow. HU_E_TRAIN: eps is below 0 or not finite, the momentum
 * not from 0 to 1, or `unbiased` above 1. */
HU_API int hu_net_batch_norm(hu_net *net, int x); /* batch: statistics of a column over all rows */
HU_API int hu_net_layer_norm(hu_net *net, int x); /* layer: statistics of a row */
HU_API int hu_net_batch_norm_with(hu_net *net, int x, double eps, double momentum, int unbiased);
/* The same over the steps that samples have alone, R of them (of an image, steps are its rows of pixels): the result
 * and all gradients are +0 behind their ends. lengths: an input of one number a sample; -1: hu_net_batch_norm_with. Not
 * with parallel.statistics = batch, where a pass then fails with HU_E_TRAIN. */
HU_API int hu_net_batch_norm_within(hu_net *net, int x, double eps, double momentum, int unbiased, int lengths);
HU_API int hu_net_layer_norm_with(hu_net *net, int x, double eps);
/* Computes g x / sqrt(mean of x x + eps) over the columns of a row (Zhang and Sennrich, Root mean square layer
 * normalization, 2019), and g x / sqrt(sum of x x + eps), the L2 norm (Liu, Rabinovich, Berg, ParseNet, 2015). One
 * parameter, the gain, 1 at first. HU_E_TRAIN: eps as above. */
HU_API int hu_net_rms_norm(hu_net *net, int x, double eps); /* by the root of the mean square of a row */
HU_API int hu_net_l2_norm(hu_net *net, int x, double eps);  /* by the Euclidean length of a row */
/* Computes x (k + alpha / size times the sum of x x over `size` neighbouring columns)^-beta: those from size / 2 before
 * the column on (rounded down), as far as there are some. Krizhevsky et al. (2012), section 3.3, with alpha / size in
 * place of alpha, as in Caffe and PyTorch. HU_E_TRAIN: size 0, or k not above 0, or alpha or beta below 0, or one of
 * them not finite. */
HU_API int hu_net_response_norm(hu_net *net, int x, size_t size, double alpha, double beta, double k);
/* The function of each number; relu: the larger of it and 0; relu6: that, but at most 6; gelu: x Phi(x), not the
 * approximation by tanh. A NaN stays one. Results are rounded as every value is, so that 6 stays 6 in each format
 * whose numbers include it. */
HU_API int hu_net_relu(hu_net *net, int x);    /* max(x, 0) */
HU_API int hu_net_relu6(hu_net *net, int x);   /* min(max(x, 0), 6) */
HU_API int hu_net_gelu(hu_net *net, int x);    /* x Phi(x) */
HU_API int hu_net_tanh(hu_net *net, int x);    /* tanh(x) */
HU_API int hu_net_sigmoid(hu_net *net, int x); /* 1 / (1 + e^-x) */
/* Compute more functions; docs/training/training.md has their operations and gradients. HU_E_TRAIN: a number that is
 * not finite, or bounds of clip of which the lower one is above the other. */
HU_API int hu_net_leaky_relu(hu_net *net, int x, double slope);      /* x if x > 0, else slope x */
HU_API int hu_net_silu(hu_net *net, int x, double beta);             /* x / (1 + e^(-beta x)) */
HU_API int hu_net_clip(hu_net *net, int x, double low, double high); /* min(max(x, low), high) */
HU_API int hu_net_gelu_tanh(hu_net *net, int x);                     /* gelu's approximation by tanh, as in GPT-2 */
HU_API int hu_net_softplus(hu_net *net, int x);                      /* log(1 + e^x) */
/* Multiplies x by one factor, whose gradient is multiplied by another one (unit scaling: Blake et al., Unit scaling,
 * 2023). */
HU_API int hu_net_scale(hu_net *net, int x, double forward, double backward);
/* Multiplies each column of x, and its gradient, by its own constant. There are as many as columns; they are
 * copied, each as the binary32 number nearest to it. HU_E_NULL; HU_E_TRAIN: one is not finite. */
HU_API int hu_net_scale_columns(hu_net *net, int x, const double *factors);
/* Returns x itself, to which no gradient is given. */
HU_API int hu_net_stop_gradient(hu_net *net, int x);
/* Adds y, one row per sample, to each row of x. HU_E_SHAPE: other columns, or more rows per sample. */
HU_API int hu_net_add_row(hu_net *net, int x, int y);
/* Takes the numbers of each sample, in their order, as an image of so many pixels, or as so many rows. HU_E_SHAPE:
 * these do not divide them. */
HU_API int hu_net_as_image(hu_net *net, int x, size_t height, size_t width); /* channels: what is left */
HU_API int hu_net_as_rows(hu_net *net, int x, size_t rows);                  /* columns: what is left */
/* Sum and product, number by number, of two values of the same shape. */
HU_API int hu_net_add(hu_net *net, int a, int b);      /* a + b */
HU_API int hu_net_multiply(hu_net *net, int a, int b); /* a b */
/* Values of the same rows (images: height and width) side by side, columns of the first one first; and columns from,
 * from + 1 ... of a value. */
HU_API int hu_net_concat(hu_net *net, size_t count, const int *values);  /* values side by side */
HU_API int hu_net_columns(hu_net *net, int x, size_t from, size_t cols); /* some columns of a value */
/* Values of the same columns below each other: of each sample the rows of the first one, then those of the next one. */
HU_API int hu_net_stack_rows(hu_net *net, size_t count, const int *values);
/* Dot products of all pairs of different rows of a sample: one row with (1, 0), (2, 0), (2, 1), (3, 0) ..., the numbers
 * of both rows, from 0 on. Two operators: X X^T of the sample's rows X, a product (hu_net_round_product: its operands
 * are X and X), and what of it lies below the diagonal. HU_E_SHAPE: fewer than 2 rows a sample or more than 4096, or an
 * input. Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation Systems (2019). */
HU_API int hu_net_interactions(hu_net *net, int x);
/* The columns of x in so many groups of neighbours, as rows of a matrix, which is transposed: the first column of each
 * group, then the second of each ... Column i of group g of c columns becomes column i groups + g. Nothing is computed,
 * and gradients go back to where their column was. HU_E_SHAPE: `groups` does not divide the columns. Zhang et al.,
 * ShuffleNet (2018), figure 1. */
HU_API int hu_net_shuffle(hu_net *net, int x, size_t groups);
/* Of each sample the sum of all numbers of `count` values: a row of one number a sample. */
HU_API int hu_net_sum(hu_net *net, size_t count, const int *values);
/* Of each number x f, rounded as every value is: in training f is 0 with the probability floor(2^32 p) / 2^32, p from 0
 * to below 1, and else 1 / (1 - p), rounded to binary32, so that the mean of x f is x; in evaluation f is 1. The
 * gradient is times f, too. An infinity or a NaN times 0 is a NaN. Which f are 0 depends on the seed, the operator, the
 * step and the place of the number alone (docs/training/training.md, sections 3 and 4). Srivastava et al., Dropout
 * (JMLR 2014), scaled in training. */
HU_API int hu_net_dropout(hu_net *net, int x, double p);
/* ---- sequences: `rows` of a sample are steps of time ---- */

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
  double base;
  double factor;    /* Llama 3: low frequencies are divided by it; 1: none are */
  double low, high; /* Llama 3: low_freq_factor, high_freq_factor */
  double original;  /* Llama 3: original_max_position_embeddings */
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
 * that of transformers, modeling_rope_utils.py, as PyTorch computes a number over a tensor. HU_E_SHAPE: an input, an
 * odd width, columns that are no whole heads; HU_E_TRAIN: numbers that are not positive and finite, high not above
 * low. */
HU_API int hu_net_rotary(hu_net *net, int x, const hu_rotary *how);
/* Adds the sines of Vaswani et al. (2017) in the form of tensor2tensor: with n = floor(columns / 2), column k < n of
 * step p gets sin(p f_k), column n + k cos(p f_k), and a last odd column nothing; f_k = e^(k (-i)), i = ln(10000) /
 * max(n - 1, 1), all binary32 as above, ln(10000) rounded from its binary64 number. */
HU_API int hu_net_sines(hu_net *net, int x);
/* ---- mixtures of experts: rows of a value choose experts by logits, a column each ---- */

/* How a row chooses. hu_routing_of(chosen) has 0 in all other fields. */
typedef struct hu_routing {
  size_t chosen;     /* experts that each row chooses: those of its largest logits, of equal ones the first */
  uint8_t of_chosen; /* 0: shares are those of softmax over all logits; 1: over the chosen ones (gpt-oss) */
  uint8_t normed;    /* 1: they are divided by the sum of the chosen ones (Mixtral) */
  double capacity;   /* 0: an expert takes all rows that chose it; else ceil(capacity R chosen / E) of R rows for E
                        experts, the first ones, and the others get nothing from it (GShard, Switch Transformer) */
} hu_routing;
HU_API hu_routing hu_routing_of(size_t chosen);
/* Returns the shares, a row of E numbers, +0 for experts that are not chosen. HU_E_SHAPE: an input, or more chosen than
 * there are; HU_E_TRAIN: a capacity that is negative or not finite. Shazeer et al., Outrageously Large Neural Networks
 * (2017); Jiang et al., Mixtral of Experts (2024). */
HU_API int hu_net_route(hu_net *net, int logits, const hu_routing *how);
/* Returns the rows of x sorted by expert, and for each expert in the order of x: R chosen rows, of which the last ones
 * are +0 if some were not taken. routing: a value of hu_net_route. */
HU_API int hu_net_to_experts(hu_net *net, int x, int routing);
/* Multiplies the rows of each expert by a matrix of its own, and adds a row of its own: Z_e = X_e W_e + b_e. W has the
 * matrices of all experts below each other, b a row each. The products of different experts are separate sums; a
 * rounding sees X, W, Z and their gradients as whole tensors (hu_net_round_product), and `hadamard` is passed over. */
HU_API int hu_net_experts(hu_net *net, int x, int routing, size_t outputs, int bias);
/* Returns for each row the sum of share z over the experts that took it, first expert first, from +0. */
HU_API int hu_net_from_experts(hu_net *net, int x, int routing);
/* Losses beside the last operator's, which are added to it, and to hu_net_forward's, in training; each returns a value
 * of one number. balance: weight E times the sum over the experts of f P, f the part of the rows that chose it, without
 * a gradient, P the mean of its softmax over all logits (Fedus et al., Switch Transformers (2022), equation 4; with
 * several chosen experts as in Mixtral's code). z: weight times the mean over the rows of (log of the sum of e^logit)^2
 * (Zoph et al., ST-MoE (2022), equation 5). HU_E_TRAIN: a weight that is not positive and finite. */
HU_API int hu_net_balance_loss(hu_net *net, int routing, double weight); /* keeps loads even */
HU_API int hu_net_z_loss(hu_net *net, int routing, double weight);       /* keeps logits small */

/* One layer of `units` gated recurrent units or long short-term memory cells from a state of zeros; the result is the
 * last state h (`last`), or those of all steps. Each step is two linear operators, of the step's row and of h, with
 * parameters that all steps share, and a cell (docs/training/training.md section 3). First weights N(0, 1 / fan_in). */
HU_API int hu_net_gru(hu_net *net, int x, size_t units, int last);  /* gated recurrent units */
HU_API int hu_net_lstm(hu_net *net, int x, size_t units, int last); /* long short-term memory cells */
/* The same with what networks of speech and language add. HU_E_SHAPE: a field out of its range, or one that the cell
 * does not have; lengths that are not an input of one number a sample. */
enum {
  HU_CELL_GRU = 0, /* gated recurrent units */
  HU_CELL_LSTM = 1 /* long short-term memory cells */
};
enum {
  HU_DIRECTION_FORWARD = 0,  /* from the first step to the last */
  HU_DIRECTION_BACKWARD = 1, /* from the last step to the first; row t of the result is of step t */
  HU_DIRECTION_BOTH = 2,     /* two layers with weights of their own, their results side by side, forward first */
  HU_DIRECTION_SUM = 3       /* their results added */
};
typedef struct hu_recurrent {
  uint8_t cell;      /* HU_CELL_ */
  uint8_t direction; /* HU_DIRECTION_ */
  uint8_t last;      /* 1: the result is the state behind the last step of each direction; 0: those of all steps */
  uint8_t one_bias;  /* 1: h W_h has no bias of its own, as in TensorFlow */
  uint8_t carried;   /* 1: a pass begins with the state that the pass before ended with, as a constant (truncated
                        backpropagation; Jozefowicz et al. 2016), until hu_net_forget_states; forward alone */
  size_t units;
  size_t
      projection; /* lstm: h is (o tanh c') times a matrix units x projection, without a bias (Sak et al. 2014); 0: no
                        such matrix */
  float forget_bias; /* lstm: is added to the sum of the forget gate */
  int lengths;       /* an input of one number a sample, its steps; -1: all have all. A state stays as it is behind the
                        end (backward: before it), rows of the result there are +0, and no gradient comes from there */
} hu_recurrent;
/* Returns a layer of so many units: forward, all steps, two biases, no lengths. */
HU_API hu_recurrent hu_recurrent_of(uint8_t cell, size_t units);
HU_API int hu_net_recurrent(hu_net *net, int x, const hu_recurrent *layer);
/* Lets the next pass begin with states of zeros. It is to be a forward pass. */
HU_API HU_MUST_CHECK hu_status hu_net_forget_states(hu_net *net);
/* x with +0 in the steps behind the end of each sample, forward and in the gradient; of an image, steps are its rows of
 * pixels. */
HU_API int hu_net_within(hu_net *net, int x, int lengths);
/* Row t of the result is the sum over k of row k of W times row t + k of x, number by number, k from 0 to seen - 1 and
 * up to the end of the sample: W is seen x cols. Rows behind the end are +0. lengths: -1: all have all steps. Amodei et
 * al., Deep Speech 2 (2016), section 3.7. */
HU_API int hu_net_row_convolution(hu_net *net, int x, size_t seen, int lengths);

/* ---- pools and losses ---- */

/* Windows of kernel x kernel pixels, whole ones only; the first largest one counts. */
HU_API int hu_net_max_pool(hu_net *net, int x, size_t kernel, size_t stride);     /* the largest of a window */
HU_API int hu_net_average_pool(hu_net *net, int x, size_t kernel, size_t stride); /* the mean of a window */
HU_API int hu_net_global_average(hu_net *net, int x);                             /* the mean of an image */
/* Do the same over any windows without dilation. The zeros around an image never are a maximum; in a mean they count as
 * pixels (`zeros`), or its pixels alone do. ceil: 1: the number of windows is rounded up, unless the last one would
 * begin behind the image, and what reaches beyond the image and its zeros does not count. Errors too: those of the
 * windows; HU_E_SHAPE: dilation, a kernel above 4096, `ceil` or `zeros` above 1. */
HU_API int hu_net_max_pool_windows(hu_net *net, int x, const hu_net_windows *windows, int ceil);
HU_API int hu_net_average_pool_windows(hu_net *net, int x, const hu_net_windows *windows, int ceil, int zeros);
/* Losses, the last operators of a net, each a single number, and what it is compared with (hu_net_labels,
 * hu_net_targets). A net that has several loses their sum, added from the first one on; the values that they look at
 * have the same rows, and those with targets the same columns. R counts rows (hu_net_row_weights).
 * cross_entropy: weight / R times the sum over the R rows of log(sum over j of e^(x_j - max)) - (x_label - max).
 * squared_error: weight / (2 R) times the sum of (x - target)^2.
 * absolute_error: weight / R times the sum of |x - target|; its derivative where x = target is taken to be 0.
 * logistic: weight / R times the sum of log(1 + e^x) - x target, targets from 0 to 1; or labels 0 and 1 of one column,
 *   where the answer to a row is 1 if x is above 0.
 * smooth_l1: weight / R times the sum of (x - target)^2 / (2 beta) where |x - target| < beta, elsewhere of
 *   |x - target| - beta / 2; beta from 0 on, rounded to binary32. Girshick, Fast R-CNN (2015). */
HU_API int hu_net_cross_entropy(hu_net *net, int x, double weight);  /* compares with labels */
HU_API int hu_net_squared_error(hu_net *net, int x, double weight);  /* compares with targets */
HU_API int hu_net_absolute_error(hu_net *net, int x, double weight); /* compares with targets, by size */
HU_API int hu_net_logistic(hu_net *net, int x, double weight);       /* compares with targets, or labels 0 and 1 */
HU_API int hu_net_smooth_l1(hu_net *net, int x, double weight, double beta); /* compares with targets */
/* Cross entropy with a target that is spread: weight / R times the sum over rows and columns of q_j (log(sum over k of
 * e^(x_k - max)) - (x_j - max)). Of C columns each has q = smoothing / C, and the label 1 - smoothing more (Szegedy et
 * al., Rethinking the Inception architecture, 2016; PyTorch); HU_SMOOTHING_OTHERS: the label has 1 - smoothing, each
 * other column smoothing / (C - 1) (Tensor2Tensor). HU_SMOOTHING_LESS_MINIMUM: each row less -(sum of q log q), so that
 * the least loss is 0. HU_E_TRAIN: smoothing is not from 0 to below 1; HU_E_SHAPE: one column. */
enum {
  HU_SMOOTHING_OTHERS = 1,      /* the smoothing goes to the other columns alone */
  HU_SMOOTHING_LESS_MINIMUM = 2 /* the least loss is 0 */
};
HU_API int hu_net_cross_entropy_smoothed(hu_net *net, int x, double weight, double smoothing, unsigned how);

/* Connectionist temporal classification (Graves et al. 2006) of the steps of each sample: weight / (samples) times the
 * sum over samples of -log of the probability, by softmax of each row, of all ways to read its labels: a label or
 * `blank` in each step, equal labels behind each other read as one, then without blanks. The labels of a sample
 * (hu_net_labels) are the first of its steps; HU_LABEL_NONE follows. lengths: an input of one number a sample; -1: all
 * have all steps. docs/training/losses.md says what is computed. HU_E_SHAPE: the blank is not a column. */
enum {
  HU_CTC_BY_LENGTH = 1,    /* each sample's term over its number of labels, or 1: PyTorch's reduction 'mean' */
  HU_CTC_ZERO_INFINITE = 2 /* a sample with more labels than steps can hold loses 0, and has no gradient, in place of
                              an infinity and NaN: PyTorch's zero_infinity */
};
HU_API int hu_net_ctc(hu_net *net, int x, double weight, uint32_t blank, int lengths, unsigned how);
/* Writes the labels that the largest number of each of `steps` rows reads (the first one of equals); returns how many,
 * `steps` at most. */
HU_API size_t hu_ctc_greedy(size_t steps, size_t cols, const float *x, uint32_t blank, uint32_t *labels);
/* Returns the least number of labels that have to be put in, left out or replaced to make y of x (Levenshtein 1965);
 * SIZE_MAX: no memory. The label error rate of several sequences is the sum of these over the sum of m. */
HU_API size_t hu_edit_distance(size_t n, const uint32_t *x, size_t m, const uint32_t *y);

/* ---- parameters in several places ---- */

/* The next layer that has parameters takes those of an earlier layer, from number `parameter` on, and makes none of its
 * own. They keep their names and first weights; each has one gradient, the sum of what the layers give, last layer
 * first. HU_E_SHAPE, of the net, if there is no such parameter, or if that layer has parameters of other sizes or fewer
 * than the next one takes; if it has more, those that are left over are not taken. Muon leaves a table to AdamW, also
 * where a layer multiplies by it. */
HU_API void hu_net_share(hu_net *net, int parameter);

/* ---- names of parameters, as checkpoints and assignments require them ---- */

/* Every parameter has a name of its own, "scope.layerN.part": `layer` is the building call that made it (linear, conv,
 * conv_transpose, batch_norm, layer_norm, rms_norm, l2_norm, embedding, position, gru, lstm, row_convolution), N counts
 * the layers of that kind in their scope from 1 on, and the parts are weight and bias (linear, both conv), gain and
 * offset (batch_norm, layer_norm), gain (rms_norm, l2_norm), weight (embedding, position, row_convolution), weight_x,
 * bias_x, weight_h, bias_h, projection (cells; docs/training/training.md: Wx, bx, Wh, bh, P), the same with reverse_
 * before them for the second direction. No scope, the state at first: "linear1.weight". Layers that are added from here
 * on are of `scope`: up to 63 letters a to z, digits, '_', and '.' between them; "": of none. A scope may be left and
 * entered again. Other texts: HU_E_NAME. */
#define HU_SCOPE_MAX 64
#define HU_PARAMETER_NAME_MAX 112
HU_API void hu_net_scope(hu_net *net, const char *scope);
/* The one that is set; "" for NULL. */
HU_API const char *hu_net_scope_of(const hu_net *net);
/* NULL for a wrong number. Lives as long as the net. */
HU_API const char *hu_net_parameter_name(const hu_net *net, int parameter);
/* -1: none of that name. */
HU_API int hu_net_parameter_named(const hu_net *net, const char *name);

/* ---- first weights, other than hu_net_initialize's own; before it ---- */

/* N(0, deviation^2); all +0 if the deviation is 0. HU_E_SHAPE: no parameter of that number. HU_E_TRAIN: negative or not
 * finite. */
HU_API HU_MUST_CHECK hu_status hu_net_start_normal(hu_net *net, int parameter, float deviation);
/* Uniform between +-1/sqrt(hidden) (hu_init_uniform of data.h). HU_E_TRAIN: hidden is 0. */
HU_API HU_MUST_CHECK hu_status hu_net_start_uniform(hu_net *net, int parameter, size_t hidden);
/* Uniform between +-bound, both ends open, by the same words; and x everywhere. HU_E_TRAIN: a negative bound, or a
 * number that is not finite. */
HU_API HU_MUST_CHECK hu_status hu_net_start_within(hu_net *net, int parameter, float bound); /* uniform */
HU_API HU_MUST_CHECK hu_status hu_net_start_constant(hu_net *net, int parameter, float x);   /* one number */

/* ---- precision; before or between steps ---- */

/* Of values, from 0 on, and of parameters: weights and biases in the order in which the operators were added. */
HU_API int hu_net_values(const hu_net *net);     /* the number of values */
HU_API int hu_net_parameters(const hu_net *net); /* the number of parameters */

/* HU_E_SHAPE: no tensor of that number; else a rounding's own errors. Roundings are keep before. */
HU_API HU_MUST_CHECK hu_status hu_net_round_value(hu_net *net, int value, const hu_rounding *rounding,
                                                  const hu_rounding *dv); /* a value and its gradient */
HU_API HU_MUST_CHECK hu_status hu_net_round_parameter(hu_net *net, int parameter, const hu_rounding *theta,
                                                      const hu_rounding *dtheta); /* a parameter and its gradient */
/* Of the products of the operator that makes `value` (linear, conv, the two of attention): operands of Z = X W, of dX =
 * dZ W^T, of dW = X^T dZ, rounded once more before each, and the results, before a bias is added to Z and before
 * gradients of several readers are added up. Blocks of scaled roundings lie along rows of these matrices, or columns
 * where the rounding is `turned`. Of attention's scores and of hu_net_linear_transposed, K and dK, T and dT are meant
 * as they are stored: they are used as W^T and dW^T. Groups of a convolution are products, too, but a rounding sees all
 * of them: whole tensors, or the patches of all groups side by side. Each product has an accumulation model of its own:
 * a unit of 8-bit formats has one instruction per pair of formats, so that E4M3 forward and E5M2 backward are three of
 * them. */
typedef struct hu_product_rounding {
  hu_rounding x, w;         /* of Z = X W: X is rows x I, W is I x O */
  hu_rounding dz, w_back;   /* of dX = dZ W^T */
  hu_rounding x_back, dz_w; /* of dW = X^T dZ */
  hu_rounding z_out, dx_out, dw_out;
  hu_accum z_accum, dx_accum, dw_accum; /* of Z, dX and dW; the results are binary32 */
  uint32_t hadamard; /* 0; or 16, 32, 64, 128: X and dZ of dW = X^T dZ are transformed before they are rounded
                        (hadamard.h, HU_HADAMARD_ROOT): blocks of so many rows; rows behind the last whole block stay.
                        The product is the same up to roundings. Linear and conv only. */
  uint32_t signs;    /* bit i mod 32 set: the sign of row i of a block is inverted before */
  uint8_t by_window; /* conv only. 0: x, x_back and dx_out round the images X and dX as tensors, each pixel once, dX
                        after what the windows give to a pixel has been added in binary32; statistics are the image's,
                        blocks lie along channels (with `hadamard`, x_back still rounds patches). 1: x and x_back round
                        the patches, a number in each window that sees it, and dx_out what a window gives, before it is
                        added. */
  uint8_t twice;   /* 0: w_back and x_back round W and X; 1: what w and x have made of them, with the same words (double
                        quantization: TetraJet, Chen et al. 2025, arXiv 2502.20853, and its code, QLinear.py). Not with
                        hadamard, nor with by_window of a conv. */
  uint8_t quartet; /* HU_QUARTET_: linear only; not with hadamard or twice, and x to dz_w keep */
  float w_average; /* 0; or the decay of the moving average of W that decides between neighbours (below); less than 1 */
} hu_product_rounding;
/* Q-EMA (Chen et al. 2025, arXiv 2502.20853, section 5; its code: QLinear.py, engine.py and the quantizer with EMA): a
 * weight that oscillates between two codes stays with the one that its moving average is nearer to. E is as large as
 * the master weights, which it equals before the first update, and after each one, taken or not, in binary32:
 *
 *   E = d E + c W    d = w_average, c = binary32(1 - d), each product and the sum rounded
 *
 * The forward product (and the backward one, by `twice`) takes in place of W rounded to nearest, from the 11th step on:
 *
 *   sign(W) s toward(|W| / s, sign(W) E / s), s the block's scale, that of W's largest magnitude by rceil
 *   toward(x, e) = the largest number l <= x of E2M1 if e is below the middle of l and the next larger one, l + u, else
 *   l + u; u = 1/2, 1, 2 from 0, 2, 4 on; at most 6. +0 where W is 0.
 *
 * w has to be scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil), turned or not, and twice 1. The events
 * that are counted are those of W to nearest. Layers that share W have one E, with the decay that was set last. E is
 * state of a run, as momenta are. */
enum {
  HU_AVERAGE_AFTER = 10 /* steps round to nearest before the average decides */
};

/* Quartet (Castro et al. 2025-2026, arXiv 2505.14669, Algorithm 1 in appendix A.1 of version 4, whose lines are in
 * brackets; the scales are those of the authors' code, mxfp4_triton.py): a linear layer all of whose products have
 * MXFP4 operands.
 *
 *   forward   X_h = H(X), W_h = H(W) along I [2]; (X_q, M_x) = quest(X_h), (W_q, M_w) = quest(W_h) [3, 4];
 *             Z = X_q W_q [5]
 *   dX        G = range(H(S dZ)), V = range(H(S W_q^T)) along O [3, 4]; dX = 16/9 H((G V^T) M_x) along I [5, 6]
 *   dW        G = range(H(S dZ)), Y = range(H(S X_q)) along the rows of dZ [7, 8]; dW = 16/9 H((Y^T G) M_w) along I
 *             [9, 10]
 *
 * H is the transform of hadamard.h, n = 32, HU_HADAMARD_ROOT, of blocks of 32 numbers along the axis that the product
 * sums over (I columns of X, O columns of Z). S are 32 random signs, the same for all blocks of a pass and for dX and
 * dW: word 0 of part 9 of the operator's products (docs/training/training.md, section 4). Numbers behind the last whole
 * block of 32 stay as they are, and are a shorter block of the scales. Blocks of scales are those 32 numbers, and a
 * scale s is a power of two from 2^-127 to 2^127, all operations IEEE 754 binary32, ties to even, in the order written:
 *
 *   quest(x)  s = the power of two at or below p d + 1e-8, p = binary32(2.92247856 / 6), d = sqrt(v), v = the sum of
 *             x x over n, minus m m, m = the sum of x over n, both sums from the first number on; d = 1 if v < 0;
 *             x_q = s E2M1(x / s), nearest, ties to even, at most 6; M = 1 where |x / s| < 6, else 0
 *   range(x)  s = a quarter of the power of two at or below the largest |x|; x_q = s E2M1(0.75 x / s), which is at most
 *             6, nearest (HU_QUARTET_NEAREST) or by 16 random bits, sra:16 (HU_QUARTET_STOCHASTIC)
 *
 * A block with an infinity or a NaN, or whose sums are beyond the range, is NaN as a whole. Products are made by
 * z_accum, dx_accum, dw_accum; z_out rounds Z, dx_out and dw_out round dX and dW as they are above. The bias has the
 * gradient of dZ itself. Version 1 of the paper and the repository's main_setup.sh round stochastically in the backward
 * pass, and version 4 to nearest (its section 4.3 says why). The authors' Triton code breaks ties toward zero, and the
 * instruction of their kernels for Blackwell (section 4.4) to even: cvt.rn. */
enum {
  HU_QUARTET_NONE = 0,      /* not this */
  HU_QUARTET_NEAREST = 1,   /* version 4 */
  HU_QUARTET_STOCHASTIC = 2 /* earlier versions: range() rounds stochastically */
};
/* All keep, fp32, as tensors. */
HU_API hu_product_rounding hu_product_rounding_plain(void);
/* For the operator that makes `value`. HU_E_SHAPE: no product makes it, or `hadamard` is another number; HU_E_TRAIN:
 * by_window or twice is above 1, quartet above 2, w_average is not from 0 to below 1, or one of them does not go with
 * another field or with the kind of the operator; HU_E_MEMORY; else the parts' own errors. */
HU_API HU_MUST_CHECK hu_status hu_net_round_product(hu_net *net, int value, const hu_product_rounding *rounding);

/* Delayed scaling (NVIDIA Transformer Engine: recipe DelayedScaling, common/recipe/delayed_scaling.cu): the scale of an
 * operand comes from the largest magnitudes of earlier steps, so that it is known before the operand is. Of each
 * product there are three records, of X, W and dZ, with an amax in force and the amaxes of the last `history` steps,
 * all 0 at first. A rounding of an operand (x and x_back; w and w_back; dz and dz_w) that is a scaled tensor with one
 * block, `*x*`, one level and the rule ratio takes
 *
 *   A = min(2^margin amax in force, binary32's largest number), and M, the element's largest number, so that the
 *       scale is 1, while none is in force
 *
 * in place of the tensor's own amax; so its scale is M / A, and a number above A saturates. Other roundings of operands
 * stay as they are. When hu_net_update ends a step, taken or not, each record takes the amax of the step:
 *
 *   a       the largest magnitude of the numbers of all passes for training since the step before, as they were before
 *           their rounding; an infinity if there is an infinity or a NaN among them; 0 if there was none
 *   f       the largest of a and the history - 1 amaxes before it (HU_AMAX_MAX), or a itself (HU_AMAX_RECENT)
 *   amax in force = f, if f is finite and not 0; else it stays
 *
 * So an infinity keeps the scale as it is until it has left the history. A pass uses what earlier steps have left and
 * never its own numbers; evaluation uses it, too, and records nothing. (Transformer Engine's kernels leave a NaN out of
 * the maximum, and do not limit A but the scale; hu_scaled_quantize limits that in the same way.) */
enum {
  HU_AMAX_MAX = 0,   /* max: the largest of the history */
  HU_AMAX_RECENT = 1 /* most_recent: that of the last step */
};
typedef struct hu_delayed {
  uint32_t history; /* steps that are remembered: 1 to 65536; 0: scales are the tensors' own (current scaling) */
  uint8_t takes;    /* HU_AMAX_ */
  uint8_t margin;   /* binades that are left free: up to 64 */
} hu_delayed;
/* For the operator that makes `value`, after hu_net_round_product, whose next call ends it; records begin again.
 * HU_E_SHAPE: no product makes it; HU_E_TRAIN: a number out of range, no operand with one scale, `hadamard`, or
 * `by_window` of a convolution; HU_E_SCALING: an operand with several scales, two levels or another rule; HU_E_MEMORY.
 * hu_net_initialize forgets all records. */
HU_API HU_MUST_CHECK hu_status hu_net_delay_product(hu_net *net, int value, const hu_delayed *delayed);
/* The record of X (0), W (1) or dZ (2) of the product that makes `value`: 1 + history numbers, the amax in force (0:
 * none), then those of the steps, the last one first. They are the net's own, to be read, or written to continue a run.
 * NULL: there is none. */
HU_API float *hu_net_delayed_record(const hu_net *net, int value, int of);

/* How a parameter's weight updates end, whatever the optimizer says (optimizer.h: update, mode): tensors of one net can
 * differ, as in Zamirai et al., figure 4. HU_E_SHAPE: no such parameter; HU_E_MODE, HU_E_TRAIN: as hu_optimizer_check.
 */
HU_API HU_MUST_CHECK hu_status hu_net_update_parameter(hu_net *net, int parameter, unsigned update, hu_mode mode);

/* What the optimizer and clipping do to one parameter otherwise than to others. In a step its rate is rnd64(rate times
 * `rate`) and its decay rnd64(decay times `decay`), before they are rounded into `state` (of AdamW beside Muon,
 * rate_adamw times `rate`). LARC takes the rate without the factor. */
typedef struct hu_parameter_rule {
  double rate, decay; /* factors: 1 and 1; not negative, finite */
  uint8_t unclipped;  /* 1: the norm of hu_gradient_rules does not count its gradient, nor is that multiplied; 0 */
  uint8_t lazy;       /* 1: rows whose gradients are all 0 keep weights, moments and Kahan terms; nothing to Muon */
} hu_parameter_rule;
/* {1, 1, 0, 0}: all parameters have it at first. */
HU_API hu_parameter_rule hu_parameter_rule_none(void);
/* HU_E_SHAPE: no such parameter; HU_E_TRAIN: a factor out of range. */
HU_API HU_MUST_CHECK hu_status hu_net_rule_parameter(hu_net *net, int parameter, const hu_parameter_rule *rule);

/* What Muon updates (hu_net_update with HU_MUON): the matrices that linear layers, convolutions and recurrent cells
 * multiply by (a convolution's as a row for each number of a window; of several groups as one matrix). AdamW of the
 * same record updates all other parameters (embeddings, positions, biases, gains), with the rate rate_adamw. on: 0:
 * this parameter is among those, such as the last layer of a classifier in Jordan et al.; 1: it is not, as at first.
 * HU_E_SHAPE: no such parameter. */
HU_API HU_MUST_CHECK hu_status hu_net_muon_parameter(hu_net *net, int parameter, int on);

/* ---- running ---- */

/* Weights N(0, 2 / fan_in) where a ReLU, GELU or SiLU reads the result, else N(0, 1 / fan_in); biases 0, gains 1;
 * unless hu_net_start_... said otherwise. Normal numbers: docs/training/training.md. */
HU_API HU_MUST_CHECK hu_status hu_net_initialize(hu_net *net, uint64_t seed);
/* Copies a batch of an input in: batch x rows x cols numbers. The next call is a forward pass. */
HU_API HU_MUST_CHECK hu_status hu_net_feed(hu_net *net, int input, const float *x);
/* What the loss compares with: batch x rows labels, or batch x rows x cols targets. A row with the label HU_LABEL_NONE
 * has no part in the loss: its term and its gradient are +0, and R counts the other rows alone (padding; tokens that a
 * language model is not asked for). HU_E_SHAPE: a label that is no column, or no row with a label. */
#define HU_LABEL_NONE 0xFFFFFFFFu
HU_API HU_MUST_CHECK hu_status hu_net_labels(hu_net *net, const uint32_t *labels); /* labels, for cross entropy */
HU_API HU_MUST_CHECK hu_status hu_net_targets(hu_net *net,
                                              const float *targets); /* targets, for squared and absolute errors */
/* A weight for each row that the losses look at, from 0 on: its terms and its gradients are multiplied by it, +0 where
 * it is 0 (padding, whatever is there), and R is the sum of the weights in binary64. They hold until the next call;
 * NULL: each row weighs 1 again. HU_E_TRAIN: a weight is negative or not finite; HU_E_SHAPE: all are 0. */
HU_API HU_MUST_CHECK hu_status hu_net_row_weights(hu_net *net, const float *weights);
/* One pass; training: 1: batch statistics and dropout, 0: evaluation. *loss, if not NULL, is the loss, not rounded. */
HU_API HU_MUST_CHECK hu_status hu_net_forward(hu_net *net, int training, float *loss);
/* Gradients of scale times the loss, after a forward pass for training. */
HU_API HU_MUST_CHECK hu_status hu_net_backward(hu_net *net, float scale);
/* One step of the optimizer for all parameters: gradients times 1 / scale; where the rule does not take the step (an
 * infinity or a NaN among them) only the loss scale moves. *taken, if not NULL: 1 if weights were updated. */
HU_API HU_MUST_CHECK hu_status hu_net_update(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule,
                                             hu_loss_scale *scale, hu_update_counts *counts, int *taken);
/* The same with what gradient.h defines in between: penalties on the master weights, clipping by the global norm, LARC
 * (the rate is o->rate; HU_E_TRAIN with HU_MUON, which has two). with NULL: hu_net_update. Errors too: HU_E_MEMORY,
 * those of hu_gradient_prepare. */
typedef struct hu_net_gradient_rules {
  hu_gradient_rules rules;
  const hu_penalty *penalties; /* one for every parameter of the net, in order; NULL: none */
  hu_gradient_norms norms;     /* of the last update; written by it, as is `found` */
  hu_gradient_found found;     /* what the unscaled gradients contained: the loss scale's input */
} hu_net_gradient_rules;
HU_API HU_MUST_CHECK hu_status hu_net_update_with(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule,
                                                  hu_loss_scale *scale, hu_net_gradient_rules *with,
                                                  hu_update_counts *counts, int *taken);

/* ---- looking ---- */

/* A value's or a parameter's matrix; NULL for a wrong number, and where a device failed. They live as long as the net.
 * On the CPU they are the net's own and change with it. Of a net on a device they are copies, made (waiting for
 * the device) by each of these calls; what is written into them is not seen: hu_net_set_parameter. */
typedef struct hu_net_tensor {
  size_t rows, cols;
  float *numbers;             /* v; theta: the master weights */
  float *gradients;           /* dv, dtheta, as rounded */
  hu_rounding_counts forward; /* since the last look */
  hu_rounding_counts backward;
} hu_net_tensor;
HU_API hu_net_tensor hu_net_value(const hu_net *net, int value);         /* value number `value` */
HU_API hu_net_tensor hu_net_parameter(const hu_net *net, int parameter); /* parameter number `parameter` */
/* The kind of the operator that makes a value, a static text ("linear"; docs/training/training.md section 3); "" for an
 * input, which may stand anywhere among the values. NULL for a wrong number. */
HU_API const char *hu_net_value_kind(const hu_net *net, int value);
/* The number of the operator that makes a value, from 0 in the order in which operators are added; random words of
 * products are numbered by it (docs/training/training.md section 4). -1 for an input, a state of zeros, or a wrong
 * number. */
HU_API int hu_net_value_operator(const hu_net *net, int value);
/* Master weights: rows x cols numbers. x may be the net's own matrix. HU_E_SHAPE: no parameter of that number. */
HU_API HU_MUST_CHECK hu_status hu_net_set_parameter(hu_net *net, int parameter, const float *x);
/* Counts, since the last look, of the roundings of operands and results of the products (hu_product_rounding) of the
 * operator that makes `value`: forward, backward. 1; 0 where no product makes it, or a device failed. */
HU_API int hu_net_product_counts(const hu_net *net, int value, hu_rounding_counts counts[2]);
/* Counts, since the last look, of what the optimizer's stored_m (0) and stored_v (1) rounded of a parameter's moments.
 * 1; 0 where there is no such parameter, or a device failed. */
HU_API int hu_net_moment_counts(const hu_net *net, int parameter, hu_rounding_counts counts[2]);
/* Counts of all tensors, moments and products to zero. */
HU_API void hu_net_forget_counts(hu_net *net);
/* A digest of all parameters' bits (64 bits, FNV-1a over their bytes, little-endian). */
HU_API uint64_t hu_net_digest(const hu_net *net);

/* What a step is doing, for those who measure it: called when a phase begins and when it ends. Roundings of operands
 * and results of products lie inside the phases of their operators, all other phases side by side; what is not in one
 * is the engine's own. What a convolution rounds on its way (patches in blocks, dX as it is made) is reported piece by
 * piece if one thread computes; with several threads that time belongs to its operator. No bits depend on it, and the
 * library reads no clock. The observer is called in the thread of the call that it observes and in the library's
 * floating-point environment (train.h), not in the caller's. */
enum {
  HU_PHASE_FORWARD = 0,  /* an operator computes */
  HU_PHASE_BACKWARD = 1, /* its gradients are computed */
  HU_PHASE_ROUNDING = 2, /* a tensor is rounded */
  HU_PHASE_UPDATE = 3    /* the optimizer is at work */
};
typedef struct hu_net_phase {
  uint8_t phase;    /* HU_PHASE_ */
  uint8_t product;  /* 1: the operator is a matrix product or convolution */
  const char *kind; /* the operator's: "linear", "relu"; "" where there is none: inputs, parameters, the update */
  uint64_t number;  /* of the operator, in the order in which they were added; else 0 */
} hu_net_phase;
typedef void hu_net_observer(void *context, const hu_net_phase *phase, int ends);
/* NULL ends the observation. */
HU_API void hu_net_observe(hu_net *net, hu_net_observer *observer, void *context);

/* ---- on a CUDA device (library halfulp-train-cuda) ----
 *
 *   const hu_engine *device;
 *   if (hu_engine_device(&device) != HU_OK) ...            // HU_E_DEVICE: none, or a library without CUDA
 *   hu_net *net = hu_net_new_on(device, 64, 1);            // everything else as on the CPU
 *
 * All tensors of such a net live in the device's memory, every operator, rounding and step of the optimizer runs there,
 * and every bit is the same as on the CPU: weights, values, gradients, counts, losses (docs/training/training.md
 * section 6). These calls copy data to the device: hu_net_feed, hu_net_labels, hu_net_targets, hu_net_set_parameter.
 * They return when the caller's array may change, and wait for the device only where the array has more than 2^18
 * bytes.
 *
 * These bring data back, and wait: hu_net_forward where the loss is asked for, or where the net has an embedding, whose
 * tokens are checked; hu_net_update, for the largest gradient, for the counts of updates where they are asked for, and
 * for sums of squares where rules ask for norms; hu_net_value, hu_net_parameter, hu_net_digest. No step copies weights
 * or gradients. */

/* The current device. HU_E_DEVICE: there is none, or the library was built without CUDA; *engine is NULL then. */
HU_API HU_MUST_CHECK hu_status hu_engine_device(const hu_engine **engine);

#ifdef __cplusplus
}
#endif
#endif
