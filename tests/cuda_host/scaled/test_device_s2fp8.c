/* SPDX-License-Identifier: MIT */
/* The device's shifted and squeezed tensors against the CPU's: every call, kinds with and without a table, any mode,
 * size, stride and place; whole buffers, sums, scales and event counts are compared; misuse gets the same answer. */
#include "tests/cuda_host/twin.h"

static const hu_accum fp32 = {.kind = HU_ACCUM_FP32};

static const char *const kinds[] = {"s2fp8",
                                    "s2fp8",
                                    "s2fp8(float8_e4m3fn;target=7)",
                                    "s2fp8(fp(5,2,0):finite;special=element)",
                                    "s2fp8(float4_e2m1fn)",
                                    "s2fp8(fp(4,3,4):finite,nosub;target=2)",
                                    "s2fp8(ue4m3)",
                                    "s2fp8(bfloat16;target=15)",
                                    "s2fp8(fp(8,15,0);target=9)"};

static void draw(t_random *random, const t_twin *twin) {
  unsigned what = t_below(random, 5), zeros = t_below(random, 2);
  uint32_t at = 20 + t_below(random, 180), width = 1 + t_below(random, 40);
  for (size_t k = 0; k + 4 <= twin->bytes; k += 4) {
    uint32_t u = (at + t_below(random, width)) << 23 | (t_next32(random) & (what == 1 ? 0 : 0x7FFFFF));
    if (what == 2) u = t_next32(random); /* anything, infinities and NaN among them */
    if (what == 3) u = 0x3F800000 + t_below(random, 3);
    if (what == 4 && t_below(random, 4) == 0) u = t_below(random, 0x800000);
    if (zeros && t_below(random, 5) == 0) u = 0;
    u ^= t_next32(random) & 0x80000000;
    memcpy(twin->host + k, &u, 4);
  }
}

typedef struct t_tensor {
  hu_s2fp8 kind;
  size_t n, size;
  ptrdiff_t incx, incz, incc;
  size_t atx, atz, atc; /* bytes */
  t_twin x, z, codes, sums, scale, events, work;
} t_tensor;

#define ON(side, t, what, type) ((type *)(void *)((t)->what.side))
#define X(side, t) ((const float *)(void *)((t)->x.side + (t)->atx))
#define Z(side, t) ((float *)(void *)((t)->z.side + (t)->atz))
#define CODES(side, t) ((void *)((t)->codes.side + (t)->atc))

static ptrdiff_t stride(t_random *random) {
  static const int strides[] = {1, 1, 1, 2, -1, -3};
  return strides[t_below(random, 6)];
}

static size_t buffer(t_random *random, size_t n, ptrdiff_t inc, size_t size, size_t *at) {
  size_t step = (size_t)(inc < 0 ? -inc : inc), skip = t_below(random, 7);
  *at = (skip + (inc < 0 && n ? (n - 1) * step : 0)) * size;
  return (skip + n * step + 3) * size;
}

static t_tensor tensor_new(t_random *random, const char *kind, size_t n) {
  t_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  assert_int_equal(hu_s2fp8_parse(&tensor.kind, kind, NULL), HU_OK);
  tensor.n = n;
  tensor.size = hu_limits_of(tensor.kind.element).storage / 8;
  tensor.incx = stride(random);
  tensor.incz = stride(random);
  tensor.incc = stride(random);
  tensor.x = twin_new(buffer(random, n, tensor.incx, 4, &tensor.atx));
  tensor.z = twin_new(buffer(random, n, tensor.incz, 4, &tensor.atz));
  tensor.codes = twin_new(buffer(random, n, tensor.incc, tensor.size, &tensor.atc));
  tensor.sums = twin_new(sizeof(hu_s2fp8_sums));
  tensor.scale = twin_new(sizeof(hu_s2fp8_scale));
  tensor.events = twin_new(sizeof(hu_events));
  tensor.work = twin_new(HU_DEVICE_S2FP8_WORK);
  memset(tensor.sums.host, 0, tensor.sums.bytes);
  memset(tensor.scale.host, 0, tensor.scale.bytes);
  memset(tensor.events.host, 0, tensor.events.bytes);
  draw(random, &tensor.x);
  return tensor;
}

static void tensor_put(const t_tensor *tensor) {
  twin_put(&tensor->x);
  twin_put(&tensor->z);
  twin_put(&tensor->codes);
  twin_put(&tensor->sums);
  twin_put(&tensor->scale);
  twin_put(&tensor->events);
}

static void tensor_free(t_tensor *tensor) {
  t_twin *all[] = {&tensor->x,     &tensor->z,      &tensor->codes, &tensor->sums,
                   &tensor->scale, &tensor->events, &tensor->work};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) twin_free(all[i]);
}

static void same(const t_tensor *tensor, const char *when, hu_mode mode) {
  static const char *const names[] = {"x", "z", "codes", "sums", "scale", "events"};
  const t_twin *all[] = {&tensor->x, &tensor->z, &tensor->codes, &tensor->sums, &tensor->scale, &tensor->events};
  char text[HU_S2FP8_TEXT_MAX], words[T_MODE_TEXT];
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t at = twin_differs(all[i]);
    if (at == all[i]->bytes) continue;
    (void)hu_s2fp8_text(text, sizeof text, &tensor->kind);
    fail_msg("%s, %zu elements, %s, %s: %s differs at byte %zu", text, tensor->n, t_mode_text(words, mode), when,
             names[i], at);
  }
}

static void run_case(t_random *random, const char *kind, size_t n) {
  t_tensor tensor = tensor_new(random, kind, n);
  hu_mode mode = t_below(random, 3) ? t_policy(t_mode(t_below(random, T_DETERMINISTIC)), t_below(random, 4),
                                               t_below(random, 2), t_below(random, 3))
                                    : t_random_mode(random);
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}, {0}};
  hu_events *ev = ON(host, &tensor, events, hu_events), *dev = ON(device, &tensor, events, hu_events);
  hu_s2fp8_sums *sums = ON(host, &tensor, sums, hu_s2fp8_sums);
  hu_s2fp8_scale *scale = ON(host, &tensor, scale, hu_s2fp8_scale),
                 *dscale = ON(device, &tensor, scale, hu_s2fp8_scale);
  tensor_put(&tensor);
  for (int twice = 0; twice < 2; twice++) { /* sums add up */
    assert_int_equal(hu_s2fp8_sum_n(n, X(host, &tensor), tensor.incx, sums, NULL), HU_OK);
    assert_int_equal(
        hu_s2fp8_sum_n(n, X(device, &tensor), tensor.incx, ON(device, &tensor, sums, hu_s2fp8_sums), twin_there(NULL)),
        HU_OK);
  }
  assert_int_equal(hu_s2fp8_scale_of(scale, sums, &tensor.kind, NULL), HU_OK);
  assert_int_equal(hu_s2fp8_scale_of(dscale, ON(device, &tensor, sums, hu_s2fp8_sums), &tensor.kind, twin_there(NULL)),
                   HU_OK);
  same(&tensor, "sums", mode);
  if (t_below(random, 3) == 0) { /* another tensor's scale */
    int64_t less = (int64_t)(t_next64(random) >> 22);
    assert_int_equal(hu_s2fp8_scale_from(scale, scale->mu - less, scale->m - less / 2, &tensor.kind), HU_OK);
    twin_put(&tensor.scale);
  }
  int count = t_below(random, 3) != 0;
  assert_int_equal(hu_s2fp8_encode_n(n, CODES(host, &tensor), tensor.incc, X(host, &tensor), tensor.incx, &tensor.kind,
                                     scale, mode, &exec, count ? ev : NULL),
                   HU_OK);
  assert_int_equal(
      hu_s2fp8_encode_n(n, CODES(device, &tensor), tensor.incc, X(device, &tensor), tensor.incx, &tensor.kind, dscale,
                        mode, twin_there_with(&exec, tensor.work.device), count ? dev : NULL),
      HU_OK);
  same(&tensor, "encode", mode);
  assert_int_equal(
      hu_s2fp8_decode_n(n, Z(host, &tensor), tensor.incz, CODES(host, &tensor), tensor.incc, &tensor.kind, scale, NULL),
      HU_OK);
  assert_int_equal(hu_s2fp8_decode_n(n, Z(device, &tensor), tensor.incz, CODES(device, &tensor), tensor.incc,
                                     &tensor.kind, dscale, twin_there_with(NULL, tensor.work.device)),
                   HU_OK);
  same(&tensor, "decode", mode);
  memset(tensor.z.host, 0, tensor.z.bytes);
  twin_put(&tensor.z);
  assert_int_equal(hu_s2fp8_quantize_n(n, Z(host, &tensor), tensor.incz, X(host, &tensor), tensor.incx, &tensor.kind,
                                       scale, mode, &exec, ev),
                   HU_OK);
  assert_int_equal(hu_s2fp8_quantize_n(n, Z(device, &tensor), tensor.incz, X(device, &tensor), tensor.incx,
                                       &tensor.kind, dscale, mode, twin_there_with(&exec, tensor.work.device), dev),
                   HU_OK);
  same(&tensor, "quantize", mode);
  /* In place, with statistics of its own. */
  assert_int_equal(hu_s2fp8_truncate_n(n, (float *)(void *)(tensor.x.host + tensor.atx), tensor.incx, X(host, &tensor),
                                       tensor.incx, &tensor.kind, mode, sums, scale, &exec, ev),
                   HU_OK);
  assert_int_equal(
      hu_s2fp8_truncate_n(n, (float *)(void *)(tensor.x.device + tensor.atx), tensor.incx, X(device, &tensor),
                          tensor.incx, &tensor.kind, mode, ON(device, &tensor, sums, hu_s2fp8_sums), dscale,
                          twin_there_with(&exec, tensor.work.device), dev),
      HU_OK);
  same(&tensor, "truncate", mode);
  tensor_free(&tensor);
}

static void every_call(void **state) {
  (void)state;
  t_random random = {t_seed("device_s2fp8", 90)};
  size_t elements = 0;
  for (unsigned round = 0; round < t_part(8); round++) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      size_t n = t_below(&random, 3) ? 1 + t_below(&random, 3000) : t_below(&random, 12);
      run_case(&random, kinds[k], n);
      elements += n;
    }
  }
  run_case(&random, "s2fp8", 60000);
  print_message("%zu elements, 5 calls each\n", elements + 60000);
}

static void products(void **state) {
  (void)state;
  t_random random = {t_seed("device_s2fp8_products", 91)};
  for (int i = 0; i < 6; i++) {
    size_t m = 1 + t_below(&random, 40), n = 1 + t_below(&random, 40), k = i == 5 ? 0 : t_below(&random, 50);
    hu_s2fp8 ka, kb;
    assert_int_equal(hu_s2fp8_parse(&ka, i == 3 ? "s2fp8(binary16)" : "s2fp8", NULL), HU_OK);
    assert_int_equal(hu_s2fp8_parse(&kb, "s2fp8(float8_e4m3fn)", NULL), HU_OK);
    uint8_t ta = (uint8_t)t_below(&random, 2), tb = (uint8_t)t_below(&random, 2);
    size_t sa = i == 3 ? 2 : 1, lda = (ta ? m : k) + t_below(&random, 4), ldb = (tb ? k : n) + t_below(&random, 4),
           ldz = n + 2;
    t_twin a = twin_new((ta ? k : m) * lda * sa + 64), b = twin_new((tb ? n : k) * ldb + 64), z = twin_new(m * ldz * 4);
    t_twin s = twin_new(2 * sizeof(hu_s2fp8_scale));
    hu_s2fp8_scale *scales = (hu_s2fp8_scale *)(void *)s.host, *on = (hu_s2fp8_scale *)(void *)s.device;
    for (size_t j = 0; j < a.bytes; j++) a.host[j] = (uint8_t)(t_next32(&random) & 0xBF);
    for (size_t j = 0; j < b.bytes; j++) b.host[j] = (uint8_t)(t_next32(&random) & 0xBF);
    assert_int_equal(hu_s2fp8_scale_from(&scales[0], -((int64_t)3 << 40), 5, &ka), HU_OK);
    assert_int_equal(hu_s2fp8_scale_from(&scales[1], -7, (int64_t)5 << 38, &kb), HU_OK);
    memset(z.host, 0, z.bytes);
    twin_put(&a);
    twin_put(&b);
    twin_put(&z);
    twin_put(&s);
    hu_scaled records[4] = {{a.host, lda, &scales[0], 0, NULL},
                            {b.host, ldb, &scales[1], 0, NULL},
                            {a.device, lda, (void *)(uintptr_t)&on[0], 0, NULL},
                            {b.device, ldb, (void *)(uintptr_t)&on[1], 0, NULL}};
    hu_product near = {.m = m, .n = n, .k = k, .accum = &fp32}, far;
    near.a = hu_s2fp8_matrix(&records[0], &ka);
    near.b = hu_s2fp8_matrix(&records[1], &kb);
    if (ta) near.a = hu_transposed(near.a);
    if (tb) near.b = hu_transposed(near.b);
    far = near;
    far.a.data = &records[2];
    far.b.data = &records[3];
    near.d = hu_matrix_floats_out((float *)(void *)z.host, ldz);
    far.d = hu_matrix_floats_out((float *)(void *)z.device, ldz);
    far.bytes = hu_multiply_space(&far, twin_at(NULL, NULL, NULL));
    t_twin work = twin_new(far.bytes);
    far.space = work.device;
    for (int with = 0; with < 2; with++) { /* then with C in place */
      hu_how there = {.exec = twin_there(NULL)};
      if (with) near.c = hu_matrix_floats((float *)(void *)z.host, ldz);
      if (with) far.c = hu_matrix_floats((float *)(void *)z.device, ldz);
      assert_int_equal(hu_multiply(&near, NULL), HU_OK);
      assert_int_equal(hu_multiply(&far, &there), HU_OK);
      assert_int_equal(twin_differs(&z), z.bytes);
    }
    twin_free(&a);
    twin_free(&b);
    twin_free(&z);
    twin_free(&s);
    twin_free(&work);
  }
}

static void refusals(void **state) {
  (void)state;
  t_random random = {92};
  hu_mode rne = t_mode(0);
  t_tensor tensor = tensor_new(&random, "s2fp8", 64);
  hu_s2fp8 bad = tensor.kind;
  hu_s2fp8_scale *scale = ON(device, &tensor, scale, hu_s2fp8_scale);
  hu_s2fp8_sums *sums = ON(device, &tensor, sums, hu_s2fp8_sums);
  const float *x = X(device, &tensor);
  float *z = Z(device, &tensor);
  uint8_t *work = tensor.work.device;
  bad.target = 99;
  tensor_put(&tensor);
  assert_int_equal(hu_s2fp8_sum_n(8, x, 1, NULL, twin_there(NULL)), HU_E_NULL);
  assert_int_equal(hu_s2fp8_sum_n(8, NULL, 1, sums, twin_there(NULL)), HU_E_NULL);
  assert_int_equal(hu_s2fp8_sum_n(0, NULL, 1, sums, twin_there(NULL)), HU_OK);
  assert_int_equal(hu_s2fp8_scale_of(scale, sums, &bad, twin_there(NULL)), HU_E_SCALING);
  assert_int_equal(hu_s2fp8_scale_of(NULL, sums, &tensor.kind, twin_there(NULL)), HU_E_NULL);
  assert_int_equal(hu_s2fp8_quantize_n(8, z, 1, x, 1, &bad, scale, rne, twin_there_with(NULL, work), NULL),
                   HU_E_SCALING);
  assert_int_equal(hu_s2fp8_quantize_n(8, z, 0, x, 1, &tensor.kind, scale, rne, twin_there_with(NULL, work), NULL),
                   HU_E_SHAPE);
  assert_int_equal(
      hu_s2fp8_quantize_n(8, z, 1, x, 1, &tensor.kind, scale, t_mode(99), twin_there_with(NULL, work), NULL),
      HU_E_MODE);
  assert_int_equal(hu_s2fp8_quantize_n(8, z, 1, x, 1, &tensor.kind, scale, rne, twin_there(NULL), NULL), HU_E_NULL);
  assert_int_equal(hu_s2fp8_quantize_n(8, z, 1, x, 1, &tensor.kind, scale, rne, twin_there_with(NULL, work + 4), NULL),
                   HU_E_ALIGN);
  assert_int_equal(hu_s2fp8_quantize_n(8, z, 1, z + 1, 1, &tensor.kind, scale, rne, twin_there_with(NULL, work), NULL),
                   HU_E_OVERLAP);
  assert_int_equal(hu_s2fp8_decode_n(8, z, 1, NULL, 1, &tensor.kind, scale, twin_there_with(NULL, work)), HU_E_NULL);
  assert_int_equal(
      hu_s2fp8_truncate_n(8, z, 1, x, 1, &tensor.kind, rne, NULL, scale, twin_there_with(NULL, work), NULL), HU_E_NULL);
  hu_scaled a = {tensor.codes.device, 4, (void *)(uintptr_t)scale, 0, NULL}, flat = a;
  hu_how there = {.exec = twin_there(NULL)};
  hu_product product = {.m = 2, .n = 2, .k = 4, .accum = &fp32, .space = work, .bytes = SIZE_MAX};
  flat.ld = 1;
  product.d = hu_matrix_floats_out(z, 2);
  product.a = hu_s2fp8_matrix(&flat, &tensor.kind);
  product.b = hu_s2fp8_matrix(&a, &tensor.kind);
  assert_int_equal(hu_multiply(&product, &there), HU_E_SHAPE);
  product.a.data = &a;
  product.bytes = hu_multiply_space(&product, there.exec) - 1;
  assert_int_equal(hu_multiply(&product, &there), HU_E_SPACE);
  memset(&product.a, 0, sizeof product.a);
  product.a.type.kind = HU_TYPE_S2FP8;
  assert_int_equal(hu_multiply(&product, &there), HU_E_NULL);
  same(&tensor, "refusals", rne); /* all as it was */
  /* A scale that is none, which only the device sees, is 0, T. */
  hu_s2fp8_scale own;
  assert_int_equal(hu_s2fp8_scale_from(&own, 0, (int64_t)15 << 40, &tensor.kind), HU_OK);
  assert_int_equal(hu_s2fp8_quantize_n(16, Z(host, &tensor), tensor.incz, X(host, &tensor), tensor.incx, &tensor.kind,
                                       &own, rne, NULL, NULL),
                   HU_OK);
  assert_int_equal(hu_s2fp8_quantize_n(16, z, tensor.incz, x, tensor.incx, &tensor.kind, scale, rne,
                                       twin_there_with(NULL, work), NULL),
                   HU_OK);
  same(&tensor, "no scale", rne);
  tensor_free(&tensor);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(products),
                                     cmocka_unit_test(refusals)};
  int skip = twin_skip("device shifted and squeezed tensors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
