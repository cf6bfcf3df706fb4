/* SPDX-License-Identifier: MIT */
/* Number systems against the oracle, codes and events.
 *
 * usage: test_number_worlds [PART/OF [COUNT]]   (COUNT: random operands of the large systems, each)
 *
 * decode    Every code of every system of the catalogue of up to 16 bits, of all small posits, logarithmic and
 *           fixed-point numbers, with and without garbage above the width; random codes of the wider ones.
 * encode    The small systems: every value, every mean and quarter between neighbours, each of these and its
 *           neighbours in binary64, specials, in all deterministic modes and stochastic ones.
 * convert   Every code of every small system into every one, all deterministic modes, one stochastic, by turns.
 * random    Any system, any mode, operands near what matters; the wide systems of the catalogue. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/number/compare.h"
#include "tests/support/cmocka.h"

static unsigned part = 0, of = 1;
static size_t count = 20000;

static void decode_all(hu_number n, uint64_t *codes) {
  uint32_t width = hu_number_limits_of(n).width;
  const unsigned step = width > 12 && t_part(100) < 100 ? 5 : 1; /* of the codes of 16 bits a part */
  for (uint64_t c = 0; c < (uint64_t)1 << width; c += step, ++*codes) {
    uint32_t garbage = (uint32_t)(c | UINT64_C(0x5A5A5A5A) << width);
    assert_true(same_decode(n, (uint32_t)c));
    assert_true(t_same64(hu_number_decode64(n, garbage), hu_number_decode64(n, (uint32_t)c)));
  }
}

static void test_decode(void **state) {
  (void)state;
  uint64_t codes = 0;
  t_random random = {t_seed("number-decode", 1)};
  for (size_t i = part; i < hu_number_count(); i += of) {
    hu_number n = hu_number_at(i).number;
    if (n.kind > HU_NUMBER_TABLE) continue; /* which the oracle does not have: test_tapered.c */
    if (hu_number_limits_of(n).width <= 16) decode_all(n, &codes);
    for (int k = 0; k < 2000; k++) assert_true(same_decode(n, t_next32(&random)));
  }
  for (unsigned w = 2 + part; w <= 9; w += of) {
    for (unsigned k = 0; k <= 32; k++) {
      hu_number list[6] = {hu_number_posit(w, k),
                           hu_number_lns(w, k, HU_LNS_TWOS),
                           hu_number_lns(w, k, HU_LNS_OFFSET),
                           hu_number_lns(w, k, HU_LNS_UNSIGNED),
                           hu_number_fixed(1, w - 2, k, 0),
                           hu_number_fixed(0, w, k, 1)};
      for (size_t i = 0; i < 6; i++) {
        if (hu_number_check(list[i], NULL) == HU_OK && hu_number_limits_of(list[i]).width < 10)
          decode_all(list[i], &codes);
      }
    }
  }
  assert_true(codes > 1000);
  print_message("%llu codes decoded\n", (unsigned long long)codes);
}

/* ---- encode ---- */

static uint64_t tried;

static hu_mode stochastic_by_turns(uint64_t turn) {
  static const unsigned bits[] = {1, 2, 3, 8, 31, 32};
  return t_stochastic(HU_SRA + (unsigned)(turn % 3), bits[turn / 3 % 6]);
}

static void try_operand(hu_number n, double x) {
  for (unsigned i = 0; i < T_DETERMINISTIC; i++, tried++) assert_true(same_encode(n, t_mode(i), x, 0));
  hu_mode mode = stochastic_by_turns(tried);
  for (unsigned i = 0; i < 4; i++, tried++) {
    assert_true(same_encode(n, mode, x, mode.bits < 3 ? i : (uint32_t)(tried * 2654435761u)));
  }
}

static void try_near(hu_number n, double x) {
  try_operand(n, x);
  try_operand(n, nextafter(x, INFINITY));
  try_operand(n, nextafter(x, -INFINITY));
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void try_specials(hu_number n) {
  static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < 5; i++) {
    for (unsigned k = 0; k < 12 * T_DETERMINISTIC; k++, tried++) {
      assert_true(same_encode(n, t_policy(t_mode(k % 8), k / 8 % 4, 0, k / 32), special[i], 0));
    }
  }
}

static void encode_world(hu_number n) {
  double values[256];
  size_t finite = 0;
  uint32_t width = hu_number_limits_of(n).width;
  for (uint32_t c = 0; c < 1u << width; c++) {
    double v = hu_number_decode64(n, c);
    if (isfinite(v)) values[finite++] = v;
  }
  qsort(values, finite, sizeof *values, by_value);
  for (size_t i = 0; i < finite; i++) {
    try_near(n, values[i]);
    if (i + 1 == finite) break;
    double gap = values[i + 1] - values[i];
    try_near(n, values[i] + gap / 2);
    try_near(n, values[i] / 2 + values[i + 1] / 2);
    try_operand(n, values[i] + gap / 4);
    try_operand(n, values[i] + gap * 0.75);
    if (values[i] > 0) try_near(n, sqrt(values[i]) * sqrt(values[i + 1]));
  }
  for (int e = -1074; e<1024; e += e> - 60 && e < 60 ? 1 : 37) try_near(n, ldexp(1, e)), try_near(n, -ldexp(1.5, e));
  try_specials(n);
}

static void test_encode(void **state) {
  (void)state;
  size_t systems = 0;
  for (size_t i = part; small_system(i); i += of, systems++) encode_world(number_of(small_system(i)));
  assert_true(systems > 0);
  print_message("%llu roundings into %zu systems\n", (unsigned long long)tried, systems);
}

static void test_convert(void **state) {
  (void)state;
  uint64_t pairs = 0, done = 0;
  for (size_t i = 0; small_system(i); i++) {
    for (size_t k = 0; small_system(k); k++) {
      if ((i + k) % of != part) continue;
      hu_number from = number_of(small_system(i)), to = number_of(small_system(k));
      for (uint32_t c = 0; c < 1u << hu_number_limits_of(from).width; c++) {
        if (t_part(100) < 100 && (c + i + k / 2) % 3 != 0) continue;
        for (unsigned m = 0; m < T_DETERMINISTIC; m++, done++) assert_true(same_convert(to, t_mode(m), from, c, 0));
        assert_true(same_convert(to, stochastic_by_turns(done / 8), from, c, (uint32_t)(done * 2654435761u)));
      }
      pairs++;
    }
  }
  print_message("%llu conversions, %llu pairs\n", (unsigned long long)done * 9 / 8, (unsigned long long)pairs);
}

/* ---- random ---- */

static void test_random(void **state) {
  (void)state;
  t_random random = {t_seed("number-random", 77 + part)};
  float tables[2][HU_TABLE_MAX];
  for (size_t i = 0; i < count / of; i++) {
    hu_number n = any_number(&random, tables[0]), from = any_number(&random, tables[1]);
    for (int k = 0; k < 4; k++) {
      assert_true(same_encode(n, any_mode(&random), any_operand(&random, n), t_next32(&random)));
      assert_true(same_convert(n, any_mode(&random), from, t_next32(&random), t_next32(&random)));
    }
    assert_true(same_decode(n, t_next32(&random)));
  }
}

static void test_wide(void **state) {
  (void)state;
  static const char *const names[] = {"posit16",       "posit32", "posit16_es1", "lns16",     "lns32",
                                      "logfixpoint16", "q15",     "q31",         "uq(32.0)",  "uq(0.32):wrap",
                                      "s15_16",        "int32",   "posit(31,4)", "lns(24,21)"};
  t_random random = {t_seed("number-wide", 5 + part)};
  for (size_t i = part; i < sizeof names / sizeof *names; i += of) {
    hu_number n = number_of(names[i]);
    for (size_t k = 0; k < count; k++) {
      hu_mode mode = k % 4 ? t_mode((unsigned)(k / 4 % 8)) : any_mode(&random);
      double x = k % 2 ? (double)t_float(t_next32(&random)) : any_operand(&random, n);
      assert_true(same_encode(n, mode, x, t_next32(&random)));
      if (k % 8 == 0)
        assert_true(same_convert(number_of(names[k / 8 % 14]), mode, n, t_next32(&random), t_next32(&random)));
    }
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && sscanf(argv[1], "%u/%u", &part, &of) != 2) return 2;
  count = t_part((unsigned)count);
  if (argc > 2) count = (size_t)strtoull(argv[2], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_decode), cmocka_unit_test(test_encode),
                                     cmocka_unit_test(test_convert), cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_wide)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
