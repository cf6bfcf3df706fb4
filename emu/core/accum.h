/* SPDX-License-Identifier: MIT */
/* emu/core/accum.h - computes one dot product under any accumulation model, from stored operands to the model's sum.
 *
 * Integers only; C11, C++17 and CUDA compile the same text. hui_accum_sum is docs/numerics.md section 11 line by line;
 * the number it returns needs one hui_round into the result's format. The plan (hui_plan_model) is made once a call, on
 * the host: plain data that goes to a kernel by value. */
#ifndef HALFULP_EMU_CORE_ACCUM_H
#define HALFULP_EMU_CORE_ACCUM_H

#include "emu/core/accum_block.h"

/* ---- sums of the whole ---- */

HU_STEP hu_num hui_sum_exact(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, hu_num c, hu_draw *draw) {
  hu_total total;
  hui_trace_whole_terms(plan, in, 0, n, c, draw);
  hui_total_start(&total, plan->low, plan->limbs);
  hui_total_add(&total, hui_long_of(c));
  for (uint64_t k = 0; k < n; k++) hui_total_add(&total, hui_product_at(plan, in, k));
  hu_num z = hui_total_value(&total);
  return z.kind == HU_KIND_ZERO ? hui_total_zero(&total, plan->down) : z;
}

HU_FN void hui_trace_fp64(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, hu_num c, hu_num exact, hu_num z,
                          hu_draw *draw) {
  if (!hui_is_traced(draw)) return;
  hui_trace_product(k, draw);
  hui_trace_operands(draw->trace, HU_TRACE_FMA, hui_read_a(plan, in, k), hui_read_b(plan, in, k), c);
  draw->trace->step.type.kind = HU_TYPE_BINARY64;
  hui_trace_result(draw->trace, exact, z, draw->events, 0);
}

HU_STEP hu_num hui_sum_fp64(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, hu_num c, hu_draw *draw) {
  for (uint64_t k = 0; k < n; k++) {
    hu_long total = hui_product_at(plan, in, k);
    hu_num x = hui_long_add(total, hui_long_of(c), 0), z = hui_unpack64(hui_round64(x));
    draw->events = x.kind == HU_KIND_FINITE && z.kind == HU_KIND_INF ? HU_EVENT_OVERFLOW : 0;
    if (hui_watched(draw) && total.kind == HU_KIND_FINITE) hui_watch_sum(draw, c, hui_exponent(hui_long_num(total)), z);
    hui_trace_fp64(plan, in, k, c, x, z, draw);
    c = z;
  }
  return c;
}

/* ---- sums of k0 ... k1-1 on top of c ---- */

HU_FN hu_num hui_sum_seq(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                         hu_draw *draw) {
  for (uint64_t k = k0; k < k1; k++) c = hui_chain_step(plan, in, k, c, draw);
  return c;
}

/* Rounds product k into grid. */
HU_FN hu_num hui_rounded_product(const hu_accum_plan *plan, const hu_grid *grid, const hu_lines *in, uint64_t k,
                                 hu_draw *draw) {
  hui_trace_product(k, draw);
  return hui_grid_mul(grid, hui_read_a(plan, in, k), hui_read_b(plan, in, k), draw);
}

HU_FN hu_num hui_sum_seq2(const hu_accum_plan *plan, const hu_grid *sum, const hu_lines *in, uint64_t k0, uint64_t k1,
                          hu_num c, hu_draw *draw) {
  for (uint64_t k = k0; k < k1; k++)
    c = hui_accumulate(sum, c, hui_rounded_product(plan, &plan->product, in, k, draw), draw);
  return c;
}

HU_FN hu_num hui_sum_chunk(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                           hu_draw *draw) {
  for (uint64_t k = k0; k < k1; k += plan->model.length) {
    uint64_t past = k1 - k > plan->model.length ? k + plan->model.length : k1;
    hui_trace_inner(HU_TRACE_CHUNK, k, past, draw);
    hu_num t = hui_sum_seq2(plan, &plan->product, in, k, past, hui_num_special(HU_KIND_ZERO, 0), draw);
    c = hui_accumulate(&plan->sum, c, t, draw);
  }
  return c;
}

HU_FN hu_num hui_sum_kahan(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num total,
                           hu_draw *draw) {
  hu_num c = hui_num_special(HU_KIND_ZERO, 0);
  for (uint64_t k = k0; k < k1; k++) {
    hu_num y = hui_grid_sub(&plan->sum, hui_rounded_product(plan, &plan->sum, in, k, draw), c, draw);
    hu_num t = hui_accumulate(&plan->sum, total, y, draw);
    c = hui_grid_sub(&plan->sum, hui_grid_sub(&plan->sum, t, total, draw), y, draw);
    total = t;
  }
  return total;
}

HU_FN hu_num hui_sum_neumaier(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num total,
                              hu_draw *draw) {
  hu_num c = hui_num_special(HU_KIND_ZERO, 0);
  for (uint64_t k = k0; k < k1; k++) {
    hu_num v = hui_rounded_product(plan, &plan->sum, in, k, draw), t = hui_accumulate(&plan->sum, total, v, draw);
    int32_t first = hui_magnitude_least(total, v);
    hu_num big = first ? total : v, small = first ? v : total;
    hu_num error = hui_grid_add(&plan->sum, hui_grid_sub(&plan->sum, big, t, draw), small, draw);
    c = hui_grid_add(&plan->sum, c, error, draw);
    total = t;
  }
  return hui_accumulate(&plan->sum, total, c, draw);
}

/* ---- trees, depth first ---- */

/* A node that waits for its children. pairwise: products x ... y-1; strided: products x, x + y, x + 2 y, ... */
typedef struct hu_node {
  uint64_t x, y;
  hu_num left;
  uint8_t half; /* 1: left is known */
} hu_node;

typedef struct hu_tree {
  uint64_t past, width; /* strided: the power of two at or above the number of products */
  uint64_t base;
  uint8_t strided;
} hu_tree;

HU_FN int32_t hui_is_leaf(const hu_tree *tree, const hu_node *node) {
  return tree->strided ? node->y >= tree->width || node->x >= tree->past : node->y - node->x == 1;
}

HU_FN hu_node hui_child(const hu_tree *tree, const hu_node *node, uint32_t right) {
  hu_node z = *node;
  uint64_t mid = node->x + (node->y - node->x) / 2;
  if (tree->strided) {
    z.x += right ? node->y : 0;
    z.y = 2 * node->y;
  } else if (right) {
    z.x = mid;
  } else {
    z.y = mid;
  }
  z.half = 0;
  return z;
}

HU_FN hu_num hui_leaf(const hu_accum_plan *plan, const hu_lines *in, const hu_tree *tree, const hu_node *node,
                      hu_draw *draw) {
  if (tree->strided && node->x >= tree->past) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_rounded_product(plan, &plan->sum, in, tree->base + node->x, draw);
}

HU_STEP hu_num hui_sum_tree(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                            hu_draw *draw) {
  hu_node stack[66];
  hu_tree tree;
  int32_t top = 0;
  tree.strided = plan->model.kind == HU_ACCUM_STRIDED;
  tree.base = k0;
  tree.past = k1 - k0;
  tree.width = 1;
  while (tree.width < tree.past) tree.width *= 2;
  hu_num value = hui_num_special(HU_KIND_ZERO, 0);
  stack[0].x = 0;
  stack[0].y = tree.strided ? 1 : tree.past;
  stack[0].half = 0;
  while (tree.past) {
    while (!hui_is_leaf(&tree, &stack[top])) {
      stack[top + 1] = hui_child(&tree, &stack[top], 0);
      top++;
    }
    value = hui_leaf(plan, in, &tree, &stack[top], draw);
    /* Up while both children are known; then down to the right. */
    while (top && stack[top - 1].half) {
      top--;
      value = hui_accumulate_pair(&plan->sum, stack[top].left, value, draw);
    }
    if (top == 0) break;
    stack[top - 1].left = value;
    stack[top - 1].half = 1;
    stack[top] = hui_child(&tree, &stack[top - 1], 1);
  }
  return hui_accumulate_pair(&plan->sum, value, c, draw);
}

/* ---- models inside models ---- */

HU_FN hu_num hui_sum_base(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                          hu_draw *draw) {
  switch (plan->model.kind) {
    case HU_ACCUM_SEQ2: return hui_sum_seq2(plan, &plan->sum, in, k0, k1, c, draw);
    case HU_ACCUM_CHUNK: return hui_sum_chunk(plan, in, k0, k1, c, draw);
    case HU_ACCUM_PAIRWISE:
    case HU_ACCUM_STRIDED: return hui_sum_tree(plan, in, k0, k1, c, draw);
    case HU_ACCUM_KAHAN: return hui_sum_kahan(plan, in, k0, k1, c, draw);
    case HU_ACCUM_NEUMAIER: return hui_sum_neumaier(plan, in, k0, k1, c, draw);
    case HU_ACCUM_BLOCK: return hui_blocks(plan, in, k0, k1, c, draw);
    default: return hui_sum_seq(plan, in, k0, k1, c, draw); /* fp32 too */
  }
}

/* Part j of promote(...,scaled) has scales j. */
HU_FN hu_num hui_promote_part(const hu_accum_plan *plan, const hu_lines *in, uint64_t j, hu_num part, hu_num total,
                              hu_draw *draw) {
  if (!plan->model.scaled) return hui_accumulate(&plan->plain, total, part, draw);
  hu_num sa = hui_source_read(&plan->sa, in->sa.at + (ptrdiff_t)j * in->sa.step);
  hu_num sb = hui_source_read(&plan->sb, in->sb.at + (ptrdiff_t)j * in->sb.step);
  return hui_accumulate_product(&plan->plain, hui_grid_mul(&plan->plain, sa, sb, draw), part, total, draw);
}

HU_STEP hu_num hui_sum_promoted(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                                hu_draw *draw) {
  uint64_t step = plan->model.promote;
  if (!step) return hui_sum_base(plan, in, k0, k1, c, draw);
  for (uint64_t k = k0, j = k0 / step; k < k1; k += step, j++) {
    uint64_t past = k1 - k > step ? k + step : k1;
    hui_trace_inner(HU_TRACE_PART, k, past, draw);
    hu_num part = hui_sum_base(plan, in, k, past, hui_num_special(HU_KIND_ZERO, 0), draw);
    c = hui_promote_part(plan, in, j, part, c, draw);
  }
  return c;
}

HU_STEP hu_num hui_sum_slices(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, hu_num c, hu_draw *draw) {
  uint64_t slices = plan->model.slices < n ? plan->model.slices : n, at = 0;
  hu_num zero = hui_num_special(HU_KIND_ZERO, 0), total = zero;
  for (uint64_t i = 0; i < slices; i++) {
    uint64_t past = at + n / slices + (i < n % slices);
    hui_trace_inner(HU_TRACE_SLICE, at, past, draw);
    hu_num part = hui_sum_promoted(plan, in, at, past, zero, draw);
    total = i ? hui_accumulate(&plan->plain, total, part, draw) : part;
    at = past;
  }
  return hui_accumulate(&plan->plain, total, c, draw);
}

/* Returns the model's sum of n products and c. */
HU_STEP hu_num hui_accum_sum(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, hu_num c, hu_draw *draw) {
  if (plan->model.kind == HU_ACCUM_EXACT) return hui_sum_exact(plan, in, n, c, draw);
  if (plan->model.kind == HU_ACCUM_FP64) return hui_sum_fp64(plan, in, n, c, draw);
  if (plan->model.slices) return hui_sum_slices(plan, in, n, c, draw);
  return hui_sum_promoted(plan, in, 0, n, c, draw);
}

/* ---- integers ---- */

/* Adds an instruction's exact total to c; saturated, or modulo 2^32. */
HU_FN uint32_t hui_int_join(uint32_t c, int64_t total, int32_t saturates, uint32_t *events) {
  int64_t z = (int64_t)(c ^ 0x80000000u) - (int64_t)0x80000000u + total;
  if (!saturates || (z >= -(int64_t)0x80000000u && z <= 0x7FFFFFFF)) return (uint32_t)(uint64_t)z;
  *events = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED;
  return z < 0 ? 0x80000000u : 0x7FFFFFFFu;
}

#endif
