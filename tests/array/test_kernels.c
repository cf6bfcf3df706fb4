/* SPDX-License-Identifier: MIT */
/* Every kernel level against the one-value core: random formats first, then values, in random lanes among random
 * neighbours, odd lengths, unaligned places, padding untouched; codes, values and events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { N_MAX = 700, PAD = 64 };

/* A binary32 pattern that a format may find hard: near its edges, on its grid, on a midpoint, beside one. */
static uint32_t hard_input(hu_format format, hu_limits limits, uint64_t r) {
  uint32_t u = (uint32_t)(r >> 32);
  float x;
  uint32_t code = (uint32_t)((r >> 8) % ((uint64_t)limits.max_code + 1));
  switch (r & 7) {
    case 0: return (r & 256) ? u : (u & 0x80000000u) | (0x7F000000u - (u >> 8 & 0xFFFFFF));
    case 1: x = hu_decode(format, code); break;
    case 2: { /* about the middle of a step */
      double mid = hu_decode64(format, code) / 2 + hu_decode64(format, code < limits.max_code ? code + 1 : code) / 2;
      x = (float)mid;
      break;
    }
    case 3: x = hu_decode(format, limits.max_code); break;
    case 4: x = hu_decode(format, limits.min_code) / (float)(1 + (r >> 8 & 3)); break;
    case 5: { /* within the bottom binades */
      int32_t field = limits.emin + 127 - (int32_t)(r >> 8 & 15) + 6;
      return (u & 0x807FFFFF) | (uint32_t)(field < 0 ? 0 : field > 255 ? 255 : field) << 23;
    }
    case 6: return (u & 0x80000000u) | ((r >> 8 & 1) ? 0x7F800000u + (uint32_t)(r >> 9 & 1) : 0);
    default: return (u & 0x80000000u) | (0x3E800000u + (u & 0x3FFFFFFu));
  }
  memcpy(&u, &x, sizeof u);
  u += (uint32_t)(int32_t)((int32_t)(r >> 12 & 7) - 3) * (u & 0x7F800000u && (u & 0x7FFFFFFFu) < 0x7F000000u);
  return u ^ ((r >> 16 & 1) ? 0x80000000u : 0);
}

typedef struct t_expected {
  uint32_t code[N_MAX];
  uint32_t value[N_MAX];
  hu_events events;
} t_expected;

static void expect(t_expected *expected, hu_format format, hu_mode mode, hu_stream stream, size_t n, const uint32_t *x,
                   int fits) {
  memset(&expected->events, 0, sizeof expected->events);
  for (size_t i = 0; i < n; i++) {
    uint32_t events, r = mode.bits ? hu_stream_word(stream, i) >> (32 - mode.bits) : 0;
    float v, fx;
    memcpy(&fx, &x[i], sizeof fx);
    expected->code[i] = hu_encode(format, mode, fx, r, &events);
    hu_events_count(&expected->events, events);
    v = fits ? hu_decode(format, expected->code[i]) : 0;
    memcpy(&expected->value[i], &v, sizeof v);
  }
}

static uint32_t code_at(const uint8_t *z, uint32_t storage, size_t i) {
  if (storage == 8) return z[i];
  if (storage == 16) return ((const uint16_t *)(const void *)z)[i];
  return ((const uint32_t *)(const void *)z)[i];
}

static void assert_padding(const uint8_t *buffer, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) assert_int_equal(buffer[i], 0xA5);
}

static void compare(hu_format format, hu_mode mode, const hu_exec *exec, size_t n, const uint32_t *x,
                    const t_expected *expected, size_t offset, int fits) {
  static uint8_t out[(N_MAX + 2 * PAD) * 4 + 64] __attribute__((aligned(64)));
  uint32_t storage = hu_limits_of(format).storage, size = storage / 8;
  hu_events ev = {0};
  memset(out, 0xA5, sizeof out);
  uint8_t *z = out + offset * size;
  assert_int_equal(hu_encode_n(n, z, 1, (const float *)(const void *)x, 1, format, mode, exec, &ev), HU_OK);
  for (size_t i = 0; i < n; i++)
    if (code_at(z, storage, i) != expected->code[i]) {
      char text[HU_FORMAT_TEXT_MAX], r[8];
      hu_format_text(text, sizeof text, format);
      fail_msg("%s %s sat %u tiny %u: input %08x code %x, core says %x (levels off %x)", text,
               hu_mode_round_text(r, mode), mode.saturate, mode.tiny, x[i], code_at(z, storage, i), expected->code[i],
               exec->levels_off);
    }
  assert_padding(out, 0, offset * size);
  assert_padding(out, (offset + n) * size, sizeof out);
  if (memcmp(&ev, &expected->events, sizeof ev)) {
    char text[HU_FORMAT_TEXT_MAX], r[8];
    hu_format_text(text, sizeof text, format);
    const uint64_t *p = (const uint64_t *)(const void *)&ev, *q = (const uint64_t *)(const void *)&expected->events;
    for (int k = 0; k < 9; k++) print_message("  event %d: %lu, core %lu\n", k, p[k], q[k]);
    fail_msg("%s %s sat %u tiny %u: events differ (levels off %x)", text, hu_mode_round_text(r, mode), mode.saturate,
             mode.tiny, exec->levels_off);
  }
  if (!fits) return;
  memset(out, 0xA5, sizeof out);
  memset(&ev, 0, sizeof ev);
  float *v = (float *)(void *)out + offset;
  assert_int_equal(hu_quantize_n(n, v, 1, (const float *)(const void *)x, 1, format, mode, exec, &ev), HU_OK);
  for (size_t i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, v + i, sizeof u);
    if (u != expected->value[i]) {
      char text[HU_FORMAT_TEXT_MAX], r[8];
      hu_format_text(text, sizeof text, format);
      fail_msg("%s %s: input %08x value %08x, core says %08x (levels off %x)", text, hu_mode_round_text(r, mode), x[i],
               u, expected->value[i], exec->levels_off);
    }
  }
  assert_padding(out, 0, offset * 4);
  assert_padding(out, (offset + n) * 4, sizeof out);
  assert_memory_equal(&ev, &expected->events, sizeof ev);
}

static void one_format(t_random *random, hu_format format, uint64_t *cases) {
  static t_expected expected;
  uint32_t x[N_MAX];
  hu_limits limits = hu_limits_of(format);
  int fits = hu_format_fits_binary32(format);
  for (int k = 0; k < 11; k++) {
    hu_mode mode = t_random_mode(random);
    hu_exec exec = {0};
    size_t n = 1 + t_next64(random) % N_MAX;
    int calm = t_next64(random) % 3 == 0; /* lanes of one kind, so that the quick and middle ways are met */
    exec.stream.key = t_next64(random);
    /* Also across the ends of the counter and of its lower half (block numbers are a quarter). */
    uint64_t place = t_next64(random);
    exec.stream.counter = place % 3 == 0 ? place : (place % 3 == 1 ? 0 : (place >> 40) << 34) - (place >> 8) % 1000;
    uint64_t kind = t_next64(random) & 7;
    for (size_t i = 0; i < n; i++) {
      uint64_t r = t_next64(random);
      x[i] = hard_input(format, limits, calm ? (r & ~(uint64_t)7) | kind : r);
    }
    expect(&expected, format, mode, exec.stream, n, x, fits);
    for (size_t i = 0; i < t_levels(); i++) {
      exec.levels_off = t_levels_off(i);
      compare(format, mode, &exec, n, x, &expected, t_next64(random) % PAD, fits);
      *cases += n;
    }
  }
}

static void test_catalogue(void **state) {
  (void)state;
  t_random random = {t_seed("kernels: catalogue", 1)};
  uint64_t cases = 0;
  for (size_t i = 0; i < hu_format_count(); i++) one_format(&random, hu_format_at(i).format, &cases);
  print_message("catalogue: %lu comparisons in %zu formats\n", cases, hu_format_count());
  assert_true(cases > 100000);
}

/* Every place of the lowest binade about those where the ways of emu/simd/round.h end, with few and many digits. */
static void test_bottoms(void **state) {
  (void)state;
  t_random random = {t_seed("kernels: bottoms", 3)};
  uint64_t cases = 0;
  for (int low = -3; low < 64; low++) {
    static const char *const texts[] = {"fp(6,3,%d)", "fp(6,10,%d):finite", "fp(5,21,%d):flush"};
    for (int k = 0; k < 3; k++) {
      char text[40];
      hu_format format;
      snprintf(text, sizeof text, texts[k], (k == 2 ? 113 : 97) - low);
      if (hu_format_parse(&format, text, NULL) != HU_OK) fail_msg("%s", text);
      assert_int_equal(hu_limits_of(format).emin + 127, low);
      one_format(&random, format, &cases);
    }
  }
  print_message("bottoms: %lu comparisons\n", cases);
}

/* Stochastic C, N random bits: above half a unit of the last random digit by a digit beyond the 32 that lanes hold. It
 * counts where all random bits are set, once in 2^N elements. */
static void test_far_digit(void **state) {
  (void)state;
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2", "binary16"};
  static t_expected expected;
  uint32_t x[N_MAX];
  uint64_t ups = 0;
  for (int k = 0; k < 3; k++) {
    hu_format format;
    assert_int_equal(hu_format_parse(&format, names[k], NULL), HU_OK);
    for (int n = 9; n <= 11; n++) {
      hu_mode mode = t_stochastic(HU_SRC, (unsigned)n);
      for (uint64_t key = 0; key < 30; key++) {
        hu_exec exec = {0};
        exec.stream.key = key;
        uint32_t least = t_bits32(hu_decode(format, 1)) - ((uint32_t)(n + 1) << 23); /* 2^-(n + 1) of it */
        for (size_t i = 0; i < N_MAX; i++) x[i] = least + 1;                         /* and 2^-(n + 24) */
        expect(&expected, format, mode, exec.stream, N_MAX, x, 1);
        for (size_t i = 0; i < N_MAX; i++) ups += expected.code[i] != 0;
        for (size_t i = 0; i < t_levels(); i++) {
          exec.levels_off = t_levels_off(i);
          compare(format, mode, &exec, N_MAX, x, &expected, 0, 1);
        }
      }
    }
  }
  assert_true(ups > 50);
}

static void test_random_formats(void **state) {
  (void)state;
  t_random random = {t_seed("kernels: random formats", 2)};
  uint64_t cases = 0;
  for (int i = 0; i < 1500; i++) one_format(&random, t_random_format(&random, 1, 32), &cases);
  print_message("random formats: %lu comparisons\n", cases);
  assert_true(cases > 1000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_catalogue), cmocka_unit_test(test_bottoms),
                                     cmocka_unit_test(test_far_digit), cmocka_unit_test(test_random_formats)};
  return cmocka_run_group_tests_name("kernels against the core", tests, NULL, NULL);
}
