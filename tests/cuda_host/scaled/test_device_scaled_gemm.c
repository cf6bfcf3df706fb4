/* SPDX-License-Identifier: MIT */
/* hu_multiply of scaled tensors on a device against the CPU's, on the products of tests/scaled_gemm: every way,
 * factor and model at random, layouts, random words, events, encoded results; models with scales likewise; the errors.
 */
#include "tests/cuda_host/twin.h"

#include "tests/scaled_gemm/product.h"

/* ---- a product's arrays on the device ---- */

typedef struct t_twins {
  t_twin codes, scales, tensor;
  hu_scaled record;
} t_twins;

/* What *z, which is the matrix on the device, reads; twins stays where it is. */
static t_twins twins_of(const t_matrix *x, hu_view *z) {
  t_twins twins;
  memset(&twins, 0, sizeof twins);
  *z = x->view;
  twins.codes = twin_new(x->code_bytes + 1);
  memcpy(twins.codes.host, x->codes, x->code_bytes);
  twin_put(&twins.codes);
  z->data = twins.codes.device;
  if (!x->scaled) return twins;
  twins.scales = twin_new(x->scale_bytes + 1);
  twins.tensor = twin_new(sizeof(float));
  memcpy(twins.scales.host, x->scales, x->scale_bytes);
  memcpy(twins.tensor.host, &x->tensor, sizeof(float));
  twin_put(&twins.scales);
  twin_put(&twins.tensor);
  twins.record = (hu_scaled){twins.codes.device, x->ld, twins.scales.device, x->lds,
                             x->scaling.tensor ? (float *)(void *)twins.tensor.device : NULL};
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
} t_sink;

/* Sets D of x, which is `record` where it is scaled. */
static void sink_half(const t_product *product, const t_sink *sink, hu_product *x, hu_scaled *record, int device) {
#define SIDE(t) ((void *)(device ? (t).device : (t).host))
  if (!product->scaled) {
    uint8_t kind = product->values ? HU_TYPE_VALUES32 : HU_TYPE_CODES;
    x->d = hu_matrix_out_of(SIDE(sink->codes), product->ld, hu_type_values(kind, product->format));
    return;
  }
  *record = (hu_scaled){SIDE(sink->codes), product->ld, SIDE(sink->scales), product->lds,
                        product->scaling.tensor ? SIDE(sink->tensor) : NULL};
  x->d = hu_scaled_matrix_out(record, &product->scaling);
  x->amax = product->amax ? SIDE(sink->amax) : NULL;
  x->stats = SIDE(sink->stats);
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
  hu_product near = {.m = product->m, .n = product->n, .k = product->k, .sum = &product->sum}, far = near;
  hu_scaled records[2];
  near.a = product->a.view;
  near.b = product->b.view;
  if (product->has_c) near.c = product->c.view;
  t_twins ta = twins_of(&product->a, &far.a), tb = twins_of(&product->b, &far.b), tc;
  if (product->has_c) tc = twins_of(&product->c, &far.c);
  if (product->a.scaled) far.a.data = &ta.record;
  if (product->b.scaled) far.b.data = &tb.record;
  if (product->has_c && product->c.scaled) far.c.data = &tc.record;
  t_sink sink = sink_new(product);
  sink_half(product, &sink, &near, &records[0], 0);
  sink_half(product, &sink, &far, &records[1], 1);
  hu_exec exec = {1, 0, product->stream, {0}};
  near.bytes = hu_multiply_space(&near, &exec);
  far.bytes = hu_multiply_space(&far, twin_at(NULL, NULL, NULL));
  assert_true(near.bytes != SIZE_MAX && far.bytes != SIZE_MAX);
  near.space = aligned_alloc(64, near.bytes / 64 * 64 + 64);
  t_twin space = twin_new(far.bytes + 64);
  far.space = space.device + (64 - (uintptr_t)space.device % 64) % 64;
  assert_non_null(near.space);
  hu_how here = {product->mode, &exec, (hu_events *)(void *)sink.events.host},
         there = {product->mode, twin_there(&exec), (hu_events *)(void *)sink.events.device};
  hu_status status[2] = {hu_multiply(&near, &here), hu_multiply(&far, &there)};
  if (status[0] != HU_OK || status[1] != HU_OK) {
    fail_msg("%s, %s: %s", hu_status_name(status[0]), hu_status_name(status[1]), product_text(product));
  }
  compare(product, &sink);
  free(near.space);
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

static hu_view operand_of(const void *data, size_t ld, hu_format format, int transposed) {
  hu_view x = hu_matrix_codes(data, ld, format);
  if (transposed) x = hu_transposed(x);
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
      hu_view oa = operand_of(AT(a), ta ? M : K, other.a.format, ta),
              ob = operand_of(AT(b), tb ? K : N, other.b.format, tb);
      hu_view xa = operand_of(AT(sa), ta ? M : count, fs, ta), xb = operand_of(AT(sb), tb ? count : N, fs, tb);
      hu_output z = hu_matrix_out_of(AT(twin), N, hu_type_values(HU_TYPE_VALUES32, fd));
      hu_events *events = (hu_events *)(void *)AT(ev);
      hu_product x = {.m = M, .n = N, .k = K, .d = z, .a = oa, .b = ob, .sa = xa, .sb = xb, .accum = &other.accum};
      hu_how how = {mode, side ? twin_there(&exec) : &exec, events};
      status[side] = hu_multiply(&x, &how);
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
  _Alignas(64) static uint8_t space[64];
  hu_scaling mx;
  hu_accum model, other;
  (void)state;
  assert_int_equal(hu_scaling_parse(&mx, "mxfp8_e4m3", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&model, "nv.blackwell.mxfp8.e4m3", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&other, "fp32", NULL), HU_OK);
  hu_how how = {.exec = twin_there(NULL)};
  hu_scaled record = {bytes, 32, bytes + 2048, 1, NULL};
  hu_scaled_sum sum = hu_scaled_sum_parts(other, other, HU_SCALED_FACTOR_ROUNDED), unit = hu_scaled_sum_unit(model);
  hu_product x = {.m = 4, .n = 4, .k = 32, .sum = &sum};
  x.a = hu_scaled_matrix(&record, &mx);
  x.b = hu_transposed(x.a);
  x.d = hu_matrix_floats_out((float *)(void *)(bytes + 3072), 4);
  x.bytes = hu_multiply_space(&x, how.exec);
  assert_true(x.bytes > 0 && x.bytes != SIZE_MAX);
  assert_int_equal(hu_multiply(&x, &how), HU_E_NULL);
  x.space = space;
  x.bytes--;
  assert_int_equal(hu_multiply(&x, &how), HU_E_SPACE);
  x.bytes = 64;
  hu_output d = x.d;
  memset(&x.d, 0, sizeof x.d);
  assert_int_equal(hu_multiply(&x, &how), HU_E_NULL);
  mx.cols = 48;
  x.d = d;
  x.sum = &unit;
  assert_int_equal(hu_multiply(&x, &how), HU_E_ACCUM);
  /* Models with scales, and those without. */
  hu_view operand = operand_of(bytes, 32, mx.scale, 0);
  x.sum = NULL;
  x.accum = &model;
  x.a = x.b = operand_of(bytes, 32, mx.element, 0);
  x.sb = operand;
  assert_int_equal(hu_multiply(&x, &how), HU_E_NULL);
  x.sa = x.a;
  assert_int_equal(hu_multiply(&x, &how), HU_E_ACCUM);
  x.sa = operand;
  x.accum = &other;
  assert_int_equal(hu_multiply(&x, &how), HU_E_ACCUM);
  hu_watch watch = {0};
  x.accum = &model;
  x.watch = &watch;
  assert_int_equal(hu_multiply(&x, &how), HU_E_DEVICE);
  x.watch = NULL;
  x.d.data = bytes;
  assert_int_equal(hu_multiply(&x, &how), HU_E_OVERLAP);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_raw),
                                     cmocka_unit_test(test_errors)};
  int skip = twin_skip("products of scaled tensors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
