/* SPDX-License-Identifier: MIT */
/* Many products in one call (gpu/base/batch.h) against hu_gemm product by product: under binary32 sums, units, exact
 * and stochastic sums; heads side by side and one behind the other, transposes, sizes around the tiles' edges. Bytes
 * between the results stay as they are. */
#include "tests/cuda_host/twin.h"

#include "gpu/base/batch.h"
#include "halfulp/formats/ieee.h"

typedef struct test_case {
  size_t m, n, k, outer, inner;
  int a_transposed, b_transposed;
  hu_format format; /* on whose grid operands are */
  hu_accum accum;
} test_case;

/* Matrices of so many rows and columns: those of `inner` side by side in rows, or each by itself. */
typedef struct t_many {
  t_twin bytes;
  size_t ld, step[2];
} t_many;

static t_many draw_many(t_random *random, const test_case *test, size_t rows, size_t cols, int transposed) {
  size_t height = transposed ? cols : rows, width = transposed ? rows : cols;
  size_t more = t_below(random, 2) ? t_below(random, 5) : 0;
  t_many z;
  int beside = (int)t_below(random, 2);
  z.ld = (beside ? test->inner * width : width) + more;
  z.step[1] = beside ? width : height * z.ld;
  z.step[0] = beside ? height * z.ld : test->inner * height * z.ld;
  size_t n = test->outer * z.step[0] + 8;
  z.bytes = twin_new(n * sizeof(float));
  for (size_t i = 0; i < n; i++) {
    float x = hu_quantize(test->format, t_mode(0), (float)((double)(int32_t)t_next32(random) / 0x1p30), 0, NULL);
    memcpy(z.bytes.host + i * sizeof x, &x, sizeof x);
  }
  twin_put(&z.bytes);
  return z;
}

static hu_view operand_of(const t_many *x, const void *at, hu_format format, int transposed) {
  hu_view z = hu_matrix_of(at, x->ld, hu_type_values(HU_TYPE_VALUES32, format));
  if (transposed) z = hu_transposed(z);
  return z;
}

static float *place_of(const t_many *x, size_t o, size_t i) {
  return (float *)(void *)x->bytes.host + o * x->step[0] + i * x->step[1];
}

/* The words of product i, as batch.h has them. */
static hu_stream words_of(hu_stream words, int own, size_t i) {
  uint64_t low = hu_stream_word(words, 2 * i), high = hu_stream_word(words, 2 * i + 1);
  hu_stream z = {high << 32 | low, 0};
  return own ? z : words;
}

static void run_case(t_random *random, const test_case *test, const char *name) {
  t_many many = draw_many(random, test, test->m, test->n, 0);
  t_many a = draw_many(random, test, test->m, test->k, test->a_transposed),
         b = draw_many(random, test, test->k, test->n, test->b_transposed);
  hu_stream words = {t_next64(random), t_next32(random)};
  int own = test->accum.mode.bits != 0;
  hu_gemm_batch batch = {
      test->outer,  test->inner, {many.step[0], many.step[1]}, {a.step[0], a.step[1]}, {b.step[0], b.step[1]},
      (uint32_t)own};
  for (size_t i = 0; i < test->outer * test->inner; i++) {
    size_t o = i / test->inner, k = i % test->inner;
    hu_output z = hu_matrix_floats_out(place_of(&many, o, k), many.ld);
    hu_view x = operand_of(&a, place_of(&a, o, k), test->format, test->a_transposed);
    hu_view y = operand_of(&b, place_of(&b, o, k), test->format, test->b_transposed);
    hu_exec exec = {1, 0, words_of(words, own, i), {0}};
    assert_int_equal(
        hu_gemm(test->m, test->n, test->k, &z, &x, &y, NULL, &test->accum, &(hu_how){t_mode(0), &exec, NULL}), HU_OK);
  }
  hu_product product = {.m = test->m, .n = test->n, .k = test->k, .accum = &test->accum};
  product.d = hu_matrix_floats_out((float *)(void *)many.bytes.device, many.ld);
  product.a = operand_of(&a, a.bytes.device, test->format, test->a_transposed);
  product.b = operand_of(&b, b.bytes.device, test->format, test->b_transposed);
  assert_int_equal(hui_device_gemm_batch(&product, &batch, words, twin_stream()), HU_OK);
  if (twin_differs(&many.bytes) != many.bytes.bytes)
    fail_msg("%s: %zu x %zu products of %zu x %zu x %zu: byte %zu", name, test->outer, test->inner, test->m, test->n,
             test->k, twin_differs(&many.bytes));
  twin_free(&many.bytes);
  twin_free(&a.bytes);
  twin_free(&b.bytes);
}

static void test_products(void **state) {
  (void)state;
  static const struct {
    const char *accum, *format;
  } kinds[] = {{"fp32", "binary32"},
               {"fp32", "bfloat16"},
               {"nv.hopper.f16.f32", "binary16"},
               {"seq(bfloat16,sra:8)", "bfloat16"},
               {"exact", "float8_e4m3fn"},
               {"pairwise(binary16)", "binary16"}};
  static const size_t sizes[][5] = {{1, 1, 1, 1, 2},   {3, 5, 7, 2, 3},    {16, 8, 8, 3, 4},  {8, 16, 4, 1, 5},
                                    {65, 66, 9, 2, 2}, {64, 64, 16, 1, 3}, {17, 1, 33, 1, 9}, {4, 4, 0, 2, 2}};
  t_random random = {t_seed("batch", 23)};
  size_t cases = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      const size_t *n = sizes[k];
      test_case test = {n[0],          n[1], n[2], n[3], n[4], (int)t_below(&random, 2), (int)t_below(&random, 2),
                        hu_binary32(), {0}};
      assert_int_equal(hu_format_find(&test.format, kinds[i].format), HU_OK);
      assert_int_equal(hu_accum_parse(&test.accum, kinds[i].accum, NULL), HU_OK);
      run_case(&random, &test, kinds[i].accum);
      cases++;
    }
  }
  twin_default_stream();
  print_message("%zu batches of products\n", cases);
}

/* What is no product of values is refused, and none is no error. */
static void test_refused(void **state) {
  (void)state;
  float *buffer = hui_memory_new(64);
  hu_accum accum;
  hu_stream words = {0, 0};
  hu_gemm_batch batch = {1, 2, {1, 1}, {1, 1}, {1, 1}, 0};
  assert_int_equal(hu_accum_parse(&accum, "fp32", NULL), HU_OK);
  hu_product product = {.m = 1, .n = 1, .k = 1, .accum = &accum}, wrong;
  product.d = hu_matrix_floats_out(buffer, 1);
  product.a = hu_matrix_floats(buffer + 4, 1);
  product.b = hu_matrix_floats(buffer + 8, 1);
  wrong = product;
  wrong.b = hu_matrix_codes(buffer + 8, 1, hu_binary16());
  assert_int_equal(hui_device_gemm_batch(&wrong, &batch, words, NULL), HU_E_FORMAT);
  memset(&wrong.a, 0, sizeof wrong.a);
  assert_int_equal(hui_device_gemm_batch(&wrong, &batch, words, NULL), HU_E_NULL);
  wrong = product;
  wrong.m = 0;
  assert_int_equal(hui_device_gemm_batch(&wrong, &batch, words, NULL), HU_OK);
  batch.outer = 0;
  assert_int_equal(hui_device_gemm_batch(&product, &batch, words, NULL), HU_OK);
  hui_memory_free(buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_refused)};
  int skip = twin_skip("many products at once");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
