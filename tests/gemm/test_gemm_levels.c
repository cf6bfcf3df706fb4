/* SPDX-License-Identifier: MIT */
/* hu_gemm at sizes beyond its blocks: every kernel level and thread count gives the same bytes, padding included, and
 * the same events; spot checks by sums in 128-bit integers. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/problem.h"
#include "tests/support/levels.h"

static const uint32_t counts[] = {1, 2, 3, 5};

static size_t odd_size(t_random *random, uint32_t about) { return about / 2 + t_below(random, about); }

static void all_the_same(const t_problem *problem, unsigned long *runs) {
  t_outcome first = problem_run(problem, 1, UINT32_MAX);
  char text[PROBLEM_TEXT];
  if (first.status != HU_OK) fail_msg("%s: %s", problem_text(text, problem), hu_status_name(first.status));
  assert_true(outcome_padding_untouched(problem, &first));
  for (size_t i = 0; i < t_levels(); i++) {
    for (size_t t = 0; t < 4; t++) {
      if (i && t && (i + t) % 2) continue; /* every level, every count, half of the pairs */
      t_outcome outcome = problem_run(problem, counts[t], t_levels_off(i));
      if (!outcome_same(&first, &outcome))
        fail_msg("%s: levels off %u, %u threads", problem_text(text, problem), t_levels_off(i), counts[t]);
      free(outcome.d);
      ++*runs;
    }
  }
  free(first.d);
}

static void random_sizes(void **state) {
  (void)state;
  static const char *const names[] = {"binary32",  "bfloat16",      "binary16",      "float8_e5m2",
                                      "fp(4,3,4)", "float8_e4m3fn", "float4_e2m1fn", "binary8p4se"};
  t_random random = {t_seed("gemm levels", 31)};
  unsigned long runs = 0;
  for (int i = 0; i < 24; i++) {
    t_problem problem;
    hu_format format[4];
    for (int q = 0; q < 4; q++) assert_int_equal(hu_format_parse(&format[q], names[t_below(&random, 8)], NULL), HU_OK);
    size_t m = odd_size(&random, 90), n = odd_size(&random, 90), k = odd_size(&random, 150);
    const hu_format *fc = t_below(&random, 2) ? &format[2] : NULL;
    problem_draw(&problem, &random, m, n, k, format[0], format[1], fc, format[3], (uint32_t)i % 2);
    if (i % 6 == 0) problem.mode = t_mode(HU_SRC), problem.mode.bits = 32; /* exact sums in integers */
    all_the_same(&problem, &runs);
    problem_free(&problem);
  }
  print_message("gemm levels: %lu runs agree\n", runs);
}

/* Larger than a block in each direction in turn. */
static void beyond_blocks(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{600, 3, 20}, {3, 700, 20}, {2, 3, 3000}, {290, 270, 30}, {100, 200, 75}};
  t_random random = {t_seed("gemm beyond blocks", 32)};
  unsigned long runs = 0;
  hu_format format[3] = {hu_format_ieee(8, 23, 0), hu_format_fn(4, 3, 0), hu_format_ieee(5, 2, 0)};
  for (int s = 0; s < 5; s++) {
    for (int q = 0; q < 3; q++) {
      for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
        t_problem problem;
        problem_draw(&problem, &random, shapes[s][0], shapes[s][1], shapes[s][2], format[q], format[q], &format[q],
                     format[0], kind);
        all_the_same(&problem, &runs);
        problem_free(&problem);
      }
    }
  }
  print_message("gemm beyond blocks: %lu runs agree\n", runs);
}

/* Codes of fp(1,k,...) are integers: sums of products by plain integer arithmetic, whatever the sizes. */
static void integers(void **state) {
  (void)state;
  t_random random = {t_seed("gemm integers", 33)};
  unsigned long elements = 0;
  hu_format narrow = hu_format_finite(1, 6, -6), wide = hu_format_finite(1, 22, -22), d = hu_format_finite(2, 29, -29);
  assert_int_equal(hu_format_check(d, NULL), HU_OK);
  for (int i = 0; i < 12; i++) {
    t_problem problem;
    hu_format format = i % 2 ? wide : narrow;
    size_t m = odd_size(&random, 60), n = odd_size(&random, 60), depth = odd_size(&random, i < 4 ? 500 : 60);
    problem_draw(&problem, &random, m, n, depth, format, format, NULL, d, HU_ACCUM_EXACT);
    problem.mode = t_mode(HU_RTZ);
    t_outcome outcome =
        problem_run(&problem, 1 + (uint32_t)i % 3, t_levels_off(t_below(&random, (uint32_t)t_levels())));
    assert_int_equal(outcome.status, HU_OK);
    double unit = hu_decode64(format, 1);
    for (size_t e = 0; e < problem.m * problem.n; e++) {
      double sum = 0; /* below 2^53: 46 digits of a product of 23, and a few of cancelling sums */
      __extension__ __int128 exact = 0;
      for (size_t k = 0; k < problem.k; k++) {
        int64_t x = (int64_t)(hu_decode64(format, problem.a.code[e / problem.n * problem.k + k]) / unit);
        int64_t y = (int64_t)(hu_decode64(format, problem.b.code[k * problem.n + e % problem.n]) / unit);
        exact += x * y;
      }
      sum = (double)exact * unit * unit;
      if ((int64_t)sum == 0 && exact != 0) continue;
      if (exact > (int64_t)1 << 52 || exact < -((int64_t)1 << 52)) continue;
      uint32_t expected = hu_encode64(d, problem.mode, sum, 0, NULL),
               got = outcome_element(&problem, &outcome, e / problem.n, e % problem.n);
      if (problem.kind == HU_TYPE_VALUES32) expected = t_bits32(hu_decode(d, expected));
      if (exact == 0) expected &= 0x7FFFFFFFu, got &= 0x7FFFFFFFu; /* the sign of zero is another test's */
      assert_int_equal(got, expected);
      elements++;
    }
    free(outcome.d);
    problem_free(&problem);
  }
  assert_true(elements > 5000);
  print_message("gemm integers: %lu elements\n", elements);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sizes),
      cmocka_unit_test(beyond_blocks),
      cmocka_unit_test(integers),
  };
  return cmocka_run_group_tests_name("gemm levels and threads", tests, NULL, NULL);
}
