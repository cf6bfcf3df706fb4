/* SPDX-License-Identifier: MIT */
/* The device's arithmetic against the CPU's: every operation that is no elementary function, random formats, modes,
 * sizes, strides and places; whole buffers are compared, and the event counts; misuse gets the same answer. */
#include "tests/cuda_host/twin.h"

#include "tests/arith/calls.h"

static hu_status on_device(int op, size_t n, calls_array z, const calls_array *x, hu_mode mode, const hu_exec *exec,
                           hu_events *events) {
  hu_view views[HU_OPERANDS_MAX];
  hu_how how = hu_how_of(mode, twin_there(exec), events);
  calls_views(op, views, x);
  return hu_apply(op, n, calls_output(op, z), views, &how);
}

typedef struct buffers {
  t_twin t[4]; /* operands, then the result */
  t_twin events;
} buffers;

static size_t size_of(int op, int i, hu_format format) {
  return i == 3 && calls_bytes(op) ? 1 : hu_limits_of(format).storage / 8;
}

static size_t bytes_before(size_t n, ptrdiff_t inc, size_t size) {
  return inc < 0 && n ? (n - 1) * (size_t)-inc * size : 0;
}

static void run_case(t_random *random, int op, size_t n) {
  buffers b;
  calls_array host[4], device[4];
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}, {0}};
  hu_mode mode = t_random_mode(random);
  mode.nan_fma = (uint8_t)t_below(random, 2);
  hu_format fz = t_random_format(random, 1, t_below(random, 2) ? 8 : 32);
  int alike = (int)t_below(random, 2), in_place = (int)t_below(random, 4), out = 3;
  b.events = twin_new(sizeof(hu_events));
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++) ((uint64_t *)(void *)b.events.host)[i] = t_next32(random);
  for (int i = 0; i < 4; i++) {
    hu_format format = i == 3 || alike || calls_same_format(op) ? fz : t_random_format(random, 1, 32);
    ptrdiff_t inc = t_below(random, 3) ? 1 : i == 3 ? 5 - (ptrdiff_t)t_below(random, 3) : t_between(random, -3, 4);
    size_t size = size_of(op, i, format), step = (size_t)(inc < 0 ? -inc : inc), skip = t_below(random, 8) * size;
    b.t[i] = twin_new((n * step + 1) * size + skip + 16);
    for (size_t k = 0; i < 3 && k < b.t[i].bytes; k++) b.t[i].host[k] = (uint8_t)t_next32(random);
    if (i < 3) twin_keep(&b.t[i], hu_limits_of(format).storage / 8, hu_limits_of(format).width);
    calls_array a = {b.t[i].host + skip + bytes_before(n, inc, size), inc, format};
    host[i] = a;
  }
  if (in_place < calls_operands(op) && host[in_place].inc != 0 &&
      size_of(op, in_place, host[in_place].format) == size_of(op, 3, fz)) {
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
  hu_status cpu = calls_apply(op, n, host[3], host, mode, &exec, count ? (hu_events *)(void *)b.events.host : NULL);
  hu_status gpu = on_device(op, n, device[3], device, mode, &exec, count ? (hu_events *)(void *)b.events.device : NULL);
  size_t differs = 0;
  for (int i = 0; i < 4; i++) differs += twin_differs(&b.t[i]) != b.t[i].bytes;
  differs += twin_differs(&b.events) != b.events.bytes;
  if (cpu != HU_OK || gpu != HU_OK || differs) {
    char z[T_FORMAT_TEXT], m[T_MODE_TEXT];
    fail_msg("%s, %zu elements into %s, %s: cpu %d, device %d, %zu buffers differ", calls_name(op), n,
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
    for (int op = 0; op < (int)hu_operation_count(); op++) {
      if (op >= HU_OP_FUNCTION && op <= HU_OP_POW) continue; /* of test_device_function */
      size_t n = t_below(&random, 3) ? t_below(&random, 900) : t_below(&random, 20);
      run_case(&random, op, n);
      elements += n;
    }
  }
  print_message("%zu elements\n", elements);
}

/* Long enough that threads come round and their byte-wide counts overflow. */
static void long_arrays(void **state) {
  (void)state;
  t_random random = {t_seed("device_arith_long", 32)};
  for (int op = 0; op < (int)hu_operation_count(); op++)
    if (op < HU_OP_FUNCTION || op > HU_OP_POW) run_case(&random, op, 40000 + t_below(&random, 1000));
}

/* An operation to nearest. */
static hu_status apply(int op, hu_output z, const hu_view *x) {
  hu_how how = hu_how_of(t_mode(0), twin_there(NULL), NULL);
  return hu_apply(op, 8, z, x, &how);
}

/* The sum of a and b; counts may be NULL. */
static hu_status add(size_t n, hu_output z, hu_view a, hu_view b, hu_mode mode, void *counts) {
  hu_view x[2] = {a, b};
  hu_how how = hu_how_of(mode, twin_there(NULL), counts);
  return hu_apply(HU_OP_ADD, n, z, x, &how);
}

static void refusals(void **state) {
  (void)state;
  hu_format format = hu_format_ieee(5, 10, 0), bad = format;
  hu_mode rne = t_mode(0), wrong = t_mode(99);
  t_twin twin = twin_new(256), operand = twin_new(256);
  bad.e = 12;
  uint8_t *d = twin.device, *e = operand.device;
  hu_output z = hu_codes_out(d, 1, format), nothing = hu_codes_out(NULL, 1, format), none = {d, 1, {0, 0, {0}, NULL}};
  hu_view x = hu_codes(e, 1, format), over = hu_codes(d + 2, 1, format), twice = hu_codes(d, 1, format), zero = x;
  zero.type = none.type;
  twin_put(&twin);
  assert_int_equal(add(8, hu_codes_out(d, 1, bad), x, x, rne, NULL), HU_E_FORMAT);
  assert_int_equal(add(8, z, x, hu_codes(e, 1, bad), rne, NULL), HU_E_FORMAT);
  assert_int_equal(add(8, none, x, x, rne, NULL), HU_E_FORMAT);
  assert_int_equal(add(8, z, x, zero, rne, NULL), HU_E_FORMAT);
  assert_int_equal(add(8, hu_int8_out((int8_t *)d, 1), x, x, rne, NULL), HU_E_FORMAT);
  assert_int_equal(add(8, z, x, x, wrong, NULL), HU_E_MODE);
  assert_int_equal(add(8, nothing, x, x, rne, NULL), HU_E_NULL);
  assert_int_equal(add(8, hu_codes_out(d, 0, format), x, x, rne, NULL), HU_E_SHAPE);
  assert_int_equal(add(8, z, x, hu_codes(e + 1, 1, format), rne, NULL), HU_E_ALIGN);
  assert_int_equal(add(8, z, x, over, rne, NULL), HU_E_OVERLAP);
  assert_int_equal(apply(HU_OP_SQRT, hu_codes_out(d, 2, format), &twice), HU_E_OVERLAP);
  assert_int_equal(add(8, z, x, x, rne, d + 4), HU_E_ALIGN);
  assert_int_equal(apply(-1, z, &x), HU_E_SHAPE);
  assert_int_equal(apply(HU_OP_SQRT, z, NULL), HU_E_NULL);
  assert_int_equal(add(0, nothing, hu_codes(NULL, 1, format), hu_codes(NULL, 1, format), rne, NULL), HU_OK);
  assert_int_equal(twin_differs(&twin), twin.bytes);
  twin_free(&twin);
  twin_free(&operand);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(long_arrays),
                                     cmocka_unit_test(refusals)};
  int skip = twin_skip("device arithmetic");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
