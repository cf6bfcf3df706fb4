/* SPDX-License-Identifier: MIT */
/* One function (the argument names it) of every operand: all 65,536 codes of binary16 and of bfloat16 into the same
 * format, and all codes of every catalogue format of up to 15 bits into itself and into others, against the oracle in
 * every rounding. */
#include "tests/function/functions.h"

#include <stdio.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"

static int function;

static void every_code(hu_format fz, hu_format fx, unsigned stochastic, t_random *random, uint64_t *cases) {
  uint32_t codes = (uint32_t)1 << hu_limits_of(fx).width;
  fn_modes m;
  for (uint32_t c = 0; c < codes; c++) {
    hu_oracle_code x[2] = {{fx, c}, {fx, 0}};
    fn_draw_modes(&m, random, stochastic, c % 8 ? 9 : 32);
    (void)fn_check(function, fz, &m, x);
    *cases += m.n;
  }
}

static void test_16_bits(void **state) {
  (void)state;
  uint64_t cases = 0;
  t_random random = {t_seed(fn_name(function), 51)};
  every_code(hu_binary16(), hu_binary16(), 3, &random, &cases);
  every_code(hu_bfloat16(), hu_bfloat16(), 3, &random, &cases);
  print_message("%s: %llu cases\n", fn_name(function), (unsigned long long)cases);
}

static void test_small(void **state) {
  (void)state;
  uint64_t cases = 0;
  t_random random = {t_seed(fn_name(function), 52)};
  const hu_format others[] = {hu_binary16(), hu_bfloat16(), hu_float8_e4m3fn(), hu_float8_e8m0fnu(), hu_binary32()};
  for (size_t i = t_next_format(0, 15); i < hu_format_count(); i = t_next_format(i + 1, 15)) {
    hu_format format = hu_format_at(i).format;
    every_code(format, format, 8, &random, &cases);
    if (hu_limits_of(format).width <= 8) every_code(others[i % 5], format, 3, &random, &cases);
  }
  print_message("%s: %llu cases\n", fn_name(function), (unsigned long long)cases);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_16_bits)};
  function = argc == 2 ? fn_find(argv[1]) : HU_ORACLE_FUNCTIONS;
  if (function >= HU_ORACLE_POW) {
    fprintf(stderr, "usage: %s FUNCTION of one operand\n", argv[0]);
    return 2;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
