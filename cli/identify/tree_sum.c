/* SPDX-License-Identifier: MIT */
/* A sum along a binary tree: the orders of software that no text of a model describes. */
#include <math.h>

#include "cli/identify/tree.h"
#include "halfulp/arith.h"
#include "halfulp/core/bits.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

typedef struct walk {
  const id_tree *t;
  const id_vectors *v;
  size_t row;
  int fused, native; /* native: binary64, by the machine's own arithmetic */
  hu_format sum;     /* of every addition */
} walk;

static uint64_t add(const walk *w, uint64_t x, uint64_t y) {
  hu_format f = w->sum;
  hu_mode rne = {0};
  if (w->native) return hui_bits_of_double(hui_double_of_bits(x) + hui_double_of_bits(y));
  return hu_add(f, rne, f, (uint32_t)x, f, (uint32_t)y, 0, NULL);
}

/* Returns rnd(a b + x); without x rnd(a b). */
static uint64_t product(const walk *w, int leaf, const uint64_t *x) {
  const id_shape *s = w->v->shape;
  hu_mode rne = {0};
  uint64_t a = id_get(w->v, ID_A, w->row, (size_t)leaf), b = id_get(w->v, ID_B, w->row, (size_t)leaf);
  if (w->native) {
    double p = id_value(s->a, a), q = id_value(s->b, b);
    return hui_bits_of_double(x ? fma(p, q, hui_double_of_bits(*x)) : p * q);
  }
  if (!x) return hu_mul(w->sum, rne, s->a.format, (uint32_t)a, s->b.format, (uint32_t)b, 0, NULL);
  return hu_fma(w->sum, rne, s->a.format, (uint32_t)a, s->b.format, (uint32_t)b, w->sum, (uint32_t)*x, 0, NULL);
}

/* Converts C, which the format of the sums holds. */
static uint64_t joined(const walk *w) {
  uint64_t c = id_get(w->v, ID_C, w->row, 0);
  hu_format d = w->v->shape->d.format;
  hu_mode rne = {0};
  return w->native || hu_format_equal(w->sum, d) ? c : hu_encode64(w->sum, rne, id_value(w->v->shape->d, c), 0, NULL);
}

static uint64_t sum_of(const walk *w, int i) {
  const id_node *x = &w->t->node[i];
  if (x->leaf == w->t->n) return joined(w);
  if (x->leaf >= 0) return product(w, x->leaf, NULL);
  int left = x->first, right = w->t->node[left].next;
  if (w->fused && w->t->node[left].leaf >= 0 && w->t->node[left].leaf < w->t->n && w->t->node[right].leaf < 0) {
    int other = left;
    left = right;
    right = other;
  }
  int leaf = w->t->node[right].leaf;
  uint64_t s = sum_of(w, left);
  if (w->fused && leaf >= 0 && leaf < w->t->n) return product(w, leaf, &s);
  return add(w, s, sum_of(w, right));
}

static uint64_t loop(const id_vectors *v, size_t row, int fused) {
  const id_shape *s = v->shape;
  walk w = {NULL, v, row, fused, 0, s->d.format};
  hu_mode rne = {0};
  double z = 0;
  for (uint32_t k = 0; k < s->n; k++) {
    double a = id_value(s->a, id_get(v, ID_A, row, k)), b = id_value(s->b, id_get(v, ID_B, row, k));
    double p = fused ? a * b : id_value(s->d, product(&w, (int)k, NULL));
    z = k ? z + p : p;
  }
  if (!s->without_c) z += id_value(s->d, id_get(v, ID_C, row, 0));
  return hu_encode64(s->d.format, rne, z, 0, NULL);
}

int id_sum_is_possible(const id_tree *t, const id_shape *shape, int sum) {
  int along = id_tree_is_binary(t), code = shape->d.kind == HU_ELEMENT_CODE;
  if (t->root < 0 || shape->every || shape->a.kind > HU_ELEMENT_BINARY64) return 0;
  if (sum == ID_SUM_LOOP) return code && !along;
  return along && (sum == ID_SUM_TREE || id_may_be_wide(shape));
}

uint64_t id_sum_along(const id_tree *t, const id_vectors *v, size_t row, int sum, int fused) {
  const id_shape *s = v->shape;
  hu_mode rne = {0};
  if (sum == ID_SUM_LOOP) return loop(v, row, fused);
  walk w = {t, v, row, fused, s->d.kind == HU_ELEMENT_BINARY64, sum == ID_SUM_WIDE ? hu_binary32() : s->d.format};
  uint64_t z = sum_of(&w, t->root);
  hu_element wide = {.format = w.sum};
  return sum == ID_SUM_WIDE ? hu_encode64(s->d.format, rne, id_value(wide, z), 0, NULL) : z;
}
