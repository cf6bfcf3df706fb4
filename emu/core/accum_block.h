/* SPDX-License-Identifier: MIT */
/* emu/core/accum_block.h - computes one block of a matrix unit, by each rule of block(...): docs/numerics.md section
 * 11.5. Part of emu/core/accum.h. */
#ifndef HALFULP_EMU_CORE_ACCUM_BLOCK_H
#define HALFULP_EMU_CORE_ACCUM_BLOCK_H

#include "emu/core/accum_terms.h"

/* ---- align ---- */

HU_STEP hu_num hui_block_align(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                               hu_draw *draw) {
  const hu_block *rule = &plan->model.block;
  hu_term tc = hui_term_of_c(plan, c);
  hu_marks marks = {0, 0, 0};
  int32_t exponent = rule->emin;
  hui_mark(&marks, tc.kind, tc.sign);
  if (tc.counts) exponent = hui_later(exponent, tc.alignment);
  for (uint32_t i = 0; i < picks->count; i++) {
    if (hui_pick(picks, i) >= picks->past) continue;
    hu_term term = hui_term_at(plan, in, hui_pick(picks, i));
    hui_mark(&marks, term.kind, term.sign);
    if (term.counts) exponent = hui_later(exponent, term.alignment);
  }
  if (hui_marked(&marks)) return hui_grid_round(&plan->sum, hui_marks_value(&marks), draw);
  if (rule->to == HU_BLOCK_TO_FIXED) exponent = rule->emin;
  int32_t unit = exponent - rule->kept;
  hui_trace_align(exponent, unit, draw);
  hu_cut_sum sum = hui_cut_sum_of(rule);
  hui_add_term(&sum, tc, unit, exponent, draw);
  for (uint32_t i = 0; i < picks->count; i++) {
    if (hui_pick(picks, i) >= picks->past) continue;
    hui_trace_factors(plan, in, hui_pick(picks, i), draw);
    hui_add_term(&sum, hui_term_at(plan, in, hui_pick(picks, i)), unit, exponent, draw);
  }
  return hui_block_round(plan, hui_cut_sum_value(&sum, unit), draw);
}

/* ---- groups ---- */

/* A group's sum, a term like a product (kind: zero, finite), and whether one of its products is zero. */
typedef struct hu_group {
  hu_term term;
  uint8_t zero;
} hu_group;

/* Returns the exponent of products k to past - 1, the largest of them; zeros count where the model says so. */
HU_FN int32_t hui_products_top(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past,
                               hu_group *group) {
  int32_t top = 0;
  group->term.counts = 0;
  group->zero = 0;
  for (; k < past; k++) {
    hu_num a = hui_read_a(plan, in, k), b = hui_read_b(plan, in, k);
    uint8_t zero = a.sig == 0 || b.sig == 0;
    group->zero |= zero;
    if (zero && !hui_zeros_count(plan)) continue;
    int32_t e = hui_exponent_from(a, plan->a.emin) + hui_exponent_from(b, plan->b.emin);
    top = group->term.counts ? hui_later(top, e) : e;
    group->term.counts = 1;
  }
  return top;
}

/* term = the sum of products k to past - 1, exact or each cut to multiples of 2^low, in 62 digits. */
HU_FN void hui_narrow_sum(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past, int32_t low,
                          hu_term *term) {
  int64_t n = 0;
  for (; k < past; k++) {
    hu_num a = hui_read_a(plan, in, k), b = hui_read_b(plan, in, k);
    uint64_t sig = a.sig * b.sig;
    if (sig) n += hui_cut(plan->model.block.cut, (uint32_t)(a.sign ^ b.sign), sig, low - a.exp - b.exp);
  }
  term->sign = n < 0;
  term->sig = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  term->exp = low;
}

/* The same in as many digits as it has: 64 leading ones, the last of them 1 where more follow: no cut looks there. */
HU_STEP void hui_wide_sum(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past, hu_term *term) {
  hu_total total;
  hui_total_start(&total, plan->low, plan->limbs);
  for (; k < past; k++) hui_total_add(&total, hui_product_at(plan, in, k));
  hu_num x = hui_total_value(&total);
  term->sign = x.sign;
  term->sig = x.kind == HU_KIND_FINITE ? x.sig | x.sticky : 0;
  term->exp = x.exp;
}

/* The group that begins with product k; without scales its exponent is the largest of its products. */
HU_FN hu_group hui_group_at(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past) {
  const hu_block *rule = &plan->model.block;
  int32_t low = plan->a.spec.emin - plan->a.spec.m + plan->b.spec.emin - plan->b.spec.m;
  hu_group group;
  if (past - k > rule->group) past = k + rule->group;
  group.term.alignment = hui_products_top(plan, in, k, past, &group);
  if (plan->limbs) {
    hui_wide_sum(plan, in, k, past, &group.term);
  } else {
    hui_narrow_sum(plan, in, k, past, rule->window ? group.term.alignment - rule->window : low, &group.term);
  }
  if (rule->every) {
    hu_num sa, sb;
    hui_scales_at(plan, in, k, &sa, &sb);
    group.term.counts &= sa.sig != 0 && sb.sig != 0;
    group.term.exp += sa.exp + sb.exp;
    group.term.alignment = sa.exp + plan->sa.spec.m + sb.exp + plan->sb.spec.m;
    group.term.sig *= sa.sig * sb.sig;
  }
  group.term.kind = group.term.sig ? HU_KIND_FINITE : HU_KIND_ZERO;
  return group;
}

/* Finds NaN operands or scales, and infinities. */
HU_FN hu_marks hui_groups_marks(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c) {
  hu_marks marks = {0, 0, 0};
  hui_mark(&marks, c.kind, c.sign);
  for (uint64_t k = picks->first; k < picks->past && k < picks->first + picks->count; k++) {
    hu_num sa, sb;
    hu_long x = hui_product_at(plan, in, k);
    hui_mark(&marks, x.kind, x.sign);
    if (!plan->model.block.every) continue;
    hui_scales_at(plan, in, k, &sa, &sb);
    if (sa.kind == HU_KIND_NAN || sb.kind == HU_KIND_NAN) marks.nan = 1;
  }
  return marks;
}

/* Shows which products the group, a term like any other, is the sum of. */
HU_FN void hui_trace_group(const hu_accum_plan *plan, uint64_t k, uint64_t end, hu_draw *draw) {
  uint64_t past = end - k < plan->model.block.group ? end : k + plan->model.block.group;
  if (hui_is_traced(draw)) hui_trace_products(draw->trace, k, past);
}

HU_STEP hu_num hui_block_groups(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                                hu_draw *draw) {
  const hu_block *rule = &plan->model.block;
  hu_term tc = hui_term_of_c(plan, c);
  hu_marks marks = hui_groups_marks(plan, in, picks, c);
  int32_t top = rule->emin;
  uint64_t end = picks->first + picks->count < picks->past ? picks->first + picks->count : picks->past;
  if (hui_marked(&marks)) return hui_grid_round(&plan->sum, hui_marks_value(&marks), draw);
  if (tc.counts) top = hui_later(top, tc.alignment);
  for (uint64_t k = picks->first; k < end; k += rule->group) {
    hu_group group = hui_group_at(plan, in, k, end);
    if (group.term.counts) top = hui_later(top, group.term.alignment);
  }
  if (rule->to == HU_BLOCK_TO_FIXED) top = rule->emin;
  int32_t unit = top - rule->kept;
  hui_trace_align(top, unit, draw);
  hu_cut_sum sum = hui_cut_sum_of(rule);
  hui_add_term(&sum, tc, unit, top, draw);
  for (uint64_t k = picks->first; k < end; k += rule->group) {
    hu_group group = hui_group_at(plan, in, k, end);
    sum.bit |= group.zero & sum.zeros;
    if (group.term.kind == HU_KIND_ZERO) continue;
    hui_trace_group(plan, k, end, draw);
    hui_add_term(&sum, group.term, unit, top, draw);
  }
  return hui_block_round(plan, hui_cut_sum_value(&sum, unit), draw);
}

/* ---- late ---- */

/* The truncated sum of every `step`-th product in units of 2^(*exponent - F); *exponent as it was if there is none. */
HU_FN int64_t hui_lane_sum(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, uint32_t lane,
                           uint32_t step, int32_t *exponent, hu_draw *draw) {
  int32_t none = 1, top = 0;
  int64_t total = 0;
  for (uint32_t i = lane; i < picks->count; i += step) {
    if (hui_pick(picks, i) >= picks->past) break;
    hu_term term = hui_term_at(plan, in, hui_pick(picks, i));
    if (term.kind != HU_KIND_FINITE) continue;
    top = none ? term.alignment : hui_later(top, term.alignment);
    none = 0;
  }
  if (none) return 0;
  *exponent = top;
  hui_trace_align(top, top - plan->model.block.kept, draw);
  for (uint32_t i = lane; i < picks->count; i += step) {
    if (hui_pick(picks, i) >= picks->past) break;
    hui_trace_factors(plan, in, hui_pick(picks, i), draw);
    total += hui_cut_term(HU_BLOCK_CUT_TRUNC, hui_term_at(plan, in, hui_pick(picks, i)), top - plan->model.block.kept,
                          top, draw);
  }
  return total;
}

/* c and the products' total (units 2^(ed - F)) meet; ed is INT32_MIN if there is no product. */
HU_FN hu_num hui_late_join(const hu_accum_plan *plan, int64_t total, int32_t ed, hu_num c, hu_draw *draw) {
  const hu_block *rule = &plan->model.block;
  int32_t fraction = rule->kept, f2 = rule->kept2;
  hu_term tc = hui_term_of_c(plan, c);
  int32_t exponent = hui_later(ed, tc.alignment);
  int64_t n = ed == INT32_MIN ? 0 : hui_floor_sum(total, (exponent - (f2 + 1)) - (ed - fraction), ed - fraction, draw);
  int32_t near = !rule->far || tc.alignment >= exponent - (int32_t)rule->far;
  if (tc.kind == HU_KIND_FINITE && near) {
    n +=
        hui_cut_term(HU_BLOCK_CUT_FLOOR, tc, exponent - fraction, exponent, draw) * ((int64_t)1 << (f2 + 1 - fraction));
  } else if (tc.kind == HU_KIND_FINITE) {
    hui_watch_cut(draw, exponent, tc.alignment, 0);
    if (hui_is_traced(draw))
      hui_trace_cut(draw->trace, HU_TRACE_TERM, c, hui_num_of_integer(0, 0), exponent, exponent - fraction);
  }
  if (n == 0) return hui_block_out(plan, 0, 0, draw);
  uint64_t magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  int32_t x = hui_later(63 - hui_clz64(magnitude) + exponent - (f2 + 1), plan->acc_emin);
  return hui_block_out(plan, hui_floor_sum(n, (x - f2) - (exponent - (f2 + 1)), exponent - (f2 + 1), draw), x - f2,
                       draw);
}

HU_STEP hu_num hui_block_late(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                              hu_draw *draw) {
  hu_marks marks = {0, 0, 0};
  hui_mark(&marks, c.kind, c.sign);
  for (uint32_t i = 0; i < picks->count && hui_pick(picks, i) < picks->past; i++) {
    hu_term term = hui_term_at(plan, in, hui_pick(picks, i));
    hui_mark(&marks, term.kind, term.sign);
  }
  if (hui_marked(&marks)) return hui_grid_round(&plan->sum, hui_marks_value(&marks), draw);
  int32_t e0 = INT32_MIN, e1 = INT32_MIN;
  if (plan->model.block.lanes != 2) {
    int64_t total = hui_lane_sum(plan, in, picks, 0, 1, &e0, draw);
    return hui_late_join(plan, total, e0, c, draw);
  }
  int64_t s0 = hui_lane_sum(plan, in, picks, 0, 2, &e0, draw), s1 = hui_lane_sum(plan, in, picks, 1, 2, &e1, draw);
  int32_t ed = hui_later(e0, e1);
  int32_t fraction = plan->model.block.kept;
  int64_t total = e0 == INT32_MIN ? 0 : hui_floor_sum(s0, ed - e0, e0 - fraction, draw);
  total += e1 == INT32_MIN ? 0 : hui_floor_sum(s1, ed - e1, e1 - fraction, draw);
  return hui_late_join(plan, total, ed, c, draw);
}

/* ---- exact ---- */

/* total = c + the products */
HU_STEP void hui_block_total(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                             hu_total *total) {
  hui_total_start(total, plan->low, plan->limbs);
  hui_total_add(total, hui_long_of(c));
  for (uint32_t i = 0; i < picks->count && picks->first + i < picks->past; i++) {
    hui_total_add(total, hui_product_at(plan, in, picks->first + i));
  }
}

/* c and products k to past - 1, none of which is cut. */
HU_FN void hui_trace_whole_terms(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past, hu_num c,
                                 hu_draw *draw) {
  if (!hui_is_traced(draw)) return;
  hui_trace_whole(c, draw);
  for (; k < past; k++) {
    hui_trace_factors(plan, in, k, draw);
    hui_trace_whole(hui_long_num(hui_product_at(plan, in, k)), draw);
  }
}

HU_FN uint64_t hui_picks_end(const hu_picks *picks) {
  return picks->past - picks->first < picks->count ? picks->past : picks->first + picks->count;
}

HU_STEP hu_num hui_block_exact(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                               hu_draw *draw) {
  hu_total total;
  hui_trace_whole_terms(plan, in, picks->first, hui_picks_end(picks), c, draw);
  hui_block_total(plan, in, picks, c, &total);
  hu_num x = hui_total_value(&total);
  if (x.kind == HU_KIND_ZERO && plan->model.block.zero) x = hui_total_zero(&total, hui_grid_down(&plan->sum));
  hu_num z = x.kind > HU_KIND_FINITE ? hui_grid_round(&plan->sum, x, draw) : hui_round_once_or_twice(plan, x, draw);
  if (!hui_watched(draw)) return z;
  hui_block_total(plan, in, picks, hui_num_special(HU_KIND_ZERO, 0), &total);
  hu_num t = hui_total_value(&total);
  if (t.kind == HU_KIND_FINITE) hui_watch_sum(draw, c, hui_exponent(t), z);
  return z;
}

/* ---- rounded steps: tree, chain, lanes ---- */

/* Product k of a tree; +0 where there is none. */
HU_FN hu_num hui_tree_leaf(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past, hu_draw *draw) {
  hu_num zero = hui_num_special(HU_KIND_ZERO, 0);
  if (k >= past) return hui_grid_round(&plan->sum, zero, draw);
  hui_trace_product(k, draw);
  return hui_grid_mul(&plan->sum, hui_read_a(plan, in, k), hui_read_b(plan, in, k), draw);
}

/* The exact sum of products k to k + group - 1, rounded; those from `past` on are +0. */
HU_STEP hu_num hui_group_leaf(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, uint64_t past, uint32_t group,
                              hu_draw *draw) {
  hu_long zero = hui_long_special(HU_KIND_ZERO, 0);
  uint64_t end = past - k < group ? past : k + group;
  hu_total total;
  if (k >= past) return hui_grid_round(&plan->sum, hui_num_special(HU_KIND_ZERO, 0), draw);
  for (uint64_t i = k; hui_is_traced(draw) && i < end; i++) {
    hui_trace_factors(plan, in, i, draw);
    hui_trace_whole(hui_long_num(hui_product_at(plan, in, i)), draw);
  }
  if (group == 2) {
    hu_long y = end - k > 1 ? hui_product_at(plan, in, k + 1) : zero;
    return hui_grid_round(&plan->sum, hui_long_add(hui_product_at(plan, in, k), y, hui_grid_down(&plan->sum)), draw);
  }
  hui_total_start(&total, plan->low, plan->limbs);
  if (end - k < group) hui_total_add(&total, zero);
  for (uint64_t i = k; i < end; i++) hui_total_add(&total, hui_product_at(plan, in, i));
  hu_num x = hui_total_value(&total);
  if (x.kind == HU_KIND_ZERO) x = hui_total_zero(&total, hui_grid_down(&plan->sum));
  return hui_grid_round(&plan->sum, x, draw);
}

/* The sum of 2^levels leaves: neighbours, then pairs of neighbours, ... Node at level v waits in part[v] for its
 * sibling. */
HU_STEP hu_num hui_block_tree(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                              hu_draw *draw) {
  const hu_block *rule = &plan->model.block;
  hu_num part[13], x = hui_num_special(HU_KIND_ZERO, 0);
  uint32_t group = !rule->products ? 1 : rule->group ? rule->group : 2;
  for (uint32_t i = 0; i < picks->count / group; i++) {
    uint64_t k = picks->first + (uint64_t)i * group;
    x = rule->products ? hui_group_leaf(plan, in, k, picks->past, group, draw)
                       : hui_tree_leaf(plan, in, k, picks->past, draw);
    uint32_t level = 0;
    for (; i >> level & 1; level++) x = hui_accumulate_pair(&plan->sum, part[level], x, draw);
    part[level] = x;
  }
  return hui_accumulate(&plan->sum, c, x, draw);
}

HU_FN hu_num hui_chain_step(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, hu_num c, hu_draw *draw) {
  hui_trace_product(k, draw);
  return hui_accumulate_product(&plan->sum, hui_read_a(plan, in, k), hui_read_b(plan, in, k), c, draw);
}

HU_STEP hu_num hui_block_chain(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                               hu_draw *draw) {
  for (uint32_t i = 0; i < picks->count; i++) {
    uint64_t k = picks->first + (plan->model.block.order == HU_BLOCK_ORDER_DOWN ? picks->count - 1 - i : i);
    if (k < picks->past) c = hui_chain_step(plan, in, k, c, draw);
  }
  return c;
}

HU_STEP hu_num hui_block_lanes(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                               hu_draw *draw) {
  hu_num even = hui_num_special(HU_KIND_ZERO, 0), odd = even;
  for (uint32_t i = 0; i < picks->count && picks->first + i < picks->past; i++) {
    if (i & 1) {
      odd = hui_chain_step(plan, in, picks->first + i, odd, draw);
    } else {
      even = hui_chain_step(plan, in, picks->first + i, even, draw);
    }
  }
  return hui_accumulate(&plan->sum, c, hui_accumulate_pair(&plan->sum, even, odd, draw), draw);
}

/* ---- a block, and the chain of blocks ---- */

HU_FN hu_num hui_block_step(const hu_accum_plan *plan, const hu_lines *in, const hu_picks *picks, hu_num c,
                            hu_draw *draw) {
  switch (plan->model.block.rule) {
    case HU_BLOCK_ALIGN: return hui_block_align(plan, in, picks, c, draw);
    case HU_BLOCK_GROUPS: return hui_block_groups(plan, in, picks, c, draw);
    case HU_BLOCK_LATE: return hui_block_late(plan, in, picks, c, draw);
    case HU_BLOCK_EXACT: return hui_block_exact(plan, in, picks, c, draw);
    case HU_BLOCK_TREE: return hui_block_tree(plan, in, picks, c, draw);
    case HU_BLOCK_CHAIN: return hui_block_chain(plan, in, picks, c, draw);
    default: return hui_block_lanes(plan, in, picks, c, draw);
  }
}

/* Multiplies the rounded total of the block that begins at product k by its scales. */
HU_FN hu_num hui_scaled_block(const hu_accum_plan *plan, const hu_lines *in, uint64_t k, hu_num total, hu_draw *draw) {
  hu_num sa, sb;
  hui_scales_at(plan, in, k, &sa, &sb);
  return hui_grid_mul(&plan->join, hui_grid_mul(&plan->join, sa, sb, draw), total, draw);
}

/* Adds products k0 ... k1-1 to c. */
HU_FN hu_num hui_blocks(const hu_accum_plan *plan, const hu_lines *in, uint64_t k0, uint64_t k1, hu_num c,
                        hu_draw *draw) {
  const hu_block *rule = &plan->model.block;
  hu_picks picks;
  picks.count = rule->length;
  picks.mod4 = rule->order == HU_BLOCK_ORDER_MOD4;
  picks.past = k1;
  c = hui_flushed(rule->daz, plan->sum.spec.emin, c);
  for (uint64_t k = k0; k < k1; k += (uint64_t)picks.count << picks.mod4) {
    hu_num total = rule->join == HU_BLOCK_JOIN_LAST ? hui_num_special(HU_KIND_ZERO, 0) : c;
    picks.first = k;
    for (picks.half = 0; picks.half <= picks.mod4; picks.half++) {
      uint64_t past = k1 - k < (uint64_t)picks.count << picks.mod4 ? k1 : k + ((uint64_t)picks.count << picks.mod4);
      if (hui_is_traced(draw)) hui_trace_begin(draw->trace, HU_TRACE_BLOCK, k, past);
      total = hui_block_step(plan, in, &picks, total, draw);
    }
    if (rule->scaling) total = hui_scaled_block(plan, in, k, total, draw);
    c = rule->join == HU_BLOCK_JOIN_LAST ? hui_accumulate(&plan->join, c, total, draw) : total;
  }
  return c;
}

#endif
