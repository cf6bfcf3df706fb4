/* SPDX-License-Identifier: MIT */
/* train/transformer/attention.h - what operators of attention share. Scores and shares have rows (sample, head,
 * step). */
#ifndef HALFULP_TRAIN_TRANSFORMER_ATTENTION_H
#define HALFULP_TRAIN_TRANSFORMER_ATTENTION_H

#include "train/net/net.h"

/* Where operands are: columns of a value from `from` on. Queries, and after them keys and values, are in one value; or
 * queries alone, and keys and values in another one. */
typedef struct hu_operand_place {
  int value;
  size_t from;
} hu_operand_place;

/* Return the columns of all queries; of all keys, which are those of all values. */
size_t hui_query_columns(const hu_operator *op);
size_t hui_key_columns(const hu_operator *op);
/* Returns the place of the values of an operator that sums them, whose in[0] are scores or shares. */
hu_operand_place hui_values_of(const hu_net *net, const hu_operator *op);
/* Copies d columns into z, rows x d. */
void hui_take_columns(hu_net *net, hu_operand_place at, size_t d, float *z);
/* Copies x, rows x d, to these columns of z, which has the shape of the whole value. */
void hui_put_columns(hu_net *net, hu_operand_place at, size_t d, const float *x, float *z);
/* Several heads of queries may read one head of keys and of values. Returns rows of keys or values with a copy for each
 * head of queries: x itself, or in z. */
float *hui_for_each_head(hu_net *net, const hu_operator *op, size_t rows, float *x, float *z);
/* Returns the sums of gradients of the copies, first head first: x itself, or in z. */
float *hui_of_each_group(hu_net *net, const hu_operator *op, size_t rows, float *x, float *z);
/* Returns the heads' matrices in rows x d, so many rows per sample, on the grid `format`. */
hu_matrices hui_heads_of(const hu_operator *op, size_t rows, float *x, hu_format format, int transposed);
/* Returns the matrices of steps x keys scores in x. */
hu_matrices hui_scores_of(const hu_operator *op, float *x, hu_format format, int transposed);
/* Computes one product for each sample and head, for the result `part`. */
void hui_multiply_heads(hu_net *net, const hu_operator *op, unsigned part, const hu_accum *accum, size_t m, size_t n,
                        size_t k, hu_matrices z, hu_matrices a, hu_matrices b);
/* Gives dV = P^T dO. */
void hui_give_values(hu_net *net, hu_operator *op, const float *shares);
/* Writes dP = dO V^T to dp. */
void hui_shares_gradient(hu_net *net, hu_operator *op, float *dp);
/* Adds softmax of a, which has a score of each row of a value, for each sample, and the sum of these rows by their
 * shares. The first `lengths` of a sample's rows count; -1: all. Returns the number of the result, or -1. */
int hui_add_sum_of_rows(hu_net *net, int a, int rows, int lengths);
/* Adds softmax and the sums of values as one operator that sees blocks of keys (online.c); a: the scores. Returns the
 * number of the result, or -1. */
int hui_add_online(hu_net *net, int a, int kv, const hu_attention *how, const hu_head_sizes *heads);

#endif
