/* SPDX-License-Identifier: MIT */
/* The device's array calls against the CPU's: every call, random formats, modes, sizes, strides and places; whole
 * buffers are compared, so padding and gaps must come back untouched, and so must the event counts. */
#include <math.h>

#include "tests/cuda_host/twin.h"

enum { QUANTIZE, QUANTIZE64, ENCODE, ENCODE64, DECODE, DECODE64, CONVERT, PACK, UNPACK, CALLS };
static const char *const names[CALLS] = {"quantize_n", "quantize64_n", "encode_n", "encode64_n", "decode_n",
                                         "decode64_n", "convert_n",    "pack_n",   "unpack_n"};

typedef struct test_case {
  int call, in_place;
  size_t n, xsize, zsize, xat, zat; /* sizes in bytes, places in bytes from the buffer's start */
  ptrdiff_t incx, incz;
  hu_format fx, fz;
  hu_mode mode;
  hu_exec exec;
  unsigned width;
  int count; /* events wanted */
  int edges; /* operands close to where something changes */
} test_case;

static t_random seed_of(const char *name) {
  t_random r = {t_seed(name, 20)};
  return r;
}

static ptrdiff_t random_stride(t_random *r, int zero) {
  if (t_below(r, 3)) return 1;
  int s = t_between(r, -3, 4);
  return s || zero ? s : 5;
}

/* Bytes from the buffer's start to element 0 of a strided array that begins `skip` elements in. */
static size_t place_of(size_t n, ptrdiff_t stride, size_t size, size_t skip) {
  return (skip + (stride < 0 && n ? (n - 1) * (size_t)-stride : 0)) * size;
}

static size_t bytes_of(size_t n, ptrdiff_t stride, size_t size) {
  size_t step = (size_t)(stride < 0 ? -stride : stride);
  return (n ? (n - 1) * step + 1 : 0) * size;
}

static size_t storage_of(hu_format f) { return hu_limits_of(f).storage / 8; }

static hu_format fitting(t_random *r) {
  for (;;) {
    hu_format f = t_random_format(r, 1, t_below(r, 2) ? 8 : 32);
    if (hu_format_fits_binary32(f)) return f;
  }
}

static test_case draw_case(t_random *r, int call, size_t n) {
  test_case t;
  memset(&t, 0, sizeof t);
  t.call = call;
  t.n = n;
  t.fz = t_random_format(r, 1, t_below(r, 2) ? 10 : 32);
  t.fx = t_random_format(r, 1, t_below(r, 2) ? 10 : 32);
  if (call == QUANTIZE) t.fz = fitting(r);
  if (call == DECODE) t.fx = fitting(r);
  t.mode = t_random_mode(r);
  t.exec.stream.key = t_next64(r);
  t.exec.stream.counter = t_below(r, 4) ? t_below(r, 100) : 0 - (uint64_t)t_below(r, 50); /* wraps on the way */
  t.count = t_below(r, 4) != 0;
  t.width = (unsigned)t_between(r, 1, 8);
  t.xsize = call == QUANTIZE || call == ENCODE ? 4 : call == QUANTIZE64 || call == ENCODE64 ? 8 : storage_of(t.fx);
  t.zsize = call == QUANTIZE || call == DECODE ? 4 : call == QUANTIZE64 || call == DECODE64 ? 8 : storage_of(t.fz);
  if (call == PACK || call == UNPACK) t.xsize = t.zsize = 1;
  t.incx = random_stride(r, 1);
  t.incz = random_stride(r, 0);
  t.in_place = call != PACK && call != UNPACK && t.xsize == t.zsize && t_below(r, 4) == 0;
  if (t.in_place) t.incx = t.incz;
  if (call == PACK || call == UNPACK) t.incx = t.incz = 1;
  return t;
}

static size_t length_x(const test_case *t) {
  return t->call == UNPACK ? hu_pack_size(t->n, t->width) : bytes_of(t->n, t->incx, t->xsize);
}
static size_t length_z(const test_case *t) {
  return t->call == PACK ? hu_pack_size(t->n, t->width) : bytes_of(t->n, t->incz, t->zsize);
}

/* At most a power of two below the leading digit, and a step of binary32, away from the least number, half of it, the
 * least normal one, the largest, and the next power of two; ties are among them. */
static uint32_t near_an_edge(t_random *r, hu_format f) {
  hu_limits l = hu_limits_of(f);
  const double edges[] = {l.min, l.min / 2, l.min_normal > 0 ? l.min_normal : l.min, l.max, ldexp(1, l.emax + 1)};
  double x = edges[t_below(r, 5)], apart = ldexp(1, ilogb(x) - t_between(r, 1, 25));
  if (t_below(r, 8)) x += t_below(r, 2) ? apart : -apart;
  return (t_bits32((float)x) + (uint32_t)t_between(r, -1, 1)) ^ (t_below(r, 2) ? 0x80000000u : 0);
}

static void fill(t_random *r, const test_case *t, uint8_t *x, size_t bytes) {
  int values32 = t->call == QUANTIZE || t->call == ENCODE, values64 = t->call == QUANTIZE64 || t->call == ENCODE64;
  for (size_t at = 0; at < bytes; at += t->xsize) {
    uint64_t u = t_next64(r);
    if (values32) u = t->edges ? near_an_edge(r, t->fz) : t_bits32((float)t_random_operand(r, t->fz));
    if (values64) u = t_bits64(t_random_operand(r, t->fz));
    if (t->call == PACK) u = (uint8_t)u >> (8 - t->width);
    if (t->call == DECODE || t->call == DECODE64 || t->call == CONVERT) u = t_random_code(r, t->fx);
    memcpy(x + at, &u, t->xsize); /* little endian */
  }
}

static hu_status on_cpu(const test_case *t, uint8_t *z, const uint8_t *x, hu_events *ev) {
  switch (t->call) {
    case QUANTIZE:
      return hu_quantize_n(t->n, (float *)z, t->incz, (const float *)x, t->incx, t->fz, t->mode, &t->exec, ev);
    case QUANTIZE64:
      return hu_quantize64_n(t->n, (double *)z, t->incz, (const double *)x, t->incx, t->fz, t->mode, &t->exec, ev);
    case ENCODE: return hu_encode_n(t->n, z, t->incz, (const float *)x, t->incx, t->fz, t->mode, &t->exec, ev);
    case ENCODE64: return hu_encode64_n(t->n, z, t->incz, (const double *)x, t->incx, t->fz, t->mode, &t->exec, ev);
    case DECODE: return hu_decode_n(t->n, (float *)z, t->incz, x, t->incx, t->fx, &t->exec);
    case DECODE64: return hu_decode64_n(t->n, (double *)z, t->incz, x, t->incx, t->fx, &t->exec);
    case CONVERT: return hu_convert_n(t->n, z, t->incz, t->fz, x, t->incx, t->fx, t->mode, &t->exec, ev);
    case PACK: return hu_pack_n(t->n, z, x, t->width);
    default: return hu_unpack_n(t->n, z, x, t->width);
  }
}

static hu_status on_device(const test_case *t, uint8_t *z, const uint8_t *x, hu_events *ev) {
  switch (t->call) {
    case QUANTIZE:
      return hu_device_quantize_n(t->n, (float *)z, t->incz, (const float *)x, t->incx, t->fz, t->mode, &t->exec, ev,
                                  twin_stream());
    case QUANTIZE64:
      return hu_device_quantize64_n(t->n, (double *)z, t->incz, (const double *)x, t->incx, t->fz, t->mode, &t->exec,
                                    ev, twin_stream());
    case ENCODE:
      return hu_device_encode_n(t->n, z, t->incz, (const float *)x, t->incx, t->fz, t->mode, &t->exec, ev,
                                twin_stream());
    case ENCODE64:
      return hu_device_encode64_n(t->n, z, t->incz, (const double *)x, t->incx, t->fz, t->mode, &t->exec, ev,
                                  twin_stream());
    case DECODE: return hu_device_decode_n(t->n, (float *)z, t->incz, x, t->incx, t->fx, &t->exec, twin_stream());
    case DECODE64: return hu_device_decode64_n(t->n, (double *)z, t->incz, x, t->incx, t->fx, &t->exec, twin_stream());
    case CONVERT:
      return hu_device_convert_n(t->n, z, t->incz, t->fz, x, t->incx, t->fx, t->mode, &t->exec, ev, twin_stream());
    case PACK: return hu_device_pack_n(t->n, z, x, t->width, twin_stream());
    default: return hu_device_unpack_n(t->n, z, x, t->width, twin_stream());
  }
}

static void run_case(t_random *r, test_case *t) {
  size_t spare = 8, xskip = t_below(r, 8), zskip = t_below(r, 8);
  t_twin x = twin_new(length_x(t) + (xskip + spare) * t->xsize), z = twin_new(length_z(t) + (zskip + spare) * t->zsize);
  t_twin e = twin_new(sizeof(hu_events));
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++)
    ((uint64_t *)(void *)e.host)[i] = t_next32(r); /* counts are added */
  t->xat = place_of(t->n, t->incx, t->xsize, xskip);
  t->zat = place_of(t->n, t->incz, t->zsize, zskip);
  fill(r, t, x.host, x.bytes / t->xsize * t->xsize);
  if (t->in_place) t->zat = t->xat;
  twin_put(&x);
  twin_put(&z);
  twin_put(&e);
  hu_events *ev = t->count ? (hu_events *)(void *)e.host : NULL, *dev = t->count ? (hu_events *)(void *)e.device : NULL;
  t_twin *out = t->in_place ? &x : &z;
  hu_status cpu = on_cpu(t, out->host + t->zat, x.host + t->xat, ev);
  hu_status device = on_device(t, out->device + t->zat, x.device + t->xat, dev);
  size_t at = twin_differs(&z), xat = twin_differs(&x), eat = twin_differs(&e);
  if (cpu != HU_OK || device != HU_OK || at < z.bytes || xat < x.bytes || eat < e.bytes) {
    char fz[T_FORMAT_TEXT], fx[T_FORMAT_TEXT], mode[T_MODE_TEXT];
    print_error(
        "%s n %zu incz %td incx %td places %zu %zu in place %d: cpu %d device %d; first bytes that differ: z %zu/%zu, "
        "x %zu/%zu, events %zu/%zu\n fz %s\n fx %s\n mode %s\n",
        names[t->call], t->n, t->incz, t->incx, t->zat, t->xat, t->in_place, cpu, device, at, z.bytes, xat, x.bytes,
        eat, e.bytes, t_format_text(fz, t->fz), t_format_text(fx, t->fx), t_mode_text(mode, t->mode));
    fail();
  }
  twin_free(&x);
  twin_free(&z);
  twin_free(&e);
}

static size_t random_length(t_random *r) {
  switch (t_below(r, 4)) {
    case 0: return t_below(r, 20);
    case 1: return t_below(r, 300);
    case 2: return t_below(r, 3000);
    default: return (size_t)4 * t_below(r, 300);
  }
}

static void every_call(void **state) {
  (void)state;
  t_random r = seed_of("every_call");
  size_t cases = 0, elements = 0;
  for (unsigned i = 0; i < t_part(150); i++) {
    for (int call = 0; call < CALLS; call++) {
      test_case t = draw_case(&r, call, random_length(&r));
      run_case(&r, &t);
      cases++;
      elements += t.n;
    }
  }
  print_message("%zu calls, %zu elements\n", cases, elements);
}

/* Long enough that each thread comes round often and its byte-wide counts overflow into the wide ones. */
static void long_arrays(void **state) {
  (void)state;
  t_random r = seed_of("long_arrays");
  size_t elements = 0;
  for (int call = 0; call < CALLS; call++) {
    test_case t = draw_case(&r, call, 200000 + t_below(&r, 1000));
    t.incx = t.incz = 1;
    run_case(&r, &t);
    elements += t.n;
  }
  test_case t = draw_case(&r, QUANTIZE, 1300001);
  t.fz = hu_format_ieee(4, 3, 0);
  t.mode = t_mode(HU_RNE);
  t.incx = 0; /* one value, chosen below the normal range or above max by the draw: every element the same events */
  t.incz = 1;
  t.in_place = 0;
  t.count = 1;
  for (int i = 0; i < 6; i++) run_case(&r, &t);
  print_message("%zu elements and 6 times %zu equal ones\n", elements, t.n);
}

/* Four neighbours in one way, whatever they are: rne and sra, both definitions of tiny, every format of the
 * catalogue. */
static void edges(void **state) {
  (void)state;
  t_random r = seed_of("edges");
  for (size_t i = 0; i < 8 * hu_format_count(); i++) {
    test_case t = draw_case(&r, i & 1 ? ENCODE : QUANTIZE, 4 * t_below(&r, 100));
    t.fz = hu_format_at(i / 8).format;
    if (!hu_format_fits_binary32(t.fz)) t.call = ENCODE;
    t.zsize = t.call == ENCODE ? storage_of(t.fz) : 4;
    t.mode = i & 2 ? t_stochastic(HU_SRA, (unsigned)t_between(&r, 1, 32)) : t_mode(HU_RNE);
    t.mode = t_policy(t.mode, t_below(&r, 4), t_below(&r, 2), t_below(&r, 3));
    t.mode.tiny = i & 4 ? HU_TINY_BEFORE : HU_TINY_AFTER;
    t.incx = t.incz = 1;
    t.in_place = 0;
    t.count = t.edges = 1;
    run_case(&r, &t);
  }
}

/* The formats and roundings that people use most, over operands around every code. */
static void named_formats(void **state) {
  (void)state;
  t_random r = seed_of("named_formats");
  size_t cases = 0;
  for (size_t i = 0; i < hu_format_count(); i++) {
    for (unsigned round = 0; round < HU_ROUND_COUNT; round++) {
      test_case t = draw_case(&r, (i + round) & 1 ? ENCODE : QUANTIZE, 333 + t_below(&r, 8));
      t.fz = hu_format_at(i).format;
      if (!hu_format_fits_binary32(t.fz)) t.call = ENCODE;
      t.zsize = t.call == ENCODE ? storage_of(t.fz) : 4;
      t.mode = round < HU_SRA ? t_mode(round) : t_stochastic(round, (unsigned)t_between(&r, 1, 32));
      t.mode = t_policy(t.mode, t_below(&r, 4), t_below(&r, 2), t_below(&r, 3));
      t.incx = t.incz = 1;
      t.in_place = 0;
      run_case(&r, &t);
      cases++;
    }
  }
  print_message("%zu formats, %zu calls\n", hu_format_count(), cases);
}

static void host_arrays(void **state) {
  (void)state;
  t_random r = seed_of("host_arrays");
  for (int i = 0; i < 20; i++) {
    hu_format f = fitting(&r);
    hu_mode mode = t_random_mode(&r);
    hu_exec exec = {0, 0, {t_next64(&r), t_next64(&r)}};
    float x[100], z[2][100];
    uint32_t codes[2][100];
    hu_events ev[2][2];
    size_t n = t_below(&r, 101);
    memset(ev, 0x11, sizeof ev);
    t_fill_pattern(z[0], sizeof z[0]);
    t_fill_pattern(z[1], sizeof z[1]);
    t_fill_pattern(codes[0], sizeof codes[0]);
    t_fill_pattern(codes[1], sizeof codes[1]);
    for (size_t j = 0; j < n; j++) x[j] = (float)t_random_operand(&r, f);
    assert_int_equal(hu_quantize_n(n, z[0], 1, x, 1, f, mode, &exec, &ev[0][0]), HU_OK);
    twin_default_stream();
    assert_int_equal(hu_device_host_quantize_n(n, z[1], x, f, mode, &exec, &ev[1][0]), HU_OK);
    assert_int_equal(hu_encode_n(n, codes[0], 1, x, 1, f, mode, &exec, &ev[0][1]), HU_OK);
    assert_int_equal(hu_device_host_encode_n(n, codes[1], x, f, mode, &exec, &ev[1][1]), HU_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(codes[0], codes[1], sizeof codes[0]);
    assert_memory_equal(ev[0], ev[1], sizeof ev[0]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call),    cmocka_unit_test(long_arrays), cmocka_unit_test(edges),
      cmocka_unit_test(named_formats), cmocka_unit_test(host_arrays),
  };
  int skip = twin_skip("device arrays");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
