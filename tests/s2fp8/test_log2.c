/* SPDX-License-Identifier: MIT */
/* Logarithms: that 128 digits decide for every significand of binary32, which is looked at for all of them; L against
 * MPFR; and the sums of the lanes against L element by element. */
#include <stdio.h>

#include "tests/support/cmocka.h"

/* A square within 2^-60 below 2 (or 4) could be on the wrong side: its error is far below that. */
static uint64_t squares, near_below;
#define HU_S2_SEEN(high, low)                                                                    \
  do {                                                                                           \
    squares++;                                                                                   \
    near_below += (high) << 4 == ~(uint64_t)0 << 4 && ((high) >> 60 == 15 || (high) >> 60 == 7); \
  } while (0)

#include "emu/core/s2fp8.h"
#include "tests/s2fp8/model.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

static void every_significand(void **state) {
  (void)state;
  squares = near_below = 0;
  int64_t before = -1;
  for (uint32_t k = 0; k < 0x800000; k++) {
    int64_t l = hui_s2_log2(0x3F800000 + k);
    assert_true(l > before);
    before = l;
  }
  assert_true(before < (int64_t)1 << 40);
  assert_int_equal(squares, (uint64_t)41 << 23);
  assert_int_equal(near_below, 0);
}

/* All exponents, and subnormal numbers. */
static void against_mpfr(void **state) {
  (void)state;
  t_random random = {t_seed("s2fp8_log2", 5)};
  for (int i = 0; i < 60000; i++) {
    uint32_t u = 1 + t_below(&random, 0x7F7FFFFF);
    if (i < 256) u = (uint32_t)i << 23 | 1;
    if (i % 16 == 0) u = 1 + t_below(&random, 0x7FFFFF);
    if (u >= 0x7F800000) continue;
    int64_t l = model_log2(t_float(u));
    assert_int_equal(hui_s2_log2(u), l);
    assert_int_equal(hu_s2fp8_log2(t_float(u | 0x80000000)), l);
  }
  assert_int_equal(hu_s2fp8_log2(0), INT64_MIN);
  assert_int_equal(hu_s2fp8_log2(t_float(0xFF800000)), INT64_MIN);
  assert_int_equal(hu_s2fp8_log2(t_float(0x7FC00000)), INT64_MIN);
}

/* Every significand through every level: what the lanes do not know they must ask for. */
static void lanes(void **state) {
  (void)state;
  enum { PIECE = 1 << 16 };
  static float x[PIECE];
  for (uint32_t first = 0; first < 0x800000; first += PIECE) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < PIECE; i++) {
      x[i] = t_float(0x3F800000 + first + i);
      sum += hui_s2_log2(0x3F800000 + first + i);
    }
    for (size_t level = 0; level < t_levels(); level++) {
      hu_s2fp8_sums sums = {0};
      hu_exec exec = {1, t_levels_off(level), {0, 0}, {0}};
      if (level + 1 == t_levels() && first) continue; /* the core, once more */
      assert_int_equal(hu_s2fp8_sum_n(PIECE, x, 1, &sums, &exec), HU_OK);
      assert_int_equal(sums.low, (uint64_t)sum);
      assert_int_equal(sums.high, 0);
      assert_int_equal(sums.count, PIECE);
      assert_int_equal(sums.top, 0x3F800000 + first + PIECE - 1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_significand), cmocka_unit_test(against_mpfr),
                                     cmocka_unit_test(lanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
