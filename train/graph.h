/* SPDX-License-Identifier: MIT */
/* train/graph.h - a network from inside: values, parameters, operators, and the order of sums. */
#ifndef HALFULP_TRAIN_GRAPH_H
#define HALFULP_TRAIN_GRAPH_H

#include "halfulp/train/net.h"

typedef struct hu_value {
  size_t rows, cols;    /* of the whole batch */
  size_t height, width; /* images: rows = batch height width; else 0 */
  float *v, *dv;
  hu_rounding round, round_back;
  hu_rounding_counts counts, counts_back;
  int made;     /* 1: by an operator */
  int gradient; /* 1: dv holds what readers have given so far */
} hu_value;

typedef struct hu_parameter {
  size_t rows, cols;
  float *master, *theta, *dtheta, *m, *second, *kahan;
  hu_rounding round, round_back;
  hu_rounding_counts counts, counts_back;
  float start;     /* gains 1, biases 0; weights: see fan_in */
  size_t fan_in;   /* of weights that are drawn, else 0 */
  int before_relu; /* 1: a ReLU or GELU reads what they give */
  int gradient;
} hu_parameter;

struct hu_operator;

typedef struct hu_operator_kind {
  const char *name;
  /* Fills v of the output, not rounded. */
  hu_status (*forward)(hu_net *net, struct hu_operator *op);
  /* From dv of the output: adds to those of inputs (hu_give) and of parameters (hu_give_parameter). */
  hu_status (*backward)(hu_net *net, struct hu_operator *op);
  /* What `kept` holds before the first step; normalisations alone have one. */
  void (*start)(hu_net *net, struct hu_operator *op);
  int product; /* 1: linear, conv */
  int loss;    /* 1: may end a net */
} hu_operator_kind;

typedef struct hu_operator {
  const hu_operator_kind *kind;
  int in[3], out; /* values, -1: none */
  int *list;      /* values that it reads, where they are more; n[0] of them */
  int theta[2];   /* parameters, -1: none */
  size_t n[4];    /* sizes that the kind knows */
  double x;       /* a number that the kind knows */
  float *kept;    /* what the forward pass leaves for the backward one */
  size_t kept_size;
  hu_product_rounding rounding;
  uint64_t number; /* of the operator */
} hu_operator;

enum { HU_TENSORS_MAX = 4096 };

struct hu_net {
  size_t batch;
  uint32_t threads;
  uint64_t seed, step;
  hu_status status;
  char why[128];
  hu_value *value;
  hu_parameter *parameter;
  hu_operator *op;
  int values, parameters, operators;
  float *work[3]; /* rooms for tensors on the way, work_size numbers each */
  size_t work_size;
  uint32_t *labels;
  float *targets;
  float loss;
  hu_optimizer_time time;
  int training, trained; /* the last pass was for training; a backward pass has been made since */
};

/* ---- building ---- */

/* The net's error, if it has none yet; returns -1. */
int hu_refuse(hu_net *net, hu_status status, const char *what);
/* A new value or parameter, zeros; -1 and the error. */
int hu_new_value(hu_net *net, size_t rows, size_t cols, size_t height, size_t width);
int hu_new_parameter(hu_net *net, size_t rows, size_t cols, float start, size_t fan_in);
/* A new operator that reads x (and y), made by its kind; NULL and the error. `kept` numbers are its own. */
hu_operator *hu_new_operator(hu_net *net, const hu_operator_kind *kind, int x, int y, int out, size_t kept);
/* X W + b with parameters that are there (bias -1: none), maybe those of another operator, too. */
int hu_linear_of(hu_net *net, int x, int weights, int bias);
/* The grid on which a rounding leaves numbers that were on that of `before`: what models of narrow units want to know;
 * binary32 for fp32, which need not. */
hu_format hu_grid_of(const hu_operator *op, const hu_rounding *r, const hu_rounding *before);
/* Operand or result `part` (docs/training.md section 4) of the products of an operator rounded in place. */
hu_status hu_round_product(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *x, const hu_rounding *r,
                           unsigned part);
/* Rooms of at least n numbers. */
hu_status hu_want_work(hu_net *net, size_t n);
/* 1 if x is a value of this net and nothing went wrong yet. */
int hu_usable(hu_net *net, int x);

/* ---- running ---- */

/* The numbers go to the dv of a value, the first time as they are, then added. */
void hu_give(hu_net *net, int value, const float *x);
void hu_give_parameter(hu_net *net, int parameter, const float *x);
/* 1 if somebody wants the gradient of a value: it was computed from something. */
int hu_wants_gradient(const hu_net *net, int value);
/* Random words for roundings and operators: of (seed, use, number), and of the step. */
enum {
  HU_OF_VALUE = 0,
  HU_OF_GRADIENT = 1,
  HU_OF_PARAMETER = 2,
  HU_OF_PARAMETER_GRADIENT = 3,
  HU_OF_UPDATE = 4,
  HU_OF_PRODUCT = 5,
  HU_OF_DROPOUT = 6
};
hu_stream hu_words_of(const hu_net *net, unsigned of, uint64_t number);
/* exec for calls of libhalfulp with these words. */
hu_exec hu_exec_of(const hu_net *net, hu_stream words);

/* ---- sums, in the orders of docs/training.md section 2 ---- */

/* The sum of n numbers side by side: 16 partial sums, number i to the partial sum i mod 16, these in halves. */
float hu_sum_row(size_t n, const float *x);
/* z[j] = the sum over rows of x[i cols + j] y[i cols + j] (y NULL: of x): chunks of 64 rows from zero, downwards, then
 * the chunks' sums; each step a binary32 addition of a binary32 product. */
void hu_sum_columns(size_t rows, size_t cols, float *z, const float *x, const float *y);

/* ---- elementary functions of binary32 numbers, correctly rounded, one thread ---- */
void hu_exp_each(size_t n, float *z, const float *x);
void hu_log_each(size_t n, float *z, const float *x);
void hu_tanh_each(size_t n, float *z, const float *x);
void hu_sigmoid_each(size_t n, float *z, const float *x);
void hu_erf_each(size_t n, float *z, const float *x);
void hu_gelu_each(size_t n, float *z, const float *x);

#endif
