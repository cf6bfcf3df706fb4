/* SPDX-License-Identifier: MIT */
/* What the lanes of the elementary functions leave to the core: few of the ordinary operands. */
#include "emu/arith/function_lanes.h"
#include "emu/simd/level.h"
#include "halfulp/operation.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

/* How many ordinary operands the lanes of the best level leave to the core. */
static void test_left(void **state) {
  (void)state;
  enum { COUNT = 1 << 16, ROUNDS = 16 };
  static uint32_t x[COUNT], y[COUNT];
  static uint64_t wide[COUNT], left[COUNT];
  t_random random = {t_seed("function_left", 78)};
  const hu_function_kernels *lanes = hui_level_for(NULL)->function;
  uint64_t powers_left = 0, angles_left = 0;
  for (int k = 0; lanes && k < ROUNDS; k++) {
    for (size_t i = 0; i < COUNT; i++) {
      x[i] = (t_next32(&random) & 0x7FFFFF) | (uint32_t)t_between(&random, 127 - 8, 127 + 7) << 23;
      y[i] = (t_next32(&random) & 0x807FFFFF) | (uint32_t)t_between(&random, 127 - 8, 127 + 3) << 23;
    }
    (void)lanes->pow(COUNT, wide, left, x, y);
    for (size_t i = 0; i < COUNT; i++) powers_left += left[i];
    for (size_t i = 0; i < COUNT; i++) x[i] = (x[i] & 0x7FFFFF) | (uint32_t)t_between(&random, 127 + 20, 254) << 23;
    (void)lanes->lane[HU_OP_SIN - HU_OP_FUNCTION](COUNT, wide, left, x);
    for (size_t i = 0; i < COUNT; i++) angles_left += left[i];
  }
  print_message("left of %d: %llu powers, %llu sines of large angles\n", COUNT * ROUNDS,
                (unsigned long long)powers_left, (unsigned long long)angles_left);
  assert_true(powers_left < COUNT * ROUNDS / 1000 && angles_left < COUNT * ROUNDS / 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_left)};
  return cmocka_run_group_tests_name("what lanes of functions leave", tests, NULL, NULL);
}
