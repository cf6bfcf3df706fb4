/* SPDX-License-Identifier: MIT */
/* How often one call unfolds a format, and how often it enters the floating-point environment: the numbers below are
 * what each call is allowed, and what it takes. A change that takes more is refused; one that takes less puts its
 * numbers here. */
#include "halfulp/halfulp.h"

#include <stdatomic.h>
#include <string.h>

#include "counted.h"
#include "tests/support/cmocka.h"

enum { ROWS = 32, COLS = 32, N = ROWS * COLS };

static atomic_uint unfolded, entered;
void count_unfolding(void) { unfolded++; }
void count_entering(void) { entered++; }

static float x[N], y[N], z[N];
static uint8_t codes[N], more[N];
static const hu_mode rne = {0};

/* Small integers: values of every format that is used here. */
static void fill(void) {
  for (int i = 0; i < N; i++) {
    x[i] = (float)(i % 7 - 3);
    y[i] = (float)(i % 5 - 2);
    codes[i] = (uint8_t)(i % 100);
  }
}

/* ---- the calls ---- */

static hu_status encode_one(void) {
  uint32_t events;
  return hu_encode(hu_float8_e4m3fn(), rne, 2, 0, &events) == 0x40 ? HU_OK : HU_E_CODE;
}
static hu_status decode_one(void) { return hu_decode(hu_float8_e4m3fn(), 0x40) == 2 ? HU_OK : HU_E_CODE; }
static hu_status multiply_one(void) {
  hu_format format = hu_float8_e4m3fn();
  return hu_mul(format, rne, format, 0x40, format, 0x40, 0, NULL) == 0x48 ? HU_OK : HU_E_CODE;
}

static hu_status quantize(void) { return hu_quantize_n(N, z, 1, x, 1, hu_float8_e4m3fn(), rne, NULL, NULL); }
static hu_status encode(void) { return hu_encode_n(N, more, 1, x, 1, hu_float8_e4m3fn(), rne, NULL, NULL); }
static hu_status decode(void) { return hu_decode_n(N, z, 1, codes, 1, hu_float8_e4m3fn(), NULL); }
static hu_status convert(void) {
  return hu_convert_n(N, more, 1, hu_float8_e5m2(), codes, 1, hu_float8_e4m3fn(), rne, NULL, NULL);
}
static hu_status multiply(void) {
  hu_format format = hu_float8_e4m3fn();
  return hu_mul_n(N, more, 1, format, codes, 1, format, codes, 1, format, rne, NULL, NULL);
}

static hu_status product(hu_format format, uint8_t kind, const void *a, const void *b, uint32_t threads) {
  hu_accum accum = {.kind = HU_ACCUM_FP32};
  hu_view left = hu_matrix_of(a, COLS, hu_type_values(kind, format)),
          right = hu_matrix_of(b, COLS, hu_type_values(kind, format));
  hu_output result = hu_matrix_floats_out(z, COLS);
  hu_exec exec = {.threads = threads};
  hu_how how = {.exec = &exec};
  return hu_gemm(ROWS, COLS, ROWS, &result, &left, &right, NULL, &accum, &how);
}
static hu_status gemm_values(void) { return product(hu_bfloat16(), HU_TYPE_VALUES32, x, y, 1); }
static hu_status gemm_threads(void) { return product(hu_bfloat16(), HU_TYPE_VALUES32, x, y, 2); }
static hu_status gemm_codes(void) { return product(hu_float8_e4m3fn(), HU_TYPE_CODES, codes, codes, 1); }

/* The check of the name is not of the call. */
static hu_scaling mx(void) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, "mxfp8_e4m3", NULL), HU_OK);
  unfolded = entered = 0;
  return scaling;
}
static hu_status scaled(void) {
  hu_scaling scaling = mx();
  return hu_scaled_quantize(ROWS, COLS, z, COLS, x, COLS, &scaling, rne, NULL, NULL, NULL, NULL);
}
static hu_status scaled_encode(void) {
  hu_scaling scaling = mx();
  hu_scaled to = {.codes = more, .ld = COLS, .scales = codes, .lds = 1};
  return hu_scaled_encode(ROWS, COLS, &to, x, COLS, &scaling, rne, NULL, NULL, NULL, NULL);
}

/* ---- what they take ---- */

static const struct {
  const char *name;
  hu_status (*call)(void);
  unsigned unfolded, entered;
} cases[] = {
    {"hu_encode", encode_one, 1, 0},
    {"hu_decode", decode_one, 1, 0},
    {"hu_mul of FP8 codes", multiply_one, 1, 0},
    {"hu_quantize_n", quantize, 1, 1},
    {"hu_encode_n", encode, 1, 1},
    {"hu_decode_n", decode, 1, 1},
    {"hu_convert_n", convert, 2, 1},
    {"hu_mul_n", multiply, 3, 1},
    {"hu_gemm 32 x 32 x 32 of values", gemm_values, 3, 1},
    {"the same, two threads", gemm_threads, 3, 7},
    {"the same of codes", gemm_codes, 3, 1},
    {"hu_scaled_quantize", scaled, 4, 1},
    {"hu_scaled_encode", scaled_encode, 4, 1},
};

static void test_counts(void **state) {
  unsigned wrong = 0;
  (void)state;
  fill();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unfolded = entered = 0;
    assert_int_equal(cases[i].call(), HU_OK);
    if (unfolded == cases[i].unfolded && entered == cases[i].entered) continue;
    print_error("%s: %u formats unfolded, %u times entered the environment; not %u and %u\n", cases[i].name, unfolded,
                entered, cases[i].unfolded, cases[i].entered);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
