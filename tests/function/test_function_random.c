/* SPDX-License-Identifier: MIT */
/* Operands of any valid formats of up to 32 bits into any other, in many modes, against the oracle; pow above all.
 *
 * Operands are drawn where results differ: any code, values near the edges of either format, small ones whose results
 * lie beside a number of few digits, large ones near the end of an exponential's range, near multiples of pi/2. For pow
 * also: powers that end after few digits (squares and roots of them), powers on midpoints, bases next to 1 with large
 * exponents, integers odd and even, and the table of special operands. Also binary32 to nearest, and misuse. */
#include "tests/function/functions.h"

#include <math.h>
#include <stdlib.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

/* How many cases: the exhaustive suite's, the usual ones, or a few that show a planted fault. */
#ifndef HU_FEW
#define HU_FEW 0
#endif
static uint64_t count(uint64_t few, uint64_t usual, uint64_t exhaustive) {
  return HU_FEW ? few : HU_EXHAUSTIVE ? exhaustive : usual;
}

static hu_format any_format(t_random *random) {
  switch (t_below(random, 5)) {
    case 0: return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
    case 1: return t_random_format(random, 1, 8);
    case 2: return t_random_format(random, 9, 16);
    case 3: return t_below(random, 2) ? hu_binary16() : hu_bfloat16();
    default: return t_random_format(random, 1, 32);
  }
}

static uint32_t near_code(t_random *random, hu_format format, double v) {
  uint32_t c = hu_encode64(format, t_policy(t_mode(t_below(random, T_DETERMINISTIC)), HU_SAT_FINITE, 0, 0), v, 0, NULL);
  switch (t_below(random, 4)) {
    case 0: return hu_next_up(format, c);
    case 1: return hu_next_down(format, c);
    default: return c;
  }
}

/* A double with an exponent of this range and few or many digits. */
static double number(t_random *random, int low, int high) {
  double v = ldexp(1 + ldexp((double)(t_next32(random) & (0xFFFFFFFFu << t_below(random, 33) % 32)), -32),
                   t_between(random, low, high));
  return t_below(random, 2) ? -v : v;
}

static double operand(t_random *random, int function, hu_format fz) {
  hu_limits limits = hu_limits_of(fz);
  switch (t_below(random, 6)) {
    case 0: return number(random, -80, 12);
    case 1: return number(random, -8, 6);
    case 2: return number(random, -1100, 1000);
    case 3: /* near the ends of an exponential's range */
      return (t_below(random, 2) ? limits.emax : limits.emin - fz.m) *
                 (function == HU_ORACLE_EXP2 ? 1 : 0.6931471805599453) +
             number(random, -6, 1);
    case 4: return t_below(random, 1000) * 1.5707963267948966 + number(random, -60, -1);
    default: return 1 + number(random, -40, -1);
  }
}

static void draw_power(t_random *random, hu_format fz, hu_oracle_code *x) {
  double base = number(random, -20, 20), power = number(random, -10, 8);
  hu_limits limits = hu_limits_of(fz);
  switch (t_below(random, 8)) {
    case 0: /* an odd number to a small power, a quarter, an eighth */
      base = (double)(2 * t_below(random, 40) + 1) * ldexp(1, t_between(random, -6, 6));
      power = ldexp(t_between(random, -12, 40), -(int)t_below(random, 4));
      break;
    case 1: /* a power of small odd numbers, to be rooted */
      base = pow(2 * t_below(random, 12) + 1, 1 << t_below(random, 5)) * ldexp(1, 4 * t_between(random, -8, 8));
      power = ldexp(2 * t_below(random, 8) + 1, -(int)t_below(random, 6));
      break;
    case 2:
      base = ldexp(1, t_between(random, -40, 40));
      power = ldexp(t_between(random, -4000, 4000), -(int)t_below(random, 12));
      break;
    case 3: /* next to 1 */
      base = 1 + number(random, -24, -2);
      power = number(random, -10, 30);
      break;
    case 4: /* near an end of the range */
      power = (t_below(random, 2) ? limits.emax : limits.emin - fz.m) / (log2(fabs(base)) + 1e-9);
      break;
    case 5: power = number(random, -140, -20); break;
    case 6: power = (double)t_below(random, 4000) - 2000; break;
    default: break;
  }
  x[0].code = near_code(random, x[0].format, t_below(random, 4) ? fabs(base) : base);
  x[1].code = near_code(random, x[1].format, power);
}

static void draw(t_random *random, int function, hu_format fz, hu_oracle_code *x) {
  for (int i = 0; i < 2; i++) {
    x[i].code = near_code(random, x[i].format, operand(random, function, fz));
    if (t_below(random, 8) == 0) x[i].code = t_next32(random);
    if (t_below(random, 8) == 0) x[i].code = near_code(random, x[i].format, t_random_operand(random, x[i].format));
  }
  if (function == HU_ORACLE_POW && t_below(random, 8)) draw_power(random, fz, x);
}

static void run(int first, int last, uint64_t rounds, const char *name) {
  uint64_t cases = 0, inexact = 0, others = 0;
  t_random random = {t_seed(name, 53)};
  fn_modes m;
  for (uint64_t k = 0; k < rounds; k++) {
    for (int function = first; function <= last; function++, cases++) {
      hu_format fz = any_format(&random);
      int alike = t_below(&random, 3) == 0;
      hu_oracle_code x[2] = {{alike ? fz : any_format(&random), 0},
                             {t_below(&random, 2) ? hu_binary32() : any_format(&random), 0}};
      draw(&random, function, fz, x);
      fn_draw_modes(&m, &random, 4, t_below(&random, 2) ? 8 : 32);
      uint32_t events = fn_check(function, fz, &m, x);
      inexact += (events & HU_EVENT_INEXACT) != 0;
      others += (events & ~(uint32_t)HU_EVENT_INEXACT) != 0;
    }
  }
  assert_true(inexact > cases / 4 && others > cases / 8 && inexact < cases);
  print_message("%llu operands in %d modes each, %llu inexact\n", (unsigned long long)cases, T_DETERMINISTIC + 4,
                (unsigned long long)inexact);
}

static void test_one_operand(void **state) {
  (void)state;
  run(HU_ORACLE_EXP, HU_ORACLE_COS, count(400, 1500, 1000000), "function_random");
}

static void test_pow(void **state) {
  (void)state;
  run(HU_ORACLE_POW, HU_ORACLE_POW, count(6000, 25000, 20000000), "function_pow");
}

/* Each pair of codes of small formats. */
static void test_small_powers(void **state) {
  (void)state;
  uint64_t cases = 0;
  t_random random = {t_seed("function_small_powers", 54)};
  const hu_format formats[] = {hu_float4_e2m1fn(), hu_float6_e3m2fn(), hu_float8_e5m2(), hu_float8_e8m0fnu()};
  fn_modes m;
  for (unsigned i = 0; i < 4; i++) {
    uint32_t codes = (uint32_t)1 << hu_limits_of(formats[i]).width, step = codes > 64 ? 5 : 1;
    for (uint32_t a = 0; a < codes; a++) {
      for (uint32_t b = a % step; b < codes; b += step, cases++) {
        hu_oracle_code x[2] = {{formats[i], a}, {formats[i], b}};
        fn_draw_modes(&m, &random, 3, 6);
        (void)fn_check(HU_ORACLE_POW, t_below(&random, 2) ? formats[i] : hu_binary16(), &m, x);
      }
    }
  }
  print_message("%llu pairs\n", (unsigned long long)cases);
}

/* 9.2.1 of IEEE 754-2019, line by line, on binary32. */
static void test_pow_table(void **state) {
  (void)state;
  static const struct {
    double x, y, z;
    uint32_t events;
  } rows[] = {
      {NAN, 0, 1, HU_EVENT_NAN_IN},
      {NAN, -0.0, 1, HU_EVENT_NAN_IN},
      {1, NAN, 1, HU_EVENT_NAN_IN},
      {1, -INFINITY, 1, HU_EVENT_INF_IN},
      {0, -3, INFINITY, HU_EVENT_DIVIDE_BY_ZERO},
      {-0.0, -3, -INFINITY, HU_EVENT_DIVIDE_BY_ZERO},
      {-0.0, -4, INFINITY, HU_EVENT_DIVIDE_BY_ZERO},
      {-0.0, -0.5, INFINITY, HU_EVENT_DIVIDE_BY_ZERO},
      {-0.0, -INFINITY, INFINITY, HU_EVENT_INF_IN},
      {0, INFINITY, 0, HU_EVENT_INF_IN},
      {-0.0, 5, -0.0, 0},
      {-0.0, 4, 0, 0},
      {-0.0, 0.5, 0, 0},
      {-1, INFINITY, 1, HU_EVENT_INF_IN},
      {-1, -INFINITY, 1, HU_EVENT_INF_IN},
      {0.5, INFINITY, 0, HU_EVENT_INF_IN},
      {-0.5, -INFINITY, INFINITY, HU_EVENT_INF_IN},
      {-2, INFINITY, INFINITY, HU_EVENT_INF_IN},
      {2, -INFINITY, 0, HU_EVENT_INF_IN},
      {INFINITY, -0.5, 0, HU_EVENT_INF_IN},
      {INFINITY, 0.5, INFINITY, HU_EVENT_INF_IN},
      {-INFINITY, -3, -0.0, HU_EVENT_INF_IN},
      {-INFINITY, -2, 0, HU_EVENT_INF_IN},
      {-INFINITY, 3, -INFINITY, HU_EVENT_INF_IN},
      {-INFINITY, 2.5, INFINITY, HU_EVENT_INF_IN},
      {-8, 1.0 / 4, NAN, HU_EVENT_INVALID},
      {-2, 3, -8, 0},
      {-2, -2, 0.25, 0},
      {2.25, -1.5, 0x1.2f684cp-2, HU_EVENT_INEXACT},
      {2.25, 1.5, 3.375, 0},
      {0x1p-148, 0.25, 0x1p-37, 0},
  };
  hu_format format = hu_binary32();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t events, x = hu_encode64(format, t_mode(0), rows[i].x, 0, NULL),
                     y = hu_encode64(format, t_mode(0), rows[i].y, 0, NULL);
    uint32_t z = hu_pow(format, t_mode(0), format, x, format, y, 0, &events),
             expected = hu_encode64(format, t_mode(0), rows[i].z, 0, NULL);
    if (z != expected || events != rows[i].events)
      fail_msg("pow(%a, %a): %#x, events %#x", rows[i].x, rows[i].y, z, events);
  }
}

/* Into binary32 to nearest, all modes beside; operands binary32. */
static void test_binary32(void **state) {
  (void)state;
  static const int functions[] = {HU_ORACLE_EXP, HU_ORACLE_EXP2, HU_ORACLE_LOG, HU_ORACLE_LOG2};
  t_random random = {t_seed("function_binary32", 55)};
  uint64_t cases = count(4000, 500000, 100000000);
  hu_format format = hu_binary32();
  fn_modes m = {1, {{0, 0, 0, 0, 0, 0, {0, 0}}}, {0}};
  for (uint64_t k = 0; k < cases; k++) {
    int function = functions[k % 4];
    uint32_t code = t_next32(&random);
    if (function <= HU_ORACLE_EXP2) code = (code & 0x807FFFFF) | (uint32_t)t_between(&random, 127 - 26, 127 + 7) << 23;
    if (function > HU_ORACLE_EXP2) code &= 0x7FFFFFFF;
    hu_oracle_code x[2] = {{format, code}, {format, 0}};
    (void)fn_check(function, format, &m, x);
  }
  print_message("%llu cases\n", (unsigned long long)cases);
}

static void test_misuse(void **state) {
  (void)state;
  hu_format format = hu_binary16(), bad = format;
  hu_mode wrong = t_mode(77);
  bad.e = 12;
  for (int i = 0; i < HU_ORACLE_FUNCTIONS; i++) {
    hu_oracle_code x[2] = {{format, 0x3C01}, {format, 0x3C01}};
    uint32_t events = 0;
    assert_int_equal(fn_call(i, bad, t_mode(0), 0, x, &events), 0);
    assert_int_equal(events, HU_EVENT_INVALID);
    events = 0;
    assert_int_equal(fn_call(i, format, wrong, 0, x, &events), 0);
    assert_int_equal(events, HU_EVENT_INVALID);
    assert_true(fn_call(i, format, t_mode(0), 0, x, NULL) != 0);
    x[i == HU_ORACLE_POW].format = bad;
    events = 0;
    assert_int_equal(fn_call(i, format, t_mode(0), 0, x, &events), 0);
    assert_int_equal(events, HU_EVENT_INVALID);
    assert_int_equal(fn_call(i, format, t_mode(0), 0, x, NULL), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pow_table),    cmocka_unit_test(test_misuse),
                                     cmocka_unit_test(test_small_powers), cmocka_unit_test(test_pow),
                                     cmocka_unit_test(test_one_operand),  cmocka_unit_test(test_binary32)};
  return cmocka_run_group_tests_name("elementary functions at random", tests, NULL, NULL);
}
