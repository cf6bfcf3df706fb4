/* SPDX-License-Identifier: MIT */
/* Products of many tiles and arrays past 2^31 bytes, again and again: the CPU's bits each time. What a device does in
 * an order of its own, threads, blocks and atomic additions, shows here if anywhere. The run on the CPU has the same
 * cases, small. */
#include <unistd.h>

#include "tests/cuda_host/twin.h"

#include "halfulp/accum.h"
#include "halfulp/formats/ieee.h"

#if defined(HU_TWIN_ON_DEVICE)
enum { ON_DEVICE = 1, TIMES = 10 };
#else
enum { ON_DEVICE = 0, TIMES = 2 };
#endif

/* part: the sides are those of the largest case over it. */
typedef struct t_product {
  const char *model, *format;
  uint8_t storage, part;
} t_product;

static const t_product products[] = {{"fp32", "binary32", HU_TYPE_VALUES32, 1},
                                     {"fp32", "float8_e4m3fn", HU_TYPE_CODES, 1},
                                     {"fp32", "binary16", HU_TYPE_CODES, 1},
                                     {"exact", "float4_e2m1fn", HU_TYPE_CODES, 1},
                                     {"exact", "float8_e4m3fn", HU_TYPE_CODES, 1},
                                     {"exact", "bfloat16", HU_TYPE_CODES, 4},
                                     {"seq(binary16)", "binary16", HU_TYPE_CODES, 1},
                                     {"seq(bfloat16)", "bfloat16", HU_TYPE_CODES, 1},
                                     {"seq(fp(6,9,0))", "float8_e4m3fn", HU_TYPE_CODES, 1},
                                     {"nv.hopper.f16.f32", "binary16", HU_TYPE_CODES, 2},
                                     {"nv.hopper.e4m3.f32.wgmma", "float8_e4m3fn", HU_TYPE_CODES, 2},
                                     {"amd.cdna3.f16", "binary16", HU_TYPE_CODES, 4},
                                     {"pairwise(binary32)", "binary16", HU_TYPE_CODES, 4}};

static hu_exec all_threads(void) {
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  exec.threads = n < 1 ? 1 : n > HU_THREADS_MAX ? HU_THREADS_MAX : (uint32_t)n;
  return exec;
}

/* Finite codes, or values, some of them small. */
static void fill(t_random *random, t_twin *twin, hu_format format, uint8_t storage) {
  size_t size = storage == HU_TYPE_VALUES32 ? 4 : hu_limits_of(format).storage / 8;
  for (size_t i = 0; i < twin->bytes / size; i++) {
    float x = (float)t_between(random, -1000, 1000) / (t_below(random, 4) ? 256 : 65536);
    if (storage == HU_TYPE_VALUES32)
      memcpy(twin->host + 4 * i, &x, 4);
    else
      t_put(twin->host, size, (ptrdiff_t)i, hu_encode64(format, t_mode(0), x, 0, NULL));
  }
  twin_put(twin);
}

static void multiply(t_random *random, const t_product *c) {
  const size_t by = (ON_DEVICE ? 1u : 24u) * (t_part(100) < 100 ? 4u : 1u) * c->part, m = 1000 / by, n = 777 / by,
               k = 1500 / by;
  hu_format format, wide = hu_binary32();
  hu_accum accum;
  assert_int_equal(hu_format_parse(&format, c->format, NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&accum, c->model, NULL), HU_OK);
  size_t size = c->storage == HU_TYPE_VALUES32 ? 4 : hu_limits_of(format).storage / 8;
  t_twin a = twin_new(m * k * size), b = twin_new(k * n * size), twin = twin_new(4 * m * n),
         events = twin_new(sizeof(hu_events));
  hu_exec exec = all_threads();
  fill(random, &a, format, c->storage);
  fill(random, &b, format, c->storage);
  memset(events.host, 0, events.bytes);
  hu_view ha = hu_matrix_of(a.host, k, hu_type_values(c->storage, format)),
          hb = hu_matrix_of(b.host, n, hu_type_values(c->storage, format)), da = ha, db = hb;
  hu_output hd = hu_matrix_out_of(twin.host, n, hu_type_values(HU_TYPE_VALUES32, wide)),
            dd = hu_matrix_out_of(twin.device, n, hu_type_values(HU_TYPE_VALUES32, wide));
  da.data = a.device;
  db.data = b.device;
  twin_put(&twin);
  twin_put(&events);
  assert_int_equal(
      hu_gemm(m, n, k, &hd, &ha, &hb, NULL, &accum, &(hu_how){t_mode(0), &exec, (hu_events *)(void *)events.host}),
      HU_OK);
  hu_events once, *counts = (hu_events *)(void *)events.host;
  memcpy(&once, counts, sizeof once);
  for (int i = 0; i < TIMES; i++) {
    assert_int_equal(hui_memory_put(twin.device, b.host, twin.bytes < b.bytes ? twin.bytes : b.bytes),
                     HU_OK); /* spoil it */
    assert_int_equal(hu_gemm(m, n, k, &dd, &da, &db, NULL, &accum,
                             &(hu_how){t_mode(0), twin_there(NULL), (hu_events *)(void *)events.device}),
                     HU_OK);
    if (i) hu_events_add(counts, &once);
    size_t at = twin_differs(&twin);
    if (at < twin.bytes) fail_msg("%s of %s: run %d, element %zu differs", c->model, c->format, i, at / 4);
    assert_int_equal(twin_differs(&events), events.bytes);
  }
  printf("%s of %s: %zu x %zu x %zu, %d runs\n", c->model, c->format, m, n, k, TIMES);
  fflush(stdout);
  twin_free(&a);
  twin_free(&b);
  twin_free(&twin);
  twin_free(&events);
}

static void large_products(void **state) {
  (void)state;
  t_random random = {t_seed("large shapes", 7)};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) multiply(&random, &products[i]);
}

/* Elements beyond the 2^31st byte and the 2^31st word of a stream. */
static void long_arrays(void **state) {
  (void)state;
  const size_t whole = ((size_t)1 << 29) + ((size_t)1 << 27) + 3;
  const size_t n = ON_DEVICE && t_part(100) == 100 ? whole : 4099;
  const hu_format format = hu_format_fn(4, 3, 0);
  hu_exec exec = all_threads();
  hu_mode modes[2] = {t_mode(0), t_stochastic(HU_SRA, 16)};
  t_random random = {t_seed("long arrays", 7)};
  t_twin x = twin_new(4 * n), z = twin_new(4 * n), twin = twin_new(sizeof(hu_events));
  exec.stream.counter = ((uint64_t)1 << 33) - n / 2;
  for (size_t i = 0; i < n; i++) {
    uint32_t u = i < 4096 ? t_next32(&random) : (uint32_t)((i * 0x9E3779B97F4A7C15u) >> 32); /* every pattern */
    memcpy(x.host + 4 * i, &u, 4);
  }
  twin_put(&x);
  for (int kind = 0; kind < 4; kind++) {
    hu_events *counts = (hu_events *)(void *)twin.host;
    const float *from = (const float *)(void *)x.host;
    hu_mode mode = modes[kind & 1];
    memset(twin.host, 0, twin.bytes);
    t_fill_pattern(z.host, z.bytes);
    twin_put(&twin);
    twin_put(&z);
    hu_events *device_counts = (hu_events *)(void *)twin.device;
    const float *device_x = (const float *)(void *)x.device;
    hu_status cpu = kind < 2 ? hu_quantize_n(n, (float *)(void *)z.host, 1, from, 1, format, mode, &exec, counts)
                             : hu_encode_n(n, z.host, 1, from, 1, format, mode, &exec, counts);
    hu_status gpu = kind < 2 ? hu_quantize_n(n, (float *)(void *)z.device, 1, device_x, 1, format, mode,
                                             twin_there(&exec), device_counts)
                             : hu_encode_n(n, z.device, 1, device_x, 1, format, mode, twin_there(&exec), device_counts);
    assert_int_equal(cpu, HU_OK);
    assert_int_equal(gpu, HU_OK);
    assert_int_equal(twin_differs(&z), z.bytes);
    assert_int_equal(twin_differs(&twin), twin.bytes);
  }
  print_message("4 calls of %zu elements\n", n);
  twin_free(&x);
  twin_free(&z);
  twin_free(&twin);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(large_products), cmocka_unit_test(long_arrays)};
  int skip = twin_skip("large shapes");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
