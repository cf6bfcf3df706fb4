/* SPDX-License-Identifier: MIT */
/* The formats that training systems use: their numbers, where they overflow, what scalars become in bfloat16, and when
 * a binary32 operator in between changes nothing. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static const hu_mode rne;

static hu_format named(const char *text) {
  hu_format format;
  assert_int_equal(hu_format_parse(&format, text, NULL), HU_OK);
  return format;
}

static void limits(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double max, normal, tiny;
    double beyond, becomes; /* a number above max and its rounding */
  } rows[] = {{"binary32", 0x1.fffffep127, 0x1p-126, 0x1p-149, 0x1p128, INFINITY},
              {"binary16", 65504, 0x1p-14, 0x1p-24, 65520, INFINITY},
              {"bfloat16", 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p128, INFINITY},
              {"float8_e5m2", 57344, 0x1p-14, 0x1p-16, 61440, INFINITY},
              {"fp(4,3,4):finite", 30, 0x1p-10, 0x1p-13, 31, 30},
              {"fp(5,2,0):finite", 114688, 0x1p-14, 0x1p-16, 1e9, 114688},
              {"fp(6,9,0):finite", 0x1.ff8p32, 0x1p-30, 0x1p-39, 1e30, 0x1.ff8p32},
              {"fp(6,9,0)", 0x1.ff8p31, 0x1p-30, 0x1p-39, 0x1p32, INFINITY},
              {"float8_e4m3fn", 448, 0x1p-6, 0x1p-9, 464, 448}, /* ties to even: the last one that is not beyond */
              {"float4_e2m1fn", 6, 1, 0.5, 100, 6},
              {"fp(5,10,0):finite", 131008, 0x1p-14, 0x1p-24, 1e9, 131008}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_format format = named(rows[i].name);
    hu_limits limits = hu_limits_of(format);
    if (limits.max != rows[i].max || limits.min_normal != rows[i].normal || limits.min != rows[i].tiny ||
        hu_quantize64(format, rne, rows[i].beyond, 0, NULL) != rows[i].becomes) {
      fail_msg("%s: %a %a %a", rows[i].name, limits.max, limits.min_normal, limits.min);
    }
    assert_true(hu_quantize64(format, rne, rows[i].tiny / 2, 0, NULL) == 0);
    assert_true(hu_quantize64(format, rne, rows[i].tiny * 0.75, 0, NULL) == rows[i].tiny);
  }
  assert_true(hu_quantize64(named("binary16"), rne, 65519.999, 0, NULL) == 65504);
}

/* Forward tensors saturate, backward ones overflow to infinity, of the same numbers. */
static void assignments(void **state) {
  (void)state;
  hu_format low = named("fp(4,3,4):finite"), back = named("fp(5,2,0):finite"), high = named("fp(6,9,0):finite");
  assert_true(hu_quantize64(low, rne, 31, 0, NULL) == 30);
  assert_true(hu_quantize64(low, rne, 0x1p-14, 0, NULL) == 0);
  assert_true(hu_quantize64(low, rne, 0x1.8p-14, 0, NULL) == 0x1p-13);
  assert_true(hu_quantize64(high, rne, 0x1p-40, 0, NULL) == 0);
  assert_true(hu_quantize64(back, rne, 0x1p17, 0, NULL) == 114688);
  /* Ties away, as the released code has it. */
  assert_true(hu_quantize64(low, t_mode(HU_RNA), 0x1p-14, 0, NULL) == 0x1p-13);
}

/* rnd(x), then the sign of what a format makes of it. */
static void plain_float8(void **state) {
  (void)state;
  static const uint32_t x[3][8] = {
      {0x3A800000, 0x2B800000, 0, 0xB3000000},
      {0x314E288F, 0xB3A10FB0, 0x35A10FB0, 0xB4D6BF95, 0x32BCFA83, 0, 0x35719787, 0xB22BCC77},
      {0x48927C00, 0xC9742400, 0x46C35000, 0x4788B800}};
  static const float expected[3][8] = {
      {0x1p-10f, 0, 0, -0.0f}, {0, -0.0f, 0, -0.0f, 0, 0, 0, -0.0f}, {INFINITY, -INFINITY, 24576, INFINITY}};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 8; i++) {
      float z = hu_quantize(named("float8_e5m2"), rne, t_float(x[k][i]), 0, NULL);
      assert_int_equal(t_bits32(z), t_bits32(expected[k][i]));
    }
  }
}

/* ---- scalars in bfloat16 ---- */

static void scalars(void **state) {
  (void)state;
  static const struct {
    double x, becomes;
    uint32_t code;
  } rows[] = {{0.999, 1, 0x3F80},
              {0.9999, 1, 0x3F80},
              {0.998046875, 1, 0x3F80},
              {0.998, 0.99609375, 0x3F7F},
              {0.997, 0.99609375, 0x3F7F},
              {0.995, 0.99609375, 0x3F7F},
              {0.9, 0.8984375, 0x3F66},
              {1 - 0.8984375, 0.1015625, 0x3DD0},
              {1 - 0.99609375, 0x1p-8, 0x3B80},
              {0.01, 0.010009765625, 0x3C24},
              {1e-3, 0x1.06p-10, 0x3A83},
              {1e-8, 0x1.58p-27, 0x322C}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(hu_encode64(hu_bfloat16(), rne, rows[i].x, 0, NULL), rows[i].code);
    assert_true(hu_decode64(hu_bfloat16(), rows[i].code) == rows[i].becomes);
  }
  hu_optimizer optimizer = hu_optimizer_adamw(hu_bfloat16());
  optimizer.beta2 = 0.998046875;
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_E_TRAIN);
  optimizer.beta2 = nextafter(optimizer.beta2, 0);
  assert_int_equal(hu_optimizer_check(&optimizer, NULL), HU_OK);
}

/* 1 - beta^t in bfloat16 for t = 1 ... 5. */
static void powers(void **state) {
  (void)state;
  static const uint32_t past1[5] = {0x3DD0, 0x3E45, 0x3E8D, 0x3EB2, 0x3ED4};
  static const uint32_t past2[5] = {0x3B80, 0x3C00, 0x3C3F, 0x3C7F, 0x3C9F};
  hu_optimizer optimizer = hu_optimizer_adamw(hu_bfloat16());
  hu_optimizer_time now = {0, 1, 1};
  optimizer.beta2 = 0.997;
  for (int t = 0; t < 5; t++) {
    hu_optimizer_tick(&now, &optimizer);
    assert_int_equal(hu_encode64(hu_bfloat16(), rne, 1 - now.power1, 0, NULL), past1[t]);
    assert_int_equal(hu_encode64(hu_bfloat16(), rne, 1 - now.power2, 0, NULL), past2[t]);
  }
}

/* ---- operators through binary32 ---- */

static double operation(int which, double x, double y) {
  return which == 0 ? x + y : which == 1 ? x - y : which == 2 ? x * y : which == 3 ? x / y : sqrt(fabs(x));
}

/* 1 if rounding to binary32 first changes nothing; binary64 holds the exact result or tells all that matters of it. */
static int same(hu_format format, double exact) {
  uint32_t once = hu_encode64(format, rne, exact, 0, NULL), twice = hu_encode(format, rne, (float)exact, 0, NULL);
  return once == twice;
}

static void binary32_in_between(void **state) {
  (void)state;
  t_random random = {t_seed("recipes formats", 1)};
  hu_format formats[2] = {hu_bfloat16(), hu_binary16()};
  unsigned fused = 0, sums = 0;
  for (int k = 0; k < 400000; k++) {
    hu_format format = formats[k & 1];
    double x[3];
    for (int i = 0; i < 3; i++) {
      double t = 1 + (double)t_below(&random, 1u << format.m) / (double)(1u << format.m);
      x[i] = ldexp(t_below(&random, 2) ? t : -t, t_between(&random, -3, 3));
    }
    for (int which = 0; which < 5; which++) assert_true(same(format, operation(which, x[0], x[1])));
    fused += !same(format, x[0] - x[1] * x[2] * 0x1p-9);
    sums += !same(format, x[0] + x[1] * 0x1p-9 + x[2] * 0x1p-18);
  }
  print_message("%u fused expressions, %u sums of three differ\n", fused, sums);
  assert_true(fused > 0 && sums > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(limits),       cmocka_unit_test(assignments),
                                     cmocka_unit_test(plain_float8), cmocka_unit_test(scalars),
                                     cmocka_unit_test(powers),       cmocka_unit_test(binary32_in_between)};
  return cmocka_run_group_tests_name("recipes: formats", tests, NULL, NULL);
}
