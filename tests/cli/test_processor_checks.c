/* SPDX-License-Identifier: MIT */
/* The checks of cli/processor/checks.c for instructions on 8-bit formats: conversions written out here have no
 * difference from the library, and each wrong one has some. No processor needs to have the instructions. */
#include <math.h>
#include <string.h>

#include "cli/processor/processor.h"
#include "halfulp/formats/ocp.h"
#include "tests/support/cmocka.h"

/* A format of `digits` behind the point, 7 - digits exponent bits and this bias; its magnitudes from `last` on are not
 * numbers. */
typedef struct t_eight {
  int digits, bias;
  uint32_t last;
} t_eight;
static const t_eight e5m2 = {2, 15, 0x7C}, e4m3 = {3, 7, 0x7F};

static double value_of(const t_eight *eight, uint32_t size) {
  const int field = (int)(size >> eight->digits), least = field ? field : 1;
  const double digits = size % (1u << eight->digits) + (field ? 1 << eight->digits : 0);
  return ldexp(digits, least - eight->bias - eight->digits);
}

/* Ties to even by the order of the codes; a code past the last number stands for all beyond it. */
static uint8_t code_of(const t_eight *eight, double x, int ties_up) {
  const uint8_t sign = signbit(x) ? 0x80 : 0;
  const double size = fabs(x);
  uint32_t low = 0;
  if (x != x) return 0x7F;
  while (low + 1 <= eight->last && value_of(eight, low + 1) <= size) low++;
  if (low >= eight->last) return sign | (uint8_t)eight->last;
  const double middle = (value_of(eight, low) + value_of(eight, low + 1)) / 2;
  if (size > middle || (size == middle && (ties_up || low % 2))) low++;
  return sign | (uint8_t)low;
}

static float half_value(uint16_t x) {
  const int field = x >> 10 & 31, digits = x & 0x3FF;
  double size = field == 31 ? (digits ? NAN : INFINITY) : ldexp(digits + (field ? 1024 : 0), (field ? field : 1) - 25);
  return (float)(x >> 15 ? -size : size);
}

/* ---- instructions: right ones, and wrong ones ---- */

static void narrow32_e5m2(uint8_t *z, const float *x) {
  for (int i = 0; i < PROCESSOR_LANES; i++) z[i] = code_of(&e5m2, (double)x[i], 0);
}
static void narrow32_e4m3(uint8_t *z, const float *x) {
  for (int i = 0; i < PROCESSOR_LANES; i++) z[i] = code_of(&e4m3, (double)x[i], 0);
}
static void ties_up32(uint8_t *z, const float *x) {
  for (int i = 0; i < PROCESSOR_LANES; i++) z[i] = code_of(&e4m3, (double)x[i], 1);
}
static void narrow16_e5m2(uint8_t *z, const uint16_t *x) {
  for (int i = 0; i < PROCESSOR_LANES; i++) z[i] = code_of(&e5m2, (double)half_value(x[i]), 0);
}
static void narrow16_e4m3(uint8_t *z, const uint16_t *x) {
  for (int i = 0; i < PROCESSOR_LANES; i++) z[i] = code_of(&e4m3, (double)half_value(x[i]), 0);
}
static void saturated16(uint8_t *z, const uint16_t *x) {
  narrow16_e4m3(z, x);
  for (int i = 0; i < PROCESSOR_LANES; i++) {
    if ((z[i] & 0x7F) == 0x7F && !isnan(half_value(x[i]))) z[i]--;
  }
}

static uint16_t half_of(double x) {
  const double size = fabs(x);
  uint16_t code = 0;
  if (x != x) return 0x7E01;
  for (uint16_t bit = 0x4000; bit; bit >>= 1) {
    const uint16_t more = code | bit;
    if (more <= 0x7C00 && (double)half_value(more) <= size) code = more;
  }
  return (uint16_t)(code | (signbit(x) ? 0x8000 : 0));
}
static void widen_by(const t_eight *eight, uint16_t *z, const uint8_t *x, uint32_t infinity) {
  for (int i = 0; i < PROCESSOR_LANES; i++) {
    const uint32_t size = x[i] & 0x7F;
    const double v = size >= eight->last ? (size == infinity ? INFINITY : NAN) : value_of(eight, size);
    z[i] = half_of(x[i] >> 7 ? -v : v);
  }
}
static void widen_e5m2(uint16_t *z, const uint8_t *x) { widen_by(&e5m2, z, x, 0x7C); }
static void widen_e4m3(uint16_t *z, const uint8_t *x) { widen_by(&e4m3, z, x, 0x100); }
static void widen_infinite(uint16_t *z, const uint8_t *x) { widen_by(&e4m3, z, x, 0x7F); }

/* ---- the checks ---- */

static processor_tally asked(void) {
  processor_tally tally = {.count = 20000, .key = 3, .quiet = 1};
  return tally;
}

static void narrow_singles(void **state) {
  (void)state;
  processor_tally a = asked(), b = asked(), wrong = asked(), other = asked();
  processor_check_narrow32(&a, hu_float8_e5m2(), narrow32_e5m2);
  processor_check_narrow32(&b, hu_float8_e4m3fn(), narrow32_e4m3);
  processor_check_narrow32(&wrong, hu_float8_e4m3fn(), ties_up32);
  processor_check_narrow32(&other, hu_float8_e5m2(), narrow32_e4m3);
  assert_true(a.compared >= 20000 && a.different == 0 && b.compared >= 20000 && b.different == 0);
  assert_true(wrong.different > 0 && wrong.different < wrong.compared / 4 && other.different > 0);
}

static void narrow_halves(void **state) {
  (void)state;
  processor_tally a = asked(), b = asked(), wrong = asked();
  processor_check_narrow16(&a, hu_float8_e5m2(), narrow16_e5m2);
  processor_check_narrow16(&b, hu_float8_e4m3fn(), narrow16_e4m3);
  processor_check_narrow16(&wrong, hu_float8_e4m3fn(), saturated16);
  assert_true(a.compared == 65536 && a.different == 0 && b.compared == 65536 && b.different == 0);
  assert_true(wrong.different > 0);
}

static void widen(void **state) {
  (void)state;
  processor_tally a = asked(), b = asked(), wrong = asked();
  processor_check_widen8(&a, hu_float8_e5m2(), widen_e5m2);
  processor_check_widen8(&b, hu_float8_e4m3fn(), widen_e4m3);
  processor_check_widen8(&wrong, hu_float8_e4m3fn(), widen_infinite);
  assert_true(a.compared == 256 && a.different == 0 && b.compared == 256 && b.different == 0);
  assert_int_equal(wrong.different, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(narrow_singles), cmocka_unit_test(narrow_halves),
                                     cmocka_unit_test(widen)};
  return cmocka_run_group_tests_name("processor checks", tests, NULL, NULL);
}
