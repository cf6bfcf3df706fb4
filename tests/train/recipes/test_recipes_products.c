/* SPDX-License-Identifier: MIT */
/* Where recipes round the three products of a layer: a network's Z, dX and dW against the products put together from
 * the library's calls. The table of blocks (MX, NVFP4, DeepSeek-V3): along I for Z, along O for dX, along the batch for
 * dW, each from the numbers in binary32; S2FP8: before and after; bfloat16 with binary32 weights: operands. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "halfulp/train/data.h"
#include "halfulp/train/net.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { B = 160, I = 200, O = 144 };
static const hu_mode rne;
static float x[B * I], w[I * O], targets[B * O];

typedef struct recipe {
  const char *x, *w, *dz, *w_back, *x_back, *dz_w; /* operands; NULL: keep */
  const char *out;                                 /* results */
} recipe;

static const recipe recipes[] = {
    {"bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16", NULL},
    {"mxfp8_e4m3", "mxfp8_e4m3,turned", "mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e4m3,turned", "mxfp8_e4m3,turned", NULL},
    {"mxfp4", "mxfp4,turned", "mxfp4", "mxfp4", "mxfp4,turned", "mxfp4,turned", "bfloat16"},
    {"nvfp4_te", "nvfp4_te,turned", "nvfp4_te", "nvfp4_te", "nvfp4_te,turned", "nvfp4_te,turned", NULL},
    {"dsv3_1x128", "dsv3_128x128", "dsv3_1x128", "dsv3_128x128", "dsv3_1x128,turned", "dsv3_1x128,turned", NULL},
    {"s2fp8", "s2fp8", "s2fp8", "s2fp8", "s2fp8", "s2fp8", "s2fp8"},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2"},
    {"fp8_tensor", "fp8_tensor",
     "scaled(float8_e5m2;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)", "fp8_tensor",
     "fp8_tensor", "scaled(float8_e5m2;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)",
     NULL}};

static hu_rounding parsed(const char *text) {
  hu_rounding rounding = hu_rounding_keep();
  if (text) assert_int_equal(hu_rounding_parse(&rounding, text, NULL), HU_OK);
  return rounding;
}

/* x rounded; `turned` blocks go down the columns: those of the transpose along its rows. */
static void quantize(size_t rows, size_t cols, float *z, const float *from, const char *text) {
  static float t[I * O + B * I], y[I * O + B * I];
  hu_rounding rounding = parsed(text);
  if (rounding.kind == HU_ROUND_S2FP8) {
    assert_int_equal(hu_s2fp8_truncate_n(rows * cols, z, 1, from, 1, &rounding.s2fp8, rne, NULL, NULL, NULL, NULL),
                     HU_OK);
  } else if (rounding.kind == HU_ROUND_FORMAT) {
    assert_int_equal(hu_quantize_n(rows * cols, z, 1, from, 1, rounding.format, rne, NULL, NULL), HU_OK);
  } else if (rounding.kind == HU_ROUND_KEEP) {
    memcpy(z, from, rows * cols * sizeof *z);
  } else if (!rounding.turned) {
    assert_int_equal(
        hu_scaled_quantize(rows, cols, z, cols, from, cols, &rounding.scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  } else {
    for (size_t i = 0; i < rows * cols; i++) t[i % cols * rows + i / cols] = from[i];
    assert_int_equal(hu_scaled_quantize(cols, rows, y, rows, t, rows, &rounding.scaling, rne, NULL, NULL, NULL, NULL),
                     HU_OK);
    for (size_t i = 0; i < rows * cols; i++) z[i] = y[i % cols * rows + i / cols];
  }
}

static void multiply(size_t m, size_t n, size_t k, float *z, const float *a, int ta, const float *b, int tb) {
  hu_accum fp32;
  assert_int_equal(hu_accum_parse(&fp32, "fp32", NULL), HU_OK);
  hu_view left = hu_matrix_floats(a, ta ? m : k);
  if (ta) left = hu_transposed(left);
  hu_view right = hu_matrix_floats(b, tb ? k : n);
  if (tb) right = hu_transposed(right);
  hu_output result = hu_matrix_floats_out(z, n);
  assert_int_equal(hu_gemm(m, n, k, &result, &left, &right, NULL, &fp32, NULL), HU_OK);
}

static void same(const char *what, size_t k, size_t n, const float *got, const float *expected) {
  for (size_t i = 0; i < n; i++) {
    if (t_bits32(got[i]) != t_bits32(expected[i])) {
      fail_msg("%s of recipe %zu, number %zu: %a, not %a", what, k, i, (double)got[i], (double)expected[i]);
    }
  }
}

static void one(size_t k) {
  static float a[B * I], b[I * O + B * O], z[B * O], dz[B * O], dx[B * I], dw[I * O];
  const recipe *c = &recipes[k];
  hu_net *net = hu_net_new(B, 1);
  int in = hu_net_input(net, 1, I), h = hu_net_position(net, in), y = hu_net_linear(net, h, O, 0);
  (void)hu_net_squared_error(net, y, B);
  hu_rounding out = parsed(c->out);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.x = parsed(c->x);
  rounding.w = parsed(c->w);
  rounding.dz = parsed(c->dz);
  rounding.w_back = parsed(c->w_back);
  rounding.x_back = parsed(c->x_back);
  rounding.dz_w = parsed(c->dz_w);
  rounding.z_out = rounding.dx_out = rounding.dw_out = out;
  assert_int_equal(hu_net_round_product(net, y, &rounding), HU_OK);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  memcpy(hu_net_parameter(net, 1).numbers, w, sizeof w);
  assert_int_equal(hu_net_feed(net, in, x), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 0x1p-6f), HU_OK);
  memcpy(dz, hu_net_value(net, y).gradients, sizeof dz);
  /* Z = X W */
  quantize(B, I, a, x, c->x);
  quantize(I, O, b, w, c->w);
  multiply(B, O, I, z, a, 0, b, 0);
  quantize(B, O, z, z, c->out);
  same("Z", k, B * O, hu_net_value(net, y).numbers, z);
  /* dX = dZ W^T */
  quantize(B, O, a, dz, c->dz);
  quantize(I, O, b, w, c->w_back);
  multiply(B, I, O, dx, a, 0, b, 1);
  quantize(B, I, dx, dx, c->out);
  same("dX", k, B * I, hu_net_value(net, h).gradients, dx);
  /* dW = X^T dZ */
  quantize(B, I, a, x, c->x_back);
  quantize(B, O, b, dz, c->dz_w);
  multiply(I, O, B, dw, a, 1, b, 0);
  quantize(I, O, dw, dw, c->out);
  same("dW", k, I * O, hu_net_parameter(net, 1).gradients, dw);
  hu_net_free(net);
}

static void products(void **state) {
  (void)state;
  hu_normal_n(B * I, x, 1, hu_stream_of_use(1, HU_USE_OTHER));
  hu_normal_n(I * O, w, 0.1f, hu_stream_of_use(2, HU_USE_OTHER));
  hu_normal_n(B * O, targets, 1, hu_stream_of_use(3, HU_USE_OTHER));
  for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) one(k);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products)};
  return cmocka_run_group_tests_name("recipes: products", tests, NULL, NULL);
}
