/* SPDX-License-Identifier: MIT */
/* Small worlds: every catalogue format of up to 8 bits, all operands, against the oracle, codes and events.
 *
 * two       add, sub, mul, div: all pairs of codes; for the formats of `thorough` in all 11 modes, and in every third
 *           under every policy that can matter wherever the result is not an ordinary one; for the others in every
 *           third mode, which third by turns. Else one of the 24 policies by turns. The four of minimum and maximum:
 *           all pairs, one mode and policy by turns.
 * one       sqrt, round_to_integral: all codes, all modes (the stochastic ones with N = 1..4 and every R, and with
 *           larger N). The deterministic modes under all 24 policies, the stochastic ones under one by turns and
 *           every one that can matter.
 * fma       all triples of the formats of up to 6 bits, modes and policies as for pairs; those with a NaN under both
 *           policies of nan_fma.
 *
 * In an exhaustive build all formats are thorough, all modes meet all policies that matter, all codes of `one` all 24
 * policies in all modes, and fma has all triples of float8_e4m3fn and float8_e5m2, ties to even.
 *
 * order     compare, next_up, next_down, class against the table of the oracle's values: all codes, all pairs. */
#include "tests/arith/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "tests/oracle/shard.h"

enum { MAX_CODES = 256 };

static const char *const thorough[] = {
    "float8_e4m3fn", "float8_e5m2",   "float8_e4m3fnuz", "float8_e8m0fnu", "float6_e2m3fn",
    "float6_e3m2fn", "float4_e2m1fn", "binary8p4se",     "binary8p3sf",    "binary8p3ue",
    "binary5p2se",   "float4_e3m0",   "binary6p3uf",
};

typedef struct t_world {
  t_shard part;
  uint64_t seed;
} t_world;

static int is_thorough(hu_format format) {
  if (HU_EXHAUSTIVE) return 1;
  for (size_t i = 0; i < sizeof thorough / sizeof *thorough; i++) {
    hu_format other;
    assert_int_equal(hu_format_find(&other, thorough[i]), HU_OK);
    if (hu_format_equal(format, other)) return 1;
  }
  return 0;
}

static unsigned width_of(hu_format format) { return (unsigned)format.sign + format.e + format.m; }

/* The next entry of this shard that is the first with its descriptor. */
static size_t next_world(const t_world *world, size_t i, unsigned max_width) {
  for (i = t_next_format(i, max_width); i < hu_format_count(); i = t_next_format(i + 1, max_width)) {
    hu_format_entry entry = hu_format_at(i);
    if (shard_has(world->part, i) && strcmp(hu_format_id(entry.format), entry.id) == 0) break;
  }
  return i;
}

/* ---- Modes and policies. */

typedef struct t_turn {
  t_random random;
  unsigned at, operands; /* policies and operands so far */
} t_turn;

/* Is mode number i of 11 for these operands? */
static int has_mode(const t_turn *turn, int all, unsigned i) { return all || (i + turn->operands) % 3 == 0; }

static hu_mode policy_by_turn(t_turn *turn, hu_mode mode) {
  unsigned k = turn->at++ % 24;
  return t_policy(mode, k % 4, k / 4 % 2, k / 8);
}

/* Mode number i of 11; the stochastic ones with few random digits, now and then many. */
static hu_mode mode_number(t_turn *turn, unsigned i) {
  if (i < T_DETERMINISTIC) return t_mode(i);
  unsigned bits = t_below(&turn->random, 4) ? 1 + t_below(&turn->random, 4) : 1 + t_below(&turn->random, 32);
  return t_stochastic(i, bits);
}

/* Every other policy that could change this result: saturation beyond the range, tininess near the bottom, NaN. */
static uint64_t other_policies(int op, hu_format format, hu_mode mode, uint32_t r, const hu_oracle_code *x,
                               uint32_t events) {
  const uint32_t beyond = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INVALID | HU_EVENT_NAN_IN |
                          HU_EVENT_INF_IN | HU_EVENT_DIVIDE_BY_ZERO;
  const uint32_t low = HU_EVENT_UNDERFLOW | HU_EVENT_SUBNORMAL | HU_EVENT_TO_ZERO;
  uint64_t count = 0;
  if (events & beyond) {
    unsigned nans = events & (HU_EVENT_NAN_IN | HU_EVENT_INVALID) ? 3 : 1;
    for (unsigned k = 0; k < 4 * nans; k++, count++) ar_check(op, format, t_policy(mode, k % 4, 0, k / 4), r, x);
  } else if (events & low) {
    for (unsigned tiny = 0; tiny < 2; tiny++, count++) ar_check(op, format, t_policy(mode, 0, tiny, 0), r, x);
  }
  return count;
}

/* ---- Two operands. */

static uint64_t pairs_of(int op, hu_format format, unsigned modes, int all, t_turn *turn) {
  uint32_t codes = 1u << width_of(format);
  uint64_t count = 0;
  for (uint32_t a = 0; a < codes; a++) {
    for (uint32_t b = 0; b < codes; b++, turn->operands++) {
      hu_oracle_code x[2] = {{format, a}, {format, b}};
      for (unsigned i = 0; i < modes; i++) {
        if (modes > 1 && !has_mode(turn, all, i)) continue;
        count++;
        hu_mode mode = mode_number(turn, modes == 1 ? (a + b) % HU_ROUND_COUNT : i);
        uint32_t r = t_next32(&turn->random), events = ar_check(op, format, policy_by_turn(turn, mode), r, x);
        if (modes > 1 && all && has_mode(turn, HU_EXHAUSTIVE, i))
          count += other_policies(op, format, mode, r, x, events);
      }
    }
  }
  return count;
}

static void test_two(void **state) {
  const t_world *world = *state;
  uint64_t count = 0, formats = 0;
  t_turn turn = {{world->seed}, 0, 0};
  for (size_t i = next_world(world, 0, 8); i < hu_format_count(); i = next_world(world, i + 1, 8), formats++) {
    hu_format format = hu_format_at(i).format;
    for (int op = HU_ORACLE_ADD; op <= HU_ORACLE_DIV; op++)
      count += pairs_of(op, format, HU_ROUND_COUNT, is_thorough(format), &turn);
    for (int op = HU_ORACLE_MINIMUM; op <= HU_ORACLE_MAXIMUM_NUMBER; op++) count += pairs_of(op, format, 1, 0, &turn);
  }
  assert_true(formats > 0);
  print_message("%llu operations on all pairs of %llu formats\n", (unsigned long long)count,
                (unsigned long long)formats);
}

/* ---- One operand. */

static uint64_t one_operand(int op, hu_format format, hu_mode mode, uint32_t r, uint32_t code) {
  hu_oracle_code x = {format, code};
  for (unsigned k = 0; k < 24; k++) ar_check(op, format, t_policy(mode, k % 4, k / 4 % 2, k / 8), r, &x);
  return 24;
}

static uint64_t one_stochastic(int op, hu_format format, hu_mode mode, uint32_t r, uint32_t code, t_turn *turn) {
  hu_oracle_code x = {format, code};
  if (HU_EXHAUSTIVE) return one_operand(op, format, mode, r, code);
  uint32_t events = ar_check(op, format, policy_by_turn(turn, mode), r, &x);
  return 1 + other_policies(op, format, mode, r, &x, events);
}

static uint64_t one_world(int op, hu_format format, t_turn *turn) {
  uint64_t count = 0;
  for (uint32_t code = 0; code < 1u << width_of(format); code++) {
    for (unsigned round = 0; round < T_DETERMINISTIC; round++) count += one_operand(op, format, t_mode(round), 0, code);
    for (unsigned round = HU_SRA; round <= HU_SRC; round++) {
      for (unsigned bits = 1; bits <= 4; bits++)
        for (uint32_t r = 0; r < 1u << bits; r++)
          count += one_stochastic(op, format, t_stochastic(round, bits), r, code, turn);
      unsigned bits = (unsigned)t_between(&turn->random, 5, 32);
      count += one_stochastic(op, format, t_stochastic(round, bits), t_next32(&turn->random), code, turn);
    }
  }
  return count;
}

static void test_one(void **state) {
  const t_world *world = *state;
  uint64_t count = 0, formats = 0;
  t_turn turn = {{world->seed + 1}, 0, 0};
  for (size_t i = next_world(world, 0, 8); i < hu_format_count(); i = next_world(world, i + 1, 8), formats++)
    count += one_world(HU_ORACLE_SQRT, hu_format_at(i).format, &turn) +
             one_world(HU_ORACLE_ROUND_TO_INTEGRAL, hu_format_at(i).format, &turn);
  assert_true(formats > 0);
  print_message("%llu roots and integers of all codes of %llu formats\n", (unsigned long long)count,
                (unsigned long long)formats);
}

/* ---- Three operands. */

static uint64_t triples_of(hu_format format, unsigned modes, int all, t_turn *turn) {
  uint32_t codes = 1u << width_of(format);
  uint64_t count = 0;
  for (uint32_t abc = 0; abc < codes * codes * codes; abc++, turn->operands++) {
    hu_oracle_code x[3] = {{format, abc / codes / codes}, {format, abc / codes % codes}, {format, abc % codes}};
    for (unsigned i = 0; i < modes; i++) {
      if (!has_mode(turn, all, i)) continue;
      count++;
      hu_mode mode = policy_by_turn(turn, mode_number(turn, i));
      mode.nan_fma = (uint8_t)(turn->random.state & 1);
      uint32_t events = ar_check(HU_ORACLE_FMA, format, mode, t_next32(&turn->random), x);
      if (!(events & HU_EVENT_NAN_IN)) continue;
      mode.nan_fma ^= 1; /* a NaN is met by both of the policies that it can matter for */
      count++;
      ar_check(HU_ORACLE_FMA, format, mode, t_next32(&turn->random), x);
    }
  }
  return count;
}

static void test_fma(void **state) {
  const t_world *world = *state;
  uint64_t count = 0, formats = 0;
  t_turn turn = {{world->seed + 2}, 0, 0};
  for (size_t i = next_world(world, 0, 6); i < hu_format_count(); i = next_world(world, i + 1, 6), formats++)
    count += triples_of(hu_format_at(i).format, HU_ROUND_COUNT, is_thorough(hu_format_at(i).format), &turn);
  assert_true(formats > 0);
  print_message("%llu fma of all triples of %llu formats\n", (unsigned long long)count, (unsigned long long)formats);
  static const char *const eight[] = {"float8_e4m3fn", "float8_e5m2"};
  for (unsigned i = 0; HU_EXHAUSTIVE && i < 2; i++) {
    hu_format format;
    if (!shard_has(world->part, i)) continue;
    assert_int_equal(hu_format_find(&format, eight[i]), HU_OK);
    count = triples_of(format, 1, 1, &turn);
    assert_true(count > 1u << 24); /* those with a NaN count twice */
    print_message("%s: all triples, ties to even: %llu cases\n", eight[i], (unsigned long long)count);
  }
}

/* ---- Order, neighbours, classes. */

static int relation(double a, double b) {
  return a < b ? HU_LESS : a > b ? HU_GREATER : a == b ? HU_EQUAL : HU_UNORDERED;
}

/* The code of the least value above v; `x` if there is none. Of two zeros a step up from below reaches the negative
 * one. */
static uint32_t above_by_search(const double *values, uint32_t codes, uint32_t x, int up) {
  double v = values[x], best = NAN;
  uint32_t found = x;
  for (uint32_t c = 0; c < codes; c++) {
    double u = values[c];
    if (isnan(u) || !(up ? u > v : u < v)) continue;
    int nearer = isnan(best) || (up ? u < best : u > best);
    if (u == 0 && best == 0) nearer = signbit(u) != signbit(best) && (signbit(u) != 0) == up;
    if (nearer) {
      best = u;
      found = c;
    }
  }
  return found;
}

static int class_of(hu_format format, double v) {
  double a = fabs(v), least = ldexp(1, hu_limits_of(format).emin);
  if (isnan(v)) return HU_CLASS_NAN;
  int subnormal =
      format.e == 0 || (format.zero == HU_ZERO_FIELD && format.subnormal == HU_SUBNORMAL_GRADUAL && a < least);
  int size = isinf(v) ? 3 : a == 0 ? 0 : subnormal ? 1 : 2;
  return signbit(v) ? HU_CLASS_NEGATIVE_ZERO - size : HU_CLASS_POSITIVE_ZERO + size;
}

/* IEEE 754-2019 6.2.1, in the formats that have its NaNs: the text of the code's digits behind the exponent. */
static int signalling_of(hu_format format, uint32_t code, double v) {
  int both = format.nan == HU_NAN_IEEE || format.nan == HU_NAN_IEEE_ONES;
  return both && format.m > 0 && isnan(v) && code % (1u << format.m) < 1u << (format.m - 1);
}

static void check_neighbour(hu_format format, const double *values, uint32_t codes, uint32_t c, int up) {
  uint32_t got = up ? hu_next_up(format, c) : hu_next_down(format, c), expected = above_by_search(values, codes, c, up);
  char text[T_FORMAT_TEXT];
  double v = isnan(values[c]) ? values[c] : values[expected];
  if (isnan(values[c]) ? got != (hu_limits_of(format).nan_code & (codes - 1)) : !t_same64(values[got], v))
    fail_msg("%s: %s of %#x (%a) is %#x (%a), not %a", t_format_text(text, format), up ? "next_up" : "next_down", c,
             values[c], got, values[got], v);
  if (!isnan(v)) assert_int_equal(got, hu_encode64(format, t_policy(t_mode(0), HU_SAT_PROPAGATE, 0, 0), v, 0, NULL));
}

static uint64_t order_world(hu_format format) {
  double values[MAX_CODES];
  uint32_t codes = 1u << width_of(format);
  for (uint32_t c = 0; c < codes; c++) assert_int_equal(hu_oracle_decode64(&values[c], format, c), HU_OK);
  for (uint32_t a = 0; a < codes; a++) {
    uint32_t garbage = a | (uint32_t)(UINT64_C(0x5A5A5A5A) << width_of(format));
    for (uint32_t b = 0; b < codes; b++)
      assert_int_equal(hu_compare(format, garbage, format, b), relation(values[a], values[b]));
    assert_int_equal(hu_class(format, garbage), class_of(format, values[a]));
    assert_int_equal(hu_is_signalling(format, garbage), signalling_of(format, a, values[a]));
    check_neighbour(format, values, codes, a, 1);
    check_neighbour(format, values, codes, a, 0);
    assert_int_equal(hu_next_up(format, garbage), hu_next_up(format, a));
  }
  return (uint64_t)codes * codes + 3 * codes;
}

static void test_order(void **state) {
  const t_world *world = *state;
  uint64_t count = 0, formats = 0;
  for (size_t i = next_world(world, 0, 8); i < hu_format_count(); i = next_world(world, i + 1, 8), formats++)
    count += order_world(hu_format_at(i).format);
  assert_true(formats > 0);
  print_message("%llu relations, neighbours and classes in %llu formats\n", (unsigned long long)count,
                (unsigned long long)formats);
}

int main(int argc, char **argv) {
  t_world world = {shard_parse(argc > 1 ? argv[1] : NULL), t_seed("arith_worlds", 11)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_order, &world), cmocka_unit_test_prestate(test_one, &world),
      cmocka_unit_test_prestate(test_fma, &world), cmocka_unit_test_prestate(test_two, &world)};
  return cmocka_run_group_tests_name("arithmetic of small worlds", tests, NULL, NULL);
}
