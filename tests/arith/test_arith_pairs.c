/* SPDX-License-Identifier: MIT */
/* All pairs of 16-bit formats by digest: through the lanes, and by the one-value core. An ordinary build takes every
 * 1021st first operand, an exhaustive one all of them. */
#include "halfulp/view.h"
#include "tests/arith/pairs.h"

static uint16_t b[PAIRS_CODES];

static void operate(void *context, const pairs_row *row, uint16_t a, uint16_t z[PAIRS_CODES], hu_events *events) {
  hu_format format = pairs_format(row);
  hu_exec exec = {1, *(const uint32_t *)context, {0, 0}, {0}};
  hu_status status =
      row->mul ? hu_mul_n(PAIRS_CODES, z, 1, format, &a, 0, format, b, 1, format, t_mode(HU_RNE), &exec, events)
               : hu_add_n(PAIRS_CODES, z, 1, format, &a, 0, format, b, 1, format, t_mode(HU_RNE), &exec, events);
  assert_int_equal(status, HU_OK);
}

static void test_pairs(void **state) {
  (void)state;
  uint32_t none = 0, all = ~(uint32_t)0, step = HU_EXHAUSTIVE ? 1 : PAIRS_SOME;
  pairs_fill(b);
  for (int i = 0; i < PAIRS_ROWS; i++) {
    pairs_check(&pairs_rows[i], step, operate, &none, "lanes");
    pairs_check(&pairs_rows[i], step, operate, &all, "core");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
  return cmocka_run_group_tests_name("all pairs of 16-bit formats", tests, NULL, NULL);
}
