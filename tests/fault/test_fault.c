/* SPDX-License-Identifier: MIT */
/* The core against the oracle in a few seconds, on formats and modes that reach every line of it. Built once as it is,
 * when it must pass, and once with each planted fault, when it must not. */
#include <string.h>

#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "emu/core/round.h"
#include "tests/arith/operations.h"
#include "tests/support/support.h"

static const char *const names[] = {
    "float8_e4m3fn", "float8_e5m2",     "float8_e4m3fnuz", "float8_e8m0fnu",     "binary8p4se", "float4_e3m0",
    "dlfloat16",     "fp(4,3,0):flush", "fp(5,2,0):nosub", "fp(3,2,0):unsigned", "bfloat16",    "fp(4,3,4):finite",
};

static void check(hu_format format, hu_mode mode, double x, uint32_t r) {
  uint32_t code, events, expected, expected_events;
  assert_int_equal(hu_oracle_encode64(&expected, &expected_events, format, mode, x, r), HU_OK);
  code = hu_encode64(format, mode, x, r, &events);
  if (code != expected || events != expected_events) {
    char text[T_FORMAT_TEXT], m[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
    fail_msg("%s, %s, %a, R = %x: code %x (%s), oracle %x (%s)", t_format_text(text, format), t_mode_text(m, mode), x,
             r, code, t_events_text(a, events), expected, t_events_text(b, expected_events));
  }
}

/* A number of any digits within the range of a format. */
static double within_range(t_random *random, hu_format format) {
  hu_limits limits = hu_limits_of(format);
  uint64_t field = (uint64_t)(1023 + t_between(random, limits.emin, limits.emax));
  return t_double((t_next64(random) & 0x800FFFFFFFFFFFFFu) | field << 52);
}

static void test_encode(void **state) {
  (void)state;
  t_random random = {t_seed("fault", 1)};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hu_format format;
    assert_int_equal(hu_format_parse(&format, names[i], NULL), HU_OK);
    for (int k = 0; k < 4000; k++) {
      hu_mode mode = t_random_mode(&random);
      if (mode.bits > 6) mode.bits = (uint8_t)(1 + mode.bits % 6);
      double x = t_random_operand(&random, format);
      /* Stochastic modes: often no digit behind the random ones but the next, a tie for C. */
      if (mode.bits && k % 2)
        x = t_double(t_bits64(within_range(&random, format)) & ~(uint64_t)0 << (51 - format.m - mode.bits));
      check(format, mode, x, t_next32(&random));
    }
  }
}

static void test_decode(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hu_format format;
    double expected;
    assert_int_equal(hu_format_parse(&format, names[i], NULL), HU_OK);
    for (uint32_t c = 0; c < 256; c++) {
      assert_int_equal(hu_oracle_decode64(&expected, format, c), HU_OK);
      assert_true(t_same64(hu_decode64(format, c), expected));
    }
  }
}

/* Digits lost below a long significand: sticky says what a one far below would say. */
static void test_sticky(void **state) {
  (void)state;
  t_random numbers = {t_seed("sticky", 2)};
  for (int k = 0; k < 200000; k++) {
    hu_format format = hu_format_at(t_below(&numbers, 30)).format;
    hu_mode mode = t_random_mode(&numbers);
    if (format.m > 23 || hu_limits_of(format).width > 19) continue;
    if (mode.bits > 20) mode.bits = 20;
    hu_spec spec = hui_spec_of(format, mode);
    uint64_t kept = t_next64(&numbers) >> 63 << 40 | (t_next64(&numbers) & ~(uint64_t)0xFF);
    if (k % 2) kept &= ~(uint64_t)0 << (63 - format.m - (int)t_below(&numbers, 2)); /* often just a tie, or exact */
    uint32_t random = t_next32(&numbers), e1, e2;
    int32_t exp = spec.emin - 63 + t_between(&numbers, -2, 6);
    hu_num x = hui_num_finite(t_below(&numbers, 2), kept | (uint64_t)1 << 63, exp), y = x;
    x.sticky = 1;
    y.sig |= 1;
    assert_int_equal(hui_round(&spec, x, random, &e1), hui_round(&spec, y, random, &e2));
    assert_int_equal(e1, e2);
  }
}

/* Sums, quotients, roots and their kin: near cancellation, far apart, and with zeros. */
static void test_arith(void **state) {
  (void)state;
  t_random random = {t_seed("arith", 3)};
  for (int k = 0; k < 120000; k++) {
    hu_oracle_code x[3];
    hu_format format;
    assert_int_equal(hu_format_parse(&format, names[t_below(&random, sizeof names / sizeof *names)], NULL), HU_OK);
    for (int i = 0; i < 3; i++) {
      x[i].format = format;
      x[i].code = t_below(&random, 6)                  ? t_next32(&random)
                  : format.sign && t_below(&random, 2) ? 1u << (format.e + format.m)
                                                       : 0;
    }
    hu_mode mode = t_random_mode(&random);
    if (mode.bits > 6) mode.bits = (uint8_t)(1 + mode.bits % 6);
    ar_check(k % HU_ORACLE_OPERATIONS, format, mode, t_next32(&random), x);
  }
}

static void test_words(void **state) {
  (void)state;
  hu_stream zero = {0, 0};
  assert_int_equal(hu_stream_word(zero, 0), 0x6627e8d5);
  assert_int_equal(hu_stream_word(zero, 3), 0x9b00dbd8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_encode), cmocka_unit_test(test_decode),
                                     cmocka_unit_test(test_sticky), cmocka_unit_test(test_words),
                                     cmocka_unit_test(test_arith)};
  return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
