/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors by parts of exact sums of short integers: bytes and events of one thread without
 * the instructions for them (SHORT_LEVELS off), and of the element-by-element integers (all levels off). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/gemm.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/extension.h"
#include "tests/support/support.h"

#ifdef TEST_MODELLED
#include "tests/gemm/modelled/immintrin.h"
#endif

#ifndef TEST_ROUNDS
#define TEST_ROUNDS 400
#endif

/* All kernels of short integers. */
#define SHORT_LEVELS (HU_LEVEL_VNNI | HU_LEVEL_AVX_VNNI | HU_LEVEL_MADD)

/* A scaled matrix, as it is stored. */
typedef struct t_tensor {
  hu_scaling scaling;
  hu_scaled record;
  int transposed;
} t_tensor;

static hu_view view_of(const t_tensor *x) {
  hu_view view = hu_scaled_matrix(&x->record, &x->scaling);
  return x->transposed ? hu_transposed(view) : view;
}

static void *buffer(size_t bytes) {
  void *p = calloc(1, bytes + 64);
  assert_non_null(p);
  return p;
}

static hu_accum accum(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

/* rows x cols as stored. wild: codes and scales are any, NaN scales too; else values of many exponents are encoded. */
static void make(t_tensor *x, t_random *random, const char *text, size_t rows, size_t cols, int transposed, int wild) {
  static const hu_mode rne;
  memset(x, 0, sizeof *x);
  assert_int_equal(hu_scaling_parse(&x->scaling, text, NULL), HU_OK);
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, &x->scaling);
  hu_scaled *z = &x->record;
  z->codes = buffer(sizes.codes);
  z->ld = cols;
  z->scales = buffer(sizes.scales);
  z->lds = sizes.block_cols;
  z->tensor = buffer(sizeof(float));
  x->transposed = transposed;
  float *values = buffer(rows * cols * sizeof *values);
  for (size_t i = 0; i < rows * cols; i++) {
    float v = (float)(int32_t)t_next32(random) * 0x1p-31f;
    values[i] = t_below(random, 6) ? v : t_below(random, 2) ? v * 0x1p-6f : 0;
  }
  assert_int_equal(hu_scaled_encode(rows, cols, z, values, cols, &x->scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
  uint32_t mask = (1u << hu_limits_of(x->scaling.element).width) - 1;
  uint32_t scale_mask = (1u << hu_limits_of(x->scaling.scale).width) - 1;
  for (size_t i = 0; wild && i < sizes.codes; i++) ((uint8_t *)z->codes)[i] = (uint8_t)(t_next32(random) & mask);
  for (size_t i = 0; wild > 1 && i < sizes.scales; i++) {
    if (t_below(random, 4) == 0) ((uint8_t *)z->scales)[i] = (uint8_t)(t_next32(random) & scale_mask);
  }
  free(values);
}

static void drop(t_tensor *x) {
  free(x->record.codes);
  free(x->record.scales);
  free(x->record.tensor);
}

typedef struct t_call {
  size_t m, n, k;
  t_tensor a, b;
  float *c; /* NULL: absent */
  hu_scaled_sum sum;
  hu_mode mode;
} t_call;

static void run(const t_call *call, uint32_t threads, uint32_t off, float *d, hu_events *events) {
  hu_exec exec = {.threads = threads, .levels_off = off};
  hu_how how = {call->mode, &exec, events};
  hu_product x = {.m = call->m, .n = call->n, .k = call->k, .sum = &call->sum};
  memset(events, 0, sizeof *events);
  x.d = hu_matrix_floats_out(d, call->n);
  x.a = view_of(&call->a);
  x.b = view_of(&call->b);
  if (call->c) x.c = hu_matrix_floats(call->c, call->n);
  x.bytes = hu_multiply_space(&x, &exec);
  assert_true(x.bytes != SIZE_MAX);
  x.space = aligned_alloc(64, x.bytes / 64 * 64 + 64);
  assert_non_null(x.space);
  assert_int_equal(hu_multiply(&x, &how), HU_OK);
  free(x.space);
}

static void compare(const t_call *call, const char *what, uint32_t off) {
  float *expected = buffer(call->m * call->n * 4), *got = buffer(call->m * call->n * 4);
  hu_events wanted, events;
  run(call, 1, off, expected, &wanted);
  /* The best kernels, then the others. */
  static const uint32_t without[] = {0, 0, HU_LEVEL_AMX_INT8, HU_LEVEL_VNNI, HU_LEVEL_VNNI | HU_LEVEL_AVX_VNNI};
  for (uint32_t l = 0; l < sizeof without / sizeof *without; l++) {
    run(call, l == 1 ? 3 : 1, without[l], got, &events);
    for (size_t i = 0; i < call->m * call->n; i++) {
      if (t_bits32(got[i]) != t_bits32(expected[i]))
        fail_msg("%s, %zu x %zu x %zu, factor %u, without levels %x: element %zu, %zu: %x, not %x", what, call->m,
                 call->n, call->k, call->sum.factor, without[l], i / call->n, i % call->n, t_bits32(got[i]),
                 t_bits32(expected[i]));
    }
    assert_true(t_same_events(&events, &wanted));
  }
#ifdef TEST_MODELLED
  assert_int_equal(model_tiles_in_use(), 0);
#endif
  free(expected);
  free(got);
}

static const char *const pairs[][2] = {
    {"mxfp4", "mxfp4"},      {"nvfp4", "nvfp4"},           {"mxint8", "mxint8"},         {"mxfp6_e2m3", "mxfp6_e3m2"},
    {"mxfp4", "mxfp6_e2m3"}, {"mxfp6_e3m2", "mxfp6_e3m2"}, {"mxfp8_e4m3", "mxfp8_e4m3"}, {"nvfp4_te", "mxfp4"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void draw(t_call *call, t_random *random, size_t i, size_t m, size_t n, size_t k) {
  static const uint8_t factors[] = {HU_SCALED_FACTOR_EXACT, HU_SCALED_FACTOR_ROUNDED, HU_SCALED_FACTOR_TWICE,
                                    HU_SCALED_FACTOR_ALPHA};
  const char *const *names = pairs[i % PAIRS];
  int wild = (int)t_below(random, 3);
  memset(call, 0, sizeof *call);
  call->m = m;
  call->n = n;
  call->k = k;
  make(&call->a, random, names[0], m, k, 0, wild);
  make(&call->b, random, names[1], n, k, 1, wild);
  call->sum = hu_scaled_sum_parts(accum("exact"), accum(t_below(random, 2) ? "fp32" : "seq2(binary32)"),
                                  factors[t_below(random, call->a.scaling.tensor && call->b.scaling.tensor ? 4 : 3)]);
  if (t_below(random, 2) && call->sum.factor != HU_SCALED_FACTOR_ALPHA) {
    float *c = call->c = buffer(m * n * sizeof *c);
    for (size_t e = 0; e < m * n; e++) c[e] = t_below(random, 3) ? (float)(int32_t)t_next32(random) * 0x1p-33f : -0.f;
  }
}

static void finish(t_call *call) {
  drop(&call->a);
  drop(&call->b);
  free(call->c);
}

static void small_products(void **state) {
  (void)state;
  t_random random = {t_seed("gemm parts", 91)};
  for (size_t i = 0; i < TEST_ROUNDS; i++) {
    t_call call;
    draw(&call, &random, i, 1 + t_below(&random, 20), 1 + t_below(&random, 70),
         1 + t_below(&random, t_below(&random, 3) ? 70 : 300));
    compare(&call, pairs[i % PAIRS][0], UINT32_MAX);
    finish(&call);
  }
  print_message("gemm parts: %d products agree\n", TEST_ROUNDS);
}

/* Several tiles, and rows beyond a block where columns are few. */
static void tiles(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{150, 300, 96}, {700, 3, 70}, {129, 257, 529}, {300, 100, 33}};
  t_random random = {t_seed("gemm parts tiles", 92)};
  for (size_t i = 0; i < 4 * PAIRS; i++) {
    const size_t *s = shapes[i / PAIRS];
    t_call call;
    draw(&call, &random, i, s[0], s[1], s[2]);
    compare(&call, pairs[i % PAIRS][0], SHORT_LEVELS);
    finish(&call);
  }
}

EXTENSION_RAN(model_tiles_set_up, 100)

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_products), cmocka_unit_test(tiles)};
  print_message("gemm parts: AVX512_VNNI is %s, AVX-VNNI is %s\n", hu_levels() & HU_LEVEL_VNNI ? "there" : "not there",
                hu_levels() & HU_LEVEL_AVX_VNNI ? "there" : "not there");
  return cmocka_run_group_tests_name("gemm parts", tests, NULL, NULL) + extension_ran();
}
