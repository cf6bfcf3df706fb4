/* SPDX-License-Identifier: MIT */
/* The device's Hadamard transform against the CPU's: random transforms, shapes, places and data, whole buffers
 * compared; misuse gets the same answer. */
#include "tests/cuda_host/twin.h"

static hu_status on_cpu(int inverse, size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                        const hu_hadamard *transform, const hu_exec *exec) {
  return (inverse ? hu_hadamard_inverse : hu_hadamard_forward)(rows, cols, z, ldz, x, ldx, transform, exec);
}

static hu_status on_device(int inverse, size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                           const hu_hadamard *transform, const hu_exec *exec) {
  return on_cpu(inverse, rows, cols, z, ldz, x, ldx, transform, twin_there(exec));
}

/* Ordinary numbers, or any pattern. */
static void fill(t_random *random, const t_twin *twin, int any) {
  for (size_t k = 0; k + 4 <= twin->bytes; k += 4) {
    uint32_t u = t_next32(random);
    if (!any) u = (uint32_t)t_between(random, 110, 140) << 23 | (u & 0x807FFFFF);
    memcpy(twin->host + k, &u, 4);
  }
}

static size_t run_case(t_random *random, size_t most) {
  hu_hadamard transform = {16u << t_below(random, 4),   (uint8_t)t_below(random, 2), (uint8_t)t_below(random, 3),
                           (uint8_t)t_below(random, 3), (uint8_t)t_below(random, 2), NULL};
  size_t along = transform.n * (1 + t_below(random, (uint32_t)most)),
         other = 1 + t_below(random, transform.axis ? 400 : 7);
  size_t rows = transform.axis ? along : other, cols = transform.axis ? other : along;
  size_t ldx = cols + (t_below(random, 2) ? t_below(random, 9) : 0),
         skip = t_below(random, 2) ? 4 * t_below(random, 5) : 0;
  int inverse = (int)t_below(random, 2), in_place = t_below(random, 4) == 0;
  size_t ldz = in_place ? ldx : cols + (t_below(random, 2) ? t_below(random, 9) : 0);
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}, {0}};
  t_twin x = twin_new(rows * ldx * 4 + 32), z = twin_new(rows * ldz * 4 + 32), mask = twin_new((along / 32 + 1) * 4);
  const t_twin *out = in_place ? &x : &z;
  fill(random, &x, t_below(random, 4) == 0);
  fill(random, &mask, 1);
  twin_put(&x);
  twin_put(&z);
  twin_put(&mask);
  transform.mask = (const uint32_t *)(void *)mask.host;
  hu_status cpu = on_cpu(inverse, rows, cols, (float *)(void *)(out->host + skip), ldz,
                         (float *)(void *)(x.host + skip), ldx, &transform, &exec);
  transform.mask = (const uint32_t *)(void *)mask.device;
  hu_status gpu = on_device(inverse, rows, cols, (float *)(void *)(out->device + skip), ldz,
                            (float *)(void *)(x.device + skip), ldx, &transform, &exec);
  assert_int_equal(cpu, HU_OK);
  assert_int_equal(gpu, HU_OK);
  if (twin_differs(&z) != z.bytes || twin_differs(&x) != x.bytes) {
    fail_msg("%zux%zu, n %u axis %u norm %u signs %u whole %u, inverse %d, in place %d", rows, cols,
             (unsigned)transform.n, transform.axis, transform.norm, transform.signs, transform.whole, inverse,
             in_place);
  }
  twin_free(&x);
  twin_free(&z);
  twin_free(&mask);
  return rows * cols;
}

static void against_cpu(void **state) {
  (void)state;
  t_random random = {t_seed("device-hadamard", 51)};
  size_t elements = 0;
  for (unsigned i = 0; i < t_part(300); i++) elements += run_case(&random, i % 10 ? 5 : 70);
  print_message("%zu elements\n", elements);
}

static void refusals(void **state) {
  (void)state;
  t_twin z = twin_new(4096), x = twin_new(4096);
  hu_hadamard good = {16, HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_ROOT, HU_HADAMARD_SIGNS_NONE, 0, NULL}, bad = good;
  float *d = (float *)(void *)z.device, *e = (float *)(void *)x.device;
  twin_put(&z);
  for (int inverse = 0; inverse < 2; inverse++) {
    assert_int_equal(on_device(inverse, 4, 32, d, 32, e, 32, NULL, NULL), HU_E_NULL);
    assert_int_equal(on_device(inverse, 4, 32, NULL, 32, e, 32, &good, NULL), HU_E_NULL);
    assert_int_equal(on_device(inverse, 4, 33, d, 33, e, 33, &good, NULL), HU_E_SHAPE);
    assert_int_equal(on_device(inverse, 4, 32, d, 31, e, 32, &good, NULL), HU_E_SHAPE);
    assert_int_equal(on_device(inverse, 4, 32, d + 1, 32, d, 32, &good, NULL), HU_E_OVERLAP);
    assert_int_equal(on_device(inverse, 4, 32, (float *)(void *)(z.device + 1), 32, e, 32, &good, NULL), HU_E_ALIGN);
    bad.norm = 9;
    assert_int_equal(on_device(inverse, 4, 32, d, 32, e, 32, &bad, NULL), HU_E_MODE);
    assert_int_equal(on_device(inverse, 0, 32, NULL, 32, NULL, 32, &good, NULL), HU_OK);
  }
  assert_int_equal(twin_differs(&z), z.bytes);
  twin_free(&z);
  twin_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(against_cpu), cmocka_unit_test(refusals)};
  int skip = twin_skip("device Hadamard transform");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
