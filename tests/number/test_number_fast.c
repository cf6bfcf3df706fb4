/* SPDX-License-Identifier: MIT */
/* Arrays of number systems by every level against the integer core (all levels off), which the other tests of this
 * folder hold against the oracle: values, their neighbours, the middles between them and theirs, random patterns,
 * specials; every deterministic mode, and a stochastic one; strides, threads, short arrays. Whole outputs and event
 * counts are compared. Where HU_TEST_COUNT asks for a part, each system has two of the modes, another pair in the next.
 * Argument: rounds of random number systems. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/number.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { MOST = 1 << 17 };
static int rounds = 40;
static float operands[MOST];
static double wide_got[MOST], wide_expected[MOST];
static float expected[MOST], got[MOST];
static uint32_t codes_expected[MOST], codes_got[MOST], words[MOST];

static void put(size_t *n, float x) {
  if (*n < MOST) operands[(*n)++] = x;
}

/* A number and its neighbours on both sides, of both signs. */
static void put_near(size_t *n, double x) {
  uint32_t u = t_bits32((float)x);
  for (int d = -2; d <= 2; d++) {
    put(n, t_float(u + (uint32_t)d));
    put(n, t_float((u + (uint32_t)d) ^ 0x80000000));
  }
}

static size_t fill_operands(t_random *random, hu_number number) {
  static const uint32_t specials[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001,
                                      1, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000};
  hu_number_limits limits = hu_number_limits_of(number);
  uint32_t count = limits.width < 12 ? 1u << limits.width : 4096;
  size_t n = 0;
  double last = 0;
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) put(&n, t_float(specials[i]));
  for (uint32_t c = 0; c < count; c++) {
    double v = hu_number_decode64(number, limits.width < 12 ? c : t_next32(random));
    if (v != v) continue;
    put_near(&n, v);
    put_near(&n, (v + last) / 2);
    last = v;
  }
  size_t ordinary = n + 8000;
  while (n < ordinary) put(&n, t_float(t_next32(random)));
  while (n < ordinary + 8000) {
    put(&n, t_float((uint32_t)t_between(random, 110, 140) << 23 | (t_next32(random) & 0x807FFFFF)));
  }
  return n;
}

/* Half of the pieces without infinities and NaN, which lanes leave to the core. */
static void tame(size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i / 256 % 2 && (t_bits32(operands[i]) & 0x7FFFFFFF) >= 0x7F800000) operands[i] = 0.75f;
  }
}

static void differ(hu_number number, const char *call, hu_mode mode, uint32_t levels_off, size_t i, uint32_t x,
                   uint32_t a, uint32_t b) {
  static char text[HU_NUMBER_TEXT_MAX];
  char m[T_MODE_TEXT];
  hu_number_text(text, sizeof text, number);
  fail_msg("%s, %.300s, %s, levels off %u: [%zu] operand %08x: %08x, the core %08x", call, text, t_mode_text(m, mode),
           (unsigned)levels_off, i, (unsigned)x, (unsigned)a, (unsigned)b);
}

static void compare32(hu_number number, const char *call, hu_mode mode, uint32_t off, size_t n, const void *a,
                      const void *b, const hu_events *ea, const hu_events *eb) {
  const uint32_t *u = a, *v = b;
  for (size_t i = 0; i < n; i++) {
    if (u[i] != v[i]) differ(number, call, mode, off, i, t_bits32(operands[i]), u[i], v[i]);
  }
  if (t_same_events(ea, eb)) return;
  print_message("inexact %llu %llu overflow %llu %llu underflow %llu %llu to_zero %llu %llu\n",
                (unsigned long long)ea->inexact, (unsigned long long)eb->inexact, (unsigned long long)ea->overflow,
                (unsigned long long)eb->overflow, (unsigned long long)ea->underflow, (unsigned long long)eb->underflow,
                (unsigned long long)ea->to_zero, (unsigned long long)eb->to_zero);
  differ(number, "events", mode, off, n, 0, 0, 0);
}

/* Codes of any storage, widened: strides of 4 / size keep them apart. */
static void from_binary32(hu_number number, hu_mode mode, size_t n) {
  ptrdiff_t apart = 32 / (ptrdiff_t)hu_number_limits_of(number).storage;
  hu_exec core = {1, 7, {3, 5}, {0}};
  hu_events events[2] = {{0}, {0}};
  memset(codes_expected, 0, n * 4);
  assert_int_equal(hu_number_encode_n(n, codes_expected, apart, operands, 1, number, mode, &core, &events[0]), HU_OK);
  assert_int_equal(hu_number_quantize_n(n, expected, 1, operands, 1, number, mode, &core, NULL), HU_OK);
  for (size_t i = 0; i < 200 && mode.round < HU_SRA; i++) { /* the core's arrays are the one-value calls */
    uint32_t code = hu_number_encode(number, mode, operands[i], 0, NULL);
    if (code != codes_expected[i])
      differ(number, "one value", mode, 7, i, t_bits32(operands[i]), code, codes_expected[i]);
    assert_true(t_same32(expected[i], hu_number_decode(number, code)));
  }
  for (uint32_t level = 0; level < 3; level++) {
    uint32_t off = level == 0 ? 0 : level == 1 ? 4 : 6;
    hu_exec exec = {off ? 1 : 3, off, {3, 5}, {0}};
    memset(codes_got, 0, n * 4);
    memset(&events[1], 0, sizeof events[1]);
    assert_int_equal(hu_number_encode_n(n, codes_got, apart, operands, 1, number, mode, &exec, &events[1]), HU_OK);
    compare32(number, "encode", mode, off, n, codes_got, codes_expected, &events[1], &events[0]);
    memset(&events[1], 0, sizeof events[1]);
    assert_int_equal(hu_number_quantize_n(n, got, 1, operands, 1, number, mode, &exec, &events[1]), HU_OK);
    compare32(number, "quantize", mode, off, n, got, expected, &events[1], &events[0]);
  }
}

/* Codes of number: decoded, and converted into the other. */
static void from_codes(t_random *random, hu_number number, hu_number other, hu_mode mode) {
  size_t n = 3000, size = hu_number_limits_of(number).storage / 8;
  ptrdiff_t apart = 32 / (ptrdiff_t)hu_number_limits_of(other).storage;
  hu_exec core = {1, 7, {9, 9}, {0}};
  hu_events events[2] = {{0}, {0}};
  for (size_t i = 0; i < n; i++) {
    uint32_t width = hu_number_limits_of(number).width, code = t_next32(random) >> (32 - width);
    if (number.kind == HU_NUMBER_FIXED && number.sign) code = t_random_integer(random, width);
    t_put(words, size, (ptrdiff_t)i, code);
  }
  size_t skip = t_below(random, 3);
  const void *x = (const uint8_t *)words + skip * size;
  memset(codes_expected, 0, n * 4);
  assert_int_equal(hu_number_decode_n(n - 8, expected, 1, x, 1, number, &core), HU_OK);
  assert_int_equal(hu_number_decode64_n(n - 8, wide_expected, 1, x, 1, number, &core), HU_OK);
  assert_int_equal(hu_number_convert_n(n - 8, codes_expected, apart, other, x, 1, number, mode, &core, &events[0]),
                   HU_OK);
  for (uint32_t level = 0; level < 3; level++) {
    hu_exec exec = {1 + level, level == 0 ? 0 : level == 1 ? 4 : 6, {9, 9}, {0}};
    memset(codes_got, 0, n * 4);
    memset(&events[1], 0, sizeof events[1]);
    memset(operands, 0, n * sizeof *operands);
    assert_int_equal(hu_number_decode_n(n - 8, got, 1, x, 1, number, &exec), HU_OK);
    compare32(number, "decode", mode, exec.levels_off, n - 8, got, expected, &events[0], &events[0]);
    assert_int_equal(hu_number_decode64_n(n - 8, wide_got, 1, x, 1, number, &exec), HU_OK);
    assert_memory_equal(wide_got, wide_expected, (n - 8) * sizeof *wide_got);
    assert_int_equal(hu_number_convert_n(n - 8, codes_got, apart, other, x, 1, number, mode, &exec, &events[1]), HU_OK);
    compare32(other, "convert", mode, exec.levels_off, n - 8, codes_got, codes_expected, &events[1], &events[0]);
  }
}

/* Is mode number `round` of 8 one for system number i? */
static int has_mode(size_t i, unsigned round) { return t_part(100) == 100 || (3 * i + round) % 4 == 0; }

static void catalogue(void **state) {
  (void)state;
  t_random random = {t_seed("number-fast", 71)};
  size_t elements = 0;
  for (size_t i = 0; i < hu_number_count(); i++) {
    hu_number number = hu_number_at(i).number;
    int slow = (number.kind == HU_NUMBER_LNS && number.fraction > 8) || number.kind == HU_NUMBER_TAKUM;
    size_t n = fill_operands(&random, number);
    tame(n);
    unsigned step =
        number.kind == HU_NUMBER_LNS && number.fraction > 3 ? 5 : 1; /* the core takes a microsecond for each */
    for (unsigned round = 0; round < T_DETERMINISTIC && !(slow && round); round += step) {
      if (step == 1 && !slow && !has_mode(i, round)) continue;
      from_binary32(number, t_mode(round), slow ? 2000 : n);
      elements += n;
    }
    from_binary32(number, t_stochastic(HU_SRA, 1 + t_below(&random, 32)), 2000);
    from_binary32(number, t_mode(t_below(&random, T_DETERMINISTIC)), 300); /* too short for tables */
    from_codes(&random, number, hu_number_at(t_below(&random, (uint32_t)hu_number_count())).number,
               t_random_mode(&random));
  }
  print_message("%zu elements, at every level\n", elements);
}

/* Every step-th of the operands, where the core takes long. */
static size_t thin_out(size_t n, size_t step) {
  size_t left = 0;
  for (size_t i = 0; i < n; i += step) operands[left++] = operands[i];
  return left;
}

/* Corners by name: zeros at the ends of a table, of both signs, alone; limits given; ends of widths. */
static void corners(void **state) {
  (void)state;
  static const char *const texts[] = {"table(0)",
                                      "table(0,1)",
                                      "table(-1,0)",
                                      "table(0x80000000)",
                                      "table(0x80000000,0,2)",
                                      "table(-2,0x80000000,0)",
                                      "table(1,1,0,0x7fc00000)",
                                      "table(-3e38,3e38)",
                                      "table(-1,1,0.25,0):ties=given",
                                      "table(1e-40,2e-40,1e-45)",
                                      "posit(2,0)",
                                      "posit(3,0)",
                                      "posit(25,2)",
                                      "posit(26,1)",
                                      "posit(32,0)",
                                      "posit(32,5)",
                                      "lns(10,8)",
                                      "lns(10,8):unsigned",
                                      "lns(3,1)",
                                      "lns(4,0)",
                                      "takum(8)",
                                      "takum(9)",
                                      "takum(13)",
                                      "takum(32)",
                                      "takum_linear(8)",
                                      "takum_linear(11)",
                                      "takum_linear(28)",
                                      "takum_linear(29)",
                                      "takum_linear(32)",
                                      "q(0.31):wrap",
                                      "uq(0.32)",
                                      "uq(32.0):wrap",
                                      "uq(1.0)",
                                      "q(1.0)"};
  t_random random = {t_seed("number-fast-corners", 73)};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    static float buffer[HU_TABLE_MAX];
    hu_number number;
    if (hu_number_parse(&number, texts[i], buffer, NULL) != HU_OK) fail_msg("%s", texts[i]);
    size_t n = fill_operands(&random, number);
    if (number.kind == HU_NUMBER_TAKUM) n = thin_out(n, 1 + n / 1600);
    tame(n);
    for (unsigned round = 0; round < T_DETERMINISTIC; round++) {
      hu_mode mode = t_policy(t_mode(round), t_below(&random, 4), 0, t_below(&random, 3));
      if (has_mode(i, round)) from_binary32(number, mode, n);
    }
    from_codes(&random, number, hu_number_at(t_below(&random, (uint32_t)hu_number_count())).number, t_mode(0));
  }
}

static void random_systems(void **state) {
  (void)state;
  t_random random = {t_seed("number-fast-random", 72)};
  static float rooms[2][HU_TABLE_MAX];
  for (int i = 0; i < rounds;) {
    hu_number number[2];
    for (int k = 0; k < 2; k++) {
      unsigned w = 2 + t_below(&random, t_below(&random, 2) ? 8 : 31), kind = t_below(&random, 9);
      number[k] = hu_number_posit(w, t_below(&random, 6));
      if (kind < 3)
        number[k] =
            hu_number_fixed((int)t_below(&random, 2), t_below(&random, w), t_below(&random, w), t_below(&random, 2));
      if (kind == 3) number[k] = hu_number_lns(w, t_below(&random, w < 9 ? w : 9), t_below(&random, 3));
      if (kind == 4) number[k] = hu_number_float(t_random_format(&random, 2, 32));
      if (kind == 6) number[k] = t_below(&random, 4) ? hu_number_takum(w, 1) : hu_number_hifloat8();
      if (kind == 5) {
        size_t count = 1 + t_below(&random, t_below(&random, 2) ? 16 : 256);
        for (size_t j = 0; j < count; j++) {
          rooms[k][j] =
              t_below(&random, 4) ? (float)t_between(&random, -99, 99) / 16 : t_float(t_next32(&random) & 0xBFFFFFFF);
        }
        if (t_below(&random, 4) == 0) rooms[k][0] = -0.0f;
        number[k] = hu_number_table(count, rooms[k], t_below(&random, 3));
      }
    }
    if (hu_number_check(number[0], NULL) != HU_OK || hu_number_check(number[1], NULL) != HU_OK) continue;
    size_t n = fill_operands(&random, number[0]);
    hu_mode mode = t_policy(t_mode(t_below(&random, T_DETERMINISTIC)), t_below(&random, 4), t_below(&random, 2),
                            t_below(&random, 3));
    tame(n);
    from_binary32(number[0], mode, n);
    from_codes(&random, number[0], number[1], mode);
    i++;
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(catalogue), cmocka_unit_test(corners),
                                     cmocka_unit_test(random_systems)};
  if (argc > 1) rounds = atoi(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
