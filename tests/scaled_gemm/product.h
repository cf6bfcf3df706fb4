/* SPDX-License-Identifier: MIT */
/* tests/scaled_gemm/product.h - products of scaled tensors drawn at random, and as docs/scaled.md section 9 words them:
 * sums by the reference of tests/accum, scales in binary64 and long double, encoded results by tests/scaled/model.h.
 * Nothing of the emulator takes part in what is expected. */
#ifndef HALFULP_TESTS_SCALED_GEMM_PRODUCT_H
#define HALFULP_TESTS_SCALED_GEMM_PRODUCT_H

#include "halfulp/gemm.h"
#include "tests/support/support.h"

/* A matrix of the product with the arrays that it lies in. */
typedef struct t_matrix {
  size_t rows, cols; /* of the product's matrix */
  hu_scaling scaling;
  int scaled;
  size_t stored_rows, stored_cols, ld, lds;
  void *codes, *scales;
  size_t code_bytes, scale_bytes; /* of the arrays */
  float tensor;
  hu_scaled record; /* of a scaled one */
  hu_view view;
} t_matrix;

typedef struct t_product {
  size_t m, n, k;
  t_matrix a, b, c;
  int has_c;
  hu_scaled_sum sum;
  hu_mode mode;
  hu_stream stream;
  /* D */
  int scaled, values;
  hu_format format; /* plain */
  hu_scaling scaling;
  size_t ld, lds;
  const float *amax;
  float amax_value;
} t_product;

enum { PRODUCT_ROOM = 1 << 12 };
/* What comes out: contiguous, codes (of a plain D, patterns of its values where it has values). */
typedef struct t_expected {
  uint32_t codes[PRODUCT_ROOM], scales[PRODUCT_ROOM];
  hu_scaled_stats stats[PRODUCT_ROOM];
  float tensor;
  hu_events events;
} t_expected;

/* How codes and scales are drawn. */
enum { DRAW_ENCODED, DRAW_NEAR, DRAW_ANY_CODES, DRAW_KINDS };

/* Arrays for rows x cols; transposed: stored the other way. Ends the test if there is no memory. */
void matrix_scaled(t_matrix *x, t_random *random, size_t rows, size_t cols, const hu_scaling *scaling, int transposed,
                   int kind);
void matrix_plain(t_matrix *x, t_random *random, size_t rows, size_t cols, hu_format format, int values, int transposed,
                  int kind);
void matrix_free(t_matrix *x);
void product_free(t_product *product);

/* Everything but m, n, k at random. 0: the draw did not go together; draw again. */
int product_draw(t_product *product, t_random *random);
/* 0: the model cannot say (an exact factor that binary64 does not hold). */
int product_model(const t_product *product, t_expected *expected);
/* NULL, or what is different: the call on `threads` threads without `levels_off`. */
const char *product_check(const t_product *product, const t_expected *expected, uint32_t threads, uint32_t levels_off);
const char *product_text(const t_product *product);

#endif
