/* SPDX-License-Identifier: MIT */
/* train/net/product.h - the three products of a layer with weights, as linear layers and convolutions share them. `in`
 * is the number of rows of W. Groups (op->groups) have their numbers side by side: of X and dX `in` columns each, of W,
 * Z, dW and dZ as many columns as outputs; each group is a product of its own. Operands are rounded into the buffers 1
 * (X; dZ of dX) and 2 (W; dZ of dW); buffer 0 is free for dX and has dW. */
#ifndef HALFULP_TRAIN_NET_PRODUCT_H
#define HALFULP_TRAIN_NET_PRODUCT_H

#include "train/net/net.h"

/* Does it leave all numbers as they are? */
static inline int hui_is_kept(const hu_rounding *rounding) { return rounding->kind == HU_ROUND_KEEP; }
/* The value that the layer reads, as the product that `part` belongs to has it. */
hu_matrices hui_x_operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part);
/* W and dZ as the product that `part` belongs to has them. */
hu_matrices hui_weights_operand(hu_net *net, hu_operator *op, size_t in, const hu_rounding *rounding, unsigned part);
hu_matrices hui_gradients_operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, float *buffer,
                                  unsigned part);
/* Z = X W for an X that is ready, and hui_finish_forward. */
hu_status hui_product_forward(hu_net *net, hu_operator *op, size_t in, hu_matrices x);
/* z = a b in binary32, m x k times k x n, for the result `part`. */
void hui_multiply(hu_net *net, const hu_operator *op, unsigned part, size_t m, size_t n, size_t k, float *z,
                  hu_matrices a, hu_matrices b);
/* Z is the product: rounds it and adds the bias. */
hu_status hui_finish_forward(hu_net *net, hu_operator *op);
/* dx = dZ W^T, a row for each of Z, which the caller rounds. */
void hui_product_x(hu_net *net, hu_operator *op, size_t in, float *dx);
/* Multiplies numbers of a product by the operator's factor (hu_operator.factor), in place; 0: there is none. */
void hui_times_factor(hu_net *net, size_t n, float *x, float factor);
/* dW = X^T dZ for an X that is ready, and hui_finish_weights. */
hu_status hui_product_weights(hu_net *net, hu_operator *op, size_t in, hu_matrices x);
/* dw, from hui_gift_parameter, is the product: rounds it, gives it to W, and gives db. */
hu_status hui_finish_weights(hu_net *net, hu_operator *op, size_t in, float *dw);
/* Gives db, where there is a bias. */
hu_status hui_give_bias(hu_net *net, hu_operator *op);
/* 1: the layer shares its weights and leaves their gradient for hui_give_postponed: X and dZ stay as they are until the
 * end of the pass. */
int hui_postponed(hu_net *net, hu_operator *op);
/* Adds W of in x cols and the bias of the result; returns the number of the result, or -1. */
int hui_add_weights(hu_net *net, hu_operator *op, size_t in, size_t cols, int bias);

/* Compute the passes of a linear layer under `quartet` (train/net/quartet.c). */
hu_status hui_quartet_forward(hu_net *net, hu_operator *op);
hu_status hui_quartet_backward(hu_net *net, hu_operator *op);

#endif
