/* SPDX-License-Identifier: MIT */
/* Scales in tiles of 128 x 4: the places of docs/scaled.md section 7, both ways, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "tests/support/cmocka.h"

/* Places of 130 rows of 5 scales, worked out by hand: [row, column, byte]. */
static void by_hand(void **state) {
  static const size_t places[][3] = {{0, 0, 0},      {0, 3, 3},      {0, 4, 512},    {1, 0, 16},     {1, 3, 19},
                                     {1, 4, 528},    {31, 0, 496},   {31, 3, 499},   {31, 4, 1008},  {32, 0, 4},
                                     {32, 3, 7},     {32, 4, 516},   {127, 0, 508},  {127, 3, 511},  {127, 4, 1020},
                                     {128, 0, 1024}, {128, 3, 1027}, {128, 4, 1536}, {129, 0, 1040}, {129, 4, 1552}};
  (void)state;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    assert_int_equal(hu_scaled_tile_place(places[i][0], places[i][1], 5), places[i][2]);
  assert_int_equal(hu_scaled_tiles_size(130, 5), 2048);
  assert_int_equal(hu_scaled_tiles_size(128, 4), 512);
  assert_int_equal(hu_scaled_tiles_size(129, 4), 1024);
}

/* Every scale has a byte of its own, the others are 0, and back it is what it was. */
static void there_and_back(void **state) {
  static const size_t sides[][2] = {{1, 1}, {31, 3}, {130, 5}, {128, 4}, {300, 9}, {256, 8}};
  (void)state;
  for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
    size_t rows = sides[i][0], cols = sides[i][1], ld = cols + 2, size = hu_scaled_tiles_size(rows, cols), filled = 0;
    uint8_t *x = malloc(rows * ld), *z = malloc(size), *back = malloc(rows * ld);
    for (size_t k = 0; k < rows * ld; k++) x[k] = (uint8_t)(1 + k * 7 % 255);
    memset(z, 0xA5, size);
    memcpy(back, x, rows * ld);
    assert_int_equal(hu_scaled_tile(rows, cols, z, x, ld), HU_OK);
    for (size_t k = 0; k < size; k++) filled += z[k] != 0;
    assert_int_equal(filled, rows * cols);
    for (size_t r = 0; r < rows; r++) memset(back + r * ld, 0, cols);
    assert_int_equal(hu_scaled_untile(rows, cols, back, ld, z), HU_OK);
    assert_memory_equal(back, x, rows * ld);
    free(x);
    free(z);
    free(back);
  }
}

static void wrong(void **state) {
  uint8_t x[1024] = {1}, z[512];
  (void)state;
  assert_int_equal(hu_scaled_tile(3, 4, z, x, 3), HU_E_SHAPE);
  assert_int_equal(hu_scaled_tile(0, 5, z, x, 4), HU_E_SHAPE);
  assert_int_equal(hu_scaled_tile(3, 4, NULL, x, 4), HU_E_NULL);
  assert_int_equal(hu_scaled_untile(3, 4, z, 4, NULL), HU_E_NULL);
  assert_int_equal(hu_scaled_tile(3, 4, x + 4, x, 4), HU_E_OVERLAP);
  assert_int_equal(hu_scaled_tile(SIZE_MAX / 2, SIZE_MAX / 2, z, x, SIZE_MAX / 2), HU_E_SHAPE);
  assert_int_equal(hu_scaled_tiles_size(SIZE_MAX / 2, SIZE_MAX / 2), 0);
  assert_int_equal(hu_scaled_tile(0, 4, NULL, NULL, 4), HU_OK);
  assert_int_equal(hu_scaled_tiles_size(0, 4), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(there_and_back),
                                     cmocka_unit_test(wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
