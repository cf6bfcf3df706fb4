/* SPDX-License-Identifier: MIT */
/* Calls captured from a stream into a graph, which then runs twice: nothing in them allocates or waits, all their
 * kernels are in the stream, and each run gives the CPU's bits, and tells of codes that are none. The run on the CPU
 * makes the calls twice. */
#include "tests/cuda_host/twin.h"

#include "halfulp/accum.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"

enum { SIDE = 96, N = SIDE * SIDE, WORK = 1 << 16, TIMES = 2 };

typedef struct t_buffers {
  t_twin x, z, e, work, more;
  hu_scaling scaling;
  hu_s2fp8 s2fp8;
  hu_accum accum;
} t_buffers;

static float *floats(const uint8_t *p) { return (float *)(void *)(uintptr_t)p; }
static hu_events *events(const uint8_t *p) { return (hu_events *)(void *)(uintptr_t)p; }

/* ---- what is captured, and the CPU's twin of it ---- */

static hu_status quantize(void *stream, void *context) {
  t_buffers *buffers = context;
  return hu_quantize_n(N, floats(buffers->z.device), 1, floats(buffers->x.device), 1, hu_binary16(), t_mode(0),
                       twin_at(NULL, NULL, stream), events(buffers->e.device));
}
static hu_status quantize_cpu(t_buffers *buffers, hu_events *ev) {
  return hu_quantize_n(N, floats(buffers->z.host), 1, floats(buffers->x.host), 1, hu_binary16(), t_mode(0), NULL, ev);
}

static hu_view square(const uint8_t *x) {
  hu_view o = hu_matrix_floats(floats((uint8_t *)(uintptr_t)x), SIDE);
  return o;
}
static hu_status multiply(void *stream, void *context) {
  t_buffers *buffers = context;
  hu_view a = square(buffers->x.device);
  hu_output result = hu_matrix_floats_out(floats(buffers->z.device), SIDE);
  return hu_gemm(SIDE, SIDE, SIDE, &result, &a, &a, NULL, &buffers->accum,
                 &(hu_how){t_mode(0), twin_at(NULL, NULL, stream), events(buffers->e.device)});
}
static hu_status multiply_cpu(t_buffers *buffers, hu_events *ev) {
  hu_view a = square(buffers->x.host);
  hu_output result = hu_matrix_floats_out(floats(buffers->z.host), SIDE);
  return hu_gemm(SIDE, SIDE, SIDE, &result, &a, &a, NULL, &buffers->accum, &(hu_how){t_mode(0), NULL, ev});
}

/* A second level without an amax: several kernels. */
static hu_status scale(void *stream, void *context) {
  t_buffers *buffers = context;
  return hu_scaled_quantize(SIDE, SIDE, floats(buffers->z.device), SIDE, floats(buffers->x.device), SIDE,
                            &buffers->scaling, t_mode(0), NULL, NULL, twin_at(NULL, buffers->work.device, stream),
                            events(buffers->e.device));
}
static hu_status scale_cpu(t_buffers *buffers, hu_events *ev) {
  return hu_scaled_quantize(SIDE, SIDE, floats(buffers->z.host), SIDE, floats(buffers->x.host), SIDE, &buffers->scaling,
                            t_mode(0), NULL, NULL, NULL, ev);
}

static hu_status squeeze(void *stream, void *context) {
  t_buffers *buffers = context;
  hu_s2fp8_sums *sums = (hu_s2fp8_sums *)(void *)buffers->more.device;
  return hu_s2fp8_truncate_n(N, floats(buffers->z.device), 1, floats(buffers->x.device), 1, &buffers->s2fp8, t_mode(0),
                             sums, (hu_s2fp8_scale *)(void *)(sums + 1), twin_at(NULL, buffers->work.device, stream),
                             events(buffers->e.device));
}
static hu_status squeeze_cpu(t_buffers *buffers, hu_events *ev) {
  hu_s2fp8_sums sums;
  hu_s2fp8_scale found;
  memset(&sums, 0, sizeof sums);
  return hu_s2fp8_truncate_n(N, floats(buffers->z.host), 1, floats(buffers->x.host), 1, &buffers->s2fp8, t_mode(0),
                             &sums, &found, NULL, ev);
}

/* Each run adds to the record, which is at the head of z. */
static hu_status total(void *stream, void *context) {
  t_buffers *buffers = context;
  return hu_sum_add_all((hu_sum *)(void *)buffers->z.device, N, hu_codes(buffers->x.device, 1, hu_binary32()),
                        twin_at(NULL, NULL, stream));
}
static hu_status total_cpu(t_buffers *buffers, hu_events *ev) {
  hu_status status = HU_OK;
  (void)ev;
  for (int i = 0; i < TIMES && status == HU_OK; i++)
    status = hu_sum_add_all((hu_sum *)(void *)buffers->z.host, N, hu_codes(buffers->x.host, 1, hu_binary32()), NULL);
  return status;
}

/* Of bytes, most of which are no codes, the lowest bits. */
static hu_status decode(void *stream, void *context) {
  t_buffers *buffers = context;
  return hu_decode_n(N, floats(buffers->z.device), 1, buffers->x.device, 1, hu_float4_e2m1fn(),
                     twin_at(NULL, NULL, stream));
}
static hu_status decode_cpu(t_buffers *buffers, hu_events *ev) {
  static uint8_t lowest[N];
  (void)ev;
  for (size_t i = 0; i < N; i++) lowest[i] = buffers->x.host[i] & 0xF;
  return hu_decode_n(N, floats(buffers->z.host), 1, lowest, 1, hu_float4_e2m1fn(), NULL);
}

typedef struct captured {
  const char *name;
  hu_status (*device)(void *stream, void *context);
  hu_status (*cpu)(t_buffers *buffers, hu_events *ev);
  hu_status reported; /* by hu_device_synchronize */
} captured;

#if defined(HU_TWIN_ON_DEVICE)
static hu_status capture(const captured *c, t_buffers *buffers, size_t *kernels) {
  return t_device_captured(c->device, buffers, TIMES, kernels);
}
#else
static hu_status capture(const captured *c, t_buffers *buffers, size_t *kernels) {
  uint64_t before = hui_host_launches();
  hu_status status = HU_OK;
  for (int i = 0; i < TIMES && status == HU_OK; i++) status = c->device(hui_host_stream(), buffers);
  *kernels = (size_t)(hui_host_launches() - before) / TIMES;
  return status;
}
#endif

static void graphs(void **state) {
  (void)state;
  static const captured calls[] = {
      {"quantize", quantize, quantize_cpu, HU_OK},  {"gemm", multiply, multiply_cpu, HU_OK},
      {"scaled_quantize", scale, scale_cpu, HU_OK}, {"s2fp8_truncate", squeeze, squeeze_cpu, HU_OK},
      {"sum_add_all", total, total_cpu, HU_OK},     {"decode_n of wide codes", decode, decode_cpu, HU_E_CODE}};
  t_random random = {t_seed("graphs", 3)};
  t_buffers buffers = {.x = twin_new(4 * N),
                       .z = twin_new(4 * N),
                       .e = twin_new(sizeof(hu_events)),
                       .work = twin_new(WORK),
                       .more = twin_new(sizeof(hu_s2fp8_sums) + sizeof(hu_s2fp8_scale))};
  assert_int_equal(hu_scaling_parse(&buffers.scaling, "nvfp4", NULL), HU_OK);
  assert_int_equal(hu_s2fp8_parse(&buffers.s2fp8, "s2fp8", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&buffers.accum, "fp32", NULL), HU_OK);
  assert_true(hu_scaled_work_size(SIDE, SIDE, &buffers.scaling, twin_at(NULL, NULL, NULL)) <= WORK &&
              HU_DEVICE_S2FP8_WORK <= WORK);
  for (size_t i = 0; i < N; i++) floats(buffers.x.host)[i] = (float)t_between(&random, -9999, 9999) / 4096;
  twin_put(&buffers.x);
  twin_put(&buffers.more);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    hu_events once, *counts = events(buffers.e.host);
    size_t kernels = 0;
    memset(&once, 0, sizeof once);
    memset(buffers.e.host, 0, buffers.e.bytes);
    memset(buffers.z.host, 0, buffers.z.bytes);
    assert_int_equal(calls[i].device(twin_stream(), &buffers), HU_OK); /* its code is loaded */
    twin_default_stream();
    assert_int_equal(hui_memory_wait(), HU_OK);
    assert_int_equal(hu_device_synchronize(NULL), calls[i].reported);
    twin_put(&buffers.z);
    twin_put(&buffers.e);
    assert_int_equal(hui_memory_wait(), HU_OK); /* the capture's stream waits for no other */
    assert_int_equal(capture(&calls[i], &buffers, &kernels), HU_OK);
    assert_int_equal(calls[i].cpu(&buffers, &once), HU_OK);
    twin_default_stream();
    assert_int_equal(hu_device_synchronize(NULL), calls[i].reported);
    for (int k = 0; k < TIMES; k++) hu_events_add(counts, &once);
    if (twin_differs(&buffers.z) < buffers.z.bytes || twin_differs(&buffers.e) < buffers.e.bytes)
      fail_msg("%s: other bits", calls[i].name);
    assert_true(kernels > 0);
    print_message("%s: %zu kernels\n", calls[i].name, kernels);
  }
  t_twin *all[] = {&buffers.x, &buffers.z, &buffers.e, &buffers.work, &buffers.more};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) twin_free(all[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(graphs)};
  int skip = twin_skip("graphs");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
