/* SPDX-License-Identifier: MIT */
/* See vary.h. */
#include "cli/question/vary.h"

#include "cli/question/operand.h"

static void swap_products(id_vectors *v, size_t row, size_t i, size_t j) {
  for (int column = ID_A; column <= ID_B; column++) {
    uint64_t x = id_get(v, column, row, i);
    id_put(v, column, row, i, id_get(v, column, row, j));
    id_put(v, column, row, j, x);
  }
}

static uint64_t near_pattern(const id_operand *o, uint64_t x, id_random *r) {
  unsigned width = hu_element_width(o->element);
  uint64_t one = 1, exponent = o->integer ? 2 : one << o->digits;
  switch (id_random_below(r, 6)) {
    case 0: x ^= one << id_random_below(r, width); break;
    case 1: x += 1; break;
    case 2: x -= 1; break;
    case 3: x += exponent; break;
    case 4: x -= exponent; break;
    default: x = id_operand_negated(o, x); break;
  }
  return width < 64 ? x & ((one << width) - 1) : x;
}

/* Draws a column that may change: A and B twice as often as C and scales. */
static int draw_column(const id_shape *s, id_random *r) {
  static const int columns[] = {ID_A, ID_A, ID_B, ID_B, ID_C, ID_SA, ID_SB};
  for (;;) {
    int column = columns[id_random_below(r, sizeof columns / sizeof columns[0])];
    int fixed = (column == ID_B && s->sums) || (column == ID_C && s->without_c) || id_column_length(s, column) == 0;
    if (!fixed) return column;
  }
}

static void vary_once(id_vectors *v, size_t row, id_random *r) {
  const id_shape *s = v->shape;
  int column = draw_column(s, r);
  size_t k = (size_t)id_random_below(r, id_column_length(s, column));
  if (column <= ID_B && id_random_chance(r, 15)) {
    swap_products(v, row, k, (size_t)id_random_below(r, s->n));
    return;
  }
  if (column <= ID_C && id_random_chance(r, 10)) {
    id_put(v, column, row, k, 0);
    return;
  }
  id_operand o = id_operand_of(id_column_element(s, column));
  id_put(v, column, row, k, near_pattern(&o, id_get(v, column, row, k), r));
}

void id_vary(id_vectors *v, size_t row, id_random *r) {
  for (uint64_t changes = 1 + id_random_below(r, 3); changes > 0; changes--) vary_once(v, row, r);
}
