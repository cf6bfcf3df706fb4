/* SPDX-License-Identifier: MIT */
/* hu_format_check: each of its sentences once, named after the axis that is wrong. hu_limits_of: against an
 * enumeration of all codes by hu_decode64. The constructors of halfulp/format.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

typedef struct wrong {
  const char *axis; /* what the sentence begins with, up to its colon */
  hu_format f;
} wrong;

/* Fields in the order of the record: sign e m zero subnormal inf nan negzero overflow negative b. */
static const wrong wrongs[] = {
    /* values that no axis has */
    {"sign", {2, 4, 3, 0, 0, 1, 1, 1, 0, 0, 0}},
    {"e", {1, 12, 3, 0, 0, 1, 1, 1, 0, 0, 0}},
    {"m", {1, 1, 31, 0, 0, 0, 0, 1, 2, 0, 0}},
    {"m", {1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0}},
    {"e", {1, 8, 24, 0, 0, 1, 1, 1, 0, 0, 0}},
    {"zero", {1, 4, 3, 3, 0, 1, 1, 1, 0, 0, 0}},
    {"subnormal", {1, 4, 3, 0, 3, 1, 1, 1, 0, 0, 0}},
    {"inf", {1, 4, 3, 0, 0, 3, 1, 1, 0, 0, 0}},
    {"nan", {1, 4, 3, 0, 0, 1, 6, 1, 0, 0, 0}},
    {"negzero", {1, 4, 3, 0, 0, 1, 1, 2, 0, 0, 0}},
    {"overflow", {1, 4, 3, 0, 0, 1, 1, 1, 3, 0, 0}},
    {"negative", {1, 4, 3, 0, 0, 1, 1, 1, 0, 3, 0}},
    /* zero and subnormals */
    {"subnormal", {1, 4, 3, HU_ZERO_CODE, HU_SUBNORMAL_GRADUAL, 0, HU_NAN_ONES, 1, 1, 0, 0}},
    {"zero", {1, 4, 3, HU_ZERO_NONE, HU_SUBNORMAL_NONE, 0, HU_NAN_ONES, 0, 1, 0, 0}},
    {"subnormal", {0, 4, 3, HU_ZERO_NONE, HU_SUBNORMAL_FLUSH, 0, HU_NAN_TOP, 0, 1, 0, 0}},
    {"zero", {1, 0, 3, HU_ZERO_CODE, HU_SUBNORMAL_FLUSH, 0, 0, 1, 2, 0, 0}},
    {"subnormal", {1, 0, 3, 0, HU_SUBNORMAL_FLUSH, 0, 0, 1, 2, 0, 0}},
    {"negzero", {0, 4, 3, 0, 0, 1, 1, 1, 0, 0, 0}},
    /* infinities and NaN */
    {"inf", {1, 0, 3, 0, 0, HU_INF_IEEE, 0, 1, 0, 0, 0}},
    {"nan", {1, 0, 3, 0, 0, 0, HU_NAN_IEEE, 1, 1, 0, 0}},
    {"nan", {1, 4, 3, 0, 0, HU_INF_IEEE, HU_NAN_ONES, 1, 0, 0, 0}},
    {"nan", {1, 4, 0, 0, 0, HU_INF_IEEE, HU_NAN_ONES, 1, 0, 0, 0}},
    {"nan", {1, 4, 3, 0, 0, HU_INF_TOP, HU_NAN_IEEE, 1, 0, 0, 0}},
    {"nan", {0, 4, 3, 0, 0, 0, HU_NAN_ONES, 0, 1, 0, 0}},
    {"nan", {1, 4, 3, 0, 0, 0, HU_NAN_TOP, 1, 1, 0, 0}},
    {"negzero", {1, 4, 3, 0, 0, 0, HU_NAN_NEGZERO, 1, 1, 0, 0}},
    {"overflow", {1, 4, 3, 0, 0, 0, HU_NAN_ONES, 1, HU_OVERFLOW_INF, 0, 0}},
    {"overflow", {1, 4, 3, 0, 0, 0, HU_NAN_NONE, 1, HU_OVERFLOW_NAN, 0, 0}},
    {"negative", {1, 4, 3, 0, 0, 1, 1, 1, 0, HU_NEGATIVE_LOW, 0}},
    /* range */
    {"e", {1, 1, 0, 0, 0, HU_INF_IEEE, 0, 1, 0, 0, 0}},
    {"b", {1, 4, 3, 0, 0, 1, 1, 1, 0, 0, 1100}},
    {"b", {1, 4, 3, 0, 0, 1, 1, 1, 0, 0, -1100}},
    {"b", {1, 4, 3, 0, 0, 1, 1, 1, 0, 0, INT16_MAX}},
    {"b", {1, 4, 3, 0, 0, 1, 1, 1, 0, 0, INT16_MIN}},
};
#define WRONGS (sizeof wrongs / sizeof wrongs[0])

static void each_axis_is_named(void **state) {
  (void)state;
  size_t sentences = 0;
  const char *seen[WRONGS];
  for (size_t i = 0; i < WRONGS; i++) {
    const char *axis = "untouched";
    char text[T_FORMAT_TEXT];
    hu_status s = hu_format_check(wrongs[i].f, &axis);
    size_t n = strlen(wrongs[i].axis);
    if (s != HU_E_FORMAT || strncmp(axis, wrongs[i].axis, n) != 0 || axis[n] != ':')
      fail_msg("%s: %s, \"%s\", not %s", t_format_text(text, wrongs[i].f), hu_status_name(s), axis, wrongs[i].axis);
    assert_int_equal(hu_format_check(wrongs[i].f, NULL), HU_E_FORMAT);
    size_t k = 0;
    while (k < sentences && strcmp(seen[k], axis) != 0) k++;
    if (k == sentences) seen[sentences++] = axis;
  }
  print_message("%zu wrong descriptors, %zu sentences\n", WRONGS, sentences);
  assert_true(sentences >= 32);
}

static void wrong_descriptors_are_empty(void **state) {
  (void)state;
  hu_limits none;
  memset(&none, 0, sizeof none);
  for (size_t i = 0; i < WRONGS; i++) {
    hu_limits l = hu_limits_of(wrongs[i].f);
    char text[8] = "kept";
    assert_memory_equal(&l, &none, sizeof l);
    assert_int_equal(hu_format_fits_binary32(wrongs[i].f), 0);
    assert_int_equal(hu_format_text(text, sizeof text, wrongs[i].f), 0);
    assert_string_equal(text, "kept");
    assert_null(hu_format_id(wrongs[i].f));
  }
}

static void good_descriptors_keep_axis(void **state) {
  (void)state;
  for (size_t i = 0; i < hu_format_count(); i++) {
    const char *axis = "untouched";
    assert_int_equal(hu_format_check(hu_format_at(i).format, &axis), HU_OK);
    assert_string_equal(axis, "untouched");
  }
}

/* Equality looks at every field. */
static void equality(void **state) {
  (void)state;
  hu_format f = hu_float8_e4m3fn();
  assert_int_equal(hu_format_equal(f, hu_float8_e4m3fn()), 1);
  for (unsigned i = 0; i < 11; i++) {
    hu_format g = f;
    uint8_t *fields[10] = {&g.sign, &g.e,   &g.m,       &g.zero,     &g.subnormal,
                           &g.inf,  &g.nan, &g.negzero, &g.overflow, &g.negative};
    if (i < 10)
      ++*fields[i];
    else
      g.b = 256; /* its low byte is that of 0 */
    assert_int_equal(hu_format_equal(f, g), 0);
    assert_int_equal(hu_format_equal(g, f), 0);
  }
}

typedef struct t_tally {
  uint64_t nan, inf, finite;
  double max, min, low;
  uint32_t max_code, min_code, inf_code;
} t_tally;

/* A code that is read as the value of another: no zero of its own, or a subnormal that the format lacks. */
static int is_duplicate(hu_format f, hu_limits l, uint32_t code, double x) {
  uint32_t magnitude = code & ~l.sign_mask;
  if (x == 0) return magnitude != 0 || (code != 0 && !f.negzero);
  return 0;
}

static t_tally enumerate(hu_format f, hu_limits l) {
  t_tally t;
  memset(&t, 0, sizeof t);
  t.inf_code = t.max_code = t.min_code = HU_NO_CODE;
  t.max = -INFINITY;
  t.min = t.low = INFINITY;
  for (uint32_t code = 0; code < 1u << l.width; code++) {
    double x = hu_decode64(f, code);
    if (isnan(x)) {
      t.nan++;
    } else if (isinf(x)) {
      t.inf++;
      if (x > 0) t.inf_code = code;
    } else if (!is_duplicate(f, l, code, x)) {
      t.finite++;
      if (x > t.max) t.max = x, t.max_code = code;
      if (x > 0 && x < t.min) t.min = x, t.min_code = code;
      if (x < t.low) t.low = x;
    }
  }
  return t;
}

static void check_limits(hu_format f) {
  char text[T_FORMAT_TEXT];
  hu_limits l = hu_limits_of(f);
  t_tally t = enumerate(f, l);
  int same = l.finite_codes == t.finite && l.nan_codes == t.nan && l.max_code == t.max_code &&
             l.min_code == t.min_code && l.inf_code == t.inf_code && t_same64(l.max, t.max) && t_same64(l.min, t.min);
  if (!same)
    fail_msg("%s: finite %llu, NaN %llu, max 0x%X %a, min 0x%X %a; enumeration %llu, %llu, 0x%X %a, 0x%X %a",
             t_format_text(text, f), (unsigned long long)l.finite_codes, (unsigned long long)l.nan_codes, l.max_code,
             l.max, l.min_code, l.min, (unsigned long long)t.finite, (unsigned long long)t.nan, t.max_code, t.max,
             t.min_code, t.min);
  if (l.low != t.low) fail_msg("%s: low %a, not %a", t_format_text(text, f), l.low, t.low);
  assert_int_equal(t.inf, (f.inf != HU_INF_NONE) << f.sign);
  assert_int_equal(l.has_nan, t.nan > 0);
  if (l.has_nan) assert_true(isnan(hu_decode64(f, l.nan_code)));
  if (l.min_normal_code != HU_NO_CODE) assert_true(t_same64(hu_decode64(f, l.min_normal_code), l.min_normal));
  assert_int_equal(l.emax, ilogb(l.max));
  assert_int_equal(l.storage, l.width <= 8 ? 8 : l.width <= 16 ? 16 : 32);
}

static void limits_of_catalogue(void **state) {
  (void)state;
  size_t formats = 0;
  for (size_t i = t_next_format(0, 16); i < hu_format_count(); i = t_next_format(i + 1, 16), formats++)
    check_limits(hu_format_at(i).format);
  print_message("%zu formats of up to 16 bits, every code\n", formats);
  assert_true(formats > 150);
}

static void limits_of_random_formats(void **state) {
  (void)state;
  t_random r = {t_seed("limits_of_random_formats", 11)};
  enum { COUNT = 20000 };
  for (int i = 0; i < COUNT; i++) check_limits(t_random_format(&r, 1, 10));
  print_message("%d random formats of 1 to 10 bits, every code\n", COUNT);
}

static void fits_binary32(void **state) {
  (void)state;
  t_random r = {t_seed("fits_binary32", 12)};
  unsigned fit = 0;
  enum { COUNT = 5000 };
  for (int i = 0; i < COUNT; i++) {
    hu_format f = t_random_format(&r, 1, 10);
    hu_limits l = hu_limits_of(f);
    int exact = 1;
    for (uint32_t code = 0; code < 1u << l.width; code++) {
      double x = hu_decode64(f, code);
      if (!isnan(x) && (double)(float)x != x) exact = 0;
    }
    char text[T_FORMAT_TEXT];
    if (hu_format_fits_binary32(f) != exact) fail_msg("%s: exact in binary32 is %d", t_format_text(text, f), exact);
    fit += (unsigned)exact;
  }
  print_message("%u of %d random formats fit binary32\n", fit, COUNT);
  assert_true(fit > 100 && fit < COUNT - 100);
  assert_int_equal(hu_format_fits_binary32(hu_binary32()), 1);
  assert_int_equal(hu_format_fits_binary32(hu_format_ieee(8, 23, 1)), 0);
  assert_int_equal(hu_format_fits_binary32(hu_format_ieee(8, 23, -1)), 0);
  assert_int_equal(hu_format_fits_binary32(hu_format_finite(4, 24, 0)), 0);
}

/* Arguments out of range make a descriptor that is refused, not one that wrapped around. */
static void constructors_do_not_wrap(void **state) {
  (void)state;
  const hu_format refused[] = {
      hu_format_ieee(260, 3, 0),       hu_format_ieee(4, 259, 0),      hu_format_ieee(4, 3, 65536),
      hu_format_finite(4, 3, -65536),  hu_format_fn(0x10000004, 3, 0), hu_format_fnuz(4, 0x80000003u, 0),
      hu_format_p3109(2, 1, 1, 1),     hu_format_p3109(17, 8, 1, 1),   hu_format_p3109(8, 8, 1, 1),
      hu_format_p3109(8, 0, 1, 1),     hu_format_p3109(8, 9, 0, 1),    hu_format_p3109(16, 1, 1, 1),
      hu_format_p3109(264, 260, 1, 1), hu_format_p3109(0, 0, 0, 0),    hu_format_ieee(0, 0, 0),
  };
  size_t n = sizeof refused / sizeof refused[0];
  for (size_t i = 0; i < n; i++) assert_int_equal(hu_format_check(refused[i], NULL), HU_E_FORMAT);
  print_message("%zu calls out of range\n", n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_axis_is_named),
      cmocka_unit_test(wrong_descriptors_are_empty),
      cmocka_unit_test(good_descriptors_keep_axis),
      cmocka_unit_test(equality),
      cmocka_unit_test(limits_of_catalogue),
      cmocka_unit_test(limits_of_random_formats),
      cmocka_unit_test(fits_binary32),
      cmocka_unit_test(constructors_do_not_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
