/* SPDX-License-Identifier: MIT */
/* See draw.h. A row has a top exponent; its terms lie some binades below it. */
#include "cli/question/draw.h"

#include <math.h>

#include "cli/question/operand.h"

const char *const id_draw_names[ID_DRAW_KINDS] = {"one product",   "few products",   "many products", "small numbers",
                                                  "large numbers", "special values", "any numbers",   "lowest numbers"};

enum { GAP_MOST = 70 }; /* more than any cut keeps, and farther than C is dropped */

typedef struct drawing {
  id_vectors *v;
  size_t row;
  id_random *r;
  int kind;
  id_operand a, b, d, scale;
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
static int middle_top(const drawing *g) {
  int scales = g->v->shape->every ? 40 : 0, low = larger(-24, g->d.emin + 4), high = 24;
  low = larger(low, g->a.emin + g->b.emin - scales);
  /* What is left of two terms that cancel does not underflow, at which blocks would show in the sign of a zero. */
  if (!g->d.integer) low = larger(low, g->d.emin - g->d.digits + g->a.digits + g->b.digits + 1);
  high = smaller(high, smaller(g->a.emax + g->b.emax + scales, g->d.emax - 2 - binades(g->v->shape->n)));
  return id_random_from(g->r, low, larger(low, high));
}

static int small_top(drawing *g) {
  g->low = id_random_chance(g->r, 60);
  int least = g->a.emin + g->b.emin - (g->low ? g->a.digits + g->b.digits : 0);
  if (g->v->shape->every) least -= 80;
  int low = g->d.emin - g->d.digits - 8, high = g->d.emin + 10;
  if (id_random_chance(g->r, 50) || high < least) return id_random_from(g->r, least, least + 30);
  return id_random_from(g->r, larger(low, least), high);
}

static int large_top(const drawing *g) {
  int most = g->a.emax + g->b.emax + 1 + (g->v->shape->every ? 80 : 0);
  if (id_random_chance(g->r, 30)) return id_random_from(g->r, most - 4, most);
  if (most > g->d.emax + 3 && id_random_chance(g->r, 30)) return id_random_from(g->r, g->d.emax, most);
  return smaller(most, id_random_from(g->r, g->d.emax - 5, g->d.emax + 2));
}

static int draw_top(drawing *g) {
  g->low = 0;
  switch (g->kind) {
    case ID_DRAW_SMALL: return small_top(g);
    case ID_DRAW_LARGE: return large_top(g);
    case ID_DRAW_ANY:
    case ID_DRAW_SPECIAL:
      g->low = id_random_chance(g->r, 20);
      if (id_random_chance(g->r, 40)) return middle_top(g);
      return id_random_from(g->r, g->a.emin + g->b.emin - 10, g->a.emax + g->b.emax + 1);
    default: return middle_top(g);
  }
}

/* Draws the binades between terms; often such that the leading digit of the smaller one is half a unit of the larger
 * one's last, where a digit far below decides the rounding. */
static int draw_gap(const drawing *g) {
  unsigned how = (unsigned)id_random_below(g->r, 12);
  if (how < 2) return g->d.digits + id_random_from(g->r, 0, 3);
  return id_random_from(g->r, 0, how < 5 ? 2 : how < 7 ? 12 : how < 10 ? 45 : GAP_MOST);
}

/* ---- one product ---- */

/* Splits `exponent` into exponents of A and B that add up to it as far as they can. */
static void split(const drawing *g, int exponent, int *ea, int *eb) {
  int under_a = g->low ? g->a.digits : 0, under_b = g->low ? g->b.digits : 0;
  int low = larger(g->a.emin - under_a, exponent - g->b.emax),
      high = smaller(g->a.emax, exponent - g->b.emin + under_b);
  if (high < low) low = high = exponent < g->a.emin + g->b.emin ? g->a.emin - under_a : g->a.emax;
  if (g->low && id_random_chance(g->r, 40)) high = smaller(high, larger(low, g->a.emin + 1));
  *ea = g->v->shape->sums ? exponent : id_random_from(g->r, low, high);
  *eb = exponent - *ea;
  *eb = larger(g->b.emin - under_b, smaller(g->b.emax, *eb));
}

static void put_product(const drawing *g, size_t k, int exponent) {
  int ea, eb;
  if (g->kind < ID_DRAW_SMALL && !g->v->shape->every) exponent = larger(exponent, g->d.emin);
  split(g, exponent, &ea, &eb);
  id_put(g->v, ID_A, g->row, k, id_operand_draw(&g->a, ea, g->r));
  id_put(g->v, ID_B, g->row, k, id_operand_draw(&g->b, eb, g->r));
}

/* Puts zeros of both signs where there is no product, now and then beside a number. */
static void put_nothing(const drawing *g, size_t k) {
  uint64_t a = 0, b = 0;
  int signs = g->kind >= ID_DRAW_SMALL && id_random_chance(g->r, 30);
  if (signs) a = id_operand_negated(&g->a, a);
  if (signs && id_random_chance(g->r, 50)) b = id_operand_draw(&g->b, g->b.emin + 1, g->r);
  id_put(g->v, ID_A, g->row, k, a);
  id_put(g->v, ID_B, g->row, k, b);
}

/* Puts products all of which are -0, by zeros and by numbers that a unit may read as zeros, and such a C. */
static void put_minus_zeros(const drawing *g) {
  for (size_t k = 0; k < g->v->shape->n; k++) {
    uint64_t a = id_random_chance(g->r, 50), b = id_random_below(g->r, 3);
    if (b == 2) b = id_operand_power(&g->b, g->b.emin + 1);
    int which = id_random_chance(g->r, 50);
    id_put(g->v, ID_A, g->row, k, which ? id_operand_negated(&g->a, a) : a);
    id_put(g->v, ID_B, g->row, k, which ? b : id_operand_negated(&g->b, b));
  }
  if (!g->v->shape->without_c) id_put(g->v, ID_C, g->row, 0, id_operand_negated(&g->d, id_random_chance(g->r, 30)));
}

/* Makes product j the negative of product i. */
static void cancel(const drawing *g, size_t i, size_t j) {
  id_put(g->v, ID_A, g->row, j, id_operand_negated(&g->a, id_get(g->v, ID_A, g->row, i)));
  id_put(g->v, ID_B, g->row, j, id_get(g->v, ID_B, g->row, i));
}

/* ---- scales ---- */

static void put_scales(const drawing *g, size_t j, int exponent) {
  int one = exponent / 2 + id_random_from(g->r, -2, 2);
  uint64_t a = id_operand_draw(&g->scale, one, g->r), b = id_operand_draw(&g->scale, exponent - one, g->r);
  if (g->kind == ID_DRAW_SPECIAL && id_random_chance(g->r, 10)) a = id_operand_special(&g->scale, g->r);
  id_put(g->v, ID_SA, g->row, j, a);
  id_put(g->v, ID_SB, g->row, j, b);
}

/* Draws a product whose elements use their own narrow range; the scales bring them to where they shall be. */
static int scaled_product(const drawing *g) {
  return id_random_from(g->r, g->a.emin + g->b.emin - (g->low ? 2 : 0), g->a.emax + g->b.emax);
}

static void draw_scales(const drawing *g) {
  size_t count = id_column_length(g->v->shape, ID_SA);
  int middle = (g->a.emin + g->b.emin + g->a.emax + g->b.emax) / 2;
  for (size_t j = 0; j < count; j++) put_scales(g, j, g->top - draw_gap(g) * (j > 0) - middle);
}

/* ---- a row ---- */

static size_t draw_count(const drawing *g) {
  size_t n = g->v->shape->n;
  if (g->kind == ID_DRAW_ONE) return 1;
  if (g->kind == ID_DRAW_FEW) return (size_t)id_random_from(g->r, 2, n < 4 ? (int)n : 4);
  switch (id_random_below(g->r, 4)) {
    case 0: return n;
    case 1: return (size_t)id_random_from(g->r, 1, n < 4 ? (int)n : 4);
    default: return (size_t)id_random_from(g->r, 1, (int)n);
  }
}

/* Decides whether product k is there. Few stand together at some place, or are spread. */
static int is_there(const drawing *g, size_t k, size_t first, size_t count, int spread) {
  size_t n = g->v->shape->n;
  if (g->kind == ID_DRAW_ONE) return k == 0 || (k == 1 && g->v->shape->without_c);
  if (count == 0) return 0;
  if (spread) return id_random_below(g->r, n) < count;
  return (k + n - first) % n < count;
}

static double product_of(const drawing *g, size_t k) {
  return id_value(g->a.element, id_get(g->v, ID_A, g->row, k)) * id_value(g->b.element, id_get(g->v, ID_B, g->row, k));
}

/* Returns an integer so near the largest or the least one that some products lead beyond. */
static uint64_t near_the_end(const drawing *g) {
  uint64_t c = g->d.max - id_random_below(g->r, (uint64_t)1 << id_random_from(g->r, 0, g->a.emax + g->b.emax + 4));
  return id_random_chance(g->r, 50) ? id_operand_negated(&g->d, c) : c;
}

static void draw_c(const drawing *g) {
  if (g->v->shape->without_c) return;
  size_t n = g->v->shape->n;
  unsigned how = g->under ? 100 : (unsigned)id_random_below(g->r, 100);
  uint64_t c = 0;
  if (how < 12) {
    if (id_random_chance(g->r, 50) && g->kind >= ID_DRAW_SMALL) c = id_operand_negated(&g->d, c);
  } else if (how < 32 && !g->v->shape->every) { /* meets the products, so that their low digits are seen */
    double sum = 0;
    size_t to = id_random_chance(g->r, 50) ? n : 1 + (size_t)id_random_below(g->r, n);
    for (size_t k = 0; k < to; k++) sum += product_of(g, k);
    if (isfinite(sum)) c = id_operand_nearest(&g->d, -sum);
  } else {
    int exponent = g->top - (g->under ? 0 : draw_gap(g));
    if (g->kind < ID_DRAW_SMALL) exponent = larger(g->d.emin, smaller(exponent, g->d.emax - 2));
    if (g->d.integer) exponent = id_random_from(g->r, 0, g->d.emax);
    c = id_operand_draw(&g->d, exponent, g->r);
    if (g->d.integer && id_random_chance(g->r, 40)) c = near_the_end(g);
  }
  id_put(g->v, ID_C, g->row, 0, c);
}

static void draw_products(const drawing *g, size_t count) {
  size_t n = g->v->shape->n, first = (size_t)id_random_below(g->r, n);
  int spread = id_random_chance(g->r, 40), flat = id_random_chance(g->r, 25);
  for (size_t k = 0; k < n; k++) {
    if (!is_there(g, k, first, count, spread)) {
      put_nothing(g, k);
    } else if (g->v->shape->every) {
      put_product(g, k, scaled_product(g));
    } else {
      put_product(g, k, g->top - g->under - (flat ? id_random_from(g->r, 0, 1) : k ? draw_gap(g) : 0));
    }
  }
  if (n < 2 || count < 2) return;
  for (int pairs = (int)id_random_below(g->r, 3); pairs > 0; pairs--) {
    size_t i = (size_t)id_random_below(g->r, n), j = (size_t)id_random_below(g->r, n);
    if (i != j && product_of(g, i) != 0) cancel(g, i, j);
  }
}

static void put_specials(const drawing *g) {
  for (int count = 1 + (int)id_random_below(g->r, 2); count > 0; count--) {
    size_t k = (size_t)id_random_below(g->r, g->v->shape->n);
    switch (id_random_below(g->r, 3)) {
      case 0: id_put(g->v, ID_A, g->row, k, id_operand_special(&g->a, g->r)); break;
      case 1: id_put(g->v, ID_B, g->row, k, id_operand_special(&g->b, g->r)); break;
      default:
        if (!g->v->shape->without_c) id_put(g->v, ID_C, g->row, 0, id_operand_special(&g->d, g->r));
        break;
    }
  }
}

/* ---- about D's least number ---- */

enum { DEEP_MOST = 48 }; /* binades below it: more than any cut keeps */

/* Puts (+-) a power of two as product k. */
static void put_power(const drawing *g, size_t k, int exponent) {
  int ea, eb;
  split(g, exponent, &ea, &eb);
  uint64_t a = id_operand_power(&g->a, ea);
  id_put(g->v, ID_A, g->row, k, id_random_chance(g->r, 50) ? id_operand_negated(&g->a, a) : a);
  id_put(g->v, ID_B, g->row, k, id_operand_power(&g->b, eb));
}

/* Draws scales that bring the product `high` of elements to the exponent `near`, for all shares. Returns the exponent
 * of elements whose product lies `below` lower, as far as the elements reach. */
static int scale_to(const drawing *g, int high, int near, int below) {
  for (size_t j = 0; j < id_column_length(g->v->shape, ID_SA); j++) put_scales(g, j, near - high);
  return larger(high - below, g->a.emin + g->b.emin - g->a.digits - g->b.digits);
}

/* Draws one or two products far below D's least number beside a term about it, C or a power of two: whether they count
 * decides to which side that is rounded. Products of one share have the same scale. */
static void draw_lowest(drawing *g) {
  const id_shape *s = g->v->shape;
  int near = g->d.emin - g->d.digits + id_random_from(g->r, -1, 2), below = id_random_from(g->r, 1, DEEP_MOST);
  size_t n = s->n, share = s->every ? s->every : n, k = (size_t)id_random_below(g->r, n), first = k / share * share;
  size_t other = first + (size_t)id_random_below(g->r, share < n - first ? share : n - first);
  int high = near, deep = near - below;
  g->low = 1;
  for (size_t i = 0; i < n; i++) put_nothing(g, i);
  if (s->every) {
    high = id_random_from(g->r, (g->a.emax + g->b.emax) / 2, g->a.emax + g->b.emax);
    deep = scale_to(g, high, near, below);
  }
  put_product(g, k, deep);
  if (id_random_chance(g->r, 50)) put_product(g, (k + 1) % n, deep + id_random_from(g->r, -2, 2));
  if (s->without_c || id_random_chance(g->r, 60)) {
    put_power(g, other, high);
  } else {
    uint64_t c = id_operand_power(&g->d, larger(near, g->d.emin - g->d.digits));
    id_put(g->v, ID_C, g->row, 0, id_random_chance(g->r, 50) ? id_operand_negated(&g->d, c) : c);
  }
}

static void draw_row(drawing *g) {
  if (g->kind == ID_DRAW_LOWEST && !g->v->shape->sums && !g->d.integer) {
    draw_lowest(g);
    return;
  }
  g->top = draw_top(g);
  g->under = id_random_chance(g->r, 30) && !g->v->shape->without_c ? draw_gap(g) : 0;
  /* Zeros alone, or C with them: the signs of zeros are asked for. */
  int nothing = g->kind >= ID_DRAW_SMALL && id_random_chance(g->r, 8);
  size_t count = nothing ? 0 : draw_count(g);
  if (g->v->shape->every) draw_scales(g);
  draw_products(g, count);
  draw_c(g);
  if (nothing && id_random_chance(g->r, 50)) put_minus_zeros(g);
  if (g->kind == ID_DRAW_SPECIAL) put_specials(g);
  for (size_t k = 0; k < g->v->shape->n && g->v->shape->sums; k++)
    id_put(g->v, ID_B, g->row, k, id_operand_power(&g->b, 0));
}

void id_draw(id_vectors *v, size_t first, size_t count, int kind, id_random *r) {
  const id_shape *s = v->shape;
  hu_element scale = {.format = s->scale};
  drawing g = {
      .v = v, .r = r, .kind = kind, .a = id_operand_of(s->a), .b = id_operand_of(s->b), .d = id_operand_of(s->d)};
  if (s->every) g.scale = id_operand_of(scale);
  for (size_t i = 0; i < count; i++) {
    g.row = first + i;
    id_put(v, ID_C, g.row, 0, 0);
    draw_row(&g);
  }
}
