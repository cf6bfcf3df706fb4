/* SPDX-License-Identifier: MIT */
/* A sum along a binary tree: the orders of software that no text of a model describes. */
#include <math.h>

#include "cli/identify/tree.h"
#include "halfulp/arith.h"
#include "halfulp/core/bits.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

typedef struct walk {
  const id_tree *tree;
  const id_vectors *questions;
  size_t row;
  int fused, native; /* native: binary64, by the machine's own arithmetic */
  hu_format sum;     /* of every addition */
} walk;

static uint64_t add(const walk *along, uint64_t x, uint64_t y) {
  hu_format format = along->sum;
  hu_mode rne = {0};
  if (along->native) return hui_bits_of_double(hui_double_of_bits(x) + hui_double_of_bits(y));
  return hu_add(format, rne, format, (uint32_t)x, format, (uint32_t)y, 0, NULL);
}

/* Returns rnd(a b + x); without x rnd(a b). */
static uint64_t product(const walk *along, int leaf, const uint64_t *x) {
  const id_shape *shape = along->questions->shape;
  hu_mode rne = {0};
  uint64_t a = id_get(along->questions, ID_A, along->row, (size_t)leaf),
           b = id_get(along->questions, ID_B, along->row, (size_t)leaf);
  if (along->native) {
    double product = id_value(shape->a, a), exact = id_value(shape->b, b);
    return hui_bits_of_double(x ? fma(product, exact, hui_double_of_bits(*x)) : product * exact);
  }
  if (!x) return hu_mul(along->sum, rne, shape->a.format, (uint32_t)a, shape->b.format, (uint32_t)b, 0, NULL);
  return hu_fma(along->sum, rne, shape->a.format, (uint32_t)a, shape->b.format, (uint32_t)b, along->sum, (uint32_t)*x,
                0, NULL);
}

/* Converts C, which the format of the sums holds. */
static uint64_t joined(const walk *along) {
  uint64_t c = id_get(along->questions, ID_C, along->row, 0);
  hu_format result = along->questions->shape->result.format;
  hu_mode rne = {0};
  return along->native || hu_format_equal(along->sum, result)
             ? c
             : hu_encode64(along->sum, rne, id_value(along->questions->shape->result, c), 0, NULL);
}

static uint64_t sum_of(const walk *along, int i) {
  const id_node *node = &along->tree->node[i];
  if (node->leaf == along->tree->n) return joined(along);
  if (node->leaf >= 0) return product(along, node->leaf, NULL);
  int left = node->first, right = along->tree->node[left].next;
  if (along->fused && along->tree->node[left].leaf >= 0 && along->tree->node[left].leaf < along->tree->n &&
      along->tree->node[right].leaf < 0) {
    int other = left;
    left = right;
    right = other;
  }
  int leaf = along->tree->node[right].leaf;
  uint64_t sum = sum_of(along, left);
  if (along->fused && leaf >= 0 && leaf < along->tree->n) return product(along, leaf, &sum);
  return add(along, sum, sum_of(along, right));
}

static uint64_t loop(const id_vectors *questions, size_t row, int fused) {
  const id_shape *shape = questions->shape;
  walk along = {NULL, questions, row, fused, 0, shape->result.format};
  hu_mode rne = {0};
  double z = 0;
  for (uint32_t k = 0; k < shape->n; k++) {
    double a = id_value(shape->a, id_get(questions, ID_A, row, k)),
           b = id_value(shape->b, id_get(questions, ID_B, row, k));
    double term = fused ? a * b : id_value(shape->result, product(&along, (int)k, NULL));
    z = k ? z + term : term;
  }
  if (!shape->without_c) z += id_value(shape->result, id_get(questions, ID_C, row, 0));
  return hu_encode64(shape->result.format, rne, z, 0, NULL);
}

int id_sum_is_possible(const id_tree *tree, const id_shape *shape, int sum) {
  int along = id_tree_is_binary(tree), code = shape->result.kind == HU_TYPE_CODES;
  if (tree->root < 0 || shape->every || shape->a.kind > HU_TYPE_BINARY64) return 0;
  if (sum == ID_SUM_LOOP) return code && !along;
  return along && (sum == ID_SUM_TREE || id_may_be_wide(shape));
}

uint64_t id_sum_along(const id_tree *tree, const id_vectors *questions, size_t row, int sum, int fused) {
  const id_shape *shape = questions->shape;
  hu_mode rne = {0};
  if (sum == ID_SUM_LOOP) return loop(questions, row, fused);
  walk along = {tree,
                questions,
                row,
                fused,
                shape->result.kind == HU_TYPE_BINARY64,
                sum == ID_SUM_WIDE ? hu_binary32() : shape->result.format};
  uint64_t z = sum_of(&along, tree->root);
  hu_type wide = hu_type_codes(along.sum);
  return sum == ID_SUM_WIDE ? hu_encode64(shape->result.format, rne, id_value(wide, z), 0, NULL) : z;
}
