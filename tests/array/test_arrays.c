/* SPDX-License-Identifier: MIT */
/* The array calls against the one-value calls: ends of every kind, strides, in place, threads, levels, errors. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "halfulp/array.h"
#include "halfulp/scalar.h"

#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { N = 3000, ROOM = 3 * N + 64 };

static uint32_t word(hu_mode mode, hu_stream stream, uint64_t i) {
  return mode.bits ? hu_stream_word(stream, i) >> (32 - mode.bits) : 0;
}

/* Room for strided arrays of any element, before and behind. */
static uint64_t buffer_x[ROOM], buffer_z[ROOM];

typedef struct t_view {
  size_t n;
  ptrdiff_t incx, incz;
  hu_exec exec;
} t_view;

static t_view random_view(t_random *random) {
  static const uint32_t threads[] = {0, 1, 2, 3, 5, 16};
  t_view view;
  memset(&view, 0, sizeof view);
  view.n = t_below(random, 4) ? 1 + t_below(random, N) : 1 + t_below(random, 20);
  view.incx = t_below(random, 2) ? 1 : t_between(random, -3, 3);
  view.incz = t_below(random, 2) ? 1 : (t_below(random, 2) ? -1 : 1) * t_between(random, 1, 3);
  view.exec.threads = threads[t_below(random, 6)];
  view.exec.levels_off = t_levels_off(t_below(random, (uint32_t)t_levels()));
  view.exec.stream.key = t_next64(random);
  view.exec.stream.counter = t_below(random, 2) ? t_next64(random) : UINT64_MAX - t_below(random, N);
  return view;
}

/* Where element 0 lies, so that all of a strided array is inside the room. */
static ptrdiff_t origin(size_t n, ptrdiff_t inc) { return inc < 0 ? -inc * (ptrdiff_t)n + 8 : 8; }

static void test_encode64(void **state) {
  (void)state;
  t_random random = {t_seed("encode64", 3)};
  uint64_t cases = 0;
  for (int k = 0; k < 600; k++) {
    hu_format format = t_below(&random, 3) ? hu_format_at(t_below(&random, (uint32_t)hu_format_count())).format
                                           : t_random_format(&random, 1, 32);
    hu_mode mode = t_random_mode(&random);
    t_view view = random_view(&random);
    uint32_t storage = hu_limits_of(format).storage;
    double *x = (double *)(void *)buffer_x + origin(view.n, view.incx);
    hu_events ev = {0}, expected = {0};
    for (size_t i = 0; i < view.n; i++) x[(ptrdiff_t)i * view.incx] = t_random_operand(&random, format);
    t_fill_pattern(buffer_z, sizeof buffer_z);
    void *z = (uint8_t *)buffer_z + origin(view.n, view.incz) * (ptrdiff_t)(storage / 8);
    assert_int_equal(hu_encode64_n(view.n, z, view.incz, x, view.incx, format, mode, &view.exec, &ev), HU_OK);
    for (size_t i = 0; i < view.n; i++) {
      uint32_t e, c = hu_encode64(format, mode, x[(ptrdiff_t)i * view.incx], word(mode, view.exec.stream, i), &e);
      hu_events_count(&expected, e);
      assert_int_equal(t_get(z, storage / 8, (ptrdiff_t)i * view.incz), c);
    }
    assert_true(t_same_events(&ev, &expected));
    double *zv = (double *)(void *)buffer_z + origin(view.n, view.incz);
    memset(&ev, 0, sizeof ev);
    assert_int_equal(hu_quantize64_n(view.n, zv, view.incz, x, view.incx, format, mode, &view.exec, &ev), HU_OK);
    for (size_t i = 0; i < view.n; i++)
      assert_true(t_same64(zv[(ptrdiff_t)i * view.incz], hu_quantize64(format, mode, x[(ptrdiff_t)i * view.incx],
                                                                       word(mode, view.exec.stream, i), NULL)));
    assert_true(t_same_events(&ev, &expected));
    cases += view.n;
  }
  print_message("binary64 to codes and values: %lu elements\n", cases);
}

static void test_convert_and_decode(void **state) {
  (void)state;
  t_random random = {t_seed("convert", 4)};
  uint64_t cases = 0;
  for (int k = 0; k < 900; k++) {
    hu_format fx = t_below(&random, 2) ? hu_format_at(t_below(&random, (uint32_t)hu_format_count())).format
                                       : t_random_format(&random, 1, 32);
    hu_format fz = t_below(&random, 2) ? hu_format_at(t_below(&random, (uint32_t)hu_format_count())).format
                                       : t_random_format(&random, 1, 32);
    hu_mode mode = t_random_mode(&random);
    t_view view = random_view(&random);
    hu_limits lx = hu_limits_of(fx), lz = hu_limits_of(fz);
    void *x = (uint8_t *)buffer_x + origin(view.n, view.incx) * (ptrdiff_t)(lx.storage / 8);
    void *z = (uint8_t *)buffer_z + origin(view.n, view.incz) * (ptrdiff_t)(lz.storage / 8);
    hu_events ev = {0}, expected = {0};
    for (size_t i = 0; i < view.n; i++) t_put(x, lx.storage / 8, (ptrdiff_t)i * view.incx, t_random_code(&random, fx));
    assert_int_equal(hu_convert_n(view.n, z, view.incz, fz, x, view.incx, fx, mode, &view.exec, &ev), HU_OK);
    for (size_t i = 0; i < view.n; i++) {
      uint32_t e, c = hu_convert(fz, mode, fx, t_get(x, lx.storage / 8, (ptrdiff_t)i * view.incx),
                                 word(mode, view.exec.stream, i), &e);
      hu_events_count(&expected, e);
      assert_int_equal(t_get(z, lz.storage / 8, (ptrdiff_t)i * view.incz), c);
    }
    assert_true(t_same_events(&ev, &expected));
    double *wide = (double *)(void *)buffer_z + origin(view.n, view.incz);
    assert_int_equal(hu_decode64_n(view.n, wide, view.incz, x, view.incx, fx, &view.exec), HU_OK);
    for (size_t i = 0; i < view.n; i++)
      assert_true(t_same64(wide[(ptrdiff_t)i * view.incz],
                           hu_decode64(fx, t_get(x, lx.storage / 8, (ptrdiff_t)i * view.incx))));
    float *narrow = (float *)(void *)buffer_z + origin(view.n, view.incz);
    hu_status status = hu_decode_n(view.n, narrow, view.incz, x, view.incx, fx, &view.exec);
    assert_int_equal(status, hu_format_fits_binary32(fx) ? HU_OK : HU_E_CARRIER);
    for (size_t i = 0; status == HU_OK && i < view.n; i++)
      assert_true(t_same32(narrow[(ptrdiff_t)i * view.incz],
                           hu_decode(fx, t_get(x, lx.storage / 8, (ptrdiff_t)i * view.incx))));
    cases += view.n;
  }
  print_message("codes to codes and values: %lu elements\n", cases);
}

static void test_decode_all_codes(void **state) {
  (void)state;
  static uint16_t codes[65536];
  static float z[65536];
  uint64_t cases = 0;
  for (size_t k = t_next_format(0, 16); k < hu_format_count(); k = t_next_format(k + 1, 16)) {
    hu_format format = hu_format_at(k).format;
    uint32_t storage = hu_limits_of(format).storage, codes_of = (uint32_t)1 << hu_limits_of(format).width;
    size_t n = storage == 8 ? 256 : 65536;
    if (!hu_format_fits_binary32(format)) continue;
    for (size_t i = 0; i < n; i++) t_put(codes, storage / 8, (ptrdiff_t)i, (uint32_t)i % codes_of);
    for (size_t level = 0; level < t_levels(); level++) {
      hu_exec exec = {0};
      exec.levels_off = t_levels_off(level);
      memset(z, 0xA5, sizeof z);
      assert_int_equal(hu_decode_n(n, z, 1, codes, 1, format, &exec), HU_OK);
      for (size_t i = 0; i < n; i++) assert_true(t_same32(z[i], hu_decode(format, (uint32_t)i % codes_of)));
      cases += n;
    }
  }
  print_message("all codes decoded: %lu\n", cases);
  assert_true(cases > 1000000);
}

/* Long enough for parts, bypassing stores and several random blocks: every thread count and level, the same bits. Where
 * HU_TEST_COUNT asks for a part, each of them and each place of the output once. */
static void test_threads_and_bypass(void **state) {
  (void)state;
  size_t n = ((size_t)1 << 22) + 77;
  float *x = malloc(n * sizeof *x), *a = malloc((n + 3) * sizeof *a), *b = malloc((n + 3) * sizeof *b);
  assert_true(x && a && b);
  t_random random = {t_seed("threads", 5)};
  hu_format format;
  assert_int_equal(hu_format_find(&format, "float8_e4m3fn"), HU_OK);
  for (size_t i = 0; i < n; i++) {
    uint32_t u = t_next32(&random), field = 110 + u % 32;
    x[i] = t_float((u & 0x807FFF00) | (u & 0xFF) | field << 23);
  }
  for (int stochastic = 0; stochastic < 2; stochastic++) {
    hu_mode mode = stochastic ? t_stochastic(HU_SRA, 13) : t_mode(HU_RNE);
    hu_exec exec = {0};
    hu_events ev = {0};
    exec.stream.key = 7;
    exec.stream.counter = 5;
    exec.levels_off = UINT32_MAX;
    assert_int_equal(hu_quantize_n(n, a, 1, x, 1, format, mode, &exec, &ev), HU_OK);
    assert_true(ev.inexact > n / 2 && ev.subnormal > 0 && ev.saturated > 0 && ev.to_zero > 0);
    for (uint32_t k = 0; k < 12; k++) {
      static const uint32_t threads[] = {1, 2, 3, 7};
      if (t_part(100) < 100 && k >= 4 && k >= t_levels()) continue;
      hu_events other = {0};
      float *z = b + k % 3;
      exec.threads = threads[k % 4];
      exec.levels_off = t_levels_off(k % t_levels());
      memset(b, 0xA5, (n + 3) * sizeof *b);
      assert_int_equal(hu_quantize_n(n, z, 1, x, 1, format, mode, &exec, &other), HU_OK);
      assert_memory_equal(z, a, n * sizeof *z);
      assert_true(t_same_events(&ev, &other));
      memcpy(z, x, n * sizeof *z); /* in place */
      memset(&other, 0, sizeof other);
      assert_int_equal(hu_quantize_n(n, z, 1, z, 1, format, mode, &exec, &other), HU_OK);
      assert_memory_equal(z, a, n * sizeof *z);
      assert_true(t_same_events(&ev, &other));
    }
  }
  free(x);
  free(a);
  free(b);
}

static void test_in_place_codes(void **state) {
  (void)state;
  hu_format a, b;
  uint8_t x[100], z[100];
  assert_int_equal(hu_format_find(&a, "float8_e5m2"), HU_OK);
  assert_int_equal(hu_format_find(&b, "float8_e4m3fnuz"), HU_OK);
  for (int i = 0; i < 100; i++) x[i] = z[i] = (uint8_t)(i * 7);
  assert_int_equal(hu_convert_n(100, z, 1, b, z, 1, a, t_mode(HU_RNA), NULL, NULL), HU_OK);
  for (int i = 0; i < 100; i++) assert_int_equal(z[i], hu_convert(b, t_mode(HU_RNA), a, x[i], 0, NULL));
}

static void test_errors(void **state) {
  (void)state;
  float x[16] = {1}, z[16];
  uint8_t c[64] = {0};
  hu_format format, wide, bad;
  hu_mode rne = {0}, wrong = {0};
  hu_events ev = {0};
  assert_int_equal(hu_format_find(&format, "float8_e4m3fn"), HU_OK);
  assert_int_equal(hu_format_parse(&wide, "fp(11,20,0)", NULL), HU_OK);
  bad = format;
  bad.m = 31;
  wrong.round = 99;
  t_fill_pattern(z, sizeof z);
  assert_int_equal(hu_quantize_n(8, z, 1, x, 1, bad, rne, NULL, &ev), HU_E_FORMAT);
  assert_int_equal(hu_quantize_n(8, z, 1, x, 1, format, wrong, NULL, &ev), HU_E_MODE);
  assert_int_equal(hu_quantize_n(8, z, 1, x, 1, wide, rne, NULL, &ev), HU_E_CARRIER);
  assert_int_equal(hu_quantize_n(8, NULL, 1, x, 1, format, rne, NULL, &ev), HU_E_NULL);
  assert_int_equal(hu_quantize_n(8, z, 1, NULL, 1, format, rne, NULL, &ev), HU_E_NULL);
  assert_int_equal(hu_quantize_n(8, z, 0, x, 1, format, rne, NULL, &ev), HU_E_SHAPE);
  assert_int_equal(hu_quantize_n(SIZE_MAX / 2, z, 1, x, 1, format, rne, NULL, &ev), HU_E_SHAPE);
  assert_int_equal(hu_quantize_n(8, z, PTRDIFF_MAX / 4, x, 1, format, rne, NULL, &ev), HU_E_SHAPE);
  assert_int_equal(hu_quantize_n(8, z, 1, (const float *)(const void *)(c + 1), 1, format, rne, NULL, &ev), HU_E_ALIGN);
  assert_int_equal(hu_quantize_n(8, x + 1, 1, x, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  assert_int_equal(hu_quantize_n(8, x, 2, x, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  assert_int_equal(hu_encode_n(8, x, 1, x, 1, format, rne, NULL, &ev), HU_E_OVERLAP);
  assert_int_equal(hu_encode_n(8, c, 1, x, 1, bad, rne, NULL, &ev), HU_E_FORMAT);
  assert_int_equal(hu_decode_n(8, z, 1, c, 1, bad, NULL), HU_E_FORMAT);
  assert_int_equal(hu_decode64_n(8, (double *)(void *)buffer_z, 1, c, 1, bad, NULL), HU_E_FORMAT);
  assert_int_equal(hu_convert_n(8, c, 1, format, c + 8, 1, bad, rne, NULL, &ev), HU_E_FORMAT);
  assert_true(t_is_pattern(z, sizeof z));
  assert_int_equal(ev.inexact + ev.overflow + ev.nan_in, 0);
  /* Allowed: nothing to do; interleaved halves of one array; a broadcast operand. */
  assert_int_equal(hu_quantize_n(0, NULL, 1, NULL, 1, format, rne, NULL, NULL), HU_OK);
  assert_int_equal(hu_quantize_n(8, x + 1, 2, x, 2, format, rne, NULL, NULL), HU_OK);
  assert_int_equal(hu_quantize_n(8, z, 1, x, 0, format, rne, NULL, NULL), HU_OK);
  for (int i = 0; i < 8; i++) assert_true(t_same32(z[i], 1.0f));
}

static void test_pack(void **state) {
  (void)state;
  t_random random = {t_seed("pack", 6)};
  for (unsigned width = 1; width <= 8; width++) {
    for (size_t n = 0; n < 70; n++) {
      uint8_t x[70], packed[80], back[80];
      size_t bytes = hu_pack_size(n, width);
      assert_int_equal(bytes, (n * width + 7) / 8);
      for (size_t i = 0; i < n; i++) x[i] = (uint8_t)(t_next32(&random) >> (32 - width));
      memset(packed, 0xA5, sizeof packed);
      memset(back, 0xA5, sizeof back);
      assert_int_equal(hu_pack_n(n, packed, x, width, NULL), HU_OK);
      for (size_t i = bytes; i < sizeof packed; i++) assert_int_equal(packed[i], 0xA5);
      for (size_t bit = 0; bit < 8 * bytes; bit++) {
        unsigned expected = bit < n * width ? x[bit / width] >> (bit % width) & 1u : 0;
        assert_int_equal(packed[bit / 8] >> (bit % 8) & 1, expected);
      }
      assert_int_equal(hu_unpack_n(n, back, packed, width, NULL), HU_OK);
      for (size_t i = 0; i < n; i++) assert_int_equal(back[i], x[i]);
      for (size_t i = n; i < sizeof back; i++) assert_int_equal(back[i], 0xA5);
    }
  }
  uint8_t b[8] = {0};
  assert_int_equal(hu_pack_n(4, b, b + 4, 0, NULL), HU_E_SHAPE);
  assert_int_equal(hu_unpack_n(4, b, b + 4, 9, NULL), HU_E_SHAPE);
  assert_int_equal(hu_pack_n(4, NULL, b, 4, NULL), HU_E_NULL);
  assert_int_equal(hu_pack_n(4, b, b, 4, NULL), HU_E_OVERLAP);
  assert_true(hu_pack_size(SIZE_MAX, 8) == SIZE_MAX);
}

/* Flushing, other directions and unmasked traps of the caller change nothing, and are there again afterwards. */
static void test_surroundings(void **state) {
  (void)state;
#if defined(__x86_64__)
  static const uint32_t settings[] = {0x1F80 | 0x8040,          0x1F80 | 0x2000, 0x1F80 | 0x4000,
                                      0x1F80 | 0x6000 | 0x8040, 0x0000,          0x1FBF};
  static const char *const names[] = {"float8_e5m2", "fp(8,7,0)", "fp(6,9,0):finite", "fp(7,3,-20)", "fp(5,2,0):flush"};
  t_random random = {t_seed("array surroundings", 7)};
  enum { LENGTH = 2000 };
  static float x[LENGTH], z[LENGTH], bent[LENGTH];
  int runs = 0;
  for (int i = 0; i < 500; i++) {
    hu_format format;
    hu_mode mode = t_random_mode(&random);
    hu_exec exec = {0};
    assert_int_equal(hu_format_parse(&format, names[t_below(&random, 5)], NULL), HU_OK);
    int32_t emin = hu_limits_of(format).emin;
    for (size_t k = 0; k < LENGTH; k++) { /* mostly subnormal results, down to binary32's own */
      int32_t field = emin + 127 + t_between(&random, -30, 3);
      x[k] = t_float((t_next32(&random) & 0x807FFFFF) | (uint32_t)(field < 0 ? 0 : field) << 23);
    }
    exec.levels_off = t_levels_off(t_below(&random, (uint32_t)t_levels()));
    hu_events usual = {0};
    assert_int_equal(hu_quantize_n(LENGTH, z, 1, x, 1, format, mode, &exec, &usual), HU_OK);
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++, runs++) {
      hu_events events = {0};
      uint32_t before = _mm_getcsr();
      _mm_setcsr(settings[s]);
      hu_status status = hu_quantize_n(LENGTH, bent, 1, x, 1, format, mode, &exec, &events);
      uint32_t after = _mm_getcsr();
      _mm_setcsr(before);
      assert_int_equal(status, HU_OK);
      assert_int_equal(after, settings[s]);
      assert_memory_equal(z, bent, sizeof z);
      assert_memory_equal(&usual, &events, sizeof usual);
    }
  }
  print_message("array surroundings: %d runs\n", runs);
#else
  print_message("array surroundings: no MXCSR on this processor\n");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_encode64),
      cmocka_unit_test(test_convert_and_decode),
      cmocka_unit_test(test_decode_all_codes),
      cmocka_unit_test(test_threads_and_bypass),
      cmocka_unit_test(test_in_place_codes),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_pack),
      cmocka_unit_test(test_surroundings),
  };
  return cmocka_run_group_tests_name("array calls", tests, NULL, NULL);
}
