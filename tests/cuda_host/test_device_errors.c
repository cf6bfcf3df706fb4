/* SPDX-License-Identifier: MIT */
/* Misuse of the device calls: each error code produced once, the same as the CPU's call gives, outputs and events
 * untouched. */
#include "tests/cuda_host/twin.h"

enum { N = 16 };
static const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};

typedef struct t_setup {
  t_twin z, x, e;
  size_t checked;
} t_setup;

static hu_events *events_of(t_setup *s) { return (hu_events *)(void *)s->e.device; }

/* Both say `want`, and nothing was written. */
static void refused(t_setup *s, hu_status want, hu_status cpu, hu_status device) {
  assert_int_equal(cpu, want);
  assert_int_equal(device, want);
  assert_int_equal(twin_differs(&s->z), s->z.bytes);
  assert_int_equal(twin_differs(&s->x), s->x.bytes);
  assert_int_equal(twin_differs(&s->e), s->e.bytes);
  s->checked++;
}

static t_setup setup_new(void) {
  t_setup s = {twin_new(1024), twin_new(1024), twin_new(sizeof(hu_events)), 0};
  twin_put(&s.z);
  twin_put(&s.x);
  twin_put(&s.e);
  return s;
}

static void setup_free(t_setup *s) {
  print_message("%zu refusals\n", s->checked);
  twin_free(&s->z);
  twin_free(&s->x);
  twin_free(&s->e);
}

#define QUANTIZE(want, n, zat, incz, xat, incx, f, mode)                                                              \
  refused(&s, want,                                                                                                   \
          hu_quantize_n(n, (float *)(void *)(s.z.host + (zat)), incz, (float *)(void *)(s.x.host + (xat)), incx, f,   \
                        mode, NULL, NULL),                                                                            \
          hu_device_quantize_n(n, (float *)(void *)(s.z.device + (zat)), incz, (float *)(void *)(s.x.device + (xat)), \
                               incx, f, mode, NULL, events_of(&s), twin_stream()))

static void array_calls(void **state) {
  (void)state;
  t_setup s = setup_new();
  hu_format f = hu_format_ieee(4, 3, 0), bad = f, wide = hu_format_ieee(11, 20, 0);
  hu_mode wrong = rne;
  bad.e = 12;
  wrong.round = HU_ROUND_COUNT;
  QUANTIZE(HU_E_FORMAT, N, 0, 1, 0, 1, bad, rne);
  QUANTIZE(HU_E_MODE, N, 0, 1, 0, 1, f, wrong);
  QUANTIZE(HU_E_CARRIER, N, 0, 1, 0, 1, wide, rne);
  QUANTIZE(HU_E_SHAPE, N, 0, 0, 0, 1, f, rne);
  QUANTIZE(HU_E_SHAPE, N, 0, PTRDIFF_MAX, 0, 1, f, rne);
  QUANTIZE(HU_E_SHAPE, N, 0, 1, 0, PTRDIFF_MIN, f, rne);
  QUANTIZE(HU_E_ALIGN, N, 1, 1, 0, 1, f, rne);
  QUANTIZE(HU_E_ALIGN, N, 0, 1, 2, 1, f, rne);
  float *z = (float *)(void *)s.z.host, *dz = (float *)(void *)s.z.device;
  float *x = (float *)(void *)s.x.host, *dx = (float *)(void *)s.x.device;
  hu_events *ev = events_of(&s);
  refused(&s, HU_E_NULL, hu_quantize_n(N, NULL, 1, x, 1, f, rne, NULL, NULL),
          hu_device_quantize_n(N, NULL, 1, dx, 1, f, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_NULL, hu_quantize_n(N, z, 1, NULL, 1, f, rne, NULL, NULL),
          hu_device_quantize_n(N, dz, 1, NULL, 1, f, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_OVERLAP, hu_quantize_n(N, z, 1, z + 1, 1, f, rne, NULL, NULL),
          hu_device_quantize_n(N, dz, 1, dz + 1, 1, f, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_OVERLAP, hu_quantize_n(N, z, 2, z, 1, f, rne, NULL, NULL),
          hu_device_quantize_n(N, dz, 2, dz, 1, f, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_OVERLAP, hu_encode_n(N, z, 1, z, 1, f, rne, NULL, NULL),
          hu_device_encode_n(N, dz, 1, dz, 1, f, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_ALIGN, hu_encode_n(N, s.z.host + 1, 1, x, 1, wide, rne, NULL, NULL),
          hu_device_encode_n(N, s.z.device + 1, 1, dx, 1, wide, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_ALIGN, HU_E_ALIGN,
          hu_device_encode_n(N, dz, 1, dx, 1, f, rne, NULL, (hu_events *)(void *)(s.e.device + 1), twin_stream()));
  refused(&s, HU_E_MODE, hu_encode64_n(N, z, 1, (double *)(void *)x, 1, f, wrong, NULL, NULL),
          hu_device_encode64_n(N, dz, 1, (double *)(void *)dx, 1, f, wrong, NULL, ev, twin_stream()));
  refused(
      &s, HU_E_FORMAT, hu_quantize64_n(N, (double *)(void *)z, 1, (double *)(void *)x, 1, bad, rne, NULL, NULL),
      hu_device_quantize64_n(N, (double *)(void *)dz, 1, (double *)(void *)dx, 1, bad, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_CARRIER, hu_decode_n(N, z, 1, x, 1, wide, NULL),
          hu_device_decode_n(N, dz, 1, dx, 1, wide, NULL, twin_stream()));
  refused(&s, HU_E_FORMAT, hu_decode64_n(N, (double *)(void *)z, 1, x, 1, bad, NULL),
          hu_device_decode64_n(N, (double *)(void *)dz, 1, dx, 1, bad, NULL, twin_stream()));
  refused(&s, HU_E_FORMAT, hu_convert_n(N, z, 1, f, x, 1, bad, rne, NULL, NULL),
          hu_device_convert_n(N, dz, 1, f, dx, 1, bad, rne, NULL, ev, twin_stream()));
  refused(&s, HU_E_SHAPE, hu_pack_n(N, s.z.host, s.x.host, 9),
          hu_device_pack_n(N, s.z.device, s.x.device, 9, twin_stream()));
  refused(&s, HU_E_NULL, hu_unpack_n(N, NULL, s.x.host, 4), hu_device_unpack_n(N, NULL, s.x.device, 4, twin_stream()));
  refused(&s, HU_E_OVERLAP, hu_pack_n(N, s.z.host, s.z.host + 7, 4),
          hu_device_pack_n(N, s.z.device, s.z.device + 7, 4, twin_stream()));
  refused(&s, HU_OK, hu_quantize_n(0, NULL, 1, NULL, 1, f, rne, NULL, NULL),
          hu_device_quantize_n(0, NULL, 1, NULL, 1, f, rne, NULL, ev, twin_stream()));
  setup_free(&s);
}

typedef struct t_product {
  size_t m, n, k;
  hu_result d;
  hu_operand a, b, c;
  hu_accum accum;
  hu_mode mode;
} t_product;

static const void *moved(const t_setup *s, const void *p) {
  const uint8_t *at = p;
  if (at == NULL) return NULL;
  if (at >= s->z.host && at < s->z.host + s->z.bytes) return s->z.device + (at - s->z.host);
  return s->x.device + (at - s->x.host);
}

static void refuse_product(t_setup *s, hu_status want, const t_product *p) {
  t_product q = *p;
  q.d.data = (void *)(uintptr_t)moved(s, p->d.data);
  q.a.data = moved(s, p->a.data);
  q.b.data = moved(s, p->b.data);
  q.c.data = moved(s, p->c.data);
  refused(s, want, hu_gemm(p->m, p->n, p->k, &p->d, &p->a, &p->b, &p->c, &p->accum, p->mode, NULL, NULL),
          hu_device_gemm(q.m, q.n, q.k, &q.d, &q.a, &q.b, &q.c, &q.accum, q.mode, NULL, events_of(s), twin_stream()));
}

/* Models that no matrix product takes, or not with these formats. */
static void refuse_model(t_setup *s, hu_status want, t_product p, const char *text) {
  assert_int_equal(hu_accum_parse(&p.accum, text, NULL), HU_OK);
  refuse_product(s, want, &p);
}

/* Models that no product of these formats has, and units of other formats: operands here are fp(4,3,0). */
static void models(t_setup *s, const t_product *p) {
  t_product q = *p;
  refuse_model(s, HU_E_ACCUM, q, "int32");
  refuse_model(s, HU_E_ACCUM, q, "any(nv.blackwell.mxfp8.e4m3)");
  refuse_model(s, HU_E_ACCUM, q, "promote(4,fp32,binary32,scaled)");
  refuse_model(s, HU_E_OPERAND_A, q, "nv.ada.e4m3.f32");
  refuse_model(s, HU_E_OPERAND_B, q, "takes(any,float8_e5m2,any,fp32)");
  q.c.format = hu_format_ieee(11, 20, 0);
  q.c.data = s->x.host + 128;
  refuse_model(s, HU_E_ACCUM, q, "any(nv.ada.e4m3.f32)");
  q.c.format = hu_format_ieee(5, 10, 0);
  refuse_model(s, HU_E_OPERAND_C, q, "takes(any,any,binary32,fp32)");
}

static void matrix_calls(void **state) {
  (void)state;
  t_setup s = setup_new();
  hu_format f = hu_format_ieee(4, 3, 0);
  t_product p, q;
  memset(&p, 0, sizeof p);
  p.m = p.n = p.k = 4;
  p.d.data = s.z.host;
  p.a.data = s.x.host;
  p.b.data = s.x.host + 64;
  p.c.data = s.x.host + 128;
  p.d.ld = p.a.ld = p.b.ld = p.c.ld = 4;
  p.d.format = p.a.format = p.b.format = p.c.format = f;
  p.d.storage = p.a.storage = p.b.storage = p.c.storage = HU_STORAGE_CODES;
  models(&s, &p);
  q = p, q.a.format.m = 31, refuse_product(&s, HU_E_FORMAT, &q);
  q = p, q.mode.round = HU_SRA, refuse_product(&s, HU_E_MODE, &q);
  q = p, q.accum.kind = 9, refuse_product(&s, HU_E_ACCUM, &q);
  q = p, q.accum.length = 1, refuse_product(&s, HU_E_ACCUM, &q);
  q = p, q.accum.kind = HU_ACCUM_FP32, q.b.format = hu_format_ieee(11, 20, 0), refuse_product(&s, HU_E_CARRIER, &q);
  q = p, q.d.storage = HU_STORAGE_VALUES, q.d.format = hu_format_ieee(11, 20, 0), refuse_product(&s, HU_E_CARRIER, &q);
  q = p, q.b.data = NULL, refuse_product(&s, HU_E_NULL, &q);
  q = p, q.d.data = NULL, refuse_product(&s, HU_E_NULL, &q);
  q = p, q.c.ld = 3, refuse_product(&s, HU_E_SHAPE, &q);
  q = p, q.a.storage = 2, refuse_product(&s, HU_E_SHAPE, &q);
  q = p, q.a.transposed = 2, refuse_product(&s, HU_E_SHAPE, &q);
  q = p, q.a.ld = SIZE_MAX / 2, refuse_product(&s, HU_E_SHAPE, &q);
  q = p, q.a.storage = HU_STORAGE_VALUES, q.a.data = s.x.host + 1, refuse_product(&s, HU_E_ALIGN, &q);
  q = p, q.d.data = s.x.host + 64, refuse_product(&s, HU_E_OVERLAP, &q);
  q = p, q.d.data = s.x.host + 128, q.c.transposed = 1, refuse_product(&s, HU_E_OVERLAP, &q);
  q = p, q.m = 0, refuse_product(&s, HU_OK, &q);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(array_calls), cmocka_unit_test(matrix_calls)};
  int skip = twin_skip("device errors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
