/* SPDX-License-Identifier: MIT */
/* Scales that are chosen by errors, 4over6 and sweep_mse: every level gives the codes, scales and events of the core,
 * also where errors are equal, vanish or are infinite. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { ROWS = 33, COLS = 53, LD = 60 };
static const char *const blocks[] = {"1x16", "1x5", "16x16", "3x7", "16x1"};
static const char *const rules[] = {"4over6_mae;steps=multiply;tensor",
                                    "4over6_mse;steps=multiply;tensor=256",
                                    "4over6_mae_fast;steps=multiply;tensor=256",
                                    "4over6_mse_fast;steps=multiply;tensor",
                                    "sweep_mse;steps=divide;tensor",
                                    "sweep_mse;steps=multiply;tensor",
                                    "sweep_mse;steps=multiply",
                                    "sweep_mse;steps=divide",
                                    "4over6_mse;steps=multiply;tensor;amin=0x3f000000"};
enum { BLOCKS = sizeof blocks / sizeof *blocks, RULES = sizeof rules / sizeof *rules };

typedef struct made {
  uint8_t codes[ROWS * COLS], scales[ROWS * COLS];
  float t;
  hu_events events;
} made;

static void make(made *m, size_t rows, size_t cols, const float *x, const hu_scaling *scaling, hu_mode mode,
                 size_t level, const float *amax) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, scaling);
  hu_scaled z = {m->codes, cols, m->scales, n.block_cols, scaling->tensor ? &m->t : NULL};
  hu_exec exec = {0, t_levels_off(level), {7, 9}, {0}};
  memset(m, 0, sizeof *m);
  assert_int_equal(hu_scaled_encode(rows, cols, &z, x, LD, scaling, mode, amax, NULL, &exec, &m->events), HU_OK);
}

/* Numbers of a kind: any; multiples of 1/4, whose errors are often equal; near the ends of binary32; some Inf, NaN. */
static float number(t_random *random, int kind) {
  float x = (float)t_between(random, -4095, 4095);
  if (t_below(random, 40) == 0) return t_below(random, 2) ? 0.0f : -0.0f;
  if (kind == 1) return (float)t_between(random, -26, 26) / 4;
  if (kind == 2) return ldexpf(x, -149 + (int)t_below(random, 8));
  if (kind == 3) return ldexpf(x, 115 - (int)t_below(random, 12));
  if (kind == 4 && t_below(random, 50) == 0) return t_below(random, 2) ? INFINITY : NAN;
  return ldexpf(x, -(int)t_below(random, 14));
}

static void compare(const hu_scaling *scaling, const char *text, t_random *random, int i) {
  static float x[ROWS * LD];
  static made core, own;
  size_t rows = 1 + t_below(random, ROWS), cols = 1 + t_below(random, COLS);
  const float given = ldexpf(1, (int)t_between(random, -140, 120));
  int kind = (int)t_below(random, 5);
  uint32_t which = t_below(random, 16);
  hu_mode mode = t_mode(which == 0 ? t_below(random, T_DETERMINISTIC) : HU_RNE);
  if (which == 1) mode = t_stochastic(HU_SRA, 8);
  if (which == 2) mode = t_policy(mode, t_below(random, 3), t_below(random, 2), 0);
  for (size_t k = 0; k < ROWS * LD; k++) x[k] = number(random, kind);
  const float *amax = scaling->tensor && t_below(random, 5) == 0 ? &given : NULL;
  make(&core, rows, cols, x, scaling, mode, t_levels() - 1, amax);
  for (size_t level = 0; level + 1 < t_levels(); level++) {
    make(&own, rows, cols, x, scaling, mode, level, amax);
    if (memcmp(&own, &core, sizeof own) != 0)
      fail_msg("%s, matrix %d, %zu x %zu: %s gives other bits than the core", text, i, rows, cols, t_level_name(level));
  }
}

static void test_levels(void **state) {
  (void)state;
  t_random random = {t_seed("choice", 1)};
  for (size_t b = 0; b < BLOCKS; b++) {
    for (size_t k = 0; k < RULES; k++) {
      char text[HU_SCALING_TEXT_MAX];
      hu_scaling scaling;
      snprintf(text, sizeof text, "scaled(float4_e2m1fn;scale=%s;block=%s;rule=%s;zero=zero)",
               k % 2 ? "ue4m3" : "float8_e4m3fn", blocks[b], rules[k]);
      if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) fail_msg("%s", text);
      int count = (int)t_runs(scaling.rule == HU_SCALE_SWEEP_MSE ? 10 : 90);
      for (int i = 0; i < count; i++) compare(&scaling, text, &random, i);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels)};
  return cmocka_run_group_tests_name("scales chosen by errors", tests, NULL, NULL);
}
