/* SPDX-License-Identifier: MIT */
/* See distinguish.h. */
#include "cli/identify/distinguish.h"

#include <string.h>

#include "cli/question/operand.h"
#include "cli/question/vary.h"

enum { ROWS = 256 };

/* Puts the first row that the models answer differently into row 0. */
static int differs(id_vectors *questions, const hu_accum *model, const hu_accum *other, size_t rows) {
  if (id_compute(model, questions, 0, rows, questions->column[ID_D]) != HU_OK) return 0;
  size_t row = id_first_difference(other, questions, 0, rows);
  if (row == rows) return 0;
  id_vectors_swap(questions, 0, row);
  return 1;
}

int id_distinguish(id_vectors *questions, const id_shape *shape, const hu_accum *model, const hu_accum *other,
                   size_t count, id_random *random, uint64_t *compared) {
  if (compared) *compared = 0;
  id_vectors_start(questions, shape);
  if (id_vectors_grow(questions, ROWS) == SIZE_MAX) return -1;
  for (size_t done = 0; done < count; done += ROWS) {
    for (int kind = 0; kind < ID_DRAW_KINDS; kind++) {
      id_draw(questions, 0, ROWS, kind, random);
      if (compared) *compared += ROWS;
      if (differs(questions, model, other, ROWS)) return 1;
    }
  }
  return 0;
}

int id_distinguish_near(id_vectors *questions, const id_vectors *pool, const hu_accum *model, const hu_accum *other,
                        size_t count, id_random *random) {
  id_vectors_start(questions, pool->shape);
  if (id_vectors_grow(questions, ROWS) == SIZE_MAX) return -1;
  for (size_t done = 0; done < count && pool->count; done += ROWS) {
    for (size_t row = 0; row < ROWS; row++) {
      id_vectors_copy(questions, row, pool, (size_t)id_random_below(random, 1 + id_random_below(random, pool->count)));
      id_vary(questions, row, random);
    }
    if (differs(questions, model, other, ROWS)) return 1;
  }
  return 0;
}

/* ---- shorter ---- */

typedef struct change {
  id_vectors *questions;
  id_holds *holds;
  void *context;
  int changed;
} change;

/* Puts a pattern in place of another, if what was said of the row still holds. */
static int try_pattern(change *attempt, int column, size_t k, uint64_t x) {
  uint64_t before = id_get(attempt->questions, column, 0, k);
  if (before == x) return 0;
  id_put(attempt->questions, column, 0, k, x);
  if (attempt->holds(attempt->context, attempt->questions)) return attempt->changed = 1;
  id_put(attempt->questions, column, 0, k, before);
  return 0;
}

static void drop_products(change *attempt, size_t first, size_t count) {
  uint64_t keep[2][64];
  for (size_t k = 0; k < count; k++) {
    keep[0][k] = id_get(attempt->questions, ID_A, 0, first + k);
    keep[1][k] = id_get(attempt->questions, ID_B, 0, first + k);
  }
  int some = 0;
  for (size_t k = 0; k < count; k++) {
    some |= keep[0][k] || (keep[1][k] && !attempt->questions->shape->sums);
    id_put(attempt->questions, ID_A, 0, first + k, 0);
    if (!attempt->questions->shape->sums) id_put(attempt->questions, ID_B, 0, first + k, 0);
  }
  if (!some) return;
  if (attempt->holds(attempt->context, attempt->questions)) {
    attempt->changed = 1;
    return;
  }
  for (size_t k = 0; k < count; k++) {
    id_put(attempt->questions, ID_A, 0, first + k, keep[0][k]);
    id_put(attempt->questions, ID_B, 0, first + k, keep[1][k]);
  }
}

/* Drops halves, quarters, ... single products. */
static void drop_terms(change *attempt) {
  size_t n = attempt->questions->shape->n;
  for (size_t size = n < 64 ? n : 64; size > 0; size /= 2)
    for (size_t k = 0; k < n; k += size) drop_products(attempt, k, n - k < size ? n - k : size);
  try_pattern(attempt, ID_C, 0, 0);
}

/* Tries simpler patterns of one operand: 1, a power of two, fewer digits, no sign, an exponent nearer to 0. */
static void simplify(change *attempt, int column, size_t k, const id_operand *operand) {
  uint64_t x = id_get(attempt->questions, column, 0, k), one = id_operand_power(operand, 0);
  if ((x & ~operand->sign) == 0 || try_pattern(attempt, column, k, one)) return;
  if (operand->integer || (x & ~operand->sign) > operand->max) return;
  try_pattern(attempt, column, k, x & ~operand->sign);
  x = id_get(attempt->questions, column, 0, k);
  uint64_t fraction = ((uint64_t)1 << operand->digits) - 1;
  if (!try_pattern(attempt, column, k, x & ~fraction)) {
    for (int j = 0; j < operand->digits; j++) {
      x = id_get(attempt->questions, column, 0, k);
      try_pattern(attempt, column, k, x & ~((uint64_t)1 << j));
    }
  }
  for (int step = 32; step > 0; step /= 2) {
    uint64_t by = (uint64_t)step << operand->digits;
    x = id_get(attempt->questions, column, 0, k);
    uint64_t magnitude = x & ~operand->sign;
    if (magnitude > one && magnitude - one >= by) try_pattern(attempt, column, k, x - by);
    if (magnitude < one && one - magnitude >= by) try_pattern(attempt, column, k, x + by);
  }
}

void id_shorten(id_vectors *questions, id_holds *holds, void *context) {
  const id_shape *shape = questions->shape;
  id_operand a = id_operand_of(shape->a), b = id_operand_of(shape->b), result = id_operand_of(shape->result);
  change attempt = {questions, holds, context, 1};
  for (int i = 0; i < 4 && attempt.changed; i++) {
    attempt.changed = 0;
    drop_terms(&attempt);
    for (size_t k = 0; k < shape->n; k++) {
      simplify(&attempt, ID_B, k, &b);
      simplify(&attempt, ID_A, k, &a);
    }
    simplify(&attempt, ID_C, 0, &result);
  }
}

typedef struct pair {
  const hu_accum *x, *y;
} pair;

static int pair_differs(void *context, id_vectors *questions) {
  const pair *both = context;
  return id_compute(both->x, questions, 0, 1, questions->column[ID_D]) == HU_OK &&
         id_first_difference(both->y, questions, 0, 1) == 0;
}

void id_shorten_difference(id_vectors *questions, const hu_accum *model, const hu_accum *other) {
  pair both = {model, other};
  id_shorten(questions, pair_differs, &both);
}

/* ---- all of them ---- */

/* Writes question number `question`: its digits are the patterns, one operand after another. */
static void put_number(id_vectors *questions, size_t row, uint64_t question) {
  for (int column = ID_A; column < ID_D; column++) {
    if (column == ID_C && questions->shape->without_c) continue;
    unsigned bits = hu_type_width(id_column_element(questions->shape, column));
    for (size_t k = 0; k < id_column_length(questions->shape, column); k++) {
      id_put(questions, column, row, k, question & (((uint64_t)1 << bits) - 1));
      question >>= bits;
    }
  }
}

int id_distinguish_all(id_vectors *questions, const id_shape *shape, const hu_accum *model, const hu_accum *other,
                       uint64_t *count) {
  uint64_t bits = 0;
  for (int column = ID_A; column < ID_D; column++)
    if (column != ID_C || !shape->without_c)
      bits += id_column_length(shape, column) * hu_type_width(id_column_element(shape, column));
  *count = 0;
  id_vectors_start(questions, shape);
  if (bits > 30) return -1;
  if (id_vectors_grow(questions, ROWS) == SIZE_MAX) return -1;
  uint64_t all = (uint64_t)1 << bits;
  for (uint64_t question = 0; question < all; question += ROWS) {
    size_t rows = all - question < ROWS ? (size_t)(all - question) : ROWS;
    for (size_t i = 0; i < rows; i++) put_number(questions, i, question + i);
    *count += rows;
    if (differs(questions, model, other, rows)) return 1;
  }
  return 0;
}
