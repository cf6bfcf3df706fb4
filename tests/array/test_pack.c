/* SPDX-License-Identifier: MIT */
/* Packed codes: each bit in its place, nothing behind the last byte, back again; misuse. */
#include <string.h>

#include "halfulp/array.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static void test_pack(void **state) {
  (void)state;
  t_random random = {t_seed("pack", 6)};
  for (unsigned width = 1; width <= 8; width++) {
    for (size_t n = 0; n < 70; n++) {
      uint8_t x[70], packed[80], back[80];
      size_t bytes = hu_pack_size(n, width);
      assert_int_equal(bytes, (n * width + 7) / 8);
      for (size_t i = 0; i < n; i++) x[i] = (uint8_t)(t_next32(&random) >> (32 - width));
      memset(packed, 0xA5, sizeof packed);
      memset(back, 0xA5, sizeof back);
      assert_int_equal(hu_pack_n(n, packed, x, width, NULL), HU_OK);
      for (size_t i = bytes; i < sizeof packed; i++) assert_int_equal(packed[i], 0xA5);
      for (size_t bit = 0; bit < 8 * bytes; bit++) {
        unsigned expected = bit < n * width ? x[bit / width] >> (bit % width) & 1u : 0;
        assert_int_equal(packed[bit / 8] >> (bit % 8) & 1, expected);
      }
      assert_int_equal(hu_unpack_n(n, back, packed, width, NULL), HU_OK);
      for (size_t i = 0; i < n; i++) assert_int_equal(back[i], x[i]);
      for (size_t i = n; i < sizeof back; i++) assert_int_equal(back[i], 0xA5);
    }
  }
  uint8_t b[8] = {0};
  assert_int_equal(hu_pack_n(4, b, b + 4, 0, NULL), HU_E_SHAPE);
  assert_int_equal(hu_unpack_n(4, b, b + 4, 9, NULL), HU_E_SHAPE);
  assert_int_equal(hu_pack_n(4, NULL, b, 4, NULL), HU_E_NULL);
  assert_int_equal(hu_pack_n(4, b, b, 4, NULL), HU_E_OVERLAP);
  assert_true(hu_pack_size(SIZE_MAX, 8) == SIZE_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pack)};
  return cmocka_run_group_tests_name("packed codes", tests, NULL, NULL);
}
