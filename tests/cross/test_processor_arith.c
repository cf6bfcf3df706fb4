/* SPDX-License-Identifier: MIT */
/* The processor's own arithmetic, ties to even, against ours: binary32 directly; binary16 and bfloat16 through
 * binary64.
 *
 * Why binary64 may stand between: sums and products of binary16 numbers are exact there (at most 42 and 22 digits);
 * those of bfloat16 are exact as products, and sums are compared only where they are exact. A quotient or root of
 * numbers of p digits, rounded to 2 p + 2 or more digits first, rounds to p digits as the exact one does (Figueroa,
 * "When is double rounding innocuous?", 1995); 53 >= 2 * 11 + 2. */
#include <fenv.h>
#include <math.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/support/support.h"

enum { ADD, SUB, MUL, DIV, SQRT, FMA, OPS };
static const char *const names[OPS] = {"add", "sub", "mul", "div", "sqrt", "fma"};

static uint32_t ours(int op, hu_format format, const uint32_t x[3], uint32_t *e) {
  hu_mode rne = t_mode(HU_RNE);
  switch (op) {
    case ADD: return hu_add(format, rne, format, x[0], format, x[1], 0, e);
    case SUB: return hu_sub(format, rne, format, x[0], format, x[1], 0, e);
    case MUL: return hu_mul(format, rne, format, x[0], format, x[1], 0, e);
    case DIV: return hu_div(format, rne, format, x[0], format, x[1], 0, e);
    case SQRT: return hu_sqrt(format, rne, format, x[0], 0, e);
    default: return hu_fma(format, rne, format, x[0], format, x[1], format, x[2], 0, e);
  }
}

/* Operands whose results round: any patterns, then exponents near each other, then few digits. */
static void draw(t_random *random, hu_format format, uint32_t x[3]) {
  uint32_t keep = t_below(random, 3) ? 0xFFFFFFFF : ~(uint32_t)0 << t_below(random, format.m + 1u);
  uint32_t near = t_next32(random);
  int close = t_below(random, 2);
  for (int i = 0; i < 3; i++) {
    x[i] = t_next32(random) & keep & (uint32_t)((UINT64_C(2) << (format.e + format.m)) - 1);
    if (!close) continue;
    uint32_t field = ((near >> format.m) + t_below(random, 4)) & ((1u << format.e) - 1);
    x[i] = (x[i] & ~(((1u << format.e) - 1) << format.m)) | field << format.m;
  }
}

/* 754's five flags; the processor's tininess is after rounding on x86 and the default here, elsewhere it may be before:
 * then underflow is not compared. */
static void check_flags(int op, const uint32_t x[3], uint32_t e, int flags) {
  int invalid = (e & HU_EVENT_INVALID) != 0, divide = (e & HU_EVENT_DIVIDE_BY_ZERO) != 0;
  int over = (e & HU_EVENT_OVERFLOW) != 0, inexact = (e & HU_EVENT_INEXACT) != 0, under = (e & HU_EVENT_UNDERFLOW) != 0;
#if defined(__x86_64__)
  int same = under == ((flags & FE_UNDERFLOW) != 0);
#else
  int same = under >= 0;
#endif
  if (!same || invalid != ((flags & FE_INVALID) != 0) || divide != ((flags & FE_DIVBYZERO) != 0) ||
      over != ((flags & FE_OVERFLOW) != 0) || inexact != ((flags & FE_INEXACT) != 0)) {
    char text[T_EVENTS_TEXT];
    fail_msg("%s of %08x, %08x, %08x: events %s, the processor's flags %#x", names[op], x[0], x[1], x[2],
             t_events_text(text, e), (unsigned)flags);
  }
}

static float processor32(int op, const uint32_t x[3], int *flags) {
  volatile float a = t_float(x[0]), b = t_float(x[1]), c = t_float(x[2]), z;
  feclearexcept(FE_ALL_EXCEPT);
  switch (op) {
    case ADD: z = a + b; break;
    case SUB: z = a - b; break;
    case MUL: z = a * b; break;
    case DIV: z = a / b; break;
    case SQRT: z = sqrtf(a); break;
    default: z = fmaf(a, b, c); break;
  }
  *flags = fetestexcept(FE_ALL_EXCEPT);
  return z;
}

static int is_nan32(uint32_t u) { return (u & 0x7FFFFFFF) > 0x7F800000; }

static void test_binary32(void **state) {
  (void)state;
  t_random random = {t_seed("processor_arith", 1)};
  uint64_t count = HU_EXHAUSTIVE ? 200000000 : 2000000, nans = 0;
  for (uint64_t k = 0; k < count; k++) {
    uint32_t x[3], e, z;
    int op = (int)(k % OPS), flags, nan = 0;
    draw(&random, hu_binary32(), x);
    for (int i = 0; i < 3; i++) {
      if (is_nan32(x[i])) x[i] |= 0x400000; /* quiet */
      nan |= is_nan32(x[i]);
    }
    uint32_t expected = t_bits32(processor32(op, x, &flags));
    z = ours(op, hu_binary32(), x, &e);
    if (is_nan32(expected) ? z != 0x7FC00000 : z != expected)
      fail_msg("%s of %08x, %08x, %08x: %08x, the processor %08x", names[op], x[0], x[1], x[2], z, expected);
    /* inf x 0 + NaN may or may not be invalid (7.2 c); here it is not. */
    if (!(op == FMA && nan)) check_flags(op, x, e, flags);
    nans += is_nan32(expected);
  }
  assert_true(nans > 0);
  print_message("binary32: %lu operations with their flags, as the processor's\n", (unsigned long)count);
}

static int sum_is_exact(double a, double b, double s) {
  double t = s - a;
  return (a - (s - t)) + (b - t) == 0;
}

/* 1 if binary64 gives a value whose rounding is the result's. */
static int through_binary64(int op, hu_format format, const uint32_t x[3], double *z) {
  double a = hu_decode64(format, x[0]), b = hu_decode64(format, x[1]), c = hu_decode64(format, x[2]);
  switch (op) {
    case ADD: *z = a + b; return !isfinite(*z) || sum_is_exact(a, b, *z);
    case SUB: *z = a - b; return !isfinite(*z) || sum_is_exact(a, -b, *z);
    case MUL: *z = a * b; return 1;
    case DIV: *z = a / b; return 1;
    case SQRT: *z = sqrt(a); return 1;
    default: *z = a * b + c; return !isfinite(*z) || sum_is_exact(a * b, c, *z);
  }
}

static void narrow(hu_format format, const char *name) {
  t_random random = {t_seed(name, 2)};
  uint64_t count = HU_EXHAUSTIVE ? 200000000 : 2000000, compared = 0;
  for (uint64_t k = 0; k < count; k++) {
    uint32_t x[3], e;
    double v;
    int op = (int)(k % OPS);
    draw(&random, format, x);
    if (!through_binary64(op, format, x, &v)) continue;
    uint32_t expected = hu_encode64(format, t_mode(HU_RNE), v, 0, NULL), z = ours(op, format, x, &e);
    if (z != expected)
      fail_msg("%s %s of %x, %x, %x: %x, through binary64 %x", name, names[op], x[0], x[1], x[2], z, expected);
    compared++;
  }
  assert_true(compared > count / 2);
  print_message("%s: %lu operations as through binary64\n", name, (unsigned long)compared);
}

static void test_binary16(void **state) {
  (void)state;
  narrow(hu_binary16(), "binary16");
}

static void test_bfloat16(void **state) {
  (void)state;
  narrow(hu_bfloat16(), "bfloat16");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_binary32), cmocka_unit_test(test_binary16),
                                     cmocka_unit_test(test_bfloat16)};
  return cmocka_run_group_tests_name("the processor's arithmetic", tests, NULL, NULL);
}
