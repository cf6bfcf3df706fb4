/* SPDX-License-Identifier: MIT */
/* hu_scaled_gemm on a device against the CPU's, on the products of tests/scaled_gemm: every way, factor and model at
 * random, layouts, random words, events, encoded results; hu_gemm_scaled likewise; the errors. */
#include "tests/cuda_host/twin.h"

#include "tests/scaled_gemm/product.h"

/* ---- a product's arrays on the device ---- */

typedef struct t_twins {
  t_twin codes, scales, tensor;
} t_twins;

static t_twins twins_of(const t_matrix *x, hu_scaled_operand *z) {
  t_twins twins;
  memset(&twins, 0, sizeof twins);
  *z = x->operand;
  twins.codes = twin_new(x->code_bytes + 1);
  memcpy(twins.codes.host, x->codes, x->code_bytes);
  twin_put(&twins.codes);
  z->plain.data = x->scaled ? NULL : twins.codes.device;
  if (!x->scaled) return twins;
  twins.scales = twin_new(x->scale_bytes + 1);
  twins.tensor = twin_new(sizeof(float));
  memcpy(twins.scales.host, x->scales, x->scale_bytes);
  memcpy(twins.tensor.host, &x->tensor, sizeof(float));
  twin_put(&twins.scales);
  twin_put(&twins.tensor);
  z->scaled.codes = twins.codes.device;
  z->scaled.scales = twins.scales.device;
  z->scaled.tensor = x->scaling.tensor ? (float *)(void *)twins.tensor.device : NULL;
  return twins;
}

static void twins_free(t_twins *twins) {
  twin_free(&twins->codes);
  if (twins->scales.host) twin_free(&twins->scales);
  if (twins->tensor.host) twin_free(&twins->tensor);
}

/* D, on both sides. */
typedef struct t_sink {
  t_twin codes, scales, tensor, stats, amax, events;
  hu_scaled_result cpu, device;
} t_sink;

static void sink_half(const t_product *product, const t_sink *sink, hu_scaled_result *result, int device) {
  memset(result, 0, sizeof *result);
#define SIDE(t) ((void *)(device ? (t).device : (t).host))
  if (!product->scaled) {
    result->plain.data = SIDE(sink->codes);
    result->plain.ld = product->ld;
    result->plain.format = product->format;
    result->plain.storage = product->values ? HU_STORAGE_VALUES : HU_STORAGE_CODES;
    return;
  }
  result->scaling = &product->scaling;
  result->scaled.codes = SIDE(sink->codes);
  result->scaled.ld = product->ld;
  result->scaled.scales = SIDE(sink->scales);
  result->scaled.lds = product->lds;
  result->scaled.tensor = product->scaling.tensor ? SIDE(sink->tensor) : NULL;
  result->amax = product->amax ? SIDE(sink->amax) : NULL;
  result->stats = SIDE(sink->stats);
#undef SIDE
}

static t_sink sink_new(const t_product *product) {
  t_sink sink;
  memset(&sink, 0, sizeof sink);
  sink.codes = twin_new(product->m * product->ld * 4 + 4);
  sink.scales = twin_new(product->m * (product->lds + 1) * 4 + 4);
  sink.tensor = twin_new(sizeof(float));
  sink.stats = twin_new(product->m * product->n * sizeof(hu_scaled_stats) + 8);
  sink.amax = twin_new(sizeof(float));
  sink.events = twin_new(sizeof(hu_events));
  memcpy(sink.amax.host, &product->amax_value, sizeof(float));
  memset(sink.events.host, 0, sink.events.bytes);
  memset(sink.stats.host, 0, sink.stats.bytes);
  t_twin *all[] = {&sink.codes, &sink.scales, &sink.tensor, &sink.stats, &sink.amax, &sink.events};
  for (size_t i = 0; i < 6; i++) twin_put(all[i]);
  return sink;
}

static void compare(const t_product *product, t_sink *sink) {
  static const char *const names[] = {"D", "scales", "tensor scale", "statistics", "amax", "events"};
  const t_twin *all[] = {&sink->codes, &sink->scales, &sink->tensor, &sink->stats, &sink->amax, &sink->events};
  for (size_t i = 0; i < 6; i++) {
    size_t at = twin_differs(all[i]);
    if (at < all[i]->bytes) fail_msg("%s: byte %zu differs: %s", names[i], at, product_text(product));
  }
}

static void sink_free(t_sink *sink) {
  t_twin *all[] = {&sink->codes, &sink->scales, &sink->tensor, &sink->stats, &sink->amax, &sink->events};
  for (size_t i = 0; i < 6; i++) twin_free(all[i]);
}

static void run(const t_product *product) {
  hu_scaled_operand a, b, c;
  t_twins ta = twins_of(&product->a, &a), tb = twins_of(&product->b, &b), tc;
  if (product->has_c) tc = twins_of(&product->c, &c);
  t_sink sink = sink_new(product);
  sink_half(product, &sink, &sink.cpu, 0);
  sink_half(product, &sink, &sink.device, 1);
  hu_exec exec = {1, 0, product->stream, {0}};
  const hu_scaled_operand *hc = product->has_c ? &product->c.operand : NULL, *dc = product->has_c ? &c : NULL;
  size_t bytes = hu_scaled_gemm_space(product->m, product->n, product->k, &sink.cpu, &product->a.operand,
                                      &product->b.operand, hc, &product->sum, &exec);
  size_t far = hu_scaled_gemm_space(product->m, product->n, product->k, &sink.device, &a, &b, dc, &product->sum,
                                    twin_at(NULL, NULL, NULL));
  assert_true(bytes != SIZE_MAX && far != SIZE_MAX);
  void *near = aligned_alloc(64, bytes / 64 * 64 + 64);
  t_twin space = twin_new(far + 64);
  uint8_t *work = space.device + (64 - (uintptr_t)space.device % 64) % 64;
  assert_non_null(near);
  hu_status status[2] = {
      hu_scaled_gemm(product->m, product->n, product->k, &sink.cpu, &product->a.operand, &product->b.operand, hc,
                     &product->sum, product->mode, near, bytes, &exec, (hu_events *)(void *)sink.events.host),
      hu_scaled_gemm(product->m, product->n, product->k, &sink.device, &a, &b, dc, &product->sum, product->mode, work,
                     far, twin_there(&exec), (hu_events *)(void *)sink.events.device)};
  if (status[0] != HU_OK || status[1] != HU_OK) {
    fail_msg("%s, %s: %s", hu_status_name(status[0]), hu_status_name(status[1]), product_text(product));
  }
  compare(product, &sink);
  free(near);
  twin_free(&space);
  sink_free(&sink);
  twins_free(&ta);
  twins_free(&tb);
  if (product->has_c) twins_free(&tc);
}

static void test_products(void **state) {
  static t_product product;
  t_random random = {t_seed("device-scaled-gemm", 21)};
  size_t ways[HU_SCALED_WAYS] = {0};
  (void)state;
  for (unsigned i = 0; i < t_part(250);) {
    product.m = 1 + t_below(&random, 5);
    product.n = 1 + t_below(&random, 6);
    product.k = t_below(&random, 12) ? 1 + t_below(&random, 60) : 0;
    if (!product_draw(&product, &random)) continue;
    run(&product);
    ways[product.sum.way]++;
    product_free(&product);
    i++;
  }
  printf("parts %zu, unit %zu, decoded %zu\n", ways[0], ways[1], ways[2]);
  assert_true(t_part(100) < 100 || (ways[0] && ways[1] && ways[2]));
}

/* ---- the raw call ---- */

static t_twin codes_of(t_random *random, size_t n, hu_format format) {
  size_t size = hu_limits_of(format).storage / 8;
  t_twin twin = twin_new(n * size + 1);
  for (size_t i = 0; i < n; i++) {
    t_put(twin.host, size, (ptrdiff_t)i,
          t_next32(random) & (uint32_t)((UINT64_C(1) << hu_limits_of(format).width) - 1));
  }
  twin_put(&twin);
  return twin;
}

static hu_operand operand_of(const void *data, size_t ld, hu_format format, int transposed) {
  hu_operand x = {data, ld, format, HU_STORAGE_CODES, (uint8_t)transposed};
  return x;
}

static void test_raw(void **state) {
  enum { M = 5, N = 7, K = 70 };
  t_random random = {t_seed("device-gemm-scaled", 2)};
  size_t presets = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count() + 2; i++) {
    static const char *const more[] = {"promote(24,seq(binary16,sra:6),bfloat16,scaled)",
                                       "splitk(2,promote(16,fp32,binary32,scaled))"};
    hu_accum_preset other;
    memset(&other, 0, sizeof other);
    if (i < hu_accum_preset_count()) {
      assert_int_equal(hu_accum_preset_at(&other, i), HU_OK);
      if (!hu_accum_is_scaled(&other.accum)) continue;
    } else {
      assert_int_equal(hu_accum_parse(&other.accum, more[i - hu_accum_preset_count()], NULL), HU_OK);
      other.a.format = other.b.format = hu_format_ieee(5, 2, 0);
    }
    size_t every = other.accum.scaled ? other.accum.promote : other.accum.block.every, count = (K + every - 1) / every;
    hu_format fs = other.accum.scaled ? hu_format_ieee(8, 23, 0) : other.accum.block.scale,
              fd = hu_format_ieee(8, 23, 0);
    int ta = (int)t_below(&random, 2), tb = (int)t_below(&random, 2);
    t_twin a = codes_of(&random, M * K, other.a.format), b = codes_of(&random, K * N, other.b.format),
           sa = codes_of(&random, M * count, fs), sb = codes_of(&random, count * N, fs), twin = twin_new(M * N * 4),
           ev = twin_new(sizeof(hu_events));
    memset(ev.host, 0, ev.bytes);
    twin_put(&ev);
    twin_put(&twin);
    hu_exec exec = {1, 0, {5, 6}, {0}};
    hu_mode mode = t_stochastic(HU_SRA, 7);
    hu_status status[2];
    for (int side = 0; side < 2; side++) {
#define AT(t) (side ? (t).device : (t).host)
      hu_operand oa = operand_of(AT(a), ta ? M : K, other.a.format, ta),
                 ob = operand_of(AT(b), tb ? K : N, other.b.format, tb);
      hu_operand xa = operand_of(AT(sa), ta ? M : count, fs, ta), xb = operand_of(AT(sb), tb ? count : N, fs, tb);
      hu_result z = {AT(twin), N, fd, HU_STORAGE_VALUES};
      hu_events *events = (hu_events *)(void *)AT(ev);
      status[side] =
          side ? hu_gemm_scaled(M, N, K, &z, &oa, &ob, NULL, &xa, &xb, &other.accum, mode, twin_there(&exec), events)
               : hu_gemm_scaled(M, N, K, &z, &oa, &ob, NULL, &xa, &xb, &other.accum, mode, &exec, events);
#undef AT
    }
    assert_int_equal(status[0], HU_OK);
    assert_int_equal(status[1], HU_OK);
    if (twin_differs(&twin) < twin.bytes || twin_differs(&ev) < ev.bytes) fail_msg("%s differs", other.name);
    t_twin *all[] = {&a, &b, &sa, &sb, &twin, &ev};
    for (size_t x = 0; x < 6; x++) twin_free(all[x]);
    presets++;
  }
  printf("%zu models\n", presets);
  assert_true(presets > 50);
}

/* ---- misuse ---- */

static void test_errors(void **state) {
  static uint8_t bytes[4096];
  static const hu_mode rne;
  hu_scaling mx;
  hu_accum model, other;
  hu_scaled_operand a, b;
  hu_scaled_result result;
  (void)state;
  assert_int_equal(hu_scaling_parse(&mx, "mxfp8_e4m3", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&model, "nv.blackwell.mxfp8.e4m3", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&other, "fp32", NULL), HU_OK);
  memset(&a, 0, sizeof a);
  a.scaling = &mx;
  a.scaled.codes = bytes;
  a.scaled.ld = 32;
  a.scaled.scales = bytes + 2048;
  a.scaled.lds = 1;
  b = a;
  b.transposed = 1;
  memset(&result, 0, sizeof result);
  result.plain.data = bytes + 3072;
  result.plain.ld = 4;
  result.plain.format = hu_format_ieee(8, 23, 0);
  hu_scaled_sum sum = hu_scaled_sum_parts(other, other, HU_SCALED_FACTOR_ROUNDED), unit = hu_scaled_sum_unit(model);
  size_t need = hu_scaled_gemm_space(4, 4, 32, &result, &a, &b, NULL, &sum, twin_at(NULL, NULL, NULL));
  assert_true(need > 0 && need != SIZE_MAX);
  assert_int_equal(hu_scaled_gemm(4, 4, 32, &result, &a, &b, NULL, &sum, rne, NULL, need, twin_there(NULL), NULL),
                   HU_E_NULL);
  _Alignas(64) static uint8_t space[64];
  assert_int_equal(hu_scaled_gemm(4, 4, 32, &result, &a, &b, NULL, &sum, rne, space, need - 1, twin_there(NULL), NULL),
                   HU_E_SPACE);
  assert_int_equal(hu_scaled_gemm(4, 4, 32, NULL, &a, &b, NULL, &sum, rne, space, 64, twin_there(NULL), NULL),
                   HU_E_NULL);
  mx.cols = 48;
  assert_int_equal(hu_scaled_gemm(4, 4, 32, &result, &a, &b, NULL, &unit, rne, space, 64, twin_there(NULL), NULL),
                   HU_E_ACCUM);
  hu_operand x = operand_of(bytes, 32, mx.element, 0), operand = operand_of(bytes, 32, mx.scale, 0);
  hu_result z = {bytes + 3072, 4, hu_format_ieee(8, 23, 0), HU_STORAGE_VALUES};
  assert_int_equal(hu_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, NULL, &operand, &model, rne, twin_there(NULL), NULL),
                   HU_E_NULL);
  assert_int_equal(hu_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, &operand, &operand, &other, rne, twin_there(NULL), NULL),
                   HU_E_ACCUM);
  assert_int_equal(hu_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, &x, &operand, &model, rne, twin_there(NULL), NULL),
                   HU_E_ACCUM);
  z.data = bytes;
  assert_int_equal(hu_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, &operand, &operand, &model, rne, twin_there(NULL), NULL),
                   HU_E_OVERLAP);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_raw),
                                     cmocka_unit_test(test_errors)};
  int skip = twin_skip("products of scaled tensors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
