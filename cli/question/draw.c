/* SPDX-License-Identifier: MIT */
/* See draw.h. A row has a top exponent; its terms lie some binades below it. */
#include "cli/question/draw.h"

#include <math.h>

#include "cli/question/operand.h"

const char *const id_draw_names[ID_DRAW_KINDS] = {"one product",   "few products",   "many products",
                                                  "small numbers", "large numbers",  "special values",
                                                  "any numbers",   "lowest numbers", "full sums"};

enum { GAP_MOST = 70 }; /* more than any cut keeps, and farther than C is dropped */

typedef struct drawing {
  id_vectors *questions;
  size_t row;
  id_random *random;
  int kind;
  id_operand a, b, result, scale;
  int top, low; /* exponent of the largest term; 1: operands are to lie below their normal range */
  int under;    /* the largest product lies so far below C, which is the largest term; 0: it does not */
} drawing;

static int larger(int x, int y) { return x > y ? x : y; }
static int smaller(int x, int y) { return x < y ? x : y; }

static int binades(size_t n) {
  int z = 0;
  while ((size_t)1 << z < n) z++;
  return z;
}

/* Draws the top of a row in the middle of everything: sums are normal and do not overflow, and so are the operands. */
static int middle_top(const drawing *plan) {
  int scales = plan->questions->shape->every ? 40 : 0, low = larger(-24, plan->result.emin + 4), high = 24;
  low = larger(low, plan->a.emin + plan->b.emin - scales);
  /* What is left of two terms that cancel does not underflow, at which blocks would show in the sign of a zero. */
  if (!plan->result.integer)
    low = larger(low, plan->result.emin - plan->result.digits + plan->a.digits + plan->b.digits + 1);
  high = smaller(
      high, smaller(plan->a.emax + plan->b.emax + scales, plan->result.emax - 2 - binades(plan->questions->shape->n)));
  return id_random_from(plan->random, low, larger(low, high));
}

static int small_top(drawing *plan) {
  plan->low = id_random_chance(plan->random, 60);
  int least = plan->a.emin + plan->b.emin - (plan->low ? plan->a.digits + plan->b.digits : 0);
  if (plan->questions->shape->every) least -= 80;
  int low = plan->result.emin - plan->result.digits - 8, high = plan->result.emin + 10;
  if (id_random_chance(plan->random, 50) || high < least) return id_random_from(plan->random, least, least + 30);
  return id_random_from(plan->random, larger(low, least), high);
}

static int large_top(const drawing *plan) {
  int most = plan->a.emax + plan->b.emax + 1 + (plan->questions->shape->every ? 80 : 0);
  if (id_random_chance(plan->random, 30)) return id_random_from(plan->random, most - 4, most);
  if (most > plan->result.emax + 3 && id_random_chance(plan->random, 30))
    return id_random_from(plan->random, plan->result.emax, most);
  return smaller(most, id_random_from(plan->random, plan->result.emax - 5, plan->result.emax + 2));
}

static int draw_top(drawing *plan) {
  plan->low = 0;
  switch (plan->kind) {
    case ID_DRAW_SMALL: return small_top(plan);
    case ID_DRAW_LARGE: return large_top(plan);
    case ID_DRAW_ANY:
    case ID_DRAW_SPECIAL:
      plan->low = id_random_chance(plan->random, 20);
      if (id_random_chance(plan->random, 40)) return middle_top(plan);
      return id_random_from(plan->random, plan->a.emin + plan->b.emin - 10, plan->a.emax + plan->b.emax + 1);
    default: return middle_top(plan);
  }
}

/* Draws the binades between terms; often such that the leading digit of the smaller one is half a unit of the larger
 * one's last, where a digit far below decides the rounding. */
static int draw_gap(const drawing *plan) {
  unsigned how = (unsigned)id_random_below(plan->random, 12);
  if (how < 2) return plan->result.digits + id_random_from(plan->random, 0, 3);
  return id_random_from(plan->random, 0, how < 5 ? 2 : how < 7 ? 12 : how < 10 ? 45 : GAP_MOST);
}

/* ---- one product ---- */

/* Splits `exponent` into exponents of A and B that add up to it as far as they can. */
static void split(const drawing *plan, int exponent, int *ea, int *eb) {
  int under_a = plan->low ? plan->a.digits : 0, under_b = plan->low ? plan->b.digits : 0;
  int low = larger(plan->a.emin - under_a, exponent - plan->b.emax),
      high = smaller(plan->a.emax, exponent - plan->b.emin + under_b);
  if (high < low) low = high = exponent < plan->a.emin + plan->b.emin ? plan->a.emin - under_a : plan->a.emax;
  if (plan->low && id_random_chance(plan->random, 40)) high = smaller(high, larger(low, plan->a.emin + 1));
  *ea = plan->questions->shape->sums ? exponent : id_random_from(plan->random, low, high);
  *eb = exponent - *ea;
  *eb = larger(plan->b.emin - under_b, smaller(plan->b.emax, *eb));
}

static void put_product(const drawing *plan, size_t k, int exponent) {
  int ea, eb;
  if (plan->kind < ID_DRAW_SMALL && !plan->questions->shape->every) exponent = larger(exponent, plan->result.emin);
  split(plan, exponent, &ea, &eb);
  id_put(plan->questions, ID_A, plan->row, k, id_operand_draw(&plan->a, ea, plan->random));
  id_put(plan->questions, ID_B, plan->row, k, id_operand_draw(&plan->b, eb, plan->random));
}

/* Puts zeros of both signs where there is no product, now and then beside a number. */
static void put_nothing(const drawing *plan, size_t k) {
  uint64_t a = 0, b = 0;
  int signs = plan->kind >= ID_DRAW_SMALL && id_random_chance(plan->random, 30);
  if (signs) a = id_operand_negated(&plan->a, a);
  if (signs && id_random_chance(plan->random, 50)) b = id_operand_draw(&plan->b, plan->b.emin + 1, plan->random);
  id_put(plan->questions, ID_A, plan->row, k, a);
  id_put(plan->questions, ID_B, plan->row, k, b);
}

/* Puts products all of which are -0, by zeros and by numbers that a unit may read as zeros, and such a C. */
static void put_minus_zeros(const drawing *plan) {
  for (size_t k = 0; k < plan->questions->shape->n; k++) {
    uint64_t a = id_random_chance(plan->random, 50), b = id_random_below(plan->random, 3);
    if (b == 2) b = id_operand_power(&plan->b, plan->b.emin + 1);
    int which = id_random_chance(plan->random, 50);
    id_put(plan->questions, ID_A, plan->row, k, which ? id_operand_negated(&plan->a, a) : a);
    id_put(plan->questions, ID_B, plan->row, k, which ? b : id_operand_negated(&plan->b, b));
  }
  if (!plan->questions->shape->without_c)
    id_put(plan->questions, ID_C, plan->row, 0, id_operand_negated(&plan->result, id_random_chance(plan->random, 30)));
}

/* Makes product j the negative of product i. */
static void cancel(const drawing *plan, size_t i, size_t j) {
  id_put(plan->questions, ID_A, plan->row, j,
         id_operand_negated(&plan->a, id_get(plan->questions, ID_A, plan->row, i)));
  id_put(plan->questions, ID_B, plan->row, j, id_get(plan->questions, ID_B, plan->row, i));
}

/* ---- scales ---- */

static void put_scales(const drawing *plan, size_t j, int exponent) {
  int one = exponent / 2 + id_random_from(plan->random, -2, 2);
  uint64_t a = id_operand_draw(&plan->scale, one, plan->random),
           b = id_operand_draw(&plan->scale, exponent - one, plan->random);
  if (plan->kind == ID_DRAW_SPECIAL && id_random_chance(plan->random, 10))
    a = id_operand_special(&plan->scale, plan->random);
  id_put(plan->questions, ID_SA, plan->row, j, a);
  id_put(plan->questions, ID_SB, plan->row, j, b);
}

/* Draws a product whose elements use their own narrow range; the scales bring them to where they shall be. */
static int scaled_product(const drawing *plan) {
  return id_random_from(plan->random, plan->a.emin + plan->b.emin - (plan->low ? 2 : 0), plan->a.emax + plan->b.emax);
}

static void draw_scales(const drawing *plan) {
  size_t count = id_column_length(plan->questions->shape, ID_SA);
  int middle = (plan->a.emin + plan->b.emin + plan->a.emax + plan->b.emax) / 2;
  for (size_t j = 0; j < count; j++) put_scales(plan, j, plan->top - draw_gap(plan) * (j > 0) - middle);
}

/* ---- a row ---- */

static size_t draw_count(const drawing *plan) {
  size_t n = plan->questions->shape->n;
  if (plan->kind == ID_DRAW_ONE) return 1;
  if (plan->kind == ID_DRAW_FEW) return (size_t)id_random_from(plan->random, 2, n < 4 ? (int)n : 4);
  switch (id_random_below(plan->random, 4)) {
    case 0: return n;
    case 1: return (size_t)id_random_from(plan->random, 1, n < 4 ? (int)n : 4);
    default: return (size_t)id_random_from(plan->random, 1, (int)n);
  }
}

/* Decides whether product k is there. Few stand together at some place, or are spread. */
static int is_there(const drawing *plan, size_t k, size_t first, size_t count, int spread) {
  size_t n = plan->questions->shape->n;
  if (plan->kind == ID_DRAW_ONE) return k == 0 || (k == 1 && plan->questions->shape->without_c);
  if (count == 0) return 0;
  if (spread) return id_random_below(plan->random, n) < count;
  return (k + n - first) % n < count;
}

static double product_of(const drawing *plan, size_t k) {
  return id_value(plan->a.element, id_get(plan->questions, ID_A, plan->row, k)) *
         id_value(plan->b.element, id_get(plan->questions, ID_B, plan->row, k));
}

/* Returns an integer so near the largest or the least one that some products lead beyond. */
static uint64_t near_the_end(const drawing *plan) {
  uint64_t c = plan->result.max - id_random_below(plan->random, (uint64_t)1 << id_random_from(
                                                                    plan->random, 0, plan->a.emax + plan->b.emax + 4));
  return id_random_chance(plan->random, 50) ? id_operand_negated(&plan->result, c) : c;
}

static void draw_c(const drawing *plan) {
  if (plan->questions->shape->without_c) return;
  size_t n = plan->questions->shape->n;
  unsigned how = plan->under ? 100 : (unsigned)id_random_below(plan->random, 100);
  uint64_t c = 0;
  if (how < 12) {
    if (id_random_chance(plan->random, 50) && plan->kind >= ID_DRAW_SMALL) c = id_operand_negated(&plan->result, c);
  } else if (how < 32 && !plan->questions->shape->every) { /* meets the products, so that their low digits are seen */
    double sum = 0;
    size_t to = id_random_chance(plan->random, 50) ? n : 1 + (size_t)id_random_below(plan->random, n);
    for (size_t k = 0; k < to; k++) sum += product_of(plan, k);
    if (isfinite(sum)) c = id_operand_nearest(&plan->result, -sum);
  } else {
    int exponent = plan->top - (plan->under ? 0 : draw_gap(plan));
    if (plan->kind < ID_DRAW_SMALL) exponent = larger(plan->result.emin, smaller(exponent, plan->result.emax - 2));
    if (plan->result.integer) exponent = id_random_from(plan->random, 0, plan->result.emax);
    c = id_operand_draw(&plan->result, exponent, plan->random);
    if (plan->result.integer && id_random_chance(plan->random, 40)) c = near_the_end(plan);
  }
  id_put(plan->questions, ID_C, plan->row, 0, c);
}

static void draw_products(const drawing *plan, size_t count) {
  size_t n = plan->questions->shape->n, first = (size_t)id_random_below(plan->random, n);
  int spread = id_random_chance(plan->random, 40), flat = id_random_chance(plan->random, 25);
  for (size_t k = 0; k < n; k++) {
    if (!is_there(plan, k, first, count, spread)) {
      put_nothing(plan, k);
    } else if (plan->questions->shape->every) {
      put_product(plan, k, scaled_product(plan));
    } else {
      put_product(plan, k,
                  plan->top - plan->under -
                      (flat ? id_random_from(plan->random, 0, 1)
                       : k  ? draw_gap(plan)
                            : 0));
    }
  }
  if (n < 2 || count < 2) return;
  for (int pairs = (int)id_random_below(plan->random, 3); pairs > 0; pairs--) {
    size_t i = (size_t)id_random_below(plan->random, n), j = (size_t)id_random_below(plan->random, n);
    if (i != j && product_of(plan, i) != 0) cancel(plan, i, j);
  }
}

static void put_specials(const drawing *plan) {
  for (int count = 1 + (int)id_random_below(plan->random, 2); count > 0; count--) {
    size_t k = (size_t)id_random_below(plan->random, plan->questions->shape->n);
    switch (id_random_below(plan->random, 3)) {
      case 0: id_put(plan->questions, ID_A, plan->row, k, id_operand_special(&plan->a, plan->random)); break;
      case 1: id_put(plan->questions, ID_B, plan->row, k, id_operand_special(&plan->b, plan->random)); break;
      default:
        if (!plan->questions->shape->without_c)
          id_put(plan->questions, ID_C, plan->row, 0, id_operand_special(&plan->result, plan->random));
        break;
    }
  }
}

/* ---- about D's least number ---- */

enum { DEEP_MOST = 48 }; /* binades below it: more than any cut keeps */

/* Puts (+-) a power of two as product k. */
static void put_power(const drawing *plan, size_t k, int exponent) {
  int ea, eb;
  split(plan, exponent, &ea, &eb);
  uint64_t a = id_operand_power(&plan->a, ea);
  id_put(plan->questions, ID_A, plan->row, k, id_random_chance(plan->random, 50) ? id_operand_negated(&plan->a, a) : a);
  id_put(plan->questions, ID_B, plan->row, k, id_operand_power(&plan->b, eb));
}

/* Draws scales that bring the product `high` of elements to the exponent `near`, for all shares. Returns the exponent
 * of elements whose product lies `below` lower, as far as the elements reach. */
static int scale_to(const drawing *plan, int high, int near, int below) {
  for (size_t j = 0; j < id_column_length(plan->questions->shape, ID_SA); j++) put_scales(plan, j, near - high);
  return larger(high - below, plan->a.emin + plan->b.emin - plan->a.digits - plan->b.digits);
}

/* Draws one or two products far below D's least number, or its least normal one, beside a term about that, C or a power
 * of two: whether they count decides to which side it is rounded, and what is flushed. Products of one share have the
 * same scale. */
static void draw_lowest(drawing *plan) {
  const id_shape *shape = plan->questions->shape;
  int least = plan->result.emin - (id_random_chance(plan->random, 25) ? 0 : plan->result.digits);
  int near = least + id_random_from(plan->random, -1, 2), below = id_random_from(plan->random, 1, DEEP_MOST);
  size_t n = shape->n, share = shape->every ? shape->every : n, k = (size_t)id_random_below(plan->random, n),
         first = k / share * share;
  size_t other = first + (size_t)id_random_below(plan->random, share < n - first ? share : n - first);
  int high = near, deep = near - below;
  plan->low = 1;
  for (size_t i = 0; i < n; i++) put_nothing(plan, i);
  if (shape->every) {
    high = id_random_from(plan->random, (plan->a.emax + plan->b.emax) / 2, plan->a.emax + plan->b.emax);
    deep = scale_to(plan, high, near, below);
  }
  put_product(plan, k, deep);
  if (id_random_chance(plan->random, 50)) put_product(plan, (k + 1) % n, deep + id_random_from(plan->random, -2, 2));
  if (shape->without_c || id_random_chance(plan->random, 60)) {
    put_power(plan, other, high);
  } else {
    uint64_t c = id_operand_power(&plan->result, larger(near, least));
    id_put(plan->questions, ID_C, plan->row, 0,
           id_random_chance(plan->random, 50) ? id_operand_negated(&plan->result, c) : c);
  }
}

/* ---- sums as large as their largest term allows ---- */

/* Draws a number of this exponent and sign most of whose first digits are 1. */
static uint64_t full_number(const drawing *plan, const id_operand *operand, int exponent, int negative) {
  uint64_t all = operand->integer ? 0 : ((uint64_t)1 << operand->digits) - 1;
  int clear = id_random_from(plan->random, 0, operand->digits / 2);
  uint64_t x = id_operand_power(operand, exponent) | (all & ~(((uint64_t)1 << clear) - 1));
  if (x > operand->max) x = operand->max;
  return negative ? id_operand_negated(operand, x) : x;
}

/* Draws products of one exponent and one sign, and mostly C of it; the first few products or all. */
static void draw_full(drawing *plan) {
  const id_shape *shape = plan->questions->shape;
  int negative = id_random_chance(plan->random, 50), ea, eb, top = middle_top(plan),
      c = top + 2 + id_random_from(plan->random, 0, binades(shape->n));
  size_t count = id_random_chance(plan->random, 50) ? shape->n : 1 + (size_t)id_random_below(plan->random, shape->n);
  for (size_t k = 0; k < shape->n; k++) {
    if (k >= count) {
      put_nothing(plan, k);
      continue;
    }
    split(plan, top - id_random_from(plan->random, 0, id_random_chance(plan->random, 20)), &ea, &eb);
    id_put(plan->questions, ID_A, plan->row, k, full_number(plan, &plan->a, ea, negative));
    id_put(plan->questions, ID_B, plan->row, k, full_number(plan, &plan->b, eb, 0));
  }
  if (shape->without_c || id_random_chance(plan->random, 25)) return;
  if (id_random_chance(plan->random, 50)) c = top + id_random_from(plan->random, -1, 1);
  id_put(plan->questions, ID_C, plan->row, 0, full_number(plan, &plan->result, c, negative));
}

static void draw_row(drawing *plan) {
  if (plan->kind == ID_DRAW_FULL && !plan->questions->shape->sums && !plan->questions->shape->every &&
      !plan->result.integer) {
    draw_full(plan);
    return;
  }
  if (plan->kind == ID_DRAW_LOWEST && !plan->questions->shape->sums && !plan->result.integer) {
    draw_lowest(plan);
    return;
  }
  plan->top = draw_top(plan);
  plan->under = id_random_chance(plan->random, 30) && !plan->questions->shape->without_c ? draw_gap(plan) : 0;
  /* Zeros alone, or C with them: the signs of zeros are asked for. */
  int nothing = plan->kind >= ID_DRAW_SMALL && id_random_chance(plan->random, 8);
  size_t count = nothing ? 0 : draw_count(plan);
  if (plan->questions->shape->every) draw_scales(plan);
  draw_products(plan, count);
  draw_c(plan);
  if (nothing && id_random_chance(plan->random, 50)) put_minus_zeros(plan);
  if (plan->kind == ID_DRAW_SPECIAL) put_specials(plan);
  for (size_t k = 0; k < plan->questions->shape->n && plan->questions->shape->sums; k++)
    id_put(plan->questions, ID_B, plan->row, k, id_operand_power(&plan->b, 0));
}

void id_draw(id_vectors *questions, size_t first, size_t count, int kind, id_random *random) {
  const id_shape *shape = questions->shape;
  hu_type scale = hu_type_codes(shape->scale);
  drawing plan = {.questions = questions,
                  .random = random,
                  .kind = kind,
                  .a = id_operand_of(shape->a),
                  .b = id_operand_of(shape->b),
                  .result = id_operand_of(shape->result)};
  if (shape->every) plan.scale = id_operand_of(scale);
  for (size_t i = 0; i < count; i++) {
    plan.row = first + i;
    id_put(questions, ID_C, plan.row, 0, 0);
    draw_row(&plan);
  }
}
