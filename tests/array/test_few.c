/* SPDX-License-Identifier: MIT */
/* Arrays of a few numbers, which take a way of their own (emu/array/few.h): against the one-value calls, on both sides
 * of rounding thresholds and beyond the range. */
#include <math.h>
#include <string.h>

#include "emu/array/few.h"
#include "halfulp/array.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { MOST = HU_FEW + 6, ROOM = 8 * MOST };

/* A number at, or one binary32 step beside, a value of the format or the middle of two. */
static float near_threshold(t_random *random, hu_format format) {
  uint32_t code = t_random_code(random, format);
  double value = hu_decode64(format, code), next = hu_decode64(format, code + 1);
  float x = (float)(t_below(random, 2) || !isfinite(next) ? value : value + (next - value) / 2);
  uint32_t beside = t_below(random, 3);
  return beside == 0 ? x : nextafterf(x, beside == 1 ? INFINITY : -INFINITY);
}

/* Mostly normal numbers of the format: what else is there decides which way is taken. */
static float operand(t_random *random, hu_format format, unsigned others) {
  hu_limits limits = hu_limits_of(format);
  if (t_below(random, 16) < others) return t_float(t_next32(random));
  if (t_below(random, 16) == 0) return t_below(random, 2) ? 0.0f : -0.0f;
  for (int i = 0; i < 8; i++) {
    float x = near_threshold(random, format);
    if (x == 0 || (fabs((double)x) >= limits.min_normal && fabs((double)x) <= limits.max)) return x;
  }
  return 0;
}

typedef struct few_case {
  hu_format format;
  hu_mode mode;
  size_t n;
  ptrdiff_t incx, incz;
} few_case;

static float x[ROOM], values[ROOM];
static uint64_t codes[ROOM];

static ptrdiff_t origin(ptrdiff_t inc) { return inc < 0 ? -inc * MOST : 0; }

static void compare(const few_case *one, const float *from, int in_place) {
  hu_events events = {0}, of_codes = {0}, expected = {0};
  size_t size = hu_limits_of(one->format).storage / 8;
  float kept[MOST], *z = in_place ? x + origin(one->incx) : values + origin(one->incz);
  uint8_t *code = (uint8_t *)codes + origin(one->incz) * (ptrdiff_t)size;
  ptrdiff_t incz = in_place ? one->incx : one->incz;
  for (size_t i = 0; i < one->n; i++) kept[i] = from[(ptrdiff_t)i * one->incx];
  hu_status status = hu_encode_n(one->n, code, one->incz, from, one->incx, one->format, one->mode, NULL, &of_codes);
  assert_int_equal(status, HU_OK);
  status = hu_quantize_n(one->n, z, incz, from, one->incx, one->format, one->mode, NULL, &events);
  assert_int_equal(status, HU_OK);
  for (size_t i = 0; i < one->n; i++) {
    uint32_t set, want = hu_encode(one->format, one->mode, kept[i], 0, &set);
    float value = hu_decode(one->format, want);
    if (t_get(code, size, (ptrdiff_t)i * one->incz) != want || !t_same32(z[(ptrdiff_t)i * incz], value)) {
      char f[T_FORMAT_TEXT], m[T_MODE_TEXT];
      fail_msg("%s, %s, n = %zu, element %zu, %a: %a and %#x, not %a and %#x", t_format_text(f, one->format),
               t_mode_text(m, one->mode), one->n, i, (double)kept[i], (double)z[(ptrdiff_t)i * incz],
               t_get(code, size, (ptrdiff_t)i * one->incz), (double)value, want);
    }
    hu_events_count(&expected, set);
  }
  assert_true(t_same_events(&events, &expected));
  assert_true(t_same_events(&of_codes, &expected));
}

static void test_few(void **state) {
  (void)state;
  t_random random = {t_seed("few", 51)};
  static const ptrdiff_t steps[] = {1, 1, 1, 2, -1, -3};
  for (unsigned k = 0; k < t_runs(20000); k++) {
    few_case one = {.mode = t_policy(t_mode(t_below(&random, T_DETERMINISTIC)), t_below(&random, 4),
                                     t_below(&random, 2), t_below(&random, 3))};
    do {
      one.format = t_below(&random, 3) ? hu_format_at(t_below(&random, (uint32_t)hu_format_count())).format
                                       : t_random_format(&random, 1, 32);
    } while (!hu_format_fits_binary32(one.format));
    one.n = 1 + t_below(&random, MOST);
    one.incx = t_below(&random, 8) ? steps[t_below(&random, 6)] : 0;
    one.incz = steps[t_below(&random, 6)];
    unsigned others = t_below(&random, 4);
    float *from = x + origin(one.incx);
    for (size_t i = 0; i < one.n; i++) from[(ptrdiff_t)i * one.incx] = operand(&random, one.format, others * others);
    compare(&one, from, one.incx && t_below(&random, 3) == 0);
  }
}

/* The way is there, and leaves what it has to leave. */
static void test_served(void **state) {
  (void)state;
  float ones[HU_FEW], z[HU_FEW];
  hu_array_view to, from;
  hu_format format;
  assert_int_equal(hu_format_find(&format, "float8_e4m3fn"), HU_OK);
  for (int i = 0; i < HU_FEW; i++) ones[i] = 1.0625f;
  for (int outside = 0; outside <= HU_FEW; outside++) {
    hu_events events = {0};
    memset(z, 0, sizeof z);
    for (int i = 0; i < outside; i++) ones[i] = 0x1p-30f;
    hui_view_grid(&to, HU_VIEW_BINARY32, z, 1, &format);
    hui_view_values(&from, HU_VIEW_BINARY32, ones, 1);
    assert_int_equal(hui_view_unfold(&to, t_mode(HU_RNE)), HU_OK);
    int served = hui_few_run(HU_FEW, &to, &from, &events);
    assert_int_equal(served, outside <= 8);
    assert_int_equal(events.inexact, served ? HU_FEW : 0);
    assert_int_equal(events.underflow, served ? outside : 0);
    for (int i = 0; i < HU_FEW && served; i++) assert_true(z[i] == (i >= outside ? 1.0f : 0.0f));
    float same[HU_FEW];
    memcpy(same, ones, sizeof same);
    to.data = from.data = same; /* in place: left as it was where the way does not serve */
    assert_int_equal(hui_few_run(HU_FEW, &to, &from, NULL), served);
    assert_memory_equal(same, served ? z : ones, sizeof same);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_served)};
  return cmocka_run_group_tests_name("a few elements", tests, NULL, NULL);
}
