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

static hu_events *events_of(t_setup *setup) { return (hu_events *)(void *)setup->e.device; }

/* Both say `expected`, and nothing was written. */
static void refused(t_setup *setup, hu_status expected, hu_status cpu, hu_status device) {
  assert_int_equal(cpu, expected);
  assert_int_equal(device, expected);
  assert_int_equal(twin_differs(&setup->z), setup->z.bytes);
  assert_int_equal(twin_differs(&setup->x), setup->x.bytes);
  assert_int_equal(twin_differs(&setup->e), setup->e.bytes);
  setup->checked++;
}

static t_setup setup_new(void) {
  t_setup setup = {twin_new(1024), twin_new(1024), twin_new(sizeof(hu_events)), 0};
  twin_put(&setup.z);
  twin_put(&setup.x);
  twin_put(&setup.e);
  return setup;
}

static void setup_free(t_setup *setup) {
  print_message("%zu refusals\n", setup->checked);
  twin_free(&setup->z);
  twin_free(&setup->x);
  twin_free(&setup->e);
}

#define QUANTIZE(expected, n, zat, incz, xat, incx, f, mode)                                                           \
  refused(&setup, expected,                                                                                            \
          hu_quantize_n(n, (float *)(void *)(setup.z.host + (zat)), incz, (float *)(void *)(setup.x.host + (xat)),     \
                        incx, f, mode, NULL, NULL),                                                                    \
          hu_quantize_n(n, (float *)(void *)(setup.z.device + (zat)), incz, (float *)(void *)(setup.x.device + (xat)), \
                        incx, f, mode, twin_there(NULL), events_of(&setup)))

static void array_calls(void **state) {
  (void)state;
  t_setup setup = setup_new();
  hu_format format = hu_format_ieee(4, 3, 0), bad = format, wide = hu_format_ieee(11, 20, 0);
  hu_mode wrong = rne;
  bad.e = 12;
  wrong.round = HU_ROUND_COUNT;
  QUANTIZE(HU_E_FORMAT, N, 0, 1, 0, 1, bad, rne);
  QUANTIZE(HU_E_MODE, N, 0, 1, 0, 1, format, wrong);
  QUANTIZE(HU_E_CARRIER, N, 0, 1, 0, 1, wide, rne);
  QUANTIZE(HU_E_SHAPE, N, 0, 0, 0, 1, format, rne);
  QUANTIZE(HU_E_SHAPE, N, 0, PTRDIFF_MAX, 0, 1, format, rne);
  QUANTIZE(HU_E_SHAPE, N, 0, 1, 0, PTRDIFF_MIN, format, rne);
  QUANTIZE(HU_E_ALIGN, N, 1, 1, 0, 1, format, rne);
  QUANTIZE(HU_E_ALIGN, N, 0, 1, 2, 1, format, rne);
  float *z = (float *)(void *)setup.z.host, *dz = (float *)(void *)setup.z.device;
  float *x = (float *)(void *)setup.x.host, *dx = (float *)(void *)setup.x.device;
  hu_events *ev = events_of(&setup);
  refused(&setup, HU_E_NULL, hu_quantize_n(N, NULL, 1, x, 1, format, rne, NULL, NULL),
          hu_quantize_n(N, NULL, 1, dx, 1, format, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_NULL, hu_quantize_n(N, z, 1, NULL, 1, format, rne, NULL, NULL),
          hu_quantize_n(N, dz, 1, NULL, 1, format, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_OVERLAP, hu_quantize_n(N, z, 1, z + 1, 1, format, rne, NULL, NULL),
          hu_quantize_n(N, dz, 1, dz + 1, 1, format, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_OVERLAP, hu_quantize_n(N, z, 2, z, 1, format, rne, NULL, NULL),
          hu_quantize_n(N, dz, 2, dz, 1, format, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_OVERLAP, hu_encode_n(N, z, 1, z, 1, format, rne, NULL, NULL),
          hu_encode_n(N, dz, 1, dz, 1, format, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_ALIGN, hu_encode_n(N, setup.z.host + 1, 1, x, 1, wide, rne, NULL, NULL),
          hu_encode_n(N, setup.z.device + 1, 1, dx, 1, wide, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_ALIGN, HU_E_ALIGN,
          hu_encode_n(N, dz, 1, dx, 1, format, rne, twin_there(NULL), (hu_events *)(void *)(setup.e.device + 1)));
  refused(&setup, HU_E_MODE, hu_encode64_n(N, z, 1, (double *)(void *)x, 1, format, wrong, NULL, NULL),
          hu_encode64_n(N, dz, 1, (double *)(void *)dx, 1, format, wrong, twin_there(NULL), ev));
  refused(&setup, HU_E_FORMAT, hu_quantize64_n(N, (double *)(void *)z, 1, (double *)(void *)x, 1, bad, rne, NULL, NULL),
          hu_quantize64_n(N, (double *)(void *)dz, 1, (double *)(void *)dx, 1, bad, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_CARRIER, hu_decode_n(N, z, 1, x, 1, wide, NULL),
          hu_decode_n(N, dz, 1, dx, 1, wide, twin_there(NULL)));
  refused(&setup, HU_E_FORMAT, hu_decode64_n(N, (double *)(void *)z, 1, x, 1, bad, NULL),
          hu_decode64_n(N, (double *)(void *)dz, 1, dx, 1, bad, twin_there(NULL)));
  refused(&setup, HU_E_FORMAT, hu_convert_n(N, z, 1, format, x, 1, bad, rne, NULL, NULL),
          hu_convert_n(N, dz, 1, format, dx, 1, bad, rne, twin_there(NULL), ev));
  refused(&setup, HU_E_SHAPE, hu_pack_n(N, setup.z.host, setup.x.host, 9, NULL),
          hu_pack_n(N, setup.z.device, setup.x.device, 9, twin_there(NULL)));
  refused(&setup, HU_E_NULL, hu_unpack_n(N, NULL, setup.x.host, 4, NULL),
          hu_unpack_n(N, NULL, setup.x.device, 4, twin_there(NULL)));
  refused(&setup, HU_E_OVERLAP, hu_pack_n(N, setup.z.host, setup.z.host + 7, 4, NULL),
          hu_pack_n(N, setup.z.device, setup.z.device + 7, 4, twin_there(NULL)));
  refused(&setup, HU_OK, hu_quantize_n(0, NULL, 1, NULL, 1, format, rne, NULL, NULL),
          hu_quantize_n(0, NULL, 1, NULL, 1, format, rne, twin_there(NULL), ev));
  setup_free(&setup);
}

typedef struct t_product {
  size_t m, n, k;
  hu_output d;
  hu_view a, b, c;
  hu_accum accum;
  hu_mode mode;
} t_product;

static const void *moved(const t_setup *setup, const void *p) {
  const uint8_t *at = p;
  if (at == NULL) return NULL;
  if (at >= setup->z.host && at < setup->z.host + setup->z.bytes) return setup->z.device + (at - setup->z.host);
  return setup->x.device + (at - setup->x.host);
}

static void refuse_product(t_setup *setup, hu_status expected, const t_product *product) {
  t_product wrong = *product;
  wrong.d.data = (void *)(uintptr_t)moved(setup, product->d.data);
  wrong.a.data = moved(setup, product->a.data);
  wrong.b.data = moved(setup, product->b.data);
  wrong.c.data = moved(setup, product->c.data);
  refused(setup, expected,
          hu_gemm(product->m, product->n, product->k, &product->d, &product->a, &product->b, &product->c,
                  &product->accum, &(hu_how){product->mode, NULL, NULL}),
          hu_gemm(wrong.m, wrong.n, wrong.k, &wrong.d, &wrong.a, &wrong.b, &wrong.c, &wrong.accum,
                  &(hu_how){wrong.mode, twin_there(NULL), events_of(setup)}));
}

/* Models that no matrix product takes, or not with these formats. */
static void refuse_model(t_setup *setup, hu_status expected, t_product product, const char *text) {
  assert_int_equal(hu_accum_parse(&product.accum, text, NULL), HU_OK);
  refuse_product(setup, expected, &product);
}

/* Models that no product of these formats has, and units of other formats: operands here are fp(4,3,0). */
static void models(t_setup *setup, const t_product *product) {
  t_product wrong = *product;
  refuse_model(setup, HU_E_ACCUM, wrong, "int32");
  refuse_model(setup, HU_E_ACCUM, wrong, "any(nv.blackwell.mxfp8.e4m3)");
  refuse_model(setup, HU_E_ACCUM, wrong, "promote(4,fp32,binary32,scaled)");
  refuse_model(setup, HU_E_OPERAND_A, wrong, "nv.ada.e4m3.f32");
  refuse_model(setup, HU_E_OPERAND_B, wrong, "takes(any,float8_e5m2,any,fp32)");
  wrong.c.type.format = hu_format_ieee(11, 20, 0);
  wrong.c.data = setup->x.host + 128;
  refuse_model(setup, HU_E_ACCUM, wrong, "any(nv.ada.e4m3.f32)");
  wrong.c.type.format = hu_format_ieee(5, 10, 0);
  refuse_model(setup, HU_E_OPERAND_C, wrong, "takes(any,any,binary32,fp32)");
}

static void matrix_calls(void **state) {
  (void)state;
  t_setup setup = setup_new();
  hu_format format = hu_format_ieee(4, 3, 0);
  t_product product, wrong;
  memset(&product, 0, sizeof product);
  product.m = product.n = product.k = 4;
  product.d = hu_matrix_codes_out(setup.z.host, 4, format);
  product.a = hu_matrix_codes(setup.x.host, 4, format);
  product.b = hu_matrix_codes(setup.x.host + 64, 4, format);
  product.c = hu_matrix_codes(setup.x.host + 128, 4, format);
  models(&setup, &product);
  wrong = product, wrong.a.type.format.m = 31, refuse_product(&setup, HU_E_FORMAT, &wrong);
  wrong = product, wrong.mode.round = HU_SRA, refuse_product(&setup, HU_E_MODE, &wrong);
  wrong = product, wrong.accum.kind = 9, refuse_product(&setup, HU_E_ACCUM, &wrong);
  wrong = product, wrong.accum.length = 1, refuse_product(&setup, HU_E_ACCUM, &wrong);
  wrong = product, wrong.accum.kind = HU_ACCUM_FP32, wrong.b.type.format = hu_format_ieee(11, 20, 0),
  refuse_product(&setup, HU_E_CARRIER, &wrong);
  wrong = product, wrong.d.type.kind = HU_TYPE_VALUES32, wrong.d.type.format = hu_format_ieee(11, 20, 0),
  refuse_product(&setup, HU_E_CARRIER, &wrong);
  wrong = product, wrong.b.data = NULL, refuse_product(&setup, HU_E_NULL, &wrong);
  wrong = product, wrong.d.data = NULL, refuse_product(&setup, HU_E_NULL, &wrong);
  wrong = product, wrong.c.row = 3, refuse_product(&setup, HU_E_SHAPE, &wrong);
  wrong = product, wrong.a.type.kind = HU_TYPE_NONE, refuse_product(&setup, HU_E_FORMAT, &wrong);
  wrong = product, wrong.a.row = 2, refuse_product(&setup, HU_E_SHAPE, &wrong);
  wrong = product, wrong.a.row = PTRDIFF_MAX, refuse_product(&setup, HU_E_SHAPE, &wrong);
  wrong = product, wrong.a.type.kind = HU_TYPE_VALUES32, wrong.a.data = setup.x.host + 1,
  refuse_product(&setup, HU_E_ALIGN, &wrong);
  wrong = product, wrong.d.data = setup.x.host + 64, refuse_product(&setup, HU_E_OVERLAP, &wrong);
  wrong = product, wrong.d.data = setup.x.host + 128, wrong.c = hu_transposed(wrong.c),
  refuse_product(&setup, HU_E_OVERLAP, &wrong);
  wrong = product, wrong.m = 0, refuse_product(&setup, HU_OK, &wrong);
  setup_free(&setup);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(array_calls), cmocka_unit_test(matrix_calls)};
  int skip = twin_skip("device errors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
