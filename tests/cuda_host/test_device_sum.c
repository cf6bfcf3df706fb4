/* SPDX-License-Identifier: MIT */
/* The device's sums against the CPU's: arrays of sums under every call, formats, ranges and strides; roundings of every
 * set of terms in every mode; totals of arrays in any order of threads and blocks; misuse gets the same answer. Whole
 * buffers are compared, and the event counts. */
#include "tests/cuda_host/twin.h"

#include "halfulp/device_sum.h"
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

static hu_format any_format(t_random *r) { return t_below(r, 8) ? t_random_format(r, 2, 32) : wide_format(); }

static hu_mode mode_at(unsigned i) {
  return i < T_DETERMINISTIC ? t_mode(i) : t_stochastic(HU_SRA + i - T_DETERMINISTIC, 7 + i);
}

static size_t bytes_of(hu_format f) { return hu_limits_of(f).storage / 8; }

/* n elements at a stride: the bytes of the whole array, and where element 0 is. */
static size_t extent(size_t n, ptrdiff_t stride, size_t size) {
  return (n * (size_t)(stride < 0 ? -stride : stride) + 1) * size + PAD;
}
static uint8_t *start(uint8_t *p, size_t n, ptrdiff_t stride, size_t size) {
  return stride < 0 && n ? p + (n - 1) * (size_t)-stride * size : p;
}

static void fill(t_random *r, const t_twin *t, hu_format f) {
  for (size_t k = 0; k < t->bytes; k++) t->host[k] = (uint8_t)t_next32(r);
  twin_keep(t, bytes_of(f), hu_limits_of(f).width);
}

/* Numbers within some binades of 1 in a format, so that additions carry and cancel; codes of either sign. */
static void fill_near(t_random *r, const t_twin *t, hu_format f) {
  size_t size = bytes_of(f);
  hu_mode toward_zero = t_mode(HU_RTZ);
  for (size_t i = 0; i < t->bytes / size; i++) {
    float x = (float)t_between(r, -9999, 9999) / (float)(1 << t_below(r, 16));
    t_put(t->host, size, (ptrdiff_t)i, hu_encode(f, toward_zero, x, 0, NULL));
  }
}

static void draw_operands(t_random *r, const t_setup *s) {
  int any = t_below(r, 2) != 0;
  for (int i = A; i <= B; i++) {
    if (any) {
      fill(r, &s->t[i], i == A ? s->fa : s->fb);
    } else {
      fill_near(r, &s->t[i], i == A ? s->fa : s->fb);
    }
    twin_put(&s->t[i]);
  }
}

static hu_sum_range widened(t_random *r, hu_sum_range z) {
  int32_t down = t_below(r, 2) ? 0 : t_between(r, 0, z.low - HU_SUM_LOW < 130 ? z.low - HU_SUM_LOW : 130);
  z.low -= down;
  z.words += (uint32_t)(down + 63) / 64;
  if (z.words < HU_SUM_WORDS) z.words += t_below(r, 2);
  return z;
}

static t_setup setup_new(t_random *r, size_t n) {
  t_setup s = {.n = n, .fa = any_format(r), .fb = any_format(r), .fz = any_format(r), .mode = t_random_mode(r)};
  hu_exec exec = {1 + t_below(r, 3), 0, {t_next64(r), t_next64(r)}};
  s.exec = exec;
  s.range = widened(r, hu_sum_range_of_both(hu_sum_range_of(s.fa), hu_sum_range_of_product(s.fa, s.fb)));
  s.inca = t_below(r, 2) ? 1 : t_between(r, -3, 3);
  s.incb = t_below(r, 2) ? 1 : t_between(r, -3, 3);
  s.incz = t_below(r, 2) ? 1 : t_below(r, 2) ? -2 : 3;
  size_t sums = n * 8 * (1 + s.range.words) + PAD;
  s.t[SUMS] = twin_new(sums);
  s.t[OTHER] = twin_new(sums);
  s.t[A] = twin_new(extent(n, s.inca, bytes_of(s.fa)));
  s.t[B] = twin_new(extent(n, s.incb, bytes_of(s.fb)));
  s.t[Z] = twin_new(extent(n, s.incz, bytes_of(s.fz)));
  s.t[EVENTS] = twin_new(sizeof(hu_events));
  memset(s.t[SUMS].host, 0, sums - PAD);
  memset(s.t[OTHER].host, 0, sums - PAD);
  memset(s.t[EVENTS].host, 0, sizeof(hu_events));
  for (int i = 0; i < BUFFERS; i++) twin_put(&s.t[i]);
  return s;
}

static void setup_free(t_setup *s) {
  for (int i = 0; i < BUFFERS; i++) twin_free(&s->t[i]);
}

/* Where the arrays are, on the host or on the device. */
typedef struct t_ends {
  uint64_t *sums, *other;
  void *a, *b, *z;
  hu_events *events;
} t_ends;

static t_ends ends_of(const t_setup *s, int device) {
  uint8_t *p[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) p[i] = device ? s->t[i].device : s->t[i].host;
  t_ends e = {(uint64_t *)(void *)p[SUMS],
              (uint64_t *)(void *)p[OTHER],
              start(p[A], s->n, s->inca, bytes_of(s->fa)),
              start(p[B], s->n, s->incb, bytes_of(s->fb)),
              start(p[Z], s->n, s->incz, bytes_of(s->fz)),
              (hu_events *)(void *)p[EVENTS]};
  return e;
}

static hu_status on_cpu(const t_setup *s, int call, t_ends e) {
  const hu_exec *x = &s->exec;
  switch (call) {
    case ADD: return hu_sum_add_n(s->n, e.sums, s->range, e.a, s->inca, s->fa, x);
    case PRODUCT: return hu_sum_add_product_n(s->n, e.other, s->range, e.a, s->inca, s->fa, e.b, s->incb, s->fb, x);
    case MERGE: return hu_sum_merge_n(s->n, e.sums, s->range, e.other, x);
    case TWICE: return hu_sum_merge_n(s->n, e.sums, s->range, e.sums, x);
    default: return hu_sum_round_n(s->n, e.z, s->incz, s->fz, e.sums, s->range, s->mode, x, e.events);
  }
}

static hu_status on_device(const t_setup *s, int call, t_ends e) {
  void *stream = twin_stream();
  switch (call) {
    case ADD: return hu_device_sum_add_n(s->n, e.sums, s->range, e.a, s->inca, s->fa, stream);
    case PRODUCT:
      return hu_device_sum_add_product_n(s->n, e.other, s->range, e.a, s->inca, s->fa, e.b, s->incb, s->fb, stream);
    case MERGE: return hu_device_sum_merge_n(s->n, e.sums, s->range, e.other, stream);
    case TWICE: return hu_device_sum_merge_n(s->n, e.sums, s->range, e.sums, stream);
    default:
      return hu_device_sum_round_n(s->n, e.z, s->incz, s->fz, e.sums, s->range, s->mode, &s->exec, e.events, stream);
  }
}

static void compare(const t_setup *s, int call) {
  t_ends host = ends_of(s, 0), device = ends_of(s, 1);
  hu_status cpu = on_cpu(s, call, host), gpu = on_device(s, call, device);
  int same = cpu == HU_OK && gpu == HU_OK;
  for (int i = 0; i < BUFFERS; i++) same = same && twin_differs(&s->t[i]) == s->t[i].bytes;
  if (same) return;
  char fa[T_FORMAT_TEXT], fb[T_FORMAT_TEXT], fz[T_FORMAT_TEXT], mode[T_MODE_TEXT];
  fail_msg("call %d, %zu sums from 2^%d, %u words, %s, %s, to %s, %s: cpu %d, device %d", call, s->n, (int)s->range.low,
           s->range.words, t_format_text(fa, s->fa), t_format_text(fb, s->fb), t_format_text(fz, s->fz),
           t_mode_text(mode, s->mode), cpu, gpu);
}

/* Any sequence of calls. */
static void every_call(void **state) {
  (void)state;
  t_random r = {t_seed("device-sum", 71)};
  for (unsigned i = 0; i < t_part(150); i++) {
    t_setup s = setup_new(&r, t_below(&r, 8) ? t_below(&r, 600) : 4000);
    for (int step = 0; step < 12; step++) {
      int call = step < 2 ? step : (int)t_below(&r, CALLS);
      if (call == TWICE && t_below(&r, 2)) call = ROUND;
      draw_operands(&r, &s);
      compare(&s, call);
    }
    compare(&s, ROUND);
    setup_free(&s);
  }
}

/* Every set of terms over a zero, a positive and a negative number, in every mode. */
static void every_set(void **state) {
  (void)state;
  enum { SETS = 128, SIGNS = 3 };
  t_random r = {t_seed("device-sum-sets", 72)};
  for (unsigned i = 0; i < t_part(8) * MODES; i++) {
    t_setup s = setup_new(&r, SETS * SIGNS);
    size_t words = 1 + s.range.words;
    uint64_t *sums = (uint64_t *)(void *)s.t[SUMS].host;
    for (size_t k = 0; k < s.n; k++) {
      uint64_t *sum = sums + k * words;
      sum[0] = k % SETS;
      for (size_t l = 1; l < words && k >= SETS; l++) sum[l] = t_below(&r, 3) ? t_next64(&r) : t_below(&r, 2) - 1ull;
      sum[words - 1] = k < SETS ? 0 : (sum[words - 1] & ~(UINT64_MAX << 40)) | (k < 2 * SETS ? 0 : UINT64_MAX << 40);
    }
    s.mode = mode_at(i % MODES);
    twin_put(&s.t[SUMS]);
    compare(&s, ROUND);
    setup_free(&s);
  }
}

/* ---- totals ---- */

/* Of values, or of products; *record: host and device. */
static void add_total(const t_setup *s, int products, const t_twin *record) {
  t_ends h = ends_of(s, 0), d = ends_of(s, 1);
  hu_sum *host = (hu_sum *)(void *)record->host, *device = (hu_sum *)(void *)record->device;
  hu_status cpu, gpu;
  if (products) {
    cpu = hu_sum_add_dot(host, s->n, h.a, s->inca, s->fa, h.b, s->incb, s->fb);
    gpu = hu_device_sum_add_dot(device, s->n, d.a, s->inca, s->fa, d.b, s->incb, s->fb, twin_stream());
  } else {
    cpu = hu_sum_add_all(host, s->n, h.a, s->inca, s->fa);
    gpu = hu_device_sum_add_all(device, s->n, d.a, s->inca, s->fa, twin_stream());
  }
  if (cpu == HU_OK && gpu == HU_OK && twin_differs(record) == record->bytes) return;
  char fa[T_FORMAT_TEXT], fb[T_FORMAT_TEXT];
  fail_msg("%zu %s of %s, %s: cpu %d, device %d", s->n, products ? "products" : "values", t_format_text(fa, s->fa),
           t_format_text(fb, s->fb), cpu, gpu);
}

static t_twin record_new(void) {
  t_twin t = twin_new(sizeof(hu_sum) + PAD);
  memset(t.host, 0, sizeof(hu_sum));
  twin_put(&t);
  return t;
}

/* Another order of threads and blocks; a device has its own. */
static void another_order(t_random *r) {
#if !defined(HU_TWIN_ON_DEVICE)
  hui_host_order(t_next64(r));
#else
  (void)r;
#endif
}

static void totals(void **state) {
  (void)state;
  t_random r = {t_seed("device-sum-totals", 73)};
  for (unsigned i = 0; i < t_part(100); i++) {
    t_setup s = setup_new(&r, t_below(&r, 4) ? t_below(&r, 700) : t_below(&r, 20000));
    t_twin record = record_new();
    for (int step = 0; step < 4; step++) {
      draw_operands(&r, &s);
      another_order(&r);
      add_total(&s, (int)t_below(&r, 2), &record);
    }
    twin_free(&record);
    setup_free(&s);
  }
}

/* Blocks of 256 threads whose sums have either sign, so that the record goes through zero: every other 256 elements are
 * negative. Without specials, so that the digits matter. */
static void fill_alternating(t_random *r, const t_twin *t, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t sign = (uint32_t)(i / 256 & 1) << 31, binade = 1 + t_below(r, 254);
    t_put(t->host, 4, (ptrdiff_t)i, sign | binade << 23 | (t_next32(r) & 0x7FFFFF));
  }
}

static void large_totals(void **state) {
  (void)state;
  t_random r = {t_seed("device-sum-large", 74)};
  size_t n = t_part(100) == 100 ? MANY : 20000;
  t_setup s = setup_new(&r, 0);
  for (int i = A; i <= B; i++) {
    twin_free(&s.t[i]);
    s.t[i] = twin_new(4 * n);
    fill_alternating(&r, &s.t[i], n);
    twin_put(&s.t[i]);
  }
  s.n = n;
  s.inca = s.incb = 1;
  s.fa = s.fb = hu_binary32();
  t_twin record = record_new();
  for (int products = 0; products < 2; products++) {
    another_order(&r);
    add_total(&s, products, &record);
  }
  hu_sum *sum = (hu_sum *)(void *)record.host;
  assert_int_equal(sum->terms, HU_SUM_NUMBER);
  twin_free(&record);
  setup_free(&s);
}

/* ---- misuse ---- */

static void refused(const t_setup *s, hu_status want, hu_status cpu, hu_status gpu) {
  assert_int_equal(cpu, want);
  assert_int_equal(gpu, want);
  for (int i = 0; i < BUFFERS; i++) assert_int_equal(twin_differs(&s->t[i]), s->t[i].bytes);
}

static t_setup small_setup(void) {
  t_random r = {t_seed("device-sum-refusals", 75)};
  for (;;) {
    t_setup s = setup_new(&r, 16);
    if (bytes_of(s.fa) == 2 && bytes_of(s.fb) == 2 && bytes_of(s.fz) == 2 && s.inca == 1 && s.incb == 1) return s;
    setup_free(&s);
  }
}

/* Of all calls on arrays, what one change of a good call gets. */
static void refuse(const t_setup *s, const t_setup *bad, int first, int past, hu_status want) {
  for (int call = first; call < past; call++)
    refused(s, want, on_cpu(bad, call, ends_of(s, 0)), on_device(bad, call, ends_of(s, 1)));
}

static void refuse_ends(const t_setup *s, int call, t_ends host, t_ends device, hu_status want) {
  refused(s, want, on_cpu(s, call, host), on_device(s, call, device));
}

static void refusals(void **state) {
  (void)state;
  t_setup s = small_setup(), bad = s;
  bad.fa.e = 99;
  refuse(&s, &bad, ADD, MERGE, HU_E_FORMAT);
  bad = s;
  bad.fz.e = 99;
  refuse(&s, &bad, ROUND, CALLS, HU_E_FORMAT);
  bad = s;
  bad.mode.round = 99;
  refuse(&s, &bad, ROUND, CALLS, HU_E_MODE);
  bad = s;
  bad.incz = 0;
  refuse(&s, &bad, ROUND, CALLS, HU_E_SHAPE);
  bad = s;
  bad.range.words = 0;
  refuse(&s, &bad, ADD, CALLS, HU_E_SHAPE);
  bad.range.words = HU_SUM_WORDS + 1;
  refuse(&s, &bad, ADD, CALLS, HU_E_SHAPE);
  bad = s;
  bad.range.low += 64;
  bad.fa = bad.fb = wide_format();
  refuse(&s, &bad, ADD, MERGE, HU_E_SHAPE);
  bad = s;
  bad.n = SIZE_MAX / 8;
  refuse(&s, &bad, ADD, CALLS, HU_E_SHAPE);
  for (int call = ADD; call < CALLS; call++) {
    t_ends host = ends_of(&s, 0), device = ends_of(&s, 1);
    host.sums = host.other = device.sums = device.other = NULL;
    refuse_ends(&s, call, host, device, HU_E_NULL);
    host = ends_of(&s, 0), device = ends_of(&s, 1);
    host.sums = host.other = (uint64_t *)(void *)(s.t[SUMS].host + 4);
    device.sums = device.other = (uint64_t *)(void *)(s.t[SUMS].device + 4);
    refuse_ends(&s, call, host, device, HU_E_ALIGN);
    if (call == TWICE) continue;
    host = ends_of(&s, 0), device = ends_of(&s, 1);
    host.a = host.z = host.sums, device.a = device.z = device.sums;
    if (call == PRODUCT) host.other = host.sums, device.other = device.sums;
    if (call == MERGE) host.other = host.sums + 1, device.other = device.sums + 1;
    refuse_ends(&s, call, host, device, HU_E_OVERLAP);
  }
  t_ends odd = ends_of(&s, 1);
  odd.events = (hu_events *)(void *)(s.t[EVENTS].device + 4);
  refused(&s, HU_E_ALIGN, HU_E_ALIGN, on_device(&s, ROUND, odd));
  bad = s;
  bad.n = 0;
  t_ends none = {NULL, NULL, NULL, NULL, NULL, NULL};
  for (int call = ADD; call < CALLS; call++) refused(&s, HU_OK, on_cpu(&bad, call, none), on_device(&bad, call, none));
  setup_free(&s);
}

#define ALL(want, n, sum, x, incx, f)                                 \
  refused(&s, want, hu_sum_add_all(sum ? host : NULL, n, x, incx, f), \
          hu_device_sum_add_all(sum ? device : NULL, n, x, incx, f, twin_stream()))
#define DOT(want, n, sum, a, fa, b, fb)                                       \
  refused(&s, want, hu_sum_add_dot(sum ? host : NULL, n, a, 1, fa, b, 1, fb), \
          hu_device_sum_add_dot(sum ? device : NULL, n, a, 1, fa, b, 1, fb, twin_stream()))

static void refused_totals(void **state) {
  (void)state;
  t_setup s = small_setup();
  t_twin record = record_new();
  hu_sum *host = (hu_sum *)(void *)record.host, *device = (hu_sum *)(void *)record.device;
  uint8_t *x = s.t[A].device;
  hu_format wrong = s.fa, f = s.fa;
  wrong.e = 99;
  ALL(HU_E_FORMAT, 1, 1, x, 1, wrong);
  ALL(HU_E_NULL, 1, 0, x, 1, f);
  ALL(HU_E_NULL, 1, 1, NULL, 1, f);
  ALL(HU_E_ALIGN, 1, 1, x + 1, 1, f);
  ALL(HU_E_SHAPE, 4, 1, x, PTRDIFF_MAX, f);
  ALL(HU_OK, 0, 1, NULL, 1, f);
  DOT(HU_E_FORMAT, 1, 1, x, wrong, x, f);
  DOT(HU_E_FORMAT, 1, 1, x, f, x, wrong);
  DOT(HU_E_NULL, 1, 0, x, f, x, f);
  DOT(HU_E_NULL, 1, 1, x, f, NULL, f);
  DOT(HU_OK, 0, 1, NULL, f, NULL, f);
  hu_sum *odd = (hu_sum *)(void *)(record.device + 4);
  refused(&s, HU_E_ALIGN, HU_E_ALIGN, hu_device_sum_add_all(odd, 1, x, 1, f, twin_stream()));
  refused(&s, HU_E_OVERLAP, HU_E_OVERLAP, hu_device_sum_add_all(device, 1, record.device + 580, 1, f, twin_stream()));
  refused(&s, HU_E_OVERLAP, HU_E_OVERLAP,
          hu_device_sum_add_dot(device, 1, x, 1, f, record.device, 1, f, twin_stream()));
  assert_int_equal(twin_differs(&record), record.bytes);
  twin_free(&record);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(every_set),
                                     cmocka_unit_test(totals),     cmocka_unit_test(large_totals),
                                     cmocka_unit_test(refusals),   cmocka_unit_test(refused_totals)};
  int skip = twin_skip("device sums");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
