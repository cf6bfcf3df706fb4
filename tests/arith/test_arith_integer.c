/* SPDX-License-Identifier: MIT */
/* Conversions to and from integers and the remainder against the oracle, results and events.
 *
 * to         every catalogue format of up to 8 bits: all codes, all modes, integers of 1 to 10, 32 and 64 digits,
 *            signed and unsigned, every rule, exact and not; wide formats at random, values around the types' ends
 * from       every small format: all integers of -600 to 600, modes by turns; wide ones with integers of all sizes
 * remainder  every catalogue format of up to 6 bits: all pairs, modes by turns, of up to 8 bits every fifth pair; three
 *            formats of any width at random */
#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static unsigned width_of(hu_format format) { return (unsigned)format.sign + format.e + format.m; }

static hu_mode mode_at(t_random *random, unsigned round) {
  hu_mode mode = round < HU_SRA ? t_mode(round) : t_stochastic(round, 1 + t_below(random, t_below(random, 2) ? 4 : 32));
  return t_policy(mode, t_below(random, 4), t_below(random, 2), t_below(random, 3));
}

/* ---- To an integer. */

static void check_to(hu_integer type, hu_mode mode, uint32_t random, hu_format format, uint32_t code) {
  hu_oracle_code x = {format, code};
  uint64_t expected = 0;
  uint32_t expected_events = 0, events = 0xDEAD;
  assert_int_equal(hu_oracle_to_integer(&expected, &expected_events, type.width, type.is_signed, type.invalid,
                                        type.exact, mode, random, x),
                   HU_OK);
  uint64_t got = hu_to_integer(type, mode, format, code, random, &events);
  if (got == expected && events == expected_events) return;
  char text[T_FORMAT_TEXT], m[T_MODE_TEXT];
  fail_msg("%#x of %s, %s, R=%#x, to %c%u, rule %u: %#llx %#x, oracle %#llx %#x", code, t_format_text(text, format),
           t_mode_text(m, mode), random, type.is_signed ? 'i' : 'u', type.width, type.invalid, (unsigned long long)got,
           events, (unsigned long long)expected, expected_events);
}

static hu_integer type_at(unsigned i) {
  static const uint8_t widths[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 32, 64};
  hu_integer type = {widths[i % 12], (uint8_t)(i / 12 % 2), (uint8_t)(i / 24 % 3), (uint8_t)(i / 72 % 2)};
  return type;
}

static void test_to(void **state) {
  (void)state;
  t_random numbers = {t_seed("arith_integer", 31)};
  uint64_t count = 0;
  for (size_t i = t_next_format(0, 8); i < hu_format_count(); i = t_next_format(i + 1, 8)) {
    hu_format format = hu_format_at(i).format;
    for (uint32_t code = 0; code < 1u << width_of(format); code++) {
      for (unsigned round = 0; round < HU_ROUND_COUNT; round++) {
        hu_mode mode = mode_at(&numbers, round);
        uint32_t random = t_next32(&numbers);
        for (unsigned k = code % 5; k < 144; k += 5, count++) check_to(type_at(k), mode, random, format, code);
      }
    }
  }
  print_message("%llu conversions of all codes\n", (unsigned long long)count);
}

/* A code of a wide format near 2^k, 2^k + 1/2, ... on either side of zero. */
static uint32_t near_an_end(t_random *random, hu_format format, unsigned width) {
  double end = (double)(UINT64_C(1) << (width - 1)) * (double)(1 + t_below(random, 2)),
         near = 0.25 * t_between(random, -9, 9);
  double v = t_below(random, 8) ? end + near : near;
  if (t_below(random, 2)) v = -v;
  uint32_t code = hu_encode64(format, t_mode(t_below(random, 8)), v, 0, NULL);
  return t_below(random, 4) ? code : t_next32(random);
}

static void test_to_wide(void **state) {
  (void)state;
  t_random random = {t_seed("arith_integer_wide", 32)};
  for (unsigned k = 0; k < t_runs(600000); k++) {
    hu_format format = k % 3 == 0 ? hu_binary32() : k % 3 == 1 ? t_random_format(&random, 9, 32) : hu_bfloat16();
    hu_integer type = {(uint8_t)t_between(&random, 1, 64), (uint8_t)t_below(&random, 2), (uint8_t)t_below(&random, 3),
                       (uint8_t)t_below(&random, 2)};
    if (k % 4 == 0) type.width = (uint8_t)(8u << t_below(&random, 4));
    hu_mode mode = mode_at(&random, t_below(&random, HU_ROUND_COUNT));
    check_to(type, mode, t_next32(&random), format, near_an_end(&random, format, type.width));
  }
}

/* ---- From an integer. */

static void check_from(hu_format format, hu_mode mode, int is_signed, uint64_t x, uint32_t random) {
  uint32_t expected = 0, expected_events = 0, events = 0xDEAD;
  assert_int_equal(hu_oracle_from_integer(&expected, &expected_events, format, mode, is_signed, x, random), HU_OK);
  uint32_t got = is_signed ? hu_from_signed(format, mode, (int64_t)x, random, &events)
                           : hu_from_unsigned(format, mode, x, random, &events);
  char text[T_FORMAT_TEXT], m[T_MODE_TEXT];
  if (got != expected || events != expected_events)
    fail_msg("%#llx (%s) into %s, %s, R=%#x: %#x %#x, oracle %#x %#x", (unsigned long long)x,
             is_signed ? "signed" : "unsigned", t_format_text(text, format), t_mode_text(m, mode), random, got, events,
             expected, expected_events);
}

static void test_from(void **state) {
  (void)state;
  t_random random = {t_seed("arith_from", 33)};
  for (size_t i = t_next_format(0, 8); i < hu_format_count(); i = t_next_format(i + 1, 8)) {
    hu_format format = hu_format_at(i).format;
    for (int x = -600; x <= 600; x++) {
      hu_mode mode = mode_at(&random, (unsigned)(x + 600) % HU_ROUND_COUNT);
      check_from(format, mode, 1, (uint64_t)(int64_t)x, t_next32(&random));
      if (x >= 0) check_from(format, mode, 0, (uint64_t)x, t_next32(&random));
    }
  }
  for (unsigned k = 0; k < t_runs(400000); k++) {
    uint64_t x = t_next64(&random) >> t_below(&random, 64);
    if (t_below(&random, 4) == 0) x = (UINT64_C(1) << t_below(&random, 64)) + t_below(&random, 5) - 2;
    hu_format format = k % 2 ? hu_binary32() : t_random_format(&random, 9, 32);
    hu_mode mode = mode_at(&random, t_below(&random, HU_ROUND_COUNT));
    check_from(format, mode, (int)t_below(&random, 2), t_below(&random, 2) ? x : 0 - x, t_next32(&random));
  }
}

/* ---- Remainder. */

static void check_remainder(hu_format fz, hu_mode mode, uint32_t random, const hu_oracle_code *x) {
  uint32_t expected = 0, expected_events = 0, events = 0xDEAD;
  assert_int_equal(hu_oracle_remainder(&expected, &expected_events, fz, mode, random, x), HU_OK);
  uint32_t got = hu_remainder(fz, mode, x[0].format, x[0].code, x[1].format, x[1].code, random, &events);
  char text[3][T_FORMAT_TEXT], m[T_MODE_TEXT];
  if (got != expected || events != expected_events)
    fail_msg("%#x of %s, %#x of %s into %s, %s: %#x %#x, oracle %#x %#x", x[0].code,
             t_format_text(text[0], x[0].format), x[1].code, t_format_text(text[1], x[1].format),
             t_format_text(text[2], fz), t_mode_text(m, mode), got, events, expected, expected_events);
}

static void test_remainder(void **state) {
  (void)state;
  t_random random = {t_seed("arith_remainder", 34)};
  uint64_t count = 0;
  for (size_t i = t_next_format(0, 8); i < hu_format_count(); i = t_next_format(i + 1, 8)) {
    hu_format format = hu_format_at(i).format;
    uint32_t codes = 1u << width_of(format), step = width_of(format) > 6 ? 5 : 1;
    for (uint32_t ab = 0; ab < codes * codes; ab += step, count++) {
      hu_oracle_code x[2] = {{format, ab / codes}, {format, ab % codes}};
      check_remainder(format, mode_at(&random, (unsigned)(count % HU_ROUND_COUNT)), t_next32(&random), x);
    }
  }
  for (unsigned k = 0; k < t_runs(300000); k++, count++) {
    hu_format fz = t_random_format(&random, 2, 32);
    hu_oracle_code x[2] = {{k % 2 ? t_random_format(&random, 2, 32) : hu_binary32(), t_next32(&random)},
                           {k % 3 ? t_random_format(&random, 2, 32) : hu_binary32(), t_next32(&random)}};
    if (k % 3 == 0) { /* of values alike, so that quotients are small and ties occur */
      uint32_t u = 0x3F800000u + (t_below(&random, 64) << 20);
      x[0].format = x[1].format = hu_binary32();
      x[0].code = u;
      x[1].code = 0x3F800000u + (t_below(&random, 64) << 20);
    }
    check_remainder(fz, mode_at(&random, t_below(&random, HU_ROUND_COUNT)), t_next32(&random), x);
  }
  print_message("%llu remainders\n", (unsigned long long)count);
}

/* ---- Single cases. */

static void test_cases(void **state) {
  (void)state;
  hu_format half = hu_binary16(), bad = half;
  hu_mode rne = t_mode(HU_RNE), rtz = t_mode(HU_RTZ), wrong = t_mode(99);
  hu_integer i32 = {32, 1, HU_INTEGER_RISCV, 1}, u32 = {32, 0, HU_INTEGER_RISCV, 1}, i8 = {8, 1, HU_INTEGER_ARM, 0};
  uint32_t e = 0;
  bad.m = 31;
  assert_int_equal(hu_to_integer(i32, rne, half, 0x4100, 0, &e), 2); /* 2.5 */
  assert_int_equal(e, HU_EVENT_INEXACT);
  assert_int_equal((int64_t)hu_to_integer(i32, rtz, half, 0xC100, 0, &e), -2);
  assert_int_equal(e, HU_EVENT_INEXACT);
  assert_int_equal(hu_to_integer(u32, rtz, half, 0xB800, 0, &e), 0); /* -0.5 toward zero is of the type */
  assert_int_equal(e, HU_EVENT_INEXACT | HU_EVENT_TO_ZERO);
  assert_int_equal(hu_to_integer(u32, rne, half, 0xBC00, 0, &e), 0); /* -1 is not */
  assert_int_equal(e, HU_EVENT_INVALID);
  assert_int_equal(hu_to_integer(i32, rne, half, 0x7E00, 0, &e), 0x7FFFFFFF);
  assert_int_equal(e, HU_EVENT_INVALID | HU_EVENT_NAN_IN);
  assert_int_equal(hu_to_integer(u32, rne, half, 0x7C00, 0, &e), 0xFFFFFFFF);
  assert_int_equal(e, HU_EVENT_INVALID | HU_EVENT_INF_IN);
  assert_int_equal(hu_to_integer(i8, rne, half, 0x7E00, 0, &e), 0);
  assert_int_equal((int64_t)hu_to_integer(i8, rne, half, 0xD810, 0, &e), -128); /* -130 */
  assert_int_equal(e, HU_EVENT_INVALID);
  assert_int_equal(hu_to_integer(i8, rne, half, 0x4100, 0, &e), 2);
  assert_int_equal(e, 0);
  i8.invalid = HU_INTEGER_X86;
  assert_int_equal((int64_t)hu_to_integer(i8, rne, half, 0x5810, 0, &e), -128); /* 130 */
  i8.width = 65;
  assert_int_equal(hu_to_integer(i8, rne, half, 0x3C00, 0, &e), 0);
  assert_int_equal(e, HU_EVENT_INVALID);
  assert_int_equal(hu_to_integer(i32, wrong, half, 0x3C00, 0, &e) + hu_to_integer(i32, rne, bad, 0x3C00, 0, NULL), 0);
  assert_int_equal(hu_from_signed(half, rne, -3, 0, NULL), 0xC200);
  assert_int_equal(hu_from_unsigned(half, rne, 65520, 0, &e), 0x7C00);
  assert_int_equal(e, HU_EVENT_OVERFLOW | HU_EVENT_INEXACT);
  assert_int_equal(hu_from_signed(bad, rne, 1, 0, &e) + hu_from_unsigned(half, wrong, 1, 0, &e), 0);
  assert_int_equal(hu_remainder(half, rne, half, 0x4500, half, 0x4000, 0, &e), 0x3C00); /* 5 by 2: n = 2, 1 */
  assert_int_equal(hu_remainder(half, rne, half, 0x4700, half, 0x4000, 0, &e), 0xBC00); /* 7 by 2: n = 4, -1 */
  assert_int_equal(hu_remainder(half, rne, half, 0xC400, half, 0x4000, 0, &e), 0x8000); /* -4 by 2: -0 */
  assert_int_equal(hu_remainder(half, rne, half, 0x0001, half, 0xFC00, 0, &e), 0x0001);
  assert_int_equal(e, HU_EVENT_INF_IN | HU_EVENT_SUBNORMAL);
  assert_int_equal(hu_remainder(half, rne, half, 0x3C00, half, 0x8000, 0, &e), 0x7E00);
  assert_int_equal(e, HU_EVENT_INVALID);
  assert_int_equal(hu_remainder(bad, rne, half, 0x3C00, half, 0x3C00, 0, &e), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_to),
                                     cmocka_unit_test(test_to_wide), cmocka_unit_test(test_from),
                                     cmocka_unit_test(test_remainder)};
  return cmocka_run_group_tests_name("integers and remainders", tests, NULL, NULL);
}
