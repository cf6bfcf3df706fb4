/* SPDX-License-Identifier: MIT */
/* Number systems: texts both ways, records refused, limits, the catalogue. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "tests/number/compare.h"
#include "tests/support/cmocka.h"

/* ---- texts ---- */

static void there_and_back(hu_number n) {
  char text[HU_NUMBER_TEXT_MAX], again[HU_NUMBER_TEXT_MAX], cut[9];
  float buffer[HU_TABLE_MAX];
  hu_number back;
  size_t length = hu_number_text(text, sizeof text, n);
  assert_true(length > 0 && length < sizeof text);
  assert_int_equal(hu_number_parse(&back, text, buffer, NULL), HU_OK);
  assert_true(hu_number_equal(n, back));
  assert_int_equal(hu_number_text(again, sizeof again, back), length);
  assert_string_equal(again, text);
  assert_int_equal(hu_number_text(cut, sizeof cut, n), length);
  assert_memory_equal(cut, text, length < 8 ? length : 8);
  assert_int_equal(cut[length < 8 ? length : 8], 0);
}

static void test_texts(void **state) {
  (void)state;
  t_random random = {t_seed("number-text", 3)};
  float table[HU_TABLE_MAX];
  for (int i = 0; i < 3000; i++) there_and_back(any_number(&random, table));
  for (int i = 0; i < 300; i++) there_and_back(hu_number_float(t_random_format(&random, 1, 32)));
  static const char *const canonical[][2] = {
      {"posit16", "posit(16,2)"},
      {"posit(16,1)", "posit(16,1)"},
      {"lns8:twos", NULL},
      {"lns(8,3):twos", "lns(8,3)"},
      {"lns8_madam", "lns(8,3):unsigned"},
      {"logfixpoint16", "lns(16,8):offset"},
      {"q15", "q(0.15)"},
      {"int8", "q(7.0)"},
      {"uq(4.4):saturate", "uq(4.4)"},
      {"uq(4.4):wrap", "uq(4.4):wrap"},
      {"bf16", "fp(8,7,0)"},
      {"table(1,-0.5,.25e1,0x7FC00000)", "table(0x3f800000,0xbf000000,0x40200000,0x7fc00000)"},
      {"table(-0,1e-45):ties=low32", "table(0x80000000,0x00000001):ties=low32"},
      {"table(0,1,0.25,1):ties=given", "table(0x00000000,0x3f800000,0x3e800000,0x3f800000):ties=given"}};
  for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
    char text[HU_NUMBER_TEXT_MAX];
    float buffer[HU_TABLE_MAX];
    hu_number n;
    hu_status status = hu_number_parse(&n, canonical[i][0], buffer, NULL);
    assert_int_equal(status == HU_OK, canonical[i][1] != NULL);
    if (status != HU_OK) continue;
    assert_true(hu_number_text(text, sizeof text, n) > 0);
    assert_string_equal(text, canonical[i][1]);
  }
}

static void test_wrong_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } rows[] = {{"", HU_E_TEXT, 0},
              {"posit9", HU_E_NAME, 0},
              {"posit(33,2)", HU_E_NUMBER, 0},
              {"posit(32,6)", HU_E_NUMBER, 0},
              {"posit(08,2)", HU_E_TEXT, 6},
              {"posit(8;2)", HU_E_TEXT, 7},
              {"posit(8,2", HU_E_TEXT, 9},
              {"posit(8,2):wrap", HU_E_TEXT, 10},
              {"lns(8,7)", HU_E_NUMBER, 0},
              {"lns(32,20)", HU_E_NUMBER, 0},
              {"lns(8,3):low", HU_E_TEXT, 9},
              {"q(3,4)", HU_E_TEXT, 3},
              {"q(31.1)", HU_E_NUMBER, 0},
              {"q(0.0)", HU_E_NUMBER, 0},
              {"uq(0.0)", HU_E_NUMBER, 0},
              {"q(3.4):saturated", HU_E_TEXT, 7},
              {"table()", HU_E_TEXT, 6},
              {"table(1,)", HU_E_TEXT, 8},
              {"table(1,2", HU_E_TEXT, 8},
              {"table(1 ,2)", HU_E_TEXT, 6},
              {"table(1,0x3f80000)", HU_E_TEXT, 8},
              {"table(1,1e100)", HU_E_TEXT, 8},
              {"table(1,12345678901234567890123456789012345678901)", HU_E_TEXT, 8},
              {"table(nan)", HU_E_TEXT, 6},
              {"table(0x7fc00000)", HU_E_NUMBER, 0},
              {"table(1e39)", HU_E_NUMBER, 0},
              {"table(1):ties=odd", HU_E_TEXT, 14},
              {"table(1,2,3):ties=given", HU_E_TEXT, 18},
              {"table(1,2,2,2):ties=given", HU_E_NUMBER, 0},
              {"fp(5,x,0)", HU_E_TEXT, 5},
              {"fp(0,0,0)", HU_E_FORMAT, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    float buffer[HU_TABLE_MAX];
    hu_number n, before;
    size_t where = 999;
    memset(&n, 0x5A, sizeof n);
    before = n;
    hu_status status = hu_number_parse(&n, rows[i].text, buffer, &where);
    if (status != rows[i].status || where != rows[i].where) {
      print_message("%s: %s at %zu\n", rows[i].text, hu_status_name(status), where);
    }
    assert_int_equal(status, rows[i].status);
    assert_int_equal(where, rows[i].where);
    assert_memory_equal(&n, &before, sizeof n);
  }
  hu_number n;
  assert_int_equal(hu_number_parse(&n, "table(1)", NULL, NULL), HU_E_SPACE);
  assert_int_equal(hu_number_parse(&n, "nf4", NULL, NULL), HU_OK);
  assert_int_equal(hu_number_parse(NULL, "nf4", NULL, NULL), HU_E_NULL);
}

/* Decimal numbers against the C library's. */
static void test_decimals(void **state) {
  (void)state;
  t_random random = {t_seed("number-decimal", 9)};
  for (int i = 0; i < 40000; i++) {
    char text[128], digits[41];
    float buffer[HU_TABLE_MAX];
    hu_number n;
    unsigned count = 1 + t_below(&random, 40), point = t_below(&random, count + 1);
    for (unsigned k = 0; k < count; k++) digits[k] = (char)('0' + t_below(&random, 10));
    digits[count] = 0;
    if (i % 3 == 0) { /* halfway between two neighbours, and a digit more or less */
      double half = (double)t_float(0x3F800001 + t_below(&random, 0x7FFFFF)) + 0x1p-24;
      snprintf(text, sizeof text, "table(%.30f%c)", half, "0159"[t_below(&random, 4)]);
    } else {
      snprintf(text, sizeof text, "table(%s%.*s.%se%d)", i & 1 ? "-" : "", (int)point, digits, digits + point,
               t_between(&random, -44, 38 - (int)point));
    }
    hu_status status = hu_number_parse(&n, text, buffer, NULL);
    float expected = strtof(text + 6, NULL);
    if (isinf(expected)) {
      assert_int_equal(status, HU_E_NUMBER);
    } else {
      if (status != HU_OK || !t_same32(buffer[0], expected))
        fail_msg("%s: %a, not %a", text, (double)buffer[0], (double)expected);
    }
  }
}

/* ---- records ---- */

static void test_checks(void **state) {
  (void)state;
  float values[4] = {1, 2, 1.5f, 2}, bad[2] = {1, INFINITY}, nans[1] = {NAN};
  hu_number wrong[] = {hu_number_posit(1, 0),       hu_number_posit(33, 2),         hu_number_posit(8, 6),
                       hu_number_posit(300, 2),     hu_number_lns(2, 0, 0),         hu_number_lns(8, 7, 0),
                       hu_number_lns(16, 3, 0),     hu_number_lns(16, 5, 2),        hu_number_lns(8, 3, 3),
                       hu_number_fixed(1, 0, 0, 0), hu_number_fixed(0, 33, 0, 0),   hu_number_fixed(1, 31, 1, 0),
                       hu_number_fixed(1, 3, 4, 2), hu_number_table(0, values, 0),  hu_number_table(257, values, 0),
                       hu_number_table(2, NULL, 0), hu_number_table(2, values, 4),  hu_number_table(2, bad, 0),
                       hu_number_table(1, nans, 0), hu_number_table(129, values, 3)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const char *why = NULL;
    uint32_t events = 0;
    hu_mode rne = {0};
    assert_int_equal(hu_number_check(wrong[i], &why), HU_E_NUMBER);
    assert_true(why && strchr(why, ':'));
    assert_int_equal(hu_number_text(NULL, 0, wrong[i]), 0);
    assert_int_equal(hu_number_limits_of(wrong[i]).width, 0);
    assert_int_equal(hu_number_encode(wrong[i], rne, 1, 0, &events), 0);
    assert_int_equal(events, HU_EVENT_INVALID);
    assert_true(isnan(hu_number_decode64(wrong[i], 1)) && isnan(hu_number_decode(wrong[i], 1)));
  }
  assert_int_equal(hu_number_check(hu_number_table(2, values, HU_TIES_GIVEN), NULL), HU_OK);
  hu_number n = hu_number_posit(8, 2);
  n.ties = 1;
  assert_int_equal(hu_number_check(n, NULL), HU_E_NUMBER);
  n = hu_number_posit(8, 2);
  n.format = hu_format_ieee(5, 10, 0);
  assert_int_equal(hu_number_check(n, NULL), HU_E_NUMBER);
  n = hu_number_fixed(1, 3, 4, 0);
  n.table = values;
  assert_int_equal(hu_number_check(n, NULL), HU_E_NUMBER);
  n.kind = HU_NUMBER_KINDS;
  assert_int_equal(hu_number_check(n, NULL), HU_E_NUMBER);
  n = hu_number_float(hu_format_ieee(12, 3, 0));
  assert_int_equal(hu_number_check(n, NULL), HU_E_FORMAT);
}

static void limits_hold(hu_number n) {
  hu_number_limits limits = hu_number_limits_of(n);
  double max = -INFINITY, low = INFINITY, min = INFINITY;
  int zero = 0, nan = 0;
  if (limits.width > 16) return;
  for (uint32_t c = 0; c < 1u << limits.width; c++) {
    double v = hu_number_decode64(n, c);
    if (isnan(v)) nan |= n.kind != HU_NUMBER_TABLE || c < n.count;
    if (!isfinite(v)) continue;
    max = fmax(max, v);
    low = fmin(low, v);
    if (v > 0) min = fmin(min, v);
    zero |= v == 0;
  }
  assert_true(limits.max == max && limits.low == low && limits.min == (min < INFINITY ? min : 0));
  assert_int_equal(limits.has_zero, zero);
  assert_int_equal(limits.has_nan, nan);
  assert_true(hu_number_decode64(n, limits.max_code) == max && hu_number_decode64(n, limits.low_code) == low);
  assert_int_equal(limits.min_code == HU_NO_CODE, !(min < INFINITY));
  if (zero) assert_true(hu_number_decode64(n, limits.zero_code) == 0);
  if (nan) assert_true(isnan(hu_number_decode64(n, limits.nan_code)));
}

static void test_limits(void **state) {
  (void)state;
  t_random random = {t_seed("number-limits", 4)};
  float table[HU_TABLE_MAX];
  for (int i = 0; i < 400; i++) limits_hold(any_number(&random, table));
  for (size_t i = t_next_format(0, 8); i < hu_format_count(); i = t_next_format(i + 1, 8)) {
    limits_hold(hu_number_float(hu_format_at(i).format));
  }
}

static void test_catalogue(void **state) {
  (void)state;
  for (size_t i = 0; i < hu_number_count(); i++) {
    hu_number_entry entry = hu_number_at(i);
    hu_number n;
    assert_true(strlen(entry.name) > 1 && strlen(entry.source) > 5 && entry.open);
    assert_int_equal(hu_number_check(entry.number, NULL), HU_OK);
    assert_int_equal(hu_number_find(&n, entry.name), HU_OK);
    assert_true(hu_number_equal(n, entry.number));
    const char *id = hu_number_id(n);
    assert_non_null(id);
    if (strcmp(entry.name, "posit32_es2") != 0) assert_string_equal(id, entry.name);
    limits_hold(n);
    there_and_back(n);
  }
  hu_number n;
  assert_null(hu_number_at(hu_number_count()).name);
  assert_int_equal(hu_number_find(&n, "nobody"), HU_E_NAME);
  assert_int_equal(hu_number_find(&n, "e4m3fn"), HU_OK);
  assert_string_equal(hu_number_id(n), "float8_e4m3fn");
  assert_null(hu_number_id(hu_number_posit(7, 3)));
}

/* Kind float is scalar.h's. Unsigned integers are fixed point, but for what they call subnormal. */
static void test_same_as_formats(void **state) {
  (void)state;
  t_random random = {t_seed("number-float", 8)};
  hu_number u8 = hu_number_fixed(0, 8, 0, HU_FIXED_SATURATE);
  hu_format uint8;
  assert_int_equal(hu_format_find(&uint8, "uint8"), HU_OK);
  for (int i = 0; i < 20000; i++) {
    hu_format format = t_random_format(&random, 1, 32);
    hu_mode mode = t_random_mode(&random);
    double x = t_random_operand(&random, format);
    uint32_t R = t_next32(&random), a, b;
    assert_int_equal(hu_number_encode64(hu_number_float(format), mode, x, R, &a), hu_encode64(format, mode, x, R, &b));
    assert_int_equal(a, b);
    assert_true(t_same64(hu_number_decode64(hu_number_float(format), R), hu_decode64(format, R)));
    assert_true(t_same32(hu_number_decode(hu_number_float(format), R), hu_decode(format, R)));
    if (i % 4 == 0) x = t_between(&random, -20, 600) / 2.0;
    assert_int_equal(hu_number_encode64(u8, mode, x, R, &a), hu_encode64(uint8, mode, x, R, &b));
    if (isfinite(x)) assert_int_equal(a, b & ~(uint32_t)(HU_EVENT_SUBNORMAL | HU_EVENT_UNDERFLOW));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts),          cmocka_unit_test(test_wrong_texts),
                                     cmocka_unit_test(test_decimals),       cmocka_unit_test(test_checks),
                                     cmocka_unit_test(test_limits),         cmocka_unit_test(test_catalogue),
                                     cmocka_unit_test(test_same_as_formats)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
