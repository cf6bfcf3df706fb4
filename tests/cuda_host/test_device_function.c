/* SPDX-License-Identifier: MIT */
/* The device's elementary functions against the CPU's: every call, random formats, modes, sizes, strides and places;
 * whole buffers are compared, and the event counts; all codes of the 16-bit formats; misuse gets the same answer. */
#include "tests/cuda_host/twin.h"

#include "halfulp/formats/ieee.h"
#include "tests/arith/calls.h"
#include "tests/function/functions.h"

static hu_status on_device(int function, size_t n, calls_array z, const calls_array *x, hu_mode mode,
                           const hu_exec *exec, hu_events *events) {
  hu_view views[HU_OPERANDS_MAX];
  hu_how how = hu_how_of(mode, twin_there(exec), events);
  int op = fn_table[function];
  calls_views(op, views, x);
  return hu_apply(op, n, calls_output(op, z), views, &how);
}

/* Operands in t[0] and t[1], the result in t[2]. */
typedef struct buffers {
  t_twin t[3], events;
} buffers;

static void fill(t_random *random, const t_twin *twin, hu_format format, int ordinary) {
  size_t size = hu_limits_of(format).storage / 8;
  for (size_t k = 0; k < twin->bytes; k++) twin->host[k] = (uint8_t)t_next32(random);
  twin_keep(twin, size, hu_limits_of(format).width);
  for (size_t k = 0; ordinary && k + size <= twin->bytes; k += size) {
    double v = (1 + t_below(random, 1u << 20) * 0x1p-20) * (double)(1u << t_below(random, 10)) * 0x1p-6;
    uint32_t code = hu_encode64(format, t_mode(0), t_below(random, 2) ? -v : v, 0, NULL);
    memcpy(twin->host + k, &code, size); /* the first bytes of a code are its lowest */
  }
}

static void compare(int function, buffers *b, size_t n, const calls_array *host, const calls_array *device,
                    hu_mode mode, const hu_exec *exec, int count) {
  for (int i = 0; i < 3; i++) twin_put(&b->t[i]);
  twin_put(&b->events);
  hu_status cpu = calls_apply(fn_table[function], n, host[2], host, mode, exec,
                              count ? (hu_events *)(void *)b->events.host : NULL);
  hu_status gpu =
      on_device(function, n, device[2], device, mode, exec, count ? (hu_events *)(void *)b->events.device : NULL);
  size_t differs = 0;
  for (int i = 0; i < 3; i++) differs += twin_differs(&b->t[i]) != b->t[i].bytes;
  differs += twin_differs(&b->events) != b->events.bytes;
  if (cpu == HU_OK && gpu == HU_OK && !differs) return;
  char f[T_FORMAT_TEXT], z[T_FORMAT_TEXT], m[T_MODE_TEXT];
  fail_msg("%s, %zu elements of %s into %s, %s: cpu %d, device %d, %zu buffers differ", fn_name(function), n,
           t_format_text(f, host[0].format), t_format_text(z, host[2].format), t_mode_text(m, mode), cpu, gpu, differs);
}

static void run_case(t_random *random, int function, size_t n) {
  buffers b;
  calls_array host[3], device[3];
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}, {0}};
  hu_mode mode = t_random_mode(random);
  hu_format fz = t_random_format(random, 1, t_below(random, 2) ? 16 : 32);
  int alike = (int)t_below(random, 2), in_place = t_below(random, 4) == 0, out = 2;
  b.events = twin_new(sizeof(hu_events));
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++) ((uint64_t *)(void *)b.events.host)[i] = t_next32(random);
  for (int i = 0; i < 3; i++) {
    hu_format format = i == 2 || alike ? fz : t_random_format(random, 1, 32);
    ptrdiff_t inc = t_below(random, 3) ? 1 : i == 2 ? 5 - (ptrdiff_t)t_below(random, 3) : t_between(random, -3, 4);
    size_t size = hu_limits_of(format).storage / 8, step = (size_t)(inc < 0 ? -inc : inc),
           skip = t_below(random, 8) * size;
    b.t[i] = twin_new((n * step + 1) * size + skip + 16);
    if (i < 2) fill(random, &b.t[i], format, (int)t_below(random, 2));
    calls_array a = {b.t[i].host + skip + (inc < 0 && n ? (n - 1) * step * size : 0), inc, format};
    host[i] = a;
  }
  if (in_place && host[0].inc != 0 && hu_limits_of(host[0].format).storage == hu_limits_of(fz).storage) {
    host[2].data = host[0].data;
    host[2].inc = host[0].inc;
    out = 0;
  }
  for (int i = 0; i < 3; i++) {
    const t_twin *twin = &b.t[i == 2 ? out : i];
    device[i] = host[i];
    device[i].data = twin->device + ((uint8_t *)host[i].data - twin->host);
  }
  compare(function, &b, n, host, device, mode, &exec, t_below(random, 4) != 0);
  for (int i = 0; i < 3; i++) twin_free(&b.t[i]);
  twin_free(&b.events);
}

static void every_call(void **state) {
  (void)state;
  t_random random = {t_seed("device_function", 41)};
  size_t elements = 0;
  for (unsigned round = 0; round < t_part(40); round++) {
    for (int function = 0; function < HU_ORACLE_FUNCTIONS; function++) {
      size_t n = t_below(&random, 3) ? t_below(&random, 400) : t_below(&random, 20);
      run_case(&random, function, n);
      elements += n;
    }
  }
  print_message("%zu elements in %d calls\n", elements, HU_ORACLE_FUNCTIONS);
}

/* All codes of binary16 and bfloat16, one rounding a function. */
static void all_codes(void **state) {
  (void)state;
  t_random random = {t_seed("device_function_codes", 42)};
  for (int function = 0; function < HU_ORACLE_POW; function++) {
    for (int k = 0; k < 2; k++) {
      hu_format format = k ? hu_bfloat16() : hu_binary16();
      buffers b = {{twin_new(131072), twin_new(16), twin_new(131072)}, twin_new(sizeof(hu_events))};
      hu_exec exec = {0, 0, {7, t_next64(&random)}, {0}};
      for (uint32_t i = 0; i < 65536; i++) ((uint16_t *)(void *)b.t[0].host)[i] = (uint16_t)i;
      memset(b.events.host, 0, b.events.bytes);
      calls_array host[3] = {{b.t[0].host, 1, format}, {b.t[1].host, 1, format}, {b.t[2].host, 1, format}};
      calls_array device[3] = {{b.t[0].device, 1, format}, {b.t[1].device, 1, format}, {b.t[2].device, 1, format}};
      hu_mode mode = function % 5 == 4 ? t_stochastic(HU_SRA, 7) : t_mode(t_below(&random, T_DETERMINISTIC));
      compare(function, &b, 65536, host, device, mode, &exec, 1);
      for (int i = 0; i < 3; i++) twin_free(&b.t[i]);
      twin_free(&b.events);
    }
  }
}

static void refusals(void **state) {
  (void)state;
  hu_format format = hu_binary16(), bad = format;
  hu_mode rne = t_mode(0), wrong = t_mode(99);
  t_twin z = twin_new(256), x = twin_new(256);
  bad.e = 12;
  twin_put(&z);
  for (int i = 0; i < HU_ORACLE_FUNCTIONS; i++) {
    uint8_t *d = z.device, *e = x.device;
    calls_array zs = {d, 1, format}, z_bad = {d, 1, bad}, z_null = {NULL, 1, format}, z_still = {d, 0, format},
                z_odd = {d + 1, 1, format};
    calls_array xs[2] = {{e, 1, format}, {e, 1, format}}, over[2] = {{d + 2, 1, format}, {e, 1, format}},
                x_bad[2] = {{e, 1, format}, {e, 1, format}};
    x_bad[calls_operands(fn_table[i]) - 1].format = bad;
    assert_int_equal(on_device(i, 8, z_bad, xs, rne, NULL, NULL), HU_E_FORMAT);
    assert_int_equal(on_device(i, 8, zs, x_bad, rne, NULL, NULL), HU_E_FORMAT);
    assert_int_equal(on_device(i, 8, zs, xs, wrong, NULL, NULL), HU_E_MODE);
    assert_int_equal(on_device(i, 8, z_null, xs, rne, NULL, NULL), HU_E_NULL);
    assert_int_equal(on_device(i, 8, z_still, xs, rne, NULL, NULL), HU_E_SHAPE);
    assert_int_equal(on_device(i, 8, z_odd, xs, rne, NULL, NULL), HU_E_ALIGN);
    assert_int_equal(on_device(i, 8, zs, over, rne, NULL, NULL), HU_E_OVERLAP);
    assert_int_equal(on_device(i, 8, zs, xs, rne, NULL, (hu_events *)(void *)(d + 4)), HU_E_ALIGN);
    assert_int_equal(on_device(i, 0, z_null, xs, rne, NULL, NULL), HU_OK);
  }
  assert_int_equal(twin_differs(&z), z.bytes);
  twin_free(&z);
  twin_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(all_codes),
                                     cmocka_unit_test(refusals)};
  int skip = twin_skip("device elementary functions");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
