/* SPDX-License-Identifier: MIT */
/* hu_format_check: each of its sentences once, named after the axis that is wrong. hu_limits_of: against an
 * enumeration of all codes by hu_decode64. The constructors of halfulp/format.h. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "emu/format/unfold.h"
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

/* The spec of most formats is made with constants in place of their axes (emu/format/unfold.c): it is the core's. */
static void unfolds_as_the_core(hu_format format) {
  static const int16_t biases[] = {0, 1, -1, 100, -100, 800, -800, 1000, -1000, INT16_MAX, INT16_MIN};
  hu_mode mode = {HU_SRB, HU_SAT_DEFAULT, HU_TINY_BEFORE, HU_NAN_TO_ZERO, 7, HU_NAN_FMA_INVALID, {0, 0}};
  for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++) {
    hu_spec spec, core;
    format.b = biases[i];
    mode.saturate = (uint8_t)(i & 3);
    hu_status status = hui_format_unfold(&spec, &format, mode);
    assert_int_equal(status, hu_format_check(format, NULL));
    core = hui_spec_of(format, mode);
    if (status == HU_OK) assert_memory_equal(&spec, &core, offsetof(hu_spec, nan_fma) + 1); /* padding only behind */
  }
}

/* Calls of one value ask whether a descriptor is one before they do anything else. */
static void calls_agree(const hu_format *format) {
  uint32_t events;
  (void)hu_encode(*format, t_mode(HU_RNE), 0.0f, 0, &events);
  int refused = hu_format_check(*format, NULL) != HU_OK;
  if (!refused) unfolds_as_the_core(*format);
  if ((events == HU_EVENT_INVALID) == refused) return;
  fail_msg("{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d}: hu_format_check and hu_encode differ", format->sign, format->e,
           format->m, format->zero, format->subnormal, format->inf, format->nan, format->negzero, format->overflow,
           format->negative);
}

/* Field `axis` takes each of its values (m: those that matter) and one beyond them, and the fields behind it, too. */
static void every_descriptor(uint8_t *fields, int axis) {
  static const uint8_t ends[] = {2, 12, 31, 3, 3, 3, 6, 2, 3, 3}; /* the first beyond */
  static const uint8_t few_digits[] = {0, 1, 2, 3, 20, 21, 22, 23, 24, 29, 30, 31, 32, 255};
  hu_format format;
  if (axis == 10) {
    memcpy(&format, fields, 10);
    format.b = 0;
    calls_agree(&format);
    return;
  }
  for (unsigned value = 0; value <= ends[axis]; value++) {
    fields[axis] = (uint8_t)value;
    if (axis == 2 && value < sizeof few_digits) fields[axis] = few_digits[value];
    if (axis == 2 && value >= sizeof few_digits) break;
    every_descriptor(fields, axis + 1);
  }
}

static void calls_refuse_the_same(void **state) {
  uint8_t fields[10];
  (void)state;
  every_descriptor(fields, 0);
}

static void each_axis_is_named(void **state) {
  (void)state;
  size_t sentences = 0;
  const char *seen[WRONGS];
  for (size_t i = 0; i < WRONGS; i++) {
    const char *axis = "untouched";
    char text[T_FORMAT_TEXT];
    hu_status status = hu_format_check(wrongs[i].f, &axis);
    size_t n = strlen(wrongs[i].axis);
    if (status != HU_E_FORMAT || strncmp(axis, wrongs[i].axis, n) != 0 || axis[n] != ':')
      fail_msg("%s: %s, \"%s\", not %s", t_format_text(text, wrongs[i].f), hu_status_name(status), axis,
               wrongs[i].axis);
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
    hu_limits limits = hu_limits_of(wrongs[i].f);
    char text[8] = "kept";
    assert_memory_equal(&limits, &none, sizeof limits);
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
  hu_format format = hu_float8_e4m3fn();
  assert_int_equal(hu_format_equal(format, hu_float8_e4m3fn()), 1);
  for (unsigned i = 0; i < 11; i++) {
    hu_format other = format;
    uint8_t *fields[10] = {&other.sign, &other.e,   &other.m,       &other.zero,     &other.subnormal,
                           &other.inf,  &other.nan, &other.negzero, &other.overflow, &other.negative};
    if (i < 10)
      ++*fields[i];
    else
      other.b = 256; /* its low byte is that of 0 */
    assert_int_equal(hu_format_equal(format, other), 0);
    assert_int_equal(hu_format_equal(other, format), 0);
  }
}

typedef struct t_tally {
  uint64_t nan, inf, finite;
  double max, min, low;
  uint32_t max_code, min_code, inf_code;
} t_tally;

/* A code that is read as the value of another: no zero of its own, or a subnormal that the format lacks. */
static int is_duplicate(hu_format format, hu_limits limits, uint32_t code, double x) {
  uint32_t magnitude = code & ~limits.sign_mask;
  if (x == 0) return magnitude != 0 || (code != 0 && !format.negzero);
  return 0;
}

static t_tally enumerate(hu_format format, hu_limits limits) {
  t_tally tally;
  memset(&tally, 0, sizeof tally);
  tally.inf_code = tally.max_code = tally.min_code = HU_NO_CODE;
  tally.max = -INFINITY;
  tally.min = tally.low = INFINITY;
  for (uint32_t code = 0; code < 1u << limits.width; code++) {
    double x = hu_decode64(format, code);
    if (isnan(x)) {
      tally.nan++;
    } else if (isinf(x)) {
      tally.inf++;
      if (x > 0) tally.inf_code = code;
    } else if (!is_duplicate(format, limits, code, x)) {
      tally.finite++;
      if (x > tally.max) tally.max = x, tally.max_code = code;
      if (x > 0 && x < tally.min) tally.min = x, tally.min_code = code;
      if (x < tally.low) tally.low = x;
    }
  }
  return tally;
}

static void check_limits(hu_format format) {
  char text[T_FORMAT_TEXT];
  hu_limits limits = hu_limits_of(format);
  t_tally tally = enumerate(format, limits);
  int same = limits.finite_codes == tally.finite && limits.nan_codes == tally.nan &&
             limits.max_code == tally.max_code && limits.min_code == tally.min_code &&
             limits.inf_code == tally.inf_code && t_same64(limits.max, tally.max) && t_same64(limits.min, tally.min);
  if (!same)
    fail_msg("%s: finite %llu, NaN %llu, max 0x%X %a, min 0x%X %a; enumeration %llu, %llu, 0x%X %a, 0x%X %a",
             t_format_text(text, format), (unsigned long long)limits.finite_codes, (unsigned long long)limits.nan_codes,
             limits.max_code, limits.max, limits.min_code, limits.min, (unsigned long long)tally.finite,
             (unsigned long long)tally.nan, tally.max_code, tally.max, tally.min_code, tally.min);
  if (limits.low != tally.low) fail_msg("%s: low %a, not %a", t_format_text(text, format), limits.low, tally.low);
  assert_int_equal(tally.inf, (format.inf != HU_INF_NONE) << format.sign);
  assert_int_equal(limits.has_nan, tally.nan > 0);
  if (limits.has_nan) assert_true(isnan(hu_decode64(format, limits.nan_code)));
  if (limits.min_normal_code != HU_NO_CODE)
    assert_true(t_same64(hu_decode64(format, limits.min_normal_code), limits.min_normal));
  assert_int_equal(limits.emax, ilogb(limits.max));
  assert_int_equal(limits.storage, limits.width <= 8 ? 8 : limits.width <= 16 ? 16 : 32);
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
  t_random random = {t_seed("limits_of_random_formats", 11)};
  enum { COUNT = 20000 };
  for (int i = 0; i < COUNT; i++) check_limits(t_random_format(&random, 1, 10));
  print_message("%d random formats of 1 to 10 bits, every code\n", COUNT);
}

static void fits_binary32(void **state) {
  (void)state;
  t_random random = {t_seed("fits_binary32", 12)};
  unsigned fit = 0;
  enum { COUNT = 5000 };
  for (int i = 0; i < COUNT; i++) {
    hu_format format = t_random_format(&random, 1, 10);
    hu_limits limits = hu_limits_of(format);
    int exact = 1;
    for (uint32_t code = 0; code < 1u << limits.width; code++) {
      double x = hu_decode64(format, code);
      if (!isnan(x) && (double)(float)x != x) exact = 0;
    }
    char text[T_FORMAT_TEXT];
    if (hu_format_fits_binary32(format) != exact)
      fail_msg("%s: exact in binary32 is %d", t_format_text(text, format), exact);
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
      cmocka_unit_test(calls_refuse_the_same),
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
