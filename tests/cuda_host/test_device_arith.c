/* SPDX-License-Identifier: MIT */
/* The device's arithmetic against the CPU's: every call, random formats, modes, sizes, strides and places; whole
 * buffers are compared, and the event counts; misuse gets the same answer. */
#include "tests/cuda_host/twin.h"

#include "tests/arith/calls.h"

typedef hu_status (*device_two)(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                                hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                                const hu_exec *exec, hu_events *events, void *stream);

static hu_status on_device(int call, size_t n, calls_array z, const calls_array *x, hu_mode mode, const hu_exec *exec,
                           hu_events *events) {
  static const device_two two[] = {hu_device_add_n,
                                   hu_device_sub_n,
                                   hu_device_mul_n,
                                   hu_device_div_n,
                                   hu_device_minimum_n,
                                   hu_device_maximum_n,
                                   hu_device_minimum_number_n,
                                   hu_device_maximum_number_n};
  switch (call) {
    case HU_ORACLE_SQRT:
      return hu_device_sqrt_n(n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, mode, exec, events,
                              twin_stream());
    case HU_ORACLE_FMA:
      return hu_device_fma_n(n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc,
                             x[1].format, x[2].data, x[2].inc, x[2].format, mode, exec, events, twin_stream());
    case HU_ORACLE_ROUND_TO_INTEGRAL:
      return hu_device_round_to_integral_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, mode, exec, events,
                                           twin_stream());
    case CALLS_NEXT_UP:
      return hu_device_next_up_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, exec, twin_stream());
    case CALLS_NEXT_DOWN:
      return hu_device_next_down_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, exec, twin_stream());
    case CALLS_CLASS: return hu_device_class_n(n, z.data, z.inc, x[0].data, x[0].inc, z.format, exec, twin_stream());
    case CALLS_COMPARE:
      return hu_device_compare_n(n, z.data, z.inc, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc, x[1].format,
                                 exec, twin_stream());
    default:
      return two[call](n, z.data, z.inc, z.format, x[0].data, x[0].inc, x[0].format, x[1].data, x[1].inc, x[1].format,
                       mode, exec, events, twin_stream());
  }
}

typedef struct buffers {
  t_twin t[4]; /* operands, then the result */
  t_twin events;
} buffers;

static size_t size_of(int call, int i, hu_format format) {
  return i == 3 && calls_bytes(call) ? 1 : hu_limits_of(format).storage / 8;
}

static size_t bytes_before(size_t n, ptrdiff_t inc, size_t size) {
  return inc < 0 && n ? (n - 1) * (size_t)-inc * size : 0;
}

static void run_case(t_random *random, int call, size_t n) {
  buffers b;
  calls_array host[4], device[4];
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}};
  hu_mode mode = t_random_mode(random);
  mode.nan_fma = (uint8_t)t_below(random, 2);
  hu_format fz = t_random_format(random, 1, t_below(random, 2) ? 8 : 32);
  int alike = (int)t_below(random, 2), in_place = (int)t_below(random, 4), out = 3;
  b.events = twin_new(sizeof(hu_events));
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++) ((uint64_t *)(void *)b.events.host)[i] = t_next32(random);
  for (int i = 0; i < 4; i++) {
    hu_format format = i == 3 || alike || calls_same_format(call) ? fz : t_random_format(random, 1, 32);
    ptrdiff_t inc = t_below(random, 3) ? 1 : i == 3 ? 5 - (ptrdiff_t)t_below(random, 3) : t_between(random, -3, 4);
    size_t size = size_of(call, i, format), step = (size_t)(inc < 0 ? -inc : inc), skip = t_below(random, 8) * size;
    b.t[i] = twin_new((n * step + 1) * size + skip + 16);
    for (size_t k = 0; i < 3 && k < b.t[i].bytes; k++) b.t[i].host[k] = (uint8_t)t_next32(random);
    if (i < 3) twin_keep(&b.t[i], hu_limits_of(format).storage / 8, hu_limits_of(format).width);
    calls_array a = {b.t[i].host + skip + bytes_before(n, inc, size), inc, format};
    host[i] = a;
  }
  if (in_place < calls_operands(call) && host[in_place].inc != 0 &&
      size_of(call, in_place, host[in_place].format) == size_of(call, 3, fz)) {
    host[3].data = host[in_place].data;
    host[3].inc = host[in_place].inc;
    out = in_place;
  }
  for (int i = 0; i < 4; i++) {
    const t_twin *twin = &b.t[i == 3 ? out : i];
    device[i] = host[i];
    device[i].data = twin->device + ((uint8_t *)host[i].data - twin->host);
    twin_put(&b.t[i]);
  }
  twin_put(&b.events);
  int count = t_below(random, 4) != 0;
  hu_status cpu =
      calls_array_call(call, n, host[3], host, mode, &exec, count ? (hu_events *)(void *)b.events.host : NULL);
  hu_status gpu =
      on_device(call, n, device[3], device, mode, &exec, count ? (hu_events *)(void *)b.events.device : NULL);
  size_t differs = 0;
  for (int i = 0; i < 4; i++) differs += twin_differs(&b.t[i]) != b.t[i].bytes;
  differs += twin_differs(&b.events) != b.events.bytes;
  if (cpu != HU_OK || gpu != HU_OK || differs) {
    char z[T_FORMAT_TEXT], m[T_MODE_TEXT];
    fail_msg("%s, %zu elements into %s, %s: cpu %d, device %d, %zu buffers differ", calls_names[call], n,
             t_format_text(z, fz), t_mode_text(m, mode), cpu, gpu, differs);
  }
  for (int i = 0; i < 4; i++) twin_free(&b.t[i]);
  twin_free(&b.events);
}

static void every_call(void **state) {
  (void)state;
  t_random random = {t_seed("device_arith", 31)};
  size_t elements = 0;
  for (unsigned round = 0; round < t_part(60); round++) {
    for (int call = 0; call < CALLS_COUNT; call++) {
      size_t n = t_below(&random, 3) ? t_below(&random, 900) : t_below(&random, 20);
      run_case(&random, call, n);
      elements += n;
    }
  }
  print_message("%zu elements in %d calls\n", elements, CALLS_COUNT);
}

/* Long enough that threads come round and their byte-wide counts overflow. */
static void long_arrays(void **state) {
  (void)state;
  t_random random = {t_seed("device_arith_long", 32)};
  for (int call = 0; call < CALLS_COUNT; call++) run_case(&random, call, 40000 + t_below(&random, 1000));
}

static void refusals(void **state) {
  (void)state;
  hu_format format = hu_format_ieee(5, 10, 0), bad = format;
  hu_mode rne = t_mode(0), wrong = t_mode(99);
  t_twin z = twin_new(256), x = twin_new(256);
  bad.e = 12;
  uint8_t *d = z.device, *e = x.device;
  twin_put(&z);
  assert_int_equal(hu_device_add_n(8, d, 1, bad, e, 1, format, e, 1, format, rne, NULL, NULL, twin_stream()),
                   HU_E_FORMAT);
  assert_int_equal(hu_device_add_n(8, d, 1, format, e, 1, format, e, 1, bad, rne, NULL, NULL, twin_stream()),
                   HU_E_FORMAT);
  assert_int_equal(hu_device_add_n(8, d, 1, format, e, 1, format, e, 1, format, wrong, NULL, NULL, twin_stream()),
                   HU_E_MODE);
  assert_int_equal(hu_device_add_n(8, NULL, 1, format, e, 1, format, e, 1, format, rne, NULL, NULL, twin_stream()),
                   HU_E_NULL);
  assert_int_equal(hu_device_add_n(8, d, 0, format, e, 1, format, e, 1, format, rne, NULL, NULL, twin_stream()),
                   HU_E_SHAPE);
  assert_int_equal(hu_device_add_n(8, d, 1, format, e, 1, format, e + 1, 1, format, rne, NULL, NULL, twin_stream()),
                   HU_E_ALIGN);
  assert_int_equal(hu_device_add_n(8, d, 1, format, e, 1, format, d + 2, 1, format, rne, NULL, NULL, twin_stream()),
                   HU_E_OVERLAP);
  assert_int_equal(hu_device_sqrt_n(8, d, 2, format, d, 1, format, rne, NULL, NULL, twin_stream()), HU_E_OVERLAP);
  assert_int_equal(hu_device_add_n(8, d, 1, format, e, 1, format, e, 1, format, rne, NULL, (hu_events *)(void *)(d + 4),
                                   twin_stream()),
                   HU_E_ALIGN);
  assert_int_equal(
      hu_device_add_n(0, NULL, 1, format, NULL, 1, format, NULL, 1, format, rne, NULL, NULL, twin_stream()), HU_OK);
  assert_int_equal(twin_differs(&z), z.bytes);
  twin_free(&z);
  twin_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(long_arrays),
                                     cmocka_unit_test(refusals)};
  int skip = twin_skip("device arithmetic");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
