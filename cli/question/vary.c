/* SPDX-License-Identifier: MIT */
/* See vary.h. */
#include "cli/question/vary.h"

#include "cli/question/operand.h"

static void swap_products(id_vectors *questions, size_t row, size_t i, size_t j) {
  for (int column = ID_A; column <= ID_B; column++) {
    uint64_t x = id_get(questions, column, row, i);
    id_put(questions, column, row, i, id_get(questions, column, row, j));
    id_put(questions, column, row, j, x);
  }
}

static uint64_t near_pattern(const id_operand *operand, uint64_t x, id_random *random) {
  unsigned width = hu_type_width(operand->element);
  uint64_t one = 1, exponent = operand->integer ? 2 : one << operand->digits;
  switch (id_random_below(random, 6)) {
    case 0: x ^= one << id_random_below(random, width); break;
    case 1: x += 1; break;
    case 2: x -= 1; break;
    case 3: x += exponent; break;
    case 4: x -= exponent; break;
    default: x = id_operand_negated(operand, x); break;
  }
  return width < 64 ? x & ((one << width) - 1) : x;
}

/* Draws a column that may change: A and B twice as often as C and scales. */
static int draw_column(const id_shape *shape, id_random *random) {
  static const int columns[] = {ID_A, ID_A, ID_B, ID_B, ID_C, ID_SA, ID_SB};
  for (;;) {
    int column = columns[id_random_below(random, sizeof columns / sizeof columns[0])];
    int fixed =
        (column == ID_B && shape->sums) || (column == ID_C && shape->without_c) || id_column_length(shape, column) == 0;
    if (!fixed) return column;
  }
}

static void vary_once(id_vectors *questions, size_t row, id_random *random) {
  const id_shape *shape = questions->shape;
  int column = draw_column(shape, random);
  size_t k = (size_t)id_random_below(random, id_column_length(shape, column));
  if (column <= ID_B && id_random_chance(random, 15)) {
    swap_products(questions, row, k, (size_t)id_random_below(random, shape->n));
    return;
  }
  if (column <= ID_C && id_random_chance(random, 10)) {
    id_put(questions, column, row, k, 0);
    return;
  }
  id_operand operand = id_operand_of(id_column_element(shape, column));
  id_put(questions, column, row, k, near_pattern(&operand, id_get(questions, column, row, k), random));
}

void id_vary(id_vectors *questions, size_t row, id_random *random) {
  for (uint64_t changes = 1 + id_random_below(random, 3); changes > 0; changes--) vary_once(questions, row, random);
}
