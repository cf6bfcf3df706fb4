/* SPDX-License-Identifier: MIT */
/* Calls captured from a stream into a graph, which then runs twice: nothing in them allocates or waits, all their
 * kernels are in the stream, and each run gives the CPU's bits, and tells of codes that are none. The run on the CPU
 * makes the calls twice. */
#include "tests/cuda_host/twin.h"

#include "halfulp/accum.h"
#include "halfulp/device_scaled.h"
#include "halfulp/device_sum.h"
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
  t_buffers *r = context;
  return hu_device_quantize_n(N, floats(r->z.device), 1, floats(r->x.device), 1, hu_binary16(), t_mode(0), NULL,
                              events(r->e.device), stream);
}
static hu_status quantize_cpu(t_buffers *r, hu_events *ev) {
  return hu_quantize_n(N, floats(r->z.host), 1, floats(r->x.host), 1, hu_binary16(), t_mode(0), NULL, ev);
}

static hu_operand square(const uint8_t *x) {
  hu_operand o = {x, SIDE, hu_binary32(), HU_STORAGE_VALUES, 0};
  return o;
}
static hu_status multiply(void *stream, void *context) {
  t_buffers *r = context;
  hu_operand a = square(r->x.device);
  hu_result d = {r->z.device, SIDE, hu_binary32(), HU_STORAGE_VALUES};
  return hu_device_gemm(SIDE, SIDE, SIDE, &d, &a, &a, NULL, &r->accum, t_mode(0), NULL, events(r->e.device), stream);
}
static hu_status multiply_cpu(t_buffers *r, hu_events *ev) {
  hu_operand a = square(r->x.host);
  hu_result d = {r->z.host, SIDE, hu_binary32(), HU_STORAGE_VALUES};
  return hu_gemm(SIDE, SIDE, SIDE, &d, &a, &a, NULL, &r->accum, t_mode(0), NULL, ev);
}

/* A second level without an amax: several kernels. */
static hu_status scale(void *stream, void *context) {
  t_buffers *r = context;
  return hu_device_scaled_quantize(SIDE, SIDE, floats(r->z.device), SIDE, floats(r->x.device), SIDE, &r->scaling,
                                   t_mode(0), NULL, NULL, NULL, events(r->e.device), r->work.device, stream);
}
static hu_status scale_cpu(t_buffers *r, hu_events *ev) {
  return hu_scaled_quantize(SIDE, SIDE, floats(r->z.host), SIDE, floats(r->x.host), SIDE, &r->scaling, t_mode(0), NULL,
                            NULL, NULL, ev);
}

static hu_status squeeze(void *stream, void *context) {
  t_buffers *r = context;
  hu_s2fp8_sums *sums = (hu_s2fp8_sums *)(void *)r->more.device;
  return hu_device_s2fp8_truncate_n(N, floats(r->z.device), 1, floats(r->x.device), 1, &r->s2fp8, t_mode(0), sums,
                                    (hu_s2fp8_scale *)(void *)(sums + 1), NULL, events(r->e.device), r->work.device,
                                    stream);
}
static hu_status squeeze_cpu(t_buffers *r, hu_events *ev) {
  hu_s2fp8_sums sums;
  hu_s2fp8_scale found;
  memset(&sums, 0, sizeof sums);
  return hu_s2fp8_truncate_n(N, floats(r->z.host), 1, floats(r->x.host), 1, &r->s2fp8, t_mode(0), &sums, &found, NULL,
                             ev);
}

/* Each run adds to the record, which is at the head of z. */
static hu_status total(void *stream, void *context) {
  t_buffers *r = context;
  return hu_device_sum_add_all((hu_sum *)(void *)r->z.device, N, r->x.device, 1, hu_binary32(), stream);
}
static hu_status total_cpu(t_buffers *r, hu_events *ev) {
  hu_status s = HU_OK;
  (void)ev;
  for (int i = 0; i < TIMES && s == HU_OK; i++)
    s = hu_sum_add_all((hu_sum *)(void *)r->z.host, N, r->x.host, 1, hu_binary32());
  return s;
}

/* Of bytes, most of which are no codes, the lowest bits. */
static hu_status decode(void *stream, void *context) {
  t_buffers *r = context;
  return hu_device_decode_n(N, floats(r->z.device), 1, r->x.device, 1, hu_float4_e2m1fn(), NULL, stream);
}
static hu_status decode_cpu(t_buffers *r, hu_events *ev) {
  static uint8_t lowest[N];
  (void)ev;
  for (size_t i = 0; i < N; i++) lowest[i] = r->x.host[i] & 0xF;
  return hu_decode_n(N, floats(r->z.host), 1, lowest, 1, hu_float4_e2m1fn(), NULL);
}

typedef struct captured {
  const char *name;
  hu_status (*device)(void *stream, void *context);
  hu_status (*cpu)(t_buffers *r, hu_events *ev);
  hu_status told; /* by hu_device_synchronize */
} captured;

#if defined(HU_TWIN_ON_DEVICE)
static hu_status capture(const captured *c, t_buffers *r, size_t *kernels) {
  return t_device_captured(c->device, r, TIMES, kernels);
}
#else
static hu_status capture(const captured *c, t_buffers *r, size_t *kernels) {
  uint64_t before = hui_host_launches();
  hu_status s = HU_OK;
  for (int i = 0; i < TIMES && s == HU_OK; i++) s = c->device(hui_host_stream(), r);
  *kernels = (size_t)(hui_host_launches() - before) / TIMES;
  return s;
}
#endif

static void graphs(void **state) {
  (void)state;
  static const captured calls[] = {
      {"quantize", quantize, quantize_cpu, HU_OK},  {"gemm", multiply, multiply_cpu, HU_OK},
      {"scaled_quantize", scale, scale_cpu, HU_OK}, {"s2fp8_truncate", squeeze, squeeze_cpu, HU_OK},
      {"sum_add_all", total, total_cpu, HU_OK},     {"decode_n of wide codes", decode, decode_cpu, HU_E_CODE}};
  t_random random = {t_seed("graphs", 3)};
  t_buffers r = {.x = twin_new(4 * N),
                 .z = twin_new(4 * N),
                 .e = twin_new(sizeof(hu_events)),
                 .work = twin_new(WORK),
                 .more = twin_new(sizeof(hu_s2fp8_sums) + sizeof(hu_s2fp8_scale))};
  assert_int_equal(hu_scaling_parse(&r.scaling, "nvfp4", NULL), HU_OK);
  assert_int_equal(hu_s2fp8_parse(&r.s2fp8, "s2fp8", NULL), HU_OK);
  assert_int_equal(hu_accum_parse(&r.accum, "fp32", NULL), HU_OK);
  assert_true(hu_device_scaled_work(SIDE, SIDE, &r.scaling) <= WORK && HU_DEVICE_S2FP8_WORK <= WORK);
  for (size_t i = 0; i < N; i++) floats(r.x.host)[i] = (float)t_between(&random, -9999, 9999) / 4096;
  twin_put(&r.x);
  twin_put(&r.more);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    hu_events once, *counts = events(r.e.host);
    size_t kernels = 0;
    memset(&once, 0, sizeof once);
    memset(r.e.host, 0, r.e.bytes);
    memset(r.z.host, 0, r.z.bytes);
    assert_int_equal(calls[i].device(twin_stream(), &r), HU_OK); /* its code is loaded */
    twin_default_stream();
    assert_int_equal(hui_memory_wait(), HU_OK);
    assert_int_equal(hu_device_synchronize(NULL), calls[i].told);
    twin_put(&r.z);
    twin_put(&r.e);
    assert_int_equal(hui_memory_wait(), HU_OK); /* the capture's stream waits for no other */
    assert_int_equal(capture(&calls[i], &r, &kernels), HU_OK);
    assert_int_equal(calls[i].cpu(&r, &once), HU_OK);
    twin_default_stream();
    assert_int_equal(hu_device_synchronize(NULL), calls[i].told);
    for (int k = 0; k < TIMES; k++) hu_events_add(counts, &once);
    if (twin_differs(&r.z) < r.z.bytes || twin_differs(&r.e) < r.e.bytes) fail_msg("%s: other bits", calls[i].name);
    assert_true(kernels > 0);
    print_message("%s: %zu kernels\n", calls[i].name, kernels);
  }
  t_twin *all[] = {&r.x, &r.z, &r.e, &r.work, &r.more};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) twin_free(all[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(graphs)};
  int skip = twin_skip("graphs");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
