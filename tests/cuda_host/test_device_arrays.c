/* SPDX-License-Identifier: MIT */
/* The device's array calls against the CPU's: every call, random formats, modes, sizes, strides and places; whole
 * buffers are compared, so padding and gaps must come back untouched, and so must the event counts. */
#include <math.h>

#include "tests/cuda_host/twin.h"

#include "halfulp/number.h"

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
  t_random random = {t_seed(name, 20)};
  return random;
}

static ptrdiff_t random_stride(t_random *random, int zero) {
  if (t_below(random, 3)) return 1;
  int s = t_between(random, -3, 4);
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

static size_t storage_of(hu_format format) { return hu_limits_of(format).storage / 8; }

static hu_format fitting(t_random *random) {
  for (;;) {
    hu_format format = t_random_format(random, 1, t_below(random, 2) ? 8 : 32);
    if (hu_format_fits_binary32(format)) return format;
  }
}

static test_case draw_case(t_random *random, int call, size_t n) {
  test_case test;
  memset(&test, 0, sizeof test);
  test.call = call;
  test.n = n;
  test.fz = t_random_format(random, 1, t_below(random, 2) ? 10 : 32);
  test.fx = t_random_format(random, 1, t_below(random, 2) ? 10 : 32);
  if (call == QUANTIZE) test.fz = fitting(random);
  if (call == DECODE) test.fx = fitting(random);
  test.mode = t_random_mode(random);
  test.exec.stream.key = t_next64(random);
  test.exec.stream.counter =
      t_below(random, 4) ? t_below(random, 100) : 0 - (uint64_t)t_below(random, 50); /* wraps on the way */
  test.count = t_below(random, 4) != 0;
  test.width = (unsigned)t_between(random, 1, 8);
  test.xsize = call == QUANTIZE || call == ENCODE       ? 4
               : call == QUANTIZE64 || call == ENCODE64 ? 8
                                                        : storage_of(test.fx);
  test.zsize = call == QUANTIZE || call == DECODE       ? 4
               : call == QUANTIZE64 || call == DECODE64 ? 8
                                                        : storage_of(test.fz);
  if (call == PACK || call == UNPACK) test.xsize = test.zsize = 1;
  test.incx = random_stride(random, 1);
  test.incz = random_stride(random, 0);
  test.in_place = call != PACK && call != UNPACK && test.xsize == test.zsize && t_below(random, 4) == 0;
  if (test.in_place) test.incx = test.incz;
  if (call == PACK || call == UNPACK) test.incx = test.incz = 1;
  return test;
}

static size_t length_x(const test_case *test) {
  return test->call == UNPACK ? hu_pack_size(test->n, test->width) : bytes_of(test->n, test->incx, test->xsize);
}
static size_t length_z(const test_case *test) {
  return test->call == PACK ? hu_pack_size(test->n, test->width) : bytes_of(test->n, test->incz, test->zsize);
}

/* At most a power of two below the leading digit, and a step of binary32, away from the least number, half of it, the
 * least normal one, the largest, and the next power of two; ties are among them. */
static uint32_t near_an_edge(t_random *random, hu_format format) {
  hu_limits limits = hu_limits_of(format);
  const double edges[] = {limits.min, limits.min / 2, limits.min_normal > 0 ? limits.min_normal : limits.min,
                          limits.max, ldexp(1, limits.emax + 1)};
  double x = edges[t_below(random, 5)], apart = ldexp(1, ilogb(x) - t_between(random, 1, 25));
  if (t_below(random, 8)) x += t_below(random, 2) ? apart : -apart;
  return (t_bits32((float)x) + (uint32_t)t_between(random, -1, 1)) ^ (t_below(random, 2) ? 0x80000000u : 0);
}

static void fill(t_random *random, const test_case *test, uint8_t *x, size_t bytes) {
  int values32 = test->call == QUANTIZE || test->call == ENCODE,
      values64 = test->call == QUANTIZE64 || test->call == ENCODE64;
  for (size_t at = 0; at < bytes; at += test->xsize) {
    uint64_t u = t_next64(random);
    if (values32)
      u = test->edges ? near_an_edge(random, test->fz) : t_bits32((float)t_random_operand(random, test->fz));
    if (values64) u = t_bits64(t_random_operand(random, test->fz));
    if (test->call == PACK) u = (uint8_t)u >> (8 - test->width);
    if (test->call == DECODE || test->call == DECODE64 || test->call == CONVERT) u = t_random_code(random, test->fx);
    memcpy(x + at, &u, test->xsize); /* little endian */
  }
}

static hu_status on_cpu(const test_case *test, uint8_t *z, const uint8_t *x, hu_events *ev) {
  switch (test->call) {
    case QUANTIZE:
      return hu_quantize_n(test->n, (float *)z, test->incz, (const float *)x, test->incx, test->fz, test->mode,
                           &test->exec, ev);
    case QUANTIZE64:
      return hu_quantize64_n(test->n, (double *)z, test->incz, (const double *)x, test->incx, test->fz, test->mode,
                             &test->exec, ev);
    case ENCODE:
      return hu_encode_n(test->n, z, test->incz, (const float *)x, test->incx, test->fz, test->mode, &test->exec, ev);
    case ENCODE64:
      return hu_encode64_n(test->n, z, test->incz, (const double *)x, test->incx, test->fz, test->mode, &test->exec,
                           ev);
    case DECODE: return hu_decode_n(test->n, (float *)z, test->incz, x, test->incx, test->fx, &test->exec);
    case DECODE64: return hu_decode64_n(test->n, (double *)z, test->incz, x, test->incx, test->fx, &test->exec);
    case CONVERT:
      return hu_convert_n(test->n, z, test->incz, test->fz, x, test->incx, test->fx, test->mode, &test->exec, ev);
    case PACK: return hu_pack_n(test->n, z, x, test->width, NULL);
    default: return hu_unpack_n(test->n, z, x, test->width, NULL);
  }
}

static hu_status on_device(const test_case *test, uint8_t *z, const uint8_t *x, hu_events *ev) {
  switch (test->call) {
    case QUANTIZE:
      return hu_quantize_n(test->n, (float *)z, test->incz, (const float *)x, test->incx, test->fz, test->mode,
                           twin_there(&test->exec), ev);
    case QUANTIZE64:
      return hu_quantize64_n(test->n, (double *)z, test->incz, (const double *)x, test->incx, test->fz, test->mode,
                             twin_there(&test->exec), ev);
    case ENCODE:
      return hu_encode_n(test->n, z, test->incz, (const float *)x, test->incx, test->fz, test->mode,
                         twin_there(&test->exec), ev);
    case ENCODE64:
      return hu_encode64_n(test->n, z, test->incz, (const double *)x, test->incx, test->fz, test->mode,
                           twin_there(&test->exec), ev);
    case DECODE: return hu_decode_n(test->n, (float *)z, test->incz, x, test->incx, test->fx, twin_there(&test->exec));
    case DECODE64:
      return hu_decode64_n(test->n, (double *)z, test->incz, x, test->incx, test->fx, twin_there(&test->exec));
    case CONVERT:
      return hu_convert_n(test->n, z, test->incz, test->fz, x, test->incx, test->fx, test->mode,
                          twin_there(&test->exec), ev);
    case PACK: return hu_pack_n(test->n, z, x, test->width, twin_there(NULL));
    default: return hu_unpack_n(test->n, z, x, test->width, twin_there(NULL));
  }
}

static void run_case(t_random *random, test_case *test) {
  size_t spare = 8, xskip = t_below(random, 8), zskip = t_below(random, 8);
  t_twin x = twin_new(length_x(test) + (xskip + spare) * test->xsize),
         z = twin_new(length_z(test) + (zskip + spare) * test->zsize);
  t_twin twin = twin_new(sizeof(hu_events));
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++)
    ((uint64_t *)(void *)twin.host)[i] = t_next32(random); /* counts are added */
  test->xat = place_of(test->n, test->incx, test->xsize, xskip);
  test->zat = place_of(test->n, test->incz, test->zsize, zskip);
  fill(random, test, x.host, x.bytes / test->xsize * test->xsize);
  if (test->in_place) test->zat = test->xat;
  twin_put(&x);
  twin_put(&z);
  twin_put(&twin);
  hu_events *ev = test->count ? (hu_events *)(void *)twin.host : NULL,
            *dev = test->count ? (hu_events *)(void *)twin.device : NULL;
  t_twin *out = test->in_place ? &x : &z;
  hu_status cpu = on_cpu(test, out->host + test->zat, x.host + test->xat, ev);
  hu_status device = on_device(test, out->device + test->zat, x.device + test->xat, dev);
  size_t at = twin_differs(&z), xat = twin_differs(&x), eat = twin_differs(&twin);
  if (cpu != HU_OK || device != HU_OK || at < z.bytes || xat < x.bytes || eat < twin.bytes) {
    char fz[T_FORMAT_TEXT], fx[T_FORMAT_TEXT], mode[T_MODE_TEXT];
    print_error(
        "%s n %zu incz %td incx %td places %zu %zu in place %d: cpu %d device %d; first bytes that differ: z %zu/%zu, "
        "x %zu/%zu, events %zu/%zu\n fz %s\n fx %s\n mode %s\n",
        names[test->call], test->n, test->incz, test->incx, test->zat, test->xat, test->in_place, cpu, device, at,
        z.bytes, xat, x.bytes, eat, twin.bytes, t_format_text(fz, test->fz), t_format_text(fx, test->fx),
        t_mode_text(mode, test->mode));
    fail();
  }
  twin_free(&x);
  twin_free(&z);
  twin_free(&twin);
}

static size_t random_length(t_random *random) {
  switch (t_below(random, 4)) {
    case 0: return t_below(random, 20);
    case 1: return t_below(random, 300);
    case 2: return t_below(random, 3000);
    default: return (size_t)4 * t_below(random, 300);
  }
}

static void every_call(void **state) {
  (void)state;
  t_random random = seed_of("every_call");
  size_t cases = 0, elements = 0;
  for (unsigned i = 0; i < t_part(150); i++) {
    for (int call = 0; call < CALLS; call++) {
      test_case test = draw_case(&random, call, random_length(&random));
      run_case(&random, &test);
      cases++;
      elements += test.n;
    }
  }
  print_message("%zu calls, %zu elements\n", cases, elements);
}

/* Long enough that each thread comes round often and its byte-wide counts overflow into the wide ones. */
static void long_arrays(void **state) {
  (void)state;
  t_random random = seed_of("long_arrays");
  size_t elements = 0;
  for (int call = 0; call < CALLS; call++) {
    test_case test = draw_case(&random, call, 200000 + t_below(&random, 1000));
    test.incx = test.incz = 1;
    run_case(&random, &test);
    elements += test.n;
  }
  test_case test = draw_case(&random, QUANTIZE, 1300001);
  test.fz = hu_format_ieee(4, 3, 0);
  test.mode = t_mode(HU_RNE);
  test.incx = 0; /* one value, chosen below the normal range or above max by the draw: every element the same events */
  test.incz = 1;
  test.in_place = 0;
  test.count = 1;
  for (int i = 0; i < 6; i++) run_case(&random, &test);
  print_message("%zu elements and 6 times %zu equal ones\n", elements, test.n);
}

/* Four neighbours in one way, whatever they are: rne and sra, both definitions of tiny, every format of the
 * catalogue. */
static void edges(void **state) {
  (void)state;
  t_random random = seed_of("edges");
  for (size_t i = 0; i < 8 * hu_format_count(); i++) {
    test_case test = draw_case(&random, i & 1 ? ENCODE : QUANTIZE, 4 * t_below(&random, 100));
    test.fz = hu_format_at(i / 8).format;
    if (!hu_format_fits_binary32(test.fz)) test.call = ENCODE;
    test.zsize = test.call == ENCODE ? storage_of(test.fz) : 4;
    test.mode = i & 2 ? t_stochastic(HU_SRA, (unsigned)t_between(&random, 1, 32)) : t_mode(HU_RNE);
    test.mode = t_policy(test.mode, t_below(&random, 4), t_below(&random, 2), t_below(&random, 3));
    test.mode.tiny = i & 4 ? HU_TINY_BEFORE : HU_TINY_AFTER;
    test.incx = test.incz = 1;
    test.in_place = 0;
    test.count = test.edges = 1;
    run_case(&random, &test);
  }
}

/* The formats and roundings that people use most, over operands around every code. */
static void named_formats(void **state) {
  (void)state;
  t_random random = seed_of("named_formats");
  size_t cases = 0;
  for (size_t i = 0; i < hu_format_count(); i++) {
    for (unsigned round = 0; round < HU_ROUND_COUNT; round++) {
      test_case test = draw_case(&random, (i + round) & 1 ? ENCODE : QUANTIZE, 333 + t_below(&random, 8));
      test.fz = hu_format_at(i).format;
      if (!hu_format_fits_binary32(test.fz)) test.call = ENCODE;
      test.zsize = test.call == ENCODE ? storage_of(test.fz) : 4;
      test.mode = round < HU_SRA ? t_mode(round) : t_stochastic(round, (unsigned)t_between(&random, 1, 32));
      test.mode = t_policy(test.mode, t_below(&random, 4), t_below(&random, 2), t_below(&random, 3));
      test.incx = test.incz = 1;
      test.in_place = 0;
      run_case(&random, &test);
      cases++;
    }
  }
  print_message("%zu formats, %zu calls\n", hu_format_count(), cases);
}

static void host_arrays(void **state) {
  (void)state;
  t_random random = seed_of("host_arrays");
  for (int i = 0; i < 20; i++) {
    hu_format format = fitting(&random);
    hu_mode mode = t_random_mode(&random);
    hu_exec exec = {0, 0, {t_next64(&random), t_next64(&random)}, {0}}, there = exec;
    there.where = hu_cuda_host();
    float x[100], z[2][100];
    uint32_t codes[2][100];
    hu_events ev[2][2];
    size_t n = t_below(&random, 101);
    memset(ev, 0x11, sizeof ev);
    t_fill_pattern(z[0], sizeof z[0]);
    t_fill_pattern(z[1], sizeof z[1]);
    t_fill_pattern(codes[0], sizeof codes[0]);
    t_fill_pattern(codes[1], sizeof codes[1]);
    for (size_t j = 0; j < n; j++) x[j] = (float)t_random_operand(&random, format);
    assert_int_equal(hu_quantize_n(n, z[0], 1, x, 1, format, mode, &exec, &ev[0][0]), HU_OK);
    twin_default_stream();
    assert_int_equal(hu_quantize_n(n, z[1], 1, x, 1, format, mode, &there, &ev[1][0]), HU_OK);
    assert_int_equal(hu_encode_n(n, codes[0], 1, x, 1, format, mode, &exec, &ev[0][1]), HU_OK);
    assert_int_equal(hu_encode_n(n, codes[1], 1, x, 1, format, mode, &there, &ev[1][1]), HU_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(codes[0], codes[1], sizeof codes[0]);
    assert_memory_equal(ev[0], ev[1], sizeof ev[0]);
  }
}

/* ---- HU_OP_CONVERT of every pair of types, of those that are refused, too ---- */

enum { PAIR_MOST = 300, KINDS = 8 };

static hu_type draw_type(t_random *random, int kind, hu_number *number) {
  static const char *const systems[] = {"posit8", "posit16", "lns8", "q7", "nf4", "takum16"};
  hu_format format = t_below(random, 2) ? hu_format_at(t_below(random, (uint32_t)hu_format_count())).format
                                        : t_random_format(random, 1, 32);
  hu_type type = hu_type_values(kind, format);
  *number = hu_number_float(format);
  if (t_below(random, 2)) {
    assert_int_equal(hu_number_find(number, systems[t_below(random, 6)]), HU_OK);
    type.number = number;
  }
  return type;
}

/* The CPU alone has takums. */
static int is_takum(const hu_type *type) { return type->number && type->number->kind == HU_NUMBER_TAKUM; }

static void run_pair(t_random *random, int z, int x) {
  hu_number numbers[2];
  hu_type to = draw_type(random, z, &numbers[0]), from = draw_type(random, x, &numbers[1]);
  t_twin b[3] = {twin_new(8 * PAIR_MOST), twin_new(8 * PAIR_MOST), twin_new(sizeof(hu_events))};
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}, {0}};
  hu_mode mode = t_random_mode(random);
  for (size_t i = 0; i < b[1].bytes; i++) b[1].host[i] = (uint8_t)t_next32(random);
  if (x == HU_TYPE_CODES) {
    hu_number_limits of = hu_number_limits_of(numbers[1]);
    twin_keep(&b[1], of.storage / 8, of.width);
  }
  memset(b[2].host, 0, b[2].bytes);
  for (int i = 0; i < 3; i++) twin_put(&b[i]);
  hu_view host = hu_view_of(b[1].host, 1, from), device = hu_view_of(b[1].device, 1, from);
  hu_how here = hu_how_of(mode, &exec, (hu_events *)(void *)b[2].host);
  hu_how there = hu_how_of(mode, twin_there(&exec), (hu_events *)(void *)b[2].device);
  size_t n = t_below(random, PAIR_MOST);
  hu_status gpu = hu_apply(HU_OP_CONVERT, n, hu_output_of(b[0].device, 1, to), &device, &there), cpu = HU_E_NUMBER;
  if (gpu != HU_E_NUMBER || !(is_takum(&to) || is_takum(&from)))
    cpu = hu_apply(HU_OP_CONVERT, n, hu_output_of(b[0].host, 1, to), &host, &here);
  int differs = 0;
  for (int i = 0; i < 3; i++) differs += twin_differs(&b[i]) != b[i].bytes;
  if (cpu != gpu || differs) fail_msg("kinds %d, %d: cpu %d, device %d, %d buffers differ", z, x, cpu, gpu, differs);
  for (int i = 0; i < 3; i++) twin_free(&b[i]);
}

static void pairs_of_types(void **state) {
  (void)state;
  t_random random = seed_of("pairs_of_types");
  for (unsigned run = 0; run < t_part(20); run++)
    for (int z = 0; z < KINDS; z++)
      for (int x = 0; x < KINDS; x++) run_pair(&random, z, x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call),    cmocka_unit_test(long_arrays), cmocka_unit_test(edges),
      cmocka_unit_test(named_formats), cmocka_unit_test(host_arrays), cmocka_unit_test(pairs_of_types),
  };
  int skip = twin_skip("device arrays");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
