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

HU_STEP hu_num hui_sum_exact(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {
  hu_total s;
  hui_trace_whole_terms(p, in, 0, n, c, d);
  hui_total_start(&s, p->low, p->limbs);
  hui_total_add(&s, hui_long_of(c));
  for (uint64_t k = 0; k < n; k++) hui_total_add(&s, hui_product_at(p, in, k));
  hu_num z = hui_total_value(&s);
  return z.kind == HU_KIND_ZERO ? hui_total_zero(&s, p->down) : z;
}

HU_FN void hui_trace_fp64(const hu_accum_plan *p, const hu_lines *in, uint64_t k, hu_num c, hu_num exact, hu_num z,
                          hu_draw *d) {
  if (!hui_is_traced(d)) return;
  hui_trace_product(k, d);
  hui_trace_operands(d->trace, HU_TRACE_FMA, hui_read_a(p, in, k), hui_read_b(p, in, k), c);
  d->trace->step.element.kind = HU_ELEMENT_BINARY64;
  hui_trace_result(d->trace, exact, z, d->events, 0);
}

HU_STEP hu_num hui_sum_fp64(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {
  for (uint64_t k = 0; k < n; k++) {
    hu_long t = hui_product_at(p, in, k);
    hu_num x = hui_long_add(t, hui_long_of(c), 0), z = hui_unpack64(hui_round64(x));
    d->events = x.kind == HU_KIND_FINITE && z.kind == HU_KIND_INF ? HU_EVENT_OVERFLOW : 0;
    if (hui_watched(d) && t.kind == HU_KIND_FINITE) hui_watch_sum(d, c, hui_exponent(hui_long_num(t)), z);
    hui_trace_fp64(p, in, k, c, x, z, d);
    c = z;
  }
  return c;
}

/* ---- sums of k0 ... k1-1 on top of c ---- */

HU_FN hu_num hui_sum_seq(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c, hu_draw *d) {
  for (uint64_t k = k0; k < k1; k++) c = hui_chain_step(p, in, k, c, d);
  return c;
}

/* Rounds product k into g. */
HU_FN hu_num hui_rounded_product(const hu_accum_plan *p, const hu_grid *g, const hu_lines *in, uint64_t k, hu_draw *d) {
  hui_trace_product(k, d);
  return hui_grid_mul(g, hui_read_a(p, in, k), hui_read_b(p, in, k), d);
}

HU_FN hu_num hui_sum_seq2(const hu_accum_plan *p, const hu_grid *sum, const hu_lines *in, uint64_t k0, uint64_t k1,
                          hu_num c, hu_draw *d) {
  for (uint64_t k = k0; k < k1; k++) c = hui_accumulate(sum, c, hui_rounded_product(p, &p->product, in, k, d), d);
  return c;
}

HU_FN hu_num hui_sum_chunk(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c, hu_draw *d) {
  for (uint64_t k = k0; k < k1; k += p->model.length) {
    uint64_t past = k1 - k > p->model.length ? k + p->model.length : k1;
    hui_trace_inner(HU_TRACE_CHUNK, k, past, d);
    hu_num t = hui_sum_seq2(p, &p->product, in, k, past, hui_num_special(HU_KIND_ZERO, 0), d);
    c = hui_accumulate(&p->sum, c, t, d);
  }
  return c;
}

HU_FN hu_num hui_sum_kahan(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num s, hu_draw *d) {
  hu_num c = hui_num_special(HU_KIND_ZERO, 0);
  for (uint64_t k = k0; k < k1; k++) {
    hu_num y = hui_grid_sub(&p->sum, hui_rounded_product(p, &p->sum, in, k, d), c, d);
    hu_num t = hui_accumulate(&p->sum, s, y, d);
    c = hui_grid_sub(&p->sum, hui_grid_sub(&p->sum, t, s, d), y, d);
    s = t;
  }
  return s;
}

HU_FN hu_num hui_sum_neumaier(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num s,
                              hu_draw *d) {
  hu_num c = hui_num_special(HU_KIND_ZERO, 0);
  for (uint64_t k = k0; k < k1; k++) {
    hu_num v = hui_rounded_product(p, &p->sum, in, k, d), t = hui_accumulate(&p->sum, s, v, d);
    int32_t first = hui_magnitude_least(s, v);
    hu_num big = first ? s : v, small = first ? v : s;
    hu_num error = hui_grid_add(&p->sum, hui_grid_sub(&p->sum, big, t, d), small, d);
    c = hui_grid_add(&p->sum, c, error, d);
    s = t;
  }
  return hui_accumulate(&p->sum, s, c, d);
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

HU_FN int32_t hui_is_leaf(const hu_tree *t, const hu_node *v) {
  return t->strided ? v->y >= t->width || v->x >= t->past : v->y - v->x == 1;
}

HU_FN hu_node hui_child(const hu_tree *t, const hu_node *v, uint32_t right) {
  hu_node z = *v;
  uint64_t mid = v->x + (v->y - v->x) / 2;
  if (t->strided) {
    z.x += right ? v->y : 0;
    z.y = 2 * v->y;
  } else if (right) {
    z.x = mid;
  } else {
    z.y = mid;
  }
  z.half = 0;
  return z;
}

HU_FN hu_num hui_leaf(const hu_accum_plan *p, const hu_lines *in, const hu_tree *t, const hu_node *v, hu_draw *d) {
  if (t->strided && v->x >= t->past) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_rounded_product(p, &p->sum, in, t->base + v->x, d);
}

HU_STEP hu_num hui_sum_tree(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                            hu_draw *d) {
  hu_node stack[66];
  hu_tree t;
  int32_t top = 0;
  t.strided = p->model.kind == HU_ACCUM_STRIDED;
  t.base = k0;
  t.past = k1 - k0;
  t.width = 1;
  while (t.width < t.past) t.width *= 2;
  hu_num value = hui_num_special(HU_KIND_ZERO, 0);
  stack[0].x = 0;
  stack[0].y = t.strided ? 1 : t.past;
  stack[0].half = 0;
  while (t.past) {
    while (!hui_is_leaf(&t, &stack[top])) {
      stack[top + 1] = hui_child(&t, &stack[top], 0);
      top++;
    }
    value = hui_leaf(p, in, &t, &stack[top], d);
    /* Up while both children are known; then down to the right. */
    while (top && stack[top - 1].half) {
      top--;
      value = hui_accumulate_pair(&p->sum, stack[top].left, value, d);
    }
    if (top == 0) break;
    stack[top - 1].left = value;
    stack[top - 1].half = 1;
    stack[top] = hui_child(&t, &stack[top - 1], 1);
  }
  return hui_accumulate_pair(&p->sum, value, c, d);
}

/* ---- models inside models ---- */

HU_FN hu_num hui_sum_base(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c, hu_draw *d) {
  switch (p->model.kind) {
    case HU_ACCUM_SEQ2: return hui_sum_seq2(p, &p->sum, in, k0, k1, c, d);
    case HU_ACCUM_CHUNK: return hui_sum_chunk(p, in, k0, k1, c, d);
    case HU_ACCUM_PAIRWISE:
    case HU_ACCUM_STRIDED: return hui_sum_tree(p, in, k0, k1, c, d);
    case HU_ACCUM_KAHAN: return hui_sum_kahan(p, in, k0, k1, c, d);
    case HU_ACCUM_NEUMAIER: return hui_sum_neumaier(p, in, k0, k1, c, d);
    case HU_ACCUM_BLOCK: return hui_blocks(p, in, k0, k1, c, d);
    default: return hui_sum_seq(p, in, k0, k1, c, d); /* fp32 too */
  }
}

/* Part j of promote(...,scaled) has scales j. */
HU_FN hu_num hui_promote_part(const hu_accum_plan *p, const hu_lines *in, uint64_t j, hu_num part, hu_num s,
                              hu_draw *d) {
  if (!p->model.scaled) return hui_accumulate(&p->plain, s, part, d);
  hu_num sa = hui_source_read(&p->sa, in->sa.at + (ptrdiff_t)j * in->sa.step);
  hu_num sb = hui_source_read(&p->sb, in->sb.at + (ptrdiff_t)j * in->sb.step);
  return hui_accumulate_product(&p->plain, hui_grid_mul(&p->plain, sa, sb, d), part, s, d);
}

HU_STEP hu_num hui_sum_promoted(const hu_accum_plan *p, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                                hu_draw *d) {
  uint64_t step = p->model.promote;
  if (!step) return hui_sum_base(p, in, k0, k1, c, d);
  for (uint64_t k = k0, j = k0 / step; k < k1; k += step, j++) {
    uint64_t past = k1 - k > step ? k + step : k1;
    hui_trace_inner(HU_TRACE_PART, k, past, d);
    hu_num part = hui_sum_base(p, in, k, past, hui_num_special(HU_KIND_ZERO, 0), d);
    c = hui_promote_part(p, in, j, part, c, d);
  }
  return c;
}

HU_STEP hu_num hui_sum_slices(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {
  uint64_t slices = p->model.slices < n ? p->model.slices : n, at = 0;
  hu_num zero = hui_num_special(HU_KIND_ZERO, 0), sum = zero;
  for (uint64_t i = 0; i < slices; i++) {
    uint64_t past = at + n / slices + (i < n % slices);
    hui_trace_inner(HU_TRACE_SLICE, at, past, d);
    hu_num part = hui_sum_promoted(p, in, at, past, zero, d);
    sum = i ? hui_accumulate(&p->plain, sum, part, d) : part;
    at = past;
  }
  return hui_accumulate(&p->plain, sum, c, d);
}

/* Returns the model's sum of n products and c. */
HU_STEP hu_num hui_accum_sum(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {
  if (p->model.kind == HU_ACCUM_EXACT) return hui_sum_exact(p, in, n, c, d);
  if (p->model.kind == HU_ACCUM_FP64) return hui_sum_fp64(p, in, n, c, d);
  if (p->model.slices) return hui_sum_slices(p, in, n, c, d);
  return hui_sum_promoted(p, in, 0, n, c, d);
}

/* ---- integers ---- */

/* Adds an instruction's exact sum to c; saturated, or modulo 2^32. */
HU_FN uint32_t hui_int_join(uint32_t c, int64_t s, int32_t saturates, uint32_t *events) {
  int64_t z = (int64_t)(c ^ 0x80000000u) - (int64_t)0x80000000u + s;
  if (!saturates || (z >= -(int64_t)0x80000000u && z <= 0x7FFFFFFF)) return (uint32_t)(uint64_t)z;
  *events = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED;
  return z < 0 ? 0x80000000u : 0x7FFFFFFFu;
}

#endif
