/* SPDX-License-Identifier: MIT */
/* hu_device_scaled_gemm against hu_scaled_gemm on the products of tests/scaled_gemm: every way, factor and model at
 * random, layouts, random words, events, encoded results; hu_device_gemm_scaled against hu_gemm_scaled; the errors. */
#include "tests/cuda_host/twin.h"

#include "halfulp/device_scaled.h"
#include "tests/scaled_gemm/product.h"

/* ---- a product's arrays on the device ---- */

typedef struct t_twins {
  t_twin codes, scales, tensor;
} t_twins;

static t_twins twins_of(const t_matrix *x, hu_scaled_operand *z) {
  t_twins t;
  memset(&t, 0, sizeof t);
  *z = x->operand;
  t.codes = twin_new(x->code_bytes + 1);
  memcpy(t.codes.host, x->codes, x->code_bytes);
  twin_put(&t.codes);
  z->plain.data = x->scaled ? NULL : t.codes.device;
  if (!x->scaled) return t;
  t.scales = twin_new(x->scale_bytes + 1);
  t.tensor = twin_new(sizeof(float));
  memcpy(t.scales.host, x->scales, x->scale_bytes);
  memcpy(t.tensor.host, &x->tensor, sizeof(float));
  twin_put(&t.scales);
  twin_put(&t.tensor);
  z->scaled.codes = t.codes.device;
  z->scaled.scales = t.scales.device;
  z->scaled.tensor = x->scaling.tensor ? (float *)(void *)t.tensor.device : NULL;
  return t;
}

static void twins_free(t_twins *t) {
  twin_free(&t->codes);
  if (t->scales.host) twin_free(&t->scales);
  if (t->tensor.host) twin_free(&t->tensor);
}

/* D, on both sides. */
typedef struct t_sink {
  t_twin codes, scales, tensor, stats, amax, events;
  hu_scaled_result cpu, device;
} t_sink;

static void sink_half(const t_product *p, const t_sink *t, hu_scaled_result *d, int device) {
  memset(d, 0, sizeof *d);
#define SIDE(t) ((void *)(device ? (t).device : (t).host))
  if (!p->scaled) {
    d->plain.data = SIDE(t->codes);
    d->plain.ld = p->ld;
    d->plain.format = p->format;
    d->plain.storage = p->values ? HU_STORAGE_VALUES : HU_STORAGE_CODES;
    return;
  }
  d->scaling = &p->scaling;
  d->scaled.codes = SIDE(t->codes);
  d->scaled.ld = p->ld;
  d->scaled.scales = SIDE(t->scales);
  d->scaled.lds = p->lds;
  d->scaled.tensor = p->scaling.tensor ? SIDE(t->tensor) : NULL;
  d->amax = p->amax ? SIDE(t->amax) : NULL;
  d->stats = SIDE(t->stats);
#undef SIDE
}

static t_sink sink_new(const t_product *p) {
  t_sink t;
  memset(&t, 0, sizeof t);
  t.codes = twin_new(p->m * p->ld * 4 + 4);
  t.scales = twin_new(p->m * (p->lds + 1) * 4 + 4);
  t.tensor = twin_new(sizeof(float));
  t.stats = twin_new(p->m * p->n * sizeof(hu_scaled_stats) + 8);
  t.amax = twin_new(sizeof(float));
  t.events = twin_new(sizeof(hu_events));
  memcpy(t.amax.host, &p->amax_value, sizeof(float));
  memset(t.events.host, 0, t.events.bytes);
  memset(t.stats.host, 0, t.stats.bytes);
  t_twin *all[] = {&t.codes, &t.scales, &t.tensor, &t.stats, &t.amax, &t.events};
  for (size_t i = 0; i < 6; i++) twin_put(all[i]);
  return t;
}

static void compare(const t_product *p, t_sink *t) {
  static const char *const names[] = {"D", "scales", "tensor scale", "statistics", "amax", "events"};
  const t_twin *all[] = {&t->codes, &t->scales, &t->tensor, &t->stats, &t->amax, &t->events};
  for (size_t i = 0; i < 6; i++) {
    size_t at = twin_differs(all[i]);
    if (at < all[i]->bytes) fail_msg("%s: byte %zu differs: %s", names[i], at, product_text(p));
  }
}

static void sink_free(t_sink *t) {
  t_twin *all[] = {&t->codes, &t->scales, &t->tensor, &t->stats, &t->amax, &t->events};
  for (size_t i = 0; i < 6; i++) twin_free(all[i]);
}

static void run(const t_product *p) {
  hu_scaled_operand a, b, c;
  t_twins ta = twins_of(&p->a, &a), tb = twins_of(&p->b, &b), tc;
  if (p->has_c) tc = twins_of(&p->c, &c);
  t_sink t = sink_new(p);
  sink_half(p, &t, &t.cpu, 0);
  sink_half(p, &t, &t.device, 1);
  hu_exec exec = {1, 0, p->stream};
  const hu_scaled_operand *hc = p->has_c ? &p->c.operand : NULL, *dc = p->has_c ? &c : NULL;
  size_t bytes = hu_scaled_gemm_space(p->m, p->n, p->k, &t.cpu, &p->a.operand, &p->b.operand, hc, &p->sum, &exec);
  size_t far = hu_device_scaled_gemm_space(p->m, p->n, p->k, &t.device, &a, &b, dc, &p->sum);
  assert_true(bytes != SIZE_MAX && far != SIZE_MAX);
  void *near = aligned_alloc(64, bytes / 64 * 64 + 64);
  t_twin space = twin_new(far + 64);
  uint8_t *work = space.device + (64 - (uintptr_t)space.device % 64) % 64;
  assert_non_null(near);
  hu_status s[2] = {hu_scaled_gemm(p->m, p->n, p->k, &t.cpu, &p->a.operand, &p->b.operand, hc, &p->sum, p->mode, near,
                                   bytes, &exec, (hu_events *)(void *)t.events.host),
                    hu_device_scaled_gemm(p->m, p->n, p->k, &t.device, &a, &b, dc, &p->sum, p->mode, work, far, &exec,
                                          (hu_events *)(void *)t.events.device, twin_stream())};
  if (s[0] != HU_OK || s[1] != HU_OK) {
    fail_msg("%s, %s: %s", hu_status_name(s[0]), hu_status_name(s[1]), product_text(p));
  }
  compare(p, &t);
  free(near);
  twin_free(&space);
  sink_free(&t);
  twins_free(&ta);
  twins_free(&tb);
  if (p->has_c) twins_free(&tc);
}

static void test_products(void **state) {
  static t_product p;
  t_random r = {t_seed("device-scaled-gemm", 21)};
  size_t ways[HU_SCALED_WAYS] = {0};
  (void)state;
  for (unsigned i = 0; i < t_part(250);) {
    p.m = 1 + t_below(&r, 5);
    p.n = 1 + t_below(&r, 6);
    p.k = t_below(&r, 12) ? 1 + t_below(&r, 60) : 0;
    if (!product_draw(&p, &r)) continue;
    run(&p);
    ways[p.sum.way]++;
    product_free(&p);
    i++;
  }
  printf("parts %zu, unit %zu, decoded %zu\n", ways[0], ways[1], ways[2]);
  assert_true(t_part(100) < 100 || (ways[0] && ways[1] && ways[2]));
}

/* ---- the raw call ---- */

static t_twin codes_of(t_random *r, size_t n, hu_format f) {
  size_t size = hu_limits_of(f).storage / 8;
  t_twin t = twin_new(n * size + 1);
  for (size_t i = 0; i < n; i++) {
    t_put(t.host, size, (ptrdiff_t)i, t_next32(r) & (uint32_t)((UINT64_C(1) << hu_limits_of(f).width) - 1));
  }
  twin_put(&t);
  return t;
}

static hu_operand operand_of(const void *data, size_t ld, hu_format f, int transposed) {
  hu_operand x = {data, ld, f, HU_STORAGE_CODES, (uint8_t)transposed};
  return x;
}

static void test_raw(void **state) {
  enum { M = 5, N = 7, K = 70 };
  t_random r = {t_seed("device-gemm-scaled", 2)};
  size_t presets = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count() + 2; i++) {
    static const char *const more[] = {"promote(24,seq(binary16,sra:6),bfloat16,scaled)",
                                       "splitk(2,promote(16,fp32,binary32,scaled))"};
    hu_accum_preset q;
    memset(&q, 0, sizeof q);
    if (i < hu_accum_preset_count()) {
      assert_int_equal(hu_accum_preset_at(&q, i), HU_OK);
      if (!hu_accum_is_scaled(&q.accum)) continue;
    } else {
      assert_int_equal(hu_accum_parse(&q.accum, more[i - hu_accum_preset_count()], NULL), HU_OK);
      q.a.format = q.b.format = hu_format_ieee(5, 2, 0);
    }
    size_t every = q.accum.scaled ? q.accum.promote : q.accum.block.every, count = (K + every - 1) / every;
    hu_format fs = q.accum.scaled ? hu_format_ieee(8, 23, 0) : q.accum.block.scale, fd = hu_format_ieee(8, 23, 0);
    int ta = (int)t_below(&r, 2), tb = (int)t_below(&r, 2);
    t_twin a = codes_of(&r, M * K, q.a.format), b = codes_of(&r, K * N, q.b.format), sa = codes_of(&r, M * count, fs),
           sb = codes_of(&r, count * N, fs), d = twin_new(M * N * 4), ev = twin_new(sizeof(hu_events));
    memset(ev.host, 0, ev.bytes);
    twin_put(&ev);
    twin_put(&d);
    hu_exec exec = {1, 0, {5, 6}};
    hu_mode mode = t_stochastic(HU_SRA, 7);
    hu_status s[2];
    for (int side = 0; side < 2; side++) {
#define AT(t) (side ? (t).device : (t).host)
      hu_operand oa = operand_of(AT(a), ta ? M : K, q.a.format, ta), ob = operand_of(AT(b), tb ? K : N, q.b.format, tb);
      hu_operand xa = operand_of(AT(sa), ta ? M : count, fs, ta), xb = operand_of(AT(sb), tb ? count : N, fs, tb);
      hu_result z = {AT(d), N, fd, HU_STORAGE_VALUES};
      hu_events *e = (hu_events *)(void *)AT(ev);
      s[side] =
          side ? hu_device_gemm_scaled(M, N, K, &z, &oa, &ob, NULL, &xa, &xb, &q.accum, mode, &exec, e, twin_stream())
               : hu_gemm_scaled(M, N, K, &z, &oa, &ob, NULL, &xa, &xb, &q.accum, mode, &exec, e);
#undef AT
    }
    assert_int_equal(s[0], HU_OK);
    assert_int_equal(s[1], HU_OK);
    if (twin_differs(&d) < d.bytes || twin_differs(&ev) < ev.bytes) fail_msg("%s differs", q.name);
    t_twin *all[] = {&a, &b, &sa, &sb, &d, &ev};
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
  hu_scaled_result d;
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
  memset(&d, 0, sizeof d);
  d.plain.data = bytes + 3072;
  d.plain.ld = 4;
  d.plain.format = hu_format_ieee(8, 23, 0);
  hu_scaled_sum sum = hu_scaled_sum_parts(other, other, HU_SCALED_FACTOR_ROUNDED), unit = hu_scaled_sum_unit(model);
  size_t need = hu_device_scaled_gemm_space(4, 4, 32, &d, &a, &b, NULL, &sum);
  assert_true(need > 0 && need != SIZE_MAX);
  assert_int_equal(hu_device_scaled_gemm(4, 4, 32, &d, &a, &b, NULL, &sum, rne, NULL, need, NULL, NULL, twin_stream()),
                   HU_E_NULL);
  _Alignas(64) static uint8_t space[64];
  assert_int_equal(
      hu_device_scaled_gemm(4, 4, 32, &d, &a, &b, NULL, &sum, rne, space, need - 1, NULL, NULL, twin_stream()),
      HU_E_SPACE);
  assert_int_equal(hu_device_scaled_gemm(4, 4, 32, NULL, &a, &b, NULL, &sum, rne, space, 64, NULL, NULL, twin_stream()),
                   HU_E_NULL);
  mx.cols = 48;
  assert_int_equal(hu_device_scaled_gemm(4, 4, 32, &d, &a, &b, NULL, &unit, rne, space, 64, NULL, NULL, twin_stream()),
                   HU_E_ACCUM);
  hu_operand x = operand_of(bytes, 32, mx.element, 0), s = operand_of(bytes, 32, mx.scale, 0);
  hu_result z = {bytes + 3072, 4, hu_format_ieee(8, 23, 0), HU_STORAGE_VALUES};
  assert_int_equal(hu_device_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, NULL, &s, &model, rne, NULL, NULL, twin_stream()),
                   HU_E_NULL);
  assert_int_equal(hu_device_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, &s, &s, &other, rne, NULL, NULL, twin_stream()),
                   HU_E_ACCUM);
  assert_int_equal(hu_device_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, &x, &s, &model, rne, NULL, NULL, twin_stream()),
                   HU_E_ACCUM);
  z.data = bytes;
  assert_int_equal(hu_device_gemm_scaled(4, 4, 32, &z, &x, &x, NULL, &s, &s, &model, rne, NULL, NULL, twin_stream()),
                   HU_E_OVERLAP);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_raw),
                                     cmocka_unit_test(test_errors)};
  int skip = twin_skip("products of scaled tensors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
