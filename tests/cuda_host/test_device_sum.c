/* SPDX-License-Identifier: MIT */
/* The device's sums against the CPU's: arrays of sums under every call, formats, ranges and strides; roundings of every
 * set of terms in every mode; totals of arrays in any order of threads and blocks; misuse gets the same answer. Whole
 * buffers are compared, and the event counts. */
#include "tests/cuda_host/twin.h"

#include "halfulp/formats/ieee.h"

enum { ADD, PRODUCT, MERGE, TWICE, ROUND, CALLS, MODES = 11, PAD = 64, MANY = 1000000 };

/* Sums, others to be merged, two arrays of codes, results, events. */
enum { SUMS, OTHER, A, B, Z, EVENTS, BUFFERS };

typedef struct t_setup {
  size_t n;
  hu_sum_range range;
  hu_format fa, fb, fz;
  ptrdiff_t inca, incb, incz;
  hu_mode mode;
  hu_exec exec;
  t_twin t[BUFFERS];
} t_setup;

/* The widest range. */
static hu_format wide_format(void) { return hu_format_ieee(11, 20, 0); }

static hu_format any_format(t_random *random) {
  return t_below(random, 8) ? t_random_format(random, 2, 32) : wide_format();
}

static hu_mode mode_at(unsigned i) {
  return i < T_DETERMINISTIC ? t_mode(i) : t_stochastic(HU_SRA + i - T_DETERMINISTIC, 7 + i);
}

static size_t bytes_of(hu_format format) { return hu_limits_of(format).storage / 8; }

/* n elements at a stride: the bytes of the whole array, and where element 0 is. */
static size_t extent(size_t n, ptrdiff_t stride, size_t size) {
  return (n * (size_t)(stride < 0 ? -stride : stride) + 1) * size + PAD;
}
static uint8_t *start(uint8_t *p, size_t n, ptrdiff_t stride, size_t size) {
  return stride < 0 && n ? p + (n - 1) * (size_t)-stride * size : p;
}

static void fill(t_random *random, const t_twin *twin, hu_format format) {
  for (size_t k = 0; k < twin->bytes; k++) twin->host[k] = (uint8_t)t_next32(random);
  twin_keep(twin, bytes_of(format), hu_limits_of(format).width);
}

/* Numbers within some binades of 1 in a format, so that additions carry and cancel; codes of either sign. */
static void fill_near(t_random *random, const t_twin *twin, hu_format format) {
  size_t size = bytes_of(format);
  hu_mode toward_zero = t_mode(HU_RTZ);
  for (size_t i = 0; i < twin->bytes / size; i++) {
    float x = (float)t_between(random, -9999, 9999) / (float)(1 << t_below(random, 16));
    t_put(twin->host, size, (ptrdiff_t)i, hu_encode(format, toward_zero, x, 0, NULL));
  }
}

static void draw_operands(t_random *random, const t_setup *setup) {
  int any = t_below(random, 2) != 0;
  for (int i = A; i <= B; i++) {
    if (any) {
      fill(random, &setup->t[i], i == A ? setup->fa : setup->fb);
    } else {
      fill_near(random, &setup->t[i], i == A ? setup->fa : setup->fb);
    }
    twin_put(&setup->t[i]);
  }
}

static hu_sum_range widened(t_random *random, hu_sum_range z) {
  int32_t down = t_below(random, 2) ? 0 : t_between(random, 0, z.low - HU_SUM_LOW < 130 ? z.low - HU_SUM_LOW : 130);
  z.low -= down;
  z.words += (uint32_t)(down + 63) / 64;
  if (z.words < HU_SUM_WORDS) z.words += t_below(random, 2);
  return z;
}

static t_setup setup_new(t_random *random, size_t n) {
  t_setup setup = {.n = n,
                   .fa = any_format(random),
                   .fb = any_format(random),
                   .fz = any_format(random),
                   .mode = t_random_mode(random)};
  hu_exec exec = {1 + t_below(random, 3), 0, {t_next64(random), t_next64(random)}, {0}};
  setup.exec = exec;
  setup.range =
      widened(random, hu_sum_range_of_both(hu_sum_range_of(setup.fa), hu_sum_range_of_product(setup.fa, setup.fb)));
  setup.inca = t_below(random, 2) ? 1 : t_between(random, -3, 3);
  setup.incb = t_below(random, 2) ? 1 : t_between(random, -3, 3);
  setup.incz = t_below(random, 2) ? 1 : t_below(random, 2) ? -2 : 3;
  size_t sums = n * 8 * (1 + setup.range.words) + PAD;
  setup.t[SUMS] = twin_new(sums);
  setup.t[OTHER] = twin_new(sums);
  setup.t[A] = twin_new(extent(n, setup.inca, bytes_of(setup.fa)));
  setup.t[B] = twin_new(extent(n, setup.incb, bytes_of(setup.fb)));
  setup.t[Z] = twin_new(extent(n, setup.incz, bytes_of(setup.fz)));
  setup.t[EVENTS] = twin_new(sizeof(hu_events));
  memset(setup.t[SUMS].host, 0, sums - PAD);
  memset(setup.t[OTHER].host, 0, sums - PAD);
  memset(setup.t[EVENTS].host, 0, sizeof(hu_events));
  for (int i = 0; i < BUFFERS; i++) twin_put(&setup.t[i]);
  return setup;
}

static void setup_free(t_setup *setup) {
  for (int i = 0; i < BUFFERS; i++) twin_free(&setup->t[i]);
}

/* Where the arrays are, on the host or on the device. */
typedef struct t_ends {
  uint64_t *sums, *other;
  void *a, *b, *z;
  hu_events *events;
} t_ends;

static t_ends ends_of(const t_setup *setup, int device) {
  uint8_t *p[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) p[i] = device ? setup->t[i].device : setup->t[i].host;
  t_ends ends = {(uint64_t *)(void *)p[SUMS],
                 (uint64_t *)(void *)p[OTHER],
                 start(p[A], setup->n, setup->inca, bytes_of(setup->fa)),
                 start(p[B], setup->n, setup->incb, bytes_of(setup->fb)),
                 start(p[Z], setup->n, setup->incz, bytes_of(setup->fz)),
                 (hu_events *)(void *)p[EVENTS]};
  return ends;
}

static hu_status on_cpu(const t_setup *setup, int call, t_ends ends) {
  const hu_exec *x = &setup->exec;
  switch (call) {
    case ADD: return hu_sum_add_n(setup->n, ends.sums, setup->range, hu_codes(ends.a, setup->inca, setup->fa), x);
    case PRODUCT:
      return hu_sum_add_product_n(setup->n, ends.other, setup->range, hu_codes(ends.a, setup->inca, setup->fa),
                                  hu_codes(ends.b, setup->incb, setup->fb), x);
    case MERGE: return hu_sum_merge_n(setup->n, ends.sums, setup->range, ends.other, x);
    case TWICE: return hu_sum_merge_n(setup->n, ends.sums, setup->range, ends.sums, x);
    default:
      return hu_sum_round_n(setup->n, hu_codes_out(ends.z, setup->incz, setup->fz), ends.sums, setup->range,
                            &(hu_how){setup->mode, x, ends.events});
  }
}

static hu_status on_device(const t_setup *setup, int call, t_ends ends) {
  void *stream = twin_stream();
  switch (call) {
    case ADD:
      return hu_sum_add_n(setup->n, ends.sums, setup->range, hu_codes(ends.a, setup->inca, setup->fa),
                          twin_at(NULL, NULL, stream));
    case PRODUCT:
      return hu_sum_add_product_n(setup->n, ends.other, setup->range, hu_codes(ends.a, setup->inca, setup->fa),
                                  hu_codes(ends.b, setup->incb, setup->fb), twin_at(NULL, NULL, stream));
    case MERGE: return hu_sum_merge_n(setup->n, ends.sums, setup->range, ends.other, twin_at(NULL, NULL, stream));
    case TWICE: return hu_sum_merge_n(setup->n, ends.sums, setup->range, ends.sums, twin_at(NULL, NULL, stream));
    default:
      return hu_sum_round_n(setup->n, hu_codes_out(ends.z, setup->incz, setup->fz), ends.sums, setup->range,
                            &(hu_how){setup->mode, twin_at(&setup->exec, NULL, stream), ends.events});
  }
}

static void compare(const t_setup *setup, int call) {
  t_ends host = ends_of(setup, 0), device = ends_of(setup, 1);
  hu_status cpu = on_cpu(setup, call, host), gpu = on_device(setup, call, device);
  int same = cpu == HU_OK && gpu == HU_OK;
  for (int i = 0; i < BUFFERS; i++) same = same && twin_differs(&setup->t[i]) == setup->t[i].bytes;
  if (same) return;
  char fa[T_FORMAT_TEXT], fb[T_FORMAT_TEXT], fz[T_FORMAT_TEXT], mode[T_MODE_TEXT];
  fail_msg("call %d, %zu sums from 2^%d, %u words, %s, %s, to %s, %s: cpu %d, device %d", call, setup->n,
           (int)setup->range.low, setup->range.words, t_format_text(fa, setup->fa), t_format_text(fb, setup->fb),
           t_format_text(fz, setup->fz), t_mode_text(mode, setup->mode), cpu, gpu);
}

/* Any sequence of calls. */
static void every_call(void **state) {
  (void)state;
  t_random random = {t_seed("device-sum", 71)};
  for (unsigned i = 0; i < t_part(150); i++) {
    t_setup setup = setup_new(&random, t_below(&random, 8) ? t_below(&random, 600) : 4000);
    for (int step = 0; step < 12; step++) {
      int call = step < 2 ? step : (int)t_below(&random, CALLS);
      if (call == TWICE && t_below(&random, 2)) call = ROUND;
      draw_operands(&random, &setup);
      compare(&setup, call);
    }
    compare(&setup, ROUND);
    setup_free(&setup);
  }
}

/* Every set of terms over a zero, a positive and a negative number, in every mode. */
static void every_set(void **state) {
  (void)state;
  enum { SETS = 128, SIGNS = 3 };
  t_random random = {t_seed("device-sum-sets", 72)};
  for (unsigned i = 0; i < t_part(8) * MODES; i++) {
    t_setup setup = setup_new(&random, SETS * SIGNS);
    size_t words = 1 + setup.range.words;
    uint64_t *sums = (uint64_t *)(void *)setup.t[SUMS].host;
    for (size_t k = 0; k < setup.n; k++) {
      uint64_t *sum = sums + k * words;
      sum[0] = k % SETS;
      for (size_t l = 1; l < words && k >= SETS; l++)
        sum[l] = t_below(&random, 3) ? t_next64(&random) : t_below(&random, 2) - 1ull;
      sum[words - 1] = k < SETS ? 0 : (sum[words - 1] & ~(UINT64_MAX << 40)) | (k < 2 * SETS ? 0 : UINT64_MAX << 40);
    }
    setup.mode = mode_at(i % MODES);
    twin_put(&setup.t[SUMS]);
    compare(&setup, ROUND);
    setup_free(&setup);
  }
}

/* ---- totals ---- */

/* Of values, or of products; *record: host and device. */
static void add_total(const t_setup *setup, int products, const t_twin *record) {
  t_ends h = ends_of(setup, 0), ends = ends_of(setup, 1);
  hu_sum *host = (hu_sum *)(void *)record->host, *device = (hu_sum *)(void *)record->device;
  hu_status cpu, gpu;
  if (products) {
    cpu = hu_sum_add_dot(host, setup->n, hu_codes(h.a, setup->inca, setup->fa), hu_codes(h.b, setup->incb, setup->fb),
                         NULL);
    gpu = hu_sum_add_dot(device, setup->n, hu_codes(ends.a, setup->inca, setup->fa),
                         hu_codes(ends.b, setup->incb, setup->fb), twin_there(NULL));
  } else {
    cpu = hu_sum_add_all(host, setup->n, hu_codes(h.a, setup->inca, setup->fa), NULL);
    gpu = hu_sum_add_all(device, setup->n, hu_codes(ends.a, setup->inca, setup->fa), twin_there(NULL));
  }
  if (cpu == HU_OK && gpu == HU_OK && twin_differs(record) == record->bytes) return;
  char fa[T_FORMAT_TEXT], fb[T_FORMAT_TEXT];
  fail_msg("%zu %s of %s, %s: cpu %d, device %d", setup->n, products ? "products" : "values",
           t_format_text(fa, setup->fa), t_format_text(fb, setup->fb), cpu, gpu);
}

static t_twin record_new(void) {
  t_twin twin = twin_new(sizeof(hu_sum) + PAD);
  memset(twin.host, 0, sizeof(hu_sum));
  twin_put(&twin);
  return twin;
}

/* Another order of threads and blocks; a device has its own. */
static void another_order(t_random *random) {
#if !defined(HU_TWIN_ON_DEVICE)
  hui_host_order(t_next64(random));
#else
  (void)random;
#endif
}

static void totals(void **state) {
  (void)state;
  t_random random = {t_seed("device-sum-totals", 73)};
  for (unsigned i = 0; i < t_part(100); i++) {
    t_setup setup = setup_new(&random, t_below(&random, 4) ? t_below(&random, 700) : t_below(&random, 20000));
    t_twin record = record_new();
    for (int step = 0; step < 4; step++) {
      draw_operands(&random, &setup);
      another_order(&random);
      add_total(&setup, (int)t_below(&random, 2), &record);
    }
    twin_free(&record);
    setup_free(&setup);
  }
}

/* Blocks of 256 threads whose sums have either sign, so that the record goes through zero: every other 256 elements are
 * negative. Without specials, so that the digits matter. */
static void fill_alternating(t_random *random, const t_twin *twin, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t sign = (uint32_t)(i / 256 & 1) << 31, binade = 1 + t_below(random, 254);
    t_put(twin->host, 4, (ptrdiff_t)i, sign | binade << 23 | (t_next32(random) & 0x7FFFFF));
  }
}

static void large_totals(void **state) {
  (void)state;
  t_random random = {t_seed("device-sum-large", 74)};
  size_t n = t_part(100) == 100 ? MANY : 20000;
  t_setup setup = setup_new(&random, 0);
  for (int i = A; i <= B; i++) {
    twin_free(&setup.t[i]);
    setup.t[i] = twin_new(4 * n);
    fill_alternating(&random, &setup.t[i], n);
    twin_put(&setup.t[i]);
  }
  setup.n = n;
  setup.inca = setup.incb = 1;
  setup.fa = setup.fb = hu_binary32();
  t_twin record = record_new();
  for (int products = 0; products < 2; products++) {
    another_order(&random);
    add_total(&setup, products, &record);
  }
  hu_sum *sum = (hu_sum *)(void *)record.host;
  assert_int_equal(sum->terms, HU_SUM_NUMBER);
  twin_free(&record);
  setup_free(&setup);
}

/* ---- misuse ---- */

static void refused(const t_setup *setup, hu_status expected, hu_status cpu, hu_status gpu) {
  assert_int_equal(cpu, expected);
  assert_int_equal(gpu, expected);
  for (int i = 0; i < BUFFERS; i++) assert_int_equal(twin_differs(&setup->t[i]), setup->t[i].bytes);
}

static t_setup small_setup(void) {
  t_random random = {t_seed("device-sum-refusals", 75)};
  for (;;) {
    t_setup setup = setup_new(&random, 16);
    if (bytes_of(setup.fa) == 2 && bytes_of(setup.fb) == 2 && bytes_of(setup.fz) == 2 && setup.inca == 1 &&
        setup.incb == 1)
      return setup;
    setup_free(&setup);
  }
}

/* Of all calls on arrays, what one change of a good call gets. */
static void refuse(const t_setup *setup, const t_setup *bad, int first, int past, hu_status expected) {
  for (int call = first; call < past; call++)
    refused(setup, expected, on_cpu(bad, call, ends_of(setup, 0)), on_device(bad, call, ends_of(setup, 1)));
}

static void refuse_ends(const t_setup *setup, int call, t_ends host, t_ends device, hu_status expected) {
  refused(setup, expected, on_cpu(setup, call, host), on_device(setup, call, device));
}

static void refusals(void **state) {
  (void)state;
  t_setup setup = small_setup(), bad = setup;
  bad.fa.e = 99;
  refuse(&setup, &bad, ADD, MERGE, HU_E_FORMAT);
  bad = setup;
  bad.fz.e = 99;
  refuse(&setup, &bad, ROUND, CALLS, HU_E_FORMAT);
  bad = setup;
  bad.mode.round = 99;
  refuse(&setup, &bad, ROUND, CALLS, HU_E_MODE);
  bad = setup;
  bad.incz = 0;
  refuse(&setup, &bad, ROUND, CALLS, HU_E_SHAPE);
  bad = setup;
  bad.range.words = 0;
  refuse(&setup, &bad, ADD, CALLS, HU_E_SHAPE);
  bad.range.words = HU_SUM_WORDS + 1;
  refuse(&setup, &bad, ADD, CALLS, HU_E_SHAPE);
  bad = setup;
  bad.range.low += 64;
  bad.fa = bad.fb = wide_format();
  refuse(&setup, &bad, ADD, MERGE, HU_E_SHAPE);
  bad = setup;
  bad.n = SIZE_MAX / 8;
  refuse(&setup, &bad, ADD, CALLS, HU_E_SHAPE);
  for (int call = ADD; call < CALLS; call++) {
    t_ends host = ends_of(&setup, 0), device = ends_of(&setup, 1);
    host.sums = host.other = device.sums = device.other = NULL;
    refuse_ends(&setup, call, host, device, HU_E_NULL);
    host = ends_of(&setup, 0), device = ends_of(&setup, 1);
    host.sums = host.other = (uint64_t *)(void *)(setup.t[SUMS].host + 4);
    device.sums = device.other = (uint64_t *)(void *)(setup.t[SUMS].device + 4);
    refuse_ends(&setup, call, host, device, HU_E_ALIGN);
    if (call == TWICE) continue;
    host = ends_of(&setup, 0), device = ends_of(&setup, 1);
    host.a = host.z = host.sums, device.a = device.z = device.sums;
    if (call == PRODUCT) host.other = host.sums, device.other = device.sums;
    if (call == MERGE) host.other = host.sums + 1, device.other = device.sums + 1;
    refuse_ends(&setup, call, host, device, HU_E_OVERLAP);
  }
  t_ends odd = ends_of(&setup, 1);
  odd.events = (hu_events *)(void *)(setup.t[EVENTS].device + 4);
  refused(&setup, HU_E_ALIGN, HU_E_ALIGN, on_device(&setup, ROUND, odd));
  bad = setup;
  bad.n = 0;
  t_ends none = {NULL, NULL, NULL, NULL, NULL, NULL};
  for (int call = ADD; call < CALLS; call++)
    refused(&setup, HU_OK, on_cpu(&bad, call, none), on_device(&bad, call, none));
  setup_free(&setup);
}

#define ALL(expected, n, sum, x, incx, f)                                                     \
  refused(&setup, expected, hu_sum_add_all(sum ? host : NULL, n, hu_codes(x, incx, f), NULL), \
          hu_sum_add_all(sum ? device : NULL, n, hu_codes(x, incx, f), twin_there(NULL)))
#define DOT(expected, n, sum, a, fa, b, fb)                                                                     \
  refused(&setup, expected, hu_sum_add_dot(sum ? host : NULL, n, hu_codes(a, 1, fa), hu_codes(b, 1, fb), NULL), \
          hu_sum_add_dot(sum ? device : NULL, n, hu_codes(a, 1, fa), hu_codes(b, 1, fb), twin_there(NULL)))

static void refused_totals(void **state) {
  (void)state;
  t_setup setup = small_setup();
  t_twin record = record_new();
  hu_sum *host = (hu_sum *)(void *)record.host, *device = (hu_sum *)(void *)record.device;
  uint8_t *x = setup.t[A].device;
  hu_format wrong = setup.fa, format = setup.fa;
  wrong.e = 99;
  ALL(HU_E_FORMAT, 1, 1, x, 1, wrong);
  ALL(HU_E_NULL, 1, 0, x, 1, format);
  ALL(HU_E_NULL, 1, 1, NULL, 1, format);
  ALL(HU_E_ALIGN, 1, 1, x + 1, 1, format);
  ALL(HU_E_SHAPE, 4, 1, x, PTRDIFF_MAX, format);
  ALL(HU_OK, 0, 1, NULL, 1, format);
  DOT(HU_E_FORMAT, 1, 1, x, wrong, x, format);
  DOT(HU_E_FORMAT, 1, 1, x, format, x, wrong);
  DOT(HU_E_NULL, 1, 0, x, format, x, format);
  DOT(HU_E_NULL, 1, 1, x, format, NULL, format);
  DOT(HU_OK, 0, 1, NULL, format, NULL, format);
  hu_sum *odd = (hu_sum *)(void *)(record.device + 4);
  refused(&setup, HU_E_ALIGN, HU_E_ALIGN, hu_sum_add_all(odd, 1, hu_codes(x, 1, format), twin_there(NULL)));
  refused(&setup, HU_E_OVERLAP, HU_E_OVERLAP,
          hu_sum_add_all(device, 1, hu_codes(record.device + 580, 1, format), twin_there(NULL)));
  refused(&setup, HU_E_OVERLAP, HU_E_OVERLAP,
          hu_sum_add_dot(device, 1, hu_codes(x, 1, format), hu_codes(record.device, 1, format), twin_there(NULL)));
  assert_int_equal(twin_differs(&record), record.bytes);
  twin_free(&record);
  setup_free(&setup);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(every_set),
                                     cmocka_unit_test(totals),     cmocka_unit_test(large_totals),
                                     cmocka_unit_test(refusals),   cmocka_unit_test(refused_totals)};
  int skip = twin_skip("device sums");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
