/* SPDX-License-Identifier: MIT */
/* Newton-Schulz iterations of Muon: products of an engine, each with its operands and its result in one format.
 *
 * A matrix with more rows than columns is not transposed: X^T is read in its place, by products that take operands
 * transposed. Every number has the same terms in the same order. */
#include "train/engine/muon.h"

#include <math.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train/gradient.h"

static const float a = 3.4445f, b = -4.775f, c = 2.0315f, epsilon = 1e-7f;

/* A call, and its first error. */
typedef struct iterations {
  const hu_muon_call *call;
  int tall;      /* 1: more rows than columns */
  size_t side;   /* rows of A, S and B: the smaller side of X */
  size_t length; /* the larger side */
  hu_status status;
} iterations;

static void each(iterations *made, int kernel, size_t n, float *z, const float *x, const float *y, float p) {
  const hu_engine *engine = made->call->engine;
  hu_task task = hui_task_of(1, n, z, x, y);
  task.p = p;
  if (made->status == HU_OK) made->status = engine->run(made->call->self, kernel, &task);
}

/* z = P(z) */
static void rounded(iterations *made, size_t n, float *z) {
  const hu_format format = made->call->optimizer->product;
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  if (made->status != HU_OK || hu_format_equal(format, hu_binary32())) return;
  made->status = made->call->engine->quantize(made->call->self, n, z, format, rne, none);
}

/* z = P(x op y), or of x and a number p */
static void does(iterations *made, int kernel, size_t n, float *z, const float *x, const float *y, float p) {
  each(made, kernel, n, z, x, y, p);
  rounded(made, n, z);
}

static hu_matrices matrix_of(const iterations *made, float *x, size_t cols, int transposed) {
  hu_matrices of = {x, cols, 0, 0, made->call->optimizer->product, transposed};
  return of;
}

/* z = P(x y), m x n with k terms each. */
static void product(iterations *made, size_t m, size_t n, size_t k, float *z, hu_matrices x, hu_matrices y) {
  hu_products products = {m, n, k, 1, 1, matrix_of(made, z, n, 0), x, y, &made->call->optimizer->accum, {0, 0}, NULL};
  if (made->status == HU_OK) made->status = made->call->engine->products(made->call->self, &products);
  rounded(made, m * n, z);
}

/* The norm that X is divided by: the sum of squares in binary64. */
static float norm_of(iterations *made) {
  const hu_engine *engine = made->call->engine;
  hu_squares squares = {made->side * made->length, made->call->buffer[0], 0};
  if (made->status == HU_OK && engine->squares) made->status = engine->squares(made->call->self, 1, &squares);
  if (made->status == HU_OK && !engine->squares) squares.sum = hu_gradient_squares_n(squares.n, squares.x);
  return (float)sqrt(squares.sum) + epsilon;
}

static void iterate(iterations *made) {
  float *const *buffer = made->call->buffer, *x = buffer[0], *square = buffer[1], *other = buffer[2], *sum = buffer[3];
  size_t side = made->side, length = made->length, cols = made->call->matrix->cols, n = side * side,
         all = side * length;
  product(made, side, side, length, square, matrix_of(made, x, cols, made->tall),
          matrix_of(made, x, cols, !made->tall));
  does(made, HU_RUN_SCALE, n, other, square, NULL, c);
  product(made, side, side, side, sum, matrix_of(made, other, side, 0), matrix_of(made, square, side, 0));
  does(made, HU_RUN_SCALE, n, square, square, NULL, b);
  does(made, HU_RUN_ADD, n, square, square, sum, 0);
  if (made->tall) { /* (B X^T)^T */
    product(made, length, side, side, other, matrix_of(made, x, cols, 0), matrix_of(made, square, side, 1));
  } else {
    product(made, side, length, side, other, matrix_of(made, square, side, 0), matrix_of(made, x, cols, 0));
  }
  does(made, HU_RUN_SCALE, all, x, x, NULL, a);
  does(made, HU_RUN_ADD, all, x, x, other, 0);
}

hu_status hui_muon_orthogonal(const hu_muon_call *call) {
  size_t rows = call->matrix->rows, cols = call->matrix->cols;
  iterations made = {call, rows > cols, rows > cols ? cols : rows, rows > cols ? rows : cols, HU_OK};
  rounded(&made, rows * cols, call->buffer[0]);
  does(&made, HU_RUN_OVER, rows * cols, call->buffer[0], call->buffer[0], NULL, norm_of(&made));
  for (uint32_t i = 0; i < call->optimizer->iterations; i++) iterate(&made);
  return made.status;
}
