/* SPDX-License-Identifier: MIT */
/* Accumulation in narrow formats: where sums of ones stop, in binary16 and in chunks of fp(6,9,0), and what chunks do
 * for the sum that a gradient of weights is (Wang et al. 2018). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "halfulp/scalar.h"
#include "halfulp/train/data.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { MOST = 32768 };
static const hu_mode rne;

static hu_accum model(const char *text) {
  hu_accum a;
  assert_int_equal(hu_accum_parse(&a, text, NULL), HU_OK);
  return a;
}

static hu_accum chunks(unsigned length) {
  char text[80];
  snprintf(text, sizeof text, "chunk(%u,fp(6,9,0),fp(6,9,0))", length);
  return model(text);
}

/* z = A B, m x k and k x n in binary32 values of a format. */
static void multiply(size_t m, size_t n, size_t k, float *z, const float *a, const float *b, hu_format format,
                     hu_accum x) {
  hu_view left = hu_matrix_of(a, k, hu_type_values(HU_TYPE_VALUES32, format)),
          right = hu_matrix_of(b, n, hu_type_values(HU_TYPE_VALUES32, format));
  hu_output result = hu_matrix_floats_out(z, n);
  assert_int_equal(hu_gemm(m, n, k, &result, &left, &right, NULL, &x, NULL), HU_OK);
}

static float ones[MOST];

static float sum(size_t n, const float *x, hu_accum how) {
  float z;
  multiply(1, 1, n, &z, x, ones, hu_bfloat16(), how);
  return z;
}

static float sum_of_ones(size_t n, hu_accum how) { return sum(n, ones, how); }

/* A product of binary16 numbers as it is before it is rounded, and what it is compared with. */
static void worked_accumulator(void **state) {
  (void)state;
  static const uint16_t x[2] = {0x2E66, 0xB99A}, w[2] = {0x3555, 0x0819};
  hu_view left = hu_matrix_codes(x, 2, hu_binary16()), right = hu_matrix_codes(w, 1, hu_binary16());
  float z;
  hu_output result = hu_matrix_floats_out(&z, 1);
  hu_accum fp32 = model("fp32");
  assert_int_equal(hu_gemm(1, 1, 2, &result, &left, &right, NULL, &fp32, NULL), HU_OK);
  assert_true(z == 0x1.10375p-5f);
  assert_int_equal(hu_encode(hu_binary16(), rne, z, 0, NULL), 0x2841);
  float y = hu_decode(hu_binary16(), 0x2841), off = y - hu_decode(hu_binary16(), 0x3400);
  assert_true(y == 0x1.104p-5f && off == -0x1.bbfp-3f);
  assert_int_equal(hu_encode(hu_binary16(), rne, off, 0, NULL), 0xB2F0);
  assert_int_equal(hu_encode(hu_binary16(), rne, 1024 * off, 0, NULL), 0xDAF0);
}

static void binary16_stops_at_2048(void **state) {
  (void)state;
  static const char *const models[] = {"seq(binary16)", "seq2(binary16)"};
  for (size_t n = 1; n <= 6000; n += 1 + n / 7) {
    for (int k = 0; k < 2; k++) assert_true(sum_of_ones(n, model(models[k])) == (float)(n < 2048 ? n : 2048));
    assert_true(sum_of_ones(n, model("fp32")) == (float)n);
    assert_true(sum_of_ones(n, model("seq(bfloat16)")) == (float)(n < 256 ? n : 256));
  }
  assert_true(sum_of_ones(2049, model("seq(binary16)")) == 2048);
}

static void chunks_of_ones(void **state) {
  (void)state;
  static const struct {
    size_t n;
    unsigned length;
    float expected;
  } rows[] = {{4096, 1, 1024},     {4096, 8, 4096},     {4096, 64, 4096}, {16384, 1, 1024},
              {16384, 8, 8192},    {16384, 64, 16384},  {1024, 1, 1024},  {32768, 8, 8192},
              {32768, 128, 32768}, {16384, 4096, 4096}, /* the chunks stop at 1024 */
              {16384, 16384, 1024}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    float z = sum_of_ones(rows[i].n, chunks(rows[i].length));
    if (z != rows[i].expected) fail_msg("%zu ones in chunks of %u: %g", rows[i].n, rows[i].length, (double)z);
  }
  assert_true(sum_of_ones(4096, model("seq2(fp(6,9,0))")) == 1024);
  assert_true(sum_of_ones(4096, model("seq(fp(6,9,0))")) == 1024);
}

/* Numbers of mean 1 and variance 1: one after another the sum stops where its gap is 8, for none is above 4. */
static void uniform_numbers(void **state) {
  (void)state;
  static float x[16384];
  hu_stream stream = hu_stream_of_use(1, HU_USE_OTHER);
  hu_uniform_n(16384, x, 1 - sqrtf(3), 1 + sqrtf(3), stream);
  assert_int_equal(hu_quantize_n(16384, x, 1, x, 1, hu_bfloat16(), rne, NULL, NULL), HU_OK);
  double exact = 0;
  for (int i = 0; i < 16384; i++) exact += (double)x[i];
  float by1 = sum(16384, x, chunks(1)), by32 = sum(16384, x, chunks(32)), by64 = sum(16384, x, chunks(64));
  print_message("%.1f: one by one %g, chunks of 32 %g, of 64 %g\n", exact, (double)by1, (double)by32, (double)by64);
  assert_true(by1 == 4096);
  assert_true(fabs((double)by32 - exact) < 0.02 * exact && fabs((double)by64 - exact) < 0.02 * exact);
}

/* Relative errors of dW = X^T dZ over 32768 rows, X not negative, both in fp(5,2,0): a sum in order, chunks of 64, both
 * in fp(6,9,0), and binary32. */
static void errors_of(int signs, double errors[3]) {
  enum { M = 8, N = 8 };
  static float x[M * MOST], y[MOST * N];
  hu_format format;
  assert_int_equal(hu_format_parse(&format, "fp(5,2,0)", NULL), HU_OK);
  hu_normal_n(M * MOST, x, 1, hu_stream_of_use(2, HU_USE_OTHER));
  hu_normal_n(MOST * N, y, 0x1p-6f, hu_stream_of_use(3, HU_USE_OTHER));
  for (int i = 0; i < M * MOST; i++) x[i] = x[i] > 0 ? x[i] : 0;
  for (int i = 0; i < MOST * N; i++) y[i] = y[i] < 0 && !signs ? -y[i] : y[i];
  assert_int_equal(hu_quantize_n(M * MOST, x, 1, x, 1, format, rne, NULL, NULL), HU_OK);
  assert_int_equal(hu_quantize_n(MOST * N, y, 1, y, 1, format, rne, NULL, NULL), HU_OK);
  float exact[M * N], got[M * N];
  multiply(M, N, MOST, exact, x, y, format, model("exact"));
  hu_accum models[3] = {model("seq2(fp(6,9,0))"), chunks(64), model("fp32")};
  for (int k = 0; k < 3; k++) {
    double off = 0, size = 0;
    multiply(M, N, MOST, got, x, y, format, models[k]);
    for (int i = 0; i < M * N; i++) {
      off += ((double)got[i] - (double)exact[i]) * ((double)got[i] - (double)exact[i]);
      size += (double)exact[i] * (double)exact[i];
    }
    errors[k] = sqrt(off / size);
  }
}

/* Chunks have at most a fifth of the error where the terms have one sign, so that the sum grows and swamps them; with
 * gradients of both signs and mean 0 the sum stays small, and it is about a fifth. */
static void reduction_of_gradients(void **state) {
  (void)state;
  for (int signs = 0; signs < 2; signs++) {
    double e[3];
    errors_of(signs, e);
    print_message("relative error: in order %.2g, chunks of 64 %.2g, binary32 %.2g\n", e[0], e[1], e[2]);
    assert_true(e[0] > 0.01 && e[1] <= e[0] / (signs ? 4 : 5) && e[2] < 1e-5);
  }
}

int main(void) {
  for (size_t i = 0; i < MOST; i++) ones[i] = 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(worked_accumulator), cmocka_unit_test(binary16_stops_at_2048),
                                     cmocka_unit_test(chunks_of_ones), cmocka_unit_test(uniform_numbers),
                                     cmocka_unit_test(reduction_of_gradients)};
  return cmocka_run_group_tests_name("recipes: sums", tests, NULL, NULL);
}
