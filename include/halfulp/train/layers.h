/* SPDX-License-Identifier: MIT */
/* halfulp/train/layers.h - a network, and the layers that it is built of: of rows and of each number.
 *
 * halfulp/train/net.h says what a network is and how it runs, and includes this header and those of the other layers.
 * A building call returns the number of its result, -1 after an error; given -1 it returns -1. The first error stays:
 * hu_net_status. docs/training/training.md, section 3, is normative. */
#ifndef HALFULP_TRAIN_LAYERS_H
#define HALFULP_TRAIN_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A network; opaque. */
typedef struct hu_net hu_net;

/* What computes: NULL is the CPU, hu_engine_device (net.h) a CUDA device. All bits are the same
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
 * long as the net). HU_E_SHAPE (also for more than 2^17 operators), HU_E_NULL, HU_E_TRAIN, HU_E_NAME, HU_E_MEMORY,
 * HU_E_DEVICE (an operator that a device does not have). */
HU_API hu_status hu_net_status(const hu_net *net, const char **why);

/* ---- inputs and linear layers ---- */

/* An input: `rows` rows of `cols` numbers a sample; and one of images. */
HU_API int hu_net_input(hu_net *net, size_t rows, size_t cols);                     /* rows of numbers */
HU_API int hu_net_image(hu_net *net, size_t height, size_t width, size_t channels); /* rows of pixels */
/* Z = X W + b: W is cols x outputs; b a row, added in binary32 before the rounding. */
HU_API int hu_net_linear(hu_net *net, int x, size_t outputs, int bias);
/* Z = X T^T + b with a parameter T that is there, such as the table of an embedding: a column for each row of T, and a
 * bias of its own. The gradient of T is dZ^T X. HU_E_SHAPE: T is no parameter, or has other columns than x. Press and
 * Wolf, Using the Output Embedding to Improve Language Models (2017). */
HU_API int hu_net_linear_transposed(hu_net *net, int x, int table, int bias);

/* ---- of each number, and of shapes ---- */

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

#ifdef __cplusplus
}
#endif
#endif
