/* SPDX-License-Identifier: MIT */
/* A sum along a binary tree: the orders of software that no text of a model describes. */
#include <math.h>

#include "cli/identify/tree.h"
#include "halfulp/arith.h"
#include "halfulp/core/bits.h"
#include "halfulp/scalar.h"

typedef struct walk {
  const id_tree *t;
  const id_vectors *v;
  size_t row;
  int fused, wide; /* wide: binary64, by the machine's own arithmetic */
} walk;

static uint64_t add(const walk *w, uint64_t x, uint64_t y) {
  hu_format f = w->v->shape->d.format;
  hu_mode rne = {0};
  if (w->wide) return hu_bits_of_double(hu_double_of_bits(x) + hu_double_of_bits(y));
  return hu_add(f, rne, f, (uint32_t)x, f, (uint32_t)y, 0, NULL);
}

/* rnd(a b + x); without x rnd(a b). */
static uint64_t product(const walk *w, int leaf, const uint64_t *x) {
  const id_shape *s = w->v->shape;
  hu_mode rne = {0};
  uint64_t a = id_get(w->v, ID_A, w->row, (size_t)leaf), b = id_get(w->v, ID_B, w->row, (size_t)leaf);
  if (w->wide) {
    double p = id_value(s->a, a), q = id_value(s->b, b);
    return hu_bits_of_double(x ? fma(p, q, hu_double_of_bits(*x)) : p * q);
  }
  if (!x) return hu_mul(s->d.format, rne, s->a.format, (uint32_t)a, s->b.format, (uint32_t)b, 0, NULL);
  return hu_fma(s->d.format, rne, s->a.format, (uint32_t)a, s->b.format, (uint32_t)b, s->d.format, (uint32_t)*x, 0,
                NULL);
}

static uint64_t sum_of(const walk *w, int i) {
  const id_node *x = &w->t->node[i];
  if (x->leaf == w->t->n) return id_get(w->v, ID_C, w->row, 0);
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

uint64_t id_wide_sum(const id_vectors *v, size_t row, int fused) {
  const id_shape *s = v->shape;
  walk w = {NULL, v, row, fused, 0};
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

uint64_t id_tree_sum(const id_tree *t, const id_vectors *v, size_t row, int fused) {
  walk w = {t, v, row, fused, v->shape->d.kind == HU_ELEMENT_BINARY64};
  return sum_of(&w, t->root);
}
