/* SPDX-License-Identifier: MIT */
/* Host runs only: a kernel with a barrier missing gives different results when its threads take their turns in another
 * order. Every kernel that has barriers, under several orders, must give what it gives in ascending order. */
#include "gpu/host/order.h"
#include "tests/cuda_host/twin.h"

enum { M = 68, N = 70, K = 20, BYTES = M * N * 4, VALUES = 20000, ORDERS = 4 };

typedef struct result {
  uint8_t d[BYTES];
  hu_events events;
} result;

static void fill(t_random *random, hu_format format, float *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    x[i] = hu_quantize(format, t_mode(HU_RNE), (float)t_between(random, -999, 999) / 64, 0, NULL);
}

static void product(result *z, const float *x, hu_format format, uint32_t kind) {
  hu_accum accum;
  hu_mode mode = t_mode(HU_RNE);
  memset(&accum, 0, sizeof accum);
  accum.kind = kind;
  t_fill_pattern(z->d, BYTES);
  memset(&z->events, 0, sizeof z->events);
  hu_output made = hu_matrix_codes_out(z->d, N, hu_format_ieee(5, 10, 0));
  hu_view a = hu_matrix_of(x, K, hu_type_values(HU_TYPE_VALUES32, format)),
          b = hu_matrix_of(x + M * K, N, hu_type_values(HU_TYPE_VALUES32, format)),
          c = hu_matrix_of(x + (M + N) * K, N, hu_type_values(HU_TYPE_VALUES32, format));
  /* Wide sums are a warp's work each and tell little by their number. */
  size_t m = kind == HU_ACCUM_EXACT && format.m == 23 ? 9 : M;
  assert_int_equal(hu_gemm(m, N, K, &made, &a, &b, &c, &accum, &(hu_how){mode, twin_at(NULL, NULL, NULL), &z->events}),
                   HU_OK);
}

static void array(result *z, const float *x, hu_format format, uint32_t kind) {
  t_fill_pattern(z->d, BYTES);
  memset(&z->events, 0, sizeof z->events);
  if (kind == 0) {
    assert_int_equal(hu_encode_n(M * N, z->d, 1, x, 1, format, t_mode(HU_RNE), twin_at(NULL, NULL, NULL), &z->events),
                     HU_OK);
  } else {
    assert_int_equal(hu_decode_n(M * N, (float *)(void *)z->d, 1, x, 1, format, twin_at(NULL, NULL, NULL)), HU_OK);
  }
}

/* Scaled tensors: rows, teams of three sizes, pieces; codes, scales, events and statistics. */
static void scaled(result *z, const float *x, hu_format format, uint32_t kind) {
  static const char *const texts[] = {"nvfp4", "fp8_tensor", "dsv3_128x128", "hbfp8",
                                      "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=16x1;rule=ceil)"};
  static uint64_t work[64];
  hu_scaling scaling;
  (void)format;
  t_fill_pattern(z->d, BYTES);
  memset(&z->events, 0, sizeof z->events);
  assert_int_equal(hu_scaling_parse(&scaling, texts[kind], NULL), HU_OK);
  size_t rows = kind == 1 ? 9 : 36, cols = kind == 1 ? 2000 : 130;
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &scaling);
  size_t code_bytes = (n.codes + 7) / 8 * 8, scale_bytes = (n.scales + 15) / 16 * 16;
  assert_true(rows * cols <= VALUES &&
              sizeof work >= hu_scaled_work_size(rows, cols, &scaling, twin_at(NULL, NULL, NULL)));
  hu_scaled q = {z->d, cols, z->d + code_bytes, n.block_cols, NULL};
  hu_scaled_stats *stats = (hu_scaled_stats *)(void *)(z->d + code_bytes + scale_bytes);
  if (scaling.tensor) q.tensor = (float *)(void *)(z->d + BYTES - 8);
  int with = n.block_rows * n.block_cols < 100; /* without statistics the kernel of rows */
  assert_int_equal(hu_scaled_encode(rows, cols, &q, x, cols, &scaling, t_mode(HU_RNE), NULL, with ? stats : NULL,
                                    twin_at(NULL, work, NULL), &z->events),
                   HU_OK);
}

static void any_order(void **state) {
  (void)state;
  t_random random = {t_seed("any_order", 40)};
  size_t runs = 0;
  static float x[VALUES];
  result *first = malloc(sizeof *first), *other = malloc(sizeof *other);
  assert_non_null(first);
  assert_non_null(other);
  const struct {
    void (*call)(result *, const float *, hu_format, uint32_t);
    hu_format f;
    uint32_t kind;
  } runs_of[] = {{product, hu_format_ieee(5, 10, 0), HU_ACCUM_FP32},
                 {product, hu_format_ieee(4, 3, 0), HU_ACCUM_EXACT},
                 {product, hu_format_ieee(8, 23, 0), HU_ACCUM_EXACT},
                 {array, hu_format_ieee(4, 3, 0), 0},
                 {array, hu_format_ieee(4, 3, 0), 1},
                 {scaled, hu_format_ieee(5, 10, 0), 0},
                 {scaled, hu_format_ieee(5, 10, 0), 1},
                 {scaled, hu_format_ieee(5, 10, 0), 2},
                 {scaled, hu_format_ieee(5, 10, 0), 3},
                 {scaled, hu_format_ieee(5, 10, 0), 4}};
  for (size_t i = 0; i < sizeof runs_of / sizeof runs_of[0]; i++) {
    fill(&random, runs_of[i].f, x, sizeof x / sizeof x[0]);
    hui_host_order(0);
    runs_of[i].call(first, x, runs_of[i].f, runs_of[i].kind);
    for (int order = 0; order < ORDERS; order++) {
      uint64_t seed = t_next64(&random) | 1;
      hui_host_order(seed);
      runs_of[i].call(other, x, runs_of[i].f, runs_of[i].kind);
      if (memcmp(first, other, sizeof *first))
        fail_msg("kernel %zu: order %llu gives another result", i, (unsigned long long)seed);
      runs++;
    }
  }
  hui_host_order(0);
  print_message("%zu runs in random orders\n", runs);
  free(first);
  free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
